# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys left out of chains that hang on each other: every joint stays within the bound."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from math import radians

import bpy
import pytest
from fabrik_addon.maths import turn_angle
from fabrik_addon.rig.schema import FabrikChain
from fabrik_addon.session.bake import BakeSettings, bake

from support.judging import poses, rotation_keys
from support.scenes import FRAMES, add_chain, make_line

Items = list[tuple[bpy.types.Object, FabrikChain]]
BOUND = radians(0.5)


def moving(owner: bpy.types.Object, tip: str, place: Sequence[float], seed: int) -> FabrikChain:
    """A chain of three bones whose target wanders about a place."""
    wander = random.Random(f"{tip}{seed}")
    chain = add_chain(owner, place, tip=tip, count=3)
    for frame in (1, 6, 11, 16, 20):
        chain.target.location = [number + wander.uniform(-0.5, 0.5) for number in place]
        chain.target.keyframe_insert("location", frame=frame)
    return chain


def three_levels(seed: int) -> Items:
    """A spine, an arm on it, and another armature whose chain reaches for the arm's tip."""
    owner = make_line(6)
    spine, arm = moving(owner, "b2", (0.2, 0.5, 2.2), seed), moving(owner, "b5", (0.6, 1.0, 3.4), seed)
    other = make_line(3)
    other.name, other.location = "Other", (1.5, 0.8, 1.6)
    bpy.context.view_layer.update()
    follower = add_chain(other)
    follower.target, follower.target_bone = owner, "b5"
    return [(other, follower), (owner, arm), (owner, spine)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
@pytest.mark.parametrize("into", ["ACTION", "NLA"])
def test_no_joint_is_off_by_more_than_the_bound(seed: int, interpolation: str, into: str) -> None:
    items = three_levels(seed)
    owners = [items[0][0], items[1][0]]
    settings = BakeSettings(FRAMES, into, interpolation)
    full = bake(bpy.context, items, settings)
    wanted = [poses(owner, FRAMES) for owner in owners]
    for owner, chain in items:
        chain.enabled = True
        owner.animation_data_clear()
        for bone in owner.pose.bones:
            bone.rotation_quaternion = (1, 0, 0, 0)
    result = bake(bpy.context, items, replace(settings, clean_up=BOUND))
    assert sum(found.keys for found in result.chains) < 0.9 * sum(found.keys for found in full.chains)
    worst = 0.0
    for owner, whole in zip(owners, wanted, strict=True):
        for frame, found in poses(owner, FRAMES).items():
            pairs = zip(found, whole[frame], strict=True)
            worst = max(worst, *(turn_angle(one.conjugated() @ other) for one, other in pairs))
    assert 0.0 < worst <= 1.002 * BOUND
    assert [found.unreached for found in result.chains] == [found.unreached for found in full.chains]


def test_the_keys_that_are_told_are_those_that_are_there() -> None:
    items = three_levels(1)
    result = bake(bpy.context, items, BakeSettings(FRAMES, clean_up=BOUND))
    keys = [rotation_keys(owner) for owner in (items[0][0], items[1][0])]
    assert sum(found.keys for found in result.chains) == sum(len(found) for own in keys for found in own.values())


def test_a_bone_of_two_chains_keeps_the_keys_of_the_last() -> None:
    owner = make_line(4)
    first, last = moving(owner, "b2", (0.2, 0.5, 2.2), 1), moving(owner, "b3", (0.5, 0.9, 2.3), 1)
    items = [(owner, first), (owner, last)]
    bake(bpy.context, items, BakeSettings(FRAMES))
    wanted = poses(owner, FRAMES)
    for _, chain in items:
        chain.enabled = True
    owner.animation_data_clear()
    bake(bpy.context, items, BakeSettings(FRAMES, clean_up=BOUND))
    for frame, found in poses(owner, FRAMES).items():
        for one, other in zip(found, wanted[frame], strict=True):
            assert turn_angle(one.conjugated() @ other) <= 1.002 * BOUND, frame

# SPDX-License-Identifier: GPL-3.0-or-later
"""The channels by which a chain grows longer, judged by Blender's evaluation in every way of inheriting scale."""

from __future__ import annotations

from itertools import pairwise

import bpy
import pytest
from fabrik_addon.errors import BoneError
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.goal_options import grown_by
from fabrik_addon.rig.schema import FabrikChain

from support.judging import evaluated_joints
from support.scenes import SCALES, Bone, add_chain, armature, make_armature, update
from support.scenes import make_line as connected_line

FACTOR = 1.4


def line(mode: str, gap: float = 0.0, connect: bool = False) -> tuple[bpy.types.Object, FabrikChain]:
    """A bent chain of three bones that inherit scale in one way; between them may be a gap, beside the axis."""
    owner = (
        connected_line(3, bend=0.3)
        if connect
        else make_armature(
            [
                Bone((0, 0, 0), (0, 0.3, 1)),
                Bone((gap, 0.3, 1 + gap), (gap, 0, 2 + gap), 0.4),
                Bone((gap, 0, 2 + gap), (gap, 0.2, 3 + gap), -0.3),
            ]
        )
    )
    for bone in armature(owner).bones:
        bone.inherit_scale = mode
    chain = add_chain(owner, (0.5, 0.5, 1.5))
    chain.stretch = 2.0
    for k, bone in enumerate(pose_bones(owner)):
        bone.rotation_quaternion = (0.9, 0.1 + 0.1 * k, -0.2, 0.3)
    update()
    return owner, chain


def lengths(owner: bpy.types.Object, chain: FabrikChain) -> list[float]:
    joints = evaluated_joints(owner, chain)
    return [(b - a).length for a, b in pairwise(joints)]


def grow(owner: bpy.types.Object, chain: FabrikChain, factor: float = FACTOR) -> None:
    for one in grown_by(chain, list(pose_bones(owner)), set(), ()):
        setattr(pose_bones(owner)[one.bone], one.name, one.values(factor))
    update()


@pytest.mark.parametrize("effector", ["TAIL", "HEAD"])
@pytest.mark.parametrize("mode", SCALES)
def test_all_bones_grow_alike(mode: str, effector: str) -> None:
    owner, chain = line(mode)
    chain.effector = effector
    before = lengths(owner, chain)
    grow(owner, chain)
    last = 1.0 if effector == "HEAD" else FACTOR
    for old, new, factor in zip(before, lengths(owner, chain), (FACTOR, FACTOR, last), strict=True):
        assert new == pytest.approx(old * factor, rel=1e-4)
    is_moved = any(bone.location.length > 0.0 for bone in pose_bones(owner))
    assert is_moved == (mode in {"FULL", "FIX_SHEAR"})


@pytest.mark.parametrize("mode", SCALES)
def test_heads_beside_the_axis_are_moved(mode: str) -> None:
    owner, chain = line(mode, gap=0.2)
    before = lengths(owner, chain)
    grow(owner, chain)
    for old, new in zip(before, lengths(owner, chain), strict=True):
        assert new == pytest.approx(old * FACTOR, rel=1e-4)


@pytest.mark.parametrize("mode", ["FULL", "FIX_SHEAR"])
def test_connected_bones_that_would_be_sheared_are_refused(mode: str) -> None:
    owner, chain = line(mode, connect=True)
    with pytest.raises(BoneError, match="set Inherit Scale to None or Aligned") as caught:
        grow(owner, chain)
    assert caught.value.bone == "b1"


@pytest.mark.parametrize("channel", ["scale", "location"])
def test_channels_that_are_not_free_are_refused(channel: str) -> None:
    owner, chain = line("NONE" if channel == "scale" else "FULL")
    setattr(pose_bones(owner)["b1"], f"lock_{channel}", (False, True, False))
    with pytest.raises(BoneError, match=f"its {channel} is locked"):
        grow(owner, chain)


def test_a_chain_that_does_not_stretch_takes_no_channels() -> None:
    owner, chain = line("NONE")
    chain.stretch = 1.0
    assert grown_by(chain, list(pose_bones(owner)), set(), ()) == ()

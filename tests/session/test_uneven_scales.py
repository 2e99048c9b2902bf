# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose lengths depend on their pose: what can be reached is, and what is missed names the scaled bone."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from math import radians
from random import Random

import bpy
import pytest
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Quaternion, Vector

from support.judging import evaluated_joints, tip_error
from support.random_rigs import random_rig
from support.scenes import Bone, add_chain, chain_bones, make_armature, make_empty

SCALE = (1.0, 1.6, 0.6)


def scaled_limb() -> tuple[bpy.types.Object, FabrikChain]:
    """Two free bones under one that is scaled differently along its axes."""
    owner = make_armature(
        [
            Bone((0, 0, -1), (0, 0, 0)),
            Bone((0, 0, 0), (0, 0.1, 1), connect=True),
            Bone((0, 0.1, 1), (0, 0, 2), connect=True),
        ]
    )
    owner.pose.bones["b0"].scale = SCALE
    return owner, add_chain(owner, (0, 0, 1), tip="b2", count=2)


def solve() -> None:
    """Press Solve; a refusal is read from the status."""
    with suppress(RuntimeError):
        bpy.ops.fabrik.solve()


def somewhere(random: Random, owner: bpy.types.Object, chain: FabrikChain, angle: float) -> Vector:
    """Where the tip is in a pose drawn at random; the chain is put back to rest."""
    bones = chain_bones(owner, chain)
    for bone in bones:
        axis = Vector([random.gauss(0, 1) for _ in range(3)]).normalized()
        bone.rotation_quaternion = Quaternion(axis, random.uniform(-angle, angle))
    bpy.context.view_layer.update()
    tip = evaluated_joints(owner, chain)[-1]
    for bone in bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    return tip


def test_two_free_bones_reach_all_that_can_be_reached() -> None:
    owner, chain = scaled_limb()
    random, found = Random(1), Counter[str]()
    for _ in range(200):
        assert chain.target is not None
        chain.target.location = somewhere(random, owner, chain, 3.0)
        solve()
        found[chain.status] += 1
        assert tip_error(owner, chain) <= 1.1 * chain.tolerance
    assert found == {"REACHED": 200}


def test_random_rigs_reach_all_that_can_be_reached() -> None:
    missed = []
    for seed in range(150):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = random_rig(seed, uneven=True)
        solve()
        if rig.chain.status != "REACHED" and "lock" not in rig.chain.message:
            missed.append((seed, rig.chain.status))
    assert missed == []


@pytest.mark.parametrize(("place", "status"), [((0.5, 0, 9), "TOO_FAR"), ((0.2, 2.4, 0.3), "TOO_FAR")])
def test_what_is_out_of_reach_names_the_scaled_bone(place: tuple[float, float, float], status: str) -> None:
    owner, chain = scaled_limb()
    chain.target = make_empty(place)
    solve()
    assert chain.status == status
    assert "the scale of bone 'b0' differs between its axes" in chain.message
    joints = evaluated_joints(owner, chain)
    assert (joints[-1] - chain.target.location).length == pytest.approx(chain.residual, abs=1e-4)
    for bone in chain_bones(owner, chain):  # no small turn brings it nearer
        kept = bone.rotation_quaternion.copy()
        for axis in ((1, 0, 0), (0, 0, 1)):
            for sign in (-1, 1):
                bone.rotation_quaternion = kept @ Quaternion(axis, sign * radians(4))
                bpy.context.view_layer.update()
                assert (evaluated_joints(owner, chain)[-1] - chain.target.location).length > chain.residual - 1e-3
        bone.rotation_quaternion = kept


def test_limits_hold_back_and_are_named() -> None:
    owner, chain = scaled_limb()
    limit = owner.pose.bones["b2"].fabrik
    limit.limit, limit.angle_min, limit.angle_max = "HINGE", 0.0, radians(20)
    chain.target = make_empty((0.2, 0.3, 0.4))
    solve()
    assert chain.status == "BLOCKED"
    assert [bone.name for bone in chain.blocking_bones] == ["b2"]
    assert "the scale of bone 'b0'" in chain.message


def test_the_pole_is_met() -> None:
    owner, chain = scaled_limb()
    chain.target = make_empty((0.5, 0.2, 1.8))
    for place in ((3, 0, 0), (0, 3, 0), (-2, -2, 1)):
        chain.pole = make_empty(place, "Pole")
        solve()
        assert chain.status == "REACHED"
        root, knee, tip = evaluated_joints(owner, chain)
        along = (tip - root).normalized()
        bend, wanted = ((point - root) - along * (point - root).dot(along) for point in (knee, chain.pole.location))
        assert bend.angle(wanted) < radians(2) or "the pole is missed" in chain.message


def test_live_and_button_give_one_answer() -> None:
    owner, chain = scaled_limb()
    random = Random(5)
    for _ in range(10):
        place = somewhere(random, owner, chain, 2.0)
        assert chain.target is not None
        chain.target.location = place
        solve()
        by_button = [tuple(bone.rotation_quaternion) for bone in chain_bones(owner, chain)]
        chain.target.location = (0, 0, 1)
        rig_of(owner).live = True
        bpy.context.view_layer.update()
        chain.target.location = place
        bpy.context.view_layer.update()
        assert chain.status == "REACHED"
        live = [tuple(bone.rotation_quaternion) for bone in chain_bones(owner, chain)]
        for one, other in zip(by_button, live, strict=True):
            assert one == pytest.approx(other, abs=1e-6)
        rig_of(owner).live = False

# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths that change: soft reach and stretch by button and bake, and scales that make them depend on the pose."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import pairwise
from math import degrees, exp, radians
from random import Random

import bpy
import pytest
from fabrik_addon.actions.chains import Defaults
from fabrik_addon.actions.chains import add_chain as add_made_chain
from fabrik_addon.actions.status import told_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Quaternion, Vector

from support.judging import effector, evaluated_joints, off_target, tip_error
from support.random_rigs import random_rig
from support.scenes import (
    Bone,
    add_chain,
    add_limb,
    armature,
    assert_refused,
    chain_bones,
    make_armature,
    make_empty,
    press,
    solved_status,
    strand,
    update,
)
from support.skeletons import make_character

MODES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")


def leg(mode: str = "NONE") -> tuple[bpy.types.Object, FabrikChain]:
    """Two bones of length 1, hardly bent, not connected, that inherit scale in one way; the target beside them."""
    owner = make_armature([Bone((0, 0, 2), (0, -0.02, 1)), Bone((0, -0.02, 1), (0, 0, 0), 0.3)])
    for bone in armature(owner).bones:
        bone.inherit_scale = mode
    return owner, add_chain(owner, (0, 0, 0.4))


def knee(owner: bpy.types.Object) -> float:
    """The angle of the knee in degrees."""
    update()
    thigh, shin = (bone.tail - bone.head for bone in pose_bones(owner))
    return degrees(thigh.angle(shin))


class TestSoft:
    @pytest.mark.parametrize(("soft", "most"), [(0.0, None), (0.01, 1.5)])
    def test_a_knee_does_not_snap(self, soft: float, most: float | None) -> None:
        """A foot that goes down and past full stretch in 120 frames: degrees a frame of the knee."""
        owner, chain = leg()
        chain.soft = soft
        seen = []
        for frame in range(121):
            chain.target.location = (0, 0, 0.3 - 0.4 * frame / 120)
            press("solve_all")
            seen.append(knee(owner))
        steps = max(abs(b - a) for a, b in pairwise(seen))
        assert steps <= most if most is not None else steps > 3.0

    def test_the_status_counts_against_the_softened_goal(self) -> None:
        owner, chain = leg()
        chain.soft = 0.02
        assert solved_status(chain, "solve_all") == "REACHED"
        assert chain.softened == 0.0
        chain.target.location = (0, 0, -0.02)
        press("solve_all")
        length = sum((bone.tail - bone.head).length for bone in pose_bones(owner))
        width, distance = 0.02 * length, 2.02
        wanted = length - width * exp(-(distance - length + width) / width)
        assert chain.status == "REACHED"
        assert (effector(owner, chain) - pose_bones(owner)["b0"].head).length == pytest.approx(wanted, abs=1e-4)
        assert chain.softened == pytest.approx(distance - wanted, abs=1e-4)
        assert chain.residual < 1e-3

    def test_new_chains_are_soft_where_the_preferences_say_so(self) -> None:
        owner = make_armature(strand((0, 0, 2), (0, -0.2, 1), (0, 0, 0), connect=False))
        made = add_made_chain(owner, list(pose_bones(owner)), 2, Defaults(soft=0.02))
        assert made.soft == pytest.approx(0.02)


class TestStretch:
    @pytest.mark.parametrize("mode", MODES)
    def test_it_reaches_what_is_out_of_reach(self, mode: str) -> None:
        owner, chain = leg(mode)
        chain.stretch = 1.5
        for place in ((0, 0, -0.6), (1.5, 1.0, 0.2), (0.2, 0.1, 0.8)):
            chain.target.location = place
            assert solved_status(chain, "solve_all") == "REACHED"
            assert (effector(owner, chain) - chain.target.location).length <= 1e-3

    @pytest.mark.parametrize("effector_end", ["TAIL", "HEAD"])
    def test_it_stretches_as_far_as_it_may(self, effector_end: str) -> None:
        owner, chain = leg()
        chain.stretch, chain.effector = 1.25, effector_end
        chain.target.location = (0, 0, -3)
        press("solve_all")
        head = pose_bones(owner)["b0"].head
        length = 1.0002 if effector_end == "HEAD" else 2.0004
        assert (effector(owner, chain) - head).length == pytest.approx(1.25 * length, abs=1e-3)
        assert chain.status != "REACHED"

    def test_it_comes_back_to_its_length(self) -> None:
        owner, chain = leg()
        chain.stretch = 2.0
        for place in ((0, 0, -1.0), (0, 0, 0.4)):
            chain.target.location = place
            press("solve_all")
        assert all(tuple(bone.scale) == pytest.approx((1, 1, 1)) for bone in pose_bones(owner))

    def test_soft_reach_is_made_up_for(self) -> None:
        owner, chain = leg()
        chain.soft, chain.stretch = 0.05, 1.3
        chain.target.location = (0, 0, 0.02)
        press("solve_all")
        assert (effector(owner, chain) - chain.target.location).length <= 2e-3
        assert knee(owner) > 5.0

    def test_a_limb_of_a_body_stretches_last(self, standing: bpy.types.Object) -> None:
        for bone in armature(standing).bones:
            bone.inherit_scale = "NONE"
        hand = add_limb(standing, "hand.L", 3, target=(0.4, -0.5, 1.0))
        hand.stretch = 1.5
        press("solve_all")
        assert all(tuple(bone.scale) == pytest.approx((1, 1, 1), abs=1e-5) for bone in pose_bones(standing))
        hand.target.location = (1.2, -1.3, 1.2)
        press("solve_all")
        assert pose_bones(standing)["upper_arm.L"].scale.y > 1.05
        assert (effector(standing, hand) - hand.target.location).length <= 2e-3 or hand.status == "BLOCKED"
        assert {rig_of(standing).chains[f"foot{side}"].status for side in (".L", ".R")} == {"REACHED"}


def test_two_chains_that_stretch_one_bone_are_refused() -> None:
    owner, chain = leg()
    chain.stretch = 1.5
    other = add_chain(owner, (0, 0, 0.5), tip="b0")
    other.stretch = 1.2
    other.target = make_empty((0, 0, 0.9))
    assert_refused("two chains that stretch have it", "solve_all")


@pytest.mark.parametrize("part", ["Arm.L", "Leg.R"])
def test_limbs_with_joint_limits_reach_what_they_stretch_to(part: str) -> None:
    owner, random = make_character("human_mixamo"), Random(3)
    press("character_setup", use_pins=False)
    rig_of(owner).body_bone = ""
    for chain in rig_of(owner).chains:
        chain.enabled = chain.name == part
    rig_of(owner).active_index = rig_of(owner).chains.find(part)
    chain = rig_of(owner).chains[part]
    chain.stretch = 1.35
    joints = evaluated_joints(owner, chain)[:-1]
    way, reach = joints[-1] - joints[0], sum((b - a).length for a, b in pairwise(joints))
    chain.target, chain.target_bone = make_empty((0, 0, 0)), ""
    found = Counter[str]()
    for _ in range(60):
        beside = Vector([random.gauss(0, 1) for _ in range(3)]).normalized()
        away = (way.normalized() + 0.5 * beside).normalized()
        chain.target.location = joints[0] + away * reach * random.uniform(0.9, 1.33)
        press("solve")
        found[chain.status] += 1
        assert off_target(owner, part) <= 1.1 * chain.tolerance * reach
    assert found == {"REACHED": 60}


def test_a_status_of_soft_reach_is_true() -> None:
    owner, chain = leg()
    chain.soft = 0.02
    rig_of(owner).live = True
    for z in (0.4, -0.02, -0.01, -1.0, 0.2):
        chain.target.location.z = z
        update()
        assert (chain.softened > 0.0) == (z < 0.0)
        assert told_of(chain, bpy.context).kind == chain.status


SCALE = (1.0, 1.6, 0.6)


def scaled_limb() -> tuple[bpy.types.Object, FabrikChain]:
    """Two free bones under one that is scaled differently along its axes."""
    owner = make_armature(strand((0, 0, -1), (0, 0, 0), (0, 0.1, 1), (0, 0, 2)))
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

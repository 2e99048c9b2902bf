# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing jumps unasked: what is made, switched on or let go leaves the pose as it is, and so does the next solve."""

from __future__ import annotations

from math import radians
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.drag import Taken, begin, drag_to, finish
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Matrix, Vector

from support.judging import ROUNDING, Stand, assert_stays, channels
from support.scenes import (
    LIMBS,
    MODES,
    add_chain,
    add_chains,
    chain_bones,
    each_frame,
    ends_of_limbs,
    go_to,
    key_automatically,
    key_two_poses,
    make_empty,
    posed_limbs,
    press,
    put_channels,
    to_rest,
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", LIMBS)
class TestMaking:
    def test_chain_then_target_then_pole(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        stand = Stand(owner)
        add_chains(owner)
        assert {chain.start for chain in rig_of(owner).chains} == {"CAPTURED"}
        press("target_add", use_all=True)
        if kind != "one":
            press("pole_add", use_all=True)
        assert_stays(owner, stand)

    def test_all_in_one(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        stand = Stand(owner)
        add_chains(owner, use_target=True, use_pole=True)
        assert_stays(owner, stand)

    def test_on_a_keyed_limb(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        key_two_poses(owner)
        bpy.context.scene.frame_set(1)
        stand = Stand(owner)
        add_chains(owner)
        assert {chain.start for chain in rig_of(owner).chains} == {"ANIMATED"}
        press("target_add", use_all=True)
        if kind != "one":
            press("pole_add", use_all=True)
        assert_stays(owner, stand)

    def test_on_a_limb_that_was_posed_after_its_chain_was_made(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        pose = channels(owner)
        to_rest(owner)
        add_chains(owner)
        assert {chain.start for chain in rig_of(owner).chains} == {"REST"}
        put_channels(owner, pose)
        stand = Stand(owner)
        if kind != "one":
            press("pole_add", use_all=True)
        press("target_add", use_all=True)
        assert {chain.start for chain in rig_of(owner).chains} == {"CAPTURED"}
        assert_stays(owner, stand)

    @pytest.mark.parametrize("how", ["live", "enabled", "scene"])
    def test_switched_on(self, kind: str, mode: str, how: str) -> None:
        owner = posed_limbs(kind, mode)
        pose = channels(owner)
        to_rest(owner)
        add_chains(owner)
        put_channels(owner, pose)
        stand = Stand(owner)
        for chain in rig_of(owner).chains:
            bones = chain_bones(owner, chain)
            chain.target = make_empty(owner.matrix_world @ bones[-1].tail)
            chain.enabled = how != "enabled"
        bpy.context.scene.fabrik_live = how != "scene"
        rig_of(owner).live = True
        if how == "enabled":
            for chain in rig_of(owner).chains:
                chain.enabled = True
        bpy.context.scene.fabrik_live = True
        assert {chain.start for chain in rig_of(owner).chains} == {"CAPTURED"}
        assert_stays(owner, stand)

    def test_goals_to_pose(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        stand = Stand(owner)
        add_chains(owner)
        for chain in rig_of(owner).chains:
            chain.start = "REST"
            chain.target, chain.pole = make_empty((9, 9, 9)), make_empty((3, -4, 1), "Pole")
            chain.pole_angle = 0.4
        press("goal_snap", chains="ALL")
        assert_stays(owner, stand)

    def test_a_drag_begins_where_the_limb_stands_and_ends_where_it_is_let_go(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        add_chains(owner, use_target=True, use_pole=True)
        for chain in rig_of(owner).chains:
            chain.start = "REST"
            chain.target.location.x += 0.4
            if chain.pole is not None:
                chain.pole.location.x += 2.0
        stand = Stand(owner)
        chain = rig_of(owner).chains[0]
        drag = begin(bpy.context, owner, Taken.tip_of(chain))
        drag_to(bpy.context, drag, drag.place + Vector((1e-5, 0, 0)), anchored=True)
        assert stand.moved() < 1e-3
        drag_to(bpy.context, drag, drag.place + Vector((0.3, -0.2, 0.5)), anchored=True)
        let_go = Stand(owner)
        assert stand.moved() > 0.01
        found = finish(bpy.context, drag)
        assert let_go.moved() <= ROUNDING
        assert found.done == ["start pose captured"]
        assert not found.warnings
        other = rig_of(owner).chains[1]
        other.enabled = False
        press("solve_all")
        assert let_go.moved() <= ROUNDING

    def test_a_drag_of_a_keyed_limb_is_held_by_its_keys(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        add_chains(owner, use_target=True, use_pole=True)  # captured
        key_two_poses(owner)
        key_automatically()
        for frame in each_frame((20, 10, 1)):
            stand = Stand(owner)
            drag = begin(bpy.context, owner, Taken.tip_of(rig_of(owner).chains[0]))
            drag_to(bpy.context, drag, drag.place + Vector((1e-5, 0, 0)), anchored=True)
            assert stand.moved() < 1e-3
            drag_to(bpy.context, drag, drag.place + Vector((0.2, -0.1, 0.3)), anchored=True)
            let_go = Stand(owner)
            assert not finish(bpy.context, drag).warnings
            go_to(5, frame)
            assert let_go.moved() <= ROUNDING
            press("solve", chain=rig_of(owner).chains[0].name)
            assert let_go.moved() <= ROUNDING


def ik_leg(posed: bool, count: int) -> bpy.types.Object:
    """Two limbs held by Blender's IK with poles."""
    owner = posed_limbs("free" if count == 4 else "hinge")
    for bone in owner.pose.bones:
        limit_of(bone).limit = "FREE"
        if not posed:
            bone.matrix_basis = Matrix()
    for x, tip in zip((0.0, 3.0), ends_of_limbs(owner), strict=True):
        constraint: Any = owner.pose.bones[tip].constraints.new("IK")
        constraint.target, constraint.chain_count = make_empty((0, 0, 0)), count
        constraint.target.location = owner.matrix_world @ Vector((x + 0.4, -0.4, 1.2))
        constraint.pole_target, constraint.pole_angle = make_empty((1 + x, -9, 2), "Pole"), 0.5
        constraint.iterations = 500
    bpy.context.view_layer.update()
    return owner


@pytest.mark.parametrize("count", [3, 4])
@pytest.mark.parametrize("posed", [False, True])
def test_chains_from_ik(posed: bool, count: int) -> None:
    owner = ik_leg(posed, count)
    stand = Stand(owner)
    press("from_ik")
    assert stand.moved() <= ROUNDING
    press("solve_all")
    assert stand.moved() <= 1e-3  # as near as Blender's IK came


@pytest.mark.parametrize("act", ["chain", "target", "drag", "live"])
def test_undo_and_redo(act: str) -> None:
    owner = posed_limbs("free")
    add_chains(owner, use_target=True, use_pole=True)
    name = owner.name
    if act == "chain":
        press("chain_remove_all")
    bpy.ops.ed.undo_push(message="before")
    before = Stand(owner)
    if act == "drag":
        press("drag", chain=rig_of(owner).chains[0].name, way=(0.3, -0.2, 0.4))
    elif act == "live":
        rig_of(owner).live = True
    elif act == "target":
        rig_of(owner).active.target = None
        press("target_add")
    else:
        add_chains(owner, use_target=True, use_pole=True)
    bpy.ops.ed.undo_push(message=act)
    after = Stand(bpy.data.objects[name])
    bpy.ops.ed.undo()
    assert before.moved() <= ROUNDING
    bpy.ops.ed.redo()
    assert after.moved() <= ROUNDING
    press("solve_all")
    assert after.moved() <= ROUNDING


@pytest.mark.parametrize("mode", MODES)
def test_a_bone_without_a_chain_is_dragged_with_its_limb(mode: str) -> None:
    owner = posed_limbs("hinge", mode)
    tip = ends_of_limbs(owner)[0]
    stand = Stand(owner)
    drag = begin(bpy.context, owner, Taken(tip))
    drag_to(bpy.context, drag, drag.place + Vector((1e-5, 0, 0)), anchored=True)
    assert stand.moved() < 1e-3
    drag_to(bpy.context, drag, drag.place + Vector((0.3, -0.2, 0.5)), anchored=True)
    finish(bpy.context, drag)
    bpy.context.view_layer.update()
    assert stand.moved() > 0.01
    assert (owner.matrix_world @ owner.pose.bones[tip].tail - drag.place - Vector((0.3, -0.2, 0.5))).length < 1e-3
    assert not rig_of(owner).chains
    assert limit_of(owner.pose.bones["b1"]).limit == "FREE"


def test_a_new_chain_on_a_limb_at_rest_starts_from_rest() -> None:
    owner = posed_limbs("free")
    to_rest(owner)
    chain = add_chain(owner, tip=ends_of_limbs(owner)[0], count=4)
    assert (chain.start, len(chain.captured)) == ("REST", 0)


def test_goals_given_while_live() -> None:
    owner = posed_limbs("hinge")
    pose = channels(owner)
    to_rest(owner)
    add_chains(owner)
    rig_of(owner).live = True
    put_channels(owner, pose)
    stand = Stand(owner)
    press("target_add", use_all=True)
    assert stand.moved() <= ROUNDING
    press("pole_add", use_all=True)
    assert_stays(owner, stand)


def test_a_chain_made_while_live() -> None:
    owner = posed_limbs("free")
    rig_of(owner).live = True
    stand = Stand(owner)
    add_chains(owner, use_target=True, use_pole=True)
    assert_stays(owner, stand)


def test_a_goal_that_is_elsewhere_is_gone_to() -> None:
    owner = posed_limbs("free")
    add_chains(owner, use_target=True)
    for chain in rig_of(owner).chains:
        chain.start = "REST"
        chain.target.location.x += 0.3
    stand = Stand(owner)
    rig_of(owner).live = True
    assert stand.moved() > 0.01
    assert {chain.start for chain in rig_of(owner).chains} == {"REST"}


def test_a_pose_beyond_a_limit_is_told_of(capfd: pytest.CaptureFixture[str]) -> None:
    owner = posed_limbs("free")
    chain = add_chain(owner, tip=ends_of_limbs(owner)[0], count=4)
    bone = owner.pose.bones["b2"]
    limit_of(bone).limit, limit_of(bone).angle_max = "HINGE", radians(30)
    assert begin(bpy.context, owner, Taken.tip_of(chain)).note == "'b2' exceeds its joint limit by 22°"
    press("target_add")
    assert "'b2' exceeds its joint limit by 22°: the next solve turns it by up to" in capfd.readouterr().out


def test_a_motion_of_strips_stays_when_chains_are_added() -> None:
    owner = posed_limbs("free")
    key_two_poses(owner)
    data = owner.animation_data
    assert data is not None
    strip = data.nla_tracks.new().strips.new("Strip", 1, data.action)
    assert strip is not None
    data.action = None
    bpy.context.scene.frame_set(1)
    stand = Stand(owner)
    add_chains(owner)
    assert {chain.start for chain in rig_of(owner).chains} == {"ANIMATED"}
    press("target_add", use_all=True)
    press("solve_all")
    assert_stays(owner, stand)

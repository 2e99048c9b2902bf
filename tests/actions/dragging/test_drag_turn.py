# SPDX-License-Identifier: GPL-3.0-or-later
"""Turning what is dragged, keeping its rotation while it is moved, and chains that give way softly or stretch."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees, radians

import bpy
import pytest
from fabrik_addon.actions.drag import Taken, begin, drag_to, finish, pull_refusal, set_turning
from fabrik_addon.actions.figure_pose import hard_place
from fabrik_addon.maths import multiplied, turn_about
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Euler, Vector

from support.judging import angle_between, bone_head, bone_turn, channels, effector, tip_turn
from support.scenes import (
    add_chain,
    add_limb,
    armature,
    go_live,
    key_automatically,
    make_body,
    make_empty,
    make_line,
    press,
    solved_status,
    update,
    with_legs_pinned,
)

HELD, HELD_TURN = 2e-4, 1e-3

X_AXIS = (1.0, 0.0, 0.0)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_a_hand_keeps_its_rotation_while_it_is_moved(mode: str) -> None:
    owner = with_legs_pinned(make_body(mode))
    before, place = bone_turn(owner, "hand.L"), bone_head(owner, "hand.L")
    drag = begin(bpy.context, owner, Taken("hand.L", "HEAD"))
    way = Vector((-0.2, -0.3, 0.1))
    drag_to(bpy.context, drag, drag.place + way)
    assert angle_between(bone_turn(owner, "hand.L"), before) > 0.1
    assert set_turning(drag, on=True) == ""
    found = drag_to(bpy.context, drag, drag.place + way)
    assert (found.status, found.turn_residual < HELD_TURN) == ("REACHED", True)
    assert angle_between(bone_turn(owner, "hand.L"), before) <= HELD_TURN
    assert (bone_head(owner, "hand.L") - place - way).length <= HELD
    set_turning(drag, on=False)
    drag_to(bpy.context, drag, drag.place + way)
    assert angle_between(bone_turn(owner, "hand.L"), before) > 0.1
    drag.restore()


@pytest.mark.parametrize("bone", ["hand.L", "head", "hips"])
def test_a_bone_is_turned_and_moved(bone: str, standing: bpy.types.Object) -> None:
    standing.matrix_world = Euler((0.2, 0.1, 0.7)).to_matrix().to_4x4() @ standing.matrix_world
    update()
    for chain in rig_of(standing).chains:  # they stand elsewhere now
        chain.held_location = bone_head(standing, chain.tip_bone)
        chain.held_rotation = tip_turn(standing, chain)
    before, place = bone_turn(standing, bone), bone_head(standing, bone)
    drag = begin(bpy.context, standing, Taken(bone, "HEAD"))
    set_turning(drag, on=True)
    turn, way = turn_about(X_AXIS, radians(20)), Vector((0.0, 0.0, -0.08))
    assert drag_to(bpy.context, drag, drag.place + way, turn).status == "REACHED"
    assert angle_between(bone_turn(standing, bone), multiplied(turn, before)) <= HELD_TURN
    assert (bone_head(standing, bone) - place - way).length <= HELD
    drag.restore()


def test_limits_hold_what_is_turned() -> None:
    owner = make_line(3)
    for bone in pose_bones(owner):
        limit_of(bone).limit = "LOCKED"
    before = channels(owner)
    drag = begin(bpy.context, owner, Taken("b2"))
    set_turning(drag, on=True)
    found = drag_to(bpy.context, drag, drag.place, turn_about(X_AXIS, radians(30)))
    assert found.status == "BLOCKED"
    assert degrees(found.turn_residual) == pytest.approx(30, abs=0.1)
    assert channels(owner) == before


def test_hips_keep_their_rotation_unless_they_are_let_tilt(standing: bpy.types.Object) -> None:
    drag = begin(bpy.context, standing, Taken("hips", "TAIL"))
    assert drag.with_turn
    before = bone_turn(standing, "hips")
    way = Vector((0.1, -0.15, -0.05))
    drag_to(bpy.context, drag, drag.place + way)
    assert angle_between(bone_turn(standing, "hips"), before) <= HELD_TURN
    set_turning(drag, on=False)
    drag_to(bpy.context, drag, drag.place + way)
    assert angle_between(bone_turn(standing, "hips"), before) > 0.02
    drag.restore()


def test_a_foot_that_is_pinned_flat_stays_so_while_it_is_moved(standing: bpy.types.Object) -> None:
    foot = rig_of(standing).chains["foot.L"]
    before = bone_turn(standing, "foot.L")
    drag = begin(bpy.context, standing, Taken.tip_of(foot))
    assert drag.with_turn
    assert drag_to(bpy.context, drag, drag.place + Vector((0.1, -0.2, 0.2))).status == "REACHED"
    assert angle_between(bone_turn(standing, "foot.L"), before) <= HELD_TURN
    finish(bpy.context, drag)
    assert angle_between(tuple(foot.held_rotation), before) <= HELD_TURN


def test_a_limb_with_a_rotation_is_not_pulled_like_a_rope() -> None:
    drag = begin(bpy.context, make_line(3), Taken("b2"))
    assert pull_refusal(drag) == ""
    set_turning(drag, on=True)
    assert "without a rotation" in pull_refusal(drag)


def test_a_live_chain_turns_as_its_goal_says() -> None:
    owner = make_line(3)
    chain = add_chain(owner)
    chain.target = make_empty((0, 1, 2))
    go_live(owner)
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    assert "turn its target" in set_turning(drag, on=True)
    assert not drag.with_turn
    drag.restore()


@pytest.mark.parametrize("orientation", ["KEEP", "TARGET"])
def test_a_rotation_that_is_kept_goes_along(orientation: str, standing: bpy.types.Object) -> None:
    hand = add_limb(standing, "hand.R", 3, target=tuple(bone_head(standing, "hand.R")))
    hand.held_rotation = hand.rotation_offset = tip_turn(standing, hand)
    hand.orientation = orientation
    drag = begin(bpy.context, standing, Taken.tip_of(hand))
    set_turning(drag, on=True)
    drag_to(bpy.context, drag, drag.place + Vector((0.1, -0.2, 0.1)), turn_about(X_AXIS, radians(25)))
    told = finish(bpy.context, drag)
    assert told.warnings == []
    before, place = bone_turn(standing, "hand.R"), bone_head(standing, "hand.R")
    assert angle_between(tuple(hand.held_rotation), before) <= 1e-5 or orientation == "TARGET"
    assert solved_status(hand, "solve_all") == "REACHED"
    assert angle_between(bone_turn(standing, "hand.R"), before) <= HELD_TURN
    assert (bone_head(standing, "hand.R") - place).length <= HELD


class TestTheOperator:
    def test_way_and_turn(self, standing: bpy.types.Object) -> None:
        before, place = bone_turn(standing, "hand.L"), bone_head(standing, "hand.L")
        turn = Euler((0.3, -0.2, 0.1))
        press("drag", bone="hand.L", end="HEAD", way=(-0.2, -0.3, 0.1), with_turn=True, turn=turn, falloff=0.25)
        wanted = multiplied(tuple(turn.to_quaternion()), before)
        assert angle_between(bone_turn(standing, "hand.L"), wanted) <= HELD_TURN
        assert (bone_head(standing, "hand.L") - place - Vector((-0.2, -0.3, 0.1))).length <= HELD
        assert rig_of(standing).falloff == pytest.approx(0.25)

    def test_it_gives_what_the_mouse_gives(self) -> None:
        poses = []
        for by_mouse in (True, False):
            owner = with_legs_pinned(make_body())
            way = (-0.2, -0.3, 0.1)
            if by_mouse:
                drag = begin(bpy.context, owner, Taken("chest", "TAIL"))
                for share in (0.2, 0.7, 1.3, 1.0):
                    drag_to(bpy.context, drag, drag.place + share * Vector(way))
                finish(bpy.context, drag)
            else:
                press("drag", bone="chest", way=way)
            poses.append(channels(owner))
            bpy.data.objects.remove(owner)
        for a, b in zip(*poses, strict=True):
            assert a == pytest.approx(b, abs=1e-6)


def line(soft: float = 0.0, stretch: float = 1.0) -> tuple[bpy.types.Object, FabrikChain]:
    """A chain of three bones of length 1 from the origin, with a target."""
    owner = make_line(3)
    for bone in armature(owner).bones:
        bone.inherit_scale = "NONE"
    chain = add_chain(owner)
    chain.soft, chain.stretch, chain.target = soft, stretch, make_empty((0, 0.5, 2.5))
    return owner, chain


def let_go_at(owner: bpy.types.Object, chain: FabrikChain, point: Sequence[float]) -> Vector:
    """Drag a chain's tip to a point, and let go; where it stands then."""
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, Vector(point))
    assert finish(bpy.context, drag).warnings == []
    return effector(owner, chain)


@pytest.mark.parametrize("away", [2.0, 2.9, 2.97, 3.0, 3.02])
def test_a_soft_chain_stays_where_it_is_let_go(away: float) -> None:
    owner, chain = line(soft=0.02)
    stood = let_go_at(owner, chain, Vector((0.6, 0.8, 0)) * away)
    if away <= 2.9:
        assert (chain.target.location - stood).length < 1e-4
    press("solve")
    assert (effector(owner, chain) - stood).length < 1e-3


@pytest.mark.parametrize("share", [0.5, 0.985, 0.999])
def test_a_goal_that_gives_way_brings_the_tip_to_the_place(share: float) -> None:
    owner, chain = line(soft=0.03)
    length = sum(bone.length for bone in armature(owner).bones)
    place = Vector((0.6, 0.0, 0.8)) * share * length
    chain.target.location = hard_place(owner, chain, place, bpy.context.evaluated_depsgraph_get())
    assert (chain.target.location.length > place.length + 1e-6) == (share > 0.97)
    assert solved_status(chain) == "REACHED"
    assert (effector(owner, chain) - place).length < 1e-3


@pytest.mark.parametrize("away", [2.0, 3.3])
def test_a_chain_that_stretches(away: float) -> None:
    owner, chain = line(stretch=1.2)
    before = channels(owner)
    point = Vector((0.6, 0.8, 0)) * away
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    assert drag_to(bpy.context, drag, point).status == "REACHED"
    assert (effector(owner, chain) - point).length < 1e-3
    drag.restore()
    assert channels(owner) == before
    stood = let_go_at(owner, chain, point)
    press("solve")
    assert (effector(owner, chain) - stood).length < 1e-3
    assert chain.status == "REACHED"


def test_what_stretches_is_keyed_with_it() -> None:
    owner, chain = line(stretch=1.2)
    key_automatically()
    let_go_at(owner, chain, Vector((0.6, 0.8, 0)) * 3.3)
    assert 'pose.bones["b1"].scale' in {curve.data_path for curve in fcurves_of(owner)}


def test_a_soft_hand_pulls_the_body_along(standing: bpy.types.Object) -> None:
    hand = add_limb(standing, "hand.L", 3, target=(0.7, 0, 1.45))
    hand.soft = 0.02
    start, chest = effector(standing, hand), pose_bones(standing)["chest"].tail.copy()
    drag = begin(bpy.context, standing, Taken.tip_of(hand))
    way = Vector((0.1, -0.6, -0.3))
    assert drag_to(bpy.context, drag, drag.place + way).status == "REACHED"
    assert (effector(standing, hand) - start - way).length < 1e-3
    assert (pose_bones(standing)["chest"].tail - chest).length > 0.05
    finish(bpy.context, drag)
    stood = effector(standing, hand)
    press("solve_all")
    assert (effector(standing, hand) - stood).length < 5e-3
    assert rig_of(standing).chains["foot.L"].status == "REACHED"

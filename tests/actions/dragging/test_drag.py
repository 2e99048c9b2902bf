# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a limb without a window: moving and turning it, and chains that give way softly or stretch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import degrees, radians

import bpy
import pytest
from fabrik_addon.actions.drag import Drag, Grip, begin, drag_to, finish, pull_refusal, set_turning
from fabrik_addon.actions.keep_pose import ReleaseReport
from fabrik_addon.actions.live import state as live_state
from fabrik_addon.errors import BoneError, ChainError
from fabrik_addon.maths import multiplied, turn_about
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Euler, Vector

from support.judging import (
    angle_between,
    bone_head,
    bone_turn,
    channels,
    effector,
    evaluated_joints,
    tip_turn,
)
from support.scenes import (
    Bone,
    add_chain,
    add_limb,
    armature,
    assert_refused,
    go_live,
    go_to,
    key_automatically,
    make_armature,
    make_body,
    make_empty,
    make_line,
    press,
    solved_status,
    update,
    with_legs_pinned,
)


def started(count: int = 4, **settings: object) -> tuple[bpy.types.Object, FabrikChain, Drag]:
    owner = make_line(count)
    chain = add_chain(owner)
    for name, value in settings.items():
        setattr(chain, name, value)
    return owner, chain, begin(bpy.context, owner, Grip.tip_of(chain))


def joints(owner: bpy.types.Object) -> list[Vector]:
    bpy.context.view_layer.update()
    return evaluated_joints(owner, rig_of(owner).chains[0])


class TestAnchored:
    def test_the_tip_follows_without_a_target(self) -> None:
        owner, _, drag = started()
        for point in (Vector((0.5, 1.0, 2.5)), Vector((-0.4, 0.7, 3.0)), Vector((0.0, 2.0, 2.0))):
            drag_to(bpy.context, drag, point, anchored=True)
            assert (joints(owner)[-1] - point).length < 1e-3
            assert joints(owner)[0].length < 1e-6

    def test_out_of_reach_it_points_there(self) -> None:
        owner, _, drag = started()
        assert drag_to(bpy.context, drag, Vector((30, 0, 0)), anchored=True).status == "TOO_FAR"
        assert joints(owner)[-1].normalized().x > 0.999


class TestRope:
    def test_the_whole_chain_is_pulled_along(self) -> None:
        owner, _, drag = started()
        stretch = sum((b - a).length for a, b in pairwise(joints(owner)))
        for x in (1.0, 3.0, 6.0, 12.0):
            drag_to(bpy.context, drag, Vector((x, 0, 4)), anchored=False)
            found = joints(owner)
            assert (found[-1] - Vector((x, 0, 4))).length < 1e-3
            lengths = [(b - a).length for a, b in pairwise(found)]
            assert sum(lengths) == pytest.approx(stretch, abs=1e-4)
        assert found[0].x > 7.0  # a rope pulled far comes along behind
        assert abs(found[0].z - 4.0) < 1.5

    def test_on_a_turned_and_scaled_armature(self) -> None:
        owner, _, _ = started()
        owner.rotation_euler, owner.scale, owner.location = (0.4, 0.3, 1.0), (2, 2, 2), (1, 2, 3)
        bpy.context.view_layer.update()
        drag = begin(bpy.context, owner, Grip.tip_of(rig_of(owner).chains[0]))
        point = drag.place + Vector((3, 1, 0.5))
        drag_to(bpy.context, drag, point, anchored=False)
        assert (joints(owner)[-1] - point).length < 1e-3

    def test_a_root_that_hangs_on_a_bone_would_tear_off(self) -> None:
        owner = make_armature([Bone((0, 0, -1), (0, 0, 0)), Bone((0, 0, 0.1), (0, 0, 1)), Bone((0, 0, 1), (0, 0, 2))])
        drag = begin(bpy.context, owner, Grip.tip_of(add_chain(owner, tip="b2", count=2)))
        assert pull_refusal(drag) == ("'b1' hangs on 'b0', which would stay behind, so the chain can't be pulled along")
        before = channels(owner)
        with pytest.raises(BoneError, match="keep it anchored"):
            drag_to(bpy.context, drag, Vector((1, 0, 3)), anchored=False)
        assert channels(owner) == before

    def test_a_root_that_is_connected_is_refused(self) -> None:
        owner = make_line(4)
        drag = begin(bpy.context, owner, Grip.tip_of(add_chain(owner, tip="b3", count=3)))
        before = channels(owner)
        with pytest.raises(BoneError, match="connected to its parent"):
            drag_to(bpy.context, drag, Vector((1, 0, 3)), anchored=False)
        assert channels(owner) == before

    def test_it_keys_rotation_and_location(self) -> None:
        owner, _, drag = started()
        key_automatically()
        drag_to(bpy.context, drag, Vector((4, 0, 4)), anchored=False)
        assert not fcurves_of(owner)
        finish(bpy.context, drag)
        paths = {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner)}
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
        assert paths == {"rotation_quaternion", "location"}


def dragged(owner: bpy.types.Object, chain: FabrikChain, way: Sequence[float] = (0.3, 0.6, -0.7)) -> ReleaseReport:
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector(way), anchored=True)
    return finish(bpy.context, drag)


def keyed_line() -> tuple[bpy.types.Object, FabrikChain]:
    """A chain whose start is the rest pose, on bones that were posed and keyed after it was made."""
    owner = make_line(4)
    chain = add_chain(owner, (0, 0.5, 3))
    owner.pose.bones["b1"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    for bone in owner.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=1)
        bone.keyframe_insert("rotation_quaternion", frame=10)
    bpy.context.scene.frame_set(1)
    return owner, chain


class TestLettingGo:
    def test_with_automatic_keys_these_become_the_start_pose(self) -> None:
        owner, chain = keyed_line()
        key_automatically()
        assert dragged(owner, chain) == ReleaseReport(["its keys are its start pose"], [])
        stood = joints(owner)
        go_to(10, 1)
        assert max((a - b).length for a, b in zip(joints(owner), stood, strict=True)) < 1e-5
        press("solve")
        assert max((a - b).length for a, b in zip(joints(owner), stood, strict=True)) < 1e-5

    def test_what_strips_take_back_is_told_whatever_their_influence(self) -> None:
        owner, chain = keyed_line()
        data = owner.animation_data
        strip = data.nla_tracks.new().strips.new("Strip", 1, data.action)
        data.action, strip.use_animated_influence, strip.influence = None, True, 0.0
        go_to(1)
        found = dragged(owner, chain)
        stood = joints(owner)
        go_to(1)
        assert max((a - b).length for a, b in zip(joints(owner), stood, strict=True)) > 0.1
        assert found.warnings[0] == "'b0' is keyed: key the pose, or the next frame change loses it"

    def test_keyed_bones_without_automatic_keys_are_told_of(self) -> None:
        owner, chain = keyed_line()
        found = dragged(owner, chain)
        assert (found.done, chain.start) == ([], "REST")
        assert found.warnings[0] == "'b0' is keyed: key the pose, or the next frame change loses it"
        assert "it is keyed, but starts from the rest pose: the next solve turns it by up to" in found.warnings[1]

    @pytest.mark.parametrize(
        ("what", "reason"),
        [
            ("held", "has constraints, and stays"),
            ("locked", "is locked in its location, and stays"),
            ("shared", "is also a goal of the chain 'b1', and stays"),
        ],
    )
    def test_a_target_that_can_not_come_along(self, what: str, reason: str) -> None:
        owner, chain, _ = started(target=make_empty((0, 1, 3)))
        if what == "held":
            chain.target.constraints.new("COPY_LOCATION").target = make_empty((0, 1, 3), "Other")
        elif what == "locked":
            chain.target.lock_location = (True, False, False)
        else:
            add_chain(owner, tip="b1", count=2).target = chain.target
            chain = rig_of(owner).chains[0]
        found = dragged(owner, chain)
        assert reason in found.warnings[0]
        assert "its goals are elsewhere: the next solve turns it by up to" in found.warnings[1]
        assert chain.target.location == Vector((0, 1, 3))

    def test_a_target_that_is_there_already_is_left_alone(self) -> None:
        owner, chain, _ = started()
        chain.target = make_empty(joints(owner)[-1] + Vector((0.3, 0.6, -0.7)))
        key_automatically()
        chain.start = "REST"
        dragged(owner, chain)
        assert not fcurves_of(chain.target)

    def test_an_influence_below_one_does_not_hold_the_tip_back(self) -> None:
        owner, chain, drag = started(influence=0.3)
        point = drag.place + Vector((0.3, 0.6, -0.7))
        assert drag_to(bpy.context, drag, point, anchored=True).residual < 1e-3
        assert (joints(owner)[-1] - point).length < 1e-3
        assert chain.influence == pytest.approx(0.3)


class TestWithoutAChain:
    def test_the_limb_that_the_bone_ends_is_keyed_and_nothing_else_is_kept(self, line: bpy.types.Object) -> None:
        key_automatically()
        drag = begin(bpy.context, line, Grip("b1"))
        assert (drag.name, drag.bone, drag.figure.bones) == ("limb of b1", "b1", ("b0", "b1"))
        drag_to(bpy.context, drag, drag.place + Vector((0.2, 0.4, -0.3)), anchored=True)
        assert finish(bpy.context, drag) == ReleaseReport([], [])
        assert {curve.data_path for curve in fcurves_of(line)} == {
            f'pose.bones["{name}"].rotation_quaternion' for name in ("b0", "b1")
        }
        assert not rig_of(line).chains

    def test_a_bone_in_the_middle_of_a_live_chain_moves_while_its_tip_stays(self) -> None:
        owner, chain, _ = started(target=make_empty((0, 1, 3)))
        chain.start = "REST"
        go_live(owner)
        drag = begin(bpy.context, owner, Grip("b1"))
        point = drag.place + Vector((0.3, -0.4, 0.0))
        assert drag_to(bpy.context, drag, point).status == "REACHED"
        assert finish(bpy.context, drag).warnings == []
        found = joints(owner)
        assert (found[2] - point).length < 2e-3
        assert (found[-1] - Vector((0, 1, 3))).length < 2e-3
        assert chain.target.location == Vector((0, 1, 3))
        assert chain.start == "CAPTURED"
        bpy.context.scene.frame_set(2)
        assert max((a - b).length for a, b in zip(joints(owner), found, strict=True)) < 2e-3
        assert not live_state.paused


class TestTheOperatorWithNumbers:
    def test_a_bone_of_another_armature(self) -> None:
        other = make_line(2)
        started()
        tip = other.pose.bones["b1"].tail.copy()
        press("drag", rig=other.name, bone="b1", way=(0.2, 0.3, -0.4))
        assert (other.pose.bones["b1"].tail - tip - Vector((0.2, 0.3, -0.4))).length < 1e-3

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"chain": "none"}, "there is no such chain"),
            ({"bone": "none"}, "no bone 'none'"),
            ({"rig": "none", "bone": "b1"}, "no armature object 'none'"),
        ],
    )
    def test_what_is_not_there(self, options: dict[str, str], reason: str) -> None:
        owner, _, _ = started()
        before = channels(owner)
        assert_refused(reason, "drag", **options)
        assert channels(owner) == before


class TestRefusals:
    def test_a_constrained_bone(self) -> None:
        owner, chain, _ = started()
        owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        with pytest.raises(BoneError, match="b1"):
            begin(bpy.context, owner, Grip.tip_of(chain))

    def test_a_chain_that_goes_meanwhile(self) -> None:
        owner, _, drag = started()
        press("chain_remove")
        with pytest.raises(ChainError, match="gone"):
            drag_to(bpy.context, drag, Vector((0, 0, 3)), anchored=True)
        bpy.data.objects.remove(owner)

    def test_without_a_view(self) -> None:
        started()
        assert_refused("with the mouse", "drag")


HELD, HELD_TURN = 2e-4, 1e-3

X_AXIS = (1.0, 0.0, 0.0)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_a_hand_keeps_its_rotation_while_it_is_moved(mode: str) -> None:
    owner = with_legs_pinned(make_body(mode))
    before, place = bone_turn(owner, "hand.L"), bone_head(owner, "hand.L")
    drag = begin(bpy.context, owner, Grip("hand.L", "HEAD"))
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


@pytest.mark.parametrize("bone", ["hand.L", "head", "hips"])
def test_a_bone_is_turned_and_moved(bone: str, standing: bpy.types.Object) -> None:
    standing.matrix_world = Euler((0.2, 0.1, 0.7)).to_matrix().to_4x4() @ standing.matrix_world
    update()
    for chain in rig_of(standing).chains:  # they stand elsewhere now
        chain.held_location = bone_head(standing, chain.tip_bone)
        chain.held_rotation = tip_turn(standing, chain)
    before, place = bone_turn(standing, bone), bone_head(standing, bone)
    drag = begin(bpy.context, standing, Grip(bone, "HEAD"))
    set_turning(drag, on=True)
    turn, way = turn_about(X_AXIS, radians(20)), Vector((0.0, 0.0, -0.08))
    assert drag_to(bpy.context, drag, drag.place + way, turn).status == "REACHED"
    assert angle_between(bone_turn(standing, bone), multiplied(turn, before)) <= HELD_TURN
    assert (bone_head(standing, bone) - place - way).length <= HELD


def test_limits_hold_what_is_turned() -> None:
    owner = make_line(3)
    for bone in pose_bones(owner):
        limit_of(bone).limit = "LOCKED"
    before = channels(owner)
    drag = begin(bpy.context, owner, Grip("b2"))
    set_turning(drag, on=True)
    found = drag_to(bpy.context, drag, drag.place, turn_about(X_AXIS, radians(30)))
    assert found.status == "BLOCKED"
    assert degrees(found.turn_residual) == pytest.approx(30, abs=0.1)
    assert channels(owner) == before


def test_hips_keep_their_rotation_unless_they_are_let_tilt(standing: bpy.types.Object) -> None:
    drag = begin(bpy.context, standing, Grip("hips", "TAIL"))
    assert drag.with_turn
    before = bone_turn(standing, "hips")
    way = Vector((0.1, -0.15, -0.05))
    drag_to(bpy.context, drag, drag.place + way)
    assert angle_between(bone_turn(standing, "hips"), before) <= HELD_TURN
    set_turning(drag, on=False)
    drag_to(bpy.context, drag, drag.place + way)
    assert angle_between(bone_turn(standing, "hips"), before) > 0.02


def test_a_foot_that_is_pinned_flat_stays_so_while_it_is_moved(standing: bpy.types.Object) -> None:
    foot = rig_of(standing).chains["foot.L"]
    before = bone_turn(standing, "foot.L")
    drag = begin(bpy.context, standing, Grip.tip_of(foot))
    assert drag.with_turn
    assert drag_to(bpy.context, drag, drag.place + Vector((0.1, -0.2, 0.2))).status == "REACHED"
    assert angle_between(bone_turn(standing, "foot.L"), before) <= HELD_TURN
    finish(bpy.context, drag)
    assert angle_between(tuple(foot.held_rotation), before) <= HELD_TURN


def test_a_limb_with_a_rotation_is_not_pulled_like_a_rope() -> None:
    drag = begin(bpy.context, make_line(3), Grip("b2"))
    assert pull_refusal(drag) == ""
    set_turning(drag, on=True)
    assert "without a rotation" in pull_refusal(drag)


def test_a_live_chain_turns_as_its_goal_says() -> None:
    owner = make_line(3)
    chain = add_chain(owner)
    chain.target = make_empty((0, 1, 2))
    go_live(owner)
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
    assert "turn its target" in set_turning(drag, on=True)
    assert not drag.with_turn


@pytest.mark.parametrize("orientation", ["KEEP", "TARGET"])
def test_a_rotation_that_is_kept_goes_along(orientation: str, standing: bpy.types.Object) -> None:
    hand = add_limb(standing, "hand.R", 3, target=tuple(bone_head(standing, "hand.R")))
    hand.held_rotation = hand.rotation_offset = tip_turn(standing, hand)
    hand.orientation = orientation
    drag = begin(bpy.context, standing, Grip.tip_of(hand))
    set_turning(drag, on=True)
    drag_to(bpy.context, drag, drag.place + Vector((0.1, -0.2, 0.1)), turn_about(X_AXIS, radians(25)))
    assert finish(bpy.context, drag).warnings == []
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
                drag = begin(bpy.context, owner, Grip("chest", "TAIL"))
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
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
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


@pytest.mark.parametrize("away", [2.0, 3.3])
def test_a_chain_that_stretches(away: float) -> None:
    owner, chain = line(stretch=1.2)
    before = channels(owner)
    point = Vector((0.6, 0.8, 0)) * away
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
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
    drag = begin(bpy.context, standing, Grip.tip_of(hand))
    way = Vector((0.1, -0.6, -0.3))
    assert drag_to(bpy.context, drag, drag.place + way).status == "REACHED"
    assert (effector(standing, hand) - start - way).length < 1e-3
    assert (pose_bones(standing)["chest"].tail - chest).length > 0.05
    finish(bpy.context, drag)
    stood = effector(standing, hand)
    press("solve_all")
    assert (effector(standing, hand) - stood).length < 5e-3
    assert rig_of(standing).chains["foot.L"].status == "REACHED"

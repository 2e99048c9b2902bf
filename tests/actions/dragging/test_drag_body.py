# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging the bones of a body whose feet are pinned, and what moves with a bone: the limb, or the body."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

import bpy
import pytest
from fabrik_addon.actions.drag import Drag, DragResult, Grip, begin, drag_to, finish, set_falloff
from fabrik_addon.actions.drag.drag import bones_away
from fabrik_addon.actions.drag.scope import Scope, scope_of
from fabrik_addon.actions.pins import pin_bone
from fabrik_addon.errors import ChainError
from fabrik_addon.maths import Q4, axes_of, v3
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.judging import HELD, HELD_TURN, angle_between, assert_feet_hold, channels, effector, most_turn
from support.scenes import (
    SOME_MODES,
    Bone,
    add_limb,
    go_live,
    go_to,
    key_automatically,
    make_armature,
    make_body,
    make_empty,
    pin,
    press,
    update,
    with_legs_pinned,
)
from support.skeletons import set_up

FRAMES = 120

SMOOTH, BLOCKED = 5.0, 15.0  # degrees a frame


def place_of(owner: bpy.types.Object, bone: str, end: str = "TAIL") -> Vector:
    update()
    found = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))[bone]
    return Vector(found.head if end == "HEAD" else found.tail)


def turns_of(owner: bpy.types.Object) -> list[Q4]:
    update()
    return [axes_of(bone.matrix) for bone in pose_bones(owner)]


def dragged(owner: bpy.types.Object, taken: Grip, way: Sequence[float]) -> tuple[Drag, DragResult]:
    drag = begin(bpy.context, owner, taken)
    return drag, drag_to(bpy.context, drag, drag.place + Vector(way))


@pytest.fixture(params=["hips", ""], ids=["body bone", "no body bone"])
def body(request: pytest.FixtureRequest) -> bpy.types.Object:
    """A body with both feet pinned; its hips are set as the body bone, or not."""
    return with_legs_pinned(make_body(), str(request.param))


class TestHips:
    @pytest.mark.parametrize("mode", SOME_MODES)
    @pytest.mark.parametrize("body_bone", ["hips", ""])
    @pytest.mark.parametrize("end", ["HEAD", "TAIL"])
    def test_the_feet_stay_while_the_hips_sink(self, mode: str, body_bone: str, end: str) -> None:
        owner = with_legs_pinned(make_body(mode), body_bone)
        start, turn = place_of(owner, "hips", end), axes_of(pose_bones(owner)["hips"].matrix)
        _, found = dragged(owner, Grip("hips", end), (0.05, -0.1, -0.2))
        assert (found.status, found.missed) == ("REACHED", ())
        assert (place_of(owner, "hips", end) - start - Vector((0.05, -0.1, -0.2))).length <= HELD
        assert_feet_hold(owner)
        assert angle_between(axes_of(pose_bones(owner)["hips"].matrix), turn) <= HELD_TURN

    def test_out_of_reach_the_feet_stay(self, body: bpy.types.Object) -> None:
        _, found = dragged(body, Grip("hips", "HEAD"), (0.3, 0, 2))
        assert found.status == "BLOCKED"
        assert found.residual > 1.0
        assert_feet_hold(body)

    def test_without_pins_or_body_bone_all_moves(self) -> None:
        owner = make_body()
        foot = place_of(owner, "foot.L")
        dragged(owner, Grip("hips", "HEAD"), (0.3, 0.1, 0.2))
        assert (place_of(owner, "foot.L") - foot - Vector((0.3, 0.1, 0.2))).length <= HELD


class TestOtherBones:
    @pytest.mark.parametrize(
        ("bone", "end", "way"),
        [
            ("forearm.L", "HEAD", (-0.05, -0.1, -0.1)),
            ("spine2", "TAIL", (0.1, -0.15, -0.05)),
            ("chest", "HEAD", (0.1, 0.1, -0.05)),
            ("upper_arm.R", "HEAD", (0.0, -0.1, -0.1)),
            ("head", "TAIL", (0.0, -0.2, -0.1)),
        ],
    )
    def test_a_bone_in_the_middle(self, body: bpy.types.Object, bone: str, end: str, way: Sequence[float]) -> None:
        start = place_of(body, bone, end)
        _, found = dragged(body, Grip(bone, end), way)
        assert found.status == "REACHED"
        assert (place_of(body, bone, end) - start - Vector(way)).length <= HELD
        assert_feet_hold(body)
        lengths = [(bone.tail - bone.head).length for bone in pose_bones(body)]
        assert lengths == pytest.approx([bone.bone.length for bone in pose_bones(body)], abs=1e-5)

    def test_a_knee_out_of_reach_of_its_pinned_foot_comes_as_near_as_it_can(self, body: bpy.types.Object) -> None:
        way, ankle = Vector((0.06, -0.2, 0.02)), place_of(body, "foot.L", "HEAD")
        wanted = place_of(body, "shin.L", "HEAD") + way
        _, found = dragged(body, Grip("shin.L", "HEAD"), way)
        beyond = (wanted - ankle).length - pose_bones(body)["shin.L"].bone.length
        assert found.status == "BLOCKED"
        assert found.residual == pytest.approx(beyond, abs=1e-3)
        assert_feet_hold(body)

    def test_a_knee_of_a_single_pinned_leg_moves_no_hips(self) -> None:
        owner = make_body()
        pin(owner, add_limb(owner, "foot.L", 3))
        hips = place_of(owner, "hips")
        drag, _ = dragged(owner, Grip("shin.L", "HEAD"), (0.03, 0.0, 0.0))
        assert drag.scope.body == ""
        assert place_of(owner, "hips") == hips
        assert_feet_hold(owner)

    def test_the_tip_of_a_pinned_chain_takes_its_pin_along(self, body: bpy.types.Object) -> None:
        chain = rig_of(body).chains["foot.L"]
        way = Vector((0.1, -0.2, 0.15))
        start = effector(body, chain)
        drag, _ = dragged(body, Grip.tip_of(chain), way)
        finish(bpy.context, drag)
        assert (effector(body, chain) - start - way).length <= HELD
        assert (Vector(chain.held_location) - effector(body, chain)).length <= 1e-6
        assert_feet_hold(body)


class TestSmoothness:
    """Of 120 frames none jumps."""

    @pytest.mark.parametrize(
        ("bone", "end", "falloff"),
        [
            ("hips", "HEAD", 0.5),
            ("hand.L", "HEAD", 0.0),
            ("hand.L", "HEAD", 0.5),
            ("forearm.R", "TAIL", 0.5),
            ("chest", "TAIL", 0.0),  # with falloff the straight spine would fold as a straight knee does
        ],
    )
    def test_in_reach(self, body: bpy.types.Object, bone: str, end: str, falloff: float) -> None:
        rig_of(body).falloff = falloff

        def way(share: float) -> Vector:
            return Vector((0.06 * sin(2 * pi * share), -0.1 + 0.1 * cos(2 * pi * share), -0.05 * sin(pi * share)))

        assert most_turn(body, Grip(bone, end), way, FRAMES, assert_feet_hold) <= SMOOTH

    @pytest.mark.parametrize(("bone", "end"), [("hips", "HEAD"), ("hand.L", "HEAD")])
    def test_out_of_reach(self, body: bpy.types.Object, bone: str, end: str) -> None:
        def way(share: float) -> Vector:
            return Vector((0.5, -0.6, 0.9)) * (0.5 - 0.5 * cos(2 * pi * share))

        assert most_turn(body, Grip(bone, end), way, FRAMES, assert_feet_hold) <= BLOCKED


class TestEnds:
    def test_restoring_puts_all_back(self, body: bpy.types.Object) -> None:
        before = channels(body)
        drag, _ = dragged(body, Grip("hand.L", "HEAD"), (0.3, -0.6, -0.6))
        assert channels(body) != before
        drag.restore()
        assert channels(body) == before

    @pytest.mark.parametrize(("bone", "end"), [("hips", "HEAD"), ("hand.L", "HEAD"), ("spine2", "TAIL")])
    def test_the_next_solve_moves_nothing(self, body: bpy.types.Object, bone: str, end: str) -> None:
        add_limb(body, "hand.R", 3, target=v3(place_of(body, "hand.R", "HEAD")))
        drag, _ = dragged(body, Grip(bone, end), (0.1, -0.15, -0.15))
        assert finish(bpy.context, drag).warnings == []
        heads = [Vector(bone.head) for bone in pose_bones(body)]
        stood = turns_of(body)
        press("solve_all")
        assert max(angle_between(a, b) for a, b in zip(stood, turns_of(body), strict=True)) <= 5e-4
        assert max((a - b.head).length for a, b in zip(heads, pose_bones(body), strict=True)) <= HELD
        assert {chain.status for chain in rig_of(body).chains} == {"REACHED"}

    def test_automatic_keys(self, body: bpy.types.Object) -> None:
        key_automatically()
        drag, _ = dragged(body, Grip("hips", "HEAD"), (0, 0, -0.1))
        assert not fcurves_of(body)
        finish(bpy.context, drag)
        keyed = {curve.data_path for curve in fcurves_of(body)}
        assert 'pose.bones["hips"].location' in keyed
        assert 'pose.bones["shin.L"].rotation_quaternion' in keyed
        assert not any("forearm" in path for path in keyed)
        stood = turns_of(body)
        go_to(5, 1)
        assert max(angle_between(a, b) for a, b in zip(stood, turns_of(body), strict=True)) <= 1e-5


class TestFalloff:
    def turned_by(self, falloff: float) -> dict[str, float]:
        """How far each bone turns when a hand is brought to where the arm alone could bring it."""
        owner = with_legs_pinned(make_body())
        rig_of(owner).falloff = falloff
        before = turns_of(owner)
        drag, found = dragged(owner, Grip("hand.L", "HEAD"), (-0.2, -0.25, -0.1))
        assert found.status == "REACHED"
        assert_feet_hold(owner)
        names = [bone.name for bone in pose_bones(owner)]
        turns = {name: angle_between(a, b) for name, a, b in zip(names, before, turns_of(owner), strict=True)}
        drag.restore()
        bpy.data.objects.remove(owner)
        return turns

    def test_the_more_falloff_the_less_follows_what_is_far(self) -> None:
        found = [self.turned_by(falloff) for falloff in (0.0, 0.25, 0.5, 0.75, 1.0)]
        for far in ("chest", "spine1", "hips", "thigh.L"):
            turns = [turns[far] for turns in found]
            assert turns == sorted(turns, reverse=True)
            assert turns[-1] < 0.6 * turns[0]
        elbows = [turns["forearm.L"] for turns in found]
        assert elbows == sorted(elbows)

    def test_changed_meanwhile_it_is_as_from_the_start(self) -> None:
        poses = []
        for first in (0.0, 0.7):
            owner = with_legs_pinned(make_body())
            rig_of(owner).falloff = first
            drag = begin(bpy.context, owner, Grip("hand.L", "HEAD"))
            drag_to(bpy.context, drag, drag.place + Vector((-0.1, -0.1, 0.0)))
            rig_of(owner).falloff = 0.7
            set_falloff(drag, owner)
            drag_to(bpy.context, drag, drag.place + Vector((-0.2, -0.25, -0.1)))
            poses.append(turns_of(owner))
            drag.restore()
            bpy.data.objects.remove(owner)
        assert poses[0] == poses[1]


def test_bones_away_along_the_tree() -> None:
    assert bones_away((-1, 0, 1, 2, 1, 4), 3) == [3, 2, 1, 0, 3, 4]
    assert bones_away((-1, 0, 1, 2, 1, 4), 1) == [1, 0, 1, 2, 1, 2]


def bones_of(owner: bpy.types.Object, scope: Scope) -> set[str]:
    drag = begin(bpy.context, owner, scope.taken)
    drag.restore()
    return set(drag.figure.bones)


class TestLimbs:
    @pytest.mark.parametrize(
        ("bone", "end", "bones"),
        [
            ("hand.L", "TAIL", {"upper_arm.L", "forearm.L", "hand.L"}),
            ("forearm.L", "HEAD", {"upper_arm.L", "forearm.L"}),
            ("shin.R", "TAIL", {"thigh.R", "shin.R"}),
            ("hips", "HEAD", {"hips"}),
        ],
    )
    def test_without_pins_it_is_the_limb(self, bone: str, end: str, bones: set[str]) -> None:
        owner = make_body()
        scope = scope_of(owner, Grip(bone, end))
        assert scope.holding == ()
        assert bones_of(owner, scope) == bones
        assert scope.body == ("hips" if bone == "hips" else "")

    def test_the_head_of_a_limb_is_moved_by_the_limb_above(self) -> None:
        owner = make_body()
        found = bones_of(owner, scope_of(owner, Grip("upper_arm.L", "HEAD")))
        assert {"upper_arm.L", "chest"} <= found

    def test_a_part_of_a_chain_begins_where_the_chain_does(self) -> None:
        owner = make_body()
        chain = add_limb(owner, "hand.L", 4)
        assert chain.bone_count == 4
        assert bones_of(owner, scope_of(owner, Grip("forearm.L"))) == {"chest", "upper_arm.L", "forearm.L"}


class TestBodies:
    @pytest.mark.parametrize(
        ("bone", "end"),
        [("hand.L", "HEAD"), ("hips", "HEAD"), ("chest", "TAIL"), ("shin.L", "HEAD"), ("thigh.L", "HEAD")],
    )
    @pytest.mark.parametrize("body_bone", ["hips", ""])
    def test_with_both_feet_pinned_the_hips_move(self, bone: str, end: str, body_bone: str) -> None:
        owner = with_legs_pinned(make_body(), body_bone)
        scope = scope_of(owner, Grip(bone, end))
        assert (scope.body, set(scope.holding)) == ("hips", {"foot.L", "foot.R"})
        assert {"hips", "thigh.L", "shin.R"} <= bones_of(owner, scope)

    def test_a_body_bone_alone_is_enough(self) -> None:
        owner = make_body()
        rig_of(owner).body_bone = "hips"
        assert scope_of(owner, Grip("hand.L")).body == "hips"
        assert {"hips", "spine1", "chest"} <= bones_of(owner, scope_of(owner, Grip("hand.L")))

    def test_what_is_above_the_body_bone_is_no_part_of_it(self) -> None:
        owner = make_body()
        rig_of(owner).body_bone = "chest"
        assert scope_of(owner, Grip("shin.L")).body == ""

    def test_where_the_hips_are_locked_what_carries_them_moves(self) -> None:
        bones = [
            Bone((0, 0, 0), (0, 0.3, 0), parent=None),
            Bone((0, 0, 1), (0, 0, 1.2), parent=0),
            Bone((0.1, 0, 1), (0.1, -0.05, 0.5), parent=1),
            Bone((0.1, -0.05, 0.5), (0.1, 0, 0), parent=2),
            Bone((0, 0, 1.2), (0, 0, 1.5), parent=1),
        ]
        owner = make_armature(bones)
        pin(owner, add_limb(owner, "b3", 2))
        assert scope_of(owner, Grip("b4")).body == "b1"
        pose_bones(owner)["b1"].lock_location = (True, False, False)
        assert scope_of(owner, Grip("b4")).body == "b0"
        pose_bones(owner)["b0"].lock_location = (True, False, False)
        drag = begin(bpy.context, owner, Grip("b4"))
        drag_to(bpy.context, drag, drag.place + Vector((0.05, 0.0, -0.02)))
        assert pose_bones(owner)["b0"].location == Vector()

    def test_pins_of_another_skeleton_do_not_count(self) -> None:
        bones = [Bone((0, 0, 0), (0, 0, 1), parent=None), Bone((0, 0, 1), (0, 0.1, 2), parent=0)]
        bones += [Bone((3, 0, 0), (3, 0, 1), parent=None), Bone((3, 0, 1), (3, 0.1, 2), parent=2)]
        owner = make_armature(bones)
        pin(owner, add_limb(owner, "b3", 2))
        assert scope_of(owner, Grip("b1")).holding == ()

    def test_disabled_pins_do_not_hold(self) -> None:
        owner = with_legs_pinned(make_body(), "")
        for chain in rig_of(owner).chains:
            chain.enabled = False
        assert scope_of(owner, Grip("hips", "HEAD")).holding == ()


class TestLive:
    def test_chains_that_are_posed_live_hold_their_targets(self, standing: bpy.types.Object) -> None:
        hand = add_limb(standing, "hand.R", 3, target=(-0.6, -0.1, 1.4))
        go_live(standing)
        drag = begin(bpy.context, standing, Grip("hips", "HEAD"))
        assert set(drag.scope.holding) == {"foot.L", "foot.R", "hand.R"}
        drag_to(bpy.context, drag, drag.place + Vector((0.02, -0.05, -0.1)))
        assert finish(bpy.context, drag).warnings == []
        update()
        for chain in rig_of(standing).chains:
            goal = chain.target.location if chain.target else Vector(chain.held_location)
            assert (effector(standing, chain) - goal).length < 5e-4
        assert (pose_bones(standing)["hips"].head - drag.place - Vector((0.02, -0.05, -0.1))).length < 5e-4
        assert (hand.target.location - Vector((-0.6, -0.1, 1.4))).length < 1e-6

    def test_without_live_they_follow_and_take_their_targets_along(self, standing: bpy.types.Object) -> None:
        hand = add_limb(standing, "hand.R", 3, target=(-0.7, 0, 1.45))
        update()
        drag = begin(bpy.context, standing, Grip("hips", "HEAD"))
        drag_to(bpy.context, drag, drag.place + Vector((0.02, -0.05, -0.1)))
        finish(bpy.context, drag)
        update()
        assert (hand.target.location - effector(standing, hand)).length < 1e-5
        assert (hand.target.location - Vector((-0.7, 0, 1.45))).length > 1e-2

    def test_what_aims_goes_on_looking(self, standing: bpy.types.Object) -> None:
        head = add_limb(standing, "head", 2, target=(0.5, -2.0, 1.2))
        head.kind, head.aim_axis = "AIM", (0, 0, 1)
        press("solve_all")
        drag = begin(bpy.context, standing, Grip("hips", "HEAD"))
        assert "head" in drag.scope.holding
        drag_to(bpy.context, drag, drag.place + Vector((0.15, 0.05, -0.15)))
        finish(bpy.context, drag)
        update()
        assert (head.target.location - Vector((0.5, -2.0, 1.2))).length < 1e-6
        bone = pose_bones(standing)["head"]
        wanted = (head.target.location - bone.head).normalized()
        assert (bone.matrix.to_3x3() @ Vector((0, 0, 1))).angle(wanted) < 2e-3
        assert "head" not in scope_of(standing, Grip("head")).holding

    @pytest.mark.parametrize("setting", ["weight", "influence"])
    def test_a_pin_that_asks_nothing_does_not_hold(self, setting: str) -> None:
        owner = with_legs_pinned(make_body(), "")
        setattr(rig_of(owner).chains["foot.L"], setting, 0.0)
        assert scope_of(owner, Grip("hips", "HEAD")).holding == ("foot.R",)


class TestPinning:
    def test_a_bone_is_pinned_between_two_drags(self) -> None:
        owner = make_body()
        for foot in ("foot.L", "foot.R"):
            assert pin_bone(bpy.context, owner, foot) == f"pinned {foot}"
        update()
        places = [effector(owner, chain) for chain in rig_of(owner).chains]
        drag = begin(bpy.context, owner, Grip("hips", "HEAD"))
        drag_to(bpy.context, drag, drag.place + Vector((0.0, 0.0, -0.2)))
        finish(bpy.context, drag)
        update()
        for chain, place in zip(rig_of(owner).chains, places, strict=True):
            assert (effector(owner, chain) - place).length < 2e-4
        assert pin_bone(bpy.context, owner, "foot.L") == "freed foot.L"
        assert [chain.name for chain in rig_of(owner).chains if chain.pin] == ["foot.R"]


class TestBadInput:
    def test_a_chain_that_goes_while_it_holds(self, standing: bpy.types.Object) -> None:
        drag = begin(bpy.context, standing, Grip("hips", "HEAD"))
        rig_of(standing).chains.remove(0)
        before = channels(standing)
        with pytest.raises(ChainError, match="gone"):
            drag_to(bpy.context, drag, drag.place + Vector((0, 0, -0.1)))
        assert channels(standing) == before

    def test_a_limb_is_called_otherwise_than_all_chains(self, line: bpy.types.Object) -> None:
        chain = rig_of(line).chains.add()
        chain.name, chain.tip_bone, chain.target = "limb of b1", "b2", make_empty((0, 0, 2))
        drag = begin(bpy.context, line, Grip("b1"))
        assert drag.name == "limb of b1'"


@pytest.mark.parametrize(("bone", "end"), [("foot.L", "HEAD"), ("shin.L", "TAIL")])
def test_a_pin_comes_along_where_its_bone_is_dragged(bone: str, end: str) -> None:
    owner = set_up("human")
    before = pose_bones(owner)["foot.L"].head.copy()
    press("drag", bone=bone, end=end, way=(0.0, 0.0, 0.2))
    assert (pose_bones(owner)["foot.L"].head - before).length == pytest.approx(0.2, abs=1e-4)


def test_what_pins_hold_back_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    set_up("human")
    press("drag", bone="foot.L", end="TAIL", way=(0.0, 0.0, 0.2))
    assert "Held back by pins or limits, 20 cm off" in capfd.readouterr().out


def test_a_body_bone_within_a_chain_is_heard_beside_a_pose_that_is_held() -> None:
    owner = set_up("human", controls="EMPTIES")
    for bone in pose_bones(owner):
        for frame in (1, 8):
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    go_to(3)
    go_live(owner)
    pose_bones(owner)["thigh.R"].rotation_quaternion = (0.98, 0.2, 0.0, 0.0)
    update()
    chain = rig_of(owner).chains["Leg.R"]
    chain.tip_bone, chain.bone_count = "toe.R", 4
    rig_of(owner).body_bone = "toe.R"
    press("solve_all")
    assert chain.status != "NONE"

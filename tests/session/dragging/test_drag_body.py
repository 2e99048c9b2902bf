# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging the bones of a body whose feet are pinned, judged by Blender's evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, degrees, pi, sin

import bpy
import pytest
from fabrik_addon.maths import Q4, axes_of, v3
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.dragging import Drag, Dragged, Taken, begin, drag_to, finish, set_falloff
from fabrik_addon.session.dragging.drag import bones_away, stiffness_at
from mathutils import Vector

from support.judging import angle_between, channels, effector, tip_turn
from support.scenes import HEIGHT, add_limb, make_body, pin, press, update, with_legs_pinned

HELD = 1e-4 * HEIGHT
HELD_TURN = 1e-3  # radians
FRAMES = 120
SMOOTH, BLOCKED = 5.0, 15.0  # degrees a frame
MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")


def place_of(owner: bpy.types.Object, bone: str, end: str = "TAIL") -> Vector:
    update()
    found = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))[bone]
    return Vector(found.head if end == "HEAD" else found.tail)


def turns_of(owner: bpy.types.Object) -> list[Q4]:
    update()
    return [axes_of(bone.matrix) for bone in pose_bones(owner)]


def dragged(owner: bpy.types.Object, taken: Taken, way: Sequence[float]) -> tuple[Drag, Dragged]:
    drag = begin(bpy.context, owner, taken)
    return drag, drag_to(bpy.context, drag, drag.place + Vector(way))


def assert_feet_hold(owner: bpy.types.Object) -> None:
    update()
    for chain in rig_of(owner).chains:
        if chain.pin:
            assert (effector(owner, chain) - Vector(chain.held_location)).length <= HELD
            if chain.orientation == "KEEP":
                assert angle_between(tip_turn(owner, chain), tuple(chain.held_rotation)) <= HELD_TURN


@pytest.fixture(params=["hips", ""], ids=["body bone", "no body bone"])
def body(request: pytest.FixtureRequest) -> bpy.types.Object:
    """A body with both feet pinned; its hips are set as the body bone, or not."""
    return with_legs_pinned(make_body(), str(request.param))


class TestHips:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("body_bone", ["hips", ""])
    @pytest.mark.parametrize("end", ["HEAD", "TAIL"])
    def test_the_feet_stay_while_the_hips_sink(self, mode: str, body_bone: str, end: str) -> None:
        owner = with_legs_pinned(make_body(mode), body_bone)
        start, turn = place_of(owner, "hips", end), axes_of(pose_bones(owner)["hips"].matrix)
        drag, found = dragged(owner, Taken("hips", end), (0.05, -0.1, -0.2))
        assert (found.status, found.missed) == ("REACHED", ())
        assert (place_of(owner, "hips", end) - start - Vector((0.05, -0.1, -0.2))).length <= HELD
        assert_feet_hold(owner)
        assert angle_between(axes_of(pose_bones(owner)["hips"].matrix), turn) <= HELD_TURN
        drag.restore()

    def test_out_of_reach_the_feet_stay(self, body: bpy.types.Object) -> None:
        drag, found = dragged(body, Taken("hips", "HEAD"), (0.3, 0, 2))
        assert found.status == "BLOCKED"
        assert found.residual > 1.0
        assert_feet_hold(body)
        drag.restore()

    def test_without_pins_or_body_bone_all_moves(self) -> None:
        owner = make_body()
        foot = place_of(owner, "foot.L")
        drag, _ = dragged(owner, Taken("hips", "HEAD"), (0.3, 0.1, 0.2))
        assert (place_of(owner, "foot.L") - foot - Vector((0.3, 0.1, 0.2))).length <= HELD
        drag.restore()


class TestOtherBones:
    def test_the_spine_follows_a_hand(self, body: bpy.types.Object) -> None:
        way = Vector((-0.4, -0.6, -0.6))
        start = place_of(body, "hand.L", "HEAD")
        drag, found = dragged(body, Taken("hand.L", "HEAD"), way)
        assert found.status == "REACHED"
        assert (place_of(body, "hand.L", "HEAD") - start - way).length <= HELD
        assert_feet_hold(body)
        bends = [
            angle_between(tuple(pose_bones(body)[name].rotation_quaternion), (1, 0, 0, 0))
            for name in ("spine1", "spine2")
        ]
        assert min(bends) > 0.05
        drag.restore()

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
        drag, found = dragged(body, Taken(bone, end), way)
        assert found.status == "REACHED"
        assert (place_of(body, bone, end) - start - Vector(way)).length <= HELD
        assert_feet_hold(body)
        lengths = [(bone.tail - bone.head).length for bone in pose_bones(body)]
        assert lengths == pytest.approx([bone.bone.length for bone in pose_bones(body)], abs=1e-5)
        drag.restore()

    def test_a_knee_out_of_reach_of_its_pinned_foot_comes_as_near_as_it_can(self, body: bpy.types.Object) -> None:
        way, ankle = Vector((0.06, -0.2, 0.02)), place_of(body, "foot.L", "HEAD")
        wanted = place_of(body, "shin.L", "HEAD") + way
        drag, found = dragged(body, Taken("shin.L", "HEAD"), way)
        beyond = (wanted - ankle).length - pose_bones(body)["shin.L"].bone.length
        assert found.status == "BLOCKED"
        assert found.residual == pytest.approx(beyond, abs=1e-3)
        assert_feet_hold(body)
        drag.restore()

    def test_a_knee_of_a_single_pinned_leg_moves_no_hips(self) -> None:
        owner = make_body()
        pin(owner, add_limb(owner, "foot.L", 3))
        hips = place_of(owner, "hips")
        drag, _ = dragged(owner, Taken("shin.L", "HEAD"), (0.03, 0.0, 0.0))
        assert drag.scope.body == ""
        assert place_of(owner, "hips") == hips
        assert_feet_hold(owner)
        drag.restore()

    def test_the_tip_of_a_pinned_chain_takes_its_pin_along(self, body: bpy.types.Object) -> None:
        chain = rig_of(body).chains["foot.L"]
        way = Vector((0.1, -0.2, 0.15))
        start = effector(body, chain)
        drag, _ = dragged(body, Taken.tip_of(chain), way)
        finish(bpy.context, drag)
        update()
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

        assert self.most_a_frame(body, Taken(bone, end), way) <= SMOOTH

    @pytest.mark.parametrize(("bone", "end"), [("hips", "HEAD"), ("hand.L", "HEAD")])
    def test_out_of_reach(self, body: bpy.types.Object, bone: str, end: str) -> None:
        def way(share: float) -> Vector:
            return Vector((0.5, -0.6, 0.9)) * (0.5 - 0.5 * cos(2 * pi * share))

        assert self.most_a_frame(body, Taken(bone, end), way) <= BLOCKED

    def most_a_frame(self, owner: bpy.types.Object, taken: Taken, way: Callable[[float], Vector]) -> float:
        drag = begin(bpy.context, owner, taken)
        most, before = 0.0, turns_of(owner)
        for frame in range(FRAMES + 1):
            drag_to(bpy.context, drag, drag.place + way(frame / FRAMES))
            now = turns_of(owner)
            most = max(most, *(angle_between(a, b) for a, b in zip(before, now, strict=True)))
            before = now
            assert_feet_hold(owner)
        drag.restore()
        return degrees(most)


class TestEnds:
    def test_restoring_puts_all_back(self, body: bpy.types.Object) -> None:
        before = channels(body)
        drag, _ = dragged(body, Taken("hand.L", "HEAD"), (0.3, -0.6, -0.6))
        assert channels(body) != before
        drag.restore()
        assert channels(body) == before

    @pytest.mark.parametrize(("bone", "end"), [("hips", "HEAD"), ("hand.L", "HEAD"), ("spine2", "TAIL")])
    def test_the_next_solve_moves_nothing(self, body: bpy.types.Object, bone: str, end: str) -> None:
        add_limb(body, "hand.R", 3, target=effector_of(body, "hand.R"))
        drag, _ = dragged(body, Taken(bone, end), (0.1, -0.15, -0.15))
        told = finish(bpy.context, drag)
        assert told.warnings == []
        heads = [Vector(bone.head) for bone in pose_bones(body)]
        stood = turns_of(body)
        press("solve_all")
        assert max(angle_between(a, b) for a, b in zip(stood, turns_of(body), strict=True)) <= 5e-4
        assert max((a - b.head).length for a, b in zip(heads, pose_bones(body), strict=True)) <= HELD
        assert {chain.status for chain in rig_of(body).chains} == {"REACHED"}

    def test_automatic_keys(self, body: bpy.types.Object) -> None:
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        drag, _ = dragged(body, Taken("hips", "HEAD"), (0, 0, -0.1))
        assert not fcurves_of(body)
        finish(bpy.context, drag)
        keyed = {curve.data_path for curve in fcurves_of(body)}
        assert 'pose.bones["hips"].location' in keyed
        assert 'pose.bones["shin.L"].rotation_quaternion' in keyed
        assert not any("forearm" in path for path in keyed)
        stood = turns_of(body)
        bpy.context.scene.frame_set(5)
        bpy.context.scene.frame_set(1)
        assert max(angle_between(a, b) for a, b in zip(stood, turns_of(body), strict=True)) <= 1e-5


def effector_of(owner: bpy.types.Object, bone: str) -> tuple[float, float, float]:
    return v3(place_of(owner, bone, "HEAD"))


class TestFalloff:
    def turned_by(self, falloff: float) -> dict[str, float]:
        """How far each bone turns when a hand is brought to where the arm alone could bring it."""
        owner = with_legs_pinned(make_body())
        rig_of(owner).falloff = falloff
        before = turns_of(owner)
        drag, found = dragged(owner, Taken("hand.L", "HEAD"), (-0.2, -0.25, -0.1))
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

    def test_it_can_be_changed_while_dragging(self) -> None:
        owner = with_legs_pinned(make_body())
        rig_of(owner).falloff = 0.0
        drag = begin(bpy.context, owner, Taken("hand.L", "HEAD"))
        point = drag.place + Vector((-0.2, -0.25, -0.1))
        drag_to(bpy.context, drag, point)
        before = turns_of(owner)
        for falloff in (1.0, 0.0):
            rig_of(owner).falloff = falloff
            set_falloff(drag, owner)
            drag_to(bpy.context, drag, point)
            assert (turns_of(owner) == before) == (falloff == 0.0)
        drag.restore()


class TestDistances:
    def test_bones_away_along_the_tree(self) -> None:
        assert bones_away((-1, 0, 1, 2, 1, 4), 3) == [3, 2, 1, 0, 3, 4]
        assert bones_away((-1, 0, 1, 2, 1, 4), 1) == [1, 0, 1, 2, 1, 2]

    def test_stiffness_grows_from_that_of_its_own(self) -> None:
        for own in (0.0, 0.3):
            found = [stiffness_at(own, away, 1.0) for away in range(5)]
            assert found[0] == pytest.approx(own)
            assert found == sorted(found)
            assert found[-1] < 1.0
            assert stiffness_at(own, 3, 0.0) == pytest.approx(own)

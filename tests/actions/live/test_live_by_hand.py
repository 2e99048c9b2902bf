# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing beside the user's hand and all else that poses: what is posed by hand stays, by one rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.actions.keep_pose import unposed
from fabrik_addon.maths import distance
from fabrik_addon.rig.animation.compat import fcurves_of, give_action
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion

from support.judging import assert_alike, channels, evaluated_joints, tip_error
from support.scenes import (
    TURN,
    add_chain,
    each_frame,
    go_live,
    go_to,
    key_bones,
    keyed,
    keyed_turns,
    live_line,
    make_empty,
    make_line,
    note_of,
    reload,
    select,
    start_of,
    turned,
    update,
)


def _limit(owner: bpy.types.Object, chain: FabrikChain) -> None:
    for bone in owner.pose.bones:
        bone.fabrik.limit, bone.fabrik.angle_min, bone.fabrik.angle_max = "HINGE", -0.6, 0.6


HELD: dict[str, Callable[[bpy.types.Object, FabrikChain], object]] = {
    "reached": lambda _, chain: setattr(chain.target, "location", (0.6, 0.9, 2.6)),
    "with a pole": lambda _, chain: setattr(chain, "pole", make_empty((0.5, -5, 1), "Pole")),
    "too far": lambda _, chain: setattr(chain.target, "location", (1, 1, 9)),
    "limits": _limit,
    "blocked": lambda owner, chain: (_limit(owner, chain), setattr(chain.target, "location", (0, 0, 0.5))),
}


class TestBecomesTheStartPose:
    def test_the_pose_stays_and_the_goal_comes_along(self) -> None:
        owner, chain = live_line(count=4)
        goal = chain.target.location.copy()
        wanted = turned(owner, "b1")
        posed = channels(owner)
        update()
        assert chain.start == "CAPTURED"
        assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-6
        assert_alike(channels(owner), posed)
        assert (chain.target.location - goal).length > 0.05
        assert tip_error(owner, chain) < 1e-6
        assert note_of(owner) == "b3: 'b1' was posed by hand, which is the start pose now"

    def test_the_pole_comes_along(self) -> None:
        owner, chain = live_line(count=4)
        chain.pole = make_empty((0.5, -5, 1), "Pole")
        update()
        pole = chain.pole.location.copy()
        turned(owner, "b0", Quaternion((0.0, 0.0, 1.0), 0.7))
        with unposed():
            update()
        posed = evaluated_joints(owner, chain)
        update()
        assert max(distance(a, b) for a, b in zip(posed, evaluated_joints(owner, chain), strict=True)) < 1e-4
        assert (chain.pole.location - pole).length > 0.1

    def test_a_pin_holds(self) -> None:
        owner, chain = live_line(count=4)
        chain.pin = True
        update()
        goal = chain.target.location.copy()
        wanted = turned(owner, "b1")
        update()
        assert chain.target.location == goal
        assert tip_error(owner, chain) < 1e-4
        assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-6

    def test_a_limit_holds_and_no_other_bone_makes_up_for_it(self) -> None:
        owner, chain = live_line(count=4)
        _limit(owner, chain)
        update()
        before = channels(owner)
        turned(owner, "b2", Quaternion((1.0, 0.0, 0.0), 2.0))
        update()
        assert abs(owner.pose.bones["b2"].rotation_quaternion.angle) < 0.6 + 1e-5
        pairs = [(a, b) for i, (a, b) in enumerate(zip(channels(owner), before, strict=True)) if i != 2]
        assert_alike([a for a, _ in pairs], [b for _, b in pairs])
        assert tip_error(owner, chain) < 1e-4

    @pytest.mark.parametrize("name", ["driven", "shared"])
    def test_a_goal_that_can_not_come_along_stays_and_that_is_told(self, name: str) -> None:
        owner, chain = live_line(count=4)
        if name == "driven":
            chain.target.driver_add("location", 0).driver.expression = "0.3"
        else:
            other = add_chain(owner, tip="b1", count=2)
            other.enabled, other.target = False, chain.target
        update()
        turned(owner, "b1")
        assert tip_error(owner, chain) < 1e-4
        assert ("is driven" if name == "driven" else "is also a goal of") in note_of(owner)

    @pytest.mark.parametrize("name", sorted(HELD))
    def test_little_by_little(self, name: str) -> None:
        """However a limb stands, a little turn moves it a little: nothing jumps."""
        owner, chain = live_line(count=4)
        HELD[name](owner, chain)
        before = evaluated_joints(owner, chain)
        for i in range(3):
            turned(owner, "b1", Quaternion((1.0, 0.3, 0.2), 2e-4))
            found = evaluated_joints(owner, chain)
            assert max(distance(a, b) for a, b in zip(before, found, strict=True)) < 2e-3 * (i + 1)
            assert chain.start == "CAPTURED"

    def test_solving_again_stays(self) -> None:
        owner, chain = live_line(count=4)
        turned(owner, "b1")
        update()
        posed = channels(owner)
        for place in ((0.1, 0.1, 2.0), chain.target.location.copy()):
            chain.target.location = place
            update()
        assert channels(owner) == posed
        rig_of(owner).live = False
        bpy.ops.fabrik.solve_all()
        assert channels(owner) == posed

    @pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
    def test_in_every_rotation_mode(self, mode: str) -> None:
        owner, chain = live_line(count=4)
        for bone in owner.pose.bones:
            bone.rotation_mode = mode
        update()
        assert chain.start == "REST"
        bone = owner.pose.bones["b1"]
        bone.matrix_basis = bone.matrix_basis @ TURN.to_matrix().to_4x4()
        wanted = bone.matrix_basis.to_quaternion()
        update()
        assert chain.start == "CAPTURED"
        assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-5
        assert tip_error(owner, chain) < 1e-4


def _carry(owner: bpy.types.Object, chain: FabrikChain) -> None:
    holder = make_empty(name="Holder")
    keyed(holder, {1: (0, 0, 0), 20: (0, 0, 1)})
    owner.parent = holder
    bpy.context.scene.frame_set(1)


UNKEYED: dict[str, Callable[[bpy.types.Object, FabrikChain], object]] = {
    "carried": _carry,
    "influence": lambda _, chain: setattr(chain, "influence", 0.5),
    "starts from keys that it has not": lambda _, chain: setattr(chain, "start", "ANIMATED"),
    "keys of another limb": lambda owner, _: keyed(make_line(2).pose.bones["b1"], {1: (0, 0, 0)}),
}


@pytest.mark.parametrize("name", sorted(UNKEYED))
def test_bones_without_keys_keep_it_in_all_frames(name: str) -> None:
    owner, chain = live_line(count=4)
    UNKEYED[name](owner, chain)
    update()
    start = chain.start
    turned(owner, "b1")
    posed = channels(owner)
    update()
    assert_alike(channels(owner), posed)
    assert chain.start == ("ANIMATED" if start == "ANIMATED" else "CAPTURED")
    go_to(5, 1)
    assert_alike(channels(owner), posed, 1e-5)


def test_a_keyed_goal_takes_its_new_place_for_this_frame() -> None:
    owner, chain = live_line(count=4)
    keyed(chain.target, {1: chain.target.location.copy(), 20: (0.6, 0.9, 1.5)})
    bpy.context.scene.frame_set(1)
    goal, curves = chain.target.location.copy(), len(fcurves_of(chain.target))
    wanted = turned(owner, "b1")
    posed = channels(owner)
    update()
    assert_alike(channels(owner), posed)
    assert "is keyed: key it, or the next frame change takes it back" in note_of(owner)
    go_to(5, 1)
    assert (chain.target.location - goal).length < 1e-6
    assert len(fcurves_of(chain.target)) == curves
    assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-6
    assert tip_error(owner, chain) < 1e-4


class TestHoldsForItsFrame:
    """Keyed bones: the pose is the start of this frame, until the frame changes."""

    @staticmethod
    def keyed_limb(start: str = "REST") -> tuple[bpy.types.Object, FabrikChain]:
        owner, chain = live_line(count=4)
        chain.start = start
        update()
        key_bones(owner)
        update()
        return owner, chain

    @pytest.mark.parametrize("start", ["REST", "ANIMATED"])
    def test_until_the_frame_changes(self, start: str) -> None:
        owner, chain = self.keyed_limb(start)
        goal, before = chain.target.location.copy(), channels(owner)
        turned(owner, "b1")
        posed = channels(owner)
        update()
        assert_alike(channels(owner), posed)
        assert (chain.start, len(chain.captured)) == (start, 0)
        assert note_of(owner) == "b3: 'b1' was posed by hand, which holds until the frame changes"
        chain.target.location = goal
        update()
        assert not note_of(owner)
        assert tip_error(owner, chain) < 1e-4
        assert channels(owner) != before
        go_to(5, 1)
        assert_alike(channels(owner), before, 1e-5)

    def test_the_button_and_other_goals_start_from_it_too(self) -> None:
        owner, chain = self.keyed_limb()
        turned(owner, "b1")
        update()
        chain.target.location.x += 0.2
        update()
        posed = channels(owner)
        bpy.ops.fabrik.solve_all()
        assert channels(owner) == posed
        rig_of(owner).live = False
        bpy.ops.fabrik.solve_all()
        assert channels(owner) == posed

    def test_it_holds_once_more_is_posed(self) -> None:
        owner, _ = self.keyed_limb()
        turned(owner, "b1")
        update()
        turned(owner, "b2")
        posed = channels(owner)
        update()
        assert_alike(channels(owner), posed)

    def test_a_bake_does_not_start_from_it(self) -> None:
        owner, chain = self.keyed_limb()
        goal = chain.target.location.copy()
        baked = []
        for by_hand in (False, True):
            if by_hand:
                turned(owner, "b1")
                update()
                chain.target.location = goal
                update()
            select(owner, "b0")
            bpy.ops.fabrik.bake(frame_start=1, frame_end=3, into="NEW_ACTION")
            go_to(1)
            baked.append(channels(owner))
            chain.enabled = True
            update()
        assert_alike(baked[1], baked[0])

    def test_of_a_limb_that_is_keyed_in_part_the_rest_is_captured(self) -> None:
        owner, chain = live_line(count=4)
        key_bones(owner, "b0")
        update()
        turned(owner, "b0")
        wanted = turned(owner, "b1")
        posed = channels(owner)
        update()
        assert_alike(channels(owner), posed)
        assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-6
        assert start_of(chain, "b0").angle < 1e-6
        go_to(5, 1)
        assert tip_error(owner, chain) < 1e-4

    def test_opening_the_file_ends_it(self, tmp_path: Path) -> None:
        owner, chain = self.keyed_limb()
        before = channels(owner)
        turned(owner, "b1")
        goal = chain.target.location.copy()
        update()
        chain.target.location = goal
        update()
        reload(tmp_path)
        update()
        assert_alike(channels(bpy.data.objects["Rig"]), before, 1e-5)


class TestIsNotByHand:
    def test_keys_that_play(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        keyed_turns(owner.pose.bones["b1"], {1: 0.0, 20: 1.0})
        for _ in each_frame((3, 7, 3)):
            owner.animation_data.action.update_tag()
            owner.update_tag(refresh={"TIME"})
            update()
            assert not note_of(owner)
            assert tip_error(owner, chain) < 1e-4

    def test_buttons_of_the_extension(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        select(owner, "b0", "b1", "b2")
        buttons: tuple[Callable[[], object], ...] = (
            lambda: bpy.ops.fabrik.start_pose_reset(use_pose=True),
            bpy.ops.fabrik.solve,
            bpy.ops.fabrik.solve_all,
        )
        for button in buttons:
            button()
            update()
            assert chain.start == "REST"
            assert not note_of(owner)

    def test_what_a_script_captures_itself(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        bpy.ops.fabrik.start_pose_capture()
        chain.captured["b1"].rotation = TURN
        owner.pose.bones["b1"].rotation_quaternion = TURN
        update()
        assert not note_of(owner)
        assert start_of(chain, "b1").rotation_difference(TURN).angle < 1e-6

    def test_moving_the_armature_and_what_carries_it(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        owner.location.x = 0.2
        update()
        owner.pose.bones["b0"].location.y = 0.1
        update()
        assert chain.start == "REST"
        assert tip_error(owner, chain) < 1e-4

    def test_a_channel_that_is_not_finite_is_put_right(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        owner.pose.bones["b1"].rotation_quaternion.w = float("nan")
        update()
        assert rig_of(owner).live
        assert chain.start == "REST"

    def test_shared_bones(self) -> None:
        owner = make_line(4)
        add_chain(owner, (0.4, 1.0, 2.4), tip="b3", count=4)
        add_chain(owner, (0.6, 0.6, 1.5), tip="b2", count=3)
        go_live(owner)
        for x in (0.1, 0.7):
            owner.location.x = x
            update()
            assert [chain.start for chain in rig_of(owner).chains] == ["REST", "REST"]


Change = Callable[[bpy.types.Object], object]
BEND = Quaternion((1.0, 0.0, 0.0), 0.7)


def action_with(angle: float) -> bpy.types.Action:
    """An action that turns b1 about X: from 0 at frame 1 to an angle at frame 20."""
    owner = make_line(4)
    keyed_turns(owner.pose.bones["b1"], {1: 0.0, 20: angle})
    action = owner.animation_data.action
    bpy.data.objects.remove(owner)
    return action


def _paste(owner: bpy.types.Object) -> None:
    """A pose of b1 that was copied from another character."""
    other = make_line(4)
    select(other, "b1")
    other.pose.bones["b1"].rotation_quaternion = BEND
    bpy.ops.pose.copy()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(other)
    bpy.context.view_layer.objects.active = owner
    select(owner, "b1")
    bpy.ops.pose.paste(flipped=False)


REST = Quaternion()
HANDS: dict[str, Change] = {
    "rotated": lambda _: bpy.ops.transform.rotate(value=0.4, orient_axis="X"),
    "pasted": _paste,
    "from the pose library": lambda o: o.pose.apply_pose_from_action(action_with(0.7), evaluation_time=20),
    "a script writes channels": lambda o: setattr(o.pose.bones["b1"], "rotation_quaternion", BEND),
    "a script writes a matrix": lambda o: setattr(o.pose.bones["b1"], "matrix_basis", Matrix.Rotation(0.7, 4, "X")),
    "rotation cleared": lambda _: bpy.ops.pose.rot_clear(),
    "transforms cleared": lambda _: bpy.ops.pose.transforms_clear(),
    "user transforms cleared": lambda _: bpy.ops.pose.user_transforms_clear(),
}
WANTED = dict.fromkeys(HANDS, BEND) | {name: REST for name in HANDS if name.endswith("cleared")}
del WANTED["rotated"]  # about an axis of the view


class TestWhatIsDoneByHand:
    """It is the start pose, and the goal comes along; a keyed one for this frame."""

    @pytest.mark.parametrize("name", sorted(HANDS))
    def test_becomes_the_start_pose(self, name: str) -> None:
        owner, chain = self.limb()
        before = start_of(chain, "b1")
        HANDS[name](owner)
        update()
        chain = rig_of(owner).chains[0]
        assert chain.start == "CAPTURED"
        assert start_of(chain, "b1").rotation_difference(before).angle > 1e-2
        assert name not in WANTED or start_of(chain, "b1").rotation_difference(WANTED[name]).angle < 1e-5
        assert note_of(owner) == "b3: 'b1' was posed by hand, which is the start pose now"
        assert chain.status == "REACHED"
        assert tip_error(owner, chain) < 1e-4

    @staticmethod
    def limb() -> tuple[bpy.types.Object, FabrikChain]:
        """A live limb with a start pose of its own."""
        owner, _ = live_line(count=4)
        for i, bone in enumerate(owner.pose.bones):
            bone.rotation_quaternion = Quaternion((1, 0.2, 0), 0.1 * (i + 1))
        update()
        select(owner, "b1")
        update()
        return owner, rig_of(owner).chains[0]


STILL: dict[str, Change] = {
    "signs flipped": lambda _: bpy.ops.pose.quaternions_flip(),
    "visual transform applied": lambda _: bpy.ops.pose.visual_transform_apply(),
    "rotation mode set": lambda _: bpy.ops.pose.rotation_mode_set(type="YZX"),
    "scaled": lambda _: bpy.ops.transform.resize(value=(1.2, 1.2, 1.2)),
    "keyed": lambda o: o.pose.bones["b1"].keyframe_insert("rotation_quaternion"),
    "key deleted": lambda o: (
        o.pose.bones["b1"].keyframe_insert("rotation_quaternion"),
        update(),
        o.pose.bones["b1"].keyframe_delete("rotation_quaternion"),
    ),
    "applied as rest pose": lambda _: bpy.ops.pose.armature_apply(),
}


class TestWhatTurnsNothing:
    @pytest.mark.parametrize("name", sorted(STILL))
    def test_leaves_the_start_pose(self, name: str) -> None:
        owner, chain = live_line(count=4)
        select(owner, "b1", "b2")
        update()
        STILL[name](owner)
        update()
        chain = rig_of(owner).chains[0]
        assert rig_of(owner).live
        assert chain.start == "REST"
        assert tip_error(owner, chain) < 1e-4


class TestKeysOfOthers:
    """Imported keys, an exchanged action, strips: heard by a chain that starts from its keys, else gone over."""

    @pytest.mark.parametrize("way", ["action", "strip"])
    def test_gone_over_with_a_word(self, way: str) -> None:
        owner, chain = live_line(count=4)
        before = channels(owner)
        self.give(owner, way)
        for _ in each_frame((1, 9, 20, 1)):
            assert tip_error(owner, chain) < 1e-4
            assert chain.start == "REST"
            assert_alike(channels(owner), before, 1e-5)
        assert live.overwriting_keys(owner) == [chain.name]

    def test_heard_by_a_chain_that_starts_from_its_keys(self) -> None:
        owner, chain = live_line(count=4)
        chain.start = "ANIMATED"
        update()
        self.give(owner, "action")
        seen = set()
        for _ in each_frame((1, 9, 20)):
            assert tip_error(owner, chain) < 1e-4
            seen.add(tuple(channels(owner)))
        assert len(seen) == 3

    @staticmethod
    def give(owner: bpy.types.Object, way: str) -> None:
        action = action_with(0.8)
        data: Any = owner.animation_data_create()
        if way == "action":
            give_action(data, action)
        else:
            strip: Any = data.nla_tracks.new().strips.new("Strip", 1, action)
            give_action(strip, action)
        update()
        assert bool(fcurves_of(owner)) == (way == "action")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing beside all else that poses: Blender's operators, scripts, keys, and what is exported is what is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.animation.compat import fcurves_of, give_action
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion

from support.judging import assert_channels, channels, tip_error
from support.scenes import add_chain, each_frame, keyed_turns, live_line, make_line, note_of, select, start_of, update

Change = Callable[[bpy.types.Object], object]
BEND = Quaternion((1.0, 0.0, 0.0), 0.7)


def action_with(angle: float) -> bpy.types.Action:
    """An action that turns b1 about X: from 0 at frame 1 to an angle at frame 20."""
    owner = make_line(4)
    bone = owner.pose.bones["b1"]
    keyed_turns(bone, {1: 0.0, 20: angle})
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

    def test_a_pose_pasted_flipped(self) -> None:
        owner = make_line(2)
        for side, bone in zip("LR", owner.data.bones, strict=True):
            bone.name = f"bone.{side}"
        chain = add_chain(owner, (0.3, 0.5, 1.4))
        rig_of(owner).live = True
        select(owner, "bone.L")
        update()
        owner.pose.bones["bone.L"].rotation_quaternion = BEND
        bpy.ops.pose.copy()
        w, x, y, z = owner.pose.bones["bone.L"].rotation_quaternion  # the operator let it be evaluated
        select(owner, "bone.L", "bone.R")
        bpy.ops.pose.paste(flipped=True)
        assert start_of(chain, "bone.R").rotation_difference(Quaternion((w, x, -y, -z))).angle < 1e-5
        assert tip_error(owner, chain) < 1e-4


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
            assert_channels(owner, before, 1e-5)
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

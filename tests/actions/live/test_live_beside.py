# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing beside all else that poses: Blender's operators, scripts, keys, and what is exported is what is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.maths import distance
from fabrik_addon.rig.animation.compat import fcurves_of, give_action
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion

from support.judging import assert_channels, channels, evaluated_joints, tip_error
from support.scenes import (
    add_chain,
    add_skin,
    keyed,
    keyed_turns,
    live_line,
    make_line,
    note_of,
    select,
    start_of,
    update,
)

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

    @pytest.mark.parametrize("name", sorted(HANDS))
    def test_a_keyed_goal_comes_along_for_this_frame(self, name: str) -> None:
        owner, chain = self.limb()
        keyed(chain.target, {1: chain.target.location.copy(), 20: (0.6, 0.9, 2.5)})
        bpy.context.scene.frame_set(1)
        before = chain.target.location.copy()
        HANDS[name](owner)
        update()
        chain = rig_of(owner).chains[0]
        assert chain.start == "CAPTURED"
        assert (chain.target.location - before).length > 1e-3
        assert tip_error(owner, chain) < 1e-4
        bpy.context.scene.frame_set(2)
        bpy.context.scene.frame_set(1)
        assert (chain.target.location - before).length < 1e-6
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
        for frame in (1, 9, 20, 1):
            bpy.context.scene.frame_set(frame)
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
        for frame in (1, 9, 20):
            bpy.context.scene.frame_set(frame)
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


class TestExports:
    """What is exported is what is seen."""

    FRAMES = (1, 4, 8, 12)

    @pytest.mark.parametrize("kind", ["gltf", "fbx"])
    def test_the_exported_motion_is_that_which_is_seen(self, kind: str, tmp_path: Path) -> None:
        owner, chain = live_line(target=(0.3, -0.5, 1.9))
        self.skinned(owner)
        for frame, place in ((1, (0.3, -0.5, 1.9)), (12, (0.8, 0.7, 1.6))):
            keyed(chain.target, {frame: place})
        scene: Any = bpy.context.scene
        scene.frame_start, scene.frame_end = 1, 12
        seen = [self.joints_at(frame, owner, chain) for frame in self.FRAMES]
        status = chain.status
        scene.frame_set(4)
        before = channels(owner)
        path = str(tmp_path / f"rig.{'glb' if kind == 'gltf' else 'fbx'}")
        EXPORTS[kind](path)
        update()
        chain = rig_of(owner).chains[0]
        assert rig_of(owner).live
        assert chain.enabled
        assert (chain.status, chain.start, scene.frame_current) == (status, "REST", 4)
        assert channels(owner) == before
        rig_of(owner).live = False
        for found in list(bpy.data.objects):
            bpy.data.objects.remove(found)
        IMPORTS[kind](path)
        found = next(one for one in bpy.data.objects if one.type == "ARMATURE")
        for frame, joints in zip(self.FRAMES, seen, strict=True):
            scene.frame_set(frame)
            depsgraph = bpy.context.evaluated_depsgraph_get()
            evaluated = found.evaluated_get(depsgraph)
            heads = [evaluated.matrix_world @ evaluated.pose.bones[f"b{i}"].head for i in range(3)]
            worst = max(distance(a, b) for a, b in zip(heads, joints, strict=False))
            assert worst < 1e-3, (frame, worst)

    def test_blenders_own_bake(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        keyed(chain.target, {1: (0.3, -0.5, 1.9), 12: (0.8, 0.7, 1.6)})
        seen = [self.joints_at(frame, owner, chain) for frame in self.FRAMES]
        select(owner, "b0", "b1", "b2")
        bpy.ops.nla.bake(
            frame_start=1,
            frame_end=12,
            visual_keying=True,
            only_selected=False,
            use_current_action=True,
            bake_types={"POSE"},
        )
        assert chain.start == "REST"
        rig_of(owner).live = False
        for frame, joints in zip(self.FRAMES, seen, strict=True):
            found = self.joints_at(frame, owner, rig_of(owner).chains[0])
            assert max(distance(a, b) for a, b in zip(found, joints, strict=True)) < 1e-5

    def test_fbx_with_all_actions_leaves_the_rig_as_it_was(self, tmp_path: Path) -> None:
        """It gives each action to each object in turn, and writes matrices back into the bones."""
        owner, chain = live_line()
        self.skinned(owner)
        keyed(chain.target, {1: (0.3, -0.5, 1.9), 12: (0.8, 0.7, 1.6)})
        bpy.context.scene.frame_set(4)
        addon_utils.enable("io_scene_fbx")
        bpy.ops.export_scene.fbx(filepath=str(tmp_path / "rig.fbx"))
        chain = rig_of(owner).chains[0]
        assert rig_of(owner).live
        assert (chain.status, chain.start, bpy.context.scene.frame_current) == ("REACHED", "REST", 4)
        assert not note_of(owner)
        assert tip_error(owner, chain) < 1e-4

    @staticmethod
    def joints_at(frame: int, owner: bpy.types.Object, chain: FabrikChain) -> list[Any]:
        bpy.context.scene.frame_set(frame)
        return evaluated_joints(owner, chain)

    @staticmethod
    def skinned(owner: bpy.types.Object) -> None:
        """A mesh on the armature: for it the exporters switch to the rest position for a while."""
        points = [(0, 0, 0), (0.1, 0, 1), (0, 0.1, 2), (0, 0, 3)]
        groups = {f"b{i}": [i, i + 1] for i in range(3)}
        add_skin(owner, points, [(0, 1, 2), (1, 2, 3)], groups).parent = owner


def _export_gltf(path: str) -> None:
    addon_utils.enable("io_scene_gltf2")
    bpy.ops.export_scene.gltf(filepath=path, export_animations=True, export_animation_mode="SCENE")


def _export_fbx(path: str) -> None:
    addon_utils.enable("io_scene_fbx")
    bpy.ops.export_scene.fbx(  # the scene alone
        filepath=path,
        bake_anim=True,
        bake_anim_simplify_factor=0.0,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=False,
    )


EXPORTS = {"gltf": _export_gltf, "fbx": _export_fbx}
IMPORTS: dict[str, Callable[[str], object]] = {
    "gltf": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    "fbx": lambda path: bpy.ops.import_scene.fbx(filepath=path, anim_offset=0.0),
}

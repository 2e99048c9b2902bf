# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their targets, in the same update."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from math import radians

import bpy
import pytest
from fabrik_addon.session import live
from mathutils import Vector

from rigs import Bone, add_chain, channels, evaluated_joints, make_armature, make_empty, make_line, tip_error


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    live.state.forget()
    yield
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


def update() -> None:
    bpy.context.view_layer.update()


def live_line(target=(0.3, -0.5, 1.9), count: int = 3):
    owner = make_line(count)
    chain = add_chain(owner, target)
    owner.fabrik.live = True
    update()
    return owner, owner.fabrik.chains[chain.name]


def shown_error(owner, chain) -> float:
    """The tip error as it stands evaluated, without another update."""
    return tip_error(owner, chain)


class TestFollowing:
    def test_switching_it_on_solves(self) -> None:
        owner, chain = live_line()
        assert chain.status == "REACHED"
        assert shown_error(owner, chain) < 1e-4

    def test_a_moved_target_is_followed_in_the_same_update(self) -> None:
        owner, chain = live_line()
        for x in (0.1, 0.4, -0.6, 5.0, 0.2):
            chain.target.location.x = x
            update()
            assert chain.status == ("REACHED" if x < 2 else "TOO_FAR")
            assert x > 2 or shown_error(owner, chain) < 1e-4

    def test_a_moved_pole_turns_the_limb(self) -> None:
        owner, chain = live_line()
        chain.pole = make_empty((0, -5, 1), "Pole")
        update()
        before = evaluated_joints(owner, chain)[1]
        chain.pole.location = (5, 0, 1)
        update()
        assert (evaluated_joints(owner, chain)[1] - before).length > 0.1
        assert shown_error(owner, chain) < 1e-4

    def test_the_armature_its_parent_and_the_bone_above_move_it(self) -> None:
        owner = make_armature([Bone((0, 0, 0), (0, 0, 1)), Bone((0, 0, 1), (0, 0.2, 2)), Bone((0, 0.2, 2), (0, 0, 3))])
        chain = add_chain(owner, (0.4, 0.4, 2.4), tip="b2", count=2)
        owner.fabrik.live = True
        holder = make_empty((0, 0, 0), "Holder")
        owner.parent = holder
        update()
        for change in (
            lambda: setattr(owner, "location", (0.2, 0.1, 0.3)),
            lambda: setattr(holder, "location", (0.0, -0.3, 0.1)),
            lambda: setattr(owner.pose.bones["b0"], "location", (0.1, 0.1, 0.2)),
        ):
            change()
            update()
            chain = owner.fabrik.chains[0]
            assert chain.status == "REACHED"
            assert shown_error(owner, chain) < 1e-4

    def test_changed_settings_and_limits_are_heeded(self) -> None:
        owner, _chain = live_line()
        owner.pose.bones["b1"].fabrik.limit = "LOCKED"
        owner.pose.bones["b2"].fabrik.limit = "LOCKED"
        update()
        assert owner.fabrik.chains[0].status == "BLOCKED"
        owner.pose.bones["b1"].fabrik.limit = "FREE"
        owner.pose.bones["b2"].fabrik.limit = "FREE"
        update()
        assert owner.fabrik.chains[0].status == "REACHED"
        owner.fabrik.chains[0].influence = 0.0
        update()
        assert all(bone.rotation_quaternion.angle < 1e-6 for bone in owner.pose.bones)

    def test_it_poses_as_the_button_does(self) -> None:
        owner, chain = live_line()
        chain.target.location = (0.5, 0.7, 1.3)
        update()
        posed = channels(owner)
        owner.fabrik.live = False
        for bone in owner.pose.bones:
            bone.rotation_quaternion = (1, 0, 0, 0)
        bpy.ops.fabrik.solve_all()
        assert channels(owner) == posed

    def test_uneven_scale_on_a_bone(self) -> None:
        owner, chain = live_line()
        owner.pose.bones["b0"].scale = (1.3, 1.0, 0.8)
        update()
        for x in (0.1, 0.3):
            chain = owner.fabrik.chains[0]
            chain.target.location.x = x
            update()
            assert shown_error(owner, chain) < 2e-4

    def test_off_for_one_and_off_for_all(self) -> None:
        owner, chain = live_line()
        for switch in (owner.fabrik, bpy.context.scene):
            name = "live" if switch is not bpy.context.scene else "fabrik_live"
            setattr(switch, name, False)
            update()
            before = channels(owner)
            chain.target.location.x += 0.2
            update()
            assert channels(owner) == before
            setattr(switch, name, True)
            update()
            assert shown_error(owner, chain) < 1e-4
            assert channels(owner) != before

    def test_a_disabled_chain_stays(self) -> None:
        owner, chain = live_line()
        chain.enabled = False
        update()
        before = channels(owner)
        chain.target.location.x += 0.3
        update()
        assert channels(owner) == before


class TestSeveral:
    def test_two_armatures_one_hanging_on_the_other(self) -> None:
        first, lead = live_line()
        second = make_line(3)
        second.name = "Second"
        second.location = (1.5, 0, 0)
        chain = add_chain(second)
        chain.target, chain.target_bone = first, "b2"
        second.fabrik.live = True
        update()
        for x in (0.5, -0.2, 0.6):
            lead = first.fabrik.chains[0]
            lead.target.location.x = x
            update()
            depsgraph = bpy.context.evaluated_depsgraph_get()
            head = first.evaluated_get(depsgraph).pose.bones["b2"].head
            tip = second.matrix_world @ second.evaluated_get(depsgraph).pose.bones["b2"].tail
            assert second.fabrik.chains[0].status == "REACHED"
            assert (tip - head).length < 3e-4
            assert shown_error(first, lead) < 1e-4

    def test_chains_that_wait_for_each_other_switch_themselves_off(self) -> None:
        first, _ = live_line()
        second = make_line(3)
        second.location.x = 2.0
        chain = add_chain(second)
        chain.target, chain.target_bone = first, "b2"
        second.fabrik.live = True
        first.fabrik.chains[0].target = second
        first.fabrik.chains[0].target_bone = "b2"
        update()
        for owner in (first, second):
            assert not owner.fabrik.chains[0].enabled
            assert "wait for each other" in owner.fabrik.chains[0].message


class TestFrames:
    def animated(self, owner_moves: bool = False, keyed_bones: bool = False):
        owner, chain = live_line()
        for frame, x in ((1, -0.5), (20, 0.7)):
            chain.target.location.x = x
            chain.target.keyframe_insert("location", frame=frame)
            if owner_moves:
                owner.location.y = x * 0.3
                owner.keyframe_insert("location", frame=frame)
            if keyed_bones:
                owner.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=frame)
        update()
        return owner, chain

    @pytest.mark.parametrize("owner_moves", [False, True])
    @pytest.mark.parametrize("keyed_bones", [False, True])
    def test_frames_from_any_direction_give_the_same_pose(self, owner_moves: bool, keyed_bones: bool) -> None:
        owner, chain = self.animated(owner_moves, keyed_bones)
        scene, seen = bpy.context.scene, {}
        for frame in (1, 5, 12, 20, 12, 5, 1, 17, 5, 3, 12):
            scene.frame_set(frame)
            assert shown_error(owner, chain) < 1e-4, frame
            assert seen.setdefault(frame, channels(owner)) == channels(owner), frame

    def test_subframes(self) -> None:
        owner, chain = self.animated()
        bpy.context.scene.frame_set(4, subframe=0.5)
        assert shown_error(owner, chain) < 1e-4

    def test_a_target_that_moves_alone_is_solved_before_the_frame_is_evaluated(self) -> None:
        owner, chain = self.animated()
        bpy.context.scene.frame_set(3)
        solved, ahead = live.state.solves, []
        seen = bpy.app.handlers.frame_change_post
        seen.insert(0, lambda scene, depsgraph: ahead.append(live.state.solves))
        try:
            bpy.context.scene.frame_set(4)
        finally:
            seen.pop(0)
        assert ahead == [solved + 1]
        assert live.state.solves == solved + 1
        assert shown_error(owner, chain) < 1e-4

    def test_constrained_and_driven_targets(self) -> None:
        owner, chain = self.animated()
        leader = make_empty((0, 0, 0), "Leader")
        leader.keyframe_insert("location", frame=1)
        leader.location = (0.2, 0.2, -0.3)
        leader.keyframe_insert("location", frame=20)
        copy = chain.target.constraints.new("COPY_LOCATION")
        copy.target, copy.use_offset = leader, True
        driver = chain.target.driver_add("location", 1).driver
        driver.expression = "frame * 0.02"
        for frame in (2, 9, 15):
            bpy.context.scene.frame_set(frame)
            assert shown_error(owner, chain) < 1e-4

    def test_a_render_shows_the_pose_of_each_frame(self, tmp_path) -> None:
        owner, chain = self.animated()
        scene = bpy.context.scene
        bpy.ops.mesh.primitive_cube_add(size=0.2)
        cube = bpy.context.object
        cube.parent, cube.parent_type, cube.parent_bone = owner, "BONE", "b2"
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(camera)
        camera.location, camera.rotation_euler = (0, -8, 1.5), (radians(90), 0, 0)
        scene.camera = camera
        scene.render.engine = "BLENDER_WORKBENCH"
        scene.display.shading.light, scene.display.shading.show_object_outline = "FLAT", False
        scene.render.resolution_x, scene.render.resolution_y, scene.render.film_transparent = 200, 150, True
        scene.frame_start, scene.frame_end = 1, 5
        scene.render.image_settings.file_format = "PNG"
        scene.render.image_settings.color_mode = "RGBA"
        scene.render.filepath = str(tmp_path / "frame_")
        try:
            bpy.ops.render.render(animation=True)
        finally:
            scene.render.filepath = "/tmp\\"
        for frame in range(1, 6):
            scene.frame_set(frame)
            tip = evaluated_joints(owner, chain)[-1]
            assert (tip - chain.target.matrix_world.translation).length < 1e-3
            seen = centre_of(tmp_path / f"frame_{frame:04d}.png")
            wanted = Vector((tip.x, tip.z - 1.5)) / 8.0 * 50.0 / 36.0 * 200.0
            assert (seen - wanted).length < 2.0, frame


def centre_of(path) -> Vector:
    """The middle of what a picture shows, in pixels from its centre."""
    import numpy as np

    image = bpy.data.images.load(str(path))
    width, height = image.size
    pixels = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    rows, columns = np.nonzero(pixels.reshape(height, width, 4)[..., 3] > 0.5)
    return Vector((columns.mean() + 0.5 - width / 2, rows.mean() + 0.5 - height / 2))


class TestThrift:
    def test_nothing_is_written_when_nothing_changed(self) -> None:
        _owner, chain = live_line()
        other = make_empty((3, 3, 3), "Other")
        update()
        writes, solves = live.state.writes, live.state.solves
        for i in range(5):
            other.location.x = i
            update()
            chain.target.location = chain.target.location
            update()
        assert (live.state.writes, live.state.solves) == (writes, solves)

    def test_a_moved_target_costs_one_solve_and_its_bones(self) -> None:
        _owner, chain = live_line()
        writes, solves = live.state.writes, live.state.solves
        chain.target.location.x += 0.1
        update()
        assert live.state.solves == solves + 1
        assert live.state.writes <= writes + 3

    def test_many_updates_leave_memory_level(self) -> None:
        _owner, chain = live_line()

        def run(count: int) -> None:
            for i in range(count):
                chain.target.location.x = 0.5 * (i % 7) / 7.0
                update()

        run(200)
        tracemalloc.start()
        run(20)
        before = tracemalloc.get_traced_memory()[0]
        run(1500)
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown < 100_000


class TestFailures:
    def test_a_chain_that_fails_switches_itself_off_and_the_others_go_on(self) -> None:
        owner, chain = live_line(count=4)
        other = make_line(3)
        other.location.x = 3.0
        follower = add_chain(other, (3.2, 0.4, 1.8))
        other.fabrik.live = True
        update()
        owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        update()
        chain = owner.fabrik.chains[0]
        assert not chain.enabled
        assert chain.status == "REFUSED"
        assert "switched off" in chain.message
        assert "b1" in chain.message
        follower = other.fabrik.chains[0]
        follower.target.location.z = 1.5
        update()
        assert shown_error(other, follower) < 1e-4

    def test_switching_it_on_again_works(self) -> None:
        owner, _chain = live_line()
        constraint = owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        update()
        owner.pose.bones["b1"].constraints.remove(constraint)
        owner.fabrik.chains[0].enabled = True
        update()
        assert owner.fabrik.chains[0].status == "REACHED"

    def test_nan_in_a_target(self) -> None:
        owner, chain = live_line()
        before = channels(owner)
        chain.target.location.x = float("nan")
        update()
        assert not owner.fabrik.chains[0].enabled
        assert channels(owner) == before

    def test_a_deleted_target_bone_or_armature(self) -> None:
        owner, chain = live_line()
        other, _ = live_line()
        bpy.data.objects.remove(chain.target)
        owner.location.x += 0.1
        update()
        assert "no target" in owner.fabrik.chains[0].message
        bpy.data.objects.remove(owner)
        update()
        bpy.context.view_layer.objects.active = other
        bpy.ops.object.mode_set(mode="EDIT")
        other.data.edit_bones.remove(other.data.edit_bones["b2"])
        bpy.ops.object.mode_set(mode="OBJECT")
        update()
        assert "no bone 'b2'" in other.fabrik.chains[0].message

    def test_renames(self) -> None:
        owner, chain = live_line()
        owner.name, chain.target.name, chain.name = "Anew", "Goal", "Limb"
        update()
        chain = owner.fabrik.chains["Limb"]
        chain.target.location.x += 0.2
        update()
        assert shown_error(owner, chain) < 1e-4

    def test_edit_mode_and_rest_position_are_waited_for(self) -> None:
        owner, chain = live_line()
        bpy.context.view_layer.objects.active = owner
        bpy.ops.object.mode_set(mode="EDIT")
        chain.target.location.x += 0.2
        update()
        bpy.ops.object.mode_set(mode="OBJECT")
        update()
        assert owner.fabrik.chains[0].enabled
        assert shown_error(owner, owner.fabrik.chains[0]) < 1e-4
        owner.data.pose_position = "REST"
        update()
        chain = owner.fabrik.chains[0]
        chain.target.location.x -= 0.3
        update()
        owner.data.pose_position = "POSE"
        update()
        assert chain.enabled
        assert shown_error(owner, chain) < 1e-4

    def test_an_error_nobody_foresaw_switches_live_off_once(self, monkeypatch) -> None:
        owner, chain = live_line()

        def broken(*_):
            raise ZeroDivisionError

        monkeypatch.setattr(live, "_follow", broken)
        chain.target.location.x += 0.1
        update()
        assert not owner.fabrik.live

    def test_undo_and_load(self, tmp_path) -> None:
        owner, chain = live_line()
        bpy.ops.ed.undo_push(message="before")
        chain.target.location.x = 0.6
        update()
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        update()
        owner = bpy.data.objects["Rig"]
        assert shown_error(owner, owner.fabrik.chains[0]) < 1e-4
        path = str(tmp_path / "live.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        owner = bpy.data.objects["Rig"]
        chain = owner.fabrik.chains[0]
        chain.target.location.x = -0.4
        update()
        assert shown_error(owner, chain) < 1e-4


class TestAutomaticKeys:
    def test_a_moved_target_keys_the_bones_at_the_frame(self) -> None:
        owner, chain = live_line()
        scene = bpy.context.scene
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        scene.tool_settings.use_keyframe_insert_auto = True
        scene.frame_set(7)
        chain.target.location.x += 0.2
        update()
        frames = {key.co[0] for curve in curves_of(owner) for key in curve.keyframe_points}
        assert frames == {7.0}

    def test_frames_and_undo_key_nothing(self) -> None:
        owner, chain = live_line()
        chain.target.keyframe_insert("location", frame=1)
        chain.target.location.x += 0.3
        chain.target.keyframe_insert("location", frame=10)
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        for frame in (2, 6, 9):
            bpy.context.scene.frame_set(frame)
        assert not curves_of(owner)


def curves_of(owner):
    from fabrik_addon.rig.compat import fcurves_of

    return fcurves_of(owner)

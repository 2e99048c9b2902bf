# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their targets, in the same update."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from math import radians

import bpy
import pytest
from fabrik_addon.session import live
from fabrik_addon.session.drag import begin, drag_to
from mathutils import Vector

from rigs import Bone, add_chain, channels, evaluated_joints, make_armature, make_empty, make_line, tip_error


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    live.state.forget()
    live.state.held = False
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


def keyed(thing, frame: int, location) -> None:
    thing.location = location
    thing.keyframe_insert("location", frame=frame)


def limb_on_a_bone():
    """Two bones on a third, with a live chain of the two."""
    owner = make_armature(
        [Bone((0, 0, -1), (0, 0, 0)), Bone((0, 0, 0), (0, 0.2, 1)), Bone((0, 0.2, 1), (0, 0, 2), connect=True)]
    )
    return owner, add_chain(owner, (0.5, 0.5, 1.0), tip="b2", count=2)


def two_levels():
    """A chain of two bones, and another of two that hangs on its end."""
    owner = make_armature(
        [
            Bone((0, 0, 0), (0, 0.1, 1)),
            Bone((0, 0.1, 1), (0, 0, 2), connect=True),
            Bone((0, 0, 2), (1, 0.1, 2)),
            Bone((1, 0.1, 2), (2, 0, 2), connect=True),
        ]
    )
    add_chain(owner, (0.5, 0, 1.5), tip="b1", count=2)
    add_chain(owner, (1.2, 0, 2.5), tip="b3", count=2)
    owner.fabrik.live = True
    update()
    return owner


class Judge(bpy.types.RenderEngine):
    """A renderer that notes where bones stand as they are rendered."""

    bl_idname, bl_label = "FABRIK_JUDGE", "Judge"
    seen: list[tuple[int, float, float]] = []

    def render(self, depsgraph) -> None:
        owner = bpy.data.objects["Rig"]
        evaluated = owner.evaluated_get(depsgraph)
        chain = owner.fabrik.chains[0]
        target = chain.target.evaluated_get(depsgraph).matrix_world.translation
        tip = evaluated.matrix_world @ evaluated.pose.bones[chain.tip_bone].tail
        self.seen.append((depsgraph.scene.frame_current, evaluated.pose.bones[0].head.x, (tip - target).length))


@pytest.fixture
def judged(tmp_path):
    """Renders the frames 1 to 4 and tells what was seen."""
    bpy.utils.register_class(Judge)
    scene = bpy.context.scene
    scene.render.engine, scene.frame_start, scene.frame_end = "FABRIK_JUDGE", 1, 4
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath = str(tmp_path / "x")
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)

    def render() -> list[tuple[int, float, float]]:
        Judge.seen.clear()
        bpy.ops.render.render(animation=True)
        return sorted({seen[0]: seen for seen in Judge.seen}.values())

    yield render
    bpy.utils.unregister_class(Judge)


class TestRenders:
    def test_keyed_bones_outside_the_chain_keep_their_keys(self, judged) -> None:
        owner, _ = limb_on_a_bone()
        for frame in (1, 4):
            keyed(owner.pose.bones["b0"], frame, (0.1 * frame, 0, 0))
        bpy.context.scene.frame_set(1)
        owner.fabrik.live = True
        update()
        wanted = []
        for frame in range(1, 5):
            bpy.context.scene.frame_set(frame)
            wanted.append(owner.pose.bones["b0"].head.x)
        seen = judged()
        assert [x for _, x, _ in seen] == pytest.approx(wanted, abs=1e-5)
        assert max(error for *_, error in seen) < 1e-4

    def test_keyed_bones_of_the_chain(self, judged) -> None:
        owner, _ = live_line()
        for frame in (1, 4):
            owner.pose.bones["b1"].rotation_quaternion = (1, 0.1 * frame, 0, 0)
            for bone in owner.pose.bones:
                bone.keyframe_insert("rotation_quaternion", frame=frame)
        bpy.context.scene.frame_set(1)
        assert max(error for *_, error in judged()) < 1e-4 * 3

    def test_an_animated_influence(self, judged) -> None:
        owner, chain = live_line()
        for frame, value in ((1, 0.0), (4, 1.0)):
            chain.influence = value
            chain.keyframe_insert("influence", frame=frame) if bpy.app.version < (4, 5) else owner.keyframe_insert(
                "fabrik_chains[0].influence", frame=frame
            )
        bpy.context.scene.frame_set(1)
        errors = [error for *_, error in judged()]
        assert errors[0] > 0.1
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] < 1e-3

    def test_a_chain_that_hangs_on_another(self, judged) -> None:
        owner = two_levels()
        target = owner.fabrik.chains[0].target
        keyed(target, 1, (0.5, 0, 1.5))
        keyed(target, 4, (-0.3, 0.2, 1.6))
        owner.fabrik.chains.move(1, 0)
        assert max(error for *_, error in judged()) < 1e-3


class TestDependence:
    def test_what_hangs_on_a_moved_chain_moves_with_it(self) -> None:
        owner = two_levels()
        for x in (0.6, 0.2, -0.4):
            owner.fabrik.chains[0].target.location.x = x
            update()
            for chain in owner.fabrik.chains:
                assert chain.status == "REACHED"
                assert shown_error(owner, chain) < 2e-4

    def test_of_chains_that_share_bones_the_last_has_its_way(self) -> None:
        owner = make_line(4)
        first = add_chain(owner, (0.4, 1.0, 2.4), tip="b3", count=4)
        add_chain(owner, (0.6, 0.6, 1.5), tip="b2", count=3)
        owner.fabrik.live = True
        update()
        for x in (0.1, 0.7):
            first = owner.fabrik.chains[0]
            first.target.location.x = x
            update()
            assert shown_error(owner, owner.fabrik.chains[1]) < 1e-4

    def test_a_target_driven_by_a_bone_of_another_rig(self) -> None:
        leader, lead = live_line()
        follower = make_line(3)
        follower.location.x = 3.0
        chain = add_chain(follower, (3.2, 0.4, 1.8))
        curve = chain.target.driver_add("location", 1)
        variable = curve.driver.variables.new()
        variable.type = "TRANSFORMS"
        variable.targets[0].id, variable.targets[0].bone_target = leader, "b1"
        variable.targets[0].transform_type, variable.targets[0].transform_space = "ROT_X", "LOCAL_SPACE"
        curve.driver.expression = variable.name
        follower.fabrik.live = True
        update()
        for y in (0.2, -0.9, 0.6):
            leader.fabrik.chains[0].target.location.y = y
            update()
            assert shown_error(follower, follower.fabrik.chains[0]) < 1e-4
        assert lead

    def test_a_circle_switches_off_only_those_in_it(self) -> None:
        bystander, _ = live_line()
        first, _ = live_line()
        second = make_line(3)
        chain = add_chain(second)
        chain.target, chain.target_bone = first, "b2"
        second.fabrik.live = True
        first.fabrik.chains[0].target, first.fabrik.chains[0].target_bone = second, "b2"
        update()
        assert not first.fabrik.chains[0].enabled
        assert bystander.fabrik.chains[0].enabled
        bystander.fabrik.chains[0].target.location.x = -0.4
        update()
        assert shown_error(bystander, bystander.fabrik.chains[0]) < 1e-4


class TestWhatChangesUnheard:
    def test_a_change_between_two_frames(self) -> None:
        owner, chain = live_line()
        keyed(chain.target, 1, (0.3, 0.2, 1.9))
        keyed(chain.target, 20, (0.6, 0.9, 1.5))
        scene = bpy.context.scene
        scene.frame_set(5)
        changes = (
            lambda: setattr(owner, "location", (0.3, 0, 0)),
            lambda: setattr(owner.pose.bones["b0"], "location", (0, 0.2, 0)),
            lambda: setattr(owner.pose.bones["b1"].fabrik, "limit", "HINGE"),
        )
        for frame, change in zip((7, 9, 12), changes, strict=True):
            change()
            scene.frame_set(frame)
            chain = owner.fabrik.chains[0]
            seen = channels(owner)
            bpy.ops.fabrik.solve_all()
            for mine, solved in zip(seen, channels(owner), strict=True):
                assert mine == pytest.approx(solved, abs=2e-4)

    def test_automatic_keys_make_later_frames_follow_still(self) -> None:
        owner, chain = live_line()
        keyed(chain.target, 1, (0.9, 0, 1))
        keyed(chain.target, 20, (0, 0.9, 1))
        scene = bpy.context.scene
        scene.frame_set(8)
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        scene.tool_settings.use_keyframe_insert_auto = True
        chain.target.location.x -= 0.1
        update()
        scene.tool_settings.use_keyframe_insert_auto = False
        assert curves_of(owner)
        for frame in (9, 12, 16, 12):
            scene.frame_set(frame)
            assert shown_error(owner, chain) < 1e-4, frame

    def test_two_scenes_in_turn(self) -> None:
        first_scene, window = bpy.context.scene, bpy.context.window
        owner, chain = live_line()
        other_scene = bpy.data.scenes.new("Other")
        window.scene = other_scene
        other, follower = live_line()
        for scene, rig, x in ((first_scene, owner, 0.1), (other_scene, other, 0.5), (first_scene, owner, -0.3)):
            window.scene = scene
            update()
            rig.fabrik.chains[0].target.location.x = x
            update()
            assert shown_error(rig, rig.fabrik.chains[0]) < 1e-4
        assert chain
        assert follower

    def test_a_renamed_target(self) -> None:
        owner, chain = live_line()
        chain.target.name = "Anew"
        update()
        chain.target.location.y = 0.4
        update()
        assert shown_error(owner, chain) < 1e-4

    def test_the_rig_moves_while_the_scene_is_switched_off(self) -> None:
        owner, chain = live_line()
        bpy.context.scene.fabrik_live = False
        update()
        owner.location.x = 0.3
        update()
        bpy.context.scene.fabrik_live = True
        update()
        assert shown_error(owner, chain) < 1e-4

    def test_uneven_scale_above_a_chain_that_starts_on_its_target(self) -> None:
        owner, _ = limb_on_a_bone()
        bpy.ops.fabrik.chain_remove()
        owner.pose.bones["b0"].scale = (1, 1, 1.3)
        update()
        bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=2, use_target=True)
        owner.fabrik.live = True
        update()
        chain = owner.fabrik.chains[0]
        chain.target.location += Vector((0.3, 0.4, -0.5))
        update()
        assert shown_error(owner, chain) < 3e-4

    def test_a_hidden_target_is_waited_for(self) -> None:
        owner, chain = live_line()
        chain.target.hide_viewport = True
        owner.location.x = 0.1
        update()
        assert chain.enabled
        assert "waits" in chain.message
        chain.target.hide_viewport = False
        update()
        owner.location.x = 0.2
        update()
        assert chain.status == "REACHED"
        assert shown_error(owner, chain) < 1e-4

    def test_a_bone_renamed_before_a_frame(self) -> None:
        owner, chain = live_line()
        keyed(chain.target, 1, (0.3, 0.2, 1.9))
        keyed(chain.target, 20, (0.6, 0.9, 1.5))
        for frame in (2, 3):
            bpy.context.scene.frame_set(frame)
        owner.data.bones["b1"].name = "knee"
        bpy.context.scene.frame_set(4)
        assert owner.fabrik.live
        assert shown_error(owner, chain) < 1e-4

    def test_chains_that_a_script_left_without_names(self) -> None:
        owner = make_line(4)
        for tip, place in (("b1", (0.2, 0.4, 1.2)), ("b3", (0.4, 0.9, 2.8))):
            chain = owner.fabrik.chains.add()
            chain.tip_bone, chain.bone_count, chain.target = tip, 2, make_empty(place)
        owner.fabrik.live = True
        update()
        assert [chain.status != "NONE" for chain in owner.fabrik.chains] == [True, True]

    def test_dragging_as_a_rope_keys_nothing_before_it_ends(self) -> None:
        owner, chain = live_line()
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        drag = begin(bpy.context, owner, chain)
        drag_to(bpy.context, drag, Vector((2, 0, 2)), anchored=False)
        update()
        drag.restore()
        update()
        assert not curves_of(owner)

    def test_a_target_parented_to_a_bone_is_dragged_along(self) -> None:
        owner, chain = live_line()
        other = make_armature([Bone((5, 0, 0), (5, 0, 1))], "Other")
        target = chain.target
        target.parent, target.parent_type, target.parent_bone = other, "BONE", "b0"
        update()
        drag = begin(bpy.context, owner, chain)
        point = Vector((0.5, 0.5, 1))
        drag_to(bpy.context, drag, point, anchored=True)
        update()
        assert (target.matrix_world.translation - point).length < 1e-4
        drag.restore()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders and exports evaluate by themselves, and have the live pose that is seen; goals they leave are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import bpy
import numpy as np
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.schema import FabrikChain

from support.scenes import (
    add_skin,
    each_frame,
    go_live,
    keyed,
    limb_with_bone_goals,
    live_line,
    make_empty,
    make_rig,
    update,
)

Rig = tuple[bpy.types.Object, FabrikChain]
Mode = Literal["RENDER", "VIEWPORT"]  # of an export: by whose settings things are evaluated
Render = Callable[[], list[tuple[int, float, float]]]


class Judge(bpy.types.RenderEngine):
    """A renderer that notes where bones stand as they are rendered."""

    bl_idname, bl_label = "FABRIK_JUDGE", "Judge"
    seen: list[tuple[int, float, float]] = []

    def render(self, depsgraph: bpy.types.Depsgraph) -> None:  # type: ignore[override]
        owner = bpy.data.objects["Rig"]
        evaluated = owner.evaluated_get(depsgraph)
        chain = owner.fabrik.chains[0]
        target = chain.target.evaluated_get(depsgraph).matrix_world.translation
        tip = evaluated.matrix_world @ evaluated.pose.bones[chain.tip_bone].tail
        carried = bpy.data.objects["Carried"].evaluated_get(depsgraph).matrix_world.translation
        error = max((tip - target).length, (carried - tip).length)
        self.seen.append((depsgraph.scene.frame_current, root_of(evaluated), error))


def root_of(evaluated: bpy.types.Object) -> float:
    """Where the first bone of an armature begins along the world's X axis."""
    return float((evaluated.matrix_world @ evaluated.pose.bones[0].head).x)


def corners(mesh: bpy.types.Object) -> list[tuple[float, ...]]:
    """Where the vertices of a mesh stand in the world, as evaluated."""
    found = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert isinstance(found.data, bpy.types.Mesh)
    return [tuple(found.matrix_world @ vertex.co) for vertex in found.data.vertices]


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[Render]:
    """Renders the frames 1 to 4 and tells what was seen."""
    bpy.utils.register_class(Judge)
    scene: Any = bpy.context.scene
    scene.render.engine, scene.frame_start, scene.frame_end = "FABRIK_JUDGE", 1, 4
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath = str(tmp_path / "x")
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)

    def render() -> list[tuple[int, float, float]]:
        owner, carried = bpy.data.objects["Rig"], make_empty(name="Carried")
        carried.parent, carried.parent_type, carried.parent_bone = owner, "BONE", owner.fabrik.chains[0].tip_bone
        Judge.seen.clear()
        bpy.ops.render.render(animation=True)
        return sorted({seen[0]: seen for seen in Judge.seen}.values())

    yield render
    bpy.utils.unregister_class(Judge)


class TestRenders:
    def test_keyed_bones_outside_the_chain_keep_their_keys(self, judged: Render) -> None:
        owner, _ = make_rig("limb on a bone")
        for frame in (1, 4):
            keyed(owner.pose.bones["b0"], {frame: (0.1 * frame, 0, 0)})
        bpy.context.scene.frame_set(1)
        go_live(owner)
        wanted = [owner.pose.bones["b0"].head.x for _ in each_frame(range(1, 5))]
        seen = judged()
        assert [x for _, x, _ in seen] == pytest.approx(wanted, abs=1e-5)
        assert max(error for *_, error in seen) < 1e-4

    def test_keyed_bones_of_the_chain(self, judged: Render, owner: bpy.types.Object) -> None:
        for frame in (1, 4):
            owner.pose.bones["b1"].rotation_quaternion = (1, 0.1 * frame, 0, 0)
            for bone in owner.pose.bones:
                bone.keyframe_insert("rotation_quaternion", frame=frame)
        bpy.context.scene.frame_set(1)
        assert max(error for *_, error in judged()) < 1e-4 * 3

    def test_an_animated_influence(self, judged: Render, owner: bpy.types.Object, chain: FabrikChain) -> None:
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

    def test_a_chain_that_hangs_on_another(self, judged: Render) -> None:
        owner = make_rig("two levels", is_live=True)[0]
        keyed(owner.fabrik.chains[0].target, {1: (0.5, 0, 1.5), 4: (-0.3, 0.2, 1.6)})
        owner.fabrik.chains.move(1, 0)
        assert max(error for *_, error in judged()) < 1e-3

    @pytest.mark.parametrize("what", ["location", "scale", "influence", "OBJECT", "BONE", "ARMATURE"])
    def test_what_moves_an_armature_or_drives_its_bones_is_of_the_frame(self, what: str, judged: Render) -> None:
        owner = make_rig("limb on a bone", is_live=True)[0]
        bones, constraint = owner.pose.bones, owner.constraints.new("COPY_LOCATION")
        constraint.target, constraint.influence = make_empty((0.3, 0, 0), "Lead"), 0.0
        holders: dict[str, Any] = {"OBJECT": owner, "BONE": bones["b3"], "ARMATURE": owner.data}
        if what in holders:
            driver = bones["b0"].driver_add("location", 0).driver
            driver.type, source = "AVERAGE", driver.variables.new().targets[0]
            source.id_type, source.id = ("ARMATURE", owner.data) if what == "ARMATURE" else ("OBJECT", owner)
            source.data_path = 'pose.bones["b3"]["way"]' if what == "BONE" else '["way"]'
            for frame, value in ((1, 0.0), (4, 0.3)):
                holders[what]["way"] = value
                holders[what].keyframe_insert('["way"]', frame=frame)
        elif what == "influence":
            keyed(constraint, {1: 0.0, 4: 1.0}, what)
        else:
            keyed(owner, {1: (1.0, 1.0, 1.0), 4: (1.5, 1.5, 1.5)}, what)
        wanted = [root_of(owner) for _ in each_frame((1, 2, 3, 4, 2))]
        seen = judged()
        assert [x for _, x, _ in seen] == pytest.approx(wanted[:-1], abs=1e-5)
        assert max(error for *_, error in seen) < 1e-4
        update()
        assert root_of(owner) == pytest.approx(wanted[-1], abs=1e-5), "the viewport shows its own frame again"

    @pytest.mark.parametrize("mode", ["RENDER", "VIEWPORT"])
    def test_an_export_that_evaluates_by_itself_has_the_pose_that_is_seen(self, mode: Mode, tmp_path: Path) -> None:
        owner, chain = make_rig("limb on a bone", is_live=True)
        keyed(chain.target, {1: (0.5, 0.5, 1.0), 4: (0.3, -0.5, 1.6)})
        for name, way in (("b0", 0.2), ("b3", 1.0)):
            keyed(owner.pose.bones[name], {1: (0.0, 0.0, 0.0), 4: (way, 0.0, 0.0)})
        skin = add_skin(owner, [(5, 0, 0), (5, 0, 1), (5, 1, 0)], [(0, 1, 2)], {"b2": [0, 1], "b3": [2]})

        def seen(thing: bpy.types.Object) -> list[list[tuple[float, ...]]]:
            return [corners(thing) for _ in each_frame((1, 2, 3, 4))]

        wanted, path = seen(skin), str(tmp_path / "skin.abc")
        bpy.context.scene.frame_set(2)
        bpy.ops.wm.alembic_export(filepath=path, start=1, end=4, evaluation_mode=mode, as_background_job=False)
        bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
        assert np.array(seen(bpy.data.objects["Skin.001"])) == pytest.approx(np.array(wanted), abs=1e-4)

    @pytest.mark.parametrize("disabled", ["", "target", "collection", "rig", "offset"])
    def test_goals_that_a_render_does_not_move_are_told(self, disabled: str) -> None:
        owner, chain = live_line() if disabled in ("", "target", "collection") else limb_with_bone_goals()[:2]
        owner.hide_render = disabled in ("rig", "offset")
        if disabled == "offset":
            chain.goal = "OFFSET"
        if disabled == "target":
            chain.target.hide_render = True
        if disabled == "collection":
            made = bpy.data.collections.new("Controls")
            bpy.context.scene.collection.children.link(made)
            made.objects.link(chain.target)
            bpy.context.scene.collection.objects.unlink(chain.target)
            made.hide_render = True
        found = live.goals_not_rendered(owner, bpy.context.view_layer)
        assert found == {"rig": [owner.name], "target": ["Target"], "collection": ["Target"]}.get(disabled, [])

# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk is told to be old where its path or its ground was changed, and in no frame where they were not."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.walk.marking import mark_steps
from fabrik_addon.session.walk.planning import plan_walk, what_is_old
from fabrik_addon.session.walk.setup import add_walker
from mathutils import Vector

from dev.walking_rigs import make_spider
from support.scenes import WALK, make_empty, update, walking


def told(owner: bpy.types.Object) -> str:
    update()
    return what_is_old(owner, bpy.context.scene)


def key_ahead(thing: bpy.types.Object) -> None:
    for frame, y in zip(WALK, (0.0, -1.5), strict=True):
        thing.location.y = y
        thing.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(WALK[0])


def by_itself(owner: bpy.types.Object) -> bpy.types.Object:
    return owner


def by_its_parent(owner: bpy.types.Object) -> bpy.types.Object:
    owner.parent = make_empty((0.0, 0.0, 0.0), "Carrier")
    return owner.parent


@pytest.mark.parametrize("carrier", [by_itself, by_its_parent])
def test_an_object_that_is_keyed_is_the_same_path_in_every_frame(
    carrier: Callable[[bpy.types.Object], bpy.types.Object],
) -> None:
    owner = make_spider(4)
    moved = carrier(owner)
    key_ahead(moved)
    update()
    add_walker(bpy.context, owner)
    plan_walk(bpy.context, owner, WALK)
    for frame in (1, 30, 60):
        bpy.context.scene.frame_set(frame)
        assert not told(owner)
    moved.location.x = 0.5  # keyed as well: the next frame takes it back
    bpy.context.scene.frame_set(30)
    assert not told(owner)
    moved.scale.x = 1.1  # not keyed
    assert "path" in told(owner)


def slope() -> bpy.types.Object:
    """A mesh of two triangles, and a little room for a modifier."""
    mesh = bpy.data.meshes.new("Slope")
    mesh.from_pydata([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [], [(0, 1, 2), (0, 2, 3)])
    made = bpy.data.objects.new("Slope", mesh)
    bpy.context.collection.objects.link(made)
    return made


def move(ground: bpy.types.Object) -> None:
    ground.location.z -= 0.1


def reshape(ground: bpy.types.Object) -> None:
    assert isinstance(ground.data, bpy.types.Mesh)
    ground.data.vertices[0].co += Vector((0.0, 0.0, 0.2))
    ground.data.update()


def thicken(ground: bpy.types.Object) -> None:
    ground.modifiers["Solidify"].thickness = 0.3


def hide(ground: bpy.types.Object) -> None:
    ground.hide_set(True)


def key(ground: bpy.types.Object) -> None:
    key_ahead(ground)


@pytest.mark.parametrize("change", [move, reshape, thicken, hide, key])
def test_ground_that_is_changed_makes_a_walk_old(change: Callable[[bpy.types.Object], None]) -> None:
    ground = slope()
    ground.modifiers.new("Solidify", "SOLIDIFY")
    owner = walking("spider")
    assert not told(owner)
    change(ground)
    assert "ground" in told(owner)
    plan_walk(bpy.context, owner, WALK)
    assert not told(owner)


def test_what_is_no_ground_makes_it_not_old() -> None:
    moving = slope()
    key_ahead(moving)
    owner = walking("spider")
    bpy.context.scene.frame_set(30)
    assert not told(owner)
    mark_steps(bpy.context, owner, "CURVE", use_markers=True)
    make_empty((0.0, 0.0, 0.0), "Helper")
    assert not told(owner)


def test_a_walk_that_was_kept_without_its_ground_is_not_old_for_that() -> None:
    owner = walking("spider")
    walker = rig_of(owner).walker
    walker.inputs = walker.inputs.rpartition(" ")[0]
    slope()
    assert not told(owner)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins, rotations and the body of a library override: set by the operators, there after a reload, and holding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.judging import angle_between, effector, tip_turn
from support.scenes import add_limb, make_body, press, select, update


def library(path: Path, with_pin: bool) -> str:
    """A file with a body in a collection, one foot pinned or nothing of FABRIK in it."""
    owner = make_body()
    collection = bpy.data.collections.new("Character")
    collection.objects.link(owner)
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(owner)
    if with_pin:
        select(owner, "foot.L")
        press("pin_toggle")
        bpy.ops.object.mode_set(mode="OBJECT")
    file = str(path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    return file


def override(file: str) -> bpy.types.Object:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    collection = bpy.data.collections["Character"]
    bpy.context.scene.collection.children.link(collection)
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    return taken()


def taken() -> bpy.types.Object:
    """The override, active."""
    owner = next(found for found in bpy.context.scene.objects if found.type == "ARMATURE" and found.override_library)
    bpy.context.view_layer.objects.active = owner
    return owner


@pytest.mark.parametrize("with_pin", [False, True])
def test_what_is_set_on_an_override_is_there_after_reload_and_holds(tmp_path: Path, with_pin: bool) -> None:
    owner = override(library(tmp_path, with_pin))
    owner.location = (1.0, 0.5, 0.0)
    update()
    select(owner, "foot.L", "foot.R")
    press("pin_toggle", action="PIN")
    press("body_bone_set")
    rig_of(owner).balance = 0.25
    owner.pose.bones["thigh.L"].fabrik.mass = 0.125
    bpy.ops.object.mode_set(mode="OBJECT")
    held = {chain.tip_bone: stored(chain) for chain in rig_of(owner).chains}
    file = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    owner = taken()
    rig = rig_of(owner)
    assert {chain.tip_bone: stored(chain) for chain in rig.chains} == held
    assert set(held) == {"foot.L", "foot.R"}
    assert (rig.body_bone, rig.balance, owner.pose.bones["thigh.L"].fabrik.mass) == ("hips", 0.25, 0.125)
    add_limb(owner, "hips", 1, target=(1.0, 0.5, 0.75), name="sink")
    update()
    press("solve_all")
    update()
    for chain in rig.chains:
        assert chain.status == "REACHED"
        if chain.pin:
            assert (effector(owner, chain) - Vector(chain.held_location)).length < 2e-4
            assert angle_between(tip_turn(owner, chain), tuple(chain.held_rotation)) < 1e-3


def stored(chain: Any) -> tuple[Any, ...]:
    return chain.pin, chain.orientation, chain.effector, tuple(chain.held_location), tuple(chain.held_rotation)

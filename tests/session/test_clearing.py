# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove FABRIK from Armature leaves an armature as it was before, in the pose that it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of

from support.scenes import add_limb, make_body, make_empty, make_line, overridden, press, update, walking
from support.skeletons import make_character


def stored(owner: Any) -> list[str]:
    """Names of our properties that are set on an armature object or its bones."""
    things = (owner, *owner.pose.bones)
    names = [prop.identifier for prop in owner.bl_rna.properties] + [
        prop.identifier for prop in bpy.types.PoseBone.bl_rna.properties
    ]
    ours = [name for name in names if name.startswith("fabrik_")]
    there = [(thing, name) for thing in things for name in ours if hasattr(thing, name)]
    return [name for thing, name in there if thing.is_property_set(name) and getattr(thing, name) is not None]


def pose(owner: bpy.types.Object, names: list[str]) -> list[tuple[float, ...]]:
    update()
    return [tuple(value for row in owner.pose.bones[name].matrix for value in row) for name in names]


@pytest.mark.parametrize("controls", ["BONES", "EMPTIES"])
def test_a_character_is_as_before_it_was_set_up(controls: str) -> None:
    owner = make_character("human_mixamo")
    names = [bone.name for bone in owner.pose.bones]
    objects = set(bpy.data.objects.keys())
    press("character_setup", controls=controls, use_walker=True)
    rig_of(owner).live = True
    owner.pose.bones[names[2]].rotation_quaternion = (0.9, 0.3, 0.0, 0.1)
    stood = pose(owner, names)
    press("rig_clear")
    assert not stored(owner)
    assert [bone.name for bone in owner.pose.bones] == names
    assert set(bpy.data.objects.keys()) == objects
    assert "FABRIK" not in owner.data.collections_all
    assert pose(owner, names) == stood
    assert not bpy.ops.fabrik.rig_clear.poll()
    press("character_setup")
    assert len(rig_of(owner).chains) == 6


def test_goals_of_others_and_their_keys_stay() -> None:
    owner = make_line(3)
    thing = make_empty((0.0, 1.0, 2.0), "Ball")
    chain = add_limb(owner, "b2", 3)
    chain.target = thing
    own = make_empty((0.0, 1.0, 1.0), f"{chain.name}.pole")
    chain.pole = own
    shared = make_empty((0.0, 0.0, 0.0), "Shared")
    shared.constraints.new("COPY_LOCATION").target = own
    owner.keyframe_insert(chain.path_from_id("influence"), frame=1)
    owner.keyframe_insert("location", frame=1)
    press("rig_clear")
    assert {thing.name, own.name} <= set(bpy.data.objects.keys())
    assert {curve.data_path for curve in fcurves_of(owner)} == {"location"}


def test_marks_of_a_walk_go_as_well() -> None:
    owner = walking("spider")
    bpy.context.view_layer.objects.active = owner
    press("walk_mark", footprints="CURVE", use_markers=True)
    assert len(bpy.context.scene.timeline_markers)
    press("rig_clear")
    assert not len(bpy.context.scene.timeline_markers)
    assert not [one for one in bpy.data.objects if one.type == "CURVE"]
    assert not stored(owner)


def test_chains_of_a_library_are_refused(tmp_path: Path) -> None:
    owner = make_body()
    add_limb(owner, "hand.L", 3, target=(0.7, 0.0, 1.4))
    override = overridden(owner, tmp_path)
    with pytest.raises(RuntimeError, match="come from the library file"):
        press("rig_clear")
    assert len(rig_of(override).chains) == 1

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rigs of a file hold and mean, as plain data: all that is stored with them, and the poses that come of it.

It reads what Blender has registered under names that begin with fabrik, so it tells of every version of the extension
what that version stores.
"""

from __future__ import annotations

import contextlib
import json
from hashlib import sha256
from typing import Any

import bpy
from mathutils import Matrix, Vector

from support.judging import evaluated_joints
from support.scenes import armature, chain_bones, make_line

PREFIX = "fabrik_"
DIGITS = 7  # of single precision

Facts = dict[str, Any]


def armatures() -> list[bpy.types.Object]:
    """The armature objects of the scene, in an order that does not depend on how the file was opened."""
    return sorted((found for found in bpy.context.scene.objects if found.type == "ARMATURE"), key=lambda o: o.name)


def stored() -> Facts:
    """All settings and results that the open file holds, of its scene and of each armature."""
    return {"scene": _values(bpy.context.scene), "rigs": {owner.name: _of_rig(owner) for owner in armatures()}}


def _of_rig(owner: bpy.types.Object) -> Facts:
    found = _values(owner)
    plan = found.get("fabrik_walker_plan", "")
    found["fabrik_walker_plan"] = plan and sha256(plan.encode()).hexdigest()  # it is long
    found["fabrik_bake_report"] = json.loads(found["fabrik_bake_report"] or "null")
    return {**found, "bones": {bone.name: _values(bone) for bone in owner.pose.bones}}


def _values(thing: Any) -> Facts:
    """The properties of ours, or all of a group of ours."""
    names = (prop.identifier for prop in thing.bl_rna.properties if prop.identifier != "rna_type")
    is_group = isinstance(thing, bpy.types.PropertyGroup)
    return {name: _value(getattr(thing, name)) for name in names if is_group or name.startswith(PREFIX)}


def plain() -> tuple[Facts, Facts, Facts]:
    """What is stored of an armature on which nothing was set, of such a chain, and of such a bone."""
    owner = make_line(1)
    found = _values(owner), _values(owner.fabrik.chains.add()), _values(owner.pose.bones[0])
    bpy.data.armatures.remove(armature(owner))
    return found


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return rounded(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, bpy.types.ID):
        return value.name
    if isinstance(value, bpy.types.PropertyGroup):
        return _values(value)
    return [_value(item) for item in value]


def rounded(value: float) -> float:
    """A number with the digits that single precision has."""
    return float(f"{value:.{DIGITS}g}")


def meant_at(frame: int) -> Facts:
    """What each chain does at a frame: the enabled ones are solved, those of live rigs by the change of frame."""
    bpy.context.scene.frame_set(frame)
    for owner in armatures():
        if not owner.fabrik.live and any(chain.enabled for chain in owner.fabrik.chains):
            bpy.context.view_layer.objects.active = owner
            with contextlib.suppress(RuntimeError):  # all chains are refused, as their statuses say
                bpy.ops.fabrik.solve_all()
    return {
        owner.name: {chain.name: _posed(owner, chain) for chain in owner.fabrik.chains}
        for owner in armatures()
        if len(owner.fabrik.chains)
    }


def _posed(owner: bpy.types.Object, chain: Any) -> Facts:
    joints = evaluated_joints(owner, chain)
    rotations = [bone.matrix_basis.to_quaternion() for bone in chain_bones(owner, chain)]
    return {
        "status": chain.status,
        "residual": rounded(chain.residual),
        "blocking_bones": [bone.name for bone in chain.blocking_bones],
        "target": _point(chain.target, chain.target_bone) if chain.target else None,
        "joints": [[rounded(value) for value in joint] for joint in joints],
        "rotations": [[rounded(value) for value in rotation] for rotation in rotations],
    }


def _point(goal: bpy.types.Object, bone: str) -> list[float]:
    """Where a goal stands in the world: the origin of an object, the head of a bone."""
    evaluated = goal.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world: Matrix = evaluated.matrix_world
    found: Vector = world @ evaluated.pose.bones[bone].head if bone else world.translation
    return [rounded(value) for value in found]

# SPDX-License-Identifier: GPL-3.0-or-later
"""On which bones of an armature a target, a pole or a bone hangs: by parents, constraints and
drivers, at any remove.

Vertices of deformed meshes are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import bpy

from ..messages import Message
from .chain_bones import pose_bones

Tie = tuple[bpy.types.Object, str]
SIMULATIONS = {"CLOTH", "SOFT_BODY"}
STATEFUL = {*SIMULATIONS, "NODES", "FLUID", "DYNAMIC_PAINT"}  # modifiers that may go on from the frame before
BONE_IN_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
PROPERTY_IN_PATH = re.compile(BONE_IN_PATH.pattern + r'\["((?:[^"\\]|\\.)*)"\]')


def bones_behind(owner: bpy.types.Object, found: bpy.types.Object, bone: str) -> set[str]:
    """Names of the armature's bones that move an object, or a bone of it.

    Args:
        owner: The armature object.
        found: A target or pole, or the armature itself.
        bone: Name of a bone of `found`, or "".
    """
    return {name for thing, name in carriers_of(found, bone) if name and thing == owner.name_full}


def carriers_of(found: bpy.types.Object, bone: str) -> set[tuple[str, str]]:
    """Objects by their full names, and bones of them, that move an object, or a bone of it; itself included.

    Args:
        found: A target or pole, or an armature.
        bone: Name of a bone of `found`, or "".
    """
    return {(thing.name_full, name) for thing, name in ties_behind(found, bone)}


def ties_behind(found: bpy.types.Object, bone: str) -> list[Tie]:
    """`carriers_of` with the objects themselves."""
    waiting: list[Tie] = [(found, bone)]
    seen: dict[tuple[str, str], Tie] = {}
    while waiting:
        thing, name = waiting.pop()
        own = pose_bones(thing).get(name) if name and thing.pose else None
        name = own.name if own else ""
        if (thing.name_full, name) in seen:
            continue
        seen[thing.name_full, name] = thing, name
        if own is None:
            waiting += _ties_of_object(thing)
            continue
        waiting += _ties_of(own.constraints)
        waiting += _ties_of_drivers(thing, own.path_from_id())
        waiting.append((thing, own.parent.name if own.parent else ""))
    return list(seen.values())


def is_simulated(found: bpy.types.Object, bone: str) -> bool:
    """Whether a simulation moves an object, or a bone of it, so that a frame has to be come to from those before it.

    Args:
        found: A target or pole, or an armature.
        bone: Name of a bone of `found`, or "".
    """
    return any(
        thing.rigid_body is not None or any(modifier.type in SIMULATIONS for modifier in thing.modifiers)
        for thing, _ in ties_behind(found, bone)
    )


def keeps_state(found: bpy.types.Object) -> bool:
    """Whether the shape of an object may hang on the frames before, so that a frame has to be come to from those."""
    return any(modifier.type in STATEFUL for modifier in found.modifiers)


def broken_driver(found: bpy.types.Object, bone: str) -> Message | None:
    """The property of an object, or of what moves it, whose driver Blender can't evaluate; "" where there is none.

    Args:
        found: A target or pole.
        bone: Name of a bone of `found`, or "".
    """
    for thing, name in ties_behind(found, bone):
        data = thing.animation_data
        for curve in data.drivers if data is not None else ():
            of_bone = curve.data_path.startswith("pose.bones[")
            of_this = bone_in(curve.data_path) == name if of_bone else True
            if curve.driver is not None and of_this and not curve.mute and not curve.driver.is_valid:
                return Message("PATH_OF_THING", path=curve.data_path, thing=thing.name)
    return None


def _ties_of_object(thing: bpy.types.Object) -> list[Tie]:
    parent = thing.parent
    ties = _ties_of(thing.constraints) + _ties_of_drivers(thing, "")
    if parent is not None:
        ties.append((parent, thing.parent_bone if thing.parent_type == "BONE" else ""))
    return ties


def _ties_of(constraints: Iterable[Any]) -> list[Tie]:
    """Objects and bones that a stack of constraints follows."""
    ties: list[Tie] = []
    for constraint in constraints:
        if constraint.mute:
            continue
        target = getattr(constraint, "target", None)
        if target is not None:
            ties.append((target, getattr(constraint, "subtarget", "")))
        several = getattr(constraint, "targets", ())
        ties += [(tie.target, getattr(tie, "subtarget", "")) for tie in several if tie.target is not None]
    return ties


def _ties_of_drivers(thing: bpy.types.Object, path: str) -> list[Tie]:
    """Objects and bones that the drivers of an object follow, or those of a bone of it by its path."""
    data = thing.animation_data
    ties: list[Tie] = []
    for curve in data.drivers if data is not None else ():
        of_bone = curve.data_path.startswith("pose.bones[")
        if curve.driver is None or (not curve.data_path.startswith(f"{path}.") if path else of_bone):
            continue
        for target in (target for variable in curve.driver.variables for target in variable.targets):
            if isinstance(target.id, bpy.types.Object):
                ties.append((target.id, target.bone_target or bone_in(target.data_path)))
    return ties


def bone_in(path: str) -> str:
    """The bone's name in a data path, or ""."""
    found = BONE_IN_PATH.search(path)
    return bpy.utils.unescape_identifier(found.group(1)) if found else ""


def property_in(path: str) -> tuple[str, str]:
    """The bone and its custom property that a data path names, or ("", "")."""
    found = PROPERTY_IN_PATH.fullmatch(path)
    if found is None:
        return "", ""
    return bpy.utils.unescape_identifier(found[1]), bpy.utils.unescape_identifier(found[2])

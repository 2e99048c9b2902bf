# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what is seen follows a chain: the controls of a generated rig may drive nothing at present.

Such a rig has bones for the animator and others that deform the mesh, which follow the first by constraints. A switch
between IK and FK turns one of two stacks of these off, so that a control can be posed, and nothing else moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import bpy

from ..messages import Message
from .chain_bones import pose_bones
from .dependencies import property_in

SLIGHT = 1e-3  # influence below which a constraint does nothing that is seen
REPLACING = {"COPY_TRANSFORMS", "ARMATURE"}  # what comes before these counts no more than their influence leaves


class _Tie(NamedTuple):
    """A constraint by which a bone follows another.

    Attributes:
        bone: Name of the bone that has it.
        followed: Name of that which it follows.
        strength: How much of the other's movement is left at the end of the stack, 0 to 1.
        cause: The constraint that takes it away, where it is 0.
    """

    bone: str
    followed: str
    strength: float
    cause: bpy.types.Constraint


def why_unfollowed(owner: bpy.types.Object, bones: Sequence[str]) -> Message | None:
    """Why no bone that deforms follows a chain, as a sentence; None where one does, or where nothing tells.

    Nothing is evaluated: Blender writes the influences that it found last, drivers included, into the originals.

    Args:
        owner: The armature object.
        bones: Names of the chain's bones.
    """
    poses = pose_bones(owner)
    if any(poses[name].bone.use_deform for name in bones):
        return None
    ties: dict[str, list[_Tie]] = {}
    for bone in (bone for bone in poses if bone.constraints):
        for tie in _ties_of(owner, bone):
            ties.setdefault(tie.followed, []).append(tie)
    following, waiting = set[str](), list(bones)
    loose: list[_Tie] = []
    while waiting:
        name = waiting.pop()
        if name in following:
            continue
        if poses[name].bone.use_deform:
            return None
        following.add(name)
        waiting += [child.name for child in poses[name].children]
        for tie in ties.get(name, ()):
            if tie.strength > SLIGHT:
                waiting.append(tie.bone)
            else:
                loose.append(tie)
    loose = [tie for tie in loose if tie.bone not in following]
    if not loose or any(child.parent_bone in following for child in owner.children):
        return None
    first = min(loose, key=lambda tie: (tie.followed not in bones, poses.find(tie.bone)))
    return Message("DEFORMING_BONES_DO_NOT_FOLLOW", reason=_cause(owner, first.cause))


def _ties_of(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> Iterator[_Tie]:
    """The constraints by which a bone follows bones of its own armature."""
    stack: list[Any] = [constraint for constraint in bone.constraints if not constraint.mute]
    for i, constraint in enumerate(stack):
        followed = [
            found.subtarget
            for found in (constraint, *getattr(constraint, "targets", ()))
            if getattr(found, "target", None) == owner and getattr(found, "subtarget", "")
        ]
        if not followed:
            continue
        strength, cause = constraint.influence, constraint
        for later in stack[i + 1 :]:
            if _replaces(later, constraint) and later.influence > SLIGHT:
                strength *= 1.0 - later.influence
                if strength <= SLIGHT:
                    cause = cause if constraint.influence <= SLIGHT else later
                    break
        yield from (_Tie(bone.name, name, strength, cause) for name in followed)


def _replaces(later: Any, constraint: Any) -> bool:
    """Whether a constraint takes the place of what one before it did."""
    if later.type not in REPLACING and later.type != constraint.type:
        return False
    return getattr(later, "mix_mode", "REPLACE") == "REPLACE" and not getattr(later, "use_offset", False)


def _cause(owner: bpy.types.Object, constraint: bpy.types.Constraint) -> Message:
    """What sets the influence of a constraint, and to what."""
    path = f"{constraint.path_from_id()}.influence"
    data = owner.animation_data
    for curve in data.drivers if data is not None else ():
        if curve.data_path != path or curve.driver is None:
            continue
        for target in (target for variable in curve.driver.variables for target in variable.targets):
            bone, name = property_in(target.data_path)
            if name and isinstance(target.id, bpy.types.Object) and bone in pose_bones(target.id):
                return Message("PROPERTY_VALUE", name=name, bone=bone, value=pose_bones(target.id)[bone][name])
    holder = path.split('"')[1]
    return Message(
        "CONSTRAINT_INFLUENCE",
        constraint=constraint.name,
        holder=holder,
        influence=constraint.influence,
    )

# SPDX-License-Identifier: GPL-3.0-or-later
"""On what an object or a bone hangs rigidly, in whose frame a goal stands by that, and how it is given another space.

It hangs on its parent, or by the one constraint of its that is on, where that carries it as a parent would: that is a
space. A goal may have several, of which keys switch one on at a time; then it has no parent. What hangs on a bone of
the figure that is to reach it is read in the frame of that bone, by channels alone, so that nothing runs in a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import bpy
from mathutils import Matrix, Vector

from ..errors import TargetError
from ..maths import axes_of
from ..messages import ROLES, Message
from .bones import SWING, pose_bones, swings
from .figure.kinematics import Link, rounded

Holder: TypeAlias = bpy.types.Object | bpy.types.PoseBone  # what has the channels

CHILD_OF = tuple(f"use_{what}_{axis}" for what in ("location", "rotation", "scale") for axis in "xyz")


class Attachment(NamedTuple):
    """On what an object or a bone hangs: an object, or a bone of it by name, by a constraint; None for its parent."""

    found: bpy.types.Object
    bone: str
    constraint: Any = None


def holder_in(found: bpy.types.Object, name: str) -> Holder | None:
    """What has the channels of an object, or of the bone of it that is named; None where there is no such bone."""
    return pose_bones(found).get(name) if name and found.type == "ARMATURE" else found


def in_force(holder: Holder) -> list[Any]:
    """The constraints of an object or a bone that are on, but for that of a swing bone."""
    found = [one for one in holder.constraints if not one.mute and one.influence > 0.0]
    return [one for one in found if not one.name.startswith(SWING)]


def space_of(holder: Holder) -> Any:
    """The constraint that carries an object or a bone in place of a parent: alone, and in full; None without one."""
    found = in_force(holder) if len(holder.constraints) else ()
    return found[0] if len(found) == 1 and found[0].influence == 1.0 and target_of(holder, found[0]) else None


def target_of(holder: Holder, constraint: Any) -> tuple[bpy.types.Object, str] | None:
    """On what a constraint hangs what has it, were it on: an object and the name of a bone, or ""; else None."""
    is_bone, kind = isinstance(holder, bpy.types.PoseBone), constraint.type
    if kind == "ARMATURE" and is_bone and len(constraint.targets) == 1:
        one = constraint.targets[0]
        is_own = one.target == holder.id_data and one.weight > 0.0 and not constraint.use_bone_envelopes
        return (one.target, one.subtarget) if is_own and one.subtarget in pose_bones(one.target) else None
    if kind == "CHILD_OF":
        is_whole = all(getattr(constraint, name) for name in CHILD_OF)
    else:
        is_whole = kind == "COPY_TRANSFORMS" and is_bone and constraint.mix_mode == "BEFORE_FULL"
        is_whole = is_whole and (constraint.owner_space, constraint.target_space) == ("POSE", "CUSTOM")
        is_whole = is_whole and getattr(constraint.space_object, "parent", None) == holder.id_data
    if not is_whole or constraint.target is None or getattr(constraint, "head_tail", False):
        return None
    name = constraint.subtarget if constraint.target.type == "ARMATURE" else ""
    return constraint.target, name


def hold_of(found: bpy.types.Object, name: str) -> Attachment | None:
    """On what an object, or a bone of it, hangs rigidly: by its space, else by its parent; None where it is not.

    Constraints and drivers may place it otherwise, or it does not turn and move with all that its parent does.
    """
    holder = holder_in(found, name)
    if holder is None or _is_driven(found, holder):
        return None
    if len(holder.constraints) and in_force(holder):
        copied = _copied(holder)
        if copied is not None:
            return copied
        constraint = space_of(holder)
        is_one = constraint is not None and holder.parent is None  # else both carry it
        target = target_of(holder, constraint) if is_one else None
        return Attachment(*target, constraint) if target is not None else None
    if not isinstance(holder, bpy.types.PoseBone):
        return (
            Attachment(found.parent, found.parent_bone if found.parent_type == "BONE" else "") if found.parent else None
        )
    if holder.parent is None:
        return Attachment(found, "")
    is_whole = holder.bone.use_inherit_rotation and holder.bone.use_local_location
    return Attachment(found, holder.parent.name) if is_whole else None


def _copied(holder: Holder) -> Attachment | None:
    """What an object stands on that a constraint copies whole, so that its own channels and its parent don't count."""
    constraint: Any = in_force(holder)[-1]
    if isinstance(holder, bpy.types.PoseBone) or constraint.type != "COPY_TRANSFORMS" or constraint.influence < 1.0:
        return None
    spaces = constraint.mix_mode, constraint.owner_space, constraint.target_space
    if spaces != ("REPLACE", "WORLD", "WORLD") or constraint.head_tail or constraint.target is None:
        return None
    return Attachment(
        constraint.target, constraint.subtarget if constraint.target.type == "ARMATURE" else "", constraint
    )


def _is_driven(found: bpy.types.Object, holder: Holder) -> bool:
    data, own = found.animation_data, holder.path_from_id("location").removesuffix("location")
    if data is None or not len(data.drivers):
        return False
    return any(curve.data_path.startswith(own) for curve in data.drivers)


def bone_below(owner: bpy.types.Object, goal: bpy.types.Object, name: str, bones: Collection[str]) -> str:
    """The bone of a figure on which a goal hangs rigidly at any remove, or which it is; "" where there is none."""
    name = name if goal.type == "ARMATURE" else ""
    if goal == owner and name in bones:
        return name
    return next((bone for found, bone in carriers_above(goal, name) if found == owner and bone in bones), "")


def carriers_above(found: bpy.types.Object, name: str) -> Iterator[tuple[bpy.types.Object, str]]:
    """All on which an object, or a bone of it, hangs rigidly, the nearest first; an object, and a bone's name or ""."""
    seen = {(found.name_full, name)}
    while (hold := hold_of(found, name)) is not None and (hold.found.name_full, hold.bone) not in seen:
        found, name, _ = hold
        seen.add((found.name_full, name))
        yield found, name


def swings_below(owner: bpy.types.Object, pole: bpy.types.Object, bone: str) -> list[bpy.types.PoseBone]:
    """The bones of an armature that swing with a limb and carry a pole, in the space that it has or in another of its.

    Blender lets the pole wait for all of these, for it sees constraints that are off as well.
    """
    holder, names = holder_in(pole, bone), {name for found, name in carriers_above(pole, bone) if found == owner}
    for one in holder.constraints if holder is not None else ():
        ties: list[Any] = [one, *getattr(one, "targets", ())]
        names |= {tie.subtarget for tie in ties if getattr(tie, "target", None) == owner}
    return [found for found in pose_bones(owner) if found.name in names and swings(found)]


# Where goals stand that hang on a bone of the figure that is to reach them: in the frame of that bone.

UNSCALED = {"NONE", "NONE_LEGACY"}  # how a bone inherits scale that takes none of its parent's
ALIKE = 1e-4  # share of a scale by which its axes may differ through rounding


def carrier_of(bone: str, role: str, goal: bpy.types.Object, name: str) -> Matrix:
    """What carries a goal in the frame of the bone on which it hangs, without its own channels; see `carried_by`."""
    return carried_by(bone, role, goal, name)[0]


def carried_by(bone: str, role: str, goal: bpy.types.Object, name: str) -> tuple[Matrix, Matrix]:
    """What carries a goal in the frame of the bone on which it hangs (`bone_below`), by channels alone.

    So it is the same to the last bit wherever that bone stands, and nothing runs in a circle.

    Returns:
        The matrix that comes before the goal's own channels, or that of the bone where the goal is that: relative to
        the bone's head and axes, in lengths of armature space. And what its own channels add: nothing where it is a
        copy of what it hangs on.

    Raises:
        TargetError: A scale on the way differs between axes.
    """
    way, found, name = list[tuple[Holder, Attachment]](), goal, name if goal.type == "ARMATURE" else ""
    while name != bone:
        holder, hold = holder_in(found, name), hold_of(found, name)
        assert holder is not None, "it hangs on the bone"
        assert hold is not None, "it hangs on the bone"
        way.append((holder, hold))
        found, name, _ = hold
    frame = pose_bones(found)[name]
    rest = frame.bone.matrix_local.to_3x3()
    scale = Vector((1.0, 1.0, 1.0)) if swings(frame) else scale_of(frame)  # a pole tells but a direction
    if scale is None or not all(scale):
        raise TargetError(Message("GOAL_HANGS_UNEVENLY", role=ROLES.get(role, ROLES["target"]), bone=bone))
    own, length, channels = (rest @ Matrix.Diagonal(scale)).to_4x4(), frame.bone.length, Matrix()
    for k, (holder, hold) in enumerate(reversed(way), 1):
        own = _carried(holder, hold, own, length)
        channels = Matrix() if getattr(hold.constraint, "mix_mode", "") == "REPLACE" else holder.matrix_basis
        own = own @ (channels if k < len(way) else Matrix())
        length = holder.bone.length if isinstance(holder, bpy.types.PoseBone) else 0.0
    return rest.inverted().to_4x4() @ own, channels


def _carried(holder: Holder, hold: Attachment, above: Matrix, length: float) -> Matrix:
    """What carries something, before its own channels, by where stands, and how long is, what it hangs on."""
    if isinstance(holder, bpy.types.PoseBone):
        if hold.constraint is None and holder.parent is not None:
            return Link.of(holder).placed(Matrix(), above)
        return above @ offset_of(holder, hold.constraint) @ holder.bone.matrix_local
    if hold.constraint is not None:
        return above @ offset_of(holder, hold.constraint)
    parented = Matrix.Translation((0.0, length if hold.bone else 0.0, 0.0)) @ holder.matrix_parent_inverse
    return above @ parented


def offset_of(holder: Holder, constraint: Any) -> Matrix:
    """What a space puts between the matrix of what it hangs on and that which has it without it.

    Both in the space of the armature object that has the bone, or in the world for an object.

    Args:
        holder: Evaluated.
        constraint: As `target_of` knows it; None for a bone without a parent.
    """
    if constraint is None or constraint.type == "COPY_TRANSFORMS":
        return Matrix()
    if constraint.type == "ARMATURE":
        target = constraint.targets[0]
        return pose_bones(target.target)[target.subtarget].bone.matrix_local.inverted()
    owner: Any = holder.id_data
    inverse: Matrix = constraint.inverse_matrix
    return inverse @ owner.matrix_world if isinstance(holder, bpy.types.PoseBone) else inverse


def scale_of(bone: bpy.types.PoseBone) -> Vector | None:
    """The scale of an evaluated bone along its axes by the channels of it and of those above.

    What constraints pose has the scale with which it is evaluated. None where that of one above differs between axes.
    """
    scale = Vector((1.0, 1.0, 1.0))
    for one in (bone, *bone.parent_recursive):
        is_posed = any(not constraint.mute for constraint in one.constraints) and not swings(one)
        x, y, z = own = one.matrix.to_scale() if is_posed else one.scale
        if one == bone:
            scale = Vector(own)
        elif max(abs(y - x), abs(z - x)) > ALIKE * abs(x):
            return None
        else:
            scale *= x
        if is_posed or one.bone.inherit_scale in UNSCALED:
            break
    return Vector([rounded(value) for value in scale])


def within(bone: str, role: str, goal: bpy.types.Object, name: str) -> Matrix:
    """A goal in the frame of the bone on which it hangs; see `carried_by`."""
    carrier, channels = carried_by(bone, role, goal, name)
    return carrier @ channels


def reader_within(bone: str, *, turns: bool) -> Callable[[str, bpy.types.Object, str], Sequence[float]]:
    """What reads a goal in the frame of the bone on which it hangs, from its role, the evaluated object and a name.

    That is its place, or its rotation. What carries a goal that hangs on the bone itself is found out once: it is the
    same in all poses.
    """
    known: Matrix | None = None

    def reader(role: str, goal: Any, name: str) -> Sequence[float]:
        nonlocal known
        holder: Any = goal.pose.bones[name] if name and goal.type == "ARMATURE" else goal
        if known is None:
            hold = hold_of(goal, name)
            is_near = hold is not None and hold.bone == bone and getattr(hold.constraint, "type", "") != "CHILD_OF"
            known = carrier_of(bone, role, goal, name) if is_near and holder != goal and name != bone else None
        found: Matrix = known @ holder.matrix_basis if known is not None else within(bone, role, goal, name)
        return axes_of(found) if turns else found.translation

    return reader


# Another space: a constraint, made once for each, of which one is on.

SPACE = "FABRIK Space"
SCENE = "FABRIK Scene"  # an object that stands where the scene has its origin
ANCHOR = "FABRIK Anchor"  # an object that stands where an armature object does


def spaces_of(holder: Holder) -> list[Any]:
    """The constraints by which an object or a bone may hang on something, on or off; the first is the oldest."""
    return [one for one in holder.constraints if target_of(holder, one) is not None or _is_ours(one)]


def lost_space(holder: Holder) -> Any:
    """The space that is on, where what it hangs on is gone; else None."""
    found = in_force(holder) if len(holder.constraints) else ()
    return next((one for one in found if _is_ours(one) and target_of(holder, one) is None), None)


def is_tied(holder: Holder) -> bool:
    """Whether constraints place an object or a bone otherwise than a parent would."""
    if not len(holder.constraints):
        return False
    known = [one for one in holder.constraints if target_of(holder, one) is not None]
    on = [one for one in in_force(holder) if one in known]
    others = [one for one in holder.constraints if not one.mute and one not in known and not _is_ours(one)]
    return bool(others) or len(on) > 1 or any(one.influence < 1.0 for one in on)


def _is_ours(constraint: Any) -> bool:
    return bool(constraint.name.startswith(SPACE))


def add_space(holder: Holder, found: bpy.types.Object, bone: str) -> Any:
    """A space in which an object or a bone without a parent may stand, on another object or bone; made, and off."""
    is_bone = isinstance(holder, bpy.types.PoseBone)
    owner: Any = holder.id_data
    is_own = is_bone and found == owner and bool(bone)
    made: Any = holder.constraints.new("ARMATURE" if is_own else "COPY_TRANSFORMS" if is_bone else "CHILD_OF")
    made.name, made.influence = f"{SPACE}: {bone or found.name}", 0.0
    if is_own:
        target = made.targets.new()
        target.target, target.subtarget = found, bone
        return made
    if is_bone:
        made.mix_mode, made.space_object = "BEFORE_FULL", _anchor_of(owner)
        made.owner_space, made.target_space = "POSE", "CUSTOM"
    made.target = found
    if bone:
        made.subtarget = bone
    if not is_bone:
        made.inverse_matrix = Matrix()
    return made


def _anchor_of(owner: bpy.types.Object) -> bpy.types.Object:
    """The object that stands where an armature object does, made where there is none yet."""
    found = next((child for child in bpy.data.objects if child.parent == owner and child.name.startswith(ANCHOR)), None)
    if found is not None:
        return found
    made = bpy.data.objects.new(f"{ANCHOR} {owner.name}", None)
    made.parent, made.use_fake_user = owner, True  # constraints don't keep what they look at
    return made


def scene_anchor(*, make: bool = True) -> Any:
    """The object that stands where the scene has its origin, made where there is none and it is wanted, else None."""
    found = next((one for one in bpy.data.objects if one.name == SCENE and one.library is None), None)
    if found is None and make:
        found = bpy.data.objects.new(SCENE, None)
        found.use_fake_user = True
    return found


def remove_unused_anchors() -> None:
    """Remove the anchors on which no space depends any more."""
    bones = [bone for one in bpy.data.objects if one.type == "ARMATURE" for bone in pose_bones(one)]
    constraints = [found for one in (*bpy.data.objects, *bones) for found in one.constraints]
    used = {getattr(found, name, None) for found in constraints for name in ("target", "space_object")}
    for found in [one for one in bpy.data.objects if one.name.startswith((ANCHOR, SCENE)) and one.library is None]:
        if found not in used:
            bpy.data.objects.remove(found)

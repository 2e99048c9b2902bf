# SPDX-License-Identifier: GPL-3.0-or-later
"""Control bones: made, found, and their shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import cos, pi, sin
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ..errors import RigError
from ..maths import V3, X_AXIS, Y_AXIS, Z_AXIS, scaled
from ..messages import ROLES, Message
from ..recognise.words import side_of
from .animation.channels import KeptChannels
from .animation.compat import is_selected, set_hidden, set_selected
from .bones import ON_HEAD, SWING, armature_of, bending_count, pose_bones, swings
from .schema import carrier_of_limb, rig_of
from .skeleton import sided_name

# The outlines by which control bones are drawn: objects in no collection, made once a file.

AROUND = 24  # corners of a circle
Lines = list[Sequence[V3]]  # runs of points


def shape_object(shape: str) -> bpy.types.Object:
    """The object that outlines a shape of size 1, one of `OUTLINES`, made where the file has none yet."""
    name = _name_of(shape)
    found = next((one for one in bpy.data.objects if one.name == name and one.library is None), None)
    if found is not None and found.type == "MESH":
        return found
    mesh = bpy.data.meshes.new(name)
    points: list[V3] = []
    edges: list[tuple[int, int]] = []
    for line in OUTLINES[shape]:
        edges += pairwise(range(len(points), len(points) + len(line)))
        points += line
    mesh.from_pydata(points, edges, [])
    made = bpy.data.objects.new(name, mesh)
    made.use_fake_user = True
    made.hide_render = True
    return made


def is_shape(found: bpy.types.Object | None) -> bool:
    """Whether an object was made here to draw bones by."""
    return found is not None and any(found.name.startswith(_name_of(shape)) for shape in OUTLINES)


def remove_unused_shapes() -> None:
    """Remove the objects by which no bone is drawn any more."""
    named = [one for one in bpy.data.objects if one.name in map(_name_of, OUTLINES) and one.library is None]
    for found in named:
        if found.users - found.use_fake_user < 1:
            mesh = found.data
            bpy.data.objects.remove(found)
            if isinstance(mesh, bpy.types.Mesh) and not mesh.users:
                bpy.data.meshes.remove(mesh)


def _name_of(shape: str) -> str:
    return f"FABRIK {shape.lower().replace('_', ' ')} shape"


RING = [(cos(2.0 * pi * i / AROUND), sin(2.0 * pi * i / AROUND)) for i in range(AROUND + 1)]
CIRCLE: Lines = [[(a, 0.0, b) for a, b in RING]]
CORNERS: list[V3] = [(x, y, z) for x, y, z in product((-1.0, 1.0), repeat=3)]
OUTLINES: dict[str, Lines] = {
    "PLAIN_AXES": [[scaled(axis, -1.0), axis] for axis in (X_AXIS, Y_AXIS, Z_AXIS)],
    "CUBE": [[a, b] for a, b in combinations(CORNERS, 2) if sum(p != q for p, q in zip(a, b, strict=True)) == 1],
    "SPHERE": [*CIRCLE, [(a, b, 0.0) for a, b in RING], [(0.0, a, b) for a, b in RING]],
    "CIRCLE": CIRCLE,
    "CONE": [*CIRCLE, *([(x, 0.0, z), (0.0, 2.0, 0.0)] for x, z in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)))],
}


# Bones in a rig that serve as targets and poles: in a collection of their own, with a shape, and deforming nothing.

COLLECTION = "FABRIK"
NUMBERED = r"(\.\d+)?"  # how a name ends that was taken
MARK = "fabrik_control"  # custom property of what was made: True of a bone; of an empty see `mark_empty`
COLOURS = {"L": "THEME04", "R": "THEME01", "": "THEME09"}  # blue, red, yellow
CONTROL_NAMES = ("root", "master")
WIRE = 2.0  # pixels, width of a shape's lines
SHORTEST = 1e-4  # Blender drops bones much shorter
CHANNELS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")

ALONG_Y = Vector((0.0, 1.0, 0.0))


@dataclass(frozen=True, slots=True)
class ControlBone:
    """A bone to be made; its axes are those of the armature where nothing else is said.

    Attributes:
        name: How it is to be called; Blender numbers a name that is taken.
        head: Where its head is at rest, in armature space.
        length: In armature space; the shape is as large.
        shape: Of the shapes above; "" for none.
        parent: Name of its parent, or "".
        along: Where it points, in armature space.
        follows: Of a swing bone the first bone of its limb; that to which it points; and where on that, 0 for its head
            and 1 for its tail.
    """

    name: str
    head: Vector
    length: float
    shape: str
    parent: str
    along: Vector = ALONG_Y
    follows: tuple[str, str, float] | None = None


def new_bones_refusal(owner: bpy.types.Object) -> Message | None:
    """Why an armature object can't be given bones; None where it can."""
    data = armature_of(owner)
    return Message("DATA_LINKED") if data.library is not None or data.override_library is not None else None


def root_control(owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone]) -> str:
    """The bone by which the whole rig is moved, if it is above a chain: the one bone without a parent, or "".

    One that deforms is the pelvis of a character rather than a control, unless its name says that it is the root; a
    target that went with the pelvis could not hold a foot on the ground. In a generated rig several bones have no
    parent, and hang on the root by constraints.
    """
    top = ([bones[0], *bones[0].parent_recursive])[-1]
    tops = [bone for bone in pose_bones(owner) if bone.parent is None and not is_control(bone)]
    if len(tops) > 1:
        carriers = {one.subtarget for found in top.constraints if found.type == "ARMATURE" for one in found.targets}
        tops = [bone for bone in tops if bone.name in carriers and _is_root(bone)]
        top = tops[0] if tops else top
    is_only = len(tops) == 1 and (not top.bone.use_deform or _is_root(top))
    return top.name if is_only and top not in bones else ""


def _is_root(bone: bpy.types.PoseBone) -> bool:
    return any(name in bone.name.lower() for name in CONTROL_NAMES)


def is_control(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone was made here; what is linked may be of a file without marks (`mark_controls`)."""
    found: Any = bone.bone
    return MARK in found or (found.id_data.library is not None and _was_made(found))


def _was_made(bone: bpy.types.Bone) -> bool:
    return not bone.use_deform and any(found.name == COLLECTION for found in bone.collections)


def mark_controls(owner: bpy.types.Object) -> None:
    """Mark what a file without marks has that was made for the chains of an armature object; none of it has one."""
    data: Any = armature_of(owner)
    goals = [(sided_name(chain.name, role), getattr(chain, role)) for chain in rig_of(owner).chains for role in ROLES]
    named = [(name, goal) for name, goal in goals if goal is not None and goal.type == "EMPTY" and goal.is_editable]
    bones = [bone for bone in data.bones if _was_made(bone)] if data.is_editable else []
    if any(MARK in thing for thing in (*data.bones, *[goal for _, goal in named])):
        return
    for bone in bones:
        bone[MARK] = True
    for name, goal in named:
        if re.fullmatch(re.escape(name) + NUMBERED, goal.name):
            mark_empty(goal, owner)


def mark_empty(made: bpy.types.Object, owner: bpy.types.Object) -> None:
    """Mark an empty that was made as a goal of an armature object, by both names, which a duplicate of it has not."""
    thing: Any = made
    thing[MARK] = f"{owner.name_full}\n{made.name}"


def made_empties(owner: bpy.types.Object) -> list[bpy.types.Object]:
    """The empties that were made as goals of an armature object: those that its chains have, and that none has."""
    goals = {getattr(chain, role) for chain in rig_of(owner).chains for role in ROLES}
    objects: Any = bpy.data.objects
    marked = [found for found in objects if found.get(MARK) is not None and found.library is None]
    return [found for found in marked if found in goals or found[MARK] == f"{owner.name_full}\n{found.name}"]


def control_names(owner: bpy.types.Object) -> set[str]:
    """Names of the bones that were made here: no limb of the body has them."""
    return {bone.name for bone in pose_bones(owner) if is_control(bone)}


def rest_head(evaluated: bpy.types.Object, parent: str, point: Vector) -> Vector:
    """Where a bone's head has to be at rest to stand at a point of the world now, in armature space.

    The armature object is an evaluated one; the bone has a parent, or "".

    Raises:
        RigError: The parent has no scale.
    """
    found = evaluated.matrix_world.inverted() @ point
    if not parent:
        return found
    bone = pose_bones(evaluated)[parent]
    try:
        return bone.bone.matrix_local @ bone.matrix.inverted() @ found
    except ValueError as error:
        raise RigError(Message("PARENT_WITHOUT_SCALE", parent=parent), rig=evaluated.name) from error


def make_control_bones(
    context: bpy.types.Context, owner: bpy.types.Object, planned: Sequence[ControlBone]
) -> list[str]:
    """Make bones where that can be (`new_bones_refusal`), in one visit to edit mode; their names.

    Raises:
        RigError: Edit mode can't be entered.
    """
    shapes = {one.shape: shape_object(one.shape) if one.shape else None for one in planned}
    with _in_edit_mode(context, owner):
        names = [_made(owner, one) for one in planned]
    for name, one in zip(names, planned, strict=True):
        bone = pose_bones(owner)[name]
        bone.custom_shape, bone.custom_shape_wire_width = shapes[one.shape], WIRE
        set_selected(bone, False)
        if one.follows is not None:
            let_swing(owner, name, *one.follows)
    return names


def remove_control_bones(context: bpy.types.Context, owner: bpy.types.Object, names: Sequence[str]) -> None:
    """Remove bones that were made here, with one visit to edit mode; all else is as before.

    Raises:
        RigError: Edit mode can't be entered.
    """
    if not names:
        return
    data = armature_of(owner)
    with _in_edit_mode(context, owner):
        for name in names:
            data.edit_bones.remove(data.edit_bones[name])
    home = data.collections_all.get(COLLECTION)  # in edit mode it tells of no bones
    if home is not None and not len(home.bones):
        data.collections.remove(home)


def _made(owner: bpy.types.Object, one: ControlBone) -> str:
    data = armature_of(owner)
    bone = data.edit_bones.new(one.name)
    bone.head, bone.tail, bone.roll = one.head, one.head + one.along.normalized() * max(one.length, SHORTEST), 0.0
    bone.parent = data.edit_bones.get(one.parent) if one.parent else None
    bone.use_deform = False
    bone[MARK] = True
    colour: Any = bone.color
    colour.palette = COLOURS[side_of(bone.name)]
    home = data.collections_all.get(COLLECTION) or data.collections.new(COLLECTION)
    home.is_visible = True
    home.assign(bone)
    return bone.name


@contextmanager
def _in_edit_mode(context: bpy.types.Context, owner: bpy.types.Object) -> Iterator[None]:
    """Edit mode of one armature; afterwards modes and selection are as before, that of its bones, and its pose, too."""
    assert context.view_layer is not None
    pose = KeptChannels(owner, [(bone.name, name) for bone in pose_bones(owner) for name in CHANNELS])
    objects = context.view_layer.objects
    active, mode = objects.active, objects.active.mode if objects.active else "OBJECT"
    within = [found for found in objects if found.mode == mode] if mode != "OBJECT" else []
    selected = [found for found in objects if found.select_get()]
    was_hidden = owner.hide_get()
    data = armature_of(owner)
    bones = [bone.name for bone in pose_bones(owner) if is_selected(bone)]
    active_bone = data.bones.active.name if data.bones.active else ""
    if mode != "OBJECT":
        _set_mode(context, active, "OBJECT")
    owner.hide_set(False)
    _select(context, [owner], owner)
    try:
        _set_mode(context, owner, "EDIT")
        yield
    finally:
        _set_mode(context, owner, "OBJECT")
        for bone in pose_bones(owner):
            set_selected(bone, bone.name in bones)
        data.bones.active = data.bones.get(active_bone)
        owner.hide_set(was_hidden)
        if mode != "OBJECT":
            _select(context, within, active)
            _set_mode(context, active, mode)
        _select(context, selected, active)
        pose.put_back(owner)  # which keys took away


def _select(context: bpy.types.Context, wanted: Sequence[bpy.types.Object], active: bpy.types.Object | None) -> None:
    assert context.view_layer is not None
    for found in context.view_layer.objects:
        if found.select_get() != (found in wanted):
            found.select_set(found in wanted)
    context.view_layer.objects.active = active


def _set_mode(context: bpy.types.Context, owner: bpy.types.Object | None, mode: Any) -> None:
    assert owner is not None
    if owner.mode == mode:
        return
    override: Any = context.temp_override
    with override(object=owner, active_object=owner):
        bpy.ops.object.mode_set(mode=mode)
    if owner.mode != mode:
        raise RigError(Message("MODE_REFUSED", mode=mode), rig=owner.name)


def free_control_bones(context: bpy.types.Context, owner: bpy.types.Object, names: Sequence[str]) -> None:
    """Take bones that were made here off their parents, with one visit to edit mode; their channels stay.

    Raises:
        RigError: Edit mode can't be entered.
    """
    data = armature_of(owner)
    with _in_edit_mode(context, owner):
        for name in names:
            data.edit_bones[name].parent = None


# Bones that swing with a limb, and carry its pole: so a knee stays over the toes in a kick.
#
# Such a bone hangs on what carries the limb, stands where the limb has its root, and is turned least so that it points
# to the limb's effector, by constraints. A pole that hangs on it is read in its axes, by channels alone, and the kernel
# swings it with the limb (`Bend.along`): nothing runs in a circle, and it is drawn where it counts.


def swing_bone(bones: Sequence[bpy.types.PoseBone], name: str, *, at_head: bool, is_one: bool) -> ControlBone:
    """The bone that is to swing with a limb.

    Args:
        bones: Root to tip.
        name: How it is to be called.
        at_head: Whether the head of the last bone is the effector, else its tail.
        is_one: Whether the limb is solved by itself: then each of its bones reaches to the next one's head.
    """
    root, above = bones[0].bone, carrier_of_limb(bones[0])
    end = bones[-1] if at_head and is_one else bones[bending_count(bones, at_head=at_head) - 1]
    share = 0.0 if at_head and is_one else 1.0
    along = end.bone.head_local.lerp(end.bone.tail_local, share) - root.head_local
    parent = above.name if above is not None else ""
    return ControlBone(name, root.head_local.copy(), along.length, "", parent, along, (bones[0].name, end.name, share))


def swing_bone_like(owner: bpy.types.Object, one: ControlBone) -> str:
    """The name of the bone of an armature that swings as one that is planned would; "" where there is none."""
    for bone in pose_bones(owner):
        is_there = (bone.bone.head_local - one.head).length <= ON_HEAD * one.length
        if is_there and swings(bone) and (bone.parent.name if bone.parent else "") == one.parent:
            return str(bone.name)
    return ""


def let_swing(owner: bpy.types.Object, name: str, root: str, end: str, share: float) -> None:
    """Let a bone swing with the limb that begins with `root`, and point a share of the way along the bone `end`."""
    bone = pose_bones(owner)[name]
    set_hidden(bone)
    constraints: Any = bone.constraints
    for kind, to, at in (("COPY_LOCATION", root, 0.0), ("DAMPED_TRACK", end, share)):
        made = constraints.new(kind)
        made.name, made.target, made.subtarget, made.head_tail = SWING, owner, to, at
    made.track_axis = "TRACK_Y"


def swung_back(evaluated: bpy.types.Object, one: ControlBone, point: Vector) -> Vector:
    """Where what a planned swing bone carries is at rest to be at a point of the pose now, both in armature space."""
    assert one.follows is not None, "it swings"
    bones, (root, tip, share) = pose_bones(evaluated), one.follows
    head, end = bones[root].head, bones[tip].head.lerp(bones[tip].tail, share)
    carried = Matrix()
    if one.parent:
        carried = bones[one.parent].matrix @ bones[one.parent].bone.matrix_local.inverted()
    turn = carried.to_3x3()
    swing = (turn @ one.along).rotation_difference(end - head)
    return one.head + turn.inverted_safe() @ (swing.inverted() @ (point - head))

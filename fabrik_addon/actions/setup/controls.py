# SPDX-License-Identifier: GPL-3.0-or-later
"""How what is posed by hand is drawn, and the switches of a generated rig between its own controls.

Rings stand about hips, chest and head, and boxes about hands and feet. Hips, chest and head are bones of the body
itself, which stay where they are put while Live is on. All shapes stand outside the mesh there, for what is hidden
inside a body can't be picked. The switches are set so that the body follows those controls that are posed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...kernel import FREE, Point, Settings, Solver
from ...maths import Doubles, axes_of, conjugated, rotated, v3
from ...recognise.limbs import Limbs
from ...recognise.part import ARM, HEAD, LEG, Part
from ...rig.animation.channels import read_rotation
from ...rig.animation.keys import KeyedChannels, animated_paths, insert_posed_keys, insert_property_keys
from ...rig.bones import armature_of, bending_count, pose_bones
from ...rig.control_bones import COLLECTION, COLOURS, WIRE, is_control, is_shape, new_bones_refusal, shape_object
from ...rig.dependencies import OverriddenCopy, Switch, replaced_followers
from ...rig.figure.joint_limits import joints_of, path_of
from ...rig.figure.kinematics import basis_for
from ...rig.figure.pose_writer import updated, write_rotations
from ...rig.figure.reader import frame_of
from ...rig.goals import edits_motion
from ...rig.schema import limit_of, rig_of
from ...texts import Text

BODY_COLLECTION = "FABRIK Body"
MOST_VERTICES = 20_000  # of a mesh that are looked at
INNER = 2.0, 98.0  # percent of the vertices between which a shape is fitted, so that no strap or spike blows it up
RING_AWAY, BOX_AWAY = 1.2, 1.1  # by how much shapes are larger than the mesh
BARE = {"HIPS": 0.1, "CHEST": 0.09, "HEAD": 0.065}  # radii of rings where there is no mesh, as shares of the skeleton
MOST_BONES = 0.5  # share of the bones that are drawn by one object which tells nothing of any of them
LEAST = 0.01  # least radius, likewise

ROUNDED = 1e-5  # of a bone's length, which importers leave in the location of one that was not moved

Flesh: TypeAlias = Mapping[str, Doubles]  # by a bone's name (n, 3), the vertices that follow it most, at rest
MOVED = 1e-3  # share of the bones' length by which the body may stand elsewhere and count as not moved


def draw_controls(
    context: bpy.types.Context, owner: bpy.types.Object, limbs: Limbs, chains: Mapping[str, Part[str]], chest: str
) -> None:
    """Draw the bones by which a body is posed, as far as nothing else draws them, and fit the goals of hands and feet.

    `chains` are the armature's as the parts that they are, by their names; `chest` carries both arms.
    """
    heads = [part.bones[-1] for part in chains.values() if part.kind == HEAD]
    body = {"HIPS": rig_of(owner).body_bone, "CHEST": chest, "HEAD": heads[0] if len(heads) == 1 else ""}
    flesh, edits = flesh_of(context, owner), draw_at_bones(owner)
    asked = [(role, name) for role, name in body.items() if name in pose_bones(owner)]
    drawn = [name for role, name in asked if _draw_ring(owner, limbs, flesh, role, (name, edits.get(name, name)))]
    _lock_places(owner, [name for name in drawn if name != body["HIPS"]])
    _collect(owner, [name for name in drawn if name not in edits])
    evaluated = owner.evaluated_get(context.evaluated_depsgraph_get())
    for name, part in chains.items():
        chain = rig_of(owner).chains.get(name)
        if chain is not None and chain.target == owner and chain.target_bone and part.kind in {ARM, LEG}:
            _fit_box(owner, evaluated, flesh, chain.target_bone, part.bones[-1])


def draw_at_bones(owner: bpy.types.Object) -> dict[str, str]:
    """Let controls that edit a motion be drawn where the bones stand that they move; these, each with its control.

    That is as far as Blender can.
    """
    bones = pose_bones(owner)
    chains = [chain for chain in rig_of(owner).chains if chain.target == owner and chain.target_bone in bones]
    found = {chain.tip_bone: chain.target_bone for chain in chains if edits_motion(chain) and chain.tip_bone in bones}
    for chain in chains:
        drawn: Any = bones[chain.target_bone]
        if chain.tip_bone not in found:
            if drawn.custom_shape_transform == bones.get(chain.tip_bone):
                drawn.custom_shape_transform = None
            continue
        drawn.custom_shape_transform = bones[chain.tip_bone]
        if hasattr(drawn, "use_transform_at_custom_shape"):  # from 5.0 on: Blender's own gizmo with it
            drawn.use_transform_at_custom_shape = True
    return found


def undraw_controls(owner: bpy.types.Object) -> None:
    """Take away how bones that are no goals were drawn here; they look as most others do again, as large as before."""
    usual = _usual_shape(owner)
    like = next((bone for bone in pose_bones(owner) if usual is not None and bone.custom_shape == usual), None)
    for bone in pose_bones(owner):
        if is_shape(bone.custom_shape) and not is_control(bone):
            size = limit_of(bone).drawn_size
            bone.custom_shape, bone.custom_shape_scale_xyz = usual, size if any(size) else (1.0, 1.0, 1.0)
            bone.custom_shape_translation = bone.custom_shape_rotation_euler = (0.0, 0.0, 0.0)
            bone.use_custom_shape_bone_size = like.use_custom_shape_bone_size if like is not None else True
            colour: Any = bone.color
            colour.palette = "DEFAULT"
        if limit_of(bone).is_place_locked:
            locks: Any = bone.lock_location
            locks[:] = (False, False, False)
    if not new_bones_refusal(owner):
        found: Any = armature_of(owner).collections_all.get(BODY_COLLECTION)
        if found is not None:
            armature_of(owner).collections.remove(found)


def _lock_places(owner: bpy.types.Object, names: Iterable[str]) -> None:
    """Let G turn bones of the trunk, as Blender does where a location is locked: moved, they would tear the body."""
    played = set(animated_paths(owner))
    for bone in [pose_bones(owner)[name] for name in names]:
        locks: Any = bone.lock_location
        is_moved = bone.location.length > ROUNDED * bone.length
        is_used = is_moved or any(locks) or bone.path_from_id("location") in played
        if not is_used and not bone.bone.use_connect:
            locks[:] = (True, True, True)
            limit_of(bone).is_place_locked = True


def _usual_shape(owner: bpy.types.Object) -> bpy.types.Object | None:
    """The object by which most bones are drawn, as importers give one to all; None where they have none."""
    shapes = [bone.custom_shape for bone in pose_bones(owner) if bone.custom_shape and not is_shape(bone.custom_shape)]
    most = max(shapes, key=shapes.count, default=None)
    return most if most is not None and shapes.count(most) > MOST_BONES * len(pose_bones(owner)) else None


def flesh_of(context: bpy.types.Context, owner: bpy.types.Object) -> Flesh:
    """The vertices of the meshes that an armature deforms or carries, by the bone that each follows most."""
    found: dict[str, list[Doubles]] = {}
    back = owner.matrix_world.inverted_safe()
    assert context.view_layer is not None
    for thing in context.view_layer.objects:
        if thing.type != "MESH" or not isinstance(thing.data, bpy.types.Mesh):
            continue
        parent = thing.parent_bone if thing.parent == owner and thing.parent_type == "BONE" else ""
        if not parent and not any(getattr(one, "object", None) == owner for one in thing.modifiers):
            continue
        known = {group.index: group.name for group in thing.vertex_groups if group.name in pose_bones(owner)}
        places, bones = _vertices(thing.data, known, parent)
        to = np.array(back @ thing.matrix_world)
        if parent:  # it stands where the pose has it
            bone = pose_bones(owner)[parent]
            to = np.array(bone.bone.matrix_local @ bone.matrix.inverted_safe()) @ to
        places = places @ to[:3, :3].T + to[:3, 3]
        for name in {*bones}:
            found.setdefault(name, []).append(places[np.array([one == name for one in bones])])
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _vertices(mesh: bpy.types.Mesh, groups: Mapping[int, str], parent: str) -> tuple[Doubles, list[str]]:
    """Some vertices of a mesh, (n, 3), and the names of the bones that each follows most, by the groups of bones."""
    places = np.zeros(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", places)
    step = max(1, len(mesh.vertices) // MOST_VERTICES)
    some = range(0, len(mesh.vertices), step)
    bones = list[str]()
    for i in some:
        most, own = 0.0, parent
        for group in mesh.vertices[i].groups if not parent else ():
            weight = group.weight
            if weight > most and group.group in groups:
                most, own = weight, groups[group.group]
        bones.append(own)
    return places.reshape(-1, 3)[::step].astype(np.float64), bones


def _draw_ring(owner: bpy.types.Object, limbs: Limbs, flesh: Flesh, role: str, names: tuple[str, str]) -> bool:
    """Draw a bone of the body as a ring about the mesh there, across the body's up; False where it is drawn already.

    `names` are those of the bone and of what is drawn there: itself, or the control that edits its motion.
    """
    name, on = names
    rest, bone, axes = pose_bones(owner)[name].bone, pose_bones(owner)[on], limbs.axes
    if bone.custom_shape not in {None, _usual_shape(owner)} and not is_shape(bone.custom_shape):
        return False
    up, lateral = Vector(axes.up), Vector(axes.lateral)
    turn = Matrix((lateral, up, lateral.cross(up))).transposed()  # X across, Y up
    size = max(max(column) - min(column) for column in zip(*limbs.skeleton.heads, strict=True))
    places = flesh.get(name, np.zeros((0, 3)))
    middle, radii = Vector(rest.head_local + rest.tail_local) / 2.0, Vector((1, 1, 1)) * BARE[role] * size
    if len(places) > len(INNER):
        low, high = np.percentile(places @ np.array(turn), INNER, axis=0)
        middle, radii = turn @ Vector(0.5 * (low + high)), Vector(0.5 * RING_AWAY * (high - low))
    if not is_shape(bone.custom_shape):
        limit_of(bone).drawn_size = bone.custom_shape_scale_xyz
    least = LEAST * size
    bone.custom_shape, bone.custom_shape_wire_width = shape_object("CIRCLE"), WIRE
    bone.use_custom_shape_bone_size = False
    bone.custom_shape_scale_xyz = (max(radii.x, least), 1.0, max(radii.z, least))
    bone.custom_shape_translation = rest.matrix_local.inverted() @ middle
    bone.custom_shape_rotation_euler = (rest.matrix_local.to_3x3().normalized().inverted() @ turn).to_euler()
    colour: Any = bone.color
    colour.palette = COLOURS[""]
    return True


def _fit_box(owner: bpy.types.Object, evaluated: bpy.types.Object, flesh: Flesh, control: str, tip: str) -> None:
    """Let the control of a hand or a foot stand about the mesh of that, with all that hangs on it."""
    last, drawn = pose_bones(evaluated)[tip], pose_bones(owner)[control]
    names = [tip, *(bone.name for bone in last.children_recursive)]
    found = [flesh[name] for name in names if name in flesh]
    if not found or not is_shape(drawn.custom_shape):
        return
    stands = (last if drawn.custom_shape_transform else pose_bones(evaluated)[control]).matrix
    to = np.array(stands.inverted_safe() @ last.matrix @ last.bone.matrix_local.inverted())
    places = np.concatenate(found) @ to[:3, :3].T + to[:3, 3]
    low, high = np.percentile(places, INNER, axis=0)
    drawn.use_custom_shape_bone_size = False
    drawn.custom_shape_translation = Vector(0.5 * (low + high))
    drawn.custom_shape_scale_xyz = Vector(np.maximum(0.5 * BOX_AWAY * (high - low), 1e-6))


def _collect(owner: bpy.types.Object, names: Iterable[str]) -> None:
    """Put bones into a collection of their own below that of the goals, where the armature's data may be changed."""
    data, wanted = armature_of(owner), [*names]
    if not wanted or new_bones_refusal(owner):
        return
    home: Any = data.collections_all.get(BODY_COLLECTION)
    if home is None:
        above = data.collections_all.get(COLLECTION)
        home = data.collections.new(BODY_COLLECTION, parent=above) if above else data.collections.new(BODY_COLLECTION)
    for name in wanted:
        home.assign(data.bones[name])


def follow_controls(
    context: bpy.types.Context, owner: bpy.types.Object, rows: Sequence[Sequence[str]]
) -> tuple[list[Text], list[Text]]:
    """Let what copies rows of bones follow them, where a property of the rig says that it follows others.

    The bones take the pose that is seen before: nothing that deforms moves. Keyed where automatic keying is on.

    Args:
        context: Its view layer is evaluated.
        owner: An armature object that can be posed.
        rows: Names of bones, each after its parent.

    Returns:
        What was set, and what to look out for, as sentences.
    """
    bones = pose_bones(owner)
    wanted = {one.switch for one in replaced_followers(owner, [name for row in rows for name in row])}
    switches = sorted(switch for switch in wanted if switch is not None)
    if not switches:
        return [], []
    replaced = [one for one in replaced_followers(owner, bones.keys()) if one.switch in switches]
    depsgraph = context.evaluated_depsgraph_get()
    keyed, evaluated = KeyedChannels(owner, frame_of(depsgraph)), pose_bones(owner.evaluated_get(depsgraph))
    seen = {one: evaluated[one.follower].matrix.copy() for one in replaced}
    values = {switch: value for switch in switches if (value := _set(context, owner, switch, replaced)) is not None}
    stood = {one.bone: matrix for one, matrix in seen.items() if one.switch in values}
    left = [Text("'{name}' of '{bone}'", name=one.name, bone=one.bone) for one in switches if one not in values]
    notes = [Text("the rig's own switch {switch} can't be set", switch=one) for one in left]
    notes += _posed(context, owner, rows, stood)
    insert_posed_keys(context, [bones[name] for name in stood], (), keyed)
    lost = insert_property_keys(context, [(bones[switch.bone], switch.path) for switch in values], keyed)
    notes += [
        Text("a switch of {bone} is keyed: key it, or the next frame change takes it back", bone=bone.name)
        for bone in lost
    ]
    return list(_told(values)), notes


def _posed(
    context: bpy.types.Context, owner: bpy.types.Object, rows: Sequence[Sequence[str]], stood: dict[str, Matrix]
) -> list[Text]:
    """Give bones the pose in which their followers stood; what moves all the same.

    Where these were stretched, the ends of the rows stay.
    """
    bones = pose_bones(owner)
    depth = {name: len(bones[name].parent_recursive) for name in stood}
    for level in sorted(set(depth.values())):
        _turn(context, owner, {name: stood[name] for name in stood if depth[name] == level})
    if _off(context, owner, stood) <= MOVED:
        return []
    limbs = [row[: max(row.index(name) for name in row if name in stood) + 1] for row in rows if {*row} & {*stood}]
    for limb in limbs:
        _reach(context, owner, limb, stood[limb[-1]])
    ends = {limb[-1]: stood[limb[-1]] for limb in limbs}
    _turn(context, owner, ends)
    off = _off(context, owner, ends)
    if off > MOVED:
        return [Text("the rig had stretched the limbs, so that their ends move by {share:.1%} of a bone", share=off)]
    text = Text("the rig had stretched the limbs: knees and elbows move by {share:.1%} of a bone, hands and feet stay")
    return [Text(text, share=_off(context, owner, stood))]


def _told(values: dict[Switch, float]) -> Iterator[Text]:
    """What was set, each property and value once with the bones that have it."""
    for name, value in dict.fromkeys((switch.name, value) for switch, value in values.items()):
        bones = ", ".join(switch.bone for switch, own in values.items() if (switch.name, own) == (name, value))
        yield Text(
            "the body follows the chains now: '{name}' is {value:g} on {bones}", name=name, value=value, bones=bones
        )


def _set(
    context: bpy.types.Context, owner: bpy.types.Object, switch: Switch, replaced: Sequence[OverriddenCopy]
) -> float | None:
    """Set a property to that end of its range with which what copies bones follows them; None where neither does."""
    bone: Any = pose_bones(owner)[switch.bone]
    before, range_ = bone[switch.name], bone.id_properties_ui(switch.name).as_dict()
    own = [one for one in replaced if one.switch == switch]
    for end in ("max", "min"):
        value = type(before)(range_.get(end, before))
        bone[switch.name] = value
        owner.update_tag()
        updated(context)
        left = {one.follower for one in replaced_followers(owner, [one.bone for one in own])}
        if left.isdisjoint(one.follower for one in own):
            return float(value)
    bone[switch.name] = before
    owner.update_tag()
    updated(context)
    return None


def _turn(context: bpy.types.Context, owner: bpy.types.Object, wanted: dict[str, Matrix]) -> None:
    """Give bones the rotations with which they are turned as matrices of armature space, and evaluate."""
    bones = pose_bones(owner.evaluated_get(context.evaluated_depsgraph_get()))
    write_rotations(owner, {name: axes_of(basis_for(bones[name], matrix)) for name, matrix in wanted.items()})
    owner.update_tag()
    updated(context)


def _reach(context: bpy.types.Context, owner: bpy.types.Object, row: Sequence[str], there: Matrix) -> None:
    """Bring the head of the last of a row of bones to where a matrix of armature space stands, as far as they reach.

    They are turned as they were seen, root to tip; then Blender evaluates them.
    """
    bones, depsgraph = pose_bones(owner), context.evaluated_depsgraph_get()
    names = row[: bending_count([bones[name] for name in row], at_head=True)]
    path, starts = path_of(owner, names, depsgraph), [read_rotation(bones[name]) for name in names]
    free = [FREE] * len(names), [0.0] * len(names)
    solver = Solver(joints_of(path, starts, *free, is_even=False)[0].figure())
    root = pose_bones(owner.evaluated_get(depsgraph))[names[0]]
    place = rotated(conjugated(path.base), v3(there.translation - root.head))
    solution = solver.solve([Point(len(names) - 1, place)], Settings())
    write_rotations(owner, dict(zip(names, solution.rotations, strict=True)))
    owner.update_tag()
    updated(context)


def _off(context: bpy.types.Context, owner: bpy.types.Object, stood: dict[str, Matrix]) -> float:
    """By how much the heads of bones stand elsewhere than matrices, at most; a share of the longest of the bones."""
    bones = pose_bones(owner.evaluated_get(context.evaluated_depsgraph_get()))
    moved = [(bones[name].head - matrix.translation).length for name, matrix in stood.items()]
    return max(moved, default=0.0) / max((bones[name].bone.length for name in stood), default=1.0)

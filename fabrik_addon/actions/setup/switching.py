# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches of a generated rig between its controls, set so that the body follows those that are posed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
from mathutils import Matrix

from ...kernel import FREE, Point, Settings, Solver
from ...maths import axes_of, conjugated, rotated, v3
from ...rig.animation.channels import read_rotation
from ...rig.animation.keys import KeyedChannels, insert_posed_keys, insert_property_keys
from ...rig.bones import bending_count, pose_bones
from ...rig.dependencies import Replaced, Switch, replaced_followers
from ...rig.figure.joint_limits import JointSettings, joints_of, path_of
from ...rig.figure.kinematics import basis_for
from ...rig.figure.pose_writer import updated, write_rotations
from ...rig.figure.reader import frame_of
from ...texts import Text

MOVED = 1e-3  # share of the bones' length by which the body may stand elsewhere and count as not moved


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
    notes = [
        Text("the rig's own switch {switch} can't be set", switch=_named(one)) for one in switches if one not in values
    ]
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


def _named(switch: Switch) -> Text:
    return Text("'{name}' of '{bone}'", name=switch.name, bone=switch.bone)


def _told(values: dict[Switch, float]) -> Iterator[Text]:
    """What was set, each property and value once with the bones that have it."""
    for name, value in dict.fromkeys((switch.name, value) for switch, value in values.items()):
        bones = ", ".join(switch.bone for switch, own in values.items() if (switch.name, own) == (name, value))
        yield Text(
            "the body follows the chains now: '{name}' is {value:g} on {bones}", name=name, value=value, bones=bones
        )


def _set(
    context: bpy.types.Context, owner: bpy.types.Object, switch: Switch, replaced: Sequence[Replaced]
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
    free = JointSettings(starts, [FREE] * len(names), [0.0] * len(names))
    solver = Solver(joints_of(path, free, is_even=False)[0].figure())
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

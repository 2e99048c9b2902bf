# SPDX-License-Identifier: GPL-3.0-or-later
"""Make chains, and the empties that serve as their targets and poles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import bpy
from mathutils import Quaternion, Vector

from ..errors import ChainError, RigError, TargetError
from ..finite import are_finite
from ..kernel.bend import bend_direction, preferred_bend
from ..kernel.orientation import place
from ..rig.chain_bones import limb_length, pose_bones, resolve_bones
from ..rig.channels import read_rotation
from ..rig.checks import check_rig
from ..rig.compat import is_selected
from ..rig.joint_limits import read_limit
from ..rig.properties import FabrikChain, rig_of, unique_name
from ..rig.reader import read_path
from ..rig.start_pose import reset
from .defaults import Defaults

SIDES = (".L", ".R", "_L", "_R", "-L", "-R", ".l", ".r", "_l", "_r", "-l", "-r")


def selected_limbs(owner: bpy.types.Object) -> list[tuple[str, int]]:
    """Tip bone and number of bones of each limb that the selected bones mean.

    A run of two or more selected bones is a chain of just these; a single selected bone is the tip of its limb, which
    goes up to the first bone that is not connected to its parent. Where a run forks, each branch goes down to its own
    tip and up to the fork.
    """
    selected = [bone for bone in pose_bones(owner) if is_selected(bone)]
    names = {bone.name for bone in selected}
    limbs = []
    for tip in selected:
        if any(child.name in names for child in tip.children):
            continue
        count, bone = 1, tip
        while bone.parent is not None and bone.parent.name in names and _selected_children(bone.parent, names) == 1:
            count, bone = count + 1, bone.parent
        limbs.append((tip.name, count if count > 1 else limb_length(tip)))
    return limbs


def _selected_children(bone: bpy.types.PoseBone, names: set[str]) -> int:
    return sum(child.name in names for child in bone.children)


def add_chain(owner: bpy.types.Object, tip_bone: str, bone_count: int, defaults: Defaults) -> FabrikChain:
    """Add a chain, named after its tip, and make it the active one.

    Args:
        owner: An armature object.
        tip_bone: Name of the last bone.
        bone_count: Number of bones, 0 for all up to the root.
        defaults: Settings of the new chain.

    Raises:
        ChainError: There are no such bones; nothing was added.
    """
    rig = rig_of(owner)
    probe = pose_bones(owner).get(tip_bone)
    if probe is None:
        raise ChainError(f"there is no bone '{tip_bone}'", rig=owner.name)
    if bone_count > len(probe.parent_recursive) + 1:
        raise ChainError(
            f"{bone_count} bones are wanted, but it has {len(probe.parent_recursive)} parents",
            rig=owner.name,
            bone=tip_bone,
        )
    name = unique_name(tip_bone, (chain.name for chain in rig.chains))
    chain = rig.chains.add()
    chain.name, chain.tip_bone, chain.bone_count = name, tip_bone, bone_count
    chain.tolerance, chain.max_passes = defaults.tolerance, defaults.max_passes
    reset(chain, resolve_bones(owner, chain))
    chain.start = defaults.start
    rig.active_index = len(rig.chains) - 1
    return chain


def sided_name(chain: str, role: str) -> str:
    """A name with the role before the side, so that Blender's mirror tools find the other side: arm.target.L."""
    if chain.endswith(SIDES):
        return f"{chain[:-2]}.{role}{chain[-2:]}"
    return f"{chain}.{role}"


def add_target(
    context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, defaults: Defaults
) -> bpy.types.Object:
    """Make an empty at the chain's tip, as it stands now, its target.

    Raises:
        TargetError: The chain has a target already.
        FabrikError: The armature can't be posed, or the chain has no such bones.
    """
    if chain.target is not None:
        raise TargetError(f"it has the target '{chain.target.name}' already", chain=chain.name)
    joints = _joints_world(context, owner, chain)
    size = defaults.target_size * _span(joints)
    empty = _add_empty(owner, context, sided_name(chain.name, "target"), joints[-1])
    empty.empty_display_type = defaults.target_shape  # type: ignore[assignment]
    empty.empty_display_size = size
    chain.target, chain.target_bone = empty, ""
    return empty


def add_pole(
    context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, distance: float, defaults: Defaults
) -> bpy.types.Object:
    """Make an empty in the plane of the chain's bend its pole, so that the pose stays as it is.

    Args:
        context: Its view layer is evaluated.
        owner: The armature object.
        chain: One of its chains; two bones or more.
        distance: Of the pole from the chain, as a share of the chain's length.
        defaults: Shape and size of the empty.

    Raises:
        TargetError: The chain has a pole already, or one bone alone, which does not bend.
        FabrikError: The armature can't be posed, or the chain has no such bones.
    """
    if chain.pole is not None:
        raise TargetError(f"it has the pole '{chain.pole.name}' already", chain=chain.name)
    depsgraph = context.evaluated_depsgraph_get()
    bones, path = read_path(check_rig(owner, depsgraph), chain, depsgraph)
    if len(bones) < 2:
        raise TargetError("a single bone does not bend, so a pole has nothing to turn", chain=chain.name)
    rotations = [read_rotation(bone) for bone in bones]
    limits = [read_limit(bone, rotation) for bone, rotation in zip(bones, rotations, strict=True)]
    measured = path.measure(rotations, rotations, limits)
    joints, frames = place(measured, rotations)
    along = joints[-1].normalized() if joints[-1].length else Vector((0.0, 1.0, 0.0))
    bend = bend_direction(joints, measured.length) or preferred_bend(measured, frames, along)
    middle = min(joints[1:-1], key=lambda joint: abs(joint.dot(along) - 0.5 * joints[-1].length))
    side = Quaternion(along, -chain.pole_angle) @ bend
    point = along * middle.dot(along) + side * (distance * measured.length)
    world = owner.evaluated_get(depsgraph).matrix_world
    empty = _add_empty(owner, context, sided_name(chain.name, "pole"), world @ (path.origin + point))
    empty.empty_display_type = defaults.pole_shape  # type: ignore[assignment]
    empty.empty_display_size = defaults.target_size * 0.6 * (world.to_3x3() @ along).length * measured.length
    chain.pole, chain.pole_bone = empty, ""
    return empty


def _joints_world(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> list[Vector]:
    """The n + 1 evaluated joints of a chain in world space."""
    depsgraph = context.evaluated_depsgraph_get()
    check_rig(owner, depsgraph)
    evaluated = owner.evaluated_get(depsgraph)
    bones = resolve_bones(evaluated, chain)
    return [evaluated.matrix_world @ point for point in [*(bone.head for bone in bones), bones[-1].tail]]


def _span(joints: Sequence[Vector]) -> float:
    return float(sum((b - a).length for a, b in itertools.pairwise(joints)))


def _add_empty(owner: bpy.types.Object, context: bpy.types.Context, name: str, location: Vector) -> bpy.types.Object:
    """An empty beside the armature, in a collection that may be changed."""
    if not are_finite(location):
        raise RigError("its joints have no finite position", rig=owner.name)
    empty = bpy.data.objects.new(name, None)
    assert context.scene is not None
    assert context.view_layer is not None
    homes = [c for c in owner.users_collection if c.is_editable and c.override_library is None]
    used = {layer.collection for layer in _layers(context.view_layer.layer_collection) if not layer.exclude}
    home = next((c for c in homes if c in used), context.scene.collection)
    home.objects.link(empty)
    empty.location = location
    return empty


def _layers(root: bpy.types.LayerCollection) -> list[bpy.types.LayerCollection]:
    return [root, *(found for child in root.children for found in _layers(child))]

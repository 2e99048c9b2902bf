# SPDX-License-Identifier: GPL-3.0-or-later
"""The body bone of an armature, and the masses of its bones."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import bpy

from ..errors import BoneError, ChainError
from ..messages import Message
from ..recognise.part import HALF_TEXTS
from ..recognise.skeleton import Skeleton
from ..recognise.words import parts_of
from ..rig.bones import armature_of, bones_if_any, bones_to, pose_bones
from ..rig.checks import check_rig, movers_of
from ..rig.control_bones import control_names, is_control
from ..rig.figure.groups import body_moves, chain_above, set_of
from ..rig.schema import FabrikChain, limit_of, rig_of
from ..rig.skeleton import read_skeleton
from ..rig.versions import bring_up_to_date
from ..texts import Text, joined
from .keep_pose import told_moves, unposed


def find_body(owner: bpy.types.Object) -> str:
    """The bone on which all enabled chains hang, or from which they begin.

    Of those above all of them: hips by their name, else the nearest that deforms and can be moved, else the nearest
    that deforms, else the nearest.

    Raises:
        ChainError: There is no enabled chain, or no bone is above all.
    """
    ways = [_way_up(owner, chain) for chain in rig_of(owner).chains if chain.enabled]
    ways = [way for way in ways if way]
    if not ways:
        raise ChainError("no chain is enabled: add those of the limbs first", rig=owner.name)
    common = [name for name in ways[0] if all(name in way for way in ways)]
    if not common:
        raise ChainError("no bone is above all enabled chains: choose one, or disable some", rig=owner.name)
    if len(ways) == 1:  # what carries the one chain, not its own first bone
        common = common[1:] or common
    skeleton = read_skeleton(owner)
    parts = dict(zip(skeleton.names, parts_of(skeleton), strict=True))
    bones = pose_bones(owner)
    hips = next((name for name in common if parts[name] == "PELVIS"), "")
    deforming = [name for name in common if bones[name].bone.use_deform]
    moving = next((name for name in deforming if _moves(bones[name])), "")
    return hips or moving or next(iter(deforming), common[0])


def _moves(bone: bpy.types.PoseBone) -> bool:
    """Whether the location channels of a bone are free to move it."""
    locks: Any = bone.lock_location
    return not (bone.parent is not None and bone.bone.use_connect) and not any(locks)


def _way_up(owner: bpy.types.Object, chain: FabrikChain) -> list[str]:
    """The first bone of a chain and all above it, nearest first; none where it has no bones."""
    roots = bones_if_any(owner, chain)[:1]
    return [bone.name for root in roots for bone in (root, *root.parent_recursive) if not is_control(bone)]


def set_body(owner: bpy.types.Object, name: str) -> tuple[list[str], list[str]]:
    """Make a bone the body bone, or ("") have none; how it stands becomes its start where that keeps the pose.

    Returns:
        Names of the chains that move with it, and what to look out for, as sentences.

    Raises:
        BoneError: No chain hangs on it, its location is driven, or it was made as a target or pole.
        ChainError: There is no such bone.
        RigError: The armature can't be posed.
    """
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
    below = _below(owner, name) if name else []
    if name and is_control(pose_bones(owner)[name]):
        raise BoneError("it was made as a target or pole, and carries no body", rig=owner.name, bone=name)
    if name and not below:
        raise BoneError("no chain begins with it or hangs on it", rig=owner.name, bone=name)
    if name and pose_bones(owner)[name].path_from_id("location") in movers_of(owner).driven:
        raise BoneError(Message("BODY_BONE_DRIVEN"), rig=owner.name, bone=name)
    bring_up_to_date(owner)
    rig = rig_of(owner)
    moved = {*below, *(_below(owner, rig.body_bone) if rig.body_bone in pose_bones(owner) else ())}  # and what it left
    if rig.body_bone != name:
        rig.body_bone = name
    moves = told_moves([(owner, chain) for chain in rig.chains if chain.name in moved], inf)
    return below, _notes(owner, name, below) + moves


def _below(owner: bpy.types.Object, name: str) -> list[str]:
    """Names of the chains that begin with a bone or hang on it."""
    bones_to(owner, name, 1)
    return [chain.name for chain in rig_of(owner).chains if name in _way_up(owner, chain)]


def _notes(owner: bpy.types.Object, name: str, below: list[str]) -> list[str]:
    """What else there is to say of a body bone."""
    if not name:
        return []
    chains = rig_of(owner).chains
    apart = [chain.name for chain in chains if chain.enabled and chain.name not in below]
    notes: list[str] = []
    if len(apart) == 1:
        notes.append(Text("{chain} is not below it, and solved apart", chain=apart[0]))
    elif apart:
        notes.append(Text("{chains} are not below it, and solved apart", chains=", ".join(apart)))
    enabled = [chain for chain in chains if chain.enabled and chain.name in below]
    chain_set = set_of(owner, enabled[0], is_given=True) if enabled else None
    if chain_set is not None and chain_set.body and not body_moves(chain_set):
        above = chain_above(chain_set)
        if above:
            notes.append(Text("it turns and does not move, for '{chain}' begins above it", chain=above))
        else:
            notes.append(Text("it turns and does not move, for it is connected or its location is locked"))
    return notes


# The share of a body's mass that each bone carries, filled in by the names of its parts or by the bones' lengths.
#
# The shares are the means of those of women and men in P. de Leva, Adjustments to Zatsiorsky-Seluyanov's segment
# inertia parameters, Journal of Biomechanics 29 (1996), table 4.

SEGMENTS = {  # both sides together where there are two
    "HEAD": 0.0681,  # with the neck
    "SPINE": 0.3120,  # upper and middle trunk
    "PELVIS": 0.1182,  # lower trunk
    "UPPER_ARM": 2 * 0.0263,
    "FOREARM": 2 * 0.0150,
    "HAND": 2 * 0.0059,
    "THIGH": 2 * 0.1447,
    "SHIN": 2 * 0.0457,
    "FOOT": 2 * 0.0133,
}
OF_SEGMENT = {"NECK": "HEAD", "FACE": "HEAD", "GIRDLE": "SPINE", "BREAST": "SPINE"}
OF_SEGMENT |= {"FINGER": "HAND", "PALM": "HAND", "TOE": "FOOT", "HEEL": "FOOT"}
INSTEAD = {  # which carries the share of one that has no bone
    "HEAD": ("SPINE", "PELVIS"),
    "SPINE": ("PELVIS",),
    "PELVIS": ("SPINE",),
    "HAND": ("FOREARM",),
    "FOOT": ("SHIN",),
}
AS_NONE = 1e-6  # mass of a bone that is to count for nothing, since 0 means by its length
NEEDED = {"THIGH", "SHIN", "UPPER_ARM", "FOREARM"}


def fill_masses(owner: bpy.types.Object, by: str) -> int:
    """Give each bone that deforms its share of the mass.

    Args:
        owner: The armature object.
        by: "PARTS" by what the bones' names say they are of a human, "LENGTH" by the bones' lengths, or "NONE" to
            forget what was set.

    Returns:
        The number of bones that have a share then.

    Raises:
        ChainError: The names don't tell of thighs, shins, upper arms and forearms.
    """
    skeleton = read_skeleton(owner, without=control_names(owner))
    lengths = _carrying(owner, skeleton)
    whole = sum(lengths) or 1.0
    masses = [size / whole if by == "LENGTH" else 0.0 for size in lengths]
    if by == "PARTS":
        masses = _by_parts(owner, skeleton, lengths)
    bones = pose_bones(owner)
    for bone in bones:
        limit_of(bone).mass = 0.0
    for name, mass in zip(skeleton.names, masses, strict=True):
        limit_of(bones[name]).mass = mass
    return sum(mass > 0.0 for mass in masses)


def _carrying(owner: bpy.types.Object, skeleton: Skeleton) -> list[float]:
    """The length of each bone that deforms, 0 of the others; of all where none does."""
    bones = armature_of(owner).bones
    lengths = [skeleton.length(bone) for bone in range(len(skeleton.names))]
    found = [size if bones[name].use_deform else 0.0 for name, size in zip(skeleton.names, lengths, strict=True)]
    return found if any(found) else lengths


def _by_parts(owner: bpy.types.Object, skeleton: Skeleton, lengths: Sequence[float]) -> list[float]:
    """Each segment's share divided among its bones by their lengths; other bones are of the segment they hang on."""
    segments = _segments_of(skeleton, parts_of(skeleton))
    sizes = {name: sum(size for size, own in zip(lengths, segments, strict=True) if own == name) for name in SEGMENTS}
    missing = sorted(name for name in NEEDED if not sizes[name])
    if missing:
        words = joined(", ", [HALF_TEXTS[name] for name in missing])
        reason = Text("no bone's name says that it is one of these: {parts}; fill by length", parts=words)
        raise ChainError(reason, rig=owner.name)
    shares = dict(SEGMENTS)
    for name, others in INSTEAD.items():
        if not sizes[name]:
            share = shares.pop(name)
            instead = next((other for other in others if sizes[other]), "")
            if instead:
                shares[instead] += share
    whole = sum(shares.values())
    pairs = zip(lengths, segments, strict=True)
    return [
        shares[own] * size / (sizes[own] * whole) if own in shares else (AS_NONE if size > 0.0 else 0.0)
        for size, own in pairs
    ]


def _segments_of(skeleton: Skeleton, parts: Sequence[str]) -> list[str]:
    """The segment of each bone, "" for what is above them all."""
    found: list[str] = []
    for bone, part in enumerate(parts):
        own = OF_SEGMENT.get(part, part)
        parent = skeleton.parents[bone]
        above = found[parent] if parent >= 0 else ""
        found.append(own if own in SEGMENTS else above)
    return found

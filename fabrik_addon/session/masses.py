# SPDX-License-Identifier: GPL-3.0-or-later
"""The share of a body's mass that each bone carries, filled in by the names of its parts or by the bones' lengths.

The shares are the means of those of women and men in P. de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia
parameters, Journal of Biomechanics 29 (1996), table 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..errors import ChainError
from ..recognise.part import HALF_TEXTS
from ..recognise.skeleton import Skeleton
from ..recognise.words import parts_of
from ..rig.chain_bones import armature_of, pose_bones
from ..rig.control_bones import control_names
from ..rig.schema import limit_of
from ..rig.skeleton import read_skeleton
from ..texts import Text, joined

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
    masses = [0.0] * len(skeleton.names)
    if by != "NONE":
        masses = _by_parts(owner, skeleton) if by == "PARTS" else _by_length(owner, skeleton)
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


def _by_length(owner: bpy.types.Object, skeleton: Skeleton) -> list[float]:
    lengths = _carrying(owner, skeleton)
    whole = sum(lengths) or 1.0
    return [size / whole for size in lengths]


def _by_parts(owner: bpy.types.Object, skeleton: Skeleton) -> list[float]:
    """Each segment's share divided among its bones by their lengths; other bones are of the segment they hang on."""
    lengths = _carrying(owner, skeleton)
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
    return [shares[own] * size / (sizes[own] * whole) if own in shares else _as_none(size) for size, own in pairs]


def _as_none(size: float) -> float:
    """The mass of a bone that is of no segment: next to none where it deforms, since 0 would count by its length."""
    return AS_NONE if size > 0.0 else 0.0


def _segments_of(skeleton: Skeleton, parts: Sequence[str]) -> list[str]:
    """The segment of each bone, "" for what is above them all."""
    found: list[str] = []
    for bone, part in enumerate(parts):
        own = OF_SEGMENT.get(part, part)
        parent = skeleton.parents[bone]
        above = found[parent] if parent >= 0 else ""
        found.append(own if own in SEGMENTS else above)
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones beside the limbs: girdles, on which limbs hang, and bones that never bend by themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .limbs import Limbs
from .part import ARM, FIN, LEG, WING
from .skeleton import Limb
from .tree import bones_beside, doubles
from .words import side_of

ON_GIRDLES = {ARM, LEG, WING, FIN}


def helper_bones(limbs: Limbs) -> set[int]:
    """Bones that never bend by themselves: for twist and correction, hip sockets, halves of a pelvis, added ends."""
    skeleton, parts = limbs.skeleton, limbs.parts
    flags = zip(parts, skeleton.names, bones_beside(skeleton, parts), doubles(skeleton), strict=True)
    return {
        bone
        for bone, (part, name, is_beside, is_double) in enumerate(flags)
        if part == "HELPER" or (part == "PELVIS" and side_of(name)) or is_beside or is_double
    }


def girdles_and_sockets(limbs: Limbs, runs: Sequence[tuple[str, Limb]]) -> tuple[set[int], set[int]]:
    """The bones of one side between the middle of a body and its limbs.

    Args:
        limbs: Of the skeleton.
        runs: The parts of the body, each with its kind and its bones, root to tip.

    Returns:
        Clavicles and shoulder blades, which help their limb; and the sockets of the legs that hang on the hips, which
        never bend.
    """
    taken = {bone for _, run in runs for bone in run}
    found = {run: (kind, list(_of_side(limbs, run[0], taken))) for kind, run in runs if kind in ON_GIRDLES}
    # how many bones are above what a limb hangs on: the fewest above the hips
    depths = {run: len([*limbs.skeleton.way_up(run[0])]) - len(above) for run, (_, above) in found.items()}
    girdles, sockets = set[int](), set[int]()
    for run, (kind, above) in found.items():
        is_at_hips = kind == LEG and depths[run] == min(depths.values())
        (sockets if is_at_hips else girdles).update(above)
    return girdles, sockets


def _of_side(limbs: Limbs, first: int, taken: Collection[int]) -> Iterator[int]:
    """The bones above the first one of a limb that are of no part and on its side alone, the nearest first."""
    bone = limbs.skeleton.parents[first]
    while bone >= 0 and bone not in taken and (limbs.twins[bone] >= 0 or side_of(limbs.skeleton.names[bone])):
        yield bone
        bone = limbs.skeleton.parents[bone]

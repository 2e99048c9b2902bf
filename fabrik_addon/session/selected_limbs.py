# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs of an armature that are to become chains: those of the selected bones, or that which a bone ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import bpy

from ..recognise.limbs import Limb, Limbs
from ..recognise.skeleton import Skeleton
from ..rig.chain_bones import bones_to
from ..rig.control_bones import control_names
from ..rig.schema import rig_of
from ..rig.skeleton import read_skeleton, selected_numbers

NamedLimb = tuple[str, int]  # name of the tip, number of bones


class SelectedLimbs(NamedTuple):
    """What the selected bones of an armature mean.

    Attributes:
        limbs: Those to make chains of.
        small: Those that are left out unless they are asked for: hands, feet, fingers, faces, single bones.
    """

    limbs: Sequence[NamedLimb]
    small: Sequence[NamedLimb]


def limbs_of(owner: bpy.types.Object, bones: Collection[str] = ()) -> Limbs:
    """The limbs of an armature's skeleton.

    Args:
        owner: The armature object.
        bones: Names of bones that are asked about, and are part of it even where they were made as targets or poles.
    """
    return Limbs(read_skeleton(owner, without=control_names(owner).difference(bones)))


def limb_length(owner: bpy.types.Object, tip: str) -> int:
    """Number of bones of the limb that ends with a bone of an armature.

    Raises:
        ChainError: The armature has no such bone.
    """
    bones_to(owner, tip, 1)
    limbs = limbs_of(owner, [tip])
    return limbs.limb_of(list(limbs.skeleton.names).index(tip)).bone_count


def selected_limbs(owner: bpy.types.Object) -> SelectedLimbs:
    """The limbs that the bones selected in Pose mode mean; see `Limbs.selected`.

    Bones that were made as targets and poles are none of them, unless nothing else is selected.
    """
    skeleton = read_skeleton(owner, without=control_names(owner))
    selected = selected_numbers(owner, skeleton)
    if not selected:
        skeleton = read_skeleton(owner)
        selected = selected_numbers(owner, skeleton)
    found = Limbs(skeleton).selected(selected)
    return SelectedLimbs(_named(skeleton, found.limbs), _named(skeleton, found.small))


def taken_limb(owner: bpy.types.Object, limb: NamedLimb) -> str:
    """Name of a chain that has the bones of a limb, or ""."""
    chains = rig_of(owner).chains
    return next((chain.name for chain in chains if (chain.tip_bone, chain.bone_count) == limb), "")


def _named(skeleton: Skeleton, limbs: Sequence[Limb]) -> list[NamedLimb]:
    return [(skeleton.names[limb.tip], limb.bone_count) for limb in limbs]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A head that looks: which axis of its bone comes out of the face."""

from __future__ import annotations

import bpy

from ...maths import V3
from ...recognise.joint_bends import own_axis
from ...recognise.limbs import Limbs
from ...rig.control_bones import control_names
from ...rig.schema import FabrikChain
from ...rig.skeleton import read_skeleton


def let_look(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """Make the chain of a head one that aims its face, where the body tells to which side it faces."""
    axis = face_axis(owner, chain.tip_bone)
    if axis is not None:
        chain.kind, chain.aim_axis = "AIM", axis


def face_axis(owner: bpy.types.Object, bone: str) -> V3 | None:
    """The axis of a head's bone that points to where the body faces at rest; None where nothing tells that."""
    limbs = Limbs(read_skeleton(owner, without=control_names(owner) - {bone}))
    forward = limbs.axes.forward
    return None if forward is None else own_axis(limbs, list(limbs.skeleton.names).index(bone), forward)

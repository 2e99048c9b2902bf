# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the legs of a walker reach within the limits of their joints: each is solved by itself, from the hip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ...gait import Reaching
from ...kernel import Facing, Point, Settings, Solver
from ...maths import IDENTITY, ORIGIN, Q4, V3, axes_of, conjugated, minus, multiplied, rotated, scaled
from ...rig.chain_bones import pose_bones
from ...rig.figures import alone
from ...rig.prepared import Prepared
from ...rig.preparing import FactsByRig, frame_of, prepare
from ...rig.schema import FabrikChain
from .measuring import Frame, hip_of

RESTARTS = 0  # a point that takes other starts to be reached is at the edge of what the limits allow: not to stand on


class _Limb(NamedTuple):
    """A leg that is solved by itself.

    Attributes:
        solver: Of its bones.
        settings: Of its chain, but for restarts.
        hip: Where its first joint is in the body's axes, scene units.
        turn: From the body's axes into the space in which it is solved, at rest.
        foot: How its last bone is turned at rest, in that space.
        lever: Where on its last bone the effector is; None for the end.
    """

    solver: Solver
    settings: Settings
    hip: V3
    turn: Q4
    foot: Q4
    lever: V3 | None


class LegLimits:
    """What `gait.Reaching` asks, for the legs of an armature object.

    Args:
        limbs: By leg; None for one whose joints have no limits.
        frame: The axes of the body, in which ankles and feet are asked for.
    """

    def __init__(self, limbs: Sequence[_Limb | None], frame: Frame) -> None:
        self._limbs, self._frame = limbs, frame

    @property
    def digest(self) -> str:
        """A text that changes with the limits, and only with them."""
        return repr([limb and limb.solver.figure.joint_limits for limb in self._limbs])

    def shortage(self, leg: int, ankle: V3) -> float:
        """See `gait.Reaching`."""
        limb = self._limbs[leg]
        if limb is None:
            return 0.0
        way = scaled(minus(ankle, limb.hip), 1.0 / self._frame.size)
        goal = Point(limb.solver.figure.count - 1, rotated(limb.turn, way), 1.0, limb.lever)
        return limb.solver.solve([goal], limb.settings, explain=False).residual * self._frame.size

    def turn_missed(self, leg: int, ankle: V3, rotation: Q4) -> float:
        """See `gait.Reaching`."""
        limb = self._limbs[leg]
        if limb is None or limb.lever is None:
            return 0.0
        last = limb.solver.figure.count - 1
        way = scaled(minus(ankle, limb.hip), 1.0 / self._frame.size)
        turn = multiplied(multiplied(limb.turn, multiplied(rotation, conjugated(limb.turn))), limb.foot)
        goals = [Point(last, rotated(limb.turn, way), 1.0, limb.lever), Facing(last, turn)]
        return limb.solver.solve(goals, limb.settings, explain=False).turns[1]


def leg_limits(owner: bpy.types.Object, chains: Sequence[FabrikChain], frame: Frame) -> Reaching | None:
    """What the joints of legs allow; None where none of them has a limit.

    Args:
        owner: The armature object.
        chains: Its legs.
        frame: The axes of its body.

    Raises:
        FabrikError: A chain can't be posed.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    facts = FactsByRig(frame_of(depsgraph))
    limbs: list[_Limb | None] = []
    for chain in chains:
        prepared = prepare(alone(owner, chain), depsgraph, facts)
        is_head = chain.effector == "HEAD"
        limits = prepared.solver.figure.joint_limits
        is_free = all(limit.is_free for limit in limits)
        lever = ORIGIN if is_head else None
        settings = prepared.settings._replace(restarts=RESTARTS)
        hip, turn = hip_of(owner, chain, frame), _turn(owner, prepared, frame)
        at_rest = prepared.solver.figure.placed([IDENTITY] * len(limits)).frames[-1]
        limbs.append(None if is_free else _Limb(prepared.solver, settings, hip, turn, at_rest, lever))
    return LegLimits(limbs, frame) if any(limb is not None for limb in limbs) else None


def _turn(owner: bpy.types.Object, prepared: Prepared, frame: Frame) -> Q4:
    """From the body's axes into the space of a leg, in which its first bone is turned at rest as its joint says."""
    axes = axes_of(pose_bones(owner)[prepared.bones[0]].bone.matrix_local)
    return multiplied(prepared.joints[0].rest, conjugated(multiplied(frame.upright, axes)))

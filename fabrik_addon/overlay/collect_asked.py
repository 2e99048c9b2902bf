# SPDX-License-Identifier: GPL-3.0-or-later
"""What the goal of a chain asks, for its picture: which end, which rotation, the softened goal, where it aims."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import bpy
from mathutils import Vector

from ..errors import FabrikError
from ..maths import Q4, V3, distance, minus, plus, scaled, unit, v3
from ..rig.figures import lacks_goal
from ..rig.goals import asked_point, goal_of, read_turn
from ..rig.schema import FabrikChain
from ..rig.targets import resolve_point

NEARLY = 2.0  # times the tolerance that still counts as on target
AIMED = 0.01  # share of the distance by which an axis may miss what it aims at


class AskedPicture(NamedTuple):
    """See the attributes of the same names of `shapes.Picture`."""

    target: V3 | None
    effector: V3
    turn: Q4 | None
    soft: V3 | None
    aim: tuple[V3, ...]
    is_reached: bool


def asked_picture(
    chain: FabrikChain, tip: bpy.types.PoseBone, joints: Sequence[V3], depsgraph: bpy.types.Depsgraph
) -> AskedPicture:
    """What the goal of a chain asks, as it stands.

    Args:
        chain: The chain.
        tip: Its last bone, evaluated.
        joints: n + 1 points of the world.
        depsgraph: Evaluated.
    """
    length = sum(distance(a, b) for a, b in pairwise(joints))
    target = _target(chain, depsgraph)
    if chain.kind == "AIM":
        aim = _aim(chain, tip, target)
        is_reached = not aim or target is None or distance(aim[1], target) <= AIMED * distance(*aim)
        return AskedPicture(target, joints[-2], None, None, aim, is_reached)
    effector = joints[-2 if chain.effector == "HEAD" else -1]
    soft = None
    if target is not None and chain.softened > 0.0 and chain.status != "NONE":
        soft = plus(target, scaled(unit(minus(joints[0], target)), chain.softened))
    goal = target if soft is None else soft
    is_reached = goal is None or distance(effector, goal) <= NEARLY * chain.tolerance * length
    return AskedPicture(target, effector, _turn(chain, depsgraph), soft, (), is_reached)


def _target(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> V3 | None:
    """The target, or where a pin holds without one."""
    try:
        target = goal_of(chain, "target")
        if target is not None:
            return v3(resolve_point(*target, depsgraph))
        return None if lacks_goal(chain) else asked_point(chain, depsgraph)
    except FabrikError:
        return None


def _turn(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Q4 | None:
    try:
        return read_turn(chain, depsgraph)
    except FabrikError:
        return None


def _aim(chain: FabrikChain, tip: bpy.types.PoseBone, target: V3 | None) -> tuple[V3, ...]:
    """From the last bone's head along the axis, as far as the target is away; nothing where there is no way."""
    owner = tip.id_data
    assert isinstance(owner, bpy.types.Object)
    matrix = owner.matrix_world @ tip.matrix
    along = matrix.to_3x3() @ Vector(chain.aim_axis)
    if target is None or along.length <= 0.0:
        return ()
    head = v3(matrix.translation)
    return head, plus(head, scaled(unit(v3(along)), distance(head, target)))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned pole is brought to the side to which its chain bends among those that are solved with it."""

from __future__ import annotations

from dataclasses import replace

import bpy

from ..maths import dot, length, minus, perpendicular, plus, rotated, scaled, turn_about
from .make import Empty
from .order import Item
from .standing import Standing, bend_of, tip_of


def pole_in_bend(item: Item, planned: Empty, depsgraph: bpy.types.Depsgraph) -> Empty:
    """A planned pole turned about the line from root to tip, to where the chain bends as it stands.

    A chain that is solved by itself and one of a body are turned by their poles about different joints, so where a pole
    leaves the pose alone shows only once the chain is one of them.

    Args:
        item: The armature object and the chain, which may lack goals.
        planned: Where the pole would be by the bones of the chain alone.
        depsgraph: Evaluated.

    Raises:
        FabrikError: The chain can't be posed.
    """
    standing = Standing.of(item, depsgraph, tip_of(*item, depsgraph))
    bend = bend_of(standing)
    if bend is None or standing.prepared.is_chain:
        return planned
    space = standing.prepared.space
    off = minus(space.to_chain(planned.location), bend.origin)
    away = length(perpendicular(off, bend.along))
    side = rotated(turn_about(bend.along, -standing.chain.pole_angle), bend.side)
    point = plus(bend.origin, plus(scaled(bend.along, dot(off, bend.along)), scaled(side, away)))
    return replace(planned, location=tuple(space.to_world(point)))

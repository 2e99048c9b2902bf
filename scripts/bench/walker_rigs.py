# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers as armatures with the ground that they walk on: two spiders, a human, a wolf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi, radians, tan
from typing import Any

import bpy
from fabrik_addon.gait import Leg
from fabrik_addon.session.walk.sampling import legs_now
from fabrik_addon.session.walk.setup import add_walker

from dev.humans import give_ranges, make_human
from dev.quiet import quiet
from dev.walkers import FROUDE, SLOW, noise, pace_of
from dev.walking_rigs import FPS, ahead, go_along, make_profile, make_rubble, make_spider

from .body_rigs import add_wolf, empty_file

CONTEXT: Any = bpy.context
SLOPE = radians(25.0)
WAY = 4.0  # legs' reaches, that a walk goes ahead
PEAK = 0.5 * pi  # how much faster than on average the body goes midway
BEHIND = 3.0  # legs' reaches, from where ground begins to where the body does
CELLS = 60  # to each side of ground that is uneven
HUMAN = "human_mixamo"


@dataclass(frozen=True, slots=True)
class Creature:
    """A rig that walks.

    Attributes:
        name: Of its rows.
        kind: Whose pace it has.
        make: Makes its armature in an empty file.
    """

    name: str
    kind: str
    make: Callable[[], Any]


def _human() -> Any:
    with quiet():
        return make_human(HUMAN)


def _human_with_ranges() -> Any:
    with quiet():
        owner = make_human(HUMAN)
        give_ranges(owner)
    return owner


CREATURES = (
    Creature("spider", "spider", make_spider),
    Creature("hexapod", "hexapod", lambda: make_spider(3)),
    Creature("human", "human", _human),
    Creature("human with joint limits", "human", _human_with_ranges),
    Creature("wolf", "wolf", add_wolf),
)


def _flat(reach: float) -> None:
    make_profile([(-BEHIND * reach, 0.0), (2.0 * WAY * reach, 0.0)])


def _slope(reach: float) -> None:
    make_profile([(-BEHIND * reach, 0.0), (reach, 0.0), (2.0 * WAY * reach, (2.0 * WAY - 1.0) * reach * tan(SLOPE))])


def _stairs(reach: float) -> None:
    rise, tread = 0.3 * reach, 0.7 * reach
    profile = [(-BEHIND * reach, 0.0), (reach, 0.0)]
    for step in range(1, 9):
        profile += [(reach + tread * (step - 1), rise * step), (reach + tread * step, rise * step)]
    make_profile([*profile, (3.0 * WAY * reach, 8 * rise)])


def _noise(reach: float) -> None:
    make_noise(reach, CELLS)


GROUNDS: dict[str, Callable[[float], None]] = {"flat": _flat, "slope": _slope, "stairs": _stairs, "noise": _noise}


def make_noise(reach: float, cells: int) -> None:
    """Waves of a quarter of a leg's reach, in triangles, wide and long enough for a walk."""
    waves = noise(0.25 * reach, 2.0 * reach)

    def height(x: float, y: float) -> float:
        return waves.height(x, y) or 0.0

    make_rubble(height, cells, BEHIND * reach, (BEHIND + 2.0 * WAY) * reach)


def made(creature: Creature, ground: str) -> tuple[Any, tuple[int, int]]:
    """An empty file with a walker on some ground, keyed along its way, and the frames of that.

    Args:
        creature: The walker.
        ground: A key of `GROUNDS`.
    """
    empty_file()
    owner = creature.make()
    legs = as_walker(owner)
    froude = FROUDE[creature.kind] * SLOW.get(ground, 1.0)
    GROUNDS[ground](legs[0].reach)
    way = WAY * legs[0].reach
    seconds = PEAK * way / pace_of(tuple(legs), froude)
    frames = (1, 1 + 3 * round(seconds * FPS / 3.0))
    go_along(owner, ahead(way), frames)
    return owner, frames


def as_walker(owner: bpy.types.Object) -> Sequence[Leg]:
    """Make a walker of an armature; its legs as they are measured."""
    for bone in owner.pose.bones:
        bone.rotation_mode = "QUATERNION"
    CONTEXT.view_layer.update()
    add_walker(CONTEXT, owner)
    return legs_now(owner).legs

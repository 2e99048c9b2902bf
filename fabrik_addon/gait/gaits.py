# SPDX-License-Identifier: GPL-3.0-or-later
"""All gaits, in the order in which they are shown: a new one is one more entry of the table.

Two legs after Alexander (1989); four legs, the walk in lateral sequence, after Hildebrand (1965); six legs and more
alternate, or step in waves that run from the hindmost leg to the front (Wilson 1966).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import InvalidValueError
from ..messages import Message
from .cycle import Cycle
from .human import human_cycle
from .legs import RIGHT, Leg
from .settings import ROUNDING, Settings

CLIP = "CLIP"  # the gait that is read from one
LEAD = 0.1  # share of the cycle between the two hind feet, and the two front feet, of a gallop


@dataclass(frozen=True)
class Rhythm:
    """When each leg stands and swings, as shares of a cycle.

    Leg i swings while the fraction of phase + offset i is its duty or more.

    Attributes:
        duties: By leg the share of the cycle that its foot stands.
        offsets: By leg.
    """

    duties: tuple[float, ...]
    offsets: tuple[float, ...]

    def is_together(self, one: int, other: int) -> bool:
        """Whether the rhythm itself has both legs in the air at some time."""
        lift, other_lift = (self.duties[leg] - self.offsets[leg] for leg in (one, other))
        airs = (1.0 - self.duties[leg] - ROUNDING for leg in (one, other))
        return any(after % 1.0 < air for after, air in zip((other_lift - lift, lift - other_lift), airs, strict=True))


Rhythms = Callable[[Sequence[Leg], Settings], Rhythm]
Cycles = Callable[[Leg, float, float], Cycle]  # of a leg at a v*, with so much energy


@dataclass(frozen=True)
class Gait:
    """A way to walk.

    Attributes:
        name: By which scripts and jobs choose it.
        number: Under which files store it: never changed, and never given to another gait.
        label: As it is shown.
        description: For the tooltip.
        rhythm: Of given legs.
        cycle: How its legs go through a stride; None for arcs and one rhythm at all speeds.
    """

    name: str
    number: int
    label: str
    description: str
    rhythm: Rhythms
    cycle: Cycles | None = None


def steady(duty: float, offset: Callable[[Leg], float]) -> Rhythms:
    """The rhythm of a duty factor, and of an offset that each leg has by its side and row."""
    return lambda legs, settings: Rhythm((duty,) * len(legs), tuple(offset(leg) for leg in legs))


def by_side(leg: Leg) -> float:
    """The sides are half a cycle apart."""
    return 0.5 if leg.side == RIGHT else 0.0


def by_turns(leg: Leg) -> float:
    """Every second leg, along the rows and across, is half a cycle apart."""
    return 0.5 * ((leg.row + (leg.side == RIGHT)) % 2)


def waves(duty: float) -> Rhythms:
    """Each leg swings when the one behind it has landed; the sides are half a cycle apart."""
    step = 1.0 - duty
    return steady(duty, lambda leg: by_side(leg) + leg.row * step)


def one_by_one(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    """One leg at a time: all of a side, then all of the other."""
    count = max(2, len(legs))
    rows = 1 + max(leg.row for leg in legs)
    offsets = tuple((leg.row + (rows if leg.side == RIGHT else 0)) / count for leg in legs)
    return Rhythm((1.0 - 1.0 / count,) * len(legs), offsets)


def _lateral(leg: Leg) -> float:
    """Hind left, front left, hind right, front right."""
    return (0.0 if leg.side == RIGHT else 0.5) + 0.25 * (leg.row % 2)


def _gallop(leg: Leg) -> float:
    """Hind legs, then front legs, the left one first."""
    return 0.5 * (leg.row % 2) + (0.0 if leg.side == RIGHT else LEAD)


def _custom(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    return Rhythm((settings.duty,) * len(legs), tuple(leg.offset for leg in legs))


def _as_in_clip(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    cycles = [cycle_of_leg(leg, 1.0, 0.0) for leg in legs]
    return Rhythm(tuple(cycle.duty for cycle in cycles), tuple(cycle.offset for cycle in cycles))


def cycle_of_leg(leg: Leg, pace: float, energy: float) -> Cycle:
    """The cycle that a leg has of its own, see `clip`; else that of people.

    Args:
        leg: The leg.
        pace: v*, above 0, see `Clock.paces`.
        energy: As people have it.
    """
    return leg.cycle.at(pace) if leg.cycle is not None else human_cycle(pace, energy, leg.foot)


GAITS = (
    Gait("BIPED_WALK", 0, "Walk on Two Legs", "One foot is always on the ground, at times both", steady(0.6, by_side)),
    Gait("BIPED_RUN", 1, "Run on Two Legs", "Both feet are in the air between steps", steady(0.35, by_side)),
    Gait(
        "WALK", 2, "Walk", "One foot at a time: hind, then front, of one side and then the other",
        steady(0.75, _lateral),
    ),
    Gait("TROT", 3, "Trot", "Diagonal feet together", steady(0.5, by_turns)),
    Gait("PACE", 4, "Pace", "The feet of a side together, as camels do", steady(0.5, by_side)),
    Gait("GALLOP", 5, "Gallop", "Hind feet, then front feet, with a time in the air", steady(0.3, _gallop)),
    Gait("TRIPOD", 6, "Tripod", "Every second foot together, so that three of six stand", steady(0.5, by_turns)),
    Gait("TETRAPOD", 7, "Tetrapod", "Every second foot together, so that four of eight stand", steady(0.5, by_turns)),
    Gait("RIPPLE", 8, "Ripple", "A third of the feet in the air, in waves from the back", waves(2.0 / 3.0)),
    Gait("WAVE", 9, "Wave", "One foot at a time, from the back to the front", one_by_one),
    Gait("METACHRONAL", 10, "Metachronal", "A quarter of the feet in the air, in waves from the back", waves(0.75)),
    Gait(
        "HUMAN", 12, "Human", "As people walk: heel first, knees that straighten, strides and arms by the speed",
        steady(0.6, by_side), cycle_of_leg,
    ),
    Gait(
        CLIP, 13, "Own Clip", "As the creature goes in a clip of its own: legs, body, and all other bones",
        _as_in_clip, cycle_of_leg,
    ),
    Gait("CUSTOM", 11, "Custom", "Offsets by leg and the duty factor as they are set", _custom),
)  # fmt: skip
_BY_NAME = {gait.name: gait for gait in GAITS}


def gait_of(settings: Settings) -> Gait:
    """The gait that is set.

    Raises:
        InvalidValueError: There is no such gait.
    """
    if settings.gait not in _BY_NAME:
        raise InvalidValueError(Message("NO_SUCH_GAIT", gait=settings.gait))
    return _BY_NAME[settings.gait]


def goes_by_cycle(legs: Sequence[Leg], settings: Settings) -> bool:
    """Whether who is led goes by the cycle of its gait, as two legs do; more step in groups, when they have drifted."""
    return len(legs) == 2 and gait_of(settings).cycle is not None

# SPDX-License-Identifier: GPL-3.0-or-later
"""What every joint limit can do.

A limit sees rotations of its joint in the rest frame of the bone (+Y along the bone), and nothing else: the identity is
the rest pose. It never stores the state of a solve.

The solver calls the methods named by a verb (`clamp`, `aim`, ...); Python calls those named by a participle (`clamped`,
`aimed`, ...), which do the same.

What a type must answer itself: `clamp`, `aim`, `allow`, `turn`, `draw`, and `blend` unless whatever lies between two
allowed rotations is allowed; `parts`, `settings` and `mirrored`. For a `SwingTwist` the first six follow from `pull`,
`allow_swing` and `draw_direction`. What it may answer: `exceed`, faster; `prefer`, where it knows a side to bend to;
`outline` and `setting_at`, without which nothing is drawn of it; `ik_meaning`, without which Blender's IK heeds nothing
of it; `narrowed`, without which a bone that has it and locked channels is refused; `measure` and `at`, where `dofs` is
1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...texts import Text
from .. import cython
from ..forms import Q4, V3
from ..vectors import IDENTITY, ORIGIN, conjugated, multiplied, part_way, rotated, turn_angle
from .ik_meaning import ALL_AXES, IkMeaning
from .outline import Outline
from .ranges import finite_numbers
from .setting import Setting


@cython.cclass
class Limit:
    """A set of rotations that a joint may take.

    Attributes:
        dofs: About how many axes the joint turns: 0, 1 or 3.
        axis: For one axis, that one: unit vector in the rest frame.
    """

    dofs = cython.declare(cython.int, visibility="readonly")
    axis = cython.declare(V3, visibility="readonly")

    @cython.cfunc
    @cython.exceptval(check=False)
    def clamp(self, rotation: Q4) -> Q4:
        """The allowed rotation nearest to one; an allowed one comes back as it is. Idempotent."""
        return rotation

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, rotation: Q4, segment: V3, direction: V3) -> Q4:
        """The allowed rotation that turns `segment` nearest to `direction` (rest frame), starting from `rotation`."""
        return rotation

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        """The part of a small rotation vector (rest frame, radians) that the limit lets through at a rotation."""
        return turn

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn(self, rotation: Q4, turn: V3) -> Q4:
        """A rotation turned by a rotation vector (rest frame, radians), as far as the limit allows."""
        return rotation

    @cython.cfunc
    @cython.exceptval(check=False)
    def exceed(self, rotation: Q4) -> cython.double:
        """How far a rotation stands outside the limit, in radians; 0 inside."""
        return turn_angle(multiplied(conjugated(self.clamp(rotation)), rotation))

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        """The allowed rotation that three numbers in [0, 1) choose."""
        return IDENTITY

    @cython.cfunc
    @cython.exceptval(check=False)
    def prefer(self, rotation: Q4) -> V3:
        """Unit axis (rest frame) about which a straight chain is to be bent here; zero if the limit prefers none."""
        return ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def blend(self, start: Q4, end: Q4, factor: cython.double) -> Q4:
        """The rotation `factor` of the way from `start` (0) to `end` (1), the short way inside the limit."""
        return part_way(start, end, factor)

    @cython.cfunc
    @cython.exceptval(check=False)
    def measure(self, rotation: Q4) -> cython.double:
        """The angle of a rotation, for a joint that turns about one axis."""
        return 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def at(self, angle: cython.double) -> Q4:
        """The allowed rotation nearest to an angle, for a joint that turns about one axis."""
        return IDENTITY

    @property
    def is_free(self) -> bool:
        """Whether every rotation is allowed."""
        return False

    @property
    def is_fixed(self) -> bool:
        """Whether a single rotation is allowed."""
        return self.dofs == 0

    @property
    def is_ball(self) -> bool:
        """Whether the bone can point to more sides than an axis lets it."""
        return self.dofs == 3

    def parts(self) -> tuple[Any, ...]:
        """What the limit was made from: its constructor's arguments in their order."""
        return ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limit) and type(self) is type(other) and self.parts() == other.parts()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([repr(part) for part in self.parts()])})"

    def clamped(self, rotation: Sequence[float]) -> Q4:
        """See `clamp`."""
        return self.clamp(given_rotation(rotation))

    def aimed(self, rotation: Sequence[float], segment: Sequence[float], direction: Sequence[float]) -> Q4:
        """See `aim`."""
        return self.aim(given_rotation(rotation), given_vector(segment), given_vector(direction))

    def allowed(self, rotation: Sequence[float], turn: Sequence[float]) -> V3:
        """See `allow`."""
        return self.allow(given_rotation(rotation), given_vector(turn))

    def turned(self, rotation: Sequence[float], turn: Sequence[float]) -> Q4:
        """See `turn`."""
        return self.turn(given_rotation(rotation), given_vector(turn))

    def violation(self, rotation: Sequence[float]) -> float:
        """See `exceed`."""
        return self.exceed(given_rotation(rotation))

    def drawn(self, u: float, v: float, w: float) -> Q4:
        """See `draw`."""
        return self.draw(u, v, w)

    def preferred_axis(self, rotation: Sequence[float]) -> V3 | None:
        """See `prefer`; None in place of zero."""
        found: V3 = self.prefer(given_rotation(rotation))
        return None if found == ORIGIN else found

    def blended(self, start: Sequence[float], end: Sequence[float], factor: float) -> Q4:
        """See `blend`."""
        return self.blend(given_rotation(start), given_rotation(end), factor)

    def outline(self) -> Outline:
        """The shape that is drawn for the limit; empty where every rotation is allowed."""
        return Outline()

    def setting_at(self, name: str, point: V3) -> float:
        """The angle of a setting, one of the outline's ends, that brings that end to the side of a point.

        Args:
            name: Key of `Outline.ends`.
            point: In the rest frame of the bone, about the joint.
        """
        raise KeyError(name)

    def ik_meaning(self) -> IkMeaning:
        """What Blender's own IK can heed of the limit."""
        return IkMeaning(ALL_AXES, {}, (Text("a limit of the type {type}", type=type(self).__name__),))

    def settings(self) -> dict[str, Any]:
        """The bone's settings (see `LimitType.make`) from which this limit would be made, `limit` (its kind) first."""
        raise NotImplementedError

    def mirrored(self, turn: Q4) -> Limit | None:
        """The limit that allows a bone's mirror image the mirror images of what this one allows the bone.

        Args:
            turn: Takes the axis of each turn of the bone (rest frame) to that of its mirror image (the image's rest
                frame). Directions go to the opposite of where it takes them: the bone's own, Y, stays Y.

        Returns:
            The limit; None where there is none of its type.
        """
        raise NotImplementedError

    def narrowed(self, hinge: Limit) -> Limit | None:
        """What both this limit and the hinge that a bone's locked channels make allow; None where it can't be told."""
        return None


def given_rotation(rotation: Sequence[float]) -> Q4:
    """A rotation that was handed in, as it is.

    Raises:
        InvalidValueError: It is not four finite numbers.
    """
    w, x, y, z = finite_numbers("rotation", rotation, 4)
    return (w, x, y, z)


def given_vector(vector: Sequence[float]) -> V3:
    """A vector that was handed in.

    Raises:
        InvalidValueError: It is not three finite numbers.
    """
    x, y, z = finite_numbers("vector", vector, 3)
    return (x, y, z)


def mirrored_rotation(turn: Q4, rotation: Q4) -> Q4:
    """The mirror image of a rotation; see `Limit.mirrored`."""
    x, y, z = rotated(turn, (rotation[1], rotation[2], rotation[3]))
    return (rotation[0], x, y, z)


class LimitType(NamedTuple):
    """A type of limit as the registry knows it.

    Attributes:
        kind: The name by which scripts set it.
        number: Under which files store it: never changed, and never given to another type.
        label: The name on the panel.
        description: One sentence for the panel.
        make: Makes the limit from a bone's settings (attributes named as `settings`, and `use_twist`, `twist_min`,
            `twist_max`, `ik_locks`, `ik_ranges`) and the joint's rotation in the start pose; raises InvalidValueError
            where the settings make no sense.
        settings: What it is made from, in the order of the panel: each is stored of every bone, and shown.
        twists: Whether a range of twist about the bone can be set besides.
        stiffens: Whether a stiffness can be set besides.
        is_of_blender: Whether it is made from the bone's settings for Blender's own IK, stiffness included.
        holds: Whether it holds back where the bone points.
    """

    kind: str
    number: int
    label: str
    description: str
    make: Callable[[Any, Q4], Limit]
    settings: tuple[Setting, ...] = ()
    twists: bool = False
    stiffens: bool = True
    is_of_blender: bool = False
    holds: bool = True

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the settings."""
        return tuple([setting.name for setting in self.settings])

    def shown(self, settings: Any) -> tuple[Setting, ...]:
        """Those of the settings that have a meaning, by how a bone's switches stand."""
        found = []
        for setting in self.settings:
            if setting.shown_by is None or getattr(settings, setting.shown_by[0]) == setting.shown_by[1]:
                found.append(setting)
        return tuple(found)

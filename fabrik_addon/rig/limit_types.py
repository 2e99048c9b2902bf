# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of joint limits as a rigger meets them: settings, outline, meaning for Blender's IK, mirror image.

What a limit does to rotations stands in the kernel, one file a type. Here stands what a bone stores of it and what is
drawn and told: a new type is one file there and one class here, listed in `LIMITS`, of which properties, panel, copies,
overlay and laws hear. Nothing here needs Blender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, cos, pi, sin, sqrt, tau
from typing import Any, NamedTuple

from ..errors import InvalidValueError, are_finite
from ..kernel import FREE, Cone, Free, Hinge, Limit, Locked, Planar, Twist, Twisting
from ..maths import ORIGIN, Q4, V3, X_AXIS, Y_AXIS, Z_AXIS, cross, dot, length, minus, rotated, scaled, unit
from ..messages import Message

Curve = tuple[V3, ...]
IkRange = tuple[float, float]

BONES_AXES = (X_AXIS, Y_AXIS, Z_AXIS)
ALL_AXES = frozenset((0, 1, 2))
FULL_TURN = (-pi, pi)
CONE_NAMES = {"x": Message("CONE_ABOUT_X"), "z": Message("CONE_ABOUT_Z")}
IK_NAMES = (Message("IK_LIMIT_X"), Message("IK_LIMIT_Y"), Message("IK_LIMIT_Z"))
OUTLINE_STEP = pi / 30.0  # radians
CONE_OUTLINE_QUARTER = 16  # points
TWIST_RADIUS = 0.35
BESIDE = 1e-3  # of a unit axis to one of the bone's, in each of the other coordinates
ALONG_THE_BONE = 1e-3  # of a hinge's axis: the bone turns about itself
ALONG_AXIS = 1e-6  # length of a point's part beside an axis that tells no angle about it
NOT_TURNED = 1e-6  # of a unit quaternion's w, below which a rotation is none
ONE_AXIS = 1e-4  # radians between the axes of two hinges that are one
TRIED = 6  # parts of a hinge's range, at whose ends it is tried whether all of it is within locks
ALIKE = 0.9998  # cosine of the angle up to which axes count as mirrored: about a degree
QUARTER = 0.25 * pi


class Setting(NamedTuple):
    """A setting of limits; types that have one of the same name share it.

    Attributes:
        name: Under which scripts set it and files store it: never changed.
        label: The name on the panel.
        description: One sentence for the tooltip.
        default: What it is at first: True or False for a switch, a number for an angle in radians, three for a vector.
        low: Least angle.
        high: Greatest angle.
        shown_by: Name of a switch and how it stands where this setting has a meaning; None where it always has.
    """

    name: str
    label: str
    description: str
    default: bool | float | tuple[float, float, float]
    low: float = -pi
    high: float = pi
    shown_by: tuple[str, bool] | None = None

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return isinstance(self.default, bool)

    @property
    def is_vector(self) -> bool:
        """Whether it has three numbers."""
        return isinstance(self.default, tuple)


@dataclass(frozen=True, slots=True)
class Outline:
    """The shape of a limit: curves in the rest frame of the bone, about the joint, for a bone of length 1.

    Attributes:
        swing: Curves of the bone's end along the edge of its range; a closed one ends where it starts.
        twist: Curves of a point beside the bone along the range of its twist.
        ends: Points of the curves by the name of the setting that they show.
    """

    swing: tuple[Curve, ...] = ()
    twist: tuple[Curve, ...] = ()
    ends: dict[str, V3] = field(default_factory=dict)


class IkMeaning(NamedTuple):
    """What Blender's own IK can heed of a limit: locks and ranges of the bone's X, Y and Z."""

    free: frozenset[int]  # axes that are not locked; 0 is X
    ranges: dict[int, IkRange]  # least and greatest angle in radians about those axes that are limited
    lost: tuple[Message, ...] = ()  # what locks and ranges can't tell of the limit, in words


class LimitType:
    """A type of limit; its methods tell of limits that the type made, and of those that its settings could make.

    Attributes:
        kind: The name by which scripts set it.
        number: Under which files store it: never changed, and never given to another type.
        label: The name on the panel.
        description: One sentence for the panel.
        settings: What it is made from, in the order of the panel: each is stored of every bone, and shown.
        classes: Of the kernel's limits that it makes.
        twists: Whether a range of twist about the bone can be set besides.
        stiffens: Whether a stiffness can be set besides.
        is_of_blender: Whether it is made from the bone's settings for Blender's own IK, stiffness included.
        holds: Whether it holds back where the bone points.
        turns: Whether it lets the bone turn at all.
        has_one_axis: Whether it lets the bone turn about its setting `axis` alone.
    """

    kind: str
    number: int
    label: str
    description: str
    settings: tuple[Setting, ...] = ()
    classes: tuple[type[Limit], ...] = ()
    twists = False
    stiffens = True
    is_of_blender = False
    holds = True
    turns = True
    has_one_axis = False

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the settings."""
        return tuple(setting.name for setting in self.settings)

    def shown(self, view: Any) -> tuple[Setting, ...]:
        """Those of the settings that have a meaning, by how a bone's switches stand."""
        pairs = ((setting, setting.shown_by) for setting in self.settings)
        return tuple(setting for setting, by in pairs if by is None or getattr(view, by[0]) == by[1])

    def make(self, view: Any, start: Q4) -> Limit:
        """The limit of a bone.

        Args:
            view: The bone's settings: attributes named as `settings`, and `use_twist`, `twist_min`, `twist_max`,
                `ik_locks`, `ik_ranges`.
            start: The joint's rotation in the start pose.

        Raises:
            InvalidValueError: The settings make no sense.
        """
        raise NotImplementedError

    def settings_of(self, limit: Any) -> dict[str, Any]:
        """The settings from which a limit would be made, without its kind."""
        raise NotImplementedError

    def outline(self, limit: Any) -> Outline:
        """What is drawn of the range of the bone's direction; nothing where every one is allowed."""
        return Outline()

    def setting_at(self, limit: Any, name: str, point: V3) -> float:
        """See the function `setting_at`."""
        raise KeyError(name)

    def ik_meaning(self, limit: Any) -> IkMeaning:
        """What Blender's own IK can heed of the limit."""
        return IkMeaning(ALL_AXES, {}, (Message("LIMIT_TYPE", type=self.label),))

    def mirrored(self, limit: Any, turn: Q4) -> Limit | None:
        """The limit that allows a bone's mirror image the mirror images of what a limit allows the bone.

        Args:
            limit: The bone's.
            turn: Takes the axis of each turn of the bone (rest frame) to that of its mirror image (the image's rest
                frame). Directions go to the opposite of where it takes them: the bone's own, Y, stays Y.

        Returns:
            The limit; None where there is none of its type.
        """
        raise NotImplementedError

    def narrowed(self, limit: Any, locks: Limit) -> Limit | None:
        """What both a limit and that of locked channels allow; None where it can't be told."""
        return None


class FreeType(LimitType):
    """A free joint, or one whose twist alone is limited."""

    kind, number, label, description = "FREE", 0, "Free", "The bone points in any direction"
    classes, twists, holds = (Free, Twisting), True, False

    def make(self, view: Any, start: Q4) -> Limit:
        twist = twist_of(view)
        return Twisting(twist) if twist else FREE

    def settings_of(self, limit: Any) -> dict[str, Any]:
        return twist_settings(limit)

    def ik_meaning(self, limit: Any) -> IkMeaning:
        return IkMeaning(ALL_AXES, _ik_twist(limit))

    def mirrored(self, limit: Any, turn: Q4) -> Limit | None:
        return limit if limit.is_free else Twisting(mirrored_twist(limit))

    def narrowed(self, limit: Any, locks: Limit) -> Limit | None:
        return locks if limit.is_free else None


AXIS = Setting("axis", "Axis", "Axis about which the bone turns, in its rest frame: Y runs along the bone", X_AXIS)
ANGLE_MIN = Setting("angle_min", "Min", "Least angle about the axis, from the rest pose", -pi, -tau, tau)
ANGLE_MAX = Setting("angle_max", "Max", "Greatest angle about the axis, from the rest pose", pi, -tau, tau)


class HingeType(LimitType):
    """A hinge."""

    kind, number, label, description = "HINGE", 1, "Hinge", "The bone turns about one axis, between two angles"
    settings, classes, has_one_axis = (AXIS, ANGLE_MIN, ANGLE_MAX), (Hinge,), True

    def make(self, view: Any, start: Q4) -> Limit:
        return Hinge(view.axis, view.angle_min, view.angle_max)

    def settings_of(self, limit: Any) -> dict[str, Any]:
        return {"axis": limit.axis, "angle_min": limit.angle_min, "angle_max": limit.angle_max}

    def outline(self, limit: Any) -> Outline:
        if _turns_itself(limit):
            side = scaled(rotated(limit.zero, X_AXIS), TWIST_RADIUS)
            twist = arc(side, limit.axis, limit.angle_min, limit.angle_max)
            return Outline(twist=(twist,), ends=curve_ends("angle_min", "angle_max", twist))
        swing = arc(rotated(limit.zero, Y_AXIS), limit.axis, limit.angle_min, limit.angle_max)
        return Outline((swing,), ends=curve_ends("angle_min", "angle_max", swing))

    def setting_at(self, limit: Any, name: str, point: V3) -> float:
        side = rotated(limit.zero, X_AXIS if _turns_itself(limit) else Y_AXIS)
        return set_end(name, angle_about(limit.axis, side, point), limit.angle_min, limit.angle_max)

    def ik_meaning(self, limit: Any) -> IkMeaning:
        own = _bones_axis(limit)
        if own is None:
            return BESIDE_AN_AXIS
        is_turned = abs(limit.zero[0]) < 1.0 - NOT_TURNED
        lost = (Message("ROTATION_OF_LOCKS"),) if is_turned else ()
        return IkMeaning(frozenset((own[0],)), {own[0]: own[1]}, lost)

    def mirrored(self, limit: Any, turn: Q4) -> Limit | None:
        zero = mirrored_rotation(turn, limit.zero)
        return Hinge(rotated(turn, limit.axis), limit.angle_min, limit.angle_max, zero)

    def narrowed(self, limit: Any, locks: Any) -> Limit | None:
        low, high = limit.angle_min, limit.angle_max
        if locks.dofs != 1:
            tried = [limit.rotation_at(low + (high - low) * k / TRIED) for k in range(TRIED + 1)]
            return limit if all(locks.violation(one) < ONE_AXIS for one in tried) else None
        turn = 2.0 * atan2(length(locks.zero[1:]), abs(locks.zero[0]))
        if length(cross(limit.axis, locks.axis)) > ONE_AXIS or turn > ONE_AXIS:
            return None
        ends = (low, high) if dot(limit.axis, locks.axis) > 0.0 else (-high, -low)
        return Hinge(locks.axis, *ends, locks.zero)


ROUND, ELLIPSE = ("use_ellipse", False), ("use_ellipse", True)


class ConeType(LimitType):
    """A cone, circular or an ellipse that holds the rest direction."""

    kind, number, label = "CONE", 2, "Cone"
    description = "The bone stays within a cone about its rest direction"
    settings = (
        Setting("use_ellipse", "Ellipse", "Give the cone an angle of its own on each of four sides", False),
        Setting("cone_min", "Min", "Least angle from the rest direction", 0.0, 0.0, pi, ROUND),
        Setting("cone_max", "Max", "Greatest angle from the rest direction", QUARTER, 0.0, pi, ROUND),
        Setting("cone_x_min", "X Min", "Greatest negative turn about the bone's X axis", -QUARTER, -pi, 0.0, ELLIPSE),
        Setting("cone_x_max", "X Max", "Greatest positive turn about the bone's X axis", QUARTER, 0.0, pi, ELLIPSE),
        Setting("cone_z_min", "Z Min", "Greatest negative turn about the bone's Z axis", -QUARTER, -pi, 0.0, ELLIPSE),
        Setting("cone_z_max", "Z Max", "Greatest positive turn about the bone's Z axis", QUARTER, 0.0, pi, ELLIPSE),
    )
    classes, twists = (Cone,), True

    def make(self, view: Any, start: Q4) -> Limit:
        if not view.use_ellipse:
            return Cone.circular(view.cone_max, view.cone_min, twist_of(view))
        ends: list[float] = []
        for axis in "xz":
            ends_now = getattr(view, f"cone_{axis}_min"), getattr(view, f"cone_{axis}_max")
            low, high = checked_range(CONE_NAMES[axis], *ends_now)
            if low > 0.0 or high < 0.0:
                raise InvalidValueError(Message("CONE_WITHOUT_REST", axis=axis.upper()))
            ends += [-low, high]
        return Cone(0.0, ends[0], ends[1], ends[2], ends[3], twist_of(view))

    def settings_of(self, limit: Any) -> dict[str, Any]:
        if limit.inner > 0.0:
            ends = {"cone_min": limit.inner, "cone_max": limit.x_high}
        else:
            ends = {"cone_x_min": -limit.x_low, "cone_x_max": limit.x_high}
            ends |= {"cone_z_min": -limit.z_low, "cone_z_max": limit.z_high}
        return {"use_ellipse": limit.inner <= 0.0, **ends, **twist_settings(limit)}

    def outline(self, limit: Any) -> Outline:
        edge = _cone_edge(limit.x_low, limit.x_high, limit.z_low, limit.z_high)
        if not limit.is_circular:
            names = ("cone_x_max", "cone_z_max", "cone_x_min", "cone_z_min")
            return Outline((edge,), ends={name: edge[i * CONE_OUTLINE_QUARTER] for i, name in enumerate(names)})
        if limit.inner <= 0.0:
            return Outline((edge,), ends={"cone_max": edge[0]})
        inner = _cone_edge(*[limit.inner] * 4)
        return Outline((edge, inner), ends={"cone_max": edge[0], "cone_min": inner[0]})

    def setting_at(self, limit: Any, name: str, point: V3) -> float:
        x, y, z = point
        if name in {"cone_min", "cone_max"}:
            angle, least, greatest = atan2(sqrt(x * x + z * z), y), float(limit.inner), float(limit.x_high)
            return max(angle, least) if name == "cone_max" else min(angle, greatest)
        angle = atan2(z, y) if name.startswith("cone_x") else atan2(-x, y)
        return max(angle, 0.0) if name.endswith("max") else min(angle, 0.0)

    def ik_meaning(self, limit: Any) -> IkMeaning:
        ranges = {0: (-limit.x_low, limit.x_high), 2: (-limit.z_low, limit.z_high), **_ik_twist(limit)}
        return IkMeaning(ALL_AXES, ranges, (Message("LEAST_CONE_ANGLE"),) if limit.inner > 0.0 else ())

    def mirrored(self, limit: Any, turn: Q4) -> Limit | None:
        twist = mirrored_twist(limit)
        if limit.is_circular:
            return Cone.circular(limit.x_high, limit.inner, twist)
        ends = {}
        for axis, low, high in ((X_AXIS, limit.x_low, limit.x_high), (Z_AXIS, limit.z_low, limit.z_high)):
            x, _, z = rotated(turn, axis)  # X and Z may change places with the roll
            to, along = ("x", x) if abs(x) > abs(z) else ("z", z)
            if abs(along) < ALIKE:
                return None
            ends[to] = (low, high) if along > 0.0 else (high, low)
        return Cone(0.0, *ends["x"], *ends["z"], twist)


class PlanarType(LimitType):
    """A bone that points within a plane."""

    kind, number, label = "PLANAR", 3, "Planar"
    description = "The bone points only within one plane, and may twist"
    settings, classes, twists = (AXIS, ANGLE_MIN, ANGLE_MAX), (Planar,), True

    def make(self, view: Any, start: Q4) -> Limit:
        return Planar(view.axis, view.angle_min, view.angle_max, twist_of(view))

    def settings_of(self, limit: Any) -> dict[str, Any]:
        return {**LIMITS["HINGE"].settings_of(limit), **twist_settings(limit)}

    def outline(self, limit: Any) -> Outline:
        curve = arc(Y_AXIS, limit.axis, limit.angle_min, limit.angle_max)
        return Outline((curve,), ends=curve_ends("angle_min", "angle_max", curve))

    def setting_at(self, limit: Any, name: str, point: V3) -> float:
        return set_end(name, angle_about(limit.axis, Y_AXIS, point), limit.angle_min, limit.angle_max)

    def ik_meaning(self, limit: Any) -> IkMeaning:
        own = _bones_axis(limit)
        if own is None:
            return BESIDE_AN_AXIS
        return IkMeaning(frozenset((own[0], 1)), {own[0]: own[1], **_ik_twist(limit)})

    def mirrored(self, limit: Any, turn: Q4) -> Limit | None:
        return Planar(rotated(turn, limit.axis), limit.angle_min, limit.angle_max, mirrored_twist(limit))


class LockedType(LimitType):
    """A joint that keeps the rotation of the start pose."""

    kind, number, label, description = "LOCKED", 4, "Locked", "The bone keeps the rotation of the start pose"
    classes, stiffens, turns = (Locked,), False, False

    def make(self, view: Any, start: Q4) -> Limit:
        return Locked(start)

    def settings_of(self, limit: Any) -> dict[str, Any]:
        return {}

    def outline(self, limit: Any) -> Outline:
        return Outline(((ORIGIN, rotated(limit.rotation, Y_AXIS)),))

    def ik_meaning(self, limit: Any) -> IkMeaning:
        return IkMeaning(frozenset(), {})

    def mirrored(self, limit: Any, turn: Q4) -> Limit | None:
        return Locked(mirrored_rotation(turn, limit.rotation))

    def narrowed(self, limit: Any, locks: Limit) -> Limit | None:
        return Locked(locks.clamped(limit.rotation))


class BoneIkType(LimitType):
    """The bone's settings for Blender's IK, read as Blender's solver reads them: a limit of another type comes out."""

    kind, number, label = "BONE_IK", 5, "Bone's IK Limits"
    description = "Uses the bone's own IK locks and limits, interpreted as Blender does"
    stiffens, is_of_blender = False, True

    def make(self, view: Any, start: Q4) -> Limit:
        """The limit that the number of free axes means to Blender.

        None is locked, one a hinge about it, X and Z a swing without twist, one of them with Y a hinge that twists, and
        all three a ball joint whose swing is an ellipse.
        """
        free = [i for i in range(3) if not view.ik_locks[i]]
        ranges = [
            FULL_TURN if found is None else checked_range(name, *found)
            for name, found in zip(IK_NAMES, view.ik_ranges, strict=True)
        ]
        twist = None if view.ik_ranges[1] is None else Twist(*ranges[1])
        if not free:
            return Locked(start)
        if len(free) == 1:
            return Hinge(BONES_AXES[free[0]], *ranges[free[0]])
        if 1 not in free:  # Blender's swing joint heeds the limits of X and Z together or not at all
            both = view.ik_ranges[0] is not None and view.ik_ranges[2] is not None
            return _ball_joint(ranges if both else [FULL_TURN] * 3, Twist(0.0, 0.0))
        if len(free) == 2:
            swings = 0 if 0 in free else 2
            return Planar(BONES_AXES[swings], *ranges[swings], twist)
        return _ball_joint(ranges, twist) if any(view.ik_ranges) else FREE


class LocksType(LimitType):
    """Rotation locks that leave more than one channel free, limits of any other class: no setting makes this type."""

    def ik_meaning(self, limit: Any) -> IkMeaning:
        return IkMeaning(ALL_AXES, {}, (Message("LIMIT_OF_LOCKS"),))


TYPES = (
    FreeType(),
    HingeType(),
    ConeType(),
    PlanarType(),
    LockedType(),
    BoneIkType(),
)
LIMITS: dict[str, LimitType] = {found.kind: found for found in TYPES}
OF_LOCKS = LocksType()
BESIDE_AN_AXIS = IkMeaning(ALL_AXES, {}, (Message("LIMIT_OFF_AXIS"),))


def type_of(limit: Limit) -> LimitType:
    """The type that makes limits of a limit's class."""
    return next((found for found in LIMITS.values() if isinstance(limit, found.classes)), OF_LOCKS)


def limit_settings(limit: Limit) -> dict[str, Any]:
    """The bone's settings from which a limit would be made, `limit` (its kind) first."""
    found = type_of(limit)
    return {"limit": found.kind, **found.settings_of(limit)}


def limit_outline(limit: Limit) -> Outline:
    """The shape that is drawn for a limit; empty where every rotation is allowed."""
    own, twist = type_of(limit).outline(limit), _twist(limit)
    if twist is None:
        return own
    curve = arc(scaled(X_AXIS, TWIST_RADIUS), Y_AXIS, *twist)
    return Outline(own.swing, (*own.twist, curve), {**own.ends, **curve_ends("twist_min", "twist_max", curve)})


def setting_at(limit: Limit, name: str, point: V3) -> float:
    """The angle of a setting, one of the outline's ends, that brings that end to the side of a point.

    Args:
        limit: Whose outline it is.
        name: Key of `Outline.ends`.
        point: In the rest frame of the bone, about the joint.

    Raises:
        KeyError: The limit has no such end.
    """
    if name not in limit_outline(limit).ends:
        raise KeyError(name)
    twist = _twist(limit)
    if twist is not None and name in {"twist_min", "twist_max"}:
        return set_end(name, angle_about(Y_AXIS, X_AXIS, point), *twist)
    return type_of(limit).setting_at(limit, name, point)


def twist_of(view: Any) -> Twist | None:
    """The range of twist of a bone's settings, or None where it twists freely."""
    return Twist(*checked_range(Message("TWIST"), view.twist_min, view.twist_max)) if view.use_twist else None


def twist_settings(limit: Any) -> dict[str, Any]:
    """The settings of a limit's range of twist."""
    twist = _twist(limit)
    return {"use_twist": False} if twist is None else {"use_twist": True, "twist_min": twist[0], "twist_max": twist[1]}


def mirrored_twist(limit: Any) -> Twist | None:
    """The range of the mirror images of the twist that a limit allows: a screw becomes one of the other hand."""
    twist = _twist(limit)
    return None if twist is None else Twist(-twist.high, -twist.low)


def mirrored_rotation(turn: Q4, rotation: Q4) -> Q4:
    """The mirror image of a rotation; see `LimitType.mirrored`."""
    return (rotation[0], *rotated(turn, rotation[1:]))


def checked_range(name: Message, low: float, high: float) -> IkRange:
    """The ends of a range of a setting by name, refused by an InvalidValueError where they are none."""
    if not are_finite((low, high)):
        raise InvalidValueError(Message("SETTING_HAS_NO_NUMBER", name=name))
    if low > high:
        raise InvalidValueError(Message("RANGE_ENDS_BEFORE_START", name=name))
    return low, high


def set_end(name: str, angle: float, low: float, high: float) -> float:
    """An end of a range, by its name in "min" or "max", brought to an angle and not beyond the other end.

    Of the angles that mean the same, it is that nearest to where the end stood.
    """
    near = low if name.endswith("min") else high
    angle -= tau * round((angle - near) / tau) if abs(angle - near) > pi else 0.0
    return min(angle, high) if name.endswith("min") else max(angle, low)


def angle_about(axis: Sequence[float], start: V3, end: V3) -> float:
    """The angle about a unit axis from one vector to another, both seen along it; 0 where one lies along the axis."""
    a, b = minus(start, scaled(axis, dot(start, axis))), minus(end, scaled(axis, dot(end, axis)))
    if length(a) <= ALONG_AXIS * length(start) or length(b) <= ALONG_AXIS * length(end):
        return 0.0
    return atan2(dot(axis, cross(a, b)), dot(a, b))


def arc(point: V3, axis: Sequence[float], low: float, high: float) -> Curve:
    """A point turned about a unit axis from one angle to another, by a few degrees at a time."""
    count = int((high - low) / OUTLINE_STEP) + 1
    halves = (0.5 * (low + (high - low) * k / count) for k in range(count + 1))
    return tuple(rotated((cos(half), *scaled(axis, sin(half))), point) for half in halves)


def curve_ends(least: str, greatest: str, curve: Curve) -> dict[str, V3]:
    """Both ends of a curve by the names of the settings that they show."""
    return {least: curve[0], greatest: curve[-1]}


def _twist(limit: Any) -> Twist | None:
    """The range of a limit's twist, or None."""
    return getattr(limit, "twist", None)


def _ik_twist(limit: Any) -> dict[int, IkRange]:
    """A range of twist as one of the bone's Y, for Blender's own IK."""
    twist = _twist(limit)
    return {} if twist is None else {1: (twist.low, twist.high)}


def _turns_itself(hinge: Hinge) -> bool:
    """Whether a hinge turns the bone about itself."""
    return length(cross(hinge.axis, rotated(hinge.zero, Y_AXIS))) < ALONG_THE_BONE


def _bones_axis(limit: Any) -> tuple[int, IkRange] | None:
    """The axis of the bone along that of a limit, and its range about it; None where it is along none."""
    sizes = [abs(value) for value in limit.axis]
    index = sizes.index(max(sizes))
    if any(size > BESIDE for i, size in enumerate(sizes) if i != index):
        return None
    low, high = limit.angle_min, limit.angle_max
    return index, ((low, high) if limit.axis[index] > 0.0 else (-high, -low))


def _ball_joint(ranges: Sequence[IkRange], twist: Twist | None) -> Limit:
    x, z = ranges[0], ranges[2]
    return Cone(0.0, max(-x[0], 0.0), max(x[1], 0.0), max(-z[0], 0.0), max(z[1], 0.0), twist)


def _cone_edge(x_low: float, x_high: float, z_low: float, z_high: float) -> Curve:
    """The edge of a cone: on the equal-area map of the sphere, an ellipse with a half axis of its own on each side."""
    left, right, back, front = (sin(0.5 * min(angle, pi)) for angle in (x_low, x_high, z_low, z_high))
    points = []
    for k in range(4 * CONE_OUTLINE_QUARTER + 1):
        x, z = (wave(tau * k / (4 * CONE_OUTLINE_QUARTER)) for wave in (cos, sin))
        x, z = x * (right if x >= 0.0 else left), z * (front if z >= 0.0 else back)
        square = min(x * x + z * z, 1.0)
        up = 2.0 * sqrt(1.0 - square)
        points.append(unit((-z * up, 1.0 - 2.0 * square, x * up)))
    return tuple(points)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The joint limit of a pose bone, and its mass, as they are stored; flat on `PoseBone`, as `properties` says why."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import pi, radians
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty

from ..errors import FabrikError
from ..kernel import LIMITS, LimitType
from .body_properties import MASS
from .chain_bones import resolve_bones
from .changes import announce
from .properties import rig_of
from .stored import OVERRIDE

LIMIT_ITEMS = tuple((kind, found.label, found.description, found.number) for kind, found in LIMITS.items())


def _change(bone: bpy.types.PoseBone, context: bpy.types.Context) -> None:
    """What the last solve found does not hold for chains of a bone with another limit."""
    announce(bone, context)
    owner = bone.id_data
    assert isinstance(owner, bpy.types.Object)
    for chain in rig_of(owner).chains:
        with suppress(FabrikError):
            if chain.status != "NONE" and bone in resolve_bones(owner, chain):
                chain.status = "NONE"


def _stored(make: Any, name: str, description: str, **options: Any) -> Any:
    """A stored property; the stubs say that Blender's property functions return nothing."""
    return make(name=name, description=description, override=OVERRIDE, update=_change, **options)


def _angle(name: str, description: str, default: float, ends: tuple[float, float]) -> Any:
    """A stored angle in radians, shown in degrees."""
    return _stored(FloatProperty, name, description, subtype="ANGLE", default=default, min=ends[0], max=ends[1])


TURNS, HALF, DOWN, UP = (-2 * pi, 2 * pi), (-pi, pi), (-pi, 0.0), (0.0, pi)
LIMIT_PROPERTIES: dict[str, Any] = {
    "limit": _stored(EnumProperty, "Limit", "How the bone may turn when a chain is solved", items=LIMIT_ITEMS),
    "axis": _stored(
        FloatVectorProperty,
        "Axis",
        "Axis of the hinge in the rest frame of the bone: Y runs along the bone",
        size=3,
        subtype="XYZ",
        default=(1.0, 0.0, 0.0),
        soft_min=-1.0,
        soft_max=1.0,
    ),
    "angle_min": _angle("Min", "Least angle about the axis, from the rest pose", -pi, TURNS),
    "angle_max": _angle("Max", "Greatest angle about the axis, from the rest pose", pi, TURNS),
    "use_ellipse": _stored(BoolProperty, "Ellipse", "Give the cone an angle of its own on each of four sides"),
    "cone_min": _angle("Min", "Least angle from the rest direction", 0.0, UP),
    "cone_max": _angle("Max", "Greatest angle from the rest direction", radians(45), UP),
    "cone_x_min": _angle("X Min", "Greatest negative turn about the bone's X axis", radians(-45), DOWN),
    "cone_x_max": _angle("X Max", "Greatest positive turn about the bone's X axis", radians(45), UP),
    "cone_z_min": _angle("Z Min", "Greatest negative turn about the bone's Z axis", radians(-45), DOWN),
    "cone_z_max": _angle("Z Max", "Greatest positive turn about the bone's Z axis", radians(45), UP),
    "use_twist": _stored(BoolProperty, "Limit Twist", "Limit the turn of the bone about itself"),
    "twist_min": _angle("Twist Min", "Least turn of the bone about itself", radians(-45), HALF),
    "twist_max": _angle("Twist Max", "Greatest turn of the bone about itself", radians(45), HALF),
    "stiffness": _stored(
        FloatProperty,
        "Stiffness",
        "How much less than the others the joint turns; it distributes the bend and never prevents reaching",
        subtype="FACTOR",
        min=0.0,
        max=1.0,
    ),
}
BONE_PROPERTIES: dict[str, Any] = {**LIMIT_PROPERTIES, "mass": MASS}


class LimitView:
    """`PoseBone.fabrik`: the joint limit of a bone, and its mass.

    Each attribute stands for the property of `PoseBone` with `fabrik_` before its name.
    """

    __slots__ = ("_owner",)

    if TYPE_CHECKING:
        limit: str
        axis: Any
        angle_min: float
        angle_max: float
        use_ellipse: bool
        cone_min: float
        cone_max: float
        cone_x_min: float
        cone_x_max: float
        cone_z_min: float
        cone_z_max: float
        use_twist: bool
        twist_min: float
        twist_max: float
        stiffness: float
        mass: float

    def __init__(self, owner: bpy.types.PoseBone) -> None:
        object.__setattr__(self, "_owner", owner)

    def __getattr__(self, name: str) -> Any:
        if name not in BONE_PROPERTIES:
            raise AttributeError(f"a bone's limit has no '{name}'; it has {', '.join(BONE_PROPERTIES)}")
        return getattr(self._owner, f"fabrik_{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in BONE_PROPERTIES:
            raise AttributeError(f"a bone's limit has no '{name}'; it has {', '.join(BONE_PROPERTIES)}")
        setattr(self._owner, f"fabrik_{name}", value)

    @property
    def type(self) -> LimitType:
        """What is known of limits of its type."""
        return LIMITS[self.limit]

    @property
    def ik_locks(self) -> Sequence[bool]:
        """The bone's locks of X, Y and Z for Blender's own IK."""
        bone = self._owner
        return (bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z)

    @property
    def ik_ranges(self) -> Sequence[tuple[float, float] | None]:
        """The bone's limits about X, Y and Z for Blender's own IK, None where there is none."""
        bone = self._owner
        return (
            (bone.ik_min_x, bone.ik_max_x) if bone.use_ik_limit_x else None,
            (bone.ik_min_y, bone.ik_max_y) if bone.use_ik_limit_y else None,
            (bone.ik_min_z, bone.ik_max_z) if bone.use_ik_limit_z else None,
        )

    @property
    def ik_stiffness(self) -> float:
        """The bone's stiffness for Blender's own IK, the mean of its three axes."""
        bone = self._owner
        return float(bone.ik_stiffness_x + bone.ik_stiffness_y + bone.ik_stiffness_z) / 3.0


def limit_of(bone: bpy.types.PoseBone) -> LimitView:
    """The joint limit of a pose bone."""
    return LimitView(bone)


def register() -> None:
    """Register the stored properties and their view."""
    bone: Any = bpy.types.PoseBone
    for name, definition in BONE_PROPERTIES.items():
        setattr(bone, f"fabrik_{name}", definition)
    bone.fabrik = property(limit_of)


def unregister() -> None:
    """Take away all that `register` set; what is stored in files stays in them."""
    bone: Any = bpy.types.PoseBone
    for name in BONE_PROPERTIES:
        delattr(bone, f"fabrik_{name}")
    del bone.fabrik

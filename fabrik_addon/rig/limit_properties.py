# SPDX-License-Identifier: GPL-3.0-or-later
"""The joint limit of a pose bone, and its mass, as they are stored; flat on `PoseBone`, as `properties` says why."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import radians
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty

from ..errors import FabrikError
from ..kernel import LIMITS, LimitType, Setting
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


def _property(setting: Setting) -> Any:
    """The stored property of a setting: a switch, a vector, or an angle in radians that is shown in degrees."""
    name, description, default = setting.label, setting.description, setting.default
    if setting.is_switch:
        return _stored(BoolProperty, name, description, default=default)
    if setting.is_vector:
        ends = {"soft_min": -1.0, "soft_max": 1.0}
        return _stored(FloatVectorProperty, name, description, size=3, subtype="XYZ", default=default, **ends)
    ends = {"min": setting.low, "max": setting.high}
    return _stored(FloatProperty, name, description, subtype="ANGLE", default=default, **ends)


TWIST_SETTINGS = (
    Setting("use_twist", "Limit Twist", "Limit the turn of the bone about itself", False),
    Setting("twist_min", "Twist Min", "Least turn of the bone about itself", radians(-45)),
    Setting("twist_max", "Twist Max", "Greatest turn of the bone about itself", radians(45)),
)
SETTINGS = (*(setting for found in LIMITS.values() for setting in found.settings), *TWIST_SETTINGS)
LIMIT_PROPERTIES: dict[str, Any] = {
    "limit": _stored(EnumProperty, "Limit", "How the bone may turn when a chain is solved", items=LIMIT_ITEMS),
    **{setting.name: _property(setting) for setting in SETTINGS},
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

    Each attribute stands for the property of `PoseBone` with `fabrik_` before its name. The types of those listed here
    are known to type checkers; another one is of any.
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

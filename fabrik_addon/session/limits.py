# SPDX-License-Identifier: GPL-3.0-or-later
"""Give joint limits to bones: from another bone, mirrored to the other side, or from a table of human joints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import radians
from typing import Any

import bpy

from ..errors import BoneError
from ..rig.limit_properties import LIMIT_PROPERTIES, limit_of

SOURCE = "American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording, 1965"


@dataclass(frozen=True, slots=True)
class HumanJoint:
    """The range of a human joint.

    Attributes:
        label: Its name.
        settings: Values of the limit's properties, angles in degrees; a positive turn about X is flexion.
    """

    label: str
    settings: dict[str, Any] = field(default_factory=dict)


def _hinge(low: float, high: float) -> dict[str, Any]:
    return {"limit": "HINGE", "axis": (1.0, 0.0, 0.0), "angle_min": low, "angle_max": high}


def _ball(x: tuple[float, float], z: tuple[float, float], twist: tuple[float, float]) -> dict[str, Any]:
    ends = {"cone_x_min": x[0], "cone_x_max": x[1], "cone_z_min": z[0], "cone_z_max": z[1]}
    ends |= {"twist_min": twist[0], "twist_max": twist[1]}
    return {"limit": "CONE", "use_ellipse": True, "use_twist": True, **ends}


HUMAN_JOINTS = {
    "KNEE": HumanJoint("Knee", _hinge(0, 135)),
    "ELBOW": HumanJoint("Elbow", _hinge(0, 150)),
    "SHOULDER": HumanJoint("Shoulder", _ball((-60, 180), (-75, 180), (-90, 70))),
    "HIP": HumanJoint("Hip", _ball((-120, 30), (-30, 45), (-45, 45))),
    "WRIST": HumanJoint("Wrist", _ball((-70, 80), (-20, 30), (0, 0))),
    "ANKLE": HumanJoint("Ankle", _hinge(-20, 50)),
    "FINGER": HumanJoint("Finger", _hinge(0, 90)),
    "SPINE": HumanJoint("Spine", _ball((-10, 25), (-12, 12), (-15, 15))),
}


def copy_limit(source: bpy.types.PoseBone, targets: Iterable[bpy.types.PoseBone]) -> int:
    """Give the limit of one bone to others; returns how many were changed."""
    values = {name: _value(source, name) for name in LIMIT_PROPERTIES}
    others = [bone for bone in targets if bone != source]
    for bone in others:
        _set(bone, values)
    return len(others)


def mirror_limit(bone: bpy.types.PoseBone, owner: bpy.types.Object) -> bpy.types.PoseBone:
    """Give the limit of a bone to the bone of the other side, mirrored as Blender pastes a flipped pose.

    Turns about X stay as they are, those about Y and Z change their sign.

    Raises:
        BoneError: By Blender's naming there is no bone of the other side.
    """
    other = owner.pose.bones.get(bpy.utils.flip_name(bone.name)) if owner.pose else None
    if other is None or other == bone:
        raise BoneError("there is no bone of the other side", rig=owner.name, bone=bone.name)
    values = {name: _value(bone, name) for name in LIMIT_PROPERTIES}
    x, y, z = values["axis"]
    values["axis"] = (x, -y, -z)
    for name in ("cone_z", "twist"):
        low, high = values[f"{name}_min"], values[f"{name}_max"]
        values[f"{name}_min"], values[f"{name}_max"] = -high, -low
    _set(other, values)
    return other


def apply_human_joint(bones: Iterable[bpy.types.PoseBone], joint: HumanJoint, flip: bool) -> None:
    """Give bones the range of a human joint.

    Args:
        bones: Whose X axis is the axis of flexion.
        joint: One of `HUMAN_JOINTS`.
        flip: For bones that bend about -X.
    """
    values = dict(joint.settings)
    for name, value in joint.settings.items():
        if name.endswith(("_min", "_max")):
            values[name] = radians(value)
    if flip:
        for name in ("angle", "cone_x"):
            if f"{name}_min" in values:
                values[f"{name}_min"], values[f"{name}_max"] = -values[f"{name}_max"], -values[f"{name}_min"]
    for bone in bones:
        _set(bone, values)


def _value(bone: bpy.types.PoseBone, name: str) -> Any:
    value = getattr(limit_of(bone), name)
    return tuple(value) if name == "axis" else value


def _set(bone: bpy.types.PoseBone, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(limit_of(bone), name, value)

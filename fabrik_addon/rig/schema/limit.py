# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of a bone, flat on `PoseBone`: its joint limit, its stiffness and its mass."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from math import pi, radians
from typing import Any

import bpy

from ...errors import FabrikError
from ...motion.contacts import FLAT, HEEL, NONE, TOE
from ..bones import resolve_bones
from ..limit_types import LIMITS, LimitType, Setting
from .chain import chains_of, forget_statuses
from .fields import HIDDEN, NO_OTHERS, View, angle, announce, choice, real, share, switch, vector, whole

CONTACT_ITEMS = (
    ("NONE", "None", "It is in the air", NONE),
    ("HEEL", "Heel", "It stands on its heel", HEEL),
    ("TOE", "Toes", "It stands on its toes or fingers", TOE),
    ("FLAT", "Flat", "It is flat on the ground", FLAT),
)
IK_AXES = "xyz"  # at the ends of the names of a bone's settings for Blender's own IK
LIMIT_ITEMS = tuple((kind, found.label, found.description, found.number) for kind, found in LIMITS.items())


def _change(bone: bpy.types.PoseBone, context: bpy.types.Context) -> None:
    """What the last solve found does not hold for chains of a bone with another limit."""
    announce(bone, context)
    owner = bone.id_data
    assert isinstance(owner, bpy.types.Object)
    for chain in chains_of(owner):
        with suppress(FabrikError):
            if chain.status != "NONE" and bone in resolve_bones(owner, chain):
                chain.status = "NONE"


def _field(setting: Setting) -> Any:
    """What is stored of a setting: a switch, a vector, or an angle in radians that is shown in degrees."""
    told, default = (setting.label, setting.description), setting.default
    if setting.is_switch:
        return switch(*told, default=default)
    if setting.is_vector:
        return vector(*told, default=default, size=3, subtype="XYZ", soft_min=-1.0, soft_max=1.0)
    return angle(*told, default=default, min=setting.low, max=setting.high)


class LimitView(View[bpy.types.PoseBone], update=_change):
    """`PoseBone.fabrik`: the joint limit of a bone, and its mass.

    Each attribute stands for the property of `PoseBone` with `fabrik_` before its name. Besides those listed here it
    has the settings of all types of limits.
    """

    __slots__ = NO_OTHERS

    limit = choice(LIMIT_ITEMS, "Limit", "How the bone may turn when a chain is solved")
    locals().update({setting.name: _field(setting) for found in LIMITS.values() for setting in found.settings})
    use_twist = switch("Limit Twist", "Limit the turn of the bone about itself")
    twist_min = angle("Twist Min", "Least turn of the bone about itself", min=-pi, max=pi, default=radians(-45))
    twist_max = angle("Twist Max", "Greatest turn of the bone about itself", min=-pi, max=pi, default=radians(45))
    stiffness = share(
        "Stiffness",
        "How much less than the others the joint turns; it distributes the bend and never prevents reaching",
    )
    of_limb = switch(
        "Of the Limb",
        "The bone is of the limb that hangs on it, as a clavicle is: between body bone and limb its own stiffness "
        "counts, and Spine does not",
    )
    mass = real(
        "Mass",
        "Share of the body's mass that the bone carries; 0: by its length",
        min=0.0,
        soft_max=1.0,
        precision=4,
        update=forget_statuses,
    )
    contact = choice(CONTACT_ITEMS, "Contact", "What of the foot or hand is on the ground, from a key to the next")
    contact_ground = whole("Ground of Contact", min=0, options=HIDDEN)  # 0: the world; else as in `RigView.grounds`
    contact_place = vector("Place of Contact", size=3, options=HIDDEN)  # of the effector, in the axes of the ground
    contact_turn = vector("Rotation of Contact", size=4, options=HIDDEN)  # of the foot; zeros: where the motion has it

    is_place_locked = switch(options=HIDDEN)  # whether the locks of its location were set here
    drawn_size = vector(size=3, options=HIDDEN)  # of the shape by which the bone was drawn before it got one here

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a bone's limit has no '{name}'; it has {', '.join(LimitView.fields)}")

    def __setattr__(self, name: str, value: object) -> None:
        if not hasattr(LimitView, name):
            getattr(self, name)  # which says what there is
        super().__setattr__(name, value)

    @property
    def type(self) -> LimitType:
        """What is known of limits of its type."""
        return LIMITS[self.limit]

    @property
    def ik_locks(self) -> Sequence[bool]:
        """The bone's locks of X, Y and Z for Blender's own IK."""
        return [getattr(self.owner, f"lock_ik_{axis}") for axis in IK_AXES]

    @property
    def ik_ranges(self) -> Sequence[tuple[float, float] | None]:
        """The bone's limits about X, Y and Z for Blender's own IK, None where there is none."""
        ends = [(getattr(self.owner, f"ik_min_{axis}"), getattr(self.owner, f"ik_max_{axis}")) for axis in IK_AXES]
        are_set = [getattr(self.owner, f"use_ik_limit_{axis}") for axis in IK_AXES]
        return [both if is_set else None for both, is_set in zip(ends, are_set, strict=True)]

    @property
    def ik_stiffness(self) -> float:
        """The bone's stiffness for Blender's own IK, the mean of its three axes."""
        return float(sum([getattr(self.owner, f"ik_stiffness_{axis}") for axis in IK_AXES])) / 3.0


CONTACT = "fabrik_contact"  # with which the paths of all that tells of contacts begin, after those of their bones
BONE_SETTINGS: Sequence[str] = tuple(LimitView.fields)
LIMIT_SETTINGS: Sequence[str] = tuple(
    name
    for name in BONE_SETTINGS
    if not name.startswith("contact") and name not in {"mass", "drawn_size", "is_place_locked"}
)


limit_of = LimitView  # the joint limit of a pose bone


def girdle_of(root: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones above a limb that are of it as well (`of_limb`), as a clavicle is, the nearest to its root first."""
    return [*takewhile(lambda bone: limit_of(bone).of_limb, root.parent_recursive)]


def carrier_of_limb(root: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The bone that carries a limb, the chest for an arm, the hips for a leg; None for the armature."""
    return [root, *girdle_of(root)][-1].parent

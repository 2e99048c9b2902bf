# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of a walker, flat on `Object`: how it walks, its legs, and the walk that was planned."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import bpy

from ...errors import InvalidValueError
from ...gait.gaits import CLIP, GAITS
from ...gait.plan import from_text, to_text
from ...gait.settings import RANGES, TOLD, Gravity, Settings, Swing
from ...translations import CONTEXT
from .fields import (
    HIDDEN,
    NO_OTHERS,
    View,
    announce,
    choice,
    group,
    items,
    pointer,
    real,
    rotation,
    switch,
    text,
    vector,
    whole,
)

PREFIX = "fabrik_walker_"
USUAL = Settings()

GAIT_ITEMS = tuple((gait.name, gait.label, gait.description, gait.number) for gait in GAITS)
GAIT_LABELS = {gait.name: gait.label for gait in GAITS}
SWING_ITEMS = (
    (Swing.SMOOTH.value, "Smooth", "The foot lifts and lands at rest, with the least jerk"),
    (Swing.SINE.value, "Sine", "The foot moves along a sine arc, as in games"),
)
GRAVITY_ITEMS = (
    (Gravity.DOWN.value, "Down", "Down is the world's -Z"),
    (Gravity.SURFACE.value, "Surface", "Down is the body's own: it walks on walls and ceilings, too"),
)


def gait_number(name: str, label: str, **options: Any) -> float:
    """A number of `gait.Settings`, which says its range, default and tooltip; how Blender is to show it."""
    low, high = RANGES[name]
    options |= {"subtype": "FACTOR"} if high == 1.0 else {}
    return real(label, TOLD[name], min=low, max=high, default=getattr(USUAL, name), **options)


@group(announce)
class FabrikWalkLeg(bpy.types.PropertyGroup):
    """A leg of a walker; the group's `name` is its chain's."""

    offset = real(
        "Offset", "Share of the cycle by which the leg is ahead, for the gait with your own offsets", min=0.0, max=1.0
    )
    group = whole("Group", "Legs with the same group number step together when the body is moved by hand", min=0)
    home = vector(
        "Home",
        "How far from where it stands in the rest pose the foot is at home: to the left, backwards, up, in scene units",
        size=3,
        subtype="TRANSLATION",
        translation_context=CONTEXT,  # Blender has a key for it
    )


class WalkerView(View[bpy.types.Object], prefix=PREFIX, update=announce):
    """`Object.fabrik.walker`: how an armature object walks; the names are those of `gait.Settings`, and a few more."""

    __slots__ = NO_OTHERS

    on = switch("Follow Planned Walk", "Legs and body go as the walk was planned, in place of their goals")
    plans_when_idle = switch(options=HIDDEN, update=None)  # of files of version 1.0.0; nothing heeds it any more
    gait = choice(
        GAIT_ITEMS, "Gait", "In which order and rhythm the feet step", default=USUAL.gait, translation_context=CONTEXT
    )
    clip = pointer(
        bpy.types.Action,
        "Clip",
        "The action by which it walks, for the gait of its own clip: one cycle, on the spot or ahead",
    )
    fast_clip = pointer(
        bpy.types.Action,
        "Fast Clip",
        "A second action of it, as a run beside its walk: the faster it goes, the more it goes by that of the two "
        "which is faster",
    )
    duty = gait_number("duty", "Duty")
    step_height = gait_number("step_height", "Step Height")
    stride_scale = gait_number("stride_scale", "Stride")
    step_trigger = gait_number("step_trigger", "Step Trigger")
    swing_curve = choice(SWING_ITEMS, "Swing Curve", "How a foot moves through the air", default=USUAL.swing_curve)
    body_height = gait_number("body_height", "Body Height")
    body_carry = gait_number("body_carry", "Body Carry")
    body_tilt = gait_number("body_tilt", "Body Tilt")
    body_sway = gait_number("body_sway", "Body Sway")
    foot_tilt = gait_number("foot_tilt", "Foot Tilt")
    heel_toe = gait_number("heel_toe", "Heel and Toe")
    prediction = gait_number("prediction", "Prediction")
    clearance = gait_number("clearance", "Clearance")
    slope_max = gait_number("slope_max", "Steepest Slope", subtype="ANGLE")
    gravity = choice(
        GRAVITY_ITEMS, "Gravity Direction", "Whither the body and its feet are drawn", default=USUAL.gravity
    )
    acceleration = gait_number("acceleration", "Gravity", unit="ACCELERATION", precision=3)
    energy = gait_number("energy", "Energy")
    step_width = gait_number("step_width", "Step Width")
    arm_swing = gait_number("arm_swing", "Arm Swing")
    bounce = gait_number("bounce", "Bounce")
    pace = gait_number("pace", "Speed")
    lean = gait_number("lean", "Lean", subtype="ANGLE")
    ground_height = real(
        "Ground Height", "Z in the world of the level ground where there is no terrain", subtype="DISTANCE"
    )
    body = text("Body", "Name of the chain that is the body")
    plan = text("Planned Walk", "The steps, as text", options=HIDDEN, update=None)
    digest = text("Digest", "Of the planned walk", options=HIDDEN)
    posture = text("Posture", "Which bones the planned walk keyed, and how", options=HIDDEN, update=None)
    edited = text("Edited", "Chains whose controls edited the walk until it was led", options=HIDDEN, update=None)
    inputs = text("Inputs", "Of what the walk was planned from", options=HIDDEN, update=None)
    terrain = pointer(
        bpy.types.Collection,
        "Terrain",
        "What is walked on; without one all visible meshes but the character's own, or where there is none, level "
        "ground",
    )
    legs = items(FabrikWalkLeg)
    upright = rotation(
        "Upright",
        "From the armature's axes to those in which the creature looks along -Y and stands along Z",
        options=HIDDEN,
        update=None,
    )

    @property
    def clips(self) -> list[bpy.types.Action]:
        """The actions by which it walks, if its gait is read from them."""
        return [one for one in (self.clip, self.fast_clip) if one is not None] if self.gait == CLIP else []

    @property
    def settings(self) -> Settings:
        """All that decides how it walks, as it is set now; single precision may be out of a range by its last digit."""
        found: dict[str, Any] = {field: getattr(self.owner, PREFIX + field) for field in Settings.__dataclass_fields__}
        found |= {field: min(max(found[field], low), high) for field, (low, high) in RANGES.items()}
        return Settings(**found)

    def follow_chain_name(self, old: str, new: str) -> None:
        """Know a chain by its new name: a leg or the body, and in the walk that is planned."""
        if self.body == old:
            self.body = new
        leg = self.legs.get(old)
        if leg is None:
            return
        leg.name = new
        try:
            plan = from_text(self.plan) if self.digest else None
        except InvalidValueError:  # told as it is where the walk is to be played
            return
        if plan is not None:
            legs = tuple(replace(each, name=new) if each.name == old else each for each in plan.legs)
            digest = sha256(f"{plan.digest} {old}\n{new}".encode()).hexdigest()  # plans are known by it
            self.plan, self.digest = to_text(replace(plan, legs=legs, digest=digest)), digest


walker_of = WalkerView  # how an armature object walks

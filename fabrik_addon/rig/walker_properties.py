# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of a walker: how it walks, its legs, and the walk that was planned; flat on `Object`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..gait import GAITS, RANGES, Gravity, Settings, Swing
from ..translations import CONTEXT
from .changes import announce
from .stored import OVERRIDE, OVERRIDE_COLLECTION, Items, Stored, View

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
UNITS: dict[str, dict[str, Any]] = {  # by the names of the fields: how Blender is to show the number
    "slope_max": {"subtype": "ANGLE"},
    "acceleration": {"unit": "ACCELERATION", "precision": 3},
}
TOLD = {  # by the names of the fields of `gait.Settings`: what the panel calls the numbers, and their tooltips
    "duty": ("Duty", "Share of the cycle in which a foot is on the ground, for the gait with your own offsets"),
    "step_height": ("Step Height", "How far a swinging foot rises, as a share of the leg's reach"),
    "stride_scale": ("Stride", "Factor on the natural stride length for the speed: longer steps are fewer"),
    "step_trigger": (
        "Step Trigger",
        "Drift from home, as a share of the usual stride, at which a foot of a body that stands steps",
    ),
    "body_height": ("Body Height", "Height of the body above its feet; 1: as at rest"),
    "body_carry": ("Body Carry", "How far the ground carries the body; 0: the keyed path's height stays as it is"),
    "body_tilt": ("Body Tilt", "How far the body takes on the tilt of its feet"),
    "body_sway": ("Body Sway", "How far the body shifts to over the standing feet"),
    "foot_tilt": ("Foot Tilt", "How far feet take on the slope of the ground"),
    "heel_toe": ("Heel and Toe", "How far a foot rolls from its heel to its toes"),
    "prediction": ("Prediction", "How far footholds look ahead along the path"),
    "clearance": ("Clearance", "Least distance of a swinging foot from the ground, as a share of the leg's reach"),
    "slope_max": ("Steepest Slope", "The steepest ground to stand on, from what is up"),
    "acceleration": ("Gravity", "Acceleration by gravity: the greater, the longer the stride that belongs to a speed"),
}


class FabrikWalkLeg(bpy.types.PropertyGroup):
    """A leg of a walker; the group's `name` is its chain's."""

    if TYPE_CHECKING:
        name: str
        offset: float
        group: int
        home: Any
    else:
        offset: FloatProperty(
            name="Offset",
            description="Share of the cycle by which the leg is ahead, for the gait with your own offsets",
            min=0.0,
            max=1.0,
            update=announce,
            override=OVERRIDE,
        )
        group: IntProperty(
            name="Group",
            description="Legs with the same group number step together when the body is moved by hand",
            min=0,
            update=announce,
            override=OVERRIDE,
        )
        home: FloatVectorProperty(
            name="Home",
            description="How far from where it stands in the rest pose the foot is at home: to the left, backwards, "
            "up, in scene units",
            size=3,
            subtype="TRANSLATION",
            translation_context=CONTEXT,  # Blender has a key for it
            update=announce,
            override=OVERRIDE,
        )


def _number(field: str, default: float) -> Any:
    name, description = TOLD[field]
    low, high = RANGES[field]
    make: Any = FloatProperty
    shown = UNITS.get(field) or ({"subtype": "FACTOR"} if high == 1.0 else {})
    return make(
        name=name, description=description, min=low, max=high, default=default, update=announce, override=OVERRIDE,
        **shown,
    )  # fmt: skip


def _choice(name: str, description: str, items: Sequence[tuple[Any, ...]], default: str, **others: str) -> Any:
    make: Any = EnumProperty
    return make(
        name=name, description=description, items=items, default=default, update=announce, override=OVERRIDE, **others
    )  # fmt: skip


_text: Any = StringProperty
_float: Any = FloatProperty
_switch: Any = BoolProperty
_vector: Any = FloatVectorProperty
_pointer: Any = PointerProperty
WALKER_PROPERTIES: dict[str, Any] = {
    "on": _switch(
        name="Follow Planned Walk",
        description="Legs and body go as the walk was planned, in place of their goals",
        update=announce,
        override=OVERRIDE,
    ),
    "plans_when_idle": _switch(
        name="Plan When Idle",
        description="Plan the walk anew by itself, a little at a time, when its path, legs or settings have changed "
        "and nothing else goes on",
        override=OVERRIDE,
    ),
    "gait": _choice(
        "Gait", "In which order and rhythm the feet step", GAIT_ITEMS, USUAL.gait, translation_context=CONTEXT
    ),
    "swing_curve": _choice("Swing Curve", "How a foot moves through the air", SWING_ITEMS, USUAL.swing_curve),
    "gravity": _choice("Gravity Direction", "Whither the body and its feet are drawn", GRAVITY_ITEMS, USUAL.gravity),
    **{field: _number(field, getattr(USUAL, field)) for field in TOLD},
    "terrain": _pointer(
        name="Terrain",
        type=bpy.types.Collection,
        description="What is walked on; without one all visible meshes but the character's own, or where there is "
        "none, level ground",
        update=announce,
        override=OVERRIDE,
    ),
    "ground_height": _float(
        name="Ground Height",
        description="Z in the world of the level ground where there is no terrain",
        subtype="DISTANCE",
        update=announce,
        override=OVERRIDE,
    ),
    "body": _text(name="Body", description="Name of the chain that is the body", update=announce, override=OVERRIDE),
    "upright": _vector(
        name="Upright",
        description="From the armature's axes to those in which the creature looks along -Y and stands along Z",
        size=4,
        subtype="QUATERNION",
        default=(1.0, 0.0, 0.0, 0.0),
        options={"HIDDEN"},
        override=OVERRIDE,
    ),
    "plan": _text(name="Planned Walk", description="The steps, as text", options={"HIDDEN"}, override=OVERRIDE),
    "digest": _text(
        name="Digest", description="Of the planned walk", options={"HIDDEN"}, update=announce, override=OVERRIDE
    ),
    "inputs": _text(
        name="Inputs", description="Of what the walk was planned from", options={"HIDDEN"}, override=OVERRIDE
    ),
}


class WalkerView(View):
    """`Object.fabrik.walker`: how an armature object walks; the names are those of `gait.Settings`, and a few more."""

    __slots__ = ()
    prefix = PREFIX

    on = Stored[bool]()
    plans_when_idle = Stored[bool]()
    gait = Stored[str]()
    duty = Stored[float]()
    step_height = Stored[float]()
    stride_scale = Stored[float]()
    step_trigger = Stored[float]()
    swing_curve = Stored[str]()
    body_height = Stored[float]()
    body_carry = Stored[float]()
    body_tilt = Stored[float]()
    body_sway = Stored[float]()
    foot_tilt = Stored[float]()
    heel_toe = Stored[float]()
    prediction = Stored[float]()
    clearance = Stored[float]()
    slope_max = Stored[float]()
    gravity = Stored[str]()
    acceleration = Stored[float]()
    ground_height = Stored[float]()
    body = Stored[str]()
    plan = Stored[str]()
    digest = Stored[str]()
    inputs = Stored[str]()
    terrain = Stored["bpy.types.Collection | None"]()
    legs = Stored[Items[FabrikWalkLeg]]()
    upright = Stored[Any]()

    @property
    def settings(self) -> Settings:
        """All that decides how it walks, as it is set now; single precision may be out of a range by its last digit."""
        found: dict[str, Any] = {field: getattr(self.owner, PREFIX + field) for field in Settings.__dataclass_fields__}
        found |= {field: min(max(found[field], low), high) for field, (low, high) in RANGES.items()}
        return Settings(**found)


def walker_of(owner: bpy.types.Object) -> WalkerView:
    """How an armature object walks."""
    return WalkerView(owner)


def register() -> None:
    """Register the group and the stored properties."""
    bpy.utils.register_class(FabrikWalkLeg)
    stored: Any = bpy.types.Object
    for name, definition in WALKER_PROPERTIES.items():
        setattr(stored, PREFIX + name, definition)
    collection: Any = CollectionProperty
    stored.fabrik_walker_legs = collection(type=FabrikWalkLeg, override=OVERRIDE_COLLECTION)


def unregister() -> None:
    """Take away all that `register` set; what is stored in files stays in them."""
    stored: Any = bpy.types.Object
    del stored.fabrik_walker_legs
    for name in WALKER_PROPERTIES:
        delattr(stored, PREFIX + name)
    bpy.utils.unregister_class(FabrikWalkLeg)

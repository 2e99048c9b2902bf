# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of a body whose chains are solved together; flat on `Object`, as `properties` says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty, FloatProperty, FloatVectorProperty, StringProperty

from .changes import SwitchedOn, announce
from .stored import OVERRIDE, OVERRIDE_COLLECTION, Items, Stored, View

NO_ROTATION = (1.0, 0.0, 0.0, 0.0)
DEFAULT_SPINE = 0.5
DEFAULT_FALLOFF = 0.5  # with which a body jumps least when a drag goes out of reach


class FabrikCapturedBone(bpy.types.PropertyGroup):
    """How a bone of the body that is of no chain stands in the start pose; the group's `name` is the bone's."""

    if TYPE_CHECKING:
        name: str
        rotation: Any
        location: Any
    else:
        rotation: FloatVectorProperty(
            name="Rotation", size=4, subtype="QUATERNION", default=NO_ROTATION, override=OVERRIDE
        )
        location: FloatVectorProperty(name="Location", size=3, subtype="TRANSLATION", override=OVERRIDE)


def forget_statuses(thing: bpy.types.Object | bpy.types.PoseBone, context: bpy.types.Context) -> None:
    """Update callback: clear the statuses of an armature's chains, which were found with other settings of the body."""
    announce(thing, context)
    for chain in getattr(thing.id_data, "fabrik_chains"):
        if chain.status != "NONE":
            chain.status = "NONE"


def _set_body(owner: bpy.types.Object, context: bpy.types.Context) -> None:
    """Update callback: clear the statuses, and have the poses of chains kept that stand as their goals want."""
    forget_statuses(owner, context)
    SwitchedOn.tell(owner, [chain for chain in getattr(owner, "fabrik_chains") if chain.enabled])


def _factor(name: str, description: str, default: float = 0.0) -> Any:
    """A stored share; the stubs say that Blender's property functions return nothing."""
    make: Any = FloatProperty
    return make(
        name=name,
        description=description,
        subtype="FACTOR",
        min=0.0,
        max=1.0,
        default=default,
        update=forget_statuses,
        override=OVERRIDE,
    )


_text: Any = StringProperty
_number: Any = FloatProperty
BODY_PROPERTIES: dict[str, Any] = {
    "body_bone": _text(
        name="Body Bone",
        description="Bone that moves and turns with the goals of all chains below it: the hips, a centre of gravity. "
        "Without one the roots stay",
        update=_set_body,
        override=OVERRIDE,
    ),
    "body_stiffness": _factor(
        "Body Stiffness", "How strongly the body bone resists being moved, compared with the limbs"
    ),
    "spine": _factor(
        "Spine", "How freely the bones between body bone and limbs may bend; 0 keeps them fixed", DEFAULT_SPINE
    ),
    "balance": _factor(
        "Balance", "How strongly the centre of mass is kept over the pinned tips, as far as the goals allow"
    ),
    "falloff": _number(
        name="Falloff",
        description="How much less the bones far from a dragged one follow than those near it; used only "
        "while dragging",
        subtype="FACTOR",
        min=0.0,
        max=1.0,
        default=DEFAULT_FALLOFF,
        override=OVERRIDE,
    ),
}
MASS = _number(
    name="Mass",
    description="Share of the body's mass that the bone carries; 0: by its length",
    min=0.0,
    soft_max=1.0,
    precision=4,
    update=forget_statuses,
    override=OVERRIDE,
)


class BodyView(View):
    """The part of `Object.fabrik` that is about the body.

    Attributes:
        body_bone: Name of the bone that moves as the body; "" where the roots stay.
        body_stiffness: How much later than the limbs the body bone gives way, 0 to 1.
        spine: How readily the bones between body bone and chains give way, 0 to 1; 0: they stay.
        balance: How much the centre of mass is kept over the pinned tips, 0 to 1.
        falloff: How much more the bones near a dragged one follow than those far from it, 0 to 1.
        body_captured: Start pose of the body bone and of those between it and the chains, by the bones' names.
    """

    __slots__ = ()

    body_bone = Stored[str]()
    body_stiffness = Stored[float]()
    spine = Stored[float]()
    balance = Stored[float]()
    falloff = Stored[float]()
    body_captured = Stored[Items[FabrikCapturedBone]]()


def register() -> None:
    """Register the group and the stored properties."""
    bpy.utils.register_class(FabrikCapturedBone)
    stored: Any = bpy.types.Object
    for name, definition in BODY_PROPERTIES.items():
        setattr(stored, f"fabrik_{name}", definition)
    collection: Any = CollectionProperty
    stored.fabrik_body_captured = collection(type=FabrikCapturedBone, override=OVERRIDE_COLLECTION)


def unregister() -> None:
    """Take away all that `register` set; what is stored in files stays in them."""
    stored: Any = bpy.types.Object
    del stored.fabrik_body_captured
    for name in BODY_PROPERTIES:
        delattr(stored, f"fabrik_{name}")
    bpy.utils.unregister_class(FabrikCapturedBone)

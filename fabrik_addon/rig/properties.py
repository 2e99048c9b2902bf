# SPDX-License-Identifier: GPL-3.0-or-later
"""The chains of an armature, as they are stored in the file on the armature object.

Storage is flat on `Object` (and, for joint limits, on `PoseBone`), and `Object.fabrik` is a Python view of it. A
property group behind a pointer would read the same, but from Blender 5.0 on an edit of such a group on a library
override is lost on reload where the library file never wrote the group; top-level properties and collections are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .body_properties import BodyView
from .chain_goal_properties import ChainGoal
from .chain_solve_properties import ChainSolving, FabrikCapturedRotation
from .changes import FirstHeld, SwitchedOn, announce
from .leg_names import follow_chain_name
from .solve_properties import FabrikBoneName, LastSolve, forget_status
from .stored import OVERRIDE, OVERRIDE_COLLECTION, Items, Stored
from .walker_properties import WalkerView, walker_of


def owner_of(chain: FabrikChain) -> bpy.types.Object:
    """The armature object that a chain is stored on."""
    owner = chain.id_data
    assert isinstance(owner, bpy.types.Object), "chains are stored on objects"
    return owner


def is_scene_live(scene: bpy.types.Scene | None) -> bool:
    """Whether live armatures follow their goals in a scene."""
    return scene is not None and bool(getattr(scene, "fabrik_live"))


def _set_name(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: make the name unique, and rename the chain wherever it is known by its name."""
    owner = owner_of(chain)
    taken = {other.name for other in rig_of(owner).chains if other != chain}
    if chain.name in taken or not chain.name:
        chain.name = unique_name(chain.name or "Chain", taken)  # which calls this again
    elif chain.known_as != chain.name:
        old, chain.known_as = chain.known_as, chain.name
        if old:
            follow_chain_name(owner, old, chain.name)


def _announce_chain(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: a chain was enabled, so that goals pose it again and no baked keys, or it was disabled."""
    announce(chain, context)
    if chain.enabled:
        if chain.is_baked:
            chain.is_baked = False
        SwitchedOn.tell(owner_of(chain), [chain])


def _announce_live(owner: bpy.types.Object, context: bpy.types.Context) -> None:
    """Update callback: an armature was switched live, or off."""
    announce(owner, context)
    if rig_of(owner).live:
        SwitchedOn.tell(owner, [chain for chain in rig_of(owner).chains if chain.enabled])


def _announce_scene(scene: bpy.types.Scene, context: bpy.types.Context) -> None:
    """Update callback: live posing was switched on or off in a scene."""
    announce(scene, context)
    for owner in scene.objects if is_scene_live(scene) else ():
        if owner.type == "ARMATURE" and rig_of(owner).live:
            _announce_live(owner, context)


def _set_target(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: store the target's name, which tells of it when it is deleted; Blender calls nothing then."""
    chain.target_name = chain.target.name if chain.target else ""
    if chain.pin and chain.target is None:
        FirstHeld.tell(chain, is_elsewhere=True)
    forget_status(chain, context)


def _set_pole(chain: FabrikChain, context: bpy.types.Context) -> None:
    chain.pole_name = chain.pole.name if chain.pole else ""
    forget_status(chain, context)


def unique_name(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, or with the first free number behind it, as Blender names data."""
    names = set(taken)
    if wanted not in names:
        return wanted
    stem, dot, number = wanted.rpartition(".")
    stem = stem if dot and number.isdigit() else wanted
    return next(name for i in range(1, len(names) + 2) if (name := f"{stem}.{i:03d}") not in names)


class FabrikChain(ChainGoal, ChainSolving, LastSolve, bpy.types.PropertyGroup):
    """A chain of bones with its goal, how it is solved, and how the last solve ended."""

    if TYPE_CHECKING:
        name: str
        known_as: str
        enabled: bool
        tip_bone: str
        bone_count: int
        target: bpy.types.Object | None
        target_bone: str
        pole: bpy.types.Object | None
        pole_bone: str
        pole_angle: float
    else:
        name: StringProperty(name="Name", update=_set_name, override=OVERRIDE)
        known_as: StringProperty(options={"HIDDEN"})  # its name, kept to see from which one it is renamed
        enabled: BoolProperty(
            name="Enabled",
            description="Solve this chain with Solve All and while live",
            default=True,
            update=_announce_chain,
            override=OVERRIDE,
        )
        tip_bone: StringProperty(
            name="Tip Bone",
            description="Last bone of the chain; its tail, or its head, is brought to the target",
            update=forget_status,
            override=OVERRIDE,
        )
        bone_count: IntProperty(
            name="Bones",
            description="Number of bones of the chain, counted from the tip; 0 for all up to the root",
            min=0,
            soft_max=20,
            default=0,
            update=forget_status,
            override=OVERRIDE,
        )
        target: PointerProperty(
            type=bpy.types.Object,
            name="Target",
            description="Object that the tip is to reach",
            update=_set_target,
            override=OVERRIDE,
        )
        target_bone: StringProperty(
            name="Target Bone",
            description="Bone of the target armature whose head is reached",
            update=forget_status,
            override=OVERRIDE,
        )
        pole: PointerProperty(
            type=bpy.types.Object,
            name="Pole",
            description="Object towards which the chain bends",
            update=_set_pole,
            override=OVERRIDE,
        )
        pole_bone: StringProperty(
            name="Pole Bone",
            description="Bone of the pole armature towards whose head the chain bends",
            update=forget_status,
            override=OVERRIDE,
        )
        pole_angle: FloatProperty(
            name="Pole Angle",
            description="Turn of the bend away from the pole, about the line from root to tip",
            subtype="ANGLE",
            soft_min=-pi,
            soft_max=pi,
            update=forget_status,
            override=OVERRIDE,
        )


class RigView(BodyView):
    """`Object.fabrik`: the chains of an armature object, its body, and how it walks.

    Attributes:
        chains: The chains, by index or name; `add()` and `remove(index)` change the collection.
        active_index: Index of the chain that the panel shows.
        live: Whether the enabled chains are solved whenever something moves.
        auto_capture: Whether a pose made by hand on a live chain becomes its start pose, where that moves no other
            frame.
        bake_report: What came of the last bake, as JSON; "" where there was none.
    """

    __slots__ = ()

    chains = Stored[Items[FabrikChain]]()
    active_index = Stored[int]()
    live = Stored[bool]()
    auto_capture = Stored[bool]()
    bake_report = Stored[str]()

    @property
    def walker(self) -> WalkerView:
        """How it walks."""
        return walker_of(self.owner)

    @property
    def active(self) -> FabrikChain | None:
        """The chain that the panel shows, or None."""
        chains = self.chains
        return chains[self.active_index] if 0 <= self.active_index < len(chains) else None


def name_all(owner: bpy.types.Object) -> None:
    """Give a name to each chain that a script left without one: chains are told apart by their names."""
    chains = rig_of(owner).chains
    for chain in chains:
        if not chain.name:
            chain.name = unique_name(chain.tip_bone or "Chain", [other.name for other in chains])


def note_names(owner: bpy.types.Object) -> None:
    """Keep by which names the chains are known, where a version of the extension that did not made them."""
    for chain in rig_of(owner).chains:
        if not chain.known_as:
            chain.known_as = chain.name


def rig_of(owner: bpy.types.Object) -> RigView:
    """The chains of an armature object."""
    return RigView(owner)


CLASSES = (FabrikBoneName, FabrikCapturedRotation, FabrikChain)


def register() -> None:
    """Register the groups, the stored properties and the two views."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    stored: Any = bpy.types.Object
    collection: Any = CollectionProperty
    stored.fabrik_chains = collection(type=FabrikChain, override=OVERRIDE_COLLECTION)
    number: Any = IntProperty
    stored.fabrik_active_index = number(name="Active Chain", min=0, options={"HIDDEN"}, override=OVERRIDE)
    switch: Any = BoolProperty
    stored.fabrik_live = switch(
        name="Live",
        description="Solve the enabled chains of this armature whenever a target, a pole or the frame moves. "
        "Chains that stand as their goals want stay so; others go there",
        options=set(),
        update=_announce_live,
        override=OVERRIDE,
    )
    text: Any = StringProperty
    stored.fabrik_bake_report = text(name="Bake Report", options={"HIDDEN"}, override=OVERRIDE)
    stored.fabrik = property(rig_of)
    scene: Any = bpy.types.Scene
    scene.fabrik_live = switch(
        name="Live Posing",
        description="Let all live armatures of this scene follow their targets",
        options=set(),
        default=True,
        update=_announce_scene,
    )


def unregister() -> None:
    """Take away all that `register` set; what is stored in files stays in them."""
    stored: Any = bpy.types.Object
    del stored.fabrik, stored.fabrik_bake_report, stored.fabrik_live, stored.fabrik_active_index, stored.fabrik_chains
    scene: Any = bpy.types.Scene
    del scene.fabrik_live
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)

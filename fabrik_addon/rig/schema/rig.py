# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of an armature object, flat on `Object`: its chains, its body, live posing; and of a scene."""

from __future__ import annotations

import bpy

from .chain import FabrikChain, chains_of, forget_statuses, switch_on, unique_name
from .fields import (
    HIDDEN,
    NO_KEYS,
    NO_OTHERS,
    View,
    announce,
    group,
    items,
    pointer,
    raw,
    real,
    rotation,
    share,
    switch,
    text,
    vector,
    whole,
)
from .walker import WalkerView, walker_of

DEFAULT_SPINE = 0.5
DEFAULT_FALLOFF = 0.5  # with which a body jumps least when a drag goes out of reach


def is_scene_live(scene: bpy.types.Scene | None) -> bool:
    """Whether live armatures follow their goals in a scene."""
    return scene is not None and SceneView(scene).live


def _announce_live(owner: bpy.types.Object, context: bpy.types.Context) -> None:
    """Update callback: an armature was switched live, or off."""
    announce(owner, context)
    if rig_of(owner).live:
        switch_on(owner)


def _announce_scene(scene: bpy.types.Scene, context: bpy.types.Context) -> None:
    """Update callback: live posing was switched on or off in a scene."""
    announce(scene, context)
    for owner in scene.objects if is_scene_live(scene) else ():
        if owner.type == "ARMATURE" and rig_of(owner).live:
            _announce_live(owner, context)


def _set_body(owner: bpy.types.Object, context: bpy.types.Context) -> None:
    """Update callback: clear the statuses, and have the poses of chains kept that stand as their goals want."""
    forget_statuses(owner, context)
    switch_on(owner)


@group()
class FabrikCapturedBone(bpy.types.PropertyGroup):
    """How a bone of the body that is of no chain stands in the start pose; the group's `name` is the bone's."""

    rotation = rotation("Rotation")
    location = vector("Location", size=3, subtype="TRANSLATION")


@group(update=forget_statuses)
class FabrikLayer(bpy.types.PropertyGroup):
    """Edits over motion that are switched together; the group's `name` is the layer's.

    Attributes:
        key: By which controls know the layer, whatever its name and its place.
    """

    enabled = switch("Enabled", "The edits of this layer count", default=True)
    influence = share("Influence", "How much of the edits of this layer counts", default=1.0)
    key = text(options=HIDDEN)


@group()
class FabrikLayerChannels(bpy.types.PropertyGroup):
    """What a control is moved by in a layer that is not the one at hand; the group's `name` is the layer's key.

    Its channels are called as those of a bone, so that the same functions read both.
    """

    location = vector("Location", size=3, subtype="TRANSLATION")
    rotation_mode = text(options=HIDDEN)
    rotation_quaternion = rotation("Rotation")
    rotation_euler = vector("Rotation", size=3, subtype="EULER")
    rotation_axis_angle = vector("Rotation", size=4, default=(0.0, 0.0, 1.0, 0.0))


@group()
class FabrikGround(bpy.types.PropertyGroup):
    """An object on which feet stand in some of their contacts, as on a board that moves; the `name` is the object's."""

    found = pointer(bpy.types.Object, "Ground", "Object on which feet stand")


class ControlView(View[bpy.types.PoseBone]):
    """What is stored of a control bone: by what it is moved in layers that are not at hand."""

    __slots__ = NO_OTHERS

    layers = items(FabrikLayerChannels)


class RigView(View[bpy.types.Object]):
    """`Object.fabrik`: the chains of an armature object, its body, and how it walks.

    Attributes:
        chains: The chains, by index or name; `add()` and `remove(index)` change the list.
        active_index: Index of the chain that the panel shows; it follows the active bone in Pose Mode.
        layers: Layers of edits, from below; none where all edits are one.
        layer: Key of the layer at hand, whose edits are in the channels of the controls.
        layers_made: How many layers there ever were; none gets the key of one that is gone, which curves may have.
        grounds: Objects on which feet stand in contacts, which know them by their numbers from 1.
        mapping: Which bones are which parts, by the mapping that it was set up by; else empty.
        bake_report: What came of the last bake, as JSON; empty where there was none.
        body_captured: Start pose of the body bone and of those between it and the chains, by the bones' names.
    """

    __slots__ = NO_OTHERS

    chains = items(FabrikChain)
    active_index = whole("Active Chain", min=0, options=HIDDEN)
    live = switch(
        "Live",
        "Solve the enabled chains of this armature whenever a target, a pole or the frame moves. "
        "Chains that stand as their goals want stay so; others go there",
        options=NO_KEYS,
        update=_announce_live,
    )
    auto_capture = switch(
        "Automatic Capture",
        "A pose made by hand on a live chain becomes the start pose of its bones without keys. "
        "Off, it holds until the frame changes, as that of keyed bones does",
        options=NO_KEYS,
        default=True,
    )
    edits = switch(
        "Edits",
        "Controls whose goal is an offset edit the motion. Off, it plays as it is, and they keep what they have",
        default=True,
        update=forget_statuses,
    )
    layers = items(FabrikLayer)
    layer = text(options=HIDDEN)
    layers_made = whole(options=HIDDEN)
    grounds = items(FabrikGround)
    mapping = text("Mapping", options=HIDDEN)
    bake_report = text("Bake Report", options=HIDDEN)
    body_bone = text(
        "Body Bone",
        "Bone that moves and turns with the goals of all chains below it: the hips, a centre of gravity. "
        "Without one the roots stay",
        update=_set_body,
    )
    body_stiffness = share(
        "Body Stiffness",
        "How strongly the body bone resists being moved, compared with the limbs",
        update=forget_statuses,
    )
    body_stays = switch(
        "Body Stays",
        "The body bone stays where it was put, by hand or by keys: only pins move it from there, and no hand does. "
        "Switched on where the body bone is posed by hand",
        update=forget_statuses,
    )
    spine = share(
        "Spine",
        "How freely the bones between body bone and limbs may bend; 0 keeps them fixed",
        default=DEFAULT_SPINE,
        precision=3,
        update=forget_statuses,
    )
    balance = share(
        "Balance",
        "How strongly the centre of mass is kept over the pinned tips, as far as the goals allow",
        update=forget_statuses,
    )
    falloff = share(
        "Falloff",
        "How much less the bones far from a dragged one follow than those near it; used only while dragging",
        default=DEFAULT_FALLOFF,
    )
    body_captured = items(FabrikCapturedBone)

    @property
    def walker(self) -> WalkerView:
        """How it walks."""
        return walker_of(self.owner)

    @property
    def active(self) -> FabrikChain | None:
        """The chain that the panel shows, or None."""
        chains = self.chains
        return chains[self.active_index] if 0 <= self.active_index < len(chains) else None


class RigRecord(View[bpy.types.Object]):
    """What the extension keeps with an armature object for its own use.

    Attributes:
        version: Version of the stored data; 0 where there is none.
        bone_names: How the bones were called when they were last looked at.
        bone_rests: How they lay at rest then, by which renamed ones are found.
        unkeyed: Of files of version 1.0.0; nothing heeds it any more.
        left: What stood in the channels of live chains when live posing, or the extension, left them.
        by_hand: Names of the bones that a tool at work has posed by hand, one a line.
        brought: How often goals came along with a pose that was made by hand.
        held: Of bones that were posed by hand at a frame which has keys for them: how they stand, at that frame alone.
        held_at: That frame.
    """

    __slots__ = NO_OTHERS

    version = whole("Version of FABRIK Data", min=0, options=HIDDEN)
    bone_names = text("Names of Bones", options=HIDDEN)
    bone_rests = text("Rests of Bones", options=HIDDEN)
    unkeyed = text(options=HIDDEN)
    left = raw()
    by_hand = text(options=HIDDEN)
    brought = whole(options=HIDDEN)
    held = items(FabrikCapturedBone)
    held_at = real(options=HIDDEN)


class SceneView(View[bpy.types.Scene]):
    """What is stored of live posing, and of edits through time, in a scene."""

    __slots__ = NO_OTHERS

    live = switch(
        "Live Posing",
        "Let all live armatures of this scene follow their targets",
        options=NO_KEYS,
        override=NO_KEYS,
        default=True,
        update=_announce_scene,
    )
    through_time = switch(
        "Through Time",
        "Moves of controls (G, R) and drags change the frames about this one, too, less and less the farther away they "
        "are; keys are set for it",
        options=NO_KEYS,
        override=NO_KEYS,
    )
    time_width = whole(
        "Width",
        "How many frames away from this one nothing is changed any more",
        min=1,
        soft_max=100,
        default=10,
        options=NO_KEYS,
        override=NO_KEYS,
    )


rig_of = RigView  # the chains of an armature object


def name_all(owner: bpy.types.Object) -> None:
    """Give a name to each chain that a script left without one: chains are told apart by their names."""
    chains = chains_of(owner)
    for chain in chains:
        if not chain.name:
            chain.name = unique_name(chain.tip_bone or "Chain", [other.name for other in chains])


def note_names(owner: bpy.types.Object) -> None:
    """Keep by which names the chains are known, where a version of the extension that did not made them."""
    for chain in chains_of(owner):
        if not chain.known_as:
            chain.known_as = chain.name

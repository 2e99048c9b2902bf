# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers of edits: what a control is moved by in each adds up, and one of them stands in the control's own channels.

The others are kept beside these, on the same bone, with their keys; so tools that move controls know nothing of layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import bpy
from mathutils import Vector

from ..maths import IDENTITY, Q4, conjugated, multiplied, slerp
from .animation.channels import CHANNELS, channel_of, neutral_values, read_rotation
from .schema.rig import ControlView, FabrikLayerChannels, RigView, rig_of

Holder: TypeAlias = bpy.types.PoseBone | bpy.types.Object  # an object, as a pole may be, has one layer alone
Channels: TypeAlias = Holder | FabrikLayerChannels
Edit: TypeAlias = tuple[Vector, Q4]  # what location channels and a rotation are, of one layer or of all together
# The properties by which a control is moved, as they are while it rests.
RESTS = {"location": [0.0] * 3} | {channel_of(mode)[0]: neutral_values(mode) for mode in ("XYZ", *CHANNELS)}


def kept_path(bone: bpy.types.PoseBone, key: str, name: str) -> str:
    """The data path of a property of a control in a layer that is not at hand."""
    return f'{bone.path_from_id()}.{ControlView.fields["layers"].path}["{key}"].{name}'


def share_at_hand(rig: RigView) -> float:
    """How much of the edits in the controls' own channels counts, 0 to 1."""
    at_hand = next((layer for layer in rig.layers if layer.key == rig.layer), None)
    if at_hand is None:
        return 1.0
    return at_hand.influence if at_hand.enabled else 0.0


def stack(owner: bpy.types.Object, bone: Holder) -> Iterator[tuple[str, Channels, float]]:
    """The layers of a control from below: their keys, what has their channels, how much of each counts."""
    rig = rig_of(owner)
    if not len(rig.layers) or not isinstance(bone, bpy.types.PoseBone):
        yield "", bone, 1.0
        return
    kept = ControlView(bone).layers
    for layer in rig.layers:
        channels = bone if layer.key == rig.layer else kept.get(layer.key)
        if channels is not None:
            yield layer.key, channels, layer.influence if layer.enabled else 0.0


class OtherLayers(NamedTuple):
    """What a control is moved by in the layers that are not at hand, and how much of the one at hand counts.

    Attributes:
        share: Of the layer at hand, 0 to 1.
        way: By which the others move it, all together, as location channels.
        below: By which those below it turn it.
        above: By which those above it do.
    """

    share: float
    way: Vector
    below: Q4
    above: Q4

    def own(self, way: Vector, turn: Q4) -> Edit:
        """What the channels at hand have to be, so that all layers are as wanted; as that where it is off."""
        if not self.share or (self.share == 1.0 and not any(self.way) and self.below == self.above == IDENTITY):
            return way, turn
        own = multiplied(multiplied(conjugated(self.above), turn), conjugated(self.below))
        return (way - self.way) / self.share, slerp(IDENTITY, own, 1.0 / self.share)

    def with_own(self, way: Vector, turn: Q4) -> Edit:
        """What all layers together are, with channels at hand."""
        if self.share == 1.0 and not any(self.way) and self.below == self.above == IDENTITY:
            return way, turn
        own = slerp(IDENTITY, turn, self.share)
        return self.way + self.share * way, multiplied(multiplied(self.above, own), self.below)


def others_of(owner: bpy.types.Object, bone: Holder) -> OtherLayers:
    """The layers of a control that are not at hand (`stack`).

    Raises:
        InvalidValueError: A rotation is none.
    """
    share, way, below, above = 0.0, Vector(), IDENTITY, IDENTITY
    is_above = False
    channels: Any
    for _, channels, counts in stack(owner, bone):
        if channels == bone:
            share, is_above = counts, True
        elif counts > 0.0:
            way += counts * Vector(channels.location)
            turn = slerp(IDENTITY, read_rotation(channels), counts)
            below, above = (below, multiplied(turn, above)) if is_above else (multiplied(turn, below), above)
    return OtherLayers(share, way, below, above)


def moved_by(owner: bpy.types.Object, bone: Holder) -> Edit:
    """What a control is moved by in all layers together, as location channels and a rotation.

    Raises:
        InvalidValueError: A rotation is none.
    """
    way, turn = Vector(bone.location), read_rotation(bone)
    return others_of(owner, bone).with_own(way, turn) if len(rig_of(owner).layers) else (way, turn)

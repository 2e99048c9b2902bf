# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that squats and reaches, solved by button, live and baked, to be compared."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import bpy
import numpy as np
from fabrik_addon.maths import q4
from fabrik_addon.rig.channels import read_values
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.session.bake import BakeResult, BakeSettings, bake
from fabrik_addon.session.pose import solve_items
from mathutils import Vector

from support.body_rigs import HEIGHT, add_limb, effector, make_body, tip_turn, turned, with_legs_pinned

FRAMES = tuple(range(1, 13))
HELD = 1e-4 * HEIGHT
HELD_TURN = 1e-3  # radians
ULPS = 4.0  # units in the last place of a channel, or of a one where the channel is smaller
Channels = dict[str, list[float]]


def keyed_target(chain: FabrikChain, places: dict[int, tuple[float, float, float]]) -> None:
    for frame, place in places.items():
        chain.target.location = place
        chain.target.keyframe_insert("location", frame=frame)


def squatting(mode: str = "QUATERNION") -> bpy.types.Object:
    """Pinned feet, hips that sink, and a hand that reaches."""
    owner = with_legs_pinned(make_body(mode))
    hips = add_limb(owner, "hips", 1, target=(0, 0, 0.95))
    hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.2))
    keyed_target(hips, {1: (0, 0, 0.95), 12: (0.05, -0.05, 0.75)})
    keyed_target(hand, {1: (0.5, -0.3, 1.2), 6: (0.5, -0.5, 1.4), 12: (0.2, -0.7, 0.9)})
    return owner


def items_of(owner: bpy.types.Object) -> list[tuple[bpy.types.Object, FabrikChain]]:
    return [(owner, chain) for chain in rig_of(owner).chains]


def run(owner: bpy.types.Object, **settings: Any) -> BakeResult:
    return bake(bpy.context, items_of(owner), BakeSettings(**{"frames": FRAMES, **settings}))


def seen(owner: bpy.types.Object) -> Channels:
    """All channels as they are stored."""
    return {bone.name: [*read_values(bone), *bone.location, *bone.scale] for bone in owner.pose.bones}


def by_button(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        solve_items(bpy.context, items_of(owner))
        found[frame] = seen(owner)
    return found


def as_played(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = seen(owner)
    return found


def live(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    rig_of(owner).live = True
    found = as_played(owner, frames)
    rig_of(owner).live = False
    return found


def assert_same(found: dict[int, Channels], wanted: dict[int, Channels]) -> None:
    """Equal but for rounding and the sign of a quaternion."""
    for frame, bones in wanted.items():
        for name, values in bones.items():
            a, b = np.array(found[frame][name]), np.array(values)
            signed = b.copy()
            signed[:4] *= -1.0 if len(b) == 10 else 1.0
            unit = np.spacing(np.maximum(np.abs(a), 1.0).astype(np.float32))
            off = min(float((np.abs(a - other) / unit).max()) for other in (b, signed))
            assert off <= ULPS, (frame, name, found[frame][name], values)


def assert_feet_hold(owner: bpy.types.Object) -> None:
    for side in (".L", ".R"):
        chain = rig_of(owner).chains[f"foot{side}"]
        assert (effector(owner, chain) - Vector(chain.held_location)).length <= HELD
        assert turned(tip_turn(owner, chain), q4(chain.held_rotation)) <= HELD_TURN


def shuffled(frames: Iterable[int]) -> list[int]:
    found = list(frames)
    Random(3).shuffle(found)
    return found

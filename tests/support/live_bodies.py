# SPDX-License-Identifier: GPL-3.0-or-later
"""A body with live chains, and what is seen of it."""

from __future__ import annotations

import bpy
from fabrik_addon.maths import distance
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.body_rigs import HEIGHT, add_limb, effector, make_body, tip_turn, turned, update, with_legs_pinned

HELD = 1e-4 * HEIGHT
HELD_TURN = 1e-3  # radians
LIMBS = ("foot.L", "foot.R", "hand.L")


def live_body() -> bpy.types.Object:
    """Feet pinned flat, the hips the body bone, a hand that reaches; live."""
    owner = with_legs_pinned(make_body())
    add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
    rig_of(owner).live = True
    update()
    return owner


def statuses(owner: bpy.types.Object) -> dict[str, str]:
    return {chain.name: chain.status for chain in rig_of(owner).chains}


def assert_feet_hold(owner: bpy.types.Object) -> None:
    for name in ("foot.L", "foot.R"):
        chain = rig_of(owner).chains[name]
        assert (effector(owner, chain) - Vector(chain.held_location)).length <= HELD
        assert turned(tip_turn(owner, chain), tuple(chain.held_rotation)) <= HELD_TURN


def off_target(owner: bpy.types.Object, name: str) -> float:
    chain = rig_of(owner).chains[name]
    assert chain.target is not None
    return distance(effector(owner, chain), chain.target.matrix_world.translation)

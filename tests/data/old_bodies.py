# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of the files that `make_old_files.py` makes, and chains with all that a goal can ask."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

import bpy
from fabrik_addon.rig.schema import FabrikChain, rig_of
from old_rigs import FRAMES, NEAR_PLACES, beside, keyed_empty, line, pose, with_chain

from support.scenes import add_limb, make_body, select, with_legs_pinned

SET_UP = "set up"  # a rig that the button has set up
# Of a goal at the frames, relative to the rig.
HAND_PLACES = ((0.5, -0.3, 1.4), (0.4, -0.5, 0.7), (0.6, -0.4, 1.5))
OTHER_PLACES = ((-0.5, -0.2, 1.3), (-0.6, 0.1, 1.5), (-0.4, -0.4, 1.2))
SEEN_PLACES = ((0.5, -2.0, 1.6), (-0.8, -1.5, 1.2), (0.2, -1.8, 2.2))
STRAIGHT_PLACES = ((0.0, 1.2, 2.6), (0.0, 0.5, 2.95), (0.0, 2.5, 2.5))  # for a line of three, the last too far


def standing(name: str) -> bpy.types.Object:
    """A body beside the rigs that there are, its feet pinned."""
    place = beside()
    owner = make_body()
    owner.name = name
    assert owner.data is not None
    owner.data.name = name
    owner.location.x = place
    return with_legs_pinned(owner)


def with_goal(owner: bpy.types.Object, tip: str, count: int, places: Sequence[Sequence[float]]) -> FabrikChain:
    """A limb with a target that moves."""
    add_limb(owner, tip, count)
    target = keyed_empty(owner, f"{tip} target", places)
    chain = rig_of(owner).chains[tip]
    chain.target = target
    return chain


def reaching(name: str) -> bpy.types.Object:
    """A body that reaches with a hand, turns the other with its target, and looks at something."""
    owner = standing(name)
    with_goal(owner, "hand.L", 3, HAND_PLACES).weight = 0.7
    with_goal(owner, "hand.R", 3, OTHER_PLACES)
    rig_of(owner).active_index = len(rig_of(owner).chains) - 1
    select(owner)
    bpy.ops.fabrik.orientation_set(chain="hand.R", orientation="TARGET")
    rig_of(owner).chains["hand.R"].orientation_weight = 0.6
    head = with_goal(owner, "head", 1, SEEN_PLACES)
    head.kind, head.aim_axis = "AIM", (0.0, 0.0, 1.0)
    rig = rig_of(owner)
    rig.spine, rig.body_stiffness, rig.falloff = 0.3, 0.2, 0.25
    return owner


def add_bodies() -> None:
    """Bodies that are solved as a whole: by the button and live, balanced, from a captured pose, as they are set up."""
    reaching("body")
    rig_of(reaching("live body")).live = True
    owner = standing("balanced body")
    with_goal(owner, "hand.L", 3, HAND_PLACES)
    select(owner)
    bpy.ops.fabrik.balance_masses(by="PARTS")
    rig_of(owner).balance = 0.8
    owner = standing("captured body")
    chain = with_goal(owner, "hand.R", 3, OTHER_PLACES)
    pose(owner, (0.1, 0.0, 0.0), (0.2, 0.0, 0.1), (0.1, 0.2, 0.0))
    select(owner)
    bpy.ops.fabrik.start_pose_capture()
    owner = standing("keyed pin")
    chain = with_goal(owner, "hand.L", 3, HAND_PLACES)
    for frame, is_pinned in zip(FRAMES, (True, False, True), strict=True):
        chain.pin = is_pinned
        chain.keyframe_insert("pin", frame=frame)
    place = beside()
    owner = make_body()
    owner.name, owner.location.x = SET_UP, place
    select(owner)
    bpy.ops.fabrik.character_setup(controls="EMPTIES")


def add_asked() -> None:
    """Chains alone, with all else that a goal can ask."""
    with_chain(line("soft"), STRAIGHT_PLACES).soft = 0.08
    owner = line("stretched")
    for bone in owner.pose.bones:
        bone.bone.inherit_scale = "ALIGNED"
    with_chain(owner, STRAIGHT_PLACES).stretch = 1.4
    chain = with_chain(line("aiming"), SEEN_PLACES)
    chain.kind, chain.aim_axis = "AIM", (0.0, 0.6, 0.8)
    with_chain(line("by its head"), NEAR_PLACES).effector = "HEAD"
    owner = line("rotation kept", 4)
    with_chain(owner, ((0.3, 1.2, 2.3), (-0.4, 0.8, 2.6), (0.2, 1.5, 2.2)))
    pose(owner, (0.1, 0.0, 0.0), (0.2, 0.0, 0.1), (0.1, 0.2, 0.0), (0.4, 0.3, 0.0))
    select(owner)
    bpy.ops.fabrik.orientation_set(chain=rig_of(owner).chains[0].name, orientation="KEEP")
    owner = line("pinned")
    pose(owner, (0.3, 0.0, 0.0), (0.4, 0.0, 0.1), (0.5, 0.2, 0.0))
    with_chain(owner)
    rig_of(owner).chains[0].target = None
    select(owner)
    bpy.ops.fabrik.pin_toggle(which="ACTIVE", action="PIN")
    owner = line("limited aim")
    owner.pose.bones["b1"].fabrik.limit = "HINGE"
    owner.pose.bones["b1"].fabrik.angle_min, owner.pose.bones["b1"].fabrik.angle_max = radians(-10.0), radians(60.0)
    with_chain(owner, SEEN_PLACES).kind = "AIM"


def add_baked_body() -> None:
    """A body that is baked, with the report of it."""
    owner = standing("baked body")
    with_goal(owner, "hand.L", 3, HAND_PLACES)
    select(owner)
    bpy.ops.fabrik.solve()
    bpy.ops.fabrik.bake(frame_start=FRAMES[0], frame_end=FRAMES[-1], into="NEW_ACTION", chains="ALL")

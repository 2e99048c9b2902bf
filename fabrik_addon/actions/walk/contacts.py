# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of a walker's feet: a plan marks them, and the next one takes those that were set by hand as given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from math import ceil, inf, radians

import bpy
import numpy as np

from ...errors import FabrikError, RigError
from ...gait.feet import FeetPoses, Foothold, Given
from ...gait.ground import STATIC, Terrain
from ...gait.legs import Leg
from ...gait.plan import WalkPlan, stances_of
from ...gait.planning import Walk
from ...maths import Z_AXIS, axes_of, conjugated, minus, multiplied, placed, q4, turned, v3
from ...motion.contacts import FLAT, HEEL, TOE
from ...rig.animation.compat import fcurves_of, remove_curves
from ...rig.bones import pose_bones, resolve_bones
from ...rig.schema import rig_of, walker_of
from ...rig.terrain import MeshTerrain
from ...rig.walk_goals import plan_of, rest_turn
from ...texts import Text
from ..motion.marks import (
    GROUND,
    KIND,
    PLACE,
    WIDTH,
    Contact,
    check_marks,
    contact_path,
    contacts_of,
    ensure_action,
    ground_number,
)
from ..motion.marks import write_track as write_marks

SAME_TIME = 1e-6  # frames
AFTER_LAST = 1e-4  # seconds after its last frame that a foot lifts whose contact ends there
ROLLED = radians(3.0)  # from which on a foot stands on heel or toes alone


def given_by_hand(owner: bpy.types.Object, walk: Walk, old: tuple[int, int] | None) -> tuple[Given, ...]:
    """The contacts that were moved, parted, joined or drawn since the last plan, and all that have their own place.

    Args:
        owner: The armature object of a walker.
        walk: What is about to be planned.
        old: First and last frame of the last plan; None where there is none.
    """
    bones = {_foot(owner, leg).name: number for number, leg in enumerate(walk.legs)}
    planned, lands, lifts = set[tuple[str, int, int]](), dict[tuple[str, int], float](), dict[tuple[str, int], float]()
    path = walk.path
    first, last = path.first, path.first + len(path.places) - 1
    for bone, begin, end, one, by in _planned(owner, old):
        planned.add((bone, begin, end))
        if one.land > 0.0:
            lands[bone, begin] = one.land + by - first / path.fps
        if one.lift < inf:
            lifts[bone, end] = one.lift + by - first / path.fps
    found = list[Given]()
    for mark in contacts_of(owner):
        is_as_planned = (mark.bone, mark.first, mark.last) in planned or not planned
        if mark.bone not in bones or mark.last < first or mark.first > last or (is_as_planned and not any(mark.place)):
            continue
        land = lands.get((mark.bone, mark.first), (mark.first - first) / path.fps)
        lift = lifts.get((mark.bone, mark.last), (mark.last - first) / path.fps + AFTER_LAST)
        land, lift = -1.0 if mark.first <= first else land, inf if mark.last >= last else lift
        leg = bones[mark.bone]
        found.append(Given(leg, land, lift, _foothold(owner, mark, walk.legs[leg], walk.terrain)))
    return tuple(found)


def _planned(owner: bpy.types.Object, old: tuple[int, int] | None) -> Iterator[tuple[str, int, int, Given, float]]:
    """The stances of the last plan: bone, first and last frame, the stance, and when its time is 0, seconds."""
    with suppress(FabrikError):  # what a plan of another version marked is not known any more
        plan = plan_of(owner)
        if plan is not None and old is not None:
            feet = [rig_of(owner).chains[leg.name].tip_bone for leg in plan.legs if leg.name in rig_of(owner).chains]
            for one in stances_of(plan) if len(feet) == len(plan.legs) else ():
                yield feet[one.leg], *_frames(plan, one, old[1]), one, plan.first / plan.fps


def mark_plan(
    owner: bpy.types.Object, plan: WalkPlan, terrain: Terrain, feet: FeetPoses, old: tuple[int, int] | None
) -> list[str]:
    """Mark when the feet of a walk are on the ground; those that were set by hand have the places that they have.

    Args:
        owner: The armature object.
        plan: The walk.
        terrain: What it goes on.
        feet: All feet in each of its frames.
        old: First and last frame of the plan before, if any, in which nothing else stays marked.

    Returns:
        Why they can't be marked, or nothing.
    """
    try:
        check_marks(owner)
    except RigError as error:
        return [Text("the contacts of its feet are not marked: {reason}", reason=error.reason)]
    ensure_action(owner)
    kinds = np.select([np.abs(feet.pitches) <= ROLLED, feet.pitches > 0.0], [FLAT, TOE], HEEL)
    end = plan.first + kinds.shape[1] - 1
    first, last = old or (plan.first, end)
    frames = range(min(plan.first, first), max(end, last) + 1)
    tracks = np.zeros((len(plan.legs), len(frames), WIDTH))
    for one in stances_of(plan):
        assert one.foothold is not None
        first, last = _frames(plan, one, end)
        own = tracks[one.leg, first - frames[0] : last - frames[0] + 1]
        own[:, KIND] = kinds[one.leg, first - plan.first : last - plan.first + 1]
        own[:, GROUND] = ground_number(owner, _ground(terrain, one.foothold.surface))
        if one.foothold.is_given:
            leg, hold = plan.legs[one.leg], one.foothold
            turn = multiplied(hold.rotation, rest_turn(owner, _foot(owner, leg).name))
            own[:, PLACE] = *placed(hold.place, hold.rotation, leg.ankle), *turn
    for leg, track in zip(plan.legs, tracks, strict=True):
        write_marks(owner, _foot(owner, leg), track, frames)
    return []


def forget_marks(owner: bpy.types.Object) -> None:
    """Take the contacts away of the feet of a walker that was planned."""
    feet = {chain.tip_bone for chain in rig_of(owner).chains if chain.name in walker_of(owner).legs}
    paths = tuple(contact_path(pose_bones(owner)[name]) for name in feet if name in pose_bones(owner))
    if walker_of(owner).digest and paths:
        remove_curves(owner, [curve for curve in fcurves_of(owner) if curve.data_path.startswith(paths)])


def _foot(owner: bpy.types.Object, leg: Leg) -> bpy.types.PoseBone:
    """The bone of a leg that bears the marks of its contacts."""
    return resolve_bones(owner, rig_of(owner).chains[leg.name])[-1]


def _frames(plan: WalkPlan, stance: Given, end: int) -> tuple[int, int]:
    """First and last frame of a stance, up to the end of the walk."""
    land, lift = max(stance.land, 0.0) * plan.fps, min(stance.lift, plan.last) * plan.fps
    return plan.first + ceil(land - SAME_TIME), min(plan.first + ceil(lift - SAME_TIME) - 1, end)


def _ground(terrain: Terrain, surface: int) -> bpy.types.Object | None:
    """The object of a surface that moves; None for what stands still."""
    if surface <= STATIC or not isinstance(terrain, MeshTerrain):
        return None
    name = terrain.moving[surface][0].name
    return next((one for one in bpy.data.objects if one.name_full == name), None)


def _foothold(owner: bpy.types.Object, contact: Contact, leg: Leg, terrain: Terrain) -> Foothold | None:
    """Where a contact is to stand; None where the walk is to tell."""
    if not any(contact.place):
        return None
    place, turn = v3(contact.place[:3]), q4(contact.place[3:])
    rotation = multiplied(turn, conjugated(rest_turn(owner, contact.bone)))
    place, surface = minus(place, turned(rotation, leg.ankle)), STATIC
    grounds = rig_of(owner).grounds
    ground = grounds[contact.ground - 1].found if 0 < contact.ground <= len(grounds) else None
    if ground is not None:
        moving = [piece.name for piece, _ in terrain.moving] if isinstance(terrain, MeshTerrain) else []
        if ground.name_full in moving:
            surface = moving.index(ground.name_full)
        else:  # it stands still
            world = ground.matrix_world
            place, rotation = placed(v3(world.translation), axes_of(world), place), multiplied(axes_of(world), rotation)
    return Foothold(place, rotation, turned(rotation, Z_AXIS), surface)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk marked in the scene: footprints where feet land, and markers in the timeline when they do."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin
from typing import Any, NamedTuple

import bpy
from mathutils import Matrix, Quaternion, Vector

from ...errors import ChainError
from ...gait import Leg, WalkPlan
from ...gait.ground import is_body
from ...rig.walk_goals import plan_of
from ...texts import Text

MARK = "fabrik_footprints_of"  # custom property of an armature object's footprints, and of their collection
NAMED = "_footprints"  # what the collection is called, after its walker
LONGEST = 63  # bytes of a marker's name
POINTS = 12  # of a footprint's outline
WIDTH = 0.35  # of a foot, as a share of its length
BEYOND = 0.6  # of a foot's length: how far the toes go on before its ball
TIP = 0.04  # of a leg's reach: half the size of the footprint of a bare tip
ABOVE = 0.002  # of a leg's reach: how far footprints lie above the ground, so that they are seen


class Marked(NamedTuple):
    """What `mark_steps` made.

    Attributes:
        footprints: Number of footprints.
        markers: Number of markers in the timeline.
    """

    footprints: int
    markers: int


class _Print(NamedTuple):
    """A foot that lands.

    Attributes:
        leg: Whose.
        frame: When, or the first of the walk where it stands at first.
        place: Of the sole, in world space.
        rotation: Of the foot.
        is_step: Whether it lands; else it stands there at first.
    """

    leg: Leg
    frame: float
    place: tuple[float, float, float]
    rotation: tuple[float, float, float, float]
    is_step: bool


def mark_steps(context: bpy.types.Context, owner: bpy.types.Object, footprints: str, *, use_markers: bool) -> Marked:
    """Mark the planned walk of a walker in the scene; what was marked of it before is taken away.

    Args:
        context: Its scene gets the marks.
        owner: The armature object.
        footprints: "NONE", "CURVE" for one object with an outline each, or "EMPTIES" for an empty each.
        use_markers: Whether each landing gets a marker with the name of the walker and its leg.

    Raises:
        FabrikError: No walk is planned; nothing was changed.
    """
    scene = context.scene
    assert scene is not None
    parsed = plan_of(owner)
    if parsed is None:
        raise ChainError(Text("no walk is planned"), rig=owner.name)
    plan = parsed.plan
    found = list(_prints(plan))
    _remove(scene, owner, plan)
    steps = [one for one in found if one.is_step]
    if use_markers:
        for one in steps:
            scene.timeline_markers.new(_marker(owner, one.leg), frame=round(one.frame))
    if footprints != "NONE":
        collection = bpy.data.collections.new(f"{owner.name}{NAMED}")
        collection[MARK] = owner.name_full
        scene.collection.children.link(collection)
        if footprints == "CURVE":
            _add_outlines(collection, owner, found)
        else:
            _add_empties(collection, owner, found)
    return Marked(len(found) if footprints != "NONE" else 0, len(steps) if use_markers else 0)


def _prints(plan: WalkPlan) -> Iterator[_Print]:
    """All footholds on the ground, those of a leg in the order of time."""
    for leg, start, steps in zip(plan.legs, plan.starts, plan.steps, strict=True):
        for foothold, time in [(start, 0.0), *((step.end, step.land) for step in steps)]:
            if not is_body(foothold.surface):
                place, rotation = foothold.in_world(time, plan.surface_pose)
                yield _Print(leg, plan.first + time * plan.fps, place, rotation, foothold is not start)


def _marker(owner: bpy.types.Object, leg: Leg) -> str:
    """The name of a leg's markers: that of the walker gives way where both are longer than a marker's name may be."""
    named = _cut(owner.name, LONGEST - len(leg.name.encode()) - 1)
    return _cut(f"{named} {leg.name}", LONGEST)


def _cut(name: str, most: int) -> str:
    return name.encode()[: max(most, 0)].decode(errors="ignore")


def _remove(scene: bpy.types.Scene, owner: bpy.types.Object, plan: WalkPlan) -> None:
    """Take away the marks of a walker that are there."""
    names = {_marker(owner, leg) for leg in plan.legs}
    for marker in [marker for marker in scene.timeline_markers if marker.name in names]:
        scene.timeline_markers.remove(marker)
    for collection in [one for one in scene.collection.children_recursive if one.get(MARK) == owner.name_full]:
        for thing in list(collection.objects):
            if thing.get(MARK) is None:  # what was put there by hand stays in the scene
                if len(thing.users_collection) == 1:
                    scene.collection.objects.link(thing)
                continue
            curve = thing.data
            bpy.data.objects.remove(thing)
            if isinstance(curve, bpy.types.Curve) and not curve.users:
                bpy.data.curves.remove(curve)
        bpy.data.collections.remove(collection)


def _outline(leg: Leg) -> list[Vector]:
    """The sole of a foot, or a round spot for a bare tip, in the foot's frame."""
    if leg.foot_length <= 0.0:
        radius = TIP * leg.reach
        return [Vector((radius * cos(angle), radius * sin(angle), 0.0)) for angle in _angles()]
    heel, ball = Vector(leg.heel), Vector(leg.ball)
    way = (ball - heel) * (1.0 + BEYOND)
    aside = Vector((-way.y, way.x, 0.0)) * (0.5 * WIDTH)
    middle = heel + 0.5 * way
    return [middle + 0.5 * cos(angle) * way + sin(angle) * aside for angle in _angles()]


def _angles() -> list[float]:
    return [2.0 * pi * index / POINTS for index in range(POINTS)]


def _placed(one: _Print) -> Matrix:
    turn = Quaternion(one.rotation)
    up = turn @ Vector((0.0, 0.0, ABOVE * one.leg.reach))
    return Matrix.Translation(Vector(one.place) + up) @ turn.to_matrix().to_4x4()


def _add_outlines(collection: bpy.types.Collection, owner: bpy.types.Object, found: list[_Print]) -> None:
    """One curve with an outline for each footprint."""
    data: Any = bpy.data.curves.new(collection.name, "CURVE")
    data.dimensions = "3D"
    for one in found:
        spline = data.splines.new("POLY")
        spline.use_cyclic_u = True
        spline.points.add(POINTS - 1)
        matrix = _placed(one)
        for point, place in zip(spline.points, _outline(one.leg), strict=True):
            point.co = (*(matrix @ place), 1.0)
    _link(collection, owner, bpy.data.objects.new(collection.name, data))


def _add_empties(collection: bpy.types.Collection, owner: bpy.types.Object, found: list[_Print]) -> None:
    """An empty for each footprint, named by walker, leg and frame."""
    for one in found:
        empty = bpy.data.objects.new(f"{_marker(owner, one.leg)} {one.frame:.0f}", None)
        empty.empty_display_type = "ARROWS"
        empty.empty_display_size = max(one.leg.foot_length, TIP * one.leg.reach)
        empty.matrix_world = _placed(one)
        _link(collection, owner, empty)


def _link(collection: bpy.types.Collection, owner: bpy.types.Object, made: bpy.types.Object) -> None:
    """Put a footprint into its collection, with a mark by which it is taken away again."""
    made[MARK] = owner.name_full
    collection.objects.link(made)

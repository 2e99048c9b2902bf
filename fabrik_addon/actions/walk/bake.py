# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk baked to keys, and its footprints marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, inf, pi, sin
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...errors import ChainError, InvalidValueError, are_finite
from ...gait.ground import is_body
from ...gait.legs import Leg
from ...gait.plan import WalkPlan
from ...maths import IDENTITY, Q4, V3, Doubles, Places, conjugates, lengths, products, q4, turn_angles, units
from ...rig.animation.channels import to_values
from ...rig.animation.keys import key_goal
from ...rig.goals import store, walked_to
from ...rig.schema import FabrikChain, rig_of
from ...rig.schema.chain import PLACE
from ...rig.skeleton import sided_name
from ...rig.versions import bring_up_to_date
from ...rig.walk_goals import plan_of
from ...texts import Text
from ..bake import BakeResult, BakeSettings, bake
from ..bake.keys import between_keys, kept_places
from ..chains import Empty, read_defaults
from ..frames import frames_visited, go_to, scene_of
from .plan import planned_frames

# A planned walk marked in the scene: footprints where feet land, and markers in the timeline when they do.

MARK = "fabrik_footprints_of"  # custom property of an armature object's footprints, and of their collection
MARKERS = "fabrik_markers"  # custom property of an armature object: its name and its timeline markers', in lines
NAMED = "_footprints"  # what the collection is called, after its walker
LONGEST = 63  # bytes of a marker's name
POINTS = 12  # of a footprint's outline
WIDTH = 0.35  # of a foot, as a share of its length
BEYOND = 0.6  # of a foot's length: how far the toes go on before its ball
TIP = 0.04  # of a leg's reach: half the size of the footprint of a bare tip
ABOVE = 0.002  # of a leg's reach: how far footprints lie above the ground, so that they are seen


# A foot that lands: whose leg, when, where its sole stands in the world; and whether it lands, or stands there at first
_Print = tuple[Leg, float, Matrix, bool]


def mark_steps(
    context: bpy.types.Context, owner: bpy.types.Object, footprints: str, *, use_markers: bool
) -> tuple[int, int]:
    """Mark the planned walk of a walker in the scene; what was marked of it before is taken away.

    Args:
        context: Its scene gets the marks.
        owner: The armature object.
        footprints: "NONE", "CURVE" for one object with an outline each, or "EMPTIES" for an empty each.
        use_markers: Whether each landing gets a marker with the name of the walker and its leg.

    Returns:
        How many footprints and how many markers were made.

    Raises:
        FabrikError: No walk is planned; nothing was changed.
    """
    scene = scene_of(context)
    plan = plan_of(owner)
    if plan is None:
        raise ChainError(Text("no walk is planned"), rig=owner.name)
    found = list(footprints_of(plan))
    remove_marks(scene, owner)
    steps = [(leg, frame) for leg, frame, _, is_step in found if is_step]
    if use_markers:
        for leg, frame in steps:
            scene.timeline_markers.new(_marker(owner, leg), frame=round(frame))
        owner[MARKERS] = "\n".join([owner.name_full, *sorted({_marker(owner, leg) for leg, _ in steps})])
    if footprints != "NONE":
        collection = bpy.data.collections.new(f"{owner.name}{NAMED}")
        collection[MARK] = owner.name_full
        scene.collection.children.link(collection)
        if footprints == "CURVE":
            _add_outlines(collection, owner, found)
        else:
            _add_empties(collection, owner, found)
    return len(found) if footprints != "NONE" else 0, len(steps) if use_markers else 0


def footprints_of(plan: WalkPlan, frame: float = 0.0, about: float = inf) -> Iterator[_Print]:
    """All footholds on the ground, those of a leg in the order of time; or those of some seconds about a frame."""
    for leg, start, steps in zip(plan.legs, plan.starts, plan.steps, strict=True):
        for foothold, time in [(start, 0.0), *((step.end, step.land) for step in steps)]:
            if not is_body(foothold.surface) and abs(time - plan.time_of(frame)) <= about:
                place, rotation = foothold.in_world(time, plan.surface_pose)
                turn = Quaternion(rotation)
                above = Vector(place) + turn @ Vector((0.0, 0.0, ABOVE * leg.reach))
                matrix = Matrix.Translation(above) @ turn.to_matrix().to_4x4()
                yield leg, plan.first + time * plan.fps, matrix, foothold is not start


def _marker(owner: bpy.types.Object, leg: Leg) -> str:
    """The name of a leg's markers: that of the walker gives way where both are longer than a marker's name may be."""
    named = _cut(owner.name, LONGEST - len(leg.name.encode()) - 1)
    return _cut(f"{named} {leg.name}", LONGEST)


def _cut(name: str, most: int) -> str:
    return name.encode()[: max(most, 0)].decode(errors="ignore")


def remove_marks(scene: bpy.types.Scene, owner: bpy.types.Object) -> None:
    """Take away the marks of a walker that are there, also where its walk is planned no more."""
    plan = plan_of(owner)
    names = {_marker(owner, leg) for leg in plan.legs} if plan is not None else set[str]()  # of files without a note
    known: Any = owner
    whose, *noted = known.get(MARKERS, "").split("\n")
    names |= {*noted} if whose == owner.name_full else set()  # a duplicate has the note of its original
    for marker in [marker for marker in scene.timeline_markers if marker.name in names]:
        scene.timeline_markers.remove(marker)
    known.pop(MARKERS, None)
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


def outline(leg: Leg) -> list[Vector]:
    """The sole of a foot, or a round spot for a bare tip, in the foot's frame."""
    angles = [2.0 * pi * index / POINTS for index in range(POINTS)]
    if leg.foot_length <= 0.0:
        radius = TIP * leg.reach
        return [Vector((radius * cos(angle), radius * sin(angle), 0.0)) for angle in angles]
    heel, ball = Vector(leg.heel), Vector(leg.ball)
    way = (ball - heel) * (1.0 + BEYOND)
    aside = Vector((-way.y, way.x, 0.0)) * (0.5 * WIDTH)
    middle = heel + 0.5 * way
    return [middle + 0.5 * cos(angle) * way + sin(angle) * aside for angle in angles]


def _add_outlines(collection: bpy.types.Collection, owner: bpy.types.Object, found: list[_Print]) -> None:
    """One curve with an outline for each footprint."""
    data: Any = bpy.data.curves.new(collection.name, "CURVE")
    data.dimensions = "3D"
    for leg, _, matrix, _ in found:
        spline = data.splines.new("POLY")
        spline.use_cyclic_u = True
        spline.points.add(POINTS - 1)
        for point, place in zip(spline.points, outline(leg), strict=True):
            point.co = (*(matrix @ place), 1.0)
    _link(collection, owner, bpy.data.objects.new(collection.name, data))


def _add_empties(collection: bpy.types.Collection, owner: bpy.types.Object, found: list[_Print]) -> None:
    """An empty for each footprint, named by walker, leg and frame."""
    for leg, frame, matrix, _ in found:
        empty = bpy.data.objects.new(f"{_marker(owner, leg)} {frame:.0f}", None)
        empty.empty_display_type = "ARROWS"
        empty.empty_display_size = max(leg.foot_length, TIP * leg.reach)
        empty.matrix_world = matrix
        _link(collection, owner, empty)


def _link(collection: bpy.types.Collection, owner: bpy.types.Object, made: bpy.types.Object) -> None:
    """Put a footprint into its collection, with a mark by which it is taken away again."""
    made[MARK] = owner.name_full
    collection.objects.link(made)


# A planned walk as few keys on goals that an animator can edit, or as keys on the bones.

FOOT = 0.25  # of a leg's reach: how long a foot is, by which a turn moves its end
MOST = 0.5  # of a leg's reach: a greater tolerance leaves nothing of the steps
Pose = tuple[V3, Q4]


def bake_goals(
    context: bpy.types.Context, owner: bpy.types.Object, tolerance: float
) -> tuple[int, list[str], list[str]]:
    """Key goals of legs and body where the walk has them, and let the chains follow these in place of the plan.

    Keys stand where a foot lifts and lands, and in between wherever a straight way would be off by more than the
    tolerance. A target that is keyed, hangs on something or is a bone stays as it is, and gives way to a new empty.

    Args:
        context: Its view layer has the armature.
        owner: The armature object of a walker whose walk is planned.
        tolerance: By how much a goal, or the end of a foot there, may be off at a frame, as a share of the leg's reach.

    Returns:
        How many frames were keyed, summed over all goals; names of the empties that were made; what to look out for,
        as sentences.

    Raises:
        FabrikError: There is no walk, or the tolerance makes no sense; nothing was changed.
    """
    if not are_finite([tolerance]) or not 0.0 < tolerance <= MOST:
        raise InvalidValueError(
            Text("a tolerance of {tolerance:g} is not above 0 and up to {most:g}", tolerance=tolerance, most=MOST)
        )
    plan, frames = _walk_of(owner)
    ways = _ways(context, owner, frames)
    bring_up_to_date(owner)
    keys, made, notes, rig, defaults = 0, list[str](), list[str](), rig_of(owner), read_defaults(context)
    for name, way in ways.items():
        chain = rig.chains[name]
        leg = next((leg for leg in plan.legs if leg.name == name), plan.legs[0])
        kept = kept_frames(way, _events(plan, name, frames), (tolerance * leg.reach, tolerance / FOOT))
        goal = _free_target(chain)
        if goal is None:  # else it stays as it is
            empty = Empty(way[0][0], defaults.target_size * leg.reach, defaults.target_shape)
            goal = empty.make(context, owner, sided_name(name, "step"))
            if chain.target is not None:
                fields = {"chain": name, "goal": goal.name, "target": chain.target.name}
                notes.append(Text("{chain} follows '{goal}' now, and '{target}' no more", **fields))
            chain.target, chain.target_bone = goal, ""
            made.append(goal.name)
        chain.goal = PLACE
        key_goal(goal, [(frames[0] + i, way[i]) for i in kept])
        keys += len(kept)
        if chain.orientation != "FREE":
            store(chain, "rotation_offset", IDENTITY)
            chain.orientation = "TARGET"
    rig.chains[rig.walker.body].pin = True
    rig.walker.on = False
    return keys, made, notes


def bake_bones(context: bpy.types.Context, owner: bpy.types.Object) -> BakeResult:
    """Key the bones in each planned frame, in a copy of the armature's action, so that the path is kept in the old one.

    Raises:
        FabrikError: There is no walk, or it can't be baked.
    """
    _, (first, last) = _walk_of(owner)
    items = [(owner, chain) for chain in _chains(owner)]
    frames = tuple(float(frame) for frame in range(first, last + 1))
    return bake(context, items, BakeSettings(frames, "NEW_ACTION"))


def _walk_of(owner: bpy.types.Object) -> tuple[WalkPlan, tuple[int, int]]:
    plan, frames = plan_of(owner), planned_frames(owner)
    if plan is None or frames is None or not rig_of(owner).walker.on:
        raise ChainError("no walk is planned, or it is switched off", rig=owner.name)
    return plan, frames


def _chains(owner: bpy.types.Object) -> list[FabrikChain]:
    """The chains of legs and body; refused where one is gone."""
    rig = rig_of(owner)
    names = [*(leg.name for leg in rig.walker.legs), rig.walker.body]
    gone = next((name for name in names if name not in rig.chains), "")
    if gone:
        raise ChainError("the chain of this part of the walker is gone", rig=owner.name, chain=gone)
    return [rig.chains[name] for name in names]


def _ways(context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int]) -> dict[str, list[Pose]]:
    """By the names of legs and body where the walk has the effector, and how the tip bone is turned, in each frame."""
    scene, found = scene_of(context), {chain.name: list[Pose]() for chain in _chains(owner)}
    with frames_visited(scene):
        for frame in range(frames[0], frames[1] + 1):
            go_to(scene, frame)
            for chain in _chains(owner):
                walk, way = walked_to(chain, context.evaluated_depsgraph_get()), found[chain.name]
                assert walk is not None, "it walks"
                near = way[-1][1] if way else walk[1]
                way.append((walk[0], q4(to_values("QUATERNION", walk[1], near))))
    return found


def _events(plan: WalkPlan, name: str, frames: tuple[int, int]) -> list[int]:
    """The frames at which a leg lifts and lands, counted from the first of the range; none for the body."""
    number = next((i for i, leg in enumerate(plan.legs) if leg.name == name), None)
    steps = plan.steps[number] if number is not None else ()
    found = {round(time * plan.fps) + plan.first - frames[0] for step in steps for time in (step.lift, step.land)}
    return sorted(place for place in found if 0 <= place <= frames[1] - frames[0])


def kept_frames(way: Sequence[Pose], events: Sequence[int], tolerance: tuple[float, float]) -> list[int]:
    """Which frames of a way are kept so that straight ways between them are nowhere off by more than a tolerance.

    Args:
        way: Places and rotations, one a frame, each quaternion with the sign that is nearer to the one before.
        events: Frames that are kept in any case, counted from the first.
        tolerance: Of places, in scene units, and of rotations, in radians.

    Returns:
        The frames, counted from the first, in their order.
    """
    at = np.array(sorted({0, *events, len(way) - 1}))
    if len(at) < 2:
        return [*at.tolist()]
    frames, values = np.arange(len(way), dtype=np.float64), np.array([(*place, *turn) for place, turn in way])

    def off(at: Places) -> Doubles:
        """By how many tolerances each frame is off."""
        found = between_keys(frames, values, at)
        turns = products(conjugates(units(found[:, 3:])), values[:, 3:])
        moved = lengths(found[:, :3] - values[:, :3])
        return np.maximum(moved / tolerance[0], turn_angles(turns) / tolerance[1])

    return [*kept_places(at, 1.0, off).tolist()]


def _free_target(chain: FabrikChain) -> bpy.types.Object | None:
    """The target of a chain, if it is an empty that can be keyed and that nothing else moves."""
    target = chain.target
    if target is None or target.type != "EMPTY" or not target.is_editable or chain.target_bone:
        return None
    return None if target.parent or target.constraints or target.animation_data else target

# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: the one owner of its draw handlers, and of what was drawn last in the 3D View.

Of chains that is a picture of each: its bones, goal, limits, reach and start pose. Of a planned walk it is the path of
the body, footprints, the steps of the next second, refused footholds, and the support.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import atan2
from random import Random
from typing import Any, TypeVar

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..actions.chain_edit import working_rig
from ..actions.walk.bake import footprints_of, outline
from ..errors import FabrikError
from ..gait.plan import WalkPlan, feet_at, steps_between
from ..kernel import FREE, Figure, Joint, Limit, Solver
from ..maths import ORIGIN, Q4, V3, Y_AXIS, distance, length, minus, plus, rotated, scaled, unit, v3
from ..rig.animation.channels import read_rotation
from ..rig.animation.keys import KeyedChannels
from ..rig.bones import owner_of_bone, pose_bones, resolve_bones
from ..rig.figure.groups import alone, lacks_goal, sets_of
from ..rig.figure.joint_limits import path_of, read_limit
from ..rig.figure.kinematics import BoneTree
from ..rig.figure.reader import frame_of, read
from ..rig.figure.start_pose import read_starts
from ..rig.figure.uneven import ends_at
from ..rig.goals import asked_point, goal_of, is_offset, read_turn
from ..rig.limit_types import Outline, limit_outline
from ..rig.schema import FabrikChain, rig_of
from ..rig.targets import resolve_point
from ..rig.walk_goals import plan_of
from . import bones, sheet, steps
from .settings import parts_of, scene_settings, state
from .shapes import Drawing, Picture, Shapes, shapes_of

T = TypeVar("T")

NEARLY = 2.0  # times the tolerance that still counts as on target
SAMPLES = 400  # poses drawn to find how far a chain reaches within its limits
AIMED = 0.01  # share of the distance by which an axis may miss what it aims at


def _of_goal(
    chain: FabrikChain, tip: bpy.types.PoseBone, joints: tuple[V3, ...], depsgraph: bpy.types.Depsgraph
) -> Picture:
    """The picture of what the goal of a chain asks: which end, which rotation, the softened goal, where it aims."""
    length = sum(distance(a, b) for a, b in pairwise(joints))
    target = _readable(lambda: _target(chain, depsgraph))
    if chain.aims:
        aim = _aim(chain, tip, target)
        is_reached = not aim or target is None or distance(aim[1], target) <= AIMED * distance(*aim)
        return Picture(joints, target=target, effector=joints[-2], aim=aim, is_reached=is_reached)
    effector = joints[-2 if chain.at_head else -1]
    soft = None
    if target is not None and chain.softened > 0.0 and chain.status != "NONE":
        soft = plus(target, scaled(unit(minus(joints[0], target)), chain.softened))
    goal = target if soft is None else soft
    is_reached = goal is None or distance(effector, goal) <= NEARLY * chain.tolerance * length
    turn = _readable(lambda: read_turn(chain, depsgraph)) if not is_offset(chain) else None
    return Picture(joints, target=target, effector=effector, turn=turn, soft=soft, is_reached=is_reached)


def _readable(read: Callable[[], T | None]) -> T | None:
    """What is read; None where that is refused, for the status of the chain says why."""
    try:
        return read()
    except FabrikError:
        return None


def _target(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> V3 | None:
    """The target, or where a pin holds without one; None for an offset, whose control is drawn at the limb itself."""
    if is_offset(chain):
        return None
    target = goal_of(chain, "target")
    if target is not None:
        return v3(resolve_point(*target, depsgraph))
    return None if lacks_goal(chain) else asked_point(chain, depsgraph)


def _aim(chain: FabrikChain, tip: bpy.types.PoseBone, target: V3 | None) -> tuple[V3, ...]:
    """From the last bone's head along the axis, as far as the target is away; nothing where there is no way."""
    matrix = owner_of_bone(tip).matrix_world @ tip.matrix
    along = matrix.to_3x3() @ Vector(chain.aim_axis)
    if target is None or along.length <= 0.0:
        return ()
    head = v3(matrix.translation)
    return head, plus(head, scaled(unit(v3(along)), distance(head, target)))


def _starts_together(
    owner: bpy.types.Object, names: Collection[str], depsgraph: bpy.types.Depsgraph
) -> dict[str, tuple[V3, ...]]:
    """Joints of the start pose in the world, root to tip, by chains that are solved with others or with a body bone.

    Only what is solved with one of those that are named is read, and what can't be read is left out.
    """
    found: dict[str, tuple[V3, ...]] = {}
    for chain_set in sets_of(owner, [chain for chain in rig_of(owner).chains if chain.enabled]):
        if chain_set.is_one or set(names).isdisjoint(chain_set.names):
            continue
        try:
            figure, _ = read(chain_set, depsgraph)
            heads, ends = ends_at(figure, figure.starts, ORIGIN, owner, depsgraph)
        except FabrikError:  # their status says why
            continue
        for one in figure.asked:
            joints = [*(heads[joint] for joint in one.joints), ends[one.joints[-1]]]
            found[one.chain] = tuple(map(figure.space.to_world, joints))
    return found


def pictures_of(
    owner: bpy.types.Object, chains: Iterable[FabrikChain], depsgraph: bpy.types.Depsgraph, with_limited_reach: bool
) -> list[Picture]:
    """The pictures of chains; one that can't be read is left out, for its status says why.

    To find out how far the tips come within the limits takes a while.
    """
    found, wanted = [], list(chains)
    starts = _starts_together(owner, [chain.name for chain in wanted], depsgraph)
    for chain in wanted:
        try:
            picture = _picture(owner, chain, depsgraph, with_limited_reach)
        except FabrikError:
            continue
        found.append(replace(picture, before=starts.get(chain.name, picture.before)))
    return found


def _picture(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, with_limited_reach: bool
) -> Picture:
    bones = resolve_bones(owner, chain)
    path = path_of(owner, [bone.name for bone in bones], depsgraph)
    evaluated = owner.evaluated_get(depsgraph)
    world = evaluated.matrix_world.copy()
    poses = [pose_bones(evaluated)[bone.name] for bone in bones]
    joints = (*(v3(world @ pose.head) for pose in poses), v3(world @ poses[-1].tail))
    starts = read_starts(alone(owner, chain), bones, KeyedChannels(owner, frame_of(depsgraph))).rotations
    limits = [_limit(bone, start) for bone, start in zip(bones, starts, strict=True)]
    starts = [limit.clamped(start) for limit, start in zip(limits, starts, strict=True)]
    size = sum(distance(a, b) for a, b in pairwise(joints)) / _solver(path, starts, limits).figure.size
    count = 0 if chain.aims else len(bones) - chain.at_head
    solver = _solver(path, starts, limits, count) if count else None
    limited = _limited_reach(solver) if solver is not None and with_limited_reach else ()
    pole = goal_of(chain, "pole")
    chain_axes = world @ Matrix.Translation(poses[0].head) @ Quaternion(path.base).to_matrix().to_4x4()
    return replace(
        _of_goal(chain, poses[-1], joints, depsgraph),
        before=tuple(v3(chain_axes @ Vector(joint)) for joint in path.place(starts)),
        pole=_readable(lambda: v3(resolve_point(*pole, depsgraph))) if pole is not None else None,
        limits=tuple(_placed(chain, bones, path, world @ Matrix.Translation(poses[0].head), limits)),
        reach=tuple(radius * size for radius in solver.reach) if solver is not None else (),
        limited_reach=tuple(radius * size for radius in limited),
    )


def _solver(path: BoneTree, starts: Sequence[Q4], limits: Sequence[Limit], count: int | None = None) -> Solver:
    """The kernel's solver for a chain as it stands in its start pose, or for its first so many bones."""
    bones = list(zip(path.segments(starts), starts, limits, strict=True))[:count]
    return Solver(Figure([Joint(one.vector, one.rest, start, limit, one.inherits) for one, start, limit in bones]))


def _limit(bone: bpy.types.PoseBone, start: Q4) -> Limit:
    """The limit of a bone; none where its numbers make no sense, which the panel says."""
    return _readable(lambda: read_limit(bone, start)) or FREE


def _placed(
    chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], path: BoneTree, root: Matrix, limits: Sequence[Limit]
) -> Iterator[tuple[Outline, Matrix, V3, bool]]:
    """`Picture.limits` at the lengths of the bones, whose first head `root` takes from armature axes to the world."""
    rotations = [read_rotation(bone) for bone in bones]
    blocking = {bone.name for bone in chain.blocking_bones}
    for bone, frame, rotation, limit in zip(bones, path.frames(rotations), rotations, limits, strict=True):
        outline = limit_outline(limit)
        if outline.swing or outline.twist:
            matrix = root @ frame @ Matrix.Scale(bone.bone.length, 4)
            yield outline, matrix, rotated(rotation, Y_AXIS), bone.name in blocking


def placed_limit(owner: bpy.types.Object, bone: bpy.types.PoseBone, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """From the rest frame of a bone, in which its limit is given, at the bone's length, to the world."""
    frame = path_of(owner, [bone.name], depsgraph).frames([read_rotation(bone)])[0]
    evaluated = owner.evaluated_get(depsgraph)
    head = Matrix.Translation(pose_bones(evaluated)[bone.name].head)
    return evaluated.matrix_world @ head @ frame @ Matrix.Scale(bone.bone.length, 4)


def _limited_reach(solver: Solver) -> tuple[float, ...]:
    """Least and greatest distance of the tip from the root within the limits; where drawn by chance, a little less."""
    figure = solver.figure
    if all(limit.is_free for limit in figure.joint_limits):
        return ()
    limb = solver.limb_reach
    if limb is not None and limb[2] == 0:
        return limb[:2]
    random = Random(1).random
    drawn = ([limit.drawn(random(), random(), random()) for limit in figure.joint_limits] for _ in range(SAMPLES))
    reaches = [length(figure.placed(pose).joints[-1]) for pose in drawn]
    return min(reaches), max(reaches)


log = logging.getLogger(__name__)

EVERY = 6  # samples of the body's path between two points that are drawn
AHEAD = 1.0  # seconds of which the steps are drawn
ABOUT = 3.0  # seconds before and after of which footprints are
ARC = 8  # pieces in which the way of a foot through the air is drawn
CROSS = 0.03  # of a leg's reach: half the size of a refused foothold's mark


drawing = Drawing()


def touch() -> None:
    """Have all that is drawn made anew at the next redraw, since it may have changed."""
    state.revision += 1


def draw(context: bpy.types.Context) -> None:
    """Draw the overlay of the view's scene, where it is on."""
    scene, owner = context.scene, working_rig(context)
    if owner is None or owner.type != "ARMATURE":
        return
    settings, rig, frame = scene_settings(scene), rig_of(owner), scene.frame_current_final
    if not settings.show or not bones.is_shown(context, owner):
        return
    parts = parts_of(settings)

    def shapes() -> Shapes:
        chains = list(rig.chains) if settings.all_chains else [rig.active] if rig.active else []
        depsgraph = context.evaluated_depsgraph_get()
        found = shapes_of(pictures_of(owner, chains, depsgraph, "limited_reach" in parts), parts)
        if settings.show_walk:
            draw_walk(found, owner, frame)
        return found

    shown = (rig.active_index, settings.all_chains, frozenset(parts), settings.show_walk)
    walk = walk_key(owner, frame) if settings.show_walk else None
    drawing.draw(context, (state.revision, scene.name_full, owner.name_full, *shown, walk), shapes)


def walk_key(owner: bpy.types.Object, frame: float) -> object:
    """What the picture of a walk depends on."""
    walker = rig_of(owner).walker
    return (walker.digest, frame) if walker.on and walker.digest else None


def draw_walk(shapes: Shapes, owner: bpy.types.Object, frame: float) -> None:
    """Add the primitives of an armature's walk at a frame; none where there is none, or where it can't be read."""
    walker = rig_of(owner).walker
    try:
        plan = plan_of(owner) if walker.on else None
    except FabrikError:  # the panel tells
        return
    if plan is None:
        return
    places = [place for place, _ in plan.body]
    shapes.line("before", [*places[::EVERY], places[-1]])
    for leg, landing, matrix, _ in footprints_of(plan, frame, ABOUT):
        sole = [v3(matrix @ place) for place in outline(leg)]
        shapes.line("before" if landing <= frame else "target", [*sole, sole[0]])
    _steps(shapes, plan, frame)
    _support(shapes, plan, frame)


def _steps(shapes: Shapes, plan: WalkPlan, frame: float) -> None:
    """The steps under way and those of the next second: their ways, their ends, and what was refused for them."""
    for step in steps_between(plan, frame, frame + AHEAD * plan.fps):
        leg = plan.legs[step.leg]
        lift, land = (plan.first + time * plan.fps for time in (step.lift, step.land))
        way = [feet_at(plan, lift + (land - lift) * k / ARC)[step.leg].sole for k in range(ARC + 1)]
        shapes.line("target", way)
        shapes.dots("target", [way[-1]])
        arm = CROSS * leg.reach
        for place, _ in step.refused:
            for axis in ((arm, arm, 0.0), (arm, -arm, 0.0)):  # a cross that lies flat
                shapes.line("blocked", (minus(place, axis), plus(place, axis)))


def _support(shapes: Shapes, plan: WalkPlan, frame: float) -> None:
    """The polygon of the standing feet, in the order round their middle as seen from above."""
    feet = [foot.base for foot in feet_at(plan, frame) if foot.is_planted and not foot.is_hanging]
    if len(feet) < 2:
        return
    middle = scaled((sum(p[0] for p in feet), sum(p[1] for p in feet), sum(p[2] for p in feet)), 1.0 / len(feet))
    feet.sort(key=lambda place: atan2(place[1] - middle[1], place[0] - middle[0]))
    shapes.line("pin", [*feet, feet[0]])


def _draw_all(works: Sequence[Callable[[bpy.types.Context], None]], off: Callable[[], None]) -> None:
    """Draw; where that fails, log why and switch off what was drawn, so that it is not tried again."""
    for work in works:
        try:
            work(bpy.context)
        except Exception:
            log.exception("drawing failed and is switched off")
            off()


def _switch_off() -> None:
    state.forget()
    settings = scene_settings(bpy.context.scene)
    settings.show = settings.show_pins = False


def _switch_sheet_off() -> None:
    settings = scene_settings(bpy.context.scene)
    settings.show_strip = settings.show_contacts = False


def register() -> None:
    """Draw in every 3D View, timeline and dope sheet from now on."""
    view, dope_sheet = bpy.types.SpaceView3D, bpy.types.SpaceDopeSheetEditor
    world = draw, bones.draw_pins, bones.draw_trails, steps.draw_view, bones.draw_bone
    for space, works, off, when in (
        (view, world, _switch_off, "POST_VIEW"),
        (view, (steps.draw_pixels, bones.draw_name), _switch_off, "POST_PIXEL"),
        (dope_sheet, (sheet.draw,), _switch_sheet_off, "POST_PIXEL"),
    ):
        add: Any = space.draw_handler_add
        state.handles.append((space, add(_draw_all, (works, off), "WINDOW", when)))


def unregister() -> None:
    """Draw no more, and keep nothing."""
    while state.handles:
        space, handle = state.handles.pop()
        remove: Any = space.draw_handler_remove
        remove(handle, "WINDOW")
    drawing.forget()
    bones.drawing.forget()
    state.forget()

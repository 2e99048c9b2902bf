# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: the one owner of its draw handlers, and of what was drawn last in the 3D View.

Of chains that is a picture of each: its bones, goal, limits, reach and start pose. Of a planned walk it is the path of
the body, footprints, the steps of the next second, refused footholds, and the support. Of a recorded solve it is one of
its steps, and the error by step.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from math import atan2, log10
from random import Random
from typing import Any, TypeVar

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..actions.chain_edit import working_rig
from ..actions.solve import RecordedStep, Recording
from ..actions.status import length_text
from ..actions.walk.bake import footprints_of, outline
from ..errors import FabrikError
from ..gait.plan import WalkPlan, feet_at, steps_ahead
from ..kernel import FREE, Figure, Limit, Solver
from ..maths import ORIGIN, Q4, V3, Y_AXIS, distance, length, minus, plus, rotated, scaled, unit, v3
from ..rig.animation.channels import read_rotation
from ..rig.animation.keys import KeyedChannels
from ..rig.bones import owner_of_bone, pose_bones, resolve_bones
from ..rig.figure.goal_options import grown_by, unstretched
from ..rig.figure.groups import ChainSet, lacks_goal, sets_of
from ..rig.figure.joint_limits import path_of, read_limit
from ..rig.figure.kinematics import BoneTree
from ..rig.figure.reader import frame_of, read
from ..rig.figure.start_pose import read_starts
from ..rig.figure.uneven import ends_at
from ..rig.goal_kinds import GOAL_KINDS, left_of, options_of
from ..rig.goals import GoalPoints, goal_of, is_offset, read_points
from ..rig.limit_types import limit_outline
from ..rig.schema import FabrikChain, owner_of, rig_of
from ..rig.targets import resolve_point
from ..rig.walk_goals import shown_plan
from ..texts import Text, joined
from ..translations import iface_
from . import bones, sheet
from .settings import parts_of, scene_settings, state, step_of
from .shapes import Drawing, Picture, Shapes, paint, shapes_of, theme_colours, write

T = TypeVar("T")

NEARLY = 2.0  # times the tolerance that still counts as on target
SAMPLES = 400  # poses drawn to find how far a chain reaches within its limits
AIMED = 0.01  # share of the distance by which an axis may miss what it aims at


def _of_goal(
    chain: FabrikChain, tip: bpy.types.PoseBone, joints: tuple[V3, ...], depsgraph: bpy.types.Depsgraph
) -> Picture:
    """The picture of what the goal of a chain asks: which end, which rotation, the softened goal, where it aims."""
    length = sum(distance(a, b) for a, b in pairwise(joints))
    points = _readable(lambda: _goals(chain, depsgraph))
    target = v3(points.target) if points is not None else None
    if chain.aims:
        aim = _aim(chain, tip, target)
        is_reached = not aim or target is None or distance(aim[1], target) <= AIMED * distance(*aim)
        return Picture(joints, target=target, effector=joints[-2], aim=aim, is_reached=is_reached)
    effector = joints[-2 if chain.at_head else -1]
    soft = None
    if target is not None and chain.softened > 0.0 and chain.status != "NONE":
        soft = plus(target, scaled(unit(minus(joints[0], target)), chain.softened))
    goal = target if soft is None else soft
    kind, axes = GOAL_KINDS[chain.kind], owner_of(chain).matrix_world.to_3x3()
    off = minus(goal, effector) if goal is not None else ORIGIN
    if not kind.is_exact:
        off = v3(axes @ Vector(left_of(chain, v3(axes.inverted_safe() @ Vector(off)))))
    curves = kind.outline(options_of(chain)) if target is not None else ()
    about = tuple([tuple([plus(target or ORIGIN, v3(axes @ Vector(point))) for point in curve]) for curve in curves])
    is_reached = distance(off, ORIGIN) <= NEARLY * chain.tolerance * length
    turn = points.turn if points is not None else None
    return Picture(joints, target=target, effector=effector, turn=turn, soft=soft, is_reached=is_reached, about=about)


def _readable(read: Callable[[], T | None]) -> T | None:
    """What is read; None where that is refused, for the status of the chain says why."""
    try:
        return read()
    except FabrikError:
        return None


def _goals(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> GoalPoints | None:
    """Where the target is, or where a pin holds, and how it is turned; None for an offset, drawn at the limb itself."""
    if is_offset(chain) or lacks_goal(chain):
        return None
    return read_points(chain, depsgraph)


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
        for one in figure.goals:
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
    evaluated = owner.evaluated_get(depsgraph)
    world = evaluated.matrix_world.copy()
    poses = [pose_bones(evaluated)[bone.name] for bone in bones]
    grown = _readable(lambda: grown_by(chain, bones, set(), ())) or ()
    path = BoneTree.of(poses, unstretched([grown]))
    joints = (*(v3(world @ pose.head) for pose in poses), v3(world @ poses[-1].tail))
    starts = read_starts(ChainSet(owner, (chain,)), bones, KeyedChannels(owner, frame_of(depsgraph))).rotations
    limits = [_limit(bone, start) for bone, start in zip(bones, starts, strict=True)]
    starts = [limit.clamped(start) for limit, start in zip(limits, starts, strict=True)]
    size, stretch = sum(distance(a, b) for a, b in pairwise(joints)) / _solver(path, starts, limits).figure.size, 1.0
    if grown:  # which is measured as if it was not stretched, and where no scale differs between axes
        size, stretch = world.median_scale, chain.stretch
    count = 0 if chain.aims else len(bones) - chain.at_head
    solver = _solver(path, starts, limits, count) if count else None
    limited = _limited_reach(solver) if solver is not None and with_limited_reach else ()
    pole, blocking = goal_of(chain, "pole"), {bone.name for bone in chain.blocking_bones}
    placed = [
        (outline, placed_limit(owner, bone, depsgraph), rotated(read_rotation(bone), Y_AXIS), bone.name in blocking)
        for bone, outline in zip(bones, map(limit_outline, limits), strict=True)
        if outline.swing or outline.twist
    ]
    chain_axes = world @ Matrix.Translation(poses[0].head) @ Quaternion(path.base).to_matrix().to_4x4()
    return replace(
        _of_goal(chain, poses[-1], joints, depsgraph),
        before=tuple(v3(chain_axes @ Vector(joint)) for joint in path.place(starts)),
        pole=_readable(lambda: v3(resolve_point(*pole, depsgraph))) if pole is not None else None,
        limits=tuple(placed),
        reach=_stretched(solver.reach, size, stretch) if solver is not None else (),
        limited_reach=_stretched(limited, size, stretch),
    )


def _stretched(reaches: Sequence[float], size: float, stretch: float) -> tuple[float, ...]:
    """The least and the greatest reach in the world, this as far as the tip comes where the chain stretches."""
    return tuple(radius * size * (stretch if k else 1.0) for k, radius in enumerate(reaches))


def _solver(path: BoneTree, starts: Sequence[Q4], limits: Sequence[Limit], count: int | None = None) -> Solver:
    """The kernel's solver for a chain as it stands in its start pose, or for its first so many bones."""
    bones = list(zip(path.joints(starts).joints, starts, limits, strict=True))[:count]
    return Solver(Figure([joint._replace(start=start, limit=limit) for joint, start, limit in bones]))


def _limit(bone: bpy.types.PoseBone, start: Q4) -> Limit:
    """The limit of a bone; none where its numbers make no sense, which the panel says."""
    return _readable(lambda: read_limit(bone, start)) or FREE


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
    walker = rig.walker
    walk = (walker.digest, frame) if settings.show_walk and walker.on and walker.digest else None
    drawing.draw(context, (state.revision, scene.name_full, owner.name_full, *shown, walk), shapes)


def draw_walk(shapes: Shapes, owner: bpy.types.Object, frame: float) -> None:
    """Add the primitives of an armature's walk at a frame; none where there is none, or where it can't be read."""
    plan = shown_plan(owner)
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
    for step in steps_ahead(plan, frame):
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


# What is drawn of a recorded solve: one of its steps, and the error by step.

GRAPH = 220.0, 70.0  # width and height in pixels at scale 1
MARGIN = 60.0, 75.0  # from the corner of the view, where Blender tells of the last operator
DECADES = 7.0  # of error, from the chain's length down, over the height of the graph
TEXT_SIZE = 12.0  # pixels at scale 1
MOST_POINTS = 150  # of the graph
STEP_TEXTS = {  # by the kernel's names
    "start": Text("start"),
    "swing": Text("swing"),
    "backward": Text("backward"),
    "forward": Text("forward"),
    "descend": Text("descend"),
    "restart": Text("restart"),
    "end": Text("end"),
}


def current_step(manager: bpy.types.WindowManager) -> tuple[Recording, RecordedStep, int, int] | None:
    """The recording, the step that is looked at, its index and the number of steps; None without a recording."""
    recording = state.recording
    owner = bpy.data.objects.get(recording.rig) if recording else None
    if recording is None or owner is None or recording.chain not in rig_of(owner).chains:
        return None
    index, by_joint = step_of(manager)
    steps = recording.steps(by_joint)
    index = min(max(index, 0), len(steps) - 1)
    return recording, steps[index], index, len(steps)


def step_shapes(recording: Recording, step: RecordedStep) -> Shapes:
    """The chain at a step and the line to its target, in the world."""
    shapes = Shapes()
    shapes.line("before", recording.passes[0].joints)
    shapes.line("step", step.joints)
    shapes.dots("step", step.joints)
    if step.moved is not None:
        shapes.dots("target", [step.joints[step.moved]])
    shapes.line("residual", (step.joints[-1], recording.target))
    return shapes


def graph_shapes(errors: list[float], length: float, index: int, scale: float) -> Shapes:
    """The error by step as a curve on a logarithmic scale, with the step marked; in pixels.

    Errors, and the length of the chain, which is the top, are in scene units.
    """
    shapes, width, high, low, up = Shapes(), GRAPH[0] * scale, GRAPH[1] * scale, MARGIN[0] * scale, MARGIN[1] * scale

    def at(i: int, error: float) -> V3:
        height = 1.0 + log10(max(error / length, 1e-9)) / DECADES
        x = i / max(len(errors) - 1, 1)
        return low + width * x, up + high * min(max(height, 0.0), 1.0), 0.0

    shapes.line("before", ((low, up + high, 0.0), (low, up, 0.0), (low + width, up, 0.0)))
    stride = max(1, len(errors) // MOST_POINTS)
    shapes.line("step", [at(i, errors[i]) for i in range(0, len(errors), stride)])
    shapes.dots("target", [at(index, errors[index])])
    return shapes


def caption(scene: bpy.types.Scene, found: tuple[Recording, RecordedStep, int, int]) -> Text:
    """The step in words."""
    recording, step, index, count = found
    number = Text("{chain}: step {number} of {count}", chain=recording.chain, number=index + 1, count=count)
    words = [number, STEP_TEXTS[step.name]]
    words += [Text("joint {index}", index=step.moved)] if step.moved is not None else []
    return joined(", ", [*words, Text("{distance} off", distance=length_text(step.error, scene))])


def shown_step(context: bpy.types.Context) -> tuple[Recording, RecordedStep, int, int] | None:
    """The step, where the user works on its rig, and sees it."""
    found = current_step(context.window_manager)
    owner = working_rig(context)
    is_its = found is not None and owner is not None and owner.name == found[0].rig
    return found if is_its and owner is not None and bones.is_shown(context, owner) else None


def draw_step(context: bpy.types.Context) -> None:
    """Draw the step in the world."""
    found = shown_step(context)
    if found is not None:
        paint(context, step_shapes(found[0], found[1]), 1.5)


def draw_graph(context: bpy.types.Context) -> None:
    """Draw the graph and the caption in the corner of the view."""
    found = shown_step(context)
    if found is None:
        return
    recording, step, index, _ = found
    scale, colours = context.preferences.system.ui_scale, theme_colours(context.preferences)
    errors = [other.error for other in recording.steps(step_of(context.window_manager)[1])]
    length = sum(distance(a, b) for a, b in pairwise(step.joints))
    paint(context, graph_shapes(errors, length, index, scale))
    place = MARGIN[0] * scale, (MARGIN[1] + GRAPH[1] + 10.0) * scale
    write(iface_(caption(context.scene, found)), place, TEXT_SIZE * scale, colours["text"], has_shadow=False)


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


def register(back: ExitStack) -> None:
    """Draw in every 3D View, timeline and dope sheet until that is taken back, and nothing is kept."""
    for forget in (state.forget, bones.drawing.forget, drawing.forget):
        back.callback(forget)
    view, dope_sheet = bpy.types.SpaceView3D, bpy.types.SpaceDopeSheetEditor
    world = draw, bones.draw_pins, bones.draw_trails, draw_step, bones.draw_bone
    for space, works, off, when in (
        (view, world, _switch_off, "POST_VIEW"),
        (view, (draw_graph, bones.draw_name), _switch_off, "POST_PIXEL"),
        (dope_sheet, (sheet.draw,), _switch_sheet_off, "POST_PIXEL"),
    ):
        kind: Any = space
        handle = kind.draw_handler_add(_draw_all, (works, off), "WINDOW", when)
        back.callback(kind.draw_handler_remove, handle, "WINDOW")

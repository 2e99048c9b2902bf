# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk planned from the keys of its body, its contacts marked; whether it is old, and what there is to tell of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from math import ceil, inf, radians

import bpy
import numpy as np

from ...errors import ChainError, FabrikError, InvalidValueError, RigError, are_finite, place_of
from ...gait.feet import FeetPoses, Foothold, GivenStance, Refusal
from ...gait.gaits import CLIP
from ...gait.ground import STATIC, Plain, Terrain
from ...gait.legs import Leg, Reaching
from ...gait.path import BodyPath
from ...gait.plan import WalkPlan, stances_of, steps_ahead, to_text
from ...gait.planning import Walk, planning
from ...gait.settings import Settings
from ...maths import ORIGIN, Q4, V3, Z_AXIS, axes_of, conjugated, minus, multiplied, placed, plus, q4, turned, v3
from ...motion.contacts import FLAT, HEEL, TOE
from ...rig.animation.animation import HIDDEN_BY, Animated, is_still
from ...rig.animation.compat import fcurves_of, remove_curves
from ...rig.animation.keys import KeyedChannels
from ...rig.animation.staleness import ground_of, inputs_of
from ...rig.bones import pose_bones, resolve_bones
from ...rig.checks import check_rig
from ...rig.dependencies import keeps_state
from ...rig.figure.figure import RigFigure
from ...rig.figure.groups import ChainSet
from ...rig.figure.joint_limits import restarted_limits
from ...rig.figure.kinematics import head_of_root
from ...rig.figure.reader import carried, read_figure
from ...rig.schema import PREFIX, FabrikChain, rig_of, walker_of
from ...rig.terrain import MeshTerrain, Way, grounds_of, has_faces, read_piece
from ...rig.versions import bring_up_to_date
from ...rig.walk_goals import is_of_walker, keep_parsed, plan_of, rest_turn, shown_plan
from ...texts import Text, counted, enumerated, quoted, worded
from ..frames import Steps, check_range, frames_visited, go_to, part_of, rate_of, scene_of, to_the_end
from ..keep_pose import ReleaseReport, unposed
from ..motion import marks
from .clip import leave_clip, read_own
from .posture import key_posture, let_edit
from .setup import check_body, frame_for, measured

# What there is to tell of a planned walk at a frame: why footholds of the steps to come were refused.

REASONS = {
    Refusal.NO_GROUND: Text("no ground"),
    Refusal.SLOPE: Text("too steep"),
    Refusal.EDGE: Text("an edge"),
    Refusal.REACH: Text("out of reach"),
    Refusal.LIMITS: Text("beyond the limits of joints"),
    Refusal.FOOT: Text("another foot in the way"),
}


def refused_ahead(owner: bpy.types.Object, frame: float) -> str:
    """Why footholds were refused for the steps under way and of the next second, the most frequent reason first.

    Returns:
        "" where none were, where no walk is shown, and where it can't be read, which is told elsewhere.
    """
    plan = shown_plan(owner)
    steps = steps_ahead(plan, frame) if plan is not None else ()
    counts = Counter(Refusal(reason) for step in steps for _, reason in step.refused)
    told = [Text("{reason} ({count})", reason=REASONS[reason], count=count) for reason, count in counts.most_common()]
    return Text("Refused ahead: {reasons}", reasons=enumerated(told)) if told else ""


# What a walk is planned from: the body's path, the legs, the settings, and the ground.


def legs_now(owner: bpy.types.Object) -> tuple[tuple[Leg, ...], Reaching | None]:
    """The legs of a walker as they are now, with group, offset and home as the walker has them set.

    Returns:
        The legs, and what the limits of their joints leave; None where they have none.

    Raises:
        FabrikError: There are none, or one can't be measured.
    """
    rig = rig_of(owner)
    walker = rig.walker
    if not len(walker.legs):
        raise ChainError("it has no legs: add a walker first", rig=owner.name)
    gone = next((leg.name for leg in walker.legs if leg.name not in rig.chains), "")
    if gone:
        raise ChainError("the chain of this leg is gone: add the walker again", rig=owner.name, chain=gone)
    body = body_chain(owner)
    chains = [rig.chains[leg.name] for leg in walker.legs]
    frame = frame_for(owner, body.tip_bone, walker.upright)
    found, limits = measured(owner, chains, frame)
    pairs = zip(found, walker.legs, strict=True)
    legs = tuple(
        replace(leg, group=own.group, offset=own.offset, home=plus(leg.home, v3(own.home))) for leg, own in pairs
    )
    return legs, limits


def body_chain(owner: bpy.types.Object) -> FabrikChain:
    """The chain that is the body of a walker.

    Raises:
        FabrikError: It is gone, is of another bone, or can't be moved.
    """
    rig = rig_of(owner)
    chain = rig.chains.get(rig.walker.body)
    if chain is None or chain.tip_bone != rig.body_bone or chain.tip_bone not in pose_bones(owner):
        raise ChainError("its body bone is not the one that it had as a walker: add the walker again", rig=owner.name)
    check_body(owner, chain.tip_bone)
    return chain


class Grounds:
    """The ground of a walker, looked at frame by frame: at the end it is known which objects of it moved.

    Attributes:
        may_move: Whether something of it may stand elsewhere, or be shaped otherwise, in another frame.
    """

    def __init__(self, owner: bpy.types.Object, fps: float) -> None:
        self.owner, self.fps, self.may_move = owner, fps, False
        self._ways: dict[bpy.types.Object, Way] = {}

    def look(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Note where all objects of it stand in a frame; the first frame tells which they are.

        Raises:
            FabrikError: The terrain has no faces, or stands nowhere.
        """
        if not self._ways:
            collection = walker_of(self.owner).terrain
            found = grounds_of(self.owner, collection, depsgraph)
            self._ways = {thing: Way(self.fps) for thing in found}
            self.may_move = any(not is_still(thing) or keeps_state(thing) for thing in found)
            if collection is not None and not any(has_faces(thing, depsgraph) for thing in found):
                reason = Text("the terrain '{collection}' has no faces to walk on", collection=collection.name)
                raise InvalidValueError(reason, rig=self.owner.name)
        for thing, way in self._ways.items():
            way.matrices.append(thing.evaluated_get(depsgraph).matrix_world.copy())

    def terrain(self) -> Terrain:
        """The ground; level ground where there is none to see. Meshes are read as they are in the last frame.

        Raises:
            InvalidValueError: It stands nowhere.
        """
        depsgraph = bpy.context.evaluated_depsgraph_get()
        still, moving = [], []
        for thing, way in self._ways.items():
            moves = any(matrix != way.matrices[0] for matrix in way.matrices)
            piece = read_piece(thing, depsgraph, moves)
            if piece is not None and moves:
                moving.append((piece, way))
            elif piece is not None:
                still.append(piece)
        if not still and not moving:
            height = walker_of(self.owner).ground_height
            if not are_finite([height]):
                raise InvalidValueError("the ground height is not a finite number", rig=self.owner.name)
            return Plain(height)
        return MeshTerrain(still, moving)


def sampled(context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int]) -> Steps[Walk]:
    """Read what a walk is planned from: by the curves of the body alone, where nothing else moves it or the ground.

    Args:
        context: Its scene's frame is moved by each step; live posing has to rest (`actions.frames.frames_visited`).
        owner: The armature object of a walker.
        frames: First and last frame.

    Returns:
        The walk to plan: path, legs, settings (one, or one a frame), terrain and joint limits.

    Raises:
        FabrikError: The walker can't be read in some frame, which is named.
    """
    scene = scene_of(context)
    first, last = frames
    grounds = Grounds(owner, rate_of(scene))
    places: list[V3] = []
    rotations: list[Q4] = []
    settings: list[Settings] = []
    found: tuple[tuple[Leg, ...], Reaching | None] | None = None
    body: BodyKeys | None = None
    for frame in range(first, last + 1):
        is_visited = body is None or frame == last or body.is_carried or grounds.may_move
        if is_visited:
            go_to(scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        try:
            if is_visited:
                check_rig(owner, depsgraph)
                found = found or legs_now(owner)
                body = body or BodyKeys(owner)
                body.look(depsgraph)
                grounds.look(depsgraph)
            assert body is not None
            place, rotation = body.at(frame, depsgraph)
        except FabrikError as error:
            error.rig = error.rig or owner.name
            error.reason = Text("in frame {frame:g}, {reason}", frame=frame, reason=error.reason)
            raise
        places.append(place)
        rotations.append(rotation)
        settings.append(walker_of(owner).settings)
        yield (frame - first + 1) / (last - first + 1)
    path = BodyPath(first, grounds.fps, tuple(places), tuple(rotations))
    kinds = tuple(dict.fromkeys(settings))
    assert found is not None
    several = kinds if len(kinds) == 1 else tuple(settings)
    legs, reaching = found
    if not any(each.gait == CLIP for each in kinds):
        return Walk(path, legs, several, grounds.terrain(), reaching)
    own = read_own(owner, legs, grounds.fps).cycle
    return Walk(path, own.legs, several, grounds.terrain(), reaching, own.body)


class BodyKeys:
    """Where the body of a walker stands from frame to frame as it is keyed, whatever was written there since.

    Attributes:
        is_carried: Whether more than keys of the body bone decides, so that each frame has to be evaluated.

    Raises:
        FabrikError: The body can't be moved.
    """

    def __init__(self, owner: bpy.types.Object) -> None:
        body = body_chain(owner)
        self._chain_set = ChainSet(owner, (body,), body.tip_bone)
        self._rest = rest_turn(owner, body.tip_bone)
        animated = Animated(owner)
        motion = animated.motions_alone([self._chain_set])[self._chain_set.names]
        self._changes = motion.changes or bool(motion.settings)
        is_set = any(path.startswith((PREFIX, *HIDDEN_BY)) for path in animated.of_object)
        self.is_carried = self._changes or motion.is_carried or is_set
        self._figure: RigFigure | None = None

    def look(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Find where the body stands in the frame of a depsgraph, but for its keys.

        Raises:
            FabrikError: It can't be posed.
        """
        assert depsgraph.scene is not None
        owner, frame, found = self._chain_set.owner, depsgraph.scene.frame_current_final, self._figure
        if found is not None:
            found = carried(found, owner, depsgraph) if found.is_even and not self._changes else None
        self._figure = found or read_figure(self._chain_set, depsgraph)
        self._keyed = KeyedChannels(owner, frame)

    def at(self, frame: float, depsgraph: bpy.types.Depsgraph) -> tuple[V3, Q4]:
        """Place and rotation of the body in the world, the latter from how it is at rest.

        Args:
            frame: That which was looked at last, or any where nothing carries the body.
            depsgraph: Evaluated.

        Raises:
            FabrikError: The keys make no pose.
        """
        figure, owner = self._figure, self._chain_set.owner
        assert figure is not None, "it was looked at"
        self._keyed.frame = frame
        start = figure.start.at(owner, self._keyed)
        limit = restarted_limits(owner, figure.bones, figure.limits, start)[0]
        root = pose_bones(owner.evaluated_get(depsgraph))[figure.bones[0]]
        space = figure.space._replace(origin=head_of_root(root, start.location))
        turn = multiplied(figure.bodies.joints[0].rest, limit.clamped(start.rotations[0]))
        return space.to_world(ORIGIN), multiplied(space.to_world_turn(turn), conjugated(self._rest))


# The contacts of its feet: a plan marks them, and the next one takes those that were set by hand as given.

SAME_TIME = 1e-6  # frames
AFTER_LAST = 1e-4  # seconds after its last frame that a foot lifts whose contact ends there
ROLLED = radians(3.0)  # from which on a foot stands on heel or toes alone


def given_by_hand(owner: bpy.types.Object, walk: Walk, old: tuple[int, int] | None) -> tuple[GivenStance, ...]:
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
    found = list[GivenStance]()
    for mark in marks.contacts_of(owner):
        is_as_planned = (mark.bone, mark.first, mark.last) in planned or not planned
        if mark.bone not in bones or mark.last < first or mark.first > last or (is_as_planned and not any(mark.place)):
            continue
        land = lands.get((mark.bone, mark.first), (mark.first - first) / path.fps)
        lift = lifts.get((mark.bone, mark.last), (mark.last - first) / path.fps + AFTER_LAST)
        land, lift = -1.0 if mark.first <= first else land, inf if mark.last >= last else lift
        leg = bones[mark.bone]
        found.append(GivenStance(leg, land, lift, _foothold(owner, mark, walk.legs[leg], walk.terrain)))
    return tuple(found)


def _planned(
    owner: bpy.types.Object, old: tuple[int, int] | None
) -> Iterator[tuple[str, int, int, GivenStance, float]]:
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
        marks.check_marks(owner)
    except RigError as error:
        return [Text("the contacts of its feet are not marked: {reason}", reason=error.reason)]
    marks.ensure_action(owner)
    kinds = np.select([np.abs(feet.pitches) <= ROLLED, feet.pitches > 0.0], [FLAT, TOE], HEEL)
    end = plan.first + kinds.shape[1] - 1
    first, last = old or (plan.first, end)
    frames = range(min(plan.first, first), max(end, last) + 1)
    tracks = np.zeros((len(plan.legs), len(frames), marks.WIDTH))
    for one in stances_of(plan):
        assert one.foothold is not None
        first, last = _frames(plan, one, end)
        own = tracks[one.leg, first - frames[0] : last - frames[0] + 1]
        own[:, marks.KIND] = kinds[one.leg, first - plan.first : last - plan.first + 1]
        own[:, marks.GROUND] = marks.ground_number(owner, _ground(terrain, one.foothold.surface))
        if one.foothold.is_given:
            leg, hold = plan.legs[one.leg], one.foothold
            turn = multiplied(hold.rotation, rest_turn(owner, _foot(owner, leg).name))
            own[:, marks.PLACE] = *placed(hold.place, hold.rotation, leg.ankle), *turn
    for leg, track in zip(plan.legs, tracks, strict=True):
        marks.write_track(owner, _foot(owner, leg), track, frames)
    return []


def forget_marks(owner: bpy.types.Object) -> None:
    """Take the contacts away of the feet of a walker that was planned."""
    feet = {chain.tip_bone for chain in rig_of(owner).chains if chain.name in walker_of(owner).legs}
    paths = tuple(marks.contact_path(pose_bones(owner)[name]) for name in feet if name in pose_bones(owner))
    if walker_of(owner).digest and paths:
        remove_curves([curve for curve in fcurves_of(owner) if curve.data_path.startswith(paths)])


def _foot(owner: bpy.types.Object, leg: Leg) -> bpy.types.PoseBone:
    """The bone of a leg that bears the marks of its contacts."""
    return resolve_bones(owner, rig_of(owner).chains[leg.name])[-1]


def _frames(plan: WalkPlan, stance: GivenStance, end: int) -> tuple[int, int]:
    """First and last frame of a stance, up to the end of the walk."""
    land, lift = max(stance.land, 0.0) * plan.fps, min(stance.lift, plan.last) * plan.fps
    return plan.first + ceil(land - SAME_TIME), min(plan.first + ceil(lift - SAME_TIME) - 1, end)


def _ground(terrain: Terrain, surface: int) -> bpy.types.Object | None:
    """The object of a surface that moves; None for what stands still."""
    if surface <= STATIC or not isinstance(terrain, MeshTerrain):
        return None
    name = terrain.moving[surface][0].name
    return next((one for one in bpy.data.objects if one.name_full == name), None)


def _foothold(owner: bpy.types.Object, contact: marks.Contact, leg: Leg, terrain: Terrain) -> Foothold | None:
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


# Plan a walk, keep it with the armature, and tell whether it is old.

STAMP = re.compile(r"(?P<first>-?\d+) (?P<last>-?\d+) (?P<inputs>\S+)(?: (?P<ground>\S+))?")  # see `stamp_of`
SAMPLING = 0.5  # share of the work until all frames are read


def plan_walk(
    context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int], *, is_new: bool = False
) -> ReleaseReport:
    """Plan a walk at once; see `plan_steps`."""
    return to_the_end(plan_steps(context, owner, frames, is_new=is_new))


def plan_steps(
    context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int], *, is_new: bool = False
) -> Steps[ReleaseReport]:
    """Plan the walk of a walker over a range of frames; at the end it is kept, and live posing goes as planned.

    Args:
        context: Its scene's frames are visited, and the frame is put back.
        owner: The armature object.
        frames: First and last frame; before and after them it stands.
        is_new: Whether contacts that were set by hand do not count.

    Returns:
        What else was done, and what could not be as asked.

    Raises:
        FabrikError: It can't be planned; what was planned before stays.
    """
    scene = scene_of(context)
    check_range(*frames, 1)
    body_chain(owner)
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
    with ExitStack() as back:
        if walker_of(owner).clips:  # where it can't be planned, it plays its clip again
            back.callback(leave_clip(owner))
        with frames_visited(scene):
            walk = yield from part_of(sampled(context, owner, frames), 0.0, SAMPLING)
        old = planned_frames(owner)
        with place_of(rig=owner.name):
            given = given_by_hand(owner, walk, old) if not is_new else ()
            plan = yield from part_of(planning(replace(walk, given=given)), SAMPLING, 1.0)
        back.pop_all()
    bring_up_to_date(owner)
    feet = plan.paths.at(np.arange(frames[1] - frames[0] + 1) / plan.fps)
    try:
        found = key_posture(context, owner, plan, frames, feet)
    except FabrikError as error:
        found = ReleaseReport([], [Text("trunk, arms and toes are not keyed: {reason}", reason=error.reason)])
    let_edit(owner)
    unmarked = mark_plan(owner, plan, walk.terrain, feet, old)
    walker, stamp = walker_of(owner), stamp_of(owner, scene, frames)
    walker.plan, walker.inputs = to_text(plan), stamp
    walker.digest = plan.digest
    keep_parsed(plan)
    walker.on = rig_of(owner).live = True
    steps = counted(sum(map(len, plan.steps)), "1 step", "{count} steps")
    done = Text("{steps} in frames {first} to {last}", steps=steps, first=frames[0], last=frames[1])
    notes = [*map(worded, plan.told), *unmarked, *found.warnings, *_switched_off(owner)]
    if not any(plan.steps):
        notes.insert(0, Text("no foot steps: key the way of '{chain}', or widen the frames", chain=walker.body))
    return ReleaseReport([done, *found.done], notes)


def _switched_off(owner: bpy.types.Object) -> list[str]:
    """That chains of the walker are switched off, as a bake leaves them, so that these do not walk."""
    rig = rig_of(owner)
    chains = [rig.chains[name] for name in (rig.walker.body, *(leg.name for leg in rig.walker.legs))]
    off = [chain.name for chain in chains if not chain.enabled]
    return [Text("switched off, and so not walking: {chains}", chains=quoted(off))] if off else []


def stamp_of(owner: bpy.types.Object, scene: bpy.types.Scene, frames: tuple[int, int]) -> str:
    """A text that is kept with a planned walk: its frames, and digests of what can be seen of inputs and ground.

    A walk is old where the text would be another one now.
    """
    first, last = frames
    layer = bpy.context.view_layer
    depsgraph = layer.depsgraph if layer is not None else None
    ground = ground_of(owner, depsgraph) if depsgraph is not None else ""
    return f"{first} {last} {inputs_of(owner, scene, frames)} {ground}".strip()


def planned_frames(owner: bpy.types.Object) -> tuple[int, int] | None:
    """First and last frame of the walk that was planned; None where there is none."""
    found = STAMP.fullmatch(walker_of(owner).inputs)
    return (int(found["first"]), int(found["last"])) if found is not None else None


def is_baked(owner: bpy.types.Object) -> bool:
    """Whether the keys of a bake play in place of the walk that was planned."""
    rig = rig_of(owner)
    own = [one.is_baked and not one.enabled for one in rig.chains if is_of_walker(one, rig.walker)]
    return all(own) and bool(own)


def what_is_old(owner: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Why the planned walk is not what would be planned now, as a sentence; "" where that can't be seen."""
    frames = planned_frames(owner)
    if not walker_of(owner).digest or frames is None or is_baked(owner):
        return ""
    try:
        plan_of(owner)
    except FabrikError as error:
        return worded(error.reason)
    then, now = map(STAMP.fullmatch, (walker_of(owner).inputs, stamp_of(owner, scene, frames)))
    assert then is not None
    assert now is not None
    if then["inputs"] != now["inputs"]:
        return Text("path, legs, settings or contacts changed since the walk was planned")
    is_same = None in (then["ground"], now["ground"]) or then["ground"] == now["ground"]  # 1.0.0 kept none
    return "" if is_same else Text("the ground changed since the walk was planned")

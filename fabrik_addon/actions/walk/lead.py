# SPDX-License-Identifier: GPL-3.0-or-later
"""A walker led by the mouse, and the walk recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import bpy
import numpy as np

from ...errors import BoneError, ChainError, place_of
from ...gait.cycle import liveliness
from ...gait.feet import Foothold
from ...gait.gaits import goes_by_cycle
from ...gait.hand_walk import HandWalk, Pose, Steering
from ...maths import ORIGIN, V3, Doubles, conjugated, distance, minus, multiplied, plus, q4, rotated, slerp
from ...rig.animation.channels import channel_of, read_values, stored
from ...rig.animation.curves import PLAIN, Keys
from ...rig.bones import names_if_any, pose_bones
from ...rig.checks import check_rig
from ...rig.figure.figure import RigFigure
from ...rig.figure.groups import ChainSet, set_of
from ...rig.figure.pose_writer import updated, write_pose
from ...rig.figure.reader import FactsByRig, read_figure, read_goals
from ...rig.figure.solve import posed
from ...rig.goals import GoalPoints, read_held
from ...rig.schema import FabrikChain, owner_of, rig_of
from ...rig.walk_goals import is_walked, rest_turn, set_led_poses
from ...texts import Text
from ..bake.checks import check_action
from ..bake.keys import Destination
from ..drag.drag import leave, pose_restorer
from ..drag.scope import moved_chains
from ..figure_pose import FigurePose
from ..frames import check_range, frames_visited, go_to, rate_of, scene_of
from ..keep_pose import ReleaseReport, resume_live
from ..live.state import state as live_state
from ..motion.clips import write_keys
from .clip import read_own
from .plan import Grounds, body_chain, legs_now, plan_walk
from .posture import end_editing, keyed_by_hand, posture_while_led, rests

SETTLING = 1.0 / 60.0  # seconds of a step of those after the end, in which feet land that are in the air
SETTLED = 0.01  # of a leg's reach, by which the body may stand aside of its feet
LONGEST_SETTLING = 120  # of these steps


@dataclass(slots=True)
class LedWalker:
    """A walker that is being led.

    Attributes:
        rig: Name of the armature object.
        walk: What its feet do.
        steering: Where its body goes.
        chains: Names of the chains that are solved together.
        figure: These, to be solved from the pose in which they stood at first; what trunk and arms ask for is let go.
        posture: What tells how trunk and arms are held (`posture.posture_while_led`); None where they stay.
        free: By the bones of these their joints.
        restore: Puts back the pose, and live posing as it was.
    """

    rig: str
    walk: HandWalk
    steering: Steering
    chains: tuple[str, ...]
    figure: RigFigure
    posture: Callable[[float, float], dict[str, Doubles]] | None
    free: dict[str, int]
    restore: Callable[[], None]

    @property
    def owner(self) -> bpy.types.Object:
        """The armature object.

        Raises:
            ChainError: It is gone.
        """
        found = bpy.data.objects.get(self.rig)
        if found is None:
            raise ChainError("it is gone", rig=self.rig)
        return found

    def poses(self) -> Mapping[str, Pose]:
        """Where feet and body are now; see `rig.walk_goals.set_led_poses`."""
        offset, tilt = self.walk.body()
        place, rotation = self.steering.place, self.steering.rotation
        found = {
            leg.name: (foot.ankle, foot.rotation) for leg, foot in zip(self.walk.legs, self.walk.poses(), strict=True)
        }
        return {**found, "": (plus(place, offset), multiplied(tilt, rotation))}

    def held(self) -> RigFigure:
        """The chains, to be solved from where trunk and arms are held now: the livelier it walks, the more."""
        walk, turns = self.walk, self.figure.starts
        share = float(liveliness(walk.pace)) ** 2
        found = self.posture(walk.phase, walk.pace) if self.posture is not None and share > 0.0 else {}
        for name, joint in self.free.items():
            if name in found:
                turns[joint] = slerp(turns[joint], q4(found[name].tolist()), share)
        return self.figure.started(turns) if found else self.figure


def begin(context: bpy.types.Context, owner: bpy.types.Object) -> LedWalker:
    """Take a walker by its body; nothing moves.

    Raises:
        FabrikError: It can't be led; nothing was changed.
    """
    depsgraph, scene = context.evaluated_depsgraph_get(), scene_of(context)
    check_rig(owner, depsgraph)
    (legs, reaching), body = legs_now(owner), body_chain(owner)
    ground = Grounds(owner, rate_of(scene))
    ground.look(depsgraph)
    settings = rig_of(owner).walker.settings
    at = _stands(owner, body, depsgraph)
    has_clip = legs[0].cycle is not None and goes_by_cycle(legs, settings)
    own = read_own(owner, legs, rate_of(scene)) if has_clip else None
    walk = HandWalk(legs, settings, ground.terrain(), at, reaching, own.cycle.body if own is not None else None)
    chains = rig_of(owner).chains
    feet = {leg.name: _stands(owner, chains[leg.name], depsgraph) for leg in legs}
    ankles = zip(legs, feet.values(), strict=True)
    walk.stand_at([Foothold(minus(place, rotated(turn, leg.ankle)), turn) for leg, (place, turn) in ankles])
    steering = Steering(*at, walk.fastest, settings.gravity)
    set_led_poses(owner.name_full, {**feet, "": at})
    try:
        chain_set = set_of(owner, body)
        figure = FigurePose.read(chain_set, depsgraph).as_started
        posture = posture_while_led(context, owner, own) if walk.by_cycle else None
    except BaseException:
        set_led_poses(owner.name_full, None)
        raise
    also = partial(set_led_poses, owner.name_full, None)
    restore = pose_restorer(owner, figure, pauses=rig_of(owner).live, also=also)
    loose = {one.name for one in chain_set.chains if not (is_walked(one) or one.pin) and rests(owner, one)}
    posed = {name for one in chain_set.chains if one.name not in loose for name in names_if_any(owner, one)}
    held = posed | keyed_by_hand(owner)
    free = {name: joint for joint, name in enumerate(figure.bones) if name not in held}
    asked = [one.let_go if one.chain in loose else one for one in figure.goals]
    led = LedWalker(owner.name, walk, steering, chain_set.names, figure.with_goals(asked), posture, free, restore)
    live_state.held = True
    live_state.paused = live_state.paused or rig_of(owner).live
    return led


def _stands(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Pose:
    """Where the effector of a chain stands in the world, and the turn of its tip bone from how it is at rest."""
    held = read_held(owner.evaluated_get(depsgraph), chain.tip_bone, chain.at_head)
    return held.location, multiplied(held.rotation, conjugated(rest_turn(owner, chain.tip_bone)))


def lead_to(context: bpy.types.Context, led: LedWalker, wanted: V3, span: float) -> None:
    """Let a walker go on for some seconds towards a point of the world, whose height does not count, and pose it.

    Raises:
        FabrikError: Armature or chains are gone, or can't be posed any more.
    """
    owner, walk = led.owner, led.walk
    pose = led.steering.go(wanted, span, walk.strain)
    walk.move(walk.time + span, pose, led.steering)
    set_led_poses(owner.name_full, led.poses())
    depsgraph = context.evaluated_depsgraph_get()
    figure = led.held()
    points = read_goals(_chain_set(led), figure, depsgraph, {})
    item = posed(figure, points, owner, depsgraph)
    write_pose(owner, item.pose)


def _chain_set(led: LedWalker) -> ChainSet:
    chains, bones = rig_of(led.owner).chains, pose_bones(led.owner)
    gone = [name for name in led.chains if name not in chains]
    if gone:
        raise ChainError("it is gone", rig=led.rig, chain=gone[0])
    lost = [name for name in led.figure.bones if name not in bones]
    if lost:
        raise BoneError("it is gone", rig=led.rig, bone=lost[0])
    return ChainSet(led.owner, tuple(chains[name] for name in led.chains), rig_of(led.owner).body_bone)


def settle(context: bpy.types.Context, led: LedWalker, *, stays: bool) -> None:
    """Let the feet land that are in the air, the body come over them, if it may; trunk and arms are as at first."""
    walk, steering = led.walk, led.steering
    steering.wanted, steering.wandering, steering.faces_way = None, ORIGIN, False
    for _ in range(LONGEST_SETTLING):
        over = steering.place if stays else walk.over_feet
        if not walk.is_stepping and distance(over, steering.place) <= SETTLED * walk.size:
            break
        lead_to(context, led, over, SETTLING)
    walk.pace = 0.0
    lead_to(context, led, steering.place, 0.0)


def leave_led(context: bpy.types.Context, led: LedWalker) -> ReleaseReport:
    """Let go of a walker in the pose in which it stands, so that the next solve leaves it there.

    A walk that was planned is switched off: it would take the pose back.

    Raises:
        FabrikError: Armature or chains are gone.
    """
    owner = led.owner
    settle(context, led, stays=False)
    walked = {chain.name for chain in _chain_set(led).chains if is_walked(chain)}
    set_led_poses(owner.name_full, None)
    live_state.held = False
    updated(context)
    walker, notes = rig_of(owner).walker, list[str]()
    if walker.on and walker.digest:
        notes.append(Text("the planned walk is switched off"))
    walker.on = False
    if end_editing(owner, walked):
        notes.append(Text("its controls edit it again once it is planned anew"))
    try:
        chains = moved_chains(owner, led.figure, has_body=True)
        ended = leave(context, owner, (led.figure, chains), set(led.chains) - walked)
    finally:
        if rig_of(owner).live:
            resume_live()
    return ReleaseReport([*notes, *ended.done], ended.warnings)


# The way of a walk that was led by hand becomes keys of the body, along which the walk is planned.


def check_recording(owner: bpy.types.Object) -> None:
    """Refuse a walker whose body's way can't be keyed so that the keys play.

    Raises:
        FabrikError: Its action is linked or shared, curves of its body are locked or muted, or NLA strips mix in.
    """
    body = body_chain(owner)
    check_action(owner, [ChainSet(owner, (body,), body.tip_bone)], "NEW_ACTION")


def keep_recording(context: bpy.types.Context, led: LedWalker) -> ReleaseReport:
    """End a walk by hand, and plan the walk along the way on which the body was led, from the scene's frame on.

    The way becomes keys of the body bone, one a frame, in a copy of the action, and the scene lasts as long as it. Live
    posing is switched on.

    Args:
        context: Its scene's frames are visited, and its frame is put back.
        led: From `begin`.

    Returns:
        What came of it, as of *Plan Walk*.

    Raises:
        FabrikError: Armature or chains are gone, or the path can't be keyed or walked; nothing was kept.
    """
    scene, owner = scene_of(context), led.owner
    check_recording(owner)
    settle(context, led, stays=True)
    set_led_poses(owner.name_full, None)
    live_state.held = live_state.paused = False
    way = led.walk.path(rate_of(scene))
    frames = scene.frame_current, scene.frame_current + len(way) - 1
    check_range(*frames, 1)
    body = body_chain(owner)
    with ExitStack() as back:
        with place_of(rig=owner.name, chain=body.name):
            with frames_visited(scene):
                keys = _path_keys(context, body, way, frames[0])
            destination = Destination(owner, "NEW_ACTION", "Walk")
            back.callback(destination.take_back)
            write_keys(owner, keys).flush()
        told = plan_walk(context, owner, frames, is_new=True)
        destination.finish()
        back.pop_all()
    scene.frame_end = max(scene.frame_end, frames[1])
    resume_live()
    return told


def _path_keys(context: bpy.types.Context, body: FabrikChain, way: Sequence[Pose], first: int) -> list[Keys]:
    """The keys of the body bone, one a frame, that bring it onto the path; the scene is taken to each frame."""
    owner, scene, rows = owner_of(body), scene_of(context), dict[str, list[list[float]]]()
    bone = pose_bones(owner)[body.tip_bone]
    turning = channel_of(bone.rotation_mode)[0]
    for frame, (place, rotation) in enumerate(way, first):
        go_to(scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        figure = read_figure(ChainSet(owner, (body,), bone.name), depsgraph, FactsByRig(frame))
        channels = figure.channels[0]
        goal = GoalPoints(place, turn=multiplied(rotation, rest_turn(owner, bone.name)))
        item = posed(figure, [goal], owner, depsgraph)
        plain = figure.plain_values(item.shift, item.factors)
        for (_, name), own in zip(figure.plain_channels, plain, strict=True):
            rows.setdefault(name, []).append(stored(own))
        if channels is not None:
            turns = rows.setdefault(turning, [])
            near = turns[-1] if turns else channels.near  # signs and whole turns run on from the frame before
            turns.append(stored(replace(channels, near=near).values(item.rotations[0].tolist(), read_values(bone))))
    frames = np.arange(first, first + len(way), dtype=np.float64)
    found, span = list[Keys](), (float(frames[0]), float(frames[-1]))
    for name, values in rows.items():
        width, mode = len(values[0]), bone.rotation_mode if name == turning else PLAIN
        told = bone.path_from_id(name), mode, bone.name, range(width), [*getattr(bone, name)]
        found.append(Keys(*told, np.array(values), np.zeros(width, dtype=np.bool_), frames, "LINEAR", span))
    return found

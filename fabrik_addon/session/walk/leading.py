# SPDX-License-Identifier: GPL-3.0-or-later
"""A walker that is led by hand: its body follows a point, its feet step as it moves, and the way can be recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy

from ...errors import BoneError, ChainError
from ...gait import Foothold, HandWalk, Leg, Moment, RecordedWalk, Steering
from ...maths import Q4, V3, conjugated, minus, multiplied, plus, rotated
from ...rig.chain_bones import pose_bones
from ...rig.channels import KeptChannels, channel_of
from ...rig.checks import check_rig
from ...rig.evaluating import updated
from ...rig.figures import ChainSet, set_of
from ...rig.goals import read_points
from ...rig.held import read_held
from ...rig.pose_writer import write_pose
from ...rig.prepared import Prepared
from ...rig.schema import FabrikChain, rig_of
from ...rig.walk_goals import is_walked, rest_turn, set_led_poses
from ...texts import Text
from ..dragging.drag import leave
from ..dragging.scope import moved_chains
from ..figure_pose import FigurePose
from ..keep_pose import LetGo, resume_live
from ..live.known import state as live_state
from ..posing import posed
from .sampling import Grounds, body_chain, legs_now

SETTLING = 1.0 / 60.0  # seconds of a step of those after the end, in which feet land that are in the air
LONGEST_SETTLING = 120  # of these steps

Pose = tuple[V3, Q4]


class Start(NamedTuple):
    """Offset and tilt that the feet would give the body when it is grabbed.

    They are subtracted from then on, so that grabbing moves nothing.

    Attributes:
        offset: To the body's place, world space.
        tilt: Rotation to follow the body's own.
    """

    offset: V3
    tilt: Q4

    def carried(self, body: Pose) -> Pose:
        """What an offset and a tilt, as `HandWalk.body` gives them, are against those at first."""
        return minus(body[0], self.offset), multiplied(body[1], conjugated(self.tilt))


@dataclass(slots=True)
class Led:
    """A walker that is being led.

    Attributes:
        rig: Name of the armature object.
        walk: What its feet do.
        steering: Where its body goes.
        start: How its feet would have carried the body at first.
        chains: Names of the chains that are solved together.
        prepared: These, to be solved from the pose in which they stood at first.
        restore: Puts back the pose, and live posing as it was.
        recording: What was shown so far.
    """

    rig: str
    walk: HandWalk
    steering: Steering
    start: Start
    chains: tuple[str, ...]
    prepared: Prepared
    restore: Callable[[], None]
    recording: RecordedWalk = field(default_factory=RecordedWalk)

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
        """Where feet and body are now; see `rig.walk_goals.Parsed.poses_at`."""
        offset, tilt = self.start.carried(self.walk.body())
        place, rotation = self.steering.place, self.steering.rotation
        found = {
            leg.name: (foot.ankle, foot.rotation) for leg, foot in zip(self.walk.legs, self.walk.poses(), strict=True)
        }
        return {**found, "": (plus(place, offset), multiplied(tilt, rotation))}


def begin(context: bpy.types.Context, owner: bpy.types.Object) -> Led:
    """Take a walker by its body; nothing moves.

    Args:
        context: Its view layer is evaluated, and has the armature.
        owner: The armature object of a walker.

    Raises:
        FabrikError: It can't be led; nothing was changed.
    """
    depsgraph, scene = context.evaluated_depsgraph_get(), context.scene
    assert scene is not None
    check_rig(owner, depsgraph)
    found, body = legs_now(owner), body_chain(owner)
    ground = Grounds(owner, scene.render.fps / scene.render.fps_base)
    ground.look(depsgraph)
    settings = rig_of(owner).walker.settings
    at = _stands(owner, body, depsgraph)
    walk = HandWalk(found.legs, settings, ground.terrain(), at, found.reaching)
    chains = rig_of(owner).chains
    walk.stand_at([_foothold(leg, _stands(owner, chains[leg.name], depsgraph)) for leg in found.legs])
    steering = Steering(*at, walk.fastest, settings.gravity)
    start = Start(*walk.body())
    set_led_poses(
        owner.name_full, {leg.name: _stands(owner, chains[leg.name], depsgraph) for leg in found.legs} | {"": at}
    )
    try:
        chain_set = set_of(owner, body)
        prepared = FigurePose.read(chain_set, depsgraph).as_started
    except BaseException:
        set_led_poses(owner.name_full, None)
        raise
    led = Led(owner.name, walk, steering, start, chain_set.names, prepared, _restorer(owner, prepared))
    live_state.held = True
    live_state.paused = live_state.paused or rig_of(owner).live
    led.recording.add(Moment(0.0, at, start.carried(walk.body())))
    return led


def _stands(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Pose:
    """Where the effector of a chain stands in the world, and the turn of its tip bone from how it is at rest."""
    held = read_held(owner.evaluated_get(depsgraph), chain.tip_bone, chain.effector)
    return held.location, multiplied(held.rotation, conjugated(rest_turn(owner, chain.tip_bone)))


def _foothold(leg: Leg, at: Pose) -> Foothold:
    """Where a foot stands whose ankle is at a pose."""
    return Foothold(minus(at[0], rotated(at[1], leg.ankle)), at[1])


def _restorer(owner: bpy.types.Object, prepared: Prepared) -> Callable[[], None]:
    """What puts back the bones and live posing as they stand now."""
    rig, full, pauses = owner.name, owner.name_full, rig_of(owner).live
    channels = [(name, channel_of(pose_bones(owner)[name].rotation_mode)[0]) for name in prepared.bones]
    channels += prepared.plain_channels
    before = KeptChannels(owner, channels)

    def restore() -> None:
        live_state.held = False
        set_led_poses(full, None)
        found: bpy.types.Object | None = bpy.data.objects.get(rig)
        if found is not None and found.pose is not None:
            before.put_back(found)
        if pauses:
            resume_live()

    return restore


def lead_to(context: bpy.types.Context, led: Led, wanted: V3, span: float) -> None:
    """Let a walker go on towards a point, and pose it.

    Args:
        context: Its view layer is evaluated.
        led: From `begin`.
        wanted: For the body, in world space; its height does not count.
        span: Seconds that went by.

    Raises:
        FabrikError: Armature or chains are gone, or can't be posed any more.
    """
    owner, walk = led.owner, led.walk
    pose = led.steering.go(wanted, span, walk.holds)
    walk.move(walk.time + span, pose)
    led.recording.add(Moment(walk.time, pose, led.start.carried(walk.body())))
    set_led_poses(owner.name_full, led.poses())
    depsgraph = context.evaluated_depsgraph_get()
    points = [read_points(chain, depsgraph) for chain in _chain_set(led).chains]
    item = posed(led.prepared, points, owner, depsgraph)
    write_pose(owner, item.pose)


def _chain_set(led: Led) -> ChainSet:
    chains, bones = rig_of(led.owner).chains, pose_bones(led.owner)
    gone = [name for name in led.chains if name not in chains]
    if gone:
        raise ChainError("it is gone", rig=led.rig, chain=gone[0])
    lost = [name for name in led.prepared.bones if name not in bones]
    if lost:
        raise BoneError("it is gone", rig=led.rig, bone=lost[0])
    return ChainSet(led.owner, tuple(chains[name] for name in led.chains), rig_of(led.owner).body_bone)


def settle(context: bpy.types.Context, led: Led) -> None:
    """Let the feet land that are in the air, the body where it is."""
    for _ in range(LONGEST_SETTLING):
        if not led.walk.is_stepping:
            return
        lead_to(context, led, led.steering.place, SETTLING)


def leave_led(context: bpy.types.Context, led: Led) -> LetGo:
    """Let go of a walker in the pose in which it stands, so that the next solve leaves it there.

    A walk that was planned is switched off: it would take the pose back.

    Raises:
        FabrikError: Armature or chains are gone.
    """
    owner = led.owner
    settle(context, led)
    walked = {chain.name for chain in _chain_set(led).chains if is_walked(chain)}
    set_led_poses(owner.name_full, None)
    live_state.held = False
    updated(context)
    walker, notes = rig_of(owner).walker, list[str]()
    if walker.on and walker.digest:
        notes.append(Text("the planned walk is switched off"))
    walker.on = False
    try:
        chains = moved_chains(owner, led.prepared, has_body=True)
        ended = leave(context, owner, (led.prepared, chains), set(led.chains) - walked)
    finally:
        if rig_of(owner).live:
            resume_live()
    return LetGo([*notes, *ended.done], ended.warnings)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk has no goals for, where its gait has it move: trunk, head, arms and toes get keys, if they have none."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from math import radians

import bpy
import numpy as np
from mathutils import Matrix

from ...errors import FabrikError
from ...gait.cycle import liveliness
from ...gait.feet import LAND, LIFT, FeetPoses
from ...gait.human import RUN_LEAN, arm_at, pelvis_at, running, thorax_at
from ...gait.legs import LEFT, RIGHT
from ...gait.path import TICK
from ...gait.plan import WalkPlan, rhythm_over
from ...gait.settings import Settings
from ...maths import FRONT, Doubles, conjugates, eased_each, products, rotated_each, turns_about, units
from ...motion.body import Body
from ...motion.posture import Bearing, curled, held, turned_by
from ...recognise.find import HUMAN
from ...recognise.part import LEG
from ...rig.animation.compat import remove_curves
from ...rig.animation.keys import animated_paths, curves_of_bones
from ...rig.bones import names_if_any, pose_bones
from ...rig.checks import check_offset
from ...rig.dependencies import bone_in
from ...rig.figure.start_pose import reset, start_from_keys
from ...rig.goals import is_offset, swing_frame_of
from ...rig.limit_types import LIMITS
from ...rig.schema import FabrikChain, rig_of, walker_of
from ...rig.schema.chain import OFFSET, PLACE
from ...rig.schema.limit import limit_of
from ...texts import Text, quoted
from ..keep_pose import ReleaseReport
from ..motion.bodies import staged
from ..motion.clips import BoneClip, Clip, write_clip
from ..setup.controls import draw_at_bones
from ..setup.parts import find_parts
from .clip import OwnClip, posture_of, read_own

Rhythm = tuple[Doubles, Doubles]  # (F,) each: the phase of a walk's clock, and the speed (`gait.clock.Clock`)
AHEAD = {"L": 0.0, "R": 0.5}  # of a cycle by which the leg of a side is ahead of the clock
SIDES = {LEFT: ".L", RIGHT: ".R", 0: ""}  # of a leg, by the names of parts
MOST_BENT = radians(60.0)  # up to which toes bend
STRAIGHTENED, HANGING = 0.3, 0.25  # of a swing, after which they hang down by a share of what the foot does
AT_REST = 1e-4  # of a quaternion: bones that are turned by less all the time are not keyed
AROUND, LOOKING = 0.5, 0.25  # seconds by which the way is known before and after, and by which the head is ahead
LEANING = 0.3  # of a slope, by which the trunk leans forward
MOST_INWARDS, MOST_LOOKING = radians(12.0), radians(45.0)
TINY = 1e-9  # a speed, scene units a second
SLID = 0.03  # of a leg: how far feet slide in a clip before it is told


def key_posture(
    context: bpy.types.Context, owner: bpy.types.Object, plan: WalkPlan, frames: tuple[int, int], feet: FeetPoses
) -> ReleaseReport:
    """Key trunk, head, arms and toes as the cycle of a walk has them; keys that an earlier plan made are replaced.

    Chains whose controls rest, as Set Up Character leaves those of arms, edit these keys from then on. Bones with keys
    of their own are left as they are, and so are those that other chains pose.

    Args:
        context: Its view layer has the armature.
        owner: The armature object of a walker.
        plan: Its walk.
        frames: First and last.
        feet: All feet in each of these.

    Returns:
        What there is to tell.

    Raises:
        FabrikError: They can't be keyed; nothing was changed.
    """
    walker, span, bones = walker_of(owner), range(frames[0], frames[1] + 1), pose_bones(owner)
    own = read_own(owner, plan.legs, plan.fps) if any(leg.cycle is not None for leg in plan.legs) else None
    body = rig_of(owner).body_bone
    rhythm = rhythm_over(plan, span) if plan.phases else (np.zeros(0), np.zeros(0))
    posed_bones = posture_of(own, rhythm, body) if own is not None else _of_people(context, owner, plan, feet, rhythm)
    if not posed_bones:
        forget_posture(owner)
        return ReleaseReport([], [])
    moved, others = {one.bone for one in posed_bones}, {walker.body, *(leg.name for leg in walker.legs)}
    found = [one for one in rig_of(owner).chains if one.enabled and one.target is not None and one.name not in others]
    posing = [chain for chain in found if not is_offset(chain)]  # with goals of their own, which tell a place
    edited = _that_can_edit(owner, [chain for chain in posing if not moved.isdisjoint(names_if_any(owner, chain))])
    posed = {name for chain in posing if chain not in edited for name in names_if_any(owner, chain)}
    before, animated = _written(owner), keyed_by_hand(owner)
    kept, rows = list[str](), list[BoneClip]()
    for one in posed_bones:
        if one.bone in posed or one.bone in animated:
            kept.append(one.bone)
        elif one.bone in before or one.plain or (one.turns is not None and np.abs(one.turns[:, 1:]).max() > AT_REST):
            rows.append(one)
    clip = Clip(owner.name, *frames, np.array(span, dtype=np.float64), tuple(rows))
    told = write_clip(owner, clip, clip.first) if rows else []
    for chain in edited:
        chain.goal = OFFSET
    keyed = [one.bone for one in rows if one.bone in bones]
    legs = [chain for chain in _legs(owner) if not set(keyed).isdisjoint(names_if_any(owner, chain))]
    start_from_keys(owner, [*edited, *legs])
    walker.posture = json.dumps({name: _digest(owner, name) for name in keyed})
    return ReleaseReport(_told(own, keyed, [chain.name for chain in edited], kept), list(told))


def _told(own: OwnClip | None, keyed: Sequence[str], edited: Sequence[str], kept: Sequence[str]) -> list[str]:
    """What was done: which bones have keys, and what of the clip by which they have."""
    done = list[str]()
    if keyed and own is None:
        done.append(Text("trunk, head, arms, fingers and toes are keyed ({count} bones)", count=len(keyed)))
    elif keyed and own is not None:
        done.append(Text("all bones are keyed as in the clip ({count} bones)", count=len(keyed)))
        if own.cycle.slid > SLID:
            what = Text("feet that slide in the clip by up to {share:.0%} of a leg stand still", share=own.cycle.slid)
            done.append(what)
    if edited:
        done.append(Text("controls that edit these keys from now on: {chains}", chains=quoted(edited)))
    if kept:
        done.append(Text("left as they are, since keys or chains pose them: {bones}", bones=quoted(kept)))
    return done


def _of_people(
    context: bpy.types.Context, owner: bpy.types.Object, plan: WalkPlan, feet: FeetPoses, rhythm: Rhythm
) -> list[BoneClip]:
    """How people pose what the walk has no goals for, in each frame; nothing for other gaits and creatures."""
    settings, frames = walker_of(owner).settings, range(plan.first, plan.first + feet.pitches.shape[1])
    found = _person(context, owner, settings) if plan.phases else None
    if found is None:
        return []
    body, hinges = found
    bent = _bent_by_way(plan, frames, settings.acceleration)
    turned = held(body, _bearing(rhythm, bent, settings), hinges) | _toes(body, plan, feet)
    turned |= curled(body, running(rhythm[1]))
    return [BoneClip(body.names[number], turns, {}, None, "LINEAR") for number, turns in turned.items()]


def _person(
    context: bpy.types.Context, owner: bpy.types.Object, settings: Settings
) -> tuple[Body, dict[int, Doubles]] | None:
    """A person whose arms swing as it walks, and by bone the axis about which it bends where a limit tells it."""
    found = find_parts(owner) if settings.arm_swing > 0.0 else None
    if found is None or found.plan != HUMAN.name or not found.body:
        return None
    (_, body), bones = staged(context, owner, found), pose_bones(owner)
    limits = {number: limit_of(bones[name]) for number, name in enumerate(body.names) if name in bones}
    return body, {k: units(np.array(one.axis)) for k, one in limits.items() if LIMITS[one.limit].has_one_axis}


def posture_while_led(
    context: bpy.types.Context, owner: bpy.types.Object, own: OwnClip | None
) -> Callable[[float, float], dict[str, Doubles]]:
    """What tells the rotations of bones of trunk, head, arms and tail, at a phase of the clock and a speed."""
    settings, body = walker_of(owner).settings, rig_of(owner).body_bone
    found = _person(context, owner, settings) if own is None else None

    def posture(phase: float, pace: float) -> dict[str, Doubles]:
        rhythm, none = (np.array([phase]), np.array([pace])), np.zeros(1)
        if own is not None:
            return {one.bone: one.turns[0] for one in posture_of(own, rhythm, body) if one.turns is not None}
        if found is None:
            return {}
        turned = held(found[0], _bearing(rhythm, (none, none, none), settings), found[1])
        return {found[0].names[number]: turns[0] for number, turns in turned.items()}

    return posture


def forget_posture(owner: bpy.types.Object) -> None:
    """Take away the keys that a plan made, but for those that were changed since; controls tell a place again."""
    own = [name for name, digest in _written(owner).items() if digest == _digest(owner, name)]
    for name in own:
        remove_curves(curves_of_bones(owner, [name]))
    legs = _legs(owner)
    for chain in [*legs, *filter(is_offset, rig_of(owner).chains)]:
        bones = names_if_any(owner, chain)
        is_ours = not set(own).isdisjoint(bones) and not any(curves_of_bones(owner, [name]) for name in bones)
        if is_ours and (chain in legs or rests(owner, chain)):
            chain.goal = PLACE
            reset(chain, [pose_bones(owner)[name] for name in bones])
        elif chain in legs and chain.goal == OFFSET and chain.start != "ANIMATED" and rests(owner, chain):
            chain.goal = PLACE
    draw_at_bones(owner)
    for chain in _body(owner):
        if chain.goal == OFFSET and chain.orientation == "KEEP" and rests(owner, chain):  # made for the walker
            chain.goal, chain.target = PLACE, None
    walker_of(owner).posture = ""


def let_edit(owner: bpy.types.Object) -> None:
    """Let the controls of legs and body that rest edit the walk from now on; those that did are put to rest."""
    body = _body(owner)
    for chain in body:
        if chain.target is None and chain.target_bone in pose_bones(owner):  # made as it became a walker
            setattr(chain, "target", owner)
    legs = [*_legs(owner), *body]
    edited = walker_of(owner).edited.split("\n")
    for chain in [one for one in legs if one.goal == PLACE and one.name in edited]:
        for bone in _controls(owner, chain) or ():
            bone.matrix_basis = Matrix.Identity(4)
    walker_of(owner).edited = ""
    for chain in _that_can_edit(owner, legs):
        chain.goal = OFFSET
    draw_at_bones(owner)


def end_editing(owner: bpy.types.Object, names: Collection[str]) -> bool:
    """Let controls that edit a walk, and that nothing animates, tell places until it is planned again; whether any did.

    The walk is off, so that there is nothing that they could edit.
    """
    chains = [rig_of(owner).chains[name] for name in names]
    edited = [one for one in chains if one.goal == OFFSET and _controls(owner, one) is not None]
    for chain in edited:
        chain.goal = PLACE
    if edited:  # else what was led before is still to be told
        walker_of(owner).edited = "\n".join(one.name for one in edited)
    draw_at_bones(owner)
    return bool(edited)


def _that_can_edit(owner: bpy.types.Object, chains: Iterable[FabrikChain]) -> list[FabrikChain]:
    """Those of some chains whose controls rest, and can edit a motion."""
    found = list[FabrikChain]()
    for chain in chains:
        if chain.goal == PLACE and chain.target is not None and rests(owner, chain):
            with suppress(FabrikError):
                check_offset(owner, chain, swing_frame_of(owner, chain))
                found.append(chain)
    return found


def rests(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether the controls of a chain are bones of its armature that nothing has moved, and nothing animates."""
    controls = _controls(owner, chain)
    return controls is not None and all(bone.matrix_basis == Matrix.Identity(4) for bone in controls)


def _controls(owner: bpy.types.Object, chain: FabrikChain) -> list[bpy.types.PoseBone] | None:
    """The controls of a chain, where these are bones of its armature that nothing animates; else None."""
    pairs = (chain.target, chain.target_bone), (chain.pole, chain.pole_bone)
    bones, paths = list[bpy.types.PoseBone](), " ".join(animated_paths(owner))
    for found, name in [pair for pair in pairs if pair[0] is not None]:
        bone = pose_bones(owner).get(name) if found == owner else None
        if bone is None or bone.path_from_id() in paths:
            return None
        bones.append(bone)
    return bones


def _bearing(rhythm: Rhythm, bent: tuple[Doubles, Doubles, Doubles], settings: Settings) -> Bearing:
    """How the upper body is held at phases and speeds, bent by its way; arms and trunk as the style has it."""
    (phases, paces), (rising, aside, looking) = rhythm, bent
    (turn, drop, _), (yaw, tilt), whole = pelvis_at(paces, phases), thorax_at(paces, phases), liveliness(paces)
    arms = {side: arm_at(paces, phases + by, settings.arm_swing) for side, by in AHEAD.items()}
    lean = running(paces) * RUN_LEAN + whole * (settings.lean + rising)
    head = turned_by(-looking, np.zeros(len(looking)))
    return Bearing(turned_by(turn, drop), turned_by(yaw, tilt - whole * aside), arms, lean, head)


def _bent_by_way(plan: WalkPlan, frames: Sequence[int], acceleration: float) -> tuple[Doubles, Doubles, Doubles]:
    """How people lean into slopes and curves, and look where they will go.

    Args:
        plan: The walk.
        frames: At which it is told.
        acceleration: Of gravity, scene units / s².

    Returns:
        (F,) each, radians: how far the trunk leans forward uphill, and to the left; how far the head is turned left.
    """
    turns = np.array([turn for _, turn in plan.body])
    places = np.array([np.add(one, more) for (one, _), (more, _) in zip(plan.body, plan.carried, strict=True)])
    index = np.arange(len(turns))
    low, high, soon = (np.clip(index + round(by / TICK), 0, index[-1]) for by in (-AROUND, AROUND, LOOKING))
    way = rotated_each(conjugates(turns), places[high] - places[low]) / (2.0 * AROUND)
    level, ahead = np.hypot(way[:, 0], way[:, 1]), -way[:, 1]
    rising = LEANING * np.maximum(np.arctan2(way[:, 2], level), 0.0) * np.maximum(ahead, 0.0) / np.maximum(level, TINY)
    aside = np.arctan(ahead * _turned_left(turns[low], turns[high]) / (2.0 * AROUND * acceleration))
    looking = np.clip(_turned_left(turns, turns[soon]), -MOST_LOOKING, MOST_LOOKING)
    bent = rising, np.clip(aside, -MOST_INWARDS, MOST_INWARDS), looking
    times, ticks = [plan.time_of(frame) for frame in frames], TICK * index
    rows = [np.interp(times, ticks, values) for values in bent]
    return rows[0], rows[1], rows[2]


def _turned_left(before: Doubles, after: Doubles) -> Doubles:
    """By which angle (N,) bodies (N, 4) turn to their left."""
    facing = rotated_each(products(conjugates(before), after), np.array(FRONT))
    return np.unwrap(np.arctan2(facing[:, 0], -facing[:, 1]))


def _toes(body: Body, plan: WalkPlan, feet: FeetPoses) -> dict[int, Doubles]:
    """The local rotations (F, 4) of toes that stay flat on the ground while the heel is up, and hang in the air."""
    found = dict[int, Doubles]()
    for number, leg in enumerate(plan.legs):
        limb = next((one for name, one in body.limbs.items() if one.kind == LEG and name[-2:] == SIDES[leg.side]), None)
        if limb is None or limb.toes < 0:
            continue
        rest, turns = body.turns[limb.toes], turns_about(np.array(leg.sideways), _bent(plan, number, feet))
        found[limb.toes] = products(conjugates(rest), products(turns, rest))
    return found


def _bent(plan: WalkPlan, leg: int, feet: FeetPoses) -> Doubles:
    """How far the toes of a leg are bent up in each frame (F,), radians."""
    times = np.array([plan.time_of(plan.first + index) for index in range(feet.pitches.shape[1])])
    step, up = plan.paths.steps[feet.last[leg]], np.clip(feet.pitches[leg], 0.0, MOST_BENT)
    share = (times - step[:, LIFT]) / np.where(feet.planted[leg], 1.0, step[:, LAND] - step[:, LIFT])
    return np.where(feet.planted[leg], up, up * (1.0 - HANGING * eased_each(share / STRAIGHTENED)))


def _legs(owner: bpy.types.Object) -> list[FabrikChain]:
    """The chains of the legs of a walker."""
    return [chain for chain in rig_of(owner).chains if chain.name in walker_of(owner).legs]


def _body(owner: bpy.types.Object) -> list[FabrikChain]:
    """The chain that is the body of a walker."""
    return [chain for chain in rig_of(owner).chains if chain.name == walker_of(owner).body]


def _written(owner: bpy.types.Object) -> dict[str, str]:
    """By the names of bones the digests of the keys that a plan made."""
    try:
        found = json.loads(walker_of(owner).posture or "{}")
    except ValueError:
        return {}
    return {str(name): str(digest) for name, digest in found.items()} if isinstance(found, dict) else {}


def keyed_by_hand(owner: bpy.types.Object) -> set[str]:
    """The bones with keys that no plan made."""
    before, animated = _written(owner), {bone_in(path) for path in animated_paths(owner)}
    return {name for name in animated if _digest(owner, name) not in ("", before.get(name))}


def _digest(owner: bpy.types.Object, name: str) -> str:
    """A text that changes with the keys of a bone; "" where it has none."""
    digest, curves = blake2b(digest_size=8), curves_of_bones(owner, [name])
    for curve in curves:
        values: Doubles = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", values)
        digest.update(f"{curve.array_index + 4 * curve.data_path.endswith('location')}".encode() + values.tobytes())
    return digest.hexdigest() if curves else ""

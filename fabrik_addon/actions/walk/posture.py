# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk has no goals for, where its gait has it move: trunk, head, arms and toes get keys, if they have none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from math import radians

import bpy
import numpy as np

from ...gait import WalkPlan, feet_at, rhythm_at
from ...gait.feet import around
from ...gait.human import arm_at, pelvis_at, thorax_at
from ...gait.legs import LEFT, RIGHT
from ...maths import Doubles, conjugates, eased, products, turns_about
from ...motion.body import Body
from ...motion.posture import ArmSwing, Bearing, held, turned_by
from ...recognise.find import HUMAN
from ...recognise.part import LEG
from ...rig.animation.channels import rotation_path
from ...rig.animation.compat import fcurves_of, remove_curves
from ...rig.bones import names_if_any, pose_bones
from ...rig.goals import is_offset
from ...rig.schema import rig_of, walker_of
from ...texts import Text, quoted
from ..motion.clips import BoneClip, Clip, write_clip
from ..motion.transfer import staged
from ..setup.parts import find_parts

AHEAD = {"L": 0.0, "R": 0.5}  # of a cycle by which the leg of a side is ahead of the clock
SIDES = {LEFT: ".L", RIGHT: ".R", 0: ""}  # of a leg, by the names of parts
MOST_BENT = radians(60.0)  # up to which toes bend
STRAIGHTENED, HANGING = 0.3, 0.25  # of a swing, after which they hang down by a share of what the foot does
AT_REST = 1e-4  # of a quaternion: bones that are turned by less all the time are not keyed


def key_posture(
    context: bpy.types.Context, owner: bpy.types.Object, plan: WalkPlan, frames: tuple[int, int]
) -> list[Text]:
    """Key trunk, head, arms and toes as the cycle of a walk has them; keys that an earlier plan made are replaced.

    Bones with keys of their own are left as they are, and so are those that chains pose.

    Args:
        context: Its view layer has the armature.
        owner: The armature object of a walker.
        plan: Its walk.
        frames: First and last.

    Returns:
        What there is to tell.

    Raises:
        FabrikError: They can't be keyed; nothing was changed.
    """
    walker = walker_of(owner)
    swing = walker.settings.arm_swing
    found = find_parts(owner) if plan.phases and swing > 0.0 else None
    if found is None or found.plan != HUMAN.name or not found.body:
        forget_posture(owner)
        return []
    _, body = staged(context, owner, found)
    span = range(frames[0], frames[1] + 1)
    bearing = _bearing(plan, span, swing)
    posed = _posed_by_chains(owner)
    before = _written(owner)
    kept, rows, pose = list[str](), list[BoneClip](), pose_bones(owner)
    for number, turns in (held(body, bearing) | _toes(body, plan, span)).items():
        name = body.names[number]
        if name in posed or (_digest(owner, name) and _digest(owner, name) != before.get(name)):
            kept.append(name)
        elif name in before or np.abs(turns[:, 1:]).max() > AT_REST:
            rows.append(BoneClip(name, turns, {}, None, "LINEAR"))
    clip = Clip(owner.name, *frames, np.array(span, dtype=np.float64), tuple(rows))
    told = write_clip(owner, clip, frames[0]) if rows else []
    keyed = [one.bone for one in rows if one.bone in pose]
    walker.posture = json.dumps({name: _digest(owner, name) for name in keyed})
    if keyed:
        told.append(Text("trunk, head, arms and toes are keyed ({count} bones)", count=len(keyed)))
    if kept:
        told.append(Text("left as they are, since keys or chains pose them: {bones}", bones=quoted(kept)))
    return told


def forget_posture(owner: bpy.types.Object) -> None:
    """Take away the keys that a plan made, but for those that were changed since."""
    for name, digest in _written(owner).items():
        if digest == _digest(owner, name):
            remove_curves(owner, _curves(owner, name))
    walker_of(owner).posture = ""


def _bearing(plan: WalkPlan, frames: Sequence[int], swing: float) -> Bearing:
    """How the upper body is held in each frame."""
    rhythms = [rhythm_at(plan, frame) for frame in frames]
    pelvis = [pelvis_at(pace, phase) for phase, pace in rhythms]
    chest = np.array([thorax_at(pace, phase) for phase, pace in rhythms])
    arms = {
        side: ArmSwing(*np.array([arm_at(pace, phase + by, swing) for phase, pace in rhythms]).T)
        for side, by in AHEAD.items()
    }
    yaw, tilt = np.array([one.yaw for one in pelvis]), np.array([one.tilt for one in pelvis])
    return Bearing(turned_by(yaw, tilt), turned_by(chest[:, 0], chest[:, 1]), arms)


def _toes(body: Body, plan: WalkPlan, frames: Sequence[int]) -> dict[int, Doubles]:
    """The local rotations (F, 4) of toes that stay flat on the ground while the heel is up, and hang in the air."""
    found = dict[int, Doubles]()
    for number, leg in enumerate(plan.legs):
        limb = next((one for name, one in body.limbs.items() if one.kind == LEG and name[-2:] == SIDES[leg.side]), None)
        if limb is None or limb.toes < 0:
            continue
        bent = np.array([_bent(plan, number, frame) for frame in frames])
        rest = np.broadcast_to(body.turns[limb.toes], (len(bent), 4))
        turns = turns_about(np.broadcast_to(np.array(leg.sideways), (len(bent), 3)), bent)
        found[limb.toes] = products(conjugates(rest), products(turns, rest))
    return found


def _bent(plan: WalkPlan, leg: int, frame: int) -> float:
    """How far the toes of a leg are bent up at a frame, radians."""
    foot, time = feet_at(plan, frame)[leg], plan.time_of(frame)
    step, _ = around(plan.steps[leg], time)
    if foot.is_planted or step is None:
        return min(max(foot.pitch, 0.0), MOST_BENT)
    share = (time - step.lift) / (step.land - step.lift)
    return min(max(foot.pitch, 0.0), MOST_BENT) * (1.0 - HANGING * eased(share / STRAIGHTENED))


def _posed_by_chains(owner: bpy.types.Object) -> set[str]:
    """Names of the bones that chains with goals of their own pose."""
    return {
        name
        for chain in rig_of(owner).chains
        if chain.enabled and not is_offset(chain)
        for name in names_if_any(owner, chain)
    }


def _written(owner: bpy.types.Object) -> dict[str, str]:
    """By the names of bones the digests of the keys that a plan made."""
    try:
        found = json.loads(walker_of(owner).posture or "{}")
    except ValueError:
        return {}
    return {str(name): str(digest) for name, digest in found.items()} if isinstance(found, dict) else {}


def _curves(owner: bpy.types.Object, name: str) -> list[bpy.types.FCurve]:
    """The curves of the rotation of a bone."""
    bone = pose_bones(owner).get(name)
    path = rotation_path(bone) if bone is not None else ""
    return [curve for curve in fcurves_of(owner) if curve.data_path == path and len(curve.keyframe_points)]


def _digest(owner: bpy.types.Object, name: str) -> str:
    """A text that changes with the keys of a bone's rotation; "" where it has none."""
    digest, curves = blake2b(digest_size=8), _curves(owner, name)
    for curve in curves:
        values: Doubles = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", values)
        digest.update(f"{curve.array_index}".encode() + values.tobytes())
    return digest.hexdigest() if curves else ""

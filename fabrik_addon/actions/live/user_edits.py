# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done by hand to the bones of live chains: it stays, as everywhere in Blender.

By hand is done what stands otherwise than live posing, or an operator of the add-on, left it, and is not what keys
play: a bone turned with the mouse, a pose pasted or taken from a library, a rotation cleared, what another add-on
writes. What was left is kept in the file, so that undo, redo and the redo panel bring it back with the pose.

Bones without keys start from there from then on; keyed ones do until the frame changes. A chain of which a bone was
turned takes its goal along; pins hold, and so do the goals of all others. With a whole pose all goals come along, pins
too: it sets several bones of one limb in one step, where turning or moving by the mouse sets the first of them, and
takes what hangs on it along. Controls that were moved in the same step come along, too: the bones decide.

While a tool is at work nothing is stored but which bones it poses: chains that take their goals along ask for nothing.
So a tool that is cancelled leaves no trace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import bpy
import numpy as np

from ...errors import FabrikError
from ...maths import ORIGIN, Q4, V3, conjugated, distance, multiplied, q4, turn_angle, v3
from ...rig.animation.channels import channel_of, read_rotation, read_values, rotation_path, to_rotation
from ...rig.animation.compat import evaluated_now, strip_curves
from ...rig.animation.keys import (
    KeyedChannels,
    insert_keys,
    key_at,
    keys_by_itself,
    makes_an_action,
)
from ...rig.bones import names_if_any, pose_bones
from ...rig.checks import rig_refusal
from ...rig.figure.figure import RigFigure
from ...rig.figure.groups import ChainSet, figure_bones_if_any
from ...rig.figure.joint_limits import restarted_limits
from ...rig.figure.pose_writer import Pose, write_pose
from ...rig.figure.reader import frame_of, is_beside
from ...rig.figure.start_pose import end_hold, held_bones, start_from_keys, store_by_hand
from ...rig.goals import edits_motion, goals_of
from ...rig.schema import FabrikChain, Items, RigRecord, rig_of
from ...rig.walk_goals import is_walked, path_bone
from ...texts import Text, few, joined
from ..figure_pose import FigurePose
from ..moved_goals import ReleasedChain, bring_goals, goal_to_leave, noted, refused
from .figures import keep
from .state import LEFT, MISSING, MOVED, Hands, LiveFigure, LiveRig, digest_of, state

ByHand = tuple[RigFigure, list[str]]  # chains as they start, and the bones that were posed
# Blender's modal tools that move bones and goals.

TOOLS = ("TRANSFORM_OT_", "POSE_OT_", "POSELIB_OT_")


def is_tool_at_work(context: bpy.types.Context) -> bool:
    """Whether one of these tools has the mouse."""
    manager = context.window_manager
    windows = manager.windows if manager else ()
    return any(operator.bl_idname.startswith(TOOLS) for window in windows for operator in window.modal_operators)


# What was done: what stands otherwise than it was left.

SAME_TURN = 1e-5  # radians that Blender's tools may be off by rounding where they turn nothing
SAME_PLACE = 1e-6  # of the largest coordinate, and of 1, the same where they move nothing
NEAR_KEY = 1e-6  # how far a played value may be from its curve's


def find(context: bpy.types.Context, rigs: Iterable[LiveRig], frame: float) -> Hands:
    """Find bones of live armatures that were posed by hand; a tool that is at work marks them in the file."""
    tool, found = is_tool_at_work(context), Hands()
    for rig in rigs:
        if rig_refusal(rig.owner):
            continue
        chains = rig_of(rig.owner).chains
        sets = [ChainSet(rig.owner, enabled_among(chains, names), facts.body) for names, facts in rig.facts.items()]
        bones = {one.names: [bone.name for bone in figure_bones_if_any(one)] for one in sets if one.chains}
        keyed = KeyedChannels(rig.owner, frame)
        posed = _moved(rig, keyed, are_keyed=keys_by_itself(context)) | {*RigRecord(rig.owner).by_hand.splitlines()}
        for names, own in bones.items():
            by_hand = [entry for entry in sorted(posed) if entry.removesuffix(MOVED) in own]
            if by_hand and names in rig.facts:
                found[rig, names] = by_hand
        _mark(rig.owner, [entry for (other, _), own in found.items() if other == rig and tool for entry in own])
    return found


def enabled_among(chains: Items[FabrikChain], names: Iterable[str]) -> tuple[FabrikChain, ...]:
    """The chains of these names that are enabled."""
    found = (chains.get(name) for name in names)
    return tuple(chain for chain in found if chain is not None and chain.enabled)


def _mark(owner: bpy.types.Object, names: Sequence[str]) -> None:
    """Keep in the file which bones a tool at work poses; the same is not written: a write makes Blender evaluate."""
    record, text = RigRecord(owner), "\n".join(names)
    if record.by_hand != text:
        record.by_hand = text
    (state.posing.add if names else state.posing.discard)(owner)


def _moved(rig: LiveRig, keyed: KeyedChannels, *, are_keyed: bool) -> set[str]:
    """The bones that stand otherwise than they were left, and not as keys play them; see `Hands`.

    Where automatic keying is on, what is done by hand may have its keys already.
    """
    left, names, bones = rig.left, [*rig.bones], pose_bones(rig.owner)
    found = set[str]()
    for i in np.flatnonzero(~np.isnan(left).all(axis=1)).tolist():
        bone, row = bones[names[i]], left[i].tolist()
        count = channel_of(bone.rotation_mode)[1]
        values, turn, location, place = read_values(bone), row[:count], v3(bone.location), row[4:]
        if values != turn and _is_another_turn(bone, values, turn):
            is_played = _is_played(bone, values, turn, keyed)
            if not is_played or (are_keyed and _is_newly_keyed(rig, bone, keyed)):
                found.add(bone.name)
        if _is_elsewhere(location, place):
            is_played = _is_played(bone, location, place, keyed, "location")
            if not is_played or (are_keyed and _is_newly_keyed(rig, bone, keyed, "location")):
                found.add(bone.name + MOVED)
    return found


def _is_elsewhere(place: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two places differ by more than rounding."""
    return distance(v3(place), v3(other)) > SAME_PLACE * max([1.0, *map(abs, other)])


def _is_newly_keyed(rig: LiveRig, bone: bpy.types.PoseBone, keyed: KeyedChannels, name: str = "") -> bool:
    """Whether keys that play a bone were made, or changed, at this frame since its chains were read.

    Where its chains start from keys, these are others than that start; else there are more, at most one more a curve.
    """
    path, known = bone.path_from_id(name) if name else rotation_path(bone), rig.figure_of(bone.name)
    curves = [curve for i in range(4) if (curve := keyed.curves.get((path, i))) is not None]
    if known is None or any(key_at(curve, keyed.frame) is None for curve in curves):
        return False
    start = known.figure.start
    if name and start.keyed_body is not None:
        return _is_elsewhere(bone.location, start.location)
    turns = {other: start.rotations[i] for i, other, _ in start.keyed}
    if not name and bone.name in turns:
        return turn_angle(multiplied(conjugated(turns[bone.name]), read_rotation(bone))) > SAME_TURN
    count, keys = keyed.count(pose_bones(rig.owner)[name] for name in known.figure.bones)
    return 0 < keys - known.keys <= count


def _is_another_turn(bone: bpy.types.PoseBone, values: list[float], left: list[float]) -> bool:
    """Whether values of rotation channels mean another rotation: not one of other signs, or rounded anew."""
    try:
        a, b = (to_rotation(bone.rotation_mode, numbers, bone.name) for numbers in (values, left))
    except FabrikError:  # what is wrong is told when it is solved
        return False
    return turn_angle(multiplied(conjugated(a), b)) > SAME_TURN


def _is_played(
    bone: bpy.types.PoseBone, values: Sequence[float], left: Sequence[float], keyed: KeyedChannels, name: str = ""
) -> bool:
    """Whether keys, or strips, may have put values into a channel; by default into that of the rotation."""
    path = bone.path_from_id(name) if name else rotation_path(bone)
    curves = [keyed.curves.get((path, i)) for i in range(len(values))]
    if not any(curves) or path in _paths_of_strips(bone):
        return path in _paths_of_strips(bone)
    played = [curve.evaluate(keyed.frame) if curve else value for curve, value in zip(curves, left, strict=True)]
    return all(abs(a - b) <= NEAR_KEY * max(1.0, abs(b)) for a, b in zip(values, played, strict=True))


def _paths_of_strips(bone: bpy.types.PoseBone) -> set[str]:
    """What NLA strips of the armature of a bone move."""
    owner = bone.id_data
    assert isinstance(owner, bpy.types.Object)
    data = owner.animation_data
    return {curve.data_path for curve in (strip_curves(data) if data is not None and data.use_nla else ())}


# The pose that it makes: what was posed by hand as it stands, the other bones as live posing has them.


def started(
    known: LiveFigure, rig: LiveRig, names: Sequence[str], root: bpy.types.PoseBone, *, settles: bool
) -> ByHand | None:
    """Chains as they start from what was posed by hand.

    Args:
        known: The chains, as they are solved without that.
        rig: Their armature.
        names: The bones that were posed; see `Hands`.
        root: The evaluated first bone.
        settles: Whether no tool is at work, so that the other bones start as they stand; else they start as solved, so
            that nothing adds up from one move of the mouse to the next.

    Returns:
        The chains, and the names of the bones that stand otherwise; None where none does.

    Raises:
        FabrikError: A bone can't be read.
    """
    figure, bones, moved = known.figure, pose_bones(rig.owner), list[str]()
    rotations, location = [q4(turn) for turn in known.rotations.tolist()], figure.start.location
    for i, name in enumerate(figure.bones):
        if i not in figure.start.carried and (name in names or settles):
            turned, rotations[i] = rotations[i], read_rotation(bones[name])
            if name in names and turn_angle(multiplied(conjugated(turned), rotations[i])) > SAME_TURN:
                moved.append(name)
    if figure.root is not None:
        location, place = figure.root.location_for(v3(known.shift.tolist())), v3(bones[figure.bones[0]].location)
        if root.name + MOVED in names and _is_elsewhere(place, location):
            moved.append(root.name)
            location = place
        location = place if settles else location
    if not moved:
        return None
    found = _restarted(figure, rig, rotations, location, root)
    return replace(found, stays=found.stays or (found.root is not None and root.name in moved)), moved


def _restarted(
    figure: RigFigure, rig: LiveRig, rotations: list[Q4], location: V3, root: bpy.types.PoseBone
) -> RigFigure:
    """Chains with another start pose; their limits hold."""
    if not figure.is_even:
        return figure.started(rotations, figure.root.shift_for(location) if figure.root else ORIGIN)
    start = figure.start._replace(rotations=rotations, location=location)
    limits = restarted_limits(rig.owner, figure.bones, figure.limits, start)
    found = figure.restarted(start, limits).posed_from(figure)
    space = found.space_at(rig.frame, root) if rig.frame is not None else None
    return replace(found, space=space or found.space)


def released(chain_set: ChainSet, moved: Sequence[str]) -> list[FabrikChain]:
    """Those of some chains whose goals come along with bones that were posed by hand: walks hold, and pins but for a
    whole pose; and so does a goal without influence, which poses nothing.
    """
    is_whole, owner = is_whole_pose(chain_set, moved), chain_set.owner
    led = [chain for chain in chain_set.chains if chain.influence > 0.0 and not is_walked(chain)]
    return [chain for chain in led if is_whole or not (chain.pin or {*names_if_any(owner, chain)}.isdisjoint(moved))]


def is_whole_pose(chain_set: ChainSet, moved: Sequence[str]) -> bool:
    """Whether bones that were posed by hand in one step are a whole pose: several of them are of one limb."""
    return any(len({*names_if_any(chain_set.owner, chain)}.intersection(moved)) > 1 for chain in chain_set.chains)


def settle(
    context: bpy.types.Context, depsgraph: bpy.types.Depsgraph, rig: LiveRig, chain_set: ChainSet, by_hand: ByHand
) -> None:
    """Let chains start from what was posed by hand (`started`), with their goals; Blender has evaluated it then."""
    (figure, moved), owner = by_hand, rig.owner
    stopped = _stopped(owner, figure, moved)
    write_pose(owner, Pose(figure, np.array(figure.starts), factors=figure.row.factors))
    evaluated_now(depsgraph)
    goals = [(chain, goal_to_leave(owner, chain, depsgraph)) for chain in released(chain_set, moved)]
    is_whole = is_whole_pose(chain_set, moved)
    loosed = [ReleasedChain(chain, place, is_whole=is_whole, is_late=True) for chain, place in goals]
    with refused(loosed), noted(owner, [goal for one in loosed for goal in goals_of(one.chain)]):
        bring_goals(context, FigurePose.without_goals(chain_set, depsgraph, {}), loosed, {})
    rotations = dict(zip(figure.bones, figure.starts, strict=True))
    location = figure.root.location if figure.root is not None else ORIGIN
    captured = moved if rig_of(owner).auto_capture else ()
    held = store_by_hand(chain_set, rotations, location, frame_of(depsgraph), captured)
    is_keyed = _key(context, chain_set, moved, depsgraph)
    state.may_hold |= bool(held)
    if figure.stays and (is_keyed or figure.bones[0] not in held):
        rig_of(owner).body_stays = True
    rig.digest = digest_of(owner)
    if is_keyed:
        note_left(rig)
    note = _note(chain_set, moved, loosed, is_held=bool(held), is_keyed=is_keyed)
    texts = [text for text in (note, *stopped) if text]
    if texts:
        state.notes[owner.name_full, *chain_set.names] = joined("; ", texts)
    evaluated_now(depsgraph)


def _key(context: bpy.types.Context, chain_set: ChainSet, moved: Sequence[str], depsgraph: bpy.types.Depsgraph) -> bool:
    """Key what was posed by hand where automatic keying is on, and let limbs start from that; whether it was.

    That is the limbs of which a bone was posed, and the other bones that were. What only a solve moved gets no keys,
    and nor does an object its action, since Blender kept the state for undo before (`makes_an_action`).
    """
    owner, scene, bones = chain_set.owner, context.scene, pose_bones(chain_set.owner)
    is_own = scene is not None and depsgraph.scene is not None and scene.name_full == depsgraph.scene.name_full
    if not is_own or not keys_by_itself(context) or makes_an_action(context, owner):
        return False
    edits = {name for chain in chain_set.chains if edits_motion(chain) for name in names_if_any(owner, chain)}
    moved = [name for name in moved if name not in edits]  # what edits a motion is keyed by its control
    limbs = [chain for chain in chain_set.chains if not {*names_if_any(owner, chain)}.isdisjoint(moved)]
    names = dict.fromkeys([*moved, *(name for chain in limbs for name in names_if_any(owner, chain))])
    posed = [bones[name] for name in names if name != path_bone(owner)]
    keyed = KeyedChannels(owner, frame_of(depsgraph))
    channels = [(bone, channel_of(bone.rotation_mode)[0]) for bone in posed]
    channels += [(bone, "location") for bone in posed if bone.name == chain_set.body]
    count = insert_keys(context, channels, keyed)
    if count:
        start_from_keys(owner, limbs)
        state.order = None  # from now on frames move its bones
    return count > 0


# What there is to say of it.

NAMED = 3  # bones, and chains, that are named; more are counted
WORTH_TELLING = 0.01  # radians by which a limit has to stop a bone for that to be told


def _stopped(owner: bpy.types.Object, figure: RigFigure, moved: Collection[str]) -> list[Text]:
    """Which bones that were posed by hand, and stand so yet, are stopped by joint limits, as a sentence; or none."""
    bones, starts = pose_bones(owner), zip(figure.bones, figure.starts, strict=True)
    off = {name: multiplied(conjugated(start), read_rotation(bones[name])) for name, start in starts if name in moved}
    found = [name for name, turn in off.items() if turn_angle(turn) > WORTH_TELLING]
    return [Text("joint limits stop {bones}", bones=few(found, NAMED))] if found else []


def _note(
    chain_set: ChainSet, moved: Sequence[str], loosed: Sequence[ReleasedChain], *, is_held: bool, is_keyed: bool
) -> Text:
    """What was done by hand to chains, what came of it, and which goals can't come along; what is keyed stays so."""
    refusals = [*dict.fromkeys(text for one in loosed for text in one.warnings)]
    if is_keyed:
        return joined("; ", refusals)
    bones = few([*dict.fromkeys(moved)], NAMED)
    names = [one.chain.name for one in loosed] or chain_set.names
    chains = ", ".join(names) if len(names) <= NAMED else Text("{count} chains", count=len(names))
    done = Text("{chains}: {bones} were posed by hand", chains=chains, bones=bones)
    if len(moved) == 1:
        done = Text("{chains}: {bones} was posed by hand", chains=chains, bones=bones)
    kept = Text("{done}, which is the start pose now", done=done)
    if is_held:
        kept = Text("{done}, which holds until the frame changes", done=done)
    return joined("; ", [kept, *refusals])


def notes_of(owner: bpy.types.Object) -> list[Text]:
    """What there is to say of what was done by hand to live chains of an armature."""
    return [text for key, text in state.notes.items() if key[0] == owner.name_full]


# What is not done by hand.


@contextmanager
def own_work() -> Iterator[None]:
    """Everything written inside this block is ours: it is not taken for a pose made by hand."""
    state.own += 1
    try:
        yield
    finally:
        state.own -= 1
        take_as_ours()


def take_as_ours() -> None:
    """Take the bones of all live chains, as they stand, as left by the add-on."""
    state.was_held = False
    for rig in state.rigs:
        try:
            if rig_of(rig.owner).live:
                note_left(rig)
        except MISSING:
            continue


def note_left(rig: LiveRig) -> None:
    """Keep in the file how the bones of live chains stand, as left by the add-on."""
    bones, left = pose_bones(rig.owner), np.full((len(rig.bones), LEFT), np.nan, dtype=np.float32)
    for known in rig.figures.values():
        for channels in filter(None, known.figure.channels):
            values = read_values(bones[channels.bone])
            left[rig.bones[channels.bone], : len(values)] = values
        if known.figure.root is not None:
            name = known.figure.bones[0]
            left[rig.bones[name], 4:] = bones[name].location
    rig.digest, rig.left = digest_of(rig.owner), left
    keep(rig, rig.numbers)


def begin_anew(owner: bpy.types.Object) -> None:
    """Take an armature as it stands, whatever posed it: a file was opened."""
    record = RigRecord(owner)
    record.left = b""
    _mark(owner, [])
    end_hold(owner)


def end_holds(depsgraph: bpy.types.Depsgraph) -> None:
    """Forget poses that hold until the frame changes, which it did; a render of their frame shows them."""
    state.may_hold = False
    for owner in bpy.data.objects:
        if owner.type == "ARMATURE":
            if is_beside(depsgraph) and held_bones(owner, frame_of(depsgraph)):
                state.may_hold = True
            else:
                end_hold(owner)

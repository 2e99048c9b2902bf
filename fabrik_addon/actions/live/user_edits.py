# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done by hand to the bones of live chains: found, and made their start pose, or put back with a reason.

By hand is done what neither live posing nor an operator of the add-on wrote, and no key plays: a bone turned with the
mouse, a pose pasted or taken from a library, a rotation cleared, what another add-on writes. Of chains that stand in
all frames as they do in this one that is the new start pose, and the chains are solved from there: so the limb takes
the shape, and the tip stays at its target. Where other frames would move by it, nothing is changed, and the panel says
why. Chains that are solved together have one start pose, with the place of their body bone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import bpy

from ...errors import ChainError, FabrikError
from ...maths import Q4, V3, conjugated, distance, multiplied, q4, turn_angle, v3
from ...rig.animation.animation import has_motion, is_still
from ...rig.animation.channels import (
    channel_of,
    read_rotation,
    read_values,
    rotation_path,
    stored,
    to_rotation,
    to_values,
)
from ...rig.animation.compat import curves_of_action, strips_of
from ...rig.animation.keys import KeyedChannels
from ...rig.bones import pose_bones, resolve_bones
from ...rig.checks import rig_refusal
from ...rig.figure.groups import ChainSet, body_moves, figure_bones, sets_of
from ...rig.figure.reader import frame_of
from ...rig.figure.start_pose import StoredPose, store_pose
from ...rig.goals import goals_of
from ...rig.schema import FabrikChain, rig_of
from ...texts import Text, joined
from .state import (
    MISSING,
    Done,
    Hand,
    Key,
    LiveFigure,
    LiveRig,
    Replay,
    Starts,
    Values,
    live_armatures,
    state,
)

# Blender's modal tools that move bones and goals: which one is at work, and how it ended.

TOOLS = ("TRANSFORM_OT_", "POSE_OT_", "POSELIB_OT_")


def tool_of(context: bpy.types.Context) -> int:
    """Which modal tool is at work, as a number that tells it from others; 0 for none."""
    manager = context.window_manager
    for window in manager.windows if manager else ():
        for operator in window.modal_operators:
            if operator.bl_idname.startswith(TOOLS):
                return int(operator.as_pointer())
    return 0


def is_finished(context: bpy.types.Context, tool: int) -> bool:
    """Whether a tool that is no longer at work was confirmed: one that was cancelled leaves no trace.

    Args:
        context: Blender's.
        tool: From `tool_of`.
    """
    manager = context.window_manager
    return manager is not None and any(operator.as_pointer() == tool for operator in manager.operators)


# The channels that live posing writes of a bone, as values that can be compared with what stands there later.

SAME_TURN = 1e-5  # radians that Blender's tools may be off by rounding where they turn nothing
SAME_PLACE = 1e-6  # of the largest coordinate, and of 1, the same where they move nothing
NEAR_KEY = 1e-6  # how far a played value may be from its curve's


def values_of(bone: bpy.types.PoseBone, moves: bool) -> list[float]:
    """What stands in the channels of a bone: of its rotation and, where it is a body that moves, of its location."""
    return [*read_values(bone), *bone.location] if moves else read_values(bone)


def left_values(known: LiveFigure, bones: bpy.types.bpy_prop_collection[bpy.types.PoseBone]) -> Values:
    """By bones the channel values that live posing last wrote; {} if a bone is gone or has another rotation mode."""
    found: Values = {}
    prepared = known.prepared
    for channels, rotation in zip(prepared.channels, known.rotations.tolist(), strict=True):
        if channels is None:
            continue
        bone = bones.get(channels.bone)
        if bone is None or bone.rotation_mode != channels.mode:
            return {}
        found[channels.bone] = stored(channels.values(rotation, read_values(bone)))
    if prepared.root is not None:
        root = prepared.bones[0]
        turned = found.get(root, read_values(bones[root]))
        found[root] = [*turned, *stored(prepared.root.location_for(prepared.row.shifts))]
    return found


def difference(bone: bpy.types.PoseBone, values: list[float], stood: list[float]) -> Done:
    """What was done to a bone, from its values and from those that were left there."""
    count = channel_of(bone.rotation_mode)[1]
    if values == stood or len(values) != len(stood):
        return Done(False, False)
    place, before = values[count:], stood[count:]
    slack = SAME_PLACE * max([1.0, *map(abs, before)])
    is_moved = bool(place) and not distance(place, before) <= slack
    return Done(_is_another_turn(bone, values[:count], stood[:count]), is_moved)


def _is_another_turn(bone: bpy.types.PoseBone, values: list[float], stood: list[float]) -> bool:
    """Whether values of rotation channels mean another rotation: not one of other signs, or rounded anew."""
    if values == stood:
        return False
    try:
        a, b = (to_rotation(bone.rotation_mode, numbers, bone.name) for numbers in (values, stood))
    except FabrikError:  # what is wrong is told when it is solved
        return False
    return turn_angle(multiplied(conjugated(a), b)) > SAME_TURN


class Player:
    """Tells whether keys of an armature's bones, or strips, may have put values there.

    Args:
        owner: The armature object.
        keyed: Its curves at the frame.
    """

    def __init__(self, owner: bpy.types.Object, keyed: KeyedChannels) -> None:
        self._owner, self._keyed = owner, keyed

    def plays(self, bone: bpy.types.PoseBone, found: Done, values: list[float], stood: list[float]) -> bool:
        """Whether all that stands otherwise may have been played."""
        count = channel_of(bone.rotation_mode)[1]
        turn = rotation_path(bone), values[:count], stood[:count]
        place = f"{bone.path_from_id()}.location", values[count:], stood[count:]
        parts = [part for part, is_other in ((turn, found.is_turned), (place, found.is_moved)) if is_other]
        return all(self._is_played(*part) for part in parts)

    def _is_played(self, path: str, values: list[float], stood: list[float]) -> bool:
        data = self._owner.animation_data
        if data is None:
            return False
        if data.use_nla and path in self._paths_of_strips():
            return True
        curves = [self._keyed.curves.get((path, i)) for i in range(len(values))]
        if not any(curves):
            return False
        played = [
            value if curve is None else curve.evaluate(self._keyed.frame)
            for curve, value in zip(curves, stood, strict=True)
        ]
        return all(abs(a - b) <= NEAR_KEY * max(1.0, abs(b)) for a, b in zip(values, played, strict=True))

    def _paths_of_strips(self) -> set[str]:
        """What strips of the armature move."""
        strips = strips_of(self._owner.animation_data)
        return {curve.data_path for strip in strips for curve in curves_of_action(strip.action)}


# What live posing says of what was done by hand.

NAMED = 3  # bones that are named; more are counted


def hand_text(hand: Hand, is_held: bool) -> Text:
    """What was done by hand to chains, and what came of it.

    Args:
        hand: What was done.
        is_held: Whether the tips of these are at their targets.
    """
    chains = ", ".join(hand.chains) if len(hand.chains) <= NAMED else Text("{count} chains", count=len(hand.chains))
    bones: str = ", ".join(f"'{name}'" for name in hand.bones)
    if len(hand.bones) > NAMED:
        bones = Text("{count} bones", count=len(hand.bones))
    done = Text("{chains}: {bones} were posed by hand", chains=chains, bones=bones)
    if len(hand.bones) == 1:
        done = Text("{chains}: {bones} was posed by hand", chains=chains, bones=bones)
    if hand.reason:
        return Text("{done}, and live posing put it back: {reason}", done=done, reason=hand.reason)
    if hand.is_keyed:
        kept = Text("{done}, which is keyed", done=done)
    else:
        kept = Text("{done}, which is the start pose now", done=done)
    tip, tips = Text("the tip stays at its target"), Text("the tips stay where they are held")
    return joined("; ", (kept, tip if len(hand.chains) == 1 else tips)) if is_held else kept


# What is done by hand to live chains that are solved together: found, and answered.

Start = tuple[list[Q4], V3 | None]

NOTHING = Done(False, False)


class Ear:
    """Finds what was posed by hand on one live figure, and decides what becomes of it.

    Args:
        context: Blender's.
        rig: The armature.
        chain_set: The chains.
        keyed: The curves of the armature at the frame.
        tool: Which modal tool is at work, or 0.
    """

    def __init__(
        self, context: bpy.types.Context, rig: LiveRig, chain_set: ChainSet, keyed: KeyedChannels, tool: int
    ) -> None:
        self.context, self.rig, self.chain_set, self.keyed, self.tool = context, rig, chain_set, keyed, tool
        self.bones = pose_bones(rig.owner)
        self.key: Key = (rig.owner.name_full, *chain_set.names)
        self.mover = chain_set.body if body_moves(chain_set) else ""
        self.player = Player(rig.owner, keyed)

    def listen(self) -> Start | None:
        """Find what was done, and answer; the start pose for this tick, where that is not stored in the file."""
        key, tool = self.key, self.tool
        known, hand = self.rig.figures.get(self.chain_set.names), state.hands.get(key)
        kept = StoredPose.of(self.chain_set) if known is not None or hand is not None else None
        if hand is not None and hand.after is not None and hand.after != kept:
            del state.hands[key]
            hand = None
        if known is not None and known.start != kept:  # somebody chose another one
            return None
        if hand is not None and hand.tool and not tool and self._is_cancelled(hand):
            hand.before.store(self.chain_set)
            state.hands.pop(key)
            return None
        goes_on = hand is not None and hand.tool != 0 and tool in {0, hand.tool}
        stood = self._stood(known)
        moved = {name: self._done_to(name, stood[name], known, plays=not goes_on) for name in stood}
        moved = {name: done for name, done in moved.items() if any(done)}
        if hand is not None and goes_on:
            return self._went_on(hand, moved)
        if not moved:
            return self._again(hand)
        hand = self._new(stood, moved, known)
        if hand is None:
            return None
        state.hands[key] = hand
        return self._done(hand)

    def _values(self, name: str) -> list[float]:
        return values_of(self.bones[name], moves=name == self.mover)

    def _is_cancelled(self, hand: Hand) -> bool:
        """Whether a modal tool was cancelled, and so left the bones as they stood before."""
        if is_finished(self.context, hand.tool):
            return False
        return all(name in self.bones and self._is_back(name, hand) for name in hand.bones)

    def _is_back(self, name: str, hand: Hand) -> bool:
        """Whether what was done to a bone stands as before; what live posing wrote beside it may stand otherwise."""
        values, stood, done = self._values(name), hand.stood[name], hand.parts[name]
        count = channel_of(self.bones[name].rotation_mode)[1]
        is_turned = done.is_turned and values[:count] != stood[:count]
        return not (is_turned or (done.is_moved and values[count:] != stood[count:]))

    def _again(self, hand: Hand | None) -> Start | None:
        """After undo or redo, key again what automatic keying had kept."""
        if hand is None or not hand.is_keyed or not state.undone:
            return None
        state.answered.add(self.key)
        return start_of(hand)

    def _stood(self, known: LiveFigure | None) -> Values:
        """The channels of the bones as live posing, or an undo, left them; {} where that can't be said."""
        return left_values(known, self.bones) if known is not None else state.restored.get(self.key, {})

    def _done_to(self, name: str, stood: list[float], known: LiveFigure | None, plays: bool) -> Done:
        """What of a bone stands otherwise than it was left.

        Args:
            name: Of the bone.
            stood: Its values.
            known: Its chains as they were read, where they were.
            plays: Whether values that keys play count as left there.
        """
        bone = self.bones.get(name)
        if bone is None:
            return NOTHING
        values = self._values(name)
        found = difference(bone, values, stood)
        if not any(found) or (known is not None and values == known.accepted.get(name)):
            return NOTHING
        return NOTHING if plays and self.player.plays(bone, found, values, stood) else found

    def _new(self, stood: Values, moved: dict[str, Done], known: LiveFigure | None) -> Hand | None:
        """What was done just now; None where it can't be read."""
        try:
            bones = figure_bones(self.chain_set)
            wanted = {bone.name: read_rotation(bone) for bone in bones}
        except FabrikError:  # what is wrong is told when it is solved
            return None
        if not {*moved} <= {*wanted}:
            return None
        location = v3(self.bones[self.mover].location) if self.mover else None
        if known is not None:
            rotations = dict(zip(known.prepared.bones, known.rotations.tolist(), strict=True))
            for name in wanted:
                if not moved.get(name, NOTHING).is_turned and name in stood and name in rotations:
                    wanted[name] = q4(rotations[name])
            if not moved.get(self.mover, NOTHING).is_moved and known.prepared.root is not None:
                location = known.prepared.root.location_for(known.prepared.row.shifts)
        before, chains = StoredPose.of(self.chain_set), self._touched(moved)
        hand = Hand(moved, wanted, location, stood, before, chains, tool=self.tool)
        hand.reason = self._objection()
        tools = self.context.scene.tool_settings if self.context.scene is not None else None
        is_keyed = all(chain.start == "ANIMATED" for chain in self.chain_set.chains)
        if is_keyed and tools is not None and tools.use_keyframe_insert_auto:
            hand.reason, hand.is_keyed = "", True
        return hand

    def _touched(self, moved: Iterable[str]) -> tuple[str, ...]:
        """Names of the chains that have one of some bones; of all where none has."""
        owner, chains, _ = self.chain_set
        found = [chain.name for chain in chains if {bone.name for bone in resolve_bones(owner, chain)} & {*moved}]
        return tuple(found) or self.chain_set.names

    def _objection(self) -> str:
        """Why what was done by hand may not become the start pose; "" where it may."""
        screen = self.context.screen
        if not rig_of(self.rig.owner).auto_capture:
            return Text("Automatic Capture is off")
        if screen is not None and screen.is_animation_playing:
            return Text("frames are playing")
        objection = next(filter(None, map(self._objection_of, self.chain_set.chains)), "")
        if objection:
            return objection
        if any(self._has_keys(bone.name) for bone in figure_bones(self.chain_set)):
            return Text("a bone of its body is keyed, and a new start pose would move the other frames")
        return self._moving_in_other_frames()

    def _objection_of(self, chain: FabrikChain) -> str:
        """Why a chain may not get another start pose; "" where it may."""
        is_one = self.chain_set.is_one
        if chain.start == "ANIMATED":
            subject = _subject(self.chain_set, chain)
            return Text("{chain} starts from its keys, and this is not keyed", chain=subject)
        if any(self._has_keys(bone.name) for bone in resolve_bones(self.rig.owner, chain)):
            bones = Text("its bones") if is_one else Text("the bones of '{chain}'", chain=chain.name)
            return Text("{bones} are keyed, and a new start pose would move the other frames", bones=bones)
        influence = Text("its influence") if is_one else Text("the influence of '{chain}'", chain=chain.name)
        return Text("{influence} is between 0 and 1", influence=influence) if 0.0 < chain.influence < 1.0 else ""

    def _moving_in_other_frames(self) -> str:
        """What makes the chains stand elsewhere in another frame, as a sentence; "" where nothing."""
        owner, chains, _ = self.chain_set
        facts = self.rig.facts.get(self.chain_set.names)
        is_same = facts is not None and facts.motion.is_same and not facts.motion.is_walked
        if facts is None or not is_same or not is_still(owner, figure_bones(self.chain_set)[0].name):
            one, many = Text("it"), Text("what moves or sets them")
            return _animated(one if self.chain_set.is_one else many)
        others = [other for other in rig_of(owner).chains if other.enabled] if facts.motion.is_carried else []
        for chain in (*chains, *others):
            if not all(is_still(goal.found, goal.bone) for goal in goals_of(chain)):
                return _animated(_subject(self.chain_set, chain))
        return ""

    def _has_keys(self, name: str) -> bool:
        """Whether a bone has keys in other frames than this one."""
        curves = [curve for curve in self.keyed.curves_of(self.bones[name]) if curve is not None]
        if name == self.mover:
            path = f"{self.bones[name].path_from_id()}.location"
            curves += [self.keyed.curves[path, i] for i in range(3) if (path, i) in self.keyed.curves]
        frame = self.keyed.frame
        return any(has_motion(one) or any(key.co[0] != frame for key in one.keyframe_points) for one in curves)

    def _went_on(self, hand: Hand, moved: dict[str, Done]) -> Start | None:
        """The same modal tool moved on, or ended: add to its `Hand`, which keeps the state before the tool."""
        for name, done in moved.items():
            before = hand.parts.get(name, NOTHING)
            hand.parts[name] = Done(before.is_turned or done.is_turned, before.is_moved or done.is_moved)
            if done.is_turned:
                with suppress(FabrikError):
                    hand.wanted[name] = read_rotation(self.bones[name])
            if done.is_moved:
                hand.location = v3(self.bones[name].location)
        hand.chains = self._touched(hand.parts)
        return self._done(hand)

    def _done(self, hand: Hand) -> Start | None:
        """Answer a pose made by hand, and remember it for undo once no tool runs."""
        state.answered.add(self.key)
        if not self.tool:
            values = {name: self._values(name) for name in hand.wanted}
            state.replays.append(Replay(self.key, StoredPose.of(self.chain_set), values, hand))
        return answer(self.chain_set, hand)


def _subject(chain_set: ChainSet, chain: FabrikChain) -> str:
    """How a sentence calls one of some chains: that of which it speaks already, or by name."""
    return Text("it") if chain_set.is_one else f"'{chain.name}'"


def _animated(subject: str) -> Text:
    return Text("{subject} is animated, and a new start pose would move the other frames", subject=subject)


def start_of(hand: Hand) -> Start:
    """From what to solve chains with something done by hand that is not stored."""
    return list(hand.wanted.values()), hand.location


def answer(chain_set: ChainSet, hand: Hand) -> Start | None:
    """Store what came of something done by hand; from what to solve where it is not stored."""
    if not (hand.is_keyed or hand.reason):
        store_pose(chain_set, hand.wanted, hand.location)
    hand.after = StoredPose.of(chain_set)
    return start_of(hand) if hand.is_keyed else None


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
    """Take the present channel values of all live chains as ours, so that `Ear` does not report them."""
    state.restored.clear()
    state.was_held = False
    for rig in state.rigs:
        try:
            bones = pose_bones(rig.owner)
            for known in rig.figures.values():
                mover = known.prepared.bones[0] if known.prepared.root is not None else ""
                known.accepted = {name: values_of(bones[name], name == mover) for name in known.prepared.bones}
        except MISSING:
            continue


def answer_hands(context: bpy.types.Context, depsgraph: bpy.types.Depsgraph, rigs: Iterable[LiveRig]) -> Starts:
    """Find bones of live armatures that were posed by hand, and answer; no pose is written yet.

    Args:
        context: For the tool that is at work, and whether automatic keying is on.
        depsgraph: Evaluated.
        rigs: The armatures.

    Returns:
        Of chains whose start pose is what is keyed, that from which to solve until automatic keying keeps it.
    """
    tool = tool_of(context)
    found: Starts = {}
    for rig in rigs:
        if rig_refusal(rig.owner):
            continue
        keyed = KeyedChannels(rig.owner, frame_of(depsgraph))
        chains = rig_of(rig.owner).chains
        for names, facts in rig.facts.items():
            own = tuple(chain for chain in map(chains.get, names) if chain is not None and chain.enabled)
            if len(own) < len(names):
                continue
            starts = Ear(context, rig, ChainSet(rig.owner, own, facts.body), keyed, tool).listen()
            if starts is not None:
                found[rig.owner.name_full, *names] = starts
    if not tool:
        for hand in state.hands.values():
            hand.tool = 0
    return found


def remember_restored(scene: bpy.types.Scene) -> None:
    """After undo or redo, find the `Replay` of the state that came back, and apply its answer again.

    Blender keeps a state for undo before live posing hears of what was done.
    """
    for owner in live_armatures(scene):
        for chain_set in sets_of(owner, [chain for chain in rig_of(owner).chains if chain.enabled]):
            try:
                values = _values_of(chain_set)
            except FabrikError:
                continue
            key = owner.name_full, *chain_set.names
            state.restored[key] = values
            start = StoredPose.of(chain_set)
            for replay in reversed(state.replays):
                if replay.key == key and replay.start == start and replay.values == values:
                    state.hands[key] = replay.hand
                    answer(chain_set, replay.hand)
                    break


def _values_of(chain_set: ChainSet) -> Values:
    """What stands in the channels of the bones of chains.

    Raises:
        FabrikError: They lack bones.
    """
    mover = chain_set.body if body_moves(chain_set) else ""
    return {bone.name: values_of(bone, bone.name == mover) for bone in figure_bones(chain_set)}


def hands_of(owner: bpy.types.Object) -> list[tuple[str, Hand]]:
    """What was done by hand to live chains of an armature, each with the name of the chain at which to say so."""
    return [(hand.chains[0], hand) for key, hand in state.hands.items() if key[0] == owner.name_full]


def keep_hand(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> str:
    """Store the pose made by hand that live posing had put back: the start pose is "ANIMATED" then, or "CAPTURED".

    The chains that are solved with it get theirs, too. Where bones are keyed they start from their keys from then on,
    and get keys at the frame at hand.

    Raises:
        FabrikError: Nothing was done by hand, or the chain lacks bones.
    """
    key = next((key for key in state.hands if key[0] == owner.name_full and chain.name in key[1:]), None)
    if key is None:
        raise ChainError("none of its bones was turned by hand since", rig=owner.name, chain=chain.name)
    hand, chains = state.hands[key], rig_of(owner).chains
    sets = sets_of(owner, [found for found in map(chains.get, key[1:]) if found is not None])
    bones = figure_bones(sets[0])
    if sets[0].names != key[1:] or [bone.name for bone in bones] != list(hand.wanted):
        raise ChainError("it has other bones now", rig=owner.name, chain=chain.name)
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    is_keyed = any(one.start == "ANIMATED" for one in sets[0].chains) or any(keyed.has(bone) for bone in bones)
    store_pose(sets[0], hand.wanted, hand.location, "ANIMATED" if is_keyed else "CAPTURED")
    for bone in bones if is_keyed else ():
        _key(bone, hand, keyed)
    if is_keyed and hand.location is not None:
        bones[0].location = hand.location
        bones[0].keyframe_insert("location", group=bones[0].name)
    state.hands.pop(key)
    return chain.start


def _key(bone: bpy.types.PoseBone, hand: Hand, keyed: KeyedChannels) -> None:
    """Key the rotation of a bone as it was wanted."""
    path = channel_of(bone.rotation_mode)[0]
    near = keyed.previous(bone, read_values(bone))
    setattr(bone, path, to_values(bone.rotation_mode, hand.wanted[bone.name], near))
    bone.keyframe_insert(path, group=bone.name)


def overwriting_keys(owner: bpy.types.Object) -> list[str]:
    """Names of live chains whose bones have keys that these do not start from: live posing overwrites the keys."""
    chains = rig_of(owner).chains
    return [
        name
        for rig in state.rigs
        if rig.owner == owner
        for facts in rig.facts.values()
        for name in facts.keyed
        if name in chains and chains[name].start != "ANIMATED"
    ]

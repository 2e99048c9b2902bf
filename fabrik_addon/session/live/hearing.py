# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done by hand to live chains that are solved together: found, and answered."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import bpy

from ...errors import FabrikError
from ...maths import Q4, V3, q4, v3
from ...rig.animation import has_motion, is_still
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.channels import channel_of, read_rotation
from ...rig.figures import ChainSet, body_moves, figure_bones
from ...rig.goals import goals_of
from ...rig.keys import KeyedChannels
from ...rig.schema import FabrikChain, rig_of
from ...rig.start_pose import StoredPose, store_pose
from ...texts import Text
from .known import Done, Hand, Key, LiveFigure, LiveRig, Replay, Values, state
from .tools import is_finished
from .values import Player, difference, left_values, values_of

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

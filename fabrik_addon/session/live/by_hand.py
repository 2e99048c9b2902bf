# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done by hand to the bones of a live chain: heard, and made its start pose, or put back with a reason.

By hand is done what neither live posing nor an operator of the add-on wrote, and no key plays: a bone turned with the
mouse, a pose pasted or taken from a library, a rotation cleared, what another add-on writes. Of a chain that stands in
all frames as it does in this one that is the new start pose, and the chain is solved from there: so the limb takes the
shape, and the tip stays at its target. Where other frames would move by it, nothing is changed, and the panel says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import bpy

from ...errors import ChainError, FabrikError
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.channels import channel_of, read_rotation, read_values, rotation_path, stored, to_rotation, to_values
from ...rig.checks import rig_refusal
from ...rig.compat import curves_of_action, strips_of
from ...rig.goals import goals_of
from ...rig.kept_start import keep, put_back, read_kept
from ...rig.keys import KeyedChannels
from ...rig.prepared import frame_of
from ...rig.properties import FabrikChain, rig_of
from ...rig.rotations import Q4, conjugated, multiplied, q4, turn_angle
from ...rig.still import has_motion, is_still
from .known import GONE, Hand, LiveChain, LiveRig, Names, Replay, Values, state
from .looking import live_armatures
from .tools import is_finished, tool_of

SAME_TURN = 1e-5  # radians that Blender's tools may be off by rounding where they turn nothing
NEAR_KEY = 1e-6  # how far a played value may be from its curve's


@contextmanager
def own_work() -> Iterator[None]:
    """While the add-on is at work, and of what it leaves behind, nothing is done by hand."""
    state.own += 1
    try:
        yield
    finally:
        state.own -= 1
        accept()


def accept() -> None:
    """What stands in the channels of live chains now is none done by hand, whoever wrote it."""
    state.restored.clear()
    state.was_held = False
    for rig in state.rigs:
        try:
            bones = pose_bones(rig.owner)
            for known in rig.chains.values():
                known.accepted = {name: read_values(bones[name]) for name in known.prepared.bones}
        except GONE:
            continue


def heed(context: bpy.types.Context, depsgraph: bpy.types.Depsgraph, rigs: Iterable[LiveRig]) -> dict[Names, list[Q4]]:
    """Hear what was done by hand to chains of armatures that were evaluated anew; their poses are not written yet.

    Args:
        context: For the tool that is at work, and whether automatic keying is on.
        depsgraph: Evaluated.
        rigs: The armatures.

    Returns:
        Of chains whose start pose is what is keyed, that from which to solve until automatic keying keeps it.
    """
    tool = tool_of(context)
    found: dict[Names, list[Q4]] = {}
    for rig in rigs:
        if rig_refusal(rig.owner) or not rig.owner.is_editable:
            continue
        ear = _Ear(context, rig, KeyedChannels(rig.owner, frame_of(depsgraph)), tool)
        for chain in rig_of(rig.owner).chains:
            starts = ear.heed(chain) if chain.enabled else None
            if starts is not None:
                found[rig.owner.name_full, chain.name] = starts
    if not tool:
        for hand in state.hands.values():
            hand.tool = 0
    return found


class _Ear:
    """Hears what was done by hand to the chains of one armature.

    Args:
        context: Blender's.
        rig: The armature.
        keyed: Its curves at the frame.
        tool: Which modal tool is at work, or 0.
    """

    def __init__(self, context: bpy.types.Context, rig: LiveRig, keyed: KeyedChannels, tool: int) -> None:
        self.context, self.rig, self.keyed, self.tool = context, rig, keyed, tool
        self.bones = pose_bones(rig.owner)

    def heed(self, chain: FabrikChain) -> list[Q4] | None:
        """Hear what was done to a chain; from which pose to solve it where that is not stored."""
        names = self.rig.owner.name_full, chain.name
        known, hand = self.rig.chains.get(chain.name), state.hands.get(names)
        kept = read_kept(chain) if known is not None or hand is not None else None
        if hand is not None and hand.after is not None and hand.after != kept:
            del state.hands[names]
            hand = None
        if known is not None and known.start != kept:  # somebody chose another one
            return None
        if hand is not None and hand.tool and not self.tool and self._is_cancelled(hand):
            put_back(chain, hand.before)
            state.hands.pop(names)
            return None
        goes_on = hand is not None and hand.tool != 0 and self.tool in {0, hand.tool}
        stood = self._stood(chain, known) if known is not None or names in state.restored else {}
        moved = [name for name in stood if self._is_moved(name, stood[name], known, plays=not goes_on)]
        if hand is not None and goes_on:
            return self._went_on(names, chain, hand, moved)
        if not moved:
            return self._again(names, hand)
        hand = self._new(chain, stood, moved)
        if hand is None:
            return None
        state.hands[names] = hand
        return self._done(names, chain, hand)

    def _is_cancelled(self, hand: Hand) -> bool:
        """Whether a modal tool was cancelled, and so left the bones as they stood before."""
        if is_finished(self.context, hand.tool):
            return False
        return all(name in self.bones and read_values(self.bones[name]) == hand.stood[name] for name in hand.bones)

    def _again(self, names: Names, hand: Hand | None) -> list[Q4] | None:
        """What undo or redo brought back is keyed again."""
        if hand is None or not hand.is_keyed or not state.undone:
            return None
        state.heeded.add(names)
        return list(hand.wanted.values())

    def _stood(self, chain: FabrikChain, known: LiveChain | None) -> Values:
        """The channels of the bones of a chain as live posing, or an undo, left them; {} where that can't be said."""
        if known is None:
            return state.restored[self.rig.owner.name_full, chain.name]
        found: Values = {}
        for channels, rotation in zip(known.prepared.channels, known.rotations.tolist(), strict=True):
            if channels is None:
                continue
            bone = self.bones.get(channels.bone)
            if bone is None or bone.rotation_mode != channels.mode:
                return {}
            found[channels.bone] = stored(channels.values(rotation, read_values(bone)))
        return found

    def _is_moved(self, name: str, stood: list[float], known: LiveChain | None, plays: bool) -> bool:
        """Whether other values stand in the channels of a bone than those that were left there.

        Args:
            name: Of the bone.
            stood: Its values.
            known: Its chain as it was read, where it was.
            plays: Whether values that keys play count as left there.
        """
        bone = self.bones.get(name)
        if bone is None:
            return False
        values = read_values(bone)
        if values == stood or len(values) != len(stood) or not _is_another_turn(bone, values, stood):
            return False
        if known is not None and values == known.accepted.get(name):
            return False
        if plays and self._is_played(bone, values, stood):
            return False
        return not (known is not None and known.ways.shares and self._is_of_another(known, name, values))

    def _is_played(self, bone: bpy.types.PoseBone, values: list[float], stood: list[float]) -> bool:
        """Whether the keys of a bone, or strips of the armature, may have put these values there."""
        data = self.rig.owner.animation_data
        if data is None:
            return False
        if data.use_nla and rotation_path(bone) in self._paths_of_strips():
            return True
        curves = self.keyed.curves_of(bone)
        if not any(curves):
            return False
        played = [
            value if curve is None else curve.evaluate(self.keyed.frame)
            for curve, value in zip(curves, stood, strict=True)
        ]
        return all(abs(a - b) <= NEAR_KEY * max(1.0, abs(b)) for a, b in zip(values, played, strict=True))

    def _paths_of_strips(self) -> set[str]:
        """What strips of the armature move."""
        strips = strips_of(self.rig.owner.animation_data)
        return {curve.data_path for strip in strips for curve in curves_of_action(strip.action)}

    def _is_of_another(self, known: LiveChain, name: str, values: list[float]) -> bool:
        """Whether another chain with which a bone is shared left these values there."""
        for other in self.rig.chains.values():
            if other is known or name not in other.prepared.bones:
                continue
            i = other.prepared.bones.index(name)
            channels = other.prepared.channels[i]
            if channels is not None and stored(channels.values(other.rotations[i].tolist(), values)) == values:
                return True
        return False

    def _new(self, chain: FabrikChain, stood: Values, moved: Sequence[str]) -> Hand | None:
        """What was done by hand to a chain just now; None where it can't be read."""
        try:
            bones = resolve_bones(self.rig.owner, chain)
            wanted = {bone.name: read_rotation(bone) for bone in bones}
        except FabrikError:  # what is wrong is told when it is solved
            return None
        if not {*moved} <= {*wanted}:
            return None
        known = self.rig.chains.get(chain.name)
        if known is not None:
            rotations = dict(zip(known.prepared.bones, known.rotations.tolist(), strict=True))
            for name in wanted:
                if name not in moved and name in stood and name in rotations:
                    wanted[name] = q4(rotations[name])
        hand = Hand([*moved], wanted, stood, read_kept(chain), tool=self.tool)
        hand.reason = self._objection(chain)
        tools = self.context.scene.tool_settings if self.context.scene is not None else None
        if chain.start == "ANIMATED" and tools is not None and tools.use_keyframe_insert_auto:
            hand.reason, hand.is_keyed = "", True
        return hand

    def _objection(self, chain: FabrikChain) -> str:
        """Why what was done by hand may not become the start pose; "" where it may."""
        screen = self.context.screen
        objections: tuple[tuple[Callable[[], bool], str], ...] = (
            (lambda: chain.start == "ANIMATED", "it starts from its keys, and this is not keyed"),
            (lambda: not rig_of(self.rig.owner).auto_capture, "Automatic Capture is off"),
            (lambda: screen is not None and screen.is_animation_playing, "frames are playing"),
            (
                lambda: any(self._has_keys(name) for name in self._names(chain)),
                "its bones are keyed, and a new start pose would move the other frames",
            ),
            (lambda: 0.0 < chain.influence < 1.0, "its influence is between 0 and 1"),
            (
                lambda: self._moves_in_other_frames(chain),
                "it is animated, and a new start pose would move the other frames",
            ),
        )
        return next((text for holds, text in objections if holds()), "")

    def _moves_in_other_frames(self, chain: FabrikChain) -> bool:
        """Whether a chain may stand elsewhere in another frame: it, what carries it, or its goals are animated."""
        ways = self.rig.ways.get(chain.name)
        if ways is None or ways.motion.changes or not is_still(self.rig.owner, self._names(chain)[0]):
            return True
        chains = [other for other in rig_of(self.rig.owner).chains if other.enabled] if ways.motion.is_carried else []
        goals = [goal for one in (chain, *chains) for goal in goals_of(one)]
        return not all(is_still(goal.found, goal.bone) for goal in goals)

    def _names(self, chain: FabrikChain) -> list[str]:
        return [bone.name for bone in resolve_bones(self.rig.owner, chain)]

    def _has_keys(self, name: str) -> bool:
        """Whether a bone has keys in other frames than this one."""
        curves = [curve for curve in self.keyed.curves_of(self.bones[name]) if curve is not None]
        frame = self.keyed.frame
        return any(has_motion(one) or any(key.co[0] != frame for key in one.keyframe_points) for one in curves)

    def _went_on(self, names: Names, chain: FabrikChain, hand: Hand, moved: Sequence[str]) -> list[Q4] | None:
        """A modal tool goes on, or ends: what it did is done from where it began."""
        for name in moved:
            try:
                hand.wanted[name] = read_rotation(self.bones[name])
            except FabrikError:
                continue
            if name not in hand.bones:
                hand.bones.append(name)
        return self._done(names, chain, hand)

    def _done(self, names: Names, chain: FabrikChain, hand: Hand) -> list[Q4] | None:
        """Make it the start pose, unless something speaks against it; from what to solve where it is not stored."""
        state.heeded.add(names)
        if not self.tool:
            bones = [self.bones[name] for name in hand.wanted]
            values = {bone.name: read_values(bone) for bone in bones}
            state.replays.append(Replay(names, read_kept(chain), values, hand))
        return _answered(self.rig.owner, chain, hand)


def _is_another_turn(bone: bpy.types.PoseBone, values: list[float], stood: list[float]) -> bool:
    """Whether values of rotation channels mean another rotation: not one of other signs, or rounded anew."""
    try:
        a, b = (to_rotation(bone.rotation_mode, numbers, bone.name) for numbers in (values, stood))
    except FabrikError:  # what is wrong is told when it is solved
        return False
    return turn_angle(multiplied(conjugated(a), b)) > SAME_TURN


def _answered(owner: bpy.types.Object, chain: FabrikChain, hand: Hand) -> list[Q4] | None:
    """Store what came of something done by hand; from what to solve where it is not stored."""
    if not (hand.is_keyed or hand.reason):
        bones = pose_bones(owner)
        is_rest = all(turn_angle(rotation) <= SAME_TURN for rotation in hand.wanted.values())
        keep(chain, [bones[name] for name in hand.wanted], hand.wanted, "REST" if is_rest else "CAPTURED")
    hand.after = read_kept(chain)
    return list(hand.wanted.values()) if hand.is_keyed else None


def remember_restored(scene: bpy.types.Scene) -> None:
    """After an undo or a redo: what came of the state that it brought back comes of it again.

    For Blender keeps a state before live posing hears of it.
    """
    for owner in live_armatures(scene):
        for chain in rig_of(owner).chains:
            try:
                own = resolve_bones(owner, chain)
            except FabrikError:
                continue
            names = owner.name_full, chain.name
            values = state.restored[names] = {bone.name: read_values(bone) for bone in own}
            start = read_kept(chain)
            for replay in reversed(state.replays):
                if replay.names == names and replay.start == start and replay.values == values:
                    state.hands[names] = replay.hand
                    _answered(owner, chain, replay.hand)
                    break


def keep_hand(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> str:
    """Make what was done by hand to a live chain its start pose after all; which one it is now.

    A chain whose bones are keyed starts from its keys from then on, and gets keys at the frame at hand.

    Raises:
        FabrikError: Nothing was done by hand, or the chain lacks bones.
    """
    hand = state.hands.get((owner.name_full, chain.name))
    if hand is None:
        raise ChainError("none of its bones was turned by hand since", rig=owner.name, chain=chain.name)
    bones = resolve_bones(owner, chain)
    if [bone.name for bone in bones] != list(hand.wanted):
        raise ChainError("it has other bones now", rig=owner.name, chain=chain.name)
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    is_keyed = chain.start == "ANIMATED" or any(keyed.has(bone) for bone in bones)
    keep(chain, bones, hand.wanted, "ANIMATED" if is_keyed else "CAPTURED")
    for bone in bones if is_keyed else ():
        path = channel_of(bone.rotation_mode)[0]
        near = keyed.previous(bone, read_values(bone))
        setattr(bone, path, to_values(bone.rotation_mode, hand.wanted[bone.name], near))
        bone.keyframe_insert(path, group=bone.name)
    state.hands.pop((owner.name_full, chain.name))
    return chain.start


def deaf_to_keys(owner: bpy.types.Object) -> list[str]:
    """Names of the live chains of an armature whose bones are keyed, and which do not start from their keys."""
    chains = rig_of(owner).chains
    return [
        name
        for rig in state.rigs
        if rig.owner == owner
        for name, known in rig.chains.items()
        if known.ways.motion.is_keyed and known.start is not None and known.start.kind != "ANIMATED" and name in chains
    ]

# SPDX-License-Identifier: GPL-3.0-or-later
"""From the rotations of all frames to keys: run on, thinned, into an action or a strip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import bpy
import numpy as np

from ...kernel import PIN, Limit
from ...maths import (
    Doubles,
    Mask,
    Places,
    conjugated,
    conjugates,
    lengths,
    multiplied,
    products,
    rotated_each,
    turn_angle,
    turn_angles,
)
from ...rig.animation.channels import cosines, read_values, rotation_path, run_on, to_rotations
from ...rig.animation.compat import (
    curves_of_action,
    give_action,
    lacks_slot,
    remove_slots,
    slot_names,
    slot_of,
    strips_of,
)
from ...rig.animation.curves import CONSTANT, PLAIN, Keys, staying
from ...rig.animation.keys import KeyedChannels, is_pinned_at_times
from ...rig.bones import pose_bones
from ...rig.figure.chain_goal import ChainGoal
from ...rig.figure.figure import BoneChannels, RigFigure
from ...rig.figure.groups import ChainSet
from ...rig.figure.joint_limits import way_up
from .checks import BakeSettings
from .report import ChainBake
from .sample import Track

# The action that a bake writes into: made, played where it is wanted, and taken back.


class Destination:
    """Where the keys of one armature go.

    While chains are read the armature has the action that it had, so that all else in it plays; a track is written
    beside it.

    Args:
        owner: The armature object.
        into: "ACTION" for its action, "NEW_ACTION" for a copy of it, "NLA" for a new action on a new track.
        word: What is added to the name of the action for a new one.
    """

    def __init__(self, owner: bpy.types.Object, into: str, word: str = "Bake") -> None:
        self.owner, self.into = owner, into
        self._was_bare = owner.animation_data is None
        data = owner.animation_data or owner.animation_data_create()
        assert data is not None
        self._before, self._slot = data.action, slot_of(owner)
        self._slots = slot_names(self._before)
        self._made: bpy.types.Action | None = None
        self._track: bpy.types.NlaTrack | None = None
        if into == "NEW_ACTION" and self._before is not None and not lacks_slot(owner):
            data.action = self._made = self._before.copy()
            self._made.name = f"{self._before.name} {word}"
        elif into != "ACTION" or self._before is None:
            self._made = bpy.data.actions.new(f"{self._before.name if self._before else owner.name} {word}")
            if into != "NLA":
                data.action = self._made

    @property
    def _data(self) -> bpy.types.AnimData:
        assert self.owner.animation_data is not None
        return self.owner.animation_data

    @property
    def is_own(self) -> bool:
        """Whether keys go into the action that the armature had."""
        return self._made is None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Meanwhile the action to write into is the armature's."""
        if self.into != "NLA":
            yield
            return
        give_action(self._data, self._made)
        try:
            yield
        finally:
            self._give_back()

    def play(self, paths: set[str], span: tuple[float, float]) -> None:
        """Let the keys that are written play: on the track, for as long as they count.

        Args:
            paths: The data paths that are keyed. Where other tracks have one of them, the new track plays over them
                for its own frames alone, else it holds its ends as an action does.
            span: First and last frame that are baked; a channel that stays has a single key.
        """
        if self.into != "NLA" or self._made is None:
            return
        if self._track is None:
            self._track = self._data.nla_tracks.new()
            self._track.name = self._made.name
        for old in list(self._track.strips):
            self._track.strips.remove(old)
        first, last = span
        strip = self._track.strips.new(self._made.name, int(first), self._made)
        give_action(strip, self._made)
        if last > first:
            strip.action_frame_start, strip.action_frame_end = first, last
            strip.frame_start_raw, strip.frame_end_raw = first, last
        others = (found for found in strips_of(self._data) if found.action != self._made)
        is_keyed = any(curve.data_path in paths for other in others for curve in curves_of_action(other.action))
        strip.extrapolation = "NOTHING" if is_keyed else "HOLD"

    def finish(self) -> None:
        """Keep the action that the armature had from being lost, where nothing uses it any more."""
        if self._before is not None and self._before.is_editable and self._data.action != self._before:
            self._before.use_fake_user = True

    def take_back(self) -> None:
        """Remove what was made; the armature has what it had."""
        if self._track is not None:
            self._data.nla_tracks.remove(self._track)
            self._track = None
        self._give_back()
        remove_slots(self._before, slot_names(self._before) - self._slots)
        if self._made is not None:
            bpy.data.actions.remove(self._made)
            self._made = None
        if self._was_bare:
            self.owner.animation_data_clear()

    def _give_back(self) -> None:
        data = self._data
        if data.action != self._before:
            data.action = self._before
        if slot_of(self.owner) != self._slot:
            setattr(data, "action_slot", self._slot)


# From the rotations of all frames to keys.

BoneKeys: TypeAlias = tuple[Keys, list[ChainBake], Limit | None, float]  # results of its chains, limit, what it carries


def keys_of(track: Track, settings: BakeSettings, before: KeyedChannels) -> Iterator[BoneKeys]:
    """What of chains is to be keyed; quaternions and Euler angles run on from frame to frame.

    How far joints turn, and leave their limits, is put into the results.

    Args:
        track: The chains, solved.
        settings: What to bake.
        before: The curves of their armature before the span whose keys are replaced, on from which the first frame
            runs.

    Yields:
        The keys of a property, the results of the chains that have the bone (its keys count for the first), its limit
        where that is the same in all frames, and the size of what it carries.
    """
    figure, pose, results = track.figure, pose_bones(track.owner), track.results
    steps = cosines(track.rotations)
    for c, result in enumerate(results):
        joints: Any = track.joints_of(c) if len(results) > 1 else slice(None)
        result.worst_turn = _worst_turn(track.rotations[:, joints], steps[:, joints], track.frames)
        result.worst_violation = track.violation
    interpolation, span = settings.interpolation, (settings.frames[0], settings.frames[-1])
    of_all = partial(Keys, frames=track.frames, interpolation=interpolation, span=span)
    bones = [(own, pose[own.bone]) if own is not None else None for own in figure.channels]
    stood = [read_values(one[1]) if one is not None else [] for one in bones]
    channels = [one and replace(one[0], near=before.previous(one[1], one[0].near)) for one in bones]
    runs = _runs(track, channels, steps, stood) | dict(_played(track, channels))
    for i, (own, one) in enumerate(zip(channels, bones, strict=True)):
        if own is not None and one is not None:
            values, stays = runs[i]
            keys = of_all(rotation_path(one[1]), own.mode, own.bone, own.indices, stood[i], values, stays)
            holders = [result for result, chain in zip(results, figure.goals, strict=True) if i in chain.joints]
            yield keys, holders or [*results], figure.limits[i] if track.is_one else None, 1.0
    for i, (name, channel) in enumerate(figure.plain_channels):
        values, bone = track.plain[:, i], pose[name]
        place, stays = [*getattr(bone, channel)], staying(values, within=0.0 if track.played else CONSTANT)
        keys = of_all(bone.path_from_id(channel), PLAIN, name, range(3), place, values, stays)
        holders = [result for result, chain in zip(results, figure.goals, strict=True) if name in chain.bones]
        yield keys, holders or [*results], None, figure.length if channel == "location" else 1.0


def _played(track: Track, channels: Sequence[BoneChannels | None]) -> Iterator[tuple[int, tuple[Doubles, Mask]]]:
    """`_runs` of the bones whose keys goals offset: they run on from these, and are these where nothing is asked."""
    for i, played in track.played.items():
        own = channels[i]
        if own is None:
            continue
        values = played.copy()
        for k in np.flatnonzero(~track.rests).tolist():
            near = played[k].tolist()
            values[k] = replace(own, near=near).values(track.rotations[k, i].tolist(), near)
        yield i, (values, staying(values, within=0.0))


def _worst_turn(rotations: Doubles, steps: Doubles, frames: Doubles) -> tuple[float, float]:
    """The largest turn of a joint in rotations (F, n, 4), radians, and the frame to which it leads."""
    if len(frames) < 2:
        return 0.0, float(frames[0])
    k, i = np.unravel_index(np.abs(steps).argmin(), steps.shape)
    between = multiplied(conjugated(rotations[k, i].tolist()), rotations[k + 1, i].tolist())
    return turn_angle(between), float(frames[k + 1])


def _locked_run(track: Track, i: int, own: BoneChannels, stood: list[float]) -> Iterator[list[float]]:
    """The values of a bone with rotation locks, frame by frame; those that are locked keep what stood there."""
    for k, rotation in enumerate(track.rotations[:, i].tolist()):
        now = track.channels[k][i] if k in track.channels else None
        own = replace(own, locks=now.locks) if now is not None else own
        values = own.values(rotation, stood)
        own = replace(own, near=values)
        yield values


def _runs(
    track: Track, channels: Sequence[BoneChannels | None], steps: Doubles, stood: Sequence[list[float]]
) -> dict[int, tuple[Doubles, Mask]]:
    """Values (F, k) of each bone's channels, and which of these stay, (k,); bones of one rotation mode go together.

    `steps` are the `cosines` of the track's rotations; locked channels keep what `stood` in those of each bone.
    """
    rotations = track.rotations
    modes: dict[str, list[int]] = {}
    found: dict[int, tuple[Doubles, Mask]] = {}
    for i, own in enumerate(channels):
        if own is not None and own.locks is not None:
            values: Doubles = np.array([*_locked_run(track, i, own, stood[i])])
            found[i] = values, staying(values)
        elif own is not None:
            modes.setdefault(own.mode, []).append(i)
    for mode, indices in modes.items():
        near = np.array([one.near for i in indices if (one := channels[i]) is not None])
        picked = slice(None) if len(indices) == len(channels) else indices  # which spares a copy
        values = run_on(mode, rotations[:, picked], steps[:, picked], near)
        stays = staying(values)
        found |= {i: (values[:, m], stays[m]) for m, i in enumerate(indices)}
    return found


# Keys that are left out: each bone stays near what was solved, and pinned tips stay in their places.
#
# The two ends are kept; then, as long as some frame between two keys is off by more than the bound, the worst such
# frame becomes a key (after Ramer 1972, "An iterative procedure for the polygonal approximation of plane curves", with
# the angle between rotations as the distance). All channels of a bone's rotation, or of its location, are keyed at the
# same frames.
#
# A tip is off by all that the bones on its way are off. One that is pinned is held by itself: where it would slide, all
# of them get keys at the worst frame.

PIN_HELD = 1e-3  # share of a limb's length by which its pinned tip may slide
LEAST = 3  # frames; fewer have no key between first and last to leave out
LEFT = 1e-4  # radians beyond a limit that rounding to single precision may cause
TOO_FAR = 10.0  # radians, more than any bound


class ThinnedKeys:
    """Keys of the channels of a property as they were solved, in F frames, some of them left out.

    A rotation is off by an angle, and far too much where it leaves the bone's limit. A location or a scale is off by a
    distance, as a share of what the bone carries: so far a turn by as much would take an end.

    Args:
        keys: As they were solved.
        limit: The bone's limit, where it is the same in all frames.
        size: Of what the bone carries.

    Attributes:
        at: The places of the keys that stay, rising.
        violation: The worst violation of the limit when it was asked last by how much they are off, radians.
    """

    def __init__(self, keys: Keys, limit: Limit | None, size: float) -> None:
        is_plain, count = keys.mode == PLAIN, len(keys.frames)
        is_smooth = keys.interpolation == "BEZIER" and count >= LEAST
        self.keys, self.violation, self._size = keys, 0.0, size
        self._slopes = np.gradient(keys.values, keys.frames, axis=0, edge_order=2) if is_smooth else None
        self.at: Places = np.unique([0, count - 1])
        self._wanted = keys.values if is_plain else conjugates(to_rotations(keys.mode, keys.values))
        self._limit = None if is_plain or limit is None or limit.is_free else limit
        self._last: Doubles = np.full((count, 4), np.nan)  # rotations
        self._left: Doubles = np.zeros(count)  # by how much these leave the limit

    def values(self) -> Doubles:
        """(F, k), with the keys that are kept."""
        if len(self.at) == len(self.keys.frames):
            return self.keys.values
        return between_keys(self.keys.frames, self.keys.values, self.at, self._slopes)

    def off(self) -> Doubles:
        """By how much the bone is off in each frame with the keys that are kept, (F,), in radians."""
        values = self.values()
        if self.keys.mode == PLAIN:
            return lengths(values - self._wanted) / self._size
        found = to_rotations(self.keys.mode, values)
        if self._limit is not None:
            changed: Mask = (found != self._last).any(axis=1)
            self._left[changed] = [self._limit.violation(rotation) for rotation in found[changed].tolist()]
            self._last, self.violation = found, float(self._left.max())
        off: Doubles = turn_angles(products(self._wanted, found)) + np.where(self._left > LEFT, TOO_FAR, 0.0)
        return off

    def keep(self, bound: float) -> None:
        """Keep more keys, until no frame is off by more than a bound, in radians."""

        def off(at: Places) -> Doubles:
            self.at = at
            return self.off()

        self.at = kept_places(self.at, bound, off)

    def kept(self) -> Keys:
        """The keys that are kept."""
        values = self.keys.values[self.at]
        stays = staying(values)
        if self._slopes is None:
            return replace(self.keys, frames=self.keys.frames[self.at], values=values, stays=stays)
        slopes = self._slopes[self.at]
        stays &= np.abs(slopes).max(axis=0) <= CONSTANT
        return replace(self.keys, frames=self.keys.frames[self.at], values=values, stays=stays, slopes=slopes)


def clean(figure: RigFigure, chain_set: ChainSet, every: Sequence[BoneKeys], bound: float) -> list[Keys]:
    """The fewer keys of chains that are solved together which keep their bones near what was solved.

    Args:
        figure: The chains.
        chain_set: The same.
        every: What of them is to be keyed: a key for each of F frames, all channels of a property.
        bound: By how much a bone may be off at one of the frames, radians.
    """
    thinned = [ThinnedKeys(keys, limit, size) for keys, _, limit, size in every]
    pinned = [
        one
        for one, chain in zip(figure.goals, chain_set.chains, strict=True)
        if one.rank == PIN or is_pinned_at_times(chain_set.owner, chain)
    ]
    held = [PinnedTip(figure, one, thinned) for one in pinned]
    before = -1
    while (count := sum([len(one.at) for one in thinned])) > before:
        before = count
        for one in thinned:
            one.keep(bound)
        for tip in held:
            tip.keep()
    for one, (_, results, _, _) in zip(thinned, every, strict=True):
        for result in results:
            result.worst_violation = max(result.worst_violation, one.violation)
    return [one.kept() for one in thinned]


class PinnedTip:
    """The tip of a chain that is pinned, and the thinned keys of what moves it.

    What stretches the chain keeps all its keys.
    """

    def __init__(self, figure: RigFigure, goal: ChainGoal, thinned: Sequence[ThinnedKeys]) -> None:
        self._figure, self._goal = figure, goal
        self._way = way_up(figure.bodies.parents, goal.joints[-1])[::-1]
        names = {figure.bones[i]: i for i in self._way}
        self._turns = {
            names[one.keys.bone]: one for one in thinned if one.keys.mode != PLAIN and one.keys.bone in names
        }
        plain = [one for one in thinned if one.keys.mode == PLAIN and one.keys.bone in names]
        self._moves = [one for one in plain if figure.root is not None and one.keys.bone == figure.bones[0]][:1]
        for one in [one for one in plain if one not in self._moves]:
            one.at = np.arange(len(one.keys.frames))
        size = sum([figure.solver.figure.lengths[i] for i in (goal.joints[:-1] if goal.at_head else goal.joints)])
        self._most = PIN_HELD * (size or figure.length) / goal.stretch
        self._wanted = self._places([one.keys.values for one in self._all]) if self._all else np.empty((0, 3))

    @property
    def _all(self) -> list[ThinnedKeys]:
        return [*self._turns.values(), *self._moves]

    def keep(self) -> None:
        """Keep more keys of what moves the tip, until it is in its place in all frames."""
        own, frames = self._all, len(self._wanted)
        if not own:  # all its bones are locked
            return
        keyed = np.isin(np.arange(frames), own[0].at)
        for one in own[1:]:
            keyed &= np.isin(np.arange(frames), one.at)
        before = np.flatnonzero(keyed)

        def off(at: Places) -> Doubles:
            more = np.setdiff1d(at, before)
            for one in own:
                one.at = np.union1d(one.at, more[self._reaches(one)[more] > 0.5 / len(own)])
            return lengths(self._places([one.values() for one in own]) - self._wanted) / self._most

        kept_places(before, 1.0, off)

    def _reaches(self, one: ThinnedKeys) -> Doubles:
        """How far at most a property that is off moves the tip, (F,), as a share of what that may slide."""
        return one.off() * self._figure.length / self._most

    def _places(self, values: Sequence[Doubles]) -> Doubles:
        """Where the tip stands in chain space in all frames, (F, 3), by the values of all that moves it."""
        count, bodies = len(values[0]), self._figure.bodies
        turns = dict(zip(self._turns, values[: len(self._turns)], strict=True))
        place: Doubles = np.zeros((count, 3))
        if self._moves:
            assert self._figure.root is not None
            place = self._figure.root.shifts_for(values[-1])
        frame = np.tile((1.0, 0.0, 0.0, 0.0), (count, 1))
        for k, i in enumerate(self._way):
            joint, head = bodies.joints[i], bodies.heads[i]
            if k > 0 and head is None:
                place = place + rotated_each(frame, np.array(bodies.joints[self._way[k - 1]].segment))
            elif head is not None:
                place = place + rotated_each(frame, np.array(head))
            rest = np.array(joint.rest) if not joint.inherits else products(frame, np.array(joint.rest))
            own = to_rotations(self._turns[i].keys.mode, turns[i]) if i in turns else np.array(joint.start)
            frame = products(rest, own)
        if self._goal.at_head:
            return place
        return place + rotated_each(frame, np.array(bodies.joints[self._way[-1]].segment))


def kept_places(at: Places, bound: float, off: Callable[[Places], Doubles]) -> Places:
    """The places of the keys that are kept, of F; what they are is told to `off` last.

    Args:
        at: Places that are kept in any case, rising, the two ends among them.
        bound: By how much a frame may be off.
        off: Tells by how much all frames (F,) are off with keys at some places.
    """
    while True:
        found = off(at)
        if len(at) == len(found):
            return at
        found[at] = 0.0
        over = np.flatnonzero(np.maximum.reduceat(found, at[:-1]) > bound)
        if not over.size:
            return at
        more = [int(at[i] + found[at[i] : at[i + 1]].argmax()) for i in over]
        at = np.sort(np.concatenate((at, more)))


def between_keys(frames: Doubles, values: Doubles, at: Places, slopes: Doubles | None = None) -> Doubles:
    """The values (F, k) at all frames with the keys at some of them: straight lines, or cubics with given slopes."""
    i = np.minimum(np.searchsorted(at, np.arange(len(frames)), side="right") - 1, len(at) - 2)
    first, last = at[i], at[i + 1]
    span = (frames[last] - frames[first])[:, None]
    u = (frames - frames[first])[:, None] / span
    a, b = values[first], values[last]
    if slopes is None:
        found: Doubles = a + (b - a) * u
        return found
    leaving, coming = slopes[first] * span, slopes[last] * span
    rest = 1.0 - u
    found = (1.0 + 2.0 * u) * rest**2 * a + u * rest**2 * leaving
    found += u**2 * (3.0 - 2.0 * u) * b - u**2 * rest * coming
    return found

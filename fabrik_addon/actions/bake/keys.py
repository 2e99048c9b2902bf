# SPDX-License-Identifier: GPL-3.0-or-later
"""From the rotations of all frames to keys: run on, thinned, into an action or a strip."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...kernel import Limit
from ...maths import (
    Doubles,
    Mask,
    Places,
    conjugated,
    conjugates,
    lengths,
    multiplied,
    products,
    turn_angle,
    turn_angles,
)
from ...rig.animation.channels import (
    cosines,
    plain_path,
    read_values,
    rotation_path,
    run_of_turns,
    run_on,
    to_rotations,
)
from ...rig.animation.compat import (
    curves_of_action,
    give_action,
    lacks_slot,
    remove_slots,
    slot_names,
    slot_of,
    strips_of,
)
from ...rig.animation.curves import CONSTANT, PLAIN, Channels, CurveWriter, Keys, staying
from ...rig.animation.keys import KeyedChannels
from ...rig.bones import pose_bones
from ...rig.figure.figure import BoneChannels
from .checks import BakeSettings
from .report import ChainBake
from .sample import Answers, Track

# Keys left out where the curves between the others stay near enough.
#
# The two ends are kept; then, as long as some frame between two keys is off by more than the bound, the worst such
# frame becomes a key (after Ramer 1972, "An iterative procedure for the polygonal approximation of plane curves", with
# the angle between rotations as the distance). All channels of a bone's rotation, or of its location, are keyed at the
# same frames.

LEAST = 3  # frames; fewer have no key between first and last to leave out
LEFT = 1e-4  # radians beyond a limit that rounding to single precision may cause
TOO_FAR = 10.0  # radians, more than any bound


class Measure(ABC):
    """How far the values of F frames are off those that were solved.

    Attributes:
        violation: The worst violation of a limit at any frame by the values that were asked for last, radians.
    """

    violation: float = 0.0

    @abstractmethod
    def of(self, values: Doubles) -> Doubles:
        """(F,), in radians, for values (F, k) of the k channels."""


class Turned(Measure):
    """The angle by which a bone is off, and whether it leaves its limit.

    Args:
        mode: The rotation mode.
        values: (F, k), those that were solved.
        limit: The bone's limit, where it is the same in all frames.
    """

    def __init__(self, mode: str, values: Doubles, limit: Limit | None) -> None:
        self._mode = mode
        self._wanted = conjugates(to_rotations(mode, values))
        self._violation = _Violation(limit, len(values))

    def of(self, values: Doubles) -> Doubles:
        found = to_rotations(self._mode, values)
        left = self._violation.of(found)
        self.violation = float(left.max())
        off: Doubles = turn_angles(products(self._wanted, found)) + np.where(left > LEFT, TOO_FAR, 0.0)
        return off


class Moved(Measure):
    """The distance by which a bone is off, as a share of what it carries: so far a turn by as much would take an end.

    Args:
        values: (F, 3), location channels as they were solved.
        size: Of what it carries.
    """

    def __init__(self, values: Doubles, size: float) -> None:
        self._wanted, self._size = values, size

    def of(self, values: Doubles) -> Doubles:
        found: Doubles = lengths(values - self._wanted) / self._size
        return found


def cleaned(keys: Keys, measure: Measure, bound: float) -> Keys:
    """The fewer keys of channels that keep them near what was solved.

    Args:
        keys: A key for each of F frames, all channels of a property; Bezier curves take the slopes of these.
        measure: How far values are off.
        bound: By how much they may be at one of the frames, radians.
    """
    if len(keys.frames) < LEAST:
        measure.of(keys.values)
        return keys
    slopes = np.gradient(keys.values, keys.frames, axis=0, edge_order=2) if keys.interpolation == "BEZIER" else None
    at = np.array([0, len(keys.frames) - 1])
    while True:
        off = measure.of(_between(keys, at, slopes))
        off[at] = 0.0
        over = np.flatnonzero(np.maximum.reduceat(off, at[:-1]) > bound)
        if not over.size:
            break
        more = [int(at[i] + off[at[i] : at[i + 1]].argmax()) for i in over]
        at = np.sort(np.concatenate((at, more)))
    values = keys.values[at]
    stays = staying(values)
    if slopes is not None:
        slopes = slopes[at]
        stays &= np.abs(slopes).max(axis=0) <= CONSTANT
    return replace(keys, frames=keys.frames[at], values=values, stays=stays, slopes=slopes)


class _Violation:
    """How far rotations of F frames are outside a limit; found anew where they are others than the last time."""

    def __init__(self, limit: Limit | None, count: int) -> None:
        self._limit = None if limit is None or limit.is_free else limit
        self._last: Doubles = np.full((count, 4), np.nan)
        self._left: Doubles = np.zeros(count)

    def of(self, rotations: Doubles) -> Doubles:
        """Radians, (F,), for unit quaternions (F, 4)."""
        if self._limit is not None:
            changed: Mask = (rotations != self._last).any(axis=1)
            self._left[changed] = [self._limit.violation(rotation) for rotation in rotations[changed].tolist()]
            self._last = rotations
        return self._left


def _between(keys: Keys, at: Places, slopes: Doubles | None) -> Doubles:
    """The values at all frames with the keys at some of them: straight lines, or cubics with the given slopes."""
    i = np.minimum(np.searchsorted(at, np.arange(len(keys.frames)), side="right") - 1, len(at) - 2)
    first, last = at[i], at[i + 1]
    span = (keys.frames[last] - keys.frames[first])[:, None]
    u = (keys.frames - keys.frames[first])[:, None] / span
    a, b = keys.values[first], keys.values[last]
    if slopes is None:
        found: Doubles = a + (b - a) * u
        return found
    leaving, coming = slopes[first] * span, slopes[last] * span
    rest = 1.0 - u
    found = (1.0 + 2.0 * u) * rest**2 * a + u * rest**2 * leaving
    found += u**2 * (3.0 - 2.0 * u) * b - u**2 * rest * coming
    return found


# The action that a bake writes into: made, played where it is wanted, and taken back.


class Destination:
    """Where the keys of one armature go.

    While chains are read the armature has the action that it had, so that all else in it plays; a track is written
    beside it.

    Args:
        owner: The armature object.
        into: "ACTION" for its action, "NEW_ACTION" for a copy of it, "NLA" for a new action on a new track.
    """

    def __init__(self, owner: bpy.types.Object, into: str) -> None:
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
            self._made.name = f"{self._before.name} Bake"
        elif into != "ACTION" or self._before is None:
            self._made = bpy.data.actions.new(f"{self._before.name if self._before else owner.name} Bake")
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


@dataclass(slots=True, eq=False)
class BoneKeys:
    """A bone's rotation, or its location, with a key for each frame.

    Attributes:
        results: Of the chains that have the bone; its keys count for the first.
        channels: Of the bone.
        keys: All of them.
        measure: How far values of the channels are off.
        count: Number of keys that are written.
    """

    results: Sequence[ChainBake]
    channels: Channels
    keys: Keys
    measure: Measure
    count: int = 0

    def write(self, writer: CurveWriter) -> None:
        """Write all keys."""
        self._put(writer, self.keys)

    def clean(self, writer: CurveWriter, bound: float) -> None:
        """Write those that keep the bone within an angle, in place of what it has."""
        keys = cleaned(self.keys, self.measure, bound)
        for result in self.results:
            result.worst_violation = max(result.worst_violation, self.measure.violation)
        self._put(writer, keys)

    def _put(self, writer: CurveWriter, keys: Keys) -> None:
        before = writer.keys
        writer.write(self.channels, keys)
        count = writer.keys - before
        self.results[0].keys += count - self.count
        self.count = count


def read_track(
    track: Track, answers: Answers, settings: BakeSettings, before: KeyedChannels
) -> tuple[list[ChainBake], list[BoneKeys]]:
    """What of chains is to be keyed; quaternions and Euler angles run on from frame to frame.

    Args:
        track: The chains.
        answers: How they are solved.
        settings: What to bake.
        before: The curves of their armature before the span whose keys are replaced, on from which the first frame
            runs.

    Returns:
        How each chain went, and the bones that have channels.
    """
    prepared, frames = track.prepared, track.frames
    steps = cosines(answers.rotations)
    results = [_result(track, answers, steps, k) for k in range(len(prepared.asked))]
    bones = pose_bones(track.owner)
    stood = {own.bone: read_values(bones[own.bone]) for own in prepared.channels if own is not None}
    channels_of = [own and replace(own, near=before.previous(bones[own.bone], own.near)) for own in prepared.channels]
    runs = _runs(channels_of, answers.rotations, steps, stood)
    span = settings.frames[0], settings.frames[-1]
    found = []
    for i, own in enumerate(channels_of):
        if own is not None:
            channels = Channels(rotation_path(bones[own.bone]), own.mode, own.bone, own.indices, stood[own.bone])
            limit = prepared.limits[i] if track.is_one else None  # else it may change from frame to frame
            keys = Keys(frames, *runs[i], settings.interpolation, span)
            measure = Turned(own.mode, keys.values, limit)
            found.append(BoneKeys(_with_joint(track, results, i), channels, keys, measure))
    found += [_plain_keys(track, answers.plain[:, i], i, settings, results) for i in range(answers.plain.shape[1])]
    return results, found


def _result(track: Track, answers: Answers, steps: Doubles, k: int) -> ChainBake:
    """How one of the chains went."""
    joints: Any = track.joints_of(k) if len(track.prepared.asked) > 1 else slice(None)
    result = ChainBake(
        track.owner.name,
        track.prepared.chains[k],
        track.frames,
        answers.status[:, k].copy(),
        answers.residual[:, k].copy(),
        answers.turn[:, k].copy(),
        answers.softened[:, k].copy(),
    )
    result.together = [name for name in track.prepared.chains if name != result.chain]
    result.worst_violation = answers.violation
    result.worst_turn = _worst_turn(answers.rotations[:, joints], steps[:, joints], track.frames)
    return result


def _with_joint(track: Track, results: Sequence[ChainBake], i: int) -> list[ChainBake]:
    """The results of the chains that have a joint; of all where none has."""
    found = [result for result, one in zip(results, track.prepared.asked, strict=True) if i in one.joints]
    return found or [*results]


def _plain_keys(
    track: Track, values: Doubles, i: int, settings: BakeSettings, results: Sequence[ChainBake]
) -> BoneKeys:
    """The values (F, 3) of the location or scale of a bone: of `Prepared.plain_channels` the one at an index."""
    name, channel = track.prepared.plain_channels[i]
    bone = pose_bones(track.owner)[name]
    channels = Channels(plain_path(bone, channel), PLAIN, name, range(3), [*getattr(bone, channel)])
    keys = Keys(
        track.frames, values, staying(values), settings.interpolation, (settings.frames[0], settings.frames[-1])
    )
    own = [result for result, one in zip(results, track.prepared.asked, strict=True) if name in one.bones]
    size = track.prepared.length if channel == "location" else 1.0
    return BoneKeys(own or [*results], channels, keys, Moved(values, size))


def _worst_turn(rotations: Doubles, steps: Doubles, frames: Doubles) -> tuple[float, float]:
    """The largest turn of a joint between frames, radians, and the frame to which it leads.

    Args:
        rotations: (F, n, 4).
        steps: Their `cosines`.
        frames: (F,).
    """
    if len(frames) < 2:
        return 0.0, float(frames[0])
    k, i = np.unravel_index(np.abs(steps).argmin(), steps.shape)
    between = multiplied(conjugated(rotations[k, i].tolist()), rotations[k + 1, i].tolist())
    return turn_angle(between), float(frames[k + 1])


def _runs(
    channels: Sequence[BoneChannels | None], rotations: Doubles, steps: Doubles, stood: dict[str, list[float]]
) -> dict[int, tuple[Doubles, Mask]]:
    """Values (F, k) of each bone's channels, and which of these stay, (k,); bones of one rotation mode go together.

    Args:
        channels: Of the n bones.
        rotations: (F, n, 4).
        steps: Their `cosines`.
        stood: What stands in the channels of each bone; those that are locked keep it.
    """
    modes: dict[str, list[int]] = {}
    found: dict[int, tuple[Doubles, Mask]] = {}
    for i, own in enumerate(channels):
        if own is not None and own.hinge is not None:
            values = _hinge_run(own, rotations[:, i], stood[own.bone])
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


def _hinge_run(own: BoneChannels, rotations: Doubles, stood: Sequence[float]) -> Doubles:
    """Values (F, k) of a bone of which a single channel, the angle of a hinge, is free."""
    assert own.hinge is not None
    angles = np.array([own.hinge.angle_of(rotation) for rotation in rotations.tolist()])
    values: Doubles = np.tile(np.array(stood), (len(rotations), 1))
    values[:, own.free] = run_of_turns(angles, np.array(own.near[own.free]))
    return values

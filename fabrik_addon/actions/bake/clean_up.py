# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of a bake that are left out: each bone stays near what was solved, and pinned tips stay in their places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...kernel import PIN, Limit
from ...maths import Doubles, Mask, Places, conjugates, lengths, products, rotated_each, turn_angles
from ...rig.animation.channels import to_rotations
from ...rig.animation.curves import CONSTANT, PLAIN, Keys, staying
from ...rig.animation.keys import is_pinned_at_times
from ...rig.figure.chain_goal import ChainGoal
from ...rig.figure.figure import RigFigure
from ...rig.figure.groups import ChainSet
from ...rig.figure.joint_limits import way_up
from .keys import BoneKeys

# Keys left out where the curves between the others stay near enough.
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


class Measure:
    """By how much values of the channels of a property are off those that were solved, in F frames.

    A rotation is off by an angle, and far too much where it leaves the bone's limit. A location or a scale is off by a
    distance, as a share of what the bone carries: so far a turn by as much would take an end.

    Args:
        keys: As they were solved.
        limit: The bone's limit, where it is the same in all frames.
        size: Of what the bone carries.

    Attributes:
        violation: The worst violation of the limit by the values that were asked for last, radians.
    """

    def __init__(self, keys: Keys, limit: Limit | None, size: float) -> None:
        self._mode, self._size, self.violation = keys.mode, size, 0.0
        is_plain, count = keys.mode == PLAIN, len(keys.values)
        self._wanted = keys.values if is_plain else conjugates(to_rotations(keys.mode, keys.values))
        self._limit = None if is_plain or limit is None or limit.is_free else limit
        self._last: Doubles = np.full((count, 4), np.nan)  # rotations
        self._left: Doubles = np.zeros(count)  # by how much these leave the limit

    def of(self, values: Doubles) -> Doubles:
        """(F,), in radians, for values (F, k) of the k channels."""
        if self._mode == PLAIN:
            return lengths(values - self._wanted) / self._size
        found = to_rotations(self._mode, values)
        if self._limit is not None:
            changed: Mask = (found != self._last).any(axis=1)
            self._left[changed] = [self._limit.violation(rotation) for rotation in found[changed].tolist()]
            self._last, self.violation = found, float(self._left.max())
        off: Doubles = turn_angles(products(self._wanted, found)) + np.where(self._left > LEFT, TOO_FAR, 0.0)
        return off


class Thinned:
    """Keys of the channels of a property as they were solved, some of them left out; those `at` places stay, rising."""

    def __init__(self, keys: Keys, measure: Measure) -> None:
        self.keys, self.measure = keys, measure
        count, is_smooth = len(keys.frames), keys.interpolation == "BEZIER" and len(keys.frames) >= LEAST
        self._slopes = np.gradient(keys.values, keys.frames, axis=0, edge_order=2) if is_smooth else None
        self.at: Places = np.unique([0, count - 1])

    def values(self) -> Doubles:
        """(F, k), with the keys that are kept."""
        if len(self.at) == len(self.keys.frames):
            return self.keys.values
        return between_keys(self.keys.frames, self.keys.values, self.at, self._slopes)

    def keep(self, bound: float) -> None:
        """Keep more keys, until no frame is off by more than a bound, in radians."""

        def off(at: Places) -> Doubles:
            self.at = at
            return self.measure.of(self.values())

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
    thinned = [Thinned(keys, Measure(keys, limit, size)) for keys, _, limit, size in every]
    pinned = [
        one
        for one, chain in zip(figure.asked, chain_set.chains, strict=True)
        if one.rank == PIN or is_pinned_at_times(chain_set.owner, chain)
    ]
    held = [Held(figure, one, thinned) for one in pinned]
    before = -1
    while (count := sum([len(one.at) for one in thinned])) > before:
        before = count
        for one in thinned:
            one.keep(bound)
        for tip in held:
            tip.keep()
    for one, (_, results, _, _) in zip(thinned, every, strict=True):
        for result in results:
            result.worst_violation = max(result.worst_violation, one.measure.violation)
    return [one.kept() for one in thinned]


class Held:
    """The tip of a chain that is pinned, and the thinned keys of what moves it.

    What stretches the chain keeps all its keys.
    """

    def __init__(self, figure: RigFigure, goal: ChainGoal, thinned: Sequence[Thinned]) -> None:
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
    def _all(self) -> list[Thinned]:
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

    def _reaches(self, one: Thinned) -> Doubles:
        """How far at most a property that is off moves the tip, (F,), as a share of what that may slide."""
        return one.measure.of(one.values()) * self._figure.length / self._most

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

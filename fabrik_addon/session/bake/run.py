# SPDX-License-Identifier: GPL-3.0-or-later
"""From settings to keys, or to what stood there before.

Every frame is solved by itself, from the same start pose and by the same solver as by button or live, so the answer is
the same and frames do not depend on each other. Chains that hang on others are read after those are keyed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack

import bpy
import numpy as np

from ...errors import ChainError
from ...maths import Doubles
from ...rig.animation import Animated
from ...rig.figures import ChainSet
from ...texts import Text
from ..frames import frames_visited, keys_of_goals
from ..order import Item, levels, together
from .armature import BakedArmature
from .checks import check_bake
from .result import BakeResult, ChainBake
from .sample import Wanted, sample
from .settings import BakeSettings
from .solving import solve_track
from .stored import store_report
from .switching import switch_off
from .track import Track
from .verify import frames_to_check, verify

SAMPLING = 0.9  # share of a level's work where frames are visited


def bake(context: bpy.types.Context, items: Sequence[Item], settings: BakeSettings) -> BakeResult:
    """Bake chains into keys, and switch them off so that the keys play; with those that are solved together with them.

    Args:
        context: Its scene's frame is moved and put back.
        items: Chains, each with its armature object.
        settings: What to bake.

    Returns:
        What came of each chain.

    Raises:
        FabrikError: Something can't be baked; what was keyed by then is taken back.
    """
    return to_the_end(bake_steps(context, items, settings))


def to_the_end(
    steps: Generator[float, None, BakeResult], tell: Callable[[float], None] = lambda share: None
) -> BakeResult:
    """The result of a bake in steps.

    Args:
        steps: See `bake_steps`.
        tell: Is told after each step how much is done.
    """
    while True:
        try:
            tell(next(steps))
        except StopIteration as end:
            found: BakeResult = end.value
            return found


def bake_steps(
    context: bpy.types.Context, items: Sequence[Item], settings: BakeSettings
) -> Generator[float, None, BakeResult]:
    """`bake` in steps; closed before its end it leaves all as it was.

    Yields:
        How much of it is done, from 0 to 1.
    """
    scene = context.scene
    assert scene is not None
    if not items:
        raise ChainError("there is no chain to bake: none is enabled or chosen")
    sets = together(items)
    check_bake(context, sets, settings.into)
    asked = [(owner.name, chain.name) for owner, chain in items]
    every = [(one.owner, chain) for one in sets for chain in one.chains]
    with frames_visited(scene):
        run = _Run(context, sets, settings)
        try:
            yield from run.steps()
        except BaseException:
            run.take_back()
            raise
        rested = [] if settings.stays_enabled else switch_off(every)
    found = {(result.rig, result.chain): result for result in run.results}
    others = [found[key] for key in found if key not in asked]
    for other in others:
        other.is_asked = False
    result = BakeResult(settings.verify, [*(found[key] for key in asked), *others], rested)
    for armature in run.armatures.values():
        store_report(armature.owner, result)
    return result


def _key(one: ChainSet) -> tuple[str, ...]:
    return one.owner.name_full, *one.names


def _frames_of(sets: Sequence[ChainSet], settings: BakeSettings) -> dict[tuple[str, ...], Doubles]:
    """The frames of chains that are solved together: the same array for all that have the same."""
    if not settings.only_keys:
        return dict.fromkeys(map(_key, sets), np.array(settings.frames, dtype=np.float64))
    return {_key(one): _keys_of_goals(one, settings) for one in sets}


def _keys_of_goals(one: ChainSet, settings: BakeSettings) -> Doubles:
    first, last = settings.frames[0], settings.frames[-1]
    keys = keys_of_goals(one, first, last)
    if not keys:
        text = Text("neither target nor pole has a key from frame {first:g} to {last:g}", first=first, last=last)
        raise ChainError(text, rig=one.owner.name, chain=one.names[0])
    return np.array(keys, dtype=np.float64)


class _Progress:
    """How much of a bake is done: its levels take a part each, and the comparison another."""

    def __init__(self, parts: int) -> None:
        self.parts, self.ended, self.share = parts, 0, 0.0

    def within(self, share: float) -> float:
        """Some share of the part at hand is done; how much of all that is, never less than before."""
        self.share = max(self.share, (self.ended + min(share, 1.0)) / self.parts)
        return self.share

    def end(self) -> None:
        """The part at hand is done."""
        self.ended += 1


class _Run:
    """One bake, and the way back.

    Attributes:
        results: Of the chains that are keyed, in the order of solving.
    """

    def __init__(self, context: bpy.types.Context, sets: Sequence[ChainSet], settings: BakeSettings) -> None:
        self.context, self.settings = context, settings
        self.frames = _frames_of(sets, settings)
        self.groups = levels(sets)
        self.results: list[ChainBake] = []
        self.tracks: list[tuple[Track, list[ChainBake]]] = []
        owners = {one.owner.name_full: one.owner for one in sets}
        own = {name: [one for one in sets if one.owner == owner] for name, owner in owners.items()}
        self.motions = {name: Animated(owner).motions_alone(own[name]) for name, owner in owners.items()}
        self.armatures = {name: BakedArmature(owner, own[name], settings.into) for name, owner in owners.items()}

    def steps(self) -> Iterator[float]:
        """Read, solve and key level by level, then compare; yields how much is done."""
        progress = _Progress(len(self.groups) + (self.settings.verify != "NONE"))
        for group in self.groups:
            for share in self._level(group, is_last=group is self.groups[-1]):
                yield progress.within(share)
            progress.end()
        frames = frames_to_check(self.results, self.settings.verify)
        for i, _ in enumerate(verify(self.context, self.tracks, frames, self.settings.clean_up)):
            yield progress.within((i + 1) / len(frames))
        for armature in self.armatures.values():
            armature.finish()

    def _level(self, group: Sequence[ChainSet], is_last: bool) -> Iterator[float]:
        """Chains that do not depend on each other; of those that are keyed only what is compared later is kept."""
        tracks: list[Track] = []
        wanted = [self._wanted(one) for one in group]
        most = max(len(one.frames) for one in wanted)
        for i, _ in enumerate(sample(self.context, wanted, tracks)):
            yield min(SAMPLING * (i + 1) / most, SAMPLING)
        for i, track in enumerate(tracks):
            answers = track.room()
            for share in solve_track(track, answers):
                yield SAMPLING + (1.0 - SAMPLING) * (i + share) / len(tracks)
            armature = self.armatures[track.owner.name_full]
            results = armature.key(track, answers, self.settings, is_last)
            self.results += results
            self.tracks.append((track, results))
            track.forget()
            yield SAMPLING + (1.0 - SAMPLING) * (i + 1) / len(tracks)
        for armature in self.armatures.values():
            if is_last:
                armature.clean(self.settings.clean_up)
            armature.play()

    def _wanted(self, one: ChainSet) -> Wanted:
        motion = self.motions[one.owner.name_full][one.names]
        return Wanted(one, self.frames[_key(one)], self.settings.frames[0], motion)

    def take_back(self) -> None:
        """Put back keys, actions and pose of every armature that is still there.

        Raises:
            ReferenceError: One is gone; the others are as they were.
        """
        with ExitStack() as back:
            for armature in self.armatures.values():
                back.callback(armature.take_back)

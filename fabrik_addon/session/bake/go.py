# SPDX-License-Identifier: GPL-3.0-or-later
"""From settings to keys, or to what stood there before.

Every frame is solved as by itself, from the same start pose as a solve by button or live, so frames do not depend on
each other and are solved as one batch. Chains that hang on others are sampled after those are keyed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

import bpy
import numpy as np

from ...errors import ChainError
from ...kernel.arrays import Array
from ...rig.chain_bones import resolve_bones
from ..frames import frames_visited, keys_of_goals
from ..order import Item, levels
from .armature import BakedArmature
from .checks import check_bake
from .result import BakeResult, ChainBake
from .sample import Track, Wanted, sample
from .settings import BakeSettings
from .solving import portions, solve_portion
from .stored import store_report
from .verify import frames_to_check, verify

SAMPLING = 0.9  # share of a level's work where frames are visited


def bake(context: bpy.types.Context, items: Sequence[Item], settings: BakeSettings) -> BakeResult:
    """Bake chains into keys, and switch them off so that the keys play.

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
    check_bake(context, items, settings.into)
    with frames_visited(scene):
        run = _Run(context, items, settings)
        try:
            yield from run.steps()
        except BaseException:
            run.take_back()
            raise
        for _, chain in items:
            chain.enabled = chain.enabled and settings.stays_enabled
    found = {(result.rig, result.chain): result for result in run.results}
    result = BakeResult(settings.verify, [found[owner.name, chain.name] for owner, chain in items])
    for armature in run.armatures.values():
        store_report(armature.owner, result)
    return result


def _key(item: Item) -> tuple[str, str]:
    owner, chain = item
    return owner.name_full, chain.name


def _frames_of(item: Item, settings: BakeSettings) -> Array:
    """The frames of one chain."""
    if not settings.only_keys:
        return np.array(settings.frames, dtype=np.float64)
    owner, chain = item
    first, last = settings.frames[0], settings.frames[-1]
    keys = keys_of_goals(chain, first, last)
    if not keys:
        text = f"neither target nor pole has a key from frame {first:g} to {last:g}"
        raise ChainError(text, rig=owner.name, chain=chain.name)
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

    def __init__(self, context: bpy.types.Context, items: Sequence[Item], settings: BakeSettings) -> None:
        self.context, self.settings = context, settings
        self.frames = {_key(item): _frames_of(item, settings) for item in items}
        self.groups = levels(items)
        self.results: list[ChainBake] = []
        self.tracks: list[Track] = []
        bones: dict[str, list[bpy.types.PoseBone]] = {}
        for owner, chain in items:
            bones.setdefault(owner.name_full, []).extend(resolve_bones(owner, chain))
        owners = {owner.name_full: owner for owner, _ in items}
        self.armatures = {name: BakedArmature(owner, bones[name], settings.into) for name, owner in owners.items()}

    def steps(self) -> Iterator[float]:
        """Sample, solve and key level by level, then compare; yields how much is done."""
        for armature in self.armatures.values():
            armature.begin()
        progress = _Progress(len(self.groups) + (self.settings.verify != "NONE"))
        still = {name for name, armature in self.armatures.items() if armature.stands_still}
        for group in self.groups:
            for share in self._level(group, still):
                yield progress.within(share)
            progress.end()
            still = set()  # from now on what was keyed moves
        frames = frames_to_check(self.results, self.settings.verify)
        for i, _ in enumerate(verify(self.context, self.tracks, self.results, frames, self.settings.clean_up)):
            yield progress.within((i + 1) / len(frames))
        for armature in self.armatures.values():
            armature.finish()

    def _level(self, group: Sequence[Item], still: set[str]) -> Iterator[float]:
        """Chains that do not depend on each other; of those that are keyed only what is compared later is kept."""
        tracks: list[Track] = []
        wanted = [Wanted(item, self.frames[_key(item)], self.settings.frames[0]) for item in group]
        most, keyed = max(len(one.frames) for one in wanted), 0
        for i, _ in enumerate(sample(self.context, wanted, still, tracks)):
            yield min(SAMPLING * (i + 1) / most, SAMPLING)
        for some in portions(tracks):
            for track, answers in zip(some, solve_portion(some), strict=True):
                self.results.append(self.armatures[track.owner.name_full].key(track, answers, self.settings))
                track.goals = track.answers = None
                self.tracks.append(track)
            keyed += len(some)
            yield SAMPLING + (1.0 - SAMPLING) * keyed / len(group)
        for armature in self.armatures.values():
            armature.play()

    def take_back(self) -> None:
        """Put back keys, actions and pose."""
        for armature in self.armatures.values():
            armature.take_back()

# SPDX-License-Identifier: GPL-3.0-or-later
"""From settings to keys, or to what stood there before.

Every frame is solved by itself, from the same start pose and by the same solver as by button or live, so the answer is
the same and frames do not depend on each other. Chains that hang on others are read after those are keyed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

import bpy
import numpy as np

from ...errors import ChainError
from ...rig.array_types import Doubles
from ...rig.chain_bones import resolve_bones
from ..frames import frames_visited, keys_of_goals
from ..order import Item, levels
from .armature import BakedArmature
from .checks import check_bake
from .result import BakeResult, ChainBake
from .sampling import Wanted, motions, sample
from .settings import BakeSettings
from .solving import solve_track
from .stored import store_report
from .switching import switch_off
from .track import Answers, Track
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
        rested = [] if settings.stays_enabled else switch_off(items)
    found = {(result.rig, result.chain): result for result in run.results}
    result = BakeResult(settings.verify, [found[owner.name, chain.name] for owner, chain in items], rested)
    for armature in run.armatures.values():
        store_report(armature.owner, result)
    return result


def _key(item: Item) -> tuple[str, str]:
    owner, chain = item
    return owner.name_full, chain.name


def _frames_of(items: Sequence[Item], settings: BakeSettings) -> dict[tuple[str, str], Doubles]:
    """The frames of each chain: the same array for all that have the same."""
    if not settings.only_keys:
        return dict.fromkeys(map(_key, items), np.array(settings.frames, dtype=np.float64))
    return {_key(item): _keys_of_goals(item, settings) for item in items}


def _keys_of_goals(item: Item, settings: BakeSettings) -> Doubles:
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
        self.frames = _frames_of(items, settings)
        self.groups = levels(items)
        self.results: list[ChainBake] = []
        self.tracks: list[Track] = []
        bones: dict[str, list[bpy.types.PoseBone]] = {}
        for owner, chain in items:
            bones.setdefault(owner.name_full, []).extend(resolve_bones(owner, chain))
        owners = {owner.name_full: owner for owner, _ in items}
        self.motions = {
            name: motions(owner, [chain for found, chain in items if found == owner]) for name, owner in owners.items()
        }
        self.armatures = {name: BakedArmature(owner, bones[name], settings.into) for name, owner in owners.items()}

    def steps(self) -> Iterator[float]:
        """Read, solve and key level by level, then compare; yields how much is done."""
        progress = _Progress(len(self.groups) + (self.settings.verify != "NONE"))
        for group in self.groups:
            for share in self._level(group, is_last=group is self.groups[-1]):
                yield progress.within(share)
            progress.end()
        frames = frames_to_check(self.results, self.settings.verify)
        for i, _ in enumerate(verify(self.context, self.tracks, self.results, frames, self.settings.clean_up)):
            yield progress.within((i + 1) / len(frames))
        for armature in self.armatures.values():
            armature.finish()

    def _level(self, group: Sequence[Item], is_last: bool) -> Iterator[float]:
        """Chains that do not depend on each other; of those that are keyed only what is compared later is kept."""
        tracks: list[Track] = []
        wanted = [self._wanted(item) for item in group]
        most = max(len(one.frames) for one in wanted)
        for i, _ in enumerate(sample(self.context, wanted, tracks)):
            yield min(SAMPLING * (i + 1) / most, SAMPLING)
        for i, track in enumerate(tracks):
            answers = Answers.room(len(track.frames), len(track.prepared.bones))
            for share in solve_track(track, answers):
                yield SAMPLING + (1.0 - SAMPLING) * (i + share) / len(tracks)
            armature = self.armatures[track.owner.name_full]
            self.results.append(armature.key(track, answers, self.settings, is_last))
            self.tracks.append(track)
            track.forget()
            yield SAMPLING + (1.0 - SAMPLING) * (i + 1) / len(tracks)
        for armature in self.armatures.values():
            if is_last:
                armature.clean(self.settings.clean_up)
            armature.play()

    def _wanted(self, item: Item) -> Wanted:
        motion = self.motions[item[0].name_full][item[1].name]
        return Wanted(item, self.frames[_key(item)], self.settings.frames[0], motion)

    def take_back(self) -> None:
        """Put back keys, actions and pose."""
        for armature in self.armatures.values():
            armature.take_back()

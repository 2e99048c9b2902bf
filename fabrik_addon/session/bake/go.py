# SPDX-License-Identifier: GPL-3.0-or-later
"""From settings to keys, or to what stood there before.

Every frame is solved as by itself, from the same start pose as a solve by button or live, so frames do not depend on
each other and are solved as one batch. Chains that hang on others are sampled after those are keyed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import bpy
import numpy as np

from ...errors import ChainError, InvalidValueError
from ...kernel.arrays import Array
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.channels import channel_of, read_values
from ...rig.curves import CurveWriter
from ...rig.plain_motion import stands_still
from ..frames import MOST_FRAMES, frames_visited, keys_of_goals
from ..order import Item, levels
from .checks import check_bake
from .into import Destination
from .keying import key_track
from .result import BakeResult, ChainBake
from .sample import Track, sample
from .settings import BakeSettings
from .solving import portions, solve_portion
from .stored import store_report
from .verify import frames_to_check, verify


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
    steps = bake_steps(context, items, settings)
    while True:
        try:
            next(steps)
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
    if not settings.frames:
        raise InvalidValueError("the range ends before it starts: there is no frame to bake")
    if len(settings.frames) > MOST_FRAMES:
        raise InvalidValueError(f"{len(settings.frames)} frames are more than {MOST_FRAMES}")
    if not items:
        raise ChainError("there is no chain to bake: none is enabled or chosen")
    check_bake(context, items, settings.into)
    frames = {_key(item): _frames_of(item, settings) for item in items}
    with frames_visited(scene):
        run = _Run(context, items, settings, frames)
        try:
            yield from run.steps()
        except BaseException:
            run.take_back()
            raise
    for _, chain in items:
        chain.enabled = chain.enabled and settings.stays_enabled
    found = {(result.rig, result.chain): result for result in run.results}
    result = BakeResult(settings.verify, [found[owner.name, chain.name] for owner, chain in items])
    for owner in run.owners.values():
        store_report(owner, result)
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


class _Run:
    """One bake, and the way back.

    Attributes:
        results: Of the chains that are keyed, in the order of solving.
    """

    def __init__(
        self,
        context: bpy.types.Context,
        items: Sequence[Item],
        settings: BakeSettings,
        frames: dict[tuple[str, str], Array],
    ) -> None:
        self.context, self.items, self.settings, self.frames = context, items, settings, frames
        self.results: list[ChainBake] = []
        self.tracks: list[Track] = []
        self.owners = {owner.name_full: owner for owner, _ in items}
        self.writers = {name: CurveWriter(owner) for name, owner in self.owners.items()}
        self.destinations: dict[str, Destination] = {}
        bones = [(owner, bone) for owner, chain in items for bone in resolve_bones(owner, chain)]
        self.pose = [(owner, bone.name, channel_of(bone.rotation_mode)[0], read_values(bone)) for owner, bone in bones]
        names = {name: {bone.name for found, bone in bones if found == owner} for name, owner in self.owners.items()}
        self.still = {name for name, owner in self.owners.items() if stands_still(owner, names[name])}

    def steps(self) -> Iterator[float]:
        """Sample, solve and key level by level, then compare."""
        for name, owner in self.owners.items():
            self.destinations[name] = Destination(owner, self.settings.into)
        groups = levels(self.items)
        most = max(len(frames) for frames in self.frames.values())
        checked = 0 if self.settings.verify == "NONE" else most
        whole = most * len(groups) + checked
        done = 0.0
        for number, group in enumerate(groups):
            tracks: list[Track] = []
            wanted = [(item, self.frames[_key(item)]) for item in group]
            for _ in sample(self.context, wanted, self.still if not number else set(), tracks):
                done = min(done + 1.0, (number + 0.9) * most)
                yield done / whole
            for some in portions(tracks):
                self._key(some)
                done = min(done + 0.1 * most * len(some) / len(group), (number + 1.0) * most)
                yield done / whole
            for name, destination in self.destinations.items():
                with destination.writing():
                    self.writers[name].flush()
                destination.play({f"{bone.path_from_id()}.{path}" for bone, path in self._channels(name)})
        frames = frames_to_check(self.results, self.settings.verify)
        done = float(most * len(groups))
        for _ in verify(self.context, self.tracks, self.results, frames, self.settings.clean_up):
            done += checked / len(frames)
            yield min(done / whole, 1.0)
        for destination in self.destinations.values():
            destination.finish()

    def _key(self, tracks: Sequence[Track]) -> None:
        """Solve and key chains, of which then only what the comparison needs is kept."""
        for track, answers in zip(tracks, solve_portion(tracks), strict=True):
            name = track.owner.name_full
            with self.destinations[name].writing():
                self.results.append(key_track(self.writers[name], track, answers, self.settings))
            track.goals = track.answers = None
            self.tracks.append(track)

    def _channels(self, name: str) -> Iterator[tuple[bpy.types.PoseBone, str]]:
        """The bones of an armature that are baked, each with its rotation's name."""
        for owner, bone, path, _ in self.pose:
            if owner.name_full == name:
                yield pose_bones(owner)[bone], path

    def take_back(self) -> None:
        """Put back keys, actions and pose."""
        for name, destination in self.destinations.items():
            if destination.is_own:
                self.writers[name].restore()
            destination.take_back()
        for owner, bone, path, values in self.pose:
            setattr(pose_bones(owner)[bone], path, values)

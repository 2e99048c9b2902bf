# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake compared with what Blender makes of its keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import FabrikError
from ...maths import Doubles, Mask, Places, conjugates, lengths, products, v3
from ...rig.animation.animation import Animated
from ...rig.bones import pose_bones
from ...rig.figure.chain_goals import Asked, lined_up
from ...rig.figure.groups import is_let_go
from ...rig.figure.judge import Columns, judge
from ...rig.goal_paths import GoalPaths
from ...rig.goals import goals_of, turns_tip
from ...rig.schema import FabrikChain
from ...rig.schema.chain import owner_of
from ...rig.targets import BoneHead, Named, quaternions_of
from ...texts import Text
from ..frames import go_to
from ..solve import bones_above, bones_of
from .report import MOVED, REACHED, ChainBake, all_frames
from .sample import Track

OFF = 1e-3  # share of the length by which a tip is off where something else moves it
SAMPLES = 50


def frames_to_check(results: Sequence[ChainBake], verify: str) -> list[float]:
    """The frames that are evaluated: all, or some spread evenly and those of the largest turns."""
    if verify == "NONE":
        return []
    frames: list[float] = all_frames(results).tolist()
    if verify == "EVERY" or len(frames) <= SAMPLES:
        return frames
    step = (len(frames) - 1) / (SAMPLES - 1)
    some = {frames[round(i * step)] for i in range(SAMPLES)}
    some |= {result.worst_turn[1] for result in results if result.worst_turn[0] > 0.0}
    return sorted(some)


def verify(
    context: bpy.types.Context, tracks: Sequence[tuple[Track, list[ChainBake]]], frames: Sequence[float], slack: float
) -> Iterator[None]:
    """Let Blender evaluate frames, and measure how far the tips are from what they are to have.

    Args:
        context: Its scene's frame may be moved.
        tracks: The chains, each with what came of it; the errors are put in.
        frames: The frames.
        slack: Angle in radians by which each joint may be off since keys were left out.

    Yields:
        Nothing, after each frame.
    """
    if not frames:
        return
    baked = {(track.owner.name_full, name): track.owner for track, _ in tracks for name in track.prepared.bones}
    together: dict[tuple[str, int], list[_Baked]] = {}
    for track, results in tracks:
        for c, result in enumerate(results):
            key = track.owner.name_full, id(result.frames)
            together.setdefault(key, []).append(_Baked.of(track, c, result, slack, baked))
    compared = [_Compared(own, frames, slack) for own in together.values()]
    with _scene_of(context, [track for track, _ in tracks]) as scene:
        for frame in frames:
            go_to(scene, frame)
            depsgraph = _depsgraph_of(context, scene)
            for one in compared:
                one.read(frame, depsgraph)
            yield
    for one in compared:
        one.compare()


@contextmanager
def _scene_of(context: bpy.types.Context, tracks: Sequence[Track]) -> Iterator[bpy.types.Scene]:
    """Where frames are evaluated: the scene of the context, or one that has nothing but armatures and targets.

    The latter is as good where nothing else moves these, and spares the evaluation of all that hangs on them.
    """
    assert context.scene is not None
    if not all(track.is_plain for track in tracks):
        yield context.scene
        return
    scene = bpy.data.scenes.new("Bake")
    try:
        chains = [chain for track in tracks for chain in track.chain_set.chains]
        for thing in {track.owner for track in tracks} | {goal.found for chain in chains for goal in goals_of(chain)}:
            scene.collection.objects.link(thing)
        yield scene
    finally:
        bpy.data.scenes.remove(scene)


def _depsgraph_of(context: bpy.types.Context, scene: bpy.types.Scene) -> bpy.types.Depsgraph:
    """That of a scene, evaluated for the frame to which it was set."""
    own = scene.view_layers[0].depsgraph if scene != context.scene else None
    return own or context.evaluated_depsgraph_get()


class _Baked(NamedTuple):
    """One of the chains of an armature that are compared in the same frames.

    Attributes:
        chain: The chain.
        asked: What it asks for, as it was solved.
        result: What came of it; the errors are put in.
        size: Its length, in armature space.
        far: By what share of that its tip may be off.
        turned: By what angle in radians its tip may be off.
        above: Bones that were keyed and carry it or its goals, where keys of these were left out.
    """

    chain: FabrikChain
    asked: Asked
    result: ChainBake
    size: float
    far: float
    turned: float
    above: list[Named]

    @classmethod
    def of(
        cls,
        track: Track,
        c: int,
        result: ChainBake,
        slack: float,
        baked: Mapping[tuple[str, str], bpy.types.Object],
    ) -> _Baked:
        """Of the chains of a track the one at an index.

        Args:
            track: The chains.
            c: The index.
            result: What came of it.
            slack: See `verify`.
            baked: The armatures of all bones that are baked.
        """
        chain_set, prepared, size = track.chain_set, track.prepared, track.lengths[c]
        turned = OFF + slack * track.way_to(c)
        far = OFF + slack * track.way_to(c) * prepared.length / size
        above = sorted(bones_above(chain_set, bones_of(chain_set)) & baked.keys()) if slack > 0.0 else []
        own = [(baked[pair], pair[1]) for pair in above]
        return cls(chain_set.chains[c], prepared.asked[c], result, size, far, turned, own)


class _Compared:
    """C chains of one armature that are compared in the same frames.

    Args:
        baked: The chains.
        frames: The frames that are evaluated.
        slack: See `verify`.
    """

    def __init__(self, baked: Sequence[_Baked], frames: Sequence[float], slack: float) -> None:
        self._baked, self._slack, self._owner = baked, slack, owner_of(baked[0].chain)
        own = baked[0].result.frames
        among = {*own.tolist()}
        self._frames = [frame for frame in frames if frame in among]
        self._at = {frame: k for k, frame in enumerate(self._frames)}
        self._places = np.searchsorted(own, self._frames)
        animated = Animated(self._owner)
        self._changing = [c for c, one in enumerate(baked) if animated.of_chain(one.chain)]
        self._asked = [self._asked_now([one.asked for one in baked], range(len(baked)))]
        self._free, self._tips = _free(self._asked[0]), [one.asked.bones[-1] for one in baked]
        count, chains = len(self._frames), len(baked)
        self._goals = GoalPaths([one.chain for one in baked], self._changing, count)
        self._heads, self._tails = np.zeros((2, count, chains, 3))
        self._turns, self._worlds = np.zeros((count, 1 + chains, 4)), np.zeros((count, 4, 4))
        self._above = [*dict.fromkeys(pair for one in baked for pair in one.above)]
        self._above_heads = np.zeros((count, len(self._above), 3))

    def _asked_now(self, before: Sequence[Asked], chains: Iterable[int]) -> tuple[Asked, ...]:
        """What the chains ask for in the frame at hand, each of a pose in which its tip is its only joint.

        Args:
            before: What they ask for in another frame.
            chains: Indices of those for which that may be something else.
        """
        found = [*before]
        for c in chains:
            chain = self._baked[c].chain
            found[c] = before[c]._replace(
                joints=(c,),
                aims=chain.aims,
                at_head=chain.at_head,
                turns=turns_tip(chain),
                has_pole=False,
                weight=0.0 if chain.influence <= 0.0 or is_let_go(self._owner, chain) else chain.weight,
                axis=v3(chain.aim_axis),
                influence=chain.influence,
            )
        return lined_up(found)

    def read(self, frame: float, depsgraph: bpy.types.Depsgraph) -> None:
        """Read armature and goals as Blender evaluated them, if the frame is one of these chains'.

        Raises:
            FabrikError: A goal can't be read.
        """
        k = self._at.get(frame)
        if k is None:
            return
        if self._changing:
            self._asked.append(self._asked_now(self._asked[0], self._changing))
            self._free = _free(self._asked[-1])
        evaluated = self._owner.evaluated_get(depsgraph)
        bones, world = pose_bones(evaluated), evaluated.matrix_world
        matrices = [world]
        for c, name in enumerate(self._tips):
            tip = bones[name]
            self._heads[k, c], self._tails[k, c] = tip.head, tip.tail
            matrices.append(tip.matrix)
        self._turns[k], self._worlds[k] = quaternions_of(matrices), world
        if self._above:
            self._above_heads[k] = BoneHead().read_all(depsgraph, self._above)
        try:
            self._goals.read(k, depsgraph, self._free)
        except FabrikError as reason:
            reason.rig = reason.rig or self._owner.name
            reason.reason = Text("in frame {frame:g}, {reason}", frame=frame, reason=reason.reason)
            raise

    def compare(self) -> None:
        """Put in the errors of all frames."""
        asked = self._asked[1:] if self._changing else self._asked * len(self._frames)
        for own in dict.fromkeys(asked):
            self._compare(own, np.array([k for k, one in enumerate(asked) if one is own or one == own]))

    def _compare(self, asked: Sequence[Asked], some: Places) -> None:
        """Put in the errors of those of the frames that are evaluated, by their indices, in which so much is asked."""
        back, away = np.linalg.inv(self._worlds[some, :3, :3]), self._worlds[some, :3, 3]
        world_turn, turns = self._turns[some, 0], self._turns[some, 1:]
        numbers = np.zeros((len(some), sum(one.width for one in asked)))
        for c, one in enumerate(asked):
            if one.weight > 0.0:
                goals, at = self._goals.of(c), one.row_at
                numbers[:, at : at + 3] = np.einsum("fij,fj->fi", back, goals.target[some] - away)
                if goals.turn is not None and one.turns:
                    numbers[:, at + 3 : at + 7] = products(conjugates(world_turn), goals.turn[some])
        found = judge(Columns.of(asked), numbers, self._heads[some], self._tails[some], turns)
        above = np.einsum("fij,fmj->fmi", back, self._above_heads[some] - away[:, None])
        for c, (one, baked) in enumerate(zip(asked, self._baked, strict=True)):
            if one.weight > 0.0:
                columns = [self._above.index(pair) for pair in baked.above]
                levers = lengths(above[:, columns] - self._tails[some, None, c]).sum(axis=1)
                carried = self._slack * levers / baked.size
                _put(baked, one, self._places[some], found.residual[:, c] / baked.size, found.turn[:, c], carried)


def _free(asked: Sequence[Asked]) -> list[int]:
    """Indices of the chains that ask for nothing."""
    return [c for c, one in enumerate(asked) if one.weight <= 0.0]


def _put(baked: _Baked, asked: Asked, at: Places, error: Doubles, turn: Doubles, carried: Doubles) -> None:
    """Put the errors of a chain in some frames into its result.

    Args:
        baked: The chain.
        asked: What it asks for in these frames.
        at: The places of the frames among its own.
        error: By what share of its length the tip is off its target, as evaluated.
        turn: By what angle in radians it is off its rotation or its aim.
        carried: By what share of its length it may be off since keys were left out of bones that carry it or its goals:
            each may be turned by the slack, which takes the tip along a lever from its head.
    """
    result = baked.result
    solved, turned, softened = result.residuals[at], result.turns[at], result.softened[at]
    result.residuals[at], result.turns[at] = error, turn
    met = result.status[at] == REACHED
    if asked.influence < 1.0 or not met.any():
        return
    frames = result.frames[at]
    result.worst_tip_error = _worse(result.worst_tip_error, np.abs(error - softened), met, frames)
    if asked.turns or asked.aims:
        result.worst_tip_turn = _worse(result.worst_tip_turn, turn, met, frames)
    over = np.maximum(error - solved - softened - baked.far, turn - turned - baked.turned)
    result.status[at[met & (over > 0.0) & (over > carried)]] = MOVED


def _worse(worst: tuple[float, float] | None, errors: Doubles, met: Mask, frames: Doubles) -> tuple[float, float]:
    """The worst error so far of frames in which a chain was reached, and its frame."""
    k = int(np.where(met, errors, -1.0).argmax())
    return worst if worst is not None and worst[0] >= errors[k] else (float(errors[k]), float(frames[k]))

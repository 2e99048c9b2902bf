# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake compared with what Blender makes of its keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import bpy
import numpy as np

from ...errors import FabrikError
from ...kernel import SOLVE_SPACE
from ...maths import Doubles, Mask, Places, conjugates, lengths, products, v3
from ...rig.animation.animation import Animated
from ...rig.bones import pose_bones
from ...rig.figure.chain_goal import ChainGoal
from ...rig.figure.goal_table import GoalTable
from ...rig.figure.groups import is_let_go
from ...rig.goal_paths import GoalPaths
from ...rig.goals import goals_of, turns_tip
from ...rig.targets import BoneHead, Named, quaternions_of
from ...texts import Text
from ..frames import go_to, scene_of
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
    baked = {(track.owner.name_full, name): track.owner for track, _ in tracks for name in track.figure.bones}
    together: dict[tuple[str, int], list[_Baked]] = {}
    for track, results in tracks:
        for c, result in enumerate(results):
            together.setdefault((track.owner.name_full, id(result.frames)), []).append((track, c, result))
    compared = [_Compared(own, frames, slack, baked) for own in together.values()]
    with _scene_of(context, [track for track, _ in tracks]) as scene:
        for frame in frames:
            go_to(scene, frame)
            own = scene.view_layers[0].depsgraph if scene != context.scene else None
            depsgraph = own or context.evaluated_depsgraph_get()
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
    if not all(track.is_plain for track in tracks):
        yield scene_of(context)
        return
    scene = bpy.data.scenes.new("Bake")
    try:
        chains = [chain for track in tracks for chain in track.chain_set.chains]
        for thing in {track.owner for track in tracks} | {goal.found for chain in chains for goal in goals_of(chain)}:
            scene.collection.objects.link(thing)
        yield scene
    finally:
        bpy.data.scenes.remove(scene)


_Baked: TypeAlias = tuple[Track, int, ChainBake]  # of the chains of a track the one at an index, and what came of it


class _Compared:
    """C chains of one armature that are compared in the same frames; the errors are put into what came of them.

    `baked` has the armatures of all bones that are baked; for `slack` see `verify`.
    """

    def __init__(
        self,
        own: Sequence[_Baked],
        frames: Sequence[float],
        slack: float,
        baked: Mapping[tuple[str, str], bpy.types.Object],
    ) -> None:
        self._own, self._slack, self._owner = own, slack, own[0][0].owner
        every = own[0][2].frames
        among = {*every.tolist()}
        self._frames = [frame for frame in frames if frame in among]
        self._at = {frame: k for k, frame in enumerate(self._frames)}
        self._places = np.searchsorted(every, self._frames)
        self._chains = [track.chain_set.chains[c] for track, c, _ in own]
        animated = Animated(self._owner)
        self._changing = [c for c, chain in enumerate(self._chains) if animated.of_chain(chain)]
        solved = [track.figure.asked[c] for track, c, _ in own]
        self._asked = [self._asked_now(solved, range(len(own)))]
        self._free, self._tips = _free(self._asked[0]), [one.bones[-1] for one in solved]
        count, chains = len(self._frames), len(own)
        self._goals = GoalPaths(self._chains, self._changing, count)
        self._heads, self._tails = np.zeros((2, count, chains, 3))
        self._turns, self._worlds = np.zeros((count, 1 + chains, 4)), np.zeros((count, 4, 4))
        self._carriers = [self._carriers_of(track, baked) if slack > 0.0 else [] for track, _, _ in own]
        self._above = [*dict.fromkeys(pair for above in self._carriers for pair in above)]
        self._above_heads = np.zeros((count, len(self._above), 3))

    @staticmethod
    def _carriers_of(track: Track, baked: Mapping[tuple[str, str], bpy.types.Object]) -> list[Named]:
        """Bones that were keyed and carry chains or their goals, where keys of these were left out."""
        above = bones_above(track.chain_set, bones_of(track.chain_set))
        return [(baked[pair], pair[1]) for pair in sorted(above & baked.keys())]

    def _asked_now(self, before: Sequence[ChainGoal], chains: Iterable[int]) -> GoalTable:
        """What the chains ask for in the world in the frame at hand, each of a pose in which its tip is its only joint.

        `before` is what they ask for in another frame, `chains` the indices of those for which that may be something
        else.
        """
        found = [*before]
        for c in chains:
            chain = self._chains[c]
            found[c] = before[c]._replace(
                joints=(c,),
                aims=chain.aims,
                at_head=chain.at_head,
                turns=turns_tip(chain),
                has_pole=False,
                helps=1.0,
                weight=0.0 if chain.influence <= 0.0 or is_let_go(self._owner, chain) else chain.weight,
                axis=v3(chain.aim_axis),
                influence=chain.influence,
                frame=SOLVE_SPACE,
                turn_frame=SOLVE_SPACE,
            )
        return GoalTable(found)

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

    def _compare(self, asked: GoalTable, some: Places) -> None:
        """Put in the errors of those of the frames that are evaluated, by their indices, in which so much is asked."""
        back, away = np.linalg.inv(self._worlds[some, :3, :3]), self._worlds[some, :3, 3]
        world_turn, turns = self._turns[some, 0], self._turns[some, 1:]
        numbers = np.zeros((len(some), asked.width))
        for c, one in enumerate(asked):
            if _is_compared(one):
                goals, at = self._goals.of(c), one.row_at
                numbers[:, at : at + 3] = np.einsum("fij,fj->fi", back, goals.target[some] - away)
                if goals.turn is not None and one.turns:
                    numbers[:, at + 3 : at + 7] = products(conjugates(world_turn), goals.turn[some])
        missed, turn = asked.judge(numbers, self._heads[some], self._tails[some], turns)
        above = np.einsum("fij,fmj->fmi", back, self._above_heads[some] - away[:, None])
        for c, (one, (track, k, result)) in enumerate(zip(asked, self._own, strict=True)):
            if _is_compared(one):
                size, way = track.lengths[k], self._slack * track.way_to(k)
                columns = [self._above.index(pair) for pair in self._carriers[c]]
                levers = lengths(above[:, columns] - self._tails[some, None, c]).sum(axis=1)
                allowed = OFF + way * track.figure.length / size, OFF + way, self._slack * levers / size
                _put(result, one, self._places[some], (missed[:, c] / size, turn[:, c]), allowed)


def _is_compared(asked: ChainGoal) -> bool:
    """Whether a chain asks for a place with which its tip can be compared; an offset has none but in its motion."""
    return asked.weight > 0.0 and not asked.is_offset


def _free(asked: Sequence[ChainGoal]) -> list[int]:
    """Indices of the chains that ask for nothing."""
    return [c for c, one in enumerate(asked) if one.weight <= 0.0]


def _put(
    result: ChainBake,
    asked: ChainGoal,
    at: Places,
    errors: tuple[Doubles, Doubles],
    allowed: tuple[float, float, Doubles],
) -> None:
    """Put the errors of a chain in some frames into its result.

    Args:
        result: What came of the chain.
        asked: What it asks for in these frames.
        at: The places of the frames among its own.
        errors: By what share of its length the tip is off its target, as evaluated, and by what angle in radians it is
            off its rotation or its aim.
        allowed: How much of both it may be; and by what share of its length since keys were left out of bones that
            carry it or its goals: each may be turned by the slack, which takes the tip along a lever from its head.
    """
    (error, turn), (far, turned, carried) = errors, allowed
    was_off, was_turned, softened = result.residuals[at], result.turns[at], result.softened[at]
    result.residuals[at], result.turns[at] = error, turn
    met = result.status[at] == REACHED
    if asked.influence < 1.0 or not met.any():
        return
    frames = result.frames[at]
    result.worst_tip_error = _worse(result.worst_tip_error, np.abs(error - softened), met, frames)
    if asked.turns or asked.aims:
        result.worst_tip_turn = _worse(result.worst_tip_turn, turn, met, frames)
    over = np.maximum(error - was_off - softened - far, turn - was_turned - turned)
    result.status[at[met & (over > 0.0) & (over > carried)]] = MOVED


def _worse(worst: tuple[float, float] | None, errors: Doubles, met: Mask, frames: Doubles) -> tuple[float, float]:
    """The worst error so far of frames in which a chain was reached, and its frame."""
    k = int(np.where(met, errors, -1.0).argmax())
    return worst if worst is not None and worst[0] >= errors[k] else (float(errors[k]), float(frames[k]))

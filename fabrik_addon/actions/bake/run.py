# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: levels of chains, step by step, compared with what Blender makes of its keys, and the way back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any, TypeAlias

import bpy
import numpy as np

from ...errors import ChainError, FabrikError
from ...kernel import SOLVE_SPACE
from ...maths import Doubles, Mask, Places, conjugates, lengths, products, units, v3
from ...rig.animation.animation import Animated
from ...rig.animation.channels import KeptChannels, channel_of, rotation_path
from ...rig.animation.curves import SAME_FRAME, CurveWriter
from ...rig.animation.keys import KeyedChannels
from ...rig.figure.chain_goal import ChainGoal
from ...rig.figure.goal_options import written_besides
from ...rig.figure.goal_table import GoalTable
from ...rig.figure.groups import ChainSet, figure_bones, is_let_go
from ...rig.figure.start_pose import start_from_keys
from ...rig.goal_kinds import GOAL_KINDS, options_of
from ...rig.goal_paths import GoalPaths
from ...rig.goals import goals_of, turns_tip
from ...rig.schema import rig_of
from ...rig.targets import BoneHead, Named, rounded_quaternions_of
from ...texts import Text
from ..frames import Steps, frames_visited, go_to, keys_asking, part_of, scene_of, to_the_end
from ..motion.edits import edits_beyond, edits_of, rest_within
from ..solve import Item, bones_above, bones_of, levels, together
from .checks import BakeSettings, check_bake
from .keys import BoneKeys, Destination, clean, keys_of
from .report import MOVED, REACHED, BakeResult, ChainBake, Report, all_frames
from .sample import Track, sample

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
    context: bpy.types.Context, tracks: Sequence[Track], frames: Sequence[float], slack: float
) -> Iterator[None]:
    """Let Blender evaluate frames, and measure how far the tips are from what they are to have.

    Args:
        context: Its scene's frame may be moved.
        tracks: The chains; the errors are put into their results.
        frames: The frames.
        slack: Angle in radians by which each joint may be off since keys were left out.

    Yields:
        Nothing, after each frame.
    """
    if not frames:
        return
    baked = {(track.owner.name_full, name): track.owner for track in tracks for name in track.figure.bones}
    together: dict[tuple[str, int], list[_Baked]] = {}
    for track in tracks:
        own = [(track, c) for c in range(len(track.results))]
        together.setdefault((track.owner.name_full, id(track.frames)), []).extend(own)
    compared = [_ChainComparison(own, frames, slack, baked) for own in together.values()]
    with _scene_of(context, tracks) as scene:
        for frame in frames:
            go_to(scene, frame)
            apart = scene.view_layers[0].depsgraph if scene != context.scene else None
            depsgraph = apart or context.evaluated_depsgraph_get()
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


_Baked: TypeAlias = tuple[Track, int]  # of the chains of a track the one at an index


class _ChainComparison:
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
        every = own[0][0].frames
        among = {*every.tolist()}
        self._frames = [frame for frame in frames if frame in among]
        self._at = {frame: k for k, frame in enumerate(self._frames)}
        self._places = np.searchsorted(every, self._frames)
        self._chains = [track.chain_set.chains[c] for track, c in own]
        animated = Animated(self._owner)
        self._changing = [c for c, chain in enumerate(self._chains) if animated.of_chain(chain)]
        solved = [track.figure.goals[c] for track, c in own]
        self._asked = [self._asked_now(solved, range(len(own)))]
        self._free, self._tips = _free(self._asked[0]), [one.bones[-1] for one in solved]
        count, chains = len(self._frames), len(own)
        self._goals = GoalPaths(self._chains, self._changing, count)
        self._heads, self._tails = np.zeros((2, count, chains, 3))
        self._turns, self._worlds = np.zeros((count, 1 + chains, 4)), np.zeros((count, 4, 4))
        self._carriers = [self._carriers_of(track, baked) if slack > 0.0 else [] for track, _ in own]
        self._above = [*dict.fromkeys(pair for above in self._carriers for pair in above)]
        self._above_heads = np.zeros((count, len(self._above), 3))

    @staticmethod
    def _carriers_of(track: Track, baked: Mapping[tuple[str, str], bpy.types.Object]) -> list[Named]:
        """Bones that were keyed and carry chains or their goals, where keys of these were left out."""
        above = bones_above(track.chain_set, bones_of(track.chain_set))
        return [(baked[pair], pair[1]) for pair in sorted(above & baked.keys())]

    def _asked_now(self, before: Sequence[ChainGoal], chains: Iterable[int]) -> GoalTable:
        """What the chains ask for in the world in the frame at hand, each of a pose in which its tip is its only joint.

        `before` is what they ask for in another frame, which may be something else for those with the indices `chains`.
        """
        found = [*before]
        for c in chains:
            chain = self._chains[c]
            found[c] = before[c]._replace(
                joints=(c,),
                kind=GOAL_KINDS[chain.kind],
                options=options_of(chain),
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
        evaluated: Any = self._owner.evaluated_get(depsgraph)
        bones, world = evaluated.pose.bones, evaluated.matrix_world
        matrices = [world]
        for c, name in enumerate(self._tips):
            tip = bones[name]
            self._heads[k, c], self._tails[k, c] = tip.head, tip.tail
            matrices.append(tip.matrix)
        self._turns[k], self._worlds[k] = rounded_quaternions_of(matrices), world
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
        rotations = units(self._turns[some])
        numbers = np.zeros((len(some), asked.width))
        for c, one in enumerate(asked):
            if _is_compared(one):
                goals, at = self._goals.of(c), one.row_at
                numbers[:, at : at + 3] = np.einsum("fij,fj->fi", back, goals.target[some] - away)
                if goals.turn is not None and one.turns:
                    numbers[:, at + 3 : at + 7] = products(conjugates(rotations[:, 0]), goals.turn[some])
        missed, turn = asked.judge(numbers, self._heads[some], self._tails[some], rotations[:, 1:])
        above = np.einsum("fij,fmj->fmi", back, self._above_heads[some] - away[:, None])
        for c, (one, (track, k)) in enumerate(zip(asked, self._own, strict=True)):
            if _is_compared(one):
                size, way = track.lengths[k], self._slack * track.way_to(k)
                columns = [self._above.index(pair) for pair in self._carriers[c]]
                levers = lengths(above[:, columns] - self._tails[some, None, c]).sum(axis=1)
                allowed = OFF + way * track.figure.length / size, OFF + way, self._slack * levers / size
                _put(track.results[k], one, self._places[some], (missed[:, c] / size, turn[:, c]), allowed)


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
    if asked.turns or asked.kind.aims:
        result.worst_tip_turn = _worse(result.worst_tip_turn, turn, met, frames)
    over = np.maximum(error - was_off - softened - far, turn - was_turned - turned)
    result.status[at[met & (over > 0.0) & (over > carried)]] = MOVED


def _worse(worst: tuple[float, float] | None, errors: Doubles, met: Mask, frames: Doubles) -> tuple[float, float]:
    """The worst error so far of frames in which a chain was reached, and its frame."""
    k = int(np.where(met, errors, -1.0).argmax())
    return worst if worst is not None and worst[0] >= errors[k] else (float(errors[k]), float(frames[k]))


class BakedArmature:
    """The keys, actions and pose of one armature."""

    def __init__(self, owner: bpy.types.Object, sets: Sequence[ChainSet], into: str) -> None:
        self.owner = owner
        bones = [bone for one in sets for bone in figure_bones(one)]
        plain = [found for one in sets for found in written_besides(one)]
        turned = [(bone.name, channel_of(bone.rotation_mode)[0]) for bone in bones]
        self._pose = KeptChannels(owner, [*turned, *((bone.name, name) for bone, name in plain)])
        self._paths = {*map(rotation_path, bones), *(bone.path_from_id(name) for bone, name in plain)}
        self._ends: list[float] = []  # first and last frames of what is keyed
        self._writer = CurveWriter(owner, can_restore=into == "ACTION")
        self._into = into
        self._destination: Destination | None = None
        self._before: KeyedChannels | None = None
        self._whole: list[tuple[Track, list[BoneKeys]]] = []  # whose keys `clean` has still to thin

    def key(self, track: Track, settings: BakeSettings, is_last: bool) -> None:
        """Key chains of it that are solved together; what keys are written into is made for the first.

        Keys are left out at once where no chain hangs on these. Else that waits for `clean`: chains that hang on them
        are solved on the keys that are written, and a bone that is a little off may turn them far.

        `is_last` says that no chain that is solved later hangs on them.
        """
        if self._destination is None:
            self._destination = Destination(self.owner, self._into)
        if self._before is None:
            self._before = KeyedChannels(self.owner, settings.frames[0] - 2.0 * SAME_FRAME)
        self._ends += (float(track.frames[0]), float(track.frames[-1]))
        every = [*keys_of(track, settings, self._before)]
        with self._destination.writing():
            self._write(track, every, settings.clean_up if is_last else 0.0)
        if settings.clean_up > 0.0 and not is_last:
            self._whole.append((track, every))

    def clean(self, bound: float) -> None:
        """Leave out keys of chains on which others hang, once all are solved; `bound` is `BakeSettings.clean_up`."""
        if self._destination is not None:
            with self._destination.writing():
                for track, every in self._whole:
                    self._write(track, every, bound)
        self._whole.clear()

    def _write(self, track: Track, every: Sequence[BoneKeys], bound: float) -> None:
        """Write the keys of chains, those alone that keep all within an angle, in place of those written before."""
        kept = clean(track.figure, track.chain_set, every, bound) if bound > 0.0 else [own[0] for own in every]
        for _, results, _, _ in every:
            results[0].keys = 0
        for (_, results, _, _), keys in zip(every, kept, strict=True):
            results[0].keys += self._writer.write(keys)

    def play(self) -> None:
        """Flush the curves and, for the NLA, make the strip, so that the next frame change plays them."""
        if self._destination is not None:
            with self._destination.writing():
                self._writer.flush()
            self._destination.play(self._paths, (min(self._ends), max(self._ends)))

    def finish(self) -> None:
        """Forget what would undo the bake: it stands."""
        self._writer.finish()
        if self._destination is not None:
            self._destination.finish()

    def take_back(self) -> None:
        """Put back keys, actions and pose; what fails of that keeps nothing else from being put back."""
        with ExitStack() as back:  # the last that is put onto it is the first that is done
            back.callback(self._pose.put_back, self.owner)
            if self._destination is not None:
                back.callback(self._destination.take_back)
                back.callback(self._writer.finish)
                if self._destination.is_own:
                    back.callback(self._writer.restore)


# The report of an armature's last bake, kept with it in the file.

FORMAT = 1  # of what is stored


def read_report(owner: bpy.types.Object) -> Report | None:
    """What came of an armature's last bake; None where there was none, or where it was written by another version."""
    return _read(rig_of(owner).bake_report)


@lru_cache(maxsize=8)  # panel and timeline ask at every redraw
def _read(text: str) -> Report | None:
    try:
        report = json.loads(text) if text else None
    except ValueError:
        return None
    return report if isinstance(report, dict) and report.get("format") == FORMAT else None


def switch_off(items: Sequence[Item]) -> list[str]:
    """Switch chains off, so that their keys play, and live posing of armatures that are left without enabled ones.

    Returns:
        The names of the armatures whose live posing was switched off.
    """
    for _, chain in items:
        chain.enabled = False
        chain.is_baked = True
    rested = []
    for owner in {owner.name_full: owner for owner, _ in items}.values():
        rig = rig_of(owner)
        if rig.live and not any(chain.enabled for chain in rig.chains):
            rig.live = False
            rested.append(owner.name)
    return rested


# From settings to keys, or to what stood there before.
#
# Every frame is solved by itself, from the same start pose and by the same solver as by button or live, so the answer
# is the same and frames do not depend on each other. Chains that hang on others are read after those are keyed.

SAMPLING = 0.9  # share of a level's work where frames are visited


def bake(context: bpy.types.Context, items: Sequence[Item], settings: BakeSettings) -> BakeResult:
    """Bake chains into keys, and switch them off so that the keys play; with those that are solved together with them.

    The scene's frame is moved and put back.

    Raises:
        FabrikError: Something can't be baked; what was keyed by then is taken back.
    """
    return to_the_end(bake_steps(context, items, settings))


def bake_steps(context: bpy.types.Context, items: Sequence[Item], settings: BakeSettings) -> Steps[BakeResult]:
    """`bake` in steps; closed before its end it leaves all as it was."""
    scene = scene_of(context)
    if not items:
        raise ChainError("there is no chain to bake: none is enabled or chosen")
    sets = together(items)
    check_bake(context, sets, settings.into)
    asked = [(owner.name, chain.name) for owner, chain in items]
    every = [(one.owner, chain) for one in sets for chain in one.chains]
    edits = {_key(one): edits_of(one.owner, one.names, scene) for one in sets}
    for one in sets if settings.stays_enabled else ():
        twice = edits_beyond(one.owner, edits[_key(one)], settings.frames)
        if twice:
            text = Text(
                "it also edits frames beyond these, and would go on to edit what is keyed: bake it, or all of them"
            )
            raise ChainError(text, rig=one.owner.name, chain=twice[0])
    with frames_visited(scene):
        run = _Run(context, sets, settings)
        try:
            yield from run.steps()
        except BaseException:
            run.take_back()
            raise
        rested = [] if settings.stays_enabled else switch_off(every)
        for owner, chain in every if settings.stays_enabled else ():  # else the body's own keys are not heard any more
            start_from_keys(owner, [chain])
        left = [name for one in sets for name in rest_within(one.owner, edits[_key(one)], settings.frames)]
        notes = [Text("'{chain}' also edits frames that were not baked, and goes on to", chain=name) for name in left]
    found = {(result.rig, result.chain): result for track in run.tracks for result in track.results}
    others = [found[key] for key in found if key not in asked]
    for other in others:
        other.is_asked = False
    result = BakeResult(settings.verify, [*(found[key] for key in asked), *others], rested, [*notes])
    for armature in run.armatures.values():
        own = {"format": FORMAT, **result.of(armature.owner.name).as_json()}
        rig_of(armature.owner).bake_report = json.dumps(own)
    return result


def _key(one: ChainSet) -> tuple[str, ...]:
    return one.owner.name_full, *one.names


def _frames_of(sets: Sequence[ChainSet], settings: BakeSettings) -> dict[tuple[str, ...], Doubles]:
    """The frames of chains that are solved together: the same array for all that have the same."""
    if not settings.only_keys:
        return dict.fromkeys(map(_key, sets), np.array(settings.frames, dtype=np.float64))
    first, last = settings.frames[0], settings.frames[-1]
    found = {_key(one): np.array(keys_asking(one, first, last), dtype=np.float64) for one in sets}
    for one in sets:
        if not len(found[_key(one)]):
            text = Text("neither goal nor setting has a key from frame {first:g} to {last:g}", first=first, last=last)
            raise ChainError(text, rig=one.owner.name, chain=one.names[0])
    return found


class _Run:
    """One bake, with the chains that are keyed, in the order of solving; and the way back."""

    def __init__(self, context: bpy.types.Context, sets: Sequence[ChainSet], settings: BakeSettings) -> None:
        self.context, self.settings = context, settings
        self.frames = _frames_of(sets, settings)
        self.groups = levels(sets)
        self.tracks: list[Track] = []
        owners = {one.owner.name_full: one.owner for one in sets}
        own = {name: [one for one in sets if one.owner == owner] for name, owner in owners.items()}
        self.motions = {name: Animated(owner).motions_alone(own[name]) for name, owner in owners.items()}
        self.armatures = {name: BakedArmature(owner, own[name], settings.into) for name, owner in owners.items()}

    def steps(self) -> Iterator[float]:
        """Read, solve and key level by level, then compare; yields how much is done: a part for each of these."""
        count = len(self.groups)
        parts = count + (self.settings.verify != "NONE")
        for i, group in enumerate(self.groups):
            yield from part_of(self._level(group, is_last=i + 1 == count), i / parts, (i + 1) / parts)
        results = [result for track in self.tracks for result in track.results]
        frames = frames_to_check(results, self.settings.verify)
        for i, _ in enumerate(verify(self.context, self.tracks, frames, self.settings.clean_up)):
            yield (count + (i + 1) / len(frames)) / parts
        for armature in self.armatures.values():
            armature.finish()

    def _level(self, group: Sequence[ChainSet], is_last: bool) -> Steps[None]:
        """Chains that do not depend on each other; of those that are keyed only what is compared later is kept."""
        tracks = [self._track(one) for one in group]
        most = max(len(track.frames) for track in tracks)
        for i, _ in enumerate(sample(self.context, tracks)):
            yield min(SAMPLING * (i + 1) / most, SAMPLING)
        for i, track in enumerate(tracks):
            for share in track.solve():
                yield SAMPLING + (1.0 - SAMPLING) * (i + share) / len(tracks)
            self.armatures[track.owner.name_full].key(track, self.settings, is_last)
            self.tracks.append(track)
            track.forget()
            yield SAMPLING + (1.0 - SAMPLING) * (i + 1) / len(tracks)
        for armature in self.armatures.values():
            if is_last:
                armature.clean(self.settings.clean_up)
            armature.play()

    def _track(self, one: ChainSet) -> Track:
        motion = self.motions[one.owner.name_full][one.names]
        return Track(one, self.frames[_key(one)], self.settings.frames[0], motion)

    def take_back(self) -> None:
        """Put back keys, actions and pose of every armature that is still there.

        Raises:
            ReferenceError: One is gone; the others are as they were.
        """
        with ExitStack() as back:
            for armature in self.armatures.values():
                back.callback(armature.take_back)

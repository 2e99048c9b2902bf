# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains solved in their order, written, judged by what Blender makes of them, and keyed: the button.

A solve can be kept pass by pass as well, to be looked at; then the rig is not touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np

from ..errors import AbsentTargetError, BoneError, ChainError, FabrikError, TargetError
from ..kernel import Step
from ..maths import ORIGIN, ULPS, V3, distance, scaled, v3
from ..rig.animation.keys import KeyedChannels, insert_posed_keys
from ..rig.bones import pose_bones
from ..rig.checks import check_rig
from ..rig.dependencies import carriers_of, why_unfollowed
from ..rig.figure.groups import ChainSet, figure_bones_if_any, set_of, sets_of
from ..rig.figure.pose_writer import PoseWriter, places_of, updated
from ..rig.figure.reader import FactsByRig, FigureCache, frame_of, read
from ..rig.figure.solve import SolvedFigure, posed, remember, store_state
from ..rig.figure.start_pose import is_stale
from ..rig.goals import edits_motion, goals_of
from ..rig.schema import FabrikChain, rig_of
from ..rig.schema.chain import OFFSET
from ..rig.targets import resolve_point
from ..rig.walk_goals import is_walked
from ..texts import Text, enumerated, quoted, worded
from .status import Outcome, outcomes_of, refused, store

Item = tuple[bpy.types.Object, FabrikChain]
Bones = set[tuple[str, str]]  # full name of the armature object, name of the bone


def together(items: Sequence[Item]) -> list[ChainSet]:
    """The sets of chains that are solved where some chains are to be: with those that are enabled beside them."""
    owners = {owner.name_full: owner for owner, _ in items}
    found = []
    for name, owner in owners.items():
        wanted = {chain.name for found_owner, chain in items if found_owner.name_full == name}
        chains = [chain for chain in rig_of(owner).chains if chain.enabled or chain.name in wanted]
        found += [one for one in sets_of(owner, chains) if wanted.intersection(one.names)]
    return found


def levels(sets: Sequence[ChainSet]) -> list[list[ChainSet]]:
    """Group sets of chains so that each comes after those on whose bones it hangs, with its root, targets or poles.

    Those of one group do not depend on each other.

    Raises:
        ChainError: Chains wait for each other in a circle.
    """
    groups, closing = parted(sets)
    if closing:
        raise ChainError(waiting_text(closing), rig=closing[0][0].name)
    return groups


def waiting_text(closing: Sequence[Item]) -> Text:
    """That chains wait for each other, as a sentence."""
    names = [Text("'{chain}' of '{armature}'", chain=chain.name, armature=owner.name) for owner, chain in closing]
    return Text("the chains {chains} wait for each other", chains=enumerated(names))


def parted(sets: Sequence[ChainSet]) -> tuple[list[list[ChainSet]], list[Item]]:
    """The groups of `levels` without the chains that close a circle, and those chains.

    They close it by their goals, which hang on bones that wait for their own: all else of a body goes on without them.
    Only where no goal does, but roots hang on each other, it is all chains of the circle.
    """
    closing: list[Item] = []
    groups, waiting = ordered(sets)
    while waiting:
        found = _closing(waiting)
        closing += found
        left = [one for level in groups for one in level]
        for one in waiting:
            left += sets_of(one.owner, [chain for chain in one.chains if (one.owner, chain) not in found])
        groups, waiting = ordered(left)
    return groups, closing


def _closing(waiting: Sequence[ChainSet]) -> list[Item]:
    """The chains by which sets that wait for each other, or for such ones, do so."""
    bones = [bones_of(one) for one in waiting]
    above = [bones_above(one, own) for one, own in zip(waiting, bones, strict=True)]
    reached = [{j for j, own in enumerate(bones) if j != i and carriers & own} for i, carriers in enumerate(above)]
    for _ in waiting:
        reached = [own.union(*[reached[j] for j in own]) for own in reached]
    inside = [i for i, own in enumerate(reached) if i in own]
    found = []
    for i in inside:
        others = set().union(*[bones[j] for j in inside if j != i and j in reached[i] and i in reached[j]])
        for chain in waiting[i].chains:
            if any(carriers_of(goal, bone) & others for _, goal, bone in goals_of(chain)):
                found.append((waiting[i].owner, chain))
    return found or [(waiting[i].owner, chain) for i in inside for chain in waiting[i].chains]


def ordered(sets: Sequence[ChainSet]) -> tuple[list[list[ChainSet]], list[ChainSet]]:
    """The groups of `levels`, and the sets that wait for each other or for such ones."""
    if len(sets) <= 1:
        return [[*sets]] if sets else [], []
    bones = [bones_of(one) for one in sets]
    users: dict[tuple[str, str], set[int]] = {}
    for i, own in enumerate(bones):
        for bone in own:
            users.setdefault(bone, set()).add(i)
    before = {
        i: {other for bone in bones_above(one, own) for other in users.get(bone, ()) if other != i}
        for i, (one, own) in enumerate(zip(sets, bones, strict=True))
    }
    order, groups, done = TopologicalSorter(before), list[list[ChainSet]](), set[int]()
    with suppress(CycleError):  # what is in none, and waits for none, is ordered all the same
        order.prepare()
    while ready := order.get_ready():
        groups.append([sets[i] for i in sorted(ready)])
        order.done(*ready)
        done.update(ready)
    return groups, [one for i, one in enumerate(sets) if i not in done]


def edited_bones(owner: bpy.types.Object) -> set[str]:
    """Names of the bones whose motion controls edit now: how these are posed is keyed with the controls alone."""
    rig = rig_of(owner)
    chains = [chain for chain in rig.chains if chain.enabled]
    if not rig.edits or not [chain for chain in chains if chain.goal == OFFSET and edits_motion(chain)]:
        return set()
    sets = [one for one in sets_of(owner, chains) if any(map(edits_motion, one.chains))]
    return {bone.name for one in sets for bone in figure_bones_if_any(one)}


def bones_of(one: ChainSet) -> Bones:
    """The bones of chains that are solved together; none where they can't be solved, which says why."""
    return {(one.owner.name_full, bone.name) for bone in figure_bones_if_any(one)}


def bones_above(one: ChainSet, own: Bones) -> Bones:
    """Bones that move the root, a target or a pole of chains without being of their own."""
    found: Bones = set()
    for pair in own:
        if pair not in found:  # else it carries one that was looked at
            found |= carriers_of(one.owner, pair[1])
    for chain in one.chains:
        for _, goal, bone in goals_of(chain):
            found |= carriers_of(goal, bone)
    return {pair for pair in found if pair[1]} - own


# A pose that was written, beside what Blender made of it.

PROMISED = 1e-4  # share of the length within which evaluated joints must stand where they were solved


def what_is_off(chain_set: ChainSet, item: SolvedFigure, depsgraph: bpy.types.Depsgraph) -> FabrikError | None:
    """Why a written pose is not the one that was solved; None where it is."""
    error: FabrikError | None = _moved_bone(chain_set.owner, item, depsgraph)
    for k, chain in enumerate(chain_set.chains):
        error = error or _moved_target(chain, k, item, depsgraph)
    return error


def _moved_bone(owner: bpy.types.Object, item: SolvedFigure, depsgraph: bpy.types.Depsgraph) -> BoneError | None:
    """An error naming the first bone that Blender evaluated elsewhere than it was solved."""
    evaluated, figure = pose_bones(owner.evaluated_get(depsgraph)), item.figure
    poses, n = [evaluated[name] for name in figure.bones], len(figure.bones)
    moved = [one.bone for own in figure.grown for one in own if one.name == "location"]
    kept = {figure.bodies.parents[figure.bones.index(name)] for name in moved}  # as long as it is: the next one leaves
    ending = [n - 1] if figure.is_chain else sorted({*range(n)} - kept | {n - 1})
    seen = np.array([pose.head for pose in poses] + [poses[i].tail for i in ending], dtype=np.float64)
    there = figure.space.many_to_armature(np.concatenate([item.heads, item.ends[ending]]))
    off = np.sqrt(((seen - there) ** 2).sum(axis=1))
    are_there = off <= np.maximum(PROMISED * item.length, ULPS * np.abs(there).max(axis=1))
    if are_there.all():
        return None
    bone = figure.bones[[*range(n), *ending][int(np.argmin(are_there))]]
    return BoneError(Text("something else moves it: it does not stand where it was solved"), bone=bone)


def _moved_target(chain: FabrikChain, k: int, item: SolvedFigure, depsgraph: bpy.types.Depsgraph) -> TargetError | None:
    """An error where posing the chains, or some solved with them, moved a target: no pose would ever settle."""
    asked = item.figure.goals[k]
    if chain.target is None or asked.influence < 1.0 or asked.is_offset or "target" in item.figure.frames(k):
        return None
    point = resolve_point("target", chain.target, chain.target_bone, depsgraph)
    allowed = max(PROMISED * item.length, ULPS * max([abs(value) for value in point]))
    if distance(item.figure.space.to_chain(point), item.target(k)) <= allowed or is_walked(chain):
        return None
    return TargetError(
        Text("the target moved while the chain was posed: it hangs on the chain, or on one solved with it"),
        chain=chain.name,
    )


# Solve chains of armatures and write their poses.


class _WrittenFigure(NamedTuple):
    """Chains that are solved together and written."""

    chain_set: ChainSet
    item: SolvedFigure  # as they were solved
    writer: PoseWriter  # that of their armature
    place: int  # their index among its poses


def solve_items(context: bpy.types.Context, items: Sequence[Item]) -> list[Outcome]:
    """Solve chains, write their poses and results, and key them where automatic keying is on.

    Chains that have bones in common with enabled ones, or hang on the body bone as these do, are solved with them.
    Chains that can't be solved are refused and leave their bones as they were; the others are solved all the same.

    Returns:
        An outcome for each chain that was solved, in the order of solving: those that hang on others come after these.

    Raises:
        FabrikError: An armature can't be posed at all; nothing was written.
    """
    for owner in {owner.name_full: owner for owner, _ in items}.values():
        check_rig(owner, context.evaluated_depsgraph_get())
    groups, closing = parted(together(items))
    outcomes = [one for level in groups for one in _solve_level(context, level)]
    for owner, chain in closing:
        error = ChainError(waiting_text(closing), rig=owner.name, chain=chain.name)
        outcomes.append((owner, refused(ChainSet(owner, (chain,), ""), chain, error)))
    for owner, outcome in outcomes:
        outcome.rig = owner.name
        chain = rig_of(owner).chains[outcome.chain]
        store(chain, outcome)
        if outcome.status == "REFUSED":
            store_state(chain, None)
        else:
            remember(chain)
    return [outcome for _, outcome in outcomes]


_Ended = tuple[bpy.types.Object, Outcome]


def _solve_level(context: bpy.types.Context, level: Sequence[ChainSet]) -> list[_Ended]:
    """Solve chains that do not depend on each other: read all, solve all, write all, and evaluate once.

    A chain whose goal moves with those that it is solved with is left out, as live posing leaves it out.
    """
    depsgraph = context.evaluated_depsgraph_get()
    facts = FactsByRig(frame_of(depsgraph))
    outcomes: list[_Ended] = []
    solved: dict[str, list[tuple[ChainSet, SolvedFigure]]] = {}
    waiting = [*level]
    while waiting:
        one = waiting.pop(0)
        try:
            item = posed(*read(one, depsgraph, facts), one.owner, depsgraph, explain=True)
            solved.setdefault(one.owner.name_full, []).append((one, item))
        except FabrikError as error:
            at_fault, rest = [chain for chain in one.chains if chain.name == error.chain], list[FabrikChain]()
            if isinstance(error, TargetError) and not isinstance(error, AbsentTargetError):
                rest = [chain for chain in one.chains if chain not in at_fault]
            waiting += sets_of(one.owner, rest) if at_fault else ()
            outcomes += _refused(one._replace(chains=tuple(at_fault)) if rest and at_fault else one, error)
    written = list[_WrittenFigure]()
    for some in solved.values():  # all of one armature
        owner = some[0][0].owner
        writer = PoseWriter([item.pose for _, item in some], places_of(owner))
        writer.write(owner)
        written += [_WrittenFigure(one, item, writer, k) for k, (one, item) in enumerate(some)]
    return outcomes + _judged(context, written, facts) if written else outcomes


def _refused(one: ChainSet, error: FabrikError) -> list[_Ended]:
    """The outcomes of chains that can't be solved together: of the one at fault, and of those that wait for it."""
    return [(one.owner, refused(one, chain, error)) for chain in one.chains]


def _judged(context: bpy.types.Context, solved: Sequence[_WrittenFigure], facts: FactsByRig) -> list[_Ended]:
    """Compare Blender's evaluation with the solves, and key; or take the poses back that are off."""
    depsgraph = updated(context)
    found = [what_is_off(one.chain_set, one.item, depsgraph) for one in solved]
    for one, error in zip(solved, found, strict=True):
        if error is not None:
            one.writer.restore(one.chain_set.owner, one.place)
    if any(found):
        updated(context)
    ended: list[_Ended] = []
    for one, error in zip(solved, found, strict=True):
        if error is not None:
            ended += _refused(one.chain_set, error)
            continue
        owner = one.chain_set.owner
        FigureCache.keep(one.chain_set, facts.frame, one.item.figure)  # the channels alone are others now
        ended += [(owner, outcome) for outcome in _kept(context, one, facts.keyed(owner))]
    return ended


def _kept(context: bpy.types.Context, one: _WrittenFigure, keyed: KeyedChannels) -> list[Outcome]:
    """The outcomes of a pose that stands, and its keys."""
    owner, chains, _ = one.chain_set
    figure = one.item.figure
    bones = pose_bones(owner)
    written = [bones[channels.bone] for channels in figure.channels if channels is not None]
    plain = [(bones[name], channel) for name, channel in figure.plain_channels]
    edits = figure.goals.has_offsets  # then keys are the motion below, which a solve leaves alone
    was_keyed, is_keyed = insert_posed_keys(context, written, plain, keyed) if not edits else ([], False)
    outcomes = outcomes_of(one.item)
    for chain, outcome, asked in zip(chains, outcomes, figure.goals, strict=True):
        own = [name for name in was_keyed if name in asked.bones or not figure.is_chain]
        if own and not is_keyed and not (rig_of(owner).live and chain.enabled):  # which solves after them
            outcome.is_lost = True
            outcome.warnings.append(
                Text("its bone '{bone}' is keyed: key the pose, or the next frame change loses it", bone=own[0])
            )
        outcome.warnings += _notes(owner, chain, asked.bones)
    return outcomes


def _notes(owner: bpy.types.Object, chain: FabrikChain, names: Sequence[str]) -> list[str]:
    """What else the user should know of a chain that was solved."""
    found: list[str] = []
    if chain.pole is None and chain.pole_name:
        found.append(Text("its pole '{name}' was deleted", name=chain.pole_name))
    unfollowed = why_unfollowed(owner, names)
    found += [worded(unfollowed)] if unfollowed else []
    if chain.influence < 1.0:
        found.append(Text("posed at {influence:.0%} influence", influence=chain.influence))
    bones = pose_bones(owner)
    if chain.start != "REST" and is_stale(chain, [bones[name] for name in names]):
        found.append(Text("the rest pose changed after the start pose was captured"))
    return found


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """What a pass, or the move of one joint in it, led to.

    Attributes:
        name: What was done, see the kernel's `Step`.
        joints: n + 1 points in world space; the last one is the effector.
        error: The most of the tip's distance from the target, the root's from its place, and what a bone is too long
            or too short while its joints are being moved; scene units.
        moved: Index of the joint that was moved; None for a whole pass.
    """

    name: str
    joints: tuple[V3, ...]
    error: float
    moved: int | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """A solve of one chain, step by step.

    Attributes:
        rig: Name of the armature object.
        chain: Name of the chain.
        target: Point in world space.
        passes: The steps, a pass each.
        moves: The steps, a joint each.
    """

    rig: str
    chain: str
    target: V3
    passes: tuple[RecordedStep, ...]
    moves: tuple[RecordedStep, ...]

    def steps(self, by_joint: bool) -> tuple[RecordedStep, ...]:
        """The steps at the wanted fineness; one at least."""
        return self.moves if by_joint else self.passes


def record(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Recording:
    """Solve a chain and keep every step; nothing is written.

    Raises:
        FabrikError: The chain can't be solved.
    """
    chain_set = set_of(owner, chain)
    _check(chain_set, chain)
    figure, points = read(chain_set, depsgraph)
    trace, space = list[Step](), figure.space
    figure.solver.solve(figure.goals_at(figure.numbers(points)), figure.settings, trace, explain=False)
    root, target = space.to_world(ORIGIN), v3(points[0].target)
    count = len(figure.bones) + (not figure.goals[0].at_head)
    passes = []
    for step in trace:
        joints = tuple(space.to_world(scaled(joint, figure.length)) for joint in step.joints[:count])
        passes.append(RecordedStep(step.name, joints, _error(joints, root, target)))
    moves = [passes[0], *(move for a, b in pairwise(passes) for move in _moves(a, b, (root, target)))]
    return Recording(owner.name, chain.name, target, tuple(passes), tuple(moves))


def _check(chain_set: ChainSet, chain: FabrikChain) -> None:
    """Refuse what has no steps that could be looked at: a chain that is solved with others, or only turns."""
    others = quoted([name for name in chain_set.names if name != chain.name])
    text = Text("it is solved with the body bone '{bone}', all at once: only a chain by itself has steps")
    if others:
        text = Text("it is solved together with {chains}, all at once: only a chain by itself has steps")
    if not chain_set.is_one:
        raise ChainError(Text(text, chains=others, bone=chain_set.body), chain=chain.name)
    if chain.aims or (chain.at_head and chain.bone_count == 1):
        raise ChainError("it only turns, which takes no steps", chain=chain.name)


def _error(joints: Sequence[V3], root: V3, target: V3) -> float:
    """How far the tip is from the target or the root from its place: a pass mends one and moves the other off."""
    return max(distance(joints[-1], target), distance(joints[0], root))


def _moves(before: RecordedStep, after: RecordedStep, ends: tuple[V3, V3]) -> Iterator[RecordedStep]:
    """A pass joint by joint, in the order in which it goes along the chain."""
    last = len(after.joints) - 1
    orders: dict[str, Sequence[int]] = {"backward": range(last, -1, -1), "forward": range(last + 1)}
    joints = list(before.joints)
    lengths = [distance(a, b) for a, b in pairwise(after.joints)]
    for index in orders.get(after.name, ()):
        joints[index] = after.joints[index]
        wrong = max(abs(distance(a, b) - size) for (a, b), size in zip(pairwise(joints), lengths, strict=True))
        yield RecordedStep(after.name, tuple(joints), max(_error(joints, *ends), wrong), index)
    if after.name not in orders:
        yield after

# SPDX-License-Identifier: GPL-3.0-or-later
"""A solve kept pass by pass, to be looked at; the rig is not touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy

from ..errors import ChainError
from ..kernel import Status, Trace
from ..maths import ORIGIN, V3, distance, scaled, v3
from ..rig.figure.groups import ChainSet, set_of
from ..rig.figure.reader import read
from ..rig.schema import FabrikChain
from ..texts import Text, quoted


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
        status: How it ended.
        passes: The steps, a pass each.
        moves: The steps, a joint each.
    """

    rig: str
    chain: str
    target: V3
    status: Status
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
    trace, space = Trace(), figure.space
    solution = figure.solver.solve(figure.goals_at(figure.numbers(points)), figure.settings, trace, explain=False)
    root, target = space.to_world(ORIGIN), v3(points[0].target)
    count = len(figure.bones) + (not figure.asked[0].at_head)
    passes = []
    for step in trace.steps:
        joints = tuple(space.to_world(scaled(joint, figure.length)) for joint in step.joints[:count])
        passes.append(RecordedStep(step.name, joints, _error(joints, root, target)))
    moves = [passes[0], *(move for a, b in pairwise(passes) for move in _moves(a, b, (root, target)))]
    return Recording(owner.name, chain.name, target, solution.status, tuple(passes), tuple(moves))


def _check(chain_set: ChainSet, chain: FabrikChain) -> None:
    """Refuse what has no steps that could be looked at: a chain that is solved with others, or only turns."""
    others = quoted([name for name in chain_set.names if name != chain.name])
    if not chain_set.is_one and others:
        text = Text("it is solved together with {chains}, all at once: only a chain by itself has steps")
        raise ChainError(Text(text, chains=others), chain=chain.name)
    if not chain_set.is_one:
        text = Text("it is solved with the body bone '{bone}', all at once: only a chain by itself has steps")
        raise ChainError(Text(text, bone=chain_set.body), chain=chain.name)
    turned = chain.aims or (chain.at_head and chain.bone_count == 1)
    if turned:
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""How chains ended, judged on the final pose: after all that were solved together were written.

A chain may be moved away again by one that is solved after it, where both have a bone in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ..errors import FabrikError
from ..rig.chain_bones import pose_bones
from ..rig.chain_space import ChainSpace
from ..rig.properties import FabrikChain
from ..rig.rotations import V3, distance, length, minus, v3
from ..rig.targets import resolve_point
from .checking import PROMISED
from .measuring import ULPS
from .outcome import Outcome


class Judged(NamedTuple):
    """A chain that was solved and written.

    Attributes:
        owner: The armature object.
        chain: The chain.
        bones: Names of its bones, root to tip.
        space: Where it was solved.
        tip: Where it was solved to, in chain space, influence included.
        target: Where its target was, in chain space.
        size: Its length in armature space.
        outcome: How the solve ended.
    """

    owner: bpy.types.Object
    chain: FabrikChain
    bones: Sequence[str]
    space: ChainSpace
    tip: V3
    target: V3
    size: float
    outcome: Outcome


def judge_final(solved: Sequence[Judged], depsgraph: bpy.types.Depsgraph) -> list[Outcome]:
    """The outcomes of chains, after the final pose; those that still stand as they were solved stay what they are.

    Args:
        solved: In the order of solving.
        depsgraph: Evaluated with the pose of all of them.
    """
    return [_judged(one, solved[k + 1 :], depsgraph) for k, one in enumerate(solved)]


def _judged(one: Judged, later: Sequence[Judged], depsgraph: bpy.types.Depsgraph) -> Outcome:
    evaluated = one.owner.evaluated_get(depsgraph)
    tip = evaluated.matrix_world @ pose_bones(evaluated)[one.bones[-1]].tail
    assert one.chain.target is not None, "it was solved"
    try:
        target = resolve_point("target", one.chain.target, one.chain.target_bone, depsgraph)
    except FabrikError:  # gone since: there is nothing to judge by
        return one.outcome
    space = one.space
    size = space.world_length((one.size, 0.0, 0.0))
    rounding = ULPS * max(abs(value) for point in (tip, target) for value in point)
    missing = v3(minus(tip, target))
    wanted = minus(space.to_world(one.tip), space.to_world(one.target))
    if distance(missing, wanted) <= PROMISED * size + rounding:
        return one.outcome
    is_reached = length(missing) <= one.chain.tolerance * size + rounding
    outcome = Outcome(one.chain.name, "REACHED" if is_reached else "MOVED", length(missing), one.outcome.passes)
    outcome.is_lost = one.outcome.is_lost
    if not is_reached:
        outcome.warnings.append(_mover(one, later))
    outcome.warnings += [text for text in one.outcome.warnings if text not in outcome.warnings]
    return outcome


def _mover(one: Judged, later: Sequence[Judged]) -> str:
    """Which chain moved another away, as a sentence."""
    root = pose_bones(one.owner)[one.bones[0]]
    carriers = {*one.bones, *(bone.name for bone in root.parent_recursive)}
    for other in reversed(later):
        shared = [bone for bone in other.bones if bone in carriers and other.owner == one.owner]
        if shared:
            return f"the chain '{other.chain.name}', solved after it, moved its bone '{shared[-1]}' away"
    return "the chains solved after it moved it away"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve chains of an armature and write their poses."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import degrees

import bpy
from mathutils import Quaternion, Vector

from ..errors import BoneError, FabrikError, InvalidValueError, TargetError
from ..finite import are_finite
from ..kernel import Chain, Solution, Status, refine, solve
from ..kernel.limits import Limit
from ..kernel.rotations import X_AXIS, Z_AXIS, turn_about
from ..rig.chain_bones import pose_bones
from ..rig.checks import check_rig, movers_of
from ..rig.keys import KeyedChannels, insert_auto_keys
from ..rig.properties import FabrikChain, rig_of
from ..rig.reader import Reading, frame_of, read, to_root
from ..rig.start_pose import is_stale
from ..rig.targets import resolve_point
from ..rig.writer import ChannelWrite, plan
from .order import Item, levels, shared_bones

log = logging.getLogger(__name__)

EXACT = 2e-5  # share of the length within which Blender's joints must stand where the kernel put them
PROMISED = 1e-4  # the same after evaluation
ULPS = 16 * 2.0**-23  # of the largest coordinate, below which single precision can't tell
POLE_MISSED = 0.5  # degrees
SAME_RESIDUAL = 1e-6
MEASURES = 3  # times that a chain whose lengths depend on the pose is measured and solved anew
BENT = 0.7  # radians
REFINEMENTS = 24  # times that it is then measured and refined


@dataclass(slots=True)
class Outcome:
    """How the solve of one chain ended.

    Attributes:
        chain: Its name.
        status: A status of the kernel, or REFUSED.
        residual: Distance from tip to target in scene units.
        passes: Passes used.
        blocking: Names of the bones whose limits hold the chain back.
        reason: Why it was refused, without rig and chain.
        refusal: The same with them.
        warnings: What the user should know although the chain was solved.
        is_lost: Whether keys of a bone take the pose back at the next change of frame.
        rig: Name of the armature object, where chains of several are solved.
    """

    chain: str
    status: str
    residual: float = 0.0
    passes: int = 0
    blocking: list[str] = field(default_factory=list)
    reason: str = ""
    refusal: str = ""
    warnings: list[str] = field(default_factory=list)
    is_lost: bool = False
    rig: str = ""


@dataclass(slots=True)
class Solved:
    """A chain that is solved and not yet written.

    Attributes:
        reading: What was read.
        solution: What the kernel found; residual in scene units.
        rotations: n rotations to write, influence included.
        joints: n + 1 joints that they give, in armature space relative to the root.
        writes: The channels to write.
        chain: The chain as the kernel solved it.
    """

    reading: Reading
    solution: Solution
    rotations: list[Quaternion]
    joints: list[Vector]
    writes: list[ChannelWrite]
    chain: Chain

    @property
    def length(self) -> float:
        """Length of the chain in armature space."""
        return float(sum((b - a).length for a, b in pairwise(self.joints)))


def solve_items(context: bpy.types.Context, items: Sequence[Item]) -> list[Outcome]:
    """Solve chains, write their poses and results, and key them where automatic keying is on.

    A chain that can't be solved is refused and leaves its bones as they were; the others are solved all the same.

    Args:
        context: Its view layer is evaluated.
        items: Chains, each with its armature object.

    Returns:
        An outcome for each chain, in the order of solving: those that hang on others come after these.

    Raises:
        FabrikError: An armature can't be posed at all; nothing was written.
    """
    owners = {owner.name_full: owner for owner, _ in items}
    shared: dict[tuple[str, str], str] = {}
    for name, owner in owners.items():
        check_rig(owner, context.evaluated_depsgraph_get())
        own = shared_bones(owner, [chain for found, chain in items if found == owner])
        shared |= {(name, chain): bone for chain, bone in own.items()}
    outcomes = []
    for group in levels(items):
        for name, owner in owners.items():
            chains = [chain for found, chain in group if found == owner]
            for outcome in _solve_group(context, owner, chains) if chains else ():
                if (name, outcome.chain) in shared and outcome.status != "REFUSED":
                    bone = shared[name, outcome.chain]
                    outcome.warnings.append(f"its bone '{bone}' is also of a chain solved before it")
                outcome.rig = owner.name
                store(rig_of(owner).chains[outcome.chain], outcome)
                outcomes.append(outcome)
    return outcomes


def _solve_group(context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> list[Outcome]:
    """Solve chains that do not depend on each other: read all, compute all, then write all."""
    depsgraph = context.evaluated_depsgraph_get()
    keyed, movers = KeyedChannels(owner, frame_of(depsgraph)), movers_of(owner)
    solved: list[Solved] = []
    outcomes: list[Outcome] = []
    for chain in chains:
        try:
            solved.append(compute(read(owner, chain, depsgraph, movers=movers), keyed))
        except FabrikError as error:
            outcomes.append(_refused(owner, chain, error))
    for item in solved:
        for write in item.writes:
            write.write()
    _update(context)
    for item in solved:
        outcomes.append(_finished(context, owner, item, keyed))
    return outcomes


def compute(reading: Reading, keyed: KeyedChannels, known: Chain | None = None) -> Solved:
    """Solve a chain that was read; nothing is written.

    Args:
        reading: What was read.
        keyed: The curves of the armature at the frame.
        known: The chain of an earlier solve, used again where it is the same but for rounding.

    Raises:
        BoneError: The bones' lengths depend on the pose so much that the tip could not be brought to the target.
    """
    solved = posed(reading, known)
    return replace(solved, writes=plan(reading, solved.rotations, keyed))


def posed(reading: Reading, known: Chain | None = None) -> Solved:
    """`compute` without the channels to write."""
    if not are_finite([reading.chain.influence]):
        raise InvalidValueError("the influence is not a finite number", chain=reading.chain.name)
    guess = reading.starts
    for _ in range(MEASURES):
        chain = reading.measured(guess)
        chain = known if known is not None and chain.is_like(known) else chain
        solution = solve(chain, reading.goal, reading.settings)
        guess = solution.rotations
        joints = reading.path.place(guess)
        near = solution.status is not Status.REACHED or _is_reached(reading, joints, chain.length)
        if near and _apart(joints, solution.joints) <= EXACT * chain.length:
            break
    else:
        solution = _refined(reading, solution)
        joints = reading.path.place(solution.rotations)
    residual = reading.world_distance(reading.goal.target - joints[-1])
    solution = replace(solution, residual=residual)
    rotations = blended(reading.limits, reading.starts, solution.rotations, reading.chain.influence)
    if reading.chain.influence < 1.0:
        joints = reading.path.place(rotations)
    return Solved(reading, solution, rotations, joints, [], chain)


def is_rigid(reading: Reading) -> bool:
    """Whether a chain's lengths are the same in every pose: measured at the start pose and at two bent ones."""
    lengths = reading.measured(reading.starts).lengths
    for axis in (X_AXIS, Z_AXIS):
        turned = reading.measured([turn_about(axis, BENT) @ start for start in reading.starts]).lengths
        if any(abs(a - b) > EXACT * max(lengths) for a, b in zip(lengths, turned, strict=True)):
            return False
    return True


def _is_reached(reading: Reading, joints: Sequence[Vector], length: float) -> bool:
    """Whether the tip, as Blender will evaluate it, is within the tolerance; rounding is not held against it."""
    allowed = reading.settings.tolerance * length + ULPS * max(abs(value) for value in reading.origin + joints[-1])
    return bool((reading.goal.target - joints[-1]).length <= allowed)


def _apart(joints: Sequence[Vector], others: Sequence[Vector]) -> float:
    return float(max((a - b).length for a, b in zip(joints, others, strict=True)))


def _refined(reading: Reading, solution: Solution) -> Solution:
    """Bring the tip of a chain whose lengths depend on its pose onto the target.

    Each step measures the chain where it stands and turns the joints a little; the rest is what measuring gets wrong
    over that little.
    """
    rotations = solution.rotations
    target, tolerance = reading.goal.target, reading.settings.tolerance
    for _ in range(REFINEMENTS):
        chain = reading.measured(rotations)
        tip = reading.path.place(rotations)[-1]
        if (target - tip).length <= 0.5 * tolerance * chain.length:
            return replace(solution, status=Status.REACHED, rotations=rotations, blocking=(), give=())
        rotations = refine(chain, target, rotations, 0.1 * tolerance)
    if solution.status is Status.REACHED:
        scaled = [bone for bone in reading.bones if len({round(value, 5) for value in bone.scale}) > 1]
        culprit = scaled[0] if scaled else reading.bones[0]
        raise BoneError(
            "a scale that differs between axes makes the length of the bones below it depend on their direction, and "
            "the tip could not be brought to the target",
            chain=reading.chain.name,
            bone=culprit.name,
        )
    return replace(solution, rotations=rotations)


def blended(
    limits: Sequence[Limit], starts: Sequence[Quaternion], rotations: list[Quaternion], influence: float
) -> list[Quaternion]:
    """The rotations between start and solution by a chain's influence."""
    if influence >= 1.0:
        return rotations
    joints = zip(limits, starts, rotations, strict=True)
    return [limit.blend(start, end, influence) for limit, start, end in joints]


def _finished(context: bpy.types.Context, owner: bpy.types.Object, item: Solved, keyed: KeyedChannels) -> Outcome:
    """Compare Blender's evaluation with the solve, and key; or take the pose back."""
    chain, solution = item.reading.chain, item.solution
    off = _evaluated_off(owner, item, context.evaluated_depsgraph_get()) or _moved_target(context, item)
    if off is not None:
        for write in item.writes:
            write.restore()
        _update(context)
        return _refused(owner, chain, off)
    bones = item.reading.bones
    outcome = outcome_of(chain.name, solution, [bone.name for bone in bones], solution.residual)
    written = [write.bone for write in item.writes]
    was_keyed = [bone.name for bone in written if keyed.has(bone)]
    if not insert_auto_keys(context, written, keyed) and was_keyed:
        outcome.is_lost = True
        outcome.warnings.append(f"its bone '{was_keyed[0]}' is keyed: key the pose, or the next frame change loses it")
    if chain.influence < 1.0:
        outcome.warnings.append(f"posed at {chain.influence:.0%} influence")
    if chain.start != "REST" and is_stale(chain, bones):
        outcome.warnings.append("the rest pose changed after the start pose was captured")
    return outcome


def _evaluated_off(owner: bpy.types.Object, item: Solved, depsgraph: bpy.types.Depsgraph) -> FabrikError | None:
    """An error naming the first bone that Blender evaluated elsewhere than it was solved."""
    reading = item.reading
    evaluated = owner.evaluated_get(depsgraph)
    poses = [pose_bones(evaluated)[bone.name] for bone in reading.bones]
    seen = [*((pose.name, pose.head) for pose in poses), (poses[-1].name, poses[-1].tail)]
    for (bone, point), joint in zip(seen, item.joints, strict=True):
        wanted = reading.origin + joint
        allowed = max(PROMISED * item.length, ULPS * max(abs(value) for value in wanted))
        if not (point - wanted).length <= allowed:
            return BoneError("something else moves it: it does not stand where it was solved", bone=bone)
    return None


def _moved_target(context: bpy.types.Context, item: Solved) -> TargetError | None:
    """An error where posing the chain, or one solved with it, moved its target: no pose would ever settle."""
    chain, reading = item.reading.chain, item.reading
    assert chain.target is not None
    point = resolve_point("target", chain.target, chain.target_bone, context.evaluated_depsgraph_get())
    moved = to_root(reading.world, reading.origin, point) - reading.goal.target
    allowed = max(PROMISED * item.length, ULPS * max(abs(value) for value in point))
    if moved.length <= allowed:
        return None
    return TargetError("the target moved while the chain was posed: it hangs on the chain, or on one solved with it")


def _update(context: bpy.types.Context) -> None:
    assert context.view_layer is not None
    context.view_layer.update()


def _refused(owner: bpy.types.Object, chain: FabrikChain, error: FabrikError) -> Outcome:
    error.rig, error.chain = error.rig or owner.name, error.chain or chain.name
    log.warning("%s", error)
    return Outcome(chain.name, "REFUSED", reason=error.local, refusal=str(error))


def outcome_of(name: str, solution: Solution, bones: Sequence[str], residual: float) -> Outcome:
    """What there is to say of a solution.

    Args:
        name: Of the chain.
        solution: What the kernel found.
        bones: Names of the n bones.
        residual: Distance from tip to target in scene units.
    """
    blocking = [bones[i] for i in solution.blocking]
    outcome = Outcome(name, solution.status.value, residual, solution.passes, blocking)
    for bone, angle in zip(blocking, solution.give, strict=False):
        if angle is not None:
            outcome.warnings.append(f"{bone} would have to give {degrees(angle):.3g}°")
    if degrees(solution.pole_error) > POLE_MISSED:
        outcome.warnings.append(f"the pole is missed by {degrees(solution.pole_error):.0f}°, which limits hold back")
    return outcome


def store(chain: FabrikChain, outcome: Outcome) -> None:
    """Keep the result with the chain; what is the same is not written, for every write makes Blender evaluate."""
    message = outcome.reason or "; ".join(outcome.warnings)
    found = {"status": outcome.status, "passes": outcome.passes, "message": message}
    for name, value in found.items():
        if getattr(chain, name) != value:
            setattr(chain, name, value)
    if abs(chain.residual - outcome.residual) > SAME_RESIDUAL * outcome.residual:
        chain.residual = outcome.residual
    if [bone.name for bone in chain.blocking_bones] != outcome.blocking:
        chain.blocking_bones.clear()
        for name in outcome.blocking:
            chain.blocking_bones.add().name = name

# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures solved for goals in the world, and what a chain's status is about.

All that pose chains come this way; nothing is written. A status is about where goals and bones stood at the last solve,
beside where they stand now. For that only what Blender evaluated last is read, from the originals, and nothing is
evaluated: the panel asks at every redraw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, isfinite
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import FabrikError
from ...kernel import STATUSES, Rows, Solution, Status
from ...maths import (
    ORIGIN,
    Q4,
    ULPS,
    V3,
    Doubles,
    axes_of,
    conjugated,
    cross,
    distance,
    dot,
    length,
    lengths,
    minus,
    multiplied,
    plus,
    q4,
    rotated,
    turn_angle,
    v3,
)
from ..bones import pose_bones, resolve_bones
from ..goal_kinds import left_of
from ..goals import GoalPoints, is_offset, read_points, swing_frame_of
from ..schema.chain import SOLVED_NUMBERS, SOLVED_TURNS, SOLVED_VECTORS, FabrikChain, owner_of
from ..walk_goals import is_walked
from .figure import RigFigure
from .goal_table import REACHED, Result
from .joint_limits import way_up
from .kinematics import BoneTree, world_turn
from .pose_writer import Pose
from .space import RigFrame
from .uneven import EXACT, ends_at, measured_at, measured_solution, mounted_path, uneven_bone

TURN_MISSED = 1e-3  # radians by which Blender may have a rotation or an aim off, where scales are uneven
BODY_MEASURES = 12  # times that chains that are solved together are measured and solved anew
BLOCKED = STATUSES.index(Status.BLOCKED)
BlockingJoints = tuple[tuple[int, float | None], ...]  # joints, and by how many radians their limits would have to give
SAME = 1e-4  # share of the length by which something may stand elsewhere and count as not moved
SAME_TURN = 1e-3  # radians, the same of rotations
SAME_STORED = 1e-6  # share, of a rotation of one, by which numbers in single precision are off what was stored
NO_TURN = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class SolvedFigure:
    """Chains that are solved together and not yet written.

    Attributes:
        figure: The chains.
        numbers: What they ask for, as a row of the kernel's has it.
        result: How each ended, in chain space, before the influence is taken off.
        scales: For each chain what a length of chain space along its miss is in scene units.
        rotations: (n, 4), what is to be written, influence included.
        shift: Vector of chain space by which the root stands elsewhere than it starts.
        factors: Of each goal by how much the bones on the way to it are made longer, influence included.
        heads: (n, 3), where these put the heads of the bones in chain space, as Blender will evaluate them.
        ends: (n, 3), the ends of the bones: in a chain the next one's head.
        passes: Sweeps of the kernel's that were used.
        held: The joints whose limits hold the chains back, the strongest first.
        length: Of the figure, in armature space.
        uneven: The bone whose scale makes the lengths depend on the pose; "" where none does.
    """

    figure: RigFigure
    numbers: tuple[float, ...]
    result: Result
    scales: Doubles
    rotations: Doubles
    shift: V3
    factors: Sequence[float]
    heads: Doubles
    ends: Doubles
    passes: int
    held: BlockingJoints
    length: float
    uneven: str = ""

    @property
    def pose(self) -> Pose:
        """What is to be written."""
        return Pose(self.figure, self.rotations, self.shift, self.factors, self.rests)

    @property
    def rests(self) -> bool:
        """Whether nothing is asked of the chains: they stand as they start."""
        return self.numbers == self.figure.goals.at_rest

    @property
    def statuses(self) -> list[Status]:
        """How each chain ended."""
        return [STATUSES[code] for code in self.result.status[0].tolist()]

    @property
    def residuals(self) -> list[float]:
        """What each chain misses, in scene units."""
        found: list[float] = (self.result.missed[0] * self.scales).tolist()
        return found

    def target(self, k: int) -> V3:
        """Where the effector of a chain was to go, in chain space."""
        return v3(self.figure.goals[k].of_row(self.numbers)[:3])

    def held_back(self, k: int) -> BlockingJoints:
        """The joints whose limits hold one of the chains back, the strongest first; none where it is not BLOCKED."""
        if self.result.status[0, k] != BLOCKED:
            return ()
        way = set(way_up(self.figure.bodies.parents, self.figure.goals[k].joints[-1]))
        return tuple([(i, give) for i, give in self.held if i in way])


def posed(
    figure: RigFigure,
    points: Sequence[GoalPoints],
    owner: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    explain: bool = False,
) -> SolvedFigure:
    """Solve chains that are solved together, for goals in the world.

    If that is to be explained, it is found out by how much blocking limits would have to give.

    Raises:
        InvalidValueError: A number is not finite.
    """
    numbers = figure.numbers(points)
    if figure.is_rigid or numbers == figure.goals.at_rest:
        return posed_rigidly(figure, numbers, explain)
    path = mounted_path(figure, owner, depsgraph)
    measure = measured_solution if is_plain(figure) and figure.goals[0].soft <= 0.0 else _measured
    solution, size = measure(figure, path, numbers, explain)
    rotations = solution.rotations
    heads, ends = ends_at(figure, rotations, solution.shift, owner, depsgraph)
    frames = path.turns(rotations, {one.joints[-1]: one.axis for one in figure.goals if one.kind.aims})
    result, scales = _measured_result(figure, numbers, solution, *map(np.array, (heads, ends, frames)))
    if figure.influence < 1.0:
        ways = zip(figure.limits, figure.solver.figure.starts, rotations, strict=True)
        rotations = [limit.blended(limit.clamped(a), b, figure.influence) for limit, a, b in ways]
        heads, ends = ends_at(figure, rotations, solution.shift, owner, depsgraph)
    gives = [*solution.give, *[None] * (len(solution.blocking) - len(solution.give))]
    return SolvedFigure(
        figure,
        numbers,
        result,
        scales,
        np.array(rotations),
        solution.shift,
        solution.factors,
        np.array(heads),
        np.array(ends),
        solution.passes,
        tuple(zip(solution.blocking, gives, strict=True)),
        size,
        uneven_bone(pose_bones(owner.evaluated_get(depsgraph))[figure.bones[0]], path),
    )


def posed_rigidly(figure: RigFigure, numbers: tuple[float, ...], explain: bool = False) -> SolvedFigure:
    """Solve chains of which the figure is the same in every pose; nothing of Blender's is looked at.

    Raises:
        InvalidValueError: A number is not finite.
    """
    return read_posed(figure, numbers, figure.solved(numbers, explain))


def read_posed(figure: RigFigure, numbers: tuple[float, ...], rows: Rows) -> SolvedFigure:
    """What came of chains that were solved, of which the figure is the same in every pose; their influence counts."""
    heads, ends = np.array(rows.heads).reshape(-1, 3), np.array(rows.ends).reshape(-1, 3)
    result = figure.goals.result_of(rows)
    frames = np.array(rows.frames).reshape(1, -1, 4)
    scales = figure.space.scales_along(figure.goals.off(np.array([numbers]), heads[None], ends[None], frames)[0])
    if figure.influence < 1.0 and numbers != figure.goals.at_rest:
        figure.solver.blend_rows(rows, [figure.influence])
        heads, ends = np.array(rows.heads).reshape(-1, 3), np.array(rows.ends).reshape(-1, 3)
    gives = [give if isfinite(give) and give >= 0.0 else None for give in rows.gives]
    held = [i for i in rows.blocking if i >= 0]
    gives += [None] * len(held)
    return SolvedFigure(
        figure,
        numbers,
        result,
        scales,
        np.array(rows.rotations).reshape(-1, 4),
        v3(rows.shifts),
        rows.factors.tolist(),
        heads,
        ends,
        rows.passes[0],
        tuple(zip(held, gives, strict=False)),
        figure.length,
    )


def is_plain(figure: RigFigure) -> bool:
    """Whether it is a chain that keeps its length, and whose tip is to come to a target, perhaps with a pole."""
    one = figure.goals[0]
    return figure.is_chain and figure.root is None and one.is_plain and not one.at_head and not figure.grown[0]


def _measured(figure: RigFigure, path: BoneTree, numbers: Sequence[float], explain: bool) -> tuple[Solution, float]:
    """Solve chains that are measured anew at each pose to which that leads, as long as they are others there."""
    solver, goals = figure.solver, figure.goals_at(numbers)
    for _ in range(BODY_MEASURES):
        solution = solver.solve(goals, figure.settings, explain=explain)
        heads, _ends = path.placed(solution.rotations)
        solved = solver.figure.placed(solution.rotations).heads
        if max(map(distance, heads, solved)) <= EXACT * solver.figure.size:
            break
        solver = measured_at(figure, path, solution.rotations)
    return solution, solver.figure.size


def _measured_result(
    figure: RigFigure, numbers: Sequence[float], solution: Solution, heads: Doubles, ends: Doubles, frames: Doubles
) -> tuple[Result, Doubles]:
    """How chains ended whose lengths depend on the pose: by Blender's own measure; and `SolvedFigure.scales`.

    Heads, ends (n, 3) and frames (n, 4) are those that Blender will have, before the influence is taken off.
    """
    stood = np.array([numbers]), heads[None], ends[None], frames[None]
    off, turned = figure.goals.off(*stood), figure.goals.judge(*stood)[1]
    states = np.array([[STATUSES.index(one) for one in solution.statuses]], dtype=np.int32)
    numbers_of = (solution.residuals, solution.turns, solution.softened)
    found = figure.goals.result(states, *(np.array([own]) for own in numbers_of))
    missed = np.abs(lengths(off) - found.softened)  # a soft goal is so far before the target, on the way to it
    status = found.status
    if is_plain(figure):
        status = np.array([[STATUSES.index(solution.status)]], dtype=np.int32)
        found = found._replace(pole=np.array([[solution.pole_error]]))
    if not is_plain(figure) or figure.goals[0].soft > 0.0:
        is_off = (missed > figure.settings.tolerance * figure.length) | (turned > TURN_MISSED)
        status = np.where((status == REACHED) & is_off, BLOCKED, status)
    return found._replace(status=status, missed=missed, turn=turned), figure.space.scales_along(off[0])


class ChainState(NamedTuple):
    """How a chain and its goals stand.

    Vectors of armature space are relative to the head of the first bone.

    Attributes:
        target: In armature space.
        pole: The same; zero without one.
        shape: The sum of the joints, in armature space.
        turn: The sum of the bones' X axes, each by the bone's length.
        target_world: Where the target is.
        pole_world: Where the pole is.
        length: Of the bones together, in armature space.
        rounding: By how much numbers of armature space may be off through single precision.
        residual: From effector to target in scene units; 0 where the target is aimed at.
        asked_turn: The rotation that the last bone is to have, in armature space; zeros where it is free.
        asked_turn_world: The same in the world.
        turn_off: Angle in radians by which the last bone is off that rotation, or off its aim.
    """

    target: V3
    pole: V3
    shape: V3
    turn: V3
    target_world: V3
    pole_world: V3
    length: float
    rounding: float
    residual: float
    asked_turn: Q4 = NO_TURN
    asked_turn_world: Q4 = NO_TURN
    turn_off: float = 0.0

    @property
    def numbers(self) -> tuple[float, ...]:
        """What is kept of it with the chain."""
        places = *self.target, *self.pole, *self.shape, *self.turn
        return *places, *self.target_world, *self.pole_world, self.length

    @property
    def turns(self) -> tuple[float, ...]:
        """What is kept of the rotation that is asked for."""
        return *self.asked_turn, *self.asked_turn_world


def remember(chain: FabrikChain) -> None:
    """Keep how a chain stands, as that which its status is about; Blender must have evaluated it."""
    store_state(chain, state_of(chain))
    for role, goal in (("target", chain.target), ("pole", chain.pole)):  # which may be called otherwise by now
        name = goal.name if goal is not None else ""
        if getattr(chain, f"{role}_name") != name:
            setattr(chain, f"{role}_name", name)


def store_state(chain: FabrikChain, state: ChainState | None) -> None:
    """Store a state with a chain; zeros for none, so that whether anything moved since is not told any more.

    The same is not written, for every write makes Blender evaluate.
    """
    numbers: Sequence[float] = state.numbers if state is not None else [0.0] * SOLVED_NUMBERS
    turns: Sequence[float] = state.turns if state is not None else [0.0] * SOLVED_TURNS
    wanted = np.array(numbers)
    if (np.abs(np.array(chain.solved_as) - wanted) > np.abs(wanted) * SAME_STORED).any():
        chain.solved_as = numbers
    if (np.abs(np.array(chain.solved_turn) - np.array(turns)) > SAME_STORED).any():
        chain.solved_turn = turns


def moved_since(chain: FabrikChain, state: ChainState, is_followed: bool) -> str:
    """What moved since a chain was solved: "target", "pole", "armature" or "bones"; "" where nothing did.

    The status of one that is followed live is renewed with every move; then it has to tell the truth of the tip alone.
    """
    kept = [*chain.solved_as]
    allowed = SAME * state.length + state.rounding
    if is_followed or not kept[-1]:
        far, soft, off = _to_world(chain, allowed), chain.softened, chain.residual
        # the residual is counted from where soft reach put the target, to some side of that
        is_other = not abs(soft - off) - far <= state.residual <= soft + off + far
        is_other = is_other or abs(state.turn_off - chain.turn_residual) > SAME_TURN
        return "bones" if is_other and chain.influence >= 1.0 and chain.weight > 0.0 else ""
    target, pole, shape, turn, target_world, pole_world = (v3(kept[i : i + 3]) for i in range(0, 3 * SOLVED_VECTORS, 3))
    far = _to_world(chain, allowed)
    if distance(state.target, target) > allowed:
        return "target" if distance(state.target_world, target_world) > far else "armature"
    if distance(state.pole, pole) > allowed:
        return "pole" if distance(state.pole_world, pole_world) > far else "armature"
    asked, asked_world = q4(chain.solved_turn[:4]), q4(chain.solved_turn[4:])
    if _are_apart(state.asked_turn, asked):
        return "target" if _are_apart(state.asked_turn_world, asked_world) else "armature"
    several = allowed * (1.0 + chain.bone_count)
    is_other = distance(state.shape, shape) > several or distance(state.turn, turn) > several
    return "bones" if is_other else ""


def _are_apart(a: Q4, b: Q4) -> bool:
    """Whether two rotations differ; one of zeros is none."""
    return any(a) != any(b) or (any(a) and turn_angle(multiplied(conjugated(a), b)) > SAME_TURN)


def _to_world(chain: FabrikChain, size: float) -> float:
    """A length of armature space in scene units, at most."""
    owner = owner_of(chain)
    x, y, z = v3(owner.matrix_world.to_scale())
    return size * max(abs(x), abs(y), abs(z))


def state_of(chain: FabrikChain) -> ChainState | None:
    """How a chain stands, as evaluated last; None where that can't be told, as of one that goes by its motion."""
    owner, is_lost = owner_of(chain), chain.target is None and (not chain.pin or chain.target_name != "")
    if is_offset(chain) or is_walked(chain) or is_lost:
        return None
    try:
        bones, frames = resolve_bones(owner, chain), swing_frame_of(owner, chain)
        rig, points = RigFrame.of(owner.matrix_world), read_points(chain, None, frames=frames)
    except FabrikError:
        return None
    root, tip = v3(bones[0].head), v3(bones[-1].tail)
    shape, turn, size = _shape_of(bones)
    target, pole, asked = v3(points.target), ORIGIN, points.turn or NO_TURN
    local = rig.to_armature(minus(target, rig.away))
    local_pole = root
    if points.pole is not None:
        pole = v3(points.pole)
        swings = "pole" in frames  # along with the limb
        local_pole = plus(root, pole) if swings else rig.to_armature(minus(pole, rig.away))
    effector = v3(bones[-1].head) if chain.at_head else tip
    residual = 0.0 if chain.aims else length(rig.to_world(left_of(chain, minus(local, effector))))
    coordinates = [abs(value) for vector in (local, local_pole, root, tip) for value in vector]
    world = max([abs(value) for vector in (target, pole, rig.away) for value in vector])
    size_of_world = max(length(rig.axes[0::3]), length(rig.axes[1::3]), length(rig.axes[2::3]))
    return ChainState(
        minus(local, root),
        minus(local_pole, root),
        shape,
        turn,
        target,
        pole,
        size,
        ULPS * max(*coordinates, world / size_of_world),
        residual,
        multiplied(conjugated(axes_of(owner.matrix_world)), asked) if any(asked) else NO_TURN,
        asked,
        _turn_off(owner, chain, bones[-1], asked, target),
    )


def _shape_of(bones: Sequence[bpy.types.PoseBone]) -> tuple[V3, V3, float]:
    """The sum of a chain's joints from its root, the sum of the X axes each by its bone's length, and all lengths."""
    root, tip = bones[0].head, bones[-1].tail
    shape, turn, size = [tip[k] - root[k] for k in range(3)], [0.0, 0.0, 0.0], 0.0
    for bone in bones:
        head, axis, own = bone.head, bone.x_axis, bone.vector.length
        shape = [shape[k] + head[k] - root[k] for k in range(3)]
        turn = [turn[k] + axis[k] * own for k in range(3)]
        size += own
    return v3(shape), v3(turn), size


def _turn_off(owner: bpy.types.Object, chain: FabrikChain, tip: bpy.types.PoseBone, asked: Q4, target: V3) -> float:
    """By how much the last bone of a chain is off its rotation, or its aim; an angle in radians."""
    turn = world_turn(owner, tip)
    if chain.aims:
        along, wanted = rotated(turn, chain.aim_axis), minus(target, v3(owner.matrix_world @ tip.head))
        return atan2(length(cross(along, wanted)), dot(along, wanted))
    return turn_angle(multiplied(conjugated(turn), asked)) if any(asked) else 0.0

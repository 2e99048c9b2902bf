# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies: whether goals that forward kinematics made are met, what that costs, and what one out of reach costs.

The cost is beside one `numpy.linalg.lstsq` of the same Jacobian.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from math import degrees
from random import Random
from typing import NamedTuple

import numpy as np
from fabrik_addon.kernel import PIN, Facing, Figure, Goal, Joint, Point, Rows, Settings, Solver, Status
from mathutils import Quaternion, Vector

from dev.humans import bone_of, both

from .body_rigs import Built, bodies, built_anew
from .problems import Q4, TOLERANCE, V3, drawn, integers, q4, random_direction, v3
from .rivals import Doubles
from .tables import Judged, Row, Table, at_most, percentile, worst_of
from .timing import Scale

NEAR = 1e-4  # of the body's height, within which all goals are met
FIVE, TWELVE = 99.5, 98.0  # of a hundred poses, that are to be met
GOALS_MET = {"human_game_engine, 6 places and rotations": TWELVE}
HIPS_TURN, HIPS_MOVE = 0.6, 0.3  # radians, and shares of the height, by which a pose has the hips turned and moved
LIMIT_SLACK = 1e-6  # radians
LIMBS, SOLVES = 5, 16
TURN = 0.25  # radians by which each joint is turned to make goals
A_RADIAN = 0.15  # sizes of the figure that a radian counts
STEPS = (16, 48)  # passes after which a solve is cut off, to tell what one pass takes
FAR = 3.0  # times as far as they are, goals can't be reached
PASS_GOALS, SOLVE_GOALS = {"60 joints, 10 goals": 0.25}, {"25 joints, 5 places": 4.0}
PASS_AIM, SOLVE_AIM = 2.0, 4.0
UNREACHABLE_MS = 2.3


def measured(scale: Scale) -> list[Table]:
    """The tables of the group."""
    return [success(scale), cost(scale), unreachable(scale)]


def success(scale: Scale) -> Table:
    """All bodies with few and many goals."""
    rows: list[Row] = []
    for body in bodies():
        found = built_anew(body)
        rows.append(_success_row(scale, f"{body.name}, 5 places", found, (body.five, ()), FIVE))
        rows.append(_success_row(scale, f"{body.name}, 12 places", found, (body.twelve, ()), TWELVE))
        if body.turned:
            ends = body.turned, body.turned
            rows.append(_success_row(scale, f"{body.name}, 6 places and rotations", found, ends, TWELVE))
    note = (
        "Goals are where random poses have the ends of bones, each joint drawn evenly from its limits, the hips turned "
        f"by up to {degrees(HIPS_TURN):.0f}° and moved by up to {HIPS_MOVE:g} of the height. *Met*: poses of which "
        "every goal is within 1e-4 of the body's height, or the same as a turn; *exceeded*: joints of all poses that "
        "stand outside their limits. Errors are shares of the height."
    )
    return Table("6a. Whole bodies: goals that forward kinematics made", note, rows)


def _success_row(
    scale: Scale, name: str, found: Built, ends: tuple[Sequence[str], Sequence[str]], at_least: float
) -> Row:
    samples, random = scale.of(1000, 20), Random(8)
    solver, settings = Solver(found.figure), Settings(NEAR * found.height / found.figure.size)
    errors, exceeded, passes, seconds = [], 0, 0, []
    for _ in range(samples):
        goals = goals_at(found, random_pose(random, found), *ends)
        started = time.perf_counter()
        solution = solver.solve(goals, settings, explain=False)
        seconds.append(time.perf_counter() - started)
        errors.append(worst_of(solution.residuals) / found.height)
        exceeded += joints_exceeded(found.figure, solution.rotations)
        passes += solution.passes
    met = sum(error <= NEAR for error in errors)
    return {
        "body and goals": name,
        "joints": found.figure.count,
        "met %": Judged(100.0 * met / samples, at_least=at_least, is_goal=name in GOALS_MET),
        "limits exceeded": Judged(exceeded, at_most=0),
        "error, 99 of 100": percentile(errors, 99),
        "worst": worst_of(errors),
        "passes": passes / samples,
        "ms, median": 1e3 * percentile(seconds, 50),
        "ms, 99 of 100": 1e3 * percentile(seconds, 99),
    }


def random_pose(random: Random, found: Built) -> tuple[list[Q4], V3]:
    """Rotations inside the limits, and by how much the hips are moved."""
    pose = [drawn(random, limit) for limit in found.figure.joint_limits]
    pose[0] = q4(Quaternion(random_direction(random), random.uniform(0.0, HIPS_TURN)))
    return pose, v3(random_direction(random) * random.uniform(0.0, HIPS_MOVE) * found.height)


def goals_at(found: Built, pose: tuple[list[Q4], V3], points: Sequence[str], turned: Sequence[str]) -> list[Goal]:
    """Goals for the ends of bones, and for the rotations of bones, where a pose has them."""
    placed = found.figure.placed(*pose)
    places: list[Goal] = [Point(found.index[name], placed.ends[found.index[name]]) for name in points]
    return [*places, *(Facing(found.index[name], placed.frames[found.index[name]]) for name in turned)]


def joints_exceeded(figure: Figure, rotations: Sequence[Q4]) -> int:
    """How many joints stand outside their limits."""
    pairs = zip(figure.joint_limits, rotations, strict=True)
    return sum(limit.violation(rotation) > LIMIT_SLACK for limit, rotation in pairs)


class Tree(NamedTuple):
    """A trunk with five limbs at its end, all free, and what is asked of them.

    Attributes:
        trunk: Joints of the trunk.
        limb: Joints of each limb.
        turned: Of how many limbs the rotation of the end is asked for, besides its place.
    """

    trunk: int
    limb: int
    turned: int

    @property
    def ends(self) -> list[int]:
        """The last joint of each limb."""
        return [self.trunk + self.limb * (k + 1) - 1 for k in range(LIMBS)]

    def figure(self) -> Figure:
        """Joints of length 1."""
        joints, parents, random = [], [], Random(60)
        for i in range(self.trunk + LIMBS * self.limb):
            first = i == 0 or (i >= self.trunk and (i - self.trunk) % self.limb == 0)
            turn = Quaternion(random_direction(random), 1.0 if first and i else 0.1)
            joints.append(Joint((0.0, 1.0, 0.0), q4(turn)))
            parents.append(i - 1 if not first or i == 0 else self.trunk - 1)
        return Figure(joints, parents)

    def rows(self, figure: Figure, rotations: Sequence[Q4], factor: float = 1.0) -> Rows:
        """Goals where a pose has the ends, their places times a factor."""
        placed = figure.placed(rotations)
        goals: list[Goal] = [Point(end, v3(Vector(placed.ends[end]) * factor)) for end in self.ends]
        goals += [Facing(end, placed.frames[end]) for end in self.ends[: self.turned]]
        rows = Rows(figure, goals, 1)
        rows.fill(goals)
        return rows

    def jacobian(self, figure: Figure) -> Doubles:
        """How the goals change by small turns of all joints: (3 x goals, 3 x joints)."""
        placed = figure.placed(figure.starts)
        found = np.zeros((3 * (LIMBS + self.turned), 3 * figure.count))
        for row, effector in enumerate([*self.ends, *self.ends[: self.turned]]):
            start = self.trunk + (effector - self.trunk) // self.limb * self.limb
            for joint in [*range(self.trunk), *range(start, effector + 1)]:
                axes = np.array(Quaternion(placed.frames[joint]).to_matrix())
                lever = np.array(placed.ends[effector]) - np.array(placed.heads[joint])
                turned = np.cross(axes.T, lever).T if row < LIMBS else axes * A_RADIAN * figure.size
                found[3 * row : 3 * row + 3, 3 * joint : 3 * joint + 3] = turned
        return found


TREES = {"25 joints, 5 places": Tree(5, 4, 0), "60 joints, 10 goals": Tree(10, 10, 5)}


def cost(scale: Scale) -> Table:
    """A pass, and a whole solve, of small and large trees."""
    note = (
        "A trunk with five free limbs at its end; goals are where a pose has them, each of whose joints is turned by "
        f"up to {TURN:g} rad. *lstsq*: one `numpy.linalg.lstsq` of the Jacobian, in the threads that numpy takes. *A "
        f"pass*: what {STEPS[1]} passes take longer than {STEPS[0]}, towards goals out of reach, a pass. *Solve*: all "
        "of a solve, from the start pose to the answer."
    )
    return Table("6b. What a body costs", note, [_cost_row(scale, name, tree) for name, tree in TREES.items()])


def _cost_row(scale: Scale, name: str, tree: Tree) -> Row:
    figure, random = tree.figure(), Random(5)
    solver, matrix = Solver(figure), tree.jacobian(figure)
    poses = [
        [q4(Quaternion(random_direction(random), random.uniform(0.0, TURN))) for _ in range(figure.count)]
        for _ in range(SOLVES)
    ]
    near = [tree.rows(figure, pose) for pose in poses]
    far = [tree.rows(figure, pose, FAR) for pose in poses]

    def solve(asked: list[Rows], settings: Settings) -> int:
        for rows in asked:
            solver.solve_many(rows, settings)
        return sum(integers(rows.passes)[0] for rows in asked)

    def by_numpy() -> None:
        for _ in poses:
            np.linalg.lstsq(matrix, np.ones(len(matrix)), rcond=None)

    few, more = (Settings(TOLERANCE, passes) for passes in STEPS)
    timing = scale.interleaved(
        lambda: solve(far, few),
        lambda: solve(far, more),
        by_numpy,
        lambda: solve(near, Settings(TOLERANCE)),
    )
    passes = max(solve(far, more) - solve(far, few), 1)
    a_pass, lstsq = (timing.seconds(1) - timing.seconds(0)) / passes, timing.seconds(2) / SOLVES
    reached = list(Status).index(Status.REACHED)
    return {
        "figure": name,
        "Jacobian": f"{matrix.shape[0]} x {matrix.shape[1]}",
        "lstsq µs": lstsq * 1e6,
        "a pass µs": a_pass * 1e6,
        "pass over lstsq": at_most(a_pass / lstsq, name, PASS_AIM, PASS_GOALS),
        "solve µs": timing.seconds(3) / SOLVES * 1e6,
        "solve over lstsq": at_most(timing.ratio(3, 2), name, SOLVE_AIM, SOLVE_GOALS),
        "passes a solve": solve(near, Settings(TOLERANCE)) / SOLVES,
        "missed": Judged(sum(integers(rows.status)[0] != reached for rows in near), at_most=0),
    }


def unreachable(scale: Scale) -> Table:
    """A human on pinned feet whose hand is to go where it can't."""
    rows: list[Row] = []
    for body in bodies()[:2]:
        found = built_anew(body)
        rest = found.figure.placed(found.figure.starts)
        feet = [found.index[name] for name in both(body.name, "foot")]
        hand = found.index[bone_of(body.name, "hand", "L")]
        pins: list[Goal] = [Point(foot, rest.heads[foot], offset=(0.0, 0.0, 0.0), rank=PIN) for foot in feet]
        far = v3(Vector(rest.heads[hand]) + Vector((0.4, -0.4, 0.5)) * found.height)
        goals = [*pins, Point(hand, far)]
        solver, settings = Solver(found.figure), Settings(NEAR * found.height / found.figure.size)
        seconds = scale.interleaved(partial(solver.solve, goals, settings)).seconds(0)
        off = solver.solve(goals, settings).residuals
        rows.append(
            {
                "body": body.name,
                "ms": Judged(1e3 * seconds, at_most=UNREACHABLE_MS, is_goal=True),
                "pins off": Judged(worst_of(off[: len(pins)]) / found.height, at_most=NEAR),
                "hand off": off[-1] / found.height,
            }
        )
    note = (
        "Feet are pinned, and the left hand is asked for far above and ahead of where it reaches; shares of the height."
    )
    return Table("6c. A body with a hand out of reach", note, rows)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies: whether goals that forward kinematics made are met, what that costs, and how smoothly they and limbs move.

The cost is beside one `numpy.linalg.lstsq` of the same Jacobian.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import cos, degrees, sin, tau
from random import Random
from typing import NamedTuple, TypeAlias

import numpy as np
from fabrik_addon.kernel import Bend, Facing, Figure, Goal, Joint, Point, Rows, Settings, Solver, Status
from fabrik_addon.maths import Q4, V3, Doubles, conjugated, multiplied, q4, turn_angle, v3
from mathutils import Quaternion, Vector

from dev.limbs import LIMBS, limb

from .armatures import Built, bodies, built_anew
from .problems import (
    FRONT,
    TOLERANCE,
    BlenderIk,
    drawn,
    random_chain,
    random_direction,
    reachable,
)
from .tables import Judged, Row, Scale, Table, at_most, percentile, worst_of

NEAR = 1e-4  # of the body's height, within which all goals are met
FIVE, TWELVE = 99.5, 98.0  # of a hundred poses, that are to be met
GOALS_MET = {"spider, 12 places": 99.6}  # as in version 1.0.0
HIPS_TURN, HIPS_MOVE = 0.6, 0.3  # radians, and shares of the height, by which a pose has the hips turned and moved
LIMIT_SLACK = 1e-6  # radians
BRANCHES, SOLVES = 5, 16
TURN = 0.25  # radians by which each joint is turned to make goals
A_RADIAN = 0.15  # sizes of the figure that a radian counts
STEPS = (16, 48)  # passes after which a solve is cut off, to tell what one pass takes
FAR = 3.0  # times as far as they are, goals can't be reached
PASS_GOALS, SOLVE_GOALS = {"60 joints, 10 goals": 0.25}, {"25 joints, 5 places": 4.0}
PASS_AIM, SOLVE_AIM = 2.0, 4.0


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
        "met %": Judged(100.0 * met / samples, at_least=GOALS_MET.get(name, at_least), is_goal=name in GOALS_MET),
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
    """A trunk with five limbs at its end, all free, and what is asked of them."""

    trunk: int  # joints of the trunk
    limb: int  # joints of each limb
    turned: int  # of how many limbs the rotation of the end is asked for, besides its place

    @property
    def ends(self) -> list[int]:
        """The last joint of each limb."""
        return [self.trunk + self.limb * (k + 1) - 1 for k in range(BRANCHES)]

    def figure(self) -> Figure:
        """Joints of length 1."""
        joints, parents, random = [], [], Random(60)
        for i in range(self.trunk + BRANCHES * self.limb):
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
        return Rows(figure, goals, 1)

    def jacobian(self, figure: Figure) -> Doubles:
        """How the goals change by small turns of all joints: (3 x goals, 3 x joints)."""
        placed = figure.placed(figure.starts)
        found = np.zeros((3 * (BRANCHES + self.turned), 3 * figure.count))
        for row, effector in enumerate([*self.ends, *self.ends[: self.turned]]):
            start = self.trunk + (effector - self.trunk) // self.limb * self.limb
            for joint in [*range(self.trunk), *range(start, effector + 1)]:
                axes = np.array(Quaternion(placed.frames[joint]).to_matrix())
                lever = np.array(placed.ends[effector]) - np.array(placed.heads[joint])
                turned = np.cross(axes.T, lever).T if row < BRANCHES else axes * A_RADIAN * figure.size
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
        return sum(rows.passes[0] for rows in asked)

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
        "missed": Judged(sum(rows.status[0] != reached for rows in near), at_most=0),
    }


# ---- smoothness

Path: TypeAlias = Callable[[float], tuple[Vector, Vector]]
FRAMES = 120  # of a path
LEG_TURN = 15.0  # degrees a step, of a leg along a path


def paths_of(tip: Vector, pole: Vector) -> dict[str, Path]:
    """Paths of target and pole for a parameter from 0 to 1; the limb's length is about 1."""
    across = tip.cross(pole).normalized()
    return {
        "pole round the limb": lambda s: (
            tip * 0.8,
            tip * 0.5 + (across * sin(tau * s) + pole.normalized() * cos(tau * s)) * 2,
        ),
        "full stretch and back": lambda s: (tip * (1.0 - 0.15 * cos(tau * s)), pole),
        "in towards the root": lambda s: (tip * (0.95 - 0.7 * s), pole),
        "past the root": lambda s: (tip * (0.5 - s) + across * 0.12, pole),
        "across the front": lambda s: (tip * 0.7 + across * (0.8 * s - 0.4), pole),
    }


def _chains() -> dict[str, tuple[Figure, V3]]:
    """Limbs of length 1 that bend, and a pole on the side to which they do."""
    found = {"free limb": (Figure.from_points([(0, 0, 0), (0, -0.06, -0.5), (0, 0, -1)]), FRONT)}
    side: V3 = (0.4, -3.0, 0.3)
    for name, pole in (
        ("leg", FRONT),
        ("leg with ankle", FRONT),
        ("shoulder", side),
    ):
        points, limits = LIMBS[name]
        size = limb(name).size
        found[name] = Figure.from_points([v3(Vector(point) / size) for point in points], limits), pole
    return found


def paths(scale: Scale) -> Table:
    """All limbs along all paths."""
    steps = scale.of(FRAMES, FRAMES // 2)  # fewer would make larger turns
    rows: list[Row] = []
    for name, (chain, pole) in _chains().items():
        tip = Vector(chain.placed(chain.starts).joints[-1])
        found = {label: _along(chain, path, steps) for label, path in paths_of(tip, Vector(pole)).items()}
        at_most = LEG_TURN * FRAMES / steps if name.startswith(("free", "leg")) else None
        turns: Row = {label: Judged(ours, at_most=at_most) for label, (ours, _) in found.items()}
        others: Row = {label: theirs for label, (_, theirs) in found.items()}
        rows += [{"limb": f"{name}: ours", **turns}, {"limb": f"{name}: Blender", **others}]
    note = f"Degrees: the largest turn of a joint between two of {steps} frames along a path of target and pole."
    return Table("7a. Smoothness along paths", note, rows)


def _along(chain: Figure, path: Path, steps: int) -> tuple[float, float]:
    """The largest turn of ours along a path, and of Blender's IK, in degrees."""
    solver, settings, last = Solver(chain), Settings(TOLERANCE), chain.count - 1
    rival = BlenderIk(chain, with_pole=True)
    ours, theirs = [], []
    for i in range(steps + 1):
        target, pole = (v3(point) for point in path(i / steps))
        ours.append(solver.solve([Point(last, target), Bend(last, pole)], settings).rotations)
        rival.follow(target, pole)
        theirs.append(rival.rotations())
    return largest_turn(ours), largest_turn(theirs)


def largest_turn(poses: Sequence[Sequence[Q4]]) -> float:
    """The largest turn of a joint from one pose to the next, in degrees."""
    pairs = (pair for x, y in pairwise(poses) for pair in zip(x, y, strict=True))
    return degrees(max(turn_angle(multiplied(a, conjugated(b))) for a, b in pairs))


# Jumps of version 1.0.0 of each limb on its path, and of free chains by their bones and shares of their reach.
JUMPS = {
    "leg": 0,
    "leg with ankle": 0,
    "one-sided hinges": 0,
    "spider leg": 35,
    "arm": 84,
    "cone arm": 111,
    "stiff tail of cones": 0,
    "tail of cones": 0,
    "shoulder": 16,
    "finger": 0,
}
FREE_JUMPS = {
    (4, 0.7): 16,
    (4, 0.95): 14,
    (4, 0.998): 18,
    (10, 0.7): 58,
    (10, 0.95): 55,
    (10, 0.998): 53,
    (50, 0.9): 106,
    (50, 0.998): 96,
}
ROUTES, ROUTE_STEPS = 16, 60  # of a path: from one place to the next, and into how many steps each is divided
JUMP, MOVED = 15.0, 0.01  # degrees by which a joint turns in a step, and by which a pose is another


def jumps(scale: Scale) -> Table:
    """All limbs, and chains without limits, with all rungs, without FABRIK's passes and without restarts."""
    rows = [_jumps_row(scale, name, limb(name), None, most) for name, most in JUMPS.items()]
    for (count, share), most in FREE_JUMPS.items():
        name = f"free chain of {count} at {share:g}"
        rows.append(_jumps_row(scale, name, random_chain(Random(count), count), share, most))
    note = (
        f"Straight paths from one place that can be reached to the next, {ROUTE_STEPS} steps each. *Jumps*: steps in "
        f"which a joint turns by more than {JUMP:g}°, at most as many as in version 1.0.0. *Moved*: steps whose pose "
        "FABRIK's passes make another than it is without them. *Missed*: of the places that can be reached."
    )
    return Table("7b. Jumps along paths, with FABRIK's passes and restarts and without", note, rows)


def _jumps_row(scale: Scale, name: str, chain: Figure, share: float | None, most: int) -> Row:
    """A chain whose places are those of random poses, or lie at a share of its reach."""

    def places(count: int, seed: int) -> list[V3]:
        random = Random(seed)
        if share is None:
            return [reachable(random, chain) for _ in range(count)]
        return [v3(random_direction(random) * (chain.size * share)) for _ in range(count)]

    def solved(settings: Settings) -> tuple[list[list[Q4]], int, int, float]:
        """Poses along the path, how many targets are missed, and how many steps jump and the farthest."""
        solver, last = Solver(chain), chain.count - 1
        poses = [solver.solve([Point(last, place)], settings, explain=False).rotations for place in path]
        ends = [solver.solve([Point(last, place)], settings, explain=False).status for place in targets]
        turns = [largest_turn(pair) for pair in pairwise(poses)]
        return poses, sum(end is not Status.REACHED for end in ends), sum(turn > JUMP for turn in turns), max(turns)

    targets = places(scale.of(1000, 20), 7)
    ends = [Vector(place) for place in places(scale.of(ROUTES, 2) + 1, 2011)]
    path = [v3(a.lerp(b, k / ROUTE_STEPS)) for a, b in pairwise(ends) for k in range(ROUTE_STEPS)]
    usual = Settings(TOLERANCE)
    poses, missed, jumped, worst = solved(usual)
    bare, bare_missed, bare_jumped, _ = solved(usual._replace(fabrik=False))
    _, alone_missed, alone_jumped, _ = solved(usual._replace(restarts=0))
    return {
        "limb": name,
        "jumps": Judged(jumped, at_most=most),
        "worst °": worst,
        "missed": Judged(missed, at_most=0),
        "moved": sum(largest_turn(pair) > MOVED for pair in zip(poses, bare, strict=True)),
        "jumps without passes": bare_jumped,
        "missed without passes": bare_missed,
        "jumps without restarts": alone_jumped,
        "missed without restarts": alone_missed,
    }

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies: whether goals that forward kinematics made are met, what that costs, and how smoothly they and limbs move.

The cost is beside one `numpy.linalg.lstsq` of the same Jacobian.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import cos, degrees, sin, tau
from random import Random
from typing import NamedTuple, TypeAlias

import numpy as np
from fabrik_addon.kernel import PIN, Bend, Facing, Figure, Goal, Joint, Point, Rows, Settings, Solution, Solver, Status
from fabrik_addon.maths import ORIGIN, Q4, V3, Doubles, conjugated, multiplied, q4, turn_angle, v3
from mathutils import Quaternion, Vector

from dev.humans import bone_of, both, named
from dev.limbs import LIMBS, limb

from .armatures import Built, bodies, built_anew
from .problems import (
    FRONT,
    TOLERANCE,
    BlenderIk,
    drawn,
    integers,
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
UNREACHABLE_MS = 2.3


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


# ---- smoothness

Path: TypeAlias = Callable[[float], tuple[Vector, Vector]]
FRAMES = 120  # of a path
SMOOTH, HELD_BACK = 5.0, 15.0  # degrees a frame, of a drag in reach and of one that is held back
LEG_TURN = 15.0  # degrees a step, of a leg along a path
PINS = 1e-4  # of the height, by which a pin may be left
ORDER_STEP = 5  # every fifth frame is solved again, backwards and in jumps
DRAGGED = ("human_game_engine", "human_mixamo")


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
    return Table("7c. Jumps along paths, with FABRIK's passes and restarts and without", note, rows)


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


def _there_and_back(x: float, y: float, z: float) -> Callable[[float], V3]:
    """Along a line and back again, smoothly."""

    def path(s: float) -> V3:
        wave = 0.5 - 0.5 * cos(tau * s)
        return (wave * x, wave * y, wave * z)

    return path


# By whether all of the path can be reached: the part of a human whose bone, the left one, is dragged by its head, how
# that is called, and by how much it is dragged, in shares of the height, for a parameter from 0 to 1; forwards is -Y.
Drag: TypeAlias = tuple[str, str, Callable[[float], V3]]
DRAGS: dict[bool, Sequence[Drag]] = {
    True: (
        ("hand", "round in front", lambda s: (-0.12 + 0.1 * cos(tau * s), -0.3, 0.1 * sin(tau * s))),
        ("hand", "down to the toes", _there_and_back(-0.15, -0.25, -0.38)),
        ("hand", "across to the other side", _there_and_back(-0.38, -0.18, 0.1)),
        ("hips", "down: a squat", _there_and_back(0.0, 0.11, -0.19)),
        ("hips", "round", lambda s: (0.03 * sin(tau * s), 0.07 + 0.03 * cos(tau * s), -0.1)),
        ("head", "down and forwards", _there_and_back(0.0, -0.2, -0.2)),
    ),
    False: (
        ("hand", "past full stretch", _there_and_back(0.3, -0.5, 0.15)),
        ("hand", "up and away", _there_and_back(0.1, -0.05, 0.65)),
        ("hips", "past straight legs", _there_and_back(0.0, -0.02, 0.15)),
        ("hips", "far to the side", _there_and_back(0.3, 0.0, 0.0)),
        ("chest", "backwards and down", _there_and_back(0.0, 0.3, -0.2)),
    ),
}


def drags(scale: Scale) -> Table:
    """All drags of both humans, in reach and held back."""
    steps, rows = scale.of(FRAMES, FRAMES // 2), list[Row]()
    for body in bodies():
        if body.name in DRAGGED:
            found = built_anew(body)
            rows += [_drag_row(body.name, found, in_reach, steps) for in_reach in (True, False)]
    note = (
        f"One bone of a human is dragged along a path and back in {steps} frames, up to 3 cm a frame; both feet are "
        "pinned at the ankle with their rotation. *A frame*: the largest turn of a joint between two frames, and in "
        "which drag. *Pins*: the farthest that a foot is from its place, a share of the height, and the most that it "
        "is turned. *Orders*: frames whose pose is another one when they are solved backwards or in jumps."
    )
    return Table("7b. Drags on pinned feet", note, rows)


def _drag_row(human: str, found: Built, in_reach: bool, steps: int) -> Row:
    figures = [_dragged(human, found, drag, steps) for drag in DRAGS[in_reach]]
    turns, pins, pins_turned, exceeded, orders = zip(*figures, strict=True)
    part, label, _ = DRAGS[in_reach][turns.index(max(turns))]
    most = SMOOTH if in_reach else HELD_BACK
    return {
        "human and drags": f"{human}: {'in reach' if in_reach else 'held back'}",
        "drags": len(turns),
        "° a frame": Judged(max(turns), at_most=most * FRAMES / steps, is_goal=not in_reach),
        "worst of": f"{part} {label}",
        "pins": Judged(max(pins), at_most=PINS),
        "pins °": max(pins_turned),
        "limits exceeded": Judged(sum(exceeded), at_most=0),
        "orders": Judged(sum(orders), at_most=0),
    }


def _dragged(human: str, found: Built, drag: Drag, steps: int) -> tuple[float, float, float, int, int]:
    """What comes of a drag.

    Returns:
        The largest turn of a joint in a frame, in degrees; the farthest that a foot is from its place, a share of the
        height; the most that it is turned, in degrees; joints outside their limits, by frame; frames whose pose is
        another one when they are solved backwards or in jumps.
    """
    rest = found.figure.placed(found.figure.starts)
    part, _, path = drag
    joint = found.index[named(human, part)[0]]
    feet = [found.index[name] for name in both(human, "foot")]
    pins: list[Goal] = [Point(foot, rest.heads[foot], offset=ORIGIN, rank=PIN) for foot in feet]
    pins += [Facing(foot, rest.frames[foot], rank=PIN) for foot in feet]
    places = [v3(Vector(rest.heads[joint]) + Vector(path(i / steps)) * found.height) for i in range(steps + 1)]
    goals = [[*pins, Point(joint, place, offset=ORIGIN)] for place in places]
    solver, settings = Solver(found.figure), Settings(NEAR * found.height / found.figure.size)

    def solved(order: Sequence[int]) -> dict[int, Solution]:
        return {i: solver.solve(goals[i], settings, explain=False) for i in order}

    forwards = solved(range(steps + 1))
    again = list(forwards)[::-ORDER_STEP]
    backwards = solved(again)
    Random(1).shuffle(again)
    jumps = solved(again)
    poses = [found.figure.placed(each.rotations, each.shift) for each in forwards.values()]
    off = [(Vector(p.heads[foot]) - Vector(rest.heads[foot])).length / found.height for p in poses for foot in feet]
    turned = [largest_turn([[p.frames[foot]], [rest.frames[foot]]]) for p in poses for foot in feet]
    return (
        largest_turn([each.rotations for each in forwards.values()]),
        max(off),
        max(turned),
        sum(joints_exceeded(found.figure, each.rotations) for each in forwards.values()),
        sum(not (_same(forwards[i], backwards[i]) and _same(forwards[i], jumps[i])) for i in again),
    )


def _same(a: Solution, b: Solution) -> bool:
    return a.rotations == b.rotations and a.shift == b.shift

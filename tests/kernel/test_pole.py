# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole turns the bend about root to tip, stands still or swings with its limb, and no pole is in its limb's way."""

from __future__ import annotations

from itertools import pairwise
from math import atan2, cos, degrees, pi, sin
from random import Random
from typing import NamedTuple

import pytest
from fabrik_addon.kernel import (
    FREE,
    PIN,
    Bend,
    Cone,
    Facing,
    Figure,
    Joint,
    Point,
    Settings,
    Solution,
    Solver,
    Status,
    Twist,
    Twisting,
)
from fabrik_addon.maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    cross,
    distance,
    dot,
    length,
    lerp,
    minus,
    perpendicular,
    plus,
    rotated,
    scaled,
    turn_about,
    unit,
)

from dev.limbs import X, Z, hinge
from support.chains import (
    IS_COMPILED,
    LIMITED,
    angle_between,
    assert_sound,
    bend_side,
    largest_turn,
    leg,
    random_chain,
    random_direction,
    random_vector,
    solve,
    some,
)

STRAIGHT = Figure.from_points([(0, 0, 0), (0, 0, 1), (0, 0, 2)])
BENT = Figure.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)])


class Asked(NamedTuple):
    """A target, a pole and the angle by which the bend is turned away from it."""

    target: V3
    pole: V3
    angle: float = 0.0


def pole_side(solution: Solution, asked: Asked) -> V3:
    """Where the chain is to bend: the pole, seen along root to tip and turned by the pole angle."""
    along = unit(solution.joints[-1])
    return rotated(turn_about(along, asked.angle), perpendicular(asked.pole, along))


def off_pole(solution: Solution, asked: Asked) -> float:
    """Angle between the bend and the pole, both seen along root to tip."""
    return angle_between(bend_side(solution.joints), pole_side(solution, asked))


def asked_at_random(random: Random, chain: Figure) -> Asked:
    target = scaled(random_direction(random), chain.size * random.uniform(0.5, 0.9))
    return Asked(target, scaled(random_vector(random), chain.size), random.uniform(-pi, pi))


def through(spans: list[V3]) -> Figure:
    """A chain of bones that follow one another from the origin."""
    points = [ORIGIN]
    for span in spans:
        points.append(plus(points[-1], span))
    return Figure.from_points(points)


@pytest.mark.parametrize("count", [2, 3, 4, 10])
@pytest.mark.parametrize("bend", [0.0, 0.05, 0.3])
def test_chains_that_bend_one_way_face_the_pole(count: int, bend: float) -> None:
    random = Random(count)
    turns = [bend * (i - count / 2) for i in range(count)]
    chain = through([(sin(turn), 0, cos(turn)) for turn in turns])
    solver = Solver(chain)
    for _ in range(some(30)):
        asked = asked_at_random(random, chain)
        solution = solve(solver, *asked)
        assert_sound(chain, solution)
        assert solution.residual < 1e-4 * chain.size
        assert off_pole(solution, asked) < 1e-4


@pytest.mark.parametrize("count", [3, 4, 8])
def test_planar_chains_of_any_shape_lie_in_the_plane_of_the_pole(count: int) -> None:
    random = Random(count)
    for _ in range(some(30)):
        chain = through([(random.gauss(0, 0.6), 0, 1) for _ in range(count)])
        asked = asked_at_random(random, chain)
        solution = solve(Solver(chain), *asked)
        normal = unit(cross(solution.joints[-1], pole_side(solution, asked)))
        assert solution.residual < 1e-4 * chain.size
        assert max(abs(dot(joint, normal)) for joint in solution.joints) < 1e-4 * chain.size


def test_inner_joints_keep_their_rotations() -> None:
    random = Random(1)
    for _ in range(some(20)):
        solver = Solver(random_chain(random, 4))
        target = scaled(random_direction(random), solver.figure.size * 0.7)
        without = solve(solver, target).rotations
        assert solve(solver, target, scaled(random_vector(random), 5)).rotations[1:] == without[1:]


def test_pole_and_knee_hinge_hold_together() -> None:
    chain, random = leg(), Random(2)
    solver = Solver(chain)
    for _ in range(some(50)):
        target = scaled(random_direction(random), random.uniform(0.5, 0.98))
        asked = Asked(target, scaled(random_vector(random), 3))
        solution = solve(solver, *asked)
        assert_sound(chain, solution)
        assert solution.residual < 1e-4
        assert solution.pole_error == 0.0
        assert off_pole(solution, asked) < 1e-4


def test_a_hinge_at_the_root_leaves_the_pole_to_the_next_joint() -> None:
    points = [(0, 0, 0), (0.3, 0, 0), (0.3, -0.05, -1), (0.3, 0, -2)]
    chain = Figure.from_points(points, [hinge(X, -20, 20), FREE, FREE])
    for pole, axis, sign in (((0.5, -5, -1), 1, -1), ((0.5, 5, -1), 1, 1), ((5, 0, -1), 0, 1)):
        solution = solve(Solver(chain), (0.6, -0.3, -1.0), pole)
        assert_sound(chain, solution)
        assert solution.residual < 1e-4
        assert solution.pole_error == 0.0
        middle = lerp(solution.joints[1], solution.joints[3], 0.5)
        assert (solution.joints[2][axis] - middle[axis]) * sign > 0.4


def test_limits_win_over_the_pole() -> None:
    shoulder = Cone.circular(pi, twist=Twist(-0.3, 0.3))
    chain = Figure.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)], [shoulder, hinge(X, 0, 150)])
    solution = solve(Solver(chain), (0, 0, 1.5), (0, -5, 1))
    assert_sound(chain, solution)
    assert solution.residual < 1e-4
    assert 0.5 < solution.pole_error < pi


DOG = [(0, 0, 2.3), (0, -0.3, 1.4), (0, 0.2, 0.6), (0, 0, 0)]
SWEPT = {name: LIMITED[name] for name in ("leg", "leg with ankle", "one-sided hinges", "shoulder")} | {
    "zigzag": Figure.from_points(DOG),
    "dog leg": Figure.from_points(DOG, [FREE, hinge(X, -90, 40), hinge(X, -40, 90)]),
    **{f"free {n}": random_chain(Random(n), n, 0.2) for n in (2, 3, 6, 20)},
    "arm with a cone": Figure.from_points([(0, 0, 0), (0, 0.1, 1), (0, 0, 2)], [Cone.circular(1.4), hinge(X, -150, 5)]),
}


@pytest.mark.parametrize("name", SWEPT)
@pytest.mark.parametrize("with_pole", [False, True])
def test_a_target_that_moves_smoothly_gives_a_pose_that_does(name: str, with_pole: bool) -> None:
    """In front of the root, where no limb has to turn about: no joint turns more than 12 degrees a step."""
    chain, random = SWEPT[name], Random(5)
    solver = Solver(chain)
    towards = chain.placed(chain.starts).joints[-1]
    pole = (0.1, -4, -0.4) if with_pole else None
    for _ in range(some(5)):
        a, b = (
            plus(scaled(towards, random.uniform(0.45, 1.02)), scaled(random_vector(random), 0.15 * chain.size))
            for _ in range(2)
        )
        seen = [solve(solver, lerp(a, b, i / 100), pole) for i in range(101 if IS_COMPILED else 21)]
        assert max(largest_turn(p, q) for p, q in pairwise(seen)) < 0.2


@pytest.mark.parametrize("share", [0.3, 0.9, 0.9999, 1.0, 1.2])
@pytest.mark.parametrize("chain", [STRAIGHT, BENT, leg()], ids=["straight", "bent", "leg"])
def test_pole_round_the_chain_turns_it_evenly(chain: Figure, share: float) -> None:
    solver = Solver(chain)
    target = (chain.size * share, 0, 0)
    angles = (2 * pi * i / 72 for i in range(73 if IS_COMPILED else 12))
    seen = [solve(solver, target, (0.5, 3 * cos(angle), 3 * sin(angle))) for angle in angles]
    assert max(largest_turn(a, b) for a, b in pairwise(seen)) < 2 * pi / 72 * 1.6


def test_pole_swept_across_the_axis_takes_bounded_steps() -> None:
    solver = Solver(BENT)
    offsets = (4e-3 * (i - 200) / 200 * BENT.size for i in range(401))
    seen = [solve(solver, (0, 0, 1.6), (offset, 1e-3, 1.0)) for offset in offsets]
    assert max(largest_turn(a, b) for a, b in pairwise(seen)) < 0.2


def test_target_through_full_stretch_does_not_flip() -> None:
    solver = Solver(BENT)
    seen = [solve(solver, (0, 0, BENT.size * (0.95 + 0.1 * i / 200)), (0, 3, 1)) for i in range(201)]
    assert max(largest_turn(a, b) for a, b in pairwise(seen)) < 0.12


def test_a_chain_of_one_bone_ignores_the_pole() -> None:
    solver = Solver(Figure.from_points([(0, 0, 0), (0, 1, 0)]))
    assert solve(solver, X, (0, 0, 5)).rotations == solve(solver, X).rotations


def test_the_knee_of_a_leg_with_a_foot_faces_the_pole() -> None:
    """The rest pose is nearly straight, and the foot's offset is larger than the knee's."""
    points = [(0, 0, 0), (0, -0.05, -1), (0, 0.01, -2), (0, -0.3, -2.1)]
    chain = Figure.from_points(points, [FREE, hinge(X, 0, 150), hinge(X, -45, 60)])
    solver, random = Solver(chain), Random(6)
    for _ in range(some(40)):
        target = (random.uniform(-0.3, 0.3), random.uniform(-0.6, 0.3), random.uniform(-2.0, -1.2))
        for y in (-4.0, 4.0):
            solution = solve(solver, target, (0, y, -1))
            assert_sound(chain, solution)
            if solution.residual < 1e-4:
                assert perpendicular(solution.joints[1], unit(solution.joints[3]))[1] * y > 0.0


def test_a_limited_clavicle_leaves_the_pole_to_the_free_shoulder() -> None:
    points = [(0, 0, 0), (0.3, 0, 0.05), (1, 0.04, 0), (1.7, 0, 0)]
    chain = Figure.from_points(points, [Cone.circular(0.35), FREE, hinge(Z, 0, 150)])
    solver, random = Solver(chain), Random(7)
    for _ in range(some(30)):
        target = (random.uniform(0.7, 1.4), random.uniform(-0.4, 0.4), random.uniform(-0.4, 0.4))
        solution = solve(solver, target, scaled(random_vector(random), 3))
        assert_sound(chain, solution)
        assert solution.residual < 1e-4
        assert solution.pole_error < 1e-3


def test_a_limited_root_comes_as_near_to_the_pole_as_it_may() -> None:
    points = [(0, 0, 0), (0, 0.05, -0.5), (0, 0, -1)]
    chain = Figure.from_points(points, [Twisting(Twist(-0.5, 0.5)), hinge(X, 0, 150)])
    solution = solve(Solver(chain), (0.34, 0.551, 0.08), (0.678, 0.039, -2.754))
    assert_sound(chain, solution)
    assert degrees(solution.pole_error) < 100


def test_a_pole_angle_that_fades_counts_less_in_a_deeper_bend() -> None:
    """The pole stands over the X axis, and the line from root to tip is the Z axis."""
    solver, angle, fades = Solver(STRAIGHT), 0.5, 0.1
    before = None
    for far in (1.999, 1.99, 1.96, 1.8, 1.4, 0.8, 0.2):
        pole = Bend(1, (5.0, 0.0, 1.0), angle, fades=fades)
        alone = solver.solve([Point(1, (0.0, 0.0, far)), pole])
        knee = alone.joints[1]
        turned = atan2(knee[1], knee[0])
        off = (knee[0] ** 2 + knee[1] ** 2) ** 0.5 / 2.0
        assert turned == pytest.approx(angle * (2.0 / (1.0 + (off / fades) ** 4)) ** 0.25, abs=1e-6)
        assert alone.pole_error < 1e-6
        assert before is None or turned < before
        before = turned


@pytest.mark.parametrize("far", [1.9, 1.4, 0.8])
def test_it_fades_alike_among_several_goals(far: float) -> None:
    goals = [Point(1, (0.0, 0.0, far)), Bend(1, (5.0, 0.0, 1.0), 0.5, fades=0.1)]
    alone = Solver(BENT).solve(goals)
    beside = Solver(BENT).solve([*goals, Facing(1, alone.frames[1])])
    assert beside.status == alone.status
    assert distance(beside.joints[1], alone.joints[1]) < 1e-4


def test_a_pole_angle_that_fades_is_whole_where_the_knee_stands_as_it_says() -> None:
    off = 0.3
    far = 2.0 * (1.0 - off * off) ** 0.5
    bend = Bend(1, (5.0, 0.0, 1.0), 0.5, fades=off / 2.0)
    knee = Solver(STRAIGHT).solve([Point(1, (0.0, 0.0, far)), bend]).joints[1]
    assert atan2(knee[1], knee[0]) == pytest.approx(0.5, abs=1e-6)


def test_a_straight_run_among_several_goals_is_not_turned_to_its_pole_where_that_fades() -> None:
    """A leg on the Z axis bends along X and has its pole at Y; the foot behind it keeps its rotation."""
    leg = Figure.from_points([(0.0, 0.0, 0.0), (0.3, 0.0, 1.0), (0.0, 0.0, 2.0), (0.0, -0.3, 2.0)])
    foot, reach = leg.placed(leg.starts).frames[2], 2.0 * (1.0 + 0.3 * 0.3) ** 0.5

    def turned(share: float, fades: float) -> float:
        goals = [Point(1, (0.0, 0.0, share * reach)), Facing(2, foot), Bend(1, (0.0, 5.0, 1.0), fades=fades)]
        solution = Solver(leg).solve(goals)
        assert solution.residual < 1e-4
        return degrees(atan2(solution.joints[1][1], solution.joints[1][0]))

    assert turned(0.9995, 0.0) == pytest.approx(90.0, abs=0.1)
    assert turned(0.9995, 0.1) == pytest.approx(0.0, abs=0.1)  # it stands off by a sixth of what is told in full
    between = [turned(share, 0.1) for share in (0.996, 0.99, 0.985)]
    assert 1.0 < between[0] < between[1] < between[2] < 89.0
    assert turned(0.97, 0.1) == pytest.approx(90.0, abs=0.1)


@pytest.mark.parametrize(("wrist", "pole"), [((-0.19, -1.2), 3.0), ((-0.21, -1.6), -3.0), ((-0.23, -1.9), -3.0)])
def test_the_joint_that_bends_stays_the_same_one_in_a_leg_that_bends_to_and_fro(
    wrist: tuple[float, float], pole: float
) -> None:
    """Which of an animal's elbow and wrist stands farther off the line changes as the paw is raised."""
    points = [(0, 0, 0), (0, 0.2, -0.9), (0, *wrist), (0, 0, -2.4), (0, -0.5, -2.4)]
    figure = Figure.from_points(points, [FREE, hinge(X, -150, 150), hinge(X, -150, 150), FREE])
    paw = figure.placed(figure.starts).frames[3]
    solver, found = Solver(figure), list[Solution]()
    for step in range(61):
        at = (0.0, 0.5 * step / 60, -2.4 + 0.4 * step / 60)
        found.append(solver.solve([Point(2, at), Facing(3, paw), Bend(2, (0.6, pole, -1.0))]))
    assert max(solution.residual for solution in found) < 1e-4
    assert degrees(max(largest_turn(a, b) for a, b in pairwise(found))) < 2.0


# A pole that swings with its limb: a kick keeps the knee over the toes, and no pole is in the way of its limb.


EXACT = Settings(1e-7)
DOWN: V3 = (0.0, 0.0, -1.0)
AHEAD: V3 = (0.0, -0.6, -0.5)  # of the hip, before the knee


def hanging() -> Figure:
    """A thigh and a shin, which hang straight down."""
    return Figure([Joint((0.0, 0.0, -0.5)), Joint((0.0, 0.0, -0.5))])


def body(turn: Q4 = IDENTITY) -> Figure:
    """The same leg on hips that may move and turn, and another."""
    sides = ((0.1, 0.0, 0.0), (-0.1, 0.0, 0.0))
    joints = [Joint((0.0, 0.0, 0.3), start=turn, stiffness=0.9), *[Joint((0.0, 0.0, -0.5)) for _ in range(4)]]
    return Figure(joints, [-1, 0, 1, 0, 3], [None, sides[0], None, sides[1], None], moves=True)


def kneed(solution: Solution) -> tuple[V3, V3]:
    """The line of a leg, and how its knee stands off that."""
    hip, knee, foot = solution.joints
    along = unit(minus(foot, hip))
    return along, perpendicular(minus(knee, hip), along)


def kick(angle: float, side: float = 0.0, reach: float = 0.85) -> V3:
    """A place of the foot so far before the hip, and so far to the side, from hanging down, in radians."""
    return (reach * sin(side), -reach * sin(angle) * cos(side), -reach * cos(angle) * cos(side))


@pytest.mark.parametrize("angle", [0.0, 0.4, 0.9, pi / 2, 2.2, -0.5])
def test_the_knee_stays_on_the_side_of_the_toes_in_a_kick(angle: float) -> None:
    solution = Solver(hanging()).solve([Point(1, kick(angle)), Bend(1, AHEAD, along=DOWN)], EXACT)
    assert solution.status == Status.REACHED
    along, off = kneed(solution)
    toes = (0.0, -cos(angle), sin(angle))  # forward, swung up with the leg
    assert angle_between(unit(off), toes) < 1e-9
    assert solution.pole_error < 1e-9
    assert abs(dot(along, toes)) < 1e-9


def test_a_pole_that_stands_still_bends_a_kick_under_itself() -> None:
    """What the swing is for: seen from a leg that points forward, the place before the knee is below it."""
    solution = Solver(hanging()).solve([Point(1, kick(pi / 2)), Bend(1, AHEAD)], EXACT)
    _, off = kneed(solution)
    assert off[2] < -0.1


def test_no_place_of_the_foot_before_the_body_lets_the_knee_jump() -> None:
    solver, before = Solver(hanging()), None
    for k in range(200):
        angle = 2.4 * k / 199
        off = unit(kneed(solver.solve([Point(1, kick(angle, 0.3)), Bend(1, AHEAD, along=DOWN)], EXACT))[1])
        if before is not None:
            assert angle_between(off, before) < 0.03, k  # the foot goes by 0.012
        before = off


def test_a_body_bends_its_legs_as_each_does_alone() -> None:
    figure = body()
    solver = Solver(figure)
    for angle in (0.2, 0.8, 1.4):
        alone = Solver(hanging()).solve([Point(1, kick(angle)), Bend(1, AHEAD, along=DOWN)], EXACT)
        goals = [
            Point(0, (0.0, 0.0, 0.0), offset=(0.0, 0.0, 0.0), rank=PIN),
            Point(2, plus((0.1, 0.0, 0.0), kick(angle)), root=1),
            Point(4, plus((-0.1, 0.0, 0.0), kick(0.0)), root=3),
            Bend(2, AHEAD, root=1, along=DOWN, frame=0),
            Bend(4, AHEAD, root=3, along=DOWN, frame=0),
        ]
        solution = solver.solve(goals, EXACT)
        assert solution.status == Status.REACHED
        placed = figure.placed(solution.rotations, solution.shift)
        along = unit(minus(placed.ends[2], placed.heads[1]))
        off = perpendicular(minus(placed.heads[2], placed.heads[1]), along)
        hips = placed.frames[0]
        expected = rotated(hips, kneed(alone)[1])
        assert angle_between(unit(off), unit(perpendicular(expected, along))) < 0.02


def test_a_pole_swings_from_the_axes_that_the_limb_hangs_on() -> None:
    """The hips are turned: what is before the knee turns with them, and swings from there."""
    spun = turn_about((0.0, 0.0, 1.0), 0.7)
    figure = body(spun)
    stood = figure.placed(figure.starts)
    foot = plus(stood.heads[1], rotated(spun, kick(0.9)))
    goals = [Point(2, foot, root=1), Bend(2, AHEAD, root=1, along=DOWN, frame=0)]
    solution = Solver(figure).solve(goals, EXACT)
    assert solution.status == Status.REACHED
    placed = figure.placed(solution.rotations, solution.shift)
    along = unit(minus(placed.ends[2], placed.heads[1]))
    off = unit(perpendicular(minus(placed.heads[2], placed.heads[1]), along))
    lateral = rotated(placed.frames[0], (1.0, 0.0, 0.0))
    assert abs(dot(off, lateral)) < 0.02  # the knee stays in the plane of the kick
    assert length(cross(along, off)) == pytest.approx(1.0)


def test_a_foot_on_its_own_hip_tells_no_side() -> None:
    """Of a leg of equal bones alone, and of a body: the pose is finite, and the same twice."""
    goals = [Point(2, (0.1, 0.0, 0.0), root=1), Bend(2, AHEAD, root=1, along=DOWN, frame=0)]
    for _ in range(2):
        solution = Solver(body()).solve([Point(0, (0.0, 0.0, 0.0), offset=(0.0, 0.0, 0.0), rank=PIN), *goals], EXACT)
        assert all(-1.0 <= value <= 1.0 for rotation in solution.rotations for value in rotation)
    alone = Solver(hanging()).solve([Point(1, (0.0, 0.0, 0.0)), Bend(1, AHEAD, along=DOWN)], EXACT)
    assert all(-1.0 <= value <= 1.0 for rotation in alone.rotations for value in rotation)

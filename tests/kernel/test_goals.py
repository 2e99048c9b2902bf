# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals in the frame of another joint are met there wherever that goes; what goals tell is what they miss."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from itertools import pairwise, product
from math import pi, radians
from random import Random
from typing import Any

import pytest
from fabrik_addon.kernel import (
    ASKED,
    DEFAULT_TOLERANCE,
    PIN,
    PLACED,
    Aim,
    Balance,
    Bend,
    Cone,
    Facing,
    Figure,
    Goal,
    Help,
    Hinge,
    Joint,
    Point,
    Settings,
    Solution,
    Solver,
    Status,
    Stay,
    Twist,
)
from fabrik_addon.maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    conjugated,
    distance,
    minus,
    multiplied,
    plus,
    rotated,
    scaled,
    turn_about,
    turn_angle,
)

from dev.limbs import X, Y, Z
from support.bodies import BONE, HUMAN, INDEX, WALKING_HUMAN, branching, posed
from support.chains import IS_COMPILED, rotations_of, rows_of

EXACT = Settings(1e-7)
HIPS, CHEST, HEAD = 0, 2, 3
ARMS = (4, 7)  # first of three joints each: upper arm, forearm, hand
LEGS = (10, 12)
LEFT, RIGHT = ARMS[0] + 2, ARMS[1] + 2
UP: V3 = (0.0, 1.0, 0.0)


def turn(x: float, y: float, z: float) -> Q4:
    """Turns about X, then Y, then Z."""
    found = multiplied(turn_about((0.0, 1.0, 0.0), y), turn_about((1.0, 0.0, 0.0), x))
    return multiplied(turn_about((0.0, 0.0, 1.0), z), found)


def body(trunk: float = 0.0) -> Figure:
    """Hips that may move, two bones of a trunk, a head, two arms of three bones and two legs of two.

    Args:
        trunk: How stiff hips and trunk are.
    """
    joints, parents, heads = list[Joint](), list[int](), list[V3 | None]()

    def add(parent: int, head: V3 | None, segment: V3, start: Q4 = (1.0, 0.0, 0.0, 0.0)) -> int:
        joints.append(Joint(segment, start=start, stiffness=trunk if len(joints) <= CHEST else 0.0))
        parents.append(parent)
        heads.append(head)
        return len(joints) - 1

    hips = add(-1, None, (0.0, 0.2, 0.0))
    spine = add(hips, None, (0.0, 0.3, 0.0))
    chest = add(spine, None, (0.0, 0.3, 0.0))
    add(chest, None, (0.0, 0.25, 0.0))
    for side in (1.0, -1.0):
        upper = add(chest, (0.2 * side, 0.25, 0.0), (0.3 * side, 0.0, 0.0), turn(0.0, -0.4 * side, 0.0))
        fore = add(upper, None, (0.28 * side, 0.0, 0.0), turn(0.0, -0.6 * side, 0.0))
        add(fore, None, (0.1 * side, 0.0, 0.0))
    for side in (1.0, -1.0):
        thigh = add(hips, (0.1 * side, 0.0, 0.0), (0.0, -0.45, 0.0), turn(-0.3, 0.0, 0.0))
        add(thigh, None, (0.0, -0.45, 0.0), turn(0.6, 0.0, 0.0))
    return Figure(joints, parents, heads, moves=True)


def in_frame(placed: object, joint: int, point: V3) -> V3:
    """A point of solve space in the frame of a joint."""
    heads, frames = getattr(placed, "heads"), getattr(placed, "frames")
    return rotated(conjugated(frames[joint]), minus(point, heads[joint]))


def feet(figure: Figure) -> list[Goal]:
    """Pins where the feet stand."""
    stood = figure.placed(figure.starts)
    return [Point(thigh + 1, stood.ends[thigh + 1], rank=PIN) for thigh in LEGS]


def test_a_hand_asked_for_in_the_frame_of_the_chest_moves_the_arm_alone() -> None:
    figure = body()
    stood = figure.placed(figure.starts)
    wanted = plus(in_frame(stood, CHEST, stood.heads[LEFT]), (-0.1, -0.1, 0.05))
    solution = Solver(figure).solve([*feet(figure), Point(LEFT, wanted, offset=(0, 0, 0), frame=CHEST)], EXACT)
    assert solution.status == Status.REACHED
    placed = figure.placed(solution.rotations, solution.shift)
    assert distance(in_frame(placed, CHEST, placed.heads[LEFT]), wanted) < 1e-6
    arm = range(ARMS[0], ARMS[0] + 3)
    for i, (now, start) in enumerate(zip(solution.rotations, figure.starts, strict=True)):
        assert (now == pytest.approx(start, abs=1e-9)) == (i not in arm) or i == LEFT
    assert solution.shift == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_hands_go_along_when_the_hips_go_down() -> None:
    figure = body()
    stood = figure.placed(figure.starts)
    hands = [in_frame(stood, CHEST, stood.heads[hand]) for hand in (LEFT, RIGHT)]
    goals = [*feet(figure)]
    goals += [
        Point(hand, place, offset=(0, 0, 0), frame=CHEST) for hand, place in zip((LEFT, RIGHT), hands, strict=True)
    ]
    goals.append(Point(HIPS, plus(stood.heads[HIPS], (0.0, -0.2, 0.0)), offset=(0, 0, 0)))
    solution = Solver(figure).solve(goals, EXACT)
    assert solution.status == Status.REACHED
    placed = figure.placed(solution.rotations, solution.shift)
    for hand, place in zip((LEFT, RIGHT), hands, strict=True):
        assert distance(in_frame(placed, CHEST, placed.heads[hand]), place) < 1e-6
    assert solution.rotations[ARMS[0]] == pytest.approx(figure.starts[ARMS[0]], abs=1e-5)


def test_one_hand_holds_on_to_the_other_wherever_that_goes() -> None:
    figure = body()
    stood = figure.placed(figure.starts)
    grip, twist = (0.05, 0.02, 0.1), turn(0.2, 0.1, -0.3)
    goals = [
        *feet(figure),
        Point(RIGHT, plus(stood.heads[RIGHT], (0.15, 0.1, 0.1)), offset=(0, 0, 0)),
        Point(LEFT, grip, offset=(0, 0, 0), frame=RIGHT),
        Facing(LEFT, twist, frame=RIGHT),
    ]
    solution = Solver(figure).solve(goals, EXACT)
    assert solution.status == Status.REACHED
    placed = figure.placed(solution.rotations, solution.shift)
    assert distance(in_frame(placed, RIGHT, placed.heads[LEFT]), grip) < 1e-6
    held = multiplied(conjugated(placed.frames[RIGHT]), placed.frames[LEFT])
    assert abs(sum(a * b for a, b in zip(held, twist, strict=True))) == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("place", [(0.3, 1.2, 1.2), (0.0, 0.4, 1.7), (0.2, -0.9, 1.3)])
def test_no_joint_is_put_onto_what_it_aims_at(place: V3) -> None:
    """There it would point nowhere, and each direction would do."""
    figure = Figure.from_points([(0, 0, 0), (0, 0.1, 1), (0, -0.1, 2), (0, 0, 3)])
    solution = Solver(figure).solve([Aim(2, Y, place)])
    axis, way = rotated(solution.frames[2], Y), minus(place, solution.joints[2])
    assert distance(place, solution.joints[2]) > 1e-3 * figure.size
    assert solution.status is Status.REACHED
    assert distance(scaled(way, 1.0 / distance(place, solution.joints[2])), axis) < 1e-3


@pytest.mark.parametrize("far", [0.1, 3e-3, 3e-4])
def test_a_joint_that_stays_in_its_place_aims_however_near_the_target_is(far: float) -> None:
    place = scaled((0.6, 0.0, 0.8), far)
    solution = Solver(Figure.from_points([(0, 0, 0), (0, 1, 0)])).solve([Aim(0, Y, place)])
    assert solution.status is Status.REACHED
    assert distance(scaled(place, 1.0 / far), rotated(solution.frames[0], Y)) < 1e-3


def test_an_aim_and_a_pole_stand_in_frames_too() -> None:
    figure = body()
    stood = figure.placed(figure.starts)
    eyes = (0.3, 0.6, 1.0)
    pole = plus(in_frame(stood, CHEST, stood.heads[ARMS[0] + 1]), (0.0, -1.0, 0.0))
    wanted = in_frame(stood, CHEST, stood.heads[LEFT])
    goals = [
        *feet(figure),
        Aim(HEAD, (0.0, 0.0, 1.0), eyes, frame=CHEST),
        Point(LEFT, plus(wanted, (-0.1, 0.0, 0.05)), offset=(0, 0, 0), frame=CHEST),
        Bend(ARMS[0] + 1, pole, root=ARMS[0], frame=CHEST),
        Point(HIPS, plus(stood.heads[HIPS], (0.1, -0.1, 0.05)), offset=(0, 0, 0)),
    ]
    solution = Solver(figure).solve(goals, EXACT)
    assert set(solution.statuses[:4]) == {Status.REACHED}
    placed = figure.placed(solution.rotations, solution.shift)
    seen = minus(eyes, in_frame(placed, CHEST, placed.heads[HEAD]))
    along = rotated(multiplied(conjugated(placed.frames[CHEST]), placed.frames[HEAD]), (0.0, 0.0, 1.0))
    assert distance(along, tuple(v / distance(seen, (0, 0, 0)) for v in seen)) < 1e-6
    assert solution.turns[4] < 0.05, "the elbow bends to its pole"


def test_a_place_beyond_the_arm_in_the_chest_is_too_far() -> None:
    figure = body()
    solution = Solver(figure).solve([*feet(figure), Point(LEFT, (5.0, 0.0, 0.0), frame=CHEST)], EXACT)
    assert solution.statuses[-1] == Status.TOO_FAR


def test_a_root_that_stays_gives_way_to_pins_alone() -> None:
    figure = body()
    stood = figure.placed(figure.starts)
    stays: list[Goal] = [Stay(), Stay(turns=True)]
    far = Point(LEFT, plus(stood.heads[LEFT], (0.8, 0.6, 0.5)), offset=(0, 0, 0))
    held = Solver(figure).solve([*feet(figure), *stays, far], EXACT)
    assert held.shift == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    assert held.rotations[HIPS] == pytest.approx(figure.starts[HIPS], abs=1e-6)
    assert held.residuals[-1] > 0.1
    free = Solver(figure).solve([*feet(figure), far], EXACT)
    assert free.residuals[-1] < held.residuals[-1], "without it the hips help the hand"
    low = Point(LEGS[0] + 1, plus(stood.ends[LEGS[0] + 1], (0.0, -0.5, 0.0)), rank=PIN)
    pulled = Solver(figure).solve([low, *stays], EXACT)
    assert pulled.residuals[0] < 1e-6
    assert pulled.shift[1] < -0.1


def test_a_root_stays_where_its_row_starts() -> None:
    figure = body()
    stood = figure.placed(figure.starts)
    goals = [*feet(figure), Stay(), Stay(turns=True)]
    rows = rows_of(figure, [goals] * 2)
    rows.roots[3:6] = array("d", (0.02, -0.1, 0.03))
    Solver(figure).solve_many(rows, EXACT)
    assert list(rows.shifts[:3]) == pytest.approx([0.0, 0.0, 0.0], abs=1e-7)
    assert list(rows.shifts[3:6]) == pytest.approx([0.02, -0.1, 0.03], abs=1e-6)
    assert stood.heads[HIPS] == (0.0, 0.0, 0.0)


def standing_body(legs: float = 0.0, bend: float = 0.6, least: float = 0.02) -> tuple[Figure, list[int]]:
    """Stiff hips on two legs with limits, which may be stiff too, and the indices of the feet.

    Args:
        legs: Stiffness of the legs.
        bend: Of the knees as they start, in radians.
        least: That of which their limits allow.
    """
    joints, parents, heads = [Joint((0.0, 0.2, 0.0), stiffness=1.0)], [-1], list[V3 | None]([None])
    for side in (1.0, -1.0):
        hip = Cone(0.0, 1.2, 0.6, 0.5, 0.5, Twist(-0.5, 0.5))
        leg = [
            Joint((0.0, -0.45, 0.0), start=turn(-0.5 * bend, 0.0, 0.0), limit=hip),
            Joint((0.0, -0.45, 0.0), start=turn(bend, 0.0, 0.0), limit=Hinge((1.0, 0.0, 0.0), least, 2.4)),
            Joint((0.0, 0.0, 0.15), start=turn(-0.5 * bend, 0.0, 0.0)),
        ]
        leg = [joint._replace(stiffness=legs) for joint in leg]
        parents += [0, len(joints), len(joints) + 1]
        heads += [(0.1 * side, 0.0, 0.0), None, None]
        joints += leg
    return Figure(joints, parents, heads, moves=True), [3, 6]


def knee_goals(figure: Figure, feet_of_it: Sequence[int], rank: int, moved: V3 = ORIGIN) -> list[Goal]:
    """Feet where they stand, the first of them moved, and knees that point forward."""
    stood, found = figure.placed(figure.starts), list[Goal]()
    for foot, way in zip(feet_of_it, (moved, ORIGIN), strict=True):
        found.append(Point(foot, plus(stood.heads[foot], way), offset=(0, 0, 0), rank=rank))
        found.append(Facing(foot, stood.frames[foot], rank=rank))
        found.append(Bend(foot - 1, (stood.heads[foot - 2][0], -0.4, 1.0), root=foot - 2))
    return found


def largest_turns(solutions: Sequence[Solution]) -> list[float]:
    """The most that a joint turns from each solution to the next."""
    return [
        max(turn_angle(multiplied(now, conjugated(then))) for now, then in zip(b.rotations, a.rotations, strict=True))
        for a, b in pairwise(solutions)
    ]


@pytest.mark.parametrize("rank", [PLACED, ASKED])
@pytest.mark.parametrize("bend", [0.0, 1e-4, 0.05])
@pytest.mark.parametrize("way", [(0.0, -1.0, 0.0), (0.0, -0.5, 0.8)])
def test_straight_legs_bend_where_hips_sink(rank: int, bend: float, way: V3) -> None:
    """They yield to no push along them at first; then they turn the less for each millimeter the more they are bent."""
    figure, feet_of_it = standing_body(bend=bend, least=0.0)
    solver, found = Solver(figure), list[Solution]()
    for k in range(12):
        asked: list[Goal] = [Point(HIPS, scaled(way, 0.005 * k), offset=(0, 0, 0), rank=rank)]
        asked += [Facing(HIPS, IDENTITY, rank=rank)] if rank == PLACED else []
        found.append(solver.solve([*asked, *knee_goals(figure, feet_of_it, PIN)], EXACT))
    assert max(max(one.residuals) for one in found) < DEFAULT_TOLERANCE
    assert max(largest_turns(found)) < radians(12.5)
    assert max(largest_turns(found)[1:]) < radians(5.5)


@pytest.mark.parametrize("bend", [0.0, 1e-3, 0.05])
@pytest.mark.parametrize("way", [(0.0, 1.0, 0.0), (0.0, 0.7, 0.3)])
def test_a_straight_leg_bends_where_its_foot_is_lifted(bend: float, way: V3) -> None:
    """The other leg stays as straight as it is, and so do the hips as good as stay."""
    figure, feet_of_it = standing_body(bend=bend, least=0.0)
    solver, found = Solver(figure), list[Solution]()
    for k in range(12):
        found.append(solver.solve(knee_goals(figure, feet_of_it, ASKED, scaled(way, 0.005 * k)), EXACT))
    assert max(max(one.residuals) for one in found) < DEFAULT_TOLERANCE
    assert max(largest_turns(found)) < radians(12.0)
    assert max(largest_turns(found)[1:]) < radians(5.5)
    assert max(turn_angle(one.rotations[HIPS]) for one in found) < radians(3.0)
    other = [turn_angle(multiplied(one.rotations[5], conjugated(figure.starts[5]))) for one in found]
    assert max(other) < radians(2.0)


def test_a_start_outside_its_limits_is_brought_inside_where_a_limb_is_straight() -> None:
    """An arm that is asked to stay where it starts, beyond its hinge, beside a straight leg whose foot is lifted."""
    leg = [Joint((0.0, -0.45, 0.0)), Joint((0.0, -0.45, 0.0), limit=Hinge(X, 0.0, 2.4)), Joint((0.0, 0.0, 0.15))]
    arm = Joint((0.3, 0.0, 0.0), start=turn(0.0, 0.0, -0.5), limit=Hinge(Z, 0.0, 2.0))
    heads: list[V3 | None] = [None, (0.1, 0.0, 0.0), None, None, (0.1, 0.5, 0.0)]
    figure = Figure([Joint((0.0, 0.2, 0.0)), *leg, arm], [-1, 0, 1, 2, 0], heads)
    stood = figure.placed(figure.starts)
    asked: list[Goal] = [
        Point(3, plus(stood.heads[3], (0.0, 0.02, 0.0)), offset=(0, 0, 0), rank=PIN),
        Facing(HIPS, IDENTITY, rank=PIN),
        Point(4, stood.ends[4]),
        Facing(4, stood.frames[4]),
    ]
    found = Solver(figure).solve(asked, EXACT)
    limits = zip(figure.joint_limits, found.rotations, strict=True)
    assert max(limit.violation(rotation) for limit, rotation in limits) < 1e-6


def test_a_pole_with_an_angle_says_to_which_side_a_straight_leg_bends() -> None:
    joints, parents = [Joint((0.0, 0.2, 0.0)), *[Joint((0.0, -0.45, 0.0))] * 2, Joint((0.0, 0.0, 0.15))], [-1, 0, 1, 2]
    figure = Figure(joints, parents, [None, (0.0, 0.0, 0.0), None, None], moves=True)
    stood = figure.placed(figure.starts)
    for angle in (0.0, pi):
        found = Solver(figure).solve(
            [
                Point(HIPS, (0.0, -0.05, 0.0), offset=(0, 0, 0), rank=PLACED),
                Facing(HIPS, IDENTITY, rank=PLACED),
                Point(3, stood.heads[3], offset=(0, 0, 0), rank=PIN),
                Bend(2, (0.0, -0.4, 1.0), angle=angle, root=1),
            ],
            EXACT,
        )
        knee = figure.placed(found.rotations, found.shift).heads[2]
        assert knee[2] * (1.0 if angle == 0.0 else -1.0) > 0.05


def test_a_rope_that_is_drawn_straight_is_not_curled_up() -> None:
    """It has joints enough to give way as it is."""
    count = 20
    joints = [Joint((0.0, 0.2, 0.0)), *[Joint((0.0, 1.0 / count, 0.0))] * count]
    figure = Figure(joints, [-1, *range(count)])
    solver, stood, found = Solver(figure), figure.placed(figure.starts), list[Solution]()
    for k in range(8):
        place = plus(stood.ends[count], (0.0, -0.005 * k, 0.01))
        middle = plus(stood.ends[count // 2], (0.0, 0.0, 0.002 * k))
        bend = Bend(count, (0.0, 0.5, 1.0), root=1)
        found.append(solver.solve([Point(count, place), Point(count // 2, middle, weight=0.5), bend], EXACT))
    assert max(largest_turns(found)) < radians(8.0)


@pytest.mark.parametrize("lean", [0.0, 0.1, 0.2, 0.3])
def test_a_body_that_its_feet_hold_back_moves_smoothly(lean: float) -> None:
    """Hips rise by millimeters to where legs are straight and limits hold them, and beyond: no joint jumps for that.

    Where a leg straightens it turns by 3 degrees for a millimeter.
    """
    figure, feet_of_it = standing_body()
    solver = Solver(figure)
    before: Solution | None = None
    for k in range(90):
        place = (0.03, 0.001 * k - 0.02, 0.02)
        goals: list[Goal] = [
            Point(HIPS, place, offset=(0, 0, 0), rank=PLACED),
            Facing(HIPS, turn(0.1, 0.2, lean), rank=PLACED),
        ]
        found = solver.solve([*goals, *knee_goals(figure, feet_of_it, PIN)], EXACT)
        assert found.status == Status.REACHED, "the feet stay"
        if k == 0:
            assert found.residuals[:2] == pytest.approx((0.0, 0.0), abs=1e-6)
        if before is not None:
            assert largest_turns([before, found])[0] < 0.055, place
        before = found
    assert found.residuals[0] > 0.01


@pytest.mark.parametrize(("legs", "weight"), [(0.0, 1.0), (0.7, 1.0), (0.9, 1.0), (0.0, 0.1), (0.0, 0.02), (0.9, 0.1)])
def test_neither_stiff_legs_nor_a_small_weight_keep_hips_from_where_they_are_put(legs: float, weight: float) -> None:
    figure, feet_of_it = standing_body(legs)
    stood, solver = figure.placed(figure.starts), Solver(figure)
    for down, lean in ((0.1, 0.0), (0.2, 0.1), (0.1, 0.3)):
        goals: list[Goal] = [
            Point(HIPS, (0.0, -down, 0.0), 1.0, offset=(0, 0, 0), rank=PLACED),
            Facing(HIPS, turn(lean, 0.0, 0.0), weight, rank=PLACED),
        ]
        for foot in feet_of_it:
            goals.append(Point(foot, stood.heads[foot], offset=(0, 0, 0), rank=PIN))
            goals.append(Facing(foot, stood.frames[foot], rank=PIN))
        found = solver.solve(goals, EXACT)
        assert max(found.residuals) < DEFAULT_TOLERANCE
        assert max(found.turns) < 1e-3


def stretch_of(figure: Figure, solution: Solution) -> float:
    """How straight the left arm is: 1 where it is stretched out."""
    stood = figure.placed(solution.rotations, solution.shift)
    return distance(stood.heads[ARMS[0]], stood.heads[LEFT]) / ARM


ARM = 0.58  # length of upper arm and forearm


def reaches(figure: Figure, far: float) -> list[Goal]:
    """Pinned feet, and the left hand somewhere before the shoulder, in arm's lengths from where that stands."""
    shoulder = figure.placed(figure.starts).heads[ARMS[0]]
    way: V3 = (0.6, -0.1, 0.79)
    return [*feet(figure), Point(LEFT, plus(shoulder, scaled(way, far * ARM)), offset=(0, 0, 0))]


def test_a_limb_that_is_helped_keeps_some_of_its_bend() -> None:
    """It reaches as it did without; the farther, the more the trunk goes along, and all turn by little a step."""
    figure = body(trunk=1.0)
    solver, plain = Solver(figure), Solver(figure)
    before: Solution | None = None
    for k in range(61):
        far = 0.6 + 0.01 * k
        share = min(max((far - 0.9) / 0.4, 0.0), 1.0)
        goals = reaches(figure, far)
        helped = solver.solve([*goals, Help(ARMS[0], share)], EXACT)
        alone = plain.solve(goals, EXACT)
        assert helped.status == alone.status == Status.REACHED
        if not share:
            assert helped.rotations == alone.rotations
        if far >= 1.0:
            assert stretch_of(figure, helped) < stretch_of(figure, alone) - 0.005
        if before is not None:
            turns = zip(helped.rotations, before.rotations, strict=True)
            assert max(turn_angle(multiplied(now, conjugated(then))) for now, then in turns) < 0.08, far
        before = helped


def test_less_than_no_help_holds_still_what_carries_the_limb() -> None:
    """By the square of how much stiffer it is; of two limbs the one that is helped more decides, in any order."""
    figure = body(trunk=1.0)
    solver, goals = Solver(figure), reaches(figure, 0.7)

    def turned(*more: Goal) -> float:
        found = solver.solve([*goals, *more], EXACT)
        assert found.status == Status.REACHED
        turns = zip(found.rotations[: ARMS[0]], figure.starts, strict=False)
        return max(turn_angle(multiplied(now, conjugated(start))) for now, start in turns)

    assert ARMS[0] < ARMS[1]
    alone, held = turned(), turned(Help(ARMS[0], -0.35))
    assert alone > 1e-3
    assert held < alone / 8.0
    other = Help(ARMS[1], 0.0)
    assert turned(Help(ARMS[0], -0.35), other) == turned(other, Help(ARMS[0], -0.35)) > 8.0 * held


def test_help_ends_with_its_row() -> None:
    figure = body(trunk=1.0)
    goals = reaches(figure, 1.1)
    asked = [[*goals, Help(ARMS[0], share)] for share in (0.8, 0.0, 0.3)]
    rows = rows_of(figure, asked)
    Solver(figure).solve_many(rows, EXACT)
    for k, one in enumerate(asked):
        assert rotations_of(rows, k) == Solver(figure).solve(one, EXACT).rotations
    assert rotations_of(rows, 1) == Solver(figure).solve(goals, EXACT).rotations


# The columns that a goal tells are the derivatives of what it misses.


STEP = 1e-5
SUPPORTS: tuple[list[V3], ...] = (
    [(3.0, 1.0, 0.0), (3.0, -9.0, 0.0), (4.0, -9.0, 2.0), (4.0, 1.0, 0.0), (3.5, 0.0, 0.0)],  # an edge is nearest
    [(3.0, 3.0, 0.0), (4.0, 3.0, 0.0), (3.0, 4.0, 0.0)],  # a corner is
    [(9.0, 9.0, 0.0), (-9.0, 9.0, 0.0), (-9.0, -9.0, 0.0), (9.0, -9.0, 0.0)],  # stands above it
    [(2.0, 1.0, 0.5)],
)

only_interpreted = pytest.mark.skipif(
    IS_COMPILED, reason="what goals tell the solver can't be seen in a compiled kernel"
)


def loose(which: int) -> Figure:
    """The figure with two arms, one joint of which does not inherit rotation."""
    joints = [Joint((0.0, BONE, 0.0), inherits=i != which) for i in range(8)]
    heads: list[V3 | None] = [None] * 8
    heads[5] = (0.05, 0.2, 0.0)
    return Figure(joints, (-1, 0, 1, 2, 3, 1, 5, 6), heads)


def loaded(goal: Goal) -> Goal:
    """A goal that took its own numbers, as they are."""
    numbers = goal.numbers()
    getattr(goal, "load")(array("d", numbers), 0, 1.0, ORIGIN)
    return goal


def pose_of(figure: Figure, rotations: list[Q4], shift: V3 = ORIGIN) -> Any:
    """A pose as the solver sees it."""
    pose = sys.modules[Figure.__module__].Pose(figure.count)
    pose.shift[0], pose.shift[1], pose.shift[2] = shift
    for i, rotation in enumerate(rotations):
        pose.rotations[4 * i], pose.rotations[4 * i + 1] = rotation[:2]
        pose.rotations[4 * i + 2], pose.rotations[4 * i + 3] = rotation[2:]
    getattr(figure, "place")(pose)
    return pose


@only_interpreted
@pytest.mark.parametrize("figure", [branching(), loose(3), loose(1)], ids=["inherits", "loose arm", "loose spine"])
def test_each_move_is_the_change_of_its_goal(figure: Figure) -> None:
    """Where a turn carries the effector, where a joint that does not inherit stops it, and beside the way."""
    random = Random(4)
    rotations = posed(random, figure)
    now, aim = figure.placed(rotations), figure.placed(posed(random, figure, 0.05))
    goals: list[Goal] = [
        Point(4, aim.ends[4], weight=2.0),
        Point(4, aim.ends[4], 0.7, (0.1, -0.2, 0.05)),
        Point(7, aim.ends[7]),
        Facing(7, now.frames[7], weight=0.3),
        Facing(4, now.frames[4]),
        Aim(4, Y, plus(now.heads[4], scaled(rotated(now.frames[4], Y), 0.6)), 1.5),  # exact where it is met
        Point(4, plus(now.heads[3], (0.2, 0.7, -0.1)), 1.3, soft=0.4, root=3),  # beyond where it begins to give way
        Point(4, plus(now.heads[2], (0.2, 0.7, -0.1)), offset=(0.1, -0.2, 0.05), soft=0.4, root=2),
        Point(4, (0.1, 2.0, 0.5), soft=0.1),
        Point(4, plus(now.heads[3], (0.3, 1.9, -0.1)), soft=0.4, stretch=1.1, root=3),
        *(Balance([1, 2, 0, 4, 1, 3, 0, 0.001], support, Z, weight=0.8) for support in SUPPORTS),
        Balance([1.0] * 8, SUPPORTS[0], (0.2, 1.0, -0.3), [(0.1, 0.0, 0.2)] * 8),
    ]
    here = pose_of(figure, rotations)
    for bound, is_stretched in product([goal.bound(figure) for goal in goals], (False, True)):
        seen: Any = loaded(bound)
        seen.let_stretch(is_stretched)
        seen.prepare(here)
        for k in range(len(seen.path)):
            for axis in (X, Y, Z):
                ways = []
                for sign in (STEP, -STEP):
                    i = seen.path[k]
                    rest: Q4 = tuple(here.rests[4 * i : 4 * i + 4])
                    turned = list(rotations)
                    turned[i] = multiplied(_in_frame(rest, axis, sign), rotations[i])
                    ways.append(seen.missing(pose_of(figure, turned)))
                change = scaled(minus(ways[1], ways[0]), 0.5 / STEP)
                assert distance(seen.move(here, k, axis), change) < 1e-6


@only_interpreted
def test_each_shift_is_the_change_of_its_goal() -> None:
    random = Random(6)
    rotations = posed(random, HUMAN)
    now = HUMAN.placed(rotations)
    hand, shin = INDEX["hand.L"], INDEX["shin.R"]
    goals: list[Goal] = [
        Point(hand, plus(now.ends[hand], (0.1, -0.2, 0.3)), weight=2.0),
        Point(hand, plus(now.ends[hand], (0.3, 0.2, -0.1)), 0.7, (0.1, -0.2, 0.05)),
        Facing(hand, now.frames[hand]),
        Aim(hand, Y, plus(now.heads[hand], scaled(rotated(now.frames[hand], Y), 0.6)), 1.5),
        Bend(shin, (0.2, -2.0, -0.4), 0.3, 0.6, root=INDEX["thigh.R"]),
        Point(hand, plus(now.ends[hand], (0.1, -2.0, 0.3)), soft=0.2, root=INDEX["upper_arm.L"]),
        *(Balance([1.0] * HUMAN.count, support, Z, weight=0.8) for support in SUPPORTS),
    ]
    here = pose_of(WALKING_HUMAN, rotations)
    for bound in (goal.bound(WALKING_HUMAN) for goal in goals):
        seen: Any = loaded(bound)
        seen.prepare(here)
        for axis in (X, Y, Z):
            ways = [seen.missing(pose_of(WALKING_HUMAN, rotations, scaled(axis, way))) for way in (STEP, -STEP)]
            change = scaled(minus(ways[1], ways[0]), 0.5 / STEP)
            assert distance(seen.shift(here, axis), change) < 1e-6


def _in_frame(rest: Q4, axis: V3, angle: float) -> Q4:
    """The turn about an axis of the solve space, as seen in a rest frame."""
    return multiplied(multiplied(conjugated(rest), turn_about(axis, angle)), rest)

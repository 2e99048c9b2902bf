# SPDX-License-Identifier: GPL-3.0-or-later
"""Input that no solve can use; run by itself, it tells what the kernel makes of it in the form that it then has."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from math import inf, nan
from typing import Any, TypeAlias

from fabrik_addon.kernel import (
    FREE,
    Aim,
    Balance,
    Bend,
    Cone,
    Facing,
    Figure,
    Help,
    Hinge,
    Joint,
    Locked,
    Planar,
    Point,
    Rows,
    Settings,
    Solver,
    Twist,
    Twisting,
)
from fabrik_addon.maths import IDENTITY

from dev.limbs import X, Y
from support.bodies import branching
from support.chains import LIMITED, goals_for

Case: TypeAlias = Callable[[], object]

HUGE = 10**30  # more than a C integer holds
BONE = Joint((0.0, 1.0, 0.0))
TURN = (1.0, 0.0, 0.0, 0.0)
LEG = LIMITED["leg"]
TREE = branching()
DOWN = (0.1, 0.0, -0.8)
wrong: Any = None  # what type checkers would refuse
LIST: Any = [0.0, 1.0, 0.0]


def figure_with(**changes: Any) -> Case:
    """A figure of two joints, the second with other fields."""
    return lambda: Figure([BONE, BONE._replace(**changes)])


def made(make: Callable[..., object], *arguments: object) -> Case:
    """A call with arguments that type checkers would refuse."""
    return lambda: make(*arguments)


def goal(kind: Any, **changes: Any) -> Case:
    """A goal of the second joint with other fields."""
    return lambda: kind(1, DOWN, **changes)


def two(**arguments: Any) -> Case:
    """A figure of two joints with other arguments."""
    return lambda: Figure([BONE, BONE], **arguments)


def solved(goals: Callable[[], Sequence[Any]], figure: Figure = LEG) -> Case:
    """A solve for goals."""
    return lambda: Solver(figure).solve(goals())


def solved_with(**settings: Any) -> Case:
    """A solve with other settings, for a target that can't be reached."""
    return lambda: Solver(LEG).solve(goals_for(LEG, (0.0, 0.1, -0.05)), Settings(**settings))


def asked(method: str, *arguments: Any, figure: Figure = LEG) -> Case:
    """A method of a solver."""
    return lambda: getattr(Solver(figure), method)(*arguments)


def blending(*influences: Any) -> Case:
    """A solved row blended with the start pose."""

    def case() -> None:
        solver, rows = Solver(LEG), Rows(LEG, goals_for(LEG, DOWN), 1)
        solver.solve_many(rows)
        solver.blend_rows(rows, influences)

    return case


# No chain, or none that hangs together: ChainError.
NO_CHAIN: dict[str, Case] = {
    "no joints": lambda: Figure([]),
    "no points": lambda: Figure.from_points([]),
    "one point": lambda: Figure.from_points([(0, 0, 0)]),
    "no length": lambda: Figure.from_points([(1, 1, 1), (1, 1, 1), (1, 1, 1)]),
    "no length that a square can hold": lambda: Figure.from_points([(0, 0, 0), (0, 1e-200, 0)]),
    "too many joints": lambda: Figure([BONE] * ((1 << 16) + 1)),
    "parents upside down": two(parents=(1, 0)),
    "a joint that hangs on itself": two(parents=(-1, 1)),
    "a joint that hangs on nothing": two(parents=(-1, -2)),
    "a joint that hangs on one far off": two(parents=(-1, HUGE)),
    "fewer parents": two(parents=(-1,)),
    "more parents": two(parents=(-1, 0, 1)),
    "fewer heads": two(heads=(None,)),
    "more heads": two(heads=(None, None, None)),
    "fewer limits than bones": lambda: Figure.from_points([(0, 0, 0), (0, 1, 0), (0, 2, 0)], [FREE]),
    "more limits than bones": lambda: Figure.from_points([(0, 0, 0), (0, 1, 0)], [FREE, FREE]),
    "a goal before the first joint": solved(lambda: [Point(-1, DOWN)]),
    "a goal behind the last joint": solved(lambda: [Point(2, DOWN)]),
    "a goal on a joint far off": solved(lambda: [Point(1 << 30, DOWN)]),
    "a goal in its own frame": solved(lambda: [Point(4, DOWN, frame=4)], TREE),
    "a goal in the frame of no joint": solved(lambda: [Point(4, DOWN, frame=400)], TREE),
    "help for what no figure has": lambda: Help(-1, 0.9),
    "a goal farther off than a number reaches": lambda: Solver(LEG).solve([Point(HUGE, DOWN)]),
    "a pole on no joint": solved(lambda: [Point(1, DOWN), Bend(2, DOWN)]),
    "a run that begins before the figure": solved(lambda: [Point(1, DOWN), Bend(1, DOWN, root=-1)]),
    "a run that begins far off": solved(lambda: [Point(1, DOWN), Bend(1, DOWN, root=1 << 30)]),
    "no goals": solved(lambda: []),
    "None for goals": lambda: Solver(LEG).solve(wrong),
    "no goals of rows": lambda: Rows(LEG, [], 1),
    "fewer rows than none": lambda: Rows(LEG, goals_for(LEG, DOWN), -1),
    "more rows than memory": lambda: Rows(LEG, goals_for(LEG, DOWN), 1 << 40),
    "more rows than a number holds": lambda: Rows(LEG, goals_for(LEG, DOWN), HUGE),
    "more influences than rows": blending(1.0, 1.0),
    "rows of another figure": lambda: Solver(LEG).solve_many(Rows(TREE, [Point(4, DOWN)], 1)),
    "rows of a figure that branches otherwise": lambda: Solver(LEG).solve_many(
        Rows(Figure([BONE, BONE], (-1, -1)), [Point(1, DOWN)], 1)
    ),
    "the reach of a tree": lambda: Solver(TREE).reach,
    "the limb of a tree": lambda: Solver(TREE).limb_reach,
    "the bend of a tree": asked("bend", [TURN] * 8, figure=TREE),
    "a tree pulled like a rope": asked("pulled", [TURN] * 8, DOWN, figure=TREE),
}

# Numbers that no solve can use: InvalidValueError.
NO_VALUE: dict[str, Case] = {
    **{f"a segment of {bad}": figure_with(segment=(0.0, bad, 0.0)) for bad in (nan, inf, -inf, 1e300)},
    "a segment of two numbers": figure_with(segment=(0.0, 1.0)),
    "a segment of four numbers": figure_with(segment=(0.0, 1.0, 0.0, 0.0)),
    "a point of two numbers": lambda: Figure.from_points([(0, 0, 0), (0, 1)]),
    "a point that is not finite": lambda: Figure.from_points([(0, 0, 0), (0, nan, 0)]),
    **{f"a rest rotation of {bad}": figure_with(rest=bad) for bad in ((0, 0, 0, 0), (nan, 0, 0, 0), (1, 0, 0))},
    **{f"a start rotation of {bad}": figure_with(start=bad) for bad in ((0, 0, 0, 0), (inf, 0, 0, 0), (1, 0, 0, 0, 0))},
    **{f"a base of {bad}": two(base=bad) for bad in ((0, 0, 0, 0), (0, 0, nan, 0), (1, 0, 0))},
    **{f"a stiffness of {bad}": figure_with(stiffness=bad) for bad in (nan, inf)},
    "a head that is not finite": two(heads=(None, (0, nan, 0))),
    "a head of two numbers": two(heads=(None, (0, 1))),
    "no limit": figure_with(limit=None),
    "a limit's name": figure_with(limit="FREE"),
    "a kind of limit": figure_with(limit=Hinge),
    **{f"a target of {bad}": made(Point, 1, (0.0, bad, 0.0)) for bad in (nan, inf, 1e19)},
    "a target of two numbers": lambda: Point(1, (0.0, 1.0)),
    "a target of four numbers": lambda: Point(1, (0.0, 1.0, 0.0, 0.0)),
    **{f"a weight of {bad}": made(Point, 1, DOWN, bad) for bad in (nan, inf, -0.5)},
    "an offset that is not finite": lambda: Point(1, DOWN, 1.0, (0, 0, inf)),
    "an offset of two numbers": lambda: Point(1, DOWN, 1.0, (0, 0)),
    **{f"a facing of {bad}": made(Facing, 1, bad) for bad in ((0, 0, 0, 0), (1, 0, 0), (nan, 0, 0, 1))},
    "an axis without length": lambda: Aim(1, (0, 0, 0), DOWN),
    "an axis that is not finite": lambda: Aim(1, (0, nan, 0), DOWN),
    "an aim that is not finite": lambda: Aim(1, Y, (0, nan, 0)),
    "a pole that is not finite": lambda: Bend(1, (0, inf, 0)),
    "a pole angle that is not finite": lambda: Bend(1, DOWN, nan),
    **{f"a direction of {bad}": goal(Bend, along=bad) for bad in ((0, 0, 0), (nan, 0, 0))},
    "an angle that fades by more than 1": goal(Bend, fades=1.5),
    **{f"a rank of {bad}": goal(Point, rank=bad) for bad in (-1, 5, 7)},
    **{f"a soft reach of {bad}": goal(Point, soft=bad) for bad in (-0.1, 1.1, nan)},
    "a stretch to less": goal(Point, stretch=0.9),
    "a root beside the way": solved(lambda: [Point(7, DOWN, soft=0.1, root=3)], TREE),
    **{f"a help of {bad}": made(Help, 1, bad) for bad in (1.5, -1.5)},
    **{f"masses of {bad}": made(Balance, bad, [DOWN]) for bad in ([], [0.0], [-1.0, 2.0], [nan])},
    "a balance on nothing": lambda: Balance([1.0], []),
    "a balance without an up": lambda: Balance([1.0], [DOWN], (0, 0, 0)),
    "masses of other joints": solved(lambda: [Balance([1.0] * 3, [DOWN])], TREE),
    "a run that does not lead to its end": solved(lambda: [Point(4, DOWN), Bend(4, DOWN, root=5)], TREE),
    **{f"a tolerance of {bad}": solved_with(tolerance=bad) for bad in (nan, inf, -inf)},
    "fewer rotations": lambda: LEG.placed([TURN]),
    "more rotations": lambda: LEG.placed([TURN] * 3),
    "a rotation that is not finite": lambda: LEG.placed([TURN, (nan, 0, 0, 0)]),
    "a rotation of three numbers": lambda: LEG.placed([TURN, (1, 0, 0)]),  # type: ignore[list-item]
    "a rotation that is zero": lambda: LEG.placed([TURN, (0, 0, 0, 0)]),
    **{
        f"{method} of fewer rotations": asked(method, [TURN], *rest)
        for method, rest in (
            ("pulled", (DOWN,)),
            ("bend", ()),
        )
    },
    **{f"an influence of {bad}": blending(bad) for bad in (nan, inf)},
    "pulled towards what is not finite": asked("pulled", [TURN] * 2, (0, nan, 0)),
    "a hinge about nothing": lambda: Hinge((0, 0, 0), -1, 1),
    "a hinge about what is not finite": lambda: Hinge((nan, 0, 0), -1, 1),
    "a hinge about two numbers": lambda: Hinge((1, 0), -1, 1),
    "a hinge upside down": lambda: Hinge(X, 1, -1),
    "a hinge to what is not finite": lambda: Hinge(X, -1, nan),
    "a hinge from a rotation that is zero": lambda: Hinge(X, -1, 1, (0, 0, 0, 0)),
    "a cone that is not finite": lambda: Cone.circular(nan),
    "a cone upside down": lambda: Cone.circular(0.5, 1.0),
    "a cone narrower than none": lambda: Cone(0.0, -1.0),
    "an ellipse with a least angle": lambda: Cone(0.1, 1.0, 1.0, 1.0, 0.5),
    "a planar limit about nothing": lambda: Planar((0, 0, 0), -1, 1),
    "a planar limit upside down": lambda: Planar(X, 1, -1),
    "a planar limit about the bone": lambda: Planar(Y, -1, 1),
    "a twist upside down": lambda: Twisting(Twist(1.0, -1.0)),
    "a twist that is not finite": lambda: Twisting(Twist(nan, 1.0)),
    "locked at a rotation that is zero": lambda: Locked((0, 0, 0, 0)),
    "None for a segment": figure_with(segment=None),
    "text for a segment": figure_with(segment="abc"),
    "None for a rest rotation": figure_with(rest=None),
    "None for a target": lambda: Point(1, wrong),
    "None in a target": lambda: Point(1, (0.0, None, 0.0)),  # type: ignore[arg-type]
    "None for a rotation": lambda: LEG.placed([TURN, wrong]),
    "None for a place to pull to": asked("pulled", [TURN] * 2, None),
    "None for a rotation to hold": lambda: LEG.joint_limits[1].clamped(wrong),
    "three numbers for a rotation to hold": made(LEG.joint_limits[1].clamped, (1.0, 0.0, 0.0)),
    "None for an angle": lambda: Hinge(X, wrong, 1.0),
    "a number for a range of twist": lambda: Twisting(1.0),  # type: ignore[arg-type]
}

# Not the object that an argument is meant to be: TypeError, by the words of Python, Cython or the kernel.
NO_OBJECT: dict[str, Case] = {
    "no figure": lambda: Solver(wrong),
    "joints for a figure": lambda: Solver([BONE]),  # type: ignore[arg-type]
    "no figure of rows": lambda: Rows(wrong, goals_for(LEG, DOWN), 1),
    "no rows": lambda: Solver(LEG).solve_many(wrong),
    "a goal for goals": lambda: Solver(LEG).solve(Point(1, DOWN)),  # type: ignore[arg-type]
    "another thing for a trace": asked("solve", goals_for(LEG, DOWN), Settings(), object()),
    "None for an influence": blending(wrong),
}

# Not what an argument is meant to be otherwise: TypeError, by the same words.
NO_TYPE: dict[str, Case] = {
    "no settings": lambda: Solver(LEG).solve(goals_for(LEG, DOWN), wrong),
    "settings that are a tuple": lambda: Solver(LEG).solve(
        goals_for(LEG, DOWN),
        (1e-4, 10, False, 8),  # type: ignore[arg-type]
    ),
    "None for joints": lambda: Figure(wrong),
    "None for a joint": lambda: Figure([BONE, wrong]),
    "a number for a joint": lambda: Figure([1]),  # type: ignore[list-item]
    "text for a stiffness": figure_with(stiffness="1"),
    "None for a stiffness": figure_with(stiffness=None),
    "a parent between two": two(parents=(-1, 0.5)),
    "None for a parent": two(parents=(-1, None)),
    "None for a weight": lambda: Point(1, DOWN, wrong),
    "None for an effector": lambda: Point(wrong, DOWN),
    "an effector between two": lambda: Point(0.5, DOWN),  # type: ignore[arg-type]
    "text for an effector": lambda: Point("1", DOWN),  # type: ignore[arg-type]
    "None for a pole angle": lambda: Bend(1, DOWN, wrong),
    "None for the root of a run": lambda: Bend(1, DOWN, root=wrong),
    "None for a goal": solved(lambda: [None]),
    "a number for a goal": solved(lambda: [1]),
    "a target for a goal": solved(lambda: [DOWN]),
    "None for passes": solved_with(max_passes=None),
    "text for restarts": solved_with(restarts="many"),
    "None for a tolerance": solved_with(tolerance=None),
    "None for rotations": lambda: LEG.placed(wrong),
    "text for a count of rows": lambda: Rows(LEG, goals_for(LEG, DOWN), "1"),  # type: ignore[arg-type]
    "a count of rows between two": lambda: Rows(LEG, goals_for(LEG, DOWN), 1.5),  # type: ignore[arg-type]
}

# What looks odd, and is taken.
TAKEN: dict[str, Case] = {
    "no tolerance": solved_with(tolerance=0.0),
    "a tolerance below zero": solved_with(tolerance=-1.0),
    "no passes": solved_with(max_passes=0),
    "fewer passes than none": solved_with(max_passes=-5),
    "more passes than a number holds": solved_with(max_passes=HUGE),
    "no restarts": solved_with(restarts=0),
    "fewer restarts than none": solved_with(restarts=-5),
    "as many restarts as can be": solved_with(restarts=HUGE),
    "no passes, plain": solved_with(max_passes=0, plain=True),
    "no weight": solved(lambda: [Point(1, DOWN, weight=0.0)]),
    "no weight at all": solved(lambda: [Point(4, DOWN, weight=0.0), Facing(1, TURN, weight=0.0)], TREE),
    "the same goal twice": solved(lambda: [Point(1, DOWN), Point(1, DOWN)]),
    "two poles": solved(lambda: [Point(1, DOWN), Bend(1, X), Bend(1, Y)]),
    "a pole without a target": solved(lambda: [Bend(1, X)]),
    "a pole along the line": solved(lambda: [Point(1, DOWN), Bend(1, DOWN)]),
    "a pole on the root": solved(lambda: [Point(1, DOWN), Bend(1, (0, 0, 0))]),
    "a target on the root": solved(lambda: [Point(1, (0, 0, 0)), Bend(1, X)]),
    "a place to aim at in the joint": solved(lambda: [Aim(0, Y, (0, 0, 0))]),
    "a target as far as numbers reach": solved(lambda: [Point(1, (1e18, 1e18, 1e18))]),
    "a stiffness beyond 1": lambda: Solver(Figure([BONE._replace(stiffness=2.0), BONE])).solve([Point(1, (1, 1, 0))]),
    "a stiffness below 0": lambda: Solver(Figure([BONE._replace(stiffness=-2.0), BONE])).solve([Point(1, (1, 1, 0))]),
    "a quaternion of another length": lambda: Solver(Figure([BONE, BONE._replace(start=(3.0, 0.4, 0, 0))])).solve(
        [Point(1, (1, 1, 0))]
    ),
    "a chain as short as can be": lambda: Solver(Figure([BONE._replace(segment=(0.0, 1e-150, 0.0))])).solve(
        [Point(0, (1e-150, 0, 0))]
    ),
    "whole numbers": lambda: Solver(Figure([Joint((0, 1, 0), IDENTITY), Joint((0, 1, 0))])).solve(
        [Point(1, (1, 1, 0))]
    ),
    "lists": solved(lambda: [Point(1, [1.0, 1.0, 0.0])], Figure([Joint(LIST), Joint(LIST)])),
    "all blended beyond the answer": blending(2.0),
    "all blended before the start pose": blending(-1.0),
}


def outcome(case: Case) -> list[str]:
    """The type of error and its words, or nothing where there is none."""
    try:
        case()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return []


def outcomes() -> dict[str, list[str]]:
    """What the kernel makes of every case."""
    return {name: outcome(case) for name, case in (NO_CHAIN | NO_VALUE | NO_OBJECT | NO_TYPE | TAKEN).items()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(outcomes()))

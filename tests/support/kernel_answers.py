# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel answers, to the last bit, as JSON: run by itself, it tells what the interpreted form answers.

FABRIK_INTERPRETED=1 python tests/support/kernel_answers.py limits
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import TypeAlias

from fabrik_addon.kernel import FORM, Limit, Solution, Solver, Step
from fabrik_addon.maths import scaled
from fabrik_addon.messages import Message
from fabrik_addon.rig.limit_types import limit_outline

from support.chains import LIMITED, random_rotations, random_vector
from support.kernel_families import Family, families
from support.limit_examples import EXAMPLES, limit_laws
from support.processes import python_path, run_process

Told: TypeAlias = bool | int | str | list["Told"] | dict[str, "Told"] | None


def told(value: object) -> Told:
    """A value with each float as its hexadecimal digits."""
    if isinstance(value, float):
        return value.hex()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Message):
        return str(value)
    if isinstance(value, dict):
        return {str(key): told(part) for key, part in value.items()}
    if isinstance(value, Iterable):
        return [told(part) for part in value]
    raise TypeError(f"{value!r} is no answer")


def solved(family: Family, case: int, trace: list[Step] | None = None) -> Solution:
    """The answer to a case of a family."""
    asked = family.ask(Random(case), family.figure, case)
    return Solver(family.figure).solve(asked, family.settings, trace)


def answers_of(family: Family, case: int) -> Told:
    """All that is told of a case of a family, and of it pass by pass."""
    trace = list[Step]()
    return told([solved(family, case, trace), trace])


def answers_of_families() -> dict[str, Told]:
    """Every family, each by another case."""
    return {name: answers_of(family, case) for case, (name, family) in enumerate(families().items())}


def solutions_of_families() -> list[Solution]:
    """The same as they are."""
    return [solved(family, case) for case, family in enumerate(families().values())]


def answers_of_limit(limit: Limit) -> Told:
    """What a limit makes of rotations, by its methods, and what it tells of itself."""
    own = (limit.dofs, limit.axis, limit.is_free, limit.is_fixed, limit_outline(limit).ends)
    found: dict[str, list[object]] = {"attributes": [*own]}
    for name, value in limit_laws(limit, 20):
        found.setdefault(name, []).append(value)
    return told(found)


def answers_of_limits() -> dict[str, Told]:
    """Every limit of the registry."""
    return {f"{kind} {i}": answers_of_limit(each) for kind, every in EXAMPLES.items() for i, each in enumerate(every)}


def answers_of_chain(name: str) -> Told:
    """What a solver tells besides solving."""
    chain, random = LIMITED[name], Random(4)
    solver = Solver(chain)
    found: list[object] = [solver.reach, solver.limb_reach, chain.size, chain.lengths, chain.starts]
    for _ in range(3):
        pose, target = random_rotations(random, chain), scaled(random_vector(random), 0.5 * chain.size)
        found += [chain.placed(pose), solver.bend(pose), solver.pulled(pose, target)]
    return told(found)


def answers_of_chains() -> dict[str, Told]:
    """Every limited chain."""
    return {name: answers_of_chain(name) for name in LIMITED}


PARTS: dict[str, Callable[[], dict[str, Told]]] = {
    "families": answers_of_families,
    "limits": answers_of_limits,
    "chains": answers_of_chains,
}


def run_interpreted(script: Path, *arguments: str) -> str:
    """What a script of this folder prints when it runs on the interpreted kernel.

    Raises:
        AssertionError: It ended by an error, or by a crash.
    """
    return run(script, {"FABRIK_INTERPRETED": "1"}, *arguments)


def run(script: Path, variables: dict[str, str], *arguments: str) -> str:
    """What a script of this folder prints, with other variables of the environment.

    Raises:
        AssertionError: It ended by an error, or by a crash.
    """
    ended = run_process([sys.executable, script, *arguments], {**python_path(*sys.path), **variables})
    assert ended.returncode == 0, f"{script.name} ended with {ended.returncode}: {ended.stderr[-2000:]}"
    return ended.stdout


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"form": FORM["kind"], "answers": PARTS[sys.argv[1]]()}))

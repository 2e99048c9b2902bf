# SPDX-License-Identifier: GPL-3.0-or-later
"""Renews the stored solves by which a binary of the kernel proves itself, from the interpreted form."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from environment import ROOT, CompileError, say

CHECK = """
from fabrik_addon import kernel
from fabrik_addon.kernel import loading
print(loading.first_difference(kernel))
"""
Answer = tuple[str, list[float]]  # a solve's status, and its numbers, the residual last
DIGITS = 9  # of the stored numbers after the point
NUDGE = 1e-13  # what places are stretched by, more than systems' sines differ
CODE = """
import json, sys
from fabrik_addon import kernel
from fabrik_addon.kernel import loading
print(json.dumps([list(loading.answers(kernel, 1.0 + stretch)) for stretch in map(float, sys.argv[1:])]))
"""


def renew_proof() -> None:
    """Solve the stored problems interpreted, and store the answers.

    Raises:
        CompileError: A problem is none to store: numbers a little different lead to another answer.
    """
    path = ROOT / "fabrik_addon" / "kernel" / "proof.json"
    answers_by_stretch: list[list[Answer]] = json.loads(_interpreted(CODE, "0", str(NUDGE), str(-NUDGE)))
    exact, *nudged = answers_by_stretch
    for index, (status, numbers) in enumerate(exact):
        for answers in nudged:
            other, others = answers[index]
            off = max(abs(a - b) for a, b in zip(numbers, others, strict=True))
            if status != other or off > 10.0**-DIGITS:
                raise CompileError(
                    f"stored problem {index} hangs on rounding ({status}, {other}, {off:.1e}): change it"
                )
        say(f"{index:2} {status:9} residual {numbers[-1]:.2e}")
    rows = [json.dumps([status, [round(number, DIGITS) for number in numbers]]) for status, numbers in exact]
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def check_proof() -> None:
    """See to it that the interpreted kernel solves as is stored, and a binary of the same sources so can.

    Raises:
        CompileError: It does not.
    """
    if _interpreted(CHECK).strip():
        raise CompileError(
            "the stored solves are not this kernel's; where that is meant: python3 scripts/build.py --proof"
        )


def _interpreted(code: str, *words: str) -> str:
    """What code prints that uses the interpreted kernel."""
    command = [sys.executable, "-c", code, *words]
    environment = {**os.environ, "FABRIK_INTERPRETED": "1", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"the interpreted kernel does not solve the stored problems:\n{done.stderr.strip()}")
    return done.stdout

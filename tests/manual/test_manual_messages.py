# SPDX-License-Identifier: GPL-3.0-or-later
"""What the manual quotes as messages is said by the extension, and each refusal of a solve is in the manual."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fabrik_addon.messages import TEMPLATES

from environment import ROOT
from support.manual_blocks import MANUAL

ADDON = ROOT / "fabrik_addon"
PAGE = (MANUAL / "not_reached.md").read_text(encoding="utf-8")
SOLVING = (
    "checks.py", "bones.py", "goals.py", "targets.py", "animation/channels.py", "figure/start_pose.py",
    "figure/joint_limits.py", "figure/goal_options.py", "figure/groups.py", "figure/reader.py", "figure/kinematics.py",
    "figure/chain_goals.py",
)  # fmt: skip
ELSEWHERE = {
    "it has no ik locks or limits, and keeps its joint limit",  # of buttons, whose reports say it
    "hangs on has no scale, so it can't be moved",
}
LEAST = 12  # letters of a text that can't stand on the page for something else
NO_NUMBER = "not a finite number"  # of whichever value; the page says it once


def pieces(node: ast.AST) -> Iterator[str]:
    """The texts that stand in an expression, or codes there for, in parts between values of template or f-string."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from re.split(r"\{[^{}]*\}", TEMPLATES.get(part.value, part.value).lower())


def quoted() -> list[str]:
    """What stands as a message in the first column of the page's tables, in runs between what varies."""
    rows = [line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| ")]
    return [text.lower() for row in rows for text in re.findall(r"\*([^*]+)\*", row)]


def test_what_is_quoted_is_said() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in ADDON.rglob("*.py")]
    said = "\n".join(piece for tree in trees for piece in pieces(tree))
    assert len(quoted()) > 60
    assert [text for text in quoted() if text not in said] == []


def test_each_refusal_of_a_solve_is_told() -> None:
    told = " ".join(PAGE.lower().replace("*", "").split())
    missing = []
    for name in SOLVING:
        tree = ast.parse((ADDON / "rig" / name).read_text(encoding="utf-8"))
        for raised in (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)):
            said = list(pieces(raised.args[0])) if isinstance(raised, ast.Call) else []
            texts = [text for piece in said if len(text := piece.strip(" ':,")) >= LEAST]
            if texts and not any(text in told or text in ELSEWHERE or NO_NUMBER in text for text in texts):
                missing.append(f"{name}: {texts}")
    assert missing == []

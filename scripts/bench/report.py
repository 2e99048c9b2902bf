# SPDX-License-Identifier: GPL-3.0-or-later
"""The measured tables as pages: all of them in bench/README.md, a few figures in the project's README.

Both are written between marks; what stands around them is left alone, and so is what groups say between them that were
not measured now.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dev.marked import between, write_between

from . import GROUPS
from .tables import Judged, Table, number, text_of

BEGIN = "<!-- written by scripts/benchmark.py --write -->"
MISSED, GOALS = "### Aims missed", "### Goals not reached yet"
HEADS = {heading: f"{heading}\n\n| what | figure | to be |\n| --- | ---: | ---: |\n" for heading in (MISSED, GOALS)}


class Pick(NamedTuple):
    """One figure for the project's README.

    Attributes:
        text: What it says.
        table: How the title of its table begins.
        row: Name of its row; "" for the sum of all rows.
        column: Of the figure.
        unit: Behind the figure.
    """

    text: str
    table: str
    row: str
    column: str
    unit: str = " x"


BESIDE_IK = "time compared with Blender's IK (smaller is better)"
PICKS = (
    Pick(f"One solve of a leg with a knee: {BESIDE_IK}", "1b.", "leg with knee", "over Blender"),
    Pick(f"Live frame, human of 53 bones with 5 goals: {BESIDE_IK}", "3b.", "character of 53 bones", "over Blender"),
    Pick("Bake of 64 chains over 1,000 frames: speed compared with `nla.bake`", "4.", "64 x 4 x 1000", "over nla.bake"),
    Pick("Human with joint limits, walking: standing feet that reach", "9a.", "human with limits", "REACHED %", " %"),
    Pick("Reachable targets missed under limits, of 20,000", "5a.", "", "missed", ""),
)


def write_group(key: str, found: Sequence[Table], tables: Path, readme: Path) -> None:
    """Renew what a group says between the marks of both pages; what other groups say there stays.

    Args:
        key: Of the group.
        found: Its tables.
        tables: The page with all tables.
        readme: The page with a few figures.

    Raises:
        MarksError: A page has no marks.
    """
    head, sections = _read(between(tables, BEGIN))
    summary = between(readme, BEGIN)
    parts = [part for table in found for part in (table.as_markdown(), f"<sub>{table.made}</sub>")]
    sections[key] = "\n\n".join([f"## {key}. {GROUPS[key][0]}", *parts])
    for heading, lines in head.items():
        missed = [f"| {' | '.join(miss)} |" for table in found for miss in table.missed(heading == GOALS)]
        head[heading] = [line for line in lines if _key(line) != key] + missed
    told = [
        HEADS[heading] + "\n".join(sorted(lines, key=lambda line: int(_key(line))))
        for heading, lines in head.items()
        if lines
    ]
    in_order = [sections[key] for key in sorted(sections, key=int)]
    write_between(tables, BEGIN, "\n\n".join([*(told or ["All aims hold, and all goals are reached."]), *in_order]))
    lines = [line for pick in PICKS if (line := _picked(pick, found, summary.splitlines()))]
    counts = [f"| Benchmark aims missed | {len(head[MISSED])} |", f"| Goals not reached yet | {len(head[GOALS])} |"]
    write_between(readme, BEGIN, "\n".join(["| measured | figure |", "| --- | ---: |", *lines, *counts]))


def _read(text: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The page as it was written: by heading the lines of what is missed, and by key the sections of groups."""
    head, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    lines: dict[str, list[str]] = {MISSED: [], GOALS: []}
    for part in re.split(r"^(?=### )", head, flags=re.MULTILINE):
        heading = part.partition("\n")[0]
        if heading in lines:
            lines[heading] = [line for line in part.splitlines() if _key(line)]
    return lines, {_key(section.replace("## ", "| ", 1)): section.strip() for section in sections}


def _key(line: str) -> str:
    """The key of the group with which a line of a table begins, as titles of tables do; or ""."""
    found = re.match(r"\| (\d+)", line)
    return found.group(1) if found else ""


def _picked(pick: Pick, tables: Sequence[Table], earlier: Sequence[str]) -> str:
    """The line of a figure; where it was not measured now, the line that stood there, if any."""
    table = next((table for table in tables if table.title.startswith(pick.table)), None)
    if table is None:
        return next((line for line in earlier if line.startswith(f"| {pick.text} ")), "")
    rows = [row for row in table.rows if not pick.row or next(iter(row.values())) == pick.row]
    cells = [row[pick.column] for row in rows]
    values = [cell.value if isinstance(cell, Judged) else cell for cell in cells]
    figures = [value for value in values if isinstance(value, int | float)]
    shown = number(sum(figures)) if figures else text_of(None)
    return f"| {pick.text} | {shown}{pick.unit} |"

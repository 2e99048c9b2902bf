# SPDX-License-Identifier: GPL-3.0-or-later
"""The measured tables as pages: all of them in bench/README.md, a few figures in the project's README.

Both are written between marks; what stands around them is left alone, and so is what a group says between them that was
not measured now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dev.marked import between, write_between

from .tables import NONE, Group, Judged, Row, Table, number, text_of

BEGIN = "<!-- written by scripts/benchmark.py --write -->"


@dataclass(frozen=True, slots=True)
class Pick:
    """One figure for the project's README.

    Attributes:
        text: What it says.
        group: Key of its group.
        table: Index of its table in the group.
        row: Name of its row.
        column: Of the figure.
        before: Column of the same figure of version 0.1.0.
        unit: Behind the figure.
    """

    text: str
    group: str
    table: int
    row: str
    column: str
    before: str = "before"
    unit: str = " x"


SUCCESS = "Reachable targets missed under limits, of"
BESIDE_IK = "time compared with Blender's IK (smaller is better)"
BESIDE_BAKE = "speed compared with `nla.bake`"
STAIRS = "human with joint limits: stairs"
LIVE_BODY = "live: the same five chains up to the hips"
NLA_BAKE = "as quick as nla.bake"
PICKS = (  # with what is counted besides six lines: few figures that tell most
    Pick(f"One solve of a leg with a knee: {BESIDE_IK}", "1", 1, "leg with knee", "over Blender"),
    Pick(f"Live frame, human of 53 bones with 5 goals: {BESIDE_IK}", "8", 3, LIVE_BODY, "over Blender"),
    Pick(f"Bake of 64 chains over 1,000 frames: {BESIDE_BAKE}", "4", 0, "64 x 4 x 1000", NLA_BAKE),
    Pick("Human with joint limits, up stairs: standing feet that reach", "9", 3, STAIRS, "REACHED %", unit=" %"),
)


@dataclass(slots=True)
class _Page:
    """The page of all tables.

    Attributes:
        missed: By key of a group what is not as it is to be, a line each.
        sections: By key the group's tables.
    """

    missed: dict[str, list[str]] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of it."""
        lines = [line for key in sorted(self.missed) for line in self.missed[key]]
        head = f"Of {self.judged} figures with an aim, {len(lines)} miss it."
        sections = [self.sections[key] for key in sorted(self.sections)]
        return "\n\n".join(["\n".join([head, "", *lines]).strip(), *sections])

    @property
    def judged(self) -> int:
        """How many figures have an aim."""
        return sum(_judged(section) for section in self.sections.values())

    @property
    def count_missed(self) -> int:
        """How many of them are not."""
        return sum(len(lines) for lines in self.missed.values())


def write_pages(groups: Mapping[str, Group], tables: Path, readme: Path) -> None:
    """Renew what groups say between the marks of both pages; what other groups say there stays.

    Raises:
        MarksError: A page has no marks.
    """
    page = _read(between(tables, BEGIN))
    for key, group in groups.items():
        page.missed[key] = [f"- {line}" for table in group.tables for line in table.missed()]
        page.sections[key] = _section(group)
    summary = _summary(groups, between(readme, BEGIN).splitlines(), page)
    write_between(tables, BEGIN, page.text)
    write_between(readme, BEGIN, summary)


def _read(text: str) -> _Page:
    """The page as it was written; each line of what is missed, and each heading, begins with the key of its group."""
    page = _Page()
    head, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    for line in head.splitlines():
        if line.startswith("- "):
            page.missed.setdefault(line[2], []).append(line)
    for section in sections:
        page.sections[section[3]] = section.strip()
    return page


def _section(group: Group) -> str:
    parts = [f"## {group.key}. {group.title}"]
    for table in group.tables:
        parts += [table.as_markdown(), f"<sub>{table.made}</sub>"]
    return "\n\n".join(parts)


def _judged(section: str) -> int:
    """How many figures of a section have an aim, which the head of a column says, or the column behind it."""
    count = 0
    for table in re.findall(r"(?:^\|.*\n?)+", section, flags=re.MULTILINE):
        head, _, *rows = (line.strip("| ").split(" | ") for line in table.splitlines())
        for column, name in enumerate(head):
            if re.search(r"\([≤≥] [^)]*\)$", name):
                count += len(rows)
            elif name == "to be":
                count += sum(row[column] != NONE for row in rows)
    return count


def _summary(groups: Mapping[str, Group], earlier: Sequence[str], page: _Page) -> str:
    lines = ["| measured | now | 0.1.0 |", "| --- | ---: | ---: |"]
    for pick in PICKS:
        row = _row(groups, pick)
        if row is None:
            lines += _found(earlier, pick.text, pick.group in groups)
            continue
        then = row.get(pick.before)
        before = text_of(then) + (pick.unit if then is not None else "")
        lines.append(f"| {pick.text} | {_plain(row, pick.column)}{pick.unit} | {before} |")
    lines += _success(groups) or _found(earlier, SUCCESS, "6" in groups)
    return "\n".join([*lines, f"| Benchmark aims missed, of {page.judged} | {page.count_missed} | |"])


def _found(earlier: Sequence[str], text: str, is_measured: bool) -> list[str]:
    """The line of the page that says something, unless it is no longer so."""
    return [line for line in earlier if line.startswith(f"| {text}") and not is_measured]


def _row(groups: Mapping[str, Group], pick: Pick) -> Row | None:
    rows = groups[pick.group].tables[pick.table].rows if pick.group in groups else []
    return next((row for row in rows if next(iter(row.values())) == pick.row), None)


def _plain(row: Row, column: str) -> str:
    """A figure without the mark that it is missed, which stands in the full table."""
    cell = row[column]
    return number(cell.value) if isinstance(cell, Judged) else text_of(cell)


def _success(groups: Mapping[str, Group]) -> list[str]:
    """What is counted over the rows of table 6c."""
    table = _table(groups, "6", "6c.")
    if table is None:
        return []
    missed, targets = _sum(table, "missed"), _sum(table, "targets")
    return [f"| {SUCCESS} {number(targets)} | {number(missed)} | 2 |"]


def _table(groups: Mapping[str, Group], key: str, title: str) -> Table | None:
    tables = groups[key].tables if key in groups else []
    return next((table for table in tables if table.title.startswith(title)), None)


def _sum(table: Table, column: str) -> float:
    return sum(_value(row, column) for row in table.rows)


def _value(row: Row, column: str) -> float:
    cell = row[column]
    value = cell.value if isinstance(cell, Judged) else cell
    assert isinstance(value, int | float)
    return value

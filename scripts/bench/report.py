# SPDX-License-Identifier: GPL-3.0-or-later
"""The measured tables as pages: all of them in bench/README.md, a few figures in the project's README.

Both are written between marks; what stands around them is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .tables import Group, Judged, Row, Table, number, text_of

BEGIN, END = "<!-- written by scripts/benchmark.py --write -->", "<!-- up to here -->"


class MarksError(Exception):
    """A page has no marks between which to write."""


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


HUMAN = "human_game_engine"
LIVE_BODY = "live: the same five chains up to the hips"
PICKS = (
    Pick("One solve, 4 bones at 0.9 of reach: time over compiled plain FABRIK", "1", 0, "4 bones at 0.9", "ratio"),
    Pick("The same, 10 bones at 0.998 of reach", "1", 0, "10 bones at 0.998", "ratio"),
    Pick("One solve, leg with a knee: time over Blender's IK", "1", 1, "leg with knee", "over Blender"),
    Pick("2,048 solves, leg with a knee: time over compiled plain FABRIK", "2", 0, "leg with knee", "ratio"),
    Pick("Live frame, 8 chains of 10 bones: time over Blender's IK", "3", 0, "8 x 10", "over Blender"),
    Pick("Live frame, 64 chains of 10 bones", "3", 0, "64 x 10", "over Blender"),
    Pick("Live frame, 8 chains that deform 40,000 vertices", "3", 0, "8 x 4, 40000 vertices", "over Blender"),
    Pick(
        "Bake of 64 chains over 1,000 frames: as quick as `nla.bake`", "4", 0, "64 x 4 x 1000", "as quick as nla.bake"
    ),
    Pick("Human of 52 joints with 12 goals, of 1,000 poses: met", "8", 0, f"{HUMAN}, 12 places", "met %", unit=" %"),
    Pick("Live frame, human of 53 bones with 5 goals: time over Blender's IK", "8", 3, LIVE_BODY, "over Blender"),
)


def write_pages(groups: Mapping[str, Group], tables: Path, readme: Path) -> None:
    """Renew what stands between the marks of both pages.

    Raises:
        MarksError: A page has no marks.
    """
    _write_between(tables, "\n\n".join([_missed(groups), *(_section(groups[key]) for key in sorted(groups))]))
    _write_between(readme, _summary(groups))


def _write_between(page: Path, text: str) -> None:
    whole = page.read_text(encoding="utf-8")
    if whole.count(BEGIN) != 1 or whole.count(END) != 1:
        raise MarksError(f"{page} has no '{BEGIN}' and '{END}', or more than one")
    head, rest = whole.split(BEGIN)
    tail = rest.split(END)[1]
    page.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")


def _section(group: Group) -> str:
    parts = [f"## {group.key}. {group.title}"]
    for table in group.tables:
        parts += [table.as_markdown(), f"<sub>{table.made}</sub>"]
    return "\n\n".join(parts)


def _missed(groups: Mapping[str, Group]) -> str:
    """What is not as it is to be, above all tables."""
    missed, count = _judged(groups)
    head = f"Of {count} figures that are to be something, {len(missed)} are not"
    return "\n".join([f"{head}.", "", *(f"- {line}" for line in missed)]).strip()


def _judged(groups: Mapping[str, Group]) -> tuple[list[str], int]:
    """What is missed, in words, and how many figures are to be something."""
    tables = [table for key in sorted(groups) for table in groups[key].tables]
    return [line for table in tables for line in table.missed()], sum(table.judged() for table in tables)


def _summary(groups: Mapping[str, Group]) -> str:
    lines = ["| measured | now | 0.1.0 |", "| --- | ---: | ---: |"]
    for pick in PICKS:
        row = _row(groups, pick)
        if row is not None:
            then = row.get(pick.before)
            earlier = text_of(then) + (pick.unit if then is not None else "")
            lines.append(f"| {pick.text} | {_plain(row, pick.column)}{pick.unit} | {earlier} |")
    missed, count = _judged(groups)
    return "\n".join(
        [*lines, *_counted(groups), f"| Figures that miss what they were to be, of {count} | {len(missed)} | |"]
    )


def _row(groups: Mapping[str, Group], pick: Pick) -> Row | None:
    rows = groups[pick.group].tables[pick.table].rows if pick.group in groups else []
    return next((row for row in rows if next(iter(row.values())) == pick.row), None)


def _plain(row: Row, column: str) -> str:
    """A figure without the mark that it is missed, which stands in the full table."""
    cell = row[column]
    return number(cell.value) if isinstance(cell, Judged) else text_of(cell)


def _counted(groups: Mapping[str, Group]) -> list[str]:
    """Figures that are counted over the rows of a table."""
    lines = []
    success = _table(groups, "6", "6c.")
    if success is not None:
        missed, targets = _sum(success, "missed"), _sum(success, "targets")
        lines.append(f"| Reachable targets missed under limits, of {number(targets)} | {number(missed)} | 2 |")
    families = _table(groups, "7", "7a.")
    if families is not None:
        worst = max(_value(row, "ratio") for row in families.rows)
        text = (
            f"Farther from targets out of reach than scipy's nearest pose, worst of {len(families.rows)} kinds of limbs"
        )
        lines.append(f"| {text} | {number(worst)} x | 1.5 x |")
    return lines


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

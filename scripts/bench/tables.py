# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of measured figures, printed and written as Markdown; a figure that misses its aim or its goal says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

FIRST_DIGITS = 3
NONE = "-"


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure, and what it is to be at most or at least; without either it is shown like any other.

    Attributes:
        value: The figure.
        at_most: What it is to be at most.
        at_least: What it is to be at least.
        is_goal: Whether that is a goal, which is still to be reached, and not an aim, which has to hold.
    """

    value: float
    at_most: float | None = None
    at_least: float | None = None
    is_goal: bool = False

    @property
    def is_missed(self) -> bool:
        """Whether the figure is not what it is to be."""
        too_much = self.at_most is not None and not self.value <= self.at_most
        too_little = self.at_least is not None and not self.value >= self.at_least
        return too_much or too_little

    @property
    def target(self) -> str:
        """What it is to be."""
        if self.at_most is not None:
            return f"≤ {number(self.at_most)}"
        return f"≥ {number(self.at_least)}" if self.at_least is not None else NONE


Cell: TypeAlias = str | int | float | Judged | None
Row: TypeAlias = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        title: What it shows.
        note: How it was measured, and what its columns mean.
        rows: Figures by column; all rows have the same columns, the first of which names the row.
        made: In which run: versions, form of the kernel, counts.
    """

    title: str
    note: str
    rows: list[Row]
    made: str = ""

    def missed(self, goals: bool = False) -> Iterator[tuple[str, str, str]]:
        """Each figure that misses its aim, or its goal: what it is, the figure, and what it is to be."""
        for row in self.rows:
            for column, cell in row.items():
                if isinstance(cell, Judged) and cell.is_missed and cell.is_goal == goals:
                    yield f"{self.title}: {next(iter(row.values()))}, {column}", number(cell.value), cell.target

    def as_text(self) -> str:
        """For a terminal, columns in line."""
        lines = self._lines(bold="")
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        aligned = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        return "\n".join([f"\n{self.title}\n", *aligned])

    def as_markdown(self) -> str:
        """For a page."""
        head, *body = self._lines(bold="**")
        rule = ["---", *["---:"] * (len(head) - 1)]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (head, rule, *body)]
        return "\n".join([f"### {self.title}", "", *([self.note, ""] if self.note else []), *lines])

    def _lines(self, bold: str) -> list[list[str]]:
        """Head and rows as texts; a judged column says in its head, or in a column behind it, what it is to be."""
        names = list(self.rows[0])
        targets = {name: [_target(row[name]) for row in self.rows] for name in names}
        apart = {name for name in names if len(set(targets[name])) > 1}
        lines: list[list[str]] = [[]]
        for name in names:
            is_same = name not in apart and targets[name][0] != NONE
            lines[0] += _with(f"{name} ({targets[name][0]})" if is_same else name, "to be", name in apart)
        for i, row in enumerate(self.rows):
            cells = [(text_of(row[name], bold), targets[name][i], name in apart) for name in names]
            lines.append([text for cell in cells for text in _with(*cell)])
        return lines


def _with(cell: str, target: str, is_apart: bool) -> list[str]:
    """A cell, and what it is to be where the rows differ in that."""
    return [cell, target] if is_apart else [cell]


def _target(cell: Cell) -> str:
    return cell.target if isinstance(cell, Judged) else NONE


def number(value: float | None) -> str:
    """Three digits that count, and all of a whole number."""
    if value is None:
        return NONE
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e6):
        return str(int(value))
    return f"{value:.{FIRST_DIGITS}g}" if abs(value) < 1000.0 else f"{value:.0f}"


def text_of(cell: Cell, bold: str = "") -> str:
    """A cell as a text; a missed figure says so."""
    if cell is None:
        return NONE
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Judged):
        missed = f"{bold}{number(cell.value)} missed{bold}"
        return missed if cell.is_missed and not cell.is_goal else number(cell.value)
    return number(cell)


def at_most(value: float, row: str, aim: float | None, goals: Mapping[str, float]) -> Judged:
    """A figure of a row: what it is to be at most is the row's goal, where it has one, else the aim of all rows."""
    return Judged(value, at_most=goals.get(row, aim), is_goal=row in goals)


def worst_of(values: Sequence[float]) -> float:
    """The greatest of some errors; 0 where there are none."""
    return max(values, default=0.0)


def percentile(values: Sequence[float], share: int) -> float:
    """The value below which a share, in hundredths, of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share / 100))]

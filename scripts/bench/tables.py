# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of measured figures: printed, written as Markdown, kept as JSON; a figure that misses its goal says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias

FIRST_DIGITS = 3
NONE = "-"


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure, and what it is to be at most or at least; without either it is shown like any other."""

    value: float
    at_most: float | None = None
    at_least: float | None = None

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

    def missed(self) -> list[str]:
        """Each figure that is not what it is to be, in words."""
        return [
            f"{self.title}: {_label(row)}, {column} {number(cell.value)}, to be {cell.target}"
            for row in self.rows
            for column, cell in row.items()
            if isinstance(cell, Judged) and cell.is_missed
        ]

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
        head = [_headed(name, targets[name][0] if name not in apart else NONE) for name in names]
        lines = [[text for name, cell in zip(names, head, strict=True) for text in _with(cell, "to be", name in apart)]]
        for i, row in enumerate(self.rows):
            cells = [(text_of(row[name], bold), targets[name][i], name in apart) for name in names]
            lines.append([text for cell in cells for text in _with(*cell)])
        return lines


@dataclass(slots=True)
class Group:
    """The tables of one subject.

    Attributes:
        key: By which it is chosen on the command line.
        title: Its heading.
        tables: Its tables.
    """

    key: str
    title: str
    tables: list[Table] = field(default_factory=list)


def _label(row: Row) -> str:
    return str(next(iter(row.values())))


def _headed(name: str, target: str) -> str:
    """The head of a column, with what all of its figures are to be."""
    return name if target == NONE else f"{name} ({target})"


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
        return missed if cell.is_missed else number(cell.value)
    return number(cell)


def to_json(group: Group) -> dict[str, object]:
    """A group as plain data."""
    return asdict(group)


def from_json(data: Mapping[str, object]) -> Group:
    """The group that `to_json` told of."""
    tables = data["tables"]
    assert isinstance(tables, list)
    found = []
    for table in tables:
        rows = [{name: _cell_from(cell) for name, cell in row.items()} for row in table["rows"]]
        found.append(Table(str(table["title"]), str(table["note"]), rows, str(table["made"])))
    return Group(str(data["key"]), str(data["title"]), found)


def _cell_from(cell: object) -> Cell:
    if isinstance(cell, dict):
        return Judged(**cell)
    assert cell is None or isinstance(cell, str | int | float)
    return cell


def worst_of(values: Sequence[float]) -> float:
    """The greatest of some errors; 0 where there are none."""
    return max(values, default=0.0)


def percentile(values: Sequence[float], share: int) -> float:
    """The value below which a share, in hundredths, of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share / 100))]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of measured figures, printed and as pages, and the time of contenders who are taken in turn.

A figure that misses its aim or its goal says so. All tables are in bench/README.md, a few figures in the project's
README and in the manual's page about speed. All are written between marks; what stands around them is left alone, and
so is what groups say between them that were not measured now. What slows the machine for a while slows all contenders.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import bpy

from blender import quiet
from dev.marked import between, write_between

from . import GROUPS

FIRST_DIGITS = 3
NONE = "-"


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure, and what it is to be at most or at least; without either it is shown like any other."""

    value: float  # the figure
    at_most: float | None = None  # what it is to be at most
    at_least: float | None = None  # what it is to be at least
    is_goal: bool = False  # whether that is a goal, which is still to be reached, and not an aim, which has to hold

    @property
    def is_missed(self) -> bool:
        """Whether the figure is not what it is to be."""
        too_much = self.at_most is not None and not self.value <= self.at_most
        too_little = self.at_least is not None and not self.value >= self.at_least
        return too_much or too_little

    @property
    def excess(self) -> float:
        """How far from it: the share of what it is to be by which it is off, or by how much where that is 0."""
        aim = self.at_most if self.at_most is not None else self.at_least or 0.0
        return abs(self.value - aim) / abs(aim or 1.0)

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
    """One table."""

    title: str  # what it shows
    note: str  # how it was measured, and what its columns mean
    rows: list[Row]  # figures by column; all rows have the same columns, the first of which names the row
    made: str = ""  # in which run: versions, form of the kernel, counts

    def missed(self, goals: bool = False) -> Iterator[tuple[str, str, str, str]]:
        """Each column with figures that miss aims, or goals: what, how many of all, the worst, what that is to be."""
        for column in self.rows[0]:
            judged = [
                (row, cell) for row in self.rows if isinstance(cell := row[column], Judged) and cell.target != NONE
            ]
            missed = [(row, cell) for row, cell in judged if cell.is_missed and cell.is_goal == goals]
            if missed:
                row, worst = max(missed, key=lambda one: one[1].excess)
                told = f"{number(worst.value)} ({next(iter(row.values()))})"
                yield f"{self.title}: {column}", f"{len(missed)} of {len(judged)}", told, worst.target

    def as_text(self) -> str:
        """For a terminal, columns in line."""
        aligned: list[list[str]] = []
        for column in self._columns():
            width = max(map(len, column))
            aligned.append([cell.rjust(width) if aligned else cell.ljust(width) for cell in column])
        return "\n".join([f"\n{self.title}\n", *map("  ".join, zip(*aligned, strict=True))])

    def as_markdown(self) -> str:
        """For a page."""
        head, *body = zip(*self._columns(bold="**"), strict=True)
        rule = ["---", *["---:"] * (len(head) - 1)]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (head, rule, *body)]
        return "\n".join([f"### {self.title}", "", *([self.note, ""] if self.note else []), *lines])

    def _columns(self, bold: str = "") -> list[list[str]]:
        """Heads and figures as texts; a judged column says in its head, or in a column behind it, what it is to be."""
        columns: list[list[str]] = []
        for name in self.rows[0]:
            cells = [row[name] for row in self.rows]
            targets = [cell.target if isinstance(cell, Judged) else NONE for cell in cells]
            is_apart = len(set(targets)) > 1
            head = name if is_apart or targets[0] == NONE else f"{name} ({targets[0]})"
            columns.append([head, *(text_of(cell, bold) for cell in cells)])
            if is_apart:
                columns.append(["to be", *targets])
        return columns


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


# ---- pages

BEGIN = "<!-- written by scripts/benchmark.py --write -->"
MISSED, GOALS = "### Aims missed", "### Goals not reached yet"
COLUMNS = "| what | rows | the worst | to be |\n| --- | ---: | ---: | ---: |\n"
HEADS = {heading: f"{heading}\n\n{COLUMNS}" for heading in (MISSED, GOALS)}


BESIDE_IK = "time compared with Blender's IK (smaller is better)"
Picks: TypeAlias = dict[str, tuple[str, str, str, str]]
# Figures for other pages: what each says; how the title of its table begins, the name of its row, "" for the sum of
# all, and its column; and its unit. Those of the project's README, and of the manual's page about speed.
PICKS: Picks = {
    f"One solve of a leg with a knee: {BESIDE_IK}": ("1b.", "leg", "over Blender", " x"),
    f"Live frame, human of 53 bones with 5 goals: {BESIDE_IK}": ("3b.", "character of 53 bones", "over Blender", " x"),
    "Bake of 64 chains over 1,000 frames: speed compared with `nla.bake`": (
        "4.",
        "64 x 4 x 1000",
        "over nla.bake",
        " x",
    ),
    "Human with joint limits, walking: standing feet that reach": ("9a.", "human with limits", "REACHED %", " %"),
    "Reachable targets missed under limits, of 20,000": ("5a.", "", "missed", ""),
}
SPEED: Picks = {
    "One chain of 4 bones": ("3a.", "1 x 4", "anew", " ms"),
    "The same, played again": ("3a.", "1 x 4", "live", " ms"),
    "64 chains of 4 bones, each solved by itself": ("3a.", "64 x 4", "anew", " ms"),
    "These, played again": ("3a.", "64 x 4", "live", " ms"),
    "A human of 53 bones with five goals, hips fixed": ("3b.", "character of 53 bones", "anew", " ms"),
    "The human, played again": ("3b.", "character of 53 bones", "live", " ms"),
    "The human, played again, with hips that move and feet that are pinned": (
        "3b.",
        "character of 53 bones",
        "body",
        " ms",
    ),
    "A planned walk of a spider with eight legs of three bones": (
        "9b.",
        "playing the planned walk live",
        "ms a frame",
        " ms",
    ),
    "The same walk, baked to keys": ("9b.", "playing the walk baked into the bones", "ms a frame", " ms"),
}


def write_group(key: str, found: Sequence[Table], tables: Path, readme: Path, speed: Path) -> None:
    """Renew what a group says between the marks of all pages; what other groups say there stays.

    Args:
        key: Of the group.
        found: Its tables.
        tables: The page with all tables.
        readme: The page with a few figures.
        speed: The page with a few figures about speed.

    Raises:
        MarksError: A page has no marks.
    """
    head, sections = _read(between(tables, BEGIN))
    earlier = {page: between(page, BEGIN).splitlines() for page in (readme, speed)}
    parts = [part for table in found for part in (table.as_markdown(), f"<sub>{table.made}</sub>")]
    sections[key] = "\n\n".join([f"## {key}. {GROUPS[key][0]}", *parts])
    for heading, lines in head.items():
        missed = [f"| {' | '.join(miss)} |" for table in found for miss in table.missed(heading == GOALS)]
        head[heading] = [line for line in lines if _key(line) != key] + missed
        head[heading].sort(key=lambda line: int(_key(line)))
    told = [HEADS[heading] + "\n".join(lines) for heading, lines in head.items() if lines]
    in_order = [sections[key] for key in sorted(sections, key=int)]
    write_between(tables, BEGIN, "\n\n".join([*(told or ["All aims hold, and all goals are reached."]), *in_order]))
    counts = [
        f"| Kinds of figures that miss their aim | {len(head[MISSED])} |",
        f"| Kinds of figures with a goal not reached yet | {len(head[GOALS])} |",
    ]
    for page, picks, last in ((readme, PICKS, counts), (speed, SPEED, [])):
        lines = [line for text, pick in picks.items() if (line := _picked(text, pick, found, earlier[page]))]
        write_between(page, BEGIN, "\n".join(["| measured | figure |", "| --- | ---: |", *lines, *last]))


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


def _picked(text: str, pick: tuple[str, str, str, str], tables: Sequence[Table], earlier: Sequence[str]) -> str:
    """The line of a figure; where it was not measured now, the line that stood there, if any."""
    title, name, column, unit = pick
    table = next((table for table in tables if table.title.startswith(title)), None)
    if table is None:
        return next((line for line in earlier if line.startswith(f"| {text} ")), "")
    cells = [row[column] for row in table.rows if not name or next(iter(row.values())) == name]
    values = [cell.value if isinstance(cell, Judged) else cell for cell in cells]
    figures = [value for value in values if isinstance(value, int | float)]
    return f"| {text} | {number(sum(figures)) if figures else NONE}{unit} |"


# ---- timing

LEAST_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of contenders."""

    rounds: list[tuple[float, ...]]  # for each round the seconds of each contender

    def seconds(self, contender: int) -> float:
        """The median of a contender's rounds."""
        return median(times[contender] for times in self.rounds)

    def ratio(self, contender: int, other: int) -> float:
        """The median of how many times as long as another a contender took in the same round."""
        return median(times[contender] / times[other] for times in self.rounds)


def timed(work: Callable[[], object]) -> float:
    """How many seconds something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: all, or just enough to see that it works."""

    is_quick: bool  # whether it is the least
    folder: Path  # for files that are opened and thrown away

    def of(self, full: int, quick: int) -> int:
        """One of two counts."""
        return quick if self.is_quick else full

    def interleaved(self, *contenders: Callable[[], object], rounds: int = 1001, seconds: float = 4.0) -> Timing:
        """Let contenders run in turn, round by round; each has run once before, so that nothing is made in the first.

        Args:
            contenders: What is timed.
            rounds: Greatest number of rounds.
            seconds: After which no more rounds are begun, once there were enough for a median.
        """
        for contender in contenders:
            contender()
        most, begun = 0.05 * seconds if self.is_quick else seconds, time.perf_counter()
        found: list[tuple[float, ...]] = []
        while len(found) < rounds:
            found.append(tuple(timed(contender) for contender in contenders))
            if len(found) >= min(LEAST_ROUNDS, rounds) and time.perf_counter() - begun > most:
                break
        return Timing(found)

    def save(self, name: str) -> None:
        """Save what is open as a file of the folder."""
        with quiet():
            bpy.ops.wm.save_as_mainfile(filepath=str(self.folder / f"{name}.blend"), compress=False)

    def opened(self, name: str) -> Any:
        """The armature object of a file of the folder, which is opened."""
        with quiet():
            bpy.ops.wm.open_mainfile(filepath=str(self.folder / f"{name}.blend"), load_ui=False)
        return next(found for found in bpy.data.objects if found.type == "ARMATURE")


def play(frames: range) -> None:
    """Go through frames of the open file."""
    scene: Any = bpy.context.scene
    for frame in frames:
        scene.frame_set(frame)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables that the demo prints, put between the marks of a page: one pair of marks for each table."""

from __future__ import annotations

from pathlib import Path

from dev.marked import MarksError, write_between

NAMES = ("rig", "body", "walk", "character")  # the first word of each table's head


def mark_of(name: str) -> str:
    """The mark that stands before a table in a page."""
    return f"<!-- table of {name}, written by scripts/demo.py --readme -->"


def tables_of(printed: str) -> dict[str, str]:
    """What the demo printed, as its tables by name; an empty line ends a table.

    Raises:
        MarksError: A table was not printed.
    """
    found: dict[str, str] = {}
    for block in printed.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if lines and lines[0].split()[0] in NAMES:
            found[lines[0].split()[0]] = "\n".join(f"    {line}" for line in lines)
    missing = [name for name in NAMES if name not in found]
    if missing:
        raise MarksError(f"the demo did not print its table of {', '.join(missing)}")
    return found


def write_tables(page: Path, printed: str) -> None:
    """Put what the demo printed into a page.

    Raises:
        MarksError: A table was not printed, or the page has no marks for it.
    """
    for name, table in tables_of(printed).items():
        write_between(page, mark_of(name), table)

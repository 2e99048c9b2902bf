# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of pages that scripts write: what stands between two marks; what stands around them is left alone."""

from __future__ import annotations

from pathlib import Path

END = "<!-- up to here -->"
NAMES = ("rig", "body", "walk", "character", "posed")  # the first word of the head of each table that the demo prints


class MarksError(Exception):
    """A page has no marks between which to write."""


def between(page: Path, begin: str) -> str:
    """What stands between the marks of a page.

    Args:
        page: The file.
        begin: The first mark, which the page has once; the part reaches to the next `END`.

    Raises:
        MarksError: The page has no such part, or more than one.
    """
    return _parted(page, begin)[1]


def with_between(page: Path, begin: str, text: str) -> str:
    """The whole page, with something else between its marks.

    Raises:
        MarksError: The page has no such part, or more than one.
    """
    head, _, tail = _parted(page, begin)
    return f"{head}{begin}\n\n{text}\n\n{END}{tail}"


def write_between(page: Path, begin: str, text: str) -> None:
    """Put a text between the marks of a page.

    Raises:
        MarksError: The page has no such part, or more than one.
    """
    page.write_text(with_between(page, begin, text), encoding="utf-8")


def mark_of(name: str) -> str:
    """The mark that stands before a table of the demo in a page."""
    return f"<!-- table of {name}, written by scripts/demo.py --readme -->"


def write_tables(page: Path, printed: str) -> None:
    """Put what the demo printed into a page, each table, which an empty line ends, between marks of its own.

    Raises:
        MarksError: A table was not printed, or the page has no marks for it.
    """
    blocks = [block.strip("\n").splitlines() for block in printed.split("\n\n")]
    tables = {lines[0].split()[0]: "\n".join(f"    {line}" for line in lines) for lines in blocks if lines}
    missing = [name for name in NAMES if name not in tables]
    if missing:
        raise MarksError(f"the demo did not print its table of {', '.join(missing)}")
    for name in NAMES:
        write_between(page, mark_of(name), tables[name])


def _parted(page: Path, begin: str) -> tuple[str, str, str]:
    """What stands before the first mark, between the marks, and after the second one."""
    head, *rest = page.read_text(encoding="utf-8").split(begin)
    if len(rest) != 1 or END not in rest[0]:
        raise MarksError(f"{page} has no '{begin}' with '{END}' after it, or more than one")
    inside, tail = rest[0].split(END, 1)
    return head, inside, tail

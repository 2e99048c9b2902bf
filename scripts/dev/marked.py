# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of pages that scripts write: what stands between two marks; what stands around them is left alone."""

from __future__ import annotations

from pathlib import Path

END = "<!-- up to here -->"


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


def _parted(page: Path, begin: str) -> tuple[str, str, str]:
    """What stands before the first mark, between the marks, and after the second one."""
    head, *rest = page.read_text(encoding="utf-8").split(begin)
    if len(rest) != 1 or END not in rest[0]:
        raise MarksError(f"{page} has no '{begin}' with '{END}' after it, or more than one")
    inside, tail = rest[0].split(END, 1)
    return head, inside, tail

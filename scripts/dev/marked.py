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
        begin: The first mark; the other one is `END`.

    Raises:
        MarksError: The page does not have each of them once.
    """
    whole = page.read_text(encoding="utf-8")
    if whole.count(begin) != 1 or whole.count(END) != 1:
        raise MarksError(f"{page} has no '{begin}' and '{END}', or more than one")
    return whole.split(begin)[1].split(END)[0]


def with_between(page: Path, begin: str, text: str) -> str:
    """The whole page, with something else between its marks.

    Raises:
        MarksError: The page does not have each of them once.
    """
    between(page, begin)
    head, rest = page.read_text(encoding="utf-8").split(begin)
    return f"{head}{begin}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def write_between(page: Path, begin: str, text: str) -> None:
    """Put a text between the marks of a page.

    Raises:
        MarksError: The page does not have each of them once.
    """
    page.write_text(with_between(page, begin, text), encoding="utf-8")

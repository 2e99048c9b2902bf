# SPDX-License-Identifier: GPL-3.0-or-later
"""The code blocks of the manual's pages and of the README: fenced ones by their language, and indented ones."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from environment import ROOT

MANUAL = ROOT / "fabrik_addon" / "manual"
PAGES = (*sorted(MANUAL.glob("*.md")), ROOT / "README.md", *sorted((ROOT / "scripts" / "schedulers").rglob("*.md")))
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n)+")
INLINE = re.compile(r"(?<!`)`((?:blender|python3?) [^`]+)`(?!`)")
SHELL = ("", "sh", "bash")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        page: The file in which it stands.
        line: Number of its first line, or of the fence above it.
        language: What stands behind the fence; "" where nothing does.
        text: The code.
    """

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """The code blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    fenced = [_block(page, text, found, found[1], found[2]) for found in FENCED.finditer(text)]
    plain = FENCED.sub(lambda found: "\n" * found[0].count("\n"), text)
    indented = [_block(page, plain, found, "", found[0]) for found in INDENTED.finditer(plain)]
    return sorted([*fenced, *indented], key=lambda block: block.line)


def _block(page: Path, text: str, found: re.Match[str], language: str, code: str) -> Block:
    return Block(page, text.count("\n", 0, found.start()) + 1, language, code)


def all_blocks(*languages: str) -> list[Block]:
    """The blocks of these languages on all pages."""
    return [block for page in PAGES for block in blocks_of(page) if block.language in languages]


def commands() -> list[tuple[str, list[str]]]:
    """The command lines of all pages, in blocks and within sentences: where each stands, and its words."""
    lines = [(str(block), line) for block in all_blocks(*SHELL) for line in block.text.splitlines()]
    for page in PAGES:
        lines += [(page.name, line) for line in INLINE.findall(page.read_text(encoding="utf-8").replace("\n", " "))]
    split = [(where, shlex.split(line, comments=True)) for where, line in lines]
    return [(where, words) for where, words in split if words]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's words from A to Z: each heading, each word that is marked on a page, each name in a table, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import IntEnum
from html import escape
from typing import NamedTuple

from markdown_it.token import Token

from dev.manual_pages import Page, cells, words

TITLE = "A to Z"
INTRODUCTION = (
    "Every heading, button, setting and message, and the names of <em>Reference</em> and <em>The solver in Python</em>,"
    ' with where they are told of. For any other word, search <a href="whole.html">the whole manual on one page</a>.'
)
LONGEST = 72  # letters; what is longer is a sentence
LEFT_OUT = {"index", "changelog"}
BEFORE = re.compile(r"^(\W|_|(a|an|the)\s)+", re.IGNORECASE)  # those by which a word is sorted


class Weight(IntEnum):
    """How much a place tells of a word: one that only mentions it is not listed beside one that explains it."""

    MENTIONED = 0
    EXPLAINED = 1


class Place(NamedTuple):
    """A heading below which a word stands."""

    page: Page
    anchor: str

    @property
    def link(self) -> str:
        """As HTML."""
        title, heading = self.page.title, self.page.headings[self.anchor]
        told = title if heading == title else f"{title}: {heading}"
        return f'<a href="{self.page.name}.html#{self.anchor}">{escape(told)}</a>'


Key = tuple[str, str]  # by what a word is sorted, and what tells it from another
Found = dict[Key, dict[Place, Weight]]


def words_page(pages: Iterable[Page]) -> str:
    """What stands on the page, as HTML: a list for each letter."""
    spelt, found = _gathered(pages)
    letters: dict[str, list[str]] = {}
    for key in sorted(found):
        best = max(found[key].values())
        links = ", ".join(place.link for place, weight in found[key].items() if weight == best)
        letters.setdefault(key[0][0].upper(), []).append(f"<li>{escape(spelt[key])}: {links}</li>\n")
    jumps = " ".join(f'<a href="#{letter}">{letter}</a>' for letter in letters)
    lists = (f'<h2 id="{letter}">{letter}</h2>\n<ul>\n{"".join(lines)}</ul>\n' for letter, lines in letters.items())
    return f'<h1>{TITLE}</h1>\n<p>{INTRODUCTION}</p>\n<p class="letters">{jumps}</p>\n{"".join(lists)}'


def _gathered(pages: Iterable[Page]) -> tuple[dict[Key, str], Found]:
    """How each word is spelt, and its places."""
    spelt: dict[Key, str] = {}
    found: Found = {}
    for page in pages:
        if page.name in LEFT_OUT:
            continue
        for anchor, word, weight in _marked(page):
            key = (BEFORE.sub("", word).casefold(), word.casefold())
            if not re.match(r"[a-z]..", key[0]) or len(word) > LONGEST:
                continue
            spelt.setdefault(key, word)
            places = found.setdefault(key, {})
            place = Place(page, anchor)
            places[place] = max(weight, places.get(place, weight))
    return spelt, found


def _marked(page: Page) -> Iterator[tuple[str, str, Weight]]:
    """Anchor of the heading above, word and weight of all that a page marks."""
    leading = {id(inline) for column, _, inline in cells(page.tokens) if not column}
    anchor = ""
    for token in page.tokens:
        if token.type == "heading_open":
            anchor = str(token.attrs["id"])
            yield anchor, page.headings[anchor], Weight.EXPLAINED
        elif token.type == "inline":
            leads = id(token) in leading
            if leads and "…" in token.content:  # a message in parts, between which it names what differs
                yield anchor, words(token), Weight.EXPLAINED
                continue
            first = (token.children or [token])[0]
            if leads and first.type == "code_inline":
                yield anchor, first.content, Weight.EXPLAINED
            for mark, word in _emphasised(token.children or []):
                yield anchor, word, Weight.EXPLAINED if mark == "strong" else Weight.MENTIONED


def _emphasised(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    """What is in bold or in italics: its mark and its words."""
    start = 0
    for i, token in enumerate(tokens):
        if token.type in {"strong_open", "em_open"}:
            start = i
        elif token.type in {"strong_close", "em_close"}:
            inline = Token("inline", "", 0, children=tokens[start:i])
            yield token.tag, words(inline).strip().rstrip(".:,")

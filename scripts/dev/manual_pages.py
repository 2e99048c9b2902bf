# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages of the manual as the Markdown library reads them, with what the HTML needs besides; and all of them on one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import pairwise
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent.parent
MANUAL = ROOT / "fabrik_addon" / "manual"
PICTURES = "pictures"
WHOLE = "The whole manual"
WHOLE_INTRODUCTION = "All pages on one, so that the browser's search (Ctrl F) finds any word of the manual."


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def words(inline: Token) -> str:
    """What is written in an inline token, without its marks."""
    return "".join(" " if part.type == "softbreak" else part.content for part in inline.children or [])


class Page:
    """A page of the manual.

    Attributes:
        name: Of its file, without ending.
        tokens: What the Markdown library made of it, its links changed to those of the HTML.
        headings: Anchor and text of each.
        sections: Those of the second rank.
        pictures: The files that it shows.
    """

    def __init__(self, library: MarkdownIt, file: Path) -> None:
        self.name = file.stem
        self.tokens: list[Token] = library.parse(file.read_text(encoding="utf-8"))
        self.headings: dict[str, str] = {}
        self.sections: dict[str, str] = {}
        self.pictures: set[Path] = set()
        for before, token in pairwise(self.tokens):
            if before.type == "heading_open":
                self._take_heading(before, token)
            for inner in token.children or []:
                if inner.type == "image":
                    self._take_picture(inner)
            if token.children:
                token.children = _linked(token.children)
        _name_columns(self.tokens)

    @property
    def title(self) -> str:
        """Its first heading."""
        return next(iter(self.headings.values()))

    def _take_heading(self, opening: Token, inline: Token) -> None:
        text = words(inline)
        anchor = slug(text)
        if anchor in self.headings:
            raise ValueError(f"{self.name}.md has the heading '{text}' twice")
        self.headings[anchor] = text
        if opening.tag == "h2":
            self.sections[anchor] = text
        opening.attrSet("id", anchor)

    def _take_picture(self, image: Token) -> None:
        file = (MANUAL / str(image.attrs["src"])).resolve(strict=True)
        self.pictures.add(file)
        image.attrSet("src", f"{PICTURES}/{file.name}")


def _linked(tokens: list[Token]) -> list[Token]:
    """Inline tokens with links to the pages as HTML, and a link around each picture that opens it in its full size.

    Of links to files outside, which don't come along, the text stays.
    """
    made: list[Token] = []
    is_dropped = False
    for token in tokens:
        if token.type == "link_open":
            address = _address(str(token.attrs["href"]))
            is_dropped = not address
            token.attrSet("href", address)
        if token.type in {"link_open", "link_close"} and is_dropped:
            continue
        made += _opening(token) if token.type == "image" else [token]
    return made


def _opening(image: Token) -> list[Token]:
    opened = Token("link_open", "a", 1, attrs={"href": image.attrs["src"]})
    return [opened, image, Token("link_close", "a", -1)]


def _address(link: str) -> str:
    """Where a link of the Markdown leads in the HTML; "" where nothing of it comes along."""
    if "://" in link or link.startswith("#"):
        return link
    path, _, anchor = link.partition("#")
    found = PurePosixPath(path)
    if len(found.parts) > 1 or found.suffix != ".md":
        return ""
    return f"{found.stem}.html" + (f"#{anchor}" if anchor else "")


def cells(tokens: list[Token]) -> Iterator[tuple[int, Token, Token]]:
    """The cells of all tables, headings too: in which column each stands, what opens it, and what is in it."""
    column = 0
    for opening, inline in pairwise(tokens):
        if opening.type == "tr_open":
            column = 0
        elif opening.type in {"th_open", "td_open"}:
            yield column, opening, inline
            column += 1


def _name_columns(tokens: list[Token]) -> None:
    """Let each cell behind the first of its row know the heading of its column, for narrow windows."""
    names: dict[int, str] = {}
    for column, opening, inline in cells(tokens):
        if opening.type == "th_open":
            names[column] = words(inline)
        elif column and names[column]:
            opening.attrSet("data-column", names[column])


def anchor_of(page: Page, anchor: str = "") -> str:
    """What a heading of a page is called on the one page; without one, its title."""
    return f"{page.name}.{anchor or next(iter(page.headings))}"


def whole_page(pages: Sequence[Page], library: MarkdownIt) -> str:
    """What stands on the page, as HTML; the headings of the pages are a rank lower than on their own."""
    by_file = {f"{page.name}.html": page for page in pages}
    parts = [f"<h1>{WHOLE}</h1>\n<p>{WHOLE_INTRODUCTION}</p>\n"]
    for page in pages[1:]:
        tokens = deepcopy(page.tokens)
        for token in tokens:
            if token.type in {"heading_open", "heading_close"}:
                token.tag = f"h{int(token.tag[1]) + 1}"
            if token.type == "heading_open":
                token.attrSet("id", anchor_of(page, str(token.attrs["id"])))
            for inner in token.children or []:
                if inner.type == "link_open":
                    _lead_within(inner, page, by_file)
        parts.append(library.renderer.render(tokens, library.options, {}))
    return "".join(parts)


def _lead_within(link: Token, page: Page, by_file: dict[str, Page]) -> None:
    """Let a link of a page to a heading lead to that on the one page."""
    file, _, anchor = str(link.attrs["href"]).partition("#")
    leads_to = by_file.get(file) if file else page
    if leads_to is not None and leads_to.name != "index":
        link.attrSet("href", f"#{anchor_of(leads_to, anchor)}")

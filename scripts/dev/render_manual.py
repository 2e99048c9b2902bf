# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the manual's Markdown as HTML; runs in the environment that has the Markdown library (see `manual.py`).

python -m dev.render_manual OUT     a page for each, the words from A to Z, all on one page, the style, the pictures,
                                    and the ways to the headings

Systems hand the address of a local file on to the browser without what stands behind its "#". So each heading has a
page of its own in `at/` that does nothing but go there.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from html import escape
from itertools import pairwise
from pathlib import Path, PurePosixPath
from string import Template
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent.parent
MANUAL = ROOT / "fabrik_addon" / "manual"
PICTURES = "pictures"
WHOLE = "The whole manual"
WHOLE_INTRODUCTION = "All pages on one, so that the browser's search (Ctrl F) finds any word of the manual."
WORDS = "A to Z"
WORDS_INTRODUCTION = (
    "Every heading, button, setting and message, and the names of <em>Reference</em> and <em>The solver in Python</em>,"
    ' with where they are told of. For any other word, search <a href="whole.html">the whole manual on one page</a>.'
)
LONGEST = 72  # letters; what is longer is a sentence
LEFT_OUT = {"index", "changelog"}
BEFORE = re.compile(r"^(\W|_|(a|an|the)\s)+", re.IGNORECASE)  # those by which a word is sorted
STYLE = Path(__file__).with_name("manual.css")
OURS = "FABRIK Posing"
HEADER = {"index": OURS, "words": WORDS, "whole": "On one page"}  # file and how it is called above the list of pages
PAGE, WAY = (
    Template(Path(__file__).with_name(name).read_text(encoding="utf-8")) for name in ("manual.html", "manual.way.html")
)


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
                    file = (MANUAL / str(inner.attrs["src"])).resolve(strict=True)
                    self.pictures.add(file)
                    inner.attrSet("src", f"{PICTURES}/{file.name}")
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
        if token.type == "image":
            opened = Token("link_open", "a", 1, attrs={"href": token.attrs["src"]})
            made += [opened, token, Token("link_close", "a", -1)]
        else:
            made.append(token)
    return made


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
Found = dict[Key, dict[Place, bool]]  # whether a place explains the word, or only mentions it


def words_page(pages: Iterable[Page]) -> str:
    """What stands on the page, as HTML: a list for each letter."""
    spelt, found = _gathered(pages)
    letters: dict[str, list[str]] = {}
    for key in sorted(found):
        is_explained = any(found[key].values())  # a place that only mentions it is not listed beside one that does
        links = ", ".join(place.link for place, explains in found[key].items() if explains == is_explained)
        letters.setdefault(key[0][0].upper(), []).append(f"<li>{escape(spelt[key])}: {links}</li>\n")
    jumps = " ".join(f'<a href="#{letter}">{letter}</a>' for letter in letters)
    lists = (f'<h2 id="{letter}">{letter}</h2>\n<ul>\n{"".join(lines)}</ul>\n' for letter, lines in letters.items())
    return f'<h1>{WORDS}</h1>\n<p>{WORDS_INTRODUCTION}</p>\n<p class="letters">{jumps}</p>\n{"".join(lists)}'


def _gathered(pages: Iterable[Page]) -> tuple[dict[Key, str], Found]:
    """How each word is spelt, and its places."""
    spelt: dict[Key, str] = {}
    found: Found = {}
    for page in pages:
        for anchor, word, explains in _marked(page) if page.name not in LEFT_OUT else ():
            key = (BEFORE.sub("", word).casefold(), word.casefold())
            if re.match(r"[a-z]..", key[0]) and len(word) <= LONGEST:
                spelt.setdefault(key, word)
                places, place = found.setdefault(key, {}), Place(page, anchor)
                places[place] = explains or places.get(place, False)
    return spelt, found


def _marked(page: Page) -> Iterator[tuple[str, str, bool]]:
    """Anchor of the heading above, word, and whether it is explained there, of all that a page marks."""
    leading = {id(inline) for column, _, inline in cells(page.tokens) if not column}
    anchor = ""
    for token in page.tokens:
        if token.type == "heading_open":
            anchor = str(token.attrs["id"])
            yield anchor, page.headings[anchor], True
        elif token.type == "inline":
            leads = id(token) in leading
            if leads and "…" in token.content:  # a message in parts, between which it names what differs
                yield anchor, words(token), True
                continue
            first = (token.children or [token])[0]
            if leads and first.type == "code_inline":
                yield anchor, first.content, True
            for mark, word in _emphasised(token.children or []):
                yield anchor, word, mark == "strong"


def _emphasised(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    """What is in bold or in italics: its mark and its words."""
    start = 0
    for i, token in enumerate(tokens):
        if token.type in {"strong_open", "em_open"}:
            start = i
        elif token.type in {"strong_close", "em_close"}:
            inline = Token("inline", "", 0, children=tokens[start:i])
            yield token.tag, words(inline).strip().rstrip(".:,")


def _order(index: Page) -> list[str]:
    """The names of the pages as the index lists them."""
    found = ["index"]
    for token in index.tokens:
        for inner in token.children or []:
            name = str(inner.attrs.get("href", "")).removesuffix(".html")
            if inner.type == "link_open" and "." not in name and "/" not in name and name not in found:
                found.append(name)
    return found


def _link(address: str, text: str, is_here: bool = False) -> str:
    here = ' aria-current="page"' if is_here else ""
    return f'<a href="{address}"{here}>{escape(text)}</a>'


def _navigation(pages: Sequence[Page], current: str) -> str:
    """The list of the pages, with the headings of the current one; that of the one page leads to places on it."""
    lines = []
    for page in pages[1:]:
        address = f"#{anchor_of(page)}" if current == "whole" else f"{page.name}.html"
        sections = page.sections if page.name == current else {}
        below = "".join(f"<li>{_link(f'#{anchor}', text)}</li>\n" for anchor, text in sections.items())
        inner = f"\n<ul>\n{below}</ul>\n" if below else ""
        lines.append(f"<li>{_link(address, page.title, page.name == current)}{inner}</li>\n")
    return "".join(lines)


def _write(out: Path, name: str, title: str, content: str, pages: Sequence[Page]) -> None:
    told = title if OURS in title else f"{title} - {OURS}"
    header = "".join(f"<p>{_link(f'{page}.html', text, page == name)}</p>\n" for page, text in HEADER.items())
    text = PAGE.substitute(title=escape(told), header=header, pages=_navigation(pages, name), content=content)
    (out / f"{name}.html").write_text(text, encoding="utf-8", newline="\n")


def _read(library: MarkdownIt) -> list[Page]:
    """The pages in the order of the index, which comes first."""
    found = {file.stem: Page(library, file) for file in sorted(MANUAL.glob("*.md"))}
    order = _order(found["index"])
    if set(order) != set(found):
        raise ValueError(f"the index does not name {sorted(set(found) ^ set(order))}")
    return [found[name] for name in order]


def render(out: Path) -> None:
    """Write the manual into a folder, which is made anew.

    Raises:
        ValueError: The index does not name each page once, or a page has a heading twice.
    """
    library = MarkdownIt("commonmark").enable("table")
    pages = _read(library)
    shutil.rmtree(out, ignore_errors=True)
    (out / PICTURES).mkdir(parents=True)
    (out / "at").mkdir()
    shutil.copyfile(STYLE, out / "style.css")
    _write(out, "words", WORDS, words_page(pages), pages)
    _write(out, "whole", WHOLE, whole_page(pages, library), pages)
    for page in pages:
        content = library.renderer.render(page.tokens, library.options, {})
        _write(out, page.name, page.title, content, pages)
        for picture in page.pictures:
            shutil.copyfile(picture, out / PICTURES / picture.name)
        for anchor, heading in page.headings.items():
            text = WAY.substitute(address=f"../{page.name}.html#{anchor}", title=escape(heading))
            (out / "at" / f"{page.name}.{anchor}.html").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    render(Path(sys.argv[1]))

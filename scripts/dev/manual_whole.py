# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole manual on one page, for the browser's search and for paper."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from markdown_it import MarkdownIt
from markdown_it.token import Token

from dev.manual_page import Page

TITLE = "The whole manual"
INTRODUCTION = "All pages on one, so that the browser's search (Ctrl F) finds any word of the manual."


def anchor_of(page: Page, anchor: str = "") -> str:
    """What a heading of a page is called on the one page; without one, its title."""
    return f"{page.name}.{anchor or next(iter(page.headings))}"


def whole_page(pages: Sequence[Page], library: MarkdownIt) -> str:
    """What stands on the page, as HTML; the headings of the pages are a rank lower than on their own."""
    by_file = {f"{page.name}.html": page for page in pages}
    parts = [f"<h1>{TITLE}</h1>\n<p>{INTRODUCTION}</p>\n"]
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the manual's Markdown as HTML; runs in the environment that has the Markdown library (see `manual.py`).

python -m dev.render_manual OUT     a page for each, the words from A to Z, all on one page, the style, the pictures,
                                    and the ways to the headings

Systems hand the address of a local file on to the browser without what stands behind its "#". So each heading has a
page of its own in `at/` that does nothing but go there.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from markdown_it import MarkdownIt

from dev.manual_pages import MANUAL, PICTURES, WHOLE, Page, anchor_of, whole_page
from dev.manual_words import TITLE as WORDS
from dev.manual_words import words_page

STYLE = Path(__file__).with_name("manual.css")
OURS = "FABRIK Posing"
HEADER = {"index": OURS, "words": WORDS, "whole": "On one page"}  # file and how it is called above the list of pages
PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header>
$header</header>
<main>
$content</main>
<nav aria-label="Pages">
<ul>
$pages</ul>
</nav>
</body>
</html>
""")
WAY = Template("""<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=$address">
<title>$title</title>
<a href="$address">$title</a>
</html>
""")


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


def _header(current: str) -> str:
    return "".join(f"<p>{_link(f'{name}.html', text, name == current)}</p>\n" for name, text in HEADER.items())


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
    text = PAGE.substitute(title=escape(told), header=_header(name), pages=_navigation(pages, name), content=content)
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

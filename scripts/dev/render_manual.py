# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the manual's Markdown as HTML; runs in the environment that has the Markdown library (see `manual.py`).

python scripts/dev/render_manual.py OUT         a page for each, the style, the pictures, and the ways to the headings

Systems hand the address of a local file on to the browser without what stands behind its "#". So each heading has a
page of its own in `at/` that does nothing but go there.
"""

from __future__ import annotations

import re
import shutil
import sys
from html import escape
from itertools import pairwise
from pathlib import Path, PurePosixPath
from string import Template

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent.parent
MANUAL = ROOT / "fabrik_addon" / "manual"
PICTURES = "pictures"
STYLE = Path(__file__).with_name("manual.css")
PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title - FABRIK Posing</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<nav>
<p><a href="index.html">FABRIK Posing</a></p>
<ul>
$pages</ul>
</nav>
<main>
$content</main>
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


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


class Page:
    """A page of the manual.

    Attributes:
        name: Of its file, without ending.
        tokens: What the Markdown library made of it, its links changed to those of the HTML.
        headings: Anchor and text of each.
        pictures: The files that it shows.
    """

    def __init__(self, library: MarkdownIt, file: Path) -> None:
        self.name = file.stem
        self.tokens: list[Token] = library.parse(file.read_text(encoding="utf-8"))
        self.headings: dict[str, str] = {}
        self.pictures: set[Path] = set()
        for before, token in pairwise(self.tokens):
            if before.type == "heading_open":
                self._take_heading(before, token)
            for inner in token.children or []:
                if inner.type == "image":
                    self._take_picture(inner)
            if token.children:
                token.children = _linked(token.children)

    @property
    def title(self) -> str:
        """Its first heading."""
        return next(iter(self.headings.values()))

    def _take_heading(self, opening: Token, inline: Token) -> None:
        text = "".join(part.content for part in inline.children or [])
        anchor = slug(text)
        if anchor in self.headings:
            raise ValueError(f"{self.name}.md has the heading '{text}' twice")
        self.headings[anchor] = text
        opening.attrSet("id", anchor)

    def _take_picture(self, image: Token) -> None:
        file = (MANUAL / str(image.attrs["src"])).resolve(strict=True)
        self.pictures.add(file)
        image.attrSet("src", f"{PICTURES}/{file.name}")


def _linked(tokens: list[Token]) -> list[Token]:
    """Inline tokens with links to the pages as HTML; those to files outside, which don't come along, as text."""
    made: list[Token] = []
    is_dropped = False
    for token in tokens:
        if token.type == "link_open":
            address = _address(str(token.attrs["href"]))
            is_dropped = not address
            token.attrSet("href", address)
        if token.type in {"link_open", "link_close"} and is_dropped:
            continue
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


def _order(index: Page) -> list[str]:
    """The names of the pages as the index lists them."""
    found = ["index"]
    for token in index.tokens:
        for inner in token.children or []:
            name = str(inner.attrs.get("href", "")).removesuffix(".html")
            if inner.type == "link_open" and "." not in name and "/" not in name and name not in found:
                found.append(name)
    return found


def _navigation(pages: list[Page], current: Page) -> str:
    lines = []
    for page in pages[1:]:
        here = ' aria-current="page"' if page is current else ""
        lines.append(f'<li><a href="{page.name}.html"{here}>{escape(page.title)}</a></li>\n')
    return "".join(lines)


def render(out: Path) -> None:
    """Write the manual into a folder, which is made anew.

    Raises:
        ValueError: The index does not name each page once, or a page has a heading twice.
    """
    library = MarkdownIt("commonmark").enable("table")
    found = {file.stem: Page(library, file) for file in sorted(MANUAL.glob("*.md"))}
    order = _order(found["index"])
    if set(order) != set(found):
        raise ValueError(f"the index does not name {sorted(set(found) ^ set(order))}")
    pages = [found[name] for name in order]
    shutil.rmtree(out, ignore_errors=True)
    (out / PICTURES).mkdir(parents=True)
    (out / "at").mkdir()
    shutil.copyfile(STYLE, out / "style.css")
    for page in pages:
        content = library.renderer.render(page.tokens, library.options, {})
        text = PAGE.substitute(title=escape(page.title), pages=_navigation(pages, page), content=content)
        (out / f"{page.name}.html").write_text(text, encoding="utf-8", newline="\n")
        for picture in page.pictures:
            shutil.copyfile(picture, out / PICTURES / picture.name)
        for anchor, heading in page.headings.items():
            text = WAY.substitute(address=f"../{page.name}.html#{anchor}", title=escape(heading))
            (out / "at" / f"{page.name}.{anchor}.html").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    render(Path(sys.argv[1]))

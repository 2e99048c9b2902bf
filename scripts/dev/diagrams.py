# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the layers of the extension and the ways through them (`ways.py`) as SVG for the manual."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from textwrap import wrap

from dev.ways import BLENDER, LANES, LAYERS, WAYS, Step
from environment import ROOT

PICTURES = ROOT / "scripts" / "pictures"
COLUMN, GAP, LINE, PADDING, MARGIN, HEAD = 224, 14, 17, 8, 10, 34
WIDTH = len(LANES) * COLUMN + 2 * MARGIN
LETTERS = 28  # of a line of words in a box
TINTS = ("#e8e8ec", "#fbe6d4", "#dcebf9", "#def1df", "#f3e1f2")
TEXT, QUIET, EDGE = "#22262b", "#5b636d", "#9aa3ad"
START = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
    'font-family="system-ui, sans-serif" font-size="13">\n'
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    f'<path d="M0 0 8 4 0 8z" fill="{QUIET}"/></marker></defs>\n'
    '<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>\n'
)


def diagrams() -> dict[Path, str]:
    """The files of all pictures, with what is in them."""
    drawn = {"layers": layers_picture(), **{name: way_picture(steps) for name, steps in WAYS.items()}}
    return {PICTURES / f"{name}.svg": text for name, text in drawn.items()}


def _start(height: float) -> str:
    return START.format(width=WIDTH, height=round(height))


def _box(x: float, y: float, width: float, height: float, tint: str) -> str:
    size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {size} rx="5" fill="{tint}" stroke="{EDGE}"/>\n'


def _text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{TEXT}" {style}>{escape(words)}</text>\n'


NAME = 'font-weight="600" font-family="ui-monospace, monospace" font-size="12.5"'


def layers_picture() -> str:
    """The layers, the highest at the top."""
    height = 2 * PADDING + 2 * LINE
    parts = [_start(len(LAYERS) * (height + GAP) - GAP + 2 * MARGIN)]
    for i, line in enumerate(LAYERS):
        width = (WIDTH - 2 * MARGIN - GAP * (len(line) - 1)) / len(line)
        y = MARGIN + i * (height + GAP)
        for k, (name, does) in enumerate(line):
            x = MARGIN + k * (width + GAP)
            lane = next((place for place, lane in enumerate(LANES) if name in lane.split(", ")), 0)
            parts.append(_box(x, y, width, height, TINTS[lane]))
            parts.append(_text(x + PADDING, y + PADDING + LINE - 4, name, NAME))
            parts.append(_text(x + PADDING, y + PADDING + 2 * LINE - 5, does))
    return "".join([*parts, "</svg>\n"])


def way_picture(steps: Sequence[Step]) -> str:
    """A way: a column for each layer, the stations from top to bottom, an arrow from each to the next."""
    words = [wrap(step.does, LETTERS) for step in steps]
    heights = [2 * PADDING + LINE * (len(lines) + bool(step.name)) for step, lines in zip(steps, words, strict=True)]
    tops = [HEAD + MARGIN + sum(heights[:i]) + GAP * i for i in range(len(steps))]
    bottom = tops[-1] + heights[-1] + MARGIN
    parts = [_start(bottom)]
    for i, lane in enumerate(LANES):
        x = MARGIN + i * COLUMN
        parts.append(f'<rect x="{x}" y="{HEAD}" width="{COLUMN - 6}" height="{bottom - HEAD - 4:g}" fill="#f7f7f8"/>\n')
        parts.append(_text(x + PADDING, HEAD - 12, lane, 'font-weight="600"'))
    for i, step in enumerate(steps):
        if i:
            parts.append(_arrow(steps[i - 1], tops[i - 1] + heights[i - 1], step, tops[i]))
    for step, lines, top, height in zip(steps, words, tops, heights, strict=True):
        x = MARGIN + step.lane * COLUMN + 4
        parts.append(_box(x, top, COLUMN - 14, height, TINTS[step.lane]))
        shown = [(line, "") for line in lines]
        if step.name:
            shown.insert(0, (_called(step), NAME))
        for k, (line, style) in enumerate(shown):
            parts.append(_text(x + PADDING, top + PADDING + LINE * (k + 1) - 4, line, style))
    return "".join([*parts, "</svg>\n"])


def _called(step: Step) -> str:
    """The station without its layer, which the column tells."""
    layer, _, module = step.module.partition("/")
    return step.name if step.name[0].isupper() else f"{module or layer}.{step.name}"


def _arrow(before: Step, bottom: float, step: Step, top: float) -> str:
    """From the lower edge of a station to the upper edge of the next."""
    start, end = (MARGIN + one.lane * COLUMN + COLUMN / 2 for one in (before, step))
    middle = (bottom + top) / 2
    way = f"M{start:g} {bottom:g} V{middle:g} H{end:g} V{top - 1:g}"
    dashes = ' stroke-dasharray="4 3"' if BLENDER in (before.module, step.module) else ""
    return f'<path d="{way}" fill="none" stroke="{QUIET}" stroke-width="1.3"{dashes} marker-end="url(#tip)"/>\n'


def write_diagrams() -> None:
    """Renew the pictures."""
    for file, text in diagrams().items():
        file.write_text(text, encoding="utf-8", newline="\n")

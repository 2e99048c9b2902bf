# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the layers of the extension and the ways through them (`ways.py`) as SVG for the manual."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import accumulate
from pathlib import Path
from textwrap import wrap

from dev.ways import BLENDER, LANES, LAYERS, WAYS, Step
from environment import ROOT

PICTURES = ROOT / "scripts" / "pictures"
COLUMNS = (140, 196, 220, 204, 186)  # widths: what is written in each lane, and as wide as a page of the manual in all
GAP, LINE, PADDING, MARGIN = 18, 17, 8, 10
WIDTH = sum(COLUMNS) + 2 * MARGIN
LEFT = (*accumulate(COLUMNS, initial=MARGIN),)
BETWEEN, INSET = 6, 4  # lanes, and a lane's edge and a box
LETTER = 7.4  # width of one of words or names, at the most that the fonts of systems have on average
NAME = "name"

# By what a thing is: in a light window and in a dark one.
COLOURS = {
    ".page": ("fill", "#ffffff", "#1d1f22"),
    ".lane": ("fill", "#f5f5f6", "#26282c"),
    "text": ("fill", "#22262b", "#dfe2e6"),
    ".edge": ("stroke", "#8d96a0", "#7d8791"),
    ".way": ("stroke", "#5b636d", "#9aa3ad"),
    ".tip": ("fill", "#5b636d", "#9aa3ad"),
    ".in0": ("fill", "#e8e8ec", "#3a3d43"),
    ".in1": ("fill", "#fbe6d4", "#513a27"),
    ".in2": ("fill", "#dcebf9", "#263f56"),
    ".in3": ("fill", "#def1df", "#29472d"),
    ".in4": ("fill", "#f3e1f2", "#4a314b"),
}
START = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<style>
svg {{ font: 13px system-ui, sans-serif; }}
.head {{ font-weight: 600; }}
.name {{ font: 600 12px ui-monospace, monospace; }}
.way {{ fill: none; stroke-width: 1.3; }}
{light}@media screen and (prefers-color-scheme: dark) {{
{dark}}}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>
<rect class="page" width="{width}" height="{height}" rx="6"/>
"""


def diagrams() -> dict[Path, str]:
    """The files of all pictures, with what is in them."""
    drawn = {"layers": layers_picture(), **{name: way_picture(steps) for name, steps in WAYS.items()}}
    return {PICTURES / f"{name}.svg": text for name, text in drawn.items()}


def _start(height: float) -> str:
    light, dark = (
        "".join(f"{what} {{ {colours[0]}: {colours[k]}; }}\n" for what, colours in COLOURS.items()) for k in (1, 2)
    )
    return START.format(width=WIDTH, height=round(height), light=light, dark=dark)


def _box(x: float, y: float, width: float, height: float, lane: int) -> str:
    size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect class="edge in{lane}" {size} rx="5"/>\n'


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    of = f' class="{kind}"' if kind else ""
    return f'<text{of} x="{x:g}" y="{y:g}">{escape(words)}</text>\n'


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
            parts.append(_box(x, y, width, height, lane))
            parts.append(_text(x + PADDING, y + PADDING + LINE - 4, name, NAME))
            parts.append(_text(x + PADDING, y + PADDING + 2 * LINE - 5, does))
    return "".join([*parts, "</svg>\n"])


def _wrapped(words: str, lane: int) -> list[str]:
    """The lines of what is written in a box of a lane."""
    room = COLUMNS[lane] - BETWEEN - 2 * INSET - 2 * PADDING
    return wrap(words, int(room / LETTER))


def way_picture(steps: Sequence[Step]) -> str:
    """A way: a column for each layer, the stations from top to bottom, an arrow from each to the next."""
    words = [_wrapped(step.does, step.lane) for step in steps]
    heights = [2 * PADDING + LINE * (len(lines) + bool(step.name)) for step, lines in zip(steps, words, strict=True)]
    head = LINE * max(len(_wrapped(name, lane)) for lane, name in enumerate(LANES)) + MARGIN
    tops = [head + MARGIN + sum(heights[:i]) + GAP * i for i in range(len(steps))]
    bottom = tops[-1] + heights[-1] + MARGIN
    parts = [_start(bottom), *(_lane(lane, head, bottom) for lane in range(len(LANES)))]
    for i in range(1, len(steps)):
        parts.append(_arrow(steps[i - 1], tops[i - 1] + heights[i - 1], steps[i], tops[i]))
    for step, lines, top, height in zip(steps, words, tops, heights, strict=True):
        x = LEFT[step.lane] + INSET
        parts.append(_box(x, top, COLUMNS[step.lane] - BETWEEN - 2 * INSET, height, step.lane))
        shown = [(line, "") for line in lines]
        if step.name:
            shown.insert(0, (_called(step), NAME))
        for k, (line, kind) in enumerate(shown):
            parts.append(_text(x + PADDING, top + PADDING + LINE * (k + 1) - 4, line, kind))
    return "".join([*parts, "</svg>\n"])


def _lane(lane: int, top: float, bottom: float) -> str:
    """The column of a layer, and its name above it."""
    x, width = LEFT[lane], COLUMNS[lane] - BETWEEN
    lines = _wrapped(LANES[lane], lane)
    return "".join(
        [
            f'<rect class="lane" x="{x}" y="{top:g}" width="{width}" height="{bottom - top - 4:g}"/>\n',
            *(_text(x + INSET, top - 7 - LINE * k, line, "head") for k, line in enumerate(reversed(lines))),
        ]
    )


def _called(step: Step) -> str:
    """The station by its file alone: the column tells the layer."""
    return step.name if step.name[0].isupper() else f"{step.module.rpartition('/')[2]}.{step.name}"


def _arrow(before: Step, bottom: float, step: Step, top: float) -> str:
    """From the lower edge of a station to the upper edge of the next."""
    start, end = (LEFT[one.lane] + (COLUMNS[one.lane] - BETWEEN) / 2 for one in (before, step))
    middle = bottom + GAP / 3  # the longer part is that with the tip
    way = f"M{start:g} {bottom:g} V{middle:g} H{end:g} V{top - 1:g}"
    dashes = ' stroke-dasharray="4 3"' if BLENDER in (before.module, step.module) else ""
    return f'<path class="way" d="{way}"{dashes} marker-end="url(#tip)"/>\n'


def write_diagrams() -> None:
    """Renew the pictures."""
    for file, text in diagrams().items():
        file.write_text(text, encoding="utf-8", newline="\n")

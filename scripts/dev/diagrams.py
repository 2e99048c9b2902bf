# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of the extension, and five ways through them, drawn as SVG for the manual; a test compares the code."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import accumulate
from pathlib import Path
from string import Template
from textwrap import wrap
from typing import NamedTuple

from environment import ROOT

BLENDER = "Blender"
LANES = (BLENDER, "ui, operators, handlers, cli", "actions", "rig", "gait, kernel")

# Each layer imports only those below it; those of a line don't import each other. From top to bottom.
LAYERS = (
    (("ui", "panels, lists, menus, preferences"),),
    (
        ("operators", "buttons: a use case each, and a report"),
        ("handlers", "Blender's frames, changes and files"),
        ("cli", "the command line and jobs"),
    ),
    (("overlay", "what is drawn in the view"),),
    (("actions", "use cases: pose, live, bake, drag, snap, convert, set up, walk"),),
    (("rig", "reads and writes armatures: the only layer that touches their data"),),
    (("motion", "contacts, and motion from other skeletons; no Blender"),),
    (
        ("gait", "walks, planned; no Blender"),
        ("recognise", "parts of a body; no Blender"),
        ("translations", "the other languages"),
    ),
    (("kernel", "the solver, compiled; no Blender, no mathutils, no numpy"),),
    (("errors, maths", "what all use"),),
    (("texts", "English that can be told in other languages"),),
    (("messages", "what is said below the actions: codes, with a sentence each"),),
)


class Step(NamedTuple):
    """A station on a way."""

    module: str  # file within the extension, without its ending; or `BLENDER`
    name: str  # the function or class that is called there
    does: str  # what happens

    @property
    def lane(self) -> int:
        """In which column it stands: an index of `LANES`."""
        layer = self.module.partition("/")[0]
        return next((i for i, lane in enumerate(LANES) if layer in lane.split(", ")), 1)


TARGET = (
    Step("ui/panels", "FABRIK_PT_posing", "draws the button Solve"),
    Step("operators/solving", "FABRIK_OT_solve", "finds the chain, reports the end"),
    Step("actions/solve", "solve_items", "what all solving buttons call: those chains later that hang on others"),
    Step("rig/checks", "check_rig", "can the armature be posed?"),
    Step("rig/figure/groups", "sets_of", "which chains are solved together"),
    Step("actions/solve", "parted", "and which after which; those that wait for each other are told so"),
    Step("rig/figure/reader", "read", "bones, limits, start pose, goals, as Blender evaluates them"),
    Step("rig/figure/solve", "posed", "goals in chain space, then the solve"),
    Step("kernel/solver", "Solver", "figure and goals in, rotations and status out"),
    Step("rig/figure/pose_writer", "PoseWriter", "rotations as channels of the bones"),
    Step(BLENDER, "", "evaluates the pose"),
    Step("actions/solve", "what_is_off", "does all stand where it was solved? Else it is taken back"),
    Step("rig/animation/keys", "insert_posed_keys", "keys, with automatic keying"),
    Step("actions/status", "store", "status, distance and message in the chain"),
    Step("rig/figure/solve", "remember", "for which goals that was found"),
    Step("actions/status", "report_of", "what the panel shows, as things stand when it is drawn"),
)
FRAME = (
    Step("handlers", "_before_frame", "frame_change_pre"),
    Step("actions/live/update", "ahead", "goals that move by their own curves alone: posed before the frame"),
    Step(BLENDER, "", "evaluates the frame"),
    Step("handlers", "_on_frame", "frame_change_post; a change comes by _on_update"),
    Step("actions/live/update", "tick", "is anything not as its goals want it?"),
    Step("actions/live/state", "look", "where that may be new: which rigs are live, in which order"),
    Step("actions/live/figures", "as_foreseen", "all stand already: done"),
    Step("actions/live/user_edits", "settle", "after a change: what was posed by hand stays, and its goals come along"),
    Step("rig/goals", "read_sources", "where the goals are"),
    Step("rig/figure/reader", "read", "in full, where limits, lengths or settings are others"),
    Step("rig/figure/reader", "restarted", "else: where keys have the start pose in this frame"),
    Step("actions/live/figures", "follow", "for goals that moved, or another start pose"),
    Step("kernel/solver", "Solver", "the same solve"),
    Step("actions/live/figures", "write", "what does not stand so yet, all bones at once"),
    Step(BLENDER, "", "evaluates what was written, and draws"),
)
SHOT = (
    Step("operators/baking", "FABRIK_OT_bake", "options, progress, Esc"),
    Step("actions/bake/run", "bake_steps", "from settings to keys, or back to the keys, action and pose before"),
    Step("actions/solve", "together", "which chains are solved together"),
    Step("actions/bake/checks", "check_bake", "what can't be baked, before anything is written"),
    Step("actions/solve", "levels", "and which after which: one level after the other"),
    Step("actions/bake/sample", "sample", "all goals: by their curves where these tell"),
    Step(BLENDER, "", "else evaluates each frame"),
    Step("rig/figure/reader", "read_figure", "bones, limits, start pose"),
    Step("actions/bake/sample", "Track", "all frames, a row each"),
    Step("kernel/rows", "Rows", "the same solve, in a loop"),
    Step("actions/bake/keys", "keys_of", "rotations that run on from frame to frame"),
    Step("actions/bake/keys", "clean", "keys that are not needed are left out"),
    Step("rig/animation/curves", "CurveWriter", "keys in place of those that were there"),
    Step("actions/bake/run", "verify", "plays the keys and compares"),
    Step(BLENDER, "", "evaluates the keys"),
    Step("actions/bake/report", "BakeResult", "chains off, so that the keys play; stored with the armature, as JSON"),
)
DRAG = (
    Step("operators/dragging", "FABRIK_OT_drag", "the mouse, keys, header, Esc"),
    Step("actions/drag/drag", "begin", "the pose at hand becomes the start pose"),
    Step("actions/drag/scope", "scope_of", "what follows: a limb, or the body with its pins"),
    Step("rig/figure/reader", "read", "bones, limits, goals"),
    Step("actions/drag/drag", "drag_to", "for each move of the mouse"),
    Step("rig/figure/solve", "posed", "the same solve"),
    Step("kernel/solver", "Solver", "from the same start pose each time"),
    Step("rig/figure/pose_writer", "PoseWriter", "rotations as channels of the bones"),
    Step(BLENDER, "", "evaluates the pose, and draws"),
    Step("actions/drag/drag", "finish", "the mouse is let go"),
    Step("rig/animation/keys", "insert_posed_keys", "keys, with automatic keying"),
    Step("actions/keep_pose", "let_go", "goals, pins and poles come to where the tips are"),
    Step("rig/figure/start_pose", "store_start", "the pose becomes the start pose where a solve would change it"),
)
WALK = (
    Step("operators/walking", "FABRIK_OT_walk_plan", "which frames, and what could not be as asked"),
    Step("actions/walk/plan", "plan_steps", "from the path of the body, by its curves"),
    Step("actions/walk/setup", "measured", "legs and feet in the rest pose"),
    Step(BLENDER, "", "evaluates frames where more moves it"),
    Step("rig/terrain", "MeshTerrain", "the ground, to be asked by rays"),
    Step("gait/planning", "planning", "clock, footholds, swings, body: the steps"),
    Step("gait/plan", "to_text", "kept with the armature"),
    Step("handlers", "_on_frame", "later, in any frame: the way of a frame"),
    Step("rig/walk_goals", "walk_goal", "where the plan has each foot, in place of its goal"),
    Step("gait/plan", "feet_at", "read from the list of steps"),
    Step("rig/figure/solve", "posed", "the same solve"),
    Step("kernel/solver", "Solver", "so live, render and bake agree"),
)
WAYS = {
    "way_of_a_target": TARGET,
    "way_of_a_frame": FRAME,
    "way_of_a_shot": SHOT,
    "way_of_a_drag": DRAG,
    "way_of_a_walk": WALK,
}


# ---- pictures

PICTURES = ROOT / "scripts" / "pictures"
COLUMNS = (140, 196, 220, 204, 186)  # widths: what is written in each lane, and as wide as a page of the manual in all
GAP, LINE, PADDING, MARGIN = 18, 17, 8, 10
WIDTH = sum(COLUMNS) + 2 * MARGIN
LEFT = (*accumulate(COLUMNS, initial=MARGIN),)
BETWEEN, INSET = 6, 4  # lanes, and a lane's edge and a box
LETTER = 7.4  # width of one of words or names, at the most that the fonts of systems have on average
NAME = "name"

# How drawings begin, with the colours of things in a light window and in a dark one.
START = Template(Path(__file__).with_name("diagram.svg").read_text(encoding="utf-8"))


def diagrams() -> dict[Path, str]:
    """The files of all pictures, with what is in them."""
    drawn = {"layers": layers_picture(), **{name: way_picture(steps) for name, steps in WAYS.items()}}
    return {PICTURES / f"{name}.svg": text for name, text in drawn.items()}


def _start(height: float) -> str:
    return START.substitute(width=WIDTH, height=round(height))


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

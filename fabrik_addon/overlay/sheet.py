# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn along timeline and dope sheet: the last bake, the width of edits through time, contacts as bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import bpy
import gpu

from ..actions.bake import read_report
from ..actions.bake.report import LEVELS
from ..actions.chain_edit import working_rig
from ..actions.motion.marks import Contact, contacts_of
from ..motion.contacts import FLAT
from ..rig.schema.rig import SceneView
from .settings import scene_settings
from .shapes import Colour, batch_of, theme_colours, write

# Pixels at scale 1.
BELOW, HEIGHT = 23.0, 6.0  # of the scrubbing region above the strip of a bake, of the strip
LEAST = 2.0  # by which a run is seen
BAR, GAP = 10.0, 3.0  # the height of a bar of contacts, and what is between two
FOOT = 12.0  # below the bars, where Blender has its scroll bar
BELL = 22.0  # the height of the curve of edits through time
EDGE = 6.0  # on either side of the end of a bar, within which the mouse takes that
TEXT = 10.0  # the size of a foot's name
BELL_POINTS = 24
PARTLY = 0.45  # opacity of a bar where heel or toes alone are on the ground

Run = tuple[float, float, int]  # first and last frame, level
Rectangle = tuple[float, float, int]  # left and right in pixels, level
# Under the mouse: the contact, and 1 for each of its ends, first and last, that is taken.
Bar = tuple[Contact, tuple[int, int]]


class Scale(NamedTuple):
    """How frames are seen in a region.

    Attributes:
        origin: Where frame 0 is, in pixels.
        per_frame: Pixels of a frame.
        width: Of the region.
        top: Below the scrubbing region.
        size: Of the user interface.
    """

    origin: float
    per_frame: float
    width: float
    top: float
    size: float

    @classmethod
    def of(cls, context: bpy.types.Context) -> Scale:
        """That of the region of a timeline or dope sheet."""
        region: Any = context.region
        size = context.preferences.system.ui_scale
        origin = region.view2d.view_to_region(0.0, 0.0, clip=False)[0]
        per_frame = (region.view2d.view_to_region(1000.0, 0.0, clip=False)[0] - origin) / 1000.0
        top = max(region.height - BELOW * size, HEIGHT * size)  # a timeline may be no higher than its numbers
        return cls(origin, per_frame, region.width, top, size)

    def at(self, frame: float) -> float:
        """Where a frame is."""
        return self.origin + frame * self.per_frame

    def clipped(self, first: float, last: float) -> tuple[float, float] | None:
        """From where to where frames are, wide enough to be seen, as far as they are in the region; None if not."""
        left = self.at(first - 0.5)
        right = max(self.at(last + 0.5), left + LEAST)
        return (max(left, 0.0), min(right, self.width)) if right > 0.0 and left < self.width else None

    def frame_at(self, x: float) -> float:
        """Which frame is at a place, sub-frame included."""
        return (x - self.origin) / self.per_frame

    def low_of(self, row: int) -> float:
        """The lower edge of a row of bars: at the foot of the region, where they cover the fewest keys."""
        return (FOOT + row * (BAR + GAP)) * self.size

    def has_room(self, row: int) -> bool:
        """Whether a row of bars covers no numbers of frames."""
        return self.low_of(row) + BAR * self.size <= self.top


def rectangles(runs: list[Run], scale: Scale) -> list[Rectangle]:
    """The parts of runs that are in view."""
    seen = [(scale.clipped(first, last), level) for first, last, level in runs]
    found = [(*ends, level) for ends, level in seen if ends is not None]
    return sorted(found, key=lambda rectangle: rectangle[2])  # the worst is drawn over the others


def level_colour(level: int, best: Colour, worst: Colour) -> Colour:
    """The colour of a level, between those of the best and the worst."""
    share = level / LEVELS
    red, green, blue, alpha = (a + (b - a) * share for a, b in zip(best, worst, strict=True))
    return red, green, blue, alpha


def rows_of(contacts: Iterable[Contact], scale: Scale) -> list[tuple[str, list[Contact]]]:
    """Contacts by feet, a row for each that has room, from below."""
    rows = [(bone, [*own]) for bone, own in groupby(contacts, key=lambda one: one.bone)][::-1]
    return [own for row, own in enumerate(rows) if scale.has_room(row)]


def bar_at(context: bpy.types.Context, x: float, y: float) -> Bar | None:
    """The contact at a place of the region of a timeline or dope sheet; None where there is none, or none are drawn."""
    owner = _marked_rig(context)
    if owner is None:
        return None
    scale = Scale.of(context)
    for row, (_, contacts) in enumerate(rows_of(contacts_of(owner), scale)):
        low = scale.low_of(row)
        if not low <= y <= low + BAR * scale.size:
            continue
        for one in contacts:
            left, right, edge = scale.at(one.first - 0.5), scale.at(one.last + 0.5), EDGE * scale.size
            if left - edge <= x <= right + edge:
                inner = min(edge, (right - left) / 4.0)
                ends = int(x <= left + inner), int(x >= right - inner)
                return one, ends if any(ends) else (1, 1)
    return None


def _marked_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature whose contacts are drawn."""
    owner = working_rig(context)
    is_shown = scene_settings(context.scene).show_contacts and owner is not None and owner.type == "ARMATURE"
    return owner if is_shown else None


def draw(context: bpy.types.Context) -> None:
    """Draw what there is along the frames of the region."""
    scene, owner = context.scene, working_rig(context)
    if owner is None or owner.type != "ARMATURE":
        return
    scale, colours = Scale.of(context), theme_colours(context.preferences)
    report = read_report(owner) if scene_settings(scene).show_strip else None
    if report is not None:
        _draw_runs(report["strip"], scale, colours)
    if _marked_rig(context) is not None:
        _draw_bars(rows_of(contacts_of(owner), scale), scale, colours)
    if SceneView(scene).through_time:
        _draw_bell(scene, scale, colours["target"])


def _draw_runs(runs: list[Run], scale: Scale, colours: dict[str, Colour]) -> None:
    """The runs of the last bake."""
    low, best, worst = scale.top - HEIGHT * scale.size, colours["target"], colours["blocked"]
    seen = rectangles(runs, scale)
    _paint([(left, low, right, scale.top, level_colour(level, best, worst)) for left, right, level in seen])


def _draw_bars(rows: Sequence[tuple[str, list[Contact]]], scale: Scale, colours: dict[str, Colour]) -> None:
    """The contacts of feet: full where the whole foot stands; those with their own places as targets."""
    found = list[tuple[float, float, float, float, Colour]]()
    for row, (_, contacts) in enumerate(rows):
        low = scale.low_of(row)
        high = low + BAR * scale.size
        for one in contacts:
            first, (red, green, blue, _) = one.first, colours["target" if any(one.place) else "pin"]
            for kind, own in groupby(one.kinds):
                count = len([*own])
                ends = scale.clipped(first, first + count - 1)
                first += count
                if ends is not None:
                    found.append((ends[0], low, ends[1], high, (red, green, blue, 1.0 if kind == FLAT else PARTLY)))
    _paint(found)
    for row, (bone, _) in enumerate(rows):
        place = 4.0 * scale.size, scale.low_of(row) + 2.0 * scale.size
        write(bone, place, TEXT * scale.size, colours["text"])


def _draw_bell(scene: bpy.types.Scene, scale: Scale, colour: Colour) -> None:
    """By how much frames about this one follow an edit."""
    width, found = SceneView(scene).time_width, list[tuple[float, float]]()
    for k in range(2 * BELL_POINTS + 1):
        off = k / BELL_POINTS - 1.0
        weight = 1.0 - off * off * (3.0 - 2.0 * abs(off))
        found.append((scale.at(scene.frame_current + off * width), 2.0 * scale.size + weight * BELL * scale.size))
    shader, batch = batch_of("UNIFORM_COLOR", "LINE_STRIP", pos=[(x, y, 0.0) for x, y in found])
    shader.uniform_float("color", colour)
    batch.draw(shader)


def _paint(areas: Sequence[tuple[float, float, float, float, Colour]]) -> None:
    """Fill rectangles: left, low, right, high, colour."""
    points, tints = list[tuple[float, float]](), list[Colour]()
    for left, low, right, high, tint in areas:
        points += [(left, low), (right, low), (right, high), (left, low), (right, high), (left, high)]
        tints += [tint] * 6
    if not points:
        return
    shader, batch = batch_of("FLAT_COLOR", "TRIS", pos=points, color=tints)
    gpu.state.blend_set("ALPHA")
    batch.draw(shader)
    gpu.state.blend_set("NONE")

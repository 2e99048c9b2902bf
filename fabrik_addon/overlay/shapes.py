# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn, as plain data in world space: coloured lines, points and faces; its colours and how it is painted.

Lines of text are here, too: how wide they are in Blender's interface, where they are broken, and writing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, sin, tau
from operator import attrgetter
from typing import Any

import blf
import bpy
import gpu
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from ..maths import (
    Q4,
    V3,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    distance,
    length,
    minus,
    perpendicular,
    plus,
    rotated,
    scaled,
    unit,
    v3,
)
from ..rig.limit_types import Outline

Colour = tuple[float, float, float, float]
Measure = Callable[[str], float]

# Name of a colour, the part of the theme, the colour in it, how opaque it is drawn.
FROM_THEME = {
    "after": ("view_3d", "bone_pose_active", 1.0),
    "before": ("view_3d", "bone_pose", 0.5),
    "target": ("user_interface", "axis_y", 1.0),
    "pole": ("user_interface", "axis_z", 0.9),
    "pole_plane": ("user_interface", "axis_z", 0.08),
    "limit": ("user_interface", "gizmo_a", 0.9),
    "limit_face": ("user_interface", "gizmo_a", 0.08),
    "blocked": ("user_interface", "axis_x", 1.0),
    "blocked_face": ("user_interface", "axis_x", 0.15),
    "reach": ("user_interface", "gizmo_secondary", 0.5),
    "limited_reach": ("user_interface", "gizmo_a", 0.5),
    "residual": ("view_3d", "object_active", 1.0),
    "hover": ("user_interface", "gizmo_hi", 1.0),
    "hover_end": ("view_3d", "object_active", 1.0),
    "pin": ("user_interface", "gizmo_primary", 1.0),
    "pin_face": ("user_interface", "gizmo_primary", 0.4),
    "turn_x": ("user_interface", "axis_x", 1.0),
    "turn_y": ("user_interface", "axis_y", 1.0),
    "turn_z": ("user_interface", "axis_z", 1.0),
    "step": ("user_interface", "gizmo_hi", 1.0),
    "text": ("user_interface", "wcol_regular.text_sel", 1.0),
}
LINE_WIDTH, POINT_SIZE = 2.0, 6.0  # pixels at scale 1
POINT_SHADER = "POINT_FLAT_COLOR" if bpy.app.version >= (4, 5) else "FLAT_COLOR"
CIRCLE_POINTS = 64  # corners of a circle of the reach
DASHES = 12  # of a dashed line
AXES = 0.12  # of a rotation, as a share of the chain's length
TEETH, TOOTH = 16, 0.06  # along the edge of a limit that holds back; how far each goes in and out, as a share
CROSS = 0.04  # arms of the target's cross, as a share of the chain's length


def theme_colours(preferences: bpy.types.Preferences) -> dict[str, Colour]:
    """All colours by their names."""
    theme: Any = preferences.themes[0]
    found = {}
    for name, (part, colour, alpha) in FROM_THEME.items():
        red, green, blue = tuple(attrgetter(f"{part}.{colour}")(theme))[:3]
        found[name] = (red, green, blue, alpha)
    return found


@dataclass(frozen=True, slots=True)
class Picture:
    """One chain as it is to be shown; points in world space.

    Attributes:
        joints: n + 1 points of the pose as it stands.
        before: n + 1 points of the start pose; empty where it is not known.
        target: Point, or None.
        pole: Point, or None.
        limits: Of each limited joint the outline in the rest frame of its bone, for a bone of length 1; the matrix from
            there to the world; the end of the bone, there; and whether the limit holds the chain back.
        reach: Radii about the root within which the tip comes: without limits, and with them where they are known.
        is_reached: Whether the effector is on its goal.
        effector: What is to come to the target: the last joint, or the head of the last bone.
        turn: The rotation that the last bone is to have, or None.
        soft: Where the softened goal stands, where that is not at the target; or None.
        about: Curves about the target that show where else the effector may be.
        aim: From where an axis of the last bone aims, and where it hits as far away as the target; or empty.
    """

    joints: tuple[V3, ...]
    before: tuple[V3, ...] = ()
    target: V3 | None = None
    pole: V3 | None = None
    limits: tuple[tuple[Outline, Matrix, V3, bool], ...] = ()
    reach: tuple[float, ...] = ()
    limited_reach: tuple[float, ...] = ()
    is_reached: bool = True
    effector: V3 | None = None
    turn: Q4 | None = None
    soft: V3 | None = None
    about: tuple[tuple[V3, ...], ...] = ()
    aim: tuple[V3, ...] = ()

    @property
    def end(self) -> V3:
        """The effector."""
        return self.joints[-1] if self.effector is None else self.effector

    @property
    def length(self) -> float:
        """Length of the chain in the world."""
        return sum(distance(a, b) for a, b in pairwise(self.joints))


@dataclass(slots=True)
class Shapes:
    """Primitives by the name of their colour: ends of lines in pairs, points, corners of triangles in threes."""

    lines: dict[str, list[V3]] = field(default_factory=dict)
    points: dict[str, list[V3]] = field(default_factory=dict)
    faces: dict[str, list[V3]] = field(default_factory=dict)

    def line(self, colour: str, points: Iterable[V3]) -> None:
        """A line through points."""
        ends = [end for pair in pairwise(points) for end in pair]
        if ends:
            self.lines.setdefault(colour, []).extend(ends)

    def dashes(self, colour: str, a: V3, b: V3) -> None:
        """A dashed line."""
        step = scaled(minus(b, a), 1.0 / (2 * DASHES - 1))
        for k in range(0, 2 * DASHES - 1, 2):
            self.line(colour, (plus(a, scaled(step, k)), plus(a, scaled(step, k + 1))))

    def dots(self, colour: str, points: Iterable[V3]) -> None:
        """Points."""
        self.points.setdefault(colour, []).extend(points)

    def fan(self, colour: str, centre: V3, points: Sequence[V3]) -> None:
        """A face from a centre to a curve."""
        kept = self.faces.setdefault(colour, [])
        for a, b in pairwise(points):
            kept += (centre, a, b)


def shapes_of(pictures: Iterable[Picture], parts: set[str]) -> Shapes:
    """The primitives of chains, of those parts of `PARTS` that are wanted."""
    shapes = Shapes()
    for picture in pictures:
        for name, draw in PARTS.items():
            if name in parts:
                draw(shapes, picture)
    return shapes


def _before(shapes: Shapes, picture: Picture) -> None:
    shapes.line("before", picture.before)
    shapes.dots("before", picture.before)


def _goal(shapes: Shapes, picture: Picture) -> None:
    if picture.target is None:
        return
    arm = CROSS * picture.length
    _cross(shapes, picture.target, arm)
    for curve in picture.about:
        shapes.line("target", curve)
    if picture.soft is not None:
        _cross(shapes, picture.soft, 0.5 * arm)
        shapes.dashes("target", picture.soft, picture.target)


def _cross(shapes: Shapes, place: V3, arm: float) -> None:
    for axis in ((arm, 0.0, 0.0), (0.0, arm, 0.0), (0.0, 0.0, arm)):
        shapes.line("target", (minus(place, axis), plus(place, axis)))


def _pole(shapes: Shapes, picture: Picture) -> None:
    if picture.pole is None:
        return
    root, tip = picture.joints[0], picture.end
    shapes.fan("pole_plane", picture.pole, (root, tip))
    shapes.dashes("pole", _middle((*picture.joints[:-1], tip)), picture.pole)
    shapes.line("pole", (root, tip))


def _middle(joints: Sequence[V3]) -> V3:
    """The joint that stands farthest from the line from root to tip, from which the bend is seen."""
    root, along = joints[0], unit(minus(joints[-1], joints[0]))
    return max(joints, key=lambda joint: length(perpendicular(minus(joint, root), along)))


def _limits(shapes: Shapes, picture: Picture) -> None:
    for outline, matrix, bone, blocks in picture.limits:
        colour, centre = "blocked" if blocks else "limit", v3(matrix.translation)
        for curve in (*outline.swing, *outline.twist):
            points = [v3(matrix @ Vector(point)) for point in curve]
            shapes.line(colour, points)
            shapes.fan(f"{colour}_face", centre, points)
            # Strokes across the curve: a limit that holds back is told by more than its colour.
            for point in points[:: max(1, len(points) // TEETH)] if blocks else ():
                way = scaled(minus(point, centre), TOOTH)
                shapes.line(colour, (minus(point, way), plus(point, way)))
        for end in outline.ends.values():
            shapes.line(colour, (centre, v3(matrix @ Vector(end))))
        shapes.line("after", (centre, v3(matrix @ Vector(bone))))


def _reach(shapes: Shapes, picture: Picture) -> None:
    """How far the chain reaches: a line; within its limits: dashes."""
    for circle in (one for radius in picture.reach for one in circles(picture.joints[0], radius)):
        shapes.line("reach", circle)
    for circle in (one for radius in picture.limited_reach for one in circles(picture.joints[0], radius)):
        for a, b in list(pairwise(circle))[::2]:
            shapes.line("limited_reach", (a, b))


def circles(centre: V3, radius: float) -> list[list[V3]]:
    """Three circles that show a sphere; none where it is a point."""
    turns = [(cos(tau * k / CIRCLE_POINTS), sin(tau * k / CIRCLE_POINTS)) for k in range(CIRCLE_POINTS + 1)]
    rings = [(x, y, 0.0) for x, y in turns], [(x, 0.0, y) for x, y in turns], [(0.0, x, y) for x, y in turns]
    return [[plus(centre, scaled(point, radius)) for point in ring] for ring in rings if radius > 0.0]


def _residual(shapes: Shapes, picture: Picture) -> None:
    if picture.target is not None and not picture.is_reached:
        start = picture.aim[1] if picture.aim else picture.end
        shapes.line("residual", (start, picture.target if picture.soft is None else picture.soft))


def _rotation(shapes: Shapes, picture: Picture) -> None:
    if picture.turn is not None:
        draw_axes(shapes, picture.end, picture.turn, AXES * picture.length)
    if picture.aim:
        shapes.dashes("turn_y", *picture.aim)


def draw_axes(shapes: Shapes, place: V3, turn: Q4, size: float) -> None:
    """The axes of a rotation, in the colours of the theme."""
    for colour, axis in zip(("turn_x", "turn_y", "turn_z"), (X_AXIS, Y_AXIS, Z_AXIS), strict=True):
        shapes.line(colour, (place, plus(place, scaled(rotated(turn, axis), size))))


PARTS: dict[str, Callable[[Shapes, Picture], None]] = {
    "reach": _reach,
    "before": _before,
    "pole": _pole,
    "limits": _limits,
    "after": lambda shapes, picture: shapes.line("after", picture.joints),
    "joints": lambda shapes, picture: shapes.dots("after", picture.joints),
    "goal": _goal,
    "residual": _residual,
    "rotation": _rotation,
}


Batches = list[tuple[Any, Any, bool]]  # shaders, what they draw, and whether that is lines


class Drawing:
    """What a view was drawn last, made anew only where it changed.

    Attributes:
        key: For what the batches were made.
        batches: What is drawn.
    """

    def __init__(self) -> None:
        self.key: object = None
        self.batches: Batches = []

    def draw(self, context: bpy.types.Context, key: object, shapes: Callable[[], Shapes]) -> None:
        """Draw shapes in the context's region, which are made anew with another key."""
        if context.region is None:
            return
        if key != self.key:
            self.batches, self.key = _batches(context, shapes()), key
        _draw(context, self.batches, 1.0)

    def forget(self) -> None:
        """Keep nothing."""
        self.key, self.batches = None, []


def paint(context: bpy.types.Context, shapes: Shapes, width: float = 1.0) -> None:
    """Draw shapes, made for this redraw, in the context's region, lines and points some times as wide as their own."""
    if context.region is not None:
        _draw(context, _batches(context, shapes), width)


def _batches(context: bpy.types.Context, shapes: Shapes) -> Batches:
    """Of all primitives of a type one, faces first."""
    colours, found = theme_colours(context.preferences), []
    for shader, kind, coloured in (
        ("FLAT_COLOR", "TRIS", shapes.faces),
        ("POLYLINE_FLAT_COLOR", "LINES", shapes.lines),
        (POINT_SHADER, "POINTS", shapes.points),
    ):
        points = [point for same in coloured.values() for point in same]
        tints = [colours[colour] for colour, same in coloured.items() for _ in same]
        if points:
            found.append((*batch_of(shader, kind, pos=points, color=tints), coloured is shapes.lines))
    return found


def batch_of(shader: str, kind: str, **content: object) -> tuple[Any, Any]:
    """One of Blender's shaders, and a batch of primitives for it."""
    builtin: Any = gpu.shader.from_builtin
    make: Any = batch_for_shader
    found = builtin(shader)
    return found, make(found, kind, content)


def _draw(context: bpy.types.Context, batches: Batches, width: float) -> None:
    """Draw over what is there, with the view's matrices as they are set; lines and points so much wider."""
    viewport, scale = (context.region.width, context.region.height), context.preferences.system.ui_scale * width
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    gpu.state.point_size_set(POINT_SIZE * scale)
    for shader, batch, are_lines in batches:
        shader.bind()
        if are_lines:
            shader.uniform_float("viewportSize", viewport)
            shader.uniform_float("lineWidth", LINE_WIDTH * scale)
        batch.draw(shader)
    gpu.state.point_size_set(1.0)
    gpu.state.blend_set("NONE")


def text_width(context: bpy.types.Context, text: str) -> float:
    """How wide a text is in a panel, a header or the status bar, in pixels."""
    preferences: Any = context.preferences
    blf.size(0, preferences.ui_styles[0].widget.points * preferences.system.ui_scale)
    size: Any = blf.dimensions  # the stubs of 4.2 say that it returns nothing
    return float(size(0, text)[0])


def lines_of(text: str, room: float, measure: Measure) -> list[str]:
    """Break a text between words, or inside of those that are too long for the room by a measure; one line at least."""
    lines: list[str] = []
    for word in text.split():
        rest = word
        if lines and measure(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
            continue
        while measure(rest) > room and len(rest) > 1:
            count = max((n for n in range(1, len(rest)) if measure(rest[:n]) <= room), default=1)
            lines.append(rest[:count])
            rest = rest[count:]
        lines.append(rest)
    return lines or [""]


def write(text: str, place: tuple[float, float], size: float, colour: Colour, has_shadow: bool = True) -> None:
    """Write a line of text from its lower left corner; place and size are in pixels.

    A shadow lets it be read over whatever is behind it.
    """
    blf.size(0, size)
    blf.color(0, *colour)
    if has_shadow:
        blf.enable(0, blf.SHADOW)
        blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    blf.position(0, *place, 0.0)
    blf.draw(0, text)
    blf.disable(0, blf.SHADOW)

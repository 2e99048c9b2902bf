# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes on the GPU: one batch for each type of primitive."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ..maths import V3
from .colours import Colour
from .shapes import Shapes

LINE_WIDTH, POINT_SIZE = 2.0, 6.0  # pixels at scale 1
POINT_SHADERS = ("POINT_FLAT_COLOR", "FLAT_COLOR")  # the first is from 4.5 on


class Painted:
    """Batches of shapes, made once and drawn as often as wanted; has to be made where something is drawn."""

    def __init__(self, shapes: Shapes, colours: dict[str, Colour]) -> None:
        self._lines = _batch("POLYLINE_FLAT_COLOR", "LINES", shapes.lines, colours)
        self._points = _batch(_point_shader(), "POINTS", shapes.points, colours)
        self._faces = _batch("FLAT_COLOR", "TRIS", shapes.faces, colours)

    def draw(self, viewport: tuple[float, float], scale: float) -> None:
        """Draw over what is there, with the view's matrices as they are set.

        Args:
            viewport: Width and height in pixels.
            scale: Pixels of a line of width 1.
        """
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_test_set("NONE")
        gpu.state.point_size_set(POINT_SIZE * scale)
        for found in (self._faces, self._lines, self._points):
            if found is None:
                continue
            shader, batch = found
            shader.bind()
            if found is self._lines:
                shader.uniform_float("viewportSize", viewport)
                shader.uniform_float("lineWidth", LINE_WIDTH * scale)
            batch.draw(shader)
        gpu.state.point_size_set(1.0)
        gpu.state.blend_set("NONE")


def _point_shader() -> str:
    return POINT_SHADERS[0] if bpy.app.version >= (4, 5) else POINT_SHADERS[1]


def _batch(name: str, kind: str, coloured: dict[str, list[V3]], colours: dict[str, Colour]) -> tuple[Any, Any] | None:
    """The shader and the batch of all primitives of a type, or None where there are none."""
    points = [point for same in coloured.values() for point in same]
    if not points:
        return None
    vertex_colours = [colours[colour] for colour, same in coloured.items() for _ in same]
    builtin: Any = gpu.shader.from_builtin
    make: Any = batch_for_shader
    shader = builtin(name)
    return shader, make(shader, kind, {"pos": points, "color": vertex_colours})

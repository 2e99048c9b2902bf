# SPDX-License-Identifier: GPL-3.0-or-later
"""From the mouse to where a dragged tip goes.

It snaps to steps, or to the vertices, edges and faces under the mouse, as Blender's settings say. It turns about the
axis of the view, about an axis of the world, or as a ball under the hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, pi
from typing import Any

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d, region_2d_to_origin_3d, region_2d_to_vector_3d
from mathutils import Matrix, Vector
from mathutils.geometry import intersect_point_line

from ..maths import Q4, V3, X_AXIS, Y_AXIS, Z_AXIS, multiplied, turn_about, v3

NEAR = 30.0  # pixels at scale 1 from the mouse to a vertex or an edge
MOST_HITS = 16  # things before the one that counts
PAST = 1e-4  # share of the way by which a ray starts anew behind what it hit
STEP, FINE_STEP = 1.0, 0.1  # scene units
A_PIXEL = 0.01  # radians by which a ball turns for a pixel at scale 1
NO_PLACE = 2.0  # pixels round the pivot in which the mouse tells no direction
AXES = (X_AXIS, Y_AXIS, Z_AXIS)


def snapped(
    context: bpy.types.Context, owner: bpy.types.Object, mouse: Vector, start: Vector, way: Vector, fine: bool
) -> Vector:
    """The way of a tip with Blender's snapping.

    Args:
        context: Of a 3D View.
        owner: The armature; what it deforms does not count.
        mouse: In the region.
        start: Where the tip stood.
        way: How far it is dragged.
        fine: Whether steps are small.
    """
    elements: Any = context.scene.tool_settings.snap_elements
    if elements & {"VERTEX", "EDGE", "FACE"}:
        point = _under_mouse(context, owner, mouse, elements)
        return way if point is None else point - start
    step = FINE_STEP if fine else STEP
    return Vector([round(value / step) * step for value in way])


def _under_mouse(
    context: bpy.types.Context, owner: bpy.types.Object, mouse: Vector, elements: set[str]
) -> Vector | None:
    """The vertex, else the edge, else the face under the mouse, of those that are wanted."""
    hit = next(_hits(context, owner, mouse), None)
    if hit is None:
        return None
    location, found, index = hit
    mesh: Any = found.evaluated_get(context.evaluated_depsgraph_get()).data
    corners = [found.matrix_world @ mesh.vertices[i].co for i in mesh.polygons[index].vertices]
    candidates: list[Vector] = []
    if "VERTEX" in elements:
        candidates = corners
    elif "EDGE" in elements:
        candidates = [_on_edge(location, a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    ranked = []
    for point in candidates:
        seen = location_3d_to_region_2d(context.region, context.region_data, point)
        if seen is not None and (seen - mouse).length <= NEAR * context.preferences.system.ui_scale:
            ranked.append(((seen - mouse).length, point))
    if ranked:
        return min(ranked, key=lambda pair: pair[0])[1]
    return location if "FACE" in elements else None


def _on_edge(point: Vector, a: Vector, b: Vector) -> Vector:
    near, share = intersect_point_line(point, a, b)
    return a if share <= 0.0 else b if share >= 1.0 else near


def _hits(
    context: bpy.types.Context, owner: bpy.types.Object, mouse: Vector
) -> Iterator[tuple[Vector, bpy.types.Object, int]]:
    """Meshes under the mouse from front to back, but for those that hang on the armature."""
    origin = region_2d_to_origin_3d(context.region, context.region_data, mouse)
    ray = region_2d_to_vector_3d(context.region, context.region_data, mouse)
    depsgraph = context.evaluated_depsgraph_get()
    cast: Any = context.scene.ray_cast  # the stubs of 4.2 say that it returns nothing
    for _ in range(MOST_HITS):
        is_hit, location, _, index, found, _ = cast(depsgraph, origin, ray)
        if not is_hit:
            return
        if not _hangs_on(found.original, owner) and found.type == "MESH":
            yield location, found.original, index
        origin = location + ray * PAST * max(1.0, (location - origin).length)


def _hangs_on(found: bpy.types.Object, owner: bpy.types.Object) -> bool:
    deformed = any(getattr(modifier, "object", None) == owner for modifier in found.modifiers)
    return deformed or found.parent == owner


def angle_about(pivot: Sequence[float], before: Sequence[float], after: Sequence[float]) -> float:
    """The angle by which the mouse went round a pivot, against the clock; in (-pi, pi].

    Args:
        pivot: In the region, in pixels.
        before: Where the mouse was.
        after: Where it is.
    """
    a, b = (Vector(place) - Vector(pivot) for place in (before, after))
    if a.length <= NO_PLACE or b.length <= NO_PLACE:
        return 0.0
    angle = atan2(b.y, b.x) - atan2(a.y, a.x)
    return pi - (pi - angle) % (2.0 * pi)


def turn_of_view(view: Matrix, angle: float, axis: int | None) -> Q4:
    """The rotation in the world for an angle against the clock as it is seen.

    Args:
        view: From the world to the view, as Blender's `view_matrix`.
        angle: Radians.
        axis: Index of the world's axis about which it turns; None for that of the view.
    """
    towards: V3 = v3(view.to_3x3().transposed().col[2])
    if axis is None:
        return turn_about(towards, angle)
    is_away = towards[axis] < 0.0
    return turn_about(AXES[axis], -angle if is_away else angle)


def turn_of_ball(view: Matrix, step: Sequence[float], scale: float) -> Q4:
    """The rotation in the world for a step of the mouse over a ball.

    Args:
        view: From the world to the view.
        step: Pixels to the right, and up.
        scale: Of the user interface.
    """
    axes = view.to_3x3().transposed()
    right, up = v3(axes.col[0]), v3(axes.col[1])
    factor = A_PIXEL / scale
    return multiplied(turn_about(up, step[0] * factor), turn_about(right, -step[1] * factor))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The bone that a click would take, as it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import bpy
import pytest
from fabrik_addon.maths import v3
from fabrik_addon.operators.picking import Picked, show
from fabrik_addon.overlay import hover
from fabrik_addon.overlay.shapes import theme_colours
from mathutils import Matrix, Vector

from support.drawn import Context, ready_gpu, seen
from support.scenes import add_chain, make_line


@pytest.fixture(autouse=True)
def _nothing_shown() -> Iterator[None]:
    yield
    hover.show(None)


def shown() -> hover.Hovered:
    assert hover.state.shown is not None
    return hover.state.shown


@pytest.mark.parametrize("at_head", [True, False])
def test_the_shape_is_the_bones_and_the_end_is_marked(at_head: bool) -> None:
    matrix = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(0.5, 4, "X")
    shapes = hover.bone_shapes(matrix, 2.0, at_head)
    head, tail = v3(matrix.translation), v3(matrix @ Vector((0, 2, 0)))
    assert {head, tail} < set(shapes.lines["hover"])
    assert shapes.points == {"hover_end": [head if at_head else tail]}
    assert set(shapes.lines) | set(shapes.points) <= set(theme_colours(bpy.context.preferences))


def test_it_tells_name_end_and_pin() -> None:
    owner = make_line(3)
    show(Picked(owner, "", "b1", "HEAD"))
    assert shown() == hover.Hovered(owner.name, "b1", "HEAD", "head of b1")
    add_chain(owner, tip="b1", count=2).pin = True
    show(Picked(owner, "", "b1", "TAIL"))
    assert shown().text == "b1 (pinned)"
    show(None)
    assert hover.state.shown is None


def test_only_what_is_another_is_drawn_anew() -> None:
    one = hover.Hovered("Rig", "b1", "TAIL", "b1")
    assert hover.show(one)
    assert not hover.show(hover.Hovered("Rig", "b1", "TAIL", "b1"))
    assert hover.show(None)


def test_it_is_seen_as_long_as_there_is_such_a_bone() -> None:
    owner = make_line(3)
    ready_gpu()
    context = cast(bpy.types.Context, Context())
    assert not seen(lambda: hover.draw_view(context)).any()
    show(Picked(owner, "", "b1", "TAIL"))
    assert (seen(lambda: hover.draw_view(context))[..., 3] > 0).sum() > 20
    hover.show(hover.Hovered(owner.name, "gone", "TAIL", ""))
    assert not seen(lambda: hover.draw_view(context)).any()
    hover.show(hover.Hovered("Gone", "b1", "TAIL", ""))
    assert not seen(lambda: hover.draw_view(context)).any()

# SPDX-License-Identifier: GPL-3.0-or-later
"""From the mouse to a rotation, and what the header and the status bar say of a drag."""

from __future__ import annotations

from math import pi, radians

import bpy
import pytest
from fabrik_addon.maths import rotated
from fabrik_addon.operators.base import fitting
from fabrik_addon.operators.dragging import Mode, Shown, header_text, keys_of, name_of
from fabrik_addon.operators.snapping import angle_about, turn_of_ball, turn_of_view
from fabrik_addon.session.dragging import Dragged, Taken, begin, set_turning
from mathutils import Matrix, Vector

from support.scenes import add_chain, make_line

FRONT = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))  # looks along Y, Z is up
BACK = Matrix(((-1, 0, 0, 0), (0, 0, 1, 0), (0, 1, 0, 0), (0, 0, 0, 1)))


@pytest.mark.parametrize(
    ("after", "angle"), [((100, 200), pi / 2), ((0, 100), pi), ((171, 171), pi / 4), ((250, 100), 0)]
)
def test_the_angle_round_a_pivot(after: tuple[float, float], angle: float) -> None:
    assert angle_about((100, 100), (200, 100), after) == pytest.approx(angle, abs=1e-2)
    assert abs(angle_about((100, 100), after, (200, 100))) == pytest.approx(angle, abs=1e-2)


def test_at_the_pivot_there_is_no_direction() -> None:
    assert angle_about((100, 100), (101, 100), (100, 180)) == 0.0


@pytest.mark.parametrize("view", [FRONT, BACK])
def test_it_turns_as_it_is_seen(view: Matrix) -> None:
    """Against the clock: what points to the right of the view points up after a quarter."""
    right, up = (Vector(row[:3]) for row in view[:2])
    assert (Vector(rotated(turn_of_view(view, pi / 2, None), right)) - up).length < 1e-6
    about_y = rotated(turn_of_view(view, pi / 2, 1), right)  # the axis of the world along which both look
    assert (Vector(about_y) - up).length < 1e-6


def test_about_another_axis_of_the_world() -> None:
    turned = rotated(turn_of_view(FRONT, radians(30), 2), (1.0, 0.0, 0.0))
    assert abs(turned[2]) < 1e-6
    assert abs(turned[1]) == pytest.approx(0.5, abs=1e-6)


def test_a_ball_rolls_with_the_hand() -> None:
    towards = Vector((0, -1, 0))  # from the thing to the viewer
    rolled = rotated(turn_of_ball(FRONT, (50, 0), 1.0), towards)
    assert rolled[0] > 0.4
    rolled = rotated(turn_of_ball(FRONT, (0, 50), 1.0), towards)
    assert rolled[2] > 0.4
    assert rotated(turn_of_ball(FRONT, (0, 100), 2.0), towards) == pytest.approx(rolled)


def test_modes_follow_each_other() -> None:
    assert [Mode.MOVE.after, Mode.TURN.after, Mode.BALL.after] == [Mode.TURN, Mode.BALL, Mode.MOVE]


class TestTexts:
    shown = Shown((0.1, 0.0, -0.2), Mode.TURN, 2, 0.5, True, "a note")

    def test_the_header(self) -> None:
        owner = make_line(3)
        chain = add_chain(owner)
        chain.name = "limb"
        drag = begin(bpy.context, owner, Taken.tip_of(chain))
        set_turning(drag, on=True)
        text = header_text(drag, Dragged("BLOCKED", 0.3, radians(12), ("foot.L",)), self.shown, bpy.context.scene)
        for part in ("Rig: limb (b2)", "along Z", "Held back by limits", "12.0° off", "not held: foot.L", "a note"):
            assert part in text
        drag.restore()

    def test_the_keys(self) -> None:
        owner = make_line(3)
        drag = begin(bpy.context, owner, Taken("b1", "HEAD"))
        assert name_of(drag) == "Rig: head of b1"
        text = "   ".join(keys_of(drag, self.shown))
        for part in ("T With Rotation: off", "R Turn: about the view", "Falloff: 0.5", "P Pin", "G Grab", "Esc Cancel"):
            assert part in text
        drag.restore()

    def test_a_narrow_status_bar_has_whole_hints(self) -> None:
        hints = ("Esc Cancel", "T Turn", "P Pin")
        assert fitting(hints, 27.0, len) == list(hints)
        assert fitting(hints, 26.0, len) == ["Esc Cancel", "T Turn"]
        assert fitting(hints, 3.0, len) == ["Esc Cancel"]

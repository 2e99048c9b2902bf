# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that are drawn for limits, and the settings that are read off them."""

from math import atan2, hypot, radians, sin
from typing import Any

import pytest
from fabrik_addon.kernel import FREE, Cone, Hinge, Limit
from fabrik_addon.maths import IDENTITY, along, distance, minus, rotated, turn_about, unit
from fabrik_addon.rig.limit_types import limit_outline, limit_settings, setting_at

from support.chains import X, Y, Z, angle_between, hinge
from support.limit_examples import EXAMPLES, PRECISION, TWIST

ALL = [limit for examples in EXAMPLES.values() for limit in examples]


@pytest.mark.parametrize("limit", ALL, ids=str)
class TestEveryOutline:
    def test_the_bone_comes_to_every_point_of_its_curves(self, limit: Limit) -> None:
        start = limit.clamped(IDENTITY)
        for curve in limit_outline(limit).swing:
            for point in curve:
                if hypot(*point):
                    assert angle_between(rotated(limit.aimed(start, Y, point), Y), point) < PRECISION
                    assert hypot(*point) == pytest.approx(1.0)

    def test_the_twist_comes_to_every_point_of_its_curve(self, limit: Limit) -> None:
        for curve in limit_outline(limit).twist:
            for point in curve:
                turned = turn_about(Y, -atan2(point[2], point[0]))
                twisting: Any = limit
                if isinstance(limit, Hinge):
                    low, allowed, high = limit.angle_min, limit.angle_of(turned), limit.angle_max
                else:
                    low, allowed, high = twisting.twist.low, twisting.twist_angle(turned), twisting.twist.high
                assert low - PRECISION <= allowed <= high + PRECISION

    def test_its_ends_lie_on_its_curves(self, limit: Limit) -> None:
        outline = limit_outline(limit)
        points = [point for curve in (*outline.swing, *outline.twist) for point in curve]
        for end in outline.ends.values():
            assert min(distance(end, point) for point in points) < PRECISION

    def test_all_but_a_free_joint_have_one(self, limit: Limit) -> None:
        outline = limit_outline(limit)
        assert bool(outline.swing or outline.twist) == (limit is not FREE)


def test_an_outline_names_the_settings_that_it_shows() -> None:
    assert set(limit_outline(Cone.circular(0.5, 0.2, TWIST)).ends) == {"cone_max", "cone_min", "twist_min", "twist_max"}
    ellipse = limit_outline(Cone(0.0, 0.3, 1.2, 0.8, 0.5))
    assert set(ellipse.ends) == {"cone_x_min", "cone_x_max", "cone_z_min", "cone_z_max"}
    assert ellipse.ends["cone_x_max"][2] == pytest.approx(sin(1.2), abs=PRECISION)
    assert ellipse.ends["cone_z_min"][0] == pytest.approx(sin(0.8), abs=PRECISION)
    assert limit_outline(hinge(X, 0, 90)).ends["angle_max"][2] == pytest.approx(1.0)
    with pytest.raises(KeyError):
        setting_at(FREE, "angle_min", Y)


def test_nothing_beyond_the_edge_of_a_cone_is_allowed() -> None:
    for limit in (Cone.circular(radians(30)), Cone(0.0, 0.3, 1.2, 0.8, 0.5)):
        for point in limit_outline(limit).swing[0]:
            beyond = unit(along(point, minus(point, Y), 0.1))
            assert angle_between(limit.nearest(beyond), beyond) > 1e-3


@pytest.mark.parametrize("limit", ALL, ids=str)
def test_an_end_of_the_outline_tells_its_own_setting(limit: Limit) -> None:
    """Law: what is read at the end of a range is that end, and it goes with a point that is turned away from there."""
    settings = {**circle(limit), **limit_settings(limit)}
    for name, end in limit_outline(limit).ends.items():
        angle = setting_at(limit, name, end)
        assert angle == pytest.approx(settings[name], abs=PRECISION), name
        steps = [rotated(turn_about(axis, step), end) for axis in (X, Y, Z, limit.axis) for step in (-0.01, 0.01)]
        further = [setting_at(limit, name, point) - angle for point in steps]
        assert any(abs(one) == pytest.approx(0.01, rel=1e-3) for one in further), name


def circle(limit: Limit) -> dict[str, float]:
    """The settings of a cone whose outline shows it as a circle; its settings may be those of an ellipse."""
    return {"cone_max": limit.x_high} if isinstance(limit, Cone) else {}


def test_an_end_does_not_pass_the_other() -> None:
    limit = hinge(X, 10, 60)
    at = rotated(hinge(X, -170, 170).rotation_at(radians(-30)), Y)
    assert setting_at(limit, "angle_max", at) == pytest.approx(radians(10))
    assert setting_at(limit, "angle_min", at) == pytest.approx(radians(-30))

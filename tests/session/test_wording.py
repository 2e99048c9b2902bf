# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of a chain's goal: of pins and aims in their own words, and what is left in place and in degrees."""

from __future__ import annotations

from math import radians

import bpy
import pytest
from fabrik_addon.session.wording import measure_text, status_text

from support.scenes import add_chain, make_line


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "No target: add one, or pin it"),
        ({"pin": True}, "Not solved since the last change"),
        ({"pin": True, "status": "REACHED"}, "Pin holds"),
        ({"pin": True, "status": "TOO_FAR"}, "Pin too far away"),
        ({"pin": True, "status": "BLOCKED"}, "Held back by limits"),
        ({"status": "BLOCKED", "message": "it gives way to the pin of 'foot'"}, "Held back"),
        ({"kind": "AIM", "status": "REACHED"}, "Aims at its target"),
        ({"status": "REACHED"}, "On target"),
    ],
)
def test_the_status_is_told_of_what_is_asked(settings: dict[str, object], text: str) -> None:
    chain = add_chain(make_line(3))
    for name, value in settings.items():
        setattr(chain, name, value)
    assert status_text(chain) == text


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"status": "REACHED", "residual": 1e-6}, "3 passes"),
        ({"status": "TOO_FAR", "residual": 0.25}, "25 cm off, 3 passes"),
        ({"status": "TOO_FAR", "residual": 0.25, "turn_residual": radians(12)}, "25 cm off, 12° turned off, 3 passes"),
        ({"status": "REACHED", "softened": 0.02}, "soft goal 2 cm before the target, 3 passes"),
        ({"kind": "AIM", "status": "BLOCKED", "residual": 3.0, "turn_residual": 0.5}, "29° turned off, 3 passes"),
    ],
)
def test_what_is_left_is_told_in_place_and_in_degrees(settings: dict[str, object], text: str) -> None:
    chain = add_chain(make_line(3))
    for name, value in {"passes": 3, **settings}.items():
        setattr(chain, name, value)
    scene = bpy.context.scene
    scene.unit_settings.system = "METRIC"
    assert measure_text(chain, scene) == text

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of a chain's goal: of pins and aims in their own words, and what is left in place and in degrees."""

from __future__ import annotations

from math import radians
from pathlib import Path

import bpy
import pytest
from fabrik_addon.errors import ChainError
from fabrik_addon.messages import Message
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.status import Outcome, measure_text, message_of, status_text, store
from fabrik_addon.texts import Text, worded

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


def test_what_is_stored_is_told_from_its_parts(tmp_path: Path) -> None:
    owner = make_line(3)
    chain = add_chain(owner)
    chain.name, name = "leg", owner.name
    reason = worded(ChainError(Message("TOO_MANY_BONES", count=7, parents=2), bone="b2").local)
    store(chain, Outcome("leg", "REFUSED", reason=reason))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    chain = rig_of(bpy.data.objects[name]).chains["leg"]
    assert chain.message == "bone 'b2': 7 bones are wanted, but it has 2 parents"
    found = message_of(chain)
    assert isinstance(found, Text)
    assert (found, found.template, found.fields["reason"]) == (reason, reason.template, reason.fields["reason"])


@pytest.mark.parametrize("parts", ["", "{", "[]", '{"fields": {}}', '{"code": "NONE", "fields": {}}', '"other"'])
def test_what_has_no_parts_is_told_as_it_is(parts: str) -> None:
    chain = add_chain(make_line(3))
    chain.message, chain.message_parts = "the pole is missed", parts
    assert message_of(chain) == "the pole is missed"

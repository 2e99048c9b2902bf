# SPDX-License-Identifier: GPL-3.0-or-later
"""A pin that is freed says what then moves: where other goals are out of reach, they pull what it held."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.pins import free, wanted_of_chains
from mathutils import Vector

from support.judging import channels, effector
from support.scenes import add_limb, make_body, make_empty, press, update


@pytest.mark.parametrize("out_of_reach", [False, True])
def test_what_is_freed_and_pulled_by_others_is_told(out_of_reach: bool) -> None:
    owner = make_body()
    for name in ("foot.L", "foot.R", "hand.L"):
        chain = add_limb(owner, name, 3)
        update()
        chain.target = make_empty(effector(owner, chain))
        chain.pin = name != "hand.L"
    rig_of(owner).body_bone = "hips"
    if out_of_reach:
        rig_of(owner).chains["hand.L"].target.location += Vector((0.5, 0.0, 1.5))
    update()
    press("solve_all")
    before = channels(owner)
    told = free(bpy.context, owner, wanted_of_chains(owner, [rig_of(owner).chains["foot.L"]]))
    assert told.freed == ["foot.L"]
    assert channels(owner) == before
    assert any("foot.L" in note and "the next solve turns it" in note for note in told.notes) == out_of_reach
    press("solve_all")
    moved = max(
        abs(a - b) for now, was in zip(channels(owner), before, strict=True) for a, b in zip(now, was, strict=True)
    )
    assert (moved > 1e-3) == out_of_reach

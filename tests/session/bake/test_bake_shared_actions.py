# SPDX-License-Identifier: GPL-3.0-or-later
"""Two armatures with one action: refused by name where they would write over each other's keys, apart where not."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from fabrik_addon.errors import FabrikError
from fabrik_addon.rig.compat import fcurves_of, slot_of
from fabrik_addon.session.bake import BakeSettings, bake

from support.judging import assert_on_target
from support.scenes import FRAMES, Rig, add_chain, keyed_line, make_line

slots_only = pytest.mark.skipif(bpy.app.version < (4, 4), reason="actions have slots from 4.4 on")


def two_rigs() -> tuple[Rig, Rig]:
    """Two armatures whose action is the same; the first is keyed where it stands."""
    owner, chain = keyed_line()
    other = make_line(3)
    other.name = "Other"
    follower = add_chain(other, (0.4, -0.5, 1.9))
    owner.keyframe_insert("location", frame=1)
    other.animation_data_create().action = owner.animation_data.action
    return (owner, chain), (other, follower)


def give_slot(owner: bpy.types.Object, slot: Any) -> None:
    if hasattr(owner.animation_data, "action_slot"):
        setattr(owner.animation_data, "action_slot", slot)


@pytest.mark.parametrize("together", [True, False])
def test_one_slot_is_refused_by_name(together: bool) -> None:
    first, second = two_rigs()
    give_slot(second[0], slot_of(first[0]))
    before = len(fcurves_of(first[0]))
    with pytest.raises(FabrikError, match=r"'Rig': its action '.*' also moves 'Other': bake into a new one"):
        bake(bpy.context, [first, second] if together else [first], BakeSettings(FRAMES))
    assert len(fcurves_of(first[0])) == before


@pytest.mark.parametrize("into", ["NEW_ACTION", "NLA"])
def test_one_slot_is_baked_apart(into: str) -> None:
    first, second = two_rigs()
    give_slot(second[0], slot_of(first[0]))
    bake(bpy.context, [first, second], BakeSettings(FRAMES, into))
    for owner, chain in (first, second):
        assert_on_target(owner, chain)
    if into == "NEW_ACTION":
        assert first[0].animation_data.action != second[0].animation_data.action


@slots_only
@pytest.mark.parametrize("into", ["ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("name", ["Rig", "Other"])
def test_an_armature_without_a_slot_gets_one_of_its_own(name: str, into: str) -> None:
    """Although the slot of the other one has its name."""
    first, second = two_rigs()
    slot_of(first[0]).name_display = name
    give_slot(second[0], None)
    bake(bpy.context, [first, second], BakeSettings(FRAMES, into))
    for owner, chain in (first, second):
        assert_on_target(owner, chain)
    assert not [curve for curve in fcurves_of(second[0]) if curve.data_path == "location"]
    assert len([curve for curve in fcurves_of(first[0]) if curve.data_path == "location"]) == 3

# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk marks its contacts; the next plan keeps those that were set by hand, and names what can't be kept."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion.marks import ANYWHERE, Contact, contacts_of
from fabrik_addon.actions.walk.plan import what_is_old
from fabrik_addon.gait.plan import feet_at
from fabrik_addon.maths import distance
from fabrik_addon.motion.contacts import FLAT, HEEL, TOE
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from dev.walkers import at_foot
from dev.walking_rigs import ahead, make_profile
from support.judging import effector, walk_plan, worst_foot
from support.scenes import go_live, keyed, make_body, press, select, update
from support.walks import WALK, key_way, legs_of, planned, walking

HELD = 1e-3  # the tolerance of the chains


@pytest.fixture
def walker() -> bpy.types.Object:
    owner = walking("human")
    go_live(owner)
    select(owner)
    return owner


def contact(owner: bpy.types.Object, number: int = 1, leg: int = 0) -> Contact:
    """A contact of a leg, by its number in time."""
    bone = legs_of(owner)[leg].tip_bone
    return [one for one in contacts_of(owner) if one.bone == bone][number]


def hold(owner: bpy.types.Object, frame: int, leg: int = 0) -> None:
    """Go to a frame with a leg active."""
    rig = rig_of(owner)
    rig.active_index = [*rig.chains].index(legs_of(owner)[leg])
    bpy.context.scene.frame_set(frame)
    update()


def told(owner: bpy.types.Object) -> str:
    update()
    return what_is_old(owner, bpy.context.scene)


def plan(*, keep: bool = True) -> None:
    press("walk_plan", frame_start=WALK[0], frame_end=WALK[1], span="RANGE", keep_contacts=keep)
    update()


def frames_on_ground(owner: bpy.types.Object, leg: int) -> list[int]:
    return [frame for frame in range(WALK[0], WALK[1] + 1) if feet_at(walk_plan(owner), frame)[leg].is_planted]


def test_feet_are_marked_as_long_as_they_stand(walker: bpy.types.Object) -> None:
    for leg in (0, 1):
        bone = legs_of(walker)[leg].tip_bone
        own = [one for one in contacts_of(walker) if one.bone == bone]
        assert [frame for one in own for frame in range(one.first, one.last + 1)] == frames_on_ground(walker, leg)
        assert {one.place for one in own} == {ANYWHERE}
        inner = own[1].kinds
        assert inner[0] == HEEL
        assert FLAT in inner
        assert inner[-1] == TOE
    assert told(walker) == ""


def test_planned_again_it_is_the_same_walk(walker: bpy.types.Object) -> None:
    before, marks = walk_plan(walker), contacts_of(walker)
    plan()
    assert walk_plan(walker) == before
    assert contacts_of(walker) == marks


def test_one_that_was_moved_in_time_is_old_then_met_and_kept(walker: bpy.types.Object) -> None:
    one = contact(walker)
    press("contact_move", bone=one.bone, frame=one.first, start=3, end=4)
    assert "contacts" in told(walker)
    plan()
    assert told(walker) == ""
    moved = contact(walker)
    assert (moved.first, moved.last) == (one.first + 3, one.last + 4)
    assert any(moved.place)
    assert set(range(moved.first, moved.last + 1)) <= set(frames_on_ground(walker, 0))
    before = walk_plan(walker)
    plan()
    again = contact(walker)
    assert (again.first, again.last) == (moved.first, moved.last)
    assert np.abs(np.subtract(again.place, moved.place)).max() <= 1e-6
    for frame in range(*WALK):
        pairs = zip(feet_at(before, frame), feet_at(walk_plan(walker), frame), strict=True)
        assert max(distance(a.ankle, b.ankle) for a, b in pairs) <= 1e-5


def test_one_that_was_put_on_the_cursor_stands_there(walker: bpy.types.Object) -> None:
    one = contact(walker)
    middle = (one.first + one.last) // 2
    hold(walker, middle)
    stood = effector(walker, legs_of(walker)[0])
    press("contact_place", at="FOOT")
    plan()
    hold(walker, middle)
    assert (effector(walker, legs_of(walker)[0]) - stood).length <= HELD
    here = Vector((stood.x + 0.06, stood.y - 0.05, 0.0))
    bpy.context.scene.cursor.location = here
    press("contact_place", at="CURSOR")
    plan()
    hold(walker, middle)
    assert worst_foot(walker, middle) <= HELD
    sole = feet_at(walk_plan(walker), middle)[0]
    foot = walk_plan(walker).legs[0]
    under = 0.5 * (Vector(at_foot(sole, foot.heel)) + Vector(at_foot(sole, foot.ball)))
    assert (under - here).length <= HELD
    press("contact_place", at="MOTION")
    plan()
    hold(walker, middle)
    assert (effector(walker, legs_of(walker)[0]) - stood).length <= HELD


def test_without_those_set_by_hand_it_is_planned_as_at_first(walker: bpy.types.Object) -> None:
    before, one = walk_plan(walker), contact(walker)
    press("contact_move", bone=one.bone, frame=one.first, start=3, end=4)
    plan(keep=False)
    assert walk_plan(walker) == before
    assert contact(walker) == one


def test_one_that_is_out_of_reach_is_named(walker: bpy.types.Object, capsys: pytest.CaptureFixture[str]) -> None:
    before, one = walk_plan(walker), contact(walker)
    hold(walker, one.first + 2)
    bpy.context.scene.cursor.location = (5.0, 0.0, 0.0)
    press("contact_place", at="CURSOR")
    plan()
    assert f"leg '{legs_of(walker)[0].name}' can't stand" in capsys.readouterr().out
    assert walk_plan(walker).steps == before.steps
    assert contact(walker) == one


def test_contacts_of_a_walk_are_neither_found_nor_cleaned(walker: bpy.types.Object) -> None:
    for name in ("contacts_find", "contacts_clean"):
        with pytest.raises(RuntimeError, match="Plan Walk"):
            press(name)


def test_a_foothold_on_a_board_that_moves_goes_along() -> None:
    owner = make_body()
    key_way(owner, "hips", ahead(2.0))
    board = make_profile([(-3.0, 0.0), (9.0, 0.0)])
    keyed(board, {WALK[0]: (0.0, 0.0, 0.0), WALK[1]: (0.3, 0.0, 0.0)})
    planned(owner)
    select(owner)
    go_live(owner)
    one = contact(owner)
    assert rig_of(owner).grounds[one.ground - 1].found == board
    hold(owner, one.first + 4)
    press("contact_place", at="FOOT")
    place = contact(owner).place
    plan()
    assert contact(owner).ground == one.ground
    assert np.abs(np.subtract(contact(owner).place, place)).max() <= 1e-5

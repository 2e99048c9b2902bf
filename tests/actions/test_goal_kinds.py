# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every kind of goal: one answer everywhere, a true status, a drag, a picture and words."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.actions.drag import Grip, begin, drag_to, finish
from fabrik_addon.actions.status import report_of
from fabrik_addon.overlay.view import pictures_of
from fabrik_addon.rig.goal_kinds import GOAL_KINDS, KINDS, GoalKind, options_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Vector

from support.judging import as_played, assert_same, by_button, by_live
from support.scenes import Rig, add_chain, go_live, keyed, make_line, press, update

FRAMES = (1, 7, 13, 20)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)


def limb(kind: GoalKind) -> Rig:
    """A limb with a target that moves near the end of its reach, where it can be aimed at, too."""
    owner = make_line(3)
    chain = add_chain(owner, (0.0, 0.0, 0.0))
    keyed(chain.target, {1: (0.3, 0.5, 2.6), 10: (1.2, 0.4, 2.3), 20: (-0.4, 1.3, 2.3)})
    chain.kind = kind.kind
    update()
    return owner, chain


def picture_reached(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether the overlay draws a goal as met."""
    (picture,) = pictures_of(owner, [chain], bpy.context.evaluated_depsgraph_get(), False)
    return picture.is_reached


def test_no_two_have_a_name_or_a_number() -> None:
    assert len({kind.number for kind in KINDS}) == len(GOAL_KINDS) == len(KINDS)
    assert {"REACH": 0, "AIM": 1}.items() <= {kind.kind: kind.number for kind in KINDS}.items()


@every_kind
def test_one_answer_and_a_bake_that_judges_it_alike(kind: GoalKind) -> None:
    owner, chain = limb(kind)
    pressed = by_button(owner, FRAMES)
    assert chain.status == "REACHED"
    assert_same(by_live(owner, FRAMES), pressed)
    press("bake", frame_start=FRAMES[0], frame_end=FRAMES[-1], verify="EVERY")
    assert_same(as_played(owner, FRAMES), pressed)
    assert '"unreached_count": 0' in rig_of(owner).bake_report


@every_kind
def test_status_and_picture_tell_what_stands(kind: GoalKind) -> None:
    owner, chain = limb(kind)
    go_live(owner)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        told = report_of(chain, bpy.context)
        assert (told.kind, told.text) == ("REACHED", str(kind.reached or "On target"))
        assert picture_reached(owner, chain)
    rig_of(owner).live = False
    owner.pose.bones["b1"].rotation_quaternion = (0.6, 0.8, 0.0, 0.0)
    update()
    assert report_of(chain, bpy.context).text == "The pose was changed since"


@every_kind
def test_what_does_not_reach_is_not_drawn_as_reached(kind: GoalKind) -> None:
    owner = make_line(3)
    for bone in owner.pose.bones:
        bone.fabrik.limit = "LOCKED"
    chain = add_chain(owner, (0.0, 40.0, -5.0))
    chain.kind = kind.kind
    press("solve")
    assert chain.status != "REACHED"
    assert not picture_reached(owner, chain)


@every_kind
@pytest.mark.parametrize("is_live", [False, True])
def test_its_limb_is_dragged(kind: GoalKind, is_live: bool) -> None:
    owner, chain = limb(kind)
    bpy.context.scene.frame_set(7)
    rig_of(owner).live = is_live
    update()
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.05, 0.0, -0.1)))
    finish(bpy.context, drag)
    assert rig_of(owner).live == is_live


@every_kind
def test_a_limb_without_a_target_is_told_what_to_do(kind: GoalKind) -> None:
    owner = make_line(3)
    chain = add_chain(owner, (0.4, 0.5, 1.9))
    chain.kind, chain.enabled, chain.target, chain.target_name = kind.kind, False, None, ""
    told = report_of(chain, bpy.context)
    assert (told.short, told.text) == ("no target", str(kind.idle))


@every_kind
def test_its_settings_are_stored(kind: GoalKind) -> None:
    _, chain = limb(kind)
    assert {*kind.settings} >= {*kind.own}
    assert {*kind.settings} <= {*FabrikChain.bl_rna.properties.keys()}
    assert all(isinstance(number, float) for number in options_of(chain))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging chains that give way softly near full stretch, or stretch: letting go leaves them where they stand."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import pytest
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.session.dragging import Taken, begin, drag_to, finish
from fabrik_addon.session.figure_pose import hard_place
from mathutils import Vector

from support.judging import channels, effector
from support.scenes import (
    add_chain,
    add_limb,
    armature,
    make_body,
    make_empty,
    make_line,
    press,
    update,
    with_legs_pinned,
)


def line(soft: float = 0.0, stretch: float = 1.0) -> tuple[bpy.types.Object, FabrikChain]:
    """A chain of three bones of length 1 from the origin, with a target."""
    owner = make_line(3)
    for bone in armature(owner).bones:
        bone.inherit_scale = "NONE"
    chain = add_chain(owner)
    chain.soft, chain.stretch, chain.target = soft, stretch, make_empty((0, 0.5, 2.5))
    return owner, chain


def let_go_at(owner: bpy.types.Object, chain: FabrikChain, point: Sequence[float]) -> Vector:
    """Drag a chain's tip to a point, and let go; where it stands then."""
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, Vector(point))
    assert finish(bpy.context, drag).warnings == []
    update()
    return effector(owner, chain)


@pytest.mark.parametrize("away", [2.0, 2.9, 2.97, 3.0, 3.02])
def test_a_soft_chain_stays_where_it_is_let_go(away: float) -> None:
    owner, chain = line(soft=0.02)
    stood = let_go_at(owner, chain, Vector((0.6, 0.8, 0)) * away)
    if away <= 2.9:
        assert (chain.target.location - stood).length < 1e-4
    press("solve")
    update()
    assert (effector(owner, chain) - stood).length < 1e-3


@pytest.mark.parametrize("share", [0.5, 0.985, 0.999])
def test_a_goal_that_gives_way_brings_the_tip_to_the_place(share: float) -> None:
    owner, chain = line(soft=0.03)
    length = sum(bone.length for bone in armature(owner).bones)
    place = Vector((0.6, 0.0, 0.8)) * share * length
    chain.target.location = hard_place(owner, chain, place, bpy.context.evaluated_depsgraph_get())
    assert (chain.target.location.length > place.length + 1e-6) == (share > 0.97)
    update()
    press("solve")
    update()
    assert chain.status == "REACHED"
    assert (effector(owner, chain) - place).length < 1e-3


@pytest.mark.parametrize("away", [2.0, 3.3])
def test_a_chain_that_stretches(away: float) -> None:
    owner, chain = line(stretch=1.2)
    before = channels(owner)
    point = Vector((0.6, 0.8, 0)) * away
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    assert drag_to(bpy.context, drag, point).status == "REACHED"
    update()
    assert (effector(owner, chain) - point).length < 1e-3
    drag.restore()
    assert channels(owner) == before
    stood = let_go_at(owner, chain, point)
    press("solve")
    update()
    assert (effector(owner, chain) - stood).length < 1e-3
    assert chain.status == "REACHED"


def test_what_stretches_is_keyed_with_it() -> None:
    owner, chain = line(stretch=1.2)
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    let_go_at(owner, chain, Vector((0.6, 0.8, 0)) * 3.3)
    assert 'pose.bones["b1"].scale' in {curve.data_path for curve in fcurves_of(owner)}


def test_a_soft_hand_pulls_the_body_along() -> None:
    owner = with_legs_pinned(make_body())
    hand = add_limb(owner, "hand.L", 3, target=(0.7, 0, 1.45))
    hand.soft = 0.02
    update()
    start, chest = effector(owner, hand), pose_bones(owner)["chest"].tail.copy()
    drag = begin(bpy.context, owner, Taken.tip_of(hand))
    way = Vector((0.1, -0.6, -0.3))
    assert drag_to(bpy.context, drag, drag.place + way).status == "REACHED"
    update()
    assert (effector(owner, hand) - start - way).length < 1e-3
    assert (pose_bones(owner)["chest"].tail - chest).length > 0.05
    finish(bpy.context, drag)
    update()
    stood = effector(owner, hand)
    press("solve_all")
    update()
    assert (effector(owner, hand) - stood).length < 5e-3
    assert rig_of(owner).chains["foot.L"].status == "REACHED"

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is under the mouse, seen by a view that looks along Y with 100 pixels a unit."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from fabrik_addon.operators.picking import pick, rigs_at_hand
from mathutils import Vector

from support.scenes import Bone, add_chain, make_armature, make_line, select


class Front:
    """A view."""

    scale = 1.0

    def seen(self, point: Vector) -> Vector | None:
        return Vector((100 * point.x, 100 * point.z)) if point.y < 50 else None


def under(x: float, z: float) -> tuple[str, str, str] | None:
    view: Any = Front()
    found = pick(bpy.context, view, Vector((100 * x, 100 * z)))
    return None if found is None else (found.owner.name, found.chain, found.bone)


def end_under(x: float, z: float) -> tuple[str, str] | None:
    view: Any = Front()
    found = pick(bpy.context, view, Vector((100 * x, 100 * z)))
    return None if found is None else (found.bone, found.end)


def test_the_tip_of_a_chain_wins_over_bones_beside_it() -> None:
    owner = make_line(3)
    add_chain(owner, tip="b1", count=2).name = "limb"
    assert under(0.1, 2.1) == ("Rig", "limb", "b1")
    assert under(0.05, 2.5) == ("Rig", "", "b2")
    bpy.context.view_layer.objects.active = owner
    add_chain(owner, tip="b2", count=3).name = "long"
    assert under(0.4, 3.3) == ("Rig", "long", "b2")


def test_a_chain_is_taken_by_its_effector() -> None:
    owner = make_line(3)
    chain = add_chain(owner, tip="b2", count=3)
    chain.effector = "HEAD"
    assert under(0.0, 2.0) == ("Rig", chain.name, "b2")
    assert end_under(0.0, 2.0) == ("b2", "HEAD")


def test_a_bone_is_taken_by_the_end_that_is_near() -> None:
    make_line(3)
    assert end_under(0.02, 1.2) == ("b1", "HEAD")
    assert end_under(0.02, 1.5) == ("b1", "TAIL")
    assert end_under(0.02, 1.9) == ("b1", "TAIL")
    assert end_under(0.02, 3.1) == ("b2", "TAIL")


def test_else_it_is_the_bone_that_is_nearest() -> None:
    owner = make_line(3)
    add_chain(owner, tip="b0", count=1).name = "limb"
    assert under(0.05, 2.5) == ("Rig", "", "b2")
    assert under(0.0, 3.15) == ("Rig", "", "b2")
    assert under(0.15, 1.9) == ("Rig", "", "b1")
    assert under(0.5, 2.5) is None


def test_hidden_bones_are_not_seen() -> None:
    owner = make_line(3)
    data: Any = owner.data
    hidden: Any = owner.pose.bones["b2"]
    (hidden if hasattr(hidden, "hide") else hidden.bone).hide = True
    assert under(0.05, 2.5) is None
    data.collections.new("Off").assign(data.bones["b1"])
    assert under(0.05, 1.5) == ("Rig", "", "b1")
    data.collections["Off"].is_visible = False
    assert under(0.05, 1.5) is None


def test_what_is_behind_the_viewer_is_not_seen() -> None:
    owner = make_line(2)
    owner.location.y = 60
    bpy.context.view_layer.update()
    assert under(0.0, 0.5) is None


def test_a_bone_that_is_seen_from_its_end() -> None:
    make_armature([Bone((0, 0, 0), (0, 1, 0))])
    assert under(0.1, 0.1) == ("Rig", "", "b0")


@pytest.mark.parametrize("in_pose_mode", [False, True])
def test_armatures_in_pose_mode_are_all_at_hand(in_pose_mode: bool) -> None:
    other = make_line(2)
    other.name, other.location.x = "Other", 2.0
    owner = make_line(2)
    other.select_set(True)
    bpy.context.view_layer.objects.active = owner
    bpy.context.view_layer.update()
    if in_pose_mode:
        select(owner, "b1")
    assert [found.name for found in rigs_at_hand(bpy.context)] == (["Rig", "Other"] if in_pose_mode else ["Rig"])
    assert under(2.0, 0.5) == (("Other", "", "b0") if in_pose_mode else None)

# SPDX-License-Identifier: GPL-3.0-or-later
"""From the mouse to a bone and to a rotation, seen by a view that looks along Y with 100 pixels a unit."""

from __future__ import annotations

from math import pi, radians
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.drag import DragResult, Grip, begin, set_turning
from fabrik_addon.maths import rotated
from fabrik_addon.operators.base import fitting
from fabrik_addon.operators.dragging import Mode, angle_about, header_text, keys_of, name_of, turn_of_ball, turn_of_view
from fabrik_addon.operators.picking import pick, rigs_at_hand
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Vector

from support.scenes import Bone, add_chain, edited, make_armature, make_line, press, select
from support.skeletons import make_character, set_up


class Front:
    """A view."""

    scale = 1.0

    def seen(self, point: Vector) -> Vector | None:
        return Vector((100 * point.x, 100 * point.z)) if point.y < 50 else None


def under(x: float, z: float) -> tuple[str, str, str] | None:
    view: Any = Front()
    found = pick(bpy.context, view, Vector((100 * x, 100 * z)))
    return None if found is None else (found[0].name, found[1].chain, found[1].bone)


def end_under(x: float, z: float) -> tuple[str, str] | None:
    view: Any = Front()
    found = pick(bpy.context, view, Vector((100 * x, 100 * z)))
    return None if found is None else (found[1].bone, found[1].end)


def test_the_tip_of_a_chain_wins_over_bones_beside_it(line: bpy.types.Object) -> None:
    add_chain(line, tip="b1", count=2).name = "limb"
    assert under(0.1, 2.1) == ("Rig", "limb", "b1")
    assert under(0.05, 2.5) == ("Rig", "", "b2")
    bpy.context.view_layer.objects.active = line
    add_chain(line, tip="b2", count=3).name = "long"
    assert under(0.4, 3.3) == ("Rig", "long", "b2")


def test_a_chain_is_taken_by_its_effector(line: bpy.types.Object) -> None:
    chain = add_chain(line, tip="b2", count=3)
    chain.effector = "HEAD"
    assert under(0.0, 2.0) == ("Rig", chain.name, "b2")
    assert end_under(0.0, 2.0) == ("b2", "HEAD")


def test_a_bone_is_taken_by_the_end_that_is_near() -> None:
    make_line(3)
    assert end_under(0.02, 1.2) == ("b1", "HEAD")
    assert end_under(0.02, 1.5) == ("b1", "TAIL")
    assert end_under(0.02, 1.9) == ("b1", "TAIL")
    assert end_under(0.02, 3.1) == ("b2", "TAIL")


def test_else_it_is_the_bone_that_is_nearest(line: bpy.types.Object) -> None:
    add_chain(line, tip="b0", count=1).name = "limb"
    assert under(0.05, 2.5) == ("Rig", "", "b2")
    assert under(0.0, 3.15) == ("Rig", "", "b2")
    assert under(0.15, 1.9) == ("Rig", "", "b1")
    assert under(0.5, 2.5) is None


def character_under(owner: bpy.types.Object, bone: str, share: float) -> str:
    """The bone under the mouse, from ahead, over a bone at a share of the way from its head to its tail."""
    found = pose_bones(owner)[bone]
    point = owner.matrix_world @ found.head.lerp(found.tail, share)
    taken = under(point.x, point.z)
    return taken[2] if taken is not None else ""


PELVES = {"human": "spine", "human_mixamo": "mixamorig:Hips", "human_game_engine": "pelvis"}


@pytest.mark.parametrize(("name", "body"), PELVES.items())
def test_near_the_pelvis_the_body_bone_wins(name: str, body: str) -> None:
    owner = set_up(name, controls="NONE")
    select(owner, body)
    assert rig_of(owner).body_bone == body
    for share in (0.0, 0.5, 0.95):
        assert character_under(owner, body, share) == body


@pytest.mark.parametrize("name", ["human", "wolf", "cmu_walk", "human_game_engine"])
def test_what_never_bends_is_never_picked(name: str) -> None:
    owner = make_character(name)
    if name == "human_game_engine":
        add_twist_bones(owner)
    words = ("pelvis.", "HipJoint", "twist")
    never = [bone.name for bone in pose_bones(owner) if any(word in bone.name for word in words)]
    assert len(never) == 2
    for is_set_up in (False, True):
        if is_set_up:
            press("character_setup", controls="NONE")
        select(owner, never[0])
        for bone in never:
            for share in (0.0, 0.3, 0.6, 1.0):
                assert character_under(owner, bone, share) not in never


def add_twist_bones(owner: bpy.types.Object) -> None:
    """Two bones that turn with the upper arms, as rigs for games have them."""
    with edited(owner) as edit_bones:
        for side in "lr":
            above = edit_bones[f"upperarm_{side}"]
            twist = edit_bones.new(f"upperarm_twist_01_{side}")
            twist.head, twist.tail = above.head.lerp(above.tail, 0.5), above.tail
            twist.parent = above


def test_hidden_bones_are_not_seen(line: bpy.types.Object) -> None:
    data: Any = line.data
    hidden: Any = line.pose.bones["b2"]
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
    def test_the_header(self, line: bpy.types.Object) -> None:
        chain = add_chain(line)
        chain.name = "limb"
        drag = begin(bpy.context, line, Grip.tip_of(chain))
        set_turning(drag, on=True)
        dragged = DragResult("BLOCKED", 0.3, radians(12), ("foot.L",))
        text = header_text(drag, dragged, (0.1, 0.0, -0.2), 2, "a note", bpy.context.scene)
        for part in ("Rig: limb (b2)", "along Z", "Held back by limits", "12.0° off", "not held: foot.L", "a note"):
            assert part in text
        drag.restore()

    def test_the_keys(self, line: bpy.types.Object) -> None:
        drag = begin(bpy.context, line, Grip("b1", "HEAD"))
        assert name_of(drag) == "Rig: head of b1"
        text = "   ".join(keys_of(drag, Mode.TURN, 0.5, anchored=True))
        for part in ("T With Rotation: off", "R Turn: about the view", "Falloff: 0.5", "P Pin", "G Grab", "Esc Cancel"):
            assert part in text
        drag.restore()

    def test_a_narrow_status_bar_has_whole_hints(self) -> None:
        hints = ("Esc Cancel", "T Turn", "P Pin")
        assert fitting(hints, 27.0, len) == list(hints)
        assert fitting(hints, 26.0, len) == ["Esc Cancel", "T Turn"]
        assert fitting(hints, 3.0, len) == ["Esc Cancel"]

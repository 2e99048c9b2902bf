# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts with an object that moves, and with a place of their own: found, kept, moved, and gone with the object."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion.marks import contacts_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Vector

from support.animated import Frames, control, limb, move, size
from support.scenes import assert_refused, press, update
from support.shifting import FRAMES, STANDS, STILL, shifting

BOARD_SPEED = 0.01  # legs a frame


def board() -> bpy.types.Object:
    """An object on which feet may stand."""
    found = bpy.data.objects.new("Board", None)
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.link(found)
    return found


@pytest.fixture
def carried() -> bpy.types.Object:
    """A character that shifts from foot to foot and goes along with a board, which turns, too."""
    owner, ground = shifting(), board()
    for frame in FRAMES:
        for one in (ground, owner):
            one.location.x = BOARD_SPEED * size(owner) * frame
            one.rotation_euler.z = 0.01 * frame
            for path in ("location", "rotation_euler"):
                one.keyframe_insert(path, frame=frame)
    update()
    return owner


def feet(owner: bpy.types.Object, name: str, ground: bpy.types.Object | None = None) -> Frames:
    """Where a foot is in each frame, in legs, and seen from an object: (F, 4, 4)."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        posed = owner.evaluated_get(depsgraph)
        below = ground.evaluated_get(depsgraph).matrix_world if ground is not None else Matrix()
        found.append(
            [[*row] for row in below.inverted() @ posed.matrix_world @ pose_bones(posed)[limb(owner, name)].matrix]
        )
    return np.array(found)


def slides(poses: Frames, owner: bpy.types.Object, span: Sequence[int]) -> float:
    """The most by which it moves in a frame of a contact, in legs."""
    own = poses[FRAMES.index(span[0]) : FRAMES.index(span[1]) + 1, :3, 3]
    return float(np.linalg.norm(np.diff(own, axis=0), axis=1).max()) / size(owner)


def test_feet_stand_still_on_a_board_that_moves(carried: bpy.types.Object) -> None:
    ground = bpy.data.objects["Board"]
    press("contacts_find", ground="Board")
    spans = [(one.bone, one.first, one.last, one.ground) for one in contacts_of(carried)]
    for name, (first, last) in STANDS.items():
        ((begins, ends),) = [(a, b) for bone, a, b, number in spans if bone == limb(carried, name) and number == 1]
        assert abs(begins - first) <= 1, name
        assert abs(ends - last) <= 1, name
    before = {name: feet(carried, name, ground) for name in STANDS}
    press("contacts_clean")
    for bone, first, last, _ in spans:
        name = next(one for one in STANDS if limb(carried, one) == bone)
        assert slides(before[name], carried, (first, last)) > 10.0 * STILL
        assert slides(feet(carried, name, ground), carried, (first, last)) <= STILL
        assert slides(feet(carried, name), carried, (first, last)) > 0.5 * BOARD_SPEED


def test_what_goes_along_with_the_armature_is_no_ground(carried: bpy.types.Object) -> None:
    child = bpy.data.objects.new("Child", None)
    child.parent = carried
    assert_refused("'Child' goes along with it", "contact_mark", ground="Child")
    assert_refused("there is no object 'Nothing'", "contacts_find", ground="Nothing")


def test_a_ground_that_is_gone_is_told_and_feet_stand_in_the_world(capfd: pytest.CaptureFixture[str]) -> None:
    owner, ground = shifting(), board()
    press("contacts_find", ground="Board")
    assert {one.ground for one in contacts_of(owner)} == {1}
    bpy.data.objects.remove(ground)
    press("contacts_clean")
    assert "'Board', on which feet stood, is gone" in "".join(capfd.readouterr())
    for one in contacts_of(owner):
        name = next(name for name in STANDS if limb(owner, name) == one.bone)
        assert slides(feet(owner, name), owner, (one.first, one.last)) <= STILL


def test_a_contact_stands_where_its_foot_was_put_and_others_where_they_stood() -> None:
    owner = shifting()
    press("contacts_find")
    press("contacts_clean")
    before = {name: feet(owner, name) for name in STANDS}
    bpy.context.scene.frame_set(12)
    rig_of(owner).active_index = [one.name for one in rig_of(owner).chains].index("Leg.L")
    put = Vector(control(owner, "Leg.L").location)
    move(owner, "Leg.L", (0.06, -0.08, 0.0))
    control(owner, "Leg.L").location += put
    press("contact_place")
    press("contacts_clean")
    (placed,) = [one for one in contacts_of(owner) if any(one.place)]
    own, others = (feet(owner, name)[:, :3, 3] - before[name][:, :3, 3] for name in ("Leg.L", "Leg.R"))
    stands = own[FRAMES.index(placed.first) : FRAMES.index(placed.last) + 1] / size(owner)
    assert np.abs(stands - (0.06, -0.08, 0.0)).max() <= 2e-3
    assert slides(feet(owner, "Leg.L"), owner, (placed.first, placed.last)) <= STILL
    assert np.abs(others).max() <= 1e-3 * size(owner)
    assert np.linalg.norm(np.diff(own, axis=0), axis=1).max() <= 0.03 * size(owner)  # it comes and goes smoothly
    bpy.context.scene.frame_set(12)
    press("contact_place", at="MOTION")
    press("contacts_clean")
    assert not any(any(one.place) for one in contacts_of(owner))
    assert np.abs(feet(owner, "Leg.L")[:, :3, 3] - before["Leg.L"][:, :3, 3]).max() <= 1e-3 * size(owner)


def test_place_and_ground_go_along_with_a_contact_that_is_moved_and_joined() -> None:
    owner = shifting()
    press("contacts_find")
    bpy.context.scene.frame_set(12)
    rig_of(owner).active_index = [one.name for one in rig_of(owner).chains].index("Leg.L")
    press("contact_place")
    (was,) = [one for one in contacts_of(owner) if any(one.place)]
    press("contact_move", bone=was.bone, frame=was.first, start=2, end=3)
    (moved,) = [one for one in contacts_of(owner) if one.bone == was.bone]
    assert moved == was._replace(first=was.first + 2, kinds=moved.kinds)
    press("contact_mark", kind="FLAT", span="RANGE", frame_start=moved.last + 1, frame_end=moved.last + 4)
    (longer,) = [one for one in contacts_of(owner) if one.bone == was.bone]
    assert (longer.last, longer.place) == (moved.last + 4, was.place)
    press("contact_mark", kind="NONE", span="RANGE", frame_start=10, frame_end=12)
    parts = [one for one in contacts_of(owner) if one.bone == was.bone]
    assert [one.place for one in parts] == [was.place] * 2

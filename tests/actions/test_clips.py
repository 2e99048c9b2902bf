# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of bones mirrored, copied and pasted, and without noise; contacts marked and moved one by one."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.mirror.pose import sides_of
from fabrik_addon.actions.motion.marks import ANYWHERE, Contact, contacts_of, place_contact
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.rig.animation.channels import read_rotation, rotation_path
from fabrik_addon.rig.animation.compat import fcurves_of, set_selected
from fabrik_addon.rig.animation.curves import read_keys
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Quaternion, Vector

from support.animated import FIRST, LAST, Frames, Motion, control, in_strips, limb, move, played
from support.hanging import activate
from support.scenes import assert_refused, each_frame, press
from support.undoing import assert_one_step

pytestmark = pytest.mark.usefixtures("not_live")

ALL = {"bones": "ALL", "span": "RANGE", "frame_start": FIRST, "frame_end": LAST}
SAME = 5e-5  # of numbers of matrices


def turned_at(owner: bpy.types.Object, frame: int) -> dict[str, Quaternion]:
    bpy.context.scene.frame_set(frame)
    return {bone.name: Quaternion(read_rotation(bone)) for bone in pose_bones(owner)}


def test_mirrored_motion_is_the_mirror_image_and_twice_it_is_back(motion: Motion) -> None:
    owner, names, before = motion
    move(owner, "Arm.L", (0.1, -0.1, 0.1))
    control(owner, "Arm.L").keyframe_insert("location", frame=FIRST)
    rig_of(owner).live = False
    frame, sides = 8, sides_of(owner)
    stood, lifted = turned_at(owner, frame), Vector(control(owner, "Arm.L").location)
    press("motion_mirror", only_keys=False, **ALL)
    for name, turn in turned_at(owner, frame).items():
        if name in sides:
            wanted = sides[name].rotation(stood[name])
            other = turned_at(owner, frame)[sides[name].other.name] if sides[name].bone != sides[name].other else turn
            assert abs(other.dot(wanted)) >= 1.0 - 1e-6, name
    pair = sides_of(owner)[control(owner, "Arm.L").name]
    assert (Vector(control(owner, "Arm.R").location) - pair.place @ lifted).length <= 1e-6
    press("motion_mirror", only_keys=False, **ALL)
    rig_of(owner).edits = False
    assert np.abs(played(owner, names) - before).max() <= SAME


def test_one_side_gives_its_motion_to_the_other(motion: Motion) -> None:
    owner, _, _ = motion
    rig_of(owner).live = False
    sides, leg = sides_of(owner), limb(owner, "Leg.L")
    bpy.ops.object.mode_set(mode="POSE")

    for bone in pose_bones(owner):
        set_selected(bone, bone.name == leg)
    stood = turned_at(owner, 8)
    press(
        "motion_mirror", bones="SELECTED", to="OTHER", only_keys=False, span="RANGE", frame_start=FIRST, frame_end=LAST
    )
    after = turned_at(owner, 8)
    assert abs(after[sides[leg].other.name].dot(sides[leg].rotation(stood[leg]))) >= 1.0 - 1e-6
    assert abs(after[leg].dot(stood[leg])) >= 1.0 - 1e-6


def test_motion_is_pasted_elsewhere_with_its_contacts(motion: Motion) -> None:
    owner, names, before = motion
    activate(owner, "Leg.L")
    press("contact_mark", kind="FLAT", feet="ACTIVE", span="RANGE", frame_start=5, frame_end=9)
    press("motion_copy", **ALL)
    bpy.context.scene.frame_set(40)
    press("motion_paste")
    rig_of(owner).live = False
    assert np.abs(played(owner, names, range(40, 40 + LAST - FIRST + 1)) - before).max() <= SAME
    assert np.abs(played(owner, names) - before).max() <= SAME
    foot = limb(owner, "Leg.L")
    assert [(one.bone, one.first, one.last) for one in contacts_of(owner)] == [(foot, 5, 9), (foot, 44, 48)]


def test_contacts_keep_their_ground_when_they_are_pasted_and_their_place_on_the_same_armature(motion: Motion) -> None:
    owner, _, _ = motion
    board, place = bpy.data.objects.new("Board", None), (1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0)
    bpy.context.collection.objects.link(board)
    activate(owner, "Leg.L")
    press("contact_mark", kind="FLAT", feet="ACTIVE", span="RANGE", frame_start=5, frame_end=9, ground="Board")
    place_contact(owner, contacts_of(owner)[0], place)
    press("motion_copy", **ALL)
    bpy.context.scene.frame_set(40)
    press("motion_paste")
    first, second = contacts_of(owner)
    assert [(one.first, one.ground, one.place) for one in (first, second)] == [(5, 1, place), (44, 1, place)]
    bpy.ops.object.mode_set(mode="OBJECT")
    other = owner.copy()
    other.animation_data_clear()
    bpy.context.collection.objects.link(other)
    rig_of(other).grounds.clear()
    rig_of(other).grounds.add().found = owner  # so that the board has another number
    bpy.context.view_layer.objects.active = other
    press("motion_paste")
    (pasted,) = contacts_of(other)
    assert (pasted.kinds, pasted.place) == (first.kinds, ANYWHERE)
    assert rig_of(other).grounds[pasted.ground - 1].found == board
    board.parent = other
    contacts, keyed = contacts_of(other), len(fcurves_of(other))
    assert_refused("'Board' goes along with it", "motion_paste")
    assert (contacts_of(other), len(fcurves_of(other))) == (contacts, keyed)
    bpy.context.view_layer.objects.active = owner
    press("motion_mirror", only_keys=False, **ALL)
    mirrored = [one for one in contacts_of(owner) if one.bone == limb(owner, "Leg.R")]
    assert [(one.first, one.ground, one.place) for one in mirrored] == [(5, 1, ANYWHERE)]


def test_noise_is_taken_out_of_bones_and_the_rest_of_the_clip_stays(motion: Motion) -> None:
    owner, names, before = motion
    arm, draw = pose_bones(owner)[limb(owner, "Arm.L")].parent, np.random.default_rng(2)
    path = rotation_path(arm)
    for frame in each_frame(range(FIRST, LAST + 1)):
        arm.keyframe_insert(path.rpartition(".")[2], frame=frame)
    for curve in fcurves_of(owner):
        if curve.data_path == path:
            for point in curve.keyframe_points:
                point.co[1] += 0.03 * draw.standard_normal()
            curve.update()
    rig_of(owner).live = False

    def roughness(poses: Frames) -> float:
        own = poses[:, names.index(arm.name), :3, :3]
        return float(np.abs(np.diff(own, n=2, axis=0)).mean())

    noisy = played(owner, names)
    press("motion_smooth", width=4, **ALL)
    calm = played(owner, names)
    assert roughness(calm) <= 0.4 * roughness(noisy)
    assert np.abs(calm - before).max() <= 1.2 * np.abs(noisy - before).max()


@pytest.mark.parametrize("name", ["motion_smooth", "motion_mirror"])
def test_changed_motion_is_undone_in_one_step(motion: Motion, name: str) -> None:
    rig = motion[0].name
    bpy.ops.object.mode_set(mode="OBJECT")

    def keys() -> list[tuple[str, int, bytes]]:
        found = fcurves_of(bpy.data.objects[rig])
        return [(curve.data_path, curve.array_index, read_keys(curve).points.tobytes()) for curve in found]

    options = {"only_keys": False} if name == "motion_mirror" else {}
    assert_one_step(keys, name, **ALL, **options)


def test_held_keys_stay_held_and_a_range_begins_and_ends_with_keys(motion: Motion) -> None:
    owner, names, _ = motion
    for curve in fcurves_of(owner):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    rig_of(owner).live = False
    before = played(owner, names)
    press("motion_copy", **{**ALL, "frame_start": 5, "frame_end": 15})
    bpy.context.scene.frame_set(40)
    press("motion_paste")
    assert np.abs(played(owner, names, range(40, 51)) - before[4:15]).max() <= SAME


def test_what_strips_play_is_not_pasted_over(motion: Motion) -> None:
    owner, _, _ = motion
    press("motion_copy", **ALL)
    in_strips(owner)
    assert_refused("NLA strips play it", "motion_paste")


def test_nothing_is_pasted_on_bones_that_are_not_there(motion: Motion) -> None:
    owner, _, _ = motion
    press("motion_copy", **ALL)
    data = bpy.data.armatures.new("other")
    other = bpy.data.objects.new("other", data)
    bpy.context.collection.objects.link(other)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = other
    assert_refused("it has none of the bones that were copied", "motion_paste")
    bpy.context.view_layer.objects.active = owner


# Contacts, one by one.


def spans(owner: bpy.types.Object) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in contacts_of(owner)]


def test_contacts_are_made_parted_joined_moved_and_deleted(motion: Motion) -> None:
    owner, names, before = motion
    activate(owner, "Leg.L")

    def mark(kind: str, first: int, last: int) -> None:
        press("contact_mark", kind=kind, feet="ACTIVE", span="RANGE", frame_start=first, frame_end=last)

    mark("FLAT", 3, 12)
    assert spans(owner) == [(3, 12)]
    mark("NONE", 7, 8)
    assert spans(owner) == [(3, 6), (9, 12)]
    mark("TOE", 7, 8)
    assert spans(owner) == [(3, 12)]
    foot = limb(owner, "Leg.L")
    press("contact_move", bone=foot, frame=5, start=2, end=2)
    assert spans(owner) == [(5, 14)]
    press("contact_move", bone=foot, frame=5, start=0, end=3)
    press("contact_move", bone=foot, frame=5, start=-1, end=0)
    assert spans(owner) == [(4, 17)]
    assert contacts_of(owner)[0].kinds[:7] == (3, 3, 3, 3, 3, 2, 2)
    mark("NONE", 1, 25)
    assert spans(owner) == []
    assert (played(owner, names) == before).all()  # marks move nothing


def test_a_contact_is_not_moved_away_altogether() -> None:
    contact = Contact("foot", 5, (1, 3, 3, 2))
    assert contact.moved(1, 1) == Contact("foot", 6, (1, 3, 3, 2))
    assert contact.moved(2, 0) == Contact("foot", 7, (3, 2))
    assert contact.moved(-2, 1) == Contact("foot", 3, (1, 1, 1, 3, 3, 2, 2))
    assert contact.moved(0, -3) == Contact("foot", 5, (1,))
    for start, end in ((4, 0), (0, -4), (2, -2)):
        with pytest.raises(InvalidValueError, match="nothing would be left"):
            contact.moved(start, end)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of feet: found where a foot stands, marked by keys, and kept to the hair by Clean Contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion.contacts import find_steps
from fabrik_addon.actions.motion.marks import contact_path, contacts_of, marks_of
from fabrik_addon.actions.setup.parts import find_parts
from fabrik_addon.motion.contacts import NONE, runs
from fabrik_addon.rig.animation.compat import fcurves_of, remove_curves
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Quaternion, Vector

from support.animated import Frames, control, limb, move, places, played, put_from_rest, set_up, size, turn_at_rest
from support.hanging import activate, chain
from support.scenes import (
    assert_refused,
    each_frame,
    keyed,
    keyed_turns,
    make_armature,
    make_empty,
    press,
    select,
    strand,
    update,
)
from support.shifting import FRAMES, LIFT, RATE, SLIDE, STANDS, STILL, shifting
from support.skeletons import make_character
from support.stored import stored
from support.undoing import assert_one_step


@pytest.fixture
@stored
def on_hands() -> bpy.types.Object:
    """A character that is over the ground on its stretched arms, sways and kicks; it is set up over that."""
    owner = make_character("human_mixamo")
    scene = bpy.context.scene
    scene.render.fps, scene.frame_end = RATE, FRAMES[-1]
    found = find_parts(owner)
    for part in found.parts:
        if part.kind == "ARM":
            turn_at_rest(owner, part.bones[0], Vector((0.0, 0.0, 1.0)), -pi / 2 if part.name == "Arm.L" else pi / 2)
            pose_bones(owner)[part.bones[0]].keyframe_insert("rotation_quaternion", frame=FRAMES[0])
    turn_at_rest(owner, found.body, Vector((1.0, 0.0, 0.0)), pi / 2)
    pose_bones(owner)[found.body].keyframe_insert("rotation_quaternion", frame=FRAMES[0])
    for frame in FRAMES:
        put_from_rest(owner, found.body, Vector((0.0, SLIDE * np.sin(0.9 * frame), 0.0)))
        pose_bones(owner)[found.body].keyframe_insert("location", frame=frame)
        for part in found.parts:
            if part.kind == "LEG":
                turn_at_rest(owner, part.bones[0], Vector((1.0, 0.0, 0.0)), 0.4 + 0.4 * np.sin(0.9 * frame))
                pose_bones(owner)[part.bones[0]].keyframe_insert("rotation_quaternion", frame=frame)
    set_up(owner)
    return owner


@pytest.fixture
def sliding() -> bpy.types.Object:
    """A character that shifts from foot to foot, and slides; its bones are keyed, and it is set up over that."""
    return shifting()


def marks(owner: bpy.types.Object, name: str) -> list[tuple[int, int]]:
    """First and last frame of each contact of a foot."""
    found = marks_of(owner, pose_bones(owner)[limb(owner, name)], np.array(FRAMES, dtype=np.float64))
    return [(FRAMES[first], FRAMES[last - 1]) for first, last in runs(found != NONE)]


def slides(poses: Frames, owner: bpy.types.Object, span: Sequence[int]) -> float:
    """The most by which a foot moves in a frame of a contact, in legs."""
    own = poses[FRAMES.index(span[0]) : FRAMES.index(span[1]) + 1, :3, 3]
    return float(np.linalg.norm(np.diff(own, axis=0), axis=1).max()) / size(owner)


def slide(poses: Frames, owner: bpy.types.Object, name: str) -> float:
    """The most by which a foot moves from a frame in which it stands to the next, in legs."""
    (span,) = marks(owner, name)
    return slides(poses[:, pose_bones(owner).find(limb(owner, name))], owner, span)


def all_played(owner: bpy.types.Object) -> Frames:
    return played(owner, [bone.name for bone in pose_bones(owner)], FRAMES)


def test_contacts_are_found_where_feet_stand_in_whatever_frames(sliding: bpy.types.Object) -> None:
    before = all_played(sliding)
    press("contacts_find")
    for name, (first, last) in STANDS.items():
        ((begins, ends),) = marks(sliding, name)
        assert abs(begins - first) <= 1, name
        assert abs(ends - last) <= 1, name
    assert (all_played(sliding) == before).all()
    keys = [one for one in fcurves_of(sliding) if one.data_path.endswith("fabrik_contact")]
    assert len(keys) == len(STANDS)
    assert {point.interpolation for curve in keys for point in curve.keyframe_points} == {"CONSTANT"}
    stood = {name: marks(sliding, name) for name in STANDS}
    bpy.context.scene.frame_end = FRAMES[-1] + 100
    press("contacts_find", span="RANGE", frame_start=FRAMES[0] - 20, frame_end=FRAMES[-1] + 80)
    assert {name: marks(sliding, name) for name in STANDS} == stood
    assert max(one.last for one in contacts_of(sliding)) <= FRAMES[-1]
    press("contacts_find", span="RANGE", frame_start=10, frame_end=50)
    assert {name: marks(sliding, name) for name in STANDS} == stood


def test_clean_feet_stand_still_and_only_controls_are_keyed_once(sliding: bpy.types.Object) -> None:
    press("contacts_find")
    before = all_played(sliding)
    others = {
        (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
        for curve in fcurves_of(sliding)
    }
    press("contacts_clean")
    after = all_played(sliding)
    for name in STANDS:
        assert slide(before, sliding, name) > 10.0 * STILL, name
        assert slide(after, sliding, name) <= STILL, name
    added = {(curve.data_path, curve.array_index) for curve in fcurves_of(sliding)} - others.keys()
    controls = [pose_bones(sliding)[chain(sliding, name).target_bone].path_from_id() for name in (*STANDS, "Body")]
    assert all(path.startswith(tuple(controls)) for path, _ in added)
    for curve in fcurves_of(sliding):
        place = curve.data_path, curve.array_index
        assert place in added or others[place] == [tuple(point.co) for point in curve.keyframe_points]
    moved = np.linalg.norm(after[:, :, :3, 3] - before[:, :, :3, 3], axis=2) / size(sliding)
    body = [bone.name for bone in pose_bones(sliding)].index(limb(sliding, "Body"))
    assert moved[:, body].max() <= 0.02
    assert moved.max() <= 0.1 / LIFT  # the way of a foot in the frame in which it comes up
    steps = np.linalg.norm(np.diff(after[:, :, :3, 3] - before[:, :, :3, 3], axis=0), axis=2) / size(sliding)
    assert steps.max() <= 3.0 * SLIDE  # it comes and goes smoothly
    press("contacts_clean")
    assert np.abs(all_played(sliding) - after).max() <= 1e-6 * size(sliding)


def test_on_a_ground_that_slopes_contacts_are_found_and_the_slope_is_told(sliding: bpy.types.Object) -> None:
    press("contacts_find")
    stood = {name: marks(sliding, name) for name in STANDS}
    for frame, way in ((STANDS["Leg.L"][1] + 2, 0.0), (STANDS["Leg.R"][0] - 2, 2.0 * size(sliding))):
        sliding.location = (0.0, -way, way * np.tan(np.radians(8.0)))
        sliding.keyframe_insert("location", frame=frame)
    told = list[str]()

    def steps() -> Iterator[float]:
        found = yield from find_steps(bpy.context, sliding, FRAMES)
        told.extend(map(str, found.warnings))

    assert max(steps()) == 1.0
    assert told == ["the ground of the motion slopes by 8°"]
    for name, spans in stood.items():
        assert np.abs(np.subtract(marks(sliding, name), spans)).max() <= 1, name


def test_one_foot_alone_is_let_stand(sliding: bpy.types.Object) -> None:
    press("contacts_find")
    before = all_played(sliding)
    activate(sliding, "Leg.L")
    press("contacts_clean", feet="ACTIVE")
    after = all_played(sliding)
    assert slide(after, sliding, "Leg.L") <= STILL
    assert slide(after, sliding, "Leg.R") == pytest.approx(slide(before, sliding, "Leg.R"), rel=1e-3)


def test_hands_on_the_ground_are_found_and_stand_still(on_hands: bpy.types.Object) -> None:
    press("contacts_find")
    assert [marks(on_hands, name) for name in ("Leg.L", "Leg.R")] == [[], []]
    before = all_played(on_hands)
    press("contacts_clean")
    after = all_played(on_hands)
    for name in ("Arm.L", "Arm.R"):
        assert marks(on_hands, name) == [(FRAMES[0], FRAMES[-1])]
        assert slide(before, on_hands, name) > 10.0 * STILL
        assert slide(after, on_hands, name) <= STILL


def test_a_contact_is_marked_in_the_frames_that_play(sliding: bpy.types.Object) -> None:
    activate(sliding, "Arm.L")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 41
    press("contact_mark")
    assert marks(sliding, "Arm.L") == [(3, 41)]


def test_a_hand_that_is_marked_stands_in_the_world_and_goes_with_the_body_beside_that(
    sliding: bpy.types.Object,
) -> None:
    activate(sliding, "Arm.L")
    press("contact_mark", span="RANGE", frame_start=25, frame_end=35)
    before = all_played(sliding)
    way = move(sliding, "Body", (0.0, 0.0, -0.05))
    press("contacts_clean", feet="ACTIVE")
    moved = all_played(sliding) - before
    hand = [bone.name for bone in pose_bones(sliding)].index(limb(sliding, "Arm.L"))
    off = np.linalg.norm(moved[:, hand, :3, 3], axis=1) / size(sliding)
    assert slide(before + moved, sliding, "Arm.L") <= STILL
    assert off[24:35].max() <= 0.01
    along = np.linalg.norm(moved[[0, -1], hand, :3, 3] - np.array(way), axis=1) / size(sliding)
    assert along.max() <= STILL
    assert np.abs(np.diff(off)).max() <= 0.01  # it comes and goes smoothly


def test_clean_contacts_of_a_range_changes_nothing_beside_it_and_tells_what_it_cuts(
    sliding: bpy.types.Object, capsys: pytest.CaptureFixture[str]
) -> None:
    for frame, way in ((1, 0.0), (60, 0.004)):  # by hand, with the range between
        control(sliding, "Leg.L").location.z = way * size(sliding)
        control(sliding, "Leg.L").keyframe_insert("location", frame=frame)
    press("contacts_find")
    before = all_played(sliding)
    press("contacts_clean", span="RANGE", frame_start=10, frame_end=50)
    after = all_played(sliding)
    outside = [k for k, frame in enumerate(FRAMES) if not 10 <= frame <= 50]
    assert np.abs(after[outside] - before[outside]).max() <= 1e-6 * size(sliding)
    steps = np.linalg.norm(np.diff(after[:, :, :3, 3] - before[:, :, :3, 3], axis=0), axis=2) / size(sliding)
    assert steps.max() <= 3.0 * SLIDE
    assert "the frames cut a contact of Leg.L, Leg.R, which slides where they end" in capsys.readouterr().out


@pytest.mark.parametrize("span", [(20, 40), (25, 35), (30, 32)])
def test_a_hand_is_let_stand_for_a_span(sliding: bpy.types.Object, span: tuple[int, int]) -> None:
    activate(sliding, "Arm.L")
    for frame, way in ((1, 0.0), (60, 0.3 * size(sliding) * sliding.scale.x)):
        sliding.location.x = way
        sliding.keyframe_insert("location", index=0, frame=frame)
    press("contact_mark", span="RANGE", frame_start=25, frame_end=35)
    press("contacts_clean", feet="ACTIVE", span="RANGE", frame_start=span[0], frame_end=span[1])
    stood = places(sliding, limb(sliding, "Arm.L"), FRAMES)
    steps = np.linalg.norm(np.diff(stood, axis=0), axis=1) / (size(sliding) * sliding.scale.x)
    first, last = max(span[0], 25), min(span[1], 35)
    if span != (30, 32):  # which cuts it
        assert steps[first - 1 : last - 1].max() <= STILL
    assert steps.max() <= 0.05


def test_what_is_cleaned_goes_with_its_marks(sliding: bpy.types.Object) -> None:
    before = all_played(sliding)
    press("contacts_find")
    press("contacts_clean")
    bone = pose_bones(sliding)[limb(sliding, "Leg.R")]
    (curve,) = [one for one in fcurves_of(sliding) if one.data_path == contact_path(bone)]
    for point in curve.keyframe_points:
        point.co[1] = NONE
    press("contacts_clean")
    names = [one.name for one in pose_bones(sliding)]
    foot = names.index(limb(sliding, "Leg.R"))
    assert np.abs(all_played(sliding)[:, foot, :3, 3] - before[:, foot, :3, 3]).max() <= 1e-5 * size(sliding)


def test_what_can_not_be_done_is_told_and_changes_nothing(sliding: bpy.types.Object) -> None:
    assert_refused("no foot or hand is marked", "contacts_clean")
    assert_refused("2 frames are too few", "contacts_find", span="RANGE", frame_start=1, frame_end=2)
    press("contacts_find")
    rig_of(sliding).live = False
    activate(sliding, "Leg.L")
    chain(sliding, "Leg.L").enabled = False
    assert_refused(r"Leg\.L.*not enabled", "contacts_clean")
    chain(sliding, "Leg.L").enabled = True
    chain(sliding, "Leg.L").orientation = "FREE"
    assert_refused(r"Leg\.L.*does not turn with its target", "contacts_clean")
    chain(sliding, "Leg.L").orientation = "TARGET"
    chain(sliding, "Leg.L").influence = 0.5
    assert_refused(r"Leg\.L.*influence is below 1", "contacts_clean")
    chain(sliding, "Leg.L").influence = 1.0
    press("goal_space", space="BODY", roles="TARGET")
    turned = control(sliding, "Body")
    turned.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 0.1)
    assert_refused(r"Leg\.L.*hangs on '.*Hips', which 'Body' moves", "contacts_clean")
    turned.rotation_quaternion = Quaternion()
    press("goal_space", space="ARMATURE", roles="TARGET")
    for name, value, said in (
        ("enabled", False, "not enabled"),
        ("influence", 0.5, "influence is below 1"),
        ("goal", "PLACE", "Goal is keyed"),
    ):
        leg = chain(sliding, "Leg.L")
        keyed(leg, {1: getattr(leg, name), 20: value}, name)
        bpy.context.scene.frame_set(1)
        assert_refused(rf"Leg\.L.*{said}", "contacts_clean")
        remove_curves([one for one in fcurves_of(sliding) if one.data_path == leg.path_from_id(name)])
    press("goal_kind", goal="PLACE")
    assert_refused(r"Leg\.L.*tells a place", "contacts_clean")
    target = chain(sliding, "Leg.R").target_bone
    assert not [one for one in fcurves_of(sliding) if target in one.data_path]


@pytest.mark.parametrize("name", ["contacts_find", "contacts_clean"])
def test_contacts_are_undone_in_one_step(sliding: bpy.types.Object, name: str) -> None:
    called = sliding.name
    if name == "contacts_clean":
        press("contacts_find")

    def keys() -> list[tuple[str, int, int]]:
        owner = bpy.data.objects[called]
        return sorted((one.data_path, one.array_index, len(one.keyframe_points)) for one in fcurves_of(owner))

    assert_one_step(keys, name)


def test_a_mark_is_a_setting_of_the_bone_that_is_keyed(sliding: bpy.types.Object) -> None:
    bone = pose_bones(sliding)[limb(sliding, "Leg.L")]
    for frame, kind in ((1, "FLAT"), (20, "NONE")):
        bone.fabrik.contact = kind
        bone.keyframe_insert("fabrik_contact", frame=frame)
    assert contact_path(bone) in {curve.data_path for curve in fcurves_of(sliding)}
    assert marks(sliding, "Leg.L") == [(1, 19)]
    press("contacts_clean")
    assert slide(all_played(sliding), sliding, "Leg.L") <= STILL


# Contacts with an object that moves, and with a place of their own: found, kept, moved, and gone with the object.


BOARD_SPEED = 0.01  # legs a frame


@pytest.fixture
def carried() -> bpy.types.Object:
    """A character that shifts from foot to foot and goes along with a board, which turns, too."""
    owner, ground = shifting(), make_empty(name="Board")
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
    for _ in each_frame(FRAMES):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        posed = owner.evaluated_get(depsgraph)
        below = ground.evaluated_get(depsgraph).matrix_world if ground is not None else Matrix()
        found.append(
            [[*row] for row in below.inverted() @ posed.matrix_world @ pose_bones(posed)[limb(owner, name)].matrix]
        )
    return np.array(found)


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
    bpy.data.objects.new("Child", None).parent = carried
    assert_refused("'Child' goes along with it", "contact_mark", ground="Child")
    assert_refused("there is no object 'Nothing'", "contacts_find", ground="Nothing")


def test_a_ground_that_is_gone_is_told_and_feet_stand_in_the_world(capfd: pytest.CaptureFixture[str]) -> None:
    owner, ground = shifting(), make_empty(name="Board")
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
    activate(owner, "Leg.L")
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
    activate(owner, "Leg.L")
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


def test_limbs_without_a_body_have_contacts() -> None:
    """How thick a palm is can't be told, but that it stands still can."""
    arm = strand((0.2, 0.0, 1.4), (0.5, 0.02, 1.4), (0.75, 0.0, 1.4), (0.85, 0.0, 1.4))
    leg = strand((0.1, 0.0, 0.9), (0.1, -0.02, 0.5), (0.1, 0.0, 0.1), (0.1, -0.1, 0.0))
    names = ("upper_arm.L", "forearm.L", "hand.L", "thigh.L", "shin.L", "foot.L")
    owner = make_armature([bone._replace(name=name) for bone, name in zip(arm + leg, names, strict=True)])
    for name in ("hand.L", "foot.L"):
        select(owner, name)
        press("chain_add", use_target=True)
    bone = owner.pose.bones["thigh.L"]
    keyed_turns(bone, {1: 0.0, 20: 0.0, 30: 0.6, 40: 0.0})
    press("contacts_find", span="RANGE", frame_start=1, frame_end=40)
    assert contacts_of(owner)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What tools do with limbs whose controls edit a motion: nothing counts twice, and what makes no sense is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.drag import Grip, begin, drag_to, finish
from fabrik_addon.actions.solve import edited_bones
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Quaternion, Vector

from support.animated import (
    FIRST,
    LAST,
    Frames,
    Motion,
    animated,
    control,
    move,
    played,
    played_now,
    raised,
    size,
    with_motion,
)
from support.hanging import activate, chain
from support.scenes import (
    assert_refused,
    go_live,
    go_to,
    key_automatically,
    keyed,
    make_empty,
    press,
    select,
    update,
)
from support.shifting import shifting
from support.skeletons import make_character
from support.walks import key_way

pytestmark = pytest.mark.usefixtures("not_live")


@pytest.fixture
def motion() -> Motion:
    return with_motion("human_mixamo")


ALL = {"span": "RANGE", "frame_start": FIRST, "frame_end": LAST}
MOVED = 1e-3  # of a leg, by which what stays may be elsewhere


def apart(owner: bpy.types.Object, poses: Frames, others: Frames) -> float:
    """The farthest that a bone stands from where it stood, of a leg."""
    return float(np.abs(poses - others)[..., :3, 3].max()) / size(owner)


def edited_at(
    motion: Motion, frame: int, name: str, way: Sequence[float]
) -> tuple[bpy.types.Object, list[str], Frames]:
    """A motion whose control is moved; at a frame."""
    owner, names, _ = motion
    bpy.context.scene.frame_set(frame)
    move(owner, name, way)
    activate(owner, name)
    return owner, names, played_now(owner, names)


@pytest.mark.parametrize("space", ["ARMATURE", "SCENE", "BODY"])
def test_a_control_goes_on_editing_in_another_space(motion: Motion, space: str) -> None:
    owner, names, before = motion
    activate(owner, "Arm.L")
    press("goal_space", space=space)  # its pole stays, which swings with the limb
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    assert chain(owner, "Arm.L").status == "REACHED"
    assert apart(owner, played(owner, names), before) > 0.05


@pytest.mark.parametrize(
    ("operator", "options", "reason"),
    [
        ("goal_space", {"space": "SCENE", "roles": "POLE"}, "its pole swings with the limb"),
        ("grab", {"object": "Prop"}, "can't hold on to anything"),
        ("start_pose_capture", {}, "its start pose is its motion"),
        ("start_pose_reset", {}, "its start pose is its motion"),
        ("orientation_set", {"orientation": "KEEP"}, "turns as its motion has it"),
        (
            "pose_snap",
            {"chains": "ALL", "span": "RANGE", "frame_start": 6, "frame_end": 10},
            "edits frames beyond these",
        ),
    ],
)
def test_what_an_offset_can_not_do_is_refused(
    motion: Motion, operator: str, options: dict[str, Any], reason: str
) -> None:
    make_empty((0.3, 0.2, 1.0), "Prop")
    owner, names, pose = edited_at(motion, 8, "Arm.L", (0.02, -0.05, 0.04))
    assert_refused(rf"Arm\.L.*{reason}", operator, **options)
    update()
    assert (played_now(owner, names) == pose).all()


def test_start_poses_of_all_are_captured_but_of_those_that_edit(motion: Motion) -> None:
    owner, names, pose = edited_at(motion, 8, "Arm.L", (0.02, -0.05, 0.04))
    press("start_pose_capture", use_all=True)
    assert chain(owner, "Arm.L").start == "ANIMATED"
    assert chain(owner, "Spine").start == "CAPTURED"
    assert apart(owner, played_now(owner, names), pose) <= MOVED


def test_soft_pops_nothing_as_another_control_is_moved(motion: Motion) -> None:
    owner, names, before = motion
    chain(owner, "Leg.L").soft = 0.1
    move(owner, "Arm.R", (1e-6, 0.0, 0.0))
    assert apart(owner, played(owner, names), before) <= MOVED


@pytest.mark.parametrize("operator", ["flip_pose", "mirror_pose"])
def test_a_mirrored_pose_is_keyed_by_its_controls_alone(operator: str) -> None:
    poses = []
    for is_on in (False, True):
        owner, names, before = with_motion("human_mixamo")
        bpy.context.scene.frame_set(8)
        bpy.context.view_layer.objects.active = owner
        select(owner, *(name for name in names if "Left" in name and operator == "mirror_pose"))
        key_automatically(on=is_on)
        press(operator)
        key_automatically(on=False)
        poses.append(played_now(owner, names))
        if not is_on:
            bpy.ops.object.mode_set(mode="OBJECT")
            bpy.data.objects.remove(owner)
    assert apart(owner, *poses) <= MOVED
    edited = [names.index(name) for name in edited_bones(owner)]
    rig_of(owner).edits = False
    update()
    assert np.abs(played(owner, names) - before)[:, edited].max() <= 1e-5


def test_key_pose_keys_controls_and_leaves_the_motion(motion: Motion) -> None:
    owner, names, pose = edited_at(motion, 8, "Body", (0.02, -0.05, -0.04))
    press("key")
    update()
    assert apart(owner, played_now(owner, names), pose) <= 1e-4
    rig_of(owner).edits = False
    assert (played(owner, names) == motion[2]).all()


def test_what_can_not_be_keyed_is_not_told_as_keyed(motion: Motion) -> None:
    owner = motion[0]
    keyed(control(owner, "Arm.L"), {FIRST: (0.0, 0.0, 0.0), LAST: (0.0, 0.0, 0.0)})
    for curve in fcurves_of(owner):
        curve.lock = curve.data_path.startswith(control(owner, "Arm.L").path_from_id())
    edited_at(motion, 8, "Arm.L", (0.0, 0.0, 0.1))
    assert_refused("locks", "key", chains="ACTIVE")


def test_keys_of_all_layers_count_for_a_bake_at_keys(motion: Motion) -> None:
    raised(motion[0])
    press("layer_add")
    press("bake", only_keys=True, **ALL)


def test_edits_that_are_baked_at_keys_rest(motion: Motion) -> None:
    owner, names, _ = motion
    raised(owner)
    live = played(owner, names, (9, 13, 17))
    press("bake", only_keys=True, **ALL)
    for one in rig_of(owner).chains:
        one.enabled = one.goal == "OFFSET"
    rig_of(owner).live = True
    update()
    assert apart(owner, played(owner, names, (9, 13, 17)), live) <= MOVED


def test_a_bake_of_some_frames_leaves_those_between_keys_beyond(motion: Motion) -> None:
    owner, names, before = motion
    move(owner, "Arm.L", (0.02, -0.05, 0.1))
    press("bake", span="RANGE", frame_start=6, frame_end=10)
    beyond = [frame - FIRST for frame in (2, 3, 14, 15, 17, 18)]
    assert apart(owner, played(owner, names)[beyond], before[beyond]) <= 1e-4


def test_a_move_is_spread_that_its_keys_tell_and_what_is_of_all_frames_stays(motion: Motion) -> None:
    owner, names, _ = motion
    move(owner, "Body", (0.0, 0.0, -0.08))
    hips = control(owner, "Body")
    hips.rotation_mode = "QUATERNION"
    for frame in (FIRST, LAST):
        hips.keyframe_insert("rotation_quaternion", frame=frame)
    before = played(owner, names)
    bpy.context.scene.frame_set(12)
    select(owner, hips.name)
    hips.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 0.2)
    update()
    press("time_spread", width=4)
    far = [0, 3, 5, 19, 24]
    assert apart(owner, played(owner, names)[far], before[far]) <= MOVED


def test_hips_are_dragged_from_where_they_stand_without_live(motion: Motion) -> None:
    owner, names, _ = motion
    rig_of(owner).live = False
    bpy.context.scene.frame_set(8)
    pose = played_now(owner, names)
    drag = begin(bpy.context, owner, Grip("mixamorig:Hips", "HEAD"))
    drag_to(bpy.context, drag, drag.place)
    update()
    assert apart(owner, played_now(owner, names), pose) <= MOVED
    assert "Live is off" in " ".join(finish(bpy.context, drag).warnings)


def test_a_limb_that_edits_nothing_now_is_told_as_it_is_dragged_live_over_motion() -> None:
    """Its chain is disabled, and the next frame change plays its keys."""
    owner, _, _ = with_motion("human_mixamo")
    go_live(owner)
    foot = chain(owner, "Leg.R")
    foot.enabled = False
    drag = begin(bpy.context, owner, Grip(foot.tip_bone, "HEAD"))
    drag_to(bpy.context, drag, drag.place + size(owner) * Vector((0.0, -0.06, 0.1)))
    update()
    assert f"no control edits '{foot.tip_bone}'" in " ".join(finish(bpy.context, drag).warnings)


DRAGS = {  # which end of which bone is dragged live, by how much of a leg, and the chain whose control comes along
    "a spine": (Grip("mixamorig:Spine2"), (0.0, -0.06, 0.02), ""),
    "a neck": (Grip("mixamorig:Neck"), (0.04, -0.04, 0.0), ""),
    "an elbow": (Grip("mixamorig:RightForeArm", "HEAD"), (0.0, -0.06, 0.1), "Arm.R"),
    "fingers": (Grip("mixamorig:RightHand"), (0.0, -0.06, 0.1), "Arm.R"),
}


@pytest.mark.parametrize("name", DRAGS)
def test_what_is_dragged_live_over_motion_stays_where_it_was_let_go(name: str) -> None:
    """Where controls edit it, in each frame; else until the frame changes, and that is told."""
    owner, names, _ = with_motion("human_mixamo")
    taken, way, limb_of = DRAGS[name]
    go_live(owner)
    frame = bpy.context.scene.frame_current
    drag = begin(bpy.context, owner, taken)
    drag_to(bpy.context, drag, drag.place + size(owner) * Vector(way))
    update()
    dragged = {one: pose_bones(owner)[one].head.copy() for one in names}
    told = finish(bpy.context, drag)
    hand = chain(owner, limb_of).tip_bone if limb_of else ""
    wanted = {hand: dragged[hand]} if hand else dragged
    for is_later in (False, True) if hand else (False,):
        if is_later:
            go_to(frame + 1)
            go_to(frame)
        update()
        off = max((pose_bones(owner)[one].head - place).length for one, place in wanted.items())
        assert off <= MOVED * size(owner) / owner.scale.x
    assert hand or f"no control edits '{taken.bone}'" in " ".join(told.warnings)


def test_contacts_are_not_cleaned_while_edits_are_off() -> None:
    owner = shifting()
    press("contacts_find")
    rig_of(owner).edits = False
    assert_refused("edits are off", "contacts_clean")


def test_a_set_up_over_motion_with_locked_channels_leaves_these_free() -> None:
    owner = animated("human_mixamo")
    arms = [bone for bone in pose_bones(owner) if "Arm" in bone.name]
    for bone in arms:
        bone.lock_rotation = (False, True, False)
    press("character_setup")
    assert chain(owner, "Arm.L").enabled
    assert {limit_of(bone).limit for bone in arms} <= {"FREE", "HINGE", "CONE"}


def test_an_uneven_scale_above_a_chest_is_told() -> None:
    owner = make_character("human_mixamo")
    press("character_setup")
    pose_bones(owner)["mixamorig:Spine1"].scale = (1.0, 1.2, 1.0)
    update()
    assert_refused("scale", "goal_snap", chains="ALL")


@pytest.mark.parametrize(("operator", "options"), [("solve_all", {}), ("pose_snap", {"chains": "ALL"})])
def test_a_planned_walk_is_solved_by_button_as_live(operator: str, options: dict[str, Any]) -> None:
    owner = make_character("human_mixamo")
    key_way(owner, "mixamorig:Hips", lambda s: (0.0, -1.2 * s / owner.matrix_world.to_scale()[0], 0.0), (1, 60))
    press("character_setup", use_walker=True)
    press("walk_plan", span="SCENE")
    names = [bone.name for bone in pose_bones(owner)]
    rig_of(owner).live = True
    go_to(23)
    live = played_now(owner, names)
    rig_of(owner).live = False
    go_to(24, 23)
    press(operator, **options)
    assert apart(owner, played_now(owner, names), live) <= 1e-6


def test_what_goes_on_moving_is_told_as_a_limb_of_a_body_is_switched_to_its_keys(
    capfd: pytest.CaptureFixture[str],
) -> None:
    owner = make_character("human_mixamo")
    press("character_setup")
    rig_of(owner).live = True
    bpy.context.scene.frame_set(8)
    move(owner, "Leg.R", (0.0, -0.3, 0.1))
    move(owner, "Arm.L", (0.0, -0.6, -0.5))
    activate(owner, "Leg.R")
    press("limb_to_fk")
    assert "the next solve turns it" in capfd.readouterr().out


def test_a_body_that_limbs_have_turned_stays_as_all_of_them_are_switched_to_their_keys() -> None:
    """Nothing else holds it then: where it stands and how it is turned is keyed with them."""
    owner = make_character("human_mixamo")
    press("character_setup")
    rig_of(owner).live, rig_of(owner).body_stiffness = True, 0.0
    move(owner, "Leg.R", (0.0, -0.3, 0.1))
    move(owner, "Leg.L", (0.3, 0.3, -0.1))
    names = [bone.name for bone in pose_bones(owner)]
    before, body = played_now(owner, names), pose_bones(owner)[rig_of(owner).body_bone]
    assert body.matrix_basis.to_quaternion().angle > 0.01
    press("limb_to_fk", chains="ALL")
    update()
    assert apart(owner, played_now(owner, names), before) <= 1e-6

# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers of edits: added up, switched, kept by name and by keys; choosing one changes no pose in any frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Quaternion

from support.animated import FIRST, LAST, Frames, Motion, control, limb, move, played, size, with_motion
from support.scenes import assert_refused, go_live, keyed, press, update

pytestmark = pytest.mark.usefixtures("not_live")

AT = 12
SMALL = 2e-5  # of matrices, in what is stored in single precision


@pytest.fixture(params=["QUATERNION", "XYZ"])
def motion(request: pytest.FixtureRequest) -> Motion:
    """A character with motion that is set up and live."""
    return with_motion("human_mixamo", request.param)


@pytest.fixture
def layered(motion: Motion) -> Motion:
    """A character whose hand is moved up by keys, and in a layer above that forwards at one frame."""
    owner, names, _ = motion
    bpy.context.scene.frame_set(AT)
    move(owner, "Arm.L", (0.0, 0.0, 0.1))
    for frame in (AT - 6, AT + 6):
        control(owner, "Arm.L").keyframe_insert("location", frame=frame)
    press("layer_add", layer="Reach")
    move(owner, "Arm.L", (0.0, -0.2, 0.0))
    for frame in (FIRST, LAST):
        control(owner, "Arm.L").keyframe_insert("location", frame=frame)
    update()
    return owner, names, played(owner, names)


def hands(owner: bpy.types.Object, names: list[str], poses: Frames, before: Frames) -> Frames:
    """How far a hand is moved in each frame, in legs: (F, 3)."""
    tip = names.index(limb(owner, "Arm.L"))
    found: Frames = (poses - before)[:, tip, :3, 3] / size(owner)
    return found


def test_edits_of_layers_are_added_up_by_their_shares_and_go_with_them(motion: Motion, layered: Motion) -> None:
    owner, names, _ = layered

    def lengths() -> Frames:
        found: Frames = np.linalg.norm(hands(owner, names, played(owner, names), motion[2]), axis=1)
        return found

    assert [layer.name for layer in rig_of(owner).layers] == ["Edits", "Reach"]
    assert lengths() == pytest.approx(np.hypot(0.1, 0.2), abs=2e-3)
    for layer, share, length in (("Reach", 0.0, 0.1), ("Edits", 0.0, 0.2), ("Reach", 0.5, np.hypot(0.1, 0.1))):
        rig_of(owner).layers[layer].influence = share
        assert lengths() == pytest.approx(length, abs=2e-3)
        rig_of(owner).layers[layer].influence = 1.0
    for layer in rig_of(owner).layers:
        layer.enabled = False
    assert (played(owner, names) == motion[2]).all()
    rig_of(owner).layers["Edits"].enabled = True
    press("layer_remove", layer="Reach")
    assert lengths() == pytest.approx(0.1, abs=2e-3)
    assert_refused("it is the only layer", "layer_remove", layer="Edits")


@pytest.mark.parametrize("name", ["Edits", "Reach"])
def test_choosing_one_changes_no_pose_and_takes_its_keys_along(layered: Motion, name: str) -> None:
    owner, names, poses = layered
    press("layer_choose", layer="Edits")
    press("layer_choose", layer=name)
    assert np.abs(played(owner, names) - poses).max() <= SMALL
    path = control(owner, "Arm.L").path_from_id("location")
    frames = {point.co[0] for one in fcurves_of(owner) if one.data_path == path for point in one.keyframe_points}
    assert frames == ({AT - 6, AT + 6} if name == "Edits" else {FIRST, LAST})


def test_influence_can_be_keyed(motion: Motion, layered: Motion) -> None:
    owner, names, _ = layered
    layer = rig_of(owner).layers["Reach"]
    keyed(layer, {FIRST: 0.0, LAST: 1.0}, "influence")
    way = hands(owner, names, played(owner, names), motion[2])
    assert np.linalg.norm(way[0]) == pytest.approx(0.1, abs=2e-3)
    assert np.linalg.norm(way[-1]) == pytest.approx(np.hypot(0.1, 0.2), abs=2e-3)
    press("layer_remove", layer="Edits")
    assert {one.data_path for one in fcurves_of(owner) if "layers" in one.data_path} == {"fabrik_layers[0].influence"}
    way = hands(owner, names, played(owner, names), motion[2])
    assert np.linalg.norm(way[[0, -1]], axis=1) == pytest.approx([0.0, 0.2], abs=2e-3)


def test_turns_are_added_up_and_a_goal_comes_along_in_the_layer_at_hand(layered: Motion) -> None:
    owner, _, _ = layered
    bone = control(owner, "Arm.L")
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 0.4)
    bone.keyframe_insert("rotation_quaternion", frame=FIRST)
    press("layer_add")
    bpy.context.scene.frame_set(AT)
    update()
    hand = limb(owner, "Arm.L")
    stood = pose_bones(owner)[hand].matrix.copy()
    control(owner, "Arm.L").rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.3)
    update()
    turned = pose_bones(owner)[hand].matrix.to_quaternion().rotation_difference(stood.to_quaternion()).angle
    assert turned == pytest.approx(0.3, abs=1e-3)
    rig_of(owner).layers["Layer"].influence = 0.5
    rig_of(owner).active_index = [one.name for one in rig_of(owner).chains].index("Arm.L")
    update()
    rig_of(owner).live = False
    turned_by_hand(owner, hand)
    pose = np.array(pose_bones(owner)[hand].matrix)
    press("goal_snap")
    go_live(owner)
    assert np.abs(np.array(pose_bones(owner)[hand].matrix) - pose).max() <= 2e-3 * size(owner)


def turned_by_hand(owner: bpy.types.Object, name: str) -> None:
    """Turn a bone by a fifth of a radian, without a goal."""
    bone = pose_bones(owner)[name]
    bone.matrix = bone.matrix @ Quaternion((0.0, 0.0, 1.0), 0.2).to_matrix().to_4x4()
    update()


def test_no_goal_is_moved_in_a_layer_that_is_off_and_that_is_told(layered: Motion) -> None:
    owner, names, _ = layered
    rig_of(owner).layers["Reach"].enabled = False
    stood = played(owner, names)
    rig_of(owner).active_index = [one.name for one in rig_of(owner).chains].index("Arm.L")
    assert_refused("moves nothing while the layer of edits at hand is off", "goal_snap")
    turned_by_hand(owner, limb(owner, "Arm.L"))  # which brings goals along, as far as they move anything
    assert np.abs(played(owner, names) - stood).max() <= SMALL


def test_a_pole_that_is_an_object_has_one_layer_alone(motion: Motion) -> None:
    owner, names, before = motion
    one = rig_of(owner).chains["Arm.L"]
    pole = bpy.data.objects.new("Pole", None)
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.link(pole)
    pole.parent, pole.parent_type = owner, "BONE"
    swing = pose_bones(owner)[one.pole_bone].parent
    assert swing is not None
    pole.parent_bone = swing.name
    update()
    pole.matrix_world = owner.matrix_world @ pose_bones(owner)[one.pole_bone].matrix
    update()
    pole.matrix_parent_inverse, pole.matrix_basis = pole.matrix_parent_inverse @ pole.matrix_basis, Matrix()  # at rest
    update()
    one.pole, one.pole_bone = pole, ""
    assert np.abs(played(owner, names) - before).max() <= SMALL
    press("layer_add")
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    control(owner, "Arm.L").keyframe_insert("location", frame=AT)
    assert np.linalg.norm(hands(owner, names, played(owner, names), before), axis=1).min() > 0.2
    press("edits_apply")


def test_applied_edits_are_those_of_all_layers_that_count(layered: Motion) -> None:
    owner, names, poses = layered
    press("edits_apply")
    assert np.abs(played(owner, names) - poses).max() <= 1e-3 * size(owner)
    assert not any("location" in one.data_path and "Arm.L" in one.data_path for one in fcurves_of(owner))


def test_applied_edits_leave_those_of_layers_that_are_off(motion: Motion, layered: Motion) -> None:
    owner, names, _ = layered
    rig_of(owner).layers["Edits"].enabled = False
    alone = played(owner, names)
    press("edits_apply")
    assert np.abs(played(owner, names) - alone).max() <= 1e-3 * size(owner)
    rig_of(owner).layers["Edits"].enabled = True
    way = hands(owner, names, played(owner, names), motion[2])
    assert np.linalg.norm(way, axis=1) == pytest.approx(np.hypot(0.1, 0.2), abs=5e-3)


def test_keys_in_other_actions_of_the_character_are_put_aside_too(layered: Motion) -> None:
    owner, names, poses = layered
    assert owner.animation_data is not None
    first = owner.animation_data.action
    assert first is not None
    other = first.copy()
    other.use_fake_user = True
    press("layer_choose", layer="Edits")
    owner.animation_data.action = other
    assert np.abs(played(owner, names) - poses).max() <= SMALL

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that were posed by hand or keyed: what makes goals and poles, or pins them, leaves them where they stand."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.actions.keep_pose import keep_at_tips
from fabrik_addon.maths import axes_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler

from support.judging import angle_between, assert_bones_stay, bone_matrices, effector
from support.scenes import HEIGHT, add_limb, each_frame, make_body, pin, press, update, with_legs_pinned

SAME = 2e-4  # radians, and scene units

LIMBS = (("hand.L", 3), ("hand.R", 3), ("head", 2))

BENT = {
    "hips": (0.98, 0.15, 0.1, 0.0),
    "spine1": (0.95, 0.2, 0.0, 0.15),
    "spine2": (0.96, 0.1, 0.2, 0.0),
    "upper_arm.L": (0.9, 0.2, 0.3, 0.1),
    "forearm.L": (0.9, 0.0, 0.1, -0.4),
    "thigh.R": (0.95, -0.3, 0.0, 0.0),
    "shin.R": (0.9, 0.4, 0.0, 0.0),
}


def bend(owner: bpy.types.Object) -> None:
    """Pose a body by hand."""
    for name, rotation in BENT.items():
        owner.pose.bones[name].rotation_quaternion = rotation
    owner.pose.bones["hips"].location = (0.1, -0.2, 0.05)
    update()


def made(owner: bpy.types.Object) -> list[FabrikChain]:
    """Goals where all effectors stand, and pins at the feet."""
    with_legs_pinned(owner)
    for tip, count in LIMBS:
        chain = add_limb(owner, tip, count, target=(0, 0, 0))
        chain.target.location = effector(owner, chain)
    update()
    return list(rig_of(owner).chains)


@pytest.mark.parametrize("body", ["hips", ""])
def test_a_body_posed_by_hand_stays(body: str) -> None:
    owner = make_body()
    bend(owner)
    chains = made(owner)
    rig_of(owner).body_bone = body
    before = bone_matrices(owner)
    _, warnings = keep_at_tips([(owner, chain) for chain in chains])
    assert not warnings
    press("solve_all")
    assert_bones_stay(owner, before, SAME, SAME)
    assert {chain.status for chain in chains} == {"REACHED"}


def test_a_keyed_body_stays_in_every_frame(body: bpy.types.Object) -> None:
    """Its chains start from their keys, and so do the hips and the spine; the pins hold it, the hands follow."""
    for frame, lean in ((1, 0.0), (11, 0.3)):
        body.pose.bones["spine1"].rotation_quaternion = (1.0, lean, 0.0, 0.0)
        body.pose.bones["hips"].location = (0.0, 0.0, -0.2 * lean)
        for bone in body.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        body.pose.bones["hips"].keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    with_legs_pinned(body)
    for chain in rig_of(body).chains:
        chain.start = "ANIMATED"
    for _ in each_frame((1, 4, 11)):
        spine = tuple(body.pose.bones["spine1"].rotation_quaternion)
        place = tuple(body.pose.bones["hips"].location)
        press("solve_all")
        assert {chain.status for chain in rig_of(body).chains} == {"REACHED"}
        assert angle_between(tuple(body.pose.bones["spine1"].rotation_quaternion), spine) <= 0.05
        assert sum((a - b) ** 2 for a, b in zip(body.pose.bones["hips"].location, place, strict=True)) ** 0.5 <= 0.05


def test_bones_that_two_chains_share_start_where_either_was_captured() -> None:
    """The order in which they were captured, and that of the list, does not matter."""
    poses = []
    for order in ((0, 1), (1, 0)):
        owner = make_body()
        for k in order:
            tip = ("hand.L", "hand.R")[k]
            chain = add_limb(owner, tip, 5, target=(0.6 - 1.2 * k, -0.2, 1.3))
            chain.start = "REST"
        bend(owner)
        keep_at_tips([(owner, rig_of(owner).chains["hand.L"])])
        press("solve_all")
        poses.append({name: axes_of(matrix) for name, matrix in bone_matrices(owner).items()})
        bpy.data.objects.remove(owner)
    assert poses[0] == poses[1]


def test_influence_moves_the_goals_of_a_body(body: bpy.types.Object) -> None:
    with_legs_pinned(body)
    hand = add_limb(body, "hand.L", 3, target=(0.5, -0.3, 1.2))
    start = effector(body, hand).copy()
    places = []
    for influence in (0.25, 0.5, 1.0):
        hand.influence = influence
        press("solve_all")
        places.append(effector(body, hand))
    for influence, place in zip((0.25, 0.5, 1.0), places, strict=True):
        assert (place - start.lerp(hand.target.location, influence)).length <= 1e-3
    hand.influence = 0.0
    press("solve_all")
    assert (effector(body, hand) - start).length <= 1e-3


BENDING = [("shin.R", 3), ("shin.R", 2), ("foot.R", 4), ("hand.L", 5), ("hand.L", 7), ("head", 5)]


@pytest.fixture
def owner() -> bpy.types.Object:
    """A body with a pinned foot, whose hips move with what is below them; the knee of the other leg is bent."""
    owner = make_body()
    owner.pose.bones["thigh.R"].rotation_quaternion = Euler((-0.5, 0.0, 0.1)).to_quaternion()
    owner.pose.bones["shin.R"].rotation_quaternion = Euler((0.9, 0.0, 0.0)).to_quaternion()
    pin(owner, add_limb(owner, "foot.L", 3))
    rig_of(owner).body_bone = "hips"
    update()
    return owner


@pytest.mark.parametrize("how", ["added", "added at an angle", "made with its chain", "made live with its chain"])
@pytest.mark.parametrize(("tip", "count"), BENDING)
def test_a_pole_moves_nothing(tip: str, count: int, how: str, owner: bpy.types.Object) -> None:
    options = {"tip_bone": tip, "bone_count": count, "use_target": True}
    rig_of(owner).live = "live" in how
    if how.startswith("added"):
        press("chain_add", **options)
        rig_of(owner).active.pole_angle = 0.7 if "angle" in how else 0.0
        press("solve_all")
    before = bone_matrices(owner)
    press("pole_add") if how.startswith("added") else press("chain_add", use_pole=True, **options)
    press("solve_all")
    assert {one.status for one in rig_of(owner).chains} == {"REACHED"}
    assert_bones_stay(owner, before, 1e-4 * HEIGHT, 1e-3)

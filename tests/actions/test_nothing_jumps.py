# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing jumps unasked: what is made, switched on or let go leaves the pose, and so does the next solve."""

from __future__ import annotations

from math import radians
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.drag import Grip, begin, drag_to, finish
from fabrik_addon.actions.keep_pose import WORTH_TELLING, keep_at_tips
from fabrik_addon.maths import axes_of
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Euler, Matrix, Vector

from support.judging import (
    ROUNDING,
    Stand,
    angle_between,
    assert_bones_stay,
    assert_stays,
    bone_matrices,
    channels,
    effector,
    statuses,
)
from support.scenes import (
    HEIGHT,
    LIMBS,
    MODES,
    add_chain,
    add_chains,
    add_limb,
    chain_bones,
    each_frame,
    ends_of_limbs,
    go_live,
    go_to,
    key_automatically,
    key_two_poses,
    keyed,
    make_body,
    make_empty,
    pin,
    posed_limbs,
    press,
    put_channels,
    to_rest,
    update,
    with_legs_pinned,
)
from support.skeletons import make_character


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", LIMBS)
class TestMaking:
    @pytest.mark.parametrize(
        "how", ["chain, target, pole", "all in one", "on keyed bones", "pole and target, posed after"]
    )
    def test_chains_and_their_goals(self, kind: str, mode: str, how: str) -> None:
        owner = posed_limbs(kind, mode)
        pose, is_after, at_once = channels(owner), how.endswith("after"), how == "all in one"
        if how == "on keyed bones":
            key_two_poses(owner)
            bpy.context.scene.frame_set(1)
        stand = Stand(owner)
        if is_after:
            to_rest(owner)
        add_chains(owner, use_target=at_once, use_pole=at_once)
        start = "REST" if is_after else "ANIMATED" if how == "on keyed bones" else "CAPTURED"
        assert {chain.start for chain in rig_of(owner).chains} == {start}
        if is_after:
            put_channels(owner, pose)
        for role in () if at_once else ("pole", "target") if is_after else ("target", "pole"):
            if role == "target" or kind != "one":
                press(f"{role}_add", use_all=True)
        assert not is_after or {chain.start for chain in rig_of(owner).chains} == {"CAPTURED"}
        assert_stays(owner, stand)

    @pytest.mark.parametrize("how", ["live", "enabled", "scene"])
    def test_switched_on(self, kind: str, mode: str, how: str) -> None:
        owner = posed_limbs(kind, mode)
        pose = channels(owner)
        to_rest(owner)
        add_chains(owner)
        put_channels(owner, pose)
        stand = Stand(owner)
        for chain in rig_of(owner).chains:
            chain.target = make_empty(owner.matrix_world @ chain_bones(owner, chain)[-1].tail)
            chain.enabled = how != "enabled"
        bpy.context.scene.fabrik_live = how != "scene"
        rig_of(owner).live = True
        if how == "enabled":
            for chain in rig_of(owner).chains:
                chain.enabled = True
        bpy.context.scene.fabrik_live = True
        assert {chain.start for chain in rig_of(owner).chains} == {"CAPTURED"}
        assert_stays(owner, stand)

    def test_goals_to_pose(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        stand = Stand(owner)
        add_chains(owner)
        for chain in rig_of(owner).chains:
            chain.start = "REST"
            chain.target, chain.pole = make_empty((9, 9, 9)), make_empty((3, -4, 1), "Pole")
            chain.pole_angle = 0.4
        press("goal_snap", chains="ALL")
        assert_stays(owner, stand)

    def test_a_drag_begins_where_the_limb_stands_and_ends_where_it_is_let_go(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        add_chains(owner, use_target=True, use_pole=True)
        for chain in rig_of(owner).chains:
            chain.start = "REST"
            chain.target.location.x += 0.4
            if chain.pole is not None:
                chain.pole.location.x += 2.0
        stand = Stand(owner)
        chain = rig_of(owner).chains[0]
        drag = begin(bpy.context, owner, Grip.tip_of(chain))
        drag_to(bpy.context, drag, drag.place + Vector((1e-5, 0, 0)), anchored=True)
        assert stand.moved() < 1e-3
        drag_to(bpy.context, drag, drag.place + Vector((0.3, -0.2, 0.5)), anchored=True)
        let_go = Stand(owner)
        assert stand.moved() > 0.01
        found = finish(bpy.context, drag)
        assert let_go.moved() <= ROUNDING
        assert found.done == ["start pose captured"]
        assert not found.warnings
        rig_of(owner).chains[1].enabled = False
        press("solve_all")
        assert let_go.moved() <= ROUNDING

    def test_a_drag_of_a_keyed_limb_is_held_by_its_keys(self, kind: str, mode: str) -> None:
        owner = posed_limbs(kind, mode)
        add_chains(owner, use_target=True, use_pole=True)  # captured
        key_two_poses(owner)
        key_automatically()
        for frame in each_frame((20, 10, 1)):
            stand = Stand(owner)
            drag = begin(bpy.context, owner, Grip.tip_of(rig_of(owner).chains[0]))
            drag_to(bpy.context, drag, drag.place + Vector((1e-5, 0, 0)), anchored=True)
            assert stand.moved() < 1e-3
            drag_to(bpy.context, drag, drag.place + Vector((0.2, -0.1, 0.3)), anchored=True)
            let_go = Stand(owner)
            assert not finish(bpy.context, drag).warnings
            go_to(5, frame)
            assert let_go.moved() <= ROUNDING
            press("solve", chain=rig_of(owner).chains[0].name)
            assert let_go.moved() <= ROUNDING


def ik_leg(posed: bool, count: int, angle: float) -> bpy.types.Object:
    """Two limbs held by Blender's IK with poles."""
    owner = posed_limbs("free" if count == 4 else "hinge")
    for bone in owner.pose.bones:
        limit_of(bone).limit = "FREE"
        if not posed:
            bone.matrix_basis = Matrix()
    for x, tip in zip((0.0, 3.0), ends_of_limbs(owner), strict=True):
        constraint: Any = owner.pose.bones[tip].constraints.new("IK")
        constraint.target, constraint.chain_count = make_empty((0, 0, 0)), count
        constraint.target.location = owner.matrix_world @ Vector((x + 0.4, -0.4, 1.2))
        constraint.pole_target, constraint.pole_angle = make_empty((1 + x, -9, 2), "Pole"), radians(angle)
        constraint.iterations = 500
    bpy.context.view_layer.update()
    return owner


@pytest.mark.parametrize("count", [3, 4])
@pytest.mark.parametrize("posed", [False, True])
@pytest.mark.parametrize("angle", [0, 30, 90, -90, 180])
def test_chains_from_ik(posed: bool, count: int, angle: float) -> None:
    owner = ik_leg(posed, count, angle)
    stand = Stand(owner)
    press("from_ik")
    assert stand.moved() <= ROUNDING
    press("solve_all")
    assert set(statuses(owner).values()) == {"REACHED"}
    assert stand.moved() <= 1e-3  # as near as Blender's IK came


@pytest.mark.parametrize("act", ["chain", "target", "drag", "live"])
def test_undo_and_redo(act: str) -> None:
    owner = posed_limbs("free")
    add_chains(owner, use_target=True, use_pole=True)
    name = owner.name
    if act == "chain":
        press("chain_remove_all")
    bpy.ops.ed.undo_push(message="before")
    before = Stand(owner)
    if act == "drag":
        press("drag", chain=rig_of(owner).chains[0].name, way=(0.3, -0.2, 0.4))
    elif act == "live":
        rig_of(owner).live = True
    elif act == "target":
        rig_of(owner).active.target = None
        press("target_add")
    else:
        add_chains(owner, use_target=True, use_pole=True)
    bpy.ops.ed.undo_push(message=act)
    after = Stand(bpy.data.objects[name])
    bpy.ops.ed.undo()
    assert before.moved() <= ROUNDING
    bpy.ops.ed.redo()
    assert after.moved() <= ROUNDING
    press("solve_all")
    assert after.moved() <= ROUNDING


@pytest.mark.parametrize("mode", MODES)
def test_a_bone_without_a_chain_is_dragged_with_its_limb(mode: str) -> None:
    owner = posed_limbs("hinge", mode)
    tip = ends_of_limbs(owner)[0]
    stand = Stand(owner)
    drag = begin(bpy.context, owner, Grip(tip))
    drag_to(bpy.context, drag, drag.place + Vector((1e-5, 0, 0)), anchored=True)
    assert stand.moved() < 1e-3
    drag_to(bpy.context, drag, drag.place + Vector((0.3, -0.2, 0.5)), anchored=True)
    finish(bpy.context, drag)
    bpy.context.view_layer.update()
    assert stand.moved() > 0.01
    assert (owner.matrix_world @ owner.pose.bones[tip].tail - drag.place - Vector((0.3, -0.2, 0.5))).length < 1e-3
    assert not rig_of(owner).chains
    assert limit_of(owner.pose.bones["b1"]).limit == "FREE"


def test_a_new_chain_on_a_limb_at_rest_starts_from_rest() -> None:
    owner = posed_limbs("free")
    to_rest(owner)
    chain = add_chain(owner, tip=ends_of_limbs(owner)[0], count=4)
    assert (chain.start, len(chain.captured)) == ("REST", 0)


def test_goals_given_while_live() -> None:
    owner = posed_limbs("hinge")
    pose = channels(owner)
    to_rest(owner)
    add_chains(owner)
    rig_of(owner).live = True
    put_channels(owner, pose)
    stand = Stand(owner)
    press("target_add", use_all=True)
    assert stand.moved() <= ROUNDING
    press("pole_add", use_all=True)
    assert_stays(owner, stand)


def test_a_chain_made_while_live() -> None:
    owner = posed_limbs("free")
    rig_of(owner).live = True
    stand = Stand(owner)
    add_chains(owner, use_target=True, use_pole=True)
    assert_stays(owner, stand)


def test_a_goal_that_is_elsewhere_is_gone_to() -> None:
    owner = posed_limbs("free")
    add_chains(owner, use_target=True)
    for chain in rig_of(owner).chains:
        chain.start = "REST"
        chain.target.location.x += 0.3
    stand = Stand(owner)
    rig_of(owner).live = True
    assert stand.moved() > 0.01
    assert {chain.start for chain in rig_of(owner).chains} == {"REST"}


def test_a_pose_beyond_a_limit_is_told_of(capfd: pytest.CaptureFixture[str]) -> None:
    owner = posed_limbs("free")
    chain = add_chain(owner, tip=ends_of_limbs(owner)[0], count=4)
    bone = owner.pose.bones["b2"]
    limit_of(bone).limit, limit_of(bone).angle_max = "HINGE", radians(30)
    assert begin(bpy.context, owner, Grip.tip_of(chain)).note == "'b2' exceeds its joint limit by 22°"
    press("target_add")
    assert "'b2' exceeds its joint limit by 22°: the next solve turns it by up to" in capfd.readouterr().out


def test_a_motion_of_strips_stays_when_chains_are_added() -> None:
    owner = posed_limbs("free")
    key_two_poses(owner)
    data = owner.animation_data
    data.nla_tracks.new().strips.new("Strip", 1, data.action)
    data.action = None
    bpy.context.scene.frame_set(1)
    stand = Stand(owner)
    add_chains(owner)
    assert {chain.start for chain in rig_of(owner).chains} == {"ANIMATED"}
    press("target_add", use_all=True)
    press("solve_all")
    assert_stays(owner, stand)


SAME = 2e-4  # radians, and scene units

TIPS = (("hand.L", 3), ("hand.R", 3), ("head", 2))

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
    for tip, count in TIPS:
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
            add_limb(owner, tip, 5, target=(0.6 - 1.2 * k, -0.2, 1.3)).start = "REST"
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


@pytest.mark.parametrize(
    ("limb", "pressed", "options"),
    [
        ("Arm.L", "start_pose_capture", {}),
        ("Leg.L", "chain_remove", {}),
        ("Arm.L", "body_bone_set", {"source": "NONE"}),
        ("Arm.L", "body_bone_set", {"bone": "mixamorig:Neck"}),  # on which no arm and no leg hangs
    ],
)
def test_what_moves_a_live_body_is_told_of(
    limb: str, pressed: str, options: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    """A goal out of reach pulls on the body: from another start pose that gives way otherwise, and alone not at all."""
    owner = make_character("human_mixamo")
    press("character_setup")
    rig = rig_of(owner)
    owner.pose.bones[rig.chains[limb].target_bone].location = (1.0, 0.0, 0.0)
    rig.live, rig.active_index = True, rig.chains.find(limb)
    update()
    before = bone_matrices(owner)
    capfd.readouterr()
    press(pressed, **options)
    update()
    after = bone_matrices(owner)
    turned = max(angle_between(axes_of(matrix), axes_of(after[name])) for name, matrix in before.items())
    assert turned > WORTH_TELLING
    assert "the next solve turns it by up to" in capfd.readouterr().out


def test_nothing_moves_in_other_frames_as_a_walker_is_added() -> None:
    """What the goals of a person pull on is as stiff as before."""
    owner = make_character("human_mixamo")
    press("character_setup")
    for name in ("Leg.target.L", "Arm.target.R"):
        keyed(owner.pose.bones[name], {1: (0.0, 0.0, 0.0), 20: (0.05, 0.12, 0.12)})
    go_live(owner)
    frames = (10, 15, 20)
    before = {frame: bone_matrices(owner) for frame in each_frame(frames)}
    press("walker_add")
    for frame in each_frame(frames):
        assert_bones_stay(owner, before[frame], 1e-5, 1e-4)

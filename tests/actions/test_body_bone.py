# SPDX-License-Identifier: GPL-3.0-or-later
"""The body bone is found without moving anything, and takes part; balance; the manual's recipes for bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import radians

import bpy
import pytest
from fabrik_addon.actions.body import set_body
from fabrik_addon.maths import IDENTITY
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.groups import sets_of
from fabrik_addon.rig.figure.reader import read
from fabrik_addon.rig.figure.solve import posed
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler, Vector

from support.judging import assert_alike, channels, effector
from support.scenes import (
    HEIGHT,
    add_limb,
    assert_refused,
    each_frame,
    edited,
    key_automatically,
    keyed,
    make_armature,
    make_body,
    make_body_on_root,
    make_empty,
    make_line,
    pin,
    press,
    put,
    select,
    strand,
    update,
    with_legs_pinned,
)

SAME = 1e-4

LIMBS = (("foot.L", 3), ("foot.R", 3), ("hand.L", 3), ("hand.R", 3))


def body_with(*tips: str) -> bpy.types.Object:
    owner = make_body()
    for tip, count in LIMBS:
        if tip in tips:
            add_limb(owner, tip, count)
    return owner


def lock(owner: bpy.types.Object) -> None:
    for name in ("chest", "spine2"):
        owner.pose.bones[name].lock_location = (True, True, True)


HANDS, CROSSED = ("hand.L", "hand.R"), ("hand.L", "foot.L")
# What else is so where the hips are not called so: of these limbs a bone is found.
FOUND: dict[str, tuple[tuple[str, ...], Callable[[bpy.types.Object], object], str]] = {
    "the nearest above all that deforms": (
        HANDS,
        lambda owner: put(owner.data.bones["chest"], use_deform=False),
        "spine2",
    ),
    "one that can be moved before one that only turns": (HANDS, lock, "spine1"),
    "above the chains that are enabled": (
        CROSSED,
        lambda owner: put(rig_of(owner).chains["foot.L"], enabled=False),
        "chest",
    ),
}


@pytest.mark.parametrize("tips", [("foot.L", "foot.R"), ("foot.L", "hand.R"), HANDS, ("hand.L",)])
def test_the_hips_are_found_by_their_name(tips: tuple[str, ...]) -> None:
    owner = body_with(*tips)
    press("body_bone_set")
    assert rig_of(owner).body_bone == "hips"


@pytest.mark.parametrize("what", FOUND)
def test_without_such_a_name_a_bone_is_found(what: str) -> None:
    tips, change, found = FOUND[what]
    owner = body_with(*tips)
    owner.pose.bones["hips"].name = "b0"
    change(owner)
    press("body_bone_set")
    assert rig_of(owner).body_bone == found


def test_the_active_bone_is_taken_and_none_takes_it_away() -> None:
    owner = body_with("foot.L", "foot.R")
    select(owner, "hips")
    press("body_bone_set", source="ACTIVE")
    assert rig_of(owner).body_bone == "hips"
    press("body_bone_set", source="NONE")
    assert rig_of(owner).body_bone == ""


def test_the_pose_at_hand_becomes_the_start_so_that_nothing_moves() -> None:
    owner = body_with()
    for name, angles in (("hips", (0.2, 0.1, 0.0)), ("spine1", (0.3, 0.0, 0.0)), ("thigh.L", (-0.4, 0.0, 0.0))):
        owner.pose.bones[name].rotation_quaternion = Euler(angles).to_quaternion()
    owner.pose.bones["hips"].location = (0.1, -0.2, 0.05)
    update()
    select(owner, "foot.L", "foot.R", "hand.L")
    press("pin_toggle")
    press("body_bone_set")
    before = channels(owner)
    press("solve_all")
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
    assert_alike(channels(owner), before, SAME)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("head", "no chain begins with it or hangs on it"), ("nothing", "the armature has no bone 'nothing'")],
)
def test_a_bone_above_no_chain_is_refused_by_name(name: str, reason: str) -> None:
    owner = body_with("foot.L")
    assert_refused(reason, "body_bone_set", bone=name)
    assert rig_of(owner).body_bone == ""


def test_with_no_active_bone_and_with_no_chain_it_says_so() -> None:
    owner = body_with("foot.L")
    owner.data.bones.active = None
    assert_refused("no bone is active", "body_bone_set", source="ACTIVE")
    rig_of(owner).chains[0].enabled = False
    assert_refused("no chain is enabled", "body_bone_set")
    press("chain_remove")
    assert_refused("There is no chain", "body_bone_set")


def test_it_follows_its_bone_when_that_is_renamed() -> None:
    owner = body_with("foot.L", "foot.R")
    for chain in rig_of(owner).chains:
        pin(owner, chain)
    press("body_bone_set")
    press("start_pose_capture", use_all=True)
    owner.pose.bones["hips"].name = "pelvis"
    owner.update_tag()
    press("solve_all")
    assert rig_of(owner).body_bone == "pelvis"
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
    assert "hips" not in rig_of(owner).body_captured


def masses(owner: bpy.types.Object) -> dict[str, float]:
    return {bone.name: bone.fabrik.mass for bone in owner.pose.bones}


def test_masses_of_human_parts_add_up_to_those_of_de_leva(body: bpy.types.Object) -> None:
    press("balance_masses", by="PARTS")
    found = masses(body)
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)
    whole = 0.0681 + 0.312 + 0.1182 + 2 * (0.0263 + 0.015 + 0.0059 + 0.1447 + 0.0457 + 0.0133)
    assert found["thigh.L"] == pytest.approx(0.1447 / whole, rel=1e-5)
    assert found["hand.R"] == pytest.approx(0.0059 / whole, rel=1e-5)
    assert sum(found[name] for name in ("spine1", "spine2", "chest")) == pytest.approx(0.312 / whole, rel=1e-5)


def test_a_root_that_is_of_no_part_has_next_to_none(body: bpy.types.Object) -> None:
    with edited(body) as bones:
        root = bones.new("root")
        root.head, root.tail = (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)
        bones["hips"].parent = root
    press("balance_masses", by="PARTS")
    found = masses(body)
    assert 0.0 < found["root"] < 1e-5
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-4)


def test_masses_by_length_and_cleared() -> None:
    owner = make_line(4)
    press("balance_masses", by="LENGTH")
    assert list(masses(owner).values()) == pytest.approx([0.25] * 4)
    press("balance_masses", by="NONE")
    assert set(masses(owner).values()) == {0.0}


def test_names_that_tell_nothing_are_refused_and_nothing_is_changed() -> None:
    owner = make_line(4)
    owner.pose.bones["b0"].fabrik.mass = 0.5
    assert_refused(
        "no bone's name says that it is one of these: forearm, shin, thigh, upper arm", "balance_masses", by="PARTS"
    )
    assert masses(owner)["b0"] == 0.5


NEAR = 1e-4 * HEIGHT


def reaching(owner: bpy.types.Object, order: Sequence[tuple[str, int]]) -> dict[str, FabrikChain]:
    """Chains by their tips and the counts of their bones, each with a target where its tip is."""
    for tip, count in order:
        chain = add_limb(owner, tip, count)
        update()
        chain.target = make_empty(effector(owner, chain))
    update()
    return {chain.name: chain for chain in rig_of(owner).chains}


LIMBS_WITHIN = [
    ("foot.L", 5),
    ("foot.R", 3),
    ("hand.L", 3),
]  # the first one from the root, the others from below the hips


@pytest.mark.parametrize(
    "order",
    [
        LIMBS_WITHIN,
        LIMBS_WITHIN[::-1],
        [LIMBS_WITHIN[1], LIMBS_WITHIN[0], LIMBS_WITHIN[2]],
    ],
)
def test_all_are_solved_together_in_any_order(order: Sequence[tuple[str, int]]) -> None:
    owner = make_body_on_root()
    chains = reaching(owner, order)
    rig_of(owner).body_bone = "hips"
    stood = channels(owner)
    press("solve_all")
    assert_alike(channels(owner), stood, 1e-5)
    for name, way in (("foot.L", (0.05, -0.1, 0.1)), ("hand.L", (-0.2, -0.2, 0.1))):
        chains[name].target.location += Vector(way)
    press("solve_all")
    for chain in chains.values():
        assert chain.status == "REACHED"
        assert (effector(owner, chain) - chain.target.matrix_world.translation).length < NEAR
    assert owner.pose.bones["hips"].location.length == 0.0


def test_the_chain_by_itself_and_with_pins_below() -> None:
    owner = make_body_on_root()
    spine = reaching(owner, [("chest", 5)])["chest"]
    rig_of(owner).body_bone = "hips"
    for name in ("foot.L", "foot.R"):
        pin(owner, add_limb(owner, name, 3))
    spine = rig_of(owner).chains["chest"]
    spine.target.location.x += 0.05
    press("solve_all")
    for chain in rig_of(owner).chains:
        assert chain.status == "REACHED"
    for name in ("foot.L", "foot.R"):
        chain = rig_of(owner).chains[name]
        assert (effector(owner, chain) - Vector(chain.held_location)).length < NEAR


def test_the_report_says_that_the_body_does_not_move() -> None:
    owner = make_body_on_root()
    reaching(owner, LIMBS_WITHIN)
    _, notes = set_body(owner, "hips")
    assert "it turns and does not move, for 'foot.L' begins above it" in notes


FRONT, BACK = -0.15, 0.02  # of the feet along Y: balls and ankles


def centre(owner: bpy.types.Object) -> Vector:
    """The centre of mass of a body whose bones weigh by their lengths, or by their shares."""
    update()
    whole = sum(bone.bone.length for bone in pose_bones(owner))
    weights = [bone.fabrik.mass or bone.bone.length / whole for bone in pose_bones(owner)]
    middles = [0.5 * (bone.head + bone.tail) for bone in pose_bones(owner)]
    return sum((w * m for w, m in zip(weights, middles, strict=True)), Vector()) / sum(weights)


def reach(balance: float, target: tuple[float, float, float] = (0.3, -0.75, 1.1)) -> bpy.types.Object:
    owner = with_legs_pinned(make_body())
    for side, x in ((".L", 1), (".R", -1)):
        add_limb(owner, f"hand{side}", 3, target=(x * target[0], *target[1:]))
    rig_of(owner).balance = balance
    press("solve_all")
    return owner


def test_a_body_that_leans_forward_stays_over_its_feet() -> None:
    off, kept = reach(0.0), reach(1.0)
    assert centre(off).y < FRONT - 0.01
    assert FRONT - 1e-3 <= centre(kept).y <= BACK + 1e-3
    for owner in (off, kept):
        assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
        for chain in rig_of(owner).chains:
            wanted = chain.target.location if chain.target else Vector(chain.held_location)
            assert (effector(owner, chain) - wanted).length <= 1e-4 * HEIGHT


def test_what_is_balanced_is_left_as_it_is() -> None:
    poses = []
    for balance in (0.0, 1.0):
        owner = reach(balance, (0.3, -0.3, 1.2))
        update()
        poses.append([list(bone.head) for bone in pose_bones(owner)])
    for a, b in zip(*poses, strict=True):
        assert a == pytest.approx(b, abs=5e-4)


def test_a_heavy_head_shifts_the_body_backwards() -> None:
    light = reach(1.0)
    owner = with_legs_pinned(make_body())
    pose_bones(owner)["head"].fabrik.mass = 2.0
    for side, x in ((".L", 1), (".R", -1)):
        add_limb(owner, f"hand{side}", 3, target=(x * 0.3, -0.75, 1.1))
    rig_of(owner).balance = 1.0
    press("solve_all")
    assert centre(owner).y >= FRONT - 2e-3
    assert pose_bones(owner)["head"].head.y > pose_bones(light)["head"].head.y + 0.01


def test_a_mass_that_is_no_number_is_refused(standing: bpy.types.Object) -> None:
    rig_of(standing).balance = 1.0
    pose_bones(standing)["chest"].fabrik.mass = float("nan")
    assert_refused("mass is not a finite number", "solve_all")


def test_what_supports_it_is_the_same_where_another_chain_gets_a_rotation(standing: bpy.types.Object) -> None:
    add_limb(standing, "hand.L", 3, target=(0.3, -0.75, 1.1), name="arm")  # before the feet
    rig_of(standing).balance = 1.0
    depsgraph = bpy.context.evaluated_depsgraph_get()
    (chain_set,) = sets_of(standing, rig_of(standing).chains)
    figure, points = read(chain_set, depsgraph)
    first, *others = figure.goals
    turning = figure.with_goals([first._replace(turns=True, turn_weight=0.0), *others])
    plain = posed(figure, points, standing, depsgraph)
    found = posed(turning, [points[0]._replace(turn=IDENTITY), *points[1:]], standing, depsgraph)
    assert found.shift == pytest.approx(plain.shift, abs=1e-6)
    assert found.rotations == pytest.approx(plain.rotations, abs=1e-6)


TURNED = radians(0.1)


def solve_all() -> None:
    press("solve_all")


def statuses(owner: bpy.types.Object) -> set[str]:
    return {chain.status for chain in rig_of(owner).chains if chain.enabled}


def aimed_off(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """The angle between the aimed axis and the way to the target, as Blender evaluates them."""
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = evaluated.matrix_world @ evaluated.pose.bones[chain.tip_bone].matrix
    along = matrix.to_3x3() @ Vector(chain.aim_axis)
    return float(along.angle(chain.target.matrix_world.translation - matrix.translation))


@pytest.mark.parametrize("place", [(3.0, 2.0, 1.5), (-2.0, 4.0, 3.0), (-1.0, -5.0, 0.8)])
def test_a_turret_turns_about_its_mast_and_lifts_its_barrel(place: tuple[float, float, float]) -> None:
    owner = make_armature(strand((0, 0, 0), (0, 0, 1), (0, 1, 1), connect=False))
    mast, barrel = (owner.pose.bones[f"b{i}"].fabrik for i in (0, 1))
    mast.limit, mast.axis = "HINGE", (0.0, 1.0, 0.0)
    barrel.limit, barrel.axis, barrel.angle_min, barrel.angle_max = "HINGE", (1.0, 0.0, 0.0), -0.2, radians(80)
    press("chain_add", tip_bone="b1", bone_count=2)
    chain = rig_of(owner).chains[0]
    chain.kind, chain.target = "AIM", make_empty(place)
    solve_all()
    assert statuses(owner) == {"REACHED"}
    assert aimed_off(owner, chain) < TURNED
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert (evaluated.pose.bones["b0"].tail - Vector((0, 0, 1))).length < 1e-6  # the mast stays upright


@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, -0.8)])
def test_a_target_that_is_added_for_an_aim_moves_nothing(axis: tuple[float, float, float]) -> None:
    owner = make_body()
    owner.location = (1.0, 2.0, 0.0)
    press("chain_add", tip_bone="head", bone_count=4)
    chain = rig_of(owner).chains[0]
    chain.kind, chain.aim_axis = "AIM", axis
    press("target_add")
    assert aimed_off(owner, chain) < 1e-3
    before = [tuple(bone.rotation_quaternion) for bone in owner.pose.bones]
    solve_all()
    assert statuses(owner) == {"REACHED"}
    for bone, was in zip(owner.pose.bones, before, strict=True):
        assert tuple(bone.rotation_quaternion) == pytest.approx(was, abs=1e-4)


def test_feet_that_are_planted_over_time_are_baked_where_they_were_planted(body: bpy.types.Object) -> None:
    scene = bpy.context.scene
    select(body, "foot.L", "foot.R")
    press("pin_toggle")
    press("body_bone_set")
    hips = add_limb(body, "hips", 1, target=(0.0, 0.0, 0.9), name="hips")
    keyed(hips.target, {1: 0.0, 21: -0.3}, "location.y")
    key_automatically()
    select(body, "foot.L")
    for frame, action in ((1, "PIN"), (8, "FREE"), (14, "PIN")):
        scene.frame_set(frame)
        press("solve_all")
        press("pin_toggle", action=action)
    key_automatically(on=False)
    press("bake", frame_start=1, frame_end=21, chains="ALL")
    places = {
        frame: {side: (body.matrix_world @ body.pose.bones[f"foot{side}"].head).copy() for side in (".L", ".R")}
        for frame in each_frame(range(1, 22))
    }
    for frame in range(1, 22):
        assert (places[frame][".R"] - places[1][".R"]).length < NEAR
    for frame in range(1, 8):
        assert (places[frame][".L"] - places[1][".L"]).length < NEAR
    for frame in range(14, 22):
        assert (places[frame][".L"] - places[14][".L"]).length < NEAR
    assert (places[14][".L"] - places[1][".L"]).length > 0.02

# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Character: nothing moves, all of it can be posed, and what is not sure is told."""

from __future__ import annotations

import json
from itertools import pairwise
from math import radians
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.setup.parts import find_parts
from fabrik_addon.maths import (
    Q4,
    V3,
    angle_between,
    conjugated,
    cross,
    distance,
    dot,
    minus,
    multiplied,
    perpendicular,
    q4,
    turn_angle,
    unit,
    v3,
)
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.control_bones import control_names
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Vector

from dev.walking_rigs import make_spider
from support.animated import with_motion
from support.hanging import put_bone, shift_bone
from support.judging import effector, limb_joints
from support.scenes import (
    Bone,
    answer,
    assert_refused,
    edited,
    make_armature,
    make_empty,
    make_line,
    overridden,
    press,
    select,
    solved_status,
    update,
)
from support.skeletons import IMPORTED, METARIGS, forward_of, height, make_character, rename_all, set_up

ALL = (*METARIGS, *IMPORTED)
LEGGED = [name for name in ALL if name != "shark"]
HUMANS = ("human", "basic_human", "human_mixamo", "human_game_engine", "makehuman", "cesium_man", "cmu_walk")
DOGS = ("basic_quadruped", "wolf", "cat", "horse")
STILL = 1e-4  # share of the height by which a solve may move a joint that stands where it is wanted
SHOWS = 1e-6  # squared length of the normal of a bend that tells its side
AS_STRAIGHT = radians(7.0)  # bend at rest of a wrist, which stands bent forward and folds back
DOWN, ASIDE = (0.0, 0.0, -1.0), ((0.0, -1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
NEARER = 0.8  # share of its reach to which a limb is pulled together
CHAINS = {
    **{name: {"Arm.L", "Arm.R", "Leg.L", "Leg.R", "Spine", "Head"} for name in HUMANS},
    **{name: {"Front Leg.L", "Front Leg.R", "Hind Leg.L", "Hind Leg.R", "Spine", "Head", "Tail"} for name in DOGS},
    "bird": {"Wing.L", "Wing.R", "Leg.L", "Leg.R", "Spine", "Head", "Tail"},
}
EARED = ("human", "wolf", "cat", "horse")


def world(owner: bpy.types.Object) -> dict[str, tuple[V3, Q4]]:
    """Place and rotation of all bones in the world, as evaluated."""
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = {}
    for bone in evaluated.pose.bones:
        matrix = evaluated.matrix_world @ bone.matrix
        found[bone.name] = v3(matrix.translation), q4(matrix.to_quaternion())
    return found


def moved(owner: bpy.types.Object, before: dict[str, tuple[V3, Q4]]) -> float:
    """By how much joints stand elsewhere than before, as a share of the height."""
    now = world(owner)
    return max(distance(now[name][0], before[name][0]) for name in before) / height(owner)


def with_targets(owner: bpy.types.Object) -> list[FabrikChain]:
    return [chain for chain in rig_of(owner).chains if chain.target is not None]


def put_target(chain: FabrikChain, point: V3) -> None:
    """Bring a target, a bone of the rig or an empty, to a place of the world."""
    if chain.target_bone:
        put_bone(chain.target, chain.target_bone, point)
    else:
        chain.target.location = point
        bpy.context.view_layer.update()


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize("deleted", ["target", "pole", "tip", "body", "all"])
def test_what_was_deleted_of_it_is_made_anew(deleted: str, is_keyed: bool) -> None:
    owner = with_motion("human_mixamo")[0] if is_keyed else set_up("human_mixamo")
    chains, names = rig_of(owner).chains, [chain.name for chain in rig_of(owner).chains]
    gone = [getattr(chains["Leg.L"], f"{deleted}_bone")] if deleted in ("target", "pole", "tip") else []
    gone = [rig_of(owner).body_bone] if deleted == "body" else gone or sorted(control_names(owner))
    with edited(owner) as bones:
        for name in gone:
            bones.remove(bones[name])
    before = world(owner)
    press("character_setup")
    assert {"tip": 1, "body": 1 + is_keyed}.get(deleted, 0) == len(chains) - len(names)
    assert rig_of(owner).body_bone in owner.pose.bones
    leg = chains["Leg.L.001" if deleted == "tip" else "Leg.L"]
    assert {leg.tip_bone, leg.target_bone, leg.pole_bone} <= {*owner.pose.bones.keys()}
    assert all(chain.pole for chain in chains if chain.name.startswith(("Leg", "Arm")))
    if deleted != "tip":  # else a shin is pinned at its end, whose pole is the old one's
        press("solve_all")
        assert leg.status == "REACHED"
        assert moved(owner, before) <= STILL


@pytest.mark.parametrize("character", LEGGED)
def test_a_character_is_set_up_and_nothing_moves_nor_does_a_second_time(character: str) -> None:
    owner = make_character(character)
    before = world(owner)
    press("character_setup")
    names = {chain.name for chain in rig_of(owner).chains}
    ears = {"Ear.L", "Ear.R"} if character in EARED else set()
    assert names == CHAINS[character] | ears
    assert rig_of(owner).body_bone
    for chain in rig_of(owner).chains:
        is_leg, is_arm = "Leg" in chain.name, "Arm" in chain.name
        assert chain.pin == is_leg
        assert chain.orientation == ("TARGET" if is_leg or is_arm else "FREE")
        assert chain.effector == ("HEAD" if is_leg or is_arm else "TAIL")
        assert (chain.target is not None) == (is_leg or is_arm or "Wing" in chain.name)
        assert chain.enabled == (chain.target is not None)
    once = stored(owner)
    press("character_setup")
    assert stored(owner) == once
    assert moved(owner, before) == 0.0
    press("solve_all")
    assert all(chain.status == "REACHED" for chain in with_targets(owner))
    assert moved(owner, before) < STILL
    now = world(owner)
    assert max(turn_angle(multiplied(conjugated(turn), now[name][1])) for name, (_, turn) in before.items()) < 1e-3


def stored(owner: bpy.types.Object) -> list[Any]:
    """All that is stored of chains, and the bones with their limits."""
    chains = [
        {
            name: repr(getattr(chain, name))
            for name in list(chain.bl_rna.properties.keys())
            if name not in ("status", "message")
        }
        for chain in rig_of(owner).chains
    ]
    return [chains, rig_of(owner).body_bone, [(bone.name, limit_of(bone).limit) for bone in owner.pose.bones]]


@pytest.mark.parametrize("character", HUMANS)
@pytest.mark.parametrize("limb", ["Leg.L", "Leg.R", "Arm.L", "Arm.R"])
def test_knees_bend_forward_and_elbows_back(character: str, limb: str) -> None:
    owner = set_up(character)
    chain = rig_of(owner).chains[limb]
    rest = limb_joints(owner, chain)
    put_target(chain, v3([a + (b - a) * NEARER for a, b in zip(rest[0], rest[-1], strict=True)]))
    press("solve_all")
    found = limb_joints(owner, chain)
    assert chain.status == "REACHED"
    along = unit(minus(found[-1], found[0]))
    off = max((perpendicular(minus(joint, found[0]), along) for joint in found[1:-1]), key=lambda v: dot(v, v))
    forward = forward_of(character)
    if limb.startswith("Leg"):
        assert dot(unit(off), forward) > 0.5
    else:
        assert dot(unit(off), forward) < 0.25
        assert all(dot(a, b) > 0.0 for a, b in zip(_bends(rest), _bends(found), strict=True) if dot(a, a) > SHOWS)


@pytest.mark.parametrize("character", DOGS)
def test_the_joints_of_an_animal_bend_as_at_rest(character: str) -> None:
    owner = set_up(character)
    for limb in ("Front Leg.L", "Hind Leg.R"):
        chain = rig_of(owner).chains[limb]
        rest = limb_joints(owner, chain)
        put_target(chain, v3([a + (b - a) * 0.92 for a, b in zip(rest[0], rest[-1], strict=True)]))
        assert solved_status(chain, "solve_all") == "REACHED"
        steps = [unit(minus(b, a)) for a, b in pairwise(rest)]
        angles = [angle_between(a, b) for a, b in pairwise(steps)]
        for angle, before, after in zip(angles, _bends(rest), _bends(limb_joints(owner, chain)), strict=True):
            assert dot(before, after) > 0.0 or angle < AS_STRAIGHT


def _bends(points: list[V3]) -> list[V3]:
    """The normals of the bends of a row of joints."""
    steps = [minus(b, a) for a, b in pairwise(points)]
    return [cross(a, b) for a, b in pairwise(steps)]


@pytest.mark.parametrize(
    ("character", "way"),
    [*((name, DOWN) for name in HUMANS), *((name, way) for name in DOGS for way in (DOWN, *ASIDE))],
)
def test_feet_stay_flat_and_where_they_are_while_the_body_sways(character: str, way: V3) -> None:
    """The body bone is moved, as a drag of the hips does; then the feet are asked for again."""
    owner = set_up(character)
    feet = [chain for chain in rig_of(owner).chains if "Leg" in chain.name]
    before = {chain.name: world(owner)[chain.tip_bone] for chain in feet}
    bent = {chain.name: _bends(limb_joints(owner, chain))[0] for chain in feet}
    down = owner.matrix_world.inverted().to_3x3() @ (0.06 * height(owner) * Vector(way))
    shift_bone(owner, rig_of(owner).body_bone, down)
    press("start_pose_capture", use_all=True)
    press("solve_all")
    now = world(owner)
    for chain in feet:
        assert chain.status == "REACHED"
        (place, turn), (old_place, old_turn) = now[chain.tip_bone], before[chain.name]
        assert distance(place, old_place) < 1e-3 * height(owner)
        assert turn_angle(multiplied(conjugated(old_turn), turn)) < radians(0.5)
        knee = _bends(limb_joints(owner, chain))[0]
        assert character in HUMANS or dot(bent[chain.name], knee) > 0.0


def test_what_is_missing_is_made_again_and_no_more() -> None:
    owner = set_up("human_mixamo")
    rig = rig_of(owner)
    rig.active_index = [chain.name for chain in rig.chains].index("Arm.L")
    press("chain_remove")
    rig.chains["Leg.R"].target, rig.chains["Leg.R"].pin = None, False
    rig.chains["Arm.R"].pole = None
    rig.body_bone = ""
    kept = {chain.name: (chain.pin, chain.orientation) for chain in rig.chains}
    press("character_setup")
    assert {chain.name for chain in rig.chains} == CHAINS["human_mixamo"]
    assert rig.chains["Leg.R"].target is not None
    assert rig.chains["Arm.R"].pole is not None
    assert rig.body_bone == "mixamorig:Hips"
    assert {name: kept[name] for name in kept} == {
        name: (rig.chains[name].pin, rig.chains[name].orientation) for name in kept
    }


def test_a_chain_of_ones_own_stays() -> None:
    owner = make_character("human_mixamo")
    press("chain_add", tip_bone="mixamorig:LeftForeArm", bone_count=2)
    rig_of(owner).chains[0].tolerance = 0.05
    press("character_setup", controls="NONE")
    own = rig_of(owner).chains[0]
    assert (own.name, own.tip_bone, own.bone_count) == ("mixamorig:LeftForeArm", "mixamorig:LeftForeArm", 2)
    assert own.tolerance == pytest.approx(0.05)
    assert "Arm.L" not in rig_of(owner).chains


def test_limits_of_ones_own_stay() -> None:
    owner = make_character("human")
    limit_of(owner.pose.bones["shin.L"]).limit = "PLANAR"
    press("character_setup")
    assert limit_of(owner.pose.bones["shin.L"]).limit == "PLANAR"
    assert limit_of(owner.pose.bones["shin.R"]).limit == "HINGE"


@pytest.mark.parametrize("controls", ["BONES", "EMPTIES", "NONE"])
def test_goals_are_what_was_chosen(controls: str) -> None:
    owner = set_up("human_mixamo", controls=controls)
    targets = [chain.target for chain in rig_of(owner).chains]
    made = {(target == owner) for target in targets if target is not None}
    assert made == {"BONES": {True}, "EMPTIES": {False}, "NONE": set()}[controls]
    assert rig_of(owner).chains["Leg.L"].pin
    assert solved_status(rig_of(owner).chains["Leg.L"], "solve_all") == "REACHED"


def test_options_leave_things_out() -> None:
    owner = set_up("cat", use_poles=False, use_limits=False, use_pins=False, use_tail=False)
    chains = rig_of(owner).chains
    assert not [chain for chain in chains if chain.pole is not None or chain.pin]
    assert {limit_of(bone).limit for bone in owner.pose.bones} == {"FREE"}
    assert not {"Tail", "Ear.L"} & {chain.name for chain in chains}


@pytest.mark.parametrize(("name", "legs"), [("human_mixamo", 2), ("wolf", 4)])
def test_a_walker_is_made_and_nothing_moves(name: str, legs: int) -> None:
    owner = make_character(name)
    before = world(owner)
    press("character_setup", use_walker=True)
    assert len(rig_of(owner).walker.legs) == legs
    enabled = {chain.name for chain in rig_of(owner).chains if chain.enabled}
    arms = {"Arm.L", "Arm.R"} if name == "human_mixamo" else set()  # their goals hang on the chest, and go along
    assert enabled == {leg.name for leg in rig_of(owner).walker.legs} | {"Body"} | arms
    assert moved(owner, before) < STILL
    press("solve_all")
    assert moved(owner, before) < STILL


def test_fingers() -> None:
    owner = set_up("human_mixamo", use_fingers=True)
    names = {chain.name for chain in rig_of(owner).chains}
    assert {"Thumb.L", "Index.R", "Middle.L", "Ring.R", "Pinky.L"} <= names
    assert len(names) == 16


def test_a_scaled_and_turned_character_is_set_up() -> None:
    owner = make_character("human_mixamo")
    owner.scale, owner.rotation_euler = (0.01, 0.01, 0.01), (0.0, 0.0, 1.0)
    owner.location = (30.0, -20.0, 5.0)
    before = world(owner)
    press("character_setup")
    press("solve_all")
    assert all(chain.status == "REACHED" for chain in with_targets(owner))
    assert moved(owner, before) < STILL * 100.0 / height(owner) or moved(owner, before) < 1e-3


def test_bones_that_are_posed_beyond_their_range_are_left_free() -> None:
    """Else the next solve would bring them back into it."""
    owner = make_character("human_mixamo")
    shin = owner.pose.bones["mixamorig:LeftLeg"]
    shin.rotation_mode = "XYZ"
    shin.rotation_euler.x = 0.9  # a knee the wrong way
    before = world(owner)
    press("character_setup")
    assert limit_of(shin).limit == "FREE"
    assert limit_of(owner.pose.bones["mixamorig:RightLeg"]).limit == "HINGE"
    press("solve_all")
    assert moved(owner, before) < STILL


def test_a_spider_without_names_is_set_up_and_its_feet_stay() -> None:
    owner: Any = make_spider()
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in owner.data.edit_bones:  # as bones are that somebody has extruded
        bone.use_connect = bone.parent is not None and (bone.head - bone.parent.tail).length < 1e-5
    bpy.ops.object.mode_set(mode="OBJECT")
    before = world(owner)
    press("character_setup")
    legs = [chain for chain in rig_of(owner).chains if chain.name.startswith("Leg")]
    assert {chain.name for chain in legs} == {f"Leg {i}.{side}" for i in range(1, 5) for side in "LR"}
    assert rig_of(owner).body_bone == "b0"
    assert moved(owner, before) < STILL
    feet = {chain.name: v3(effector(owner, chain)) for chain in legs}
    assert all((feet[chain.name][0] > 0.0) == chain.name.endswith("L") for chain in legs)
    owner.pose.bones["b0"].location = (0.1, 0.1, -0.05)
    press("start_pose_capture", use_all=True)
    press("solve_all")
    assert all(chain.status == "REACHED" for chain in legs)
    assert all(distance(v3(effector(owner, chain)), feet[chain.name]) < 1e-3 for chain in legs)


def refused(owner: bpy.types.Object, match: str, **options: object) -> None:
    """Nothing is set up, for a reason that is told."""
    before = [bone.name for bone in owner.data.bones]
    assert_refused(match, "character_setup", **options)
    assert len(rig_of(owner).chains) == 0
    assert [bone.name for bone in owner.data.bones] == before
    assert {limit_of(bone).limit for bone in owner.pose.bones} <= {"FREE"}


@pytest.mark.parametrize("bones", [[], [Bone((0, 0, 0), (0, 0, 1))]], ids=["none", "one"])
def test_too_few_bones(bones: list[Bone]) -> None:
    refused(make_armature(bones), "no limb was found")


def test_a_row_of_many_bones_is_one_chain() -> None:
    owner = make_line(300, length=0.01)
    press("character_setup")
    assert [(chain.name, chain.bone_count) for chain in rig_of(owner).chains] == [("Chain 1", 300)]


def test_a_foot_that_is_pinned_already() -> None:
    owner = make_character("human_game_engine")
    select(owner, "foot_l")
    press("chain_add", bone_count=1, use_target=False)
    press("pin_toggle")
    press("character_setup")
    chains = rig_of(owner).chains
    assert {chain.name for chain in chains if chain.pin} == {"foot_l", "Leg.R"}
    assert chains["Leg.L"].target is not None
    assert {"Arm.L", "Arm.R", "Leg.L", "Leg.R"} <= {chain.name for chain in chains}


def test_edit_mode_and_rest_position() -> None:
    owner = make_character("human_mixamo")
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.fabrik.character_setup.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    owner.data.pose_position = "REST"
    assert not bpy.ops.fabrik.character_setup.poll()


def test_it_works_in_pose_mode_and_leaves_the_mode_alone() -> None:
    owner = make_character("human_mixamo")
    select(owner, "mixamorig:Hips")
    press("character_setup")
    assert owner.mode == "POSE"
    assert len(rig_of(owner).chains) == 6


def test_what_is_not_sure_is_left_out_and_told() -> None:
    owner = make_character("shark")
    rename_all(owner)
    refused(owner, "nothing of it is sure")


def test_what_is_not_sure_is_set_up_where_it_was_answered() -> None:
    owner = make_character("shark")
    new = rename_all(owner)
    answers = [
        answer("Leg.L", new["side_fin.L"], new["side_fin.L.001"], use=True),
        answer("Leg.R", new["side_fin.R"], new["side_fin.R.001"], use=False),
        answer("Tail", new["spine.001"], new["spine"], use=True),
    ]
    press("character_setup", parts=answers)
    found = {chain.name: (chain.tip_bone, chain.bone_count) for chain in rig_of(owner).chains}
    assert found == {"Leg.L": (new["side_fin.L.001"], 2), "Tail": (new["spine"], 2)}


@pytest.mark.parametrize(
    ("first", "last", "match"),
    [
        ("gone", "spine", "no bone 'gone'"),
        ("side_fin.L", "spine", "does not hang on"),
        ("spine", "spine.001", "does not hang"),
    ],
)
def test_answers_that_make_no_sense(first: str, last: str, match: str) -> None:
    owner = make_character("shark")
    refused(owner, match, parts=[answer("Tail", first, last, use=True)])


def test_linked_data_is_set_up_with_empties(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    override = overridden(make_character("human_mixamo"), tmp_path)
    capfd.readouterr()
    press("character_setup")
    assert "armature data is linked and can't be given bones, so its targets are empties" in capfd.readouterr().out
    chains = rig_of(override).chains
    assert len(chains) == 6
    assert {chain.target.type for chain in chains if chain.target is not None} == {"EMPTY"}


def test_bones_that_all_follow_something_else_are_refused() -> None:
    owner = make_character("human_mixamo")
    target = make_empty((0, 0, 0))
    bpy.context.view_layer.objects.active = owner
    for bone in owner.pose.bones:
        bone.constraints.new("COPY_ROTATION").target = target
    assert not find_parts(owner).parts
    refused(owner, "nothing of it can be posed")


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    """That of a human, as written by the button."""
    make_character("human_mixamo")
    press("character_setup")
    path = tmp_path / "human.json"
    press("mapping_export", filepath=str(path))
    return path


def chains_of(owner: bpy.types.Object) -> dict[str, tuple[object, ...]]:
    return {
        chain.name: (chain.tip_bone, chain.bone_count, chain.effector, chain.pin, chain.orientation)
        for chain in rig_of(owner).chains
    }


def test_a_rig_is_set_up_as_the_one_before(mapping: Path) -> None:
    first = chains_of(bpy.context.object)
    limits = {bone.name: limit_of(bone).limit for bone in bpy.context.object.pose.bones}
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = make_character("human_mixamo")
    press("mapping_import", filepath=str(mapping))
    assert chains_of(owner) == first
    assert rig_of(owner).body_bone == "mixamorig:Hips"
    assert {bone.name: limit_of(bone).limit for bone in owner.pose.bones if bone.name in limits} == limits


def test_a_mapping_of_other_bones_changes_nothing(mapping: Path, line: bpy.types.Object) -> None:
    assert_refused("no bone 'mixamorig:", "mapping_import", filepath=str(mapping))
    assert len(rig_of(line).chains) == 0


def test_bones_that_hang_elsewhere_are_named(mapping: Path) -> None:
    data = json.loads(mapping.read_text(encoding="utf-8"))
    data["parts"][0]["bones"].reverse()
    mapping.write_text(json.dumps(data), encoding="utf-8")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = make_character("human_mixamo")
    assert_refused("does not hang on", "mapping_import", filepath=str(mapping))
    assert len(rig_of(owner).chains) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "no mapping: JSONDecodeError"),
        (b"\xff\xfe", "broken.json' can't be read: UnicodeDecodeError"),
        (b"{}", "not just the fields body, fabrik_mapping, parts, plan"),
        (b"[" * 50_000, "no mapping: RecursionError"),
    ],
)
def test_a_broken_file_changes_nothing(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(text)
    owner = make_character("human_mixamo")
    assert_refused(said, "mapping_import", filepath=str(path))
    assert_refused("can't be read", "mapping_import", filepath=str(tmp_path / "gone.json"))
    assert len(rig_of(owner).chains) == 0


def test_it_can_be_written_only_where_there_are_chains(tmp_path: Path) -> None:
    make_character("human_mixamo")
    assert not bpy.ops.fabrik.mapping_export.poll()
    press("character_setup")
    assert_refused("can't be written", "mapping_export", filepath=str(tmp_path / "no" / "folder.json"))


def test_bones_that_ik_moves_hide_no_other_part(capfd: pytest.CaptureFixture[str]) -> None:
    for sides in ("L", "LR"):
        owner = make_character("human")
        for side in sides:
            moved = pose_bones(owner)[f"shin.{side}"].constraints.new("IK")
            moved.target, moved.chain_count = make_empty(), 2
        capfd.readouterr()
        press("character_setup")
        assert rig_of(owner).body_bone == "spine"
        assert ("Leg.R" in rig_of(owner).chains) == (sides == "L")
        assert "the IK constraint of 'shin.L' moves it" in capfd.readouterr().out


def test_a_driven_bone_leaves_others_their_poles() -> None:
    owner = make_character("human")
    pose_bones(owner)["forearm.L"].driver_add("rotation_quaternion", 1)
    press("character_setup")
    assert {one.name for one in rig_of(owner).chains if one.pole_bone} == {"Arm.R", "Leg.L", "Leg.R"}


def test_hips_whose_place_is_driven_are_no_body_bone(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_character("human")
    pose_bones(owner)["spine"].driver_add("location", 0)
    press("character_setup")
    assert rig_of(owner).body_bone == ""
    assert "its location is driven" in capfd.readouterr().out
    assert solved_status(rig_of(owner).chains["Arm.L"], "solve_all") == "REACHED"


def test_targets_that_come_later_are_followed() -> None:
    owner = set_up("human", controls="NONE")
    assert not rig_of(owner).chains["Arm.L"].enabled
    press("character_setup", controls="BONES")
    assert rig_of(owner).chains["Arm.L"].enabled


def test_a_mapping_without_parts_is_refused(tmp_path: Path) -> None:
    owner, path = make_character("human"), tmp_path / "none.json"
    path.write_text(json.dumps({"fabrik_mapping": 1, "plan": "HUMAN", "body": "spine", "parts": []}))
    assert_refused("the mapping has no parts", "mapping_import", filepath=str(path))
    assert not rig_of(owner).mapping


def test_a_bone_that_something_moves_leaves_the_rest_of_its_part() -> None:
    owner = make_character("human")
    moved = pose_bones(owner)["spine.006"].constraints.new("DAMPED_TRACK")
    moved.target = make_empty((0.0, -1.0, 1.7))
    update()
    found = find_parts(owner)
    assert {part.name: part.bones for part in found.parts}["Head"] == ("spine.004", "spine.005")
    assert not found.held

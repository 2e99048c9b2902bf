# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs and parts of real characters, listed one by one, with their names and with names that tell nothing."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import bpy
import pytest
from fabrik_addon.actions.chains import limb_length
from fabrik_addon.errors import ChainError
from fabrik_addon.recognise.find import recognise
from fabrik_addon.recognise.limbs import Limbs
from fabrik_addon.rig.skeleton import read_skeleton, selected_numbers
from mathutils import Vector

from support.scenes import Bone, Point, armature, edited, make_armature, make_line, select, strand
from support.skeletons import IMPORTED, METARIGS, forward_of, make_character, rename_all

# The limbs and parts of real characters by the names of their bones: arms and legs, spine, tail, neck.


Limb = tuple[str, ...]
RIGIFY_HUMAN = """
Arm.{}: upper_arm.{} forearm.{} | hand.{}
Leg.{}: thigh.{} shin.{} | foot.{} + toe.{}
Spine: spine.001 spine.002 spine.003
Head: spine.004 spine.005 spine.006"""
RIGIFY_DOG = """
Front Leg.{}: front_thigh.{} front_shin.{} front_foot.{} | front_toe.{}
Hind Leg.{}: thigh.{} shin.{} foot.{} | toe.{}
Spine: spine.006 spine.007 spine.008
Head: spine.009 spine.010 spine.011
Tail: spine.003 spine.002 spine.001 spine"""
EAR = """
Ear.{}: | ear.{} ear.{}.001 ear.{}.002 ear.{}.003 ear.{}.004"""

# For each character its body bone, and its parts root to tip, on a line each; {} stands for the side. Bones before >
# are of the part and not of the limb. Where all bones are selected the limb ends at |. Bones behind + are of the limb
# and not of the part. A limb without a name is no part that is listed.
CHARACTERS: dict[str, tuple[str, str]] = {
    "human": (
        "spine",
        RIGIFY_HUMAN
        + EAR
        + """
: | f_index.01.{} f_index.02.{} f_index.03.{}
: | thumb.01.{} thumb.02.{} thumb.03.{}
: | f_pinky.01.{} f_pinky.02.{} f_pinky.03.{}""",
    ),
    "basic_human": ("spine", RIGIFY_HUMAN),
    "basic_quadruped": ("spine.004", RIGIFY_DOG),
    "wolf": ("spine.004", RIGIFY_DOG + EAR),
    "bird": (
        "spine.003",
        """
Wing.{}: Wing.{} Wing.001.{} Wing.002.{}
Leg.{}: thigh.{} shin.{} | foot.{} + toe.{}
Spine: spine.005 + spine.006
Head: spine.006 > neck.001 neck.002 head
Tail: spine.002 spine.001 spine""",
    ),
    "cat": (
        "spine",
        """
Front Leg.{}: upper_arm.{} forearm.{} | hand.{} + f_toe.{}
Hind Leg.{}: thigh.{} shin.{} foot.{} | r_toe.{}
Spine: spine.001 spine.002 spine.003
Head: spine.004 spine.005 spine.006
Tail: tail.001 tail.002 tail.003 tail.004"""
        + EAR,
    ),
    "horse": (
        "spine.001",
        """
Front Leg.{}: upper_arm.{} forearm.{} forefoot.{} f_toe.{} | f_hoof.{}
Hind Leg.{}: thigh.{} lower_leg.{} hind_foot.{} r_toe.{} | r_hoof.{}
Spine: spine.003 spine.004 spine.005 + spine.006
Head: spine.006 > neck.001 neck.002 neck.003 neck.004 head
Tail: tail.001 tail.002 tail.003 tail.004 tail.005
Ear.{}: | ear.{} ear.{}.001""",
    ),
    "shark": (
        "",
        """
Fin.{}: side_fin.{} side_fin.{}.001
Fin 2.{}: chest_fin.Bot.{}
Chain 1: spine.002 spine.001 spine
Chain 2: back_fin.T.Bk back_fin.T.001.Bk back_fin.T.002.Bk
Chain 3: spine.008 spine.004 spine.005
Chain 4: spine.006 spine.007""",
    ),
    "human_mixamo": (
        "mixamorig:Hips",
        """
Arm.{}: mixamorig:{}Arm mixamorig:{}ForeArm | mixamorig:{}Hand
Leg.{}: mixamorig:{}UpLeg mixamorig:{}Leg | mixamorig:{}Foot + mixamorig:{}ToeBase
Spine: mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2
Head: mixamorig:Neck mixamorig:Head
: | mixamorig:{}HandIndex1 mixamorig:{}HandIndex2 mixamorig:{}HandIndex3""",
    ),
    "human_game_engine": (
        "pelvis",
        """
Arm.{}: upperarm_{} lowerarm_{} | hand_{}
Leg.{}: thigh_{} calf_{} | foot_{} + ball_{}
Spine: spine_01 spine_02 spine_03
Head: neck_01 head
: | pinky_01_{} pinky_02_{} pinky_03_{}""",
    ),
    "makehuman": (
        "root",
        """
Arm.{}: upperarm01.{} upperarm02.{} lowerarm01.{} lowerarm02.{} | wrist.{}
Leg.{}: upperleg01.{} upperleg02.{} lowerleg01.{} lowerleg02.{} | foot.{}
Spine: spine05 spine04 spine03 spine02 spine01
Head: neck01 neck02 neck03 head
: | finger2-1.{} finger2-2.{} finger2-3.{}""",
    ),
    "cesium_man": (
        "Node_2",
        """
Arm.L: Node_16 Node_17 Node_18
Arm.R: Node_13 Node_14 Node_15
Leg.L: Node_7 Node_8 | Node_9 + Node_10
Leg.R: Node_3 Node_4 | Node_5 + Node_6
Spine: Node_11 Node_12
Head: | Node_19 Node_20""",
    ),
    "cmu_walk": (
        "Hips",
        """
Arm.{}: {}Arm {}ForeArm | {}Hand
Leg.{}: {}UpLeg {}Leg | {}Foot + {}ToeBase
Spine: LowerBack Spine Spine1
Head: Neck Neck1 Head""",
    ),
}
SIDES = {"human_mixamo": ("Left", "Right"), "cmu_walk": ("Left", "Right"), "human_game_engine": ("l", "r")}


def rows(character: str) -> Iterator[tuple[str, Limb, Limb, Limb]]:
    """Of each line and side the name, the part, the limb, and where it ends if all bones are selected."""
    for line in CHARACTERS[character][1].strip().splitlines():
        name, _, told = line.partition(":")
        for letter, side in zip("LR", SIDES.get(character, ("L", "R")), strict=True):
            before, _, limb = told.replace("{}", side).rpartition(">")
            part = _bones(before + limb.partition("+")[0])
            yield name.format(letter), part, _bones(limb), _bones(limb.partition("|")[0])


def _bones(text: str) -> Limb:
    return tuple(word for word in text.split() if word not in "|+")


def parts_of(character: str) -> dict[str, Limb]:
    """The parts that are listed, by their names."""
    return {name: part for name, part, _, _ in rows(character) if name}


def limbs_of(character: str) -> set[Limb]:
    """The limbs that end in each bone of those that are listed, but for the first one."""
    return {limb[:count] for _, _, limb, _ in rows(character) for count in range(2, len(limb) + 1)}


def whole_of(character: str) -> set[Limb]:
    """The limbs that come of all bones of a character together, and no other."""
    return {whole for _, _, _, whole in rows(character) if whole}


# What they are tested for


def found_limb(owner: bpy.types.Object, tip: str) -> Limb:
    skeleton = read_skeleton(owner)
    limb = Limbs(skeleton).limb_of(list(skeleton.names).index(tip))
    return tuple(skeleton.names[bone] for bone in limb)


def selected(owner: bpy.types.Object) -> tuple[list[Limb], list[Limb]]:
    skeleton = read_skeleton(owner)
    found = Limbs(skeleton).selected(selected_numbers(owner, skeleton))
    limbs, small = ([tuple(skeleton.names[bone] for bone in limb) for limb in some] for some in found)
    return limbs, small


@pytest.mark.parametrize("character", CHARACTERS)
def test_the_limb_of_a_tip(character: str) -> None:
    owner = make_character(character)
    for limb in limbs_of(character):
        assert found_limb(owner, limb[-1]) == limb


@pytest.mark.parametrize("character", ["human_mixamo", "human_game_engine", "cesium_man"])
def test_guessed_tails_tell_nothing(character: str) -> None:
    owner = make_character(character)
    random = Random(5)
    with edited(owner) as bones:
        for bone in bones:
            away = Vector([random.gauss(0.0, 1.0) for _ in range(3)])
            bone.tail = bone.head + away.normalized() * bone.length
    for limb in limbs_of(character):
        assert found_limb(owner, limb[-1]) == limb
    turn = owner.matrix_world.to_3x3()
    for named in (True, False):
        if not named:
            rename_all(owner)
        axes = Limbs(read_skeleton(owner)).axes
        assert tuple(turn @ Vector(axes.forward)) == pytest.approx(forward_of(character), abs=1e-5)


def test_every_character_is_listed() -> None:
    assert set(CHARACTERS) == {*METARIGS, *IMPORTED}


@pytest.mark.parametrize("character", [name for name in CHARACTERS if name != "shark"])
def test_a_whole_character_has_its_great_limbs(character: str) -> None:
    owner = make_character(character)
    select(owner, *(bone.name for bone in owner.data.bones))
    limbs, small = selected(owner)
    assert sorted(limbs) == sorted(whole_of(character))
    bones = [bone for limb in [*limbs, *small] for bone in limb]
    assert sorted(bones) == sorted(bone.name for bone in owner.data.bones)  # each in one of them


@pytest.mark.parametrize("character", sorted(set(CHARACTERS) - {"bird", "shark", "makehuman", "cesium_man"}))
def test_arms_and_legs_need_no_names(character: str) -> None:
    owner = make_character(character)
    words = ("thigh", "upleg", "upper_arm", "upperarm", "arm.", "tarm")
    limbs = [limb for limb in limbs_of(character) if any(word in limb[0].lower() for word in words)]
    assert len(limbs) >= 4
    new = rename_all(owner)
    for limb in limbs:
        assert found_limb(owner, new[limb[-1]]) == tuple(new[name] for name in limb)


@pytest.mark.parametrize("character", ["human", "wolf", "human_mixamo", "cesium_man", "cmu_walk"])
def test_the_body_stands_upright_and_faces_ahead(character: str) -> None:
    owner = make_character(character)
    for named in (True, False):
        if not named:
            rename_all(owner)
        axes = Limbs(read_skeleton(owner)).axes
        turn = owner.matrix_world.to_3x3()
        assert tuple(turn @ Vector(axes.up)) == pytest.approx((0, 0, 1), abs=1e-5)
        assert tuple(turn @ Vector(axes.forward)) == pytest.approx(forward_of(character), abs=1e-5)


def test_a_lying_character_is_upright_in_itself() -> None:
    owner = make_character("human")
    owner.rotation_euler = (1.5707963, 0.4, 0.0)
    bpy.context.view_layer.update()
    axes = Limbs(read_skeleton(owner)).axes
    assert (axes.up, axes.forward) == ((0, 0, 1), (0, -1, 0))


WITH_GAP = [Bone((0, 0.1, 1), (0, 0.1, 2), connect=False), Bone((0, 0.1, 2), (0, 0, 3), connect=True)]
JOINED = [Bone((0, 5e-4, 1), (0, 0.1, 2), connect=False), Bone((0, 0.1, 2), (0, 0, 3), connect=True)]
GUESSED = [Bone((0, 0, 1), (0.5, 0, 1), connect=False), Bone((0, 0.1, 2), (0, 0.1, 2.5), connect=False)]
STRANDS: dict[str, tuple[Point, list[Bone], tuple[str, ...]]] = {
    "bones are joined where they meet, flagged or not": ((0, 0, 1), JOINED, ("b0", "b1", "b2")),
    "a gap between drawn bones ends the limb": ((0, 0, 1), WITH_GAP, ("b1", "b2")),
    "tails that an importer guessed do not matter": ((0, 0.5, 0), GUESSED, ("b0", "b1", "b2")),
}


@pytest.mark.parametrize(("tail", "bones", "limb"), STRANDS.values(), ids=STRANDS)
def test_bones_of_a_limb(tail: Point, bones: list[Bone], limb: tuple[str, ...]) -> None:
    assert found_limb(make_armature([Bone((0, 0, 0), tail, parent=None), *bones]), "b2") == limb


def test_the_leaf_bones_of_an_export_are_of_no_limb() -> None:
    owner = make_character("human_mixamo")
    with edited(owner) as bones:
        for leaf in [bone for bone in bones if not bone.children]:
            end = bones.new(f"{leaf.name}_end")
            end.head, end.tail, end.parent = leaf.tail, leaf.tail + leaf.vector, leaf
    select(owner, *(bone.name for bone in owner.data.bones))
    limbs, _ = selected(owner)
    assert sorted(limbs) == sorted(whole_of("human_mixamo"))


def test_the_length_of_a_limb_by_name() -> None:
    owner = make_character("human_mixamo")
    assert limb_length(owner, "mixamorig:LeftToeBase") == 4
    with pytest.raises(ChainError, match="no bone 'gone'"):
        limb_length(owner, "gone")


def test_a_selected_run_is_just_these_and_a_bone_its_limb() -> None:
    owner = make_line(5)
    select(owner, "b1", "b2", "b4")
    assert selected(owner) == ([("b1", "b2"), ("b0", "b1", "b2", "b3", "b4")], [])


def test_a_hand_that_is_selected_has_its_fingers() -> None:
    owner = make_character("human_mixamo")
    names = [bone.name for bone in owner.data.bones if bone.name.startswith("mixamorig:LeftHand")]
    select(owner, *names)
    limbs, small = selected(owner)
    assert [len(limb) for limb in limbs] == [3] * 5
    assert small == [("mixamorig:LeftHand",)]


def test_single_bones_are_limbs_where_few_are_selected() -> None:
    """Of the many controls of a generated rig those that stand alone are left for when they are asked for."""
    bones = [Bone((i, 0, 0), (i, 0, 1), parent=None) for i in range(6)]
    owner = make_armature([*bones, Bone((5, 0, 1), (5, 0.1, 2), connect=True)])
    select(owner, "b0", "b1")
    assert selected(owner) == ([("b0",), ("b1",)], [])
    select(owner, *(bone.name for bone in owner.data.bones))
    assert selected(owner) == ([("b5", "b6")], [(f"b{i}",) for i in range(5)])


def test_controls_that_fork_are_small_beside_limbs() -> None:
    """As torso, hips and chest of a generated rig are, on which only other controls hang."""
    body = [
        Bone((0, 0, 5), (0, 0, 6), parent=None),
        Bone((1, 0, 5), (1, 0, 6), parent=0),
        Bone((2, 0, 5), (2, 0, 6), parent=0),
    ]
    owner = make_armature([*body, *strand((5, 0, 0), (5, 0, 1), (5, 0.1, 2))])
    select(owner, "b0", "b1", "b2")
    assert selected(owner) == ([("b0",), ("b1",), ("b2",)], [])
    select(owner, *(bone.name for bone in owner.data.bones))
    assert selected(owner) == ([("b3", "b4")], [("b0",), ("b1",), ("b2",)])


def test_hidden_bones_are_not_selected() -> None:
    """A generated rig hides bones that are marked as selected; Blender's own tools heed none of them."""
    owner = make_line(4)
    select(owner, "b2", "b3")
    home = armature(owner).collections.new("Mechanism")
    home.assign(armature(owner).bones["b3"])
    assert selected(owner) == ([("b2", "b3")], [])
    home.is_visible = False
    assert selected(owner) == ([("b0", "b1", "b2")], [])


FINGERS = {"human": 10, "human_mixamo": 10, "human_game_engine": 10, "makehuman": 10}


def applied(owner: bpy.types.Object) -> tuple[str, dict[str, tuple[str, ...]], int]:
    """Body bone, parts that are sure but for fingers, number of fingers."""
    skeleton = read_skeleton(owner)
    found = recognise(skeleton)
    sure = [part for part in found.parts if part.is_applied]
    parts = {part.name: tuple(skeleton.names[bone] for bone in part.bones) for part in sure}
    fingers = {part.name for part in sure if part.kind == "FINGER"}
    body = skeleton.names[found.body] if found.body >= 0 else ""
    return body, {name: bones for name, bones in parts.items() if name not in fingers}, len(fingers)


@pytest.mark.parametrize("character", CHARACTERS)
def test_all_parts_are_right(character: str) -> None:
    body, parts, fingers = applied(make_character(character))
    assert parts == parts_of(character)
    assert body == CHARACTERS[character][0]
    assert fingers >= FINGERS.get(character, 0)


@pytest.mark.parametrize("character", [name for name in CHARACTERS if name != "shark"])
def test_all_parts_are_right_without_names(character: str) -> None:
    """But for what names alone tell: ears; and wings, which are arms then."""
    owner = make_character(character)
    new = rename_all(owner)
    body, parts, _ = applied(owner)
    told = {name: bones for name, bones in parts_of(character).items() if not name.startswith("Ear")}
    assert body == new[CHARACTERS[character][0]]
    assert parts == {name.replace("Wing", "Arm"): tuple(new[bone] for bone in bones) for name, bones in told.items()}


def test_fins_without_names_are_no_legs_that_are_applied() -> None:
    owner = make_character("shark")
    rename_all(owner)
    assert applied(owner)[1] == {}

# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs and parts of real characters by the names of their bones: arms and legs, spine, tail, neck."""

from __future__ import annotations

from collections.abc import Iterator

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Humans made from the lists of names of conventions: in T pose, A pose and posed, facing anywhere, of any size."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import cos, radians

import pytest
from fabrik_addon.maths import V3, dot
from fabrik_addon.recognise.conventions import CONVENTIONS as KNOWN
from fabrik_addon.recognise.conventions import Convention
from fabrik_addon.recognise.find import recognise
from fabrik_addon.recognise.limbs import Limbs, is_second_half, part_of
from fabrik_addon.recognise.skeleton import Skeleton
from fabrik_addon.recognise.tree import Tree
from fabrik_addon.recognise.words import PARTS

from support.human_shapes import A_POSE, Made, applied, human, moved, unnamed
from support.name_lists import CONVENTIONS

POSES = {"T pose": (0.0, 0), "A pose": (A_POSE, 0), "posed": (0.2, 7)}
# Facing in quarters from -Y, whether Y is up, size.
PLACES = [
    (0, False, 1.0),
    (1, False, 1.0),
    (2, False, 1.0),
    (3, False, 1.0),
    (0, True, 1.0),
    (1, False, 0.01),
    (2, False, 100.0),
]
ALL_PARTS = {"Arm.L", "Arm.R", "Leg.L", "Leg.R", "Spine", "Head"}
OTHER_SIDE = "it stands on the side"
BROKEN = {"Rigify DEF"}  # whose bones hang on no body, so that names alone tell what they are


@pytest.mark.parametrize("convention", KNOWN, ids=lambda convention: convention.label)
def test_a_convention_names_parts_that_there_are(convention: Convention) -> None:
    assert set(convention.part_of.values()) <= set(PARTS)


def made_of(convention: str, pose: str) -> Made:
    sides, told = CONVENTIONS[convention]
    arms, posed = POSES[pose]
    return human(told, sides, arms=arms, posed=posed)


NAMED = [(name, True) for name in CONVENTIONS]
UNNAMED = [(name, False) for name in CONVENTIONS if name not in BROKEN]


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize(("convention", "is_named"), [*NAMED, *UNNAMED])
def test_arms_and_legs_are_found(convention: str, is_named: bool, pose: str) -> None:
    made, first = made_of(convention, pose), [*CONVENTIONS].index(convention)
    for seed in {first % len(PLACES), (first + 3) % len(PLACES), 0}:
        facing, y_up, size = PLACES[seed]
        skeleton = moved(made.skeleton, facing, y_up=y_up, size=size, seed=seed)
        found = applied(made.skeleton, skeleton if is_named else unnamed(skeleton))
        assert found.keys() >= ALL_PARTS
        assert {name: found[name] for name in made.parts} == made.parts


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_body_faces_ahead(convention: str) -> None:
    made = made_of(convention, "A pose")
    ways: list[V3] = [(0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)]
    for facing, way in enumerate(ways):
        forward = Tree(moved(made.skeleton, facing)).axes.forward
        assert forward is not None
        assert dot(forward, way) > cos(radians(5.0))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_body_bone_carries_all_limbs(convention: str) -> None:
    made = made_of(convention, "T pose")
    found = recognise(made.skeleton)
    if convention in BROKEN:
        return
    for part in (part for part in found.parts if part.is_applied):
        above = [part.bones[0]]
        while above[-1] >= 0:
            above.append(made.skeleton.parents[above[-1]])
        assert found.body in above


def test_every_convention_that_is_known_is_told_by_its_names() -> None:
    told = {recognise(made_of(convention, "T pose").skeleton).convention for convention in CONVENTIONS}
    untested = {"Italian", "Portuguese", "Chinese"}
    assert told - {""} == {convention.label for convention in KNOWN} - untested


@pytest.mark.parametrize("convention", ["Mixamo", "Unreal", "Daz Genesis 8", "MMD"])
def test_names_that_tell_the_other_side_are_told(convention: str) -> None:
    """Sides come from where bones stand; where names disagree it is asked."""
    sides, told = CONVENTIONS[convention]
    made = human(told, sides[::-1])
    swapped = human(told, sides)
    found = recognise(made.skeleton)
    for part in found.parts:
        if part.kind in ("ARM", "LEG"):
            assert not part.is_applied
            assert OTHER_SIDE in " ".join(map(str, part.reasons))
    assert {part.name: part.side for part in found.parts if part.kind == "LEG"} == {"Leg.L": "L", "Leg.R": "R"}
    assert not any(OTHER_SIDE in str(reason) for part in recognise(swapped.skeleton).parts for reason in part.reasons)


# Names of bones in the conventions that there are, on bones that all stand in one line, so that names alone tell.


# Bones from the body to the end of a limb, with a bar before the first of the limb.
ARMS = {
    "Rigify": "spine.003 shoulder.L | upper_arm.L forearm.L hand.L",
    "Mixamo": "mixamorig:Spine2 mixamorig:LeftShoulder | mixamorig:LeftArm mixamorig:LeftForeArm mixamorig:LeftHand",
    "Unreal": "spine_03 clavicle_l | upperarm_l lowerarm_l hand_l",
    "VRM": "J_Bip_C_UpperChest J_Bip_L_Shoulder | J_Bip_L_UpperArm J_Bip_L_LowerArm J_Bip_L_Hand",
    "SMPL": "Spine3 L_Collar | L_Shoulder L_Elbow L_Wrist",
    "Biped": "Bip01_Spine2 Bip01_L_Clavicle | Bip01_L_UpperArm Bip01_L_Forearm Bip01_L_Hand",
    "Source": "ValveBiped.Bip01_Spine4 ValveBiped.Bip01_L_Clavicle | ValveBiped.Bip01_L_UpperArm"
    " ValveBiped.Bip01_L_Forearm ValveBiped.Bip01_L_Hand",
    "Character Creator": "CC_Base_Spine02 CC_Base_L_Clavicle | CC_Base_L_Upperarm CC_Base_L_Forearm CC_Base_L_Hand",
    "Daz Genesis 8": "chestUpper lCollar | lShldrBend lShldrTwist lForearmBend lForearmTwist lHand",
    "Daz Genesis 9": "spine4 l_shoulder | l_upperarm l_forearm l_hand",
    "HumanIK": "Character1_Spine2 Character1_LeftShoulder | Character1_LeftArm Character1_LeftForeArm"
    " Character1_LeftHand",
    "VRChat": "Chest Left_shoulder | Left_arm Left_elbow Left_wrist",
    "Auto-Rig Pro": "spine_02.x shoulder.l | arm_stretch.l forearm_stretch.l hand.l",
}
LEGS = {
    "Rigify": "spine | thigh.L shin.L foot.L toe.L",
    "Mixamo": "mixamorig:Hips | mixamorig:LeftUpLeg mixamorig:LeftLeg mixamorig:LeftFoot mixamorig:LeftToeBase",
    "Unreal": "pelvis | thigh_l calf_l foot_l ball_l",
    "VRM": "J_Bip_C_Hips | J_Bip_L_UpperLeg J_Bip_L_LowerLeg J_Bip_L_Foot J_Bip_L_ToeBase",
    "SMPL": "Pelvis | L_Hip L_Knee L_Ankle L_Foot",
    "Biped": "Bip01_Pelvis | Bip01_L_Thigh Bip01_L_Calf Bip01_L_Foot Bip01_L_Toe0",
    "Character Creator": "CC_Base_Pelvis | CC_Base_L_Thigh CC_Base_L_Calf CC_Base_L_Foot CC_Base_L_ToeBase",
    "Daz Genesis 8": "pelvis | lThighBend lThighTwist lShin lFoot lToe",
    "Daz Genesis 9": "pelvis | l_thigh l_shin l_foot l_toes",
    "HumanIK": "Character1_Hips | Character1_LeftUpLeg Character1_LeftLeg Character1_LeftFoot Character1_LeftToeBase",
    "VRChat": "Hips | Left_leg Left_knee Left_ankle Left_toe",
    "Auto-Rig Pro": "root.x | thigh_stretch.l leg_stretch.l foot.l toes_01.l",
    "CMU": "Hips LHipJoint | LeftUpLeg LeftLeg LeftFoot LeftToeBase",
}


def line(names: list[str]) -> Skeleton:
    """Bones of one line, each joined to the one before."""
    points = [(0.0, 0.0, -float(i)) for i in range(len(names) + 1)]
    ends = list(itertools.pairwise(points))
    count = len(names)
    return Skeleton(names, range(-1, count - 1), [a for a, _ in ends], [b for _, b in ends], [True] * count)


@pytest.mark.parametrize(
    ("told", "bends"),
    [pytest.param(told, "FOREARM", id=f"arm of {name}") for name, told in ARMS.items()]
    + [pytest.param(told, "SHIN", id=f"leg of {name}") for name, told in LEGS.items()],
)
def test_a_limb_begins_below_the_body_and_has_one_knee_or_elbow(told: str, bends: str) -> None:
    body, limb = (part.split() for part in told.split("|"))
    limbs = Limbs(line([*body, *limb]))
    tip = len(body) + len(limb) - 1
    bones = limbs.limb_of(tip)
    assert [limbs.skeleton.names[bone] for bone in bones] == limb
    assert [part_of(limbs, bone) for bone in bones if not is_second_half(limbs, bone)].count(bends) == 1


def test_twist_bones_beside_a_limb_are_helpers() -> None:
    names = ["thigh_l", "calf_l", "foot_l", "thigh_twist_01_l", "thigh_twist_02_l"]
    heads = [(0.0, 0.0, 3.0), (0.0, 0.0, 2.0), (0.0, 0.0, 1.0), (0.0, 0.0, 2.5), (0.0, 0.0, 2.0)]
    tails = [(0.0, 0.0, 2.0), (0.0, 0.0, 1.0), (0.0, -1.0, 1.0), (0.0, 0.0, 2.0), (0.0, 0.0, 1.5)]
    limbs = Limbs(Skeleton(names, [-1, 0, 1, 0, 3], heads, tails, [False] * 5))
    assert limbs.limb_of(2) == (0, 1, 2)
    assert limbs.parts[3:] == ["HELPER", "HELPER"]


@pytest.mark.parametrize("known", [("hand", "foot"), ("foot",), ("thumb", "index", "middle", "ring", "pinky")])
def test_a_few_names_that_are_understood_hide_nothing(known: tuple[str, ...]) -> None:
    """Hands, feet or fingers alone, in a skeleton whose other bones are numbered."""
    made = made_of("Rigify", "A pose")
    bare, names = unnamed(made.skeleton), made.skeleton.names
    told = [name if any(one in name for one in known) else bare.names[i] for i, name in enumerate(names)]
    found = applied(made.skeleton, replace(bare, names=told))
    assert {name: found.get(name) for name in made.parts if name in ALL_PARTS} == {
        name: part for name, part in made.parts.items() if name in ALL_PARTS
    }

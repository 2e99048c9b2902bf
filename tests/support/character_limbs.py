# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs of real characters by the names of their bones: arms and legs, spine, tail, neck."""

from __future__ import annotations

# Tip and bones of limbs, from the root on. A name with {} stands for both sides.
Limb = tuple[str, ...]
RIGIFY_SPINE = (
    ("spine.001", "spine.002", "spine.003"),
    ("spine.004", "spine.005", "spine.006"),
)
RIGIFY_HUMAN = (
    ("thigh.{}", "shin.{}"),
    ("thigh.{}", "shin.{}", "foot.{}"),
    ("thigh.{}", "shin.{}", "foot.{}", "toe.{}"),
    ("upper_arm.{}", "forearm.{}"),
    ("upper_arm.{}", "forearm.{}", "hand.{}"),
    *RIGIFY_SPINE,
)
RIGIFY_DOG = (
    ("front_thigh.{}", "front_shin.{}", "front_foot.{}"),
    ("front_thigh.{}", "front_shin.{}", "front_foot.{}", "front_toe.{}"),
    ("thigh.{}", "shin.{}", "foot.{}"),
    ("thigh.{}", "shin.{}", "foot.{}", "toe.{}"),
    ("spine.006", "spine.007", "spine.008"),
    ("spine.009", "spine.010", "spine.011"),
    ("spine.003", "spine.002", "spine.001", "spine"),
)
LIMBS: dict[str, tuple[Limb, ...]] = {
    "human": (
        *RIGIFY_HUMAN,
        ("f_index.01.{}", "f_index.02.{}", "f_index.03.{}"),
        ("thumb.01.{}", "thumb.02.{}", "thumb.03.{}"),
        ("f_pinky.01.{}", "f_pinky.02.{}", "f_pinky.03.{}"),
    ),
    "basic_human": RIGIFY_HUMAN,
    "basic_quadruped": RIGIFY_DOG,
    "wolf": RIGIFY_DOG,
    "bird": (
        ("Wing.{}", "Wing.001.{}", "Wing.002.{}"),
        ("thigh.{}", "shin.{}"),
        ("thigh.{}", "shin.{}", "foot.{}", "toe.{}"),
        ("neck.001", "neck.002", "head"),
        ("spine.002", "spine.001", "spine"),
    ),
    "cat": (
        ("upper_arm.{}", "forearm.{}", "hand.{}"),
        ("upper_arm.{}", "forearm.{}", "hand.{}", "f_toe.{}"),
        ("thigh.{}", "shin.{}", "foot.{}"),
        ("thigh.{}", "shin.{}", "foot.{}", "r_toe.{}"),
        ("tail.001", "tail.002", "tail.003", "tail.004"),
        *RIGIFY_SPINE,
    ),
    "horse": (
        ("upper_arm.{}", "forearm.{}", "forefoot.{}", "f_toe.{}", "f_hoof.{}"),
        ("thigh.{}", "lower_leg.{}", "hind_foot.{}", "r_toe.{}", "r_hoof.{}"),
        ("neck.001", "neck.002", "neck.003", "neck.004", "head"),
        ("tail.001", "tail.002", "tail.003", "tail.004", "tail.005"),
        ("spine.003", "spine.004", "spine.005", "spine.006"),
    ),
    "shark": (
        ("side_fin.{}", "side_fin.{}.001"),
        ("spine.002", "spine.001", "spine"),
        ("spine.006", "spine.007"),
    ),
    "human_mixamo": (
        ("mixamorig:{}UpLeg", "mixamorig:{}Leg"),
        ("mixamorig:{}UpLeg", "mixamorig:{}Leg", "mixamorig:{}Foot", "mixamorig:{}ToeBase"),
        ("mixamorig:{}Arm", "mixamorig:{}ForeArm", "mixamorig:{}Hand"),
        ("mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Spine2"),
        ("mixamorig:Neck", "mixamorig:Head"),
        ("mixamorig:{}HandIndex1", "mixamorig:{}HandIndex2", "mixamorig:{}HandIndex3"),
    ),
    "human_game_engine": (
        ("thigh_{}", "calf_{}"),
        ("thigh_{}", "calf_{}", "foot_{}", "ball_{}"),
        ("upperarm_{}", "lowerarm_{}", "hand_{}"),
        ("spine_01", "spine_02", "spine_03"),
        ("neck_01", "head"),
        ("pinky_01_{}", "pinky_02_{}", "pinky_03_{}"),
    ),
    "makehuman": (
        ("upperleg01.{}", "upperleg02.{}", "lowerleg01.{}", "lowerleg02.{}"),
        ("upperleg01.{}", "upperleg02.{}", "lowerleg01.{}", "lowerleg02.{}", "foot.{}"),
        ("upperarm01.{}", "upperarm02.{}", "lowerarm01.{}", "lowerarm02.{}", "wrist.{}"),
        ("spine05", "spine04", "spine03", "spine02", "spine01"),
        ("neck01", "neck02", "neck03", "head"),
        ("finger2-1.{}", "finger2-2.{}", "finger2-3.{}"),
    ),
    "cesium_man": (
        ("Node_7", "Node_8"),
        ("Node_7", "Node_8", "Node_9", "Node_10"),
        ("Node_3", "Node_4", "Node_5", "Node_6"),
        ("Node_16", "Node_17", "Node_18"),
        ("Node_13", "Node_14", "Node_15"),
        ("Node_11", "Node_12"),
    ),
    "cmu_walk": (
        ("{}UpLeg", "{}Leg"),
        ("{}UpLeg", "{}Leg", "{}Foot", "{}ToeBase"),
        ("{}Arm", "{}ForeArm", "{}Hand"),
        ("LowerBack", "Spine", "Spine1"),
        ("Neck", "Neck1", "Head"),
    ),
}
SIDES = {"human_mixamo": ("Left", "Right"), "cmu_walk": ("Left", "Right"), "human_game_engine": ("l", "r")}
# What comes of a whole character that is selected: the limbs as named here, and no other.
WHOLE: dict[str, tuple[Limb, ...]] = {
    "human": (("thigh.{}", "shin.{}"), ("upper_arm.{}", "forearm.{}"), *RIGIFY_SPINE),
    "basic_human": (("thigh.{}", "shin.{}"), ("upper_arm.{}", "forearm.{}"), *RIGIFY_SPINE),
    "basic_quadruped": (RIGIFY_DOG[0], RIGIFY_DOG[2], *RIGIFY_DOG[4:]),
    "wolf": (RIGIFY_DOG[0], RIGIFY_DOG[2], *RIGIFY_DOG[4:]),
    "bird": (LIMBS["bird"][0], LIMBS["bird"][1], *LIMBS["bird"][3:], ("spine.005", "spine.006")),
    "cat": (("upper_arm.{}", "forearm.{}"), LIMBS["cat"][2], *LIMBS["cat"][4:]),
    "horse": (LIMBS["horse"][0][:4], LIMBS["horse"][1][:4], *LIMBS["horse"][2:]),
    "human_mixamo": (
        ("mixamorig:{}UpLeg", "mixamorig:{}Leg"),
        ("mixamorig:{}Arm", "mixamorig:{}ForeArm"),
        *LIMBS["human_mixamo"][3:5],
    ),
    "human_game_engine": (
        ("thigh_{}", "calf_{}"),
        ("upperarm_{}", "lowerarm_{}"),
        *LIMBS["human_game_engine"][3:5],
    ),
    "makehuman": (LIMBS["makehuman"][0], LIMBS["makehuman"][2][:4], *LIMBS["makehuman"][3:5]),
    "cesium_man": (
        ("Node_7", "Node_8"),
        ("Node_3", "Node_4"),
        ("Node_16", "Node_17", "Node_18"),
        ("Node_13", "Node_14", "Node_15"),
        ("Node_11", "Node_12"),
    ),
    "cmu_walk": (("{}UpLeg", "{}Leg"), ("{}Arm", "{}ForeArm"), *LIMBS["cmu_walk"][3:]),
}


def both_sides(character: str, limbs: tuple[Limb, ...]) -> list[Limb]:
    sides = SIDES.get(character, ("L", "R"))
    found = [tuple(name.format(side) for name in limb) for limb in limbs for side in sides]
    return list(dict.fromkeys(found))

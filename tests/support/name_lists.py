# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of bones of a human in the conventions that there are, as their documents and exports list them.

One line a chain: the bone on which it hangs, and its bones, each on the one before, with the joint of `human_shapes`
where it begins; {} stands for the side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TWO_DIGITS = ("01", "02", "03")


def fingers(names: Sequence[str], parent: str, numbers: Sequence[str] = ("1", "2", "3")) -> str:
    """Lines of five fingers; names have * for the number."""
    lines = []
    for finger, name in zip(("thumb", "index", "middle", "ring", "pinky"), names, strict=True):
        bones = [(name.replace("*", number), f"{finger}{place}") for place, number in enumerate(numbers, start=1)]
        lines.append(_chain(parent, bones))
    return "\n" + "\n".join(lines)


def _chain(parent: str, bones: Iterable[tuple[str, str]]) -> str:
    return f"{parent} > " + ", ".join(f"{name} = {joint}" for name, joint in bones)


def _simple(
    hips: str, spine: Sequence[str], neck: Sequence[str], arm: Sequence[str], leg: Sequence[str], root: str = ""
) -> str:
    """Lines of a body without surprises."""
    necks = ("neck", "neck2", "head") if len(neck) > 2 else ("neck", "head")
    middle = [(hips, "hips"), *zip(spine, ("spine1", "spine2", "spine3", "spine4"), strict=False)]
    arms, legs = ("collar", "shoulder", "elbow", "wrist"), ("hip", "knee", "ankle", "ball")
    lines = [_chain("-", [(root, "ground")])] if root else []
    lines.append(_chain(root or "-", [*middle, *zip(neck, necks, strict=True)]))
    lines.append(_chain(spine[-1], zip(arm, arms, strict=True)))
    lines.append(_chain(hips, zip(leg, legs, strict=True)))
    return "\n".join(lines)


MIXAMO = _simple(
    "mixamorig:Hips",
    ["mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Spine2"],
    ["mixamorig:Neck", "mixamorig:Head"],
    ["mixamorig:{}Shoulder", "mixamorig:{}Arm", "mixamorig:{}ForeArm", "mixamorig:{}Hand"],
    ["mixamorig:{}UpLeg", "mixamorig:{}Leg", "mixamorig:{}Foot", "mixamorig:{}ToeBase"],
) + fingers(
    [f"mixamorig:{{}}Hand{finger}*" for finger in ("Thumb", "Index", "Middle", "Ring", "Pinky")], "mixamorig:{}Hand"
)

UNREAL = _simple(
    "pelvis",
    ["spine_01", "spine_02", "spine_03"],
    ["neck_01", "head"],
    ["clavicle_{}", "upperarm_{}", "lowerarm_{}", "hand_{}"],
    ["thigh_{}", "calf_{}", "foot_{}", "ball_{}"],
    root="root",
) + fingers([f"{finger}_*_{{}}" for finger in ("thumb", "index", "middle", "ring", "pinky")], "hand_{}", TWO_DIGITS)
UNREAL += """
upperarm_{} > upperarm_twist_01_{} = shoulder2
lowerarm_{} > lowerarm_twist_01_{} = elbow2
thigh_{} > thigh_twist_01_{} = hip2
calf_{} > calf_twist_01_{} = knee2
root > ik_foot_root = ground, ik_foot_{} = ankle
root > ik_hand_root = ground, ik_hand_gun = hips, ik_hand_{} = wrist
"""

METAHUMAN = _simple(
    "pelvis",
    ["spine_01", "spine_02", "spine_03", "spine_04"],
    ["neck_01", "neck_02", "head"],
    ["clavicle_{}", "upperarm_{}", "lowerarm_{}", "hand_{}"],
    ["thigh_{}", "calf_{}", "foot_{}", "ball_{}"],
    root="root",
)
METAHUMAN += """
thigh_{} > thigh_correctiveRoot_{} = hip, thigh_fwd_{} = hip
thigh_correctiveRoot_{} > thigh_bck_{} = hip
calf_{} > calf_correctiveRoot_{} = knee, calf_knee_{} = knee
calf_correctiveRoot_{} > calf_kneeBack_{} = knee
upperarm_{} > upperarm_bicep_{} = shoulder2
upperarm_{} > upperarm_tricep_{} = shoulder2
hand_{} > wrist_inner_{} = wrist
foot_{} > ankle_bck_{} = ankle
hand_{} > index_metacarpal_{} = knuckle, index_01_{} = index1, index_02_{} = index2
"""

VRM = _simple(
    "J_Bip_C_Hips",
    ["J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest"],
    ["J_Bip_C_Neck", "J_Bip_C_Head"],
    ["J_Bip_{}_Shoulder", "J_Bip_{}_UpperArm", "J_Bip_{}_LowerArm", "J_Bip_{}_Hand"],
    ["J_Bip_{}_UpperLeg", "J_Bip_{}_LowerLeg", "J_Bip_{}_Foot", "J_Bip_{}_ToeBase"],
    root="Root",
) + fingers([f"J_Bip_{{}}_{finger}*" for finger in ("Thumb", "Index", "Middle", "Ring", "Little")], "J_Bip_{}_Hand")
VRM += """
J_Bip_C_Head > J_Sec_Hair1_01 = head, J_Sec_Hair2_01 = neck
J_Bip_C_UpperChest > J_Sec_{}_Bust1 = spine4
J_Bip_C_Hips > J_Sec_{}_CoatSkirtFront1_01 = hip, J_Sec_{}_CoatSkirtFront2_01 = hip2
J_Bip_C_Head > J_Adj_{}_FaceEye = head
"""

UNITY = _simple(
    "hips",
    ["spine", "chest", "upperChest"],
    ["neck", "head"],
    ["{}Shoulder", "{}UpperArm", "{}LowerArm", "{}Hand"],
    ["{}UpperLeg", "{}LowerLeg", "{}Foot", "{}Toes"],
)

RIGIFY = """
- > spine = hips, spine.001 = spine1, spine.002 = spine2, spine.003 = spine3, spine.004 = neck, spine.005 = neck2
spine.005 > spine.006 = head
spine.003 > shoulder.{} = collar, upper_arm.{} = shoulder, forearm.{} = elbow, hand.{} = wrist
spine > pelvis.{} = half_pelvis
spine > thigh.{} = hip, shin.{} = knee, foot.{} = ankle, toe.{} = ball
""" + fingers(
    ["thumb.*.{}", *(f"f_{finger}.*.{{}}" for finger in ("index", "middle", "ring", "pinky"))], "hand.{}", TWO_DIGITS
)

RIGIFY_DEF = """
- > DEF-spine = hips, DEF-spine.001 = spine1, DEF-spine.002 = spine2, DEF-spine.003 = spine3, DEF-spine.004 = neck
DEF-spine.004 > DEF-spine.005 = neck2, DEF-spine.006 = head
- > DEF-shoulder.{} = collar
- > DEF-upper_arm.{} = shoulder, DEF-upper_arm.{}.001 = shoulder2, DEF-forearm.{} = elbow
DEF-forearm.{} > DEF-forearm.{}.001 = elbow2, DEF-hand.{} = wrist
- > DEF-pelvis.{} = half_pelvis
- > DEF-thigh.{} = hip, DEF-thigh.{}.001 = hip2, DEF-shin.{} = knee, DEF-shin.{}.001 = knee2, DEF-foot.{} = ankle
DEF-foot.{} > DEF-toe.{} = ball
"""

AUTO_RIG_PRO = """
- > root.x = hips, spine_01.x = spine1, spine_02.x = spine2, spine_03.x = spine3, neck.x = neck, head.x = head
spine_03.x > shoulder.{} = collar, arm_stretch.{} = shoulder, arm_twist.{} = shoulder
arm_stretch.{} > forearm_stretch.{} = elbow, forearm_twist.{} = elbow2
forearm_stretch.{} > hand.{} = wrist
root.x > thigh_stretch.{} = hip, thigh_twist.{} = hip
thigh_stretch.{} > leg_stretch.{} = knee, leg_twist.{} = knee2
leg_stretch.{} > foot.{} = ankle, toes_01.{} = ball
hand.{} > c_index1.{} = index1, c_index2.{} = index2, c_index3.{} = index3
"""

# Upper and lower limb of two bones each, or with bones for twist beside.
DAZ_8 = """
- > Genesis8Female = ground, hip = hips, pelvis = hips2, {}ThighBend = hip, {}ThighTwist = hip2, {}Shin = knee
{}Shin > {}Foot = ankle, {}Metatarsals = ankle, {}Toe = ball
hip > abdomenLower = spine1, abdomenUpper = spine2, chestLower = spine3, chestUpper = spine4, {}Collar = collar
{}Collar > {}ShldrBend = shoulder, {}ShldrTwist = shoulder2, {}ForearmBend = elbow, {}ForearmTwist = elbow2
{}ForearmTwist > {}Hand = wrist, {}Thumb1 = thumb1, {}Thumb2 = thumb2
{}Hand > {}Carpal1 = knuckle, {}Index1 = index1, {}Index2 = index2, {}Index3 = index3
chestLower > {}Pectoral = spine3
chestUpper > neckLower = neck, neckUpper = neck2, head = head
"""

DAZ_9 = """
- > hip = hips, pelvis = hips2, {}_thigh = hip, {}_thightwist1 = hip
{}_thigh > {}_thightwist2 = hip2
{}_thigh > {}_shin = knee, {}_foot = ankle, {}_toes = ball
hip > spine1 = spine1, spine2 = spine2, spine3 = spine3, spine4 = spine4, {}_shoulder = collar
{}_shoulder > {}_upperarm = shoulder, {}_upperarmtwist1 = shoulder
{}_upperarm > {}_forearm = elbow, {}_forearmtwist1 = elbow2
{}_forearm > {}_hand = wrist
spine4 > neck1 = neck, neck2 = neck2, head = head
"""

CHARACTER_CREATOR = """
- > CC_Base_BoneRoot = ground, CC_Base_Hip = hips, CC_Base_Pelvis = hips2, CC_Base_{}_Thigh = hip
CC_Base_{}_Thigh > CC_Base_{}_ThighTwist01 = hip
CC_Base_{}_Thigh > CC_Base_{}_Calf = knee, CC_Base_{}_CalfTwist01 = knee2
CC_Base_{}_Calf > CC_Base_{}_KneeShareBone = knee
CC_Base_{}_Calf > CC_Base_{}_Foot = ankle, CC_Base_{}_ToeBase = ball
CC_Base_Hip > CC_Base_Waist = spine1, CC_Base_Spine01 = spine2, CC_Base_Spine02 = spine3, CC_Base_NeckTwist01 = neck
CC_Base_NeckTwist01 > CC_Base_NeckTwist02 = neck2, CC_Base_Head = head
CC_Base_Spine02 > CC_Base_{}_RibsTwist = spine4, CC_Base_{}_Breast = spine4
CC_Base_Spine02 > CC_Base_{}_Clavicle = collar, CC_Base_{}_Upperarm = shoulder
CC_Base_{}_Upperarm > CC_Base_{}_UpperarmTwist01 = shoulder
CC_Base_{}_Upperarm > CC_Base_{}_Forearm = elbow, CC_Base_{}_ElbowShareBone = elbow
CC_Base_{}_Forearm > CC_Base_{}_ForearmTwist01 = elbow2
CC_Base_{}_Forearm > CC_Base_{}_Hand = wrist, CC_Base_{}_Mid1 = middle1, CC_Base_{}_Mid2 = middle2
CC_Base_{}_Mid2 > CC_Base_{}_Mid3 = middle3
CC_Base_{}_Hand > CC_Base_{}_Index1 = index1, CC_Base_{}_Index2 = index2, CC_Base_{}_Index3 = index3
"""

MAKEHUMAN = """
- > root = hips, pelvis.{} = half_pelvis, upperleg01.{} = hip, upperleg02.{} = hip2, lowerleg01.{} = knee
lowerleg01.{} > lowerleg02.{} = knee2, foot.{} = ankle, toe1-1.{} = ball
root > spine05 = spine1, spine04 = spine2, spine03 = spine3, spine02 = spine4, clavicle.{} = collar
clavicle.{} > upperarm01.{} = shoulder, upperarm02.{} = shoulder2, lowerarm01.{} = elbow, lowerarm02.{} = elbow2
lowerarm02.{} > wrist.{} = wrist
spine02 > neck01 = neck, neck02 = neck2, head = head
"""

BIPED = _simple(
    "Bip01 Pelvis",
    ["Bip01 Spine", "Bip01 Spine1", "Bip01 Spine2"],
    ["Bip01 Neck", "Bip01 Head"],
    ["Bip01 {} Clavicle", "Bip01 {} UpperArm", "Bip01 {} Forearm", "Bip01 {} Hand"],
    ["Bip01 {} Thigh", "Bip01 {} Calf", "Bip01 {} Foot", "Bip01 {} Toe0"],
    root="Bip01",
)
BIPED += "".join(
    "\n" + _chain("Bip01 {} Hand", [(f"Bip01 {{}} Finger{i}", f"{finger}1"), (f"Bip01 {{}} Finger{i}1", f"{finger}2")])
    for i, finger in enumerate(("thumb", "index", "middle", "ring", "pinky"))
)
BIPED += "\nBip01 > Bip01 Footsteps = ground"

SOURCE = _simple(
    "ValveBiped.Bip01_Pelvis",
    ["ValveBiped.Bip01_Spine", "ValveBiped.Bip01_Spine1", "ValveBiped.Bip01_Spine2", "ValveBiped.Bip01_Spine4"],
    ["ValveBiped.Bip01_Neck1", "ValveBiped.Bip01_Head1"],
    [f"ValveBiped.Bip01_{{}}_{name}" for name in ("Clavicle", "UpperArm", "Forearm", "Hand")],
    [f"ValveBiped.Bip01_{{}}_{name}" for name in ("Thigh", "Calf", "Foot", "Toe0")],
)
SOURCE += """
ValveBiped.Bip01_{}_UpperArm > ValveBiped.Bip01_{}_Elbow = elbow
ValveBiped.Bip01_{}_Forearm > ValveBiped.Bip01_{}_Ulna = elbow2
ValveBiped.Bip01_{}_Forearm > ValveBiped.Bip01_{}_Wrist = wrist
"""

HUMAN_IK = _simple(
    "Character1_Hips",
    ["Character1_Spine", "Character1_Spine1", "Character1_Spine2"],
    ["Character1_Neck", "Character1_Head"],
    [f"Character1_{{}}{name}" for name in ("Shoulder", "Arm", "ForeArm", "Hand")],
    [f"Character1_{{}}{name}" for name in ("UpLeg", "Leg", "Foot", "ToeBase")],
    root="Character1_Reference",
)

CMU = """
- > Hips = hips, {}HipJoint = half_pelvis, {}UpLeg = hip, {}Leg = knee, {}Foot = ankle, {}ToeBase = ball
Hips > LowerBack = spine1, Spine = spine2, Spine1 = spine3, Neck = neck, Neck1 = neck2, Head = head
Spine1 > {}Shoulder = collar, {}Arm = shoulder, {}ForeArm = elbow, {}Hand = wrist, {}FingerBase = knuckle
{}FingerBase > {}HandIndex1 = index2
{}Hand > {}Thumb = thumb1
"""

SMPL = _simple(
    "Pelvis",
    ["Spine1", "Spine2", "Spine3"],
    ["Neck", "Head"],
    ["{}_Collar", "{}_Shoulder", "{}_Elbow", "{}_Wrist"],
    ["{}_Hip", "{}_Knee", "{}_Ankle", "{}_Foot"],
)
SMPL += "\n{}_Wrist > {}_Hand = knuckle"

POSER = _simple(
    "hip",
    ["abdomen", "chest"],
    ["neck", "head"],
    ["{}Collar", "{}Shldr", "{}ForeArm", "{}Hand"],
    ["{}Thigh", "{}Shin", "{}Foot", "{}Toe"],
)

MMD = """
- > 全ての親 = ground, センター = hips, 下半身 = hips2, {}足 = hip, {}ひざ = knee, {}足首 = ankle, {}つま先 = ball
センター > 上半身 = spine1, 上半身2 = spine3, 首 = neck, 頭 = head
上半身2 > {}肩 = collar, {}腕 = shoulder, {}腕捩 = shoulder2, {}ひじ = elbow, {}手捩 = elbow2, {}手首 = wrist
{}手首 > {}人指１ = index1, {}人指２ = index2, {}人指３ = index3
全ての親 > {}足ＩＫ = ankle, {}つま先ＩＫ = ball
"""

GERMAN = _simple(
    "Becken",
    ["Wirbelsäule1", "Wirbelsäule2", "Brust"],
    ["Hals", "Kopf"],
    ["Schulter_{}", "Oberarm_{}", "Unterarm_{}", "Hand_{}"],
    ["Oberschenkel_{}", "Unterschenkel_{}", "Fuß_{}", "Zehen_{}"],
)
FRENCH = _simple(
    "Bassin",
    ["Colonne1", "Colonne2", "Torse"],
    ["Cou", "Tête"],
    ["Épaule_{}", "Bras_{}", "AvantBras_{}", "Main_{}"],
    ["Cuisse_{}", "Jambe_{}", "Pied_{}", "Orteils_{}"],
)
SPANISH = _simple(
    "Cadera",
    ["Columna1", "Columna2", "Pecho"],
    ["Cuello", "Cabeza"],
    ["Hombro {}", "Brazo {}", "Antebrazo {}", "Mano {}"],
    ["Muslo {}", "Pantorrilla {}", "Pie {}", "Dedos {}"],
)
RUSSIAN = _simple(
    "Таз",
    ["Позвоночник1", "Позвоночник2", "Грудь"],  # noqa: RUF001
    ["Шея", "Голова"],
    ["Ключица_{}", "Плечо_{}", "Предплечье_{}", "Кисть_{}"],
    ["Бедро_{}", "Голень_{}", "Стопа_{}", "Носок_{}"],
)

# For each convention what left and right are called, and its bones.
CONVENTIONS: dict[str, tuple[tuple[str, str], str]] = {
    "Mixamo": (("Left", "Right"), MIXAMO),
    "Ready Player Me": (("Left", "Right"), MIXAMO.replace("mixamorig:", "")),
    "Unreal": (("l", "r"), UNREAL),
    "MetaHuman": (("l", "r"), METAHUMAN),
    "VRoid": (("L", "R"), VRM),
    "Unity": (("left", "right"), UNITY),
    "Rigify": (("L", "R"), RIGIFY),
    "Rigify DEF": (("L", "R"), RIGIFY_DEF),
    "Auto-Rig Pro": (("l", "r"), AUTO_RIG_PRO),
    "Daz Genesis 8": (("l", "r"), DAZ_8),
    "Daz Genesis 9": (("l", "r"), DAZ_9),
    "Character Creator": (("L", "R"), CHARACTER_CREATOR),
    "MakeHuman": (("L", "R"), MAKEHUMAN),
    "Biped": (("L", "R"), BIPED),
    "Source": (("L", "R"), SOURCE),
    "HumanIK": (("Left", "Right"), HUMAN_IK),
    "CMU": (("Left", "Right"), CMU),
    "SMPL": (("L", "R"), SMPL),
    "Poser": (("l", "r"), POSER),
    "MMD": (("左", "右"), MMD),
    "German": (("L", "R"), GERMAN),
    "French": (("gauche", "droite"), FRENCH),
    "Spanish": (("izq", "der"), SPANISH),
    "Russian": (("левая", "правая"), RUSSIAN),
}

# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of bones of a human in the conventions that there are, as their documents and exports list them.

One line a chain: the bone on which it hangs, and its bones, each on the one before, with the joint of `human_shapes`
where it begins; {} stands for the side.
"""

from __future__ import annotations

from collections.abc import Sequence

TWO_DIGITS = ("01", "02", "03")


def fingers(names: Sequence[str], parent: str, numbers: Sequence[str] = ("1", "2", "3")) -> str:
    """Lines of five fingers; names have * for the number."""
    lines = []
    for finger, name in zip(("thumb", "index", "middle", "ring", "pinky"), names, strict=True):
        bones = (f"{name.replace('*', number)} = {finger}{place}" for place, number in enumerate(numbers, start=1))
        lines.append(f"{parent} > {', '.join(bones)}")
    return "\n".join(["", *lines])


MIXAMO = (
    """
- > @Hips = hips, @Spine = spine1, @Spine1 = spine2, @Spine2 = spine3, @Neck = neck, @Head = head
@Spine2 > @{}Shoulder = collar, @{}Arm = shoulder, @{}ForeArm = elbow, @{}Hand = wrist
@Hips > @{}UpLeg = hip, @{}Leg = knee, @{}Foot = ankle, @{}ToeBase = ball
""".replace("@", "mixamorig:")
    + fingers(
        [f"mixamorig:{{}}Hand{finger}*" for finger in ("Thumb", "Index", "Middle", "Ring", "Pinky")], "mixamorig:{}Hand"
    )
)

UNREAL = """
- > root = ground
root > pelvis = hips, spine_01 = spine1, spine_02 = spine2, spine_03 = spine3, neck_01 = neck, head = head
spine_03 > clavicle_{} = collar, upperarm_{} = shoulder, lowerarm_{} = elbow, hand_{} = wrist
pelvis > thigh_{} = hip, calf_{} = knee, foot_{} = ankle, ball_{} = ball
""" + fingers([f"{finger}_*_{{}}" for finger in ("thumb", "index", "middle", "ring", "pinky")], "hand_{}", TWO_DIGITS)
UNREAL += """
upperarm_{} > upperarm_twist_01_{} = shoulder2
lowerarm_{} > lowerarm_twist_01_{} = elbow2
thigh_{} > thigh_twist_01_{} = hip2
calf_{} > calf_twist_01_{} = knee2
root > ik_foot_root = ground, ik_foot_{} = ankle
root > ik_hand_root = ground, ik_hand_gun = hips, ik_hand_{} = wrist
"""

METAHUMAN = """
- > root = ground
root > pelvis = hips, spine_01 = spine1, spine_02 = spine2, spine_03 = spine3, spine_04 = spine4, neck_01 = neck
neck_01 > neck_02 = neck2, head = head
spine_04 > clavicle_{} = collar, upperarm_{} = shoulder, lowerarm_{} = elbow, hand_{} = wrist
pelvis > thigh_{} = hip, calf_{} = knee, foot_{} = ankle, ball_{} = ball
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

VRM = (
    """
- > Root = ground
Root > @C_Hips = hips, @C_Spine = spine1, @C_Chest = spine2, @C_UpperChest = spine3, @C_Neck = neck, @C_Head = head
@C_UpperChest > @{}_Shoulder = collar, @{}_UpperArm = shoulder, @{}_LowerArm = elbow, @{}_Hand = wrist
@C_Hips > @{}_UpperLeg = hip, @{}_LowerLeg = knee, @{}_Foot = ankle, @{}_ToeBase = ball
""".replace("@", "J_Bip_")
    + fingers([f"J_Bip_{{}}_{finger}*" for finger in ("Thumb", "Index", "Middle", "Ring", "Little")], "J_Bip_{}_Hand")
)
VRM += """
J_Bip_C_Head > J_Sec_Hair1_01 = head, J_Sec_Hair2_01 = neck
J_Bip_C_UpperChest > J_Sec_{}_Bust1 = spine4
J_Bip_C_Hips > J_Sec_{}_CoatSkirtFront1_01 = hip, J_Sec_{}_CoatSkirtFront2_01 = hip2
J_Bip_C_Head > J_Adj_{}_FaceEye = head
"""

UNITY = """
- > hips = hips, spine = spine1, chest = spine2, upperChest = spine3, neck = neck, head = head
upperChest > {}Shoulder = collar, {}UpperArm = shoulder, {}LowerArm = elbow, {}Hand = wrist
hips > {}UpperLeg = hip, {}LowerLeg = knee, {}Foot = ankle, {}Toes = ball
"""

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

BIPED = """
- > @ = ground
@ > @ Pelvis = hips, @ Spine = spine1, @ Spine1 = spine2, @ Spine2 = spine3, @ Neck = neck, @ Head = head
@ Spine2 > @ {} Clavicle = collar, @ {} UpperArm = shoulder, @ {} Forearm = elbow, @ {} Hand = wrist
@ Pelvis > @ {} Thigh = hip, @ {} Calf = knee, @ {} Foot = ankle, @ {} Toe0 = ball
@ {} Hand > @ {} Finger0 = thumb1, @ {} Finger01 = thumb2
@ {} Hand > @ {} Finger1 = index1, @ {} Finger11 = index2
@ {} Hand > @ {} Finger2 = middle1, @ {} Finger21 = middle2
@ {} Hand > @ {} Finger3 = ring1, @ {} Finger31 = ring2
@ {} Hand > @ {} Finger4 = pinky1, @ {} Finger41 = pinky2
@ > @ Footsteps = ground
""".replace("@", "Bip01")

SOURCE = """
- > @Pelvis = hips, @Spine = spine1, @Spine1 = spine2, @Spine2 = spine3, @Spine4 = spine4
@Spine4 > @Neck1 = neck, @Head1 = head
@Spine4 > @{}_Clavicle = collar, @{}_UpperArm = shoulder, @{}_Forearm = elbow, @{}_Hand = wrist
@Pelvis > @{}_Thigh = hip, @{}_Calf = knee, @{}_Foot = ankle, @{}_Toe0 = ball
@{}_UpperArm > @{}_Elbow = elbow
@{}_Forearm > @{}_Ulna = elbow2
@{}_Forearm > @{}_Wrist = wrist
""".replace("@", "ValveBiped.Bip01_")

HUMAN_IK = """
- > @Reference = ground
@Reference > @Hips = hips, @Spine = spine1, @Spine1 = spine2, @Spine2 = spine3, @Neck = neck, @Head = head
@Spine2 > @{}Shoulder = collar, @{}Arm = shoulder, @{}ForeArm = elbow, @{}Hand = wrist
@Hips > @{}UpLeg = hip, @{}Leg = knee, @{}Foot = ankle, @{}ToeBase = ball
""".replace("@", "Character1_")

CMU = """
- > Hips = hips, {}HipJoint = half_pelvis, {}UpLeg = hip, {}Leg = knee, {}Foot = ankle, {}ToeBase = ball
Hips > LowerBack = spine1, Spine = spine2, Spine1 = spine3, Neck = neck, Neck1 = neck2, Head = head
Spine1 > {}Shoulder = collar, {}Arm = shoulder, {}ForeArm = elbow, {}Hand = wrist, {}FingerBase = knuckle
{}FingerBase > {}HandIndex1 = index2
{}Hand > {}Thumb = thumb1
"""

SMPL = """
- > Pelvis = hips, Spine1 = spine1, Spine2 = spine2, Spine3 = spine3, Neck = neck, Head = head
Spine3 > {}_Collar = collar, {}_Shoulder = shoulder, {}_Elbow = elbow, {}_Wrist = wrist
Pelvis > {}_Hip = hip, {}_Knee = knee, {}_Ankle = ankle, {}_Foot = ball
{}_Wrist > {}_Hand = knuckle
"""

POSER = """
- > hip = hips, abdomen = spine1, chest = spine2, neck = neck, head = head
chest > {}Collar = collar, {}Shldr = shoulder, {}ForeArm = elbow, {}Hand = wrist
hip > {}Thigh = hip, {}Shin = knee, {}Foot = ankle, {}Toe = ball
"""

MMD = """
- > 全ての親 = ground, センター = hips, 下半身 = hips2, {}足 = hip, {}ひざ = knee, {}足首 = ankle, {}つま先 = ball
センター > 上半身 = spine1, 上半身2 = spine3, 首 = neck, 頭 = head
上半身2 > {}肩 = collar, {}腕 = shoulder, {}腕捩 = shoulder2, {}ひじ = elbow, {}手捩 = elbow2, {}手首 = wrist
{}手首 > {}人指１ = index1, {}人指２ = index2, {}人指３ = index3
全ての親 > {}足ＩＫ = ankle, {}つま先ＩＫ = ball
"""

GERMAN = """
- > Becken = hips, Wirbelsäule1 = spine1, Wirbelsäule2 = spine2, Brust = spine3, Hals = neck, Kopf = head
Brust > Schulter_{} = collar, Oberarm_{} = shoulder, Unterarm_{} = elbow, Hand_{} = wrist
Becken > Oberschenkel_{} = hip, Unterschenkel_{} = knee, Fuß_{} = ankle, Zehen_{} = ball
"""
FRENCH = """
- > Bassin = hips, Colonne1 = spine1, Colonne2 = spine2, Torse = spine3, Cou = neck, Tête = head
Torse > Épaule_{} = collar, Bras_{} = shoulder, AvantBras_{} = elbow, Main_{} = wrist
Bassin > Cuisse_{} = hip, Jambe_{} = knee, Pied_{} = ankle, Orteils_{} = ball
"""
SPANISH = """
- > Cadera = hips, Columna1 = spine1, Columna2 = spine2, Pecho = spine3, Cuello = neck, Cabeza = head
Pecho > Hombro {} = collar, Brazo {} = shoulder, Antebrazo {} = elbow, Mano {} = wrist
Cadera > Muslo {} = hip, Pantorrilla {} = knee, Pie {} = ankle, Dedos {} = ball
"""
RUSSIAN = """
- > Таз = hips, Позвоночник1 = spine1, Позвоночник2 = spine2, Грудь = spine3, Шея = neck, Голова = head
Грудь > Ключица_{} = collar, Плечо_{} = shoulder, Предплечье_{} = elbow, Кисть_{} = wrist
Таз > Бедро_{} = hip, Голень_{} = knee, Стопа_{} = ankle, Носок_{} = ball
"""  # noqa: RUF001

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of bones of a human in the conventions that there are, as their documents and exports list them.

One line a bone: name, parent, and the joint of `human_shapes` where it begins; {} stands for the side.
"""

from __future__ import annotations

from collections.abc import Sequence

from support.halved_name_lists import CHARACTER_CREATOR, DAZ_8, DAZ_9, MAKEHUMAN

TWO_DIGITS = ("01", "02", "03")


def fingers(names: Sequence[str], parent: str, numbers: Sequence[str] = ("1", "2", "3")) -> str:
    """Lines of five fingers; names have * for the number."""
    lines = []
    for finger, name in zip(("thumb", "index", "middle", "ring", "pinky"), names, strict=True):
        above = parent
        for place, number in enumerate(numbers):
            own = name.replace("*", number)
            lines.append(f"{own} | {above} | {finger}{place + 1}")
            above = own
    return "\n" + "\n".join(lines)


def _simple(
    hips: str, spine: Sequence[str], neck: Sequence[str], arm: Sequence[str], leg: Sequence[str], root: str = ""
) -> str:
    """Lines of a body without surprises."""
    lines = [f"{root} | - | ground"] if root else []
    lines.append(f"{hips} | {root or '-'} | hips")
    above = hips
    for name, joint in zip(spine, ("spine1", "spine2", "spine3", "spine4")[: len(spine)], strict=True):
        lines.append(f"{name} | {above} | {joint}")
        above = name
    chest = above
    for name, joint in zip(neck, ("neck", "neck2", "head") if len(neck) > 2 else ("neck", "head"), strict=True):
        lines.append(f"{name} | {above} | {joint}")
        above = name
    for limb, joints, top in (
        (arm, ("collar", "shoulder", "elbow", "wrist"), chest),
        (leg, ("hip", "knee", "ankle", "ball"), hips),
    ):
        above = top
        for name, joint in zip(limb, joints, strict=True):
            lines.append(f"{name} | {above} | {joint}")
            above = name
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
upperarm_twist_01_{} | upperarm_{} | shoulder2
lowerarm_twist_01_{} | lowerarm_{} | elbow2
thigh_twist_01_{} | thigh_{} | hip2
calf_twist_01_{} | calf_{} | knee2
ik_foot_root | root | ground
ik_foot_{} | ik_foot_root | ankle
ik_hand_root | root | ground
ik_hand_gun | ik_hand_root | hips
ik_hand_{} | ik_hand_gun | wrist
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
thigh_correctiveRoot_{} | thigh_{} | hip
thigh_fwd_{} | thigh_correctiveRoot_{} | hip
thigh_bck_{} | thigh_correctiveRoot_{} | hip
calf_correctiveRoot_{} | calf_{} | knee
calf_knee_{} | calf_correctiveRoot_{} | knee
calf_kneeBack_{} | calf_correctiveRoot_{} | knee
upperarm_bicep_{} | upperarm_{} | shoulder2
upperarm_tricep_{} | upperarm_{} | shoulder2
wrist_inner_{} | hand_{} | wrist
ankle_bck_{} | foot_{} | ankle
index_metacarpal_{} | hand_{} | knuckle
index_01_{} | index_metacarpal_{} | index1
index_02_{} | index_01_{} | index2
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
J_Sec_Hair1_01 | J_Bip_C_Head | head
J_Sec_Hair2_01 | J_Sec_Hair1_01 | neck
J_Sec_{}_Bust1 | J_Bip_C_UpperChest | spine4
J_Sec_{}_CoatSkirtFront1_01 | J_Bip_C_Hips | hip
J_Sec_{}_CoatSkirtFront2_01 | J_Sec_{}_CoatSkirtFront1_01 | hip2
J_Adj_{}_FaceEye | J_Bip_C_Head | head
"""

UNITY = _simple(
    "hips",
    ["spine", "chest", "upperChest"],
    ["neck", "head"],
    ["{}Shoulder", "{}UpperArm", "{}LowerArm", "{}Hand"],
    ["{}UpperLeg", "{}LowerLeg", "{}Foot", "{}Toes"],
)

RIGIFY = """
spine | - | hips
spine.001 | spine | spine1
spine.002 | spine.001 | spine2
spine.003 | spine.002 | spine3
spine.004 | spine.003 | neck
spine.005 | spine.004 | neck2
spine.006 | spine.005 | head
shoulder.{} | spine.003 | collar
upper_arm.{} | shoulder.{} | shoulder
forearm.{} | upper_arm.{} | elbow
hand.{} | forearm.{} | wrist
pelvis.{} | spine | half_pelvis
thigh.{} | spine | hip
shin.{} | thigh.{} | knee
foot.{} | shin.{} | ankle
toe.{} | foot.{} | ball
""" + fingers(
    ["thumb.*.{}", *(f"f_{finger}.*.{{}}" for finger in ("index", "middle", "ring", "pinky"))], "hand.{}", TWO_DIGITS
)

RIGIFY_DEF = """
DEF-spine | - | hips
DEF-spine.001 | DEF-spine | spine1
DEF-spine.002 | DEF-spine.001 | spine2
DEF-spine.003 | DEF-spine.002 | spine3
DEF-spine.004 | DEF-spine.003 | neck
DEF-spine.005 | DEF-spine.004 | neck2
DEF-spine.006 | DEF-spine.005 | head
DEF-shoulder.{} | - | collar
DEF-upper_arm.{} | - | shoulder
DEF-upper_arm.{}.001 | DEF-upper_arm.{} | shoulder2
DEF-forearm.{} | DEF-upper_arm.{}.001 | elbow
DEF-forearm.{}.001 | DEF-forearm.{} | elbow2
DEF-hand.{} | DEF-forearm.{}.001 | wrist
DEF-pelvis.{} | - | half_pelvis
DEF-thigh.{} | - | hip
DEF-thigh.{}.001 | DEF-thigh.{} | hip2
DEF-shin.{} | DEF-thigh.{}.001 | knee
DEF-shin.{}.001 | DEF-shin.{} | knee2
DEF-foot.{} | DEF-shin.{}.001 | ankle
DEF-toe.{} | DEF-foot.{} | ball
"""

AUTO_RIG_PRO = """
root.x | - | hips
spine_01.x | root.x | spine1
spine_02.x | spine_01.x | spine2
spine_03.x | spine_02.x | spine3
neck.x | spine_03.x | neck
head.x | neck.x | head
shoulder.{} | spine_03.x | collar
arm_stretch.{} | shoulder.{} | shoulder
arm_twist.{} | arm_stretch.{} | shoulder
forearm_stretch.{} | arm_stretch.{} | elbow
forearm_twist.{} | forearm_stretch.{} | elbow2
hand.{} | forearm_stretch.{} | wrist
thigh_stretch.{} | root.x | hip
thigh_twist.{} | thigh_stretch.{} | hip
leg_stretch.{} | thigh_stretch.{} | knee
leg_twist.{} | leg_stretch.{} | knee2
foot.{} | leg_stretch.{} | ankle
toes_01.{} | foot.{} | ball
c_index1.{} | hand.{} | index1
c_index2.{} | c_index1.{} | index2
c_index3.{} | c_index2.{} | index3
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
    f"\nBip01 {{}} Finger{i} | Bip01 {{}} Hand | {finger}1\nBip01 {{}} Finger{i}1 | Bip01 {{}} Finger{i} | {finger}2"
    for i, finger in enumerate(("thumb", "index", "middle", "ring", "pinky"))
)
BIPED += "\nBip01 Footsteps | Bip01 | ground"

SOURCE = _simple(
    "ValveBiped.Bip01_Pelvis",
    ["ValveBiped.Bip01_Spine", "ValveBiped.Bip01_Spine1", "ValveBiped.Bip01_Spine2", "ValveBiped.Bip01_Spine4"],
    ["ValveBiped.Bip01_Neck1", "ValveBiped.Bip01_Head1"],
    [f"ValveBiped.Bip01_{{}}_{name}" for name in ("Clavicle", "UpperArm", "Forearm", "Hand")],
    [f"ValveBiped.Bip01_{{}}_{name}" for name in ("Thigh", "Calf", "Foot", "Toe0")],
)
SOURCE += """
ValveBiped.Bip01_{}_Elbow | ValveBiped.Bip01_{}_UpperArm | elbow
ValveBiped.Bip01_{}_Ulna | ValveBiped.Bip01_{}_Forearm | elbow2
ValveBiped.Bip01_{}_Wrist | ValveBiped.Bip01_{}_Forearm | wrist
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
Hips | - | hips
{}HipJoint | Hips | half_pelvis
{}UpLeg | {}HipJoint | hip
{}Leg | {}UpLeg | knee
{}Foot | {}Leg | ankle
{}ToeBase | {}Foot | ball
LowerBack | Hips | spine1
Spine | LowerBack | spine2
Spine1 | Spine | spine3
Neck | Spine1 | neck
Neck1 | Neck | neck2
Head | Neck1 | head
{}Shoulder | Spine1 | collar
{}Arm | {}Shoulder | shoulder
{}ForeArm | {}Arm | elbow
{}Hand | {}ForeArm | wrist
{}FingerBase | {}Hand | knuckle
{}HandIndex1 | {}FingerBase | index2
{}Thumb | {}Hand | thumb1
"""

SMPL = _simple(
    "Pelvis",
    ["Spine1", "Spine2", "Spine3"],
    ["Neck", "Head"],
    ["{}_Collar", "{}_Shoulder", "{}_Elbow", "{}_Wrist"],
    ["{}_Hip", "{}_Knee", "{}_Ankle", "{}_Foot"],
)
SMPL += "\n{}_Hand | {}_Wrist | knuckle"

POSER = _simple(
    "hip",
    ["abdomen", "chest"],
    ["neck", "head"],
    ["{}Collar", "{}Shldr", "{}ForeArm", "{}Hand"],
    ["{}Thigh", "{}Shin", "{}Foot", "{}Toe"],
)

MMD = """
全ての親 | - | ground
センター | 全ての親 | hips
下半身 | センター | hips2
{}足 | 下半身 | hip
{}ひざ | {}足 | knee
{}足首 | {}ひざ | ankle
{}つま先 | {}足首 | ball
上半身 | センター | spine1
上半身2 | 上半身 | spine3
首 | 上半身2 | neck
頭 | 首 | head
{}肩 | 上半身2 | collar
{}腕 | {}肩 | shoulder
{}腕捩 | {}腕 | shoulder2
{}ひじ | {}腕捩 | elbow
{}手捩 | {}ひじ | elbow2
{}手首 | {}手捩 | wrist
{}人指１ | {}手首 | index1
{}人指２ | {}人指１ | index2
{}人指３ | {}人指２ | index3
{}足ＩＫ | 全ての親 | ankle
{}つま先ＩＫ | {}足ＩＫ | ball
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

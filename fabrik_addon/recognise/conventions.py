# SPDX-License-Identifier: GPL-3.0-or-later
"""Conventions for the names of bones, as one table: a new one is one more paragraph.

The keys of a rig, from the names of all its bones: `["".join(words) for words in telling_words(names)]`; see
`words.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

NUMBERED = re.compile(r"(.*\D)(\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class Convention:
    """A convention. A key is what `words.telling_words` leaves of a name, joined: no prefix, no side, in lower case.

    Attributes:
        label: What it is called.
        marks: Keys that a skeleton of this convention has, with a space between; `a|b` means either.
        parts: Parts, by their names in `words.PARTS`, each with the keys of its bones; a semicolon ends a part.
            `spine1-3` stands for `spine1 spine2 spine3`.
        part_of: The part of each key.
    """

    label: str
    marks: str
    parts: str
    part_of: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        entries = [entry.split() for entry in self.parts.split(";")]
        found = {key: part for part, *keys in entries for written in keys for key in _numbered(written)}
        object.__setattr__(self, "part_of", found)

    def fit(self, keys: Collection[str]) -> int:
        """How many of the keys of a skeleton are of this convention; 0 where one of its marks is missing."""
        is_marked = all(any(key in keys for key in mark.split("|")) for mark in self.marks.split())
        return sum(key in self.part_of for key in keys) if is_marked else 0


def _numbered(written: str) -> Iterator[str]:
    """The keys for which one stands in a table."""
    found = NUMBERED.fullmatch(written)
    if found is None:
        yield written
    else:
        yield from (f"{found[1]}{number}" for number in range(int(found[2]), int(found[3]) + 1))


def _read(table: str) -> Iterator[Convention]:
    """The conventions of a table: of each a line with label and marks, and lines with its parts; "#" is a comment."""
    for paragraph in table.strip().split("\n\n"):
        first, *lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        label, _, marks = first.partition(": ")
        yield Convention(label, marks, " ".join(lines))


CONVENTIONS = tuple(
    _read("""
# Auto-Rig Pro, exported: `thigh_stretch.l`, `leg_stretch.l`, `root.x`.
Auto-Rig Pro: thighstretch legstretch
  PELVIS root; SPINE spine1-4; NECK neck; HEAD head;
  GIRDLE shoulder; UPPER_ARM armstretch; FOREARM forearmstretch; HAND hand;
  THIGH thighstretch; SHIN legstretch; FOOT foot; TOE toes1;
  HELPER armtwist forearmtwist thightwist legtwist;
  PALM index1base middle1base ring1base pinky1base;
  FINGER thumb1-3 index1-3 middle1-3 ring1-3 pinky1-3 cthumb1-3 cindex1-3 cmiddle1-3 cring1-3 cpinky1-3

# Biped of 3ds Max: `Bip01 L Thigh`, `Bip001 L Calf`, `Toe0`.
Biped: thigh calf upperarm forearm toe0
  PELVIS pelvis; SPINE spine spine1-4; NECK neck neck1-2; HEAD head; TAIL tail tail1-4;
  GIRDLE clavicle; UPPER_ARM upperarm; FOREARM forearm; HAND hand;
  THIGH thigh; SHIN calf horselink; FOOT foot; TOE toe0-4;
  HELPER footsteps thightwist calftwist foretwist uparmtwist;
  FINGER finger0 finger01 finger02 finger1 finger11-12 finger2 finger21-22 finger3 finger31-32 finger4
    finger41-42

# Character Creator and iClone: `CC_Base_L_Thigh`; `Hip` is above `Pelvis` and `Waist`, and a twist is the neck.
Character Creator: thigh calf upperarm forearm waist
  ROOT boneroot; PELVIS hip pelvis; SPINE waist spine1-2; NECK necktwist1-2; HEAD head;
  GIRDLE clavicle; UPPER_ARM upperarm; FOREARM forearm; HAND hand;
  THIGH thigh; SHIN calf; FOOT foot; TOE toebase;
  FINGER thumb1-3 index1-3 mid1-3 ring1-3 pinky1-3;
  HELPER kneesharebone elbowsharebone toebasesharebone ribstwist thightwist1-2 calftwist1-2 upperarmtwist1-2
    forearmtwist1-2;
  BREAST breast;
  FACE facialbone jawroot eye

Chinese: 大腿 小腿
  PELVIS 骨盆 臀部; SPINE 脊椎 胸 腰; NECK 脖子 颈; HEAD 头; TAIL 尾巴;
  GIRDLE 肩 锁骨; UPPER_ARM 上臂; FOREARM 前臂; HAND 手;
  THIGH 大腿; SHIN 小腿; FOOT 脚; TOE 脚趾

# CMU and other BVH: `LHipJoint` above `LeftUpLeg`, and a spine that begins at `LowerBack`.
CMU: hipjoint upleg leg
  PELVIS hips hipjoint; SPINE lowerback spine spine1; NECK neck neck1; HEAD head;
  GIRDLE shoulder; UPPER_ARM arm; FOREARM forearm; HAND hand;
  THIGH upleg; SHIN leg; FOOT foot; TOE toebase;
  FINGER fingerbase handindex1 thumb

# Daz Genesis 3, 8 and 9: `lThighBend` and `lThighTwist` are two halves of a thigh; `hip` is above `pelvis`.
Daz Genesis: hip pelvis shin shldrbend|upperarm
  ROOT hip; PELVIS pelvis; SPINE abdomenlower abdomenupper abdomen abdomen2 chestlower chestupper chest
    spine1-4; NECK necklower neckupper neck1-2 neck; HEAD head;
  GIRDLE collar shoulder; UPPER_ARM shldrbend shldrtwist shldr upperarm; FOREARM forearmbend forearmtwist
    forearm; HAND hand;
  THIGH thighbend thightwist thigh; SHIN shin; FOOT foot; TOE toe toes;
  HELPER metatarsals upperarmtwist1-2 forearmtwist1-2 thightwist1-2;
  PALM carpal1-4 indexmetacarpal midmetacarpal ringmetacarpal pinkymetacarpal;
  FINGER thumb1-3 index1-3 mid1-3 ring1-3 pinky1-3;
  BREAST pectoral

French: cuisse bras
  PELVIS bassin hanches hanche; SPINE colonne dos torse poitrine; NECK cou; HEAD tête tete; TAIL queue;
  GIRDLE épaule epaule clavicule; UPPER_ARM bras; FOREARM avantbras; HAND main;
  THIGH cuisse; SHIN jambe tibia mollet; FOOT pied; TOE orteil orteils;
  FINGER pouce1-3 index1-3 majeur1-3 annulaire1-3 auriculaire1-3

German: oberschenkel unterschenkel
  PELVIS becken hüfte huefte; SPINE wirbelsäule wirbelsaeule brust bauch rücken; NECK hals nacken; HEAD kopf;
    TAIL schwanz;
  GIRDLE schulter schlüsselbein; UPPER_ARM oberarm; FOREARM unterarm; HAND hand;
  THIGH oberschenkel; SHIN unterschenkel; FOOT fuß fuss; TOE zehen zeh zehe;
  FINGER daumen1-3 zeigefinger1-3 mittelfinger1-3 ringfinger1-3 kleinerfinger1-3

Italian: coscia braccio
  PELVIS bacino anca; SPINE colonna schiena torace petto; NECK collo; HEAD testa; TAIL coda;
  GIRDLE spalla clavicola; UPPER_ARM braccio; FOREARM avambraccio; HAND mano;
  THIGH coscia; SHIN gamba stinco; FOOT piede; TOE dita punta

# MakeHuman and MPFB, the default rig: `upperleg01.L`, with two halves of each segment.
MakeHuman: upperleg1 lowerleg1 upperarm1 lowerarm1 wrist
  PELVIS root pelvis; SPINE spine1-5; NECK neck1-3; HEAD head;
  GIRDLE clavicle shoulder1; UPPER_ARM upperarm1-2; FOREARM lowerarm1-2; HAND wrist;
  THIGH upperleg1-2; SHIN lowerleg1-2; FOOT foot;
  PALM metacarpal1-4;
  BREAST breast

# Mixamo, Ready Player Me and HumanIK: `LeftUpLeg`, whose `LeftLeg` is the shin, with prefixes or without.
Mixamo: upleg leg forearm toebase
  ROOT reference; PELVIS hips; SPINE spine spine1-4; NECK neck neck1; HEAD head;
  GIRDLE shoulder; UPPER_ARM arm; FOREARM forearm; HAND hand;
  THIGH upleg; SHIN leg; FOOT foot; TOE toebase;
  FINGER handthumb1-3 handindex1-3 handmiddle1-3 handring1-3 handpinky1-3;
  HELPER headtopend toeend handthumb4 handindex4 handmiddle4 handring4 handpinky4 armroll forearmroll
    uplegroll legroll;
  FACE eye

# MikuMikuDance, in Japanese: `左足` is the leg from the hip, `左ひざ` its knee; with bones for IK beside them.
MMD: 足 ひざ 足首 腕 ひじ 手首
  ROOT 全ての親 センター グルーブ 操作中心; PELVIS 腰 下半身; SPINE 上半身 上半身2-3; NECK 首; HEAD 頭;
  GIRDLE 肩; UPPER_ARM 腕; FOREARM ひじ; HAND 手首;
  THIGH 足; SHIN ひざ; FOOT 足首; TOE つま先;
  HELPER 足ik つま先ik 足ik親 腕捩 手捩 腕捩1-3 手捩1-3 肩p 肩c 腰キャンセル 足d ひざd 足首d 足先ex ダミー;
  FINGER 親指0-3 人指0-3 人差指0-3 中指0-3 薬指0-3 小指0-3;
  FACE 目 両目

Portuguese: coxa braço|braco
  PELVIS quadril bacia; SPINE coluna peito tronco; NECK pescoço pescoco; HEAD cabeça cabeca; TAIL cauda;
  GIRDLE ombro clavícula clavicula; UPPER_ARM braço braco; FOREARM antebraço antebraco; HAND mão mao;
  THIGH coxa; SHIN perna canela; FOOT pé pe; TOE dedos

# Poser, and BVH made for it: `lThigh`, `lShin`, `lCollar`, `lShldr`.
Poser: thigh shin collar shldr
  PELVIS hip buttock; SPINE abdomen chest; NECK neck; HEAD head;
  GIRDLE collar; UPPER_ARM shldr; FOREARM forearm; HAND hand;
  THIGH thigh; SHIN shin; FOOT foot; TOE toe

# Rigify, metarigs and the bones that deform: `thigh.L`, `shin.L`, and a spine in numbers up to the head.
Rigify: thigh shin spine
  PELVIS pelvis;
  GIRDLE shoulder; UPPER_ARM upperarm; FOREARM forearm; HAND hand;
  THIGH thigh; SHIN shin; FOOT foot; TOE toe; HEEL heel2;
  PALM palm1-4;
  FINGER findex1-3 fmiddle1-3 fring1-3 fpinky1-3 thumb1-3;
  BREAST breast

Russian: бедро голень
  PELVIS таз; SPINE позвоночник спина грудь; NECK шея; HEAD голова; TAIL хвост;
  GIRDLE ключица; UPPER_ARM плечо; FOREARM предплечье; HAND кисть;
  THIGH бедро; SHIN голень; FOOT стопа; TOE носок пальцы

# SMPL and SMPL-X: `L_Hip` is the thigh, and each bone is called after the joint above it.
SMPL: hip knee ankle shoulder elbow wrist
  PELVIS pelvis; SPINE spine1-3; NECK neck; HEAD head;
  GIRDLE collar; UPPER_ARM shoulder; FOREARM elbow; HAND wrist;
  THIGH hip; SHIN knee; FOOT ankle; TOE foot;
  FINGER hand thumb1-3 index1-3 middle1-3 ring1-3 pinky1-3;
  FACE jaw eye eyesmplhf

# Source, of Valve: `ValveBiped.Bip01_L_Thigh`.
Source: thigh calf upperarm forearm toe0 spine4|head1
  PELVIS pelvis; SPINE spine spine1-2 spine4; NECK neck1; HEAD head1;
  GIRDLE clavicle; UPPER_ARM upperarm; FOREARM forearm; HAND hand;
  THIGH thigh; SHIN calf; FOOT foot; TOE toe0;
  HELPER trapezius bicep ulna elbow shoulder latt wrist quadricep;
  FINGER finger0 finger01 finger02 finger1 finger11-12 finger2 finger21-22 finger3 finger31-32 finger4
    finger41-42

Spanish: muslo brazo
  PELVIS pelvis cadera; SPINE columna espalda torso pecho; NECK cuello; HEAD cabeza; TAIL cola;
  GIRDLE hombro clavícula clavicula; UPPER_ARM brazo; FOREARM antebrazo; HAND mano;
  THIGH muslo; SHIN pierna pantorrilla; FOOT pie; TOE dedos punta;
  FINGER pulgar1-3 índice1-3 medio1-3 anular1-3 meñique1-3

# Unreal 4 and 5, MetaHuman: `thigh_l`, `calf_l`, with bones for twist and `ik_` beside them.
Unreal: thigh calf upperarm lowerarm ball
  ROOT root; PELVIS pelvis; SPINE spine1-5; NECK neck1-2; HEAD head;
  GIRDLE clavicle; UPPER_ARM upperarm; FOREARM lowerarm; HAND hand;
  THIGH thigh; SHIN calf; FOOT foot; TOE ball;
  PALM indexmetacarpal middlemetacarpal ringmetacarpal pinkymetacarpal;
  FINGER thumb1-3 index1-3 middle1-3 ring1-3 pinky1-3;
  HELPER ikfootroot ikhandroot ikhandgun ikhand ikfoot interaction centerofmass thighfwd thighbck thighin
    thighout calfknee calfkneeback upperarmbicep upperarmtricep upperarmfwd upperarmbck upperarmin upperarmout
    clavicleout claviclescap clavicleperc claviclepec spine4latissimus wristinner wristouter anklebck anklefwd
    lowerarmfwd lowerarmbck lowerarmin lowerarmout

# VRM and VRoid, and Unity humanoid: `J_Bip_L_UpperLeg`, `leftUpperLeg`.
VRM: upperleg lowerleg upperarm lowerarm
  ROOT root; PELVIS hips; SPINE spine chest upperchest; NECK neck; HEAD head;
  GIRDLE shoulder; UPPER_ARM upperarm; FOREARM lowerarm; HAND hand;
  THIGH upperleg; SHIN lowerleg; FOOT foot; TOE toes toebase toe;
  FINGER thumb1-3 index1-3 middle1-3 ring1-3 little1-3 thumbmetacarpal thumbproximal thumbintermediate
    thumbdistal indexmetacarpal indexproximal indexintermediate indexdistal middlemetacarpal middleproximal
    middleintermediate middledistal ringmetacarpal ringproximal ringintermediate ringdistal littlemetacarpal
    littleproximal littleintermediate littledistal;
  FACE faceeye eye jaw;
  BREAST bust1-2;
  OTHER coatskirtfront1 coatskirtback1
""")
)

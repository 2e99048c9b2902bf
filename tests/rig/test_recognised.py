# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of real characters, each bone of them, with their names and with names that tell nothing."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.recognise.find import recognise
from fabrik_addon.rig.skeleton import read_skeleton

from support.skeletons import IMPORTED, METARIGS, make_character, rename_all

ARM = ("upper_arm.{}", "forearm.{}", "hand.{}")
LEG = ("thigh.{}", "shin.{}", "foot.{}")
SPINE, HEAD = ("spine.001", "spine.002", "spine.003"), ("spine.004", "spine.005", "spine.006")
EAR = ("ear.{}", "ear.{}.001", "ear.{}.002", "ear.{}.003", "ear.{}.004")
DOG: dict[str, tuple[str, ...]] = {
    "Front Leg.{}": ("front_thigh.{}", "front_shin.{}", "front_foot.{}", "front_toe.{}"),
    "Hind Leg.{}": ("thigh.{}", "shin.{}", "foot.{}", "toe.{}"),
    "Spine": ("spine.006", "spine.007", "spine.008"),
    "Head": ("spine.009", "spine.010", "spine.011"),
    "Tail": ("spine.003", "spine.002", "spine.001", "spine"),
}
HUMAN: dict[str, tuple[str, ...]] = {"Arm.{}": ARM, "Leg.{}": LEG, "Spine": SPINE, "Head": HEAD}
# For each character its body bone and its parts; {} stands for the side.
PARTS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "human": ("spine", {**HUMAN, "Ear.{}": EAR}),
    "basic_human": ("spine", HUMAN),
    "basic_quadruped": ("spine.004", DOG),
    "wolf": ("spine.004", {**DOG, "Ear.{}": EAR}),
    "cat": (
        "spine",
        {
            "Front Leg.{}": ARM,
            "Hind Leg.{}": (*LEG, "r_toe.{}"),
            "Spine": SPINE,
            "Head": HEAD,
            "Tail": ("tail.001", "tail.002", "tail.003", "tail.004"),
            "Ear.{}": EAR,
        },
    ),
    "horse": (
        "spine.001",
        {
            "Front Leg.{}": ("upper_arm.{}", "forearm.{}", "forefoot.{}", "f_toe.{}", "f_hoof.{}"),
            "Hind Leg.{}": ("thigh.{}", "lower_leg.{}", "hind_foot.{}", "r_toe.{}", "r_hoof.{}"),
            "Spine": ("spine.003", "spine.004", "spine.005"),
            "Head": ("spine.006", "neck.001", "neck.002", "neck.003", "neck.004", "head"),
            "Tail": ("tail.001", "tail.002", "tail.003", "tail.004", "tail.005"),
            "Ear.{}": ("ear.{}", "ear.{}.001"),
        },
    ),
    "bird": (
        "spine.003",
        {
            "Wing.{}": ("Wing.{}", "Wing.001.{}", "Wing.002.{}"),
            "Leg.{}": LEG,
            "Spine": ("spine.005",),
            "Head": ("spine.006", "neck.001", "neck.002", "head"),
            "Tail": ("spine.002", "spine.001", "spine"),
        },
    ),
    "shark": (
        "",
        {
            "Fin.{}": ("side_fin.{}", "side_fin.{}.001"),
            "Fin 2.{}": ("chest_fin.Bot.{}",),
            "Chain 1": ("spine.002", "spine.001", "spine"),
            "Chain 2": ("back_fin.T.Bk", "back_fin.T.001.Bk", "back_fin.T.002.Bk"),
            "Chain 3": ("spine.008", "spine.004", "spine.005"),
            "Chain 4": ("spine.006", "spine.007"),
        },
    ),
    "human_mixamo": (
        "mixamorig:Hips",
        {
            "Arm.{}": ("mixamorig:{}Arm", "mixamorig:{}ForeArm", "mixamorig:{}Hand"),
            "Leg.{}": ("mixamorig:{}UpLeg", "mixamorig:{}Leg", "mixamorig:{}Foot"),
            "Spine": ("mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Spine2"),
            "Head": ("mixamorig:Neck", "mixamorig:Head"),
        },
    ),
    "human_game_engine": (
        "pelvis",
        {
            "Arm.{}": ("upperarm_{}", "lowerarm_{}", "hand_{}"),
            "Leg.{}": ("thigh_{}", "calf_{}", "foot_{}"),
            "Spine": ("spine_01", "spine_02", "spine_03"),
            "Head": ("neck_01", "head"),
        },
    ),
    "makehuman": (
        "root",
        {
            "Arm.{}": ("upperarm01.{}", "upperarm02.{}", "lowerarm01.{}", "lowerarm02.{}", "wrist.{}"),
            "Leg.{}": ("upperleg01.{}", "upperleg02.{}", "lowerleg01.{}", "lowerleg02.{}", "foot.{}"),
            "Spine": ("spine05", "spine04", "spine03", "spine02", "spine01"),
            "Head": ("neck01", "neck02", "neck03", "head"),
        },
    ),
    "cesium_man": (
        "Node_2",
        {
            "Arm.L": ("Node_16", "Node_17", "Node_18"),
            "Arm.R": ("Node_13", "Node_14", "Node_15"),
            "Leg.L": ("Node_7", "Node_8", "Node_9"),
            "Leg.R": ("Node_3", "Node_4", "Node_5"),
            "Spine": ("Node_11", "Node_12"),
            "Head": ("Node_19", "Node_20"),
        },
    ),
    "cmu_walk": (
        "Hips",
        {
            "Arm.{}": ("{}Arm", "{}ForeArm", "{}Hand"),
            "Leg.{}": ("{}UpLeg", "{}Leg", "{}Foot"),
            "Spine": ("LowerBack", "Spine", "Spine1"),
            "Head": ("Neck", "Neck1", "Head"),
        },
    ),
}
SIDES = {"human_mixamo": ("Left", "Right"), "cmu_walk": ("Left", "Right"), "human_game_engine": ("l", "r")}
FINGERS = {"human": 10, "human_mixamo": 10, "human_game_engine": 10, "makehuman": 10}


def expected(character: str) -> dict[str, tuple[str, ...]]:
    """The parts with the names of both sides."""
    found = {}
    for name, bones in PARTS[character][1].items():
        for side, own in zip("LR", SIDES.get(character, ("L", "R")), strict=True):
            found[name.format(side)] = tuple(bone.format(own) for bone in bones)
    return found


def applied(owner: bpy.types.Object) -> tuple[str, dict[str, tuple[str, ...]], int]:
    """Body bone, parts that are sure but for fingers, number of fingers."""
    skeleton = read_skeleton(owner)
    found = recognise(skeleton)
    sure = [part for part in found.parts if part.is_applied]
    parts = {part.name: tuple(skeleton.names[bone] for bone in part.bones) for part in sure}
    fingers = {part.name for part in sure if part.kind == "FINGER"}
    body = skeleton.names[found.body] if found.body >= 0 else ""
    return body, {name: bones for name, bones in parts.items() if name not in fingers}, len(fingers)


def test_every_character_is_listed() -> None:
    assert set(PARTS) == {*METARIGS, *IMPORTED}


@pytest.mark.parametrize("character", PARTS)
def test_all_parts_are_right(character: str) -> None:
    body, parts, fingers = applied(make_character(character))
    assert parts == expected(character)
    assert body == PARTS[character][0]
    assert fingers >= FINGERS.get(character, 0)


@pytest.mark.parametrize("character", [name for name in PARTS if name != "shark"])
def test_all_parts_are_right_without_names(character: str) -> None:
    """But for what names alone tell: ears; and wings, which are arms then."""
    owner = make_character(character)
    new = rename_all(owner)
    body, parts, _ = applied(owner)
    told = {name: bones for name, bones in expected(character).items() if not name.startswith("Ear")}
    assert body == new[PARTS[character][0]]
    assert parts == {name.replace("Wing", "Arm"): tuple(new[bone] for bone in bones) for name, bones in told.items()}


def test_fins_without_names_are_no_legs_that_are_applied() -> None:
    owner = make_character("shark")
    rename_all(owner)
    assert applied(owner)[1] == {}

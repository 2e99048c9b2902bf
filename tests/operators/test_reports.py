# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of operators as the status bar shows them: one an action, for it shows the last alone, and in plain words."""

from __future__ import annotations

import re
from contextlib import suppress

import bpy
import pytest
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of

from support.scenes import assert_refused, press, select
from support.skeletons import make_character

HAND, FOREARM = "mixamorig:LeftHand", "mixamorig:LeftForeArm"
ONE = re.compile(r"\b1 (chains|keys|goals|frames|bones|steps|legs|footprints|markers|armatures|targets|poles)\b")
JARGON = re.compile(r"\bpass(es)?\b|Start: |Animated|\bresidual|\bVRM\b|\bsolver\b", re.IGNORECASE)
SPAN: dict[str, object] = {"span": "RANGE", "frame_start": 1, "frame_end": 1}
ACTIONS: list[tuple[str, dict[str, object]]] = [
    ("character_setup", {}),
    ("character_setup", {}),
    ("solve", {}),
    ("solve_all", {}),
    ("limit_from_ik", {}),
    ("limit_copy", {}),
    ("limit_mirror", {}),
    ("limit_from_bend", {}),
    ("limit_human", {}),
    ("limit_animal", {}),
    ("pin_toggle", {}),
    ("pin_toggle", {"which": "ALL", "action": "PIN"}),
    ("pin_toggle", {"which": "ALL", "action": "FREE"}),
    ("orientation_set", {"orientation": "FREE"}),
    ("effector_set", {"effector": "TAIL"}),
    ("effector_set", {"effector": "HEAD"}),
    ("start_pose_capture", {"use_all": True}),
    ("start_pose_reset", {"use_all": True}),
    ("chain_mirror", {"use_all": True}),
    ("target_add", {"use_all": True}),
    ("pole_add", {"use_all": True}),
    ("body_bone_set", {"source": "NONE"}),
    ("body_bone_set", {"source": "FIND"}),
    ("balance_masses", {}),
    ("drag", {"bone": HAND, "way": (0.0, 0.0, 0.05)}),
    ("goal_snap", {"chains": "ALL", **SPAN}),
    ("pose_snap", {"chains": "ALL", **SPAN}),
    ("key", {}),
    ("bake", SPAN),
    ("report_copy", {}),
    ("walker_add", {}),
    ("walk_plan", {}),
    ("walk_bake", {}),
    ("walk_mark", {}),
    ("walker_remove", {}),
    ("chain_remove", {}),
    ("chain_add", {}),
    ("chain_remove_all", {}),
    ("rig_clear", {}),
]


def reports(told: str) -> list[str]:
    """The reports among what was printed."""
    return [line for line in told.splitlines() if line.startswith(("Info: ", "Warning: ", "Error: "))]


def test_each_action_is_one_report_in_plain_words(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_character("human_mixamo")
    bpy.ops.object.mode_set(mode="POSE")
    select(owner, FOREARM, HAND)
    for name, options in ACTIONS:
        for chain in rig_of(owner).chains:  # a bake switches them off
            chain.enabled = True
        capfd.readouterr()
        with suppress(RuntimeError):
            press(name, **options)
        told = capfd.readouterr().out
        assert len(reports(told)) == 1, (name, told)
        assert not ONE.search(told), told
        assert not JARGON.search(told), told


def test_bones_without_ik_limits_are_named_in_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_character("human_mixamo")
    bpy.ops.object.mode_set(mode="POSE")
    select(owner, FOREARM, HAND)
    assert_refused(f"{FOREARM}, {HAND}: it has no IK locks or limits", "limit_from_ik")
    assert capfd.readouterr().out.count("IK locks") == 1


def test_of_a_body_that_can_not_be_solved_the_bone_at_fault_is_named_once(standing: bpy.types.Object) -> None:
    bone = pose_bones(standing)["shin.L"]
    bone.constraints.new("COPY_ROTATION").target = standing
    with pytest.raises(RuntimeError) as refused:
        press("solve_all")
    assert str(refused.value).count("shin.L") == 1
    assert "foot.R can't be solved without it" in str(refused.value)

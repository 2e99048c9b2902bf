# SPDX-License-Identifier: GPL-3.0-or-later
"""Spine, head, tail and ears of a character: off after its set-up, dragged as they are, and posed by one click."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from fabrik_addon.actions.chains import limbs_of
from fabrik_addon.actions.drag import Taken, begin, drag_to
from fabrik_addon.actions.setup.setup import face_axis
from fabrik_addon.actions.status import IDLE, told_of
from fabrik_addon.maths import V3, distance, dot, minus, unit, v3
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Vector

from support.judging import bone_heads, evaluated
from support.scenes import make_line, press, select, solved_status
from support.skeletons import forward_of, height, make_character, set_up

FACES = ("human_mixamo", "human_game_engine", "makehuman", "human", "wolf", "cat", "horse", "bird")
TAILED = ("wolf", "cat", "horse")
STILL = 1e-4  # share of the height
LOOKS = 0.999  # cosine of the angle between a face and what it looks at


def choose(owner: Any, name: str) -> None:
    rig_of(owner).active_index = [chain.name for chain in rig_of(owner).chains].index(name)


def move_target(owner: Any, name: str, way: Vector) -> Vector:
    """Move the target of a chain, an empty; returns where it is in the world."""
    chain = rig_of(owner).chains[name]
    chain.target.location += way
    bpy.context.view_layer.update()
    return chain.target.matrix_world.translation.copy()


def assert_feet_stay(owner: Any, before: dict[str, Vector]) -> None:
    now = bone_heads(owner)
    for chain in rig_of(owner).chains:
        if chain.pin:
            assert (now[chain.tip_bone] - before[chain.tip_bone]).length < 1e-3 * height(owner)


def face_of(owner: Any, chain: FabrikChain) -> V3:
    """Where a head that aims looks in the world."""
    head = evaluated(owner).pose.bones[chain.tip_bone]
    return unit(v3(owner.matrix_world.to_3x3() @ head.matrix.to_3x3() @ Vector(chain.aim_axis)))


@pytest.mark.parametrize("name", FACES)
def test_the_panel_says_how_to_pose_them(name: str) -> None:
    owner = set_up(name)
    for chain in rig_of(owner).chains:
        if chain.name.partition(".")[0] in ("Spine", "Head", "Tail", "Ear"):
            told = told_of(chain, bpy.context)
            assert not chain.enabled
            assert (told.short, told.text) == ("no target", IDLE["AIM" if chain.name == "Head" else "REACH"])
        else:
            assert told_of(chain, bpy.context).short != "no target"


@pytest.mark.parametrize("name", FACES)
def test_a_head_looks_at_its_target_by_one_click(name: str) -> None:
    owner = set_up(name)
    before = bone_heads(owner)
    choose(owner, "Head")
    press("target_add", kind="EMPTY")
    chain = rig_of(owner).chains["Head"]
    assert (chain.kind, chain.enabled) == ("AIM", True)
    press("solve_all")
    now = bone_heads(owner)
    assert max((now[bone] - before[bone]).length for bone in before) < STILL * height(owner)
    forward = Vector(forward_of(name))
    assert dot(face_of(owner, chain), v3(forward)) > 0.9
    off = 0.3 * (chain.target.matrix_world.translation - before[chain.tip_bone]).length
    target = move_target(owner, "Head", off * (forward.cross((0.0, 0.0, 1.0)) + Vector((0.0, 0.0, 0.3))))
    assert solved_status(chain, "solve_all") == "REACHED"
    face, eyes = face_of(owner, chain), bone_heads(owner)[chain.tip_bone]
    assert dot(face, unit(minus(v3(target), v3(eyes)))) > LOOKS
    assert dot(face, v3(forward)) > 0.7
    assert_feet_stay(owner, before)


@pytest.mark.parametrize(("name", "part"), [*((name, "Spine") for name in FACES), *((name, "Tail") for name in TAILED)])
def test_spine_and_tail_reach_their_targets_by_one_click(name: str, part: str) -> None:
    owner = set_up(name)
    for chain in rig_of(
        owner
    ).chains:  # clavicles do not let a chest go so far sideways between two hands that are held
        chain.enabled = chain.enabled and not chain.name.startswith("Arm")
    before = bone_heads(owner)
    choose(owner, part)
    press("target_add", kind="EMPTY")
    chain = rig_of(owner).chains[part]
    press("solve_all")
    now = bone_heads(owner)
    assert max((now[bone] - before[bone]).length for bone in before) < STILL * height(owner)
    target = move_target(owner, part, Vector((0.05 * height(owner), 0.0, -0.03 * height(owner))))
    assert solved_status(chain, "solve_all") == "REACHED"
    tip = evaluated(owner).pose.bones[chain.tip_bone]
    assert distance(v3(owner.matrix_world @ tip.tail), v3(target)) < 1e-3 * height(owner)
    assert_feet_stay(owner, before)


@pytest.mark.parametrize("name", ["human_mixamo", "wolf", "cat"])
def test_their_bones_are_dragged_and_the_feet_stay(name: str) -> None:
    owner = set_up(name)
    for part in ("Spine", "Head", "Tail", "Ear.L"):
        chain = rig_of(owner).chains.get(part)
        if chain is None:
            continue
        tip, size = resolve_bones(owner, chain)[-1].name, height(owner)
        before = bone_heads(owner)
        drag = begin(bpy.context, owner, Taken(tip))
        found = drag_to(bpy.context, drag, drag.place + Vector((0.04 * size, 0.0, -0.02 * size)))
        assert found.status == "REACHED", part
        assert (bone_heads(owner)[tip] - before[tip]).length > 1e-4 * size
        assert_feet_stay(owner, before)
        drag.restore()


def test_a_head_is_pinned_where_it_is() -> None:
    owner = set_up("human_mixamo")
    tip = rig_of(owner).chains["Head"].tip_bone
    select(owner, tip)
    before = bone_heads(owner)
    press("pin_toggle")
    chain = rig_of(owner).chains["Head"]
    assert (chain.kind, chain.pin, chain.enabled) == ("REACH", True, True)
    assert solved_status(chain, "solve_all") == "REACHED"
    assert max((bone_heads(owner)[bone] - before[bone]).length for bone in before) < STILL * height(owner)


@pytest.mark.parametrize(("controls", "is_bone"), [("BONES", True), ("EMPTIES", False)])
def test_targets_are_made_as_the_rig_has_them(controls: str, is_bone: bool) -> None:
    owner = make_character("human_mixamo")
    press("character_setup", controls=controls)
    choose(owner, "Head")
    before = bone_heads(owner)
    press("target_add")
    chain = rig_of(owner).chains["Head"]
    assert (chain.target == owner) == is_bone
    assert solved_status(chain, "solve_all") == "REACHED"
    now = bone_heads(owner)
    assert max((now[bone] - before[bone]).length for bone in before) < STILL * height(owner)


def test_where_nothing_tells_the_front_there_is_no_face() -> None:
    assert face_axis(limbs_of(make_line(3)), "b2") is None

# SPDX-License-Identifier: GPL-3.0-or-later
"""Poles of the legs of humans: in front of each knee, over the toes, mirrored; nothing moves by them."""

from __future__ import annotations

from math import atan2, degrees
from typing import Any

import pytest
from fabrik_addon.rig.bones import pose_bones, resolve_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.judging import bone_heads, evaluated, limb_joints
from support.scenes import press
from support.skeletons import forward_of, height, set_up

HUMANS = ("human", "basic_human", "human_mixamo", "human_game_engine", "makehuman", "cesium_man", "cmu_walk")
DRAWN = HUMANS[:5]  # whose sides are mirror images, and whose feet have ends that somebody drew
BESIDE = 0.03  # share of the height by which a pole may stand beside the toes


def pole_of(owner: Any, leg: str) -> Vector:
    chain = rig_of(owner).chains[leg]
    found: Vector = owner.matrix_world @ pose_bones(evaluated(owner))[chain.pole_bone].head
    return found


def toes_of(owner: Any, leg: str) -> Vector:
    foot = resolve_bones(owner, rig_of(owner).chains[leg])[-1]
    found: Vector = owner.matrix_world @ pose_bones(evaluated(owner))[foot.name].tail
    return found


def knee_of(owner: Any, leg: str) -> Vector:
    """The joint that stands farthest off the line from hip to ankle."""
    joints = [Vector(joint) for joint in limb_joints(owner, rig_of(owner).chains[leg])]
    along = (joints[-1] - joints[0]).normalized()
    return max(joints[1:-1], key=lambda joint: (joint - joints[0]).cross(along).length)


@pytest.mark.parametrize("name", HUMANS)
@pytest.mark.parametrize("leg", ["Leg.L", "Leg.R"])
def test_a_pole_stands_ahead_of_the_knee(name: str, leg: str) -> None:
    owner = set_up(name)
    away = pole_of(owner, leg) - knee_of(owner, leg)
    forward = Vector(forward_of(name))
    assert away.dot(forward) > 0.1 * height(owner)
    assert degrees(away.angle(forward)) < 30.0


@pytest.mark.parametrize("name", DRAWN)
def test_it_stands_over_the_toes_and_the_other_one_is_its_mirror_image(name: str) -> None:
    owner = set_up(name)
    left, right = pole_of(owner, "Leg.L"), pole_of(owner, "Leg.R")
    for leg, pole in (("Leg.L", left), ("Leg.R", right)):
        ankle, toes = Vector(limb_joints(owner, rig_of(owner).chains[leg])[-1]), toes_of(owner, leg)
        assert min(abs(knee_of(owner, leg).x), abs(toes.x)) - BESIDE * height(owner) < abs(pole.x)
        assert abs(pole.x) < abs(ankle.x) + BESIDE * height(owner)
        assert (pole - ankle).y * (toes - ankle).y > 0.0
    assert (left - Vector((-right.x, right.y, right.z))).length < 1e-3 * height(owner)
    ways = [pole - knee_of(owner, leg) for leg, pole in (("Leg.L", left), ("Leg.R", right))]
    assert abs(degrees(atan2(ways[0].x, -ways[0].y) - atan2(-ways[1].x, -ways[1].y))) < 0.5


@pytest.mark.parametrize("name", HUMANS)
def test_nothing_moves_by_them(name: str) -> None:
    owner = set_up(name)
    before = bone_heads(owner)
    turns = {bone.name: bone.matrix.to_quaternion() for bone in pose_bones(evaluated(owner))}
    press("solve_all")
    now = bone_heads(owner)
    assert max((now[bone] - before[bone]).length for bone in before) < 1e-4 * height(owner)
    after = {bone.name: bone.matrix.to_quaternion() for bone in pose_bones(evaluated(owner))}
    assert max(turns[bone].rotation_difference(after[bone]).angle for bone in turns) < 1e-3

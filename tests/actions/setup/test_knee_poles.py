# SPDX-License-Identifier: GPL-3.0-or-later
"""Poles of the legs of humans: in front of each knee, over the toes, mirrored; nothing moves by them."""

from __future__ import annotations

from itertools import pairwise
from math import atan2, degrees
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.drag import Taken, begin, drag_to
from fabrik_addon.rig.bones import pose_bones, resolve_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Vector

from support.judging import angle_between, bone_heads, evaluated, limb_joints
from support.scenes import go_live, press, update
from support.skeletons import forward_of, height, set_up

HUMANS = ("human", "basic_human", "human_mixamo", "human_game_engine", "makehuman", "cesium_man", "cmu_walk")
DRAWN = HUMANS[:5]  # whose sides are mirror images, and whose feet have ends that somebody drew
STEPS, SMOOTH = 60, 10.0  # of a drag, and degrees by which a bone may turn in one
BESIDE = 0.03  # share of the height by which a pole may stand beside the toes


def pole_of(owner: bpy.types.Object, leg: str) -> Vector:
    chain = rig_of(owner).chains[leg]
    found: Vector = owner.matrix_world @ pose_bones(evaluated(owner))[chain.pole_bone].head
    return found


def toes_of(owner: bpy.types.Object, leg: str) -> Vector:
    foot = resolve_bones(owner, rig_of(owner).chains[leg])[-1]
    found: Vector = owner.matrix_world @ pose_bones(evaluated(owner))[foot.name].tail
    return found


def knee_of(owner: bpy.types.Object, leg: str) -> Vector:
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


@pytest.mark.parametrize("name", DRAWN)
def test_knees_go_over_the_toes_in_a_crouch(name: str) -> None:
    """The hips go straight down: knees stand over the feet, mirror images, and no knee turns by much at once."""
    owner = set_up(name)
    go_live(owner)
    body = pose_bones(owner)[rig_of(owner).body_bone]
    stood = owner.matrix_world @ pose_bones(evaluated(owner))[body.name].matrix
    hip, ankle = (Vector(limb_joints(owner, rig_of(owner).chains["Leg.L"])[k]) for k in (0, -1))
    before = 0.0
    for step in range(1, 11):
        down = Matrix.Translation(Vector((0.0, 0.0, -0.045 * step * (hip - ankle).length)))
        body.matrix = owner.matrix_world.inverted() @ down @ stood
        update()
        knees = {leg: knee_of(owner, leg) for leg in ("Leg.L", "Leg.R")}
        assert abs(knees["Leg.L"].x + knees["Leg.R"].x) < 2e-3 * height(owner)
        ankles = Vector(limb_joints(owner, rig_of(owner).chains["Leg.L"])[-1])
        away = knees["Leg.L"] - hip
        outwards = degrees(atan2(away.x if hip.x > 0.0 else -away.x, abs(away.y)))
        assert step == 1 or abs(outwards - before) < 15.0
        before = outwards
    left, toes = knees["Leg.L"], toes_of(owner, "Leg.L")
    over = min(abs(ankles.x), abs(toes.x))
    assert abs(left.x) > over - 0.025 * height(owner), "knees do not come together"
    assert abs(left.x) < max(abs(ankles.x), abs(toes.x)) + 0.02 * height(owner)


def test_goals_come_to_a_crouch_and_the_pose_stays() -> None:
    """The pole angle of a deep bend is another than that of the rest pose, for whatever brings a pole to a pose."""
    owner = set_up("human_mixamo")
    go_live(owner)
    body = pose_bones(owner)[rig_of(owner).body_bone]
    stood = owner.matrix_world @ pose_bones(evaluated(owner))[body.name].matrix
    body.matrix = owner.matrix_world.inverted() @ Matrix.Translation(Vector((0.0, 0.0, -0.2 * height(owner)))) @ stood
    before = bone_heads(owner)
    press("goal_snap", chains="ALL")
    now = bone_heads(owner)
    joints = [bone.name for name in ("Leg.L", "Leg.R") for bone in resolve_bones(owner, rig_of(owner).chains[name])]
    assert max((now[bone] - before[bone]).length for bone in joints) < 1e-4 * height(owner)


@pytest.mark.parametrize(
    ("limb", "way"),
    [
        ("", (-0.85, 0.0, 0.53)),
        ("", (0.0, -0.53, 0.85)),
        ("Leg.L", (0.0, 0.53, -0.85)),
        ("Arm.L", (0.85, 0.0, 0.53)),
    ],
)
@pytest.mark.parametrize("name", ["human_mixamo", "human_game_engine"])
def test_a_limb_that_is_drawn_straight_is_not_twisted(name: str, limb: str, way: tuple[float, float, float]) -> None:
    """A straight knee tells no side, so no pole turns the thigh then: no step of a drag of the hips or an end does."""
    owner = set_up(name)
    leg, chain = rig_of(owner).chains["Leg.L"], rig_of(owner).chains.get(limb)
    size = sum((b - a).length for a, b in pairwise(map(Vector, limb_joints(owner, leg))))
    hips = Taken(rig_of(owner).body_bone, "HEAD")
    taken = Taken(chain.tip_bone, chain.effector, chain.name) if chain is not None else hips
    drag = begin(bpy.context, owner, taken)
    before = turns_of(owner)
    for step in range(1, STEPS + 1):
        drag_to(bpy.context, drag, drag.place + Vector(way) * (0.5 * size * step / STEPS))
        now = turns_of(owner)
        assert max(degrees(angle_between(a, b)) for a, b in zip(before, now, strict=True)) < SMOOTH
        before = now


def turns_of(owner: bpy.types.Object) -> list[Any]:
    """How bones are turned against their parents."""
    update()
    return [bone.matrix_basis.to_quaternion() for bone in pose_bones(evaluated(owner))]

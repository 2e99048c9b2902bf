# SPDX-License-Identifier: GPL-3.0-or-later
"""The skinned humans of demo and benchmark are as their skeletons say, and what is measured of bodies tells."""

from __future__ import annotations

from math import degrees
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.kernel import Limit
from fabrik_addon.maths import IDENTITY
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.joint_limits import read_limit
from mathutils import Matrix, Quaternion, Vector

from bench import posing
from bench.posing import SolvedFigure
from dev.humans import HEIGHT, HUMANS, SINGLE, TWIN, bone_of, give_ranges, make_human, named
from support.skeletons import make_character, rest_bones

NEAR = 1e-4  # metres; the skeletons are kept with five digits


@pytest.fixture(params=HUMANS)
def human(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def limit_of(owner: Any, part: str, side: str = "") -> Limit:
    return read_limit(owner.pose.bones[bone_of(owner.name, part, side)], IDENTITY)


def allowed(limit: Limit, axis: str, angle: float) -> bool:
    turn = Quaternion({"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}[axis], angle)
    return limit.violation(tuple(turn)) < 1e-6


def test_the_bones_are_those_of_the_skeleton_that_is_kept(human: str) -> None:
    owner = make_human(human)
    heads = {bone.name: bone.head_local.copy() for bone in rest_bones(owner)}
    kept = {bone.name: bone.head_local.copy() for bone in rest_bones(make_character(human))}
    assert heads.keys() == kept.keys()
    assert all((heads[name] - kept[name]).length < NEAR for name in heads)


def test_the_skin_stands_on_the_floor_and_follows_the_bones(human: str) -> None:
    owner = make_human(human)
    assert owner.matrix_world.is_identity
    before = skin(owner)
    assert len(before) == 3346
    heights = [point.z for point in before]
    assert abs(max(heights) - HEIGHT) < 0.01
    assert 0.0 <= min(heights) < 0.05
    poses: Any = owner.pose
    poses.bones[bone_of(human, "head")].rotation_quaternion = Quaternion((0.0, 1.0, 0.0), 0.5)
    after = skin(owner)
    moved = [a.z for a, b in zip(before, after, strict=True) if (a - b).length > 0.005]
    assert moved
    assert min(moved) > 1.3


def skin(owner: bpy.types.Object) -> list[Vector]:
    """The vertices of the skin as Blender evaluates them."""
    mesh: Any = next(found for found in bpy.data.objects if found.type == "MESH" and found.parent == owner)
    evaluated = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices]


def test_every_joint_but_the_hips_is_limited_and_the_rest_pose_is_inside(human: str) -> None:
    owner = make_human(human)
    give_ranges(owner)
    free = {bone_of(human, "hips"), "Root"}
    for bone in pose_bones(owner):
        limit = read_limit(bone, IDENTITY)
        assert limit.is_free == (bone.name in free)
        assert limit.violation(IDENTITY) < 1e-6
    assert all(
        name in {bone.name for bone in rest_bones(owner)} for part in (*SINGLE, *TWIN) for name in named(human, part)
    )


@pytest.mark.parametrize("side", ["L", "R"])
def test_an_ankle_bears_weight_and_sways(human: str, side: str) -> None:
    """Knees come forward over planted feet, and hips go sideways over them."""
    owner = make_human(human)
    give_ranges(owner)
    limit = limit_of(owner, "foot", side)
    bends = [angle for angle in range(-60, 61) if allowed(limit, "X", angle / degrees(1.0))]
    assert {-bends[0], bends[-1]} == {38, 50}
    assert allowed(limit, "Y", 0.25)
    assert allowed(limit, "Y", -0.25)


@pytest.mark.parametrize("side", ["L", "R"])
def test_a_hand_can_be_turned_over(human: str, side: str) -> None:
    owner = make_human(human)
    give_ranges(owner)
    turns = [any(allowed(limit_of(owner, part, side), "Y", turn) for part in ("forearm", "hand")) for turn in (-1, 1)]
    assert all(turns)


# What the benchmark measures of dragged bodies: figures are near nothing where nothing is wrong, and tell what is.


@pytest.fixture
def posed() -> SolvedFigure:
    return SolvedFigure("human_mixamo")


def test_angles_are_told_in_degrees() -> None:
    turns = [Matrix.Rotation(angle, 4, "Z") for angle in (0.0, 0.3, 3.1)]
    assert posing._angles(np.array(turns), np.eye(4)) == pytest.approx([0.0, degrees(0.3), degrees(3.1)])


def test_mirror_images_are_told_from_what_is_none() -> None:
    turn, image = (np.array(Matrix.Rotation(angle, 4, "Z")) for angle in (0.2, -0.2))
    assert posing._apart(turn, image) == pytest.approx(0.0, abs=1e-6)
    assert posing._apart(turn, turn) == pytest.approx(degrees(0.4))


def test_a_drag_leaves_all_as_it_was(posed: SolvedFigure) -> None:
    before = posed.stand()
    found = posing._dragged(posed, posing._bone_of(posed, "hips"), (0.0, 0.0, -1.0))
    assert (posed.stand() == before).all()
    assert found.steps.shape == found.is_met.shape == (posing.FRAMES,)
    assert found.is_met.all()
    assert found.pins < posing.PINS
    assert found.turns[-1][posed.index[posed.body]][:3, :3] == pytest.approx(np.eye(3), abs=1e-4)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Chain space, and chains as they are read: what a figure depends on, and what it does not."""

from __future__ import annotations

from random import Random

import bpy
import numpy as np
import pytest
from fabrik_addon.maths import distance, length, minus, normalized
from fabrik_addon.rig.figure.figure import RigFigure
from fabrik_addon.rig.figure.groups import ChainSet
from fabrik_addon.rig.figure.kinematics import rounded
from fabrik_addon.rig.figure.reader import carried, read
from fabrik_addon.rig.figure.space import ChainSpace, RigFrame
from fabrik_addon.rig.goals import GoalArrays
from mathutils import Euler, Matrix, Quaternion, Vector

from support.judging import evaluated_joints
from support.scenes import make_rig, reaching_line, update


def random_space(random: Random, away: float = 0.0) -> ChainSpace:
    """Chain space of an armature that is moved, turned, sheared and mirrored."""
    axes = Matrix([[random.gauss(0.0, 1.0) for _ in range(3)] for _ in range(3)]).to_4x4()
    world = Matrix.Translation([random.gauss(0.0, 1.0) + away for _ in range(3)]) @ axes
    origin = (random.gauss(0.0, 1.0), random.gauss(0.0, 1.0), random.gauss(0.0, 1.0))
    return ChainSpace.of(RigFrame.of(world), origin, normalized([random.gauss(0.0, 1.0) for _ in range(4)]))


def figure(owner: bpy.types.Object) -> RigFigure:
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return read(ChainSet(owner, (owner.fabrik.chains[0],)), depsgraph)[0]


class TestSpace:
    def test_there_and_back(self) -> None:
        random = Random(1)
        for _ in range(50):
            space = random_space(random)
            point = tuple(random.gauss(0.0, 3.0) for _ in range(3))
            assert distance(space.to_world(space.to_chain(point)), point) < 1e-9 * max(1.0, length(point))

    def test_many_points_at_once_are_the_same_to_the_last_bit(self) -> None:
        random = Random(2)
        for away in (0.0, 1e5):
            space = random_space(random, away)
            points = np.array([[random.gauss(away, 3.0) for _ in range(3)] for _ in range(40)])
            assert space.many_to_chain(points).tolist() == [list(space.to_chain(point)) for point in points.tolist()]
        assert space.many_to_chain(np.empty((0, 3))).shape == (0, 3)

    def test_lengths_are_those_of_the_world(self) -> None:
        random = Random(3)
        for _ in range(20):
            space = random_space(random)
            a, b = ([random.gauss(0.0, 1.0) for _ in range(3)] for _ in range(2))
            wanted = distance(space.to_world(a), space.to_world(b))
            assert space.world_length(minus(a, b)) == pytest.approx(wanted, rel=1e-9)

    def test_the_size_of_an_armature_that_is_scaled_alike(self) -> None:
        turn = Euler((0.3, 0.2, 0.1)).to_matrix().to_4x4()
        assert RigFrame.of(turn @ Matrix.Scale(2.5, 4)).size == pytest.approx(2.5, rel=1e-6)
        assert RigFrame.of(turn @ Matrix.Scale(-2.5, 4)).size == pytest.approx(2.5, rel=1e-6)
        assert RigFrame.of(turn @ Matrix.Diagonal((1.0, 1.0, 1.01, 1.0))).size == 0.0


class TestFigures:
    def test_they_do_not_depend_on_how_the_parents_stand(self) -> None:
        owner, _ = make_rig("limb on a bone")
        first = figure(owner)
        bone, random = owner.pose.bones["b0"], Random(4)
        for _ in range(20):
            bone.rotation_quaternion = Quaternion([random.gauss(0.0, 1.0) for _ in range(4)])
            bone.location = [random.gauss(0.0, 1.0) for _ in range(3)]
            owner.matrix_world = Matrix.LocRotScale(
                [random.gauss(0.0, 9.0) for _ in range(3)], Euler((random.random(), 1.0, 0.0)), (1.0, 1.3, -0.7)
            )
            update()
            now = carried(first, owner, bpy.context.evaluated_depsgraph_get())
            assert now is not None
            assert now.solver is first.solver
            assert figure(owner).joints == first.joints
            joints = evaluated_joints(owner, owner.fabrik.chains[0])
            stood = first.solver.figure.placed([(1.0, 0.0, 0.0, 0.0)] * 2).joints
            for point, joint in zip(joints, stood, strict=True):
                assert distance(point, now.space.to_world(joint)) < 1e-5

    def test_a_parent_that_grows_makes_another_figure(self) -> None:
        owner, _ = make_rig("limb on a bone")
        first = figure(owner)
        owner.pose.bones["b0"].scale = (1.5, 1.5, 1.5)
        update()
        assert carried(first, owner, bpy.context.evaluated_depsgraph_get()) is None
        assert figure(owner).length == pytest.approx(1.5 * first.length, rel=1e-6)

    @pytest.mark.parametrize("flag", ["turns with nothing", "keeps its axes"])
    def test_bones_that_do_not_inherit_rotation(self, flag: str) -> None:
        owner, chain = make_rig("limb on a bone")
        owner.data.bones["b1" if flag == "turns with nothing" else "b2"].use_inherit_rotation = False
        owner.pose.bones["b0"].rotation_quaternion = (0.9, 0.3, -0.2, 0.1)
        update()
        found = figure(owner)
        assert found.is_rigid
        bpy.ops.fabrik.solve()
        joints = evaluated_joints(owner, chain)
        rotations = [tuple(owner.pose.bones[name].rotation_quaternion) for name in found.bones]
        for point, joint in zip(joints, found.solver.figure.placed(rotations).joints, strict=True):
            assert distance(point, found.space.to_world(joint)) < 1e-5

    def test_a_scale_that_differs_between_axes_is_not_rigid(self) -> None:
        owner, _ = make_rig("limb on a bone")
        assert figure(owner).is_rigid
        owner.pose.bones["b1"].scale = (1.0, 1.4, 1.0)
        update()
        assert not figure(owner).is_rigid

    def test_numbers_of_many_frames_are_those_of_each(self) -> None:
        owner, chain = reaching_line((0.3, 0.4, 1.9))
        bpy.ops.fabrik.pole_add()
        owner.location, owner.rotation_euler = (3, 2, 1), (0.1, 0.2, 0.3)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        found, points = read(ChainSet(owner, (chain,)), depsgraph)
        target, pole, _ = points[0]
        both = GoalArrays(np.array([target], dtype=np.float64), np.array([pole], dtype=np.float64))
        assert found.goals[0].many_numbers(found.space, both).tolist() == [list(found.numbers(points))]
        assert Vector(target) == chain.target.matrix_world.translation


def test_a_size_is_rounded_where_only_rounding_tells_it_from_a_short_number() -> None:
    assert [rounded(size) for size in (1.0000012, 0.9999991, 1.5, 0.0123400001)] == [1.0, 1.0, 1.5, 0.01234]
    assert rounded(1.23456789) == 1.23457

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that break a naive writer: Blender puts the joints where the solve did, tip on target, and grows chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import pi
from typing import Any

import bpy
import pytest
from fabrik_addon.errors import BoneError
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.goal_options import grown_by
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Euler, Matrix, Quaternion, Vector

from support.judging import chain_length, channels, evaluated_joints, tip_error
from support.scenes import (
    MODES,
    SCALES,
    Bone,
    add_chain,
    armature,
    make_armature,
    make_empty,
    make_line,
    reaching_line,
    strand,
    update,
)

PROMISED = 1e-4


def solve_to_reachable(owner: bpy.types.Object, count: int = 0) -> None:
    """Chain over the last bones, target at 70 % of the way out from the root, off to the side; solved and judged."""
    chain = add_chain(owner, count=count)
    joints = evaluated_joints(owner, chain)
    reach = chain_length(joints) * (0.7 if len(joints) > 2 else 1.0)
    chain.target = make_empty(joints[0] + Vector((0.3, -0.6, 0.7)).normalized() * reach)
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED", chain.message
    assert tip_error(owner, chain) <= PROMISED
    assert chain.residual <= PROMISED * chain_length(evaluated_joints(owner, chain)) * 1.01


def _line(count: int, size: float, offset: Vector) -> Iterator[Bone]:
    points = [offset + Vector((0, 0.15 * (i % 2), i)) * size for i in range(count + 1)]
    return (Bone(points[i], points[i + 1], connect=i > 0) for i in range(count))


BONES: dict[str, list[Bone]] = {
    **{
        f"roll {roll}": [Bone((0, 0.1 * (i % 2), i), (0, 0.1 * ((i + 1) % 2), i + 1), roll) for i in range(4)]
        for roll in (0.0, 0.7, 3.0)
    },
    **{f"size {size}": list(_line(4, size, Vector())) for size in (1e-5, 1e-3, 1.0, 1e3, 1e6)},
    "gaps": [Bone((0, 0, i * 1.5), (0, 0.1, i * 1.5 + 1)) for i in range(4)],
    "fan-out": [Bone((0, 0, 0), (0, 0.5, 1)), Bone((0.3, 0, 1), (0, 0, 2)), Bone((0, 0.4, 2), (0, 0, 3))],
    "away from their child, as of glTF": [Bone((0, 0, i), (0, 0.3, i)) for i in range(4)],
    "head on head": [Bone((0, 0, 0), (0, 0, 1)), Bone((0, 0, 0), (0, 0.5, 1)), Bone((0, 0.5, 1), (0, 0, 2))],
    # deleted by Blender 4.x on leaving edit mode, 2e-6 long in 5.x
    "without length": strand((0, 0, 0), (0, 0.2, 1), (0, 0.2, 1), (0, 0, 2), connect=False),
}


@pytest.mark.parametrize("name", BONES)
def test_bones_as_they_lie(name: str) -> None:
    solve_to_reachable(make_armature(BONES[name]))


def test_posed_helper_bones_between() -> None:
    owner = make_line(6, bend=0.2)
    for name in ("b2", "b4"):
        owner.pose.bones[name].rotation_quaternion = Quaternion((1, 0, 0), 0.6)
        owner.pose.bones[name].lock_rotation = (True, True, True)
    solve_to_reachable(owner)
    for name in ("b2", "b4"):
        turned = owner.pose.bones[name].rotation_quaternion.rotation_difference(Quaternion((1, 0, 0), 0.6))
        assert turned.angle < 1e-3


@pytest.mark.parametrize("names", [("b1",), ("b2",), ("b1", "b2", "b3")])
def test_inherit_rotation_off(names: tuple[str, ...]) -> None:
    owner = make_line(4, bend=0.2)
    for name in names:
        owner.data.bones[name].use_inherit_rotation = False
    owner.pose.bones["b0"].rotation_quaternion = Quaternion((0, 1, 0), 0.5)
    solve_to_reachable(owner)


@pytest.mark.parametrize("mode", SCALES)
@pytest.mark.parametrize("scale", [(2, 2, 2), (-1, -1, -1), (-1, 1, 1), (1, 1.5, 1), (1.4, 1, 0.8)])
def test_inherit_scale(mode: str, scale: tuple[float, float, float]) -> None:
    owner = make_line(4, bend=0.2)
    for bone in owner.data.bones:
        bone.inherit_scale = mode
    owner.pose.bones["b1"].scale = scale
    solve_to_reachable(owner)


def test_scaled_ancestor_with_shear() -> None:
    owner = make_line(5, bend=0.2)
    owner.pose.bones["b0"].scale = (1.5, 0.8, 1.0)
    owner.pose.bones["b0"].rotation_quaternion = Quaternion((1, 0, 0), 0.5)
    solve_to_reachable(owner, count=3)


@pytest.mark.parametrize("local", [True, False])
def test_pose_location(local: bool) -> None:
    owner = make_armature([Bone((0, 0.1 * (i % 2), i * 1.1), (0, 0, i * 1.1 + 1), 0.3) for i in range(4)])
    for i, bone in enumerate(owner.pose.bones):
        bone.bone.use_local_location = local
        bone.location = (0.1 * i, -0.05, 0.1)
    solve_to_reachable(owner)


OBJECTS = {
    "moved": Matrix.LocRotScale(Vector((3, -2, 5)), Euler((0.3, 1.0, -2.0)), Vector((1, 1, 1))),
    "scaled": Matrix.LocRotScale(None, Euler((0.3, 1.0, -2.0)), Vector((0.01, 0.01, 0.01))),
    "mirrored": Matrix.LocRotScale(None, Euler((0.3, 1.0, -2.0)), Vector((-2, -2, -2))),
    "mirrored along one axis": Matrix.LocRotScale(None, Euler((0.3, 0, 0)), Vector((-1, 1, 1))),
    "uneven": Matrix.LocRotScale(None, Euler((0.3, 1.0, -2.0)), Vector((1, 2, 0.7))),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_object_matrix(name: str) -> None:
    owner = make_line(4, bend=0.2)
    owner.matrix_world = OBJECTS[name]
    solve_to_reachable(owner)


def test_sheared_object() -> None:
    owner, parent = make_line(4, bend=0.2), make_empty((0, 0, 0))
    parent.scale = (1, 2, 0.6)
    owner.parent = parent
    owner.rotation_euler = (0.5, 0.4, 0.3)
    solve_to_reachable(owner)


@pytest.mark.parametrize("mode", MODES)
def test_rotation_modes_and_the_channels_of_other_modes(mode: str) -> None:
    owner = make_line(4, bend=0.2)
    for bone in owner.pose.bones:
        bone.rotation_mode = mode
    solve_to_reachable(owner)
    bones: Iterable[Any] = owner.pose.bones
    for bone in bones:
        assert mode == "QUATERNION" or tuple(bone.rotation_quaternion) == (1, 0, 0, 0)
        assert mode == "AXIS_ANGLE" or tuple(bone.rotation_axis_angle) == (0, 0, 1, 0)
        assert mode in {"QUATERNION", "AXIS_ANGLE"} or tuple(bone.location) == (0, 0, 0)


def test_posed_and_constrained_ancestors() -> None:
    owner = make_line(6, bend=0.2)
    owner.pose.bones["b0"].rotation_quaternion = Quaternion((1, 0, 0), 0.6)
    constraint = owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
    constraint.target = make_empty(name="Turner")
    constraint.target.rotation_euler = (0.4, 0.2, 1.0)
    solve_to_reachable(owner, count=4)


@pytest.mark.parametrize(("name", "value"), [("bbone_segments", 8), ("hide", True)])
def test_bendy_and_hidden_bones(name: str, value: object) -> None:
    owner = make_line(4, bend=0.2)
    for bone in owner.data.bones:
        setattr(bone, name, value)
    solve_to_reachable(owner)


@pytest.mark.parametrize(("distance", "promised"), [(10.0, 1e-4), (1e3, 2e-4), (1e5, 2e-2)])
@pytest.mark.parametrize("where", ["bones", "object"])
def test_far_from_the_origin(distance: float, promised: float, where: str) -> None:
    """What is promised is 16 units in the last place of the largest coordinate."""
    offset = Vector((distance, -distance, distance))
    owner = make_armature(list(_line(4, 1.0, offset if where == "bones" else Vector())))
    if where == "object":
        owner.location = offset
    chain = add_chain(owner)
    chain.target = make_empty(offset + Vector((1.0, 1.5, 1.5)))
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED", chain.message
    assert tip_error(owner, chain) <= promised


@pytest.mark.parametrize(("count", "bend"), [(1, 0.05), (2, 0.05), (60, 0.05), (300, 0.05), (500, 0.05), (3, 0.0)])
def test_long_and_straight_chains(count: int, bend: float) -> None:
    solve_to_reachable(make_line(count, bend=bend))


def test_only_the_chain_moves() -> None:
    owner = make_armature(
        [
            Bone((0, 0, 0), (0, 0, 1)),
            Bone((0, 0.1, 1), (0, 0, 2)),
            Bone((0, 0, 2), (0, 0, 3)),
            Bone((1, 0, 2), (2, 0, 2)),
        ]
    )
    owner.pose.bones["b3"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    before = [tuple(owner.pose.bones[name].rotation_quaternion) for name in ("b0", "b3")]
    chain = add_chain(owner, (1.0, 0.5, 2.0), tip="b2", count=2)
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"
    assert [tuple(owner.pose.bones[name].rotation_quaternion) for name in ("b0", "b3")] == before


def test_lengths_and_locations_are_not_touched() -> None:
    owner = make_line(4, bend=0.2)
    joints = [(b - a).length for a, b in pairwise(_heads(owner))]
    solve_to_reachable(owner)
    for a, b in zip(joints, [(b - a).length for a, b in pairwise(_heads(owner))], strict=True):
        assert a == pytest.approx(b, rel=1e-5)
    assert all(tuple(bone.location) == (0, 0, 0) and tuple(bone.scale) == (1, 1, 1) for bone in owner.pose.bones)


def test_pole_angle_is_in_radians_about_root_to_tip() -> None:
    owner, chain = reaching_line((0, 0, 1.4), 2, bend=0.2)
    chain.pole = make_empty((0, 5, 0.7), "Pole")
    sides = []
    for angle in (0.0, pi / 2):
        chain.pole_angle = angle
        bpy.ops.fabrik.solve()
        sides.append(evaluated_joints(owner, chain)[1])
    assert sides[0].y > 0.3
    assert sides[1].x < -0.3  # a quarter turn about +Z takes +Y to -X


def _heads(owner: bpy.types.Object) -> list[Vector]:
    bpy.context.view_layer.update()
    return [owner.matrix_world @ bone.head for bone in owner.pose.bones]


def test_location_of_connected_bones_is_ignored_as_blender_does() -> None:
    owner, chain = reaching_line((0.8, 0.9, 1.7), bend=0.2)
    bpy.ops.fabrik.solve()
    wanted = channels(owner)[0][:4]
    for bone in owner.pose.bones:
        if bone.bone.use_connect:
            bone.location = (0.3, float("inf"), -0.2)
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"
    assert tip_error(owner, chain) <= 1.1 * chain.tolerance
    assert channels(owner)[0][:4] == wanted


# The channels by which a chain grows longer, judged by Blender's evaluation in every way of inheriting scale.


FACTOR = 1.4


def line(mode: str, gap: float = 0.0, connect: bool = False) -> tuple[bpy.types.Object, FabrikChain]:
    """A bent chain of three bones that inherit scale in one way; between them may be a gap, beside the axis."""
    owner = (
        make_line(3, bend=0.3)
        if connect
        else make_armature(
            [
                Bone((0, 0, 0), (0, 0.3, 1)),
                Bone((gap, 0.3, 1 + gap), (gap, 0, 2 + gap), 0.4),
                Bone((gap, 0, 2 + gap), (gap, 0.2, 3 + gap), -0.3),
            ]
        )
    )
    for bone in armature(owner).bones:
        bone.inherit_scale = mode
    chain = add_chain(owner, (0.5, 0.5, 1.5))
    chain.stretch = 2.0
    for k, bone in enumerate(pose_bones(owner)):
        bone.rotation_quaternion = (0.9, 0.1 + 0.1 * k, -0.2, 0.3)
    update()
    return owner, chain


def lengths(owner: bpy.types.Object, chain: FabrikChain) -> list[float]:
    joints = evaluated_joints(owner, chain)
    return [(b - a).length for a, b in pairwise(joints)]


def grow(owner: bpy.types.Object, chain: FabrikChain, factor: float = FACTOR) -> None:
    for one in grown_by(chain, list(pose_bones(owner)), set(), ()):
        setattr(pose_bones(owner)[one.bone], one.name, one.values(factor))
    update()


@pytest.mark.parametrize(("effector", "gap"), [("TAIL", 0.0), ("HEAD", 0.0), ("TAIL", 0.2)])
@pytest.mark.parametrize("mode", SCALES)
def test_all_bones_grow_alike(mode: str, effector: str, gap: float) -> None:
    owner, chain = line(mode, gap)
    chain.effector = effector
    before = lengths(owner, chain)
    grow(owner, chain)
    last = 1.0 if effector == "HEAD" else FACTOR
    for old, new, factor in zip(before, lengths(owner, chain), (FACTOR, FACTOR, last), strict=True):
        assert new == pytest.approx(old * factor, rel=1e-4)
    is_moved = any(bone.location.length > 0.0 for bone in pose_bones(owner))
    assert is_moved == (gap > 0.0 or mode in {"FULL", "FIX_SHEAR"})  # heads beside the axis are, in every mode


@pytest.mark.parametrize("mode", ["FULL", "FIX_SHEAR"])
def test_connected_bones_that_would_be_sheared_are_refused(mode: str) -> None:
    owner, chain = line(mode, connect=True)
    with pytest.raises(BoneError, match="set Inherit Scale to None or Aligned") as caught:
        grow(owner, chain)
    assert caught.value.bone == "b1"


@pytest.mark.parametrize("channel", ["scale", "location"])
def test_channels_that_are_not_free_are_refused(channel: str) -> None:
    owner, chain = line("NONE" if channel == "scale" else "FULL")
    setattr(pose_bones(owner)["b1"], f"lock_{channel}", (False, True, False))
    with pytest.raises(BoneError, match=f"its {channel} is locked"):
        grow(owner, chain)


def test_a_location_beside_the_bone_before_is_refused() -> None:
    """It would be lengthened by another share than the chain; one along that bone is not."""
    owner, chain = line("NONE")
    bone, limit = pose_bones(owner)["b1"], "its location takes it off the line of the bone before"
    along = bone.bone.matrix_local.to_3x3().inverted() @ pose_bones(owner)["b0"].bone.matrix_local.to_3x3().col[1]
    for location in (0.1 * along, Vector((0.1, 0.0, 0.0))):
        bone.location = location
        if location.x < 0.09:
            grow(owner, chain)
            continue
        with pytest.raises(BoneError, match=limit):
            grow(owner, chain)


@pytest.mark.parametrize(("kind", "mode"), [("AIM", "FULL"), ("AIM", "FIX_SHEAR"), ("REACH", "FIX_SHEAR")])
def test_an_aim_and_a_rotation_below_an_uneven_scale_are_told_as_blender_has_them(kind: str, mode: str) -> None:
    owner = make_armature(strand((0, 0, 0), (0, 0.1, 1), (0.05, 0, 2), (0, 0.1, 3), (0, 0, 4), connect=True))
    for bone in armature(owner).bones:
        bone.inherit_scale = mode
    pose_bones(owner)["b0"].scale = (1.0, 2.0, 0.7)
    chain = add_chain(owner, tip="b3", count=3)
    chain.kind = kind
    chain.effector, chain.orientation = ("TAIL", "FREE") if kind == "AIM" else ("HEAD", "TARGET")
    chain.target = make_empty((1.5, 0.8, 5.0) if kind == "AIM" else (0.6, 0.8, 2.5))
    chain.target.rotation_euler = (0.5, 0.4, 0.3)
    update()
    bpy.ops.fabrik.solve()
    update()
    tip = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["b3"]
    off = (tip.tail - tip.head).angle(chain.target.location - tip.head)
    if kind == "REACH":
        off = tip.matrix.to_quaternion().rotation_difference(chain.target.matrix_world.to_quaternion()).angle
    assert chain.status == "BLOCKED"
    assert chain.turn_residual == pytest.approx(off, rel=0.05)
    assert "differs between its axes" in chain.message


def test_a_chain_that_does_not_stretch_takes_no_channels() -> None:
    owner, chain = line("NONE")
    chain.stretch = 1.0
    assert grown_by(chain, list(pose_bones(owner)), set(), ()) == ()

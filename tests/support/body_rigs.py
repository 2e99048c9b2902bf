# SPDX-License-Identifier: GPL-3.0-or-later
"""A body for the tests: hips, a spine of three bones, a head, arms and legs; 1.7 high, facing -Y."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
from fabrik_addon.maths import Q4, conjugated, multiplied, turn_angle
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.kinematics import world_turn
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Vector

from support.rigs import Bone, make_armature, make_empty

HEIGHT = 1.7
TRUNK = [("hips", 0.95, 1.05), ("spine1", 1.05, 1.2), ("spine2", 1.2, 1.35), ("chest", 1.35, 1.5), ("head", 1.5, 1.7)]
SIDES = ((".L", 1.0), (".R", -1.0))


def body_bones() -> list[tuple[str, str, Bone]]:
    """Names, names of parents, and bones."""
    found = []
    for i, (name, low, high) in enumerate(TRUNK):
        found.append((name, TRUNK[i - 1][0] if i else "", Bone((0, 0, low), (0, 0, high))))
    for side, x in SIDES:
        shoulder, elbow, wrist, fingers = (0.15, 0, 1.45), (0.43, 0.03, 1.45), (0.7, 0, 1.45), (0.85, 0, 1.45)
        hip, knee, ankle, toes = (0.1, 0, 0.93), (0.1, -0.03, 0.5), (0.1, 0.02, 0.08), (0.1, -0.15, 0.02)
        for names, points, parent in (
            (("upper_arm", "forearm", "hand"), (shoulder, elbow, wrist, fingers), "chest"),
            (("thigh", "shin", "foot"), (hip, knee, ankle, toes), "hips"),
        ):
            for k, name in enumerate(names):
                head, tail = ((x * p[0], p[1], p[2]) for p in points[k : k + 2])
                found.append((name + side, names[k - 1] + side if k else parent, Bone(head, tail)))
    return found


def make_body(mode: Any = "QUATERNION") -> bpy.types.Object:
    """The armature, without chains; active, in Object mode."""
    bones = body_bones()
    names = [name for name, _, _ in bones]
    owner = make_armature(
        [bone._replace(parent=names.index(parent) if parent else None) for _, parent, bone in bones], "Body"
    )
    made = [pose_bones(owner)[f"b{i}"] for i in range(len(names))]
    for name, bone in zip(names, made, strict=True):
        bone.name = name
        bone.rotation_mode = mode
    return owner


def add_limb(
    owner: bpy.types.Object, tip: str, count: int, *, target: Sequence[float] | None = None, name: str = ""
) -> FabrikChain:
    """A chain by hand, whose effector is the head of its tip bone; its target stands there, or elsewhere."""
    chain: FabrikChain = rig_of(owner).chains.add()
    chain.name = name or tip
    chain.tip_bone, chain.bone_count, chain.effector = tip, count, "HEAD"
    if target is not None:
        chain.target = make_empty(target, f"Target {tip}")
    return chain


def pin(owner: bpy.types.Object, chain: FabrikChain, *, keeps: bool = True) -> None:
    """Pin a chain where its effector stands, with the rotation of its tip bone."""
    update()
    chain.pin = True
    chain.held_location = effector(owner, chain)
    chain.held_rotation = tip_turn(owner, chain)
    if keeps:
        chain.orientation = "KEEP"


def with_legs_pinned(owner: bpy.types.Object, body: str = "hips") -> bpy.types.Object:
    """Both feet pinned flat where they stand; the hips are the body bone."""
    for side, _ in SIDES:
        pin(owner, add_limb(owner, f"foot{side}", 3))
    rig_of(owner).body_bone = body
    return owner


def update() -> None:
    """Evaluate."""
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()


def _evaluated(owner: bpy.types.Object) -> bpy.types.Object:
    return owner.evaluated_get(bpy.context.evaluated_depsgraph_get())


def effector(owner: bpy.types.Object, chain: FabrikChain) -> Vector:
    """Where the effector of a chain stands in the world, as Blender evaluated it."""
    evaluated = _evaluated(owner)
    tip = pose_bones(evaluated)[chain.tip_bone]
    return evaluated.matrix_world @ (tip.head if chain.effector == "HEAD" else tip.tail)


def tip_turn(owner: bpy.types.Object, chain: FabrikChain) -> Q4:
    """How the tip bone of a chain is turned in the world."""
    evaluated = _evaluated(owner)
    return world_turn(evaluated, pose_bones(evaluated)[chain.tip_bone])


def turned(a: Q4, b: Q4) -> float:
    """The angle between two rotations in radians."""
    return turn_angle(multiplied(conjugated(a), b))

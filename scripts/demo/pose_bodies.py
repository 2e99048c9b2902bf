# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses a skinned human as a whole, judges it by Blender's evaluation, saves and draws it."""

from __future__ import annotations

from math import asin, degrees
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from body_picture import draw_body
from body_scenes import SCENES, make, pose
from mathutils import Quaternion, Vector
from picture import save_side_by_side

from blender import rig_of
from dev.humans import HEIGHT
from dev.quiet import quiet
from environment import say

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import FabrikChain

HEADER = f"{'body':<10} {'chain':<12} {'status':<9} {'off':>10} {'turned off':>14} {'limit violation':>16}"
IN_PLACE = 1e-4  # of the height, that a goal may be off
SLACK = 0.01  # degrees


def pose_bodies(out: Path) -> int:
    """Pose all scenes; returns how many goals were not met, and bones that stand outside their limits."""
    failed = 0
    print(f"\n{HEADER}")
    for scene in SCENES:
        say(f"body: {scene.name}")
        with quiet():
            owner = make(scene)
            before = draw_body(scene, owner)
            pose(scene, owner)
            save_side_by_side([before, draw_body(scene, owner)], scene.view, out / f"body_{scene.name}.png")
            bpy.ops.object.mode_set(mode="POSE")
            bpy.ops.wm.save_as_mainfile(filepath=str(out / f"body_{scene.name}.blend"), compress=True)
        failed += _print_rows(scene.name, owner)
    print("\noff: share of the height, or degrees of an aim, as Blender evaluates it; turned off: of a pinned rotation")
    return failed


def _print_rows(name: str, owner: bpy.types.Object) -> int:
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    violation, failed = _violation(owner), 0
    for chain in rig_of(owner).chains:
        bone = evaluated.pose.bones[chain.tip_bone]
        off, unit = _aim_error(chain, bone), " deg"
        if chain.kind != "AIM":
            goal = Vector(chain.held_location) if chain.target is None else chain.target.matrix_world.translation
            end = bone.head if chain.effector == "HEAD" else bone.tail
            off, unit = (evaluated.matrix_world @ end - goal).length / HEIGHT, ""
        turned = 0.0
        if chain.orientation == "KEEP":
            turned = _apart(Quaternion(chain.held_rotation), (evaluated.matrix_world @ bone.matrix).to_quaternion())
        failed += chain.status != "REACHED" or (chain.kind != "AIM" and off > IN_PLACE) or violation > SLACK
        print(
            f"{name:<10} {chain.name:<12} {chain.status:<9} {off:>10.1e}{unit:4} {turned:>7.1e} deg"
            f" {violation:>12.5f} deg",
            flush=True,
        )
    return failed


def _aim_error(chain: FabrikChain, bone: bpy.types.PoseBone) -> float:
    """Degrees by which an axis points beside its target."""
    if chain.kind != "AIM":
        return 0.0
    axis = (bone.matrix.to_3x3() @ Vector(chain.aim_axis)).normalized()
    wanted = (chain.target.matrix_world.translation - bone.head).normalized()
    return degrees(2.0 * asin(min((axis - wanted).length / 2.0, 1.0)))


def _apart(a: Quaternion, b: Quaternion) -> float:
    """Degrees between two rotations."""
    near = min((a - b).magnitude, (a + b).magnitude)
    return degrees(4.0 * asin(min(near / 2.0, 1.0)))


def _violation(owner: bpy.types.Object) -> float:
    """How far any bone stands outside its limit, in degrees, by its evaluated matrix."""
    from fabrik_addon.rig import joint_limits  # noqa: PLC0415  # what is enabled by now

    worst = 0.0
    for bone in owner.pose.bones:
        local = owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
        rotation = local.to_quaternion()
        worst = max(worst, joint_limits.read_limit(bone, rotation).violation(rotation))
    return degrees(worst)

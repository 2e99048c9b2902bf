# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's Python for `demo.py`: poses each rig, judges it by Blender's evaluation, saves and draws it."""

from __future__ import annotations

import os
import sys
import time
from itertools import pairwise
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from character_pictures import pose_characters
from demo_rigs import DemoRig, Limb, demo_rigs, limit_hinges
from mathutils import Vector
from picture import draw_rig, save_side_by_side
from pose_bodies import pose_bodies
from walk_rigs import walk_rigs

import addon_session
from blender import OPS, rig_of
from dev.quiet import quiet
from environment import say

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import FabrikChain

HEADER = (
    f"{'rig':<10} {'chain':<12} {'bones':>5}  {'status':<9} {'tip error':>10} {'passes':>6} {'limit violation':>16}"
)


def main(out: Path, rigs: Path, user: Path) -> int:
    """Pose every rig; returns 1 where a chain did not reach its target or a limit does not hold."""
    out.mkdir(parents=True, exist_ok=True)
    with quiet():
        addon_session.enable(user / "repository")
    print(HEADER)
    failed = 0
    found = demo_rigs(rigs)
    for i, rig in enumerate(found):
        say(f"[{i + 1}/{len(found)}] {rig.name}")
        started = time.perf_counter()
        with quiet():
            owner = _pose(rig, out)
        failed += _print_rows(rig, owner)
        say(f"      {time.perf_counter() - started:.1f} s: {out / rig.name}.blend, {out / rig.name}.png")
    print("\ntip error: share of the chain's length, as Blender evaluates it")
    failed += pose_bodies(out)
    failed += walk_rigs(out)
    failed += pose_characters(out)
    print(f"\nfiles in {out}")
    return min(failed, 1)


def _pose(rig: DemoRig, out: Path) -> bpy.types.Object:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = rig.make()
    bpy.context.view_layer.objects.active = owner
    for limb in rig.limbs:
        _add(owner, limb)
    bpy.context.view_layer.update()
    before = draw_rig(owner, rig.body)
    OPS.fabrik.solve_all()
    after = draw_rig(owner, rig.body)
    save_side_by_side([before, after], rig.view, out / f"{rig.name}.png")
    bpy.ops.object.mode_set(mode="POSE")
    owner.show_in_front = True
    bpy.ops.wm.save_as_mainfile(filepath=str(out / f"{rig.name}.blend"), compress=True)
    return owner


def _add(owner: bpy.types.Object, limb: Limb) -> None:
    limit_hinges(owner, limb)
    OPS.fabrik.chain_add(tip_bone=limb.tip, bone_count=limb.count, use_target=True, use_pole=limb.pole)
    chain = rig_of(owner).chains[-1]
    chain.target.location += Vector(limb.move) * _length(_joints(owner, chain))
    chain.name = limb.name


def _bones(owner: bpy.types.Object, chain: FabrikChain) -> list[bpy.types.PoseBone]:
    tip = owner.pose.bones[chain.tip_bone]
    bones = [tip, *tip.parent_recursive]
    return bones[: chain.bone_count or len(bones)][::-1]


def _joints(owner: bpy.types.Object, chain: FabrikChain) -> list[Vector]:
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = _bones(evaluated, chain)
    return [evaluated.matrix_world @ point for point in [*(bone.head for bone in bones), bones[-1].tail]]


def _length(joints: list[Vector]) -> float:
    return float(sum((b - a).length for a, b in pairwise(joints)))


def _violation(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """How far any bone of the chain stands outside its hinge, in degrees, by its evaluated matrix."""
    from fabrik_addon.rig import joint_limits  # noqa: PLC0415  # what is enabled by now

    worst = 0.0
    for bone in _bones(owner, chain):
        local = owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
        rotation = local.to_quaternion()
        worst = max(worst, joint_limits.read_limit(bone, rotation).violation(rotation))
    return degrees(worst)


def _print_rows(rig: DemoRig, owner: bpy.types.Object) -> int:
    failed = 0
    for chain in rig_of(owner).chains:
        joints = _joints(owner, chain)
        error = (joints[-1] - chain.target.matrix_world.translation).length / _length(joints)
        violation = _violation(owner, chain)
        failed += chain.status != "REACHED" or violation > 0.01
        print(
            f"{rig.name:<10} {chain.name:<12} {len(joints) - 1:>5}  {chain.status:<9} {error:>10.1e} {chain.passes:>6}"
            f" {violation:>12.5f} deg",
            flush=True,
        )
    return failed


if __name__ == "__main__":
    status = main(*(Path(argument) for argument in sys.argv[1:4]))
    sys.stdout.flush()
    os._exit(status)  # some wheels crash or hang in Blender's own clean-up

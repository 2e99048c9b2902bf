# SPDX-License-Identifier: GPL-3.0-or-later
"""Table of live posing beside Blender's own IK: whole frames of playback."""

from __future__ import annotations

from importlib import import_module
from math import cos, sin
from random import Random
from typing import Any

import bpy
from mathutils import Vector

import addon_session
from benchmark_tools import Row, interleaved, table

CASES = ((1, 4), (1, 10), (8, 4), (8, 10), (64, 4), (64, 10))
SPACING = 3.0
LENGTH = 1.0
SKIN_VERTICES = 40000
FRAMES = 24


def make_rig(chains: int, bones: int) -> tuple[Any, list[str]]:
    """An armature of separate limbs that bend a little; and the names of their tips."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    data: Any = bpy.data.armatures.new("rig")
    owner: Any = bpy.data.objects.new("rig", data)
    context: Any = bpy.context
    context.scene.collection.objects.link(owner)
    context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    tips = []
    for chain in range(chains):
        parent, step = None, LENGTH / bones
        for i in range(bones):
            bone = data.edit_bones.new(f"c{chain}_{i}")
            bone.head = (SPACING * chain, 0.1 * step * (i % 2), step * i)
            bone.tail = (SPACING * chain, 0.1 * step * ((i + 1) % 2), step * (i + 1))
            bone.parent, bone.use_connect = parent, parent is not None
            parent = bone
        tips.append(f"c{chain}_{bones - 1}")
    bpy.ops.object.mode_set(mode="OBJECT")
    return owner, tips


def make_targets(owner: Any, tips: list[str]) -> list[Any]:
    """Empties keyed along circles within reach."""
    scene: Any = bpy.context.scene
    random, targets = Random(5), []
    for i, tip in enumerate(tips):
        target = bpy.data.objects.new(f"target {tip}", None)
        scene.collection.objects.link(target)
        phase = random.uniform(0.0, 6.0)
        for frame in range(1, FRAMES + 1):
            angle = phase + 6.283 * frame / FRAMES
            target.location = (SPACING * i + 0.3 * cos(angle), 0.4, 0.55 + 0.25 * sin(angle))
            target.keyframe_insert("location", frame=frame)
        targets.append(target)
    return targets


def with_blender_ik(owner: Any, tips: list[str], targets: list[Any], bones: int) -> None:
    for tip, target in zip(tips, targets, strict=True):
        constraint = owner.pose.bones[tip].constraints.new("IK")
        constraint.target, constraint.chain_count, constraint.use_tail = target, bones, True


def with_live(owner: Any, tips: list[str], targets: list[Any], bones: int) -> None:
    for tip, target in zip(tips, targets, strict=True):
        chain = owner.fabrik_chains.add()
        chain.name, chain.tip_bone, chain.bone_count, chain.target = tip, tip, bones, target
    owner.fabrik_live = True
    context: Any = bpy.context
    context.view_layer.update()


def with_skin(owner: Any, tips: list[str], bones: int) -> None:
    """A mesh that the limbs deform."""
    mesh = bpy.data.meshes.new("skin")
    random = Random(1)
    each = SKIN_VERTICES // len(tips)
    points = [
        Vector((SPACING * chain + random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), LENGTH * k / each))
        for chain in range(len(tips))
        for k in range(each)
    ]
    mesh.from_pydata(points, [], [])
    skin: Any = bpy.data.objects.new("skin", mesh)
    scene: Any = bpy.context.scene
    scene.collection.objects.link(skin)
    skin.modifiers.new("rig", "ARMATURE").object = owner
    for chain in range(len(tips)):
        for i in range(bones):
            group = skin.vertex_groups.new(name=f"c{chain}_{i}")
            first = chain * each + each * i // bones
            group.add(list(range(first, chain * each + each * (i + 1) // bones)), 1.0, "REPLACE")


def worst_error(owner: Any, tips: list[str], targets: list[Any]) -> float:
    """The worst distance of a tip from its target over all frames, as a share of the limb's length."""
    scene: Any = bpy.context.scene
    worst = 0.0
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        poses = owner.evaluated_get(depsgraph).pose.bones
        for tip, target in zip(tips, targets, strict=True):
            goal = target.evaluated_get(depsgraph).matrix_world.translation
            worst = max(worst, (owner.matrix_world @ poses[tip].tail - goal).length / LENGTH)
    return worst


def live(rounds: int) -> Row:
    """Table 8: seconds of a frame of playback; each contender in the same file, made anew, in turn."""
    state = import_module(f"{addon_session.MODULE}.session.live").state
    rows: list[Row] = []
    for chains, bones in CASES:
        rows.append(measured(state, chains, bones, rounds, skinned=False))
    rows.append(measured(state, 8, 4, rounds, skinned=True))
    return table("8. A frame of playback with targets that move: live posing beside Blender's own IK", rows)


def measured(state: Any, chains: int, bones: int, rounds: int, skinned: bool) -> Row:
    """One row: both contenders, and the frame without any IK, which both have to evaluate."""
    times: dict[str, float] = {}
    errors: dict[str, float] = {}
    counts = 0.0, 0.0
    for name in ("live", "blender", "none"):
        owner, tips = make_rig(chains, bones)
        targets = make_targets(owner, tips)
        if skinned:
            with_skin(owner, tips, bones)
        if name == "live":
            with_live(owner, tips, targets, bones)
        elif name == "blender":
            with_blender_ik(owner, tips, targets, bones)
        errors[name] = worst_error(owner, tips, targets)
        solves, writes = state.solves, state.writes
        scene: Any = bpy.context.scene

        def play(scene: Any = scene) -> None:
            for frame in range(1, FRAMES + 1):
                scene.frame_set(frame)

        (times[name],) = interleaved(rounds, play)
        if name == "live":
            frames = rounds * FRAMES
            counts = (state.solves - solves) / frames, (state.writes - writes) / frames
    return {
        "chains x bones": f"{chains} x {bones}" + (f", {SKIN_VERTICES} vertices" if skinned else ""),
        "ms a frame": times["live"] / FRAMES * 1e3,
        "Blender IK ms": times["blender"] / FRAMES * 1e3,
        "no IK ms": times["none"] / FRAMES * 1e3,
        "ratio": times["live"] / times["blender"],
        "worst tip error": errors["live"],
        "Blender's": errors["blender"],
        "solves a frame": counts[0],
        "bones written": counts[1],
    }

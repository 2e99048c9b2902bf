# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip of a walking human, edited by its controls: its hips lowered, a hand raised for some frames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import bpy
from bodies import BODY
from mathutils import Vector
from picture import TARGET, Drawing, evaluated_meshes, save_below
from walks import FPS, let_arms_hang, swing_arms

from blender import OPS, rig_of
from dev.humans import HEIGHT, bone_of, give_ranges, make_human
from dev.quiet import quiet
from environment import say
from rigs import empty_file

HEADER = f"{'edited':<14} {'frames':>6} {'kept':>5} {'hips':>9} {'feet':>9} {'other frames':>13}"
HUMAN = "human_game_engine"
FRAMES = (1, 96)
WALKED = (9, 88)  # frames between which the hips go forwards
LENGTH = 3.6  # metres
SHOWN = (10, 30, 42, 54, 66, 90)
RAISED = (24, 36, 52, 64)  # frames before the hand goes up, when it is there, until when, and when it is back
LOWER = 0.12  # metres by which the hips are lowered
LIFT = (0.12, -0.24, 0.5)  # metres by which the hand is raised
VIEW = (1.0, -0.35, 0.12)
PIXELS = (920, 330)
IN_PLACE = 1e-4  # of the height, that what is held may be elsewhere


def make_clip() -> bpy.types.Object:
    """A human whose bones are keyed in each frame, and nothing else of it: it walks, and its arms swing."""
    empty_file()
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, *FRAMES
    owner = make_human(HUMAN)
    give_ranges(owner)
    let_arms_hang(owner)
    hips = owner.pose.bones[bone_of(HUMAN, "hips")]
    back = hips.bone.matrix_local.to_3x3().inverted()
    for frame, share in zip(WALKED, (0.0, 1.0), strict=True):
        hips.location = back @ Vector((0.0, -LENGTH * share, 0.0))
        hips.keyframe_insert("location", frame=frame)
    bpy.ops.object.mode_set(mode="POSE")
    OPS.fabrik.walker_add()
    OPS.fabrik.walk_plan(span="SCENE")
    swing_arms(owner)
    OPS.fabrik.walk_bake(into="BONES")
    OPS.fabrik.rig_clear()
    for mode in ("EDIT", "OBJECT") * 2:  # to leave it rounds rest bones, as the set-up does that makes controls
        bpy.ops.object.mode_set(mode=mode)
    return owner


def set_up(owner: bpy.types.Object) -> None:
    """Press *Set Up Character*, and switch *Live* on."""
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    OPS.fabrik.character_setup()
    rig_of(owner).live = True


def edit(owner: bpy.types.Object) -> None:
    """Lower the hips for the whole clip, and raise the left hand for some frames."""
    scene, bones = bpy.context.scene, owner.pose.bones
    hips, hand = (bones[rig_of(owner).chains[name].target_bone] for name in ("Body", "Arm.L"))
    hips.location = hips.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, -LOWER))
    up = hand.bone.matrix_local.to_3x3().inverted() @ Vector(LIFT)
    for frame, share in zip(RAISED, (0.0, 1.0, 1.0, 0.0), strict=True):
        hand.location = up * share
        hand.keyframe_insert("location", frame=frame)
    scene.frame_set(scene.frame_start)


def played(owner: bpy.types.Object, names: Sequence[str]) -> list[list[Vector]]:
    """Where the heads of bones are, frame by frame, in the world."""
    found = []
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        bpy.context.scene.frame_set(frame)
        poses = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([owner.matrix_world @ poses[name].head for name in names])
    return found


def drawn(owner: bpy.types.Object) -> Drawing:
    """The human in some frames of the clip, with the path of its left hand."""
    drawing = Drawing(floor=Vector((0.0, -0.5 * LENGTH, 0.0)), floor_radius=1.7, extent=HEIGHT, pixels=PIXELS)
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        drawing.skins += [(mesh, BODY) for _, mesh in evaluated_meshes()]
    path = [one[0] for one in played(owner, [bone_of(HUMAN, "hand", "L")])][SHOWN[0] : SHOWN[-1]]
    drawing.lines += [(a, b, TARGET) for a, b in pairwise(path)]
    return drawing


def edit_motion(out: Path) -> int:
    """Edit the clip; returns how many figures are not as they are to be."""
    print(f"\n{HEADER}")
    say("edited: motion_walk")
    names = [bone_of(HUMAN, "hips"), *(bone_of(HUMAN, "foot", side) for side in "LR"), bone_of(HUMAN, "hand", "L")]
    with quiet():
        owner = make_clip()
        before, first = played(owner, names), drawn(owner)
        set_up(owner)
        kept = played(owner, names) == before
        edit(owner)
        after = played(owner, names)
        save_below([first, drawn(owner)], VIEW, out / "motion_walk.png")
        bpy.ops.wm.save_as_mainfile(filepath=str(out / "motion_walk.blend"), compress=True)
    down = Vector((0.0, 0.0, -LOWER))
    pairs = list(zip(after, before, strict=True))
    still = [*pairs[: RAISED[0]], *pairs[RAISED[-1] :]]
    hips = max((now[0] - then[0] - down).length for now, then in pairs) / HEIGHT
    feet = max((now[i] - then[i]).length for now, then in pairs for i in (1, 2)) / HEIGHT
    hand = max((now[3] - then[3] - down).length for now, then in still) / HEIGHT
    print(f"{'motion_walk':<14} {len(after):>6} {kept!s:>5} {hips:>9.1e} {feet:>9.1e} {hand:>13.1e}")
    missed: int = sum([not kept, hips > IN_PLACE, feet > IN_PLACE, hand > IN_PLACE])
    return missed

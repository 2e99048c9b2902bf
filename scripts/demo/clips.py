# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of a walking human: hips lowered, a hand raised; feet that slide let stand still; its walk on two others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import bpy
from bodies import BODY
from fabrik_addon.motion.contacts import FLAT
from fabrik_addon.rig.animation.compat import fcurves_of
from mathutils import Vector
from picture import POLE, TARGET, Drawing, evaluated_meshes, save_below
from walks import FPS

from blender import OPS, rig_of
from dev.clips import STRIDES, stretch_way, walking_clip
from dev.humans import HEIGHT, bone_of, make_human
from dev.quiet import quiet
from environment import say
from rigs import empty_file

HEADER = f"{'edited':<14} {'frames':>6} {'kept':>5} {'hips':>9} {'feet':>9} {'other frames':>13}"
FEET_HEADER = f"{'cleaned':<14} {'contacts':>8} {'slide':>9} {'then':>9} {'given way':>9}"
TRANSFER_HEADER = f"{'transferred':<20} {'contacts':>8} {'slide':>9} {'on ground':>9}"
HUMAN = "human_game_engine"
OTHER, SMALL = "human_mixamo", 0.6  # who gets its walk, and how large another one is who does
FRAMES = (1, 96)
WALKED = (9, 88)  # frames between which the hips go forwards
LENGTH = STRIDES * (WALKED[1] - WALKED[0])  # metres
SHOWN = (10, 30, 42, 54, 66, 90)
RAISED = (24, 36, 52, 64)  # frames before the hand goes up, when it is there, until when, and when it is back
LOWER = 0.12  # metres by which the hips are lowered
LIFT = (0.12, -0.24, 0.5)  # metres by which the hand is raised
TOO_FAR = 1.06  # by which the hips of the clip whose feet slide go farther than their steps
STILL = 1e-4  # of the height, by which a foot that is flat on the ground may move in a frame
VIEW = (1.0, -0.35, 0.12)
PIXELS = (920, 330)
IN_PLACE = 1e-4  # of the height, that what is held may be elsewhere


def make_clip() -> bpy.types.Object:
    """A human whose bones are keyed in each frame, and nothing else of it: it walks, and its arms swing."""
    empty_file()
    bpy.context.scene.render.fps = FPS
    owner: bpy.types.Object = walking_clip(HUMAN, WALKED, FRAMES)
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


def clean_feet(out: Path) -> int:
    """Let the feet of a clip stand still whose hips go too far for its steps; returns how many figures are wrong."""
    print(f"\n{FEET_HEADER}")
    say("cleaned: motion_feet")
    feet = [bone_of(HUMAN, "foot", side) for side in "LR"]
    hips = bone_of(HUMAN, "hips")
    with quiet():
        owner = make_clip()
        stretch_way(owner, hips, TOO_FAR, fcurves_of(owner))
        before, first = played(owner, [hips, *feet]), _with_paths(owner, feet)
        set_up(owner)
        OPS.fabrik.contacts_find()
        OPS.fabrik.contacts_clean()
        after, flat = played(owner, [hips, *feet]), [_flat(owner, name) for name in feet]
        save_below([first, _with_paths(owner, feet)], VIEW, out / "motion_feet.png")
        bpy.ops.wm.save_as_mainfile(filepath=str(out / "motion_feet.blend"), compress=True)
    slid, still = (max(_slides(one, i + 1, on) for i, on in enumerate(flat)) for one in (before, after))
    given = max((then[0] - now[0]).length for now, then in zip(after, before, strict=True)) / HEIGHT
    contacts = sum(b and not a for own in flat for a, b in pairwise([False, *own]))
    print(f"{'motion_feet':<14} {contacts:>8} {slid:>9.1e} {still:>9.1e} {given:>9.1e}")
    return int(still > STILL or not contacts or slid < STILL)


def transfer_walk(out: Path) -> int:
    """Bring the walk to another human, and to one that is small; returns how many figures are wrong."""
    print(f"\n{TRANSFER_HEADER}")
    feet = [bone_of(OTHER, "foot", side) for side in "LR"]
    with quiet():
        source = make_clip()
        drawings, failed = [_alone(source)], 0
    for size in (1.0, SMALL):
        say(f"transferred: motion_transfer, {size:g}")
        with quiet():
            owner = make_human(OTHER)
            owner.scale *= size
            for one in bpy.context.scene.objects:
                one.select_set(one in (source, owner))
            OPS.fabrik.motion_transfer()
            after, flat = played(owner, feet), [_flat(owner, name) for name in feet]
            drawings.append(_alone(owner))
        still = max(_slides(after, i, on) for i, on in enumerate(flat))
        rest = owner.matrix_world @ owner.pose.bones[feet[0]].bone.head_local
        places = [one[i].z for i, on in enumerate(flat) for one, stands in zip(after, on, strict=False) if stands]
        off = max(abs(place - rest.z) for place in places) / HEIGHT
        contacts = sum(b and not a for own in flat for a, b in pairwise([False, *own]))
        print(f"{f'motion_transfer {size:g}':<20} {contacts:>8} {still:>9.1e} {off:>9.1e}")
        failed += still > STILL or off > STILL or not contacts
    with quiet():
        save_below(drawings, VIEW, out / "motion_transfer.png")
        bpy.ops.wm.save_as_mainfile(filepath=str(out / "motion_transfer.blend"), compress=True)
    return failed


def _alone(owner: bpy.types.Object) -> Drawing:
    """One of several humans in some frames of the clip."""
    drawing = Drawing(floor=Vector((0.0, -0.5 * LENGTH, 0.0)), floor_radius=1.7, extent=HEIGHT, pixels=PIXELS)
    own = {one.name for one in owner.children_recursive}
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        drawing.skins += [(mesh, BODY) for name, mesh in evaluated_meshes() if name in own]
    return drawing


def _slides(poses: Sequence[Sequence[Vector]], i: int, flat: Sequence[bool]) -> float:
    """The most by which a bone, by its index, moves from a frame to the next while a foot is flat, by the height."""
    steps = [(b[i] - a[i]).length for (a, b), on in zip(pairwise(poses), flat, strict=True) if on]
    return float(max(steps)) / HEIGHT


def _flat(owner: bpy.types.Object, name: str) -> list[bool]:
    """For each frame but the last, whether a foot is marked to be flat on the ground in it and in the next."""
    path = owner.pose.bones[name].path_from_id("fabrik_contact")
    (curve,) = [one for one in fcurves_of(owner) if one.data_path == path]
    marks = [round(curve.evaluate(frame)) == FLAT for frame in range(FRAMES[0], FRAMES[1] + 1)]
    return [a and b for a, b in pairwise(marks)]


def _with_paths(owner: bpy.types.Object, feet: Sequence[str]) -> Drawing:
    """The human in some frames of the clip, with the paths of its ankles."""
    drawing = drawn(owner)
    drawing.lines.clear()
    for one, color in zip(zip(*played(owner, feet), strict=True), (TARGET, POLE), strict=True):
        drawing.lines += [(a, b, color) for a, b in pairwise(one)]
    return drawing

# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of a human: its walk edited, its feet let stand still, and brought to others; hands on thicker hips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import pi
from pathlib import Path

import bpy
import numpy as np
from fabrik_addon.maths import Doubles, Mask
from fabrik_addon.motion.contacts import runs
from mathutils import Matrix, Vector
from picture import BODY, POLE, STAIRS, TARGET, Color, Drawing, evaluated_meshes, make_slab, save
from walks import FPS

from blender import OPS, quiet, rig_of
from dev.humans import (
    HEIGHT,
    STRIDES,
    bone_of,
    both,
    flat_steps,
    make_human,
    played,
    stretch_way,
    transfer,
    walking_clip,
    ways,
)
from dev.walking_rigs import stair_profile
from environment import say
from rigs import empty_file

HEADER = f"{'edited':<14} {'frames':>6} {'kept':>5} {'hips':>9} {'feet':>9} {'other frames':>13}"
FEET_HEADER = f"{'cleaned':<14} {'contacts':>8} {'slide':>9} {'then':>9} {'given way':>9}"
TRANSFER_HEADER = f"{'transferred':<20} {'contacts':>8} {'slide':>9} {'on ground':>9}"
HANDS_HEADER = f"{'hands on hips':<20} {'off skin':>9}"
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
STEPS = (0.22, 0.1, 0.34, 8)  # metres before stairs, their rise and tread; how many
ON_HIP = (0.2, 0.0, 0.98)  # metres, where the left wrist is while that hand is on the hip
THICKER = 1.35  # times as thick as the human's are the hips on which the other one's hands come to lie
HELD = 16  # frame from which hands lie on hips
LIE = 0.01  # of the height, by which a hand or a foot may be off the skin or the steps, or farther than the human is
VIEW = (1.0, -0.35, 0.12)
STAIRS_VIEW, HANDS_VIEW = (1.0, -0.2, 0.25), (0.4, -1.0, 0.12)
PIXELS, UPRIGHT = (920, 330), (300, 560)
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


def drawn(owner: bpy.types.Object, paths: Mapping[str, Color] = {}, span: slice = slice(None)) -> Drawing:
    """A human in some frames of the clip, with the paths of bones in their colours, over a span of its frames."""
    drawing = Drawing(floor=Vector((0.0, -0.5 * LENGTH, 0.0)), floor_radius=1.7, extent=HEIGHT, pixels=PIXELS)
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        drawing.add_skins(BODY, owner)
    for bone, color in paths.items():
        drawing.lines += [(Vector(a), Vector(b), color) for a, b in pairwise(played(owner, [bone])[span, 0])]
    return drawing


def edit_motion(out: Path) -> int:
    """Edit the clip; returns how many figures are not as they are to be."""
    print(f"\n{HEADER}")
    say("edited: motion_walk")
    names = [bone_of(HUMAN, "hips"), *both(HUMAN, "foot"), bone_of(HUMAN, "hand", "L")]
    path = {names[-1]: TARGET}, slice(SHOWN[0], SHOWN[-1])
    with quiet():
        owner = make_clip()
        before, first = played(owner, names), drawn(owner, *path)
        set_up(owner)
        kept = bool((played(owner, names) == before).all())
        edit(owner)
        after = played(owner, names)
        save(out / "motion_walk", [first, drawn(owner, *path)], VIEW, below=True)
    moved = after - before
    off, off_lowered = (np.linalg.norm(moved - way, axis=2) / HEIGHT for way in ((0, 0, 0), (0, 0, -LOWER)))
    hips, feet = off_lowered[:, 0].max(), off[:, 1:3].max()
    hand = off_lowered[np.r_[: RAISED[0], RAISED[-1] : len(after)], 3].max()
    print(f"{'motion_walk':<14} {len(after):>6} {kept!s:>5} {hips:>9.1e} {feet:>9.1e} {hand:>13.1e}")
    return sum([not kept, *(figure > IN_PLACE for figure in (hips, feet, hand))])


def clean_feet(out: Path) -> int:
    """Let the feet of a clip stand still whose hips go too far for its steps; returns how many figures are wrong."""
    print(f"\n{FEET_HEADER}")
    say("cleaned: motion_feet")
    feet, hips = both(HUMAN, "foot"), bone_of(HUMAN, "hips")
    paths = dict(zip(feet, (TARGET, POLE), strict=True))
    with quiet():
        owner = make_clip()
        stretch_way(owner, hips, TOO_FAR)
        before, first = played(owner, [*feet, hips]), drawn(owner, paths)
        set_up(owner)
        OPS.fabrik.contacts_find()
        OPS.fabrik.contacts_clean()
        after, flat = played(owner, [*feet, hips]), [flat_steps(owner, name) for name in feet]
        save(out / "motion_feet", [first, drawn(owner, paths)], VIEW, below=True)
    slid, still = (_slide(poses, flat) for poses in (before, after))
    given, contacts = np.linalg.norm(after[:, 2] - before[:, 2], axis=1).max() / HEIGHT, _count(flat)
    print(f"{'motion_feet':<14} {contacts:>8} {slid:>9.1e} {still:>9.1e} {given:>9.1e}")
    return int(still > STILL or not contacts or slid < STILL)


def transfer_walk(out: Path) -> int:
    """Bring the walk to another human, and to one that is small; returns how many figures are wrong."""
    print(f"\n{TRANSFER_HEADER}")
    feet = both(OTHER, "foot")
    with quiet():
        source = make_clip()
        drawings, failed = [drawn(source)], 0
    for size in (1.0, SMALL):
        say(f"transferred: motion_transfer, {size:g}")
        with quiet():
            owner = make_human(OTHER)
            owner.scale *= size
            transfer(source, owner)
            after, flat = played(owner, feet), [flat_steps(owner, name) for name in feet]
            drawings.append(drawn(owner))
        rest = owner.matrix_world @ owner.pose.bones[feet[0]].bone.head_local
        off = max(float(np.abs(after[:-1, i, 2][on] - rest.z).max()) for i, on in enumerate(flat)) / HEIGHT
        still, contacts = _slide(after, flat), _count(flat)
        print(f"{f'motion_transfer {size:g}':<20} {contacts:>8} {still:>9.1e} {off:>9.1e}")
        failed += still > STILL or off > STILL or not contacts
    with quiet():
        save(out / "motion_transfer", drawings, VIEW, below=True)
    return failed


def transfer_to_stairs(out: Path) -> int:
    """Bring the walk to another human on stairs; returns how many figures are wrong."""
    say("transferred: motion_stairs")
    before, rise, tread, count = STEPS
    feet = both(OTHER, "foot")
    with quiet():
        source, owner = make_clip(), make_human(OTHER)
        steps = [(before + x, z) for x, z in stair_profile(rise, tread, count)]
        profile = [(-before, 0.0), *steps, (LENGTH + 2.0 * before, count * rise)]
        ground = make_slab("Stairs", profile, (-0.45, 0.45), STAIRS, Matrix.Rotation(-0.5 * pi, 4, "Z"))
        transfer(source, owner, ground=ground.name)
        after, flat = played(owner, feet), [flat_steps(owner, name) for name in feet]
        drawing = drawn(owner)
        drawing.floor = None
        drawing.skins += [(mesh, STAIRS) for name, mesh in evaluated_meshes() if name == ground.name]
        save(out / "motion_stairs", [drawing], STAIRS_VIEW)
    soles = [_lowest(owner, feet[i], frame) for i, on in enumerate(flat) for frame in SHOWN if on[frame - FRAMES[0]]]
    off = max(abs(sole - rise * round(sole / rise)) for sole in soles) / HEIGHT
    still, contacts = _slide(after, flat), _count(flat)
    print(f"{'motion_stairs':<20} {contacts:>8} {still:>9.1e} {off:>9.1e}")
    return int(still > STILL or off > LIE or max(soles) < 0.5 * count * rise)


def transfer_hands(out: Path) -> int:
    """Bring hands on hips to another human with thicker ones; returns how many figures are wrong."""
    print(f"\n{HANDS_HEADER}")
    say("transferred: motion_hands")
    with quiet():
        empty_file()
        bpy.context.scene.frame_end = 2 * HELD
        source = make_human(HUMAN)
        set_up(source)
        for side, way in (("L", 1.0), ("R", -1.0)):
            hand = source.pose.bones[rig_of(source).chains[f"Arm.{side}"].target_bone]
            _key(hand, 1)
            turn = Matrix.Rotation(0.5 * pi * way, 4, "Y") @ hand.bone.matrix_local.to_3x3().to_4x4()
            hand.matrix = Matrix.Translation(Vector(ON_HIP) * Vector((way, 1.0, 1.0))) @ turn
            _key(hand, HELD)
        found = [_with_hands(source, HUMAN)]
        for keep in (False, True):
            owner = make_human(OTHER)
            _thicken(owner, (bone_of(OTHER, "hips"), bone_of(OTHER, "spine"), bone_of(OTHER, "waist")))
            transfer(source, owner, keep_contacts=keep)
            found.append(_with_hands(owner, OTHER))
        save(out / "motion_hands", [drawing for drawing, _ in found], HANDS_VIEW)
    for name, (_, off) in zip(("the human", "not kept", "kept"), found, strict=True):
        print(f"{name:<20} {off:>9.1e}")
    wanted, plain, kept = (off for _, off in found)
    return int(abs(kept - wanted) > LIE or abs(plain - wanted) < LIE)


def _key(bone: bpy.types.PoseBone, frame: int) -> None:
    for path in ("location", "rotation_quaternion"):
        bone.keyframe_insert(path, frame=frame)


def _skin(owner: bpy.types.Object) -> tuple[bpy.types.Object, bpy.types.Mesh]:
    """The object that is the skin of a human, and its mesh at rest."""
    (found,) = [(one, one.data) for one in owner.children_recursive if isinstance(one.data, bpy.types.Mesh)]
    return found


def _around(owner: bpy.types.Object, bone: str) -> list[Vector]:
    """Where the skin is now that follows a bone more than others."""
    skin, mesh = _skin(owner)
    (posed,) = [mesh for name, mesh in evaluated_meshes() if name == skin.name]
    own = skin.vertex_groups[bone].index
    most = [max(vertex.groups, key=lambda one: one.weight).group for vertex in mesh.vertices]
    return [vertex.co for vertex, group in zip(posed.vertices, most, strict=True) if group == own]


def _lowest(owner: bpy.types.Object, foot: str, frame: int) -> float:
    """How high the lowest skin of a foot is in a frame."""
    bpy.context.scene.frame_set(frame)
    return float(min(place.z for place in _around(owner, foot)))


def _thicken(owner: bpy.types.Object, bones: Sequence[str]) -> None:
    """Make the skin of a human thicker about bones, all round."""
    skin, mesh = _skin(owner)
    own = {skin.vertex_groups[name].index for name in bones}
    for vertex in mesh.vertices:
        size = 1.0 + (THICKER - 1.0) * sum(group.weight for group in vertex.groups if group.group in own)
        place = skin.matrix_world @ vertex.co
        vertex.co = skin.matrix_world.inverted() @ Vector((size * place.x, size * place.y, place.z))


def _with_hands(owner: bpy.types.Object, human: str) -> tuple[Drawing, float]:
    """One of several humans while its hands are on its hips; how far a hand is from the skin there, by the height."""
    bpy.context.scene.frame_set(HELD + 4)
    drawing = Drawing(extent=HEIGHT, pixels=UPRIGHT)
    drawing.add_skins(BODY, owner)
    poses = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    knuckles = owner.matrix_world @ poses[bone_of(human, "hand", "L")].tail
    return drawing, min((place - knuckles).length for place in _around(owner, bone_of(human, "hips"))) / HEIGHT


def _slide(poses: Doubles, flat: Sequence[Mask]) -> float:
    """The most by which a foot, (F, feet, 3), moves from a frame to the next while it is flat, by the height."""
    return max(float(ways(poses[:, i])[on].max()) for i, on in enumerate(flat)) / HEIGHT


def _count(flat: Sequence[Mask]) -> int:
    """How often feet come to be flat."""
    return sum(len(runs(on)) for on in flat)

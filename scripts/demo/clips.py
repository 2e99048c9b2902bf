# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of a human: its walk edited, its feet let stand still, and brought to others; hands on thicker hips."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import pi
from pathlib import Path

import bpy
from bodies import BODY
from fabrik_addon.motion.contacts import FLAT
from fabrik_addon.rig.animation.compat import fcurves_of
from mathutils import Matrix, Vector
from picture import POLE, TARGET, Drawing, evaluated_meshes, save_below, save_side_by_side
from walk_stage import STAIRS, make_slab, stairs
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
            _transfer(source, owner)
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


def transfer_to_stairs(out: Path) -> int:
    """Bring the walk to another human on stairs; returns how many figures are wrong."""
    say("transferred: motion_stairs")
    before, rise, tread, count = STEPS
    feet = [bone_of(OTHER, "foot", side) for side in "LR"]
    with quiet():
        source, owner = make_clip(), make_human(OTHER)
        steps = [(before + x, z) for x, z in stairs(rise, tread, count)]
        profile = [(-before, 0.0), *steps, (LENGTH + 2.0 * before, count * rise)]
        ground = make_slab("Stairs", profile, (-0.45, 0.45), STAIRS, Matrix.Rotation(-0.5 * pi, 4, "Z"))
        _transfer(source, owner, ground=ground.name)
        after, flat = played(owner, feet), [_flat(owner, name) for name in feet]
        drawing = _alone(owner)
        drawing.floor = None
        drawing.skins += [(mesh, STAIRS) for name, mesh in evaluated_meshes() if name == ground.name]
        save_below([drawing], STAIRS_VIEW, out / "motion_stairs.png")
        bpy.ops.wm.save_as_mainfile(filepath=str(out / "motion_stairs.blend"), compress=True)
    still = max(_slides(after, i, on) for i, on in enumerate(flat))
    soles = [_lowest(owner, feet[i], frame) for i, on in enumerate(flat) for frame in SHOWN if on[frame - FRAMES[0]]]
    off = max(abs(sole - rise * round(sole / rise)) for sole in soles) / HEIGHT
    contacts = sum(b and not a for own in flat for a, b in pairwise([False, *own]))
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
            _transfer(source, owner, keep_contacts=keep)
            found.append(_with_hands(owner, OTHER))
        save_side_by_side([drawing for drawing, _ in found], HANDS_VIEW, out / "motion_hands.png")
        bpy.ops.wm.save_as_mainfile(filepath=str(out / "motion_hands.blend"), compress=True)
    for name, (_, off) in zip(("the human", "not kept", "kept"), found, strict=True):
        print(f"{name:<20} {off:>9.1e}")
    wanted, plain, kept = (off for _, off in found)
    return int(abs(kept - wanted) > LIE or abs(plain - wanted) < LIE)


def _transfer(source: bpy.types.Object, owner: bpy.types.Object, **options: object) -> None:
    """Press *Transfer Motion* with both selected."""
    for one in bpy.context.scene.objects:
        one.select_set(one in (source, owner))
    bpy.context.view_layer.objects.active = owner
    OPS.fabrik.motion_transfer(**options)


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
    drawing, own = Drawing(extent=HEIGHT, pixels=UPRIGHT), {one.name for one in owner.children_recursive}
    drawing.skins = [(mesh, BODY) for name, mesh in evaluated_meshes() if name in own]
    poses = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    knuckles = owner.matrix_world @ poses[bone_of(human, "hand", "L")].tail
    return drawing, min((place - knuckles).length for place in _around(owner, bone_of(human, "hips"))) / HEIGHT


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

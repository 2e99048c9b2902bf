# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies as they are posed by hand after their set-up, and any drag; and what keeping, cleaning and moving clips costs.

All is judged by what Blender evaluates. Characters face -Y in the world, and their left side is at +X.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import radians
from typing import Any, TypeAlias

import bpy
import numpy as np
from fabrik_addon.actions import drag as dragging
from fabrik_addon.maths import Doubles
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.control_bones import control_names
from fabrik_addon.rig.schema import FabrikChain, limit_of
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from blender import OPS, quiet, rig_of
from dev.humans import (
    HUMANS,
    SINGLE,
    TWIN,
    bone_of,
    both,
    flat_steps,
    make_human,
    named,
    played,
    stretch_way,
    transfer,
    walking_clip,
    ways,
)
from rigs import empty_file, metarig, skeleton

from .armatures import channels
from .tables import Judged, Row, Scale, Table, play, timed, worst_of

Way: TypeAlias = tuple[float, float, float]
CONTEXT: Any = bpy.context
FRONT, UP = Vector((0.0, -1.0, 0.0)), Vector((0.0, 0.0, 1.0))
SHARES = (0.5, 0.76, 0.9)  # of an arm's reach, at which its hand is put; from there on the body is to help
# Where to, from the shoulder: shares of where the limb points at rest, of the front, and of above.
PAWS: Sequence[Way] = ((1.0, 0.4, 0.0), (1.0, 0.8, 0.0))
HANDS: Sequence[Way] = (*PAWS, (0.4, 1.0, 0.2), (0.3, 0.6, 0.8), (-0.5, 1.0, 0.0))
SUNK, CROUCH, STEPS = 0.25, 0.45, 10  # shares of a leg's length by which hips go down, and in how many steps
FOOT_TURN = radians(17.0)
TURNS = (radians(90.0), radians(180.0))  # of the armature
FRAMES, WAY = 60, 0.5  # of a drag, and its way in lengths of a leg
GOLDEN = (1.0 + 5.0**0.5) / 2.0
CORNERS: Sequence[Way] = [  # of an icosahedron; the mirror image of one is another
    way for a in (-1.0, 1.0) for b in (-GOLDEN, GOLDEN) for way in ((0.0, a, b), (a, b, 0.0), (b, 0.0, a))
]
IMAGES = CORNERS[::3]  # in which the other hand and foot are dragged, too
# What figures are to be at most. Of a body whose hand is posed, and of one whose hips are lowered: shares of a leg's
# length, and degrees.
HIPS, CHEST = 1e-3, 1.0
SUNK_CHEST, CARRIED, PINS = 5.0, 0.02, 1e-4
STAYS, FOLLOWS = 1e-6, 0.1  # share of the size, of a turned armature's pose; degrees, of a foot behind its control
BESIDE, MIRRORED = 0.06, 0.5  # share of a leg's length, of knees beside the toes; degrees
SMOOTH, HELD_BACK = 5.0, 15.0  # degrees a frame


ANIMALS = ("cat", "wolf", "horse")  # which stand on their front limbs, too
CHARACTERS: dict[str, Callable[[], Any]] = {  # what makes each before its set-up, in an empty file
    **{name: partial(make_human, name) for name in HUMANS},
    "makehuman": partial(skeleton, "makehuman"),
    "rigify human": partial(metarig, "human"),
    **{name: partial(metarig, name) for name in ANIMALS},
}
DRAGGED = (*HUMANS, "wolf")


class SolvedFigure:
    """A character that was set up, in Pose mode, without its mesh.

    Attributes:
        is_human: Whether it stands on its hind limbs alone.
        owner: The armature object.
        index: The place of each bone.
        arms: Its front limbs, the left one first.
        legs: Its hind ones.
        body: Its body bone.
        chest: The bone that carries its front limbs.
        leg: Length of a hind limb.
    """

    def __init__(self, name: str, *, live: bool = True, pins: bool = True) -> None:
        empty_file()
        self.is_human = name not in ANIMALS
        with quiet():
            self.owner = CHARACTERS[name]()
            for found in [one for one in bpy.data.objects if one.type == "MESH"]:
                bpy.data.objects.remove(found)
            OPS.fabrik.character_setup()
        bpy.ops.object.mode_set(mode="POSE")
        self.index = self._places()
        limbs = ("Arm", "Leg") if self.is_human else ("Front Leg", "Hind Leg")
        self.arms, self.legs = ([f"{limb}.{side}" for side in "LR"] for limb in limbs)
        rig = rig_of(self.owner)
        for chain in rig.chains:
            chain.pin = chain.pin and pins
        above = self.bones(self.arms[0])[0].parent
        while limit_of(above).of_limb:
            above = above.parent
        self.body, self.chest, rig.live = rig.body_bone, above.name, live
        self.stand()
        self.leg = _length(self.joints(self.legs[0]))

    def _places(self) -> dict[str, int]:
        return {bone.name: i for i, bone in enumerate(self.owner.pose.bones)}

    @property
    def body_bones(self) -> list[int]:
        """The places of the bones that are no controls, nor carry these."""
        made = control_names(self.owner)
        return [i for name, i in self.index.items() if name not in made]

    def stand(self) -> Doubles:
        """(B, 4, 4), the matrix of each bone in armature space, as Blender evaluates it now."""
        CONTEXT.view_layer.update()
        values = np.zeros(16 * len(self.index), dtype=np.float32)
        self.owner.pose.bones.foreach_get("matrix", values)
        return values.reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)

    def chain(self, name: str) -> FabrikChain:
        """A chain by its name."""
        return rig_of(self.owner).chains[name]

    def bones(self, name: str) -> list[Any]:
        """The bones of a chain, the root first."""
        return list(resolve_bones(self.owner, self.chain(name)))

    def joints(self, name: str) -> list[Vector]:
        """The joints of a chain, from its root to its effector."""
        bones = self.bones(name)
        ends = [bones[-1].tail.copy()] if self.chain(name).effector == "TAIL" else []
        return [*(bone.head.copy() for bone in bones), *ends]

    def hang(self, name: str, space: str) -> None:
        """Let another space carry target and pole of a chain."""
        rig = rig_of(self.owner)
        rig.active_index = [chain.name for chain in rig.chains].index(name)
        with quiet():
            OPS.fabrik.goal_space(space=space, roles="BOTH")
        self.index = self._places()  # a bone with another parent stands elsewhere among all

    def at(self, stood: Doubles, bone: str) -> Matrix:
        """A bone's matrix among those of all."""
        return Matrix(stood[self.index[bone]])

    def put(self, bone: str, matrix: Matrix) -> Doubles:
        """Give a bone a matrix, as by hand; how all stand then."""
        self.owner.pose.bones[bone].matrix = matrix
        return self.stand()

    def lowered(self, share: float) -> Doubles:
        """How all stand once the hips are lowered in steps, by a share of a leg's length."""
        stood = now = self.stand()
        for step in range(1, STEPS + 1):
            down = Matrix.Translation((0.0, 0.0, -share * self.leg * step / STEPS))
            now = self.put(self.body, down @ self.at(stood, self.body))
        return now


def by_hand(scale: Scale) -> Table:
    """Hands, hips, feet and the whole armature."""
    names = list(CHARACTERS)[: scale.of(len(CHARACTERS), 1)]
    shares = ", ".join(map(str, SHARES))
    note = (
        "Characters after *Set Up Character*, *Live* on, goals as they come; lengths are shares of a leg's. *Hand*: "
        f"how far hips and chest move while the target of a hand is put to {shares} of the arm's length, in several "
        "directions, in the space of the chest and in the armature's; front paws for hands. *Down*: the hips are "
        f"lowered by {SUNK} of a leg; *hands*: how far they move in the space of the chest. *Turned*: by how much the "
        "pose is another one once the armature is turned by 90 and 180°. *Foot °*: by how much a foot is off its "
        "control that is turned by 17°. *Knees*: how far they stand beside the toes once the hips are lowered by "
        f"{CROUCH} of a leg, and by how much left and right are no mirror images."
    )
    return Table("10a. Bodies as posed by hand", note, [_row(name, pins) for name in names for pins in (True, False)])


def _row(name: str, pins: bool) -> Row:
    made = partial(SolvedFigure, name, pins=pins)
    in_chest, in_armature = (_hands(made(), space) for space in ("LIMB", "ARMATURE"))
    chest, hands, feet = _sunk(made())
    beside, apart = _crouch(made())
    return {
        "character": name if pins else f"{name}, no pins",
        "hand in chest: hips": Judged(in_chest[0], at_most=HIPS),
        "chest °": Judged(in_chest[1], at_most=CHEST),
        "hand in armature: hips": Judged(in_armature[0], at_most=HIPS, is_goal=True),
        "chest ° then": Judged(in_armature[1], at_most=CHEST, is_goal=True),
        "missed": Judged(in_chest[2] + in_armature[2], at_most=0),
        "down: chest °": Judged(chest, at_most=SUNK_CHEST),
        "hands": Judged(hands, at_most=CARRIED) if name not in ANIMALS else None,
        "feet": Judged(feet, at_most=PINS),
        "turned": Judged(worst_of([_turned(made(), turn) for turn in TURNS]), at_most=STAYS),
        "foot °": Judged(_foot(made()), at_most=FOLLOWS),
        "knees beside": Judged(beside, at_most=BESIDE),
        "mirrored °": Judged(apart, at_most=MIRRORED),
    }


def _hands(posed: SolvedFigure, space: str) -> tuple[float, float, int]:
    """How far the hips and the chest move while each hand is put inside its reach, and how often it does not come."""
    hips, turns, missed = list[float](), list[float](), 0
    for arm in posed.arms:
        posed.hang(arm, space)
        before, joints, target = posed.stand(), posed.joints(arm), posed.chain(arm).target_bone
        stood, rest = posed.at(before, target), (joints[-1] - joints[0]).normalized()
        for share in SHARES:
            for along, ahead, above in HANDS if posed.is_human else PAWS:
                way = (rest * along + FRONT * ahead + UP * above).normalized()
                place = joints[0] + way * _length(joints) * share
                now = posed.put(target, Matrix.Translation(place - stood.translation) @ stood)
                moved = now[:, :3, 3] - before[:, :3, 3]
                hips.append(float(np.linalg.norm(moved[posed.index[posed.body]])) / posed.leg)
                turns.append(float(_angles(now, before)[posed.index[posed.chest]]))
                missed += posed.chain(arm).status != "REACHED"
        posed.put(target, stood)
    return worst_of(hips), worst_of(turns), missed


def _sunk(posed: SolvedFigure) -> tuple[float, float, float]:
    """How far the chest turns, hands move in its space, and feet move, while the hips sink."""
    before, now = posed.stand(), posed.lowered(SUNK)
    chest = posed.index[posed.chest]
    hands, feet = ([posed.index[posed.bones(limb)[-1].name] for limb in limbs] for limbs in (posed.arms, posed.legs))
    carried = [(np.linalg.inv(stand[chest]) @ stand[hands])[:, :3, 3] for stand in (before, now)]
    off = np.linalg.norm([carried[1] - carried[0], (now - before)[feet, :3, 3]], axis=2).max(axis=1) / posed.leg
    return float(_angles(now, before)[chest]), float(off[0]), float(off[1])


def _turned(posed: SolvedFigure, angle: float) -> float:
    """By how much a matrix is another one in a turned armature, a share of the size."""
    before = posed.stand()
    posed.owner.rotation_mode, posed.owner.rotation_euler.z = "XYZ", angle
    off = np.abs(posed.stand() - before)
    off[:, :3, 3] /= max(posed.owner.dimensions)
    return float(off.max())


def _foot(posed: SolvedFigure) -> float:
    """By how many degrees a foot is off its control."""
    found = list[float]()
    for leg in posed.legs:
        before, target, foot = posed.stand(), posed.chain(leg).target_bone, posed.bones(leg)[-1].name
        turn, stood = Matrix.Rotation(FOOT_TURN, 4, "Z"), posed.at(before, target)
        wanted = np.array(turn) @ before
        place = Matrix.Translation(stood.translation)
        now = posed.put(target, place @ turn @ place.inverted() @ stood)
        found.append(float(_angles(now, wanted)[posed.index[foot]]))
    return worst_of(found)


def _crouch(posed: SolvedFigure) -> tuple[float, float]:
    """How far a knee stands beside the line from ankle to toes, and by how many degrees thighs are no mirror images."""
    posed.lowered(CROUCH)
    beside, ways = list[float](), list[Vector]()
    for leg in posed.legs:
        joints, foot = posed.joints(leg), posed.bones(leg)[-1]
        along = (joints[-1] - joints[0]).normalized()
        knee = max(joints[1:-1], key=lambda joint: (joint - joints[0]).cross(along).length)
        toes, off = (foot.tail - joints[-1]).to_2d().normalized(), (knee - joints[-1]).to_2d()
        beside.append(abs(toes.x * off.y - toes.y * off.x) / posed.leg)
        ways.append((knee - joints[0]).normalized())
    off = ways[0] - Vector((-ways[1].x, ways[1].y, ways[1].z))
    return worst_of(beside), float(np.degrees(2.0 * np.arcsin(0.5 * off.length)))


@dataclass(slots=True)
class DragResult:
    """What comes of a drag, by frames.

    Attributes:
        turns: (F, B, 4, 4), by how much each bone is turned from how it stood at first.
        steps: (F,), the most that a joint turns in a frame, in degrees.
        is_met: (F,), whether all was met in that frame and in the one before.
        pins: The farthest that a pinned tip is from where it stood, a share of a leg's length.
    """

    turns: Doubles
    steps: Doubles
    is_met: NDArray[np.bool_]
    pins: float


def drags(scale: Scale) -> Table:
    """Bones dragged in any direction."""
    rows, parts = list[Row](), ("hips", "chest", "head", "hand", "foot")
    for name in DRAGGED[: scale.of(len(DRAGGED), 1)]:
        posed = SolvedFigure(name, live=False)
        twins = _twins(posed)
        rows += [_drag_row(posed, f"{name}: {part}", part, twins) for part in parts[: scale.of(len(parts), 1)]]
    note = (
        f"After *Set Up Character*, feet pinned, *Live* off: a bone is dragged by {WAY} of a leg's length in {FRAMES} "
        f"frames, in {len(CORNERS)} directions. *A frame*: the most that a joint turns between two frames, and in "
        "which direction. *In reach*: the same, of frames in which all is met, and how many these are of a hundred. "
        "*Pins*: the farthest that a pinned tip is from its place, a share of a leg's length. *Mirrored*: by how much "
        "a bone is turned otherwise than its mirror image is in the mirrored drag."
    )
    return Table("10b. Drags in any direction", note, rows)


def _drag_row(posed: SolvedFigure, name: str, part: str, twins: list[int]) -> Row:
    limbs, own = {"hand": posed.arms, "foot": posed.legs}.get(part), posed.body_bones
    chains = [posed.chain(limb) for limb in limbs or ()]
    taken = [dragging.Grip(one.tip_bone, one.effector, one.name) for one in chains] or [_bone_of(posed, part)]
    found = {way: _dragged(posed, taken[0], way) for way in CORNERS}
    others = found if not limbs else {(-x, y, z): _dragged(posed, taken[1], (-x, y, z)) for x, y, z in IMAGES}
    ways = CORNERS if not limbs else IMAGES
    worst = max(found, key=lambda way: found[way].steps.max())
    met = [step for one in found.values() for step in one.steps[one.is_met]]
    return {
        "dragged": name,
        "° a frame": Judged(found[worst].steps.max(), at_most=HELD_BACK, is_goal=True),
        "towards": " ".join(f"{x:.1f}" for x in worst),
        "° in reach": Judged(worst_of(met), at_most=SMOOTH, is_goal=True),
        "in reach %": 100.0 * len(met) / (FRAMES * len(found)),
        "pins": Judged(worst_of([one.pins for one in found.values()]), at_most=PINS),
        "mirrored °": Judged(
            worst_of([_apart(found[x, y, z].turns[:, own], others[-x, y, z].turns[:, twins]) for x, y, z in ways]),
            at_most=MIRRORED,
            is_goal=True,
        ),
    }


def _bone_of(posed: SolvedFigure, part: str) -> dragging.Grip:
    """Hips by their head; chest and head by their tail."""
    if part == "hips":
        return dragging.Grip(posed.body, "HEAD")
    return dragging.Grip(posed.chest if part == "chest" else posed.chain("Head").tip_bone, "TAIL")


def _dragged(posed: SolvedFigure, taken: dragging.Grip, way: Way) -> DragResult:
    """Drag a bone, and put all back."""
    pinned = [chain.name for chain in rig_of(posed.owner).chains if chain.pin and chain.name != taken.chain]
    drag = dragging.begin(CONTEXT, posed.owner, taken)
    places = [posed.joints(name)[-1] for name in pinned]
    stood, met, pins = [posed.stand()], [True], list[float]()
    for frame in range(1, FRAMES + 1):
        moved = Vector(way).normalized() * (WAY * posed.leg * frame / FRAMES)
        found = dragging.drag_to(CONTEXT, drag, drag.place + moved)
        stood.append(posed.stand())
        met.append(found.status == "REACHED" and not found.missed)
        pins += [(posed.joints(name)[-1] - at).length for name, at in zip(pinned, places, strict=True)]
    drag.restore()
    posed.stand()
    poses = np.array(stood)
    own = _own(posed, poses)[:, posed.body_bones]
    steps = _angles(own[1:], own[:-1]).max(axis=1)
    return DragResult(
        poses[1:] @ np.linalg.inv(poses[0]), steps, np.logical_and(met[1:], met[:-1]), worst_of(pins) / posed.leg
    )


def _own(posed: SolvedFigure, poses: Doubles) -> Doubles:
    """Matrices of bones, (F, B, 4, 4), as they stand below their parents."""
    found = poses.copy()
    for i, bone in enumerate(posed.owner.pose.bones):
        if bone.parent:
            found[:, i] = np.linalg.inv(poses[:, posed.index[bone.parent.name]]) @ poses[:, i]
    return found


def _twins(posed: SolvedFigure) -> list[int]:
    """For each bone of the body the place of the one that is its mirror image at rest."""
    ends = np.array([(*bone.head_local, *bone.tail_local) for bone in posed.owner.data.bones])
    images = (ends * (-1.0, 1.0, 1.0, -1.0, 1.0, 1.0))[posed.body_bones]
    return [posed.body_bones[np.linalg.norm(ends[posed.body_bones] - image, axis=1).argmin()] for image in images]


def _apart(a: Doubles, b: Doubles) -> float:
    """The most degrees between turns and the mirror images of others."""
    mirror = np.diag((-1.0, 1.0, 1.0, 1.0))
    return worst_of(_angles(a, mirror @ b @ mirror).ravel().tolist())


def _angles(a: Doubles, b: Doubles) -> Doubles:
    """Degrees between the rotations of matrices, (..., 4, 4)."""
    gap: Doubles = np.linalg.norm((a - b)[..., :3, :3], axis=(-2, -1))
    angles: Doubles = np.degrees(2.0 * np.arcsin((gap / 8.0**0.5).clip(max=1.0)))
    return angles


def _length(joints: Sequence[Vector]) -> float:
    found: float = sum((b - a).length for a, b in pairwise(joints))
    return found


# ---- clips

HUMAN, OTHER = "human_game_engine", "human_mixamo"
FPS = 24
TOO_FAR = 1.06  # by which the hips go farther than the steps
LOWER = 0.1  # metres by which the hips are lowered
STILL, HELD = 1e-4, 1e-5  # of a leg
FIND, CLEAN = 2.0, 1.5  # times as long as reading the clip's poses


def clips(scale: Scale) -> Table:
    """Clips that are set up, posed, and cleaned."""
    note = (
        "A human whose bones are keyed in each frame, set up and live. Kept: frames in which no channel differs. Rest: "
        "a frame of playback with all controls at rest beside the same without live posing; edited: the same with the "
        "hips lowered for the whole clip, and how far feet are then from where they were. Finding and cleaning "
        "contacts beside going through the frames and reading the bones. Slide: the most that a foot that is marked "
        "as flat moves from a frame to the next, before and after. Distances are shares of a leg."
    )
    rows = [_clip_row(scale, frames) for frames in (scale.of(96, 48), scale.of(525, 72))]
    return Table("11. Clips that are kept, edited and cleaned", note, rows)


def transfers(scale: Scale) -> Table:
    """A walk that is brought to another human."""
    note = (
        "The walk of one human on another, whose rest pose, axes and proportions differ: by Blender's Copy Rotation in "
        "the owner's orientation with Copy Location of the hips, baked by `nla.bake`; by Transfer Motion without "
        "contacts, and with them. Slide: how far a foot moves from a frame to the next where the motion is marked to "
        "have it flat on the ground, in the mean and at most. Off the ground: the most that its ankle is higher or "
        "lower there than at rest. All are shares of a leg."
    )
    frames = scale.of(525, 72)
    with quiet():
        empty_file()
        CONTEXT.scene.render.fps = FPS
        source = walking_clip(HUMAN, (9, frames - 8), (1, frames))
        owner: Any = make_human(OTHER)
    feet, bones = both(OTHER, "foot"), owner.pose.bones
    rest = float((owner.matrix_world @ owner.data.bones[feet[0]].head_local).z)
    leg, span = _leg(owner, OTHER), {"span": "RANGE", "frame_start": 1, "frame_end": frames}

    def copy() -> None:
        for part in (*SINGLE, *TWIN):
            kinds = ("COPY_ROTATION", "COPY_LOCATION") if part == "hips" else ("COPY_ROTATION",)
            for own, other in zip(named(OTHER, part), named(HUMAN, part), strict=True):
                for kind in kinds:
                    made: Any = bones[own].constraints.new(kind)
                    made.target, made.subtarget = source, other
                    made.target_space, made.owner_space = "LOCAL_OWNER_ORIENT", "LOCAL"
        bpy.ops.object.mode_set(mode="POSE")
        options: Any = {"visual_keying": True, "clear_constraints": True, "bake_types": {"POSE"}}
        bpy.ops.nla.bake(frame_start=1, frame_end=frames, only_selected=False, **options)
        bpy.ops.object.mode_set(mode="OBJECT")

    def row(way: str, seconds: float) -> Row:
        poses = played(owner, feet)
        steps = np.concatenate([ways(poses[:, i])[on] for i, on in enumerate(flat)]) / leg
        off = max(float(np.abs(poses[1:, i, 2][on] - rest).max()) for i, on in enumerate(flat)) / leg
        kept = way == WAYS[-1]
        return {
            "way": way,
            "slide": float(steps.mean()),
            "at most": Judged(float(steps.max()), at_most=STILL) if kept else float(steps.max()),
            "off the ground": Judged(off, at_most=STILL) if kept else off,
            "seconds / Copy Rotation": seconds / copied,
        }

    def transferred(**options: bool) -> float:
        owner.animation_data_clear()
        return timed(lambda: transfer(source, owner, **span, **options))

    with quiet():
        kept = transferred()
        flat = [flat_steps(owner, name) for name in feet]
        owner.animation_data_clear()
        copied = timed(copy)
        rows = [row(WAYS[0], copied), row(WAYS[1], transferred(keep_contacts=False))]
        rows.append(row(WAYS[2], min(kept, transferred())))
    return Table("11. A clip on another skeleton", note, rows)


WAYS = ("Copy Rotation", "Transfer, without contacts", "Transfer Motion")


def _clip_row(scale: Scale, frames: int) -> Row:
    with quiet():
        empty_file()
        CONTEXT.scene.render.fps = FPS
        owner = walking_clip(HUMAN, (9, frames - 8), (1, frames))
        stretch_way(owner, bone_of(HUMAN, "hips"), TOO_FAR)
        names = [bone.name for bone in owner.pose.bones]
        before = channels(owner, range(1, frames + 1), names)
        slid = played(owner, names)
        CONTEXT.scene.frame_set(1)
        OPS.fabrik.character_setup()
    rig, leg = rig_of(owner), _leg(owner, HUMAN)
    rig.live = True
    now = channels(owner, range(1, frames + 1), names)
    kept = np.mean([(now[frame] == then).all() for frame, then in before.items()])
    span, some = {"span": "RANGE", "frame_start": 1, "frame_end": frames}, min(frames, 48)
    playing = (lambda: _play(owner, False, some)), (lambda: _play(owner, True, some))
    resting = scale.interleaved(*playing)
    body = owner.pose.bones[rig.chains["Body"].target_bone]
    body.location = body.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, -LOWER))
    edited = scale.interleaved(*playing)
    feet = [names.index(rig.chains[name].tip_bone) for name in ("Leg.L", "Leg.R")]
    held = np.abs((played(owner, names) - slid)[:, feet]).max() / leg
    body.location = (0.0, 0.0, 0.0)
    read = timed(lambda: played(owner, names))
    with quiet():
        found = timed(lambda: OPS.fabrik.contacts_find(**span))
        cleaned = timed(lambda: OPS.fabrik.contacts_clean(**span))
    still, flat = played(owner, names), [flat_steps(owner, names[foot]) for foot in feet]
    slides = [
        max(float(ways(poses[:, foot])[on].max()) for foot, on in zip(feet, flat, strict=True)) / leg
        for poses in (slid, still)
    ]
    return {
        "frames": frames,
        "kept %": Judged(100.0 * float(kept), at_least=100.0),
        "rest / alone": resting.ratio(1, 0),
        "edited / alone": edited.ratio(1, 0),
        "feet off": Judged(float(held), at_most=HELD),
        "find / read": Judged(found / read, at_most=FIND),
        "clean / read": Judged(cleaned / read, at_most=CLEAN),
        "slide before": slides[0],
        "slide after": Judged(slides[1], at_most=STILL),
    }


def _leg(owner: Any, human: str) -> float:
    """The length of a leg at rest."""
    thigh, foot = (owner.data.bones[bone_of(human, part, "L")] for part in ("thigh", "foot"))
    return float((thigh.head_local - foot.head_local).length)


def _play(owner: Any, live: bool, frames: int) -> None:
    rig_of(owner).live = live
    play(range(1, frames + 1))

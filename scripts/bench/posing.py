# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are dragged after their set-up; and what keeping, cleaning and moving clips costs.

All is judged by what Blender evaluates. Characters face -Y in the world, and their left side is at +X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import bpy
import numpy as np
from fabrik_addon.actions import drag as dragging
from fabrik_addon.maths import Doubles
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.control_bones import control_names
from fabrik_addon.rig.schema import FabrikChain, limit_of
from mathutils import Vector
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

from .tables import Judged, Row, Scale, Table, play, timed, worst_of

Way: TypeAlias = tuple[float, float, float]
CONTEXT: Any = bpy.context
FRAMES, WAY = 60, 0.5  # of a drag, and its way in lengths of a leg
GOLDEN = (1.0 + 5.0**0.5) / 2.0
CORNERS: Sequence[Way] = [  # of an icosahedron; the mirror image of one is another
    way for a in (-1.0, 1.0) for b in (-GOLDEN, GOLDEN) for way in ((0.0, a, b), (a, b, 0.0), (b, 0.0, a))
]
IMAGES = CORNERS[::3]  # in which the other hand and foot are dragged, too
PINS = 1e-4  # shares of a leg's length
MIRRORED = 0.5  # degrees
SMOOTH, HELD_BACK = 5.0, 15.0  # degrees a frame

STRAIGHT = "cmu_walk"  # whose limbs are drawn straight, as those of many captured skeletons
DRAGGED = (*HUMANS, STRAIGHT, "wolf")


class SolvedFigure:
    """A character that was set up, in Pose mode, without its mesh; *Live* is off."""

    def __init__(self, name: str) -> None:
        empty_file()
        with quiet():
            makers = dict.fromkeys(HUMANS, make_human) | {STRAIGHT: skeleton}
            self.owner: Any = makers.get(name, metarig)(name)
            for found in [one for one in bpy.data.objects if one.type == "MESH"]:
                bpy.data.objects.remove(found)
            OPS.fabrik.character_setup()
        bpy.ops.object.mode_set(mode="POSE")
        self.index = {bone.name: i for i, bone in enumerate(self.owner.pose.bones)}
        limbs = ("Front Leg", "Hind Leg") if name == "wolf" else ("Arm", "Leg")
        self.arms, self.legs = ([f"{limb}.{side}" for side in "LR"] for limb in limbs)  # front and hind limbs
        rig, above = rig_of(self.owner), self.bones(self.arms[0])[0].parent
        while limit_of(above).of_limb:
            above = above.parent
        self.body, self.chest, rig.live = rig.body_bone, above.name, False
        self.stand()
        self.leg = _length(self.joints(self.legs[0]))

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


@dataclass(slots=True)
class DragResult:
    """What comes of a drag, by frames."""

    turns: Doubles  # (F, B, 4, 4), by how much each bone is turned from how it stood at first
    steps: Doubles  # (F,), the most that a joint turns in a frame, in degrees
    is_met: NDArray[np.bool_]  # (F,), whether all was met in that frame and in the one before
    pins: float  # the farthest that a pinned tip is from where it stood, a share of a leg's length


def drags(scale: Scale) -> Table:
    """Bones dragged in any direction."""
    rows, parts = list[Row](), ("hips", "chest", "head", "hand", "foot")
    for name in DRAGGED[: scale.of(len(DRAGGED), 1)]:
        posed = SolvedFigure(name)
        twins = _twins(posed)
        rows += [_drag_row(posed, f"{name}: {part}", part, twins) for part in parts[: scale.of(len(parts), 1)]]
    note = (
        f"After *Set Up Character*, feet pinned, *Live* off: a bone is dragged by {WAY} of a leg's length in {FRAMES} "
        f"frames, in {len(CORNERS)} directions. *A frame*: the most that a joint turns between two frames, and in "
        "which direction. *In reach*: the same, of frames in which all is met, and how many these are of a hundred. "
        "*Pins*: the farthest that a pinned tip is from its place, a share of a leg's length. *Mirrored*: by how much "
        "a bone is turned otherwise than its mirror image is in the mirrored drag."
    )
    return Table("10. Drags in any direction", note, rows)


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
STILL = 1e-4  # of a leg
FIND, CLEAN = 2.0, 1.5  # times as long as reading the clip's poses


def clips(scale: Scale) -> Table:
    """Clips that are set up, posed, and cleaned."""
    note = (
        "A human whose bones are keyed in each frame, set up and live. Rest: a frame of playback with all controls at "
        "rest beside the same without live posing; edited: the same with the hips lowered for the whole clip. Finding "
        "and cleaning contacts beside going through the frames and reading the bones."
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
        CONTEXT.scene.frame_set(1)
        OPS.fabrik.character_setup()
    rig = rig_of(owner)
    rig.live = True
    span, some = {"span": "RANGE", "frame_start": 1, "frame_end": frames}, min(frames, 48)
    playing = (lambda: _play(owner, False, some)), (lambda: _play(owner, True, some))
    resting = scale.interleaved(*playing)
    body = owner.pose.bones[rig.chains["Body"].target_bone]
    body.location = body.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, -LOWER))
    edited = scale.interleaved(*playing)
    body.location = (0.0, 0.0, 0.0)
    read = timed(lambda: played(owner, names))
    with quiet():
        found = timed(lambda: OPS.fabrik.contacts_find(**span))
        cleaned = timed(lambda: OPS.fabrik.contacts_clean(**span))
    return {
        "frames": frames,
        "rest / alone": resting.ratio(1, 0),
        "edited / alone": edited.ratio(1, 0),
        "find / read": Judged(found / read, at_most=FIND),
        "clean / read": Judged(cleaned / read, at_most=CLEAN),
    }


def _leg(owner: Any, human: str) -> float:
    """The length of a leg at rest."""
    thigh, foot = (owner.data.bones[bone_of(human, part, "L")] for part in ("thigh", "foot"))
    return float((thigh.head_local - foot.head_local).length)


def _play(owner: Any, live: bool, frames: int) -> None:
    rig_of(owner).live = live
    play(range(1, frames + 1))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A human posed by its controls with *Live* on, as by hand: a hand raised, a crouch, a turn, hands on a staff."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

import bpy
from bodies import update
from fabrik_addon.maths import ORIGIN, V3
from mathutils import Euler, Matrix, Quaternion, Vector
from picture import BODY, PIN, TARGET, Color, Drawing, evaluated_meshes, mesh_of, save

from blender import OPS, rig_of
from dev.humans import HEIGHT, bone_of, make_human
from dev.quiet import quiet
from environment import say
from rigs import empty_file, end_of

HEADER = f"{'posed':<14} {'chains':>6} {'reached':>8} {'feet moved':>11} {'off the staff':>14}"
HUMAN = "human_mixamo"
PIXELS = (460, 455)
IN_PLACE = 1e-4  # of the height, that a pinned foot may move, or a hand on the staff
AT_EASE = {"L": (0.24, -0.08, 0.96), "R": (-0.24, -0.08, 0.96)}  # where wrists are in metres, as those below
ON_STAFF = {"L": (0.16, -0.34, 1.1), "R": (-0.16, -0.34, 1.1)}
CURL = (45.0, 60.0, 40.0)  # degrees, of the bones of a finger round a staff
THUMB = 0.4  # of that, of the thumb's
STAFF: Color = (0.5, 0.33, 0.16, 1)
LONG, THICK = 1.5, 0.016  # of the staff, in metres
SIDES = "LR"


class Posed:
    """The human after its set-up, in Pose mode with *Live* on, its arms at its sides.

    Attributes:
        owner: The armature object.
    """

    def __init__(self) -> None:
        empty_file()
        self.owner = make_human(HUMAN)
        OPS.fabrik.character_setup()
        bpy.ops.object.mode_set(mode="POSE")
        rig_of(self.owner).live = True
        for side in SIDES:
            self.move_hand(side, AT_EASE[side])

    def control(self, part: str, side: str = "") -> str:
        """The bone by which a part is moved: of a hand or a foot its target, of the body the bone itself."""
        limb = "Leg" if part == "foot" else "Arm"
        return rig_of(self.owner).chains[f"{limb}.{side}"].target_bone if side else bone_of(HUMAN, part)

    def move(self, name: str, way: V3 = ORIGIN, turn: V3 = ORIGIN) -> None:
        """Move a bone by metres, and turn it by degrees about X, Y and Z of the armature, where its head is."""
        bone = self.owner.pose.bones[name]
        self._put(name, Matrix.Translation(bone.head + Vector(way)) @ _turn(turn) @ _rotation(bone.matrix))

    def move_hand(self, side: str, place: V3) -> None:
        """Put the control of a hand to a place in metres, and turn it so that the hand is straight with its forearm."""
        name, forearm = self.control("hand", side), bone_of(HUMAN, "forearm", side)
        bones = self.owner.pose.bones
        for _ in range(3):  # the forearm turns a little with its wrist
            along = _rotation(bones[forearm].matrix) @ _rotation(bones[forearm].bone.matrix_local).inverted()
            self._put(name, Matrix.Translation(place) @ along @ _rotation(bones[name].bone.matrix_local))

    def _put(self, name: str, matrix: Matrix) -> None:
        self.owner.pose.bones[name].matrix = matrix
        update()

    def close_hand(self, side: str) -> None:
        """Bend the fingers."""
        hand, bones = bone_of(HUMAN, "hand", side), self.owner.pose.bones
        across = bones[f"{hand}Pinky1"].bone.head_local - bones[f"{hand}Index1"].bone.head_local
        for bone in bones[hand].children_recursive:
            number = int(bone.name[-1]) - 1
            if number < len(CURL):
                angle = CURL[number] * (THUMB if "Thumb" in bone.name else 1.0) * (1.0 if side == "L" else -1.0)
                axis = bone.bone.matrix_local.to_3x3().inverted() @ across
                bone.rotation_quaternion = Quaternion(axis, radians(angle))
        update()

    def grip(self, side: str) -> Vector:
        """Where a staff goes through a closed hand."""
        heads = [self.owner.pose.bones[f"{bone_of(HUMAN, 'hand', side)}Middle{k}"].head for k in (1, 2, 3)]
        return (heads[0] + heads[1] + heads[2]) / 3.0

    def grab(self, side: str, way: str) -> None:
        """Press *Grab* for a hand: it is to go along with the staff, or the staff with it."""
        rig = rig_of(self.owner)
        rig.active_index = [chain.name for chain in rig.chains].index(f"Arm.{side}")
        OPS.fabrik.grab(way=way, object="Staff")
        update()

    def drag(self, part: str, way: V3) -> None:
        """Press *Drag Bone* for the tail of a bone, and move it by metres."""
        OPS.fabrik.drag(bone=bone_of(HUMAN, part), end="TAIL", way=way)
        update()

    def turn(self, part: str, turn: V3) -> None:
        """Press *Drag Bone* for a bone, and R: it is turned where it is, by degrees, and others share the turn."""
        angles = [radians(angle) for angle in turn]
        OPS.fabrik.drag(bone=bone_of(HUMAN, part), end="TAIL", with_turn=True, turn=angles)
        update()


def _rotation(matrix: Matrix) -> Matrix:
    return matrix.to_quaternion().to_matrix().to_4x4()


def _turn(angles: V3) -> Matrix:
    return Euler([radians(angle) for angle in angles]).to_matrix().to_4x4()


def _take_staff(posed: Posed) -> None:
    """Both hands close about a staff, which is given to the right one; the left one grabs it."""
    for side in SIDES:
        posed.move_hand(side, ON_STAFF[side])
        posed.close_hand(side)
    left, right = (posed.grip(side) for side in SIDES)
    corners = [(THICK * x, THICK * y, 0.5 * z * LONG) for z in (-1, 1) for x, y in ((-1, 0), (0, -1), (1, 0), (0, 1))]
    faces = [(i, (i + 1) % 4, (i + 1) % 4 + 4, i + 4) for i in range(4)]
    staff = bpy.data.objects.new("Staff", mesh_of("Staff", corners, faces))
    bpy.context.scene.collection.objects.link(staff)
    staff.matrix_world = (
        Matrix.Translation((left + right) / 2.0) @ (left - right).to_track_quat("Z", "Y").to_matrix().to_4x4()
    )
    posed.grab("R", "OBJECT")
    posed.grab("L", "HAND")


def _lift(posed: Posed) -> None:
    """Free the left foot, and put the hips over the right one."""
    rig_of(posed.owner).chains["Leg.L"].pin = False
    posed.move(posed.control("hips"), (-0.07, 0.02, -0.03))


@dataclass(frozen=True)
class Scene:
    """A pose.

    Attributes:
        name: Of its files.
        moved: The part whose control is moved, and its side.
        pose: Poses it.
        begin: What is done before, and seen at the left.
    """

    name: str
    moved: tuple[str, str]
    pose: Callable[[Posed], None]
    begin: Callable[[Posed], None] | None = None


KICK = (0.02, -0.62, 0.62)  # of a foot, in metres
SCENES = (
    Scene("posing_hand", ("hand", "L"), lambda posed: posed.move_hand("L", (0.4, -0.16, 1.68))),
    Scene("posing_hips", ("hips", ""), lambda posed: posed.move(posed.control("hips"), (0.0, 0.1, -0.36))),
    Scene(
        "posing_kick",
        ("foot", "L"),
        lambda posed: posed.move(posed.control("foot", "L"), KICK, (-75.0, 0.0, 0.0)),
        _lift,
    ),
    Scene("posing_pull", ("chest", ""), lambda posed: posed.drag("chest", (0.0, -0.22, -0.2))),
    Scene("posing_chest", ("chest", ""), lambda posed: posed.turn("chest", (0.0, 0.0, 35.0))),
    Scene(
        "posing_staff",
        ("hand", "R"),
        lambda posed: posed.move(posed.control("hand", "R"), (-0.03, 0.0, 0.3), (0.0, 25.0, 0.0)),
        _take_staff,
    ),
)
VIEW = (0.8, -1.0, 0.25)


def pose_by_hand(out: Path) -> int:
    """Pose all scenes; returns how many chains did not reach, and feet and hands that are not where they are to be."""
    failed = 0
    print(f"\n{HEADER}")
    for scene in SCENES:
        say(f"posed: {scene.name}")
        with quiet():
            posed = Posed()
            if scene.begin is not None:
                scene.begin(posed)
            before, stood = _drawn(posed, scene), _held(posed)
            scene.pose(posed)
            save(out / scene.name, [before, _drawn(posed, scene)], VIEW)
        failed += _print_row(scene.name, posed, stood)
    return failed


def _held(posed: Posed) -> tuple[list[Vector], list[Vector]]:
    """Where the feet are in the world, and the hands in the frame of the staff, where there is one."""
    feet = [end_of(chain) for chain in rig_of(posed.owner).chains if chain.pin]
    staff: bpy.types.Object | None = bpy.data.objects.get("Staff")
    back = staff.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.inverted() if staff else None
    return feet, [back @ posed.grip(side) for side in SIDES] if back else []


def _print_row(name: str, posed: Posed, stood: tuple[list[Vector], list[Vector]]) -> int:
    chains = [chain for chain in rig_of(posed.owner).chains if chain.enabled]
    reached = [chain for chain in chains if chain.status == "REACHED"]
    feet, hands = (
        max(((a - b).length / HEIGHT for a, b in zip(*pair, strict=True)), default=0.0)
        for pair in zip(stood, _held(posed), strict=True)
    )
    print(f"{name:<14} {len(chains):>6} {len(reached):>8} {feet:>11.1e} {hands:>14.1e}", flush=True)
    return len(chains) - len(reached) + int(feet > IN_PLACE) + int(hands > IN_PLACE)


def _drawn(posed: Posed, scene: Scene) -> Drawing:
    """The human as Blender evaluates it now, with rings at pinned feet, and the control that is moved."""
    drawing = Drawing(floor=Vector(), extent=HEIGHT, pixels=PIXELS)
    drawing.skins += [(mesh, STAFF if name == "Staff" else BODY) for name, mesh in evaluated_meshes()]
    drawing.points += [(end_of(chain), PIN, "ring") for chain in rig_of(posed.owner).chains if chain.pin]
    bone = posed.owner.pose.bones[posed.control(*scene.moved)]
    shape = bone.custom_shape
    assert shape is not None
    mesh: Any = shape.data
    to = bone.matrix @ Matrix.LocRotScale(
        bone.custom_shape_translation, Euler(bone.custom_shape_rotation_euler), bone.custom_shape_scale_xyz
    )
    places = [to @ vertex.co for vertex in mesh.vertices]
    drawing.lines += [(places[edge.vertices[0]], places[edge.vertices[1]], TARGET) for edge in mesh.edges]
    return drawing

# SPDX-License-Identifier: GPL-3.0-or-later
"""A skinned human posed as a whole: by buttons, feet pinned, goals for hands and eyes; and by its controls, live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import atan2, degrees, radians
from pathlib import Path
from typing import Any

import bpy
from fabrik_addon.maths import ORIGIN, V3, conjugated, multiplied, turn_angle
from fabrik_addon.rig.schema.chain import FabrikChain
from limbs import update, worst_violation
from mathutils import Euler, Matrix, Quaternion, Vector
from picture import BODY, PIN, TARGET, Color, Drawing, add, cube, evaluated_meshes, mesh_of, save

from blender import OPS, limit_of, quiet, rig_of
from dev.humans import HEIGHT, bone_of, both, give_ranges, make_human, select
from environment import say
from rigs import empty_file, end_of

HEADER = f"{'body':<10} {'chain':<12} {'status':<9} {'off':>10} {'turned off':>14} {'limit violation':>16}"
IN_PLACE = 1e-4  # of the height, that a goal may be off
SLACK = 0.01  # degrees
SEAT: Color = (0.72, 0.62, 0.5, 1)
EYES = 0.45  # of the bone of the head, at which they are
HUMAN = "human_game_engine"
FORWARD = (0.0, 0.0, 1.0)  # where its eyes look, in the axes of its head
GIRDLE = 0.6  # stiffness of the clavicles, which follow where the arm alone does not reach


@dataclass(frozen=True)
class Scene:
    """A pose of the whole body."""

    name: str  # of its files
    hands: dict[str, V3] = field(default_factory=dict)  # where the wrists go, in metres, by side
    look: V3 | None = None  # at what the eyes look; None where they have no goal
    hips: V3 | None = None  # where the hips go; None where they follow
    # whether all are dragged there one after the other, and pinned; else they have goals of their own
    is_dragged: bool = False
    body_stiffness: float = 0.0  # how much later than the limbs the hips give way
    spine: float = 0.5  # how readily the bones between hips and limbs give way
    seat: tuple[V3, V3] | None = None  # lowest and highest corner of what is sat on, or None
    view: V3 = (1.0, -1.0, 0.3)  # direction from which it is looked at


SCENES = (
    Scene(
        "squat",
        hands={"L": (0.2, -0.5, 1.0), "R": (-0.2, -0.5, 1.0)},
        look=(0.0, -1.1, 1.2),
        hips=(0.0, 0.16, 0.62),
        spine=0.3,
    ),
    Scene(
        "reach",
        hands={"R": (-0.25, -0.75, 1.5)},
        look=(-0.25, -0.75, 1.5),
        body_stiffness=0.9,
        spine=0.9,
        view=(1.0, -0.5, 0.2),
    ),
    Scene(
        "sit",
        hands={"L": (0.15, -0.2, 0.6), "R": (-0.15, -0.2, 0.6)},
        hips=(0.0, 0.3, 0.56),
        is_dragged=True,
        seat=((-0.3, 0.12, 0.0), (0.3, 0.62, 0.43)),
    ),
    Scene("look", hands={"L": (0.12, -0.42, 1.38)}, look=(0.1, -0.48, 1.42), view=(0.7, -1.0, 0.2)),
)


def make(scene: Scene) -> bpy.types.Object:
    """The human in a file made anew, with limits and pinned feet, as it stands at rest; in Pose mode."""
    empty_file()
    owner = make_human(HUMAN)
    give_ranges(owner)
    for name in both(HUMAN, "clavicle"):
        limit_of(owner.pose.bones[name]).stiffness = GIRDLE
    if scene.seat is not None:
        _add_seat(*scene.seat)
    _pin(owner, both(HUMAN, "foot"))
    OPS.fabrik.body_bone_set(bone=bone_of(HUMAN, "hips"))
    rig_of(owner).body_stiffness, rig_of(owner).spine = scene.body_stiffness, scene.spine
    update()
    return owner


def pose(scene: Scene, owner: bpy.types.Object) -> None:
    """Drag what is to be dragged, or give it goals; then solve."""
    for bone, count, place in ends(scene):
        if scene.is_dragged:
            OPS.fabrik.drag(bone=bone, end="HEAD", way=Vector(place) - owner.pose.bones[bone].head)
            _pin(owner, [bone])
        else:
            _add_chain(owner, bone, count, place).effector = "HEAD"
    if scene.look is not None:
        chain = _add_chain(owner, bone_of(HUMAN, "head"), 2, scene.look)
        chain.name, chain.kind, chain.aim_axis = "eyes", "AIM", FORWARD
    OPS.fabrik.solve_all()
    update()


def ends(scene: Scene) -> list[tuple[str, int, V3]]:
    """The bones whose heads have goals, hips first, then hands; how many bones their chains have; and the goals."""
    hips = [(bone_of(HUMAN, "hips"), 1, scene.hips)] if scene.hips is not None else []
    return [*hips, *((bone_of(HUMAN, "hand", side), 3, place) for side, place in scene.hands.items())]


def _pin(owner: bpy.types.Object, names: Sequence[str]) -> None:
    select(owner, names)
    OPS.fabrik.pin_toggle(action="PIN")


def _add_chain(owner: bpy.types.Object, bone: str, count: int, place: V3) -> FabrikChain:
    OPS.fabrik.chain_add(tip_bone=bone, bone_count=count, use_target=True)
    chain = rig_of(owner).chains[-1]
    chain.target.location = place
    return chain


def _add_seat(low: Sequence[float], high: Sequence[float]) -> None:
    mesh, size = cube(), Vector(high) - Vector(low)
    mesh.transform(Matrix.LocRotScale(Vector(low) + size / 2.0, None, size / 2.0))
    add("Seat", mesh, SEAT)


def draw_body(scene: Scene, owner: bpy.types.Object) -> Drawing:
    """A scene as Blender evaluates it now."""
    drawing = Drawing(floor=Vector((0.0, 0.0, 0.0)), extent=HEIGHT)
    drawing.skins += [(mesh, SEAT if name == "Seat" else BODY) for name, mesh in evaluated_meshes()]
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for chain in rig_of(owner).chains:
        if chain.tip_bone in both(HUMAN, "foot"):
            drawing.points.append((Vector(chain.held_location), PIN, "ring"))
    for bone, _, place in ends(scene):
        drawing.add_goal(evaluated.pose.bones[bone].head.copy(), Vector(place), "frame")
    if scene.look is not None:
        eyes = evaluated.pose.bones[bone_of(HUMAN, "head")]
        drawing.add_goal(eyes.head + (eyes.tail - eyes.head) * EYES, Vector(scene.look), "sphere")
    return drawing


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
            bpy.ops.object.mode_set(mode="POSE")
            save(out / f"body_{scene.name}", [before, draw_body(scene, owner)], scene.view)
        failed += _print_rows(scene.name, owner)
    print("\noff: share of the height, or degrees of an aim, as Blender evaluates it; turned off: of a pinned rotation")
    return failed


def _print_rows(name: str, owner: bpy.types.Object) -> int:
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    violation, failed = worst_violation(owner, owner.pose.bones), 0
    for chain in rig_of(owner).chains:
        bone = evaluated.pose.bones[chain.tip_bone]
        goal = Vector(chain.held_location) if chain.target is None else chain.target.matrix_world.translation
        if chain.kind == "AIM":
            axis = bone.matrix.to_3x3() @ Vector(chain.aim_axis)
            wanted = goal - bone.head
            off, unit = degrees(atan2(axis.cross(wanted).length, axis.dot(wanted))), " deg"
        else:
            off, unit = (end_of(chain) - goal).length / HEIGHT, ""
        turned = 0.0
        if chain.orientation == "KEEP":
            turn = (evaluated.matrix_world @ bone.matrix).to_quaternion()
            turned = degrees(turn_angle(multiplied(turn, conjugated(chain.held_rotation))))
        failed += chain.status != "REACHED" or (chain.kind != "AIM" and off > IN_PLACE) or violation > SLACK
        print(
            f"{name:<10} {chain.name:<12} {chain.status:<9} {off:>10.1e}{unit:4} {turned:>7.1e} deg"
            f" {violation:>12.5f} deg",
            flush=True,
        )
    return failed


# ---- posed by controls

POSED_HEADER = f"{'posed':<14} {'chains':>6} {'reached':>8} {'feet moved':>11} {'off the staff':>14}"
POSED_HUMAN = "human_mixamo"
PIXELS = (460, 455)
AT_EASE = {"L": (0.24, -0.08, 0.96), "R": (-0.24, -0.08, 0.96)}  # where wrists are in metres, as those below
ON_STAFF = {"L": (0.16, -0.34, 1.1), "R": (-0.16, -0.34, 1.1)}
CURL = (45.0, 60.0, 40.0)  # degrees, of the bones of a finger round a staff
THUMB = 0.4  # of that, of the thumb's
STAFF: Color = (0.5, 0.33, 0.16, 1)
LONG, THICK = 1.5, 0.016  # of the staff, in metres
SIDES = "LR"


class SolvedFigure:
    """The human after its set-up, in Pose mode with *Live* on, its arms at its sides.

    Attributes:
        owner: The armature object.
    """

    def __init__(self) -> None:
        empty_file()
        self.owner = make_human(POSED_HUMAN)
        OPS.fabrik.character_setup()
        bpy.ops.object.mode_set(mode="POSE")
        rig_of(self.owner).live = True
        for side in SIDES:
            self.move_hand(side, AT_EASE[side])

    def control(self, part: str, side: str = "") -> str:
        """The bone by which a part is moved: of a hand or a foot its target, of the body the bone itself."""
        limb = "Leg" if part == "foot" else "Arm"
        return rig_of(self.owner).chains[f"{limb}.{side}"].target_bone if side else bone_of(POSED_HUMAN, part)

    def move(self, name: str, way: V3 = ORIGIN, turn: V3 = ORIGIN) -> None:
        """Move a bone by metres, and turn it by degrees about X, Y and Z of the armature, where its head is."""
        bone = self.owner.pose.bones[name]
        self._put(name, Matrix.Translation(bone.head + Vector(way)) @ _turn(turn) @ _rotation(bone.matrix))

    def move_hand(self, side: str, place: V3) -> None:
        """Put the control of a hand to a place in metres, and turn it so that the hand is straight with its forearm."""
        name, forearm = self.control("hand", side), bone_of(POSED_HUMAN, "forearm", side)
        bones = self.owner.pose.bones
        for _ in range(3):  # the forearm turns a little with its wrist
            along = _rotation(bones[forearm].matrix) @ _rotation(bones[forearm].bone.matrix_local).inverted()
            self._put(name, Matrix.Translation(place) @ along @ _rotation(bones[name].bone.matrix_local))

    def _put(self, name: str, matrix: Matrix) -> None:
        self.owner.pose.bones[name].matrix = matrix
        update()

    def close_hand(self, side: str) -> None:
        """Bend the fingers."""
        hand, bones = bone_of(POSED_HUMAN, "hand", side), self.owner.pose.bones
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
        heads = [self.owner.pose.bones[f"{bone_of(POSED_HUMAN, 'hand', side)}Middle{k}"].head for k in (1, 2, 3)]
        return (heads[0] + heads[1] + heads[2]) / 3.0

    def grab(self, side: str, way: str) -> None:
        """Press *Grab* for a hand: it is to go along with the staff, or the staff with it."""
        rig = rig_of(self.owner)
        rig.active_index = [chain.name for chain in rig.chains].index(f"Arm.{side}")
        OPS.fabrik.grab(way=way, object="Staff")
        update()

    def drag(self, part: str, way: V3) -> None:
        """Press *Drag Bone* for the tail of a bone, and move it by metres."""
        OPS.fabrik.drag(bone=bone_of(POSED_HUMAN, part), end="TAIL", way=way)
        update()

    def turn(self, part: str, turn: V3) -> None:
        """Press *Drag Bone* for a bone, and R: it is turned where it is, by degrees, and others share the turn."""
        angles = [radians(angle) for angle in turn]
        OPS.fabrik.drag(bone=bone_of(POSED_HUMAN, part), end="TAIL", with_turn=True, turn=angles)
        update()


def _rotation(matrix: Matrix) -> Matrix:
    return matrix.to_quaternion().to_matrix().to_4x4()


def _turn(angles: V3) -> Matrix:
    return Euler([radians(angle) for angle in angles]).to_matrix().to_4x4()


def _take_staff(posed: SolvedFigure) -> None:
    """Both hands close about a staff, which is given to the right one; the left one grabs it."""
    for side in SIDES:
        posed.move_hand(side, ON_STAFF[side])
        posed.close_hand(side)
    left, right = (posed.grip(side) for side in SIDES)
    corners = [(THICK * x, THICK * y, 0.5 * z * LONG) for z in (-1, 1) for x, y in ((-1, 0), (0, -1), (1, 0), (0, 1))]
    faces = [(i, (i + 1) % 4, (i + 1) % 4 + 4, i + 4) for i in range(4)]
    turn = (left - right).to_track_quat("Z", "Y")
    add("Staff", mesh_of("Staff", corners, faces), STAFF, Matrix.LocRotScale((left + right) / 2.0, turn, None))
    posed.grab("R", "OBJECT")
    posed.grab("L", "HAND")


def _lift(posed: SolvedFigure) -> None:
    """Free the left foot, and put the hips over the right one."""
    rig_of(posed.owner).chains["Leg.L"].pin = False
    posed.move(posed.control("hips"), (-0.07, 0.02, -0.03))


KICK = (0.02, -0.62, 0.62)  # of a foot, in metres
CONTROL_SCENES: dict[
    str, tuple[tuple[str, str], Callable[[SolvedFigure], None]]
] = {  # the part that is moved, its side; how
    "posing_hand": (("hand", "L"), lambda posed: posed.move_hand("L", (0.4, -0.16, 1.68))),
    "posing_hips": (("hips", ""), lambda posed: posed.move(posed.control("hips"), (0.0, 0.1, -0.36))),
    "posing_kick": (("foot", "L"), lambda posed: posed.move(posed.control("foot", "L"), KICK, (-75.0, 0.0, 0.0))),
    "posing_pull": (("chest", ""), lambda posed: posed.drag("chest", (0.0, -0.22, -0.2))),
    "posing_chest": (("chest", ""), lambda posed: posed.turn("chest", (0.0, 0.0, 35.0))),
    "posing_staff": (
        ("hand", "R"),
        lambda posed: posed.move(posed.control("hand", "R"), (-0.03, 0.0, 0.3), (0.0, 25.0, 0.0)),
    ),
}
BEGUN = {"posing_kick": _lift, "posing_staff": _take_staff}  # what is done before, and seen at the left
VIEW = (0.8, -1.0, 0.25)


def pose_by_hand(out: Path) -> int:
    """Pose all scenes; returns how many chains did not reach, and feet and hands that are not where they are to be."""
    failed = 0
    print(f"\n{POSED_HEADER}")
    for name, (moved, pose) in CONTROL_SCENES.items():
        say(f"posed: {name}")
        with quiet():
            posed = SolvedFigure()
            if name in BEGUN:
                BEGUN[name](posed)
            before, stood = _drawn(posed, moved), _held(posed)
            pose(posed)
            save(out / name, [before, _drawn(posed, moved)], VIEW)
        failed += _print_row(name, posed, stood)
    return failed


def _held(posed: SolvedFigure) -> tuple[list[Vector], list[Vector]]:
    """Where the feet are in the world, and the hands in the frame of the staff, where there is one."""
    feet = [end_of(chain) for chain in rig_of(posed.owner).chains if chain.pin]
    staff: bpy.types.Object | None = bpy.data.objects.get("Staff")
    back = staff.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.inverted() if staff else None
    return feet, [back @ posed.grip(side) for side in SIDES] if back else []


def _print_row(name: str, posed: SolvedFigure, stood: tuple[list[Vector], list[Vector]]) -> int:
    chains = [chain for chain in rig_of(posed.owner).chains if chain.enabled]
    reached = [chain for chain in chains if chain.status == "REACHED"]
    feet, hands = (
        max(((a - b).length / HEIGHT for a, b in zip(*pair, strict=True)), default=0.0)
        for pair in zip(stood, _held(posed), strict=True)
    )
    print(f"{name:<14} {len(chains):>6} {len(reached):>8} {feet:>11.1e} {hands:>14.1e}", flush=True)
    return len(chains) - len(reached) + int(feet > IN_PLACE) + int(hands > IN_PLACE)


def _drawn(posed: SolvedFigure, moved: tuple[str, str]) -> Drawing:
    """The human as Blender evaluates it now, with rings at pinned feet, and the control that is moved."""
    drawing = Drawing(floor=Vector(), extent=HEIGHT, pixels=PIXELS)
    drawing.skins += [(mesh, STAFF if name == "Staff" else BODY) for name, mesh in evaluated_meshes()]
    drawing.points += [(end_of(chain), PIN, "ring") for chain in rig_of(posed.owner).chains if chain.pin]
    bone = posed.owner.pose.bones[posed.control(*moved)]
    shape = bone.custom_shape
    assert shape is not None
    mesh: Any = shape.data
    to = bone.matrix @ Matrix.LocRotScale(
        bone.custom_shape_translation, Euler(bone.custom_shape_rotation_euler), bone.custom_shape_scale_xyz
    )
    places = [to @ vertex.co for vertex in mesh.vertices]
    drawing.lines += [(places[edge.vertices[0]], places[edge.vertices[1]], TARGET) for edge in mesh.edges]
    return drawing

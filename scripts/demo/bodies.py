# SPDX-License-Identifier: GPL-3.0-or-later
"""A skinned human posed as a whole by the buttons that a user presses: feet pinned, goals for hands and eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, degrees
from pathlib import Path

import bpy
from fabrik_addon.actions import drag as dragging
from fabrik_addon.maths import V3, conjugated, multiplied, turn_angle
from fabrik_addon.rig.schema.chain import FabrikChain
from limbs import worst_violation
from mathutils import Matrix, Vector
from picture import BODY, PIN, Color, Drawing, cube, evaluated_meshes, save

from blender import OPS, limit_of, rig_of
from dev.humans import HEIGHT, bone_of, both, give_ranges, make_human, select
from dev.quiet import quiet
from environment import say
from rigs import empty_file, end_of

HEADER = f"{'body':<10} {'chain':<12} {'status':<9} {'off':>10} {'turned off':>14} {'limit violation':>16}"
IN_PLACE = 1e-4  # of the height, that a goal may be off
SLACK = 0.01  # degrees
SEAT: Color = (0.72, 0.62, 0.5, 1)
EYES = 0.45  # of the bone of the head, at which they are
HUMAN = "human_game_engine"
FORWARD = (0.0, 0.0, 1.0)  # where its eyes look, in the axes of its head
STEPS = 40  # in which the hips are dragged
GIRDLE = 0.6  # stiffness of the clavicles, which follow where the arm alone does not reach


@dataclass(frozen=True)
class Scene:
    """A pose of the whole body.

    Attributes:
        name: Of its files.
        hands: Where the wrists go, in metres, by side.
        look: At what the eyes look; None where they have no goal.
        hips: Where the hips go; None where they follow.
        is_dragged: Whether all are dragged there one after the other, and pinned; else they have goals of their own.
        body_stiffness: How much later than the limbs the hips give way.
        spine: How readily the bones between hips and limbs give way.
        seat: Lowest and highest corner of what is sat on, or None.
        view: Direction from which it is looked at.
    """

    name: str
    hands: dict[str, V3] = field(default_factory=dict)
    look: V3 | None = None
    hips: V3 | None = None
    is_dragged: bool = False
    body_stiffness: float = 0.0
    spine: float = 0.5
    seat: tuple[V3, V3] | None = None
    view: V3 = (1.0, -1.0, 0.3)


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
            drag(owner, bone, place)
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


def drag(owner: bpy.types.Object, bone: str, place: V3) -> None:
    """Drag the head of a bone along a line, as the mouse does, and let go."""
    dragged = dragging.begin(bpy.context, owner, dragging.Taken(bone, "HEAD"))
    for step in range(1, STEPS + 1):
        dragging.drag_to(bpy.context, dragged, dragged.place.lerp(Vector(place), step / STEPS))
        update()
    dragging.finish(bpy.context, dragged)


def update() -> None:
    """Evaluate."""
    bpy.context.view_layer.update()


def _add_chain(owner: bpy.types.Object, bone: str, count: int, place: V3) -> FabrikChain:
    OPS.fabrik.chain_add(tip_bone=bone, bone_count=count, use_target=True)
    chain = rig_of(owner).chains[-1]
    chain.target.location = place
    return chain


def _add_seat(low: Sequence[float], high: Sequence[float]) -> None:
    mesh, size = cube(), Vector(high) - Vector(low)
    mesh.transform(Matrix.LocRotScale(Vector(low) + size / 2.0, None, size / 2.0))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Seat", mesh))


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

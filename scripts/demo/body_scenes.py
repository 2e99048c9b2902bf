# SPDX-License-Identifier: GPL-3.0-or-later
"""A skinned human posed as a whole, by the buttons that a user presses: feet pinned flat, goals for hands and eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import bpy
from mathutils import Vector

from blender import OPS, limit_of, rig_of
from dev.humans import bone_of, both, give_ranges, make_human, select

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import FabrikChain

HUMAN = "human_game_engine"
FORWARD = (0.0, 0.0, 1.0)  # where its eyes look, in the axes of its head
STEPS = 40  # in which the hips are dragged
GIRDLE = 0.6  # stiffness of the clavicles, which follow where the arm alone does not reach
V3 = tuple[float, float, float]


class End(NamedTuple):
    """A bone whose head has a goal, and how many bones the chain has that brings it there."""

    bone: str
    bones: int


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
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
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
    if scene.is_dragged:
        for end, place in ends(scene):
            drag(owner, end, place)
            _pin(owner, [end.bone])
    else:
        for end, place in ends(scene):
            _add_chain(owner, end, place).effector = "HEAD"
    if scene.look is not None:
        chain = _add_chain(owner, End(bone_of(HUMAN, "head"), 2), scene.look)
        chain.name, chain.kind, chain.aim_axis = "eyes", "AIM", FORWARD
    OPS.fabrik.solve_all()
    update()


def ends(scene: Scene) -> list[tuple[End, V3]]:
    """The bones whose heads have goals, hips and hands, and where these are; the hips come first."""
    hips = [(End(bone_of(HUMAN, "hips"), 1), scene.hips)] if scene.hips is not None else []
    return [*hips, *((End(bone_of(HUMAN, "hand", side), 3), place) for side, place in scene.hands.items())]


def _pin(owner: bpy.types.Object, names: Sequence[str]) -> None:
    select(owner, names)
    OPS.fabrik.pin_toggle(action="PIN")


def drag(owner: bpy.types.Object, end: End, place: V3) -> None:
    """Drag the head of a bone along a line, as the mouse does, and let go."""
    from fabrik_addon.session import dragging  # noqa: PLC0415  # what is enabled by now

    dragged = dragging.begin(bpy.context, owner, dragging.Taken(end.bone, "HEAD"))
    for step in range(1, STEPS + 1):
        dragging.drag_to(bpy.context, dragged, dragged.place.lerp(Vector(place), step / STEPS))
        update()
    dragging.finish(bpy.context, dragged)


def update() -> None:
    """Evaluate."""
    bpy.context.view_layer.update()


def _add_chain(owner: bpy.types.Object, end: End, place: V3) -> FabrikChain:
    OPS.fabrik.chain_add(tip_bone=end.bone, bone_count=end.bones, use_target=True)
    chain = rig_of(owner).chains[-1]
    chain.target.location = place
    return chain


def _add_seat(low: Sequence[float], high: Sequence[float]) -> None:
    mesh = bpy.data.meshes.new("Seat")
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Seat", mesh))

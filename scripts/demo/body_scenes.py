# SPDX-License-Identifier: GPL-3.0-or-later
"""A skinned human posed as a whole: its feet pinned flat, its hips, hands and eyes with goals of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy

from dev.humans import bone_of, give_ranges, make_human

HUMAN = "human_game_engine"
FORWARD = (0.0, 0.0, 1.0)  # where its eyes look, in the axes of its head
V3 = tuple[float, float, float]


@dataclass(frozen=True)
class Scene:
    """A pose of the whole body.

    Attributes:
        name: Of its files.
        hands: Where the wrists go, in metres, by side.
        look: At what the eyes look; None where they have no goal.
        hips: Where the hips go; None where they follow.
        is_dragged: Whether the hips are dragged there, and have no goal of their own.
        seat: Lowest and highest corner of what is sat on, or None.
        view: Direction from which it is looked at.
    """

    name: str
    hands: dict[str, V3] = field(default_factory=dict)
    look: V3 | None = None
    hips: V3 | None = None
    is_dragged: bool = False
    seat: tuple[V3, V3] | None = None
    view: V3 = (1.0, -1.0, 0.3)


SCENES = (
    Scene(
        "squat",
        hands={"L": (0.2, -0.5, 1.0), "R": (-0.2, -0.5, 1.0)},
        look=(0.0, -3.0, 1.3),
        hips=(0.0, 0.16, 0.58),
    ),
    Scene("reach", hands={"L": (0.3, -0.85, 1.7)}, look=(0.3, -0.85, 1.7), view=(0.8, -1.0, 0.25)),
    Scene(
        "sit",
        hands={"L": (0.15, -0.2, 0.6), "R": (-0.15, -0.2, 0.6)},
        hips=(0.0, 0.3, 0.56),
        is_dragged=True,
        seat=((-0.3, 0.12, 0.0), (0.3, 0.62, 0.43)),
    ),
    Scene("look", hands={"L": (0.12, -0.42, 1.38)}, look=(0.1, -0.48, 1.42), view=(0.7, -1.0, 0.2)),
)


def make(scene: Scene) -> Any:
    """The human in a file made anew, with limits and chains; posed by a solve of all."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner: Any = make_human(HUMAN)
    give_ranges(owner)
    owner.fabrik.body_bone = bone_of(HUMAN, "hips")
    for side in "LR":
        _pin(owner, _add(owner, f"foot.{side}", bone_of(HUMAN, "foot", side), 3))
    for side, place in scene.hands.items():
        chain = _add(owner, f"hand.{side}", bone_of(HUMAN, "hand", side), 3)
        chain.target = _empty(f"Hand {side}", place)
    if scene.look is not None:
        chain = _add(owner, "eyes", bone_of(HUMAN, "head"), 2)
        chain.kind, chain.aim_axis, chain.target = "AIM", FORWARD, _empty("Look At", scene.look)
    if scene.hips is not None and not scene.is_dragged:
        _add(owner, "hips", bone_of(HUMAN, "hips"), 1).target = _empty("Hips", scene.hips)
    if scene.seat is not None:
        _seat(*scene.seat)
    update()
    return owner


def update() -> None:
    """Evaluate."""
    layer: Any = bpy.context.view_layer
    layer.update()


def _add(owner: Any, name: str, tip: str, count: int) -> Any:
    """A chain whose effector is the head of its last bone: an ankle, a wrist."""
    operators: Any = bpy.ops.fabrik  # type: ignore[attr-defined]
    operators.chain_add(tip_bone=tip, bone_count=count)
    chain = owner.fabrik.chains[-1]
    chain.name, chain.effector = name, "HEAD"
    return chain


def _pin(owner: Any, chain: Any) -> None:
    update()
    bone = owner.pose.bones[chain.tip_bone]
    chain.held_location = owner.matrix_world @ bone.head
    chain.held_rotation = (owner.matrix_world @ bone.matrix).to_quaternion()
    chain.pin, chain.orientation = True, "KEEP"


def _empty(name: str, place: V3) -> Any:
    empty: Any = bpy.data.objects.new(name, None)
    empty.empty_display_type, empty.empty_display_size, empty.location = "CUBE", 0.05, place
    scene: Any = bpy.context.scene
    scene.collection.objects.link(empty)
    return empty


def _seat(low: V3, high: V3) -> None:
    mesh: Any = bpy.data.meshes.new("Seat")
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    scene: Any = bpy.context.scene
    scene.collection.objects.link(bpy.data.objects.new("Seat", mesh))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs with live chains, and what is seen of them."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest
from fabrik_addon.rig.compat import fcurves_of as curves_of
from fabrik_addon.rig.schema import FabrikChain
from fabrik_addon.session import live
from mathutils import Quaternion

from support.rigs import Bone, Point, add_chain, make_armature, make_line, tip_error


def update() -> None:
    bpy.context.view_layer.update()


def live_line(target: Point = (0.3, -0.5, 1.9), count: int = 3) -> tuple[bpy.types.Object, FabrikChain]:
    owner = make_line(count)
    chain = add_chain(owner, target)
    owner.fabrik.live = True
    update()
    return owner, owner.fabrik.chains[chain.name]


def shown_error(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """The tip error as it stands evaluated, without another update."""
    return tip_error(owner, chain)


def keyed(thing: bpy.types.Object | bpy.types.PoseBone, frame: int, location: Point) -> None:
    thing.location = location
    thing.keyframe_insert("location", frame=frame)


def key_scale(thing: bpy.types.Object, sizes: dict[int, float]) -> None:
    """Key the scale of an object so that it jumps from frame to frame."""
    for frame, size in sizes.items():
        thing.scale = (size, size, size)
        thing.keyframe_insert("scale", frame=frame)
    for curve in curves_of(thing):
        if curve.data_path == "scale":
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"


def limb_on_a_bone() -> tuple[bpy.types.Object, FabrikChain]:
    """Two bones on a third, with a chain of the two; and a bone by itself."""
    owner = make_armature(
        [
            Bone((0, 0, -1), (0, 0, 0)),
            Bone((0, 0, 0), (0, 0.2, 1)),
            Bone((0, 0.2, 1), (0, 0, 2), connect=True),
            Bone((5, 0, 0), (5, 0, 1), parent=None),
        ]
    )
    return owner, add_chain(owner, (0.5, 0.5, 1.0), tip="b2", count=2)


def two_levels() -> bpy.types.Object:
    """A chain of two bones, and another of two that hangs on its end."""
    owner = make_armature(
        [
            Bone((0, 0, 0), (0, 0.1, 1)),
            Bone((0, 0.1, 1), (0, 0, 2), connect=True),
            Bone((0, 0, 2), (1, 0.1, 2)),
            Bone((1, 0.1, 2), (2, 0, 2), connect=True),
        ]
    )
    add_chain(owner, (0.5, 0, 1.5), tip="b1", count=2)
    add_chain(owner, (1.2, 0, 2.5), tip="b3", count=2)
    owner.fabrik.live = True
    update()
    return owner


def many_limbs(count: int) -> bpy.types.Object:
    """So many limbs of two bones side by side, each a live chain."""
    bones = []
    for i in range(count):
        bones += [Bone((i, 0, 0), (i, 0.1, 1), parent=None), Bone((i, 0.1, 1), (i, 0, 2), connect=True)]
    owner = make_armature(bones)
    for i in range(count):
        add_chain(owner, (i + 0.3, 0.4, 1.5), tip=f"b{2 * i + 1}", count=2)
    owner.fabrik.live = True
    update()
    return owner


TURN = Quaternion((1.0, 0.0, 0.0), 0.5)


def turned(owner: bpy.types.Object, name: str, turn: Quaternion = TURN) -> Quaternion:
    """Turn a bone by hand; how it was turned."""
    bone = owner.pose.bones[name]
    bone.rotation_quaternion = bone.rotation_quaternion @ turn
    return bone.rotation_quaternion.copy()


def hand_of(owner: bpy.types.Object, chain: FabrikChain) -> live.Hand | None:
    return live.state.hands.get((owner.name_full, chain.name))


def start_of(chain: FabrikChain, bone: str) -> Quaternion:
    return Quaternion(chain.captured[bone].rotation)


__all__ = (
    "TURN",
    "curves_of",
    "hand_of",
    "key_scale",
    "keyed",
    "limb_on_a_bone",
    "live_line",
    "many_limbs",
    "shown_error",
    "start_of",
    "turned",
    "two_levels",
    "update",
)


def tool_at_work(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], None]:
    """What lets live posing see a modal tool.

    Returns:
        Takes the number of the tool that is at work, 0 for none, and whether the one before was confirmed.
    """
    now = {"tool": 0, "finished": True}

    def use(number: int, finished: bool = True) -> None:
        now["tool"], now["finished"] = number, finished

    for module in (live.by_hand, live.ticking, live.keying):
        monkeypatch.setattr(module, "tool_of", lambda _: now["tool"])
    monkeypatch.setattr(live.hearing, "is_finished", lambda *_: now["finished"])
    return use

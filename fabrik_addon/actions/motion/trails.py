# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of a bone's end over frames, as it is posed in each, live posing included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import bpy
from mathutils import Vector

from ...errors import ChainError
from ...maths import V3, v3
from ...rig.animation.compat import is_selected
from ...rig.bones import names_if_any, pose_bones
from ...rig.schema import FabrikChain, rig_of
from ..drag import Taken
from ..frames import Steps, go_to, scene_of


class Trail(NamedTuple):
    """Where the end of a bone is in frames that follow each other.

    Attributes:
        rig: Name of the armature object.
        taken: The bone, its end, and the chain whose tip it is.
        first: The first frame.
        places: In the world, in each frame from that on.
    """

    rig: str
    taken: Taken
    first: int
    places: tuple[V3, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others: one bone has one trail."""
        return self.rig, self.taken.bone

    @property
    def frames(self) -> range:
        """Of its places."""
        return range(self.first, self.first + len(self.places))

    def at(self, frame: int) -> V3 | None:
        """Where it is in a frame; None beyond its ends."""
        return self.places[frame - self.first] if frame in self.frames else None

    def with_places(self, places: dict[int, V3]) -> Trail:
        """The same with other places in some of its frames."""
        return self._replace(
            places=tuple(places.get(frame, own) for frame, own in zip(self.frames, self.places, strict=True))
        )


def place_of(owner: bpy.types.Object, taken: Taken, depsgraph: bpy.types.Depsgraph) -> V3:
    """Where the end of a bone is in the world."""
    posed = owner.evaluated_get(depsgraph)
    bone = pose_bones(posed)[taken.bone]
    return v3(posed.matrix_world @ Vector(bone.head if taken.at_head else bone.tail))


def chosen(owner: bpy.types.Object) -> list[Taken]:
    """The bones whose trails are wanted: those that are selected, for a control of a limb its tip; else all tips.

    Raises:
        ChainError: There are none.
    """
    chains = [chain for chain in rig_of(owner).chains if chain.enabled and chain.tip_bone in pose_bones(owner)]
    selected = [bone.name for bone in pose_bones(owner) if is_selected(bone)] if owner.mode == "POSE" else []
    if not selected:
        if not chains:
            raise ChainError("no chain is enabled, and no bone is selected", rig=owner.name)
        return [Taken.tip_of(chain) for chain in chains]
    found = dict[str, Taken]()
    for name in selected:
        chain = next((one for one in chains if name in _own(owner, one)), None)
        taken = Taken.tip_of(chain) if chain is not None else Taken(name)
        found.setdefault(taken.bone, taken)
    return list(found.values())


def _own(owner: bpy.types.Object, chain: FabrikChain) -> Iterable[str]:
    """Bones for which the trail of a chain's tip is meant: its control, and the tip itself."""
    own = [chain.target_bone] if chain.target == owner else []
    return [*own, *names_if_any(owner, chain)[-1:]]


def trail_steps(
    context: bpy.types.Context, owner: bpy.types.Object, taken: Sequence[Taken], frames: Sequence[int]
) -> Steps[list[Trail]]:
    """Follow ends of bones over frames, in steps; live posing goes on meanwhile, so that its poses are seen.

    The scene's frame is moved and put back.
    """
    scene = scene_of(context)
    stood, found = scene.frame_current_final, list[list[V3]]([] for _ in taken)
    try:
        for k, frame in enumerate(frames):
            go_to(scene, frame)
            depsgraph = context.evaluated_depsgraph_get()
            for own, one in zip(found, taken, strict=True):
                own.append(place_of(owner, one, depsgraph))
            yield (k + 1) / len(frames)
    finally:
        go_to(scene, stood)
    return [Trail(owner.name, one, frames[0], tuple(own)) for one, own in zip(taken, found, strict=True)]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that were read, kept for as long as nothing that they were read from has changed.

What is kept is plain data. It holds for one frame and one count of changed settings, and is let go for an armature as
soon as Blender evaluates that anew, whatever the reason: its bones, constraints, drivers and curves are then read
again. What the add-on itself wrote into the channels that it solves is no such reason (`FigureCache.keep`).
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

import bpy

from .figures import ChainSet
from .prepared import Prepared
from .schema.chain import FabrikChain
from .schema.changes import Changes
from .schema.rig import rig_of

Key = tuple[str, ...]  # full name of the armature object, its body bone or "", names of the chains


class Stamp(NamedTuple):
    """What must be the same for a figure to hold, beside that Blender did not evaluate its armature anew.

    Attributes:
        frame: At which it was read.
        changes: How often a setting was changed in this session.
        starts: The captured start pose of its chains and of their body, which scripts may change unheard.
    """

    frame: float
    changes: int
    starts: bytes

    @classmethod
    def of(cls, chain_set: ChainSet, frame: float) -> Stamp:
        """That of chains as they are now."""
        starts = b"".join([_captured(chain) for chain in chain_set.chains])
        if chain_set.body:
            starts += _captured_body(chain_set.owner)
        return cls(frame, Changes.count, starts)


def _captured(chain: FabrikChain) -> bytes:
    """The rotations that a chain has captured."""
    rotations = array("f", [0.0]) * (4 * len(chain.captured))
    chain.captured.foreach_get("rotation", rotations)
    return rotations.tobytes()


def _captured_body(owner: bpy.types.Object) -> bytes:
    """The rotations and places that the bones of a body have captured."""
    kept = rig_of(owner).body_captured
    rotations, places = array("f", [0.0]) * (4 * len(kept)), array("f", [0.0]) * (3 * len(kept))
    kept.foreach_get("rotation", rotations)
    kept.foreach_get("location", places)
    return rotations.tobytes() + places.tobytes()


class FigureCache:
    """The figures of this session."""

    _figures: dict[Key, tuple[Stamp, Prepared]] = {}

    @classmethod
    def get(cls, chain_set: ChainSet, frame: float) -> Prepared | None:
        """A figure as it was read at a frame; None where it has to be read."""
        found = cls._figures.get(_key(chain_set))
        return found[1] if found is not None and found[0] == Stamp.of(chain_set, frame) else None

    @classmethod
    def keep(cls, chain_set: ChainSet, frame: float, prepared: Prepared) -> None:
        """Keep a figure; again after Blender evaluated what was solved with it and written.

        One whose lengths depend on its pose is not kept: it depends on more than its stamp tells.
        """
        if prepared.is_rigid:
            cls._figures[_key(chain_set)] = Stamp.of(chain_set, frame), prepared

    @classmethod
    def drop(cls, owner: str) -> None:
        """Let go the figures of an armature object, by its full name."""
        for key in [key for key in cls._figures if key[0] == owner]:
            del cls._figures[key]

    @classmethod
    def clear(cls) -> None:
        """Let go all: a file is opened, a step undone, the frame changed."""
        cls._figures.clear()

    @classmethod
    def after(cls, depsgraph: bpy.types.Depsgraph) -> None:
        """Let go what Blender evaluated anew; by a change of actions, scenes or armatures' data that may be any."""
        if not cls._figures:
            return
        for update in depsgraph.updates:
            found = update.id
            if isinstance(found, bpy.types.Object):
                if found.type == "ARMATURE":
                    cls.drop(found.name_full)
            elif isinstance(found, bpy.types.Armature | bpy.types.Action | bpy.types.Scene):
                cls.clear()
                return


def _key(chain_set: ChainSet) -> Key:
    return chain_set.owner.name_full, chain_set.body, *chain_set.names

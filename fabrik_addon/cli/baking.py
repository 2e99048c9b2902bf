# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake of the open file, as asked for by arguments or by an entry of a job file."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import radians
from typing import Any

import bpy

from ..rig.schema import rig_of
from ..session.bake import BakeSettings, bake_steps, to_the_end
from ..session.bake.settings import INTERPOLATIONS, INTO, VERIFY
from ..session.frames import frames_between
from .progress import Progress
from .scene import Choice, chosen, items_of, put

Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BakeRequest:
    """What to bake; see `BakeSettings`.

    Attributes:
        choice: Armatures, chains, places for targets, and settings.
        frames: First and last frame, or None for the scene's.
        step: Frames from key to key.
        clean_up: In degrees.
    """

    choice: Choice = field(default_factory=Choice)
    frames: tuple[int, int] | None = None
    step: int = 1
    into: str = INTO[0]
    interpolation: str = INTERPOLATIONS[0]
    only_keys: bool = False
    clean_up: float = 0.0
    verify: str = VERIFY[0]

    def settings(self, scene: bpy.types.Scene) -> BakeSettings:
        """The bake's own settings, with the scene's range where none is given."""
        first, last = self.frames or (scene.frame_start, scene.frame_end)
        return BakeSettings(
            frames_between(first, last, self.step),
            self.into,
            self.interpolation,
            self.verify,
            self.only_keys,
            radians(self.clean_up),
        )


def bake_open_file(request: BakeRequest, progress: Progress) -> Report:
    """Bake chains of the open file; nothing is saved.

    Returns:
        The report, by armatures.

    Raises:
        FabrikError: Something can't be baked.
    """
    scene = bpy.context.scene
    assert scene is not None
    found = chosen(request.choice)
    items = items_of(found)
    put(request.choice, items)
    result = to_the_end(bake_steps(bpy.context, items, request.settings(scene)), progress.tell)
    told = [
        {"name": owner.name, "live": rig_of(owner).live, **result.of(owner.name).as_json()}
        for owner, chains in found
        if chains
    ]
    return {"all_reached": result.all_reached, "armatures": told}

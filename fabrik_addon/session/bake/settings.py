# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import radians

from ...errors import InvalidValueError
from ...finite import are_finite
from ...texts import Text
from ..frames import MOST_FRAMES

INTO = ("ACTION", "NEW_ACTION", "NLA")
INTERPOLATIONS = ("LINEAR", "BEZIER")
VERIFY = ("EVERY", "SAMPLE", "NONE")
MOST_CLEAN_UP = radians(30.0)
ROUNDING = 1e-6  # radians by which a property in single precision may be beyond its range


@dataclass(frozen=True, slots=True)
class BakeSettings:
    """What to bake.

    Attributes:
        frames: The frames, rising.
        into: "ACTION" for the armature's action, "NEW_ACTION" for a copy of it, "NLA" for a new track.
        interpolation: "LINEAR" or "BEZIER".
        verify: "EVERY" to let Blender evaluate every frame afterwards and compare, "SAMPLE" some of them, or "NONE".
        only_keys: Whether each chain is keyed only where its target or pole has a key.
        clean_up: Angle in radians by which a joint may be off at a frame so that keys can be left out; 0 keeps all.
        stays_enabled: Whether the chains are still to be solved afterwards.

    Raises:
        InvalidValueError: One of them is none of these.
    """

    frames: tuple[float, ...]
    into: str = INTO[0]
    interpolation: str = INTERPOLATIONS[0]
    verify: str = VERIFY[0]
    only_keys: bool = False
    clean_up: float = 0.0
    stays_enabled: bool = False

    def __post_init__(self) -> None:
        if not self.frames:
            raise InvalidValueError("the range ends before it starts: there is no frame to bake")
        if len(self.frames) > MOST_FRAMES:
            raise InvalidValueError(
                Text("{count} frames are more than {most_frames}", count=len(self.frames), most_frames=MOST_FRAMES)
            )
        if not are_finite(self.frames) or not all(a < b for a, b in pairwise(self.frames)):
            raise InvalidValueError("the frames do not rise")
        choices = ((self.into, INTO), (self.interpolation, INTERPOLATIONS), (self.verify, VERIFY))
        for chosen, words in choices:
            if chosen not in words:
                raise InvalidValueError(Text("'{chosen}' is none of {names}", chosen=chosen, names=", ".join(words)))
        if not 0.0 <= self.clean_up <= MOST_CLEAN_UP + ROUNDING:
            raise InvalidValueError("the clean-up is not between 0 and 30 degrees")

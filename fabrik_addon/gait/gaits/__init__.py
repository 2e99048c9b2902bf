# SPDX-License-Identifier: GPL-3.0-or-later
"""All gaits, in the order in which they are shown. A new one is one entry in a file of its family."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import InvalidValueError
from ...texts import Text
from ..legs import Leg
from ..settings import Settings
from .base import Gait, Rhythm
from .biped import BIPED
from .custom import CUSTOM
from .many import MANY
from .quadruped import QUADRUPED

__all__ = ("GAITS", "Gait", "Rhythm", "rhythm_of")

GAITS: tuple[Gait, ...] = (*BIPED, *QUADRUPED, *MANY, *CUSTOM)
_BY_NAME = {gait.name: gait for gait in GAITS}


def rhythm_of(legs: Sequence[Leg], settings: Settings) -> Rhythm:
    """The rhythm of the gait that is set.

    Raises:
        InvalidValueError: There is no such gait.
    """
    if settings.gait not in _BY_NAME:
        raise InvalidValueError(Text("there is no gait '{gait}'", gait=settings.gait))
    return _BY_NAME[settings.gait].rhythm(legs, settings)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits. A new type is one file here and one line in `LIMITS`; panel and tests read the registry."""

from . import bone_ik, cone, free, hinge, locked, planar
from .base import Limit, LimitType
from .cone import Cone
from .free import FREE, Free
from .hinge import Hinge
from .locked import Locked
from .outline import Outline
from .planar import Planar
from .swing_twist import Twist
from .twisting import Twisting

LIMITS: dict[str, LimitType] = {found.TYPE.kind: found.TYPE for found in (free, hinge, cone, planar, locked, bone_ik)}

__all__ = (
    "FREE",
    "LIMITS",
    "Cone",
    "Free",
    "Hinge",
    "Limit",
    "LimitType",
    "Locked",
    "Outline",
    "Planar",
    "Twist",
    "Twisting",
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of joint limits, in the order of the panel."""

from __future__ import annotations

from .base import LimitType
from .bone_ik import BONE_IK_TYPE
from .cone import CONE_TYPE
from .free import FREE_TYPE
from .hinge import HINGE_TYPE
from .locked import LOCKED_TYPE
from .planar import PLANAR_TYPE

TYPES = (
    FREE_TYPE,
    HINGE_TYPE,
    CONE_TYPE,
    PLANAR_TYPE,
    LOCKED_TYPE,
    BONE_IK_TYPE,
)
LIMITS: dict[str, LimitType] = {found.kind: found for found in TYPES}

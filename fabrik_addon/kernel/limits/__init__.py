# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits. A new type is one file here and one line in `LIMITS`; panel and tests read the registry."""

from .base import Limit
from .free import FREE, Free
from .hinge import Hinge
from .locked import Locked

LIMITS: dict[str, type[Limit]] = {cls.kind: cls for cls in (Free, Hinge, Locked)}

__all__ = ("FREE", "LIMITS", "Free", "Hinge", "Limit", "Locked")

# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver, free of Blender: a figure, a list of goals, and `Solver(figure).solve(goals, settings)`.

All else imports from here alone. The names come from the compiled kernel where a binary fits (see `loading.py`), else
from the modules that it is compiled from, never from both: their classes are not the same. Everything works in solve
space, with the figure's root at the origin; angles are radians.
"""

from typing import TYPE_CHECKING

from . import loading

__all__ = (
    "ASKED",
    "DEFAULT_MAX_PASSES",
    "DEFAULT_RESTARTS",
    "DEFAULT_TOLERANCE",
    "FREE",
    "HINT",
    "LIMITS",
    "PIN",
    "STATUSES",
    "Aim",
    "Balance",
    "Bend",
    "Cone",
    "Facing",
    "Figure",
    "Free",
    "Goal",
    "Hinge",
    "Joint",
    "Limit",
    "LimitType",
    "Locked",
    "Outline",
    "Planar",
    "Point",
    "Rows",
    "Setting",
    "Settings",
    "Solution",
    "Solver",
    "Status",
    "Step",
    "Trace",
    "Twist",
    "Twisting",
)

_core = loading.compiled(__name__, __all__)
if TYPE_CHECKING or _core is None:
    from .figure import Figure, Joint
    from .goals.aim import Aim
    from .goals.balance import Balance
    from .goals.base import ASKED, HINT, PIN, Goal
    from .goals.bend import Bend
    from .goals.facing import Facing
    from .goals.point import Point
    from .limits.base import Limit, LimitType
    from .limits.cone import Cone
    from .limits.free import FREE, Free
    from .limits.hinge import Hinge
    from .limits.locked import Locked
    from .limits.outline import Outline
    from .limits.planar import Planar
    from .limits.registry import LIMITS
    from .limits.setting import Setting
    from .limits.swing_twist import Twist
    from .limits.twisting import Twisting
    from .rows import Rows
    from .settings import DEFAULT_MAX_PASSES, DEFAULT_RESTARTS, DEFAULT_TOLERANCE, Settings
    from .solution import STATUSES, Solution, Status
    from .solver import Solver
    from .trace import Step, Trace
else:
    globals().update((name, getattr(_core, name)) for name in __all__)

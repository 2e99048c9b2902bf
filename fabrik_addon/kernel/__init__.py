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
    "PIN",
    "PLACED",
    "SOLVE_SPACE",
    "STATUSES",
    "Aim",
    "AxisLock",
    "Balance",
    "Bend",
    "BendSide",
    "Cone",
    "Facing",
    "Figure",
    "Free",
    "Goal",
    "Help",
    "Hinge",
    "Joint",
    "Limit",
    "Locked",
    "PathFit",
    "PlacedJoints",
    "Planar",
    "Point",
    "QuaternionLock",
    "Rows",
    "Settings",
    "Solution",
    "Solver",
    "Status",
    "Stay",
    "Step",
    "Trace",
    "Twist",
    "Twisting",
    "Universal",
)

_core = loading.compiled(__name__, __all__)
if TYPE_CHECKING or _core is None:
    from .fabrik import Step, Trace
    from .figure import Figure, Joint, PlacedJoints
    from .goals.aim import Aim
    from .goals.balance import Balance
    from .goals.base import ASKED, HINT, PIN, PLACED, SOLVE_SPACE, Goal
    from .goals.bend import Bend
    from .goals.facing import Facing
    from .goals.help import Help
    from .goals.point import Point
    from .goals.stay import Stay
    from .limits.axis_lock import AxisLock
    from .limits.base import Limit
    from .limits.cone import Cone
    from .limits.fixed import FREE, Free, Locked
    from .limits.hinge import Hinge
    from .limits.planar import Planar
    from .limits.quaternion_lock import QuaternionLock
    from .limits.swing_twist import Twist, Twisting
    from .limits.universal import Universal
    from .path_fit import PathFit
    from .pole import BendSide
    from .rows import (
        DEFAULT_MAX_PASSES,
        DEFAULT_RESTARTS,
        DEFAULT_TOLERANCE,
        STATUSES,
        Rows,
        Settings,
        Solution,
        Status,
    )
    from .solver import Solver
else:
    globals().update((name, getattr(_core, name)) for name in __all__)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver, free of Blender: a figure, a list of goals, and `Solver(figure).solve(goals, settings)`.

Everything works in solve space, with the figure's root at the origin; angles are radians. These names are what all else
has of the kernel: where it is built without a compiled one, this file is its package's `__init__.py`.
"""

from . import cython
from .fabrik import Step
from .figure import Figure, Joint, PlacedJoints
from .goals.aim import Aim
from .goals.balance import Balance
from .goals.base import ASKED, HINT, PIN, PLACED, SOLVE_SPACE, Goal
from .goals.bend import Bend
from .goals.facing import Facing
from .goals.help import Help
from .goals.point import Point
from .goals.stay import Stay
from .limits.base import Limit
from .limits.cone import Cone
from .limits.fixed import FREE, Free, Locked
from .limits.hinge import Hinge
from .limits.locks import AxisLock, QuaternionLock, Universal
from .limits.planar import Planar
from .limits.swing_twist import Twist, Twisting
from .path_fit import PathFit
from .pole import BendSide
from .rows import DEFAULT_MAX_PASSES, DEFAULT_RESTARTS, DEFAULT_TOLERANCE, STATUSES, Rows, Settings, Solution, Status
from .solver import Solver

__all__ = (
    "ASKED", "DEFAULT_MAX_PASSES", "DEFAULT_RESTARTS", "DEFAULT_TOLERANCE", "FORM", "FREE", "HINT", "PIN", "PLACED",
    "SOLVE_SPACE", "STATUSES", "Aim", "AxisLock", "Balance", "Bend", "BendSide", "Cone", "Facing", "Figure", "Free",
    "Goal", "Help", "Hinge", "Joint", "Limit", "Locked", "PathFit", "PlacedJoints", "Planar", "Point",
    "QuaternionLock", "Rows", "Settings", "Solution", "Solver", "Status", "Stay", "Step", "Twist",
    "Twisting", "Universal",
)  # fmt: skip

REASON = "" if cython.compiled else "this build has no binary"
# In which form the kernel runs; the binary, "" where there is none, and why it is not used, "" where it is.
FORM = {"kind": "compiled" if cython.compiled else "interpreted", "path": "", "reason": REASON}

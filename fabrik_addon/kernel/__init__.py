# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver, free of bpy: needs `mathutils` alone.

`solve(chain, goal, settings)` is the one entry point; see `solver.py`. Everything here works in the chain's own solve
space with the chain's root at the origin; angles are radians.
"""

from .model import Chain, Goal, Joint, Settings, Solution, Status
from .solver import refine, solve

__all__ = ("Chain", "Goal", "Joint", "Settings", "Solution", "Status", "refine", "solve")

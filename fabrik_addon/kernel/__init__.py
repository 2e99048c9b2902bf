# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver, free of Blender: a figure, a list of goals, and `Solver(figure).solve(goals, settings)`.

All else imports from here alone. The names (see `names.py`) come from the compiled kernel where a binary fits (see
`loading.py`), else from the modules that it is compiled from, never from both: their classes are not the same.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .names import *  # noqa: F403  # which is all there is
else:
    from .loading import load_names

    globals().update(load_names(__name__))

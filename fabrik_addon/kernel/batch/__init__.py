# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver for many chains or frames at once, with numpy: the same algorithm and the same answers.

`solve_batch(chains, goals, settings)` is the one entry point; see `solver.py`. Arrays have the chain as their last
axis, so that each operation runs over all chains; goals are worked on in chunks that fit a processor's cache.
"""

from .model import STATUSES, BatchSolution, ChainBatch, Goals, Part
from .solver import solve_batch

__all__ = ("STATUSES", "BatchSolution", "ChainBatch", "Goals", "Part", "solve_batch")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their goals whenever something moves."""

from .ahead import ahead
from .known import state
from .ticking import tick

__all__ = ("ahead", "state", "tick")

# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig from which many of these tests start."""

from __future__ import annotations

import pytest

from support.scenes import Rig, live_line


@pytest.fixture
def rig() -> Rig:
    """A line of three bones that follows its target live."""
    return live_line()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing knows nothing of the test before."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import pytest
from fabrik_addon.actions import live


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    live.state.forget()
    live.state.held = False
    yield
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False

# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing knows nothing of the test before."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.schema import rig_of

from support.animated import Motion, with_motion
from support.hanging import HUMANS
from support.skeletons import set_up


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    live.state.forget()
    live.state.held = False
    yield
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


@pytest.fixture
def not_live() -> Iterator[None]:
    """No armature is live after the test."""
    yield
    for owner in bpy.data.objects:
        if owner.type == "ARMATURE":
            rig_of(owner).live = False


@pytest.fixture(params=HUMANS)
def human(request: pytest.FixtureRequest) -> bpy.types.Object:
    """A character as it is set up, in Pose mode."""
    return set_up(str(request.param))


@pytest.fixture(params=[*zip(HUMANS[:2], ("QUATERNION", "XYZ"), strict=True)])
def motion(request: pytest.FixtureRequest) -> Motion:
    """A character with motion that is set up and live: one by quaternions, one by angles."""
    return with_motion(*request.param)

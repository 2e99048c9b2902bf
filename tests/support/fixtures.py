# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs from which many tests start."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.schema import FabrikChain

from support.scenes import Rig, live_body, make_body, make_line, squatting, with_legs_pinned


@pytest.fixture
def owner(rig: Rig) -> bpy.types.Object:
    """The armature of the rig that a folder's tests start from."""
    return rig[0]


@pytest.fixture
def chain(rig: Rig) -> FabrikChain:
    """Its chain."""
    return rig[1]


@pytest.fixture
def line() -> bpy.types.Object:
    """Three bones in a line, without chains."""
    return make_line(3)


@pytest.fixture
def body() -> bpy.types.Object:
    """A body without chains."""
    return make_body()


@pytest.fixture
def standing() -> bpy.types.Object:
    """A body whose feet are pinned."""
    return with_legs_pinned(make_body())


@pytest.fixture
def reaching() -> bpy.types.Object:
    """A body that is live, whose feet are pinned and a hand of which reaches."""
    return live_body()


@pytest.fixture
def squatter() -> bpy.types.Object:
    """A body with pinned feet and a hand that reaches, whose hips sink."""
    return squatting()

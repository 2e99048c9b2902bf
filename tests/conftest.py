# SPDX-License-Identifier: GPL-3.0-or-later
"""Enables the staged extension once, as Blender would load it, and makes it importable as `fabrik_addon`."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="fabrik-tests-"))

import bpy
import hypothesis
import pytest

import addon_session

addon_session.enable(Path(os.environ["BLENDER_USER_RESOURCES"]) / "fabrik-repository")
for _name, _module in list(sys.modules.items()):
    if _name == addon_session.MODULE or _name.startswith(f"{addon_session.MODULE}."):
        sys.modules["fabrik_addon" + _name[len(addon_session.MODULE) :]] = _module

hypothesis.settings.register_profile("fabrik", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("fabrik")


@pytest.fixture(autouse=True)
def _empty_scene() -> None:
    """An empty file for each test; the add-on stays enabled."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)

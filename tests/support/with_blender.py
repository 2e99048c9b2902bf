# SPDX-License-Identifier: GPL-3.0-or-later
"""Enables the staged extension once, as Blender would load it, and makes it importable as `fabrik_addon`."""

from __future__ import annotations

import atexit
import os
import tempfile
from pathlib import Path

os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="fabrik-tests-"))
if worker := os.environ.get("PYTEST_XDIST_WORKER"):  # one of some beside each other, each with folders of its own
    for name in ("BLENDER_USER_RESOURCES", "TMPDIR", "TMP", "TEMP"):
        os.environ[name] = str(Path(os.environ.get(name, tempfile.gettempdir()), worker))
        Path(os.environ[name]).mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = None
    if hasattr(os, "sched_setaffinity"):  # to a core of its own, so that Blender's threads don't wait for each other
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})
    atexit.register(os._exit, 0)  # as the runner ends, before Blender's own clean-up

import pytest

import addon_session
from support.stored import empty_file

addon_session.enable(Path(os.environ["BLENDER_USER_RESOURCES"]) / "fabrik-repository")

WITHOUT_BLENDER = ("kernel", "gait", "motion", "recognise")


@pytest.fixture(autouse=True)
def _empty_scene(request: pytest.FixtureRequest) -> None:
    """An empty file for each test but those of the layers that know no Blender; the add-on stays enabled."""
    if request.path.parent.name not in WITHOUT_BLENDER:
        empty_file()

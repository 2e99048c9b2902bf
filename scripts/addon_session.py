# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension enabled in this process from the staged sources, as an installed one would be.

From then on it is imported as `fabrik_addon`, as its sources are called: what is enabled, not another copy of it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

import bpy

from build import stage

REPOSITORY = "fabrik_sources"
MODULE = f"bl_ext.{REPOSITORY}.fabrik"
SOURCES = "fabrik_addon"


def enable(folder: Path | None = None) -> None:
    """Stage the extension into a local repository, enable it, and let it be imported.

    Args:
        folder: The repository; without one, a folder in that of the user, as `environment.run_in_blender` sets it.
    """
    import addon_utils  # noqa: PLC0415  # the wheel has it only once bpy is imported

    folder = folder or Path(os.environ["BLENDER_USER_RESOURCES"]) / "repository"
    stage(folder / "fabrik")
    assert bpy.context.preferences is not None
    repositories = bpy.context.preferences.extensions.repos
    if not any(repository.module == REPOSITORY for repository in repositories):
        repositories.new(name=REPOSITORY, module=REPOSITORY, custom_directory=str(folder))
    errors: list[BaseException] = []
    addon_utils.enable(MODULE, default_set=True, persistent=True, handle_error=errors.append)
    if errors:
        raise errors[0]
    assert MODULE in sys.modules
    for name, module in list(sys.modules.items()):
        if name == MODULE or name.startswith(f"{MODULE}."):
            sys.modules[SOURCES + name.removeprefix(MODULE)] = module


def leave(status: int) -> NoReturn:
    """End the process at once: some wheels crash or hang in Blender's own clean-up."""
    sys.stdout.flush()
    os._exit(status)

# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --background FILE --command fabrik ...`: solve, bake and inspect without a screen."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import bpy

from .commands import run

NAME = "fabrik"


def register(back: ExitStack) -> None:
    """Offer the command to Blender until that is taken back."""
    utils: Any = bpy.utils
    back.callback(utils.unregister_cli_command, utils.register_cli_command(NAME, run))

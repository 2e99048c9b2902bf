# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's modal tools that move bones and goals: which one is at work, and how it ended."""

from __future__ import annotations

import bpy

TOOLS = ("TRANSFORM_OT_", "POSE_OT_", "POSELIB_OT_")


def tool_of(context: bpy.types.Context) -> int:
    """Which modal tool is at work, as a number that tells it from others; 0 for none."""
    manager = context.window_manager
    for window in manager.windows if manager else ():
        for operator in window.modal_operators:
            if operator.bl_idname.startswith(TOOLS):
                return int(operator.as_pointer())
    return 0


def is_finished(context: bpy.types.Context, tool: int) -> bool:
    """Whether a tool that is no longer at work was confirmed: one that was cancelled leaves no trace.

    Args:
        context: Blender's.
        tool: From `tool_of`.
    """
    manager = context.window_manager
    return manager is not None and any(operator.as_pointer() == tool for operator in manager.operators)

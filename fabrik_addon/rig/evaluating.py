# SPDX-License-Identifier: GPL-3.0-or-later
"""What was written to a file's data, as Blender evaluates it."""

from __future__ import annotations

import bpy


def updated(context: bpy.types.Context) -> bpy.types.Depsgraph:
    """Have Blender evaluate the context's view layer now, and its depsgraph with all that was written so far."""
    assert context.view_layer is not None
    context.view_layer.update()
    return context.evaluated_depsgraph_get()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing as the overlay does it, into a picture that is read; in background, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import bpy
import numpy as np
from fabrik_addon.maths import Singles
from fabrik_addon.overlay import view
from fabrik_addon.overlay.shapes import Picture
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Matrix


def pictures(owner: bpy.types.Object, chains: Iterable[FabrikChain], with_reach: bool = False) -> list[Picture]:
    return view.pictures_of(owner, chains, bpy.context.evaluated_depsgraph_get(), with_reach)


class Region:
    width = height = 200


class Context:
    """As much of a context as the overlay asks for."""

    region = Region()

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def ready_gpu() -> None:
    """Start the GPU in background."""
    import gpu

    if hasattr(gpu, "init"):
        gpu.init()
        return
    scene: Any = bpy.context.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = 4
    if scene.camera is None:
        scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(scene.camera)
    bpy.ops.render.render()


def seen(draw: Callable[[], object]) -> Singles:
    """What is drawn, seen along -X with Z up, 5 units across: (200, 200, 4)."""
    import gpu

    kinds: Any = gpu.types
    buffer = kinds.GPUOffScreen(200, 200)
    axes = Matrix(((0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 0), (0, 0, 0, 1)))
    look = axes @ Matrix.Translation((0, -0.5, -1.2))
    scale = Matrix.Diagonal((1 / 2.5, 1 / 2.5, 1 / 100, 1))
    with buffer.bind():
        gpu.state.active_framebuffer_get().clear(color=(0, 0, 0, 0))
        with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.matrix.load_matrix(look)
            gpu.matrix.load_projection_matrix(scale)
            draw()
        pixels = gpu.state.active_framebuffer_get().read_color(0, 0, 200, 200, 4, 0, "FLOAT")
    buffer.free()
    numbers = pixels.to_list() if hasattr(pixels, "to_list") else pixels
    return np.array(numbers, dtype=np.float32).reshape(200, 200, 4)

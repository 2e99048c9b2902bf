# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a walk: some of its frames in rows, from a camera that goes along with the body."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import bpy
from mathutils import Matrix, Vector
from picture import light, rendered, save_rows

from blender import rig_of

COLUMNS = 4
FAR = 40.0  # metres from which the camera looks
GAP = 3  # white pixels at the right of each picture, and below it


def add_camera(owner: bpy.types.Object, view: Sequence[float], extent: float, above: float) -> None:
    """A camera of the open file that looks at the walker's body against `view`, and goes along with it.

    Args:
        owner: The armature object.
        view: Direction from which it is looked at.
        extent: How much is seen along the longer side, in metres.
        above: How far the middle of the picture is above the head of the body bone.
    """
    scene = bpy.context.scene
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale, data.clip_end = "ORTHO", extent, 4.0 * FAR
    camera = bpy.data.objects.new("Camera", data)
    scene.collection.objects.link(camera)
    scene.camera = camera
    way = Vector(view).normalized()
    camera.matrix_world = (
        Matrix.Translation(FAR * way + Vector((0.0, 0.0, above))) @ way.to_track_quat("Z", "Y").to_matrix().to_4x4()
    )
    along = camera.constraints.new("COPY_LOCATION")
    assert isinstance(along, bpy.types.CopyLocationConstraint)
    along.target, along.subtarget, along.use_offset = owner, rig_of(owner).body_bone, True


def save_walk(frames: Sequence[int], size: tuple[int, int], path: Path) -> None:
    """Render frames of the open file's scene, and save them in rows as a PNG."""
    scene = bpy.context.scene
    light(scene, has_floor=True)
    scene.display.shading.show_cavity = False  # on wide ground it is noise, which makes files large
    pictures = []
    for frame in frames:
        scene.frame_set(frame)
        pixels = rendered(scene, size, path.with_suffix(f".{frame}.png"))
        pixels[:, -GAP:], pixels[:GAP] = 1.0, 1.0
        pictures.append(pixels)
    save_rows([pictures[i : i + COLUMNS] for i in range(0, len(pictures), COLUMNS)], path)
    scene.frame_set(scene.frame_start)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is under the mouse: the tips of chains, then the bones of the armatures at hand."""

from __future__ import annotations

from math import dist
from typing import NamedTuple

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector
from mathutils.geometry import intersect_point_line

from ..errors import FabrikError
from ..rig.chain_bones import pose_bones
from ..rig.checks import rig_refusal
from ..rig.compat import is_hidden
from ..rig.find import working_rig
from ..rig.properties import rig_of
from ..session.standing import tip_of
from .base import rigs_in_pose_mode

NEAR_TIP = 60.0  # pixels at scale 1 within which a chain's tip counts as under the mouse
NEAR_BONE = 20.0  # the same for a bone


class View(NamedTuple):
    """The part of a 3D View's area that shows the scene, also where a button of the sidebar was pressed.

    Attributes:
        region: The region.
        data: How it looks at the scene.
        is_under_mouse: Whether the mouse is over it.
        scale: Of the user interface.
    """

    region: bpy.types.Region
    data: bpy.types.RegionView3D
    is_under_mouse: bool
    scale: float

    def mouse(self, event: bpy.types.Event) -> Vector:
        """Where the mouse is in the region, in pixels."""
        return Vector((event.mouse_x - self.region.x, event.mouse_y - self.region.y))

    def seen(self, point: Vector) -> Vector | None:
        """Where a point of the world is seen in the region; None behind the viewer."""
        found: Vector | None = location_3d_to_region_2d(self.region, self.data, point)
        return found


class Picked(NamedTuple):
    """What is to be dragged: a chain of an armature by its name, or, where that is "", a bone."""

    owner: bpy.types.Object
    chain: str
    bone: str


def view_of(context: bpy.types.Context) -> View | None:
    """The view in which an operator was called; None outside a 3D View."""
    area, region, data = context.area, context.region, context.region_data
    if area is None or area.type != "VIEW_3D" or data is None:
        return None
    assert context.preferences is not None
    scale = context.preferences.system.ui_scale
    if region is not None and region.type == "WINDOW":
        return View(region, data, True, scale)
    found = next((other for other in area.regions if other.type == "WINDOW"), None)
    return View(found, data, False, scale) if found is not None else None


def rigs_at_hand(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The armature the user works on, then the others in Pose mode, as far as they can be posed."""
    owner = working_rig(context)
    rigs = rigs_in_pose_mode(context, owner) if owner is not None else []
    return [rig for rig in rigs if not rig_refusal(rig)]


def pick(context: bpy.types.Context, view: View, mouse: Vector) -> Picked | None:
    """The chain whose tip is nearest to the mouse, else the bone that is; None where neither is near."""
    depsgraph = context.evaluated_depsgraph_get()
    tips: list[tuple[float, Picked]] = []
    bones: list[tuple[float, Picked]] = []
    for owner in rigs_at_hand(context):
        for chain in rig_of(owner).chains:
            try:
                seen = view.seen(tip_of(owner, chain, depsgraph))
            except FabrikError:
                continue
            if seen is not None:
                tips.append((dist(seen, mouse), Picked(owner, chain.name, chain.tip_bone)))
        evaluated = owner.evaluated_get(depsgraph)
        for bone in pose_bones(evaluated):
            if not is_hidden(pose_bones(owner)[bone.name]):
                ends = (view.seen(evaluated.matrix_world @ point) for point in (bone.head, bone.tail))
                bones.append((_apart(mouse, *ends), Picked(owner, "", bone.name)))
    for found, near in ((tips, NEAR_TIP), (bones, NEAR_BONE)):
        apart, picked = min(found, key=lambda pair: pair[0], default=(near * view.scale + 1.0, None))
        if apart <= near * view.scale:
            return picked
    return None


def _apart(mouse: Vector, head: Vector | None, tail: Vector | None) -> float:
    """Pixels from the mouse to a bone as it is seen."""
    ends = [end for end in (head, tail) if end is not None]
    if len(ends) < 2:
        return float("inf")
    if (ends[1] - ends[0]).length < 1.0:  # it is seen from its end, or from far away
        return dist(mouse, ends[1])
    near, share = intersect_point_line(mouse, ends[0], ends[1])
    point = Vector((near[0], near[1])) if 0.0 <= share <= 1.0 else ends[share > 0.5]
    return dist(mouse, point)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is under the mouse: the tips of chains, and the ends of all bones of the armatures at hand.

An operator shows which bone a click would take, and drags one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from math import dist, inf
from typing import Any, NamedTuple, TypeAlias

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector
from mathutils.geometry import intersect_point_line

from ..actions.chain_edit import working_rig
from ..actions.chains import limbs_of
from ..actions.drag import Grip
from ..actions.figure_pose import tip_of
from ..actions.pins import pin_bone
from ..errors import FabrikError
from ..overlay.settings import redraw, state
from ..recognise.find import helper_bones
from ..rig.animation.compat import is_hidden
from ..rig.bones import names_if_any, pose_bones
from ..rig.checks import rig_refusal
from ..rig.limit_types import LIMITS
from ..rig.schema import limit_of, rig_of
from ..texts import Text
from ..translations import iface_
from .base import MouseOperator, Returned, clear_status, rigs_in_pose_mode, tell_keys

NEAR_TIP = 60.0  # pixels at scale 1 within which a chain's tip counts as under the mouse where no bone does
NEAR_BONE = 20.0  # the same for a bone, and for a tip beside bones
HEAD_SHARE = 0.3  # share of a bone from its head on within which it is taken by its head
ON_TIP = 1e-3  # share of its length within which the end of a bone stands where a tip does
DONE = {"RIGHTMOUSE", "ESC", "RET", "NUMPAD_ENTER"}
KEYS = (Text("LMB Drag Bone under the Mouse"), Text("P Pin or Free It"), Text("RMB Esc Enter Done"))


class View(NamedTuple):
    """The part of a 3D View's area that shows the scene, also where a button of the sidebar was pressed.

    Attributes:
        region: The region.
        data: How it looks at the scene.
        is_under_mouse: Whether the mouse is over it.
        scale: Of the user interface.
        area: To which the region belongs.
    """

    region: bpy.types.Region
    data: bpy.types.RegionView3D
    is_under_mouse: bool
    scale: float
    area: bpy.types.Area

    def mouse(self, event: bpy.types.Event) -> Vector:
        """Where the mouse is in the region, in pixels."""
        return Vector((event.mouse_x - self.region.x, event.mouse_y - self.region.y))

    def seen(self, point: Vector) -> Vector | None:
        """Where a point of the world is seen in the region; None behind the viewer."""
        return location_3d_to_region_2d(self.region, self.data, point)


Picked: TypeAlias = tuple[bpy.types.Object, Grip]  # an armature object, and what of it is to be dragged
Seen: TypeAlias = tuple[float, Picked]  # how many pixels from the mouse something is


def view_of(context: bpy.types.Context) -> View | None:
    """The view in which an operator was called; None outside a 3D View."""
    area, region, data = context.area, context.region, context.region_data
    if area is None or area.type != "VIEW_3D" or data is None:
        return None
    scale = context.preferences.system.ui_scale
    if region is not None and region.type == "WINDOW":
        return View(region, data, True, scale, area)
    found = next((other for other in area.regions if other.type == "WINDOW"), None)
    return View(found, data, False, scale, area) if found is not None else None


def view_under_mouse(context: bpy.types.Context, event: bpy.types.Event) -> View | None:
    """The 3D View over which the mouse is; None elsewhere, and over the sidebar, a header or the toolbar of one."""
    for area in context.screen.areas:
        places = [(region, event.mouse_x - region.x, event.mouse_y - region.y) for region in area.regions]
        under = [one for one, x, y in places if one.width > 1 and 0 <= x < one.width and 0 <= y < one.height]
        if area.type == "VIEW_3D" and [region.type for region in under] == ["WINDOW"]:
            return View(under[0], _looking(area, under[0]), True, context.preferences.system.ui_scale, area)
    return None


def _looking(area: bpy.types.Area, region: bpy.types.Region) -> bpy.types.RegionView3D:
    """How a region of a 3D View looks at the scene: in a quad view each in its own way."""
    space: Any = area.spaces.active
    windows = [other for other in area.regions if other.type == "WINDOW"]
    quads = space.region_quadviews
    found: bpy.types.RegionView3D = quads[windows.index(region)] if len(quads) == len(windows) > 1 else space.region_3d
    return found


def rigs_at_hand(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The armature the user works on, then the others in Pose mode, as far as they can be posed."""
    owner = working_rig(context)
    rigs = rigs_in_pose_mode(context, owner) if owner is not None else []
    return [rig for rig in rigs if not rig_refusal(rig)]


def pick(context: bpy.types.Context, view: View, mouse: Vector) -> Picked | None:
    """The tip of a chain at the mouse, else the end of the bone that is; None where neither is near.

    Near the body bone that is taken rather than what hangs on it.
    """
    depsgraph = context.evaluated_depsgraph_get()
    rigs, near = rigs_at_hand(context), NEAR_BONE * view.scale
    tip_apart, tip = _nearest(seen for owner in rigs for seen in _tips(owner, depsgraph, view, mouse))
    bones = [seen for owner in rigs for seen in _bones(owner, depsgraph, view, mouse)]
    apart, bone = _nearest(bones)
    body_apart, body = _nearest(one for one in bones if one[1][1].bone == rig_of(one[1][0]).body_bone)
    if bone is not None and body is not None and body_apart <= near and _hangs_on(bone, body):
        bone = body
    if apart > near:
        return tip if tip_apart <= NEAR_TIP * view.scale else None
    return tip if tip_apart <= near else bone


def _nearest(seen: Iterable[Seen]) -> tuple[float, Picked | None]:
    """What is nearest to the mouse, the first of those that are as near."""
    return min(seen, key=lambda pair: pair[0], default=(inf, None))


def _hangs_on(bone: Picked, body: Picked) -> bool:
    """Whether a bone is a child of another."""
    above = pose_bones(bone[0])[bone[1].bone].parent
    return bone[0] == body[0] and above is not None and above.name == body[1].bone


def passed_over(owner: bpy.types.Object) -> set[str]:
    """Names of the bones of an armature that are never picked, for they never bend by themselves.

    That are those for twist and the like, and what is locked and of no chain.
    """
    bones = pose_bones(owner)
    own = {name for chain in rig_of(owner).chains for name in names_if_any(owner, chain)}
    locked = {bone.name for bone in bones if not LIMITS[limit_of(bone).limit].turns} - own
    return locked | _helpers(owner.name, tuple(bone.name for bone in bones))


@lru_cache(maxsize=8)
def _helpers(owner: str, names: tuple[str, ...]) -> frozenset[str]:
    """The bones that deform and are helpers, by name and place; looked for anew where bones have other names."""
    found = bpy.data.objects[owner]
    limbs, bones = limbs_of(found), pose_bones(found)
    helpers = [limbs.skeleton.names[bone] for bone in helper_bones(limbs)]
    return frozenset(name for name in helpers if bones[name].bone.use_deform)


def _tips(owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph, view: View, mouse: Vector) -> Iterator[Seen]:
    """The tips of an armature's chains, each with its distance from the mouse in pixels."""
    for chain in rig_of(owner).chains:
        try:
            seen = view.seen(tip_of(owner, chain, depsgraph))
        except FabrikError:
            continue
        if seen is not None and not is_hidden(pose_bones(owner)[chain.tip_bone]):
            yield dist(seen, mouse), (owner, Grip.tip_of(chain))


def _bones(owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph, view: View, mouse: Vector) -> Iterator[Seen]:
    """The visible bones of an armature, each with the distance from the mouse and the end that is nearer to that."""
    evaluated, never = owner.evaluated_get(depsgraph), passed_over(owner)
    for bone in pose_bones(evaluated):
        if bone.name in never or is_hidden(pose_bones(owner)[bone.name]):
            continue
        ends = [view.seen(evaluated.matrix_world @ point) for point in (bone.head, bone.tail)]
        if ends[0] is not None and ends[1] is not None:
            apart, share = _apart(mouse, ends[0], ends[1])
            yield apart, (owner, Grip(bone.name, "HEAD" if share < HEAD_SHARE else "TAIL"))


def pinned_at(context: bpy.types.Context, owner: bpy.types.Object, taken: Grip) -> str:
    """The name of the pinned chain whose tip stands where a bone is taken; "" where none does."""
    depsgraph = context.evaluated_depsgraph_get()
    bone: Any = pose_bones(owner.evaluated_get(depsgraph)).get(taken.bone)
    for chain in [chain for chain in rig_of(owner).chains if chain.pin] if bone is not None else ():
        with suppress(FabrikError):  # it has no tip
            tip = owner.matrix_world.inverted_safe() @ tip_of(owner, chain, depsgraph)
            if (tip - (bone.head if taken.at_head else bone.tail)).length <= ON_TIP * bone.length:
                return chain.name
    return ""


def _apart(mouse: Vector, head: Vector, tail: Vector) -> tuple[float, float]:
    """Pixels from the mouse to a bone as it is seen, and the share of it that is nearest."""
    if (tail - head).length < 1.0:  # it is seen from its end, or from far away
        return dist(mouse, tail), 1.0
    _, share = intersect_point_line(mouse, head, tail)
    share = min(max(share, 0.0), 1.0)
    return dist(mouse, head.lerp(tail, share)), share


def show(picked: Picked | None) -> None:
    """Show a bone in all 3D Views, or none."""
    found = (picked[0].name, picked[1], _text(*picked)) if picked is not None else None
    if found != state.shown:
        state.shown = found
        redraw()


def _text(owner: bpy.types.Object, taken: Grip) -> str:
    """What stands beside a bone: its name, and whether it is pinned."""
    place = taken.bone if taken.end == "TAIL" else iface_("head of {bone}", bone=taken.bone)
    is_pinned = any(chain.pin and chain.tip_bone == taken.bone for chain in rig_of(owner).chains)
    return iface_("{bone} (pinned)", bone=place) if is_pinned else place


def wait_for_bone() -> None:
    """Show the bone under the mouse from now on, and wait for the click."""
    operators: Any = bpy.ops
    operators.fabrik.drag_pick("INVOKE_DEFAULT")


class FABRIK_OT_drag_pick(MouseOperator):
    """Show the bone under the mouse, and drag those that are clicked, one after the other"""

    bl_label = "Drag Bones"
    bl_options = {"INTERNAL"}

    _is_on = False  # whether bones are shown as the mouse comes over them

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if FABRIK_OT_drag_pick._is_on:
            return {"CANCELLED"}
        FABRIK_OT_drag_pick._is_on = True
        context.window_manager.modal_handler_add(self)
        tell_keys(context, KEYS)
        self._look(context, event)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Show nothing any more; Blender asks for it where the window is closed, too."""
        FABRIK_OT_drag_pick._is_on = False
        show(None)
        clear_status(context)

    def handled(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if rig_refusal(working_rig(context)):
            self.cancel(context)
            return {"CANCELLED", "PASS_THROUGH"}
        view = view_under_mouse(context, event)
        if view is None:
            show(None)
            return {"PASS_THROUGH"}
        if event.value == "PRESS" and event.type in DONE:
            self.cancel(context)
            return {"CANCELLED"}
        if event.type == "MOUSEMOVE":
            tell_keys(context, KEYS)  # a drag had its own
        picked = self._look(context, event)
        if event.value != "PRESS" or event.type not in {"LEFTMOUSE", "P"}:
            return {"PASS_THROUGH"}
        if picked is not None:
            self._drag(context, view, picked) if event.type == "LEFTMOUSE" else self._pin(context, picked)
        return {"RUNNING_MODAL"}

    def _pin(self, context: bpy.types.Context, picked: Picked) -> None:
        """Pin a bone, or free it."""
        try:
            told = pin_bone(context, picked[0], picked[1].bone)
        except FabrikError as error:
            self.refuse(error.text)
            return
        bpy.ops.ed.undo_push(message=iface_("Pin"))
        show(picked)
        tell_keys(context, (told, *KEYS))
        redraw()

    def _look(self, context: bpy.types.Context, event: bpy.types.Event) -> Picked | None:
        """Show what is under the mouse."""
        view = view_under_mouse(context, event)
        picked = pick(context, view, view.mouse(event)) if view is not None else None
        show(picked)
        return picked

    def _drag(self, context: bpy.types.Context, view: View, picked: Picked) -> None:
        """Drag a bone; until that ends it gets all events."""
        owner, taken = picked
        seen: Any = context.temp_override(area=view.area, region=view.region)
        operators: Any = bpy.ops
        with seen:
            operators.fabrik.drag("INVOKE_DEFAULT", rig=owner.name, **taken._asdict())

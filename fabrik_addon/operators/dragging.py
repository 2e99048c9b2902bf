# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging any bone in the viewport, with what header and status bar say meanwhile; by its options in scripts, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from math import atan2, degrees, inf, pi
from typing import Any

import bpy
from bpy_extras.view3d_utils import (
    location_3d_to_region_2d,
    region_2d_to_location_3d,
    region_2d_to_origin_3d,
    region_2d_to_vector_3d,
)
from mathutils import Euler, Matrix, Quaternion, Vector
from mathutils.geometry import intersect_point_line

from ..actions.drag import Drag, DragResult, Grip, begin, drag_to, finish, pull_refusal, set_falloff, set_turning
from ..actions.keep_pose import ReleaseReport
from ..actions.motion.through_time import ControlSnapshot, controls_of, keys_refusal
from ..actions.pins import pin_bone
from ..actions.status import STATUS_TEXTS, length_text
from ..errors import FabrikError, RigError
from ..maths import IDENTITY, Q4, V3, X_AXIS, Y_AXIS, Z_AXIS, multiplied, q4, turn_about, v3
from ..overlay.bones import owner_of, trail_at
from ..overlay.settings import redraw
from ..rig.schema import rig_of
from ..rig.schema.fields import FORGOTTEN, choice, share, switch, text, vector, whole
from ..rig.schema.rig import SceneView
from ..texts import Text, joined, worded
from ..translations import iface_
from .base import BETWEEN, CANCEL, CONFIRM, MouseOperator, Returned, give_back_window, tell_keys
from .motion import spread_text
from .picking import Picked, View, pick, pinned_at, show, view_of, wait_for_bone

ENDS = (
    ("TAIL", "Tail", "The tail of the bone is dragged"),
    ("HEAD", "Head", "The head of the bone is dragged: the joint on which it turns"),
)
REACHED, BLOCKED = "REACHED", "BLOCKED"
BY_PINS = Text("Held back by pins or limits")
PRECISE = 0.1  # share of the mouse's way that counts while Shift is held
FALLOFF_STEP = 0.1  # that a notch of the wheel or a key adds
FINGERTIP = 2.0  # pixels at scale 1 within which a press and release of the mouse is a click
MODIFIERS = {"LEFT_CTRL", "RIGHT_CTRL", "LEFT_SHIFT", "RIGHT_SHIFT"}
FALLOFF = {"WHEELUPMOUSE": 1, "PAGE_UP": 1, "WHEELDOWNMOUSE": -1, "PAGE_DOWN": -1}
SWITCHES = {"X", "Y", "Z", "A", "T", "R", *FALLOFF}


class Mode(Enum):
    """What the mouse does; the value is what the status bar says of it."""

    MOVE = Text("off")
    TURN = Text("about the view")
    BALL = Text("as a ball")

    @property
    def after(self) -> Mode:
        """The next one."""
        modes = list(Mode)
        return modes[(modes.index(self) + 1) % len(modes)]


def keys_of(drag: Drag, mode: Mode, falloff: float, anchored: bool) -> tuple[Text, ...]:
    """What each key does, for the status bar."""
    on, off = Text("on"), Text("off")
    return (
        Text("LMB Enter Confirm"),
        Text("RMB Esc Cancel"),
        Text("X Y Z Along"),
        Text("T With Rotation: {state}", state=on if drag.with_turn else off),
        Text("R Turn: {state}", state=mode.value),
        Text("Wheel PageUp/Down Falloff: {value:.1f}", value=falloff),
        Text("A Anchored Root: {state}", state=on if anchored else off),
        Text("P Pin or Free"),
        Text("G Grab Another"),
        Text("Shift Precise"),
        Text("Ctrl Snap"),
    )


def header_text(
    drag: Drag, dragged: DragResult, way: Sequence[float], axis: int | None, note: str, scene: bpy.types.Scene
) -> str:
    """What is dragged and how far, how far it is from where it should be, and which goals do not hold.

    Along `way` the end is dragged, on one `axis` alone where its index is given; `note` is a sentence more.
    """
    words: list[str] = [name_of(drag)]
    words += [f"D{letter}: {length_text(value, scene)}" for letter, value in zip("xyz", way, strict=True)]
    words += [] if axis is None else [Text("along {axis}", axis="XYZ"[axis])]
    words += [missed_text(drag, dragged, scene)] if dragged.status else []
    if drag.with_turn and dragged.status:
        words.append(Text("{angle:.1f}° off", angle=degrees(dragged.turn_residual)))
    words += [Text("not held: {names}", names=", ".join(dragged.missed))] if dragged.missed else []
    words += [note] if note else []
    return iface_(joined(BETWEEN, words))


def missed_text(drag: Drag, dragged: DragResult, scene: bpy.types.Scene) -> Text:
    """How far what is dragged is from where it should be, and why."""
    missed = Text("{distance} off", distance=length_text(dragged.residual, scene))
    if dragged.status == REACHED:
        return missed
    is_held = dragged.status == BLOCKED and bool(drag.scope.holding)
    return joined(", ", [BY_PINS if is_held else STATUS_TEXTS[dragged.status], missed])


def name_of(drag: Drag) -> Text:
    """The armature, and the chain or the bone that is dragged."""
    bone, end, chain = drag.scope.taken
    place = bone if end == "TAIL" else Text("head of {bone}", bone=bone)
    what = place if not chain else chain if chain == bone else f"{chain} ({bone})"
    return joined(": ", [drag.rig, what])


class FABRIK_OT_drag(MouseOperator):
    """Drag any bone by its head or tail: the limb follows, and with a body bone or pins the whole body. \
From a menu it shows the bone under the mouse and waits for the click. \
The pose stays as it is let go: it becomes the start pose, and goals are brought to it"""

    bl_label = "Drag Bone"
    bl_options = {"REGISTER", "UNDO", "BLOCKING", "GRAB_CURSOR"}

    rig = text("Armature", "Armature object; empty for the active one", options=FORGOTTEN)
    chain = text("Chain", "Chain whose tip is dragged", options=FORGOTTEN)
    bone = text("Bone", "Without a chain: the bone that is dragged", options=FORGOTTEN)
    end = choice(ENDS, "End", "Which end of the bone is dragged", options=FORGOTTEN)
    way = vector("Way", "How far the end is dragged, in the world", subtype="TRANSLATION", options=FORGOTTEN)
    with_turn = switch(
        "With Rotation",
        "Let the bone keep its rotation in the world, or have that which it is turned to",
        options=FORGOTTEN,
    )
    turn = vector(
        "Turn",
        "How the bone is turned in the world from how it stood, with a rotation",
        subtype="EULER",
        options=FORGOTTEN,
    )
    falloff = share(
        "Falloff",
        "How much less the bones far from the dragged one follow than those near it; stored with the armature",
        options=FORGOTTEN,
    )
    anchored = switch(
        "Anchored Root",
        "Keep the root of a limb where it is; else the whole limb is pulled along",
        default=True,
        options=FORGOTTEN,
    )

    width = whole(
        "Width",
        "How many frames away the drag changes nothing any more; 0: it is of this frame alone",
        min=0,
        options=FORGOTTEN,
    )
    frame = whole("Frame", "Frame of the dot of a trail that is dragged", options={"HIDDEN", *FORGOTTEN})

    _drag: Drag
    _noted: list[ControlSnapshot]  # its controls as they stood, where their move is to fade over time
    _view: View
    _moved: Vector
    _turned: Q4
    _mouse: Vector
    _pressed: Vector | None  # where the button went down that is held since
    _mode: Mode
    _axis: int | None
    _heeds_keys: bool
    _note: str
    _falloff_before: float

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_options(("way", "with_turn", "turn", "falloff", "anchored", *(("width",) if self.width else ())))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        view = view_of(context)
        if view is None:
            return self.refuse("bones are dragged in a 3D View")
        self._view, self._mouse, self._noted = view, view.mouse(event), []
        is_click = event.value in {"PRESS", "CLICK_DRAG"} or event.type not in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}
        if not (self.chain or self.bone or (is_click and view.is_under_mouse)):  # a button or an entry was pressed
            wait_for_bone()
            return {"CANCELLED"}
        try:
            picked = self._picked(context)
            if picked is None:  # a warning, for an error would put a panel under the mouse
                self.tell(warnings=[Text("no bone is under the mouse: point at a bone, or at the tip of a chain")])
                return {"CANCELLED"}
            self._take(context, picked)
        except FabrikError as error:
            return self.refuse(error.text)
        self._pressed = self._mouse.copy() if event.type == "LEFTMOUSE" else None
        self._heeds_keys = not (event.ctrl or event.shift)  # those of the shortcut have to be let go first
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("HAND")
        self._tell(context, DragResult())
        return {"RUNNING_MODAL"}

    def _picked(self, context: bpy.types.Context) -> Picked | None:
        """What was asked for, or what is under the mouse; by a dot of a trail its bone, in the frame of the dot."""
        if not (self.chain or self.bone):
            found = trail_at(context, self._view.seen, self._mouse, self._view.scale)
            owner = owner_of(found[0]) if found is not None else None
            if found is None or owner is None:
                return pick(context, self._view, self._mouse)
            self.frame = found[1]
            context.scene.frame_set(self.frame)
            self._noted = _noted(owner)
            return owner, found[0].taken
        return bpy.data.objects[self.rig], Grip(self.bone, self.end, self.chain)

    def _take(self, context: bpy.types.Context, picked: Picked) -> None:
        """Begin to drag a bone."""
        owner, taken = picked
        rig = rig_of(owner)
        self._falloff_before = rig.falloff
        self._noted = self._noted or (_noted(owner) if SceneView(context.scene).through_time else [])
        self._drag = _begun(context, picked)
        self.rig, (self.bone, self.end, self.chain) = owner.name, taken
        self.with_turn, self.falloff = self._drag.with_turn, rig.falloff
        self._moved, self._turned, self._axis, self._mode = Vector(), IDENTITY, None, Mode.MOVE
        self._note = self._drag.note
        show(picked)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        if not (self.chain or self.bone):
            return self.refuse("bones are dragged with the mouse in a 3D View, unless chain or bone and way are given")
        found = bpy.data.objects.get(self.rig) if self.rig else owner
        if found is None or found.type != "ARMATURE":
            raise RigError(Text("there is no armature object '{name}'", name=self.rig))
        if self.properties.is_property_set("falloff"):
            rig_of(found).falloff = self.falloff
        if self.properties.is_property_set("frame"):
            context.scene.frame_set(self.frame)
        if SceneView(context.scene).through_time and not self.properties.is_property_set("width"):
            self.width = SceneView(context.scene).time_width
        noted = _noted(found) if self.width else []
        drag = _begun(context, (found, Grip(self.bone, self.end, self.chain)))
        try:
            if self.properties.is_property_set("with_turn"):
                refusal = set_turning(drag, self.with_turn)
                if refusal:
                    raise RigError(refusal, rig=found.name)
            turn = q4(Euler(self.turn).to_quaternion())
            dragged = drag_to(context, drag, drag.place + Vector(self.way), turn, anchored=self.anchored)
        except FabrikError:
            drag.restore()
            raise
        told = finish(context, drag)
        if dragged.status not in {"", REACHED}:
            told.warnings.append(missed_text(drag, dragged, context.scene))
        self._finished(told, drag, spread_text(context, noted, self.width))
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave all as it was; Blender asks for it where the window is closed, too."""
        self._drag.restore()
        owner: bpy.types.Object | None = bpy.data.objects.get(self._drag.rig)
        if owner is not None and rig_of(owner).falloff != self._falloff_before:
            rig_of(owner).falloff = self._falloff_before
        self._ended(context)

    def handled(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if event.type in CANCEL and event.value == "PRESS":
            self.cancel(context)
            return {"CANCELLED"}
        if self._is_confirmed(event):
            return self._confirmed(context)
        self._heeds_keys = self._heeds_keys or not (event.ctrl or event.shift)
        if event.value == "PRESS" and event.type == "G" and self._heeds_keys:
            found = self._confirmed(context)
            wait_for_bone()
            return found
        if event.value == "PRESS" and event.type == "P" and self._heeds_keys:
            return self._pin(context)
        if event.value == "PRESS" and event.type in SWITCHES:
            self._switch(event.type)
        elif event.type == "MOUSEMOVE":
            self._follow(event)
        elif event.type not in MODIFIERS:
            return {"RUNNING_MODAL"}
        self._pose(context, event)
        return {"RUNNING_MODAL"}

    def _pin(self, context: bpy.types.Context) -> Returned:
        """Let go, pin or free the bone under the mouse, and take up again what was dragged, unless it is that."""
        taken = Grip(self.bone, self.end, self.chain)
        found, other = pick(context, self._view, self._mouse) or (bpy.data.objects[self.rig], taken)
        if "FINISHED" in self._confirmed(context):
            bpy.ops.ed.undo_push(message=iface_("Drag Bone"))
        is_same = (found.name, other.bone) == (self.rig, self.bone)
        try:
            told = pin_bone(context, found, other.bone)
            bpy.ops.ed.undo_push(message=iface_("Pin"))
            self.tell(told)
        except FabrikError as error:  # what was let go stays so
            told, is_same = worded(error.text), False
        if is_same:
            return {"CANCELLED"}
        self._noted = []
        self._take(context, (bpy.data.objects[self.rig], taken))
        context.window.cursor_modal_set("HAND")
        self._note = told
        self._tell(context, DragResult())
        return {"RUNNING_MODAL"}

    def _is_confirmed(self, event: bpy.types.Event) -> bool:
        """Whether the drag is to end here: by a key, a click, or by letting go of a button that was pressed."""
        if event.type == "LEFTMOUSE" and event.value == "RELEASE" and self._pressed is not None:
            is_click = (self._view.mouse(event) - self._pressed).length <= FINGERTIP * self._view.scale
            self._pressed = None
            return not is_click
        return event.type in CONFIRM and event.value == "PRESS"

    def _confirmed(self, context: bpy.types.Context) -> Returned:
        """Let go; what was neither moved nor turned is as good as never taken."""
        if not Vector(self.way).length and self._turned == IDENTITY:
            self._drag.restore()
            self._ended(context)
            return {"CANCELLED"}
        self.width = SceneView(context.scene).time_width if self._noted else 0
        self._finished(finish(context, self._drag), self._drag, spread_text(context, self._noted, self.width))
        self._ended(context)
        return {"FINISHED"}

    def _finished(self, found: ReleaseReport, drag: Drag, spread: Sequence[Text]) -> None:
        """Report what came of a drag, and of what was spread over time."""
        done, warnings = [*found.done, *spread], found.warnings
        if done or warnings:  # whose it is is told once
            first = done if done else warnings
            first[0] = joined(": ", [name_of(drag), first[0]])
        self.tell(*done, warnings=warnings)

    def _switch(self, key: str) -> None:
        """Do what a key asks for."""
        self._note = ""
        if key in {"X", "Y", "Z"}:
            axis = "XYZ".index(key)
            self._axis = None if self._axis == axis else axis
        elif key == "A":
            self._note = pull_refusal(self._drag) if self.anchored else ""
            self.anchored = not self.anchored or bool(self._note)
        elif key == "T":
            self._note = set_turning(self._drag, not self._drag.with_turn)
            self._mode = Mode.MOVE if not self._drag.with_turn else self._mode
        elif key == "R":
            self._note = set_turning(self._drag, True)
            self._mode = Mode.MOVE if self._note else self._mode.after
        else:
            owner = bpy.data.objects[self._drag.rig]
            rig = rig_of(owner)
            rig.falloff = self.falloff = min(max(rig.falloff + FALLOFF[key] * FALLOFF_STEP, 0.0), 1.0)
            self._note = set_falloff(self._drag, owner)
        self.with_turn = self._drag.with_turn

    def _follow(self, event: bpy.types.Event) -> None:
        """Take over a step of the mouse: it moves, or it turns."""
        mouse, before = self._view.mouse(event), self._mouse
        self._mouse = mouse
        share = PRECISE if event.shift and self._heeds_keys else 1.0
        if self._mode is Mode.MOVE:
            region, data, place = self._view.region, self._view.data, self._drag.place
            a, b = (region_2d_to_location_3d(region, data, point, place) for point in (before, mouse))
            self._moved += (b - a) * share
            return
        pivot, view = self._view.seen(self._drag.place + Vector(self.way)), self._view.data.view_matrix
        if self._mode is Mode.BALL or pivot is None:
            turn = turn_of_ball(view, (mouse - before) * share, self._view.scale)
        else:
            turn = turn_of_view(view, angle_about(pivot, before, mouse) * share, self._axis)
        self._turned = multiplied(turn, self._turned)

    def _pose(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        """Bring the bone to where it is wanted."""
        if self._mode is Mode.MOVE:
            self.way = self._constrained(context, event)
        self.turn = Quaternion(self._turned).to_euler()
        point = self._drag.place + Vector(self.way)
        self._tell(context, drag_to(context, self._drag, point, self._turned, anchored=self.anchored))

    def _constrained(self, context: bpy.types.Context, event: bpy.types.Event) -> Vector:
        """The whole way, snapped where snapping is on, along the axis that is chosen."""
        way = self._moved.copy()
        if (event.ctrl and self._heeds_keys) != context.scene.tool_settings.use_snap:
            owner, fine = bpy.data.objects[self._drag.rig], event.shift and self._heeds_keys
            seen: Any = context.temp_override(region=self._view.region)  # the sidebar's where its button was pressed
            with seen:
                way = snapped(context, owner, self._mouse, self._drag.place, way, fine)
        if self._axis is not None:
            way = Vector([value if i == self._axis else 0.0 for i, value in enumerate(way)])
        return way

    def _tell(self, context: bpy.types.Context, dragged: DragResult) -> None:
        """What is dragged and how far, and how far it is from where it should be."""
        falloff = rig_of(bpy.data.objects[self._drag.rig]).falloff
        redraw()  # Blender does not by itself for what is written in bulk
        tell_keys(context, keys_of(self._drag, self._mode, falloff, self.anchored))
        if context.area is not None:
            told = header_text(self._drag, dragged, self.way, self._axis, self._note, context.scene)
            context.area.header_text_set(told)

    def _ended(self, context: bpy.types.Context) -> None:
        show(None)
        give_back_window(context)


def _noted(owner: bpy.types.Object) -> list[ControlSnapshot]:
    """The controls of an armature as they stand, as far as they can be keyed."""
    return [ControlSnapshot.of(goal) for _, goal in controls_of([owner]) if not keys_refusal(goal)]


def _begun(context: bpy.types.Context, picked: Picked) -> Drag:
    """A drag of what was picked; its chain becomes the active one. A pin that stands there comes along."""
    owner, taken = picked
    rig = rig_of(owner)
    index = rig.chains.find(taken.chain if taken.chain else pinned_at(context, owner, taken))
    drag = begin(context, owner, taken if index < 0 else Grip.tip_of(rig.chains[index]))
    rig.active_index = rig.active_index if index < 0 else index
    return drag


# From the mouse to where a dragged tip goes.


NEAR = 30.0  # pixels at scale 1 from the mouse to a vertex or an edge
MOST_HITS = 16  # things before the one that counts
PAST = 1e-4  # share of the way by which a ray starts anew behind what it hit
STEP, FINE_STEP = 1.0, 0.1  # scene units
A_PIXEL = 0.01  # radians by which a ball turns for a pixel at scale 1
NO_PLACE = 2.0  # pixels round the pivot in which the mouse tells no direction
AXES = (X_AXIS, Y_AXIS, Z_AXIS)


def snapped(
    context: bpy.types.Context, owner: bpy.types.Object, mouse: Vector, start: Vector, way: Vector, fine: bool
) -> Vector:
    """The way of a tip with Blender's snapping.

    Args:
        context: Of a 3D View.
        owner: The armature; what it deforms does not count.
        mouse: In the region.
        start: Where the tip stood.
        way: How far it is dragged.
        fine: Whether steps are small.
    """
    elements: Any = context.scene.tool_settings.snap_elements
    if elements & {"VERTEX", "EDGE", "FACE"}:
        point = _under_mouse(context, owner, mouse, elements)
        return way if point is None else point - start
    step = FINE_STEP if fine else STEP
    return Vector([round(value / step) * step for value in way])


def _under_mouse(
    context: bpy.types.Context, owner: bpy.types.Object, mouse: Vector, elements: set[str]
) -> Vector | None:
    """The vertex, else the edge, else the face under the mouse, of those that are wanted."""
    hit = next(_hits(context, owner, mouse), None)
    if hit is None:
        return None
    location, found, index = hit
    mesh: Any = found.evaluated_get(context.evaluated_depsgraph_get()).data
    corners = [found.matrix_world @ mesh.vertices[i].co for i in mesh.polygons[index].vertices]
    candidates: list[Vector] = []
    if "VERTEX" in elements:
        candidates = corners
    elif "EDGE" in elements:
        candidates = [_on_edge(location, a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    seen = [(location_3d_to_region_2d(context.region, context.region_data, point), point) for point in candidates]
    apart = [((place - mouse).length, point) for place, point in seen if place is not None]
    least, nearest = min(apart, key=lambda pair: pair[0], default=(inf, None))
    if least <= NEAR * context.preferences.system.ui_scale:
        return nearest
    return location if "FACE" in elements else None


def _on_edge(point: Vector, a: Vector, b: Vector) -> Vector:
    near, share = intersect_point_line(point, a, b)
    return a if share <= 0.0 else b if share >= 1.0 else near


def _hits(
    context: bpy.types.Context, owner: bpy.types.Object, mouse: Vector
) -> Iterator[tuple[Vector, bpy.types.Object, int]]:
    """Meshes under the mouse from front to back, but for those that hang on the armature."""
    origin = region_2d_to_origin_3d(context.region, context.region_data, mouse)
    ray = region_2d_to_vector_3d(context.region, context.region_data, mouse)
    depsgraph = context.evaluated_depsgraph_get()
    cast: Any = context.scene.ray_cast  # the stubs of 4.2 say that it returns nothing
    for _ in range(MOST_HITS):
        is_hit, location, _, index, found, _ = cast(depsgraph, origin, ray)
        if not is_hit:
            return
        if not _hangs_on(found.original, owner) and found.type == "MESH":
            yield location, found.original, index
        origin = location + ray * PAST * max(1.0, (location - origin).length)


def _hangs_on(found: bpy.types.Object, owner: bpy.types.Object) -> bool:
    deformed = any(getattr(modifier, "object", None) == owner for modifier in found.modifiers)
    return deformed or found.parent == owner


def angle_about(pivot: Sequence[float], before: Sequence[float], after: Sequence[float]) -> float:
    """The angle by which the mouse went round a pivot in the region, in pixels, against the clock; in (-pi, pi]."""
    a, b = (Vector(place) - Vector(pivot) for place in (before, after))
    if a.length <= NO_PLACE or b.length <= NO_PLACE:
        return 0.0
    angle = atan2(b.y, b.x) - atan2(a.y, a.x)
    return pi - (pi - angle) % (2.0 * pi)


def turn_of_view(view: Matrix, angle: float, axis: int | None) -> Q4:
    """The rotation in the world for an angle against the clock as it is seen.

    Args:
        view: From the world to the view, as Blender's `view_matrix`.
        angle: Radians.
        axis: Index of the world's axis about which it turns; None for that of the view.
    """
    towards: V3 = v3(view.to_3x3().transposed().col[2])
    if axis is None:
        return turn_about(towards, angle)
    return turn_about(AXES[axis], -angle if towards[axis] < 0.0 else angle)


def turn_of_ball(view: Matrix, step: Sequence[float], scale: float) -> Q4:
    """The rotation in the world for a step of the mouse over a ball.

    Args:
        view: From the world to the view.
        step: Pixels to the right, and up.
        scale: Of the user interface.
    """
    axes = view.to_3x3().transposed()
    right, up = v3(axes.col[0]), v3(axes.col[1])
    factor = A_PIXEL / scale
    return multiplied(turn_about(up, step[0] * factor), turn_about(right, -step[1] * factor))

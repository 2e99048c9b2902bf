# SPDX-License-Identifier: GPL-3.0-or-later
"""Leading a walker by hand in the viewport: its body follows the mouse, and its feet step.

The way may be recorded.
"""

from __future__ import annotations

from math import radians
from time import perf_counter
from typing import Any

import bpy
from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d
from mathutils import Vector
from mathutils.geometry import intersect_line_plane

from ..actions.chain_edit import working_rig
from ..actions.frames import rate_of
from ..actions.status import length_text
from ..actions.walk.lead import Led, begin, check_recording, keep_recording, lead_to, leave_led
from ..errors import FabrikError, InvalidValueError
from ..finite import are_finite
from ..maths import v3
from ..rig.schema.fields import FORGOTTEN, real, switch, vector
from ..texts import Text, joined
from ..translations import iface_
from .base import CANCEL, CONFIRM, MouseOperator, Returned, give_back_window, tell_keys
from .picking import View, view_of
from .walking import WalkerOperator

TICK = 1.0 / 60.0  # seconds between two steps of the walk, in the view and in scripts
LONGEST_STEP = 0.1  # seconds; what a slow computer takes longer for is not made up for
TURN = radians(10.0)  # of a notch of the wheel
LONGEST = 600.0  # seconds of a walk that a script may ask for
LEVEL = 0.02  # cosine of the angle between view and ground below which the mouse tells no place on it
KEYS = (Text("LMB Enter Confirm"), Text("RMB Esc Cancel"), Text("Wheel PageUp/Down Turn"))
WHEEL = {"WHEELUPMOUSE": 1.0, "PAGE_UP": 1.0, "WHEELDOWNMOUSE": -1.0, "PAGE_DOWN": -1.0}


class FABRIK_OT_walk_by_hand(MouseOperator, WalkerOperator):
    """Lead the body over the ground with the mouse: its feet step as it moves. \
The pose stays as it is let go, or all of the way becomes keys and a planned walk"""

    bl_label = "Walk by Hand"
    bl_options = {"UNDO", "BLOCKING", "GRAB_CURSOR"}

    record = switch(
        "Record", "Keep the walk from the current frame on: the way of the body as keys, the steps as the planned walk"
    )
    faces_way = switch("Face Travel", "The body turns to where it goes", default=True, options=FORGOTTEN)
    way = vector(
        "Way",
        "For scripts: how far the body is led, straight, in world space",
        subtype="TRANSLATION",
        options=FORGOTTEN,
    )
    seconds = real(
        "Seconds",
        "For scripts: how long that takes; the body is no faster than its legs",
        min=0.0,
        max=LONGEST,
        options=FORGOTTEN,
    )

    _led: Led
    _view: View
    _timer: Any
    _before: float  # when the last step was, seconds
    _origin: Vector  # of the body
    _grip: Vector | None  # where the mouse was on the ground when it took the body
    _wanted: Vector

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        if not self.seconds > 0.0:
            raise InvalidValueError(
                "a walk by hand is led with the mouse in a 3D View, or takes seconds", rig=owner.name
            )
        if not are_finite(self.way):
            raise InvalidValueError("the body is nowhere", rig=owner.name)
        led = self._begin(context, owner)
        try:
            led.steering.faces_way = self.faces_way
            start, count = led.steering.place, max(round(self.seconds / TICK), 1)
            for index in range(count):
                wanted = v3(Vector(start) + Vector(self.way) * ((index + 1) / count))
                lead_to(context, led, wanted, self.seconds / count)
            self._end(context, led)
        except BaseException:
            led.restore()
            raise

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        view = view_of(context)
        if view is None:
            return self.refuse("a walker is led in a 3D View")
        try:
            self._led = self._begin(context, working_rig(context))
        except FabrikError as error:
            return self.refuse(error.text)
        self._view, self._led.steering.faces_way = view, self.faces_way
        self._origin = self._wanted = Vector(self._led.steering.place)
        self._grip = self._on_ground(view.mouse(event)) if view.is_under_mouse else None
        self._before = perf_counter()
        manager = context.window_manager
        self._timer = manager.event_timer_add(TICK, window=context.window)
        manager.modal_handler_add(self)
        context.window.cursor_modal_set("HAND")
        self._tell(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave all as it was; Blender asks for it where the window is closed, too."""
        self._led.restore()
        self._let_go(context)

    def _begin(self, context: bpy.types.Context, owner: bpy.types.Object) -> Led:
        if self.record:
            check_recording(owner)
        return begin(context, owner)

    def handled(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if event.type in CANCEL and event.value == "PRESS":
            self.cancel(context)
            return {"CANCELLED"}
        if event.type in CONFIRM and event.value == "PRESS":
            self._end(context, self._led)
            self._let_go(context)
            return {"FINISHED"}
        if event.type == "MOUSEMOVE":
            self._follow(self._view.mouse(event))
        elif event.type in WHEEL and event.value == "PRESS":
            self._led.steering.faces_way = self.faces_way = False
            self._led.steering.turn(WHEEL[event.type] * TURN)
        elif event.type == "T" and event.value == "PRESS":
            self._led.steering.faces_way = self.faces_way = not self.faces_way
        elif event.type == "TIMER":
            now = perf_counter()
            span, self._before = min(now - self._before, LONGEST_STEP), now
            lead_to(context, self._led, v3(self._wanted), span)
            self._tell(context)
        return {"RUNNING_MODAL"}

    def _follow(self, mouse: Vector) -> None:
        """Want the body to be as far from where it was as the mouse is from where it took it, along the ground."""
        point = self._on_ground(mouse)
        if point is None:
            return
        self._grip = point if self._grip is None else self._grip
        self._wanted = self._origin + point - self._grip

    def _on_ground(self, mouse: Vector) -> Vector | None:
        """The place under the mouse on the plane on which the body goes; None where it is seen from its edge."""
        region, data = self._view.region, self._view.data
        up = Vector(self._led.steering.up)
        ray = region_2d_to_vector_3d(region, data, mouse)
        if abs(ray.dot(up)) < LEVEL:
            return None
        origin = region_2d_to_origin_3d(region, data, mouse)
        found: Vector | None = intersect_line_plane(origin, origin + ray, self._origin, up)
        is_ahead = found is not None and (not data.is_perspective or (found - origin).dot(ray) > 0.0)
        return found if is_ahead else None

    def _end(self, context: bpy.types.Context, led: Led) -> None:
        """Keep what was walked, or leave the pose; and report it."""
        found = keep_recording(context, led) if self.record else leave_led(context, led)
        self.tell(*found.done, warnings=found.warnings)

    def _tell(self, context: bpy.types.Context) -> None:
        """How far the body has come, and what the keys do."""
        scene, led = context.scene, self._led
        assert scene is not None
        way = (Vector(led.steering.place) - self._origin).length
        text = Text("Walk by Hand: {distance}", distance=length_text(way, scene))
        if self.record:
            frame = scene.frame_current + led.walk.time * rate_of(scene)
            text = joined(", ", (text, Text("recording frame {frame:.0f}", frame=frame)))
        if context.area is not None:
            context.area.header_text_set(iface_(text))
            context.area.tag_redraw()
        facing = Text("T Face Travel: {state}", state=Text("on" if self.faces_way else "off"))
        tell_keys(context, (*KEYS, facing))

    def _let_go(self, context: bpy.types.Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        give_back_window(context)

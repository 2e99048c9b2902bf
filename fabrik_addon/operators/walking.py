# SPDX-License-Identifier: GPL-3.0-or-later
"""Make walkers, plan their walks, and forget them."""

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
from ..actions.keep_pose import told_moves, unposed
from ..actions.status import length_text
from ..actions.walk.bake import MOST, bake_bones, bake_goals, mark_steps
from ..actions.walk.clip import cycle_text, load_cycle, use_cycle
from ..actions.walk.lead import LedWalker, begin, check_recording, keep_recording, lead_to, leave_led
from ..actions.walk.plan import forget_marks, plan_steps
from ..actions.walk.posture import forget_posture
from ..actions.walk.setup import add_walker, remove_walker
from ..errors import FabrikError, InvalidValueError, are_finite
from ..gait.settings import STYLES
from ..maths import v3
from ..rig.schema import GAIT_LABELS, rig_of
from ..rig.schema.fields import FORGOTTEN, choice, real, switch, text, vector
from ..rig.schema.walker import WalkerView
from ..texts import Text, counted, joined, quoted
from ..translations import iface_, label_
from .baking import RangeOperator, summary
from .base import (
    CANCEL,
    CONFIRM,
    FromFile,
    MouseOperator,
    Returned,
    RigOperator,
    ToFile,
    give_back_window,
    listed,
    tell_keys,
)
from .picking import View, view_of

FOOTPRINT_ITEMS = (
    ("NONE", "None", "No footprints"),
    ("CURVE", "Curve", "One curve object with the outline of each sole"),
    ("EMPTIES", "Empties", "An empty for each footprint"),
)


def walker_of(context: bpy.types.Context) -> WalkerView:
    """That of the armature that is worked on."""
    return rig_of(working_rig(context)).walker


class WalkerOperator(RigOperator):
    """An operator on a walker."""

    needs = {Text("it is no walker yet: add one first"): lambda context: len(walker_of(context).legs)}


class FABRIK_OT_walker_add(RigOperator):
    """Find, measure and group the legs, and choose a gait by their number; nothing moves before the walk is planned"""

    bl_label = "Add Walker"

    body_bone = text("Body Bone", "Name of the bone that carries all legs; empty to find it", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        rig = rig_of(owner)
        with unposed():
            made, left = add_walker(context, owner, self.body_bone)
            moves = told_moves([(owner, chain) for chain in rig.chains])
        done = [Text("made {chains}", chains=listed(made, "{count} chains"))] if made else []
        legs, gait = counted(len(rig.walker.legs), "1 leg", "{count} legs"), label_(GAIT_LABELS[rig.walker.gait])
        done.append(Text("{legs} on '{bone}', {gait}: plan the walk next", legs=legs, bone=rig.body_bone, gait=gait))
        names = listed(left, "{count} chains")
        behind = Text("targets that stay behind while it walks, unless they are moved along: {chains}", chains=names)
        self.tell(*done, warnings=[*([behind] if names else []), *moves])


class FABRIK_OT_walk_style(WalkerOperator):
    """Let a walker with the gait Human walk in a style; plan the walk then"""

    bl_label = "Walk Style"
    needs = {
        **WalkerOperator.needs,
        Text("styles are those of the gait Human"): lambda context: walker_of(context).gait == "HUMAN",
    }

    style = choice([(one.name, one.label, one.description) for one in STYLES], "Style", "How it walks")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        style = next(one for one in STYLES if one.name == self.style)
        for name, value in style.fields.items():
            setattr(rig_of(owner).walker, name, value)
        self.tell(Text("{style}: plan the walk next", style=style.label))


class FABRIK_OT_cycle_export(ToFile, WalkerOperator):
    """Write to a file how it walks: its settings, and the clips by which it goes; for other characters and projects"""

    bl_label = "Export Cycle"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        path = self.write(cycle_text(owner, rate_of(context.scene)))
        clips = [one.name for one in rig_of(owner).walker.clips]
        words = [Text("how '{name}' walks is written to '{path}'", name=owner.name, path=path)]
        self.tell(*words, *([Text("with the clips {clips}", clips=quoted(clips))] if clips else []))


class FABRIK_OT_cycle_import(FromFile, WalkerOperator):
    """Walk as a file says: by its settings, and by its clips, which become actions; plan the walk then"""

    bl_label = "Import Cycle"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        warnings = use_cycle(owner, load_cycle(self.path), rate_of(context.scene))
        gait = label_(GAIT_LABELS[rig_of(owner).walker.gait])
        self.tell(Text("{gait}: plan the walk next", gait=gait), warnings=warnings)


class FABRIK_OT_walk_plan(RangeOperator, WalkerOperator):
    """Plan the steps that carry the body along its keyed path, and let legs and body follow them"""

    bl_label = "Plan Walk"

    progress = Text("Planning Walk {share:.0%}")

    keep_contacts = switch(
        "Keep Contacts", "Take contacts as given that were moved, parted, drawn or placed by hand", default=True
    )
    below = ("keep_contacts",)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        frames = self.frames(context)
        steps = plan_steps(context, owner, (frames[0], frames[-1]), is_new=not self.keep_contacts)
        return self.take_steps(context, [owner], steps)


class FABRIK_OT_walk_bake(RigOperator):
    """Make keys of the planned walk: few on goals, which can be edited, or on the bones in each frame"""

    bl_label = "Bake Walk"
    needs = {
        Text("no walk is planned, or it is switched off"): lambda context: (
            walker_of(context).on and walker_of(context).digest
        )
    }

    into = choice(
        (
            ("GOALS", "Goals", "Few keys on empties that feet and body follow, where feet lift and land and between"),
            ("BONES", "Bones", "Keys on the bones in each frame, in a copy of the action; the path stays in the old"),
        ),
        "Into",
        "What gets the keys",
    )
    tolerance = real(
        "Tolerance",
        "By how much a goal may be off the planned walk, as a share of the leg's reach",
        default=0.01,
        min=1e-4,
        max=MOST,
        precision=4,
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_options(("into",))
        column = self.layout.column()
        column.active = self.into == "GOALS"
        column.prop(self, "tolerance")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        if self.into == "BONES":
            result = bake_bones(context, owner)
            self.tell_each([(summary(result.chains), result.all_reached)])
            return
        count, made, notes = bake_goals(context, owner, self.tolerance)
        keys = counted(count, "1 key", "{count} keys")
        goals = counted(len(rig_of(owner).walker.legs) + 1, "1 goal", "{count} goals")
        words = [Text("{keys} on {goals}: live follows them now", keys=keys, goals=goals)]
        words += [Text("made {goals}", goals=listed(made, "{count} goals"))] if made else []
        self.tell(*words, warnings=notes)


class FABRIK_OT_walk_mark(RigOperator):
    """Mark the planned walk: footprints where feet land, and markers in the timeline when they do"""

    bl_label = "Mark Steps"
    poses = False
    needs = {Text("no walk is planned"): lambda context: walker_of(context).digest}

    footprints = choice(FOOTPRINT_ITEMS, "Footprints", "What is made where feet land", default="CURVE")
    use_markers = switch(
        "Markers", "A marker in the timeline for each foot that lands, with the names of walker and leg", default=True
    )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        prints, markers = mark_steps(context, owner, self.footprints, use_markers=self.use_markers)
        words = [counted(prints, "1 footprint", "{count} footprints"), counted(markers, "1 marker", "{count} markers")]
        self.tell(joined(", ", words))


class FABRIK_OT_walker_remove(WalkerOperator):
    """Forget legs, settings and the planned walk; the chains of the legs stay, without the walk as their goal"""

    bl_label = "Remove Walker"
    poses = False

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        forget_posture(owner)
        forget_marks(owner)
        remove_walker(owner)
        self.tell(Text("'{name}' is no walker any more", name=owner.name))


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

    _led: LedWalker
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

    def _begin(self, context: bpy.types.Context, owner: bpy.types.Object) -> LedWalker:
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

    def _end(self, context: bpy.types.Context, led: LedWalker) -> None:
        """Keep what was walked, or leave the pose; and report it."""
        found = keep_recording(context, led) if self.record else leave_led(context, led)
        self.tell(*found.done, warnings=found.warnings)

    def _tell(self, context: bpy.types.Context) -> None:
        """How far the body has come, and what the keys do."""
        scene, led = context.scene, self._led
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking chains to keys."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from math import degrees
from time import perf_counter
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..errors import FabrikError
from ..session import live
from ..session.bake import BakeResult, BakeSettings, ChainBake, bake_steps
from ..session.bake.settings import MOST_CLEAN_UP
from ..texts import Text, joined
from ..translations import iface_, rpt_
from .base import NAMED, ChainOperator, listed
from .choices import SpanOptions, chains_property, items_of

if TYPE_CHECKING:
    from .base import Returned

WAIT = 0.01  # seconds between two slices of a bake
SLICE = 0.1  # seconds for which Blender's window waits
BEFORE_BAR = 0.5  # seconds that a bake may take before its progress is shown


class FABRIK_OT_bake(SpanOptions, ChainOperator):
    """Solve chains over a range of frames and key their bones; the chains are switched off, so that the keys play"""

    bl_idname = "fabrik.bake"
    bl_label = "Bake"

    if TYPE_CHECKING:
        step: int
        only_keys: bool
        chains: str
        into: str
        interpolation: str
        clean_up: float
        verify: str
    else:
        step: IntProperty(name="Step", description="Frames from key to key", default=1, min=1)
        only_keys: BoolProperty(
            name="Only at Keys", description="Key each chain only where its target or its pole has a key"
        )
        chains: chains_property("ALL")
        into: EnumProperty(
            name="Into",
            description="Where the keys go",
            items=(
                ("ACTION", "Action", "The armature's action; keys of the chains in the range are replaced"),
                ("NEW_ACTION", "New Action", "A copy of the armature's action"),
                ("NLA", "NLA Track", "A new action on a track of its own"),
            ),
        )
        interpolation: EnumProperty(
            name="Interpolation",
            description="How the bones move from key to key",
            items=(("LINEAR", "Linear", "Straight from key to key"), ("BEZIER", "Bezier", "Smooth from key to key")),
        )
        clean_up: FloatProperty(
            name="Clean Up",
            description="Leave out keys as long as no bone is off against its parent by more than this; 0 keeps all",
            subtype="ANGLE",
            min=0.0,
            max=MOST_CLEAN_UP,
            precision=3,
            step=1,
        )
        verify: EnumProperty(
            name="Verify",
            description="Let Blender evaluate the keys afterwards and report how far the tips are off",
            items=(
                ("EVERY", "Every Frame", "Evaluate every frame"),
                ("SAMPLE", "Sampled Frames", "Evaluate about fifty frames, with those of the largest turns"),
                ("NONE", "None", "Trust the solve"),
            ),
        )

    _steps: Generator[float, None, BakeResult] | None = None
    _owners: list[bpy.types.Object] = []
    _timer: bpy.types.Timer | None = None
    _is_shown = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if not self.properties.is_property_set("span"):
            self.take_span(context)
        self._is_shown = not bpy.app.background
        return context.window_manager.invoke_props_dialog(self, confirm_text=iface_("Bake"))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        self.draw_span(layout)
        layout.prop(self, "step")
        layout.prop(self, "only_keys")
        layout.separator()
        for name in ("chains", "into", "interpolation", "clean_up", "verify"):
            layout.prop(self, name)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        items = items_of(context, owner, self.chains)
        self._owners = [owner for owner, _ in items]
        self._steps = bake_steps(context, items, self._settings(context))
        is_shown, self._is_shown = self._is_shown, False
        if not self._went_on(context, BEFORE_BAR if is_shown else None):
            return {"FINISHED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(WAIT, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, rpt_("the bake was cancelled; nothing was changed"))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            if self._can_go_on():
                if self._went_on(context, SLICE):
                    return {"RUNNING_MODAL"}
                self._end(context)
                return {"FINISHED"}
            reason = Text("an armature left Object and Pose Mode")
        except FabrikError as error:
            reason = error.text
        except ReferenceError:  # deleted or undone from another window
            reason = Text("what was baked is gone")
        except BaseException:
            self.cancel(context)
            raise
        self.cancel(context)
        self.report({"ERROR"}, rpt_("{reason}: the bake is cancelled", reason=reason))
        return {"CANCELLED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave all as it was, as far as it is still there."""
        if self._steps is not None:
            with contextlib.suppress(ReferenceError):
                self._steps.close()
        self._end(context)

    def _can_go_on(self) -> bool:
        return all(owner.mode != "EDIT" for owner in self._owners)

    def _settings(self, context: bpy.types.Context) -> BakeSettings:
        return BakeSettings(
            self.frames(context, self.step),
            self.into,
            self.interpolation,
            self.verify,
            self.only_keys,
            self.clean_up,
        )

    def _went_on(self, context: bpy.types.Context, seconds: float | None) -> bool:
        """Bake on for some time, or to the end; whether more is to be done."""
        until = None if seconds is None else perf_counter() + seconds
        assert self._steps is not None
        try:
            with live.own_work():
                while True:
                    share = next(self._steps)
                    if until is not None and perf_counter() > until:
                        self._show(context, share)
                        return True
        except StopIteration as end:
            self._steps = None
            self._tell(end.value)
        return False

    def _show(self, context: bpy.types.Context, share: float) -> None:
        """How much is done, in the status bar."""

        def draw(header: bpy.types.Header, _: bpy.types.Context) -> None:
            row: Any = header.layout.row()
            row.progress(factor=share, text=iface_("Baking {share:.0%}", share=share))
            row.label(text="Cancel", icon="EVENT_ESC")

        setter: Any = context.workspace.status_text_set
        setter(draw)

    def _end(self, context: bpy.types.Context) -> None:
        self._steps = None
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        if context.workspace is not None:  # gone where another file is loaded
            context.workspace.status_text_set(None)

    def _tell(self, result: BakeResult) -> None:
        """Report: a line for each chain, or one for many; and where live posing is off now."""
        if result.rested:
            names = listed(result.rested, "{count} armatures")
            self.report({"INFO"}, rpt_("live posing of {armatures} is off: the keys play", armatures=names))
        along = [found.chain for found in result.chains if not found.is_asked]
        if along:
            names = listed(along, "{count} chains")
            self.report({"INFO"}, rpt_("baked with those that they are solved together with: {chains}", chains=names))
        if len(result.chains) > NAMED:
            self.report({"INFO"} if result.all_reached else {"WARNING"}, rpt_(summary(result.chains)))
            return
        for found in result.chains:
            self.report({"INFO"} if found.all_reached else {"WARNING"}, rpt_(sentence(found)))


def summary(results: list[ChainBake]) -> Text:
    """What came of many chains, in words."""
    words = [Text("{count} chains, {keys} keys", count=len(results), keys=sum(result.keys for result in results))]
    errors = [result.worst_tip_error[0] for result in results if result.worst_tip_error is not None]
    if errors:
        words.append(Text("tip error {error:.1e} of the length at most", error=max(errors)))
    turns = [result.worst_tip_turn[0] for result in results if result.worst_tip_turn is not None]
    if turns:
        words.append(Text("rotation off by {angle:.2g}° at most", angle=degrees(max(turns))))
    missed = [result.chain for result in results if not result.all_reached]
    done = joined(", ", words)
    if not missed:
        return done
    return Text("{done}; frames not reached by {chains}", done=done, chains=listed(missed, "{count} chains"))


def sentence(result: ChainBake) -> Text:
    """What came of a chain, in words."""
    words = [Text("{chain}: {keys} keys", chain=result.chain, keys=result.keys)]
    if result.worst_tip_error is not None:
        words.append(Text("tip error {error:.1e} of the length at most", error=result.worst_tip_error[0]))
    if result.worst_tip_turn is not None:
        words.append(Text("rotation off by {angle:.2g}° at most", angle=degrees(result.worst_tip_turn[0])))
    angle, frame = result.worst_turn
    words.append(Text("largest turn {angle:.3g}° in frame {frame:g}", angle=degrees(angle), frame=frame))
    done, missed = joined(", ", words), [f"{frame:g}" for frame, _ in result.unreached]
    return joined("; ", [done, _missed(missed, len(result.frames))]) if missed else done


def _missed(missed: list[str], count: int) -> Text:
    """Which frames of so many were not reached, in words."""
    if len(missed) <= NAMED:
        which = ", ".join(missed)
        return Text("{missed} of {count} frames not reached: {which}", missed=len(missed), count=count, which=which)
    first = missed[0]
    return Text(
        "{missed} of {count} frames not reached, the first is {first}", missed=len(missed), count=count, first=first
    )


CLASSES = (FABRIK_OT_bake,)

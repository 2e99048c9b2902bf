# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake chains to keys, look at the report, and the options by which operators choose chains and frames."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from math import degrees
from time import perf_counter
from typing import Any

import bpy

from ..actions import live
from ..actions.bake import BakeResult, BakeSettings, ChainBake, bake_steps, read_report
from ..actions.bake.checks import MOST_CLEAN_UP
from ..actions.chain_edit import working_chain, working_rig
from ..actions.frames import Steps, frames_between, go_to, span_of
from ..actions.solve import Item
from ..errors import ChainError, FabrikError
from ..rig.animation.compat import is_selected
from ..rig.bones import bones_if_any
from ..rig.schema.fields import angle, choice, real, switch, whole
from ..rig.schema.rig import name_all, rig_of
from ..rig.versions import check_not_newer
from ..texts import Text, counted, joined, worded
from ..translations import iface_
from .base import NAMED, ChainOperator, Returned, RigOperator, clear_status, listed

CHAINS = (
    ("ALL", "All Enabled", "All enabled chains of the active armature and of the other selected ones"),
    ("ACTIVE", "Active", "The active chain"),
    ("SELECTED", "Selected", "Enabled chains with a selected bone, of the same armatures"),
)
SPANS = (
    ("RANGE", "Start to End", "The frames that are given"),
    ("SCENE", "Scene", "The frames of the scene"),
    ("PREVIEW", "Preview", "The preview range, or the frames of the scene where none is set"),
)
FRAME = ("FRAME", "This Frame", "The current frame alone")
WAIT = 0.01  # seconds between two slices of a bake
SLICE = 0.1  # seconds for which Blender's window waits
BEFORE_BAR = 0.5  # seconds that a bake may take before its progress is shown


def chains_choice(default: str) -> str:
    """The option that chooses chains."""
    return choice(CHAINS, "Chains", "Which chains", default=default)


def items_of(context: bpy.types.Context, owner: bpy.types.Object, which: str) -> list[Item]:
    """The chains that are chosen, each with its armature.

    Args:
        context: Tells which other armatures are selected.
        owner: The armature that is worked on, which has an active chain (`ChainOperator`).
        which: "ALL", "ACTIVE" or "SELECTED".

    Raises:
        ChainError: There are none.
        RigError: The data of one of the armatures is of a newer version of the extension.
    """
    others = [found for found in context.selected_objects if found.type == "ARMATURE" and found != owner]
    owners = [owner, *(found for found in others if found.is_editable and len(rig_of(found).chains))]
    for found in owners:
        check_not_newer(found)
        name_all(found)
    if which == "ACTIVE":
        return [(owner, working_chain(context))]
    items = [(found, chain) for found in owners for chain in rig_of(found).chains if chain.enabled]
    if which == "SELECTED":
        items = [item for item in items if any(map(is_selected, bones_if_any(*item)))]
    if not items:
        reason = Text("no chain is enabled") if which == "ALL" else Text("no enabled chain has a selected bone")
        raise ChainError(reason, rig=owner.name)
    return items


class SpanOptions(RigOperator):
    """The options that choose a range of frames.

    Attributes:
        above: Names of the options that are drawn above these.
        below: Names of those below, "" for some room between them.
    """

    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    span = choice(SPANS, "Frames", "Which frames")
    frame_start = whole("Start", "First frame", default=1)
    frame_end = whole("End", "Last frame", default=250)

    def take_span(self, context: bpy.types.Context) -> None:
        """Begin with what plays, unless it is said: the preview range where one is set, else the scene's."""
        if self.properties.is_property_set("span"):
            return
        self.span = "PREVIEW" if context.scene.use_preview_range else "SCENE"
        self.frame_start, self.frame_end = span_of(context.scene, self.span, 0, 0)

    def frames(self, context: bpy.types.Context, step: int = 1) -> tuple[int, ...]:
        """The frames.

        Raises:
            InvalidValueError: The range ends before it starts.
        """
        return frames_between(*span_of(context.scene, self.span, self.frame_start, self.frame_end), step)

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_options((*self.above, "span"))
        column = self.layout.column(align=True)
        column.enabled = self.span == "RANGE"
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")
        self.draw_options(self.below)


class SnapOptions(SpanOptions):
    """`SpanOptions`, for this frame alone too, or at keys; and the chains, at first the active one."""

    chains = chains_choice("ACTIVE")
    span = choice((FRAME, *SPANS), "Frames", "Which frames")
    only_keys = switch("Only at Keys", "Only at frames of the range that have keys")
    above = ("chains",)

    def draw(self, context: bpy.types.Context) -> None:
        super().draw(context)
        column = self.layout.column()
        column.enabled = self.span != "FRAME"
        column.prop(self, "only_keys")


class StepsOperator(RigOperator):
    """An operator over many frames, in steps: in Blender's window with its progress, and Esc leaves all as it was."""

    progress = Text("Baking {share:.0%}")

    _steps: Steps[Any] | None = None
    _owners: Sequence[bpy.types.Object] = ()
    _timer: bpy.types.Timer | None = None
    _is_shown = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        self._is_shown = not bpy.app.background
        return self.execute(context)

    def take_steps(self, context: bpy.types.Context, owners: Sequence[bpy.types.Object], steps: Steps[Any]) -> Returned:
        """Do the work, in Blender's window where the operator was invoked; its result goes to `conclude_steps`."""
        self._owners, self._steps = owners, steps
        is_shown, self._is_shown = self._is_shown, False
        if not self._went_on(context, BEFORE_BAR if is_shown else None):
            return {"FINISHED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(WAIT, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def conclude_steps(self, result: Any) -> None:
        """Report what came of the work: what was done, and what the user is to look at."""
        self.tell(*result.done, warnings=result.warnings)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.tell(Text("cancelled; nothing was changed"))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            if all(owner.mode != "EDIT" for owner in self._owners):
                if self._went_on(context, SLICE):
                    return {"RUNNING_MODAL"}
                self._end(context)
                return {"FINISHED"}
            reason = Text("an armature left Object and Pose Mode")
        except FabrikError as error:
            reason = worded(error.text)
        except ReferenceError:  # deleted or undone from another window
            reason = Text("what was read is gone")
        except BaseException:
            self.cancel(context)
            raise
        self.cancel(context)
        return self.refuse(Text("{reason}: nothing was changed", reason=reason))

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave all as it was, as far as it is still there."""
        if self._steps is not None:
            with contextlib.suppress(ReferenceError):
                self._steps.close()
        self._end(context)

    def _went_on(self, context: bpy.types.Context, seconds: float | None) -> bool:
        """Work on for some time, or to the end; whether more is to be done."""
        until, manager = None if seconds is None else perf_counter() + seconds, context.window_manager
        manager.progress_begin(0.0, 1.0)  # at the cursor, where the options of the redo panel do it again
        try:
            with live.own_work():
                while True:
                    share = next(self._steps)
                    manager.progress_update(share)
                    if until is not None and perf_counter() > until:
                        self._show(context, share)
                        return True
        except StopIteration as end:
            self._steps = None
            self.conclude_steps(end.value)
        finally:
            manager.progress_end()
        return False

    def _show(self, context: bpy.types.Context, share: float) -> None:
        """How much is done, in the status bar."""

        def draw(header: bpy.types.Header, _: bpy.types.Context) -> None:
            row: Any = header.layout.row()
            row.progress(factor=share, text=iface_(self.progress, share=share))
            row.label(text="Cancel", icon="EVENT_ESC")

        setter: Any = context.workspace.status_text_set
        setter(draw)

    def _end(self, context: bpy.types.Context) -> None:
        self._steps = None
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        clear_status(context)


class RangeOperator(SpanOptions, StepsOperator):
    """An operator over a range of frames, in steps, that leaves all as it was until it is done."""

    span = choice(SPANS, "Frames", "Which frames", default="SCENE")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        self.take_span(context)
        return super().invoke(context, event)


class FABRIK_OT_bake(SpanOptions, StepsOperator, ChainOperator):
    """Solve chains over a range of frames and key their bones; the chains are switched off, so that the keys play"""

    bl_label = "Bake"
    below = ("step", "only_keys", "", "chains", "into", "interpolation", "clean_up", "verify")

    step = whole("Step", "Frames from key to key", default=1, min=1)
    only_keys = switch("Only at Keys", "Key each chain only where its target, its pole or a setting of it has a key")
    chains = chains_choice("ALL")
    into = choice(
        (
            ("ACTION", "Action", "The armature's action; keys of the chains in the range are replaced"),
            ("NEW_ACTION", "New Action", "A copy of the armature's action"),
            ("NLA", "NLA Track", "A new action on a track of its own"),
        ),
        "Into",
        "Where the keys go",
    )
    interpolation = choice(
        (("LINEAR", "Linear", "Straight from key to key"), ("BEZIER", "Bezier", "Smooth from key to key")),
        "Interpolation",
        "How the bones move from key to key",
    )
    clean_up = angle(
        "Clean Up",
        "Leave out keys as long as no bone is off against its parent by more than this and no pinned tip slides; "
        "0 keeps all",
        min=0.0,
        max=MOST_CLEAN_UP,
        precision=3,
        step=1,
    )
    verify = choice(
        (
            ("EVERY", "Every Frame", "Evaluate every frame"),
            ("SAMPLE", "Sampled Frames", "Evaluate about fifty frames, with those of the largest turns"),
            ("NONE", "None", "Trust the solve"),
        ),
        "Verify",
        "Let Blender evaluate the keys afterwards and report how far the tips are off",
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        self.take_span(context)
        self._is_shown = not bpy.app.background
        return context.window_manager.invoke_props_dialog(self, confirm_text=iface_("Bake"))

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        items = items_of(context, owner, self.chains)
        frames = self.frames(context, self.step)
        settings = BakeSettings(frames, self.into, self.interpolation, self.verify, self.only_keys, self.clean_up)
        return self.take_steps(context, [rig for rig, _ in items], bake_steps(context, items, settings))

    def conclude_steps(self, result: BakeResult) -> None:
        """Report: a sentence for each chain, or one for many; and where live posing is off now."""
        if len(result.chains) > NAMED:
            told = [(summary(result.chains), result.all_reached)]
        else:
            told = [(sentence(found), found.all_reached) for found in result.chains]
        along = [found.chain for found in result.chains if not found.is_asked]
        if along:
            names = listed(along, "{count} chains")
            told.append((Text("baked with those that they are solved together with: {chains}", chains=names), True))
        if result.rested:
            rested = listed(result.rested, "{count} armatures")
            told.append((Text("live posing of {armatures} is off: the keys play", armatures=rested), True))
        self.tell_each([*told, *((note, False) for note in result.notes)])


def _errors_of(results: list[ChainBake]) -> list[Text]:
    """How far the tips were off at most, where that was looked up, in words."""
    errors = [result.worst_tip_error[0] for result in results if result.worst_tip_error is not None]
    turns = [result.worst_tip_turn[0] for result in results if result.worst_tip_turn is not None]
    words = [Text("tip error {error:.1e} of the length at most", error=max(errors))] if errors else []
    return words + ([Text("rotation off by {angle:.2g}° at most", angle=degrees(max(turns)))] if turns else [])


def summary(results: list[ChainBake]) -> Text:
    """What came of many chains, in words."""
    chains = counted(len(results), "1 chain", "{count} chains")
    keys = counted(sum(result.keys for result in results), "1 key", "{count} keys")
    done = joined(", ", [chains, keys, *_errors_of(results)])
    missed = [result.chain for result in results if not result.all_reached]
    if not missed:
        return done
    return Text("{done}; frames not reached by {chains}", done=done, chains=listed(missed, "{count} chains"))


def sentence(result: ChainBake) -> Text:
    """What came of a chain, in words."""
    keys = joined(": ", (result.chain, counted(result.keys, "1 key", "{count} keys")))
    angle, frame = result.worst_turn
    turn = Text("largest turn {angle:.3g}° in frame {frame:g}", angle=degrees(angle), frame=frame)
    done = joined(", ", [keys, *_errors_of([result]), turn])
    frames = [f"{frame:g}" for frame, _ in result.unreached]
    if not frames:
        return done
    fields = {"missed": len(frames), "count": len(result.frames)}
    missed = Text("{missed} of {count} frames not reached: {which}", which=", ".join(frames), **fields)
    if len(frames) > NAMED:
        missed = Text("{missed} of {count} frames not reached, the first is {first}", first=frames[0], **fields)
    return joined("; ", [done, missed])


NOT_BAKED = Text("nothing was baked yet")


class ReportOperator(RigOperator):
    """An operator that looks at the report of the last bake; it changes nothing in the file."""

    bl_options = {"REGISTER"}
    poses = False
    needs = {NOT_BAKED: lambda context: read_report(working_rig(context))}


class FABRIK_OT_report_frame(ReportOperator):
    """Go to this frame of the report"""

    bl_label = "Go to Frame"

    frame = real("Frame", "Frame to go to, sub-frame included")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        go_to(context.scene, self.frame)


class FABRIK_OT_report_copy(ReportOperator):
    """Copy the report of the last bake to the clipboard, as JSON"""

    bl_label = "Copy Report as JSON"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        report = {"name": owner.name, **read_report(owner)}
        context.window_manager.clipboard = json.dumps(report, indent=1)
        count = len(report["chains"])
        self.tell(
            counted(
                count, "the report of 1 chain is in the clipboard", "the report of {count} chains is in the clipboard"
            )
        )


class FABRIK_OT_report_clear(RigOperator):
    """Forget the report of the last bake, and with it the strip in the timeline"""

    bl_label = "Clear Report"
    poses = False
    needs = {NOT_BAKED: lambda context: rig_of(working_rig(context)).bake_report}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        rig_of(owner).bake_report = ""

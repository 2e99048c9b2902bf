# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operators share: when they are enabled, how a refusal becomes a report, what the status bar says of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import bpy

from ..actions import live
from ..actions.chain_edit import working_chain, working_rig
from ..errors import ChainError, FabrikError, InvalidValueError
from ..messages import Message
from ..overlay.shapes import text_width
from ..rig.checks import edit_refusal, rig_refusal
from ..rig.renames import follow_renames_of
from ..rig.schema import FabrikChain, rig_of
from ..rig.schema.fields import FORGOTTEN, Options, text
from ..texts import Text, capitalised, joined, worded
from ..translations import CONTEXT, iface_, rpt_, tip_

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

    Returned = set[OperatorReturnItems]
else:
    Returned = set

CONFIRM, CANCEL = {"LEFTMOUSE", "RET", "NUMPAD_ENTER", "SPACE"}, {"RIGHTMOUSE", "ESC"}  # what ends a `MouseOperator`
NAMED = 5  # names that a report lists; more are counted
BETWEEN = "   "
# Pixels at scale 1.
RIGHT = 75.0  # of the bar, in which Blender has its own


Needs: TypeAlias = Mapping[str, Callable[[bpy.types.Context], object]]


NO_WINDOW = Text("no window is at hand: call it within bpy.context.temp_override(window=...)")


class FabrikOperator(Options, bpy.types.Operator):
    """An operator of ours: `FABRIK_OT_chain_add` is called as `fabrik.chain_add`.

    Attributes:
        needs: What has to be there, by what is said where it is not and the operator is disabled for that.
    """

    bl_translation_context = CONTEXT
    needs: Needs = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.bl_idname = cls.__name__.replace("FABRIK_OT_", "fabrik.")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = cls.refusal(context) if hasattr(context, "object") else NO_WINDOW
        for missing, is_there in cls.needs.items():
            reason = reason or ("" if is_there(context) else missing)
        if reason:
            cls.poll_message_set(capitalised(tip_(reason)))
        return not reason

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str | Message:
        """Why the operator is disabled before it is asked what it needs, or ""."""
        return ""

    def draw_options(self, names: Iterable[str]) -> None:
        """Draw options by their names, "" for some room between them; a ground is chosen among objects."""
        layout: bpy.types.UILayout = self.layout
        layout.use_property_split = True
        for name in names:
            if name == "ground":
                layout.prop_search(self, name, bpy.data, "objects")
            elif name:
                layout.prop(self, name)
            else:
                layout.separator()


class RigOperator(FabrikOperator):
    """An operator on the active armature, or on that of the active target or pole, in Object and Pose mode.

    Attributes:
        poses: Whether it needs an armature that can be posed now; else one that can be edited will do.
    """

    bl_options = {"REGISTER", "UNDO"}
    poses = True

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str | Message:
        owner = working_rig(context)
        return (rig_refusal(owner) if cls.poses else edit_refusal(owner)) or ""

    def execute(self, context: bpy.types.Context) -> Returned:
        owner = working_rig(context)
        with live.own_work():
            follow_renames_of(owner)
            try:
                found = self.run(context, owner)
            except FabrikError as error:
                return self.refuse(error.text)
            follow_renames_of(working_rig(context))
            return found or {"FINISHED"}

    def tell(self, *done: str | Message, warnings: Iterable[str | Message] = ()) -> None:
        """Report what was done and, last, what the user is to look at: each once, and all in one report.

        Blender's status bar shows the last report alone, so a second one would hide the first.
        """
        notes = dict.fromkeys(warnings)
        told = [*dict.fromkeys([*done, *notes])]
        if told:
            text = told[0] if len(told) == 1 else joined("; ", map(worded, told))
            self.report({"WARNING" if notes else "INFO"}, rpt_(text))

    def tell_each(self, told: Sequence[tuple[str | Message, bool]]) -> None:
        """Report what came of several things, each with whether all is fine; those last with which it is not."""
        self.tell(*[one for one, is_fine in told if is_fine], warnings=[one for one, is_fine in told if not is_fine])

    def refuse(self, text: str | Message) -> Returned:
        """Report why nothing is done."""
        self.report({"ERROR"}, rpt_(text))
        return {"CANCELLED"}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned | None:
        """Do what the operator is for; None where that is done, and a `FabrikError` becomes a report.

        Every operator overrides it.
        """
        return {"PASS_THROUGH"}


class MouseOperator(RigOperator):
    """An operator that goes on with the mouse until it is confirmed; where it fails, all is left as it was."""

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        try:
            return self.handled(context, event)
        except FabrikError as error:
            self.cancel(context)
            return self.refuse(error.text)
        except BaseException:
            self.cancel(context)
            raise

    def handled(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Do what an event asks for; a `FabrikError` ends the operator. Every operator overrides it."""
        return {"PASS_THROUGH"}


def clear_status(context: bpy.types.Context) -> None:
    """Let Blender write to the status bar again."""
    if context.workspace is not None:  # gone where another file is loaded
        context.workspace.status_text_set(None)


def give_back_window(context: bpy.types.Context) -> None:
    """Clear header, status bar and cursor, and have live posing take what was written as the add-on's own doing."""
    clear_status(context)
    if context.area is not None:  # gone where its window is closed
        context.area.header_text_set(None)
    if context.window is not None:
        context.window.cursor_modal_restore()
    live.take_as_ours()


class ChainOperator(RigOperator):
    """An operator on the active chain."""

    needs: Needs = {Text("there is no active chain: add one first"): working_chain}


def has_chains(context: bpy.types.Context) -> bool:
    """Whether the armature that is worked on has any."""
    return len(rig_of(working_rig(context)).chains) > 0


def has_target(context: bpy.types.Context) -> bool:
    """Whether the active chain has one."""
    return working_chain(context).target is not None


NEEDS_TARGET: Needs = {**ChainOperator.needs, Text("the chain has no target: add one first"): has_target}


class NamedChain(Options):
    """An option that names a chain; see `named_chain`."""

    chain = text("Chain", "Name of the chain; empty for the active one", options=FORGOTTEN)


def named_chain(owner: bpy.types.Object, name: str) -> FabrikChain:
    """The chain of an armature object by its name, or for "" its active one.

    Raises:
        ChainError: There is none.
    """
    rig = rig_of(owner)
    chain = rig.chains.get(name) if name else rig.active
    if chain is None:
        raise ChainError(Text("there is no chain '{name}'", name=name), rig=owner.name)
    return chain


def listed(names: list[str], many: str) -> str:
    """A few names, or how many there are, by a template with `{count}` in it."""
    return joined(", ", names) if len(names) <= NAMED else Text(many, count=len(names))


def rigs_in_pose_mode(context: bpy.types.Context, owner: bpy.types.Object) -> list[bpy.types.Object]:
    """The armature, and all others that are in Pose mode with it."""
    found = [owner]
    if owner.mode == "POSE":
        found += [rig for rig in context.view_layer.objects if rig.mode == "POSE" and rig.pose and rig != owner]
    return found


def is_left_out(rig: bpy.types.Object, warnings: list[Text]) -> bool:
    """Whether an armature beside the active one, which was asked before, can't be posed; `warnings` takes why."""
    refusal = rig_refusal(rig)
    if refusal:
        warnings.append(Text("{name} is left out: {reason}", name=rig.name, reason=refusal))
    return bool(refusal)


def tell_keys(context: bpy.types.Context, hints: Sequence[str]) -> None:
    """Write hints to the status bar, the most important first, as many as it has room for; the manual has all."""
    room = context.window.width - RIGHT * context.preferences.system.ui_scale
    told = fitting([iface_(hint) for hint in hints], room, lambda text: text_width(context, text))
    context.workspace.status_text_set(BETWEEN.join(told))


def fitting(hints: Sequence[str], room: float, measure: Callable[[str], float]) -> list[str]:
    """The first hints that have room beside each other, by a measure of their width: none is cut."""
    count = len(hints)
    while count > 1 and measure(BETWEEN.join(hints[:count])) > room:
        count -= 1
    return list(hints[:count])


ENDING = ".json"


class ToFile(RigOperator):
    """An operator that writes a file."""

    poses = False

    filepath = text("File", "The file to write", subtype="FILE_PATH")
    filter_glob = text("Filter", "What is shown", default=f"*{ENDING}", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        self.filepath = self.filepath or f"{working_rig(context).name}{ENDING}"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def write(self, told: str) -> Path:
        """Write the file, and say which one that is.

        Raises:
            InvalidValueError: It has no name, or can't be written.
        """
        if not self.filepath:
            raise InvalidValueError(Text("the file to write has no name"))
        path = Path(bpy.path.ensure_ext(bpy.path.abspath(self.filepath), ENDING))
        try:
            path.write_text(told, encoding="utf-8")
        except OSError as error:
            reason = Text("'{path}' can't be written: {error}", path=path, error=error.strerror)
            raise InvalidValueError(reason) from error
        return path


class FromFile(RigOperator):
    """An operator that reads a file."""

    filepath = text("File", "The file to read", subtype="FILE_PATH")
    filter_glob = text("Filter", "What is shown", default=f"*{ENDING}", options={"HIDDEN"})

    @property
    def path(self) -> Path:
        """The file."""
        return Path(bpy.path.abspath(self.filepath))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from elsewhere: of another armature, of all its actions, or of files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ..actions.chain_edit import working_rig
from ..actions.motion.takes import ENDINGS, every_action_steps, files_in, files_steps
from ..actions.motion.transfer import TransferResult, source_for, transfer_steps
from ..actions.setup.parts import find_parts, keep_mapping, parts_to_read, reasons_by_bone
from ..actions.setup.setup import with_all_between
from ..motion.transfer import TransferOptions
from ..recognise.mapping import load_mapping
from ..recognise.part import RecognisedBody
from ..rig.schema.fields import FORGOTTEN, choice, items, real, switch, text
from ..texts import Text, counted
from ..translations import label_
from .baking import SPANS, RangeOperator, StepsOperator
from .base import Returned
from .setup import WIDTH, FabrikSetupPart, answered, ask, draw_asked

OPTIONS = ("way", "root", "keep_contacts", "keep_limits", "fingers", "level", "ground", "rate")  # as they are drawn
WHOLE = ("MOTION", "Whole Motion", "All frames in which the other armature moves")
EVERY = ("EVERY", "All Actions", "Each action of the other armature, as an action of its own")
WAYS = (
    ("LEGS", "By Its Legs", "As far as legs of its length go: with legs half as long half as far"),
    ("SOURCE", "As the Source", "As many meters as the source, with longer or shorter steps than its legs would make"),
    ("PLACE", "In Place", "Nowhere: it walks as on a belt, as clips of games do"),
)
ROOTS = (
    ("BODY", "None", "The body bone goes by itself, and what it hangs on stays"),
    ("ROOT", "Root Bone", "The bone above all others goes and faces as the body does, along the ground"),
    ("OBJECT", "Object", "The armature object goes and faces as the body does, along the ground"),
)


class TransferOperator(StepsOperator):
    """What operators that bring motion from elsewhere have in common."""

    progress = Text("Transferring {share:.0%}")

    keep_contacts = switch(
        "Keep Contacts", "Let feet and hands stand still where those of the other one do", default=True
    )
    keep_limits = switch(
        "Keep Limits", "Let limits of joints bend the motion; off: where controls edit it, they are widened to it"
    )
    way = choice(WAYS, "Way", "How far it goes")
    below: tuple[str, ...] = (*OPTIONS, "mapping")

    root = choice(ROOTS, "Root Motion", "What goes along with the body")
    level = switch("Level Ground", "Take slopes and steps of the other one's ground out")
    ground = text("Ground", "Object on which it walks, as that is in the first frame; none: as the other one")
    fingers = switch("Fingers", "Let fingers move, too", default=True)
    rate = real("Rate", "Frames a second of what comes out; 0: those of the scene", min=0.0, soft_max=120.0)
    mapping = text("Mapping", "File that says which bones of the other one are which parts", subtype="FILE_PATH")

    _is_asking = False  # by a dialog or the file window, after which it is called again, to show its progress

    def execute(self, context: bpy.types.Context) -> Returned:
        is_asking, self._is_asking = self._is_asking, False
        return call_again(self) if is_asking else super().execute(context)

    def wanted(self) -> TransferOptions:
        """How motion comes here."""
        mapping = load_mapping(Path(bpy.path.abspath(self.mapping))) if self.mapping else None
        return TransferOptions(**{name: getattr(self, name) for name in OPTIONS}, mapping=mapping)

    def conclude_steps(self, result: TransferResult) -> None:
        bones = counted(result.bones, "1 bone", "{count} bones")
        told = [Text("{bones} from frame {first} to {last}", bones=bones, first=result.first, last=result.last)]
        if result.actions:
            told.insert(0, counted(result.actions, "1 new action", "{count} new actions"))
        if result.contacts:
            told.append(counted(result.contacts, "1 contact is kept", "{count} contacts are kept"))
        if result.moved:
            told.append(Text("the body gives way by up to {way:.2g}", way=result.moved))
        self.tell(*told, warnings=result.notes)


def call_again(operator: TransferOperator) -> Returned:
    """Call an operator again with what it asked for, so that it shows its progress in Blender's window."""
    keywords: Any = operator.as_keywords  # of which stubs of 4.2 say that it returns nothing
    options = keywords(ignore=("filter_glob",))
    for name, value in options.items():
        if isinstance(value, bpy.types.bpy_prop_collection):
            rows: Iterable[Any] = value
            options[name] = [
                {key: getattr(one, key) for key, _ in one.bl_rna.properties.items() if key != "rna_type"}
                for one in rows
            ]
    operators: Any = bpy.ops
    ask = getattr(operators.fabrik, type(operator).__name__.removeprefix("FABRIK_OT_"))
    try:
        found: Returned = ask("INVOKE_DEFAULT", **options)
    except RuntimeError as error:  # what it reported, after the kind of report
        operator.report({"ERROR"}, str(error).partition(": ")[2].strip())
        found = {"CANCELLED"}
    return found if found == {"FINISHED"} else {"CANCELLED"}  # done at once, it is this one's step to undo


def _as_answered(owner: bpy.types.Object, found: RecognisedBody[str], asked: Iterable[Any]) -> RecognisedBody[str]:
    return replace(found, parts=[with_all_between(owner, part) for part in answered(owner, found, asked)])


class FABRIK_OT_motion_transfer(TransferOperator, RangeOperator):
    """Bring the motion of the other selected armature to this one, whatever its bones; feet stay where they stand"""

    bl_label = "Transfer Motion"
    needs = {Text("select the armature that moves, too"): lambda context: source_for(context, working_rig(context))}

    source = text("Source", "Armature object that moves; empty for the other selected one", options=FORGOTTEN)
    span = choice((WHOLE, EVERY, *SPANS), "Frames", "Which frames")
    parts = items(
        FabrikSetupPart, "Not Sure", "Parts of the character that are not sure, with their bones", options=FORGOTTEN
    )
    source_parts = items(
        FabrikSetupPart, "Not Sure of Source", "Parts of the other one that are not sure", options=FORGOTTEN
    )

    _answered: list[tuple[bpy.types.Object, RecognisedBody[str]]]  # what the two are by the answers

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        owner = working_rig(context)
        source = source_for(context, owner, self.source or None)
        if source is None or self.parts or self.source_parts:
            return StepsOperator.invoke(self, context, event)
        ask(self.parts, [part for part in find_parts(owner).parts if not part.is_applied], use=True)
        if not self.mapping:
            ask(self.source_parts, [part for part in parts_to_read(source).parts if not part.is_applied], use=True)
        if not (self.parts or self.source_parts):
            return StepsOperator.invoke(self, context, event)
        self._is_asking, self.source = True, source.name
        return context.window_manager.invoke_props_dialog(self, width=WIDTH, confirm_text=label_(self.bl_label))

    def draw(self, context: bpy.types.Context) -> None:
        super().draw(context)
        source: bpy.types.Object | None = bpy.data.objects.get(self.source)
        for rig, asked in ((working_rig(context), self.parts), (source, self.source_parts)):
            if rig is not None:
                draw_asked(context, self.layout, rig, asked)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        source, options = source_for(context, owner, self.source), self.wanted()
        own, mapping = None, options.mapping
        if self.parts:
            own = _as_answered(owner, find_parts(owner), self.parts)
        if self.source_parts:
            mapping = _as_answered(source, mapping or parts_to_read(source), self.source_parts)
        self._answered = [(owner, own)] if own is not None else []
        self._answered += [(source, mapping)] if mapping is not None and self.source_parts else []
        options = options._replace(own=own, mapping=mapping)
        if self.span == "EVERY":
            return self.take_steps(context, [owner, source], every_action_steps(context, source, owner, options))
        frames = None if self.span == "MOTION" else self.frames(context)
        span = (frames[0], frames[-1]) if frames is not None else None
        return self.take_steps(context, [owner, source], transfer_steps(context, source, owner, span, options))

    def conclude_steps(self, result: TransferResult) -> None:
        for rig, mapping in self._answered:
            posed = reasons_by_bone(rig)  # of a control rig the bones that deform are read, and controls are posed
            if rig.is_editable and not any(name in posed for part in mapping.parts for name in part.bones):
                keep_mapping(rig, mapping)
        super().conclude_steps(result)


class FABRIK_OT_motion_from_files(TransferOperator):
    """Bring the motions in BVH, FBX or glTF files to this armature, each as an action of its own"""

    bl_label = "Motion from Files"

    filepath = text("File", "A file, or a folder of which all are read", subtype="FILE_PATH", options=FORGOTTEN)
    directory = text("Folder", "Where the files are", subtype="DIR_PATH", options=FORGOTTEN)
    files = items(bpy.types.OperatorFileListElement, "Files", "Their names in the folder", options=FORGOTTEN)
    filter_glob = text("Filter", "What is shown", default=";".join(f"*{one}" for one in ENDINGS), options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if self.filepath or self.files:
            return super().invoke(context, event)
        self._is_asking = True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_options(self.below)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        names = [one.name for one in self.files if one.name]
        folder = Path(bpy.path.abspath(self.directory))
        paths = [folder / name for name in names] or files_in(Path(bpy.path.abspath(self.filepath or self.directory)))
        return self.take_steps(context, [owner], files_steps(context, paths, owner, self.wanted()))

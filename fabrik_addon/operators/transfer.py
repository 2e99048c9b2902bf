# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from elsewhere: of another armature, of all its actions, or of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ..actions.chain_edit import working_rig
from ..actions.motion.takes import ENDINGS, every_action_steps, files_in, files_steps
from ..actions.motion.transfer import TransferResult, source_for, transfer_steps
from ..motion.transfer import TransferOptions
from ..recognise.mapping import load_mapping
from ..rig.schema.fields import FORGOTTEN, choice, items, real, switch, text
from ..texts import Text, counted
from .baking import SPANS, RangeOperator, StepsOperator, draw_each
from .base import Returned

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
    way = choice(WAYS, "Way", "How far it goes")
    below: tuple[str, ...] = ("way", "root", "keep_contacts", "fingers", "level", "ground", "rate", "mapping")

    root = choice(ROOTS, "Root Motion", "What goes along with the body")
    level = switch("Level Ground", "Take slopes and steps of the other one's ground out")
    ground = text("Ground", "Object on which it walks, as that is in the first frame; none: as the other one")
    fingers = switch("Fingers", "Let fingers move, too", default=True)
    rate = real("Rate", "Frames a second of what comes out; 0: those of the scene", min=0.0, soft_max=120.0)
    mapping = text("Mapping", "File that says which bones of the other one are which parts", subtype="FILE_PATH")
    layout: bpy.types.UILayout

    def wanted(self) -> TransferOptions:
        """How motion comes here."""
        mapping = load_mapping(Path(bpy.path.abspath(self.mapping))) if self.mapping else None
        names = ("keep_contacts", "way", "level", "root", "fingers", "rate", "ground")
        return TransferOptions(**{name: getattr(self, name) for name in names}, mapping=mapping)

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


class FABRIK_OT_motion_transfer(TransferOperator, RangeOperator):
    """Bring the motion of the other selected armature to this one, whatever its bones; feet stay where they stand"""

    bl_label = "Transfer Motion"

    source = text("Source", "Armature object that moves; empty for the other selected one", options=FORGOTTEN)
    span = choice((WHOLE, EVERY, *SPANS), "Frames", "Which frames")

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        found = source_for(context, working_rig(context))
        return "" if found is not None else Text("select the armature that moves, too")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        return StepsOperator.invoke(self, context, event)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        source = source_for(context, owner, self.source)
        if self.span == "EVERY":
            return self.take_steps(context, [owner, source], every_action_steps(context, source, owner, self.wanted()))
        frames = None if self.span == "MOTION" else self.frames(context)
        span = (frames[0], frames[-1]) if frames is not None else None
        return self.take_steps(context, [owner, source], transfer_steps(context, source, owner, span, self.wanted()))


class FABRIK_OT_motion_from_files(TransferOperator):
    """Bring the motions in BVH, FBX or glTF files to this armature, each as an action of its own"""

    bl_label = "Motion from Files"

    filepath = text("File", "A file, or a folder of which all are read", subtype="FILE_PATH", options=FORGOTTEN)
    directory = text("Folder", "Where the files are", subtype="DIR_PATH", options=FORGOTTEN)
    files = items(bpy.types.OperatorFileListElement, "Files", "Their names in the folder", options=FORGOTTEN)
    filter_glob = text("Filter", "What is shown", default=";".join(f"*{one}" for one in ENDINGS), options={"HIDDEN"})

    _is_asking = False  # by the file window, after which it is called again, to show its progress in this one

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if self.filepath or self.files:
            return super().invoke(context, event)
        self._is_asking = True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> Returned:
        if not self._is_asking:
            return super().execute(context)
        keywords: Any = self.as_keywords  # of which stubs of 4.2 say that it returns nothing
        options = keywords(ignore=("files", "filter_glob"))
        files = [{"name": one.name} for one in self.files if one.name]
        operators: Any = bpy.ops
        try:
            operators.fabrik.motion_from_files("INVOKE_DEFAULT", files=files, **options)
        except RuntimeError as error:  # what it reported, after the kind of report
            self.report({"ERROR"}, str(error).partition(": ")[2].strip())
        return {"CANCELLED"}  # this one, which did nothing itself

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        draw_each(self, self.below)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        names = [one.name for one in self.files if one.name]
        folder = Path(bpy.path.abspath(self.directory))
        paths = [folder / name for name in names] or files_in(Path(bpy.path.abspath(self.filepath or self.directory)))
        return self.take_steps(context, [owner], files_steps(context, paths, owner, self.wanted()))

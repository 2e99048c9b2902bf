# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep which bones are which parts of a body in a file, and set up other rigs of the same bones by it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy.props import StringProperty

from ..errors import InvalidValueError
from ..recognise.mapping import load_mapping, mapping_text
from ..rig.find import working_rig
from ..rig.schema import rig_of
from ..session.setup.making import set_up, wanted_parts
from ..session.setup.mapped import found_by, mapping_of
from ..texts import Text
from ..translations import rpt_
from .base import RigOperator
from .setting_up import SetupOperator, done_text

if TYPE_CHECKING:
    from .base import Returned

ENDING = ".json"


class FABRIK_OT_mapping_export(RigOperator):
    """Write to a file which bones the chains have, so that other rigs of the same bones are set up alike"""

    bl_idname = "fabrik.mapping_export"
    bl_label = "Export Mapping"
    poses = False

    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
    else:
        filepath: StringProperty(name="File", description="The file to write", subtype="FILE_PATH")
        filter_glob: StringProperty(name="Filter", description="What is shown", default="*.json", options={"HIDDEN"})

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return "" if len(rig_of(working_rig(context)).chains) else Text("there is no chain: set the character up first")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        self.filepath = self.filepath or f"{working_rig(context).name}{ENDING}"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        mapping = mapping_of(owner)
        path = Path(bpy.path.ensure_ext(bpy.path.abspath(self.filepath), ENDING))
        try:
            path.write_text(mapping_text(mapping), encoding="utf-8")
        except OSError as error:
            reason = Text("'{path}' can't be written: {error}", path=path, error=error.strerror)
            raise InvalidValueError(reason) from error
        self.report({"INFO"}, rpt_("{count} parts written to '{path}'", count=len(mapping.parts), path=path))
        return {"FINISHED"}


class FABRIK_OT_mapping_import(SetupOperator):
    """Set up a character by a file that says which bones are which parts; one that is wrong changes nothing"""

    bl_idname = "fabrik.mapping_import"
    bl_label = "Set Up by Mapping"

    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
    else:
        filepath: StringProperty(name="File", description="The file to read", subtype="FILE_PATH")
        filter_glob: StringProperty(name="Filter", description="What is shown", default="*.json", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        found = found_by(owner, load_mapping(Path(bpy.path.abspath(self.filepath))))
        options = self.wanted_options()
        done = set_up(context, owner, found, wanted_parts(found.parts, options), options)
        for note in done.notes:
            self.report({"WARNING"}, rpt_(note))
        self.report({"INFO"}, rpt_(done_text(found, done)))
        return {"FINISHED"}


CLASSES = (FABRIK_OT_mapping_export, FABRIK_OT_mapping_import)

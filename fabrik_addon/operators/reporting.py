# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at the report of a bake."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import bpy
from bpy.props import FloatProperty

from ..rig.find import working_rig
from ..rig.schema import rig_of
from ..session.bake import read_report
from ..session.frames import go_to
from ..texts import Text
from ..translations import rpt_
from .base import RigOperator

if TYPE_CHECKING:
    from .base import Returned


class ReportOperator(RigOperator):
    """An operator that looks at the report of the last bake; it changes nothing in the file."""

    bl_options = {"REGISTER"}
    poses = False

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return "" if read_report(working_rig(context)) else Text("nothing was baked yet")


class FABRIK_OT_report_frame(ReportOperator):
    """Go to this frame of the report"""

    bl_idname = "fabrik.report_frame"
    bl_label = "Go to Frame"

    if TYPE_CHECKING:
        frame: float
    else:
        frame: FloatProperty(name="Frame", description="Frame to go to, sub-frame included")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        go_to(context.scene, self.frame)
        return {"FINISHED"}


class FABRIK_OT_report_copy(ReportOperator):
    """Copy the report of the last bake to the clipboard, as JSON"""

    bl_idname = "fabrik.report_copy"
    bl_label = "Copy Report as JSON"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        report = {"name": owner.name, **read_report(owner)}
        context.window_manager.clipboard = json.dumps(report, indent=1)
        count = len(report["chains"])
        self.report({"INFO"}, rpt_("the report of {count} chains is in the clipboard", count=count))
        return {"FINISHED"}


class FABRIK_OT_report_clear(RigOperator):
    """Forget the report of the last bake, and with it the strip in the timeline"""

    bl_idname = "fabrik.report_clear"
    bl_label = "Clear Report"
    poses = False

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return "" if rig_of(working_rig(context)).bake_report else Text("nothing was baked yet")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        rig_of(owner).bake_report = ""
        return {"FINISHED"}


CLASSES = (FABRIK_OT_report_frame, FABRIK_OT_report_copy, FABRIK_OT_report_clear)

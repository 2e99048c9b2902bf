# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals brought to the pose, and the pose to the goals, so that neither way of animating begins with a jump."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..session.bake import BakeSettings, bake
from ..session.order import Item
from ..session.snap import snap
from ..texts import Text, counted, joined
from ..translations import rpt_
from .base import ChainOperator
from .choices import SnapOptions, frames_of_bones, items_of
from .solving import SolveOperator

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_goal_snap(SnapOptions, ChainOperator):
    """Bring target and pole to the pose as it stands, so that solving does not move the limb; keyed over a range"""

    bl_idname = "fabrik.goal_snap"
    bl_label = "Snap Goals to Pose"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        items = items_of(context, owner, self.chains)
        count, done, warnings = snap(context, [(item, self._frames(context, item)) for item in items])
        text = counted(count, "1 goal brought to the pose", "{count} goals brought to the pose")
        self.report({"WARNING"} if warnings else {"INFO"}, rpt_(joined("; ", [text, *done, *warnings])))
        return {"FINISHED"}

    def _frames(self, context: bpy.types.Context, item: Item) -> tuple[float, ...]:
        if self.span == "FRAME":
            return ()
        frames = self.frames(context)
        return frames_of_bones(item, frames) if self.only_keys else frames


class FABRIK_OT_pose_snap(SnapOptions, SolveOperator):
    """Bring the bones to where target and pole want them, keyed over a range; the chains stay enabled"""

    bl_idname = "fabrik.pose_snap"
    bl_label = "Snap Pose to Goals"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        items = items_of(context, owner, self.chains)
        if self.span == "FRAME":
            return self.solve(context, items)
        frames = self.frames(context)
        settings = BakeSettings(frames, verify="SAMPLE", only_keys=self.only_keys, stays_enabled=True)
        result = bake(context, items, settings)
        for found in result.chains:
            count, missed = len(found.frames), len(found.unreached)
            words = [Text("{chain}: {keys} keys at {count} frames", chain=found.chain, keys=found.keys, count=count)]
            words += [Text("{count} of them not reached", count=missed)] if missed else []
            self.report({"WARNING"} if missed else {"INFO"}, rpt_(joined("; ", words)))
        return {"FINISHED"}


CLASSES = (FABRIK_OT_goal_snap, FABRIK_OT_pose_snap)

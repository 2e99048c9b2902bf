# SPDX-License-Identifier: GPL-3.0-or-later
"""Give a duplicated character goals of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..session.single_user import make_goals_single_user
from ..texts import Text, joined
from ..translations import rpt_
from .base import ChainOperator, listed

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_goals_single_user(ChainOperator):
    """Give the armature copies of the targets and poles that another armature follows, too; nothing moves"""

    bl_idname = "fabrik.goals_single_user"
    bl_label = "Make Goals Single User"
    poses = False

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        told = make_goals_single_user(context, owner)
        for note in told.notes:
            self.report({"WARNING"}, rpt_(note))
        text = Text("{name} has goals of its own", name=owner.name)
        if told.made:
            text = joined(": ", (text, listed(told.made, "{count} objects")))
        self.report({"INFO"}, rpt_(text))
        return {"FINISHED"}


CLASSES = (FABRIK_OT_goals_single_user,)

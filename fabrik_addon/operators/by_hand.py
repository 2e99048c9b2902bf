# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep what was done by hand to a live chain, and live posing put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import StringProperty

from ..rig.find import working_rig
from ..session import live
from ..texts import Text
from ..translations import rpt_
from .base import ChainOperator, named_chain

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_hand_pose_keep(ChainOperator):
    """Make the pose that was made by hand the start pose of the live chain, in all frames. \
A chain whose bones are keyed starts from its keys from then on, and is keyed at this frame"""

    bl_idname = "fabrik.hand_pose_keep"
    bl_label = "Make It the Start Pose"

    if TYPE_CHECKING:
        chain: str
    else:
        chain: StringProperty(
            name="Chain", description="Name of the chain; empty for the active one", options={"SKIP_SAVE"}
        )

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        owner = working_rig(context)
        is_any = owner is not None and bool(live.hands_of(owner))
        return "" if is_any else Text("no bone of a live chain was posed by hand since the last change")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        chain = named_chain(owner, self.chain)
        name, kind = chain.name, live.keep_hand(context, owner, chain)
        if kind == "ANIMATED":
            text = rpt_("{chain}: the pose made by hand is keyed, and the chain starts from its keys", chain=name)
        else:
            text = rpt_("{chain}: the pose made by hand is its start pose", chain=name)
        self.report({"INFO"}, text)
        return {"FINISHED"}


CLASSES = (FABRIK_OT_hand_pose_keep,)

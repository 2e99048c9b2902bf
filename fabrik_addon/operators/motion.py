# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits over motion made part of it; contacts of feet found in it, and kept."""

from __future__ import annotations

import bpy

from ..actions.bake import BakeResult
from ..actions.bake.apply import apply_steps
from ..actions.chain_edit import working_rig
from ..actions.motion.contacts import Cleaned, Marked, clean_steps, find_steps
from ..actions.motion.edits import edited_chains
from ..rig.schema import rig_of
from ..rig.schema.fields import choice
from ..texts import Text, counted, joined
from .baking import SPANS, SpanOptions, StepsOperator
from .base import Returned


class FABRIK_OT_edits_apply(StepsOperator):
    """Make the edits part of the motion: the frames that they change get keys, and the controls rest again"""

    bl_label = "Apply Edits"

    progress = Text("Applying {share:.0%}")
    cancelled = Text("nothing was applied")
    broken_off = Text("{reason}: nothing was applied")
    gone = Text("what was edited is gone")

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return "" if edited_chains(working_rig(context)) else Text("no chain edits its motion: set its goal to Offset")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned | None:
        items = [(owner, chain) for chain in edited_chains(owner)]
        return self.take_steps(context, items, apply_steps(context, owner))

    def conclude_steps(self, result: BakeResult) -> None:
        frames = max(len(one.frames) for one in result.chains)
        chains = counted(len(result.chains), "1 chain", "{count} chains")
        done = Text("edits of {chains} are keys now", chains=chains)
        self.tell(done, counted(frames, "at 1 frame", "at {count} frames"), Text("the controls rest"))


class ContactsOperator(SpanOptions, StepsOperator):
    """An operator on the contacts of all feet of the armature, over a range of frames.

    Attributes:
        layout: Blender's.
    """

    cancelled = Text("cancelled; nothing was changed")
    broken_off = Text("{reason}: nothing was changed")
    gone = Text("what was read is gone")

    span = choice(SPANS, "Frames", "Which frames", default="SCENE")
    layout: bpy.types.UILayout

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        found = super().refusal(context)
        return found or ("" if len(rig_of(working_rig(context)).chains) else Text("there is no chain: set it up first"))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if not self.properties.is_property_set("span"):
            self.take_span(context)
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.draw_span(self.layout)


class FABRIK_OT_contacts_find(ContactsOperator):
    """Mark when feet are on the ground, by keys of Contact on their bones; nothing moves"""

    bl_label = "Find Contacts"

    progress = Text("Finding Contacts {share:.0%}")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        chain = rig_of(owner).chains[0]
        return self.take_steps(context, [(owner, chain)], find_steps(context, owner, self.frames(context)))

    def conclude_steps(self, result: list[Marked]) -> None:
        stands = any(one.contacts for one in result)
        self.tell(*map(_counted, result), warnings=[] if stands else [Text("no foot stands still in this motion")])


class FABRIK_OT_contacts_clean(ContactsOperator):
    """Let feet stand still where they are marked to be on the ground, by keys on their controls; the body gives way"""

    bl_label = "Clean Contacts"

    progress = Text("Cleaning Contacts {share:.0%}")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        chain = rig_of(owner).chains[0]
        return self.take_steps(context, [(owner, chain)], clean_steps(context, owner, self.frames(context)))

    def conclude_steps(self, result: Cleaned) -> None:
        told = [joined(" ", (_counted(one), Text("stand still"))) for one in result.feet]
        if result.lowered:
            told.append(Text("the body is lowered by up to {way:.2g}", way=result.lowered))
        self.tell(*told, warnings=result.notes)


def _counted(found: Marked) -> str:
    """How often and for how long a foot is on the ground."""
    count = counted(found.contacts, "1 contact", "{count} contacts")
    return joined(": ", (found.chain, joined(" ", (count, counted(found.frames, "at 1 frame", "at {count} frames")))))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Character: a whole rig posable with one button, or by a file that tells which bones are which parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ..actions.chain_edit import working_rig
from ..actions.setup.parts import chain_of, check_mapping, find_parts, keep_mapping, mapping_of
from ..actions.setup.setup import SetupOptions, SetupReport, chosen_parts, set_up, wanted_parts
from ..errors import ChainError
from ..overlay.shapes import lines_of, text_width
from ..recognise.find import PLANS
from ..recognise.mapping import load_mapping, mapping_text
from ..recognise.part import Part, RecognisedBody
from ..rig.schema.fields import FORGOTTEN, Items, Options, choice, items, real, switch, text
from ..rig.schema.rig import rig_of
from ..texts import Text, capitalised, counted, joined
from ..translations import iface_, label_
from .base import FromFile, Returned, RigOperator, ToFile, has_chains, listed

PLAN_ITEMS = (
    ("AUTO", "Find", "By the limbs that stand on the ground", 0),
    *((plan.name, plan.label, plan.description, plan.number) for plan in PLANS.values()),
)
CONTROL_ITEMS = (
    ("BONES", "Bones", "Targets and poles are control bones of the armature, in the bone collection FABRIK"),
    ("EMPTIES", "Empties", "Targets and poles are empties beside the armature"),
    ("NONE", "None", "No targets and poles: bones are dragged, and pins hold feet where they are"),
)
CHOICES = ("plan", "controls")
SWITCHES = tuple(name for name in SetupOptions.__dataclass_fields__ if name not in CHOICES)
# Pixels at scale 1.
WIDTH = 480  # of the dialog
INDENT = 65.0  # of a reason, with the edges of the dialog
NAMES = 0.4  # of the width of the dialog, for the names of parts
MOST_TOLD = 3  # things to look out for that are told one by one


class FabrikSetupPart(Options, bpy.types.PropertyGroup):
    """A part of a character that is asked about before it becomes a chain; the group's `name` is the part's."""

    use = switch("Use", "Whether it is one")
    first_bone = text("First Bone", "Where the limb begins: upper arm, thigh")
    last_bone = text("Last Bone", "Where the limb ends: hand, foot")
    confidence = real("Confidence", "How sure it is, from 0 to 1", subtype="FACTOR")
    reason = text("Reason", "What speaks against it")


def ask(asked: Any, unsure: Iterable[Part[str]], *, use: bool) -> None:
    """List parts that are not sure, ticked or not, in a collection of an operator."""
    for part in unsure:
        one = asked.add()
        one.name, one.use, one.confidence = part.name, use, part.confidence
        one.first_bone, one.last_bone = part.bones[0], part.bones[-1]
        one.reason = iface_(joined("; ", part.reasons))


def answered(owner: bpy.types.Object, found: RecognisedBody[str], asked: Iterable[FabrikSetupPart]) -> list[Part[str]]:
    """The parts of an armature object that are sure, and those that were ticked.

    Raises:
        FabrikError: There is no such bone, or the last one of a part does not hang on its first.
    """
    return chosen_parts(owner, found, {one.name: (one.first_bone, one.last_bone) for one in asked if one.use})


class SetupOperator(RigOperator):
    """An operator that makes what a set-up makes, with its options."""

    controls = choice(CONTROL_ITEMS, "Goals", "What targets and poles are made as")
    use_poles = switch("Poles", "A pole for each arm and leg, in the plane of its bend", default=True)
    use_limits = switch(
        "Joint Limits", "Ranges of a human, or hinges by the bend at rest, for bones without a limit", default=True
    )
    use_pins = switch("Pin Feet", "Feet stay where they are, with priority over all other goals", default=True)
    use_fingers = switch("Fingers", "A chain for each finger")
    use_tail = switch("Tail and Ears", "Chains for tail and ears", default=True)
    use_walker = switch(
        "Walker", "Make what stands on legs a walker, whose walk can be planned next", options=FORGOTTEN
    )

    use_defaults = switch(
        "New Defaults",
        "Give chains that were there already what new ones are given: hands go along with the chest, limbs turn before "
        "the trunk, controls turn what they move",
        options=FORGOTTEN,
    )
    use_switches = switch(
        "Set Switches", "Set the switches of a generated rig so that its body follows the chains", default=True
    )
    use_motion = switch(
        "Keep Motion",
        "Where keys move the bones, targets and poles edit that motion: while they rest, it plays as it is",
        default=True,
    )

    def wanted_options(self) -> SetupOptions:
        """What is to be made."""
        return SetupOptions(**{name: getattr(self, name) for name in SetupOptions.__dataclass_fields__})


class FABRIK_OT_character_setup(SetupOperator):
    """Find arms, legs, spine, head and tail, and make them posable: chains, goals, joint limits, pins, body bone"""

    bl_label = "Set Up Character"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    plan = choice(PLAN_ITEMS, "Body", "What kind of body it is", options=FORGOTTEN)
    parts = items(
        FabrikSetupPart, "Not Sure", "Parts that are not sure, with the bones that they are to have", options=FORGOTTEN
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        owner = working_rig(context)
        self.parts.clear()
        unsure = [part for part in find_parts(owner, self.plan).parts if not part.is_applied]
        ask(self.parts, [part for part in unsure if chain_of(owner, part) is None], use=False)
        if self.parts:
            return context.window_manager.invoke_props_dialog(self, width=WIDTH, confirm_text=label_(self.bl_label))
        return self.execute(context)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        found = find_parts(owner, self.plan)
        options = self.wanted_options()
        parts = wanted_parts(answered(owner, found, self.parts), options)
        if not parts:
            raise ChainError(nothing_text(found), rig=owner.name)
        done = set_up(context, owner, found, parts, options)
        self._tell(owner, found, done)

    def _tell(self, owner: bpy.types.Object, found: RecognisedBody[str], done: SetupReport) -> None:
        notes: list[str] = [
            Text("{part} was not found: {reason}", part=name, reason=reason)
            for name, reason in (*found.missing, *found.held)
        ]
        unsure = [part for part in found.parts if not part.is_applied]
        asked = [part.name for part in unsure if chain_of(owner, part) is None]
        if asked:
            names = listed(asked, "{count} parts")
            notes.append(Text("Not sure of {parts}: run it again to be asked about them", parts=names))
        notes += done.notes[:MOST_TOLD]
        if len(done.notes) > MOST_TOLD:
            notes.append(Text("and {count} more to look out for", count=len(done.notes) - MOST_TOLD))
        self.tell(done_text(found, done), warnings=notes)

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_options(CHOICES)
        layout = self.layout.column()
        layout.use_property_split = not self.parts
        switches = layout.grid_flow(row_major=True, columns=2 if self.parts else 1, even_columns=True)
        for name in SWITCHES:
            switches.prop(self, name)
        draw_asked(context, layout, working_rig(context), self.parts)


def draw_asked(
    context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object, asked: Items[FabrikSetupPart]
) -> None:
    """What is asked about an armature object, as a table."""
    if not asked:
        return
    layout = layout.column()
    layout.use_property_split = False
    layout.separator()
    told = iface_("Not sure of these of '{rig}': tick what is right, and mend its bones", rig=owner.name)
    layout.label(text=told, icon="QUESTION", translate=False)
    row = layout.split(factor=NAMES)
    row.label(text="Part")
    bones = row.row(align=True)
    bones.label(text="First Bone")
    bones.label(text="Last Bone")
    room = (WIDTH - INDENT) * context.preferences.system.ui_scale
    for one in asked:
        column = layout.column(align=True)
        row = column.split(factor=NAMES)
        row.prop(one, "use", text=iface_("{part}, {share:.0%} sure", part=one.name, share=one.confidence))
        bones = row.row(align=True)
        bones.active = one.use
        bones.prop_search(one, "first_bone", owner.pose, "bones", text="")
        bones.prop_search(one, "last_bone", owner.pose, "bones", text="")
        reason = capitalised(one.reason)
        for line in lines_of(reason, room, lambda part: text_width(context, part)) if reason else ():
            column.label(text=line, icon="BLANK1", translate=False)


def nothing_text(found: RecognisedBody[str]) -> Text:
    """Why there is nothing to set up."""
    if found.held:
        name, reason = found.held[0]
        return Text("nothing of it can be posed: {part}: {reason}", part=name, reason=reason)
    unsure = [part.name for part in found.parts]
    if unsure:
        return Text("nothing of it is sure: {parts} are to be asked about", parts=listed(unsure, "{count} parts"))
    return Text("no limb was found: add chains by hand")


def done_text(found: RecognisedBody[str], done: SetupReport) -> Text:
    """What was done, in a sentence."""
    words: list[str] = [Text(PLANS[found.plan].label)]
    chains = counted(len(done.made), "1 chain", "{count} chains")
    words.append(joined(": ", (chains, ", ".join(done.made))) if done.made else Text("no new chain"))
    words += [Text("{bone} is the body bone", bone=done.body)] if done.body else []
    count = len(done.limited)
    words += [counted(count, "a limit for 1 bone", "limits for {count} bones")] if done.limited else []
    count = len(done.kept)
    words += [counted(count, "1 chain was there already", "{count} chains were there already")] if done.kept else []
    words += done.switched
    words += [Text("added {goals}", goals=listed(done.mended, "{count} goals"))] if done.mended else []
    return joined("; ", words)


class FABRIK_OT_mapping_export(ToFile):
    """Write to a file which bones the chains have, so that other rigs of the same bones are set up alike"""

    bl_label = "Export Mapping"
    needs = {
        Text("there is no chain: set the character up first"): lambda context: (
            has_chains(context) or rig_of(working_rig(context)).mapping
        )
    }

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        mapping = mapping_of(owner)
        path = self.write(mapping_text(mapping))
        self.tell(Text("{count} parts written to '{path}'", count=len(mapping.parts), path=path))


class FABRIK_OT_mapping_import(FromFile, SetupOperator):
    """Set up a character by a file that says which bones are which parts; one that is wrong changes nothing"""

    bl_label = "Set Up by Mapping"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        found = load_mapping(self.path)
        check_mapping(owner, found)
        options = self.wanted_options()
        done = set_up(context, owner, found, wanted_parts(found.parts, options), options)
        keep_mapping(owner, found)
        self.tell(done_text(found, done), warnings=done.notes)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of feet with the ground: found in motion, kept, and marked one by one."""

from __future__ import annotations

import bpy

from ..actions.chain_edit import working_chain, working_rig
from ..actions.motion.contacts import clean_steps, find_steps, stand_here
from ..actions.motion.edits import span_of_motion
from ..actions.motion.marks import ANYWHERE, contact_at, contacts_of, mark, move, place_contact
from ..errors import ChainError, InvalidValueError
from ..overlay import sheet
from ..overlay.settings import TIMELINES, redraw
from ..rig.bones import pose_bones, resolve_bones
from ..rig.schema.fields import FORGOTTEN, Options, choice, text, whole
from ..rig.walk_goals import is_walked
from ..texts import Text
from ..translations import iface_
from .baking import SPANS, SpanOptions, StepsOperator
from .base import ChainOperator, Returned, RigOperator, has_chains, listed


class GroundOptions(Options):
    """Options of an operator by which feet come to stand on an object."""

    ground = text("Ground", "Object on which the feet stand, which may move; none for the world", options=FORGOTTEN)

    def ground_object(self) -> bpy.types.Object | None:
        """The object that is meant.

        Raises:
            InvalidValueError: There is none of that name.
        """
        found: bpy.types.Object | None = bpy.data.objects.get(self.ground)
        if self.ground and found is None:
            raise InvalidValueError(Text("there is no object '{name}'", name=self.ground))
        return found


FEET = (
    ("ACTIVE", "Active", "The foot or hand of the active chain"),
    ("ALL", "All", "All feet and hands that have contacts"),
)


class ContactsOperator(SpanOptions, StepsOperator):
    """An operator on the contacts of all feet of the armature."""

    needs = {Text("there is no chain: set it up first"): has_chains}

    span = choice((("MOTION", "Whole Motion", "All frames in which it moves"), *SPANS), "Frames", "Which frames")

    def frames(self, context: bpy.types.Context, step: int = 1) -> tuple[int, ...]:
        if self.span != "MOTION":
            return super().frames(context, step)
        first, last = span_of_motion(working_rig(context), context.scene)
        return tuple(range(first, last + 1, step))


class FABRIK_OT_contacts_find(GroundOptions, ContactsOperator):
    """Mark when feet and hands are on the ground, by keys of Contact on their bones; nothing moves"""

    bl_label = "Find Contacts"

    progress = Text("Finding Contacts {share:.0%}")
    below = ("ground",)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        steps = find_steps(context, owner, self.frames(context), self.ground_object())
        return self.take_steps(context, [owner], steps)


class FABRIK_OT_contacts_clean(ContactsOperator):
    """Let feet and hands stand still where they are marked, by keys on their controls; the body gives way"""

    bl_label = "Clean Contacts"

    progress = Text("Cleaning Contacts {share:.0%}")

    feet = choice(FEET, "Feet", "Which feet and hands", default="ALL")
    below = ("feet",)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        chain = working_chain(context) if self.feet == "ACTIVE" else None
        steps = clean_steps(context, owner, self.frames(context), [chain.name] if chain is not None else [])
        return self.take_steps(context, [owner], steps)


# Contacts, one by one.

CONTACT_KINDS = (
    ("NONE", "None", "Off the ground: contacts end, or are parted"),
    ("HEEL", "Heel", "The heel of the foot or hand alone"),
    ("TOE", "Toes", "Toes or fingers alone"),
    ("FLAT", "Flat", "The whole foot or hand"),
)


class FABRIK_OT_contact_mark(GroundOptions, SpanOptions, ChainOperator):
    """Mark what of feet and hands is on the ground: contacts are made, joined, parted or deleted; nothing moves"""

    bl_label = "Mark Contact"
    above = ("kind", "feet", "ground")

    kind = choice(CONTACT_KINDS, "Contact", "What of the foot or hand is on the ground", default="FLAT")
    feet = choice(FEET, "Feet", "Which feet and hands")
    span = choice(SPANS, "Frames", "Which frames", default="PREVIEW")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        chain, marked = working_chain(context), {one.bone for one in contacts_of(owner)}
        names = [resolve_bones(owner, chain)[-1].name] if self.feet == "ACTIVE" else sorted(marked)
        if not names:
            raise ChainError("no foot or hand has contacts: use Find Contacts first", rig=owner.name)
        frames = self.frames(context)
        bones, span = [pose_bones(owner)[name] for name in names], (frames[0], frames[-1])
        mark(owner, bones, self.kind, span, self.ground_object())
        redraw(TIMELINES)
        word = next(label for name, label, _ in CONTACT_KINDS if name == self.kind)
        fields = {"first": frames[0], "last": frames[-1], "feet": listed(names, "{count} bones")}
        self.tell(Text("{feet}: {kind} from frame {first} to {last}", kind=iface_(word), **fields))


PLACES = (
    ("FOOT", "Foot", "Where the foot stands now, as it is posed, or flat as its walk has it"),
    ("CURSOR", "3D Cursor", "With the middle of its sole on the 3D cursor, turned as now"),
    ("MOTION", "Motion", "Where the motion, or the planned walk, has it"),
)


class FABRIK_OT_contact_place(ChainOperator):
    """Let the whole contact at this frame stand where the foot is now; Clean Contacts or Plan Walk brings it"""

    bl_label = "Stand Here"

    at = choice(PLACES, "Place", "Where it stands", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        chain, frame = working_chain(context), context.scene.frame_current
        if self.at == "MOTION":
            found = contact_at(owner, resolve_bones(owner, chain)[-1].name, frame)
            place_contact(owner, found, ANYWHERE)
        else:
            found = stand_here(context, owner, chain, at_cursor=self.at == "CURSOR")
        redraw(TIMELINES)
        fields = {"bone": found.bone, "first": found.first, "last": found.last}
        if self.at == "MOTION":
            self.tell(Text("{bone}: from frame {first} to {last} the motion tells where it stands", **fields))
        elif is_walked(chain):
            self.tell(Text("{bone}: is to stand here from frame {first} to {last}: Plan Walk brings it", **fields))
        else:
            self.tell(Text("{bone}: is to stand here from frame {first} to {last}: Clean Contacts brings it", **fields))


class FABRIK_OT_contact_move(RigOperator):
    """Move a contact of a foot, or one of its ends; in timeline and dope sheet by dragging its bar"""

    bl_label = "Move Contact"

    bone = text("Foot", "Bone of the foot", options=FORGOTTEN)
    frame = whole("Frame", "A frame of the contact, as it stands", options=FORGOTTEN)
    start = whole("Start", "Frames by which it begins later", options=FORGOTTEN)
    end = whole("End", "Frames by which it ends later", options=FORGOTTEN)

    _bar: sheet.Bar
    _pressed: float

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        owner, area = working_rig(context), context.area
        bar = None
        if area is not None and area.type == "DOPESHEET_EDITOR" and context.region.type == "WINDOW":
            bar = sheet.bar_at(context, event.mouse_region_x, event.mouse_region_y)
        if bar is None or owner is None:
            return {"PASS_THROUGH"}
        self._bar, self._pressed = bar, sheet.Scale.of(context).frame_at(event.mouse_region_x)
        self.bone, self.frame, self.start, self.end = bar[0].bone, bar[0].first, 0, 0
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            context.area.header_text_set(None)
            return {"CANCELLED"}
        by = round(sheet.Scale.of(context).frame_at(event.mouse_region_x) - self._pressed)
        contact, ends = self._bar
        self.start, self.end = (by * one for one in ends)
        first, last = contact.first + self.start, contact.last + self.end
        context.area.header_text_set(iface_(Text("{bone}: {first} to {last}", bone=self.bone, first=first, last=last)))
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            context.area.header_text_set(None)
            return self.execute(context) if self.start or self.end else {"CANCELLED"}
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        moved = move(owner, contact_at(owner, self.bone, self.frame), self.start, self.end)
        redraw(TIMELINES)
        self.tell(Text("{bone}: {first} to {last}", bone=self.bone, first=moved.first, last=moved.last))

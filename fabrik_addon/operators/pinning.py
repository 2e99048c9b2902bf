# SPDX-License-Identifier: GPL-3.0-or-later
"""Pin chains, choose which end and rotation of their tips is asked for, and the body bone with its masses.

What was done by hand to a live chain, and live posing put back, can be kept.
"""

from __future__ import annotations

import bpy

from ..actions.body import fill_masses, find_body, set_body
from ..actions.chain_edit import set_effector, set_orientation, working_chain, working_rig
from ..actions.pins import Pinning, PinRequest, toggle_rigs, wanted_of_chains, wanted_of_selected
from ..actions.solve import Item
from ..errors import BoneError, ChainError
from ..rig.schema import name_all, rig_of
from ..rig.schema.chain import EFFECTOR_ITEMS, ORIENTATION_ITEMS
from ..rig.schema.fields import FORGOTTEN, choice, text
from ..rig.walk_goals import is_walked
from ..texts import Text, counted
from ..translations import tip_
from .base import (
    ChainOperator,
    NamedChain,
    RigOperator,
    has_chains,
    is_left_out,
    listed,
    named_chain,
    rigs_in_pose_mode,
)

WHICH = (
    ("SELECTED", "Selected", "The selected bones in Pose mode: their chains, or new ones; else the active chain"),
    ("ACTIVE", "Active", "The active chain"),
    ("ALL", "All Enabled", "All enabled chains of the armature"),
)
ACTIONS = (
    ("TOGGLE", "Toggle", "Pin what is not pinned; where all is pinned, free it"),
    ("PIN", "Pin", "Pin where it stands now"),
    ("FREE", "Free", "Take the pins away"),
)
SOURCES = (
    ("FIND", "Find", "The hips by their name, or the nearest bone on which all enabled chains hang"),
    ("ACTIVE", "Active Bone", "The active bone in Pose mode"),
    ("NONE", "None", "No body bone: the roots of the chains stay"),
)
BY = (
    ("PARTS", "Human Parts", "By what the bones' names say they are of a human (de Leva 1996)"),
    ("LENGTH", "Lengths", "By the lengths of the bones that deform"),
    ("NONE", "Clear", "Forget what was set: each bone counts by its length"),
)


class FABRIK_OT_pin_toggle(RigOperator):
    """Pin the selected bones, so that they stay where they are, with priority over all other goals; or free them"""

    bl_label = "Pin"
    needs = {
        Text("there is no chain: in Pose mode bones are pinned without one"): lambda context: (
            working_rig(context).mode == "POSE" or working_chain(context)
        )
    }

    which = choice(WHICH, "Which", "What is pinned or freed")
    action = choice(ACTIONS, "Action", "Whether to pin or to free")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        warnings: list[Text] = []
        wanted = self._wanted(context, owner, warnings)
        told = Pinning()
        for one in toggle_rigs(context, wanted, self.action, stays=self.which != "SELECTED"):
            for name in Pinning.__dataclass_fields__:
                getattr(told, name).extend(getattr(one, name))
        texts = {
            Text("Pinned {chains}"): told.pinned,
            Text("Freed {chains}"): told.freed,
            Text("made {chains}"): told.made,
            Text("removed {chains}, which had nothing but the pin"): told.removed,
        }
        done = [Text(text, chains=listed(names, "{count} chains")) for text, names in texts.items() if names]
        self.tell(*(done or [Text("Nothing was pinned")]), warnings=[*warnings, *told.notes])

    def _wanted(
        self, context: bpy.types.Context, owner: bpy.types.Object, warnings: list[Text]
    ) -> list[tuple[bpy.types.Object, list[PinRequest]]]:
        """What is chosen, of each armature; with no bone selected the active chain."""
        active = working_chain(context)
        if self.which == "SELECTED" and owner.mode == "POSE" and (context.selected_pose_bones or active is None):
            return self._selected(context, owner, warnings)
        name_all(owner)
        chains = [chain for chain in rig_of(owner).chains if chain.enabled] if self.which == "ALL" else [active]
        if not chains:
            raise ChainError("no chain is enabled", rig=owner.name)
        if active is None:
            raise ChainError("there is no active chain", rig=owner.name)
        return [(owner, wanted_of_chains(owner, chains))]

    def _selected(
        self, context: bpy.types.Context, owner: bpy.types.Object, warnings: list[Text]
    ) -> list[tuple[bpy.types.Object, list[PinRequest]]]:
        """The selected bones, of all armatures in Pose mode; `warnings` takes which armature is left out, and why."""
        chosen = {bone.id_data for bone in context.selected_pose_bones or ()}
        rigs = [one for one in rigs_in_pose_mode(context, owner) if one in chosen and not is_left_out(one, warnings)]
        for rig in rigs:
            name_all(rig)
        return [(rig, wanted_of_selected(rig)) for rig in rigs or [owner]]


class TipOperator(NamedChain, ChainOperator):
    """An operator that chooses what a chain's goal asks of its tip, one of several items with a tooltip each.

    Attributes:
        option: Name of the option that holds the choice.
        choices: What it can be, as an `EnumProperty` has it.
    """

    option = ""
    choices: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        chosen = getattr(properties, cls.option)
        return tip_(next(text for name, _, text in cls.choices if name == chosen))

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        name_all(owner)
        chain = named_chain(owner, self.chain)
        if is_walked(chain):  # the plan has where its foot stands, and how it is turned
            raise ChainError(Text("a planned walk moves it"), rig=owner.name, chain=chain.name)
        done, warnings = self.choose(context, (owner, chain))
        self.tell(*done, warnings=warnings)

    def choose(self, context: bpy.types.Context, item: Item) -> tuple[list[str], list[str]]:
        """Make the choice; what was done, and what the user is to look at. Every operator overrides it."""
        return [], []


class FABRIK_OT_orientation_set(TipOperator):
    """Choose the rotation that the tip bone has, and keep it as it stands now, so that nothing moves"""

    bl_label = "Set Rotation of Tip"
    option, choices = "orientation", ORIENTATION_ITEMS

    orientation = choice(ORIENTATION_ITEMS, "Rotation", "Which rotation the tip bone is to have")

    def choose(self, context: bpy.types.Context, item: Item) -> tuple[list[str], list[str]]:
        notes = set_orientation(item, self.orientation)
        label = Text(next(text for name, text, _ in ORIENTATION_ITEMS if name == self.orientation))
        return [Text("{chain}: rotation of its tip is {rotation}", chain=item[1].name, rotation=label)], notes


class FABRIK_OT_effector_set(TipOperator):
    """Choose which end of the tip bone comes to the target; a target that was reached moves there, the pose stays"""

    bl_label = "Set End of Tip"
    option, choices = "effector", EFFECTOR_ITEMS

    effector = choice(EFFECTOR_ITEMS, "End", "Which end of the tip bone comes to the target")

    def choose(self, context: bpy.types.Context, item: Item) -> tuple[list[str], list[str]]:
        done, warnings = set_effector(context, item, self.effector)
        name, is_head = item[1].name, self.effector == "HEAD"
        head = Text("{chain}: its goal is for the head of its tip", chain=name)
        tail = Text("{chain}: its goal is for the tail of its tip", chain=name)
        return [head if is_head else tail, *done], warnings


class FABRIK_OT_body_bone_set(RigOperator):
    """Choose the bone that moves and turns with all chains below it, as the hips do; the pose stays as it is"""

    bl_label = "Set Body Bone"
    needs = {Text("there is no chain: add those of the limbs first"): has_chains}

    source = choice(SOURCES, "Source", "Where the body bone comes from")
    bone = text("Bone", "Name of the bone; empty to go by the source", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        bone = self.bone or self._chosen(context, owner)
        below, notes = set_body(owner, bone)
        moved = Text("{bone} moves with {chains}", bone=bone, chains=listed(below, "{count} chains"))
        self.tell(moved if bone else Text("There is no body bone now"), warnings=notes)

    def _chosen(self, context: bpy.types.Context, owner: bpy.types.Object) -> str:
        if self.source == "NONE":
            return ""
        if self.source == "FIND":
            return find_body(owner)
        bone = context.active_pose_bone
        if bone is None or bone.id_data != owner:
            raise BoneError("no bone is active: choose one in Pose mode", rig=owner.name)
        return bone.name


class FABRIK_OT_balance_masses(RigOperator):
    """Fill in which share of the body's mass each bone carries, for the balance"""

    bl_label = "Fill Masses"
    poses = False

    by = choice(BY, "By", "Where the shares come from")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        count = fill_masses(owner, self.by)
        shares = counted(count, "1 bone has a share of the mass", "{count} bones have a share of the mass")
        self.tell(shares if count else Text("Each bone counts by its length"))

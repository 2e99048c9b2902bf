# SPDX-License-Identifier: GPL-3.0-or-later
"""Add, remove, reorder and mirror chains, and take all of them away; chains of Blender's own IK constraints, and back.

A duplicated character gets goals of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..actions.bends import pole_in_bend
from ..actions.chain_edit import working_chain, working_rig
from ..actions.chains import (
    Defaults,
    Empty,
    NamedLimb,
    add_chain,
    check_can_make,
    make_goals,
    move_chain,
    plan_pole,
    plan_target,
    read_defaults,
    remove_chain,
    selected_limbs,
    start_texts,
    taken_limb,
)
from ..actions.clear import clear_rig, make_goals_single_user
from ..actions.convert import convert, convert_to_ik
from ..actions.figure_pose import tip_of
from ..actions.keep_pose import keep_at_tips, read_poses, told_moves, unposed
from ..actions.mirror.chain import mirror_chains
from ..actions.solve import Item
from ..errors import ChainError, FabrikError, place_of
from ..recognise.words import side_of
from ..rig.animation.compat import is_selected
from ..rig.bones import bones_to, pose_bones
from ..rig.figure.groups import set_of
from ..rig.schema import rig_of
from ..rig.schema.fields import FORGOTTEN, choice, switch, text, whole
from ..rig.versions import holds_data
from ..texts import Text, counted, enumerated, joined
from ..translations import iface_, label_
from .baking import chains_choice, items_of
from .base import ChainOperator, Returned, RigOperator, has_chains, is_left_out, listed, rigs_in_pose_mode
from .goals import chosen_kind, kind_choice

MOST_NAMES = 12  # that a report lists


def _with_bend(item: Item, pole: Empty) -> Empty:
    """The pole planned for a chain that was made, where it leaves the pose of the body it now belongs to."""
    try:
        with unposed() as depsgraph:
            (pose,) = read_poses([item], [tip_of(*item, depsgraph)], depsgraph)
            return pole.moved(pole_in_bend(pose, item[1].name, pole.location))
    except FabrikError:  # it can't be solved, which is told when its goals are there
        return pole


class FABRIK_OT_chain_add(RigOperator):
    """Add a chain for each limb that is selected in Pose mode: by its tip, as a run of bones, or with the whole body"""

    bl_label = "Add Chain"

    tip_bone = text("Tip Bone", "Last bone of the chain; empty for the selected bones", options=FORGOTTEN)
    bone_count = whole(
        "Bones",
        "Number of bones of each chain. 0: as selected, or all up to the root for a named tip bone",
        min=0,
        soft_max=20,
        options=FORGOTTEN,
    )
    use_small = switch(
        "Small Limbs",
        "Of bones that fork, take hands, feet, fingers, toes, face and single bones, too",
        options=FORGOTTEN,
    )
    use_target = switch("Add Target", "Make a target at the tip of each chain")
    use_pole = switch("Add Pole", "Make a pole in the plane of the bend of each chain of two bones or more")
    kind = kind_choice()

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        named = [(owner, (self.tip_bone, self.bone_count))], 0, list[Text]()
        wanted, small, warnings = named if self.tip_bone else self._selected(context, owner)
        wanted = self._without_taken(wanted, warnings)
        defaults = read_defaults(context)
        bones = [bones_to(rig, *limb) for rig, limb in wanted]
        goals = [self._goals(context, own, defaults) for own in bones]
        kind = chosen_kind(self, context)
        check_can_make([rig for (rig, _), planned in zip(wanted, goals, strict=True) if planned], kind)
        pairs = zip(wanted, bones, strict=True)
        names = [add_chain(rig, own, limb[1], defaults).name for (rig, limb), own in pairs]
        made = [(rig, name, planned) for (rig, _), name, planned in zip(wanted, names, goals, strict=True)]
        for rig, name, planned in made:
            if "pole" in planned:
                planned["pole"] = _with_bend((rig, rig_of(rig).chains[name]), planned["pole"])
        for rig in dict.fromkeys(rig for rig, _ in wanted):  # the bones of one with one visit to edit mode
            own = [(rig_of(rig).chains[name], planned) for other, name, planned in made if other == rig]
            asked = [(chain, role, empty) for chain, planned in own for role, empty in planned.items()]
            make_goals(context, rig, asked, kind)
        added = [rig_of(rig).chains[name] for rig, name, _ in made]
        aimed = [(rig, chain) for (rig, _, planned), chain in zip(made, added, strict=True) if planned]
        words = [Text("Added {chains}", chains=_counted(names)), *start_texts(added, defaults.start)]
        if small:
            left_out = counted(small, "1 small limb is left out", "{count} small limbs are left out")
            words.append(Text("{left_out}: tick Small Limbs to add them, too", left_out=left_out))
        self.tell(*words, warnings=[*warnings, *keep_at_tips(aimed)[1]])

    def _selected(
        self, context: bpy.types.Context, owner: bpy.types.Object
    ) -> tuple[list[tuple[bpy.types.Object, NamedLimb]], int, list[Text]]:
        """The limbs selected on the armature and on all others in Pose mode; how many small ones, and who, are left."""
        wanted: list[tuple[bpy.types.Object, NamedLimb]] = []
        warnings: list[Text] = []
        small = 0
        for rig in rigs_in_pose_mode(context, owner):
            limbs, left_out = selected_limbs(rig)
            limbs += left_out if self.use_small else []
            small += 0 if self.use_small else len(left_out)
            if limbs and not is_left_out(rig, warnings):
                wanted += [(rig, (tip, self.bone_count or count)) for tip, count in limbs]
        if not wanted:
            raise ChainError(
                "no bone is selected: in Pose Mode, select the tip of a limb, or a run of bones", rig=owner.name
            )
        return wanted, small, warnings

    def _without_taken(
        self, wanted: list[tuple[bpy.types.Object, NamedLimb]], warnings: list[Text]
    ) -> list[tuple[bpy.types.Object, NamedLimb]]:
        """What is wanted without what is a chain already, which is told; but one limb alone was asked for by itself."""
        taken = [taken_limb(rig, limb) for rig, limb in wanted]
        if len(wanted) == 1:
            if taken[0]:
                warnings.append(Text("{chain} has the same bones", chain=taken[0]))
            return wanted
        free = [one for one, name in zip(wanted, taken, strict=True) if not name]
        if not free:
            reason = Text("each of the {count} limbs has a chain already", count=len(wanted))
            raise ChainError(reason, rig=wanted[0][0].name)
        if len(free) < len(wanted):
            warnings.append(Text("already there: {chains}", chains=_counted([name for name in taken if name])))
        return free

    def _goals(
        self, context: bpy.types.Context, bones: list[bpy.types.PoseBone], defaults: Defaults
    ) -> dict[str, Empty]:
        """Target and pole of a limb by their roles, as far as they are wanted."""
        found = {}
        with place_of(rig=bones[0].id_data.name):
            if self.use_target:
                found["target"] = plan_target(context, bones, defaults)
            if self.use_pole and len(bones) > 1:
                found["pole"] = plan_pole(context, bones, defaults)
        return found

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        owner = working_rig(context)
        if owner is not None and owner.pose is not None:
            layout.prop_search(self, "tip_bone", owner.pose, "bones")
        self.draw_options(("bone_count", "use_small", "use_target", "use_pole"))
        row = layout.row()
        row.active = self.use_target or self.use_pole
        row.prop(self, "kind")


def _counted(names: list[str]) -> Text:
    """How many chains, and their names as far as they fit: 2 chains: a, b."""
    listed = ", ".join(names[:MOST_NAMES])
    if len(names) == 1:
        return Text("1 chain: {names}", names=listed)
    if len(names) <= MOST_NAMES:
        return Text("{count} chains: {names}", count=len(names), names=listed)
    more = len(names) - MOST_NAMES
    return Text("{count} chains: {names} and {more} more", count=len(names), names=listed, more=more)


class FABRIK_OT_chain_remove(ChainOperator):
    """Remove the active chain; its bones, target and pole stay"""

    bl_label = "Remove Chain"
    poses = False

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        rig = rig_of(owner)
        chain = rig.chains[rig.active_index]
        name, together = chain.name, set_of(owner, chain).names if rig.live and chain.enabled else ()
        if not remove_chain(owner, rig.active_index):
            raise ChainError("it comes from the library file and can't be removed: disable it", chain=name)
        others = [(owner, one) for one in rig.chains if one.name in together]
        self.tell(Text("Removed {chains}", chains=name), warnings=told_moves(others))


class FABRIK_OT_chain_remove_all(RigOperator):
    """Remove all chains of the armature; its bones, targets and poles stay"""

    bl_label = "Remove All Chains"
    poses = False
    needs = {Text("there is no chain"): has_chains}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        told = iface_(
            "All {count} chains, their settings and their start poses go; bones, targets and poles stay.",
            count=len(rig_of(working_rig(context)).chains),
        )
        return context.window_manager.invoke_confirm(
            self, event, title=label_(self.bl_label), message=told, confirm_text=label_(self.bl_label), translate=False
        )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        names = [chain.name for chain in rig_of(owner).chains]
        removed = [remove_chain(owner, index) for index in reversed(range(len(names)))][::-1]
        kept = [name for name, is_gone in zip(names, removed, strict=True) if not is_gone]
        if len(kept) == len(names):
            raise ChainError("its chains come from the library file and can't be removed: disable them", rig=owner.name)
        stayed = Text("Kept {chains}, from the library file: disable what is not wanted", chains=_counted(kept))
        gone = Text("Removed {chains}", chains=_counted([name for name in names if name not in kept]))
        self.tell(gone, warnings=[stayed] if kept else [])


class FABRIK_OT_rig_clear(RigOperator):
    """Take chains, body, walker, joint limits and the goals that were made for them away; the pose stays"""

    bl_label = "Remove FABRIK from Armature"
    poses = False
    needs = {Text("nothing of FABRIK is on it"): lambda context: holds_data(working_rig(context))}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        return context.window_manager.invoke_confirm(self, event)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        chains, goals = clear_rig(context, owner)
        told = [counted(chains, "1 chain", "{count} chains")] if chains else []
        told += [counted(goals, "1 goal", "{count} goals")] if goals else []
        self.tell(Text("Removed {chains}", chains=enumerated(told) if told else Text("all settings")))


class FABRIK_OT_chain_move(ChainOperator):
    """Move the active chain up or down in the list; chains that share bones are solved together in any order"""

    bl_label = "Move Chain"
    poses = False

    direction = choice(
        (("UP", "Up", "Towards the top of the list"), ("DOWN", "Down", "Towards the end of the list")),
        "Direction",
        "Which way in the list",
    )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        rig = rig_of(owner)
        to = rig.active_index + (-1 if self.direction == "UP" else 1)
        if not 0 <= to < len(rig.chains):
            return {"CANCELLED"}
        move_chain(owner, rig.active_index, to)
        return {"FINISHED"}


class FABRIK_OT_chain_mirror(ChainOperator):
    """Make the chain on the other side, by the names of its bones, with goals, joint limits, start pose and settings"""

    bl_label = "Mirror Chain"

    use_all = switch("All of This Side", "Every chain of the side of the active one", options=FORGOTTEN)
    use_update = switch("Update", "Bring a chain that is on the other side already up to date", default=True)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        active = working_chain(context)
        chains = [active]
        if self.use_all:
            side = side_of(active.tip_bone)
            chains = [chain for chain in rig_of(owner).chains if chain == active or side_of(chain.tip_bone) == side]
        made, updated, notes = mirror_chains(context, owner, chains, self.use_update)
        words = [Text("Made {chains}", chains=listed(made, "{count} chains"))] if made else []
        words += [Text("Updated {chains}", chains=listed(updated, "{count} chains"))] if updated else []
        self.tell(*words, warnings=notes)


class FABRIK_OT_goals_single_user(ChainOperator):
    """Give the armature copies of the targets and poles that another armature follows, too; nothing moves"""

    bl_label = "Make Goals Single User"
    poses = False

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        made, notes = make_goals_single_user(context, owner)
        text = Text("{name} has goals of its own", name=owner.name)
        self.tell(joined(": ", (text, listed(made, "{count} objects"))) if made else text, warnings=notes)


class FABRIK_OT_from_ik(RigOperator):
    """Make a chain of each IK constraint, with its target, pole, limits and bend, and mute the constraint"""

    bl_label = "Chains from IK"

    use_selected = switch("Selected Bones", "Only constraints of selected bones, not all of the armature")
    use_aims = switch("Aims", "Make a chain that aims of each Damped Track constraint as well")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        bones = [bone for bone in pose_bones(owner) if not self.use_selected or is_selected(bone)]
        results = convert(context, owner, [bone.name for bone in bones], aims=self.use_aims)
        if not results:
            raise ChainError("no bone has an IK constraint that is in force", rig=owner.name)
        told = []
        for result in results:
            what = f"{result.bone}, '{result.constraint}'"
            made = Text("{what}: made the chain {chain}", what=what, chain=result.chain) if result.chain else None
            told.append(_conversion_text(what, made, result.lost))
        return _converted(self, told, is_any=any(result.chain for result in results))


def _converted(operator: RigOperator, told: Sequence[tuple[Text, bool]], *, is_any: bool) -> Returned:
    """Report what came of converting things; an error where none was."""
    if not is_any:
        return operator.refuse(joined("; ", [text for text, _ in told]))
    operator.tell_each(told)
    return {"FINISHED"}


def _conversion_text(what: str, made: Text | None, lost: list[str]) -> tuple[Text, bool]:
    """What came of converting a thing, None where it stays as it is; and whether nothing was lost by it."""
    if made is None:
        return Text("{what}: left as it is, {reason}", what=what, reason=lost[0]), False
    return (Text("{made}, but for {lost}", made=made, lost=joined("; ", lost)), False) if lost else (made, True)


class FABRIK_OT_to_ik(ChainOperator):
    """Make an IK constraint of each chain, with its target, pole, limits and bend, and disable the chain"""

    bl_label = "IK from Chains"

    chains = chains_choice("ALL")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        results = convert_to_ik(context, items_of(context, owner, self.chains))
        told = []
        for result in results:
            chain, made = result.chain, result.constraint
            text = Text("{chain}: '{constraint}' of {bone}", chain=chain, constraint=made, bone=result.bone)
            told.append(_conversion_text(chain, text if made else None, result.lost))
        return _converted(self, told, is_any=any(result.constraint for result in results))

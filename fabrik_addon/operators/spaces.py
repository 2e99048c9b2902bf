# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose what carries goals, at once or from this frame on; grab a prop with a hand, and let it go."""

from __future__ import annotations

import bpy

from ..actions.chain_edit import working_chain
from ..actions.goals import also_given, check_can_make, make_swing_bones
from ..actions.spaces import Anchored, bring_to, carrier_name, first_space, switch_spaces
from ..errors import BoneError, TargetError
from ..rig.animation.keys import insert_goal_key, keys_by_itself
from ..rig.bones import bones_to, resolve_bones
from ..rig.control_bones import control_names, remove_control_bones, root_control
from ..rig.goals import GoalRef, goal_of, goals_of, read_held
from ..rig.placing import holder_of
from ..rig.schema import FabrikChain, carrier_of_limb, rig_of
from ..rig.schema.chain import MISSED
from ..rig.schema.fields import FORGOTTEN, choice, switch, text
from ..rig.spaces import carriers_above, lost_space, scene_anchor, space_of, spaces_of, target_of
from ..texts import Text, joined, worded
from .base import ChainOperator, listed

SPACES = (
    ("LIMB", "What Carries the Limb", "The bone above the limb: the chest for an arm, the hips for a leg"),
    ("SWING", "The Limb Itself", "What carries the limb, swung with the limb: for poles alone"),
    ("BODY", "Body Bone", "The body bone of the armature"),
    ("SELECTED", "Selected Bone", "The other bone that is selected in Pose mode"),
    ("ARMATURE", "Armature", "The armature, with the bone that moves the whole rig"),
    ("SCENE", "Scene", "The scene: it stays where it is while the armature moves"),
    ("OBJECT", "Other Object", "The other selected object, or the active bone of another armature in Pose mode"),
    ("FIRST", "First", "What carried it before it was hung on anything else"),
)
ROLES_OF_SPACE = (
    ("BOTH", "Target and Pole", "Both of them"),
    ("TARGET", "Target", "The target alone"),
    ("POLE", "Pole", "The pole alone"),
)
WAYS = (
    ("HAND", "Hand to Object", "The target of the chain goes along with the object"),
    ("OBJECT", "Object to Hand", "The object goes along with the last bone of the chain"),
)


class SpaceOperator(ChainOperator):
    """An operator that hangs something on something else, with nothing moving."""

    def hang(
        self,
        context: bpy.types.Context,
        owner: bpy.types.Object,
        wanted: list[tuple[GoalRef, Anchored | None]],
        *,
        keyed: bool,
        own: list[Anchored],
        holds: bool = False,
    ) -> None:
        """Do it, and report."""
        bones, names = any(goal.bone for goal, _ in wanted), [worded(goal.name) for goal, _ in wanted]
        chain, to = working_chain(context).name, wanted[0][1]
        try:
            is_keyed = keyed or keys_by_itself(context)
            frames, warnings = switch_spaces(context, wanted, keyed=is_keyed, holds=holds, own=own)
        except TargetError as error:
            error.rig, error.chain = owner.name, chain
            raise
        told = Text("{goals} now on '{carrier}'", goals=", ".join(names), carrier=carrier_name(to))
        if to == (scene_anchor(make=False), "") or (to is None and not bones):
            told = Text("{goals} now in the scene", goals=", ".join(names))
        elif to is None:
            told = Text("{goals} now in the armature", goals=", ".join(names))
        if frames:
            told = joined("; ", (told, Text("from frame {frame} on", frame=f"{frames[0]:g}")))
        others = also_given(owner) if bones else []
        if others:
            shared = listed(others, "{count} objects")
            told = joined("; ", (told, Text("{objects} have the same bones", objects=shared)))
        if holds and len(frames) > 1:
            text = Text("its key at frame {frame} moves it next: release it before", frame=f"{frames[1]:g}")
            warnings.append(text)
        self.tell(told, warnings=warnings)


class FABRIK_OT_goal_space(SpaceOperator):
    """Choose what carries target and pole of the chain, so that they go along with it; nothing moves now"""

    bl_label = "Set Space of Goals"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    space = choice(SPACES, "Space", "What carries the goals")
    roles = choice(ROLES_OF_SPACE, "Goals", "Which of the two")
    use_key = switch("From This Frame On", "Key the change here; goals with keys are always keyed", options=FORGOTTEN)
    bone = text("Bone", "Name of a bone of the armature; empty to go by the space", options=FORGOTTEN)
    object = text("Object", "Name of the other object; empty for the one that is selected", options=FORGOTTEN)
    other_bone = text("Other Bone", "Name of a bone of that; empty for its active one", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        chain = working_chain(context)
        roles = ("target", "pole") if self.roles == "BOTH" else (self.roles.lower(),)
        goals = [goal for goal in goals_of(chain) if goal.role in roles]
        if not goals:
            raise TargetError("it has none: add a target first", rig=owner.name, chain=chain.name)
        if self.space == "SWING" and not self.bone:
            self._swing(context, owner, chain)
            return
        if self.space == "FIRST" and not self.bone:
            wanted = [(goal, first_space(goal)) for goal in goals]
        else:
            to = self._carrier(context, owner, chain, are_bones=all(goal.bone for goal in goals))
            wanted = [(goal, to) for goal in goals]
        self.hang(context, owner, wanted, keyed=self.use_key, own=bones_of(owner, chain))

    def _swing(self, context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> None:
        """Hang the pole on the bone that swings with the limb, which is made where there is none."""
        name, before = chain.name, control_names(owner)
        if goal_of(chain, "pole") is None or self.roles == "TARGET":
            raise TargetError("a pole alone can swing with the limb", rig=owner.name, chain=name)
        check_can_make([owner], "BONE")
        to = owner, make_swing_bones(context, owner, [chain])[name]
        chain = rig_of(owner).chains[name]  # making bones makes all references to chains anew
        wanted = [(goal, to) for goal in goals_of(chain) if goal.role == "pole"]
        try:
            self.hang(context, owner, wanted, keyed=self.use_key, own=bones_of(owner, chain))
        except TargetError:
            remove_control_bones(context, owner, sorted(control_names(owner) - before))
            raise

    def _carrier(
        self, context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, *, are_bones: bool
    ) -> Anchored | None:
        """What the space names; None for nothing: a bone stands in the armature by itself, an object in the scene."""
        if self.space == "OBJECT" and not self.bone:
            found, bone = other_object(context, owner, self.object)
            return found, self.other_bone or bone
        if self.space == "SCENE" and not self.bone:
            return (scene_anchor(), "") if are_bones else None
        bone = self.bone or self._bone(context, owner, chain)
        if bone:
            bones_to(owner, bone, 1)
            return owner, bone
        return None if are_bones else (owner, "")

    def _bone(self, context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> str:
        """The bone of the armature that the space names; "" for none."""
        body: str = rig_of(owner).body_bone
        if self.space == "LIMB":
            above = carrier_of_limb(resolve_bones(owner, chain)[0])
            return above.name if above is not None else ""
        if self.space == "SELECTED":
            limb = {bone.name for bone in resolve_bones(owner, chain)} | {goal.bone for goal in goals_of(chain)}
            chosen = [bone.name for bone in context.selected_pose_bones or () if bone.id_data == owner]
            others = [name for name in chosen if name not in limb]
            if len(others) != 1:
                text = Text("select the control, and one bone that is to carry it: {count} are", count=len(others))
                raise BoneError(text, rig=owner.name)
            return others[0]
        if self.space == "BODY":
            if not body:
                raise BoneError("it has no body bone", rig=owner.name)
            return body
        root = root_control(owner, resolve_bones(owner, chain))
        return root if root != body else ""


class HoldOperator(SpaceOperator):
    """An operator on the active chain and a prop."""

    way = choice(WAYS, "Way", "Which of the two goes along with the other")
    object = text("Object", "Name of the object; empty for the one that is selected", options=FORGOTTEN)

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        found = super().refusal(context)
        return found or ("" if working_chain(context).target else Text("the chain has no target: add one first"))

    def held(self, context: bpy.types.Context, owner: bpy.types.Object) -> tuple[GoalRef, Anchored, list[Anchored]]:
        """What is hung, on what, and what may not carry it."""
        chain = working_chain(context)
        if self.way == "HAND":
            target = goals_of(chain)[0]
            return target, other_object(context, owner, self.object), bones_of(owner, chain)
        found, bone = other_object(context, owner, self.object)
        return GoalRef("target", found, bone), (owner, chain.tip_bone), []


class FABRIK_OT_grab(HoldOperator):
    """From this frame on the hand goes along with the selected object, or the object with the hand; nothing moves"""

    bl_label = "Grab"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        what, to, own = self.held(context, owner)
        goals = goals_of(working_chain(context))
        if any((what.found, "") in carriers_above(goal.found, goal.bone) for goal in goals if self.way == "OBJECT"):
            text = Text("the hand holds on to '{name}': release it first", name=what.found.name)
            raise TargetError(text, rig=owner.name)
        chain, depsgraph = working_chain(context), context.evaluated_depsgraph_get()
        is_missed = self.way == "HAND" and chain.status in MISSED
        held = read_held(owner.evaluated_get(depsgraph), chain.tip_bone, chain.at_head) if is_missed else None
        self.hang(context, owner, [(what, to)], keyed=True, own=own, holds=True)
        if held is not None:  # the hand grabs where it is, and the body does not go after it
            bring_to(what, held.location)
            insert_goal_key(what, context.scene.frame_current_final)


class FABRIK_OT_release(HoldOperator):
    """From this frame on the hand, or the object that it holds, is carried as before it was grabbed; nothing moves"""

    bl_label = "Release"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        is_hand = self.way == "HAND"
        what = goals_of(working_chain(context))[0] if is_hand else self.held(context, owner)[0]
        holder = holder_of(what)
        now = target_of(holder, space) if (space := space_of(holder)) else None
        if lost_space(holder) is None and (not spaces_of(holder) or now == first_space(what)):
            raise TargetError(Text("{name} is held by nothing", name=what.name), rig=owner.name)
        self.hang(context, owner, [(what, first_space(what))], keyed=True, own=[])


def other_object(context: bpy.types.Context, owner: bpy.types.Object, name: str) -> Anchored:
    """The other object that is meant, with the bone that is active in it where it is an armature in Pose mode.

    Args:
        context: For what is selected.
        owner: The armature object whose goals are meant.
        name: Of the object; "" for the selected one.

    Raises:
        TargetError: There is none, or more than one.
    """
    goals = {goal.found for chain in rig_of(owner).chains for goal in goals_of(chain)}
    if name:
        found = [one for one in context.scene.objects if one.name == name]
        if not found:
            raise TargetError(Text("there is no object '{name}' in the scene", name=name), rig=owner.name)
    else:
        found = [one for one in context.selected_objects if one != owner and one not in goals]
    if len(found) != 1:
        text = Text("select the armature and one other object: {count} are selected", count=len(found))
        raise TargetError(text, rig=owner.name)
    bone = context.active_pose_bone
    is_posed = found[0].mode == "POSE" and bone is not None and bone.id_data == found[0]
    return found[0], bone.name if is_posed and bone is not None else ""


def bones_of(owner: bpy.types.Object, chain: FabrikChain) -> list[Anchored]:
    """The bones that a chain moves."""
    return [(owner, bone.name) for bone in resolve_bones(owner, chain)]

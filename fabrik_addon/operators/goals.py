# SPDX-License-Identifier: GPL-3.0-or-later
"""Make and pick targets and poles, keep start poses, and bring goals to the pose or the pose to the goals.

Those two are how animating by goals and by bones change over to each other without a jump. So do goals, at once or from
this frame on, when they are hung on something else: a bone, the scene, or a prop that a hand grabs and lets go.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..actions.bake import BakeResult, BakeSettings, bake_steps
from ..actions.chain_edit import back_to_pose, select_goal, working_chain, working_rig
from ..actions.chains import (
    GOAL_KINDS,
    POLE_AWAY,
    NewGoal,
    also_given,
    check_can_make,
    key_pose,
    make_goals,
    make_swing_bones,
    plan_pole_of,
    plan_target,
    read_defaults,
)
from ..actions.figure_pose import goal_point
from ..actions.frames import keys_of_bones
from ..actions.keep_pose import keep_at_tips, read_poses, told_moves
from ..actions.motion.edits import set_goal
from ..actions.snap import snap_steps
from ..actions.solve import Item
from ..actions.spaces import Anchored, bring_to, carrier_name, first_space, hangs_later, switch_spaces
from ..actions.status import is_idle
from ..errors import BoneError, ChainError, TargetError, place_of
from ..messages import ROLES
from ..rig.animation.channels import channel_of, neutral_values
from ..rig.animation.keys import insert_goal_key, keys_by_itself
from ..rig.bones import bones_to, resolve_bones
from ..rig.control_bones import control_names, new_bones_refusal, remove_control_bones, root_control
from ..rig.figure.start_pose import capture, reset
from ..rig.goals import GoalRef, goal_of, goals_of, is_offset, read_held
from ..rig.schema import FabrikChain, carrier_of_limb, rig_of
from ..rig.schema.chain import GOAL_ITEMS, MISSED
from ..rig.schema.fields import FORGOTTEN, choice, real, switch, text
from ..rig.spaces import carriers_above, lost_space, scene_anchor, space_of, spaces_of, target_of
from ..rig.walk_goals import is_walked
from ..texts import Text, counted, joined, worded
from ..translations import CONTEXT, iface_
from .baking import CHAINS, SnapOptions, StepsOperator, items_of
from .base import NEEDS_TARGET, ChainOperator, Returned, listed
from .solving import SolveOperator

MANY = {"target": Text("{count} targets"), "pole": Text("{count} poles")}
ALL_HAVE = {"target": Text("every chain has a target already"), "pole": Text("every chain has a pole already")}
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


def kind_choice() -> str:
    """The option that chooses what goals are made as."""
    return choice(GOAL_KINDS, "Made As", "What is made", translation_context=CONTEXT)


def chosen_kind(operator: Any, context: bpy.types.Context) -> str:
    """What goals are made as: as the user chose, at first as the rig has them already, or as the preferences say."""
    if not operator.properties.is_property_set("kind"):
        owner = working_rig(context)
        has_bones = owner is not None and bool(control_names(owner)) and not new_bones_refusal(owner)
        operator.kind = "BONE" if has_bones else read_defaults(context).goal_kind
    kind: str = operator.kind
    return kind


class GoalMaker(ChainOperator):
    """An operator that makes targets or poles: empties, or bones of the rig."""

    kind = kind_choice()

    def make(self, context: bpy.types.Context, owner: bpy.types.Object, asked: list[NewGoal]) -> None:
        """Make them, switch on chains of which nothing was asked before, keep the pose, and report."""
        kind = chosen_kind(self, context)
        chains, role = [chain.name for chain, _, _ in asked], asked[0][1]
        idle = [chain.name for chain, _, _ in asked if role == "target" and is_idle(chain)]
        made = make_goals(context, owner, asked, kind)
        text = Text("Added {goals}", goals=listed(made, MANY[role]))
        others = also_given(owner) if kind == "BONE" else []
        if others:
            names = listed(others, "{count} objects")
            text = Text("{added}, of {objects} too, which have the same bones", added=text, objects=names)
        for name in idle:
            rig_of(owner).chains[name].enabled = True
        if idle:
            text = joined("; ", (text, Text("switched on {chains}", chains=", ".join(idle))))
        done, warnings = keep_at_tips([(owner, rig_of(owner).chains[name]) for name in chains])
        self.tell(text, *done, warnings=warnings)


class FABRIK_OT_target_add(GoalMaker):
    """Make a target at the tip of the chain, an empty or a bone of the rig"""

    bl_label = "Add Target"

    use_all = switch("All Chains", "For every chain that has no target yet", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        defaults = read_defaults(context)
        chains = _without(context, owner, self.use_all, "target")
        plans = [plan_target(context, resolve_bones(owner, chain), defaults, chain) for chain in chains]
        self.make(context, owner, [(chain, "target", one) for chain, one in zip(chains, plans, strict=True)])


class FABRIK_OT_pole_add(GoalMaker):
    """Make a pole in the plane of the chain's bend, an empty or a bone of the rig; the pose stays as it is"""

    bl_label = "Add Pole"

    distance = real(
        "Distance",
        "Distance of the pole from the chain, as a share of the chain's length",
        default=POLE_AWAY,
        min=0.01,
        soft_max=2.0,
    )
    use_all = switch("All Chains", "For every chain of two bones or more without a pole", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        defaults = read_defaults(context)
        chains = _without(context, owner, self.use_all, "pole")
        if self.use_all:
            chains = [chain for chain in chains if len(resolve_bones(owner, chain)) > 1]
            if not chains:
                raise TargetError("each chain without a pole has one bone alone, which can't bend", rig=owner.name)
        depsgraph = context.evaluated_depsgraph_get()
        points = [goal_point(owner, chain, depsgraph) for chain in chains]
        poses = read_poses([(owner, chain) for chain in chains], points, depsgraph)
        pairs = zip(chains, poses, strict=True)
        self.make(
            context, owner, [plan_pole_of(context, chain, pose, defaults, self.distance) for chain, pose in pairs]
        )


class FABRIK_OT_key(ChainOperator):
    """Key at this frame what poses limbs: their targets and poles, or their bones where they have none"""

    bl_label = "Key Pose"

    chains = choice(
        (("ALL", "All", "All chains of the armature, and the body bone"), CHAINS[1]), "Chains", "Which chains"
    )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        is_all = self.chains == "ALL"
        chains = list(rig_of(owner).chains) if is_all else [working_chain(context)]
        keyed = key_pose(owner, chains, context.scene.frame_current_final, with_body=is_all)
        if not keyed:
            raise TargetError(
                "its goals can't be keyed: constraints, drivers, locks or a linked action hold them", rig=owner.name
            )
        frame = f"{context.scene.frame_current_final:g}"
        moves = told_moves([(owner, chain) for chain in chains if is_all and rig_of(owner).live])
        self.tell(Text("Frame {frame} keyed: {names}", frame=frame, names=", ".join(keyed)), warnings=moves)


class FABRIK_OT_goal_select(ChainOperator):
    """Select the target or pole of the chain, ready to be moved: an object in Object mode, a bone in Pose mode"""

    bl_label = "Select Target or Pole"
    poses = False

    role = choice(
        (("target", "Target", "Select the target"), ("pole", "Pole", "Select the pole")), "Role", "Which of the two"
    )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        select_goal(context, working_chain(context), self.role)


class FABRIK_OT_back_to_pose(ChainOperator):
    """From a target or pole back to Pose mode of its armature, with the tip of the chain active"""

    bl_label = "Back to Pose Mode"
    poses = False
    needs = {
        **ChainOperator.needs,
        Text("the armature is in Pose mode already"): lambda context: (
            context.mode != "POSE" or working_rig(context) != context.object
        ),
    }

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        chain = back_to_pose(context, owner, context.object)
        self.tell(Text("Posing {chain} of {armature}", chain=chain.name, armature=owner.name))


def _without(context: bpy.types.Context, owner: bpy.types.Object, use_all: bool, role: str) -> list[FabrikChain]:
    """The active chain, or all, that lack a target or pole; refused where there are none."""
    if use_all:
        chains = [chain for chain in rig_of(owner).chains if getattr(chain, role) is None]
        if not chains:
            raise TargetError(ALL_HAVE[role], rig=owner.name)
        return chains
    chain = working_chain(context)
    goal: bpy.types.Object | None = getattr(chain, role)
    if goal is not None:
        reason = Text("it has the {role} '{name}' already", role=ROLES[role], name=goal.name)
        raise TargetError(reason, rig=owner.name, chain=chain.name)
    return [chain]


class StartPoseOperator(ChainOperator):
    """An operator that gives the active chain, or all, a start pose; what was done is `told`."""

    use_all: bool
    told = Text("")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        every = list(rig_of(owner).chains) if self.use_all else [working_chain(context)]
        chains = [chain for chain in every if not is_offset(chain)]
        if every and not chains:
            told = Text("its start pose is its motion, which its target edits: set its Goal to Place before")
            raise ChainError(told, rig=owner.name, chain=every[0].name)
        found = [(chain, resolve_bones(owner, chain)) for chain in chains]
        for chain, bones in found:
            self.start(chain, bones)
        names = listed([chain.name for chain in chains], "{count} chains")
        self.tell(Text(self.told, chains=names), warnings=told_moves([(owner, chain) for chain in chains]))

    def start(self, chain: FabrikChain, bones: list[bpy.types.PoseBone]) -> None:
        """Give a chain of these bones its start pose: how they stand."""
        capture(chain, bones)


class FABRIK_OT_start_pose_capture(StartPoseOperator):
    """Keep the pose as it stands as the start pose of the chain"""

    bl_label = "Capture Start Pose"

    told = Text("Captured the start pose of {chains}")

    use_all = switch("All Chains", "For every chain of the armature", options=FORGOTTEN)


class FABRIK_OT_start_pose_reset(StartPoseOperator):
    """Make the armature's rest pose the start pose of the chain again"""

    bl_label = "Reset Start Pose"
    poses = False
    told = Text("Rest pose is the start pose of {chains}")

    use_pose = switch("Pose", "Turn the bones back to their rest pose, too", options=FORGOTTEN)
    use_all = switch("All Chains", "For every chain of the armature", options=FORGOTTEN)

    def start(self, chain: FabrikChain, bones: list[bpy.types.PoseBone]) -> None:
        reset(chain, bones)
        for bone in bones if self.use_pose else ():
            setattr(bone, channel_of(bone.rotation_mode)[0], neutral_values(bone.rotation_mode))


class FABRIK_OT_goal_snap(SnapOptions, StepsOperator, ChainOperator):
    """Bring target and pole to the pose as it stands, so that solving does not move the limb; keyed over a range"""

    bl_label = "Snap Goals to Pose"

    progress = Text("Goals to Pose {share:.0%}")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        items = items_of(context, owner, self.chains)
        steps = snap_steps(context, [(item, self._frames(context, item)) for item in items])
        return self.take_steps(context, [rig for rig, _ in items], steps)

    def _frames(self, context: bpy.types.Context, item: Item) -> tuple[float, ...]:
        if self.span == "FRAME":
            return ()
        frames, (owner, chain) = self.frames(context), item
        if not self.only_keys:
            return frames
        found = keys_of_bones(owner, chain, frames[0], frames[-1])
        if not found:
            reason = Text("none of its bones has a key from frame {first} to {last}", first=frames[0], last=frames[-1])
            raise ChainError(reason, rig=owner.name, chain=chain.name)
        return tuple(found)


class FABRIK_OT_pose_snap(SnapOptions, StepsOperator, SolveOperator):
    """Bring the bones to where target and pole want them, keyed over a range; the chains stay enabled"""

    bl_label = "Snap Pose to Goals"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        items = items_of(context, owner, self.chains)
        if self.span == "FRAME":
            return self.solve(context, items)
        frames = self.frames(context)
        settings = BakeSettings(frames, verify="SAMPLE", only_keys=self.only_keys, stays_enabled=True)
        return self.take_steps(context, [rig for rig, _ in items], bake_steps(context, items, settings))

    def conclude_steps(self, result: BakeResult) -> None:
        told = []
        for found in result.chains:
            count, missed = len(found.frames), len(found.unreached)
            keys = joined(": ", (found.chain, counted(found.keys, "1 key", "{count} keys")))
            words = [joined(" ", (keys, counted(count, "at 1 frame", "at {count} frames")))]
            words += [Text("{count} of them not reached", count=missed)] if missed else []
            told.append((joined(", ", words), not missed))
        self.tell_each(told)


class FABRIK_OT_goal_kind(ChainOperator):
    """Choose what the target of the chain tells: where the tip is to be, or how far from its motion; nothing moves"""

    bl_label = "Set Goal"
    needs = NEEDS_TARGET

    goal = choice(GOAL_ITEMS, "Goal", "What the target tells")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        chain = working_chain(context)
        word = next(label for name, label, _ in GOAL_ITEMS if name == self.goal)
        told = set_goal(context, (owner, chain), self.goal)
        text = Text("the target of {chain} tells: {goal}", chain=chain.name, goal=iface_(word))
        self.tell(text, *told.done, warnings=told.warnings)


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
        with place_of(rig=owner.name, chain=chain):
            is_keyed = keyed or keys_by_itself(context)
            frames, warnings = switch_spaces(context, wanted, keyed=is_keyed, holds=holds, own=own)
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
        if self.space == "SWING" and not self.bone:
            self._swing(context, owner, chain)
            return
        goals = self._goals(owner, chain)
        if self.space == "FIRST" and not self.bone:
            wanted = [(goal, first_space(goal)) for goal in goals]
        else:
            to = self._carrier(context, owner, chain, are_bones=all(goal.bone for goal in goals))
            wanted = [(goal, to) for goal in goals]
        self.hang(context, owner, wanted, keyed=self.use_key, own=bones_of(owner, chain))

    def _goals(self, owner: bpy.types.Object, chain: FabrikChain) -> list[GoalRef]:
        """The goals that are meant; the pole of an offset stays with the limb, for it tells how that is turned."""
        roles = ("target", "pole") if self.roles == "BOTH" else (self.roles.lower(),)
        found = [goal for goal in goals_of(chain) if goal.role in roles]
        if not found:
            raise TargetError("it has none: add a target first", rig=owner.name, chain=chain.name)
        found = [goal for goal in found if goal.role == "target" or not is_offset(chain)]
        if not found:
            told = Text("its pole swings with the limb as long as its target tells an offset")
            raise TargetError(told, rig=owner.name, chain=chain.name)
        return found

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
        is_named = bool(self.object) and not self.properties.is_property_set("space")
        if (self.space == "OBJECT" or is_named) and not self.bone:
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

    needs = NEEDS_TARGET

    way = choice(WAYS, "Way", "Which of the two goes along with the other")
    object = text("Object", "Name of the object; empty for the one that is selected", options=FORGOTTEN)

    def hand(self, owner: bpy.types.Object, chain: FabrikChain) -> GoalRef:
        """The target of a chain, which holds on to something."""
        if is_walked(chain):
            raise ChainError(
                "it goes as its walk says, and can't hold on to anything", rig=owner.name, chain=chain.name
            )
        return goals_of(chain)[0]

    def held(self, context: bpy.types.Context, owner: bpy.types.Object) -> tuple[GoalRef, Anchored, list[Anchored]]:
        """What is hung, on what, and what may not carry it."""
        chain = working_chain(context)
        if self.way == "HAND":
            if is_offset(chain):
                told = Text("its target tells how far it is from its motion, and can't hold on to anything")
                raise TargetError(told, rig=owner.name, chain=chain.name)
            return self.hand(owner, chain), other_object(context, owner, self.object), bones_of(owner, chain)
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
        now = context.scene.frame_current_final
        later = [hangs_later(goal, [(what.found, what.bone)], now) for goal in goals if self.way == "OBJECT"]
        later += [hangs_later(GoalRef("target", *to), own, now)] if self.way == "HAND" else []
        frames = [frame for frame in later if frame is not None]
        if frames:  # from then on each would carry the other
            text = Text("they hold on to each other the other way from frame {frame:g} on: release that first")
            raise TargetError(Text(text, frame=min(frames)), rig=owner.name, chain=working_chain(context).name)
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
        what = self.hand(owner, working_chain(context)) if is_hand else self.held(context, owner)[0]
        holder = what.holder
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

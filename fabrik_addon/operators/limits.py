# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of bones."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, radians

import bpy

from ..actions.bends import hinges_from_bend
from ..actions.chain_edit import copy_limit, working_chain
from ..actions.chains import limbs_of
from ..actions.mirror.chain import mirror_limit_to
from ..actions.mirror.pose import pair_of
from ..actions.setup.ranges import DOG_JOINTS, HUMAN_JOINTS, JointRange, apply_range
from ..errors import BoneError, ChainError, place_of
from ..messages import Message
from ..rig.animation.compat import is_selected
from ..rig.bones import pose_bones, resolve_bones
from ..rig.checks import edit_refusal
from ..rig.figure.joint_limits import set_from_ik
from ..rig.limit_types import LIMITS
from ..rig.schema import limit_of
from ..rig.schema.fields import angle, choice, switch
from ..texts import Text, counted, joined, worded
from .base import Returned, RigOperator, listed, rigs_in_pose_mode

WHICH = "Joint whose range the bones get"
FLIP = "Bend to the other side than the rest pose and the body suggest"


def _items(joints: Mapping[str, JointRange]) -> tuple[tuple[str, str, str], ...]:
    return tuple((kind, joint.label, joint.description) for kind, joint in joints.items())


class BoneOperator(RigOperator):
    """An operator on the active pose bone."""

    poses = False
    needs = {Text("no pose bone is active: pick one in Pose mode"): lambda context: context.active_pose_bone}


class FABRIK_OT_limit_from_ik(BoneOperator):
    """Take the joint limit from the bone's own locks and limits for Blender's IK; bones without any keep theirs"""

    bl_label = "Limit from IK Limits"

    use_selected = switch("Selected Bones", "For every selected bone", default=True)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        active = context.active_pose_bone
        bones = [bone for bone in pose_bones(owner) if bone == active or (self.use_selected and is_selected(bone))]
        done: list[str] = []
        refused: dict[str, list[BoneError]] = {}  # by the reason
        for bone in bones:
            try:
                with place_of(rig=owner.name):
                    set_from_ik(bone)
                done.append(bone.name)
            except BoneError as error:
                refused.setdefault(worded(error.reason), []).append(error)
        reasons = [
            errors[0].text if len(errors) == 1 else _of_bones(owner, [error.bone for error in errors], why)
            for why, errors in refused.items()
        ]
        if not done:
            return self.refuse(joined("; ", reasons))
        self.tell(Text("Set the limit of {bones}", bones=listed(done, "{count} bones")), warnings=reasons)
        return {"FINISHED"}


class FABRIK_OT_limit_axis(BoneOperator):
    """Turn the hinge of the active bone about an axis of the bone"""

    bl_label = "Hinge Axis"

    axis = choice(
        (
            ("X", "X", "The bone's X axis"),
            ("Y", "Y", "The bone's Y axis, along the bone"),
            ("Z", "Z", "The bone's Z axis"),
        ),
        "Axis",
        "Axis of the bone about which the hinge turns",
    )

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str | Message:
        refusal, bone = super().refusal(context), context.active_pose_bone
        if refusal or bone is None or "axis" in LIMITS[limit_of(bone).limit].fields:
            return refusal
        return Text("the limit of {bone} has no axis: make it a hinge first", bone=bone.name)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        limit_of(context.active_pose_bone).axis = [float(axis == self.axis) for axis in "XYZ"]


class FABRIK_OT_limit_copy(BoneOperator):
    """Give the joint limit of the active bone to the other selected bones"""

    bl_label = "Copy Limit to Selected"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        count = copy_limit(context.active_pose_bone, _selected(owner))
        if not count:
            raise BoneError("no other bone is selected", rig=owner.name, bone=context.active_pose_bone.name)
        self.tell(counted(count, "Copied the limit to 1 bone", "Copied the limit to {count} bones"))


class FABRIK_OT_limit_mirror(BoneOperator):
    """Give the joint limits of the selected bones to the bones of the other side, which are found by their names"""

    bl_label = "Copy Limit Mirrored"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        done: list[str] = []
        notes: list[str] = []
        for bone in _selected(owner) or [context.active_pose_bone]:
            try:
                pair = pair_of(owner, bone)
            except BoneError as error:
                notes.append(worded(error.text))
                continue
            done.append(pair.other.name)
            notes.append(mirror_limit_to(pair))
        if not done:
            raise BoneError("no selected bone has one on the other side", rig=owner.name)
        self.tell(Text("Set the limit of {bones}", bones=listed(done, "{count} bones")), warnings=filter(None, notes))


class FABRIK_OT_limit_from_bend(RigOperator):
    """Make joints hinges that bend to the side to which they are bent at rest; a straight knee or elbow by anatomy"""

    bl_label = "Hinge from Bend"
    poses = False
    needs = {
        Text("no pose bone is active, and no chain: pick a bone in Pose mode"): lambda context: (
            context.active_pose_bone or working_chain(context)
        )
    }

    bones = choice(
        (
            ("SELECTED", "Selected", "The selected bones, each bending at its head"),
            ("CHAIN", "Active Chain", "All bones of the active chain but the first"),
        ),
        "Bones",
        "Which bones become hinges",
    )
    bend_max = angle("Bend up To", "Greatest bend, from the straight limb", default=radians(140), min=0.0, max=pi)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        hinges, locked, refused = list[str](), list[str](), list[Text]()
        for rig, names in self._bones(context, owner):
            made, held, reasons = hinges_from_bend(
                rig, limbs_of(rig, names), names, self.bend_max, are_inner=self.bones == "CHAIN"
            )
            hinges, locked = hinges + made, locked + held
            refused += [_of_bones(rig, [f"'{name}'" for name in bones], why) for why, bones in reasons.items()]
        if not hinges and not locked:
            return self.refuse(joined("\n", refused))
        halves = listed(locked, "{count} bones")
        words = [Text("Hinges: {bones}", bones=listed(hinges, "{count} bones") or Text("none"))]
        words += [Text("locked as second halves of a bone: {bones}", bones=halves)] if locked else []
        self.tell(*words, warnings=refused)
        return {"FINISHED"}

    def _bones(self, context: bpy.types.Context, owner: bpy.types.Object) -> list[tuple[bpy.types.Object, list[str]]]:
        """The names of the bones that are meant, by armature."""
        if self.bones == "SELECTED":
            return selected_names(context, owner)
        chain = working_chain(context)
        if chain is None:
            raise ChainError("there is no active chain: add one first", rig=owner.name)
        names = [bone.name for bone in resolve_bones(owner, chain)[1:]]
        if not names:
            raise ChainError("it has one bone, and so no joint that bends", rig=owner.name, chain=chain.name)
        return [(owner, names)]


class JointOperator(BoneOperator):
    """An operator that gives the selected bones a range out of a table."""

    joints: Mapping[str, JointRange]

    joint: str
    use_flip: bool

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        joint, done, notes = self.joints[self.joint], list[str](), list[Text]()
        for rig, names in selected_names(context, owner):
            found = apply_range(rig, limbs_of(rig, names), names, joint, self.use_flip)
            notes += [_of_bones(rig, bones, why) for why, bones in found.items()]
            done += names
        self.tell(joined(": ", (Text(joint.label), listed(done, "{count} bones"))), warnings=notes)


class FABRIK_OT_limit_human(JointOperator):
    """Give the selected bones the range of a human joint, turned to the side to which the character's joint bends"""

    bl_label = "Human Joint"
    joints = HUMAN_JOINTS

    joint = choice(_items(HUMAN_JOINTS), "Joint", WHICH)
    use_flip = switch("Flip", FLIP)


class FABRIK_OT_limit_animal(JointOperator):
    """Give the selected bones the range of a joint of a dog's leg, turned to the side to which the joint bends"""

    bl_label = "Animal Joint"
    joints = DOG_JOINTS

    joint = choice(_items(DOG_JOINTS), "Joint", WHICH)
    use_flip = switch("Flip", FLIP)


def _of_bones(owner: bpy.types.Object, names: list[str], why: str) -> Text:
    """What is to be said of some bones of an armature."""
    return Text("{armature}, {bones}: {why}", armature=owner.name, bones=listed(names, "{count} bones"), why=why)


def selected_names(context: bpy.types.Context, owner: bpy.types.Object) -> list[tuple[bpy.types.Object, list[str]]]:
    """The selected bones of each armature in Pose mode that may be edited, or the active bone where there is none.

    Raises:
        BoneError: No bone is selected, and none is active.
    """
    rigs = [rig for rig in rigs_in_pose_mode(context, owner) if rig == owner or not edit_refusal(rig)]
    found = [(rig, [bone.name for bone in _selected(rig)]) for rig in rigs]
    found = [(rig, names) for rig, names in found if names]
    if found:
        return found
    if context.active_pose_bone is None:
        raise BoneError("no bone is selected", rig=owner.name)
    return [(owner, [context.active_pose_bone.name])]


def _selected(owner: bpy.types.Object) -> list[bpy.types.PoseBone]:
    return [bone for bone in pose_bones(owner) if is_selected(bone)]

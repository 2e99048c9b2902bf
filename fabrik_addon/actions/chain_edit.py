# SPDX-License-Identifier: GPL-3.0-or-later
"""What is edited of a chain: its end, its rotation, its limits; which chain is chosen, and which bones it selects."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import bpy
from mathutils import Vector

from ..errors import ChainError, FabrikError, RigError, TargetError
from ..maths import q4
from ..messages import ROLES
from ..recognise.limbs import Limbs
from ..rig.animation.channels import read_rotation
from ..rig.animation.compat import is_hidden, is_selected, set_selected
from ..rig.bones import armature_of, names_if_any, pose_bones, resolve_bones
from ..rig.checks import check_rig, edit_refusal
from ..rig.figure.pose_writer import plain
from ..rig.figure.start_pose import fingerprint, is_stale, store_rotations
from ..rig.goals import edits_motion, goal_of, offset_from_target, read_held, store
from ..rig.schema import LIMIT_SETTINGS, FabrikChain, limit_of, owner_of, rig_of
from ..rig.targets import check_present
from ..rig.versions import bring_up_to_date
from ..texts import Text
from .chains import limbs_of
from .figure_pose import FigurePose
from .keep_pose import ReleaseReport, keep_and_tell, let_go, unposed
from .moved_goals import ReleasedChain
from .solve import Item

# Which armature, and which chain of it, the user is working on.


def working_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature, or the one of which the active object is a target or pole; else the active object."""
    return _rig_for(context.object, context.view_layer)


def _rig_for(active: bpy.types.Object | None, view_layer: bpy.types.ViewLayer | None) -> bpy.types.Object | None:
    if active is None or active.type == "ARMATURE" or view_layer is None:
        return active
    for owner in view_layer.objects:
        if owner.type == "ARMATURE" and any(active in (chain.target, chain.pole) for chain in rig_of(owner).chains):
            return owner
    return active


def working_chain(context: bpy.types.Context) -> FabrikChain | None:
    """The active chain of the armature the user is working on."""
    owner = working_rig(context)
    return rig_of(owner).active if owner is not None and owner.type == "ARMATURE" else None


def chain_at_hand(context: bpy.types.Context) -> FabrikChain | None:
    """The active chain where it is meant: in Pose mode a bone or a control of it is active and selected."""
    owner, chain = working_rig(context), working_chain(context)
    if owner is None or chain is None or owner.mode != "POSE" or owner != context.object:
        return chain
    bone, own = context.active_pose_bone, names_if_any(owner, chain)
    if not own:  # its bones are gone, so that it can be looked at by its row of the list alone
        return chain
    is_meant = bone is not None and is_selected(bone) and bone.name in [*own, *controls_of(chain)]
    return chain if is_meant else None


def controls_of(chain: FabrikChain) -> list[str]:
    """The names of the bones of a chain's own armature that are its target and its pole."""
    found = ((chain.target, chain.target_bone), (chain.pole, chain.pole_bone))
    return [bone for goal, bone in found if bone and goal == owner_of(chain)]


# A chain is edited, and the pose stays: which end of its tip is the effector, which rotation that has, its limits.
#
# A shin whose rotation is held would hold the knee, too. So where the rotation of a limb that ends at the ankle is to
# be held, the limb goes on to the foot, whose head is then brought to the target. Hands, feet, heads, and bones from
# which no others go on have a rotation of their own to keep.

ENDS = {"HAND", "FOOT", "HEAD"}


def set_effector(context: bpy.types.Context, item: Item, effector: str) -> ReleaseReport:
    """Let the head or the tail of the tip bone come to the goal; a goal that was reached comes along to the other end.

    Raises:
        FabrikError: The pose can't be read, or the chain aims; nothing was changed.
    """
    owner, chain = item
    if chain.aims:
        raise ChainError("it aims from the head of its tip bone", rig=owner.name, chain=chain.name)
    with unposed() as depsgraph:
        posed = check_rig(owner, depsgraph).evaluated_get(depsgraph)
        held = read_held(posed, resolve_bones(owner, chain)[-1].name, effector == "HEAD")
        is_there = False
        with suppress(FabrikError):  # it has no goal, or can't be solved
            is_there = FigurePose.of(item, depsgraph).is_at_target(chain.name)
    if chain.effector == effector:
        return ReleaseReport([], [])
    bring_up_to_date(owner)
    chain.effector = effector
    if chain.target is None and not chain.pin:
        return ReleaseReport([], [])
    if not is_there:
        return ReleaseReport([], [Text("its goal is elsewhere, and stays there")])
    return let_go(context, owner, [ReleasedChain(chain, Vector(held.location))])


def set_orientation(item: Item, orientation: str) -> list[str]:
    """`orient`, and let the next solve leave the pose.

    Raises:
        FabrikError: It makes no sense for the chain, or the pose can't be read; nothing was changed.
    """
    notes, chain = orient(item, orientation), item[1]
    if chain.target is None and not chain.pin:
        return notes
    kept = keep_and_tell([item])[0]
    return [*notes, *([Text("start pose captured")] if kept.start else []), *([kept.moves] if kept.moves else [])]


def orient(item: Item, orientation: str) -> list[str]:
    """Choose which rotation a tip has, FREE, KEEP or TARGET, and store what that needs from the pose at hand.

    A chain whose goal holds the tail of a bone from which the limb goes on, a shin, goes on to that bone, the foot,
    whose head the goal then holds: else the shin would be frozen.

    Returns:
        What there is to tell, as sentences.

    Raises:
        FabrikError: It makes no sense for the chain, or the pose can't be read; nothing was changed.
    """
    owner, chain = item
    if orientation != "FREE" and chain.aims:
        raise ChainError("it aims at its target, which turns its tip already", rig=owner.name, chain=chain.name)
    if orientation == "KEEP" and edits_motion(chain):
        raise ChainError(
            "its target tells an offset: its tip turns as its motion has it", rig=owner.name, chain=chain.name
        )
    if orientation == "TARGET" and chain.target is None:
        raise TargetError("its rotation can't follow a target: none is set", rig=owner.name, chain=chain.name)
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
        tip = resolve_bones(owner, chain)[-1].name
        beyond = end_beyond(owner, tip) if orientation != "FREE" and not chain.at_head else ""
        held = read_held(owner.evaluated_get(depsgraph), beyond or tip, bool(beyond) or chain.at_head)
        offset = None
        if orientation == "TARGET" and chain.target is not None:
            check_present("target", chain.target, depsgraph)
            offset = offset_from_target(chain, held.rotation, chain.target.evaluated_get(depsgraph))
    bring_up_to_date(owner)
    if beyond:
        go_on_to(owner, chain, beyond)
    if orientation == "KEEP":
        store(chain, "held_rotation", held.rotation)
    elif offset is not None:
        store(chain, "rotation_offset", offset)
    if chain.orientation != orientation:
        chain.orientation = orientation
    return _told(owner, chain, tip, beyond)


def _told(owner: bpy.types.Object, chain: FabrikChain, tip: str, beyond: str) -> list[str]:
    if beyond:
        fields = {"beyond": beyond, "tip": tip}
        return [Text("the chain goes on to '{beyond}', which keeps its rotation while '{tip}' stays free", **fields)]
    if chain.orientation != "FREE" and not chain.at_head and not keeps_rotation(owner, tip):
        return [Text("no bone goes on where '{tip}' ends, so it is '{tip}' itself whose rotation is held", tip=tip)]
    return []


def keeps_rotation(owner: bpy.types.Object, bone: str) -> bool:
    """Whether a bone ends a limb: a hand, a foot or a head by its name, or one from which no limb goes on."""
    limbs, number = _limbs(owner, bone)
    return limbs.parts[number] in ENDS or number not in limbs.above


def end_beyond(owner: bpy.types.Object, tip: str) -> str:
    """The one bone that goes on where a limb's last bone ends, to keep a rotation in place of that; "" for none.

    There is none either where that is an end itself: a hand, a foot or a head.
    """
    limbs, number = _limbs(owner, tip)
    if limbs.parts[number] in ENDS:
        return ""
    found = [child for child in limbs.skeleton.children[number] if limbs.above[child] == number]
    return "" if len(found) != 1 or not limbs.skeleton.is_joined(found[0]) else limbs.skeleton.names[found[0]]


def _limbs(owner: bpy.types.Object, bone: str) -> tuple[Limbs, int]:
    limbs = limbs_of(owner, [bone])
    return limbs, list(limbs.skeleton.names).index(bone)


def go_on_to(owner: bpy.types.Object, chain: FabrikChain, bone: str) -> None:
    """Make a child of a chain's last bone the last one, its head the effector; start pose and goal stay.

    Its rotation as it stands becomes its start, where the chain has captured ones.
    """
    is_old = is_stale(chain, resolve_bones(owner, chain))
    if chain.bone_count:
        chain.bone_count += 1
    chain.tip_bone, chain.effector = bone, "HEAD"
    if len(chain.captured):
        kept = {item.name: q4(item.rotation) for item in chain.captured}
        store_rotations(chain, {**kept, bone: q4(read_rotation(pose_bones(owner)[bone]))})
    if not is_old:
        chain.fingerprint = fingerprint(resolve_bones(owner, chain))


def copy_limit(source: bpy.types.PoseBone, targets: Iterable[bpy.types.PoseBone]) -> int:
    """Give the limit of one bone to others; returns how many were changed."""
    values = {name: plain(getattr(limit_of(source), name)) for name in LIMIT_SETTINGS}
    others = [bone for bone in targets if bone != source]
    for bone in others:
        for name, value in values.items():
            setattr(limit_of(bone), name, value)
    return len(others)


# Selection and mode changed from the bones of a chain to its goal, and back.


def select_goal(context: bpy.types.Context, chain: FabrikChain, role: str) -> None:
    """Select a target or pole, ready to be moved: an object in Object mode, a bone in Pose mode.

    Raises:
        TargetError: There is none in the view layer, or no such bone.
        RigError: Its object can't be selected.
    """
    goal = goal_of(chain, role)
    assert context.view_layer is not None
    if goal is None or goal.found.name not in context.view_layer.objects:
        raise TargetError(Text("in this view layer there is no {role}", role=ROLES[role]), chain=chain.name)
    if not goal.bone or goal.found.type != "ARMATURE":
        _activate(context, goal.found)
        return
    if goal.bone not in pose_bones(goal.found):
        word, name = ROLES[role], goal.found.name
        reason = Text("the {role} armature '{name}' has no bone '{bone}'", role=word, name=name, bone=goal.bone)
        raise TargetError(reason, chain=chain.name)
    select_in_pose_mode(context, goal.found, goal.bone)


def back_to_pose(context: bpy.types.Context, owner: bpy.types.Object, goal: bpy.types.Object | None) -> FabrikChain:
    """Pose mode of a goal's armature, with the tip of the chain active that has the goal.

    Args:
        context: Whose selection changes.
        owner: The armature object.
        goal: A target or pole of its chains: the active chain's, or that of the first that has it.

    Returns:
        The chain, which is the active one now.

    Raises:
        FabrikError: The chain's bones are not there, or the armature can't be selected.
    """
    rig = rig_of(owner)
    order = sorted(range(len(rig.chains)), key=lambda i: i != rig.active_index)
    index = next(
        (i for i in order if goal is not None and goal in (rig.chains[i].target, rig.chains[i].pole)), order[0]
    )
    chain = rig.chains[index]
    tip = resolve_bones(owner, chain)[-1].name
    select_in_pose_mode(context, owner, tip)
    rig.active_index = index
    return chain


def select_in_pose_mode(context: bpy.types.Context, owner: bpy.types.Object, bone: str) -> None:
    """Make one bone of an armature the only one that is selected, in Pose mode.

    Raises:
        RigError: The armature can't be selected in this view layer.
    """
    if context.object != owner or owner.mode != "POSE":
        _activate(context, owner)
        bpy.ops.object.mode_set(mode="POSE")
    select_bone(owner, bone)


def select_bone(owner: bpy.types.Object, name: str) -> None:
    """Make a bone the active one, and the only selected one of its armature."""
    for bone in pose_bones(owner):
        set_selected(bone, bone.name == name)
    data = armature_of(owner)
    data.bones.active = data.bones[name]


def _activate(context: bpy.types.Context, wanted: bpy.types.Object) -> None:
    """Object mode with one object alone selected, and active."""
    assert context.view_layer is not None
    if context.object is not None and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    if wanted.hide_select or not wanted.visible_get():
        wanted.hide_set(False)
        if wanted.hide_select or not wanted.visible_get():
            raise RigError("it is hidden, or can't be selected, in this view layer", rig=wanted.name)
    for other in context.selected_objects or ():
        other.select_set(False)
    wanted.select_set(True)
    context.view_layer.objects.active = wanted


# Which chain the panel shows: it follows the active bone, or the empty that is a goal; and a chain that is chosen makes
# its control the active bone, or its tip.


class ActiveBone:
    """The active bone as it was seen last, with its object by name; None where nothing was seen in this file yet."""

    place: tuple[str, str] | None = None


ANOTHER = ("", "")  # equals no armature and bone, so that the next look counts as a change


def follow(view_layer: bpy.types.ViewLayer | None) -> None:
    """Show the chain whose bone, target or pole is active, where another one has become so.

    The chain that is shown stays where it is one of its own, or of no chain. Nothing is tagged, so this is no change
    that Blender has to evaluate, and none of its own to undo.
    """
    active = view_layer.objects.active if view_layer is not None else None
    if active is None or (active.type == "ARMATURE" and active.mode != "POSE"):
        return
    place = _place(active)
    if place == ActiveBone.place:
        return
    is_first, ActiveBone.place = ActiveBone.place is None and active.type == "ARMATURE", place
    owner = _rig_for(active, view_layer)
    if is_first or owner is None or owner.type != "ARMATURE" or edit_refusal(owner):
        return
    rig = rig_of(owner)
    index = _index_for(owner, active, place[1])
    if index is not None and index != rig.active_index:
        rig.active_index = index


def choose(owner: bpy.types.Object, index: int) -> None:
    """Show a chain; in Pose mode its control, or its tip, becomes the active and only selected bone of the armature.

    Nothing is selected anew where the active bone is of the chain already, or where both are hidden.
    """
    rig = rig_of(owner)
    if edit_refusal(owner) or not 0 <= index < len(rig.chains):
        return
    rig.active_index = index
    if owner.mode != "POSE":
        return
    chain = rig.chains[index]
    names, controls = names_if_any(owner, chain), controls_of(chain)
    active = pose_bones(owner).get(_place(owner)[1])
    if active is None or not is_selected(active) or active.name not in [*names, *controls]:
        target = controls[:1] if chain.target == owner else []
        found = [pose_bones(owner)[name] for name in (*target, *names[-1:]) if name in pose_bones(owner)]
        wanted = next((bone.name for bone in found if not is_hidden(bone)), "")
        if wanted:
            select_bone(owner, wanted)
    ActiveBone.place = _place(owner)


def _place(owner: bpy.types.Object) -> tuple[str, str]:
    """The active object and its active bone, "" for none."""
    data = owner.data
    bone = data.bones.active if isinstance(data, bpy.types.Armature) else None
    return owner.name_full, bone.name if bone is not None else ""


def _index_for(owner: bpy.types.Object, active: bpy.types.Object, bone: str) -> int | None:
    """Index of the chain to show for a bone, or for an object that is a goal: the present one, else one that ends or is
    led by it, else the first that has it."""
    rig = rig_of(owner)
    if active != owner:
        found = [i for i, chain in enumerate(rig.chains) if active in (chain.target, chain.pole)]
    else:
        found = [i for i, chain in enumerate(rig.chains) if bone in [*names_if_any(owner, chain), *controls_of(chain)]]
    if rig.active_index in found:
        return rig.active_index
    tips = [i for i in found if bone in [rig.chains[i].tip_bone, *controls_of(rig.chains[i])]]
    return next(iter(tips or found), None)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains made on selected bones or limbs, with the settings that new ones have; and their goals, made and keyed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import bpy
from mathutils import Matrix, Vector

from ..errors import ChainError, FabrikError, RigError, TargetError, are_finite
from ..kernel import DEFAULT_MAX_PASSES, DEFAULT_TOLERANCE, Solver
from ..maths import Q4, V3, length, minus, plus, rotated, scaled, turn_about, turn_angle
from ..recognise.limbs import Limbs
from ..recognise.part import Part
from ..recognise.skeleton import Limb, Skeleton
from ..rig.animation.channels import channel_of, read_rotation
from ..rig.animation.keys import KeyedChannels, check_can_follow, follow_order, insert_goal_key, insert_held_key
from ..rig.bones import bending_count, bones_to, owner_of_bone, pose_bones, resolve_bones
from ..rig.checks import check_rig
from ..rig.control_bones import (
    ControlBone,
    control_names,
    make_control_bones,
    mark_empty,
    new_bones_refusal,
    rest_head,
    root_control,
    swing_bone,
    swing_bone_like,
    swung_back,
)
from ..rig.dependencies import enabled_collections
from ..rig.figure.chain_goal import ChainGoal
from ..rig.figure.joint_limits import joints_of, path_of, read_limit, read_stiffness
from ..rig.figure.kinematics import BoneTree
from ..rig.figure.start_pose import capture, is_animated, reset
from ..rig.goals import goals_of
from ..rig.schema import FabrikChain, rig_of, unique_name
from ..rig.schema.fields import announce
from ..rig.skeleton import read_skeleton, selected_numbers, sided_name
from ..rig.versions import bring_up_to_date
from ..rig.walk_goals import is_walked
from ..texts import PACKAGE, Text
from .bends import pole_in_bend
from .figure_pose import SAME, FigurePose
from .live.state import state as live_state
from .solve import edited_bones

# What new chains, targets and poles are made with: the user's preferences.

GOAL_KINDS = (
    ("EMPTY", "Empty", "An empty in the scene, beside the armature"),
    ("BONE", "Bone", "A control bone in the armature, in the bone collection FABRIK"),
)


@dataclass(frozen=True, slots=True)
class Defaults:
    """Settings of things to be made; see the preferences for their meaning."""

    tolerance: float = DEFAULT_TOLERANCE
    max_passes: int = DEFAULT_MAX_PASSES
    soft: float = 0.0
    start: str = "REST"
    goal_kind: str = "EMPTY"
    target_shape: str = "CUBE"
    pole_shape: str = "SPHERE"
    target_size: float = 0.08


def read_defaults(context: bpy.types.Context) -> Defaults:
    """The user's preferences; the built-in ones where the add-on is not enabled as an extension."""
    assert context.preferences is not None
    addon = context.preferences.addons.get(PACKAGE)
    stored: Any = addon.preferences if addon else None
    if stored is None:
        return Defaults()
    return Defaults(**{name: getattr(stored, name) for name in Defaults.__dataclass_fields__})


# The limbs of an armature that are to become chains: those of the selected bones, or that which a bone ends.

NamedLimb = tuple[str, int]  # name of the tip, number of bones


def limbs_of(owner: bpy.types.Object, bones: Collection[str] = ()) -> Limbs:
    """The limbs of an armature's skeleton.

    Bones that are asked about are part of it even where they were made as targets or poles.
    """
    return Limbs(read_skeleton(owner, without=control_names(owner).difference(bones)))


def limb_length(owner: bpy.types.Object, tip: str) -> int:
    """Number of bones of the limb that ends with a bone of an armature.

    Raises:
        ChainError: The armature has no such bone.
    """
    bones_to(owner, tip, 1)
    limbs = limbs_of(owner, [tip])
    return len(limbs.limb_of(list(limbs.skeleton.names).index(tip)))


def selected_limbs(owner: bpy.types.Object) -> tuple[list[NamedLimb], list[NamedLimb]]:
    """The limbs that the bones selected in Pose mode mean, and the small ones among them; see `Limbs.selected`.

    Bones that were made as targets and poles are none of them, unless nothing else is selected.
    """
    skeleton = read_skeleton(owner, without=control_names(owner))
    selected = selected_numbers(owner, skeleton)
    if not selected:
        skeleton = read_skeleton(owner)
        selected = selected_numbers(owner, skeleton)
    limbs, small = Limbs(skeleton).selected(selected)
    return _named(skeleton, limbs), _named(skeleton, small)


def taken_limb(owner: bpy.types.Object, limb: NamedLimb) -> str:
    """Name of a chain that has the bones of a limb, or ""."""
    chains = rig_of(owner).chains
    return next((chain.name for chain in chains if (chain.tip_bone, chain.bone_count) == limb), "")


def _named(skeleton: Skeleton, limbs: Sequence[Limb]) -> list[NamedLimb]:
    return [(skeleton.names[limb[-1]], len(limb)) for limb in limbs]


# Make chains, and the empties that serve as their targets and poles; and remove chains.
#
# Each maker is given what a planner found, and can't fail: all is planned before the first thing is made.

AIMED = 2.0  # lengths of the chain from its tip, at which a target to aim at is made
POLE_SIZE = 0.6  # of a target's
POLE_AWAY = 0.6  # lengths of the chain from it, at which a pole is made


def add_chain(
    owner: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], bone_count: int, defaults: Defaults, name: str = ""
) -> FabrikChain:
    """Add a chain, and make it the active one; the pose at hand is to be its start pose.

    Args:
        owner: An armature object.
        bones: Its bones, root to tip.
        bone_count: Their number, or 0 to mean all up to the root.
        defaults: Settings of the new chain.
        name: Of it, with a number behind it where there is such a one; "" for that of its tip.
    """
    bring_up_to_date(owner)
    rig = rig_of(owner)
    tip = bones[-1].name
    name = unique_name(name or tip, [chain.name for chain in rig.chains])
    chain = rig.chains.add()
    chain.name, chain.tip_bone, chain.bone_count = name, tip, bone_count
    chain.tolerance, chain.max_passes, chain.soft = defaults.tolerance, defaults.max_passes, defaults.soft
    reset(chain, bones)
    start_new(owner, chain, bones, defaults.start)
    rig.active_index = len(rig.chains) - 1
    return chain


def add_part(owner: bpy.types.Object, part: Part[str], defaults: Defaults) -> FabrikChain:
    """Add the chain of a part of a body, named after that; see `add_chain`."""
    count = len(part.bones)
    chain = add_chain(owner, bones_to(owner, part.bones[-1], count), count, defaults, part.name)
    chain.effector = "HEAD" if part.holds_head else "TAIL"
    return chain


def start_new(owner: bpy.types.Object, chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], default: str) -> None:
    """Give a chain that was just made its start pose: its keys, the pose at hand, or for a limb at rest the default."""
    assert bpy.context.scene is not None
    keyed = KeyedChannels(owner, bpy.context.scene.frame_current_final)
    if any(keyed.has(bone) for bone in bones):
        capture(chain, bones, "ANIMATED")
    elif not is_animated(owner, bones, keyed) and any(_is_posed(bone) for bone in bones):
        capture(chain, bones)
    else:
        chain.start = default


def _is_posed(bone: bpy.types.PoseBone) -> bool:
    try:
        return turn_angle(read_rotation(bone)) > SAME
    except FabrikError:  # a number that makes no sense, of which a solve will tell
        return False


def start_texts(chains: Iterable[FabrikChain], default: str) -> list[Text]:
    """What the report says of start poses that are not the default, to follow the names of new chains."""
    starts = {chain.start for chain in chains} - {default, "REST"}
    texts = {"CAPTURED": Text("start pose captured"), "ANIMATED": Text("its keys are its start pose")}
    return [texts[start] for start in sorted(starts)]


def remove_chain(owner: bpy.types.Object, index: int) -> bool:
    """Remove a chain with its keys and drivers.

    Returns:
        False for one of a library override that belongs to the library file, which stays.

    Raises:
        RigError: Its keys can't follow the list, since another object plays them, too.
    """
    check_can_follow(owner)
    rig = rig_of(owner)
    names = [chain.name for chain in rig.chains]
    try:
        rig.chains.remove(index)
    except TypeError:  # Blender's word for a member of an override's collection that is not its own
        return False
    _announce(owner)
    follow_order(owner, names, [i for i in range(len(names)) if i != index])
    rig.active_index = max(0, min(rig.active_index, len(rig.chains) - 1))
    return True


def _announce(owner: bpy.types.Object) -> None:
    """Let live posing hear that chains are others: Blender does not tell of what is done to a collection."""
    announce(owner, bpy.context)
    owner.update_tag()


def move_chain(owner: bpy.types.Object, index: int, to: int) -> None:
    """Move a chain to another place of the list, with its keys and drivers.

    Raises:
        ChainError: Blender can't reorder what a library override has.
        RigError: Its keys can't follow the list, since another object plays them, too.
    """
    check_can_follow(owner)
    rig = rig_of(owner)
    names = [chain.name for chain in rig.chains]
    try:
        rig.chains.move(index, to)
    except TypeError as error:  # Blender's word for what it can't do in the collections of an override
        raise ChainError("Blender can't reorder the chains of a library override", rig=owner.name) from error
    _announce(owner)
    others = [i for i in range(len(names)) if i != index]
    follow_order(owner, names, [*others[:to], index, *others[to:]])
    rig.active_index = to


@dataclass(frozen=True, slots=True)
class Empty:
    """An empty to be made.

    Attributes:
        location: World position.
        size: Its display size.
        shape: Its display type.
        parent: Name of the bone of the armature that carries it, or ""; None for that which moves the whole rig.
        swings: Whether it is a pole that swings with its limb, where it becomes a control bone.
        is_offset: Whether it is a target that tells how far from its motion the tip is to be, as a control bone.
    """

    location: Sequence[float]
    size: float
    shape: str
    parent: str | None = None
    swings: bool = False
    is_offset: bool = False

    def moved(self, location: Sequence[float]) -> Empty:
        """The same elsewhere in the world."""
        return replace(self, location=tuple(location))

    def make(self, context: bpy.types.Context, owner: bpy.types.Object, name: str) -> bpy.types.Object:
        """Make it beside the armature, in a collection that may be changed."""
        empty = bpy.data.objects.new(name, None)
        mark_empty(empty, owner)
        home_of(context, owner).objects.link(empty)
        empty.location = Vector(self.location)
        if self.parent:
            empty.parent, empty.parent_type, empty.parent_bone = owner, "BONE", self.parent
            evaluated = owner.evaluated_get(context.evaluated_depsgraph_get())
            bone = pose_bones(evaluated)[self.parent]
            carrier = evaluated.matrix_world @ bone.matrix @ Matrix.Translation((0.0, bone.bone.length, 0.0))
            empty.matrix_parent_inverse = carrier.inverted()
        setattr(empty, "empty_display_type", self.shape)
        empty.empty_display_size = self.size
        return empty


def plan_target(
    context: bpy.types.Context,
    bones: Sequence[bpy.types.PoseBone],
    defaults: Defaults,
    chain: FabrikChain | None = None,
) -> Empty:
    """A target where the bones, root to tip, as they stand now have come to it: at the tip, or where that aims.

    The chain says which end of the last bone comes to it, or which axis aims; None for the tail.

    Raises:
        FabrikError: The armature can't be posed.
    """
    owner, depsgraph = owner_of_bone(bones[0]), context.evaluated_depsgraph_get()
    evaluated = check_rig(owner, depsgraph).evaluated_get(depsgraph)
    last = pose_bones(evaluated)[bones[-1].name]
    path = path_of(owner, [bone.name for bone in bones], depsgraph)
    joints = path.place([read_rotation(bone) for bone in bones])
    length = _world_length(evaluated, path, joints)
    world = evaluated.matrix_world
    place = world @ (last.head if chain is not None and chain.at_head else last.tail)
    if chain is not None and chain.aims:  # from as far as it is long
        along = (world @ last.matrix).to_3x3() @ Vector(chain.aim_axis)
        place = world @ last.head + along.normalized() * AIMED * length
    return _checked(owner, Empty(place, defaults.target_size * length, defaults.target_shape))


def plan_pole(
    context: bpy.types.Context,
    bones: Sequence[bpy.types.PoseBone],
    defaults: Defaults,
    chain: FabrikChain | None = None,
    starts: Sequence[Q4] = (),
    away: float = POLE_AWAY,
) -> Empty:
    """A pole in the plane of the bend of the bones as they stand now, so that a solve leaves the bend where it is.

    Args:
        context: Its view layer has the armature.
        bones: Of the chain, root to tip.
        defaults: Shape and size.
        chain: Says which end of the last bone comes to the target, and the pole angle; None for the tail, and none.
        starts: Rotations of the chain's start pose; empty for the pose at hand.
        away: Distance of the pole from the chain, as a share of the chain's length.

    Raises:
        TargetError: There is one bone alone, which does not bend.
        FabrikError: The armature can't be posed, or a bone's limit makes no sense.
    """
    owner, tip = owner_of_bone(bones[0]), bones[-1].name
    if chain is not None and chain.at_head:  # the last bone only turns
        count = bending_count(bones, at_head=True)
        bones, starts = bones[:count], starts[:count]
    if len(bones) < 2:
        raise TargetError("a single bone does not bend, so a pole has nothing to turn", bone=tip)
    depsgraph = context.evaluated_depsgraph_get()
    evaluated = check_rig(owner, depsgraph).evaluated_get(depsgraph)
    path = path_of(owner, [bone.name for bone in bones], depsgraph)
    rotations = [read_rotation(bone) for bone in bones]
    starts = starts or rotations
    limits = [read_limit(bone, start) for bone, start in zip(bones, starts, strict=True)]
    inside = [limit.clamped(start) for limit, start in zip(limits, starts, strict=True)]
    found, is_rigid = joints_of(path, inside, limits, [read_stiffness(bone) for bone in bones], is_even=False)
    solver = Solver((found if is_rigid else found.measured(path.joints(rotations))).figure())
    places = solver.figure.placed(rotations).joints
    bend = solver.bend(rotations)
    if bend is None:
        raise TargetError(
            "its tip stands on its root, so that it bends to no side", rig=owner.name, bone=bones[-1].name
        )
    side = bend.side
    if chain is not None:
        asked = ChainGoal(chain.name, (), (), pole_angle=chain.pole_angle, pole_fades=chain.pole_fades)
        side = rotated(turn_about(bend.along, -asked.pole_turn(places)), side)
    middle = scaled(plus(places[bend.joint], places[-1]), 0.5)
    point = plus(middle, scaled(side, away * solver.figure.size))
    size = POLE_SIZE * defaults.target_size * _world_length(evaluated, path, places)
    head = pose_bones(evaluated)[bones[0].name].head
    world = evaluated.matrix_world @ (head + Vector(rotated(path.base, point)))
    return _checked(owner, Empty(world, size, defaults.pole_shape))


def _checked(owner: bpy.types.Object, planned: Empty) -> Empty:
    if not are_finite([*planned.location, planned.size]):
        raise RigError("its joints have no finite position", rig=owner.name)
    return planned


def _world_length(owner: bpy.types.Object, path: BoneTree, joints: Sequence[V3]) -> float:
    """Length in the world of bones whose joints are given in the space of their path."""
    axes, base = owner.matrix_world.to_3x3(), path.base
    return sum(length(axes @ Vector(rotated(base, minus(b, a)))) for a, b in pairwise(joints))


def link_like(
    context: bpy.types.Context, owner: bpy.types.Object, source: bpy.types.Object, made: bpy.types.Object
) -> None:
    """Link a new object into the collections of another, as far as they may be changed; else beside the armature.

    The new object is in no collection yet.
    """
    homes = [home for home in source.users_collection if home.is_editable and home.override_library is None]
    for home in homes or [home_of(context, owner)]:
        home.objects.link(made)


def home_of(context: bpy.types.Context, owner: bpy.types.Object) -> bpy.types.Collection:
    """The first collection of the armature that the view layer shows and that may be changed, else the scene's."""
    assert context.scene is not None
    assert context.view_layer is not None
    homes = [c for c in owner.users_collection if c.is_editable and c.override_library is None]
    used = {*enabled_collections(context.view_layer.layer_collection)}
    return next((c for c in homes if c in used), context.scene.collection)


# Targets and poles that are planned become empties in the scene, or control bones inside the rig; and are keyed.

NewGoal: TypeAlias = tuple[FabrikChain, str, Empty]  # whose it is to be, "target" or "pole", where and how drawn


def plan_pole_of(
    context: bpy.types.Context, chain: FabrikChain, pose: FigurePose, defaults: Defaults, away: float = POLE_AWAY
) -> NewGoal:
    """A pole that leaves the pose of a chain, also of one that is solved with others; see `plan_pole`.

    `away` is how far it is from the chain, as a share of the chain's length.

    Raises:
        FabrikError: It can't be told where.
    """
    bones = resolve_bones(pose.owner, chain)
    planned = plan_pole(context, bones, defaults, chain, pose.start_to_keep(chain.name), away)
    return chain, "pole", planned.moved(pole_in_bend(pose, chain.name, planned.location))


def make_goals(context: bpy.types.Context, owner: bpy.types.Object, asked: Sequence[NewGoal], kind: str) -> list[str]:
    """Make targets and poles, as "EMPTY" or "BONE", and give them to chains; their names.

    Raises:
        RigError: The armature can't be given bones; nothing was made.
    """
    if kind == "BONE" and asked:
        return _make_bones(context, owner, asked)
    for chain, role, planned in asked:
        setattr(chain, role, planned.make(context, owner, sided_name(chain.name, role)))
        setattr(chain, f"{role}_bone", "")
    return [getattr(chain, role).name for chain, role, _ in asked]


def check_can_make(owners: Iterable[bpy.types.Object], kind: str) -> None:
    """Check that armatures can be given goals, as "EMPTY" or "BONE".

    Raises:
        RigError: One can't be given bones.
    """
    for owner in owners if kind == "BONE" else ():
        refusal = new_bones_refusal(owner)
        if refusal:
            raise RigError(refusal, rig=owner.name)


def _make_bones(context: bpy.types.Context, owner: bpy.types.Object, asked: Sequence[NewGoal]) -> list[str]:
    check_can_make([owner], "BONE")
    evaluated = owner.evaluated_get(context.evaluated_depsgraph_get())
    bones = [_bone(owner, evaluated, *one) for one in asked]
    places = [(chain.name, role) for chain, role, _ in asked]  # making bones makes all references to chains anew
    swinging = [i for i, (_, _, planned) in enumerate(asked) if planned.swings]
    carriers = make_swing_bones(context, owner, [asked[i][0] for i in swinging])
    for i in swinging:
        bones[i] = replace(bones[i], parent=carriers[places[i][0]])
    names = _made(context, owner, bones)
    for (name, role), bone in zip(places, names, strict=True):
        chain = rig_of(owner).chains[name]
        setattr(chain, role, owner)
        setattr(chain, f"{role}_bone", bone)
    return names


def _made(context: bpy.types.Context, owner: bpy.types.Object, planned: Sequence[ControlBone]) -> list[str]:
    """Make bones; their names."""
    was_paused, live_state.paused = live_state.paused, True  # on the way through edit mode nothing is to be solved
    try:
        return make_control_bones(context, owner, planned)
    finally:
        live_state.paused = was_paused
        live_state.forget()


def make_swing_bones(
    context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[FabrikChain]
) -> dict[str, str]:
    """The names of the bones that swing with limbs, by those of their chains; made where there are none.

    References to the chains don't hold afterwards.

    Raises:
        FabrikError: A chain has no bones, or edit mode can't be entered.
    """
    planned = {chain.name: _swing_of(owner, chain) for chain in chains}
    found = {name: swing_bone_like(owner, one) for name, one in planned.items()}
    new = [name for name, bone in found.items() if not bone]
    made = _made(context, owner, [planned[name] for name in new]) if new else []
    return found | dict(zip(new, made, strict=True))


def _swing_of(owner: bpy.types.Object, chain: FabrikChain) -> ControlBone:
    is_one, name = not rig_of(owner).body_bone, sided_name(chain.name, "swing")
    return swing_bone(resolve_bones(owner, chain), name, at_head=chain.at_head, is_one=is_one)


def _bone(
    owner: bpy.types.Object, evaluated: bpy.types.Object, chain: FabrikChain, role: str, planned: Empty
) -> ControlBone:
    """The bone of a goal; the parent of one that swings with its limb is found later."""
    parent = root_control(owner, resolve_bones(owner, chain)) if planned.parent is None else planned.parent
    if planned.parent is None and parent == rig_of(owner).body_bone:  # which moves with the goals
        parent = ""
    size = planned.size / (sum(evaluated.matrix_world.to_scale()) / 3.0)
    if planned.is_offset:
        tip = resolve_bones(owner, chain)[-1].bone
        head = (tip.head_local if chain.at_head else tip.tail_local).copy()  # edit mode makes all bones anew
    elif planned.swings:
        point = evaluated.matrix_world.inverted() @ Vector(planned.location)
        head = swung_back(evaluated, _swing_of(owner, chain), point)
    else:
        head = rest_head(evaluated, parent, Vector(planned.location))
    return ControlBone(sided_name(chain.name, role), head, size, planned.shape, parent)


def also_given(owner: bpy.types.Object) -> list[str]:
    """Names of the other objects that have the same armature data, and so the same bones."""
    return [found.name for found in bpy.data.objects if found != owner and found.data == owner.data]


def key_pose(owner: bpy.types.Object, chains: Iterable[FabrikChain], frame: float, *, with_body: bool) -> list[str]:
    """Key at a frame what poses chains: target and pole, the place that a pin holds, or else the bones themselves.

    With the body its bone is keyed besides, its place included. Bones whose motion controls edit get no keys.

    Returns:
        What was keyed, by the names of chains and of the bone.

    Raises:
        FabrikError: A chain has no bones.
    """
    body, edited = pose_bones(owner).get(rig_of(owner).body_bone) if with_body else None, edited_bones(owner)
    keyed = [chain.name for chain in chains if _key_chain(owner, chain, frame, edited)]
    if body is not None and body.name in edited:
        body = None
    if body is not None:
        rig_of(owner).body_stays = True  # its keys say where it is from now on
        is_keyed = body.keyframe_insert("location", frame=frame, group=body.name)
        keyed += [body.name] if _key_rotation(body, frame) and is_keyed else []
    return keyed


def _key_chain(owner: bpy.types.Object, chain: FabrikChain, frame: float, edited: set[str]) -> bool:
    """Key what poses a chain; whether there is something that could be keyed, so that all of it plays."""
    goals = goals_of(chain)
    free = [(goal, False) for goal in goals if goal.stays() is None]
    free += [(goal, True) for goal, _ in free if goal.role == "target" and chain.orientation == "TARGET"]
    if any(curve.lock or curve.mute for goal, turns in free for curve in goal.channel_curves(turns=turns)):
        return False
    keyed = [insert_goal_key(goal, frame, turns=turns) for goal, turns in free]
    if not (goals or is_walked(chain)):
        bones = [bone for bone in resolve_bones(owner, chain) if bone.name not in edited and not chain.pin]
        keyed = [insert_held_key(owner, chain, frame)] if chain.pin else [_key_rotation(bone, frame) for bone in bones]
    return any(keyed)


def _key_rotation(bone: bpy.types.PoseBone, frame: float) -> bool:
    return bone.keyframe_insert(channel_of(bone.rotation_mode)[0], frame=frame, group=bone.name)

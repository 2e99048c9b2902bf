# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a walk has the feet and the body of a walker: the goals of its chains, planned by frame, or led by hand."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress

import bpy

from ..errors import FabrikError, InvalidValueError, RigError, place_of
from ..gait.plan import WalkPlan, body_pose_at, feet_at, from_text, stances_of
from ..maths import Q4, V3, axes_of, mean, minus, multiplied, normalized, placed, turned
from ..messages import Message
from .bones import pose_bones
from .schema import FabrikChain, owner_of, rig_of, walker_of
from .schema.walker import WalkerView

KEPT = 16  # plans that stay parsed


_parsed: OrderedDict[str, WalkPlan] = OrderedDict()
_led: dict[str, Mapping[str, tuple[V3, Q4]]] = {}  # of `set_led_poses`, by the full names of the armature objects


def set_led_poses(owner: str, poses: Mapping[str, tuple[V3, Q4]] | None) -> None:
    """Say where a walker that is led by hand has its feet and its body, whatever is planned.

    Args:
        owner: Full name of the armature object, which may be gone by now.
        poses: By the names of the legs' chains, and by "" for the body; see `walk_pose`. None where it is led no more.
    """
    if poses is None:
        _led.pop(owner, None)
    else:
        _led[owner] = poses


def let_all_go() -> None:
    """Forget all walkers that are led by hand: another file is loaded."""
    _led.clear()


def plan_of(owner: bpy.types.Object) -> WalkPlan | None:
    """The walk that was planned for an armature object; None where there is none.

    Raises:
        InvalidValueError: What is stored is no plan.
    """
    walker = walker_of(owner)
    digest = walker.digest
    if not digest:
        return None
    if digest not in _parsed:
        with place_of(rig=owner.name):
            plan = from_text(walker.plan)
            if plan.digest != digest:
                raise InvalidValueError(Message("WALK_CHANGED"))
        keep_parsed(plan)
    return _parsed[digest]


def keep_parsed(plan: WalkPlan) -> None:
    """Know a plan that is stored without reading it."""
    _parsed[plan.digest] = plan
    while len(_parsed) > KEPT:
        _parsed.popitem(last=False)


def steps_of(owner: bpy.types.Object) -> int:
    """How many steps the walk has that was planned for an armature object.

    Raises:
        InvalidValueError: What is stored is no plan.
    """
    plan = plan_of(owner)
    return sum(map(len, plan.steps)) if plan is not None else 0


def shown_plan(owner: bpy.types.Object) -> WalkPlan | None:
    """The planned walk that is shown: None where it is off, and where it can't be read, which the panel tells."""
    with suppress(FabrikError):
        return plan_of(owner) if walker_of(owner).on else None
    return None


def is_walked(chain: FabrikChain) -> bool:
    """Whether a walk says where a chain goes, in place of its own goal."""
    owner = chain.id_data
    if not isinstance(owner, bpy.types.Object):  # what stands for a limb that is dragged is stored nowhere
        return False
    walker = walker_of(owner)
    is_led = bool(_led) and owner.name_full in _led
    if not (is_led or (walker.on and walker.digest)) or chain.aims:
        return False
    return is_of_walker(chain, walker)


def is_of_walker(chain: FabrikChain, walker: WalkerView) -> bool:
    """Whether a chain is the body or a leg of its armature's walker, planned or not."""
    return chain.name == walker.body or chain.name in walker.legs


def is_walked_body(chain: FabrikChain) -> bool:
    """Whether a chain is the body of a walk: it stands as planned before all feet."""
    owner = chain.id_data
    return isinstance(owner, bpy.types.Object) and is_walked(chain) and chain.name == walker_of(owner).body


def path_bone(owner: bpy.types.Object) -> str:
    """Name of the bone whose keys are the path of a walk that goes as planned; "" where there is none."""
    chain = rig_of(owner).chains.get(walker_of(owner).body)
    return chain.tip_bone if chain is not None and is_walked(chain) else ""


def _plan_to_follow(owner: bpy.types.Object) -> WalkPlan | None:
    try:
        return plan_of(owner)
    except InvalidValueError as error:
        raise RigError(error.reason, rig=owner.name) from error


def walk_goal(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> tuple[V3, Q4] | None:
    """Place of the effector and turn of the tip that a walk has for a chain in a depsgraph's frame; None without one.

    Raises:
        RigError: What is stored is no plan, or one of another version: live chains wait until there is one.
        InvalidValueError: The chain is no leg of the plan.
    """
    if not is_walked(chain):
        return None
    owner = owner_of(chain)
    place, rotation = walk_pose(owner, walked_part(owner, chain), depsgraph)
    return place, multiplied(rotation, rest_turn(owner, chain.tip_bone))


def foothold_goal(chain: FabrikChain, depsgraph: bpy.types.Depsgraph, at: V3 | None = None) -> tuple[V3, Q4] | None:
    """`walk_goal` of a foot that a planned walk has flat on the ground in the frame of a depsgraph; else None.

    The middle of the sole may be put elsewhere, in world space.

    Raises:
        RigError: What is stored is no plan.
    """
    owner, scene = owner_of(chain), depsgraph.scene
    plan = _plan_to_follow(owner) if is_walked(chain) else None
    if plan is None or scene is None:
        return None
    time = plan.time_of(scene.frame_current_final)
    for stance in stances_of(plan):
        leg = plan.legs[stance.leg]
        if leg.name == chain.name and stance.land <= time < stance.lift and stance.foothold is not None:
            place, rotation = stance.foothold.in_world(time, plan.surface_pose)
            if at is not None:
                place = minus(at, turned(rotation, mean((leg.heel, leg.ball))))
            return placed(place, rotation, leg.ankle), multiplied(rotation, rest_turn(owner, chain.tip_bone))
    return None


def walked_part(owner: bpy.types.Object, chain: FabrikChain) -> str:
    """By what `walk_pose` knows a chain that walks: its name, or "" for the body."""
    return "" if chain.name == walker_of(owner).body else chain.name


def walk_pose(owner: bpy.types.Object, part: str, depsgraph: bpy.types.Depsgraph) -> tuple[V3, Q4]:
    """Where a walk has a foot, by the name of its chain, or the body ("") in the frame of a depsgraph, in the world.

    Returns:
        The place of the effector, and the rotation from how foot or body is at rest.

    Raises:
        RigError: What is stored is no plan, or one of another version: live chains wait until there is one.
        InvalidValueError: The plan does not have the leg.
    """
    assert depsgraph.scene is not None
    poses = _led.get(owner.name_full)
    if poses is None and (plan := _plan_to_follow(owner)) is not None:
        frame = depsgraph.scene.frame_current_final
        number = next((number for number, leg in enumerate(plan.legs) if leg.name == part), -1)
        if number >= 0:
            foot = feet_at(plan, frame)[number]
            return foot.ankle, foot.rotation
        if not part:
            return body_pose_at(plan, frame)
    if poses is None or part not in poses:
        raise InvalidValueError(Message("WALK_WITHOUT_LEG"), chain=part)
    return poses[part]


def rest_turn(owner: bpy.types.Object, bone: str) -> Q4:
    """How a bone is turned in the rest pose, in the axes of the body.

    Raises:
        InvalidValueError: The armature has no such bone.
    """
    found = pose_bones(owner).get(bone)
    if found is None:
        raise InvalidValueError(Message("WALK_BONE_MISSING"), rig=owner.name, bone=bone)
    return multiplied(normalized(walker_of(owner).upright), axes_of(found.bone.matrix_local))

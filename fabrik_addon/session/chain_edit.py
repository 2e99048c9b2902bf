# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain is edited, and the pose stays: which end of its tip is the effector, which rotation that has, its limits.

A shin whose rotation is held would hold the knee, too. So where the rotation of a limb that ends at the ankle is to be
held, the limb goes on to the foot, whose head is then brought to the target. Hands, feet, heads, and bones from which
no others go on have a rotation of their own to keep.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
from mathutils import Vector

from ..errors import ChainError, FabrikError, TargetError
from ..maths import q4
from ..recognise.limbs import Limbs
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import read_rotation
from ..rig.checks import check_rig
from ..rig.held import offset_from_target, read_held, store
from ..rig.schema import LIMIT_SETTINGS, FabrikChain, limit_of
from ..rig.start_pose import StoredStart, fingerprint, is_stale
from ..rig.targets import check_present
from ..rig.versions import bring_up_to_date
from ..texts import Text
from .figure_pose import FigurePose
from .keep_pose import LetGo, Loosed, keep_and_tell, let_go, unposed
from .order import Item
from .selected_limbs import limbs_of

ENDS = {"HAND", "FOOT", "HEAD"}


def set_effector(context: bpy.types.Context, item: Item, effector: str) -> LetGo:
    """Change the end of the tip bone that comes to the goal; a goal that was reached comes along to the other end.

    Args:
        context: Its view layer has armature and target.
        item: The armature object and the chain.
        effector: "HEAD" or "TAIL".

    Raises:
        FabrikError: The pose can't be read, or the chain aims; nothing was changed.
    """
    owner, chain = item
    if chain.kind == "AIM":
        raise ChainError("it aims from the head of its tip bone", rig=owner.name, chain=chain.name)
    with unposed() as depsgraph:
        posed = check_rig(owner, depsgraph).evaluated_get(depsgraph)
        held = read_held(posed, resolve_bones(owner, chain)[-1].name, effector)
        is_there = _is_at_goal(item, depsgraph)
    if chain.effector == effector:
        return LetGo([], [])
    bring_up_to_date(owner)
    chain.effector = effector
    if chain.target is None and not chain.pin:
        return LetGo([], [])
    if not is_there:
        return LetGo([], [Text("its goal is elsewhere, and stays there")])
    return let_go(context, owner, [Loosed(chain, Vector(held.location))], is_keyed=False)


def _is_at_goal(item: Item, depsgraph: bpy.types.Depsgraph) -> bool:
    try:
        return FigurePose.of(item, depsgraph).is_at_target(item[1].name)
    except FabrikError:  # it has none, or can't be solved
        return False


def set_orientation(context: bpy.types.Context, item: Item, orientation: str) -> list[str]:
    """`orient`, and let the next solve leave the pose.

    Raises:
        FabrikError: It makes no sense for the chain, or the pose can't be read; nothing was changed.
    """
    return [*orient(context, item, orientation), *_kept(item)]


def orient(context: bpy.types.Context, item: Item, orientation: str) -> list[str]:
    """Choose the rotation that the tip of a chain is to have, and store what that needs from the pose at hand.

    A chain whose goal holds the tail of a bone from which the limb goes on, a shin, goes on to that bone, the foot,
    whose head the goal then holds: else the shin would be frozen.

    Args:
        context: Its view layer has armature and target.
        item: The armature object and the chain.
        orientation: "FREE", "KEEP" or "TARGET".

    Returns:
        What there is to tell, as sentences.

    Raises:
        FabrikError: It makes no sense for the chain, or the pose can't be read; nothing was changed.
    """
    owner, chain = item
    if orientation != "FREE" and chain.kind == "AIM":
        raise ChainError("it aims at its target, which turns its tip already", rig=owner.name, chain=chain.name)
    if orientation == "TARGET" and chain.target is None:
        raise TargetError("its rotation can't follow a target: none is set", rig=owner.name, chain=chain.name)
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
        tip = resolve_bones(owner, chain)[-1].name
        beyond = end_beyond(owner, tip) if orientation != "FREE" and chain.effector == "TAIL" else ""
        held = read_held(owner.evaluated_get(depsgraph), beyond or tip, "HEAD" if beyond else chain.effector)
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
        return [
            Text(
                "the chain goes on to '{beyond}', which keeps its rotation while '{tip}' stays free",
                beyond=beyond,
                tip=tip,
            )
        ]
    if chain.orientation != "FREE" and chain.effector == "TAIL" and not keeps_rotation(owner, tip):
        return [Text("no bone goes on where '{tip}' ends, so it is '{tip}' itself whose rotation is held", tip=tip)]
    return []


def _kept(item: Item) -> list[str]:
    """Keep the pose where the chain has something to reach; what moves all the same."""
    _, chain = item
    if chain.target is None and not chain.pin:
        return []
    kept = keep_and_tell([item])[0]
    return [*([Text("start pose captured")] if kept.start else []), *([kept.moves] if kept.moves else [])]


def keeps_rotation(owner: bpy.types.Object, bone: str) -> bool:
    """Whether a bone ends a limb: a hand, a foot or a head by its name, or one from which no limb goes on."""
    limbs, number = _limbs(owner, bone)
    return limbs.parts[number] in ENDS or number not in limbs.above


def end_beyond(owner: bpy.types.Object, tip: str) -> str:
    """The bone to which a limb goes on, where that is to keep a rotation in place of the limb's last bone.

    Args:
        owner: The armature object.
        tip: Name of the limb's last bone.

    Returns:
        The one bone that goes on where the last one ends; "" where that is an end itself, or none goes on there.
    """
    limbs, number = _limbs(owner, tip)
    if limbs.parts[number] in ENDS:
        return ""
    found = [child for child in limbs.skeleton.children[number] if limbs.above[child] == number]
    if len(found) != 1 or not limbs.skeleton.is_joined(found[0]):
        return ""
    return limbs.skeleton.names[found[0]]


def _limbs(owner: bpy.types.Object, bone: str) -> tuple[Limbs, int]:
    limbs = limbs_of(owner, [bone])
    return limbs, list(limbs.skeleton.names).index(bone)


def go_on_to(owner: bpy.types.Object, chain: FabrikChain, bone: str) -> None:
    """Make a child of a chain's last bone the last one, its head the effector; start pose and goal stay.

    Args:
        owner: The armature object.
        chain: A chain that can be resolved.
        bone: Name of the child, whose rotation as it stands becomes its start, where the chain has captured ones.
    """
    before, is_old = StoredStart.of(chain), is_stale(chain, resolve_bones(owner, chain))
    if chain.bone_count:
        chain.bone_count += 1
    chain.tip_bone, chain.effector = bone, "HEAD"
    rotations = before.rotations
    if rotations:
        rotations = (*rotations, (bone, q4(read_rotation(pose_bones(owner)[bone]))))
    digest = before.digest if is_old else fingerprint(resolve_bones(owner, chain))
    StoredStart(before.kind, rotations, digest).store(chain)


def copy_limit(source: bpy.types.PoseBone, targets: Iterable[bpy.types.PoseBone]) -> int:
    """Give the limit of one bone to others; returns how many were changed."""
    values = {name: _value(source, name) for name in LIMIT_SETTINGS}
    others = [bone for bone in targets if bone != source]
    for bone in others:
        _set(bone, values)
    return len(others)


def _value(bone: bpy.types.PoseBone, name: str) -> Any:
    value = getattr(limit_of(bone), name)
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def _set(bone: bpy.types.PoseBone, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(limit_of(bone), name, value)

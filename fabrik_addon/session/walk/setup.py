# SPDX-License-Identifier: GPL-3.0-or-later
"""Make an armature a walker: legs and body become chains, and how it walks is set by the number of its legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import bpy

from ...errors import BoneError, ChainError, FabrikError
from ...gait import Leg, settings_for
from ...gait.legs import check_legs
from ...maths import Q4
from ...recognise.limbs import Limbs
from ...recognise.part import LEG
from ...rig.chain_bones import bones_to, pose_bones, resolve_bones
from ...rig.checks import check_rig
from ...rig.control_bones import control_names, is_control
from ...rig.figures import ChainSet, body_moves
from ...rig.held import read_held, store_held
from ...rig.schema import PREFIX, FabrikChain, rig_of, unique_name, walker_of
from ...rig.skeleton import read_skeleton
from ...rig.start_pose import capture_bones, take_keys
from ...rig.versions import bring_up_to_date
from ...texts import Text
from ..defaults import read_defaults
from ..keep_pose import unposed
from ..make import add_chain, remove_chain
from ..setup.parts import find_parts
from .measuring import check_body, frame_for, measured, sole_of, upright_of

BODY = "Body"
LEAST_BONES = 2  # of a limb that is a leg
NEAR_GROUND = 0.2  # of the body's height: a foot that is so little above the lowest one stands


@dataclass(frozen=True, slots=True)
class NewLeg:
    """A chain that is to be made.

    Attributes:
        name: Of the chain.
        bones: Names of its bones, root to tip.
        is_head: Whether the head of its last bone, a foot, is brought to the ground.
    """

    name: str
    bones: tuple[str, ...]
    is_head: bool


@dataclass(slots=True)
class Made:
    """What `add_walker` did.

    Attributes:
        legs: Names of the legs' chains.
        made: Names of the chains that were made.
        body: Name of the body bone.
        gait: Name of the gait that was chosen.
        behind: Names of the enabled chains whose targets do not go along with the body.
    """

    legs: list[str]
    made: list[str]
    body: str
    gait: str
    behind: list[str]


def add_walker(context: bpy.types.Context, owner: bpy.types.Object, body: str = "") -> Made:
    """Make an armature a walker; nothing moves before its walk is planned.

    Args:
        context: Its view layer has the armature.
        owner: The armature object.
        body: Name of the bone that carries all legs; "" to find it.

    Raises:
        FabrikError: It has no legs, nothing carries them, or they can't walk; nothing was changed.
    """
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
    upright = upright_of(owner)
    kept = legs_of(owner, upright)
    new = [] if kept else _new_legs(owner, upright)
    if not kept and not new:
        raise ChainError("no legs were found: add chains for them, down to the feet", rig=owner.name)
    roots = [resolve_bones(owner, chain)[0].name for chain in kept] + [leg.bones[0] for leg in new]
    bone = _checked_body(owner, body or rig_of(owner).body_bone or _carrier(owner, roots), roots)
    bring_up_to_date(owner)
    made = [_make_leg(context, owner, leg) for leg in new]
    names = [chain.name for chain in kept] + made
    had = rig_of(owner).body_bone
    rig_of(owner).body_bone = bone
    try:
        legs = measured(owner, [rig_of(owner).chains[name] for name in names], frame_for(owner, bone, upright))
        check_legs(legs)
    except FabrikError as error:
        _take_back(owner, made, had)
        error.rig = error.rig or owner.name
        raise
    _hold(owner, made)
    made += _make_body(context, owner, bone)
    gait = _store(owner, legs, upright)
    return Made(names, made, bone, gait, _behind(owner, bone, {*names, *made}))


def _behind(owner: bpy.types.Object, body: str, walking: set[str]) -> list[str]:
    """Names of the enabled chains beside those of a walker whose targets do not hang on its body bone."""
    found = []
    for chain in rig_of(owner).chains:
        if chain.name in walking or not chain.enabled or chain.target is None:
            continue
        bone = pose_bones(owner).get(chain.target_bone) if chain.target == owner else None
        if bone is None or body not in [above.name for above in bone.parent_recursive]:
            found.append(chain.name)
    return found


def remove_walker(owner: bpy.types.Object) -> None:
    """Forget walk, legs and body of a walker; its chains stay, but for that of the body, which has no other use."""
    walker, chains = walker_of(owner), rig_of(owner).chains
    walker.on = False
    walker.plan = walker.digest = walker.inputs = ""
    walker.legs.clear()
    found = next((i for i, chain in enumerate(chains) if chain.name == walker.body), None)
    if found is not None and chains[found].target is None and not chains[found].pin:
        remove_chain(owner, found)
    walker.body = ""


def legs_of(owner: bpy.types.Object, upright: Q4) -> list[FabrikChain]:
    """The enabled chains that reach the ground in the rest pose."""
    own = walker_of(owner).body
    chains = [chain for chain in rig_of(owner).chains if chain.enabled and chain.kind == "REACH" and chain.name != own]
    found = []
    for chain in chains:
        bones = resolve_bones(owner, chain)
        if _stands(owner, [bone.name for bone in bones], chain.effector, upright):
            found.append(chain)
    return found


def _stands(owner: bpy.types.Object, bones: Sequence[str], effector: str, upright: Q4) -> bool:
    """Whether bones come down to the lowest of all bones, but for a share of the height of the first of them."""
    poses = pose_bones(owner)
    frame = frame_for(owner, bones[0], upright)
    others = [frame.place(bone.bone.tail_local)[2] for bone in poses if not is_control(bone)]
    tip, lowest = poses[bones[-1]], min(others)
    sole = sole_of(tip, effector, frame) if effector == "HEAD" else [frame.place(tip.bone.tail_local)]
    low = min(point[2] for point in sole)
    return lowest < 0.0 and low - lowest <= -NEAR_GROUND * lowest


def _new_legs(owner: bpy.types.Object, upright: Q4) -> list[NewLeg]:
    """The legs that are recognised for sure, as far as no more limbs stand than these; else all limbs that stand."""
    parts = [part for part in find_parts(owner).parts if part.kind == LEG and part.is_applied]
    legs = [NewLeg(part.name, part.bones, part.holds_head) for part in parts]
    legs = [leg for leg in legs if _stands(owner, leg.bones, "HEAD" if leg.is_head else "TAIL", upright)]
    skeleton = read_skeleton(owner, without=control_names(owner))
    limbs = [limb for limb in Limbs(skeleton).all() if limb.bone_count >= LEAST_BONES]
    runs = [[bone.name for bone in bones_to(owner, skeleton.names[tip], count)] for tip, count in limbs]
    standing = [NewLeg(bones[-1], tuple(bones), False) for bones in runs if _stands(owner, bones, "TAIL", upright)]
    return legs if len(legs) >= len(standing) else standing


def _carrier(owner: bpy.types.Object, roots: Sequence[str]) -> str:
    """The nearest bone above the first bones of all legs that can be moved."""
    bones = pose_bones(owner)
    ways: list[list[str]] = [[bone.name for bone in bones[name].parent_recursive] for name in roots]
    common = [name for name in ways[0] if all(name in way for way in ways)]
    if not common:
        raise ChainError("no bone carries all legs", rig=owner.name)
    return next((name for name in common if body_moves(ChainSet(owner, (), name))), common[0])


def _checked_body(owner: bpy.types.Object, body: str, roots: Sequence[str]) -> str:
    """A body bone that carries all legs and can be moved.

    Raises:
        FabrikError: It is none.
    """
    bone = bones_to(owner, body, 1)[0]
    below = {found.name for found in bone.children_recursive}
    other = next((name for name in roots if name not in below), "")
    if other:
        raise BoneError(
            Text("the body bone '{bone}' does not carry the leg that begins with it", bone=body),
            rig=owner.name,
            bone=other,
        )
    check_body(owner, body)
    return body


def _make_leg(context: bpy.types.Context, owner: bpy.types.Object, leg: NewLeg) -> str:
    taken = [chain.name for chain in rig_of(owner).chains]
    chain = add_chain(owner, bones_to(owner, leg.bones[-1], len(leg.bones)), len(leg.bones), read_defaults(context))
    chain.name = unique_name(leg.name, taken)
    chain.effector = "HEAD" if leg.is_head else "TAIL"
    return chain.name


def _take_back(owner: bpy.types.Object, made: Sequence[str], body: str) -> None:
    for name in made:
        remove_chain(owner, next(i for i, chain in enumerate(rig_of(owner).chains) if chain.name == name))
    rig_of(owner).body_bone = body


def _hold(owner: bpy.types.Object, made: Sequence[str]) -> None:
    """Let the feet of legs that were made keep their rotation."""
    for name in made:
        chain = rig_of(owner).chains[name]
        if chain.effector == "HEAD":
            store_held(chain, read_held(owner, chain.tip_bone, "HEAD"))
            chain.orientation = "KEEP"


def _make_body(context: bpy.types.Context, owner: bpy.types.Object, bone: str) -> list[str]:
    """The chain that is the body; which was made. It starts from the keys of its bone, which are the path."""
    rig = rig_of(owner)
    bones = bones_to(owner, bone, 1)
    chain = rig.chains.get(rig.walker.body)
    made = []
    if chain is None or chain.tip_bone != bone:
        taken = [other.name for other in rig.chains]
        chain = add_chain(owner, bones, 1, read_defaults(context))
        chain.name = unique_name(BODY, taken)
        chain.effector = "HEAD"
        store_held(chain, read_held(owner, bone, "HEAD"))
        chain.orientation = "KEEP"
        made.append(chain.name)
    take_keys(chain, bones)
    capture_bones(owner, bones)
    rig.walker.body = chain.name
    return made


def _store(owner: bpy.types.Object, legs: Sequence[Leg], upright: Q4) -> str:
    """Keep the legs, and the settings that suit their number; the gait's name."""
    walker = walker_of(owner)
    settings = settings_for(legs)
    for name, value in asdict(settings).items():
        setattr(owner, PREFIX + name, value)
    walker.upright = upright
    walker.legs.clear()
    for leg in legs:
        item = walker.legs.add()
        item.name, item.group, item.offset = leg.name, leg.group, leg.offset
    walker.on = False
    walker.plan = walker.digest = walker.inputs = ""
    return settings.gait

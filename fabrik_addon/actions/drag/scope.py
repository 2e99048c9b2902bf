# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves with a dragged bone: the limb that it ends; or, where bones are pinned or a body bone is set, the body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import bpy

from ...errors import ChainError
from ...rig.bones import bones_if_any, bones_to, names_if_any, pose_bones, resolve_bones
from ...rig.figure.figure import RigFigure
from ...rig.figure.groups import ChainSet, body_moves, set_of
from ...rig.goals import edits_motion, is_offset
from ...rig.schema import FabrikChain, limit_of, rig_of
from ...rig.schema.chain import OFFSET, GoalSettings
from ..chains import limb_length

# Settings of a chain that is dragged which its stand-in has; the first only where nothing else takes part.
KEPT = (
    "soft", "pole", "pole_bone", "pole_angle", "pole_fades", "tolerance", "max_passes", "restarts", "use_plain",
    "stretch", "start", "captured",
)  # fmt: skip


@cache
def _chain_defaults() -> dict[str, Any]:
    """The settings of a new chain without goals, switched off; a dragged bone's name, bones and end are to be added."""
    found: dict[str, Any] = {"id_data": None, "target": None, "pole": None, "enabled": False}
    for prop in FabrikChain.bl_rna.properties:
        one: Any = prop
        if one.type == "COLLECTION":
            found[one.identifier] = ()
        elif one.type != "POINTER" and one.identifier != "enabled":
            found[one.identifier] = tuple(one.default_array) if getattr(one, "is_array", False) else one.default
    return found


# What stands in for a chain: with its settings, and with what these tell.
_TOLD = {name: told for name, told in vars(GoalSettings).items() if isinstance(told, property)}
_StandIn = type("_StandIn", (SimpleNamespace,), _TOLD)


class Grip(NamedTuple):
    """What is dragged.

    Attributes:
        bone: Name of the bone.
        end: "HEAD" or "TAIL": which of its ends.
        chain: Name of the chain whose tip it is, or "".
    """

    bone: str
    end: str = "TAIL"
    chain: str = ""

    @property
    def at_head(self) -> bool:
        """Whether it is the head of the bone."""
        return self.end == "HEAD"

    @classmethod
    def tip_of(cls, chain: FabrikChain) -> Grip:
        """The tip of a chain."""
        return cls(chain.tip_bone, chain.effector, chain.name)


class Scope(NamedTuple):
    """What takes part in a drag, by names, since undo makes all that Blender has anew.

    Attributes:
        taken: What is dragged.
        holding: Names of the chains whose goals hold meanwhile: pins, what is posed live, and what aims.
        body: Name of the bone that may move and turn with all of it, or "".
        bone_count: Number of bones of the limb that the dragged bone ends.
        follows: Whether the chain is posed live, so that it is dragged by its target.
    """

    taken: Grip
    holding: tuple[str, ...] = ()
    body: str = ""
    bone_count: int = 1
    follows: bool = False

    def dragged(self, owner: bpy.types.Object) -> FabrikChain:
        """The chain that is dragged, or what stands in for one: with its pole, and at full influence.

        Raises:
            ChainError: It is gone.
        """
        bone, end, name = self.taken
        chain = rig_of(owner).chains.get(name)
        if name and chain is None:
            raise ChainError("it is gone", rig=owner.name, chain=name)
        if chain is not None and self.follows:
            return chain
        own: dict[str, Any] = {"name": _free_name(owner, bone), "tip_bone": bone, "effector": end}
        if chain is not None:  # alone it gives way softly; that would leave a body where it is
            kept = KEPT[1:] if self.body or self.holding else KEPT
            own = {name: getattr(chain, name) for name in ("name", "tip_bone", "effector", *kept)}
        return cast("FabrikChain", _StandIn(**(_chain_defaults() | own | {"bone_count": self.bone_count})))

    def chain_set(self, owner: bpy.types.Object) -> ChainSet:
        """The chains that are solved together in the drag.

        Raises:
            ChainError: One is gone.
        """
        dragged = self.dragged(owner)
        if self.follows:
            return set_of(owner, dragged)
        chains = rig_of(owner).chains
        gone = [name for name in self.holding if name not in chains]
        if gone:
            raise ChainError("it is gone", rig=owner.name, chain=gone[0])
        found = sorted([dragged, *(chains[name] for name in self.holding)], key=lambda chain: chain.name)
        return ChainSet(owner, tuple(found), self.body)


def _free_name(owner: bpy.types.Object, bone: str) -> str:
    """A name for a limb without a chain that none of the chains has."""
    name, chains = f"limb of {bone}", rig_of(owner).chains
    while name in chains:
        name += "'"
    return name


def scope_of(owner: bpy.types.Object, taken: Grip) -> Scope:
    """What takes part in the drag of a bone.

    Where a bone of the same skeleton is pinned, or a body bone is set above the dragged one, the body follows: from the
    body bone, else from the nearest bone above the dragged one and all pins that can be moved. Else it is the limb
    alone. Chains that are posed live, and those that aim, keep to their targets, as far as they are in it.

    Raises:
        FabrikError: There is no such bone or chain.
    """
    rig = rig_of(owner)
    if not taken.chain:  # whose control comes along
        edited = (one for one in rig.chains if one.enabled and one.goal == OFFSET and edits_motion(one))
        own = next((one for one in edited if (one.tip_bone, one.effector) == (taken.bone, taken.end)), None)
        taken = Grip.tip_of(own) if own is not None else taken
    chain = rig.chains.get(taken.chain)
    if taken.chain and chain is None:
        raise ChainError("there is no such chain", rig=owner.name, chain=taken.chain)
    bone = bones_to(owner, taken.bone, 1)[0]
    if chain is not None and rig.live and chain.enabled and chain.target is not None and not is_offset(chain):
        return Scope(taken, follows=True)
    others = [one for one in rig.chains if one.enabled and one.name != taken.chain and one.weight * one.influence > 0.0]
    pins = [one for one in others if one.pin and _above(owner, one)[:1] == _lineage(bone)[:1]]  # of the same skeleton
    asking = [one for one in others if not one.pin and _holds(owner, one, bone)]
    home = pose_bones(owner).get(rig.body_bone)
    is_in_body = home is not None and (home == bone or home in bone.parent_recursive)
    if not pins and not is_in_body:
        limb = _limb(owner, taken, chain)
        held = [one for one in asking if set(limb).intersection(names_if_any(owner, one))]
        body = taken.bone if len(limb) == 1 and taken.end == "HEAD" and not held else ""
        return Scope(taken, _named(held), body, len(limb))
    if is_in_body:
        body = rig.body_bone
        holding = [one for one in (*pins, *asking) if _is_below(owner, one, body)]
    else:
        body = _top(owner, taken, pins)
        holding = [*pins, *(one for one in asking if not body or _is_below(owner, one, body))]
    return Scope(taken, _named(holding), body, _clipped(owner, taken, chain, body))


def is_trunk(owner: bpy.types.Object, way: Sequence[str]) -> bool:
    """Whether a dragged bone is of the trunk: it and all above (`way`) carry the limbs of chains, or are of a head.

    A head is known by a chain that aims, though it is switched off as long as there is nothing at which it looks.
    """
    bones, carriers, limbs, home = pose_bones(owner), set[str](), set[str](), rig_of(owner).body_bone
    for chain in rig_of(owner).chains:
        own = names_if_any(owner, chain) if chain.enabled or chain.aims else []
        if own:
            carriers.update(bone.name for bone in bones[own[0]].parent_recursive)
            (carriers if chain.aims or chain.tip_bone == home else limbs).update(own)  # the latter edits the body
    trunk = carriers - limbs
    return all(name in trunk and not limit_of(bones[name]).of_limb for name in way)


def _holds(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> bool:
    """Whether a chain that is not pinned keeps to its target: live, or looking at it with bones that aren't dragged.

    The chain that edits the motion of the body does not, for its control comes along.
    """
    if chain.target is None or (chain.tip_bone == rig_of(owner).body_bone and is_offset(chain)):
        return False
    return rig_of(owner).live or (chain.aims and bone.name not in names_if_any(owner, chain))


def _named(chains: Iterable[FabrikChain]) -> tuple[str, ...]:
    return tuple(chain.name for chain in chains)


def _limb(owner: bpy.types.Object, taken: Grip, chain: FabrikChain | None) -> list[str]:
    """Names of the bones of the limb that the dragged bone ends, root to tip.

    Of a chain its own; of a bone that is in the middle of one the part up to it. The head of a limb's first bone is
    moved by the limb above.
    """
    if chain is not None:
        return [bone.name for bone in resolve_bones(owner, chain)]
    found = _limb_to(owner, taken.bone)
    above = pose_bones(owner)[found[0]].parent
    if taken.end == "HEAD" and len(found) == 1 and above is not None:
        return [*_limb_to(owner, above.name), *found]
    return found


def _limb_to(owner: bpy.types.Object, bone: str) -> list[str]:
    """The bones of an enabled chain up to one of them, the longest there is; else those of the limb that it ends."""
    found: list[str] = []
    for chain in rig_of(owner).chains:
        names = names_if_any(owner, chain) if chain.enabled else []
        if bone in names:
            found = max(found, names[: names.index(bone) + 1], key=len)
    return found or [one.name for one in bones_to(owner, bone, limb_length(owner, bone))]


def _lineage(bone: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones on which a bone hangs, the topmost first, and the bone."""
    return [bone, *bone.parent_recursive][::-1]


def _above(owner: bpy.types.Object, chain: FabrikChain) -> list[bpy.types.PoseBone]:
    """The bones on which a chain hangs, the topmost first, and its own first one; none where it has no bones."""
    return [bone for first in bones_if_any(owner, chain)[:1] for bone in _lineage(first)]


def _is_below(owner: bpy.types.Object, chain: FabrikChain, body: str) -> bool:
    """Whether the first bone of a chain is the body bone, or hangs on it."""
    return body in {bone.name for bone in _above(owner, chain)}


def _top(owner: bpy.types.Object, taken: Grip, pins: list[FabrikChain]) -> str:
    """The bone that moves as the body where none is set; "" where the dragged bone is part of a single pinned figure.

    That is the nearest bone above the dragged one and all pinned chains, or the next one above that can be moved. The
    dragged bone itself is moved only where it carries all that is pinned: else it would be torn off.
    """
    bones = pose_bones(owner)
    bone, roots = bones[taken.bone], [bones[names_if_any(owner, chain)[0]] for chain in pins]
    pinned = {name for chain in pins for name in names_if_any(owner, chain)}
    if all(bone in root.parent_recursive for root in roots):
        above = _lineage(bone)
    else:
        tops = {root.name for root in roots if root.parent is None or root.parent.name not in pinned}
        is_at_top = bone.name in tops and taken.end == "HEAD"
        if bone.name in pinned and len(tops) == 1 and not is_at_top:
            return ""
        lines = zip(*[_lineage(one) for one in (bone, *roots)], strict=False)
        shared = [line[0] for line in lines if all(one == line[0] for one in line)]
        above = [one for one in shared if one.name not in pinned] or shared
    can_move = [one for one in reversed(above) if body_moves(ChainSet(owner, (), one.name))]
    return (can_move[0] if can_move else above[-1]).name


def _clipped(owner: bpy.types.Object, taken: Grip, chain: FabrikChain | None, body: str) -> int:
    """How many bones of the dragged limb are the body bone, or hang on it."""
    if body == taken.bone:  # all others of the limb are above
        return 1
    limb = _limb(owner, taken, chain)
    if not body:
        return len(limb)
    found = [name for name in limb if body in {bone.name for bone in _lineage(pose_bones(owner)[name])}]
    return max(len(found), 1)


def moved_chains(owner: bpy.types.Object, figure: RigFigure, *, has_body: bool, dragged: str = "") -> list[FabrikChain]:
    """The chains that were moved: those with bones that took part, and all that hang on a body that did.

    The chain that was dragged counts in any case.
    """
    own, found = set(figure.bones), list[FabrikChain]()
    for chain in rig_of(owner).chains:
        bones = bones_if_any(owner, chain)
        above: Sequence[bpy.types.PoseBone] = bones[0].parent_recursive if bones and has_body else ()
        is_moved = chain.enabled and any(bone.name in own for bone in (*bones, *above))
        if bones and (is_moved or chain.name == dragged):
            found.append(chain)
    return found

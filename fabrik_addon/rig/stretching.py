# SPDX-License-Identifier: GPL-3.0-or-later
"""How a chain grows longer by a factor: which channels of its bones take it, so that all its bones grow alike.

A bone is scaled along its Y axis, where the next one's head is on it and the next one can make up for what it inherits
of that. Where it inherits scale in full, it would be sheared: then the next bone's head is moved by its location
channels. While a chain may stretch, these channels are its own; unstretched, the scale is 1 and the location 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import bpy

from ..errors import BoneError
from ..maths import ORIGIN, V3, length, scaled, v3
from ..messages import Message
from .animated_paths import chains_animated_in
from .chain_bones import pose_bones, resolve_bones
from .figures import ChainSet, body_moves
from .kinematics import Instead, Link
from .schema import FabrikChain

UNSTRETCHED: V3 = (1.0, 1.0, 1.0)
BESIDE = 1e-4  # share of its distance by which the next head may be beside a bone's Y axis
THIRD = 1.0 / 3.0
# Powers of the factor as scale channels of a bone that is to grow along Y, and of one that is not, by how the bone
# inherits the scale of one that grew along Y (measured in Blender 4.2 to 5.2).
GROWS: dict[str, V3] = {
    "NONE": (0.0, 1.0, 0.0),
    "NONE_LEGACY": (0.0, 1.0, 0.0),
    "ALIGNED": (0.0, 0.0, 0.0),
    "AVERAGE": (-THIRD, 2.0 * THIRD, -THIRD),
}
STAYS: dict[str, V3] = {
    "NONE": (0.0, 0.0, 0.0),
    "NONE_LEGACY": (0.0, 0.0, 0.0),
    "ALIGNED": (0.0, -1.0, 0.0),
    "AVERAGE": (-THIRD, -THIRD, -THIRD),
}
ALONE: V3 = (0.0, 1.0, 0.0)


CHANNEL_TEXTS = {"location": Message("LOCATION"), "scale": Message("SCALE")}


class Grown(NamedTuple):
    """What one bone takes of the stretch of its chain.

    Attributes:
        bone: Name of the bone.
        name: Of the property: "scale" or "location".
        powers: Powers of the factor that the scale channels are.
        way: What the location channels are at twice the length.
    """

    bone: str
    name: str
    powers: V3 = ORIGIN
    way: V3 = ORIGIN

    def values(self, factor: float) -> V3:
        """The channels at a factor."""
        if self.name == "location":
            return scaled(self.way, factor - 1.0)
        x, y, z = self.powers
        return factor**x, factor**y, factor**z


def grown_by(
    chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], driven: set[str], animated: Collection[str]
) -> tuple[Grown, ...]:
    """What the bones of a chain take of its stretch; nothing where it does not stretch in any frame.

    Args:
        chain: The chain.
        bones: Its pose bones, root to tip.
        driven: Data paths of drivers.
        animated: Names of chains whose stretch is animated.

    Raises:
        BoneError: A bone can't be made longer, or the next one can't follow it.
    """
    if (chain.stretch <= 1.0 and chain.name not in animated) or chain.kind == "AIM":
        return ()
    last = len(bones) - 2 if chain.effector == "HEAD" else len(bones) - 1
    found: list[Grown] = []
    above = False  # whether the bone before is scaled
    for i in range(last + 1):
        following = bones[i + 1] if i + 1 < len(bones) else None
        moves = following is not None and not _follows(following)
        found += _of(bones[i], above, not moves)
        if moves and following is not None:
            found.append(Grown(following.name, "location", way=_way(following)))
        above = not moves
    if chain.effector == "HEAD" and last >= 0:
        found += _of(bones[-1], above, False)
    for one in found:
        _check(next(bone for bone in bones if bone.name == one.bone), one, driven)
    return tuple(found)


def written_besides(chain_set: ChainSet) -> list[tuple[bpy.types.PoseBone, str]]:
    """Bones of which a solve writes "location" or "scale" besides rotations: the body bone, and what stretches.

    Raises:
        FabrikError: A chain can't stretch.
    """
    owner, bones = chain_set.owner, pose_bones(chain_set.owner)
    found = [(bones[chain_set.body], "location")] if body_moves(chain_set) else []
    animated = chains_animated_in(owner, "stretch")
    for chain in chain_set.chains:
        grown = grown_by(chain, resolve_bones(owner, chain), set(), animated)
        found += [(bones[one.bone], one.name) for one in grown]
    return found


def unstretched(grown: Sequence[Sequence[Grown]]) -> dict[str, Instead]:
    """What counts as the channels of bones that take some of the stretch of chains: by the bones' names.

    Raises:
        BoneError: Two chains stretch one bone.
    """
    found: dict[str, Instead] = {}
    for one in (one for own in grown for one in own):
        before = found.get(one.bone, Instead())
        is_location = one.name == "location"
        if (before.location if is_location else before.scale) is not None:
            raise BoneError(Message("STRETCHED_TWICE"), bone=one.bone)
        found[one.bone] = before._replace(location=ORIGIN) if is_location else before._replace(scale=UNSTRETCHED)
    return found


def _of(bone: bpy.types.PoseBone, above: bool, grows: bool) -> list[Grown]:
    """The scale of a bone that grows or not, with one above it that is scaled or not."""
    if not above:
        return [Grown(bone.name, "scale", powers=ALONE)] if grows else []
    return [Grown(bone.name, "scale", powers=(GROWS if grows else STAYS)[bone.bone.inherit_scale])]


def _follows(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone goes along with the scale of the one before it: its head is on that axis, and it can undo it."""
    link = Link.of(bone)
    assert link.parent_rest is not None, "it hangs on the bone before it"
    x, y, z = link.parent_rest.to_3x3().inverted() @ link.rest.translation
    return bone.bone.inherit_scale in GROWS and length((x, 0.0, z)) <= BESIDE * abs(y)


def _way(bone: bpy.types.PoseBone) -> V3:
    """The location channels that take a bone's head once more as far from the head of the one before it.

    Raises:
        BoneError: It has none that count, or they do not turn with that bone.
    """
    data = bone.bone
    if data.use_connect:
        raise BoneError(
            Message("STRETCH_CONNECTED"),
            bone=bone.name,
        )
    if not (data.use_local_location and data.use_inherit_rotation):
        raise BoneError(Message("STRETCH_LOCATION_NOT_LOCAL"), bone=bone.name)
    rest = Link.of(bone).rest
    return v3(rest.to_3x3().inverted() @ rest.translation)


def _check(bone: bpy.types.PoseBone, one: Grown, driven: set[str]) -> None:
    """Refuse channels that are not free.

    Raises:
        BoneError: They are locked or driven.
    """
    word = CHANNEL_TEXTS[one.name]
    locks: Any = getattr(bone, f"lock_{one.name}")
    if any(locks):
        raise BoneError(Message("STRETCH_CHANNEL_LOCKED", channel=word), bone=bone.name)
    if f"{bone.path_from_id()}.{one.name}" in driven:
        raise BoneError(Message("STRETCH_CHANNEL_DRIVEN", channel=word), bone=bone.name)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain may do besides reaching its goal, and a body: stretch, keep its balance; and what chains ask for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import bpy
from mathutils import Matrix, Quaternion, Vector

from ...errors import BoneError, InvalidValueError, TargetError, are_finite
from ...kernel import ASKED, HINT, PIN, PLACED, SOLVE_SPACE, Balance, Goal
from ...maths import IDENTITY, ORIGIN, Q4, V3, Y_AXIS, axes_of, length, plus, q4, rotated, scaled, v3
from ...messages import ROLES, Message
from ..animation.channels import read_rotation
from ..animation.keys import chains_animated_in
from ..bones import ON_HEAD, bending_count, owner_of_bone, pose_bones, resolve_bones
from ..control_bones import control_names
from ..goal_kinds import GOAL_KINDS, options_of
from ..goals import Frames, turns_tip
from ..schema import FabrikChain, rig_of
from ..spaces import carrier_of
from ..walk_goals import is_walked_body
from .chain_goal import BENT, ChainGoal
from .groups import ChainSet, body_moves
from .kinematics import AssumedChannels, Link

# How a chain grows longer by a factor: which channels of its bones take it, so that all its bones grow alike.
#
# A bone is scaled along its Y axis, where the next one's head is on it and the next one can make up for what it
# inherits of that. Where it inherits scale in full, it would be sheared: then the next bone's head is moved by its
# location channels. While a chain may stretch, these channels are its own; unstretched, the scale is 1 and the location
# 0.

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


class BoneStretch(NamedTuple):
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
) -> tuple[BoneStretch, ...]:
    """What the bones of a chain take of its stretch; nothing where it does not stretch in any frame.

    Raises:
        BoneError: A bone can't be made longer, or the next one can't follow it.
    """
    if (chain.stretch <= 1.0 and chain.name not in animated) or "stretch" not in GOAL_KINDS[chain.kind].settings:
        return ()
    last = len(bones) - 2 if chain.at_head else len(bones) - 1
    found: list[BoneStretch] = []
    above = False  # whether the bone before is scaled
    for i in range(last + 1):
        following = bones[i + 1] if i + 1 < len(bones) else None
        moves = following is not None and not _follows(following)
        found += _of(bones[i], above, not moves)
        if moves and following is not None:
            found.append(BoneStretch(following.name, "location", way=_way(following)))
        above = not moves
    if chain.at_head and last >= 0:
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


def unstretched(grown: Sequence[Sequence[BoneStretch]]) -> dict[str, AssumedChannels]:
    """What counts as the channels of bones that take some of the stretch of chains: by the bones' names.

    Raises:
        BoneError: Two chains stretch one bone.
    """
    found: dict[str, AssumedChannels] = {}
    for one in (one for own in grown for one in own):
        before = found.get(one.bone, AssumedChannels())
        is_location = one.name == "location"
        if (before.location if is_location else before.scale) is not None:
            raise BoneError(Message("STRETCHED_TWICE"), bone=one.bone)
        found[one.bone] = before._replace(location=ORIGIN) if is_location else before._replace(scale=UNSTRETCHED)
    return found


def _of(bone: bpy.types.PoseBone, above: bool, grows: bool) -> list[BoneStretch]:
    """The scale of a bone that grows or not, with one above it that is scaled or not."""
    if not above:
        return [BoneStretch(bone.name, "scale", powers=ALONE)] if grows else []
    return [BoneStretch(bone.name, "scale", powers=(GROWS if grows else STAYS)[bone.bone.inherit_scale])]


def _follows(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone goes along with the scale of the one before it: its head is on that axis, and it can undo it.

    Refused where it would, but for a location of its own, which that scale would lengthen otherwise than the chain.
    """
    link = Link.of(bone)
    if bone.bone.inherit_scale not in GROWS or not _is_on_axis(link, link.rest.translation):
        return False
    if link.location.length > 0.0 and not _is_on_axis(link, link.rest @ link.location):
        raise BoneError(Message("STRETCH_BESIDE"), bone=bone.name)
    return True


def _is_on_axis(link: Link, head: Vector) -> bool:
    """Whether a place relative to the head of the bone before is on that one's Y axis."""
    assert link.parent_rest is not None, "it hangs on the bone before it"
    x, y, z = link.parent_rest.to_3x3().inverted() @ head
    return bool(length((x, 0.0, z)) <= BESIDE * abs(y))


def _way(bone: bpy.types.PoseBone) -> V3:
    """The location channels that take a bone's head once more as far from the head of the one before it.

    Refused where it has none that count, or they do not turn with that bone.
    """
    data = bone.bone
    if data.use_connect:
        raise BoneError(Message("STRETCH_CONNECTED"), bone=bone.name)
    if not (data.use_local_location and data.use_inherit_rotation):
        raise BoneError(Message("STRETCH_LOCATION_NOT_LOCAL"), bone=bone.name)
    rest = Link.of(bone).rest
    return v3(rest.to_3x3().inverted() @ rest.translation)


def _check(bone: bpy.types.PoseBone, one: BoneStretch, driven: set[str]) -> None:
    """Refuse channels that are locked or driven."""
    word = CHANNEL_TEXTS[one.name]
    locks: Any = getattr(bone, f"lock_{one.name}")
    if any(locks):
        raise BoneError(Message("STRETCH_CHANNEL_LOCKED", channel=word), bone=bone.name)
    if f"{bone.path_from_id()}.{one.name}" in driven:
        raise BoneError(Message("STRETCH_CHANNEL_DRIVEN", channel=word), bone=bone.name)


# The centre of mass of a body, and what supports it: the pinned tips.


class BodyMasses(NamedTuple):
    """The masses of a figure's joints, with all that hangs on them, and what supports them.

    Attributes:
        masses: Of the n joints; only their shares count.
        places: n points, where they stand in the joints' frames, relative to their heads.
        supports: Of each pinned chain its number, and from its effector to the other end of the tip bone, in that
            bone's frame; None where only the effector's place is held.
        weight: Of the goal among hints.
    """

    masses: tuple[float, ...]
    places: tuple[V3, ...]
    supports: tuple[tuple[int, V3 | None], ...]
    weight: float

    def goal(self, asked: Sequence[ChainGoal], numbers: Sequence[float], up: V3) -> Goal:
        """That the centre of mass stands above the pinned tips, by the numbers of a row, `up` in chain space."""
        points: list[V3] = []
        for chain, foot in self.supports:
            own = asked[chain].of_row(numbers)
            place = v3(own[:3])
            points.append(place)
            if foot is not None:
                points.append(plus(place, rotated(q4(own[3:7]), foot)))
        return Balance(self.masses, points, up, self.places, self.weight, HINT)


def weigh(
    chain_set: ChainSet, asked: Sequence[ChainGoal], bones: Sequence[bpy.types.PoseBone], segments: Sequence[V3]
) -> BodyMasses | None:
    """Weigh the bones of a body; None where it is not to keep its balance, or nothing is pinned.

    A bone carries the share that is set for it, else one by its length. What hangs on a bone of the figure without
    being of it counts with that bone, as its channels have it. The masses do not depend on the pose at hand, so that a
    solve has the same answer from every pose.

    Args:
        chain_set: The chains.
        asked: What each asks for.
        bones: The figure's n bones, evaluated.
        segments: n vectors, the bones in their own axes.

    Raises:
        InvalidValueError: A mass is not a finite number.
    """
    balance = rig_of(chain_set.owner).balance
    supports = _supports(asked, segments)
    if balance <= 0.0 or not supports:
        return None
    joints = {bone.name: i for i, bone in enumerate(bones)}
    owner: Any = bones[0].id_data  # the evaluated armature
    poses = pose_bones(owner)
    masses, moments, hanging = [0.0] * len(bones), [ORIGIN] * len(bones), dict[str, Matrix]()
    for name, mass in _masses(chain_set.owner).items():
        above = (one.name for one in (poses[name], *poses[name].parent_recursive))
        joint = next((joints[one] for one in above if one in joints), None)  # which carries it
        if joint is not None:
            own = scaled(segments[joint], 0.5)
            place = own if name in joints else _centre(poses[name], bones[joint], hanging)
            masses[joint] += mass
            moments[joint] = plus(moments[joint], scaled(place, mass))
    if not any(masses):
        return None
    places = [scaled(moment, 1.0 / mass) if mass else ORIGIN for moment, mass in zip(moments, masses, strict=True)]
    return BodyMasses(tuple(masses), tuple(places), tuple(supports), balance)


def _centre(bone: bpy.types.PoseBone, carrier: bpy.types.PoseBone, hanging: dict[str, Matrix]) -> V3:
    """The middle of a bone that hangs on another, at any remove, in that one's frame."""
    rest = carrier.bone.matrix_local.to_3x3()
    middle = _pose(bone, carrier, hanging) @ Vector((0.0, 0.5 * bone.bone.length, 0.0))
    return v3(rest.inverted() @ middle)


def _pose(bone: bpy.types.PoseBone, carrier: bpy.types.PoseBone, hanging: dict[str, Matrix]) -> Matrix:
    """The matrix of a bone in armature space by its channels, with the bone that carries it at rest at the origin."""
    if bone == carrier:
        return carrier.bone.matrix_local.to_3x3().to_4x4() @ Matrix.LocRotScale(None, None, carrier.scale)
    if bone.name not in hanging:
        assert bone.parent is not None, "it hangs on the carrier"
        above = _pose(bone.parent, carrier, hanging)
        hanging[bone.name] = Link.of(bone).pose(above, Quaternion(read_rotation(bone)))
    return hanging[bone.name]


def _supports(asked: Sequence[ChainGoal], segments: Sequence[V3]) -> list[tuple[int, V3 | None]]:
    """`BodyMasses.supports`."""
    found = list[tuple[int, V3 | None]]()
    for k, one in enumerate(asked):
        if one.rank == PIN and not one.kind.aims and one.weight > 0.0:
            tip = segments[one.joints[-1]]
            away = tip if one.at_head else scaled(tip, -1.0)
            found.append((k, away if one.turns else None))
    return found


def _masses(owner: bpy.types.Object) -> dict[str, float]:
    """The masses of the bones that deform, or of all where none does; by the bones' names."""
    controls = control_names(owner)
    bones = [bone for bone in pose_bones(owner) if bone.name not in controls]
    bones = [bone for bone in bones if bone.bone.use_deform] or bones
    whole = sum(bone.bone.length for bone in bones) or 1.0
    masses: list[float] = [getattr(bone, "fabrik_mass") for bone in bones]
    for bone, mass in zip(bones, masses, strict=True) if not are_finite(masses) else ():
        if not are_finite([mass]):
            raise InvalidValueError(Message("MASS_NOT_FINITE"), bone=bone.name)
    return {bone.name: mass or bone.bone.length / whole for bone, mass in zip(bones, masses, strict=True)}


# What chains ask for, from their settings.

NUMBERS = {
    "influence": Message("INFLUENCE"),
    "pole_angle": Message("POLE_ANGLE"),
    "pole_fades": Message("POLE_FADES"),
    "weight": Message("WEIGHT"),
    "orientation_weight": Message("ORIENTATION_WEIGHT"),
    "stretch": Message("STRETCH"),
    "soft": Message("SOFT"),
    "body_helps": Message("BODY_HELPS"),
}


def ask(
    chain: FabrikChain,
    bones: Sequence[bpy.types.PoseBone],
    places: dict[str, int],
    frames: Frames,
    *,
    is_one: bool,
    is_let_go: bool,
) -> ChainGoal:
    """What a chain asks for; where it starts, and where it is among the others, is filled in later.

    Raises:
        InvalidValueError: A setting is not a finite number, or the axis to aim is zero.
    """
    numbers = {name: getattr(chain, name) for name in NUMBERS}
    if not are_finite(numbers.values()):
        lost = next(told for name, told in NUMBERS.items() if not are_finite([numbers[name]]))
        raise InvalidValueError(Message("SETTING_NOT_FINITE", name=lost), chain=chain.name)
    kind, turns = GOAL_KINDS[chain.kind], turns_tip(chain)
    aims, heeds, axis = kind.aims, kind.settings, v3(chain.aim_axis) if kind.aims else Y_AXIS
    if aims and (not are_finite(axis) or length(axis) <= 0.0):
        raise InvalidValueError(Message("AIM_AXIS_NOT_FINITE"), chain=chain.name)
    at_head = not aims and chain.at_head
    names, influence = [bone.name for bone in bones], 1.0 if is_one else chain.influence
    asks = influence > 0.0 and not is_let_go
    frame = places[frames["target"]] if "target" in frames else SOLVE_SPACE
    pole, swing, turn = frames.get("pole", ""), "", IDENTITY
    if pole and pole not in places:
        swing = pole
        pole, turn = _swing_of(chain, bones[0], swing, places)
    is_alone = is_one and kind.is_exact and not (at_head or turns)  # nothing weighs against it
    return ChainGoal(
        chain.name,
        tuple(names),
        tuple([places[name] for name in names]),
        kind,
        options_of(chain) if kind.own else (),
        at_head,
        turns,
        chain.pole is not None and not aims and len(bones) > at_head,
        bending_count(bones, at_head=at_head),
        chain.pole_angle,
        chain.weight if asks and not is_alone else float(asks),
        chain.orientation_weight * chain.weight if asks else 0.0,
        PIN if chain.pin or is_walked_body(chain) else ASKED,
        axis,
        chain.soft if "soft" in heeds else 0.0,
        chain.stretch if "stretch" in heeds else 1.0,
        1.0 if is_one or "body_helps" not in heeds or len(bones) <= 1 + at_head else chain.body_helps,
        influence,
        frame,
        frame if chain.orientation == "TARGET" else SOLVE_SPACE,
        places.get(pole, SOLVE_SPACE),
        swing,
        turn,
        rotated(turn, Y_AXIS) if swing else Y_AXIS,
        pole_fades=chain.pole_fades,
    )


def offset(asked: ChainGoal, chain: FabrikChain, root: bpy.types.PoseBone, *, is_one: bool) -> ChainGoal:
    """What a chain asks for whose controls tell how far from its start pose it is to be (`goals.is_offset`).

    A body stands where its motion has it as far as pins let it, before all that is asked for. Nothing gives way softly:
    a motion goes as far as it goes, and would be another one as soon as anything is edited.
    """
    is_body = asked.joints == (0,) and not is_one and asked.rank != PIN
    pole, side = _resting_pole(chain, root, asked.swing) if asked.has_pole and asked.swing else (ORIGIN, ORIGIN)
    return asked._replace(
        is_offset=True,
        rank=PLACED if is_body else asked.rank,
        turn_frame=asked.frame,
        soft=0.0,
        pole_angle=0.0,
        pole_fades=BENT,
        pole_at_rest=pole,
        bend_at_rest=side,
    )


def _resting_pole(chain: FabrikChain, root: bpy.types.PoseBone, swing: str) -> tuple[V3, V3]:
    """Where the pole of a swinging chain is at rest, from the limb's root in the axes of that bone; and its bend then.

    The latter is a direction in the axes of the first bone at rest.
    """
    assert chain.pole is not None, "it has one"
    axes = pose_bones(owner_of_bone(root))[swing].bone
    pole = carrier_of(swing, "pole", chain.pole, chain.pole_bone).translation
    side = root.bone.matrix_local.to_3x3().inverted() @ axes.matrix_local.to_3x3() @ pole
    return v3(pole), v3(side)


def _swing_of(chain: FabrikChain, root: bpy.types.PoseBone, name: str, places: Collection[str]) -> tuple[str, Q4]:
    """The bone of the figure that carries a swing bone, or "", and how that is turned in its axes at rest.

    Without one the axes are those of chain space, that is of the first bone at rest. One of another limb is refused.
    """
    swing = pose_bones(owner_of_bone(root))[name]
    if (swing.bone.head_local - root.bone.head_local).length > ON_HEAD * root.bone.length:
        reason = Message("GOAL_FOLLOWS_FIGURE", role=ROLES["pole"], bone=name)
        raise TargetError(reason, chain=chain.name)
    is_joint = swing.parent is not None and swing.parent.name in places
    frame = swing.parent if is_joint and swing.parent is not None else root
    turn = axes_of(frame.bone.matrix_local.inverted() @ swing.bone.matrix_local)
    return frame.name if is_joint else "", turn

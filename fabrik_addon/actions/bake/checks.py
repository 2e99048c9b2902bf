# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake is asked for, and what can't be baked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import radians

import bpy

from ...errors import BoneError, ChainError, InvalidValueError, RigError, are_finite, place_of
from ...rig.animation.animation import Animated
from ...rig.animation.channels import rotation_path
from ...rig.animation.compat import curves_of_action, fcurves_of, shares_curves
from ...rig.checks import check_drivers, check_rig
from ...rig.figure.goal_options import written_besides
from ...rig.figure.groups import ChainSet, figure_bones, sets_of
from ...rig.schema import rig_of
from ...texts import Text
from ..frames import MOST_FRAMES, check_frame, check_time
from ..motion.marks import curve_refusal
from ..solve import bones_above, bones_of

INTO = ("ACTION", "NEW_ACTION", "NLA")
INTERPOLATIONS = ("LINEAR", "BEZIER")
VERIFY = ("EVERY", "SAMPLE", "NONE")
MOST_CLEAN_UP = radians(30.0)
ROUNDING = 1e-6  # radians by which a property in single precision may be beyond its range


@dataclass(frozen=True, slots=True)
class BakeSettings:
    """What to bake.

    Attributes:
        frames: The frames, rising.
        into: "ACTION" for the armature's action, "NEW_ACTION" for a copy of it, "NLA" for a new track.
        interpolation: "LINEAR" or "BEZIER".
        verify: "EVERY" to let Blender evaluate every frame afterwards and compare, "SAMPLE" some of them, or "NONE".
        only_keys: Whether each chain is keyed only where its target, its pole or a setting has a key.
        clean_up: Angle in radians by which a joint may be off at a frame so that keys can be left out; 0 keeps all.
        stays_enabled: Whether the chains are still to be solved afterwards.

    Raises:
        InvalidValueError: One of them is none of these.
    """

    frames: tuple[float, ...]
    into: str = INTO[0]
    interpolation: str = INTERPOLATIONS[0]
    verify: str = VERIFY[0]
    only_keys: bool = False
    clean_up: float = 0.0
    stays_enabled: bool = False

    def __post_init__(self) -> None:
        if not self.frames:
            raise InvalidValueError("the range ends before it starts: there is no frame to bake")
        if len(self.frames) > MOST_FRAMES:
            raise InvalidValueError(
                Text("{count} frames are more than {most_frames}", count=len(self.frames), most_frames=MOST_FRAMES)
            )
        if not are_finite(self.frames) or [*self.frames] != sorted({*self.frames}):
            raise InvalidValueError("the frames do not rise")
        for frame in (self.frames[0], self.frames[-1]):
            check_frame(frame)
        choices = ((self.into, INTO), (self.interpolation, INTERPOLATIONS), (self.verify, VERIFY))
        for chosen, words in choices:
            if chosen not in words:
                raise InvalidValueError(Text("'{chosen}' is none of {names}", chosen=chosen, names=", ".join(words)))
        if not 0.0 <= self.clean_up <= MOST_CLEAN_UP + ROUNDING:
            raise InvalidValueError("the clean-up is not between 0 and 30 degrees")


# What can't be baked, found before anything is written.

FIXED = {"tip_bone", "bone_count", "target_bone", "pole_bone", "enabled", "start"}  # of a chain


def check_bake(context: bpy.types.Context, sets: Sequence[ChainSet], into: str) -> None:
    """Refuse what would be baked wrong.

    Raises:
        RigError: An action can't be written, or would not play as it is written.
        ChainError: What a chain is made of is animated, or its goals hang on a chain that is not baked.
    """
    scene = context.scene
    owners = {one.owner.name_full: one.owner for one in sets}
    if scene is not None:
        check_time(scene)
    for owner in owners.values():
        check_rig(owner, context.evaluated_depsgraph_get())
        if _is_put_to_rest(owner):
            raise RigError("its pose position is animated", rig=owner.name)
        check_action(owner, [one for one in sets if one.owner == owner], into)
    animated = {name: Animated(owner) for name, owner in owners.items()}
    for one in sets:
        _check_set(one, animated[one.owner.name_full])
    _check_carriers(context, sets)


def check_action(owner: bpy.types.Object, sets: Sequence[ChainSet], into: str) -> None:
    """Refuse an armature whose action can't be keyed, or would not play as it is keyed.

    Raises:
        RigError: It is so.
    """
    data = owner.animation_data
    if data is None:
        return
    reason = _nla_refusal(data, into) or _action_refusal(owner, data, into)
    if reason:
        raise RigError(reason, rig=owner.name)
    with place_of(rig=owner.name):
        bones = {bone.name: bone for one in sets for bone in figure_bones(one)}
        plain = [found for one in sets for found in written_besides(one)]
    own = {*map(rotation_path, bones.values()), *(bone.path_from_id(name) for bone, name in plain)}
    for curve in fcurves_of(owner):
        if curve.group is not None and curve.group.mute and curve.group.name in bones and into != "NLA":
            raise RigError(Text("the channels of '{path}' are muted", path=curve.group.name), rig=owner.name)
        if curve.data_path in own:
            reason = curve_refusal(curve)
            if into == "NLA":
                reason = Text("its action keys '{path}', which would play over the track", path=curve.data_path)
            if reason:
                raise RigError(reason, rig=owner.name)


def _nla_refusal(data: bpy.types.AnimData, into: str) -> str:
    """Why the state of an armature's NLA keeps keys from playing as they are; or ""."""
    if any(track.is_solo for track in data.nla_tracks):
        return Text("one of its NLA tracks plays solo, so keys would not play")
    if data.use_tweak_mode:
        return Text("an NLA strip is being tweaked: leave tweak mode first")
    if data.action_blend_type != "REPLACE" or data.action_influence < 1.0:
        return Text("its action is mixed with NLA strips, so keys would not play as they are")
    if into == "NLA" and not data.use_nla:
        return Text("its NLA tracks are switched off, so that a new one would not play")
    return ""


def _action_refusal(owner: bpy.types.Object, data: bpy.types.AnimData, into: str) -> str:
    """Why nothing can be written into an armature's action; or ""."""
    if into != "ACTION" or data.action is None:
        return ""
    if not data.action.is_editable:
        return Text("its action '{action}' is linked: bake into a new one", action=data.action.name)
    action, other = data.action.name, shares_curves(owner)
    if other is None:
        return ""
    return Text("its action '{action}' also moves '{other}': bake into a new one", action=action, other=other.name)


def _is_put_to_rest(owner: bpy.types.Object) -> bool:
    """Whether keys or a driver switch the armature between rest and pose position."""
    data = getattr(owner.data, "animation_data", None)
    if data is None:
        return False
    curves = [*data.drivers, *(curves_of_action(data.action) if data.action else ())]
    return any(curve.data_path == "pose_position" for curve in curves)


def _check_set(one: ChainSet, animated: Animated) -> None:
    """Refuse chains of which what they are made of is animated, or whose goals have drivers that are broken."""
    with place_of(rig=one.owner.name):
        bones = figure_bones(one)
    for bone in bones:
        if "rotation_mode" in animated.of_bone(bone):
            reason = Text("its rotation mode is animated")
            raise BoneError(reason, rig=one.owner.name, chain=one.names[0], bone=bone.name)
    for chain in one.chains:
        for name in sorted(animated.of_chain(chain) & FIXED):
            reason = Text("its '{name}' is animated, so it is not one chain", name=name)
            raise ChainError(reason, rig=one.owner.name, chain=chain.name)
        check_drivers(one.owner, chain)


def _check_carriers(context: bpy.types.Context, sets: Sequence[ChainSet]) -> None:
    """Refuse chains that other enabled ones carry which are not baked with them, since these do not move meanwhile."""
    names = {(one.owner.name_full, name) for one in sets for name in one.names}
    carried: dict[tuple[str, str], str] = {}
    for owner in context.scene.objects if context.scene else ():
        if owner.type != "ARMATURE":
            continue
        chains = [chain for chain in rig_of(owner).chains if chain.enabled]
        for other in sets_of(owner, [chain for chain in chains if (owner.name_full, chain.name) not in names]):
            carried |= dict.fromkeys(
                bones_of(other), Text("'{name}' of '{armature}'", name=other.names[0], armature=owner.name)
            )
    for one in sets if carried else ():
        found = bones_above(one, bones_of(one)) & carried.keys()
        if found:
            text = Text(
                "its root or its goal hangs on the chain {chain}: bake that first, or with it",
                chain=carried[min(found)],
            )
            raise ChainError(text, rig=one.owner.name, chain=one.names[0])

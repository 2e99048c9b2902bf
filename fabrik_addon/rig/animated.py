# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an armature object is animated: by its action, its drivers, or strips of its NLA tracks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import bpy

from ..errors import FabrikError
from .animated_paths import OF_CHAIN, animated_paths, chain_of
from .chain_bones import resolve_bones
from .channels import read_locks
from .checks import movers_of
from .figures import ChainSet, body_moves, figure_bones
from .keys import KeyedChannels
from .schema import FabrikChain, rig_of
from .start_pose import hears_body_keys
from .stretching import written_besides
from .walk_goals import is_walked

OF_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(.+)')
SETTINGS = ("fabrik_", "scale", "ik_", "use_ik_", "lock_")  # of a bone, on which the chain's solve depends
PLACES = ("location", "rotation", "scale", "delta_", "constraints[")  # an object
BODY = ("fabrik_body_stiffness", "fabrik_spine", "fabrik_balance", "fabrik_body_captured")
WALKS = "fabrik_walker_on"
GROUPING = ("enabled", "bone_count")  # of a chain: on these depends which chains are solved together
SHAPING = ("start", "captured", *GROUPING)  # of a chain: what makes its bones other joints


class Motion(NamedTuple):
    """What moves chains that are solved together from frame to frame beside their goals.

    Attributes:
        is_carried: Their armature object moves, or what their first bone hangs on.
        is_walked: A planned walk says where they go.
        is_keyed: What is written to their bones is played from keys, strips or drivers, so that it is lost where it is
            written before a frame is evaluated.
        is_turned: Of that their rotations, which then run on from other keys.
        changes: They become other chains: a limit, a scale, which bones they are.
        start_changes: They start from other poses, as their keys have it.
        settings_change: So do settings of the chains themselves, which leave the bones the joints that they are.
    """

    is_carried: bool = False
    is_walked: bool = False
    is_keyed: bool = False
    is_turned: bool = False
    changes: bool = False
    start_changes: bool = False
    settings_change: bool = False

    @property
    def is_same(self) -> bool:
        """Whether they are the same chains in all frames, with the same settings and start pose, wherever they go."""
        return not (self.changes or self.start_changes or self.settings_change)


class Animated:
    """The animated properties of an armature object and of its bones and chains, gathered once.

    Attributes:
        has_data: Whether the armature itself, with its rest bones and their flags, is animated.
    """

    def __init__(self, owner: bpy.types.Object) -> None:
        data = getattr(owner.data, "animation_data", None)
        self.has_data = data is not None and bool(data.action or data.drivers or data.nla_tracks)
        self._owner = owner
        self._own: set[str] = set()
        self._bones: dict[str, set[str]] = {}
        self._chains: dict[str, set[str]] = {}
        names = [chain.name for chain in rig_of(owner).chains]
        for path in animated_paths(owner):
            bone, chain = OF_BONE.fullmatch(path), OF_CHAIN.fullmatch(path)
            if bone is not None:
                self._bones.setdefault(bpy.utils.unescape_identifier(bone[1]), set()).add(bone[2])
            elif chain is not None:
                self._chains.setdefault(chain_of(chain, names), set()).add(chain[3])
            else:
                self._own.add(path)

    def motions_of(self, sets: Sequence[ChainSet], by_ik: Iterable[str]) -> dict[tuple[str, ...], Motion]:
        """What moves the chains of an armature, each set from frame to frame; by their names.

        Args:
            sets: All chains that are posed, by those that are solved together.
            by_ik: Names of bones that IK constraints move.
        """
        bones = {one.names: _bones_of(one) for one in sets}
        moved = {*by_ik, *(bone.name for own in bones.values() for bone in own)}  # none of them is above its own
        return {one.names: self._motion_of(one, bones[one.names], moved) for one in sets}

    def _motion_of(self, chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone], moved: Collection[str]) -> Motion:
        """What moves chains that are solved together from frame to frame beside their goals.

        Args:
            chain_set: Chains of the armature.
            bones: Their bones; none where these can't be read.
            moved: Names of bones that something else moves: other chains, an IK constraint.
        """
        if not bones:
            return Motion()
        root, moves, besides = bones[0], body_moves(chain_set), _besides(chain_set)
        settings = {name for chain in chain_set.chains for name in self.of_chain(chain)}
        changes = any(name.startswith(SHAPING) for name in settings) or self._bones_change(bones, besides)
        is_turned = self.are_turned(bones)
        is_root_moved = _is_moved(self.of_bone(root), root) and (root.name, "location") not in besides
        return Motion(
            self._object_moves() or is_root_moved or self._moves_above(root, moved),
            any(is_walked(chain) for chain in chain_set.chains),
            is_turned or any(name in self._bones.get(bone, ()) for bone, name in besides),
            is_turned,
            changes or self._body_changes(chain_set, bones),
            self._start_changes(chain_set, bones, moves),
            bool(settings),
        )

    def are_turned(self, bones: Iterable[bpy.types.PoseBone]) -> bool:
        """Whether the rotation of one of some bones is animated."""
        return any(name.startswith("rotation") for bone in bones for name in self.of_bone(bone))

    def regroups(self) -> bool:
        """Whether other chains may be solved together in another frame."""
        return any(not names.isdisjoint(GROUPING) for names in self._chains.values())

    def _start_changes(self, chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone], moves: bool) -> bool:
        """Whether chains, or their body, start from other poses from frame to frame."""
        owner, chains, _ = chain_set
        if any(chain.start == "ANIMATED" for chain in chains):
            return True
        if chain_set.is_one:
            return False
        names = {bone.name for chain in chains for bone in resolve_bones(owner, chain)}
        if not hears_body_keys(chain_set, [bone for bone in bones if bone.name in names], KeyedChannels(owner, 0.0)):
            return False
        is_turned = self.are_turned(bone for bone in bones if bone.name not in names)
        return is_turned or (moves and "location" in self.of_bone(bones[0]))

    def _body_changes(self, chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone]) -> bool:
        """Whether settings of a body, its weight, or who says where it goes are others from frame to frame."""
        if chain_set.is_one:
            return WALKS in self._own
        if any(path.startswith((*BODY, WALKS)) for path in self._own):
            return True
        return bool(chain_set.body) and self._weighs(bones)

    def _weighs(self, bones: Sequence[bpy.types.PoseBone]) -> bool:
        """Whether bones that a body with some bones carries without moving them move, and shift its weight."""
        names = {bone.name for bone in bones}
        return rig_of(self._owner).balance > 0.0 and any(name not in names for name in self._bones)

    def _object_moves(self) -> bool:
        """Whether the armature object moves."""
        owner = self._owner
        if owner.parent is not None or owner.rigid_body is not None:
            return True
        return any(not found.mute for found in owner.constraints) or any(path.startswith(PLACES) for path in self._own)

    def _moves_above(self, root: bpy.types.PoseBone, moved: Collection[str]) -> bool:
        """Whether bones above a chain move."""
        return any(
            bone.name in moved or self.of_bone(bone) or any(not found.mute for found in bone.constraints)
            for bone in root.parent_recursive
        )

    def motions_alone(self, sets: Sequence[ChainSet]) -> dict[tuple[str, ...], Motion]:
        """`motions_of` where no other chains of the armature are posed.

        Where a constraint of any bone is switched on or off, all of them may be others in each frame.
        """
        found = self.motions_of(sets, movers_of(self._owner).by_ik)
        if any(name.startswith("constraints[") for own in self._bones.values() for name in own):
            return {key: motion._replace(changes=True) for key, motion in found.items()}
        return found

    def of_object(self) -> set[str]:
        """Paths of the properties of the armature object itself, but for those of its chains."""
        return self._own

    def of_bone(self, bone: bpy.types.PoseBone) -> set[str]:
        """Names of the properties of a bone."""
        return self._bones.get(bone.name, set())

    def of_chain(self, chain: FabrikChain) -> set[str]:
        """Names of the settings of a chain."""
        return self._chains.get(chain.name, set())

    def _bones_change(self, bones: Sequence[bpy.types.PoseBone], besides: set[tuple[str, str]]) -> bool:
        """Whether something animated makes the bones of chains others from frame to frame.

        Args:
            bones: The bones.
            besides: What a solve writes besides rotations.
        """
        return self.has_data or any(
            _is_setting(name, bone, i)
            for i, bone in enumerate(bones)
            for name in self.of_bone(bone)
            if (bone.name, name) not in besides
        )


def _bones_of(chain_set: ChainSet) -> list[bpy.types.PoseBone]:
    """The bones of chains; none where these can't be read, which says why."""
    try:
        return figure_bones(chain_set)
    except FabrikError:
        return []


def _besides(chain_set: ChainSet) -> set[tuple[str, str]]:
    """What a solve writes of chains besides rotations: names of bones, each with that of a property."""
    try:
        return {(bone.name, name) for bone, name in written_besides(chain_set)}
    except FabrikError:  # what is wrong is told when they are solved
        return set()


def _is_setting(name: str, bone: bpy.types.PoseBone, number: int) -> bool:
    if name.startswith("rotation"):
        return any(read_locks(bone))  # what is locked is part of the limit
    return name.startswith(SETTINGS) or (number > 0 and _is_moved((name,), bone))


def _is_moved(names: Collection[str], bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is animated in its location, which Blender ignores where it is connected."""
    return "location" in names and not bone.bone.use_connect

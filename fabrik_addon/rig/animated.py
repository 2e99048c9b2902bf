# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an armature object is animated: by its action, its drivers, or strips of its NLA tracks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import bpy

from .channels import read_locks
from .compat import curves_of_action, fcurves_of, strips_of
from .properties import FabrikChain, rig_of

OF_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(.+)')
SETTINGS = ("fabrik_", "scale", "ik_", "use_ik_", "lock_")  # of a bone, on which the chain's solve depends
PLACES = ("location", "rotation", "scale", "delta_", "constraints[")  # an object
OF_CHAIN = re.compile(r'fabrik_chains\[(?:(\d+)|"((?:[^"\\]|\\.)*)")\]\.(.+)')


class Motion(NamedTuple):
    """What moves a chain from frame to frame beside its goals.

    Attributes:
        is_carried: Its armature object moves, or what its first bone hangs on.
        changes: It becomes another chain: a setting, a limit, a scale, its start pose.
        is_keyed: Its own rotations are played from keys, strips or drivers, so that what is written before a frame is
            evaluated is lost.
        only_settings: What changes are but settings of the chain itself: its bones stay the joints that they are.
    """

    is_carried: bool = False
    changes: bool = False
    is_keyed: bool = False
    only_settings: bool = False


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
        for path in _paths(owner):
            bone, chain = OF_BONE.fullmatch(path), OF_CHAIN.fullmatch(path)
            if bone is not None:
                self._bones.setdefault(bpy.utils.unescape_identifier(bone[1]), set()).add(bone[2])
            elif chain is not None and chain[1] is None:
                self._chains.setdefault(bpy.utils.unescape_identifier(chain[2]), set()).add(chain[3])
            elif chain is not None and int(chain[1]) < len(names):
                self._chains.setdefault(names[int(chain[1])], set()).add(chain[3])
            elif chain is None:
                self._own.add(path)

    def motion_of(self, chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], moved: Collection[str] = ()) -> Motion:
        """What moves a chain from frame to frame beside its goals.

        Args:
            chain: One of the armature's.
            bones: Its bones, root to tip.
            moved: Names of bones that something else moves: other chains, an IK constraint.
        """
        are_others = chain.start == "ANIMATED" or self._bones_change(bones)
        return Motion(
            self._object_moves() or _is_moved(self.of_bone(bones[0]), bones[0]) or self._moves_above(bones[0], moved),
            are_others or bool(self.of_chain(chain)),
            any(name.startswith("rotation") for bone in bones for name in self.of_bone(bone)),
            bool(self.of_chain(chain)) and not are_others,
        )

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

    def of_bone(self, bone: bpy.types.PoseBone) -> set[str]:
        """Names of the properties of a bone."""
        return self._bones.get(bone.name, set())

    def of_chain(self, chain: FabrikChain) -> set[str]:
        """Names of the settings of a chain."""
        return self._chains.get(chain.name, set())

    def _bones_change(self, bones: Sequence[bpy.types.PoseBone]) -> bool:
        """Whether something animated makes the bones of a chain others from frame to frame."""
        if self.has_data:
            return True
        return any(_is_setting(name, bone, i) for i, bone in enumerate(bones) for name in self.of_bone(bone))


def _is_setting(name: str, bone: bpy.types.PoseBone, number: int) -> bool:
    if name.startswith("rotation"):
        return any(read_locks(bone))  # what is locked is part of the limit
    return name.startswith(SETTINGS) or (number > 0 and _is_moved((name,), bone))


def _is_moved(names: Collection[str], bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is animated in its location, which Blender ignores where it is connected."""
    return "location" in names and not bone.bone.use_connect


def _paths(owner: bpy.types.Object) -> Iterator[str]:
    data = owner.animation_data
    if data is None:
        return
    yield from (curve.data_path for curve in (*fcurves_of(owner), *data.drivers))
    for strip in strips_of(data):
        yield from (curve.data_path for curve in curves_of_action(strip.action))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an armature object is animated: by its action, its drivers, or strips of its NLA tracks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import bpy

from .channels import read_locks
from .compat import curves_of_action, fcurves_of, strips_of
from .properties import FabrikChain, rig_of

OF_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(.+)')
SETTINGS = ("fabrik_", "scale", "ik_", "use_ik_", "lock_")  # of a bone, on which the chain's solve depends
OF_CHAIN = re.compile(r'fabrik_chains\[(?:(\d+)|"((?:[^"\\]|\\.)*)")\]\.(.+)')


class Animated:
    """The animated properties of an armature's bones and chains, gathered once.

    Attributes:
        has_data: Whether the armature itself, with its rest bones and their flags, is animated.
    """

    def __init__(self, owner: bpy.types.Object) -> None:
        data = getattr(owner.data, "animation_data", None)
        self.has_data = data is not None and bool(data.action or data.drivers or data.nla_tracks)
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

    def of_bone(self, bone: bpy.types.PoseBone) -> set[str]:
        """Names of the properties of a bone."""
        return self._bones.get(bone.name, set())

    def of_chain(self, chain: FabrikChain) -> set[str]:
        """Names of the settings of a chain."""
        return self._chains.get(chain.name, set())

    def changes(self, chain: FabrikChain, bones: Sequence[bpy.types.PoseBone]) -> bool:
        """Whether something animated but its goals makes a chain another one from frame to frame."""
        if self.of_chain(chain) or self.has_data:
            return True
        return any(_is_setting(name, bone, i) for i, bone in enumerate(bones) for name in self.of_bone(bone))


def _is_setting(name: str, bone: bpy.types.PoseBone, number: int) -> bool:
    if name.startswith("rotation"):
        return any(read_locks(bone))  # what is locked is part of the limit
    return name.startswith(SETTINGS) or (name == "location" and number > 0)


def _paths(owner: bpy.types.Object) -> Iterator[str]:
    data = owner.animation_data
    if data is None:
        return
    yield from (curve.data_path for curve in (*fcurves_of(owner), *data.drivers))
    for strip in strips_of(data):
        yield from (curve.data_path for curve in curves_of_action(strip.action))

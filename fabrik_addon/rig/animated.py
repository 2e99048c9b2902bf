# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an armature object is animated: by its action, its drivers, or strips of its NLA tracks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy

from .compat import curves_of_action, fcurves_of
from .properties import FabrikChain, rig_of

OF_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(.+)')
OF_CHAIN = re.compile(r'fabrik_chains\[(?:(\d+)|"((?:[^"\\]|\\.)*)")\]\.(.+)')


class Animated:
    """The animated properties of an armature's bones and chains, gathered once."""

    def __init__(self, owner: bpy.types.Object) -> None:
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


def _paths(owner: bpy.types.Object) -> Iterator[str]:
    data = owner.animation_data
    if data is None:
        return
    yield from (curve.data_path for curve in (*fcurves_of(owner), *data.drivers))
    strips = (strip for track in data.nla_tracks if not track.mute for strip in track.strips)
    for strip in strips:
        yield from (curve.data_path for curve in curves_of_action(strip.action)) if strip.action else ()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking chains to keys."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..errors import InvalidValueError
from ..rig.chain_bones import resolve_bones
from ..rig.compat import is_selected
from ..rig.properties import name_all, rig_of
from ..session.bake import BakeSettings, ChainBake, bake, frames_between
from .base import NAMED, ChainOperator, listed

if TYPE_CHECKING:
    from .base import Returned


class FABRIK_OT_bake(ChainOperator):
    """Solve chains over a range of frames and key their bones; the chains are switched off, so that the keys play"""

    bl_idname = "fabrik.bake"
    bl_label = "Bake"

    if TYPE_CHECKING:
        frame_start: int
        frame_end: int
        step: int
        chains: str
        into: str
        interpolation: str
        use_check: bool
    else:
        frame_start: IntProperty(name="Start", description="First frame", default=1)
        frame_end: IntProperty(name="End", description="Last frame", default=250)
        step: IntProperty(name="Step", description="Frames from key to key", default=1, min=1)
        chains: EnumProperty(
            name="Chains",
            items=(
                ("ALL", "Enabled", "All enabled chains of the armature"),
                ("ACTIVE", "Active", "The active chain"),
                ("SELECTED", "Selected", "Chains with a selected bone"),
            ),
        )
        into: EnumProperty(
            name="Into",
            items=(
                ("ACTION", "Action", "The armature's action; keys of the chains in the range are replaced"),
                ("NEW_ACTION", "New Action", "A copy of the armature's action"),
                ("NLA", "NLA Track", "A new action on a track of its own"),
            ),
        )
        interpolation: EnumProperty(
            name="Interpolation",
            items=(("LINEAR", "Linear", "Straight from key to key"), ("BEZIER", "Bezier", "Smooth from key to key")),
        )
        use_check: BoolProperty(
            name="Check", description="Evaluate every frame afterwards and report the worst tip error", default=True
        )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        scene = context.scene
        preview = scene.use_preview_range
        self.frame_start = scene.frame_preview_start if preview else scene.frame_start
        self.frame_end = scene.frame_preview_end if preview else scene.frame_end
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        name_all(owner)
        if self.frame_end < self.frame_start:
            raise InvalidValueError(
                f"the range ends at frame {self.frame_end}, before it starts at {self.frame_start}", rig=owner.name
            )
        frames = frames_between(self.frame_start, self.frame_end, self.step)
        settings = BakeSettings(frames, self.into, self.interpolation, self.use_check)
        results = bake(context, owner, self._names(owner), settings)
        if len(results) > NAMED:
            missed, text = _summary(results, self.use_check)
            self.report({"WARNING"} if missed else {"INFO"}, text)
            return {"FINISHED"}
        for result in results:
            self.report({"WARNING"} if result.unreached else {"INFO"}, _sentence(result, len(frames), self.use_check))
        return {"FINISHED"}

    def _names(self, owner: bpy.types.Object) -> list[str]:
        rig = rig_of(owner)
        if self.chains == "ACTIVE":
            return [rig.active.name] if rig.active else []
        enabled = [chain for chain in rig.chains if chain.enabled]
        if self.chains == "ALL":
            return [chain.name for chain in enabled]
        return [chain.name for chain in enabled if any(is_selected(bone) for bone in resolve_bones(owner, chain))]


def _summary(results: list[ChainBake], is_checked: bool) -> tuple[bool, str]:
    """Whether some frames were missed, and what came of many chains in words."""
    text = f"{len(results)} chains, {sum(result.keys for result in results)} keys"
    if is_checked:
        text += f", tip error {max(result.worst_tip_error for result in results):.1e} of the length at most"
    missed = [result.chain for result in results if result.unreached]
    if missed:
        text += f"; frames not reached by {listed(missed, 'chains')}"
    return bool(missed), text


def _sentence(result: ChainBake, count: int, is_checked: bool) -> str:
    """What came of a chain, in words."""
    text = f"{result.chain}: {result.keys} keys"
    if is_checked:
        text += f", tip error {result.worst_tip_error:.1e} of the length at most"
    text += f", largest turn {degrees(result.worst_turn[0]):.3g}° in frame {result.worst_turn[1]}"
    if result.unreached:
        frames = listed([str(frame) for frame, _ in result.unreached], "frames")
        text += f"; {len(result.unreached)} of {count} frames not reached: {frames}"
    return text


CLASSES = (FABRIK_OT_bake,)

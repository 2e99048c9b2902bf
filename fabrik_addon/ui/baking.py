# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel that tells what came of the last bake."""

from __future__ import annotations

from typing import Any

import bpy

from ..actions.bake import read_report
from ..actions.chain_edit import working_chain, working_rig
from ..actions.status import STATUS_TEXTS
from ..overlay.settings import scene_settings
from ..rig.schema import rig_of
from ..texts import counted
from ..translations import iface_
from .base import FabrikPanel, draw_wrapped, row_after

SHOWN = 8  # chains of which the panel tells
LEFT = 1e-3  # degrees beyond a limit that are not told: what rounding makes of it
RUNS = 3  # runs of frames of a chain of which it tells
# Pixels at scale 1.
UNIT = 20.0  # of the interface
BUTTONS = 3 * UNIT  # behind what is told of all chains
FRAME = 2.5 * UNIT  # the button with a frame


class FABRIK_PT_bake(FabrikPanel):
    """What came of the last bake: how its keys play"""

    bl_label = "Bake Report"
    told_at = ("baking", "the-report")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and bool(rig_of(working_rig(context)).bake_report)

    def draw(self, context: bpy.types.Context) -> None:
        report = read_report(working_rig(context))
        if report is not None:
            _draw_report(context, self.layout, report)


def _draw_report(context: bpy.types.Context, layout: bpy.types.UILayout, report: dict[str, Any]) -> None:
    """What came of the last bake: a line for each chain, those that missed frames first."""
    chains = sorted(report["chains"], key=lambda chain: -chain["unreached_count"])
    count = len(chains)
    keys = sum(chain["keys"] for chain in chains)
    text = iface_("{chains}, {keys} keys", chains=counted(count, "1 chain", "{count} chains"), keys=keys)
    header = row_after(context, layout, text, BUTTONS, "NONE")
    settings = scene_settings(context.scene)
    header.prop(settings, "show_strip", text="", icon="HIDE_OFF" if settings.show_strip else "HIDE_ON")
    header.operator("fabrik.report_copy", text="", icon="COPYDOWN")
    header.operator("fabrik.report_clear", text="", icon="X")
    active = working_chain(context).name
    shown = sorted(chains, key=lambda chain: chain["chain"] != active)[:1]
    shown += [chain for chain in chains if chain not in shown][: SHOWN - 1]
    for chain in shown:
        _draw_chain(context, layout.box().column(align=True), chain)
    if count > len(shown):
        layout.label(text=iface_("and {count} more", count=count - len(shown)))


def _draw_chain(context: bpy.types.Context, column: bpy.types.UILayout, chain: dict[str, Any]) -> None:
    missed = chain["unreached_count"]
    text = iface_(
        "{chain}: {keys} keys, {frames} frames", chain=chain["chain"], keys=chain["keys"], frames=chain["frames"]
    )
    draw_wrapped(context, column, text, "ERROR" if missed else "CHECKMARK")
    if chain["worst_tip_error"] is not None:
        text = iface_("Tip error {error:.1e} of length", error=chain["worst_tip_error"])
        _draw_place(context, column, text, chain["worst_tip_error_frame"])
    if chain.get("worst_tip_turn_degrees") is not None:
        text = iface_("Rotation off by {angle:.2g}°", angle=chain["worst_tip_turn_degrees"])
        _draw_place(context, column, text, chain["worst_tip_turn_frame"])
    if chain["worst_violation_degrees"] > LEFT:
        text = iface_("Limits left by {angle:.2g}°", angle=chain["worst_violation_degrees"])
        draw_wrapped(context, column, text, "BLANK1")
    text = iface_("Largest turn {angle:.3g}°", angle=chain["worst_turn_degrees"])
    _draw_place(context, column, text, chain["worst_turn_frame"])
    for run in chain["unreached"][:RUNS]:
        first, last = run["first"], run["last"]
        span = f"{first:g}" if first == last else iface_("{first:g} to {last:g}", first=first, last=last)
        _draw_place(context, column, f"{span}: {iface_(STATUS_TEXTS[run['status']])}", first)
    if len(chain["unreached"]) > RUNS:
        draw_wrapped(context, column, iface_("{count} frames not reached in all", count=missed), "BLANK1")


def _draw_place(context: bpy.types.Context, column: bpy.types.UILayout, text: str, frame: float) -> None:
    """What there is to say, and a button that goes to its frame."""
    row = row_after(context, column, text, FRAME, "BLANK1")
    button = row.row(align=True)
    button.ui_units_x = FRAME / UNIT
    button.operator("fabrik.report_frame", text=f"{frame:g}").frame = frame


CLASSES = (FABRIK_PT_bake,)

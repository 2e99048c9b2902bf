# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that comes with the extension, opened in the browser.

Where it tells of each operator and setting is one list, for F1 and for the buttons with a question mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy

from ..rig.schema.fields import FORGOTTEN, text
from ..translations import rpt_
from .base import FabrikOperator, Returned

MANUAL = Path(__file__).parent.parent / "manual"

# Where the manual tells of what: a page, one of its headings, and what Blender calls a thing, in lower case and with
# "*" for any end; what is in `SHORT` stands for more.
TABLE = """
characters one-button: op.character_setup
characters mappings: op.mapping_*
characters what-is-not-sure: fabriksetuppart.*
characters removing-it-again: op.rig_clear
chains the-other-side: op.chain_mirror
chains flipped-poses: op.flip_pose op.mirror_pose
chains the-list: op.chain_* chain.enabled chain.is_baked chain.known_as rig.* scene.list_index
chains bones-and-goal: op.target_* op.pole_* op.goal_* op.back_to_pose chain.tip_bone chain.bone_count chain.target*
  chain.pole*
chains duplicated-characters: op.goals_*
motion offset-and-place: op.goal_kind chain.goal
motion motion-below-goals-above: op.edits_* rig.edits
motion layers-of-edits: op.layer_* rig.layer* fabriklayer.* fabriklayerchannels.* bone.layers
motion contacts: op.contacts_* op.contact_* bone.contact* fabrikground.* rig.grounds fabrikoverlay.show_contacts
motion edits-through-time: op.time_* op.*_through_time scene.through_time scene.time_width
motion tweens: op.goals_tween
motion trails: op.trails_*
motion without-noise: op.motion_smooth
transfer transfer-motion: op.motion_transfer
transfer motion-from-files: op.motion_from_files
motion mirrored-copied-pasted: op.motion_*
chains start-pose: op.start_pose_* chain.start chain.captured chain.fingerprint fabrikcapturedrotation.*
chains what-a-goal-asks: op.effector_* chain.kind chain.aim_axis chain.effector chain.weight chain.stretch chain.soft
  chain.body_helps
chains rotation-of-the-tip: op.orientation_* chain.orientation* chain.rotation_offset
chains solver: chain.tolerance chain.max_passes chain.restarts chain.use_plain chain.influence
not_reached how-a-solve-ended: op.solve* chain.status chain.residual chain.turn_residual chain.softened chain.passes
  chain.blocking_bones chain.message*
not_reached what-has-changed-since: chain.solved_*
undo_and_keys which-commands-key: op.key
snapping between-bones-and-goals: op.goal_snap op.pose_snap
snapping from-ik-to-fk-and-back: op.limb_*
snapping between-chains-and-blenders-own-ik: op.from_ik op.to_ik
bodies goals-that-hang-on-the-body: op.goal_space op.grab op.release
bodies pins: op.pin_* chain.pin chain.held_*
bodies the-body: op.body_* op.balance_* fabrikcapturedbone.* rig.body_* rig.spine rig.balance rig.falloff bone.mass
walkers four-clicks: op.walker_*
walkers keys: op.walk_bake
walkers by-hand: op.walk_by_hand
walkers footprints-and-markers: op.walk_mark
walkers cycles-as-files: op.cycle_*
walkers the-plan: op.walk_* rig.walker_on rig.walker_plan rig.walker_digest rig.walker_inputs
walkers legs: fabrikwalkleg.* rig.walker_legs rig.walker_body rig.walker_upright
walkers settings: rig.walker_*
limits joint-limits: op.limit_axis bone.*
limits to-which-side-a-joint-bends: op.limit_from_bend
limits ways-to-set-many: op.limit_*
dragging dragging-bones: op.drag*
baking options: op.bake
baking the-report: op.report_* rig.bake_report fabrikoverlay.show_strip
steps step-by-step: op.record* op.step* windowmanager.fabrik_*
menus help: op.manual
menus preferences: fabrik_ap_preferences.*
live live: rig.live scene.live
live overlay: scene.overlay fabrikoverlay.*
"""
SHORT = {
    "op.": "bpy.ops.fabrik.",
    "chain.": "bpy.types.fabrikchain.",
    "rig.": "bpy.types.object.fabrik_",
    "bone.": "bpy.types.posebone.fabrik_",
    "scene.": "bpy.types.scene.fabrik_",
}


def _places(table: str) -> Iterator[tuple[str, str, str]]:
    """Each pattern of a table as Blender has it, with its page and heading."""
    for place, _, patterns in (line.partition(": ") for line in table.strip().replace("\n  ", " ").splitlines()):
        page, heading = place.split()
        for pattern in patterns.split():
            start, dot, rest = pattern.partition(".")
            yield SHORT.get(start + dot, f"bpy.types.{start}.") + rest, page, heading


PLACES = sorted(_places(TABLE), key=lambda place: -len(place[0]))  # the first that fits counts: the longest


def folder() -> str:
    """The manual's folder, as an address that ends with a slash."""
    return f"{MANUAL.as_uri()}/"


def is_built() -> bool:
    """Whether the manual is there as HTML; in a checkout it is Markdown alone."""
    return (MANUAL / "index.html").is_file()


def file_of(page: str, heading: str) -> str:
    """The file to open for a page, or for a heading of it ("" for none), inside the manual's folder.

    The HTML has a file for each heading, since systems open a local file without what stands behind a "#".
    """
    if not is_built():
        return f"{page}.md"
    return f"at/{page}.{heading}.html" if heading else f"{page}.html"


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """What Blender's F1 asks for: the manual's address, and for each pattern the file in it."""
    return folder(), tuple((pattern, file_of(page, heading)) for pattern, page, heading in PLACES)


class FABRIK_OT_manual(FabrikOperator):
    """Open the page of the manual that describes this, in the web browser; it comes with the extension"""

    bl_label = "FABRIK Manual"
    bl_options = {"INTERNAL"}  # a redo would open it again

    page = text("Page", "File of the manual, without its ending; empty for the first", options=FORGOTTEN)
    heading = text(
        "Heading", "Heading on the page, in small letters with hyphens; empty for its top", options=FORGOTTEN
    )

    def execute(self, context: bpy.types.Context) -> Returned:
        file = file_of(self.page or "index", self.heading)
        if not (MANUAL / file).is_file():
            self.report({"ERROR"}, rpt_("the manual has no '{file}'", file=file))
            return {"CANCELLED"}
        bpy.ops.wm.url_open(url=folder() + file)
        return {"FINISHED"}

# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that comes with the extension, opened in the browser.

Where it tells of each operator and setting is one list, for F1 and for the buttons with a question mark.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ..rig.schema.fields import FORGOTTEN, text
from ..translations import rpt_
from .base import FabrikOperator, Returned

MANUAL = Path(__file__).parent.parent / "manual"

PLANNED = ("on", "plan", "digest", "inputs")  # of a walker
# What Blender calls a thing, in lower case and with "*" for any end (the first that fits counts); a page; its heading.
PLACES: tuple[tuple[str, str, str], ...] = (
    ("bpy.ops.fabrik.character_setup", "characters", "one-button"),
    ("bpy.ops.fabrik.mapping_*", "characters", "mappings"),
    ("bpy.types.fabriksetuppart.*", "characters", "what-is-not-sure"),
    ("bpy.ops.fabrik.chain_mirror", "chains", "the-other-side"),
    ("bpy.ops.fabrik.chain_*", "chains", "the-list"),
    ("bpy.ops.fabrik.solve*", "not_reached", "how-a-solve-ended"),
    ("bpy.ops.fabrik.target_*", "chains", "bones-and-goal"),
    ("bpy.ops.fabrik.pole_*", "chains", "bones-and-goal"),
    ("bpy.ops.fabrik.goal_snap", "snapping", "between-bones-and-goals"),
    ("bpy.ops.fabrik.pose_snap", "snapping", "between-bones-and-goals"),
    ("bpy.ops.fabrik.goal_*", "chains", "bones-and-goal"),
    ("bpy.ops.fabrik.goals_*", "chains", "duplicated-characters"),
    ("bpy.ops.fabrik.back_to_pose", "chains", "bones-and-goal"),
    ("bpy.ops.fabrik.start_pose_*", "chains", "start-pose"),
    ("bpy.ops.fabrik.pin_*", "bodies", "pins"),
    ("bpy.ops.fabrik.effector_*", "chains", "what-a-goal-asks"),
    ("bpy.ops.fabrik.orientation_*", "chains", "rotation-of-the-tip"),
    ("bpy.ops.fabrik.body_*", "bodies", "the-body"),
    ("bpy.ops.fabrik.balance_*", "bodies", "the-body"),
    ("bpy.ops.fabrik.walker_*", "walkers", "four-clicks"),
    ("bpy.ops.fabrik.walk_bake", "walkers", "keys"),
    ("bpy.ops.fabrik.walk_by_hand", "walkers", "by-hand"),
    ("bpy.ops.fabrik.walk_mark", "walkers", "footprints-and-markers"),
    ("bpy.ops.fabrik.walk_*", "walkers", "the-plan"),
    ("bpy.ops.fabrik.rig_clear", "characters", "removing-it-again"),
    ("bpy.ops.fabrik.limit_axis", "limits", "joint-limits"),
    ("bpy.ops.fabrik.limit_from_bend", "limits", "to-which-side-a-joint-bends"),
    ("bpy.ops.fabrik.limit_*", "limits", "ways-to-set-many"),
    ("bpy.ops.fabrik.from_ik", "snapping", "between-chains-and-blenders-own-ik"),
    ("bpy.ops.fabrik.to_ik", "snapping", "between-chains-and-blenders-own-ik"),
    ("bpy.ops.fabrik.drag*", "dragging", "dragging-bones"),
    ("bpy.ops.fabrik.bake", "baking", "options"),
    ("bpy.ops.fabrik.report_*", "baking", "the-report"),
    ("bpy.ops.fabrik.record*", "steps", "step-by-step"),
    ("bpy.ops.fabrik.step*", "steps", "step-by-step"),
    ("bpy.ops.fabrik.manual", "menus", "help"),
    *((f"bpy.types.fabrikchain.{name}", "chains", "the-list") for name in ("enabled", "is_baked", "known_as")),
    ("bpy.types.fabrikchain.solved_*", "not_reached", "what-has-changed-since"),
    *(
        (f"bpy.types.fabrikchain.{name}", "chains", "bones-and-goal")
        for name in ("tip_bone", "bone_count", "target*", "pole*")
    ),
    *((f"bpy.types.fabrikchain.{name}", "chains", "start-pose") for name in ("start", "captured", "fingerprint")),
    *(
        (f"bpy.types.fabrikchain.{name}", "chains", "solver")
        for name in ("tolerance", "max_passes", "restarts", "use_plain", "influence")
    ),
    *(
        (f"bpy.types.fabrikchain.{name}", "not_reached", "how-a-solve-ended")
        for name in ("status", "residual", "turn_residual", "softened", "passes", "blocking_bones", "message*")
    ),
    *(
        (f"bpy.types.fabrikchain.{name}", "chains", "what-a-goal-asks")
        for name in ("kind", "aim_axis", "effector", "weight", "stretch", "soft")
    ),
    *((f"bpy.types.fabrikchain.{name}", "bodies", "pins") for name in ("pin", "held_*")),
    *(
        (f"bpy.types.fabrikchain.{name}", "chains", "rotation-of-the-tip")
        for name in ("orientation*", "rotation_offset")
    ),
    ("bpy.types.fabrikcapturedbone.*", "bodies", "the-body"),
    ("bpy.types.fabrikcapturedrotation.*", "chains", "start-pose"),
    ("bpy.types.object.fabrik_live", "live", "live"),
    ("bpy.types.object.fabrik_bake_report", "baking", "the-report"),
    *((f"bpy.types.object.fabrik_{name}", "bodies", "the-body") for name in ("body_*", "spine", "balance", "falloff")),
    ("bpy.types.fabrikwalkleg.*", "walkers", "legs"),
    *((f"bpy.types.object.fabrik_walker_{name}", "walkers", "legs") for name in ("legs", "body", "upright")),
    *((f"bpy.types.object.fabrik_walker_{name}", "walkers", "the-plan") for name in PLANNED),
    ("bpy.types.object.fabrik_walker_*", "walkers", "settings"),
    ("bpy.types.object.fabrik_*", "chains", "the-list"),
    ("bpy.types.posebone.fabrik_mass", "bodies", "the-body"),
    ("bpy.types.posebone.fabrik_*", "limits", "joint-limits"),
    ("bpy.types.scene.fabrik_live", "live", "live"),
    ("bpy.types.scene.fabrik_overlay", "live", "overlay"),
    ("bpy.types.scene.fabrik_list_index", "chains", "the-list"),
    ("bpy.types.fabrikoverlay.show_strip", "baking", "the-report"),
    ("bpy.types.fabrikoverlay.*", "live", "overlay"),
    ("bpy.types.windowmanager.fabrik_*", "steps", "step-by-step"),
    ("bpy.types.fabrik_ap_preferences.*", "menus", "preferences"),
)


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


def register() -> None:
    """Let Blender's F1 and *Online Manual* open our pages for what is ours."""
    add: Any = bpy.utils.register_manual_map
    add(manual_map)


def unregister() -> None:
    """Let them no more."""
    remove: Any = bpy.utils.unregister_manual_map
    remove(manual_map)

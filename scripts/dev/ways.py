# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of the extension, and five ways through them, as the manual draws them; a test holds them to the code."""

from __future__ import annotations

from typing import NamedTuple

BLENDER = "Blender"
LANES = (BLENDER, "ui, operators, handlers, cli", "actions", "rig", "gait, kernel")

# Each layer imports only those below it; those of a line don't import each other. From top to bottom.
LAYERS = (
    (("ui", "panels, lists, menus, preferences"),),
    (
        ("operators", "buttons: a use case each, and a report"),
        ("handlers", "Blender's frames, changes and files"),
        ("cli", "the command line and jobs"),
    ),
    (("overlay", "what is drawn in the view"),),
    (("actions", "use cases: pose, live, bake, drag, snap, convert, set up, walk"),),
    (("rig", "reads and writes armatures: the only layer that touches their data"),),
    (("motion", "contacts, and motion from other skeletons; no Blender"),),
    (
        ("gait", "walks, planned; no Blender"),
        ("recognise", "parts of a body; no Blender"),
        ("translations", "the other languages"),
    ),
    (("kernel", "the solver, compiled; no Blender, no mathutils, no numpy"),),
    (("errors, finite, maths", "what all use"),),
    (("texts", "English that can be told in other languages"),),
    (("messages", "what is said below the actions: codes, with a sentence each"),),
)


class Step(NamedTuple):
    """A station on a way.

    Attributes:
        module: File within the extension, without its ending; or `BLENDER`.
        name: The function or class that is called there.
        does: What happens.
    """

    module: str
    name: str
    does: str

    @property
    def lane(self) -> int:
        """In which column it stands: an index of `LANES`."""
        layer = self.module.partition("/")[0]
        return next((i for i, lane in enumerate(LANES) if layer in lane.split(", ")), 1)


TARGET = (
    Step("ui/panels", "FABRIK_PT_posing", "draws the button Solve"),
    Step("operators/solving", "FABRIK_OT_solve", "finds the chain, reports the end"),
    Step("actions/solve", "solve_items", "what all solving buttons call: those chains later that hang on others"),
    Step("rig/checks", "check_rig", "can the armature be posed?"),
    Step("rig/figure/groups", "sets_of", "which chains are solved together"),
    Step("rig/figure/reader", "read", "bones, limits, start pose, goals, as Blender evaluates them"),
    Step("rig/figure/solve", "posed", "goals in chain space, then the solve"),
    Step("kernel/solver", "Solver", "figure and goals in, rotations and status out"),
    Step("rig/figure/pose_writer", "PoseWriter", "rotations as channels of the bones"),
    Step(BLENDER, "", "evaluates the pose"),
    Step("rig/animation/keys", "insert_posed_keys", "keys, with automatic keying"),
    Step("rig/figure/solve", "remember", "for which goals that was found"),
    Step("actions/status", "store", "status, distance and message in the chain"),
    Step("actions/status", "told_of", "what the panel shows, as things stand when it is drawn"),
)
FRAME = (
    Step("handlers", "_before_frame", "frame_change_pre"),
    Step("actions/live/update", "ahead", "goals that move by their own curves alone: posed before the frame"),
    Step(BLENDER, "", "evaluates the frame"),
    Step("handlers", "_on_frame", "frame_change_post; a change comes by _on_update"),
    Step("actions/live/update", "tick", "is anything not as its goals want it?"),
    Step("actions/live/state", "look", "where that may be new: which rigs are live, in which order"),
    Step("actions/live/figures", "as_foreseen", "all stand already: done"),
    Step("actions/live/user_edits", "settle", "after a change: what was posed by hand stays, and its goals come along"),
    Step("actions/live/figures", "points_now", "where the goals are"),
    Step("rig/figure/reader", "read", "in full, where limits, lengths or settings are others"),
    Step("rig/figure/reader", "restarted", "else: where keys have the start pose in this frame"),
    Step("actions/live/figures", "follow", "for goals that moved, or another start pose"),
    Step("kernel/solver", "Solver", "the same solve"),
    Step("actions/live/figures", "write", "what does not stand so yet, all bones at once"),
    Step(BLENDER, "", "evaluates what was written, and draws"),
)
SHOT = (
    Step("operators/baking", "FABRIK_OT_bake", "options, progress, Esc"),
    Step("actions/bake/run", "bake_steps", "from settings to keys, or back to the keys, action and pose before"),
    Step("actions/solve", "together", "which chains are solved together"),
    Step("actions/bake/checks", "check_bake", "what can't be baked, before anything is written"),
    Step("actions/solve", "levels", "and which after which: one level after the other"),
    Step("actions/bake/sample", "sample", "all goals: by their curves where these tell"),
    Step(BLENDER, "", "else evaluates each frame"),
    Step("rig/figure/reader", "read_figure", "bones, limits, start pose"),
    Step("actions/bake/sample", "Track", "all frames, a row each"),
    Step("kernel/rows", "Rows", "the same solve, in a loop"),
    Step("actions/bake/keys", "keys_of", "rotations that run on from frame to frame"),
    Step("actions/bake/clean_up", "clean", "keys that are not needed are left out"),
    Step("rig/animation/curves", "CurveWriter", "keys in place of those that were there"),
    Step("actions/bake/run", "verify", "plays the keys and compares"),
    Step(BLENDER, "", "evaluates the keys"),
    Step("actions/bake/report", "BakeResult", "chains off, so that the keys play; stored with the armature, as JSON"),
)
DRAG = (
    Step("operators/dragging", "FABRIK_OT_drag", "the mouse, keys, header, Esc"),
    Step("actions/drag/drag", "begin", "the pose at hand becomes the start pose"),
    Step("actions/drag/scope", "scope_of", "what follows: a limb, or the body with its pins"),
    Step("rig/figure/reader", "read", "bones, limits, goals"),
    Step("actions/drag/drag", "drag_to", "for each move of the mouse"),
    Step("rig/figure/solve", "posed", "the same solve"),
    Step("kernel/solver", "Solver", "from the same start pose each time"),
    Step("rig/figure/pose_writer", "PoseWriter", "rotations as channels of the bones"),
    Step(BLENDER, "", "evaluates the pose, and draws"),
    Step("actions/drag/drag", "finish", "the mouse is let go"),
    Step("rig/animation/keys", "insert_posed_keys", "keys, with automatic keying"),
    Step("actions/keep_pose", "let_go", "goals, pins and poles come to where the tips are"),
    Step("rig/figure/start_pose", "store_start", "the pose becomes the start pose where a solve would change it"),
)
WALK = (
    Step("operators/walking", "FABRIK_OT_walk_plan", "which frames, and what could not be as asked"),
    Step("actions/walk/plan", "plan_steps", "from the path of the body, by its curves"),
    Step("actions/walk/setup", "measured", "legs and feet in the rest pose"),
    Step(BLENDER, "", "evaluates frames where more moves it"),
    Step("rig/terrain", "MeshTerrain", "the ground, to be asked by rays"),
    Step("gait/planning", "planning", "clock, footholds, swings, body: the steps"),
    Step("gait/plan", "to_text", "kept with the armature"),
    Step("handlers", "_on_frame", "later, in any frame: the way of a frame"),
    Step("rig/walk_goals", "walk_goal", "where the plan has each foot, in place of its goal"),
    Step("gait/plan", "feet_at", "read from the list of steps"),
    Step("rig/figure/solve", "posed", "the same solve"),
    Step("kernel/solver", "Solver", "so live, render and bake agree"),
)
WAYS = {
    "way_of_a_target": TARGET,
    "way_of_a_frame": FRAME,
    "way_of_a_shot": SHOT,
    "way_of_a_drag": DRAG,
    "way_of_a_walk": WALK,
}

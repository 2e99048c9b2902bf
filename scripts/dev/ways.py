# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of the extension, and five ways through them, as the manual draws them; a test holds them to the code."""

from __future__ import annotations

from typing import NamedTuple

BLENDER = "Blender"
LANES = (BLENDER, "ui, operators, handlers, cli", "session", "rig", "gait, kernel")

# Each layer imports only those below it; those of a line don't import each other. From top to bottom.
LAYERS = (
    (("ui", "panels, lists, menus, preferences"),),
    (
        ("operators", "buttons: a use case each, and a report"),
        ("handlers", "Blender's frames, changes and files"),
        ("cli", "the command line and jobs"),
    ),
    (("overlay", "what is drawn in the view"),),
    (("session", "use cases: pose, live, bake, drag, snap, convert, set up, walk"),),
    (("rig", "reads and writes armatures: the only layer that touches their data"),),
    (
        ("gait", "walks planned from paths; no Blender"),
        ("recognise", "finds the parts of a body; no Blender"),
        ("translations", "the other languages"),
    ),
    (("kernel", "the solver, compiled; no Blender, no mathutils, no numpy"),),
    (("errors, finite, maths", "what all use"),),
    (("texts", "English that can be told in other languages"),),
    (("messages", "what is said below session: codes, with a sentence each"),),
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
    Step("ui/panels", "FABRIK_PT_chains", "draws the button Solve"),
    Step("operators/solving", "FABRIK_OT_solve", "finds the chain, reports the end"),
    Step("session/pose", "solve_items", "what all solving buttons call"),
    Step("rig/checks", "check_rig", "can the armature be posed?"),
    Step("session/order", "together", "which chains are solved together"),
    Step("session/order", "levels", "and which after which"),
    Step("rig/preparing", "read", "bones, limits, start pose, goals, as Blender evaluates them"),
    Step("session/posing", "posed", "goals in chain space, then the solve"),
    Step("kernel/solver", "Solver", "figure and goals in, rotations and status out"),
    Step("rig/pose_writer", "PoseWriter", "rotations as channels of the bones"),
    Step(BLENDER, "", "evaluates the pose"),
    Step("session/checking", "what_is_off", "stands all where it was solved? else it is taken back"),
    Step("rig/keys", "insert_posed_keys", "keys, with automatic keying"),
    Step("rig/last_solve", "remember", "for which goals that was found"),
    Step("session/status", "store", "status, distance and message in the chain"),
    Step("session/status", "told_of", "what the panel shows, as things stand when it is drawn"),
)
FRAME = (
    Step("handlers", "_before_frame", "frame_change_pre"),
    Step("session/live/ahead", "ahead", "goals that move by their own curves alone: posed before the frame"),
    Step(BLENDER, "", "evaluates the frame"),
    Step("handlers", "_on_frame", "frame_change_post; a change comes by _on_update"),
    Step("session/live/ticking", "tick", "is anything not as its goals want it?"),
    Step("session/live/looking", "look", "where that may be new: which rigs are live, in which order"),
    Step("session/live/solving", "as_foreseen", "all stand already: done"),
    Step("session/live/by_hand", "answer_hands", "after a change: what was posed by hand becomes the start pose"),
    Step("session/live/sources", "points_now", "where the goals are"),
    Step("rig/preparing", "read", "in full, where limits, lengths or settings are others"),
    Step("rig/preparing", "restarted", "else: where keys have the start pose in this frame"),
    Step("session/live/solving", "follow", "for goals that moved, or another start pose"),
    Step("kernel/solver", "Solver", "the same solve"),
    Step("session/live/writing", "write", "what does not stand so yet, all bones at once"),
    Step("session/live/keying", "key_posed", "after a change, with automatic keying"),
    Step(BLENDER, "", "evaluates what was written, and draws"),
)
SHOT = (
    Step("operators/baking", "FABRIK_OT_bake", "options, progress, Esc"),
    Step("session/bake/run", "bake_steps", "from settings to keys, or back to what stood there"),
    Step("session/order", "together", "which chains are solved together"),
    Step("session/bake/checks", "check_bake", "what can't be baked, before anything is written"),
    Step("session/order", "levels", "and which after which: one level after the other"),
    Step("session/bake/armature", "BakedArmature", "keys, action and pose, and the way back"),
    Step("session/bake/sampling", "sample", "all goals: by their curves where these tell"),
    Step(BLENDER, "", "else evaluates each frame"),
    Step("rig/preparing", "read", "bones, limits, start pose, goals"),
    Step("session/bake/solving", "solve_track", "all frames, a row each"),
    Step("kernel/rows", "Rows", "the same solve, in a loop"),
    Step("session/bake/keying", "read_track", "rotations that run on from frame to frame"),
    Step("session/bake/clean_up", "cleaned", "keys that are not needed are left out"),
    Step("rig/curves", "CurveWriter", "keys in place of those that were there"),
    Step("session/bake/verify", "verify", "plays the keys and compares"),
    Step(BLENDER, "", "evaluates the keys"),
    Step("session/bake/switching", "switch_off", "chains off, so that the keys play"),
    Step("session/bake/stored", "store_report", "with the armature, as JSON"),
)
DRAG = (
    Step("operators/dragging", "FABRIK_OT_drag", "the mouse, keys, header, Esc"),
    Step("session/dragging/drag", "begin", "the pose at hand becomes the start pose"),
    Step("session/dragging/scope", "scope_of", "what follows: a limb, or the body with its pins"),
    Step("rig/preparing", "read", "bones, limits, goals"),
    Step("session/dragging/drag", "drag_to", "for each move of the mouse"),
    Step("session/posing", "posed", "the same solve"),
    Step("kernel/solver", "Solver", "from the same start pose each time"),
    Step("rig/pose_writer", "PoseWriter", "rotations as channels of the bones"),
    Step(BLENDER, "", "evaluates the pose, and draws"),
    Step("session/dragging/drag", "finish", "the mouse is let go"),
    Step("rig/keys", "insert_posed_keys", "keys, with automatic keying"),
    Step("session/keep_pose", "let_go", "goals, pins and poles come to where the tips are"),
    Step("rig/start_pose", "store_start", "the pose becomes the start pose, where the next solve would change it"),
)
WALK = (
    Step("operators/walking", "FABRIK_OT_walk_plan", "which frames, and what could not be as asked"),
    Step("session/walk/planning", "Planning", "in slices"),
    Step("session/walk/sampling", "sampled", "the path of the body, by its curves"),
    Step("session/walk/measuring", "measured", "legs and feet in the rest pose"),
    Step(BLENDER, "", "evaluates frames where more moves it"),
    Step("rig/terrain", "MeshTerrain", "the ground, to be asked by rays"),
    Step("gait/planning", "planning", "clock, footholds, swings, body: the steps"),
    Step("gait/plan", "to_text", "kept with the armature"),
    Step("handlers", "_on_frame", "later, in any frame: the way of a frame"),
    Step("rig/walk_goals", "walk_goal", "where the plan has each foot, in place of its goal"),
    Step("gait/plan", "feet_at", "read from the list of steps"),
    Step("session/posing", "posed", "the same solve"),
    Step("kernel/solver", "Solver", "so live, render and bake agree"),
)
WAYS = {
    "way_of_a_target": TARGET,
    "way_of_a_frame": FRAME,
    "way_of_a_shot": SHOT,
    "way_of_a_drag": DRAG,
    "way_of_a_walk": WALK,
}

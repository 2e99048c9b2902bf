# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws that hold in whatever order operators are pressed: what is refused changes nothing, and what is undone is gone.

Each case is a while of work on a character: poses, keys, frames, and operators with options, all drawn from a seed.
"""

from __future__ import annotations

from random import Random
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Quaternion, Vector

from support.judging import bone_matrices
from support.scenes import press, select, update
from support.skeletons import height, set_up

STEPS = 60
FRAMES = (1, 5, 8, 12, 20)
KEYED = 0.5  # how often what is moved is keyed
OFF = 1e-4  # of what a matrix of a bone has
OUTSIDE = {  # that wait for the mouse, or for a file
    *("drag", "drag_pick", "walk_by_hand", "steps_play", "manual", "time_note", "contact_move"),
    *("move_through_time", "turn_through_time", "motion_from_files", "report_copy"),
    *("mapping_export", "mapping_import", "cycle_export", "cycle_import"),
}


class Work:
    """Someone at work on an armature, by a seed."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.random = set_up(name).name, Random(seed)
        self.names = sorted({*dir(bpy.ops.fabrik)} - OUTSIDE)
        rig_of(self.owner).live = seed % 2 == 0
        self._note("began")

    @property
    def owner(self) -> bpy.types.Object:
        """The armature; undo makes it anew."""
        return bpy.data.objects[self.name]

    def step(self) -> str:
        """Do something; what it was."""
        return self.random.choice((self.pose, self.go, self.select, self.press, self.press))()

    def go(self) -> str:
        """Go to another frame."""
        bpy.context.scene.frame_set(self.random.choice(FRAMES))
        return f"frame {bpy.context.scene.frame_current}"

    def select(self) -> str:
        """Select a bone, and choose a chain."""
        bpy.context.view_layer.objects.active = self.owner
        name, rig = self.random.choice([bone.name for bone in self.owner.pose.bones]), rig_of(self.owner)
        select(self.owner, name)
        if len(rig.chains):
            rig.active_index = self.random.randrange(len(rig.chains))
        return self._note(f"selected {name}")

    def pose(self) -> str:
        """Move a goal, or turn a bone."""
        goals = sorted({(goal.found.name, goal.bone) for one in rig_of(self.owner).chains for goal in goals_of(one)})
        bones, size = self.owner.pose.bones, height(self.owner)
        is_goal = bool(goals) and self.random.random() < 0.7
        found, name = self.random.choice(goals if is_goal else [(self.name, bone.name) for bone in bones])
        thing: Any = bones[name] if name else bpy.data.objects[found]
        channel = "location" if is_goal else "rotation_quaternion"
        if is_goal:
            thing.location = thing.location + Vector([self.random.uniform(-0.05, 0.05) * size for _ in range(3)])
        else:
            turn = Quaternion((self.random.uniform(-1.0, 1.0), 1.0, 0.0), self.random.uniform(-0.3, 0.3))
            thing.rotation_mode = "QUATERNION"
            thing.rotation_quaternion = thing.rotation_quaternion @ turn
        if self.random.random() < KEYED:
            thing.keyframe_insert(channel)
        update()
        return self._note(f"moved {found} {name}")

    def press(self) -> str:
        """Press an operator that is enabled, with options; it is undone now and then."""
        name = self.random.choice([name for name in self.names if getattr(bpy.ops.fabrik, name).poll()])
        options = self._options(getattr(bpy.ops.fabrik, name).get_rna_type())
        scene = bpy.context.scene
        scene.frame_set(scene.frame_current)  # what a hand moved of a keyed bone is gone, as after an undo
        self._note("before")
        before, frame = bone_matrices(self.owner), scene.frame_current
        told, is_done = "", False
        try:
            is_done = press(name, "EXEC_DEFAULT", True, **options) == {"FINISHED"}
        except RuntimeError as error:
            told = str(error)
        assert "Traceback" not in told, (name, options)
        if not is_done:
            assert bpy.context.scene.frame_current == frame
            self.assert_stands(before, name)
        elif "UNDO" in getattr(bpy.types, f"FABRIK_OT_{name}").bl_options and self.random.random() < 0.3:
            bpy.ops.ed.undo()
            self.assert_stands(before, name)
        return f"{name} {options} {is_done}"

    def assert_stands(self, before: dict[str, Any], name: str) -> None:
        """The bones stand as they did."""
        after = bone_matrices(self.owner)
        assert after.keys() == before.keys(), name
        off = [bone for bone in before if not np.allclose(before[bone], after[bone], rtol=0.0, atol=OFF)]
        assert not off, (name, off)

    def _options(self, kind: bpy.types.Struct) -> dict[str, Any]:
        """Some options, within their ranges."""
        found: dict[str, Any] = {}
        for option in kind.properties:
            one: Any = option
            if one.identifier == "rna_type" or getattr(one, "is_array", False) or self.random.random() < 0.5:
                continue
            if one.type == "ENUM" and not one.is_enum_flag and len(one.enum_items):
                found[one.identifier] = self.random.choice([item.identifier for item in one.enum_items])
            elif one.type == "BOOLEAN":
                found[one.identifier] = self.random.random() < 0.5
            elif one.type == "FLOAT" and one.soft_min > -10.0 and one.soft_max < 10.0:
                found[one.identifier] = self.random.uniform(one.soft_min, one.soft_max)
        if "frame_start" in {option.identifier for option in kind.properties}:
            found |= {"frame_start": 1, "frame_end": self.random.choice((5, 12))}
        return found

    def _note(self, what: str) -> str:
        """Let undo come back to here."""
        bpy.ops.ed.undo_push(message=what)
        return what


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["human", "wolf", "human_mixamo"])
def test_refused_changes_nothing_and_undone_is_gone(name: str, seed: int, capfd: pytest.CaptureFixture[str]) -> None:
    work, done = Work(name, seed), list[str]()
    for _ in range(STEPS):
        done.append(work.step())
        assert "Traceback" not in capfd.readouterr().err, done[-8:]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve chains, look at a solve step by step, which never changes the scene, and flip and mirror poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ..actions.chain_edit import working_chain, working_rig
from ..actions.mirror.pose import Plan, flipped, mirrored, pose_as
from ..actions.solve import Item, record, solve_items
from ..actions.status import measure_text, message_of, status_text, waits_for
from ..overlay.settings import redraw, set_step, state, step_of
from ..overlay.view import current_step
from ..rig.animation.compat import is_selected
from ..rig.bones import armature_of, pose_bones
from ..rig.checks import check_rig
from ..rig.renames import follow_renames_of
from ..rig.schema import FabrikChain, name_all, rig_of
from ..rig.schema.fields import FORGOTTEN, choice
from ..texts import Text, counted, joined
from ..translations import CONTEXT
from .base import (
    ChainOperator,
    FabrikOperator,
    NamedChain,
    Returned,
    RigOperator,
    is_left_out,
    listed,
    named_chain,
    rigs_in_pose_mode,
)

SECONDS = 0.25  # a step takes while playing
BONES = (
    ("SELECTED", "Selected", "The selected bones; of a selected target or pole the limb that it moves"),
    ("ALL", "All", "All bones of the armature"),
)


def _sentence(chain: FabrikChain, scene: bpy.types.Scene) -> Text:
    """One line on how a chain's solve ended."""
    how = joined(", ", filter(None, (status_text(chain), measure_text(chain, scene))))
    text = joined(": ", (chain.name, how))
    return joined("; ", (text, message_of(chain))) if chain.message else text


class SolveOperator(ChainOperator):
    """An operator that solves chains and reports on each."""

    def solve(self, context: bpy.types.Context, items: list[Item]) -> Returned:
        """Solve chains; an error where all of them were refused."""
        owners = {owner.name: owner for owner, _ in items}
        outcomes = solve_items(context, items)
        done, warnings, refused = list[str](), list[str](), list[str]()
        waiting = list[str]()
        for outcome in outcomes:
            chain = rig_of(owners[outcome.rig]).chains[outcome.chain]
            if outcome.status == "REFUSED" and waits_for(chain):
                waiting.append(outcome.chain)
                continue
            if outcome.status == "REFUSED":
                fields = {"armature": outcome.rig, "chain": outcome.chain, "reason": outcome.reason}
                refused.append(Text("{armature}, chain '{chain}': {reason}", **fields))
                continue
            is_fine = outcome.status == "REACHED" and not outcome.warnings
            (done if is_fine else warnings).append(_sentence(chain, context.scene))
        if waiting:
            refused.append(Text("{chains} can't be solved without it", chains=listed(waiting, "{count} chains")))
        if not (done or warnings):
            return self.refuse(joined("; ", refused))
        self.tell(*done, warnings=[*warnings, *refused])
        return {"FINISHED"}


class FABRIK_OT_solve(NamedChain, SolveOperator):
    """Bring the tip of the chain to its target"""

    bl_label = "Solve"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        name_all(owner)
        return self.solve(context, [(owner, named_chain(owner, self.chain))])

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        owner = working_rig(context)
        if owner is not None:
            self.layout.prop_search(self, "chain", owner, "fabrik_chains", icon="CON_KINEMATIC")


class FABRIK_OT_solve_all(SolveOperator):
    """Bring the tip of every enabled chain to its target"""

    bl_label = "Solve All"
    needs = {
        Text("no chain is enabled"): lambda context: any(chain.enabled for chain in rig_of(working_rig(context)).chains)
    }

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        name_all(owner)
        return self.solve(context, [(owner, chain) for chain in rig_of(owner).chains if chain.enabled])


class FABRIK_OT_record(ChainOperator):
    """Solve the chain and keep every pass to look at; the pose stays as it is"""

    bl_label = "Record Solve"
    bl_options = {"REGISTER"}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        depsgraph = context.evaluated_depsgraph_get()
        chain = working_chain(context)
        state.recording = record(check_rig(owner, depsgraph), chain, depsgraph)
        set_step(context.window_manager, 0)
        count = len(state.recording.passes)
        self.tell(joined(": ", (chain.name, counted(count, "1 step recorded", "{count} steps recorded"))))


class StepOperator(FabrikOperator):
    """An operator on the recording."""

    bl_options = {"REGISTER"}
    needs = {Text("Nothing is recorded"): lambda _: state.recording}


class FABRIK_OT_step(StepOperator):
    """Go to another step of the recorded solve"""

    bl_label = "Go to Step"

    to = choice(
        (
            ("FIRST", "First", "The pose from which the solve starts"),
            ("BACK", "Back", "One step back"),
            ("FORWARD", "Forward", "One step forward"),
            ("LAST", "Last", "The solved pose"),
        ),
        "To",
        "Which step to go to",
        default="FORWARD",
        translation_context=CONTEXT,  # in Blender's words back is the rear
    )

    def execute(self, context: bpy.types.Context) -> Returned:
        found = current_step(context.window_manager)
        if found is None:
            return {"CANCELLED"}
        _, _, index, count = found
        places = {"FIRST": 0, "BACK": max(index - 1, 0), "FORWARD": min(index + 1, count - 1), "LAST": count - 1}
        set_step(context.window_manager, places[self.to])
        return {"FINISHED"}


class FABRIK_OT_steps_play(StepOperator):
    """Play the recorded solve from the step that is shown; Esc stops"""

    bl_label = "Play Steps"

    _timer: Any = None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        found = current_step(context.window_manager)
        if found is not None and found[2] == found[3] - 1:
            set_step(context.window_manager, 0)
        self._timer = context.window_manager.event_timer_add(SECONDS, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        found = current_step(context.window_manager)
        ended = found is None or found[2] >= found[3] - 1
        if ended or event.type in {"ESC", "RIGHTMOUSE"}:
            context.window_manager.event_timer_remove(self._timer)
            return {"FINISHED"}
        if event.type == "TIMER":
            set_step(context.window_manager, step_of(context.window_manager)[0] + 1)
        return {"PASS_THROUGH"}


class FABRIK_OT_record_clear(StepOperator):
    """Stop looking at the recorded solve"""

    bl_label = "Exit Steps"

    def execute(self, context: bpy.types.Context) -> Returned:
        state.recording = None
        redraw()
        return {"FINISHED"}


# Poses of the other side, true for any roll of the bones, with all goals.


class PoseOperator(RigOperator):
    """An operator that poses bones of all armatures in Pose mode by those of the other side.

    Attributes:
        one: What was done, to one bone.
        many: The same to `{count}` bones.
    """

    one = many = Text("")

    bones = choice(BONES, "Bones", "Which bones", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        rigs, warnings = rigs_in_pose_mode(context, owner), list[Text]()
        chosen = {rig: [bone.name for bone in pose_bones(rig) if is_selected(bone)] for rig in rigs}
        is_chosen = self.bones == "SELECTED" and owner.mode == "POSE" and any(chosen.values())
        plans = list[tuple[bpy.types.Object, Plan]]()
        for rig in rigs:
            names = chosen[rig] if is_chosen else [*pose_bones(rig).keys()]
            if names and not is_left_out(rig, warnings):
                follow_renames_of(rig)
                plans.append((rig, self.planned(context, rig, names)))
        for rig, (wanted, poles, alone) in plans:
            notes = [*alone, *pose_as(context, rig, wanted, poles)]
            warnings += notes if len(rigs) == 1 else [joined(": ", (rig.name, note)) for note in notes]
        self.tell(counted(sum(len(wanted) for _, (wanted, _, _) in plans), self.one, self.many), warnings=warnings)

    def planned(self, context: bpy.types.Context, rig: bpy.types.Object, names: Sequence[str]) -> Plan:
        """How bones of an armature are to stand."""
        return flipped(context, rig, names)


class FABRIK_OT_flip_pose(PoseOperator):
    """Exchange the poses of left and right, whatever the roll of the bones; goals come along, so that the pose holds"""

    bl_label = "Flip Pose"
    one, many = Text("Flipped 1 bone"), Text("Flipped {count} bones")


class FABRIK_OT_mirror_pose(PoseOperator):
    """Give the pose of the selected side to the other, whatever the roll of the bones; goals come along"""

    bl_label = "Mirror Pose"
    one, many = Text("Mirrored to 1 bone"), Text("Mirrored to {count} bones")
    needs = {Text("select bones of the side to take, in Pose mode"): lambda context: context.selected_pose_bones}

    def planned(self, context: bpy.types.Context, rig: bpy.types.Object, names: Sequence[str]) -> Plan:
        active = armature_of(rig).bones.active
        return mirrored(context, rig, names, active.name if active is not None else "")

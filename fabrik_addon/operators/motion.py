# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion edited: edits made part of it, edits through time, tweens, trails, limbs switched between IK and FK."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor
from typing import Any

import bpy

from ..actions.bake import BakeResult
from ..actions.bake.apply import apply_steps
from ..actions.chain_edit import working_chain, working_rig
from ..actions.frames import to_the_end
from ..actions.mirror.pose import sides_of
from ..actions.motion.clips import Clip, mirrored, read_clip, without_noise, write_clip
from ..actions.motion.edits import add_layer, choose_layer, edited_chains, remove_layer, span_of_motion
from ..actions.motion.through_time import (
    ControlSnapshot,
    Trail,
    chosen,
    controls_of,
    off_keys,
    selected_controls,
    spread,
    trail_steps,
    tween,
)
from ..actions.snap import switch_refusal, to_fk, to_ik
from ..errors import ChainError
from ..messages import Message
from ..overlay.bones import owner_of
from ..overlay.settings import redraw, state
from ..rig.animation.compat import is_selected
from ..rig.bones import pose_bones
from ..rig.control_bones import control_names
from ..rig.schema import FabrikChain
from ..rig.schema.fields import FORGOTTEN, choice, real, share, switch, text, whole
from ..rig.schema.rig import SceneView
from ..texts import Text, counted
from ..translations import CONTEXT
from .baking import SPANS, RangeOperator, SpanOptions, StepsOperator, chains_choice, items_of
from .base import ChainOperator, FabrikOperator, Needs, Returned, RigOperator, listed
from .solving import BONES

NEEDS_EDITS: Needs = {
    Text("no chain edits its motion: set its goal to Offset"): lambda context: edited_chains(working_rig(context))
}


class FABRIK_OT_edits_apply(StepsOperator):
    """Make the edits part of the motion: the frames that they change get keys, and the controls rest again"""

    bl_label = "Apply Edits"

    needs = NEEDS_EDITS
    progress = Text("Applying {share:.0%}")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned | None:
        return self.take_steps(context, [owner], apply_steps(context, owner))

    def conclude_steps(self, result: BakeResult) -> None:
        frames = max(len(one.frames) for one in result.chains)
        chains = counted(len(result.chains), "1 chain", "{count} chains")
        done = Text("edits of {chains} are keys now", chains=chains)
        self.tell(done, counted(frames, "at 1 frame", "at {count} frames"), Text("the controls rest"))


class LayerOperator(RigOperator):
    """An operator on layers of edits."""

    needs = NEEDS_EDITS

    layer = text("Layer", "Name of the layer", options=FORGOTTEN)


class FABRIK_OT_layer_add(LayerOperator):
    """Make a layer of edits over the others: what controls are moved by from now on is in it, and added to theirs"""

    bl_label = "New Layer"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        self.layer = add_layer(owner, self.layer).name
        self.tell(Text("layer '{layer}': controls rest in it", layer=self.layer))


class FABRIK_OT_layer_choose(LayerOperator):
    """Let controls, and their keys, be those of this layer; no pose changes"""

    bl_label = "Choose Layer"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        choose_layer(owner, self.layer)
        self.tell(Text("layer '{layer}' is at hand", layer=self.layer))


class FABRIK_OT_layer_remove(LayerOperator):
    """Remove the layer with its edits"""

    bl_label = "Remove Layer"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        remove_layer(owner, self.layer)
        self.tell(Text("layer '{layer}' is gone, and its edits with it", layer=self.layer))


class SwitchOperator(ChainOperator):
    """An operator that switches limbs from this frame on, by keys.

    Attributes:
        to_goal: Whether they come to be posed by their goals, else by their bones.
        told: What was done.
        done: Why it is not done again.
    """

    chains = chains_choice("ACTIVE")
    to_goal = False
    told = done = Text("")

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str | Message:
        refusal, chain = super().refusal(context), working_chain(context)
        return refusal or ("" if chain is None else switch_refusal(chain) or ("" if cls.may(chain) else cls.done))

    @classmethod
    def may(cls, chain: FabrikChain) -> bool:
        """Whether it is not so already."""
        return chain.influence < 1.0 if cls.to_goal else chain.influence > 0.0

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        found = items_of(context, owner, self.chains)
        items = [item for item in found if not switch_refusal(item[1]) and self.may(item[1])]
        if not items:
            refusals = [switch_refusal(chain) for _, chain in found]
            raise ChainError(next((one for one in refusals if one), self.done), rig=owner.name)
        names = listed([chain.name for _, chain in items], "{count} chains")
        warnings = (to_ik if self.to_goal else to_fk)(context, items)
        self.tell(Text(self.told, chains=names, frame=context.scene.frame_current), warnings=warnings)


class FABRIK_OT_limb_to_fk(SwitchOperator):
    """From this frame on pose the limb by its bones and not by its goal; both are keyed, and the pose stays"""

    bl_label = "Switch to FK"

    told = Text("{chains}: posed by its bones from frame {frame} on")
    done = Text("its goal has no influence at this frame: its bones pose it already")


class FABRIK_OT_limb_to_ik(SwitchOperator):
    """From this frame on pose the limb by its goal and not by its bones; both are keyed, and the pose stays"""

    bl_label = "Switch to IK"

    to_goal = True
    told = Text("{chains}: posed by its goal from frame {frame} on")
    done = Text("its goal has all influence at this frame already")


# Edits through time.

NEEDS_CONTROLS: Needs = {Text("no target or pole is selected"): selected_controls}


class MotionMemory:
    """What an operator keeps for another one.

    Attributes:
        noted: The controls as they stood before the tool that is at work.
        clip: The motion that was copied last; None where there is none.
    """

    noted: list[ControlSnapshot] = []
    clip: Clip | None = None


class FABRIK_OT_time_note(FabrikOperator):
    """Keep where the selected controls stand before they are moved"""

    bl_label = "Note Controls"
    bl_options = {"INTERNAL"}
    needs = NEEDS_CONTROLS

    def execute(self, context: bpy.types.Context) -> Returned:
        MotionMemory.noted = [ControlSnapshot.of(goal) for _, goal in selected_controls(context)]
        return {"FINISHED"}


class FABRIK_OT_time_spread(RigOperator):
    """Let what selected controls are away from their keys at this frame fade over the frames about it"""

    bl_label = "Spread over Time"
    needs = NEEDS_CONTROLS

    width = whole(
        "Width", "How many frames away nothing is changed any more; 0: that of the scene", min=0, options=FORGOTTEN
    )
    after_tool = switch(
        "After a Tool", "What counts is how controls stood before the tool of which this is a part", options=FORGOTTEN
    )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        noted, MotionMemory.noted = MotionMemory.noted if self.after_tool else off_keys(context), []
        self.width = self.width or SceneView(context.scene).time_width
        self.tell(*spread_text(context, noted, self.width))


def spread_text(context: bpy.types.Context, noted: list[ControlSnapshot], width: int) -> list[Text]:
    """Let what controls were moved by fade over the frames about this one; what is told of it, nothing where none was.

    Args:
        context: Its scene is at the frame.
        noted: As they stood before.
        width: How many frames away nothing is changed any more.
    """
    frame = context.scene.frame_current_final
    names = listed(spread(noted, frame, width), "{count} controls")
    if not names:
        return []
    first, last = floor(frame - width), ceil(frame + width)
    renew_trails(context, first, last)
    return [Text("moved from frame {first} to {last}: {names}", first=first, last=last, names=names)]


class ThroughTime(bpy.types.Macro):
    """A tool of Blender's whose move of controls fades over the frames about this one."""

    bl_options = {"REGISTER", "UNDO"}
    bl_translation_context = CONTEXT

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        scene = context.scene  # a tool made of others has no words for why it is disabled; it is on no button
        return scene is not None and SceneView(scene).through_time and bool(selected_controls(context))


class FABRIK_OT_move_through_time(ThroughTime):
    """Move controls, and with them the frames about this one"""

    bl_idname = "fabrik.move_through_time"
    bl_label = "Move Through Time"


class FABRIK_OT_turn_through_time(ThroughTime):
    """Turn controls, and with them the frames about this one"""

    bl_idname = "fabrik.turn_through_time"
    bl_label = "Rotate Through Time"


TOOLS: dict[Any, str] = {
    FABRIK_OT_move_through_time: "TRANSFORM_OT_translate",
    FABRIK_OT_turn_through_time: "TRANSFORM_OT_rotate",
}


def register() -> None:
    """Tell Blender of what the tools are made."""
    for macro, tool in TOOLS.items():
        for name in ("FABRIK_OT_time_note", tool):
            macro.define(name)
        spreading: Any = macro.define("FABRIK_OT_time_spread")
        spreading.properties.after_tool = True


def unregister() -> None:
    """Keep nothing."""
    MotionMemory.noted, MotionMemory.clip = [], None


class FABRIK_OT_goals_tween(ChainOperator):
    """Bring goals between their keys before and after this frame, hands and feet by an arc about their limb's root"""

    bl_label = "Tween Goals"

    chains = chains_choice("ACTIVE")
    share = real(
        "Share",
        "How far on the way to the next key; 0 is the key before, 1 the key after, and others are beyond",
        default=0.5,
        soft_min=-0.5,
        soft_max=1.5,
        options=FORGOTTEN,
    )

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        done, notes = tween(context, items_of(context, owner, self.chains), self.share)
        names = listed(done, "{count} chains")
        told = Text("{chains}: {share:.0%} of the way between keys", chains=names, share=self.share)
        self.tell(told, warnings=notes)


# Trails.


def renew_trails(context: bpy.types.Context, first: int, last: int) -> None:
    """Follow the trails that are shown anew in some frames."""
    objects: Any = context.view_layer.objects
    for key in [key for key, one in state.trails.items() if owner_of(one) is None]:
        del state.trails[key]
    for rig in {rig for rig, _ in state.trails}:
        owner: bpy.types.Object | None = objects.get(rig)
        own = [one for one in state.trails.values() if one.rig == rig]
        if owner is None:
            continue
        frames = range(max(first, min(one.first for one in own)), min(last, max(one.frames[-1] for one in own)) + 1)
        steps = trail_steps(context, owner, [one.taken for one in own], frames) if frames else None
        if steps is None:
            continue
        for before, now in zip(own, to_the_end(steps), strict=True):
            state.trails[before.key] = before.with_places(dict(zip(now.frames, now.places, strict=True)))


class FABRIK_OT_trails_show(RangeOperator):
    """Draw the paths of the selected bones, or of all tips, as they are posed, with a dot for each frame"""

    bl_label = "Show Trails"

    progress = Text("Following {share:.0%}")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned | None:
        steps = trail_steps(context, owner, chosen(owner), self.frames(context))
        return self.take_steps(context, [owner], steps)

    def conclude_steps(self, result: list[Trail]) -> None:
        state.trails.update({one.key: one for one in result})
        names = listed([one.taken.chain or one.taken.bone for one in result], "{count} trails")
        frames = counted(len(result[0].places), "1 frame", "{count} frames")
        self.tell(Text("followed over {frames}: {names}", frames=frames, names=names))


class FABRIK_OT_trails_hide(FabrikOperator):
    """Draw no trails any more"""

    bl_label = "Hide Trails"
    bl_options = {"REGISTER"}
    needs = {Text("No trail is shown"): lambda _: state.trails}

    def execute(self, context: bpy.types.Context) -> Returned:
        state.trails.clear()
        redraw()
        return {"FINISHED"}


# Motion of bones over a range: without noise, mirrored, copied and pasted.


class ClipOperator(SpanOptions, RigOperator):
    """An operator on the keys of bones over a range of frames."""

    bones = choice(BONES, "Bones", "Which bones")
    span = choice(SPANS, "Frames", "Which frames", default="SCENE")
    above: tuple[str, ...] = ("bones",)
    needs = {Text("it has no action"): lambda context: getattr(working_rig(context).animation_data, "action", None)}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        self.take_span(context)
        return self.execute(context)

    def names(self, owner: bpy.types.Object) -> list[str]:
        """The bones that are meant: all where none is selected."""
        found = [bone.name for bone in pose_bones(owner) if is_selected(bone)] if owner.mode == "POSE" else []
        return found if self.bones == "SELECTED" and found else [*pose_bones(owner).keys()]

    def within(self, context: bpy.types.Context, owner: bpy.types.Object) -> tuple[int, int]:
        """First and last frame of the range in which something moves: beyond, the last pose only stands."""
        frames, (first, last) = self.frames(context), span_of_motion(owner, context.scene)
        return max(frames[0], first), min(frames[-1], last)


class FABRIK_OT_motion_smooth(ClipOperator):
    """Take noise out of the motion of bones, by keys in each frame; contacts keep their edges"""

    bl_label = "Smooth Motion"

    width = whole("Width", "How many frames on either side count", min=2, soft_max=20, default=4)
    strength = share("Strength", "How much of the noise is taken out", default=1.0)
    above = ("bones", "width", "strength")

    def names(self, owner: bpy.types.Object) -> list[str]:
        controls = control_names(owner)  # whose keys are few, and no noise
        return [name for name in super().names(owner) if name not in controls]

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        clip = read_clip(owner, self.names(owner), self.within(context, owner), only_keys=False)
        notes = write_clip(owner, without_noise(owner, clip, self.width, self.strength), clip.first)
        self.tell(counted(len(clip.bones), "smoothed 1 bone", "smoothed {count} bones"), warnings=notes)


SIDES = (
    ("BOTH", "Exchange", "Left gets the motion of right, right that of left; the middle is mirrored"),
    ("OTHER", "To Other Side", "The selected bones give their motion to those of the other side"),
)


class FABRIK_OT_motion_mirror(ClipOperator):
    """Mirror the motion of bones, whatever their roll, with the keys of controls and the marks of contacts"""

    bl_label = "Mirror Motion"

    to = choice(SIDES, "Mirror", "What gets the mirror image")
    only_keys = switch("Only at Keys", "Key only frames that have keys; else each frame", default=True)
    above = ("bones", "to", "only_keys")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        both = self.to == "BOTH"
        names = self.names(owner)
        if both:
            sides = sides_of(owner)
            names = [one for name in names for one in (name, *([sides[name].other.name] if name in sides else []))]
        clip = read_clip(owner, names, self.within(context, owner), only_keys=self.only_keys, twins=True)
        found = mirrored(owner, clip, both=both)
        notes = write_clip(owner, found, clip.first)
        left = [str(goal.found.name) for _, goal in controls_of([owner]) if goal.found != owner]
        if left:
            told = listed(left, "{count} goals")
            notes.append(Text("goals that are objects keep their own keys: {names}", names=told))
        self.tell(counted(len(found.bones), "mirrored to 1 bone", "mirrored to {count} bones"), warnings=notes)


class FABRIK_OT_motion_copy(ClipOperator):
    """Copy the motion of bones over a range, to be pasted elsewhere or on another armature"""

    bl_label = "Copy Motion"
    bl_options = {"REGISTER"}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        clip = read_clip(owner, self.names(owner), self.within(context, owner), only_keys=True, twins=True)
        fields, MotionMemory.clip = {"first": clip.first, "last": clip.last}, clip
        bones = counted(len(clip.bones), "1 bone", "{count} bones")
        self.tell(Text("copied {bones} from frame {first} to {last}", bones=bones, **fields))


class FABRIK_OT_motion_paste(RigOperator):
    """Paste motion that was copied, from this frame on; keys that stand there are replaced"""

    bl_label = "Paste Motion"
    needs = {Text("no motion was copied"): lambda _: MotionMemory.clip}

    flipped = switch("Flipped", "Left and right exchanged", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        clip, frame = MotionMemory.clip, context.scene.frame_current
        own = [one for one in clip.bones if one.bone in pose_bones(owner)]
        if not own:
            raise ChainError("it has none of the bones that were copied", rig=owner.name)
        found = replace(clip, bones=tuple(own))
        notes = write_clip(owner, mirrored(owner, found, both=True) if self.flipped else found, frame)
        missing = [one.bone for one in clip.bones if one not in own]
        notes += [Text("it has no such bones: {names}", names=listed(missing, "{count} bones"))] if missing else []
        bones, last = counted(len(own), "1 bone", "{count} bones"), frame + clip.last - clip.first
        self.tell(
            Text("pasted {bones} to frames {first} to {last}", bones=bones, first=frame, last=last), warnings=notes
        )

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of a recorded solve: one of its steps, and the error by step."""

from __future__ import annotations

from itertools import pairwise
from math import log10

import bpy

from ..actions.chain_edit import working_rig
from ..actions.solve import RecordedStep, Recording
from ..actions.status import length_text
from ..maths import V3, distance
from ..rig.schema import rig_of
from ..texts import Text, joined
from ..translations import iface_
from .settings import state, step_of
from .shapes import Shapes, paint, theme_colours, write

GRAPH = 220.0, 70.0  # width and height in pixels at scale 1
MARGIN = 60.0, 40.0  # from the corner of the view
DECADES = 7.0  # of error, from the chain's length down, over the height of the graph
TEXT_SIZE = 12.0  # pixels at scale 1
MOST_POINTS = 150  # of the graph
STEP_TEXTS = {  # by the kernel's names
    "start": Text("start"),
    "swing": Text("swing"),
    "backward": Text("backward"),
    "forward": Text("forward"),
    "descend": Text("descend"),
    "restart": Text("restart"),
    "end": Text("end"),
}


def current_step(manager: bpy.types.WindowManager) -> tuple[Recording, RecordedStep, int, int] | None:
    """The recording, the step that is looked at, its index and the number of steps; None without a recording."""
    recording = state.recording
    owner = bpy.data.objects.get(recording.rig) if recording else None
    if recording is None or owner is None or recording.chain not in rig_of(owner).chains:
        return None
    index, by_joint = step_of(manager)
    steps = recording.steps(by_joint)
    index = min(max(index, 0), len(steps) - 1)
    return recording, steps[index], index, len(steps)


def step_shapes(recording: Recording, step: RecordedStep) -> Shapes:
    """The chain at a step and the line to its target, in the world."""
    shapes = Shapes()
    shapes.line("before", recording.passes[0].joints)
    shapes.line("step", step.joints)
    shapes.dots("step", step.joints)
    if step.moved is not None:
        shapes.dots("target", [step.joints[step.moved]])
    shapes.line("residual", (step.joints[-1], recording.target))
    return shapes


def graph_shapes(errors: list[float], length: float, index: int, scale: float) -> Shapes:
    """The error by step as a curve on a logarithmic scale, with the step marked; in pixels.

    Errors, and the length of the chain, which is the top, are in scene units.
    """
    shapes, width, high, low, up = Shapes(), GRAPH[0] * scale, GRAPH[1] * scale, MARGIN[0] * scale, MARGIN[1] * scale

    def at(i: int, error: float) -> V3:
        height = 1.0 + log10(max(error / length, 1e-9)) / DECADES
        x = i / max(len(errors) - 1, 1)
        return low + width * x, up + high * min(max(height, 0.0), 1.0), 0.0

    shapes.line("before", ((low, up + high, 0.0), (low, up, 0.0), (low + width, up, 0.0)))
    stride = max(1, len(errors) // MOST_POINTS)
    shapes.line("step", [at(i, errors[i]) for i in range(0, len(errors), stride)])
    shapes.dots("target", [at(index, errors[index])])
    return shapes


def caption(scene: bpy.types.Scene, found: tuple[Recording, RecordedStep, int, int]) -> Text:
    """The step in words."""
    recording, step, index, count = found
    number = Text("{chain}: step {number} of {count}", chain=recording.chain, number=index + 1, count=count)
    words = [number, STEP_TEXTS[step.name]]
    words += [Text("joint {index}", index=step.moved)] if step.moved is not None else []
    return joined(", ", [*words, Text("{distance} off", distance=length_text(step.error, scene))])


def _shown_step(context: bpy.types.Context) -> tuple[Recording, RecordedStep, int, int] | None:
    """The step, where the user works on its rig."""
    found = current_step(context.window_manager)
    owner = working_rig(context)
    return found if found is not None and owner is not None and owner.name == found[0].rig else None


def draw_view(context: bpy.types.Context) -> None:
    """Draw the step in the world."""
    found = _shown_step(context)
    if found is None:
        return
    recording, step, _, _ = found
    paint(context, step_shapes(recording, step), 1.5)


def draw_pixels(context: bpy.types.Context) -> None:
    """Draw the graph and the caption in the corner of the view."""
    found = _shown_step(context)
    if found is None:
        return
    recording, step, index, _ = found
    scale, colours = context.preferences.system.ui_scale, theme_colours(context.preferences)
    errors = [other.error for other in recording.steps(step_of(context.window_manager)[1])]
    length = sum(distance(a, b) for a, b in pairwise(step.joints))
    paint(context, graph_shapes(errors, length, index, scale))
    place = MARGIN[0] * scale, (MARGIN[1] + GRAPH[1] + 10.0) * scale
    write(iface_(caption(context.scene, found)), place, TEXT_SIZE * scale, colours["text"], has_shadow=False)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of a foot through the air: raised until it is clear of the ground at every moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..maths import V3, dot
from .feet import advance, arch, swinging
from .ground import Ground, climb
from .legs import Leg
from .settings import Settings, Swing
from .steps import Step, SurfacePose

SAMPLES = 32  # moments of a swing that are looked at
GRAZING = 0.004  # of a leg's reach: how far inside the ground a foot may be that lifts or lands
EDGE = 0.02  # of a leg's reach: ground that rises by more between two moments has an edge somewhere between them
NOT_WORTH = 1.3  # another shape is worth it where its apex is lower by more than this factor
LEADS = (1.0, 2.0, 3.0)
POWERS: dict[str, tuple[float, ...]] = {Swing.SMOOTH: (1.0, 0.6, 0.35), Swing.SINE: (0.5, 0.35)}


def raised(step: Step, leg: Leg, ground: Ground, settings: Settings, surface_pose: SurfacePose) -> Step:
    """The step with an apex at which heel and ball, or the tip, are clear of the ground.

    Of all shapes the one that rises least is taken; a plain arc where it does not rise much more.
    """
    least, margin = settings.step_height * leg.reach, settings.clearance * leg.reach
    best: Step | None = None
    for lead in LEADS:
        rises = _rises(replace(step, apex=0.0, lead=lead), leg, ground, surface_pose)
        for power in POWERS[step.curve]:
            needed = max(rise / arch(across, power) for across, rise in rises) + margin
            found = replace(step, apex=max(least, needed), power=power, lead=lead)
            if best is None or found.apex * NOT_WORTH < best.apex:
                best = found
            if best.apex <= NOT_WORTH * least:
                return best
    return best or step


def _rises(step: Step, leg: Leg, ground: Ground, surface_pose: SurfacePose) -> list[tuple[float, float]]:
    """By moment the share of the way, and how much higher the ground is than the lowest point of the foot."""
    span = step.land - step.lift
    moments = [step.lift + span * index / SAMPLES for index in range(SAMPLES + 1)]
    poses = [swinging(leg, step, time, surface_pose) for time in moments]
    rises = [-leg.reach] * (SAMPLES + 1)
    for point in contacts(leg):
        heights = [
            _heights(ground, leg, pose.contact(point), (step.up, time))
            for pose, time in zip(poses, moments, strict=True)
        ]
        for index in range(1, SAMPLES):
            foot, here = heights[index]
            for _, beside in (heights[index - 1], heights[index + 1]):
                here = beside if beside - here > EDGE * leg.reach else here
            rises[index] = max(rises[index], here - foot - GRAZING * leg.reach)
    return [(advance(step.curve, index / SAMPLES), rises[index]) for index in range(1, SAMPLES)]


def contacts(leg: Leg) -> Sequence[V3]:
    """The points of a foot that touch the ground, in its frame."""
    return (leg.heel, leg.ball) if leg.foot_length > 0.0 else (leg.heel,)


def _heights(ground: Ground, leg: Leg, point: V3, look: tuple[V3, float]) -> tuple[float, float]:
    """The height of a point along what is up, and that of the ground; a leg's reach lower where there is none."""
    up, time = look
    height = dot(point, up)
    hit = ground.under(point, up, (climb(leg), leg.reach), time)
    return height, dot(hit.place, up) if hit is not None else height - leg.reach

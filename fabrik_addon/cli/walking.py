# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers added where they are none yet, and their walks planned, by the command walk or an entry of a job file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ..errors import InvalidValueError
from ..gait import GAITS
from ..rig.schema import rig_of
from ..session.walk.planning import plan_walk
from ..session.walk.setup import add_walker
from .baking import Report
from .scene import armatures


@dataclass(frozen=True, slots=True)
class WalkRequest:
    """How armatures walk.

    Attributes:
        body_bone: Name of the bone that carries all legs; found if it is "".
        gait: Name of the gait; chosen by the number of legs if it is "".
    """

    body_bone: str = ""
    gait: str = ""


def add_walk(command: argparse.ArgumentParser) -> None:
    """The options of walk."""
    add = command.add_argument
    add("--frames", metavar="FIRST-LAST", help="range; the scene's if it is not given")
    add("--body-bone", default="", help="the bone that carries all legs; found if it is not given")
    add("--gait", choices=[gait.name for gait in GAITS], help="chosen by the number of legs if it is not given")


def walk_request_of(arguments: argparse.Namespace) -> WalkRequest:
    """How to walk.

    Raises:
        InvalidValueError: A chain is named.
    """
    if arguments.chain:
        raise InvalidValueError("--chain does not go with walk: name an armature")
    return WalkRequest(arguments.body_bone, arguments.gait or "")


def walk_open_file(names: Sequence[str], request: WalkRequest, frames: tuple[int, int] | None) -> Report:
    """Plan the walks of the armatures that are named, or of the only one.

    Args:
        names: Of armature objects.
        request: How they walk.
        frames: First and last frame, or None for the scene's.

    Raises:
        InvalidValueError: It is not clear which armature is to walk.
        FabrikError: One can't walk.
    """
    owners = armatures(names)
    if not names:
        walkers = [owner for owner in owners if len(rig_of(owner).walker.legs)]
        owners = walkers or owners
        if len(owners) != 1 and not walkers:
            raise InvalidValueError(f"there are {len(owners)} armatures: name the one that is to walk")
    scene = bpy.context.scene
    assert scene is not None
    span = frames or (scene.frame_start, scene.frame_end)
    told = [_walked(owner, request, span) for owner in owners]
    return {"all_reached": not any(one["told"] for one in told), "armatures": told}


def _walked(owner: bpy.types.Object, request: WalkRequest, span: tuple[int, int]) -> Report:
    walker = rig_of(owner).walker
    made: list[str] = []
    if not len(walker.legs) or request.body_bone:
        made = add_walker(bpy.context, owner, request.body_bone).made
    if request.gait:
        walker.gait = request.gait
    planned = plan_walk(bpy.context, owner, span)
    rig_of(owner).live = True
    return {
        "name": owner.name,
        "made": made,
        "legs": [leg.name for leg in walker.legs],
        "body": rig_of(owner).body_bone,
        "gait": walker.gait,
        "frames": list(span),
        "steps": planned.steps,
        "told": list(planned.told),
    }

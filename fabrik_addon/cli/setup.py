# SPDX-License-Identifier: GPL-3.0-or-later
"""The command setup, and the parts that inspect tells."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import bpy

from ..errors import ChainError, InvalidValueError
from ..recognise.parts import APPLIED
from ..recognise.plans import PLANS
from ..session.setup.finding import Found, find_parts
from ..session.setup.making import KIND_OF_CONTROLS, SetupOptions, set_up, wanted_parts
from .baking import Report
from .scene import armatures

LEFT_OUT = {"poles": "use_poles", "limits": "use_limits", "pins": "use_pins", "tail": "use_tail"}


def add_setup(command: argparse.ArgumentParser) -> None:
    """The options of setup."""
    add = command.add_argument
    add("--plan", choices=("AUTO", *PLANS), default="AUTO", help="what kind of body it is; found if it is not given")
    add("--controls", choices=(*KIND_OF_CONTROLS, "NONE"), default="BONES", help="what targets and poles are made as")
    add("--without", action="append", default=[], choices=tuple(LEFT_OUT), help="what is not made")
    add("--fingers", action="store_true", help="a chain for each finger, too")


def parts_told(owner: bpy.types.Object) -> Report:
    """The parts of an armature, sure or not, and what is missing."""
    return _told(find_parts(owner))


def set_up_file(arguments: argparse.Namespace) -> Report:
    """Set up the armatures that are named, or all; those of which nothing is sure are told.

    Raises:
        InvalidValueError: A chain is named, or there is no armature.
        FabrikError: One can't be set up.
    """
    if arguments.chain:
        raise InvalidValueError("--chain does not go with setup: name an armature")
    owners = armatures(arguments.armature)
    if not owners:
        raise InvalidValueError("there is no armature")
    left_out = {LEFT_OUT[name]: False for name in arguments.without}
    options = SetupOptions(controls=arguments.controls, use_fingers=arguments.fingers, **left_out)
    told = [_set_up(owner, arguments.plan, options) for owner in owners]
    return {"all_reached": all("error" not in one and not one["asked"] for one in told), "armatures": told}


def _set_up(owner: bpy.types.Object, plan: str, options: SetupOptions) -> Report:
    found = find_parts(owner, plan)
    report = {"name": owner.name, **_told(found)}
    report["asked"] = [part.name for part in found.parts if part.confidence < APPLIED]
    parts = wanted_parts([part for part in found.parts if part.confidence >= APPLIED], options)
    if not parts:
        return {**report, "error": str(ChainError("nothing of it is sure", rig=owner.name))}
    return {**report, "done": asdict(set_up(bpy.context, owner, found, parts, options))}


def _told(found: Found) -> dict[str, Any]:
    told = asdict(found)
    for part in told["parts"]:
        part["is_applied"] = part["confidence"] >= APPLIED
    return told

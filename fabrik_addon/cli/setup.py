# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters set up, by the command setup or an entry of a job file, and the parts that inspect tells."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import bpy

from ..errors import ChainError, InvalidValueError
from ..recognise.find import PLANS
from ..recognise.mapping import Mapping, load_mapping
from ..session.setup.finding import Found, find_parts
from ..session.setup.making import KIND_OF_CONTROLS, SetupOptions, set_up, wanted_parts
from ..session.setup.mapped import found_by
from .baking import Report
from .scene import armatures

CONTROLS = (*KIND_OF_CONTROLS, "NONE")
LEFT_OUT = {"poles": "use_poles", "limits": "use_limits", "pins": "use_pins", "tail": "use_tail"}


@dataclass(frozen=True, slots=True)
class SetupRequest:
    """How characters are set up.

    Attributes:
        plan: What kind of body they are, or `AUTO`.
        options: What is made.
        mapping: Which bones are which parts, or None to look for them.
    """

    plan: str
    options: SetupOptions
    mapping: Mapping | None = None


def options_of(controls: str = "BONES", without: Sequence[str] = (), fingers: bool = False) -> SetupOptions:
    """What is made, by the words of arguments and of job files.

    Args:
        controls: One of `CONTROLS`.
        without: Some of `LEFT_OUT`.
        fingers: Whether each finger becomes a chain.
    """
    left_out = {LEFT_OUT[name]: False for name in without}
    return SetupOptions(controls=controls, use_fingers=fingers, **left_out)


def add_setup(command: argparse.ArgumentParser) -> None:
    """The options of setup."""
    add = command.add_argument
    add("--plan", choices=("AUTO", *PLANS), default="AUTO", help="what kind of body it is; found if it is not given")
    add("--mapping", type=Path, help="a file that tells which bones are which parts; nothing is looked for then")
    add("--controls", choices=CONTROLS, default="BONES", help="what targets and poles are made as")
    add("--without", action="append", default=[], choices=tuple(LEFT_OUT), help="what is not made")
    add("--fingers", action="store_true", help="a chain for each finger, too")


def setup_request_of(arguments: argparse.Namespace) -> SetupRequest:
    """How to set up characters.

    Raises:
        InvalidValueError: A chain is named, or the mapping is none.
    """
    if arguments.chain:
        raise InvalidValueError("--chain does not go with setup: name an armature")
    options = options_of(arguments.controls, arguments.without, arguments.fingers)
    if arguments.mapping is None:
        return SetupRequest(arguments.plan, options)
    if arguments.plan != "AUTO":
        raise InvalidValueError("--plan does not go with --mapping, which tells it")
    return SetupRequest("AUTO", options, load_mapping(arguments.mapping))


def parts_told(owner: bpy.types.Object) -> Report:
    """The parts of an armature, sure or not, and what is missing."""
    return _told(find_parts(owner))


def set_up_open_file(names: Sequence[str], request: SetupRequest) -> Report:
    """Set up the armatures that are named, or all; those of which nothing is sure are told.

    Args:
        names: Of armature objects.
        request: How.

    Raises:
        InvalidValueError: There is no armature.
        FabrikError: One can't be set up.
    """
    owners = armatures(names)
    if not owners:
        raise InvalidValueError("there is no armature")
    told = [_set_up(owner, request) for owner in owners]
    return {"all_reached": all("error" not in one and not one["asked"] for one in told), "armatures": told}


def _set_up(owner: bpy.types.Object, request: SetupRequest) -> Report:
    found = find_parts(owner, request.plan) if request.mapping is None else found_by(owner, request.mapping)
    report = {"name": owner.name, **_told(found)}
    report["asked"] = [part.name for part in found.parts if not part.is_applied]
    parts = wanted_parts([part for part in found.parts if part.is_applied], request.options)
    if not parts:
        return {**report, "error": str(ChainError("nothing of it is sure", rig=owner.name))}
    return {**report, "done": asdict(set_up(bpy.context, owner, found, parts, request.options))}


def _told(found: Found) -> dict[str, Any]:
    told = asdict(found)
    for part, one in zip(told["parts"], found.parts, strict=True):
        part["is_applied"] = one.is_applied
    return told

# SPDX-License-Identifier: GPL-3.0-or-later
"""What each command does: the use cases of the operators, with a report in JSON."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector

from ..errors import FabrikError, InvalidValueError, TargetError
from ..rig.chain_bones import resolve_bones
from ..rig.compat import fcurves_of
from ..rig.limit_properties import limit_of
from ..rig.placing import held_by, location_at
from ..rig.properties import FabrikChain, name_all, rig_of
from ..session.bake import BakeSettings, bake
from ..session.order import levels
from ..session.solve import solve_chains
from .arguments import check_frame, frames_of, parser, targets_of

REACHED, NOT_ALL, WRONG = 0, 1, 2
Report = dict[str, Any]


def run(words: Sequence[str]) -> int:
    """Run a command; its exit code.

    Args:
        words: The arguments after `--command fabrik`.
    """
    try:
        arguments = parser().parse_args(list(words))
        report = _run(arguments)
        if arguments.report is not None:
            _write(arguments.report, json.dumps(report, indent=1))
    except SystemExit as end:  # --help
        return int(end.code or 0)
    except FabrikError as error:
        sys.stderr.write(f"fabrik: error: {error}\n")
        return WRONG
    except (OSError, ValueError) as error:
        sys.stderr.write(f"fabrik: error: {getattr(error, 'strerror', None) or error}\n")
        return WRONG
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    return REACHED if report["all_reached"] else NOT_ALL


def _run(arguments: argparse.Namespace) -> Report:
    output = getattr(arguments, "output", None)
    if output is not None:
        _check_place(output)
        if output.suffix != ".blend":
            raise InvalidValueError(f"'{output}' does not end in .blend")
    if arguments.report is not None:
        _check_place(arguments.report)
        opened = arguments.file or (Path(bpy.data.filepath) if bpy.data.filepath else None)
        if any(arguments.report.resolve() == other.resolve() for other in (output, opened) if other is not None):
            raise InvalidValueError(f"the report would be written over '{arguments.report}'")
    if getattr(arguments, "frame", None) is not None:
        check_frame(arguments.frame)
    if arguments.file is not None:
        _open(arguments.file)
    elif not bpy.data.filepath:
        raise InvalidValueError("no file: name one before --command, or with --file")
    owners = _owners(arguments)
    found = [(owner, _chains(owner, arguments.chain)) for owner in owners]
    _check_names(arguments, found)
    if arguments.command == "inspect":
        return {"all_reached": True, "armatures": [_inspected(owner, chains) for owner, chains in found]}
    _put_targets(targets_of(arguments.target), found)
    work = _solved if arguments.command == "solve" else _baked
    report = work(arguments, [(owner, chains) for owner, chains in found if chains])
    if arguments.output is not None:
        _save(arguments.output)
        report["output"] = str(arguments.output)
    return report


def _open(path: Path) -> None:
    if not path.is_file():
        raise InvalidValueError(f"there is no file '{path}'")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise InvalidValueError(f"'{path}' can't be opened: {_reason(error)}") from error


def _owners(arguments: argparse.Namespace) -> list[bpy.types.Object]:
    scene = bpy.context.scene
    assert scene is not None
    for name in arguments.armature:
        found = scene.objects.get(name)
        if found is None or found.type != "ARMATURE":
            raise InvalidValueError(f"the scene has no armature '{name}'")
    owners = [owner for owner in scene.objects if owner.type == "ARMATURE" and len(rig_of(owner).chains)]
    if arguments.armature:
        owners = [owner for owner in owners if owner.name in arguments.armature]
    if not owners:
        raise InvalidValueError("no armature of the scene has chains")
    for owner in owners:
        name_all(owner)
    items = [(owner, chain) for owner in owners for chain in rig_of(owner).chains if chain.enabled]
    order = [owner for level in levels(items) for owner, _ in level]  # one that hangs on another comes after it
    return sorted(owners, key=lambda owner: -order[::-1].index(owner) if owner in order else 0)


def _chains(owner: bpy.types.Object, names: Sequence[str]) -> list[FabrikChain]:
    return [chain for chain in rig_of(owner).chains if (chain.name in names if names else chain.enabled)]


def _check_names(arguments: argparse.Namespace, found: list[tuple[bpy.types.Object, list[FabrikChain]]]) -> None:
    known = {chain.name for _, chains in found for chain in chains}
    for name in arguments.chain:
        if name not in known:
            raise InvalidValueError(f"there is no chain '{name}'")
    if not known and arguments.command != "inspect":
        raise InvalidValueError("no chain is enabled")


def _inspected(owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> Report:
    return {"name": owner.name, "live": rig_of(owner).live, "chains": [_told(owner, chain) for chain in chains]}


def _told(owner: bpy.types.Object, chain: FabrikChain) -> Report:
    """A chain and its settings; what is wrong with it, where something is."""
    told: Report = {name: getattr(chain, name) for name in ("name", "enabled", "start", "influence", "tolerance")}
    told["target"] = chain.target.name if chain.target else None
    told["pole"] = chain.pole.name if chain.pole else None
    try:
        told["bones"] = [{"name": bone.name, "limit": limit_of(bone).limit} for bone in resolve_bones(owner, chain)]
    except FabrikError as error:
        told["error"] = str(error)
    return told


def _put_targets(
    places: dict[str, tuple[float, float, float]], found: list[tuple[bpy.types.Object, list[FabrikChain]]]
) -> None:
    """Put the targets of chains to places in the world; all are checked before one is moved."""
    goals = {}
    for name in places:
        named = [chain for _, chains in found for chain in chains if chain.name == name]
        if len(named) != 1:
            count = "no chain" if not named else "more than one chain"
            raise InvalidValueError(f"there is {count} '{name}' whose target could be put somewhere")
        goal = named[0].target
        reason = held_by(goal, named[0].target_bone)
        if goal is not None and any(curve.data_path == "location" for curve in fcurves_of(goal)):
            reason = "is keyed"
        if reason or goal is None:
            raise TargetError(f"its target {reason}, so it can't be put somewhere", chain=name)
        goals[name] = goal
    depsgraph = bpy.context.evaluated_depsgraph_get()
    locations = {name: location_at(goals[name], Vector(place), depsgraph) for name, place in places.items()}
    for name, location in locations.items():
        goals[name].location = location
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.update()


def _solved(arguments: argparse.Namespace, found: list[tuple[bpy.types.Object, list[FabrikChain]]]) -> Report:
    scene = bpy.context.scene
    assert scene is not None
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    armatures: list[Report] = []
    for owner, chains in found:
        outcomes = solve_chains(bpy.context, owner, [chain.name for chain in chains])
        armatures.append({"name": owner.name, "chains": [_outcome(outcome) for outcome in outcomes]})
        keyed = [text for outcome in outcomes for text in outcome.warnings if "is keyed" in text]
        if keyed and arguments.output is not None:
            raise InvalidValueError(f"{keyed[0]}: bake it instead", rig=owner.name)
    every = [chain for armature in armatures for chain in armature["chains"]]
    return {"all_reached": all(chain["status"] == "REACHED" for chain in every), "armatures": armatures}


def _outcome(outcome: Any) -> Report:
    names = ("chain", "status", "residual", "passes", "blocking", "reason", "warnings")
    return {name: getattr(outcome, name) for name in names}


def _baked(arguments: argparse.Namespace, found: list[tuple[bpy.types.Object, list[FabrikChain]]]) -> Report:
    scene = bpy.context.scene
    assert scene is not None
    text = arguments.frames or f"{scene.frame_start}-{scene.frame_end}"
    settings = BakeSettings(frames_of(text, arguments.step), arguments.into, arguments.interpolation)
    result = bake(bpy.context, [(owner, chain) for owner, chains in found for chain in chains], settings)
    armatures = [{"name": owner.name, **result.of(owner.name).as_json()} for owner, _ in found]
    return {"all_reached": result.all_reached, "armatures": armatures}


def _check_place(path: Path) -> None:
    """Refuse a place where no file can be put."""
    if not path.parent.is_dir():
        raise InvalidValueError(f"there is no folder '{path.parent}' to save into")
    if path.exists() and not path.is_file():
        raise InvalidValueError(f"'{path}' is not a file that could be replaced")


def _reason(error: RuntimeError) -> str:
    """The first line of what an operator reported."""
    return str(error).strip().removeprefix("Error: ").splitlines()[0]


def _put(made: Path, place: Path) -> None:
    """Put a file in the place of another, with its permissions."""
    if place.exists():
        shutil.copymode(place, made)
    made.replace(place)


def _write(path: Path, text: str) -> None:
    place = path.resolve()
    made = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        made.write_text(text, encoding="utf-8")
        _put(made, place)
    finally:
        made.unlink(missing_ok=True)


def _save(path: Path) -> None:
    """Write the file beside its place and then put it there, so that it is whole or the old one stays."""
    place = path.resolve()  # through a link to the file itself
    made = place.with_name(f".{place.stem}.{os.getpid()}.blend")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(made), copy=True, check_existing=False)
        _put(made, place)
    except RuntimeError as error:
        raise InvalidValueError(f"'{path}' can't be saved: {_reason(error)}") from error
    finally:
        made.unlink(missing_ok=True)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What each command does: the use cases of the operators, with a report in JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector

from ..errors import FabrikError, InvalidValueError, TargetError
from ..rig.chain_bones import resolve_bones
from ..rig.limit_properties import limit_of
from ..rig.properties import FabrikChain, name_all, rig_of
from ..session.bake import BakeSettings, bake
from ..session.solve import solve_chains
from .arguments import frames_of, parser, targets_of

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
    except OSError as error:
        sys.stderr.write(f"fabrik: error: {error.strerror or error}: {error.filename}\n")
        return WRONG
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    return REACHED if report["all_reached"] else NOT_ALL


def _run(arguments: argparse.Namespace) -> Report:
    if arguments.command != "inspect" and arguments.output is not None:
        _check_output(arguments.output)
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
        text = str(error).strip().removeprefix("Error: ").splitlines()[0]
        raise InvalidValueError(f"'{path}' can't be opened: {text}") from error


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
    return owners


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
    by_name = {chain.name: chain for _, chains in found for chain in chains}
    for name in places:
        chain = by_name.get(name)
        if chain is None:
            raise InvalidValueError(f"there is no chain '{name}' whose target could be put somewhere")
        if chain.target is None or chain.target_bone or chain.target.parent or chain.target.constraints:
            raise TargetError("its target is not an object that stands by itself", chain=name)
    for name, place in places.items():
        target = by_name[name].target
        assert target is not None
        target.location = Vector(place) - Vector(target.delta_location)
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
    armatures: list[Report] = []
    for owner, chains in found:
        results = bake(bpy.context, owner, [chain.name for chain in chains], settings)
        armatures.append({"name": owner.name, "chains": [result.as_json() for result in results]})
    every = [chain for armature in armatures for chain in armature["chains"]]
    return {"all_reached": not any(chain["unreached"] for chain in every), "armatures": armatures}


def _check_output(path: Path) -> None:
    if path.suffix != ".blend":
        raise InvalidValueError(f"'{path}' does not end in .blend")
    if not path.parent.is_dir():
        raise InvalidValueError(f"there is no folder '{path.parent}' to save into")


def _write(path: Path, text: str) -> None:
    made = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        made.write_text(text, encoding="utf-8")
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)


def _save(path: Path) -> None:
    """Write the file beside its place and then put it there, so that it is whole or the old one stays."""
    made = path.with_name(f".{path.stem}.{os.getpid()}.blend").resolve()
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(made), copy=True, check_existing=False)
        made.replace(path)
    except RuntimeError as error:
        raise InvalidValueError(f"'{path}' can't be saved: {str(error).strip()}") from error
    finally:
        made.unlink(missing_ok=True)

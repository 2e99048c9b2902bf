# SPDX-License-Identifier: GPL-3.0-or-later
"""What each command does: the use cases of the operators, with a report in JSON."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import degrees
from pathlib import Path
from typing import Any

import bpy

from ..actions.convert import Converted, convert
from ..actions.convert_back import convert_to_ik
from ..actions.frames import check_frame
from ..actions.setup.parts import find_parts
from ..actions.solve import solve_items
from ..actions.status import told_of
from ..actions.walk.clip import load_cycle
from ..errors import FabrikError, InvalidValueError
from ..kernel import FORM
from ..motion.transfer import TransferOptions
from ..recognise.mapping import load_mapping
from ..rig.bones import pose_bones, resolve_bones
from ..rig.checks import check_drivers
from ..rig.figure.groups import set_of
from ..rig.schema import FabrikChain, limit_of, rig_of
from .arguments import parser, range_of, refuse_chains, request_of, setup_of
from .files import (
    check_library,
    check_place,
    open_blend,
    open_streams,
    put_error,
    put_line,
    resolved,
    save_blend,
    write_text,
)  # fmt: skip
from .jobs import run_job
from .requests import (
    Progress,
    Report,
    bake_open_file,
    parts_told,
    set_up_open_file,
    transfer_in_open_file,
    walk_open_file,
)
from .scene import OF_BODY, OF_GOAL, Request, armatures, chosen, items_of, put

REACHED, NOT_ALL, WRONG, UNTOLD = 0, 1, 2, 3
TOLD = ("name", "enabled", "is_baked", "start", "tolerance")  # of a chain, beside what its goal asks
JOB_OPTIONS = {"command", "job", "index", "progress", "report", "allow_unreached"}
log = logging.getLogger(__name__)


def run(words: Sequence[str]) -> int:
    """Run a command by the words after `--command fabrik`; its exit code."""
    open_streams()
    try:
        _check_words(words)
        arguments = parser().parse_args(list(words))
        report = _run(arguments)
    except SystemExit as end:  # --help
        return int(end.code or 0)
    except (FabrikError, OSError) as error:
        return _wrong(str(error))
    except Exception as error:  # of Blender's or ours; 1 would say that all was done
        log.exception("the command failed")
        return _wrong(f"{type(error).__name__}: {error}")
    return _end(arguments, report)


def _check_words(words: Sequence[str]) -> None:
    """Refuse words that no name in a file can be, since Blender's names are UTF-8."""
    for word in words:
        if not word.isprintable():
            raise InvalidValueError(f"{word!a} holds characters that can't be printed")


def _end(arguments: argparse.Namespace, report: Report) -> int:
    """The report in its file and on standard output, and the exit code; what was saved by then stays."""
    saved = f"; '{report['output']}' is saved" if "output" in report else ""
    if arguments.report is not None:
        try:
            write_text(arguments.report, json.dumps(report, indent=1))
        except FabrikError as error:
            put_line(sys.stdout, json.dumps(report))
            return _wrong(f"{error}{saved}")
    reason = put_line(sys.stdout, json.dumps(report))
    if report.get("wrong"):
        return WRONG
    if reason:
        put_error(f"the work is done, but standard output can't be written: {reason}{saved}")
        return UNTOLD
    return REACHED if report["all_reached"] or arguments.allow_unreached else NOT_ALL


def _wrong(text: str) -> int:
    put_error(text)
    return WRONG


def _run(arguments: argparse.Namespace) -> Report:
    if arguments.job is not None:
        return _job(arguments)
    _check(arguments)
    work = _work(arguments)
    open_blend(arguments.file)
    if arguments.report is not None:
        check_library(arguments.report)
    report = work()
    if arguments.output is not None:
        save_blend(arguments.output)
        report["output"] = str(arguments.output)
    return report


def _work(arguments: argparse.Namespace) -> Callable[[], Report]:
    """What a command does to the file that is open by then; what its own options say is read before."""
    names = arguments.armature
    if arguments.command == "setup":
        setup = setup_of(arguments)
        return lambda: set_up_open_file(names, setup)
    if arguments.command == "walk":
        refuse_chains(arguments)
        frames = range_of(arguments.frames, 1)
        chosen = {name: getattr(arguments, name) for name in ("body_bone", "gait", "clip", "fast_clip")}
        cycle = load_cycle(arguments.cycle) if arguments.cycle is not None else None
        return lambda: walk_open_file(names, frames, **chosen, cycle=cycle)
    if arguments.command == "transfer":
        refuse_chains(arguments)
        if names:
            raise InvalidValueError("--armature does not go with transfer: name the source and the target")
        if arguments.frames and arguments.every_action:
            raise InvalidValueError("--frames does not go with --every-action")
        frames, mapping = range_of(arguments.frames, 1), load_mapping(arguments.mapping) if arguments.mapping else None
        chosen = {name: getattr(arguments, name) for name in ("way", "root", "level", "ground", "rate")}
        contacts, fingers = not arguments.without_contacts, not arguments.without_fingers
        options = TransferOptions(contacts, fingers=fingers, mapping=mapping, **chosen)
        which = "EVERY" if arguments.every_action else frames
        return lambda: transfer_in_open_file(arguments.source, arguments.target, which, options)
    if arguments.command == "bake":
        request = request_of(arguments)
        return lambda: _baked(request, Progress(arguments.progress or ""))
    work = {"inspect": _inspected, "solve": _solved, "convert": _converted}
    return lambda: work[arguments.command](arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what can be told before a file is opened."""
    if arguments.output is not None:
        check_place(arguments.output, is_blend=True)
    if arguments.report is not None:
        opened = arguments.file or (Path(bpy.data.filepath) if bpy.data.filepath else None)
        if resolved(arguments.report) in {resolved(other) for other in (arguments.output, opened) if other is not None}:
            raise InvalidValueError(f"the report would be written over '{arguments.report}'")
        check_place(arguments.report, is_blend=False)
    if arguments.frame is not None:
        check_frame(arguments.frame)


def _job(arguments: argparse.Namespace) -> Report:
    plain = vars(parser().parse_args(["bake"]))
    for name, value in vars(arguments).items():
        if name not in JOB_OPTIONS and value != plain[name]:
            option = name.replace("_", "-")
            raise InvalidValueError(f"--{option} does not go with --job, whose entries tell what is baked")
    return run_job(arguments.job, arguments.index, arguments.progress or "", arguments.report)


def _inspected(arguments: argparse.Namespace) -> Report:
    told: list[Report] = []
    bpy.context.evaluated_depsgraph_get()  # what moved since the last solve is read from what is evaluated
    owners = armatures(arguments.armature)
    are_none = arguments.parts and not any(len(rig_of(owner).chains) for owner in owners)
    for owner, named in [] if are_none else chosen(request_of(arguments), any_will_do=True):
        chains = named if arguments.chain else list(rig_of(owner).chains)
        live = rig_of(owner).live
        body = {name: getattr(rig_of(owner), name) for name in OF_BODY}
        told.append({"name": owner.name, "live": live, **body, "chains": [_told(owner, chain) for chain in chains]})
    every = [chain for armature in told for chain in armature["chains"]]
    all_reached = not any("error" in chain for chain in every)
    report: Report = {"all_reached": all_reached, "solver": FORM, "armatures": told}
    if arguments.parts:
        report["parts"] = [{"name": owner.name, **parts_told(find_parts(owner))} for owner in owners]
    return report


def _told(owner: bpy.types.Object, chain: FabrikChain) -> Report:
    """A chain and its settings; what is wrong with it, where something is."""
    told: Report = {name: getattr(chain, name) for name in TOLD}
    told |= {name: getattr(chain, name) for name in OF_GOAL}
    told["target"] = chain.target.name if chain.target else None
    told["pole"] = chain.pole.name if chain.pole else None
    now = told_of(chain, bpy.context)
    told |= {"status": chain.status, "now": now.kind, "told": now.text}
    try:
        told["together"] = [name for name in set_of(owner, chain).names if name != chain.name]
        told["bones"] = [{"name": bone.name, "limit": limit_of(bone).limit} for bone in resolve_bones(owner, chain)]
    except FabrikError as error:
        told["error"] = str(error)
    return told


def _solved(arguments: argparse.Namespace) -> Report:
    scene = bpy.context.scene
    assert scene is not None
    request = request_of(arguments)
    found = chosen(request)
    items = items_of(found)
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    put(request, items)
    for owner, chain in items:
        check_drivers(owner, chain)
    outcomes = solve_items(bpy.context, items)
    lost = [outcome for outcome in outcomes if outcome.is_lost]
    if lost and arguments.output is not None:
        raise InvalidValueError("its bones are keyed: bake it instead", rig=lost[0].rig, chain=lost[0].chain)
    told = [
        {"name": owner.name, "chains": [_outcome(one) for one in outcomes if one.rig == owner.name]}
        for owner, _ in found
    ]
    return {"all_reached": all(outcome.status == "REACHED" for outcome in outcomes), "armatures": told}


def _outcome(outcome: Any) -> Report:
    names = ("chain", "status", "residual", "passes", "blocking", "reason", "warnings")
    return {**{name: getattr(outcome, name) for name in names}, "residual_degrees": degrees(outcome.turn_residual)}


def _baked(request: Request, progress: Progress) -> Report:
    report = bake_open_file(request, progress)
    progress.end_part()
    return report


def _converted(arguments: argparse.Namespace) -> Report:
    """IK constraints to chains, or chains to IK constraints; all reached where all of them could be made."""
    told: list[tuple[bpy.types.Object, list[Converted]]] = []
    if arguments.to == "ik":
        found = chosen(request_of(arguments))
        results = iter(convert_to_ik(bpy.context, items_of(found)))
        told = [(owner, [next(results) for _ in chains]) for owner, chains in found]
    elif arguments.chain:
        raise InvalidValueError("--chain does not go with --to chains: name an armature")
    else:
        for owner in armatures(arguments.armature):
            made = convert(bpy.context, owner, pose_bones(owner).keys(), aims=arguments.aims)
            told += [(owner, made)] if made else []
        if not told:
            raise InvalidValueError("no bone has an IK constraint that is in force")
    every = [result for _, results in told for result in results]
    return {
        "all_reached": all(result.constraint if arguments.to == "ik" else result.chain for result in every),
        "armatures": [{"name": owner.name, "converted": [asdict(one) for one in results]} for owner, results in told],
    }

# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of the command line, and what each command does: the use cases of the operators, told in JSON."""

from __future__ import annotations

import argparse
import logging
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from math import degrees
from pathlib import Path
from typing import Any, NoReturn

import bpy

from ..actions.bake.checks import INTERPOLATIONS, INTO, MOST_CLEAN_UP, VERIFY
from ..actions.convert import ConversionResult, convert, convert_to_ik
from ..actions.frames import check_frame, check_range
from ..actions.motion.takes import files_in
from ..actions.setup.parts import find_parts
from ..actions.solve import solve_items
from ..actions.status import report_of
from ..actions.walk.clip import load_cycle
from ..errors import FabrikError, InvalidValueError, are_finite, is_plain
from ..gait.gaits import GAITS
from ..kernel import FORM
from ..motion.transfer import TRANSFER_WORDS, TransferOptions
from ..recognise.find import PLANS
from ..recognise.mapping import load_mapping
from ..rig.bones import pose_bones, resolve_bones
from ..rig.checks import check_drivers, check_rig
from ..rig.figure.groups import set_of
from ..rig.figure.reader import read
from ..rig.schema import FabrikChain, limit_of, rig_of
from . import files, requests
from .jobs import run_job
from .requests import (
    BAKED,
    FORMS,
    OF_BODY,
    OF_GOAL,
    Place,
    Progress,
    Report,
    Request,
    Setup,
    Value,
    check_step,
    value_of,
)

EXAMPLES = """examples:
  blender --background rig.blend --command fabrik inspect
  blender --background rig.blend --command fabrik solve --armature Rig --target hand.L=1,0,1.5 --output posed.blend
  blender --background --command fabrik bake --file shot.blend --frames 1-250 --output baked.blend
  blender --background character.blend --command fabrik setup --output rig.blend
  blender --background --command fabrik walk --file spider.blend --frames 1-250 --output walk.blend
  blender --background --command fabrik transfer Mocap Hero --file shot.blend --output hero.blend
  blender --background --command fabrik convert --file rig.blend --to chains --output rig.blend
  blender --background --command fabrik bake --job shots.json --index 4-6 --progress

The report is the one line on standard output that begins with {, among lines of Blender's own. Exit codes: 0 all
limbs on their targets, 1 some not, 2 the input is wrong or the disk is full, 3 done but standard output is full;
a file is written whole or not at all. A name that begins with a dash is given as --chain=-name.
"""
COMMANDS = {
    "inspect": "tell armatures, chains and their settings",
    "solve": "pose chains at the frame of the file or at another",
    "bake": "key chains over a range of frames, of one file or of the shots of a job file",
    "setup": "find the limbs of characters and make chains, goals, limits and pins of them",
    "walk": "let armatures walk along the path of their body: find the legs and plan the steps",
    "transfer": "bring the motion of an armature to another one, whatever its bones and proportions",
    "convert": "make chains of Blender's IK constraints, or the other way round",
}


class Parser(argparse.ArgumentParser):
    """A parser whose refusals are errors of ours."""

    def error(self, message: str) -> NoReturn:
        raise InvalidValueError(message)


def parser() -> Parser:
    """The parser of all commands."""
    found = Parser(prog="fabrik", epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = found.add_subparsers(dest="command", required=True, parser_class=Parser)
    made = {}
    for name, text in COMMANDS.items():
        made[name] = command = commands.add_parser(
            name, help=text, description=text, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        # what only some of them take
        command.set_defaults(output=None, armature=(), chain=(), target=(), set=(), frame=None, job=None)
        add = command.add_argument
        add("--file", type=Path, help="a .blend to open; its scripts are not run")
        add("--report", type=Path, help="a file for the report as well")
        if name != "transfer":
            add("--armature", action="append", default=[], help="armature objects; all with chains if none")
        if name in {"inspect", "solve", "bake", "convert"}:
            add("--chain", action="append", default=[], help="names of chains; all enabled ones if none")
        add("--allow-unreached", action="store_true", help="exit with 0 and not with 1 where limbs do not reach")
        if name != "inspect":
            add("--output", type=Path, help="where to save the result; the file itself may be named")
        if name in {"solve", "bake"}:
            place = "put the target of a chain somewhere"
            add("--target", action="append", default=[], metavar="CHAIN=X,Y,Z", help=place)
            add("--set", action="append", default=[], metavar="CHAIN.SETTING=VALUE", help="such as foot.L.pin=true")
    made["solve"].add_argument("--frame", type=int, help="frame at which to solve")
    made["convert"].add_argument("--to", choices=("chains", "ik"), required=True, help="what to make")
    made["convert"].add_argument("--aims", action="store_true", help="make chains of Damped Track constraints as well")
    made["inspect"].add_argument("--parts", action="store_true", help="tell the limbs that are found as well")
    frames = "range; if it is not given the scene's, of transfer all frames in which the source moves"
    for name in ("walk", "bake", "transfer"):
        made[name].add_argument("--frames", metavar="FIRST-LAST", help=frames)
    _add_setup(made["setup"])
    _add_bake(made["bake"])
    add = made["transfer"].add_argument
    add("source", help="the armature object that moves; else a BVH, FBX or glTF file, or a folder of them")
    add("target", help="the armature object to which its motion is brought")
    add("--every-action", action="store_true", help="bring all its actions, each as an action of the target")
    add("--way", choices=TRANSFER_WORDS["way"], default="LEGS", help="how far it goes: by its own legs at first")
    add("--without-contacts", action="store_true", help="do not let feet stand still where those of the source do")
    add("--keep-limits", action="store_true", help="let limits of joints bend the motion")
    add("--root", choices=TRANSFER_WORDS["root"], default="BODY", help="what goes along with the body")
    add("--level", action="store_true", help="take slopes and steps of the source's ground out")
    add("--ground", default="", metavar="OBJECT", help="an object on which it walks")
    add("--without-fingers", action="store_true", help="leave fingers as they are")
    add("--rate", type=float, default=0.0, help="frames a second of what comes out; the scene's if it is not given")
    add("--mapping", type=Path, help="a file that tells which bones of the source are which parts")
    add = made["walk"].add_argument
    add("--body-bone", default="", help="the bone that carries all legs; found if it is not given")
    add(
        "--gait",
        choices=[gait.name for gait in GAITS],
        default="",
        help="chosen by the number of legs if it is not given",
    )
    add("--clip", default="", help="the action by which it walks, one cycle of it")
    add("--fast-clip", default="", help="a second one, by which it goes the more the faster it is")
    add("--cycle", type=Path, help="a file that says how it walks, as Export Cycle writes it")
    return found


def _add_setup(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--plan", choices=("AUTO", *PLANS), default="AUTO", help="what kind of body it is; found if it is not given")
    add("--mapping", type=Path, help="a file that tells which bones are which parts; nothing is looked for then")
    add("--controls", choices=requests.CONTROLS, default="BONES", help="what targets and poles are made as")
    add("--without", action="append", default=[], choices=tuple(requests.LEFT_OUT), help="what is not made")
    add("--fingers", action="store_true", help="a chain for each finger, too")


def _add_bake(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--step", type=int, default=1, help="frames from key to key")
    add(
        "--only-keys", action="store_true", help="key each chain only where its target, its pole or a setting has a key"
    )
    add("--into", choices=INTO, default=INTO[0], help="the armature's action, a copy of it, or a track")
    add("--interpolation", choices=INTERPOLATIONS, default=INTERPOLATIONS[0])
    add("--clean-up", type=float, default=0.0, metavar="DEGREES", help="leave out keys up to this error")
    add("--verify", choices=VERIFY, default=VERIFY[0], help="which frames Blender evaluates afterwards")
    add("--job", type=Path, help="a job file whose shots are baked, each into its own output")
    add("--index", metavar="FIRST-LAST", help="entries of the job file, from 1; all if it is not given")
    add("--progress", nargs="?", choices=FORMS, const=FORMS[0], help="tell how much is done, as it goes on")


def request_of(arguments: argparse.Namespace) -> Request:
    """Armatures, chains, targets and settings that are named, and how to bake them.

    Raises:
        InvalidValueError: A target, a setting or another value is none.
    """
    targets, settings = targets_of(arguments.target), settings_of(arguments.set)
    named = Request(arguments.armature, arguments.chain, targets, settings)
    if arguments.command != "bake":
        return named
    if arguments.index is not None:
        raise InvalidValueError("--index counts the entries of a job file, which --job names")
    if not (are_finite([arguments.clean_up]) and 0.0 <= arguments.clean_up <= degrees(MOST_CLEAN_UP)):
        raise InvalidValueError(f"a clean-up by {arguments.clean_up} degrees is not between 0 and 30")
    frames = range_of(arguments.frames, arguments.step)
    bake = {name: getattr(arguments, name) for name in BAKED}
    return replace(named, frames=frames, step=arguments.step, bake=bake)


def setup_of(arguments: argparse.Namespace) -> Setup:
    """How to set up characters.

    Raises:
        InvalidValueError: The mapping is none.
    """
    options = requests.options_of(arguments.controls, arguments.without, arguments.fingers)
    if arguments.mapping is not None and arguments.plan != "AUTO":
        raise InvalidValueError("--plan does not go with --mapping, which tells it")
    return arguments.plan, options, requests.loaded(load_mapping, arguments.mapping) if arguments.mapping else None


def range_of(text: str | None, step: int) -> tuple[int, int] | None:
    """First and last frame of a range; None for none.

    Raises:
        InvalidValueError: It is no range, ends before it starts, or has too many frames.
    """
    check_step(step)
    if text is None:
        return None
    found = re.fullmatch(r"(-?\d{1,7})-(-?\d{1,7})", text)
    if found is None:
        raise InvalidValueError(f"'{text}' is no range of frames such as 1-250")
    first, last = int(found.group(1)), int(found.group(2))
    check_range(first, last, step)
    return first, last


def joined_frames(words: Sequence[str]) -> list[str]:
    """Words in which a range of frames that begins with a dash is no option: "--frames", "-10-5"."""
    found = list[str]()
    for word in words:
        if found and found[-1] == "--frames" and word.startswith("-"):
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


def targets_of(texts: Sequence[str]) -> dict[str, Place]:
    """Places for targets by the names of chains.

    Raises:
        InvalidValueError: One is not CHAIN=X,Y,Z, is not finite, or a chain is named twice.
    """
    found: dict[str, Place] = {}
    for text in texts:
        name, equals, place = text.rpartition("=")
        try:
            numbers = [float(number) for number in place.split(",")]
        except ValueError:
            numbers = []
        if not equals or not name or len(numbers) != 3 or not are_finite(numbers):
            raise InvalidValueError(f"'{text}' is no target such as hand.L=1,0,1.5")
        if name in found:
            raise InvalidValueError(f"the target of '{name}' is given twice")
        found[name] = (numbers[0], numbers[1], numbers[2])
    return found


def settings_of(texts: Sequence[str]) -> dict[str, dict[str, Value]]:
    """Settings by the names of chains.

    Raises:
        InvalidValueError: One is not CHAIN.SETTING=VALUE, makes no sense, or is given twice.
    """
    found: dict[str, dict[str, Value]] = {}
    for text in texts:
        place, equals, word = text.rpartition("=")
        chain, dot, name = place.rpartition(".")
        if not (equals and dot and chain):
            raise InvalidValueError(f"'{text}' is no setting such as foot.L.pin=true")
        own = found.setdefault(chain, {})
        if name in own:
            raise InvalidValueError(f"'{place}' is given twice")
        own[name] = value_of(name, _word_value(word))
    return found


def _word_value(word: str) -> Value:
    """A word as true or false, or as a number, where it is that."""
    if word in {"true", "false"}:
        return word == "true"
    try:
        return float(word)
    except ValueError:
        return word


REACHED, NOT_ALL, WRONG, UNTOLD = 0, 1, 2, 3
TOLD = ("name", "enabled", "is_baked", "start", "tolerance")  # of a chain, beside what its goal asks
JOB_OPTIONS = {"command", "job", "index", "progress", "report", "allow_unreached"}
log = logging.getLogger(__name__)


def run(words: Sequence[str]) -> int:
    """Run a command by the words after `--command fabrik`; its exit code."""
    files.open_streams()
    try:
        for word in words:  # since Blender's names are UTF-8, no name in a file can be one of these
            if not is_plain(word):
                raise InvalidValueError(f"{word!a} holds characters that can't be printed")
        arguments = parser().parse_args(joined_frames(words))
        report = _run(arguments)
    except SystemExit as end:  # --help
        return int(end.code or 0)
    except (FabrikError, OSError) as error:
        return _wrong(str(error))
    except Exception as error:  # of Blender's or ours; 1 would say that all was done
        log.exception("the command failed")
        return _wrong(f"{type(error).__name__}: {error}")
    return _end(arguments, report)


def _end(arguments: argparse.Namespace, report: Report) -> int:
    """The report in its file and on standard output, and the exit code; what was saved by then stays."""
    saved = f"; '{report['output']}' is saved" if "output" in report else ""
    if arguments.report is not None:
        try:
            files.write_text(arguments.report, files.as_json(report, indent=1))
        except FabrikError as error:
            files.put_line(sys.stdout, files.as_json(report))
            return _wrong(f"{error}{saved}")
    reason = files.put_line(sys.stdout, files.as_json(report))
    if report.get("wrong"):
        return WRONG
    if reason:
        files.put_error(f"the work is done, but standard output can't be written: {reason}{saved}")
        return UNTOLD
    return REACHED if report["all_reached"] or arguments.allow_unreached else NOT_ALL


def _wrong(text: str) -> int:
    files.put_error(text)
    return WRONG


def _run(arguments: argparse.Namespace) -> Report:
    if arguments.job is not None:
        return _job(arguments)
    _check(arguments)
    work = _work(arguments)
    files.open_blend(arguments.file)
    if arguments.report is not None:
        files.check_library(arguments.report)
    report = work()
    if arguments.output is not None:
        files.save_blend(arguments.output)
        report["output"] = str(arguments.output)
    return report


def _work(arguments: argparse.Namespace) -> Callable[[], Report]:
    """What a command does to the file that is open by then; what its own options say is read before."""
    names = arguments.armature
    if arguments.command == "setup":
        setup = setup_of(arguments)
        return lambda: requests.set_up_open_file(names, setup)
    if arguments.command == "walk":
        frames = range_of(arguments.frames, 1)
        chosen = {name: getattr(arguments, name) for name in ("body_bone", "gait", "clip", "fast_clip")}
        cycle = requests.loaded(load_cycle, arguments.cycle) if arguments.cycle is not None else None
        return lambda: requests.walk_open_file(names, frames, **chosen, cycle=cycle)
    if arguments.command == "transfer":
        if arguments.frames and arguments.every_action:
            raise InvalidValueError("--frames does not go with --every-action")
        frames = range_of(arguments.frames, 1)
        mapping = requests.loaded(load_mapping, arguments.mapping) if arguments.mapping else None
        chosen = {name: getattr(arguments, name) for name in ("way", "root", "level", "ground", "rate", "keep_limits")}
        contacts, fingers = not arguments.without_contacts, not arguments.without_fingers
        options = TransferOptions(contacts, fingers=fingers, mapping=mapping, **chosen)
        which = "EVERY" if arguments.every_action else frames
        return lambda: requests.transfer_in_open_file(arguments.source, arguments.target, which, options)
    if arguments.command == "bake":
        request = request_of(arguments)
        return lambda: _baked(request, Progress(arguments.progress or ""))
    work = {"inspect": _inspected, "solve": _solved, "convert": _converted}
    return lambda: work[arguments.command](arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what can be told before a file is opened."""
    if arguments.output is not None:
        files.check_place(arguments.output, is_blend=True)
    if arguments.report is not None:
        if files.resolved(arguments.report) in {files.resolved(other) for other in _files_of(arguments)}:
            raise InvalidValueError(f"the report would be written over '{arguments.report}'")
        files.check_place(arguments.report, is_blend=False)
    if arguments.frame is not None:
        check_frame(arguments.frame)


def _files_of(arguments: argparse.Namespace) -> list[Path]:
    """All other files that a command with a report reads or writes."""
    found = [Path(bpy.data.filepath)] if bpy.data.filepath else []
    found += [value for name, value in vars(arguments).items() if isinstance(value, Path) and name != "report"]
    source = Path(getattr(arguments, "source", ""))
    with suppress(InvalidValueError):  # it is a folder, but no motion is in it
        found += files_in(source) if source.name and source.exists() else ()
    return found


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
    owners = requests.armatures(arguments.armature)
    are_none = arguments.parts and not any(len(rig_of(owner).chains) for owner in owners)
    for owner, named in [] if are_none else requests.chosen(request_of(arguments), any_will_do=True):
        chains = named if arguments.chain else list(rig_of(owner).chains)
        live = rig_of(owner).live
        body = {name: getattr(rig_of(owner), name) for name in OF_BODY}
        told.append({"name": owner.name, "live": live, **body, "chains": [_told(owner, chain) for chain in chains]})
    every = [chain for armature in told for chain in armature["chains"]]
    all_reached = not any("error" in chain for chain in every if chain["enabled"])
    report: Report = {"all_reached": all_reached, "solver": FORM, "armatures": told}
    if arguments.parts:
        report["parts"] = [{"name": owner.name, **requests.parts_told(find_parts(owner))} for owner in owners]
    return report


def _told(owner: bpy.types.Object, chain: FabrikChain) -> Report:
    """A chain and its settings; what is wrong with it, where something is."""
    told: Report = {name: getattr(chain, name) for name in TOLD}
    told |= {name: getattr(chain, name) for name in OF_GOAL}
    told["target"] = chain.target.name if chain.target else None
    told["pole"] = chain.pole.name if chain.pole else None
    now = report_of(chain, bpy.context)
    told |= {"status": chain.status, "now": now.kind, "told": now.text}
    try:
        together = set_of(owner, chain)
        told["together"] = [name for name in together.names if name != chain.name]
        told["bones"] = [{"name": bone.name, "limit": limit_of(bone).limit} for bone in resolve_bones(owner, chain)]
        depsgraph = bpy.context.evaluated_depsgraph_get()
        check_rig(owner, depsgraph)
        check_drivers(owner, chain)
        read(together, depsgraph)
    except FabrikError as error:
        told["error"] = str(error)
    return told


def _solved(arguments: argparse.Namespace) -> Report:
    scene = bpy.context.scene
    assert scene is not None
    request = request_of(arguments)
    found = requests.chosen(request)
    items = requests.items_of(found)
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    requests.put(request, items)
    for owner, chain in items:
        check_drivers(owner, chain)
    outcomes = solve_items(bpy.context, items)
    if all(outcome.status == "REFUSED" for outcome in outcomes):
        raise InvalidValueError(outcomes[0].reason, rig=outcomes[0].rig, chain=outcomes[0].chain)
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
    report = requests.bake_open_file(request, progress)
    progress.end_part()
    return report


def _converted(arguments: argparse.Namespace) -> Report:
    """IK constraints to chains, or chains to IK constraints; all reached where all of them could be made."""
    told: list[tuple[bpy.types.Object, list[ConversionResult]]] = []
    if arguments.to == "ik":
        found = requests.chosen(request_of(arguments))
        results = iter(convert_to_ik(bpy.context, requests.items_of(found)))
        told = [(owner, [next(results) for _ in chains]) for owner, chains in found]
    elif arguments.chain:
        raise InvalidValueError("--chain does not go with --to chains: name an armature")
    else:
        for owner in requests.armatures(arguments.armature):
            made = convert(bpy.context, owner, pose_bones(owner).keys(), aims=arguments.aims)
            told += [(owner, made)] if made else []
        if not told:
            raise InvalidValueError("no bone has an IK constraint that is in force")
    every = [result for _, results in told for result in results]
    return {
        "all_reached": all(result.constraint if arguments.to == "ik" else result.chain for result in every),
        "armatures": [{"name": owner.name, "converted": [asdict(one) for one in results]} for owner, results in told],
    }

# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import InvalidValueError
from ..finite import are_finite
from ..session.frames import frames_between

EXAMPLES = """examples:
  blender --background rig.blend --command fabrik inspect
  blender --background rig.blend --command fabrik solve --armature Rig --target hand.L=1,0,1.5 --output posed.blend
  blender --background --command fabrik bake --file shot.blend --frames 1-250 --output baked.blend

The report is one line of JSON on standard output, where Blender prints lines of its own, too. Exit codes: 0 all
limbs on their targets, 1 some not, 2 the input is wrong; a file is written whole or not at all.
"""
MOST_FRAMES = 1_000_000
LAST_FRAME = 1_048_574


class Parser(argparse.ArgumentParser):
    """A parser whose refusals are errors of ours."""

    def error(self, message: str) -> NoReturn:
        raise InvalidValueError(message)


def parser() -> Parser:
    """The parser of all commands."""
    found = Parser(prog="fabrik", epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = found.add_subparsers(dest="command", required=True, parser_class=Parser)
    for name, text in (
        ("inspect", "tell armatures, chains and their settings"),
        ("solve", "pose chains at the frame of the file or at another"),
        ("bake", "key chains over a range of frames"),
    ):
        command = commands.add_parser(
            name, help=text, description=text, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.add_argument("--file", type=Path, help="a .blend to open; its scripts are not run")
        command.add_argument("--report", type=Path, help="a file for the report as well")
        command.add_argument(
            "--armature", action="append", default=[], help="armature objects; all with chains if none"
        )
        command.add_argument("--chain", action="append", default=[], help="names of chains; all enabled ones if none")
        if name == "inspect":
            continue
        command.add_argument("--output", type=Path, help="where to save the result; the file itself may be named")
        command.add_argument(
            "--target", action="append", default=[], metavar="CHAIN=X,Y,Z", help="put the target of a chain somewhere"
        )
        if name == "solve":
            command.add_argument("--frame", type=int, help="frame at which to solve")
            continue
        command.add_argument("--frames", metavar="FIRST-LAST", help="range; the scene's if it is not given")
        command.add_argument("--step", type=int, default=1)
        command.add_argument("--into", choices=("ACTION", "NEW_ACTION", "NLA"), default="ACTION")
        command.add_argument("--interpolation", choices=("LINEAR", "BEZIER"), default="LINEAR")
    return found


def frames_of(text: str, step: int) -> tuple[int, ...]:
    """The frames of a range.

    Raises:
        InvalidValueError: It is no range, ends before it starts, or has too many frames.
    """
    found = re.fullmatch(r"(-?\d{1,7})-(-?\d{1,7})", text)
    if found is None:
        raise InvalidValueError(f"'{text}' is no range of frames such as 1-250")
    first, last = int(found.group(1)), int(found.group(2))
    if last < first:
        raise InvalidValueError(f"the range ends at frame {last}, before it starts at {first}")
    if step < 1:
        raise InvalidValueError(f"a step of {step} frames leads nowhere")
    if (last - first) // step >= MOST_FRAMES:
        raise InvalidValueError(f"the range {text} has more than {MOST_FRAMES} frames")
    for frame in (first, last):
        check_frame(frame)
    return frames_between(first, last, step)


def check_frame(frame: int) -> None:
    """Refuse a frame that Blender does not have.

    Raises:
        InvalidValueError: It is out of range.
    """
    if abs(frame) > LAST_FRAME:
        raise InvalidValueError(f"there is no frame {frame}: Blender's run from -{LAST_FRAME} to {LAST_FRAME}")


def targets_of(texts: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """Places for targets by the names of chains.

    Raises:
        InvalidValueError: One is not CHAIN=X,Y,Z, is not finite, or a chain is named twice.
    """
    found: dict[str, tuple[float, float, float]] = {}
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

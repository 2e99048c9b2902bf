# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads the compiled kernel where a binary fits, else the interpreted one.

A binary is one module, compiled from the kernel's other files, which run interpreted where it is not used. Before it
is loaded, its note (core.json beside it) must name its bytes and these very files; once loaded it must solve as stored
(see `first_difference`).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import logging
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ExtensionFileLoader
from math import pi
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

log = logging.getLogger(__name__)

SWITCH = "FABRIK_INTERPRETED"  # set to anything, the kernel runs interpreted
NOTE = "core.json"
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
NOT_COMPILED = frozenset({"__init__.py", "cython.py", "loading.py"})


class UnusableError(Exception):
    """A binary that is not to be used; the text says why."""


def load_names(package: str) -> Mapping[str, object]:
    """What the kernel offers: of a binary that fits, else of the interpreted modules.

    A binary that can't be used is told by one warning.

    Args:
        package: Full name of the kernel's package.

    Returns:
        All public names, with what they are. `FORM` tells in which form it runs.
    """
    tag, path = platform_tag(), ""
    binary = Path(__file__).parents[1] / "native" / tag / ("core.pyd" if tag.startswith("windows") else "core.abi3.so")
    if os.environ.get(SWITCH):
        reason = f"{SWITCH} is set"
    elif not binary.is_file():
        reason = f"no binary for {tag}"
    else:
        path = str(binary)
        try:
            return _offered(load(binary, package), path, "")
        except Exception as error:  # whatever it is, the interpreted form works
            reason = str(error) or type(error).__name__
            log.warning("%s: %s; the solver runs interpreted, which is slower", binary, reason)
    return _offered(importlib.import_module(".names", package), path, reason)


def _offered(kernel: ModuleType, path: str, reason: str) -> Mapping[str, object]:
    names = {name: getattr(kernel, name) for name in kernel.__all__}
    return names | {"__all__": kernel.__all__, "FORM": {**kernel.FORM, "path": path, "reason": reason}}


def load(binary: Path, package: str) -> ModuleType:
    """Load a binary, beside which its note lies, and have it prove itself; by an UnusableError where it does not."""
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    try:
        note = json.loads((binary.parent / NOTE).read_text(encoding="utf-8"))
        bytes_, sources = note["sha256"], note["sources"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UnusableError(f"{NOTE} beside it can't be read") from error
    if bytes_ != digest:
        raise UnusableError("the file is damaged")
    if sources != sources_digest(Path(__file__).parent):
        raise UnusableError("it was compiled from other sources than these")
    core = _imported(f"{package}.core", _placed(binary, digest))
    wrong = first_difference(core)
    if wrong:
        raise UnusableError(wrong)
    return core


def platform_tag() -> str:
    """The platform of this process, as "linux-x64": on Windows and macOS that may differ from the machine's."""
    if sys.platform.startswith("win"):
        return "windows-arm64" if sysconfig.get_platform() == "win-arm64" else "windows-x64"
    system = {"darwin": "macos"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return f"{system}-{MACHINES.get(machine, machine)}"


def compiled_sources(folder: Path) -> list[Path]:
    """The modules of a kernel's folder that a binary is compiled from."""
    found = (path for path in folder.rglob("*.py") if path.relative_to(folder).as_posix() not in NOT_COMPILED)
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def sources_digest(folder: Path) -> str:
    """A digest of those modules, equal wherever they are checked out."""
    told = hashlib.sha256()
    for path in compiled_sources(folder):
        told.update(path.relative_to(folder).as_posix().encode() + b"\0")
        told.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return told.hexdigest()


def _placed(binary: Path, digest: str) -> Path:
    """The file to load: on Windows, which locks it and so would refuse an update, a copy named by its digest."""
    if binary.suffix != ".pyd":
        return binary
    copy = Path(tempfile.gettempdir()) / f"fabrik-core-{digest[:16]}.pyd"
    with contextlib.suppress(OSError):
        if not (copy.is_file() and hashlib.sha256(copy.read_bytes()).hexdigest() == digest):
            fresh = copy.with_suffix(f".{os.getpid()}")
            shutil.copyfile(binary, fresh)
            fresh.replace(copy)
        for old in copy.parent.glob("fabrik-core-*.pyd"):
            if old != copy:
                with contextlib.suppress(OSError):  # another Blender runs it
                    old.unlink()
        return copy
    return binary


def _imported(name: str, path: Path) -> ModuleType:
    """Load a binary as a module of its own: a copy where an earlier import of the extension loaded the same file."""
    module, loader = _created(name, path)
    if hasattr(module, "__all__"):
        folder = Path(tempfile.mkdtemp(prefix="fabrik-native-"))
        try:
            shutil.copyfile(path, folder / path.name)
            module, loader = _created(name, folder / path.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # which Windows refuses
    loader.exec_module(module)
    return module


def _created(name: str, path: Path) -> tuple[ModuleType, ExtensionFileLoader]:
    loader = ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise UnusableError("it is no module")
    return importlib.util.module_from_spec(spec), loader


# Stored solves: twenty answers of the interpreted kernel, with which a compiled one is compared when it is loaded,
# within a tolerance that rounding, which differs between systems, does not come near: the stored cases are such that
# numbers a little different do not lead elsewhere. `scripts/build.py --proof` renews the answers.

ANSWERS = Path(__file__).with_name("proof.json")
TOLERANCE = 1e-6  # of quaternions' components, and of residuals in units of a figure of size 1 to 10
Place = tuple[float, float, float]
PlaceOf = Callable[[float, float, float], Place]
TURNED = (0.9238795325112867, 0.0, 0.3826834323650898, 0.0)  # an eighth of a turn about Y


class Case(NamedTuple):
    """What is solved."""

    figure: Any
    goals: Sequence[Any]
    settings: Any


class Answer(NamedTuple):
    """What came of it: the status's name, and all rotations, one after the other, followed by the residual."""

    status: str
    numbers: Sequence[float]


def first_difference(kernel: ModuleType) -> str:
    """The first stored solve that a kernel answers otherwise, in words; "" where it answers all alike."""
    stored = [Answer(*entry) for entry in json.loads(ANSWERS.read_text(encoding="utf-8"))]
    found = list(answers(kernel))
    if len(found) != len(stored):
        return f"it solves {len(found)} problems, and {len(stored)} are stored"
    for index, (answer, expected) in enumerate(zip(found, stored, strict=True)):
        if differs(answer, expected, TOLERANCE):
            return f"it solves stored problem {index} wrongly"
    return ""


def differs(found: Answer, expected: Answer, tolerance: float) -> bool:
    """Whether two answers are not the same within a tolerance."""
    if found.status != expected.status or len(found.numbers) != len(expected.numbers):
        return True
    # the other way round, so that NaN differs
    return not all(abs(a - b) <= tolerance for a, b in zip(found.numbers, expected.numbers, strict=True))


def answers(kernel: ModuleType, stretch: float = 1.0) -> Iterator[Answer]:
    """What a kernel answers to the stored problems.

    Args:
        kernel: Its public names.
        stretch: Factor of all places of goals, 1 for the problems as they are stored.
    """
    for case in cases(kernel, stretch):
        solution = kernel.Solver(case.figure).solve(case.goals, case.settings, explain=False)
        numbers = [number for rotation in solution.rotations for number in rotation]
        yield Answer(str(solution.status), [*numbers, solution.residual])


def cases(kernel: ModuleType, stretch: float = 1.0) -> Iterator[Case]:
    """The stored problems, in a kernel's own classes."""

    def at(x: float, y: float, z: float) -> Place:
        return (x * stretch, y * stretch, z * stretch)

    yield from _free(kernel, at)
    yield from _limited(kernel, at)
    yield from _branched(kernel, at)
    yield Case(_arc(kernel, 5, 0.2), [kernel.Point(4, at(1.5, 1.0, 3.0))], kernel.Settings(plain=True))


def _arc(kernel: ModuleType, count: int, bend: float, limits: Sequence[Any] | None = None, stiff: float = 0.0) -> Any:
    """A chain of bones of length 1 along Z, each a little bent to Y and rolled against the one before."""
    joints = []
    for i in range(count):
        limit = kernel.FREE if limits is None else limits[i % len(limits)]
        rest = (0.7071067811865476, 0.7071067811865475, 0.0, 0.0) if i == 0 else (1.0, -bend, 0.1 * bend, 0.0)
        joints.append(kernel.Joint((0.0, 1.0, 0.0), rest, (1.0, 0.3 * bend, 0.0, 0.2 * bend), limit, True, stiff * i))
    return kernel.Figure(joints)


def _free(kernel: ModuleType, at: PlaceOf) -> Iterator[Case]:
    usual, point = kernel.Settings(), kernel.Point
    yield Case(_arc(kernel, 2, 0.1), [point(1, at(0.8, 0.5, 0.9))], usual)
    yield Case(_arc(kernel, 4, 0.2), [point(3, at(1.9, 0.4, 2.0))], usual)
    yield Case(_arc(kernel, 10, 0.1), [point(9, at(-6.0, 3.0, 6.0))], usual)
    yield Case(_arc(kernel, 10, 0.1), [point(9, at(6.0, 4.0, 6.892))], usual)
    yield Case(_arc(kernel, 6, 0.15, stiff=0.15), [point(5, at(2.0, 2.0, -3.0))], usual)
    yield Case(_arc(kernel, 3, 0.2), [point(2, at(1.0, 0.6, 1.9)), kernel.Bend(2, at(0.0, 5.0, 1.0))], usual)
    yield Case(_arc(kernel, 4, 0.1), [point(3, at(4.0, 1.0, 2.0))], usual)


def _limited(kernel: ModuleType, at: PlaceOf) -> Iterator[Case]:
    usual, point, hinge, cone, twist = kernel.Settings(), kernel.Point, kernel.Hinge, kernel.Cone, kernel.Twist
    hip = cone(0.0, 1.2, 1.4, 0.9, 1.0, twist(-0.5, 0.6))
    knee, ankle = hinge((1.0, 0.0, 0.0), -2.4, 0.1), hinge((1.0, 0.0, 0.0), -0.5, 0.7)
    sideways, flat = hinge((0.0, 0.0, 1.0), -pi / 6, pi / 6), kernel.Planar((1.0, 0.0, 0.0), -1.0, 1.2)
    yield Case(_arc(kernel, 2, 0.2, [kernel.FREE, knee]), [point(1, at(0.7, -0.9, 0.6))], usual)
    yield Case(_arc(kernel, 3, 0.2, [hip, knee, ankle]), [point(2, at(0.4, -0.8, 1.7))], usual)
    bent = [point(2, at(0.9, -0.5, 1.6)), kernel.Bend(2, at(0.5, 4.0, 1.0))]
    yield Case(_arc(kernel, 3, 0.2, [kernel.FREE, knee, ankle]), bent, usual)
    yield Case(_arc(kernel, 3, 0.2, [ankle, knee, ankle]), [point(2, at(1.4, 0.3, 1.2))], usual)
    yield Case(_arc(kernel, 10, 0.05, [sideways]), [point(9, at(5.0, -1.0, 6.0))], usual)
    yield Case(_arc(kernel, 4, 0.1, [cone(0.0, 0.6, 0.6, 0.6, 0.6)]), [point(3, at(1.5, 0.7, 2.8))], usual)
    yield Case(_arc(kernel, 2, 0.1, [cone(0.0, 0.3, 0.3, 0.3, 0.3)]), [point(1, at(1.2, 0.0, 0.8))], usual)
    yield Case(_arc(kernel, 4, 0.2, [kernel.FREE, flat]), [point(3, at(1.0, 1.0, 2.0))], usual)
    held = [hip, kernel.Locked(), kernel.Twisting(twist(-0.2, 0.2))]
    yield Case(_arc(kernel, 4, 0.2, held), [point(3, at(1.0, 1.0, 3.0))], usual)


def _branched(kernel: ModuleType, at: PlaceOf) -> Iterator[Case]:
    """A trunk of two bones with two arms of two."""
    usual, elbow = kernel.Settings(), kernel.Hinge((1.0, 0.0, 0.0), -2.0, 0.2)
    bones = [kernel.Joint((0.0, 1.0, 0.0), (1.0, 0.05, 0.02, 0.0)) for _ in range(2)]
    for side in (0.9, -0.9):
        bones.append(kernel.Joint((0.0, 1.0, 0.0), (1.0, 0.1, 0.0, side)))
        bones.append(kernel.Joint((0.0, 1.0, 0.0), (1.0, -0.2, 0.0, 0.0), limit=elbow))
    left, right = kernel.Point(3, at(-1.2, 2.4, 0.7)), kernel.Point(5, at(1.4, 1.9, 0.5))
    aim = kernel.Aim(3, (0.0, 1.0, 0.0), at(-2.0, 1.0, 3.0))
    for goals in ([left, right], [left, right, kernel.Facing(3, TURNED)], [right, aim]):
        yield Case(kernel.Figure(bones, (-1, 0, 1, 2, 1, 4)), goals, usual)

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
from collections.abc import Mapping
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

log = logging.getLogger(__name__)

SWITCH = "FABRIK_INTERPRETED"  # set to anything, the kernel runs interpreted
NOTE = "core.json"
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
NOT_COMPILED = frozenset({"__init__.py", "cython.py", "loading.py"})


def load_names(package: str) -> Mapping[str, object]:
    """The public names of a kernel's package: of a binary that fits, else of the interpreted modules.

    A binary that can't be used is told by one warning; `FORM` tells in which form the kernel runs.
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
    form = {**kernel.FORM, "path": path, "reason": reason}
    return {name: getattr(kernel, name) for name in kernel.__all__} | {"__all__": kernel.__all__, "FORM": form}


def load(binary: Path, package: str) -> ModuleType:
    """Load a binary, beside which its note lies, and have it prove itself; an ImportError says why it does not."""
    digest = digest_of(binary)
    try:
        told = json.loads((binary.parent / NOTE).read_text(encoding="utf-8"))
        bytes_, sources = told["sha256"], told["sources"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ImportError(f"{NOTE} beside it can't be read") from error
    if bytes_ != digest:
        raise ImportError("the file is damaged")
    if sources != sources_digest(Path(__file__).parent):
        raise ImportError("it was compiled from other sources than these")
    core = _imported(f"{package}.core", _placed(binary, digest))
    wrong = first_difference(core)
    if wrong:
        raise ImportError(wrong)
    return core


def digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def platform_tag() -> str:
    """The platform of this process, as "linux-x64": on Windows and macOS that may differ from the machine's."""
    if sys.platform.startswith("win"):
        return "windows-arm64" if sysconfig.get_platform() == "win-arm64" else "windows-x64"
    system, machine = "macos" if sys.platform == "darwin" else sys.platform, platform.machine().lower()
    return f"{system}-{MACHINES.get(machine, machine)}"


def compiled_sources(folder: Path) -> list[Path]:
    """The modules of a kernel's folder that a binary is compiled from."""
    found = [path for path in folder.rglob("*.py") if path.relative_to(folder).as_posix() not in NOT_COMPILED]
    return sorted(found, key=Path.as_posix)


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
        if not (copy.is_file() and digest_of(copy) == digest):
            shutil.copyfile(binary, copy.with_suffix(f".{os.getpid()}")).replace(copy)
        for old in {*copy.parent.glob("fabrik-core-*.pyd")} - {copy}:
            with contextlib.suppress(OSError):  # another Blender runs it
                old.unlink()
        return copy
    return binary


def _imported(name: str, path: Path) -> ModuleType:
    """Load a binary as a module of its own: a copy where an earlier import of the extension loaded the same file."""
    module, loader = _created(name, path)
    if hasattr(module, "__all__"):
        with tempfile.TemporaryDirectory(prefix="fabrik-native-", ignore_cleanup_errors=True) as folder:
            module, loader = _created(name, Path(shutil.copy(path, folder)))
    loader.exec_module(module)
    return module


def _created(name: str, path: Path) -> tuple[ModuleType, ExtensionFileLoader]:
    loader = ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise ImportError("it is no module")
    return importlib.util.module_from_spec(spec), loader


# Stored problems: twenty figures and goals, with the interpreted kernel's answers. Those of a compiled one are compared
# with them when it is loaded, within a tolerance that rounding, which differs between systems, does not come near: the
# problems are such that numbers a little different do not lead elsewhere. Renewed by `scripts/build.py --proof`.

PROOF = Path(__file__).with_name("proof.json")
TOLERANCE = 1e-6  # of quaternions' components, and of residuals in units of a figure of size 1 to 10


def first_difference(kernel: ModuleType) -> str:
    """The first stored problem that a kernel solves otherwise, in words; "" where it solves all alike."""
    for index, problem in enumerate(json.loads(PROOF.read_text(encoding="utf-8"))):
        status, numbers = answer(kernel, problem)
        pairs = zip(numbers, problem["numbers"], strict=True)
        # not the other way round, so that NaN differs
        if status != problem["status"] or not all(abs(found - stored) <= TOLERANCE for found, stored in pairs):
            return f"it solves stored problem {index} wrongly"
    return ""


def answer(kernel: ModuleType, problem: Mapping[str, Any]) -> tuple[str, list[float]]:
    """How a kernel solves a stored problem.

    Returns:
        The status's name, and the numbers of all rotations, one after the other, followed by the residual.
    """
    solver = kernel.Solver(made(kernel, problem["figure"]))
    solution = solver.solve(made(kernel, problem["goals"]), made(kernel, problem["settings"]), explain=False)
    return str(solution.status), [*(number for turn in solution.rotations for number in turn), solution.residual]


def made(kernel: ModuleType, told: Any) -> Any:
    """What the lists of a stored problem tell: an object, where one begins with the name of its class; else a tuple."""
    if not isinstance(told, list):
        return told
    if told and isinstance(told[0], str):
        return getattr(kernel, told[0])(*[made(kernel, part) for part in told[1:]])
    return tuple([made(kernel, part) for part in told])

# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads the compiled kernel where a binary fits, and tells in which form the kernel runs.

A binary is one module, compiled from the kernel's other files, which run interpreted where it is not used. Before it
is loaded, its note (core.json beside it) must name its bytes and these very files; once loaded it must solve as stored
(see `proof.py`).
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
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Literal

log = logging.getLogger(__name__)

SWITCH = "FABRIK_INTERPRETED"  # set to anything, the kernel runs interpreted
NOTE = "core.json"
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
NOT_COMPILED = frozenset({"__init__.py", "cython.py", "loading.py", "proof.py"})


@dataclass(frozen=True)
class Form:
    """In which form the kernel runs: the binary, "" where there is none, and why it is not used, "" where it is."""

    kind: Literal["compiled", "interpreted"]
    path: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.kind} ({self.reason})" if self.reason else self.kind


class UnusableError(Exception):
    """A binary that is not to be used; the text says why."""


_forms: list[Form] = []  # at most one


def form() -> Form:
    """In which form the kernel runs in this process."""
    return _forms[0] if _forms else Form("interpreted", reason="the kernel is not loaded yet")


def compiled(package: str, names: Sequence[str]) -> ModuleType | None:
    """The compiled kernel, or None where it runs interpreted; a binary that can't be used is told by one warning.

    `package` is the full name of the kernel's package, `names` what the binary has to hold.
    """
    tag, core = platform_tag(), None
    binary = Path(__file__).parents[1] / "native" / tag / ("core.pyd" if tag.startswith("windows") else "core.abi3.so")
    if os.environ.get(SWITCH):
        found = Form("interpreted", reason=f"{SWITCH} is set")
    elif not binary.is_file():
        found = Form("interpreted", reason=f"no binary for {tag}")
    else:
        try:
            core, found = load(binary, package, names), Form("compiled", str(binary))
        except Exception as error:  # whatever it is, the interpreted form works
            found = Form("interpreted", str(binary), str(error) or type(error).__name__)
            log.warning("%s: %s; the solver runs interpreted, which is slower", binary, found.reason)
    _forms[:] = [found]
    return core


def load(binary: Path, package: str, names: Sequence[str]) -> ModuleType:
    """Load a binary, beside which its note lies, and have it prove itself; by an UnusableError where it does not."""
    from . import proof  # noqa: PLC0415  # scripts ask this file for digests, and have no kernel

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
    core = _imported(f"{package}.core", _placed(binary, digest), names)
    missing = [one for one in names if not hasattr(core, one)]
    wrong = f"it has no '{missing[0]}'" if missing else proof.first_difference(core)
    if wrong:
        raise UnusableError(wrong)
    sys.modules[f"{package}.core"] = core
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


def _imported(name: str, path: Path, names: Sequence[str]) -> ModuleType:
    """Load a binary as a module of its own: a copy where an earlier import of the extension loaded the same file."""
    module, loader = _created(name, path)
    if any(hasattr(module, one) for one in names):
        folder = Path(tempfile.mkdtemp(prefix="fabrik-native-"))
        shutil.copyfile(path, folder / path.name)
        module, loader = _created(name, folder / path.name)
        shutil.rmtree(folder, ignore_errors=True)  # which Windows refuses
    try:
        loader.exec_module(module)
    finally:
        for own in [one for one, found in list(sys.modules.items()) if found is module]:
            del sys.modules[own]
    return module


def _created(name: str, path: Path) -> tuple[ModuleType, ExtensionFileLoader]:
    loader = ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise UnusableError("it is no module")
    return importlib.util.module_from_spec(spec), loader

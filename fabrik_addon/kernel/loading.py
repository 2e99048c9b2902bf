# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads the compiled kernel where a binary fits, and tells in which form the kernel runs.

A binary is one module, compiled from the kernel's other files, which run interpreted where it is not used. Before it
is loaded, its note (core.json beside it) must name its bytes and these very files; once loaded it must solve as stored
(see `proof.py`). A file written before and removed after tells the next start that this one died in it.
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Literal

log = logging.getLogger(__name__)

SWITCH = "FABRIK_INTERPRETED"  # set to anything, the kernel runs interpreted
NOTE = "core.json"
NOT_COMPILED = frozenset({"__init__.py", "cython.py", "loading.py", "proof.py"})
STILL_ACTIVE = 259  # what Windows calls the exit code of a process that runs
MAY_ASK = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION


@dataclass(frozen=True)
class Form:
    """In which form the kernel runs.

    Attributes:
        kind: Compiled or interpreted.
        path: The binary; "" where there is none.
        reason: Why it runs interpreted; "" where it is compiled.
    """

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
    """The compiled kernel, or None where the kernel is to run interpreted.

    A binary that is there and can't be used is told by one warning.

    Args:
        package: Full name of the kernel's package.
        names: What the binary has to hold.
    """
    folder = Path(__file__).parent
    found, core = _tried(folder, package, names)
    _forms[:] = [found]
    return core


def _tried(folder: Path, package: str, names: Sequence[str]) -> tuple[Form, ModuleType | None]:
    tag = platform_tag()
    binary = folder.parent / "native" / tag / ("core.pyd" if tag.startswith("windows") else "core.abi3.so")
    if os.environ.get(SWITCH):
        return Form("interpreted", reason=f"{SWITCH} is set"), None
    if not binary.is_file():
        return Form("interpreted", reason=f"no binary for {tag}"), None
    try:
        core = load(binary, package, names, state_folder(package))
    except Exception as error:  # whatever it is, the interpreted form works
        reason = str(error) or type(error).__name__
        log.warning("%s: %s; the solver runs interpreted, which is slower", binary, reason)
        return Form("interpreted", str(binary), reason), None
    return Form("compiled", str(binary)), core


def load(binary: Path, package: str, names: Sequence[str], state: Path) -> ModuleType:
    """Load a binary and have it prove itself.

    Args:
        binary: Its note lies beside it.
        package: Full name of the kernel's package.
        names: What it has to hold.
        state: Folder for what one start tells the next, and for copies.

    Raises:
        UnusableError: It is damaged, not made from these sources, solves wrongly, or an earlier start died in it.
        ImportError: It is none for this system.
    """
    from . import proof  # noqa: PLC0415  # scripts ask this file for digests, and have no kernel

    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    _check_note(binary, digest)
    name = f"{package}.core"
    with _watched(state, digest):
        core = _imported(name, _placed(binary, digest, state), names)
        sys.modules[name] = core
        try:
            missing = [one for one in names if not hasattr(core, one)]
            wrong = f"it has no '{missing[0]}'" if missing else proof.first_difference(core)
            if wrong:
                raise UnusableError(wrong)
        except BaseException:
            del sys.modules[name]
            raise
    return core


def platform_tag() -> str:
    """The platform of this process, as "linux-x64": on Windows and macOS that may differ from the machine's."""
    if sys.platform.startswith("win"):
        return "windows-arm64" if sysconfig.get_platform() == "win-arm64" else "windows-x64"
    system = {"darwin": "macos"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(machine, machine)
    return f"{system}-{machine}"


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


def _check_note(binary: Path, digest: str) -> None:
    try:
        note = json.loads((binary.parent / NOTE).read_text(encoding="utf-8"))
        bytes_, sources = note["sha256"], note["sources"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UnusableError(f"{NOTE} beside it can't be read") from error
    if bytes_ != digest:
        raise UnusableError("the file is damaged")
    if sources != sources_digest(Path(__file__).parent):
        raise UnusableError("it was compiled from other sources than these")


def state_folder(package: str) -> Path:
    """A folder outside the extension that one start can leave something in for the next; it may not exist yet."""
    blender = sys.modules.get("bpy")
    extension = package.removesuffix(".kernel")
    if blender is not None and extension.startswith("bl_ext."):
        with contextlib.suppress(Exception):  # not in every form of Blender
            return Path(blender.utils.extension_path_user(extension, path="native"))
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"fabrik-native-{user}"


@contextlib.contextmanager
def _watched(state: Path, digest: str) -> Iterator[None]:
    """Leave a file while something is done, so that a process that dies in it is known to the next.

    Raises:
        UnusableError: An earlier process died in it.
    """
    host = hashlib.sha256(platform.node().encode()).hexdigest()[:8]  # one user folder may serve many machines
    stem = f"{digest[:16]}-{host}-"
    for left in state.glob(f"{stem}*.loading"):
        number = left.name.removeprefix(stem).removesuffix(".loading")
        if number.isdecimal() and (int(number) == os.getpid() or not is_running(int(number))):
            raise UnusableError(f"an earlier start died while loading it (to try again, delete {left})")
    mine = state / f"{stem}{os.getpid()}.loading"
    with contextlib.suppress(OSError):  # a farm's user folder may be read-only
        state.mkdir(parents=True, exist_ok=True)
        mine.touch()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            mine.unlink()


def is_running(process: int) -> bool:
    """Whether there is a process of this number."""
    if sys.platform.startswith("win"):
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def _is_running_on_windows(process: int) -> bool:
    import ctypes  # noqa: PLC0415  # is not in every Python, but in all of Windows

    system = getattr(ctypes, "windll").kernel32
    handle = system.OpenProcess(MAY_ASK, False, process)
    if not handle:
        return False
    code = ctypes.c_ulong()
    told = system.GetExitCodeProcess(handle, ctypes.byref(code))
    system.CloseHandle(handle)
    return bool(told) and code.value == STILL_ACTIVE


def _placed(binary: Path, digest: str, state: Path) -> Path:
    """The file to load: on Windows, which locks it and so would refuse an update, a copy named by its digest."""
    if binary.suffix != ".pyd":
        return binary
    copy = state / f"core-{digest[:16]}.pyd"
    try:
        state.mkdir(parents=True, exist_ok=True)
        if not (copy.is_file() and hashlib.sha256(copy.read_bytes()).hexdigest() == digest):
            _copied(binary, copy)
    except OSError:
        return binary
    for old in state.glob("core-*.pyd"):
        if old != copy:
            with contextlib.suppress(OSError):  # another Blender runs it
                old.unlink()
    return copy


def _copied(binary: Path, copy: Path) -> None:
    """Copy a file so that it is there whole or not at all."""
    fresh = copy.with_suffix(f".{os.getpid()}")
    shutil.copyfile(binary, fresh)
    fresh.replace(copy)


def _imported(name: str, path: Path, names: Sequence[str]) -> ModuleType:
    """Load a binary as a module of its own, that only the loader names.

    A binary enters itself among the modules by the name it was compiled under, which is no extension's: Blender warns
    of such a module in the list of add-ons, and a second extension would find it in its own place.

    The system hands out a file that is loaded already once more, with the errors of an earlier import of the extension
    in it: then a copy is loaded.
    """
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

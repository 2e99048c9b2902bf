# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernel: amalgamated, by Cython to C, by zig to a binary a platform; only what is out of date."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from environment import ROOT, SetupError, ensure, requirements, say

from .amalgamate import DIRECTIVES, Amalgam, amalgamate
from .headers import find_headers
from .proving import check_proof
from .sources import SourceError
from .targets import FLAGS, MODULE, SOURCE, TARGETS, Target

KERNEL = ROOT / "fabrik_addon" / "kernel"
HINT = "performance hint: "  # how a line of what Cython has to say on speed begins
NATIVE = ROOT / "fabrik_addon" / "native"  # this machine's alone; the archive's are made under build/
CYTHON = (  # buffers of one dimension: they are handed on by value, and by default have room for eight
    "from Cython.Compiler import Main, Options; Options.buffer_max_dims = 1; Main.main(command_line=1)"
)
OWN = ("amalgamate.py", "compiling.py", "pyconfig.h", "sources.py", "targets.py")  # decide the binary, too


class CompileError(SetupError):
    """The kernel's sources do not compile; the text names file and line."""


@dataclass(frozen=True)
class Loader:
    """What the kernel's loader knows, asked without importing the kernel.

    Attributes:
        tag: Name of this machine's platform.
        sources: The modules of a kernel's folder that are compiled.
        sources_digest: Digest of those.
    """

    tag: str
    sources: Callable[[Path], list[Path]]
    sources_digest: Callable[[Path], str]


def loader() -> Loader:
    """The loader's own functions."""
    name = "_fabrik_loading"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, KERNEL / "loading.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    module = sys.modules[name]
    return Loader(module.platform_tag(), module.compiled_sources, module.sources_digest)


def is_current(folder: Path, target: Target) -> bool:
    """Whether a folder holds the binary for a platform, made from the sources as they are."""
    told = _read_note(folder / target.tag)
    return (folder / target.tag / target.file).is_file() and told.get("made") == _made(target)


def _read_note(folder: Path) -> dict[str, str]:
    try:
        return {str(name): str(value) for name, value in json.loads((folder / "core.json").read_text("utf-8")).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _made(target: Target) -> str:
    """Digest of everything that decides a binary: sources, flags, compilers, and the code that puts them together."""
    own = [(Path(__file__).parent / name).read_text(encoding="utf-8") for name in OWN]
    told = [loader().sources_digest(KERNEL), DIRECTIVES, FLAGS, repr(target), requirements("build"), own]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def compile_kernel(
    folder: Path, targets: Iterable[Target], *, fresh: bool = False, anew: bool = False, hints: bool = False
) -> list[Path]:
    """Compile the kernel for platforms, into `folder`/<platform>/, where that is not yet done.

    Args:
        folder: Gets a folder a platform with the binary and a note, core.json, that tells what it was made from.
        targets: The platforms.
        fresh: Compile even where the binary is up to date.
        anew: See to it that the compiler takes nothing from its cache but the system's libraries.
        hints: Print what Cython has to say on speed.

    Returns:
        The binaries.

    Raises:
        CompileError: The sources do not compile.
        SetupError: Compiler or headers can't be had.
    """
    targets = list(targets)
    wanted = [target for target in targets if fresh or not is_current(folder, target)]
    if wanted:
        _checked_proof()
        python = ensure("build", ["build"])
        headers = find_headers()
        sources = loader().sources_digest(KERNEL)
        with tempfile.TemporaryDirectory(prefix="fabrik-build-") as temporary:
            work = Path(temporary)
            say(f"Compiling the kernel for {wanted[0].tag} ({_patience(wanted)})")
            _to_c(python, work, hints=hints)
            shutil.copytree(headers, work / "include", ignore=shutil.ignore_patterns("internal", "numpy"))
            shutil.copy2(Path(__file__).parent / "pyconfig.h", work / "include" / "pyconfig.h")
            for target in wanted:
                if target is not wanted[0]:
                    say(f"Compiling the kernel for {target.tag}")
                _to_binary(python, work, target, [f"-DFABRIK_BUILD={os.getpid()}"] if anew else [])
                _put(work / target.tag, folder / target.tag, target, sources)
    return [folder / target.tag / target.file for target in targets]


def _checked_proof() -> None:
    try:
        check_proof()
    except SetupError as error:
        raise CompileError(str(error)) from error


def _patience(targets: Sequence[Target]) -> str:
    if len(targets) == 1:
        return "half a minute; done once"
    return f"the first of {len(targets)}; half a minute each, the first time more"


def _to_c(python: Path, work: Path, *, hints: bool) -> None:
    """Amalgamate the kernel and translate it to C, in a folder to work in."""
    try:
        amalgam = amalgamate(KERNEL, loader().sources(KERNEL))
    except SourceError as error:
        raise CompileError(str(error)) from error
    (work / SOURCE).write_text(amalgam.text, encoding="utf-8")
    command = [str(python), "-c", CYTHON, "-3", "-Werror", "--no-docstrings", "--module-name", MODULE, SOURCE]
    done = _run(command, work)
    told = _translated(done.stderr, amalgam)
    if done.returncode:
        raise CompileError("\n".join(line for line in told.splitlines() if not line.startswith(HINT)))
    if hints and told:
        say(told)


def _translated(text: str, amalgam: Amalgam) -> str:
    """Cython's messages with places in the kernel's files instead of the amalgam's."""

    def place(match: re.Match[str]) -> str:
        number = int(match[1])
        origin = amalgam.origins[number - 1] if 0 < number <= len(amalgam.origins) else ""
        return f"fabrik_addon/kernel/{origin}" if origin else match[0]

    return re.sub(rf"{re.escape(SOURCE)}:(\d+)", place, text).strip()


def _to_binary(python: Path, work: Path, target: Target, extra: Sequence[str]) -> None:
    """Compile the C file for a platform."""
    folder = work / target.tag
    folder.mkdir()
    zig = [str(python), "-m", "ziglang"]
    source = f"../{Path(SOURCE).stem}.c"
    command = [*zig, "cc", "-target", target.triple, *FLAGS, *extra, "-I../include", source, *target.flags]
    if target.machine:
        listed = _checked([*command, "-E"], folder)
        names = sorted(set(re.findall(r"\b_?Py[A-Za-z0-9_]+", listed)))  # more than are used, which does no harm
        (folder / "python3.def").write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *names]), encoding="utf-8")
        _checked([*zig, "dlltool", "-m", target.machine, "-d", "python3.def", "-l", "python3.lib"], folder)
        command.append("python3.lib")
    _checked([*command, "-o", target.file], folder)


def _checked(command: Sequence[str], folder: Path) -> str:
    """Standard output of a command that has to succeed."""
    done = _run(command, folder)
    if done.returncode:
        raise CompileError(f"'{' '.join(command[1:4])}' failed:\n{done.stderr.strip()[-3000:]}")
    return done.stdout


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "0"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )


def _put(made: Path, folder: Path, target: Target, sources: str) -> None:
    """Put a binary and its note in their place; what was there stays whole for a process that runs it."""
    folder.mkdir(parents=True, exist_ok=True)
    binary = made / target.file
    told = {"made": _made(target), "sha256": hashlib.sha256(binary.read_bytes()).hexdigest(), "sources": sources}
    note = made / "core.json"
    note.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    for file in (binary, note):
        fresh = folder / f".{file.name}-{os.getpid()}"
        shutil.copyfile(file, fresh)
        fresh.replace(folder / file.name)


def ensure_built(*, hints: bool = False) -> None:
    """See to it that the kernel is compiled for this machine, or say that it runs interpreted.

    Args:
        hints: Compile anew, and print what Cython has to say on speed.

    Raises:
        CompileError: The sources do not compile.
    """
    target = TARGETS.get(loader().tag)
    if target is None:
        say(f"The kernel runs interpreted: nothing is compiled for {loader().tag}")
        return
    try:
        compile_kernel(NATIVE, [target], fresh=hints, hints=hints)
    except CompileError:
        raise
    except SetupError as error:
        say(f"The kernel runs interpreted: {error}")

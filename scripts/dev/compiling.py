# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernel: amalgamated, by Cython to C, by zig to a binary a platform; only what is out of date.

A binary proves itself by stored solves, which are renewed here from the interpreted form. What comes out is checked:
equal bytes twice, platforms and symbols, and that it loads where it can be tried.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environment import ROOT, VENVS, CompileError, SetupError, ensure, is_root, requirements, say

from .amalgamate import DIRECTIVES, Amalgam, amalgamate

MODULE = "_fabrik_posing.kernel.core"  # a name that no module in a process has; the last part is that of PyInit_core
SOURCE = "core.py"
OPTIMISED = ["-O3", "-fno-math-errno", "-ffp-contract=off"]  # never -ffast-math: the bits are those of the interpreter
MODULE_FLAGS = ["-shared", "-s", "-w", "-fvisibility=hidden", "-DNDEBUG", "-DCYTHON_COMPRESS_STRINGS=0"]
FLAGS = [*OPTIMISED, *MODULE_FLAGS, "-DPy_LIMITED_API=0x030B0000"]
KERNEL = ROOT / "fabrik_addon" / "kernel"
NATIVE = ROOT / "fabrik_addon" / "native"  # this machine's alone; the archive's are made under build/
# Of the module in Python's list of all, as Cython writes it.
ENTRY = f'if (!PyDict_GetItemString(modules, "{MODULE}")) {{'
CYTHON = (  # buffers of one dimension: they are handed on by value, and by default have room for eight
    "from Cython.Compiler import Main, Options; Options.buffer_max_dims = 1; Main.main(command_line=1)"
)
OWN = ("amalgamate.py", "compiling.py", "pyconfig.h")  # decide the binary, too


# The headers of 3.11, whoever packaged them, give the same bytes everywhere; any from there on will do, since the
# kernel keeps to the stable API.
OLDEST = (3, 11)
UNPACKED = VENVS / "headers"
PACKAGED = ("3.11", "3.12", "3.13", "3.14")


@dataclass(frozen=True)
class Target:
    """A platform."""

    tag: str  # its name, which `fabrik_addon/kernel/loading.py` knows it by
    triple: str  # the compiler's name for it, with the oldest system
    file: str = "core.abi3.so"  # name of the binary
    flags: tuple[str, ...] = ()  # more flags for the compiler
    # for Windows, whose linker wants an import library, the machine by the name that library's maker uses
    machine: str = ""
    is_shipped: bool = True  # whether Blender is published for it, and the archive so holds its binary


_LINUX = ("-fPIC", "-lm")
_MACOS = ("-Wl,-undefined,dynamic_lookup",)
TARGETS = {
    target.tag: target
    for target in (
        Target("linux-x64", "x86_64-linux-gnu.2.17", flags=_LINUX),
        Target("windows-x64", "x86_64-windows-gnu", "core.pyd", machine="i386:x86-64"),
        Target("windows-arm64", "aarch64-windows-gnu", "core.pyd", machine="arm64"),
        Target("macos-x64", "x86_64-macos.10.15", flags=_MACOS),
        Target("macos-arm64", "aarch64-macos.11.0", flags=_MACOS),
        Target("linux-arm64", "aarch64-linux-gnu.2.17", flags=_LINUX, is_shipped=False),
    )
}
SHIPPED = [target for target in TARGETS.values() if target.is_shipped]


def loader() -> Any:
    """What the kernel's loader knows of this machine and of the sources, asked without importing the kernel."""
    name = "_fabrik_loading"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, KERNEL / "loading.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def here() -> Target | None:
    """This machine's platform; None where nothing is compiled for it."""
    return TARGETS.get(loader().platform_tag())


def is_current(folder: Path, target: Target) -> bool:
    """Whether a folder holds the binary for a platform, made from the sources as they are."""
    try:
        told = json.loads((folder / target.tag / "core.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    is_made = isinstance(told, dict) and told.get("made") == _made(target)
    return is_made and (folder / target.tag / target.file).is_file()


def _made(target: Target) -> str:
    """Digest of everything that decides a binary: sources, flags, compilers, and the code that puts them together."""
    own = [(Path(__file__).parent / name).read_text(encoding="utf-8") for name in OWN]
    told = [loader().sources_digest(KERNEL), DIRECTIVES, FLAGS, repr(target), requirements("build"), own]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def compile_kernel(folder: Path, targets: Iterable[Target], *, fresh: bool = False, anew: bool = False) -> list[Path]:
    """Compile the kernel for platforms, into `folder`/<platform>/, where that is not yet done.

    Args:
        folder: Gets a folder a platform with the binary and a note, core.json, that tells what it was made from.
        targets: The platforms.
        fresh: Compile even where the binary is up to date.
        anew: See to it that the compiler takes nothing from its cache but the system's libraries.

    Returns:
        The binaries.

    Raises:
        CompileError: The sources do not compile.
        SetupError: Compiler or headers can't be had.
    """
    targets = list(targets)
    wanted = [target for target in targets if fresh or not is_current(folder, target)]
    if wanted:
        check_proof()
        python = ensure("build", ["build"])
        headers = find_headers()
        sources = loader().sources_digest(KERNEL)
        with tempfile.TemporaryDirectory(prefix="fabrik-build-") as temporary:
            work = Path(temporary)
            say(f"Compiling the kernel for {wanted[0].tag} ({_patience(wanted)})")
            _to_c(python, work)
            shutil.copytree(headers, work / "include", ignore=shutil.ignore_patterns("internal", "numpy"))
            shutil.copy2(Path(__file__).parent / "pyconfig.h", work / "include" / "pyconfig.h")
            for target in wanted:
                if target is not wanted[0]:
                    say(f"Compiling the kernel for {target.tag}")
                _to_binary(python, work, target, [f"-DFABRIK_BUILD={os.getpid()}"] if anew else [])
                _put(work / target.tag, folder / target.tag, target, sources)
    return [folder / target.tag / target.file for target in targets]


def _patience(targets: Sequence[Target]) -> str:
    if len(targets) == 1:
        return "half a minute; done once"
    return f"the first of {len(targets)}; half a minute each, the first time more"


def _to_c(python: Path, work: Path) -> None:
    """Amalgamate the kernel and translate it to C, in a folder to work in."""
    amalgam = amalgamate(KERNEL, loader().compiled_sources(KERNEL))
    (work / SOURCE).write_text(amalgam.text, encoding="utf-8")
    command = [str(python), "-c", CYTHON, "-3", "-Werror", "--no-docstrings", "--module-name", MODULE, SOURCE]
    done = _run(command, work)
    if done.returncode:
        told = _translated(done.stderr, amalgam).splitlines()
        raise CompileError("\n".join(line for line in told if not line.startswith("performance hint: ")))
    made = (work / SOURCE).with_suffix(".c")
    text = made.read_text(encoding="utf-8")
    if text.count(ENTRY) != 1:
        raise CompileError("Cython's module does not put itself into Python's list of modules where it is expected to")
    made.write_text(text.replace(ENTRY, "if (0) {"), encoding="utf-8")  # an extension leaves nothing there


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


def find_headers() -> Path:
    """The folder that holds Python.h: one on this machine, else unpacked from Debian's package under .venv/.

    Raises:
        SetupError: It is not to be had.
    """
    roots = (UNPACKED / "usr", Path(sys.base_prefix), Path("/usr/local"), Path("/usr"))
    places = [path for root in roots for path in sorted((root / "include").glob("python3.*"))]
    places.insert(0, Path(sysconfig.get_path("include")))
    found = [place for place in places if (place / "Python.h").is_file() and _version_of(place) >= OLDEST]
    return min(found, key=_version_of) if found else _unpacked_headers()


def _version_of(folder: Path) -> tuple[int, int]:
    """The version of the headers in a folder; (0, 0) where they do not tell."""
    try:
        text = (folder / "patchlevel.h").read_text(encoding="utf-8")
    except OSError:
        return 0, 0
    found = dict(re.findall(r"#define\s+PY_(MAJOR|MINOR)_VERSION\s+(\d+)", text))
    return int(found.get("MAJOR", 0)), int(found.get("MINOR", 0))


def _unpacked_headers() -> Path:
    """Unpack Debian's package of the headers beside the environments; nothing is installed.

    Raises:
        SetupError: There is no such package.
    """
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    missing = f"no C headers of Python; on Debian or Ubuntu run: sudo apt-get install libpython{running}-dev"
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise SetupError(missing)
    say("Getting the C headers of Python")
    if is_root():
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
    for version in dict.fromkeys((*PACKAGED, running)):
        with tempfile.TemporaryDirectory() as folder:
            command = ["apt-get", "download", "-q", f"libpython{version}-dev"]
            done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
            packages = list(Path(folder).glob("*.deb"))
            if done.returncode or not packages:
                continue
            subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(UNPACKED)], check=True)
        headers = UNPACKED / "usr" / "include" / f"python{version}"
        if (headers / "Python.h").is_file():
            return headers
    raise SetupError(missing)


def ensure_built() -> None:
    """See to it that the kernel is compiled for this machine, or say that it runs interpreted.

    Raises:
        CompileError: The sources do not compile.
    """
    target = here()
    if target is None:
        say(f"The kernel runs interpreted: nothing is compiled for {loader().platform_tag()}")
        return
    try:
        compile_kernel(NATIVE, [target])
    except CompileError:
        raise
    except SetupError as error:
        say(f"The kernel runs interpreted: {error}")


# ---- stored solves

CHECK_PROOF = """
from fabrik_addon import kernel
from fabrik_addon.kernel import loading
print(loading.first_difference(kernel))
"""
DIGITS = 9  # of the stored numbers after the point
NUDGE = 1e-13  # what the numbers of goals are stretched by, more than systems' sines differ
SOLVE_PROOF = """
import json, sys
from fabrik_addon import kernel
from fabrik_addon.kernel import loading
print(json.dumps([loading.answer(kernel, problem) for problem in json.load(sys.stdin)]))
"""


def renew_proof() -> None:
    """Solve the stored problems interpreted, and store the answers.

    Raises:
        CompileError: A problem is none to store: numbers a little different lead to another answer.
    """
    path = ROOT / "fabrik_addon" / "kernel" / "proof.json"
    problems = json.loads(path.read_text(encoding="utf-8"))
    nudged = [
        {**each, "goals": _stretched(each["goals"], 1.0 + nudge)} for each in problems for nudge in (NUDGE, -NUDGE)
    ]
    answers = json.loads(_interpreted(SOLVE_PROOF, json.dumps(problems + nudged)))
    others = answers[len(problems) :]
    for index, (problem, (status, numbers)) in enumerate(zip(problems, answers, strict=False)):
        for other, near in others[2 * index : 2 * index + 2]:
            off = max(abs(a - b) for a, b in zip(numbers, near, strict=True))
            if status != other or off > 10.0**-DIGITS:
                raise CompileError(
                    f"stored problem {index} hangs on rounding ({status}, {other}, {off:.1e}): change it"
                )
        problem.update(status=status, numbers=[round(number, DIGITS) for number in numbers])
        say(f"{index:2} {status:9} residual {numbers[-1]:.2e}")
    path.write_text("[\n" + ",\n".join(map(json.dumps, problems)) + "\n]\n", encoding="utf-8")


def _stretched(told: Any, factor: float) -> Any:
    """What a stored problem tells, with all numbers but whole ones times a factor."""
    if isinstance(told, list):
        return [_stretched(part, factor) for part in told]
    return told * factor if isinstance(told, float) else told


def check_proof() -> None:
    """See to it that the interpreted kernel solves as is stored, and a binary of the same sources so can.

    Raises:
        CompileError: It does not.
    """
    if _interpreted(CHECK_PROOF).strip():
        raise CompileError(
            "the stored solves are not this kernel's; where that is meant: python3 scripts/build.py --proof"
        )


def _interpreted(code: str, told: str = "") -> str:
    """What code prints that uses the interpreted kernel, and may read what it is told."""
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "FABRIK_INTERPRETED": "1", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, input=told, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"the interpreted kernel does not solve the stored problems:\n{done.stderr.strip()}")
    return done.stdout


# ---- checks of what comes out

Stage = Callable[[Path, Path], Path]
LOADED = "LOADED"
LOAD = f"""
import sys
sys.path.insert(0, {{folder!r}})
import fabrik_addon.kernel
print("{LOADED}", "%d.%d" % sys.version_info[:2], *fabrik_addon.kernel.FORM.values(), flush=True)
"""


def check(stage: Stage) -> int:
    """Compile for all platforms twice and look at the binaries; 0 where all is well.

    Args:
        stage: Lays the extension out in a folder with the binaries of another.
    """
    with tempfile.TemporaryDirectory(prefix="fabrik-check-") as temporary:
        folder = Path(temporary)
        begin = time.monotonic()
        for name in ("first", "second"):
            compile_kernel(folder / name, SHIPPED, fresh=True, anew=name == "second")
        say(f"Compiled twice in {time.monotonic() - begin:.0f} s")
        wrong = [*_differences(folder, SHIPPED), *_inside(folder / "first")]
        staged = stage(folder / "staged" / "fabrik_addon", folder / "first").parent
        for program in (Path(sys.executable), *sorted(VENVS.glob("blender-*/bin/python"))):
            told = _loaded(program, staged)
            say(f"{program}: {told}")
            if " compiled" not in told:
                wrong.append(f"{program}: {told}")
    for text in wrong:
        say(f"wrong: {text}")
    say(f"{len(wrong)} wrong")
    return int(bool(wrong))


def _differences(folder: Path, targets: Iterable[Target]) -> Iterator[str]:
    for target in targets:
        first, second = (folder / name / target.tag / target.file for name in ("first", "second"))
        size = first.stat().st_size
        same = first.read_bytes() == second.read_bytes()
        say(f"{target.tag:14} {size:9,} bytes, {'the same twice' if same else 'NOT the same twice'}")
        if not same:
            yield f"{target.tag}: two builds differ"


def _inside(folder: Path) -> list[str]:
    """What LIEF finds wrong with the binaries in a folder."""
    python = ensure("check", ["check"])
    script = Path(__file__).with_name("binaries.py")
    done = subprocess.run([str(python), str(script), str(folder)], capture_output=True, text=True, check=False)
    found = done.stdout.strip().splitlines()
    if done.returncode and not found:
        found = [f"the binaries can't be read: {done.stderr.strip()[-500:]}"]
    return found


def _loaded(program: Path, folder: Path) -> str:
    """In which form the kernel runs in a Python, in that of an environment with Blender once that is there."""
    code = LOAD.format(folder=str(folder))
    if program.parent.parent.name.startswith("blender-"):
        code = f"import bpy, os\n{code}\nos._exit(0)"
    environment = {name: value for name, value in os.environ.items() if name != "FABRIK_INTERPRETED"}
    done = subprocess.run([str(program), "-c", code], env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(LOADED)]
    return f"Python{lines[0].removeprefix(LOADED)}" if lines else f"exit code {done.returncode}: {done.stderr[-500:]}"

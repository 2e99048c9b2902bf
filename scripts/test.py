# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests, in virtual environments that this script makes, on all cores.

  python3 scripts/test.py                  on the Blender wheel of the running Python
  python3 scripts/test.py --changed        what the change at hand touches (since --base, main): lint, types, tests
  python3 scripts/test.py --bpy 4.2        on the wheel of that Blender (its Python must be on the PATH)
  python3 scripts/test.py --all            all that is promised: format, lint and types, the kernel alone, the rig layer
                                           on every Blender that can be had, the rest on the oldest and the newest; ends
                                           at what fails first. With --minutes, a machine that is too slow for all of it
                                           runs lint, the kernel and the newest Blender's, and tells what it left out
  python3 scripts/test.py --blender PATH   inside a real Blender
  python3 scripts/test.py --kernel         the kernel's alone, compiled and interpreted, without Blender: minutes
  python3 scripts/test.py --lint           format, lint and types against the oldest and newest Blender

With --interpreted, the others run with the kernel interpreted. What follows `--` goes to pytest, which then runs on one
core.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf
from pathlib import Path
from time import time

from build import ensure_built, ensure_manual
from dev.changed import ImportGraph, changed_files
from environment import (
    PYTHON_OF,
    ROOT,
    SetupError,
    blender_python,
    default_blender,
    ensure,
    exit_with,
    new_parser,
    packages,
    python_for,
    say,
)

RUNNER = ROOT / "tests" / "runner.py"
KERNEL, RIG = "tests/kernel", "tests/rig"
EXAMPLES = "tests/manual/test_manual_examples.py"  # which run a part of the suite themselves
KERNEL_TESTS = [KERNEL, "tests/scripts/test_amalgamate.py", "tests/test_layering.py"]
SWITCH = "FABRIK_INTERPRETED"
BYTECODE = ROOT / "build" / "bytecode"  # which the next run finds: to rewrite asserts takes each process seconds
OLDEST, *BETWEEN, NEWEST = PYTHON_OF
CEILING, CEILINGS = 10.0, {"fabrik_addon.kernel": 5.0}  # per cent of a package's expressions that may be of type Any
ON_ALL_CORES = ["--numprocesses", "auto", "--maxprocesses", "8", "--dist", "worksteal"]


def check_sources(types: dict[str, list[str]], files: Sequence[str] = ()) -> int:
    """Format, lint and strict types, beside each other; the output of each is printed once it has ended, in order.

    Args:
        types: By the Blender against whose stubs types are checked, more words for that.
        files: To be looked at; none for all.
    """
    lint = [str(ensure("lint", ["lint"])), "-m"]
    jobs = {f"ruff {words[0]}": ["ruff", *words, *(files or ["."])] for words in (["format", "--check"], ["check"])}
    for version, words in types.items():  # two that run at once remember nothing together
        cache = ["--cache-dir", str(ROOT / ".mypy_cache" / version)]
        python = ["--python-executable", str(ensure(f"types-{version}", [f"types-{version}"]))]
        jobs[f"mypy against Blender {version}"] = ["mypy", *cache, *python, *words, *files]

    def run(words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*lint, *words], cwd=ROOT, capture_output=True, text=True, check=False)

    failed = 0
    with ThreadPoolExecutor(len(jobs)) as beside:
        for title, done in zip(jobs, beside.map(run, jobs.values()), strict=True):
            say(title)
            print(done.stdout + done.stderr, end="", flush=True)
            failed |= done.returncode
    return failed


def run_suite(command: list[str], pytest_arguments: list[str], test_packages: Path) -> int:
    """Run the suite by a Python or a Blender, with user folders and a temporary folder of its own.

    Blender keeps the pose that was copied in the temporary folder, where another run beside this one would find it.
    """
    with tempfile.TemporaryDirectory(prefix="fabrik-tests-") as folder:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": folder}
        environment |= {"PYTHONPYCACHEPREFIX": str(BYTECODE), "PYTHONDONTWRITEBYTECODE": ""}
        temporary = Path(folder, "temporary")
        temporary.mkdir()
        environment |= dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(temporary))
        environment |= dict.fromkeys(("FABRIK_TEST_PACKAGES", "PYTHONPATH"), str(test_packages))
        try:
            return subprocess.run([*command, *pytest_arguments], cwd=ROOT, env=environment, check=False).returncode
        finally:  # what was compiled of what was in these folders
            shutil.rmtree(BYTECODE.joinpath(*Path(folder).resolve().parts[1:]), ignore_errors=True)


def run_kernel(form: str, pytest_arguments: Sequence[str] = ()) -> int:
    """Run the kernel's tests without Blender.

    Args:
        form: In which the kernel runs, "compiled" or "interpreted".
        pytest_arguments: For pytest; none for all that needs no Blender.
    """
    python = ensure("kernel", ["kernel-test", "numpy"], bytecode=True)
    say(f"Kernel, {form}")
    command = [str(python), str(RUNNER), *(pytest_arguments or [*ON_ALL_CORES, *KERNEL_TESTS])]
    environment = {**os.environ, SWITCH: "1" if form == "interpreted" else ""}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def run_wheel(version: str, pytest_arguments: list[str], python: Path | None = None) -> int:
    """Run the suite on a Blender wheel.

    Args:
        version: Of Blender.
        pytest_arguments: For pytest.
        python: A Python in which the wheel is installed; none for an environment of this script's own.
    """
    python = python or blender_python(version)
    say(f"Blender {version} (wheel)")
    return run_suite([str(python), str(RUNNER)], pytest_arguments, test_packages(PYTHON_OF[version]))


def test_packages(python: tuple[int, int]) -> Path:
    """The folder with pytest and what the tests need, for a Python of that version."""
    version = "{}.{}".format(*python)
    return packages(f"test-{version}", ["test"], version)


def run_blender(blender: str, pytest_arguments: list[str]) -> int:
    """Run the suite inside a real Blender, with the test packages beside its own Python."""
    code = "import sys; print('PYTHON', *sys.version_info[:2])"
    asked = subprocess.run(
        [blender, "--background", "--factory-startup", "--python-expr", code],
        capture_output=True,
        text=True,
        check=False,
    )
    version = next((line.split()[1:] for line in asked.stdout.splitlines() if line.startswith("PYTHON ")), None)
    if version is None:
        raise SetupError(f"'{blender}' is not a Blender that runs: {asked.stderr.strip()[-300:]}")
    beside = test_packages((int(version[0]), int(version[1])))
    say(f"Blender at {blender}")
    command = [blender, "--background", "--factory-startup", "--python-exit-code", "1", "--python", str(RUNNER), "--"]
    return run_suite(command, pytest_arguments, beside)


def run_lint(*versions: str) -> int:
    """Format, lint, and strict types against the stubs of these Blenders."""
    reports = {version: ROOT / "build" / f"any-{version}" for version in versions}
    failed = check_sources({version: ["--any-exprs-report", str(report)] for version, report in reports.items()})
    for report in reports.values():
        failed |= check_any(report)
    return failed


def check_any(folder: Path) -> int:
    """Print each package's share of Any; 1 where one is above its ceiling.

    Args:
        folder: Where mypy has left its report.
    """
    report = (folder / "any-exprs.txt").read_text(encoding="utf-8")  # as mypy calls it
    paths = (path.relative_to(ROOT / "tests").with_suffix("") for path in (ROOT / "tests").rglob("*.py"))
    tests = {".".join(path.parts).removesuffix(".__init__") for path in paths}
    found, counts, failed = Counter[str](), Counter[str](), 0
    for module, number, count in re.findall(r"^\s*([\w.]+)\s+(\d+)\s+(\d+)\s+[\d.]+%", report, re.MULTILINE):
        if module != "Total":
            package = _package(module, tests)
            found[package] += int(number)
            counts[package] += int(count)
    print(f"{'package':24} {'Any':>6} {'expressions':>12} {'share':>7}")
    for package, count in sorted(counts.items()):
        share, ceiling = 100.0 * found[package] / max(count, 1), CEILINGS.get(package, CEILING)
        is_over = share > ceiling
        print(f"{package:24} {found[package]:6} {count:12} {share:6.1f}%{f'  more than {ceiling:g} %' * is_over}")
        failed |= is_over
    return int(failed)


def _package(module: str, tests: set[str]) -> str:
    """The package of a module; those of scripts and tests have names within their folders."""
    parts = module.split(".")
    if parts[0] != "fabrik_addon":
        return "tests" if module in tests else "scripts"
    return ".".join(parts[:2]) if len(parts) > 1 and (ROOT / "fabrik_addon" / parts[1]).is_dir() else "fabrik_addon"


def run_changed(base: str) -> int:
    """Judge what differs from where the branch left `base`: lint and types of its files, and the tests that see them.

    Types are checked against the newest Blender's stubs alone, with what mypy remembers from the last time.
    """
    changed = [path for path in changed_files(ROOT, base) if (ROOT / path).exists()]
    if not changed:
        say(f"Nothing differs from {base}")
        return 0
    sources = [str(path) for path in changed if path.suffix == ".py"]
    failed = check_sources({NEWEST: []}, sources) if sources else 0
    tests = [str(path) for path in ImportGraph(ROOT).tests_of(changed)]
    if any(path.parts[:2] == ("fabrik_addon", "kernel") for path in changed):
        failed |= run_kernel("compiled") | run_kernel("interpreted")
        tests = [path for path in tests if not path.startswith(KERNEL)]
    say(f"{len(changed)} files differ from {base}, {len(tests)} test files see them")
    return failed | run_wheel(default_blender(), [*ON_ALL_CORES, *tests])


def run_all(newest: Path | None, minutes: float) -> int:
    """Run all that is promised, until something fails; the newest Blender's closing line is the last.

    Args:
        newest: A Python in which the newest Blender's wheel is installed; none for one that this script makes.
        minutes: In which it shall end. A run between the kernel and the newest Blender is left out where a fifth of
            them has passed before it begins, a test of the kernel where half of them has, and one of the newest
            Blender where all have; all three are told.
    """
    start = time()
    until = [] if minutes == inf else [f"--until={start + 60.0 * minutes:.0f}"]
    with ThreadPoolExecutor(1) as beside:
        lint = beside.submit(run_lint, NEWEST)  # one core's work, while compiling is one core's, too
        ensure_all()
        half = [] if minutes == inf else [f"--until={start + 30.0 * minutes:.0f}"]
        failed = run_kernel("compiled", [*ON_ALL_CORES, *KERNEL_TESTS, *half])
        failed |= lint.result()
    there = [version for version in PYTHON_OF if python_for(version) or (version == NEWEST and newest)]
    for version in PYTHON_OF.keys() - set(there):
        say(f"Blender {version}: left out, its Python {PYTHON_OF[version]} is not on the PATH")
    oldest, last, python = there[0], there[-1], newest if there[-1] == NEWEST else None
    whole = [*ON_ALL_CORES, f"--ignore={KERNEL}", f"--ignore={EXAMPLES}"]
    between: dict[str, Callable[[], int]] = {
        f"Blender {version}": partial(run_wheel, version, whole) for version in there[:1] if oldest != last
    }
    between |= {f"Blender {version}": partial(run_wheel, version, [*ON_ALL_CORES, RIG]) for version in there[1:-1]}
    between["the interpreted kernel"] = partial(run_kernel, "interpreted")
    between[f"the manual's examples and types of Blender {OLDEST}"] = partial(_run_examples, last, python)
    for title, run in between.items():
        if not failed and time() < start + 60.0 * minutes / 5.0:
            failed = run()
        elif not failed:
            say(f"Left out on this machine, which is too slow for it: {title}")
    return failed or run_wheel(last, [*whole, *until], python)


def _run_examples(version: str, python: Path | None) -> int:
    """Run the manual's examples, and beside them lint with the oldest types: each is one core's work."""
    with ThreadPoolExecutor(1) as beside:
        lint = beside.submit(run_lint, OLDEST)
        failed = run_wheel(version, [EXAMPLES], python)
        return failed | lint.result()


def ensure_all() -> None:
    """Make what tests need that are not run interpreted: the compiled kernel, and the manual as HTML.

    The manual here and not in a test, whose Python may not be able to make an environment.
    """
    ensure_built()
    ensure_manual()


def parser() -> ArgumentParser:
    """The parser of the arguments."""
    made = new_parser(__doc__)
    which = made.add_mutually_exclusive_group()
    which.add_argument("--bpy", choices=sorted(PYTHON_OF))
    which.add_argument("--blender", type=Path)
    for name in ("all", "changed", "kernel", "lint"):
        which.add_argument(f"--{name}", action="store_true")
    made.add_argument("--base", default="main", help="with --changed: the branch that was left")
    made.add_argument("--newest", type=Path, help="with --all: a Python that has the newest Blender's wheel")
    made.add_argument("--minutes", type=float, default=inf, help="with --all: in which it shall end")
    made.add_argument("--interpreted", action="store_true", help="run the kernel interpreted")
    made.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    return made


def main() -> int:
    arguments = parser().parse_args()
    if arguments.lint:
        return run_lint(OLDEST, NEWEST)
    if arguments.all:
        return run_all(arguments.newest, arguments.minutes)
    ensure_all()
    if arguments.interpreted:
        os.environ[SWITCH] = "1"
    if arguments.changed:
        return run_changed(arguments.base)
    if arguments.kernel:
        return run_kernel("compiled", arguments.pytest) | run_kernel("interpreted", arguments.pytest)
    if arguments.blender:
        return run_blender(str(arguments.blender), arguments.pytest)
    return run_wheel(arguments.bpy or default_blender(), arguments.pytest or ON_ALL_CORES)


if __name__ == "__main__":
    exit_with(main)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests, in virtual environments that this script makes.

  python3 scripts/test.py                   on the Blender wheel of the running Python
  python3 scripts/test.py --bpy 4.2         on the wheel of that Blender (its Python must be on the PATH)
  python3 scripts/test.py --all             on every Blender wheel that can be had
  python3 scripts/test.py --blender PATH    inside a real Blender
  python3 scripts/test.py --installed       on the bpy and pytest of the running Python, nothing is set up
  python3 scripts/test.py --kernel          the kernel's alone, compiled and interpreted, without Blender: seconds
  python3 scripts/test.py --lint            format, lint and types against the oldest and newest Blender

With --interpreted, the others run with the kernel interpreted. What follows `--` goes to pytest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from build import ensure_built
from dev.any_report import check_any
from dev.manual import ensure_manual
from environment import (
    PYTHON_OF,
    ROOT,
    VENVS,
    SetupError,
    blender_python,
    default_blender,
    ensure,
    python_for,
    requirements,
    say,
)

RUNNER = ROOT / "tests" / "runner.py"
KERNEL_TESTS = ["tests/kernel", "tests/scripts/test_amalgamate.py", "tests/test_layering.py"]
SWITCH = "FABRIK_INTERPRETED"


def run_suite(command: list[str], pytest_arguments: list[str], paths: str = "") -> int:
    """Run the suite by a Python or a Blender, with user folders and a temporary folder of its own.

    Blender keeps the pose that was copied in the temporary folder, where another run beside this one would find it.
    """
    with tempfile.TemporaryDirectory(prefix="fabrik-tests-") as folder:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        temporary = Path(folder, "temporary")
        temporary.mkdir()
        environment |= dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(temporary))
        if paths:
            environment["FABRIK_TEST_PACKAGES"] = paths
        return subprocess.run([*command, *pytest_arguments], cwd=ROOT, env=environment, check=False).returncode


def run_kernel(pytest_arguments: list[str]) -> int:
    """Run the kernel's tests without Blender, compiled and interpreted."""
    python = ensure("kernel", ["kernel-test"])
    failed = 0
    for form in ("compiled", "interpreted"):
        say(f"Kernel, {form}")
        os.environ.pop(SWITCH, None)
        if form == "interpreted":
            os.environ[SWITCH] = "1"
        failed |= run_suite([str(python), str(RUNNER)], pytest_arguments or KERNEL_TESTS)
    return failed


def run_wheel(version: str, pytest_arguments: list[str]) -> int:
    """Run the suite on a Blender wheel."""
    python = blender_python(version, ["test"])
    say(f"Blender {version} (wheel)")
    return run_suite([str(python), str(RUNNER)], pytest_arguments)


def run_blender(blender: str, pytest_arguments: list[str]) -> int:
    """Run the suite inside a real Blender, with the test packages beside its own Python."""
    code = "import sys; print('PYTHON', '%d.%d' % sys.version_info[:2])"
    asked = subprocess.run(
        [blender, "--background", "--factory-startup", "--python-expr", code],
        capture_output=True,
        text=True,
        check=False,
    )
    version = next((line.split()[1] for line in asked.stdout.splitlines() if line.startswith("PYTHON ")), None)
    if version is None:
        raise SetupError(f"'{blender}' is not a Blender that runs: {asked.stderr.strip()[-300:]}")
    folder = VENVS / f"blender-test-{version}"
    if not folder.exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
        install += ["--python-version", version, "--only-binary=:all:", *requirements("test")]
        subprocess.run(install, check=True)
    say(f"Blender at {blender}")
    command = [blender, "--background", "--factory-startup", "--python-exit-code", "1", "--python", str(RUNNER), "--"]
    return run_suite(command, pytest_arguments, str(folder))


def run_lint() -> int:
    """Format, lint, and strict types against the stubs of the oldest and the newest Blender."""
    lint = ensure("lint", ["lint"])
    failed = 0
    for command in (["ruff", "format", "--check", "."], ["ruff", "check", "."]):
        failed |= subprocess.run([str(lint), "-m", *command], cwd=ROOT, check=False).returncode
    for version in ("4.2", "5.2"):
        types = ensure(f"types-{version}", [f"types-{version}"])
        say(f"mypy against Blender {version}")
        command = [str(lint), "-m", "mypy", "--python-executable", str(types)]
        command += ["--any-exprs-report", str(ROOT / "build" / f"any-{version}")]
        failed |= subprocess.run(command, cwd=ROOT, check=False).returncode
        failed |= check_any(ROOT / "build" / f"any-{version}")
    return failed


def run_all(pytest_arguments: list[str]) -> int:
    """Run the suite on every wheel for which there is a Python."""
    failed = 0
    for version in PYTHON_OF:
        if python_for(version) is None:
            say(f"Blender {version}: left out, its Python {PYTHON_OF[version]} is not on the PATH")
            continue
        failed |= run_wheel(version, pytest_arguments)
    return failed


def run(arguments: argparse.Namespace) -> int:
    """Run what was asked for.

    Raises:
        SetupError: Something is missing that can't be installed, or the kernel does not compile.
    """
    if arguments.lint:
        return run_lint()
    ensure_built()
    ensure_manual()  # here and not in a test, whose Python may not be able to make an environment
    if arguments.interpreted:
        os.environ[SWITCH] = "1"
    if arguments.kernel:
        return run_kernel(arguments.pytest)
    if arguments.all:
        return run_all(arguments.pytest)
    if arguments.blender:
        return run_blender(str(arguments.blender), arguments.pytest)
    if arguments.installed:
        return run_suite([sys.executable, str(RUNNER)], arguments.pytest)
    return run_wheel(arguments.bpy or default_blender(), arguments.pytest)


def parser() -> argparse.ArgumentParser:
    """The parser of the arguments."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = made.add_mutually_exclusive_group()
    which.add_argument("--bpy", choices=sorted(PYTHON_OF))
    which.add_argument("--all", action="store_true")
    which.add_argument("--blender", type=Path)
    which.add_argument("--installed", action="store_true")
    which.add_argument("--kernel", action="store_true")
    which.add_argument("--lint", action="store_true")
    made.add_argument("--interpreted", action="store_true", help="run the kernel interpreted")
    made.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    return made


def main() -> int:
    arguments = parser().parse_args()
    try:
        return run(arguments)
    except SetupError as error:
        say(f"error: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main())

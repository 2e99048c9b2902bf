# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share. The kernel's run without Blender, too; where there is one, `with_blender.py` adds it."""

import importlib.util
import sys
from pathlib import Path
from time import time

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS.parent / "scripts"), str(TESTS)]

import hypothesis
import pytest

hypothesis.settings.register_profile("fabrik", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("fabrik")


def pytest_addoption(parser: pytest.Parser) -> None:
    """A time, in seconds since 1970, from which on tests are left out."""
    parser.addoption("--until", type=float, help="skip tests that have not begun by this time, in seconds since 1970")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a test out, before anything is made for it, where the time is over."""
    until = item.config.getoption("--until")
    if until is not None and time() > until:
        pytest.skip("the time that this run was given is over")


def pytest_report_header() -> str:
    """In which form the kernel runs, which is interpreted after each change until it is compiled again."""
    import fabrik_addon.kernel  # which the plugin below puts in its place

    return f"kernel: {fabrik_addon.kernel.loading.form()}"


if "bpy" in sys.modules or importlib.util.find_spec("bpy") is not None:
    pytest_plugins = ("support.with_blender",)
else:
    sys.path.insert(0, str(TESTS.parent))  # `fabrik_addon` is that of the source tree

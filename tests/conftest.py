# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share. The kernel's run without Blender, too; where there is one, `with_blender.py` adds it."""

from __future__ import annotations

import gc
import importlib.util
import sys
from math import inf
from pathlib import Path
from time import time
from typing import Protocol

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS.parent / "scripts"), str(TESTS)]

import hypothesis
import pytest

UNTIL, LEFT_OUT = pytest.StashKey[float](), pytest.StashKey[int]()
LEAST_SECONDS = 120.0

gc.set_threshold(20_000, 20, 50)  # what tests leave behind is little: a thirtieth of their time went into the search

hypothesis.settings.register_profile("fabrik", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("fabrik")


class Node(Protocol):
    """A process that runs tests beside others, as pytest-xdist, which is not typed, tells of it."""

    config: pytest.Config


def pytest_addoption(parser: pytest.Parser) -> None:
    """A time, in seconds since 1970, from which on tests are left out."""
    parser.addoption("--until", type=float, help="leave out tests not begun by this time, in seconds since 1970")


def pytest_collection_finish(session: pytest.Session) -> None:
    """From when on tests are left out: where collecting has taken all the time, some are run nevertheless.

    What has been imported and collected stays, so that no search for garbage needs to go through it.
    """
    gc.collect()
    gc.freeze()
    until = session.config.getoption("--until")
    if until is not None:
        session.config.stash[UNTIL] = max(until, time() + LEAST_SECONDS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave a test out, before anything is made for it and without a report, where the time is over."""
    stash = item.config.stash
    if time() < stash.get(UNTIL, inf):
        return None
    stash[LEFT_OUT] = stash.get(LEFT_OUT, 0) + 1
    return True


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process beside others hands on how many tests it has left out."""
    output: dict[str, int] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Node) -> None:
    """Add how many tests a process beside others has left out."""
    stash = node.config.stash
    stash[LEFT_OUT] = stash.get(LEFT_OUT, 0) + getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell how many tests were left out."""
    count = config.stash.get(LEFT_OUT, 0)
    if count:
        terminalreporter.write_line(f"{count} tests were left out: the time that this run was given was over")


def pytest_report_header() -> str:
    """In which form the kernel runs, which is interpreted after each change until it is compiled again."""
    from fabrik_addon.kernel import FORM  # which the plugin below puts in its place

    return f"kernel: {FORM['kind']} {FORM['reason']}".rstrip()


if "bpy" in sys.modules or importlib.util.find_spec("bpy") is not None:
    pytest_plugins = ("support.with_blender", "support.fixtures")
else:
    sys.path.insert(0, str(TESTS.parent))  # `fabrik_addon` is that of the source tree

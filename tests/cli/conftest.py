# SPDX-License-Identifier: GPL-3.0-or-later
"""What most tests of the command line work on."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cli_files import CommandLine, save_shot


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """A file with a chain whose target is keyed."""
    return save_shot(tmp_path / "shot.blend")


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line."""
    return CommandLine(capfd)

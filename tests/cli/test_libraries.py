# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line with files that link from libraries."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from fabrik_addon.cli.commands import run

from support.cli_files import refused
from support.scenes import add_chain, make_empty, make_line


@pytest.fixture
def linking(tmp_path: Path) -> Path:
    """A file whose armature reaches for a target of another file."""
    target = make_empty((0.4, -0.5, 1.9), "Linked")
    bpy.data.libraries.write(str(tmp_path / "lib.blend"), {target})
    bpy.data.objects.remove(target)
    owner = make_line(3)
    chain = add_chain(owner)
    with bpy.data.libraries.load(str(tmp_path / "lib.blend"), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Linked"])
    chain.target = bpy.data.objects["Linked"]
    path = tmp_path / "linking.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.mark.parametrize("command", ["bake", "solve"])
def test_a_target_whose_library_is_missing(linking: Path, capfd: pytest.CaptureFixture[str], command: str) -> None:
    assert run([command, "--file", str(linking)]) == 0
    capfd.readouterr()
    (linking.parent / "lib.blend").unlink()
    assert run([command, "--file", str(linking)]) in (1, 2)
    said = capfd.readouterr()
    assert "the target 'Linked' is missing in the file that it is linked from" in said.out + said.err


@pytest.mark.parametrize(
    ("option", "message"), [("--output", "is a library of the file"), ("--report", "is the name of a .blend")]
)
def test_a_library_is_not_written_over(
    linking: Path, capfd: pytest.CaptureFixture[str], option: str, message: str
) -> None:
    before = (linking.parent / "lib.blend").read_bytes()
    assert run(["bake", "--file", str(linking), option, str(linking.parent / "lib.blend")]) == 2
    assert message in refused(capfd)
    assert (linking.parent / "lib.blend").read_bytes() == before

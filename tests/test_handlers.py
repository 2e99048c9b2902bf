# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs beside live posing in Blender's handlers, when it fails in a way that nobody foresaw."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon import handlers
from fabrik_addon.actions import chain_edit, live
from fabrik_addon.actions.live.state import state
from fabrik_addon.overlay import view
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of

from support.judging import channels, tip_error
from support.scenes import key_bones, live_line, make_empty, put, turned, update


def fail(*_: object, **__: object) -> None:
    raise RuntimeError("nobody foresaw it")


@pytest.mark.parametrize("what", ["list", "renames"])
def test_live_posing_goes_on_and_the_failure_is_told_once(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    owner, chain = live_line()
    target: Any = chain.target
    if what == "list":
        monkeypatch.setattr(chain_edit, "follow", fail)
    else:
        monkeypatch.setattr(handlers, "follow_renames_after", fail)
        monkeypatch.setattr(handlers, "follow_renames", fail)
    with caplog.at_level(logging.ERROR):
        for x in (0.1, -0.4, 0.5):
            target.location.x = x
            update()
            assert rig_of(owner).live
            assert tip_error(owner, chain) < 3e-4
    assert len(caplog.records) == 1
    caplog.clear()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    monkeypatch.undo()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    assert not live.state.paused
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE")
    pose_bones(owner)[-1].name = "renamed"
    update()
    assert rig_of(owner).chains[0].tip_bone == "renamed"
    assert not caplog.records


def test_live_posing_that_fails_says_so_with_its_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    owner, chain = live_line()
    monkeypatch.setattr(live, "tick", fail)
    target: Any = chain.target
    target.location.x = 0.3
    update()
    assert not rig_of(owner).live
    assert chain.status == "REFUSED"
    assert "nobody foresaw it" in chain.message


def test_a_drag_ends_with_its_file(tmp_path: Path) -> None:
    live_line()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    state.held = state.was_held = True
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    assert (state.held, state.was_held) == (False, False)


def test_a_file_that_can_not_be_opened_leaves_a_pose_that_is_held(tmp_path: Path) -> None:
    owner, chain = live_line(count=4)
    key_bones(owner)
    update()
    turned(owner, "b1")
    update()
    before, broken = channels(owner), tmp_path / "broken.blend"
    broken.write_bytes(b"no file of Blender's")
    with pytest.raises(RuntimeError, match="broken"):
        bpy.ops.wm.open_mainfile(filepath=str(broken))
    update()
    assert channels(owner) == before
    put(chain.target, location=(0.2, 0.3, 2.4))
    update()
    assert tip_error(owner, chain) < 3e-4


def test_what_another_thread_evaluates_is_not_posed_there_but_with_the_next_update(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner, chain = live_line()
    target: Any = chain.target
    target.location.x = -0.4
    stood, touched = channels(owner), []
    with monkeypatch.context() as patched:
        for module, name in (
            (view, "touch"),
            (handlers, "forget_shapes"),
            (handlers, "follow_renames_after"),
            (live, "tick"),
            (chain_edit, "follow"),
        ):
            patched.setattr(module, name, lambda *_, name=name, **__: touched.append(name))
        renders = threading.Thread(target=bpy.context.evaluated_depsgraph_get)
        renders.start()
        renders.join()
    assert not touched
    assert target.matrix_world.translation.x == pytest.approx(-0.4)  # it was evaluated
    assert channels(owner) == stood
    make_empty(name="Other")
    assert tip_error(owner, chain) < 3e-4
    assert channels(owner) != stood

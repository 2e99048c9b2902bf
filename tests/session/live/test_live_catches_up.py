# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb is solved without anything else being touched: as its file is opened, as it is given its goals."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of

from support.judging import tip_error
from support.scenes import chain_bones, live_line, make_line, press, select, update


def test_a_file_that_is_opened_shows_live_limbs_not_their_keys(tmp_path: Path) -> None:
    owner, chain = live_line()
    for bone in chain_bones(owner, chain):
        bone.keyframe_insert("rotation_quaternion", frame=1)
    chain.target.location.x -= 0.5
    update()
    assert tip_error(owner, chain) < 1e-4
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    update()
    owner = bpy.data.objects["Rig"]
    assert tip_error(owner, rig_of(owner).chains[0]) < 1e-4


@pytest.mark.parametrize("kind", ["EMPTY", "BONE"])
def test_a_live_chain_has_a_status_as_soon_as_it_has_a_target(kind: str) -> None:
    owner = make_line(3)
    rig_of(owner).live = True
    update()
    select(owner, "b2")
    press("chain_add")
    update()
    press("target_add", kind=kind)
    update()
    assert rig_of(owner).chains[0].status == "REACHED"

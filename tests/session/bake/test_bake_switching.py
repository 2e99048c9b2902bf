# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake leaves on and off: chains that are known as baked, and live posing where nothing is left to pose."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from fabrik_addon.errors import FabrikError
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.session.bake import BakeSettings, bake

from support.judging import bake_chain
from support.scenes import FRAMES, Rig, add_chain, keyed_line, make_line


def two_chains() -> Rig:
    """A line of two chains, of which the first is to be baked."""
    owner, chain = keyed_line(count=4)
    chain.tip_bone, chain.bone_count = "b1", 2
    add_chain(owner, (0.5, 0.3, 3.0), tip="b3", count=2)
    owner.fabrik.live = True
    bpy.context.view_layer.update()
    return owner, chain


def test_a_baked_chain_is_known_until_it_is_enabled_again() -> None:
    owner, chain = keyed_line()
    assert not chain.is_baked
    bake_chain(owner, chain)
    assert (chain.enabled, chain.is_baked) == (False, True)
    chain.enabled = False
    assert chain.is_baked
    chain.enabled = True
    assert not chain.is_baked
    chain.enabled = False
    assert not chain.is_baked


def test_a_chain_that_was_off_is_baked_by_name_and_known() -> None:
    owner, chain = keyed_line()
    chain.enabled = False
    bake_chain(owner, chain)
    assert (chain.enabled, chain.is_baked) == (False, True)


def test_it_is_kept_in_the_file(tmp_path: Path) -> None:
    owner, chain = keyed_line()
    bake_chain(owner, chain)
    path = str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["Rig"].fabrik.chains[0].is_baked


def test_live_is_off_where_no_chain_is_left() -> None:
    owner, chain = keyed_line()
    owner.fabrik.live = True
    assert bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES)).rested == ["Rig"]
    assert not owner.fabrik.live


def test_live_goes_on_for_the_chains_that_are_left() -> None:
    owner, chain = two_chains()
    assert bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES)).rested == []
    assert owner.fabrik.live
    other = owner.fabrik.chains[1]
    other.target.location = (0.7, 0.9, 2.6)
    bpy.context.view_layer.update()
    assert other.status == "REACHED"


def test_live_of_another_armature_is_not_touched() -> None:
    owner, chain = keyed_line()
    other = make_line(3)
    other.name = "Other"
    add_chain(other, (0.4, 0.5, 1.9))
    other.fabrik.live = True
    bake_chain(owner, chain)
    assert other.fabrik.live


def test_snapping_the_pose_leaves_all_on() -> None:
    owner, chain = keyed_line()
    owner.fabrik.live = True
    bake_chain(owner, chain, stays_enabled=True)
    assert (chain.enabled, chain.is_baked, owner.fabrik.live) == (True, False, True)


def test_a_refused_bake_leaves_all_on() -> None:
    owner, chain = two_chains()
    owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=1)
    fcurves_of(owner)[0].lock = True
    with pytest.raises(FabrikError, match="is locked"):
        bake_chain(owner, chain)
    assert (chain.enabled, chain.is_baked, owner.fabrik.live) == (True, False, True)


def test_the_operator_tells_and_one_undo_takes_it_back() -> None:
    owner, _ = keyed_line()
    owner.fabrik.live = True
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.fabrik.bake(frame_start=1, frame_end=4)
    bpy.ops.ed.undo_push(message="Bake")
    assert not bpy.data.objects["Rig"].fabrik.live
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"].fabrik
    assert (rig.live, rig.chains[0].enabled, rig.chains[0].is_baked) == (True, True, False)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A walker goes on where chains of it are renamed."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.walk_goals import plan_of
from fabrik_addon.session.walk.planning import plan_walk

from support.judging import worst_foot
from support.scenes import WALK, legs_of, update, walking

HELD = 1e-3  # of a leg


@pytest.fixture
def walker() -> bpy.types.Object:
    owner = walking("spider")
    rig_of(owner).live = True
    update()
    return owner


def rename(owner: bpy.types.Object) -> None:
    """A leg, two legs that change their names, and the body."""
    rig = rig_of(owner)
    legs = legs_of(owner)
    legs[0].name = "First"
    a, b = legs[1].name, legs[2].name
    legs[1].name = "Meanwhile"
    legs[2].name = a
    legs[1].name = b
    rig.chains[rig.walker.body].name = "Trunk"


def steps_of(owner: bpy.types.Object) -> object:
    parsed = plan_of(owner)
    assert parsed is not None
    return parsed.plan.steps


def check_walks(owner: bpy.types.Object) -> None:
    parsed = plan_of(owner)
    assert parsed is not None
    assert [leg.name for leg in parsed.plan.legs] == [leg.name for leg in rig_of(owner).walker.legs]
    for frame in (40, 7, 23):
        bpy.context.scene.frame_set(frame)
        assert worst_foot(owner, frame) <= HELD
    assert {chain.status for chain in legs_of(owner)} == {"REACHED"}


def test_it_walks_on_as_planned(walker: bpy.types.Object) -> None:
    steps = steps_of(walker)
    rename(walker)
    assert rig_of(walker).walker.legs[0].name == "First"
    assert rig_of(walker).walker.body == "Trunk"
    assert steps_of(walker) == steps
    check_walks(walker)
    plan_walk(bpy.context, walker, WALK)
    check_walks(walker)


def test_undone_it_has_its_names_again(walker: bpy.types.Object) -> None:
    names = [leg.name for leg in rig_of(walker).walker.legs]
    name = walker.name
    bpy.ops.ed.undo_push(message="before")
    rename(walker)
    bpy.ops.ed.undo_push(message="renamed")
    bpy.ops.ed.undo()
    walker = bpy.data.objects[name]
    assert [leg.name for leg in rig_of(walker).walker.legs] == names
    check_walks(walker)
    bpy.ops.ed.redo()
    check_walks(bpy.data.objects[name])


def test_a_name_that_is_taken_or_none_is_made_another_and_followed(walker: bpy.types.Object) -> None:
    legs = legs_of(walker)
    legs[0].name = legs[1].name
    legs[2].name = ""
    assert len({chain.name for chain in rig_of(walker).chains}) == len(rig_of(walker).chains)
    check_walks(walker)


def test_of_a_file_that_kept_no_names(walker: bpy.types.Object, tmp_path: Path) -> None:
    for chain in rig_of(walker).chains:
        chain.known_as = ""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    walker = bpy.data.objects["Spider"]
    rename(walker)
    check_walks(walker)


def test_a_chain_that_is_no_leg_is_renamed_alone(walker: bpy.types.Object) -> None:
    digest = rig_of(walker).walker.digest
    chain = rig_of(walker).chains.add()
    chain.name = "Other"
    chain.name = "Another"
    assert rig_of(walker).walker.digest == digest

# SPDX-License-Identifier: GPL-3.0-or-later
"""A solve kept step by step."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.errors import ChainError
from fabrik_addon.maths import distance
from fabrik_addon.overlay.settings import step_of
from fabrik_addon.overlay.timeline import caption, current_step, graph_shapes, step_shapes
from fabrik_addon.rig.schema import FabrikChain
from fabrik_addon.session.record import Recording, record, state

from support.judging import channels, evaluated_joints
from support.scenes import add_chain, add_limb, make_body, make_line, with_legs_pinned


def recorded(plain: bool = False) -> tuple[bpy.types.Object, FabrikChain, Recording]:
    owner = make_line(4)
    chain = add_chain(owner, (0.3, 1.4, 2.2))
    owner.location = (1, 2, 3)
    chain.use_plain = plain
    chain.target.location += owner.location
    bpy.context.view_layer.update()
    return owner, chain, record(owner, chain, bpy.context.evaluated_depsgraph_get())


def test_the_last_step_is_what_solving_gives_and_nothing_is_moved() -> None:
    owner, chain, recording = recorded()
    assert all(bone.rotation_quaternion.angle == 0.0 for bone in owner.pose.bones)
    bpy.ops.fabrik.solve()
    bpy.context.view_layer.update()
    for seen, wanted in zip(recording.passes[-1].joints, evaluated_joints(owner, chain), strict=True):
        assert distance(seen, wanted) < 1e-4
    assert recording.passes[-1].error < 1e-3
    assert recording.status == "REACHED"


def test_plain_fabrik_goes_back_and_forth_joint_by_joint() -> None:
    _, _, recording = recorded(plain=True)
    names = [step.name for step in recording.passes]
    assert names.count("backward") == names.count("forward") > 1
    first = names.index("backward")
    moves = [step for step in recording.moves if step.name == "backward"][:5]
    assert [step.moved for step in moves] == [4, 3, 2, 1, 0]
    assert moves[-1].joints == recording.passes[first].joints
    before = recording.passes[first - 1].joints
    assert moves[1].joints[:3] == before[:3]


def test_buttons_go_through_the_steps_and_exit_leaves_the_rig() -> None:
    owner, _, _ = recorded(plain=True)
    before, manager = channels(owner), bpy.context.window_manager
    bpy.ops.fabrik.record()
    count = len(state.current.passes)
    for to, wanted in (("FORWARD", 1), ("FORWARD", 2), ("BACK", 1), ("LAST", count - 1), ("FORWARD", count - 1)):
        bpy.ops.fabrik.step(to=to)
        assert step_of(manager)[0] == wanted
    bpy.ops.fabrik.step(to="FIRST")
    manager.fabrik_by_joint = True
    found = current_step(manager)
    assert found[2:] == (0, len(found[0].moves))
    assert "step 1 of" in caption(bpy.context.scene, found)
    bpy.ops.fabrik.record_clear()
    manager.fabrik_by_joint = False
    assert state.current is None
    assert channels(owner) == before
    assert not bpy.ops.fabrik.step.poll()


def test_a_step_beyond_the_end_is_the_last() -> None:
    recorded()
    bpy.ops.fabrik.record()
    bpy.context.window_manager.fabrik_step = 9999
    recording, step, _, _ = current_step(bpy.context.window_manager)
    assert step is recording.passes[-1]
    bpy.ops.fabrik.record_clear()


def test_what_is_drawn_of_a_step() -> None:
    _, _, recording = recorded()
    shapes = step_shapes(recording, recording.passes[1])
    assert len(shapes.points["step"]) == 5
    assert shapes.lines["residual"][1] == recording.target
    errors = [step.error for step in recording.passes]
    graph = graph_shapes(errors, 4.0, 0, 1.0)
    heights = [point[1] for point in graph.lines["step"]]
    assert heights[0] > heights[-1]


def test_a_chain_that_cannot_be_solved_is_refused() -> None:
    owner, chain, _ = recorded()
    chain.target = None
    with pytest.raises(RuntimeError, match="no target"):
        bpy.ops.fabrik.record()
    assert state.current is None
    assert owner.fabrik.chains[0].status == "NONE"


def test_chains_that_are_solved_together_or_only_turn_have_no_steps() -> None:
    owner = with_legs_pinned(make_body())
    hips = add_limb(owner, "hips", 1, target=(0, 0, 0.9))
    other = make_body()
    look = add_limb(other, "head", 2, target=(1, -1, 1.5))
    look.kind = "AIM"
    depsgraph = bpy.context.evaluated_depsgraph_get()
    with pytest.raises(ChainError, match=r"solved together with 'foot\.L' and 'foot\.R'"):
        record(owner, hips, depsgraph)
    with pytest.raises(ChainError, match="only turns"):
        record(other, look, depsgraph)


def test_the_steps_of_a_limb_whose_head_is_brought_somewhere_end_there() -> None:
    owner = make_body()
    hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.2))
    recording = record(owner, hand, bpy.context.evaluated_depsgraph_get())
    assert {len(step.joints) for step in recording.passes} == {3}
    assert distance(recording.passes[-1].joints[-1], hand.target.location) < 1e-3
    assert recording.passes[-1].error < 1e-3

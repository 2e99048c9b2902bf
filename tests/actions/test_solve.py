# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving one chain and all chains of an armature; and a solve kept step by step."""

from __future__ import annotations

from math import radians

import bpy
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.actions.solve import Recording, record, solve_items
from fabrik_addon.errors import ChainError
from fabrik_addon.maths import distance, turn_angle
from fabrik_addon.overlay.settings import state, step_of
from fabrik_addon.overlay.steps import caption, current_step, graph_shapes, step_shapes
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Quaternion

from support.judging import channels, evaluated_joints, tip_error
from support.scenes import (
    add_chain,
    add_limb,
    assert_refused,
    key_automatically,
    make_armature,
    make_body,
    make_empty,
    make_line,
    make_rig,
    press,
    reaching_line,
    solved_status,
    strand,
    with_legs_pinned,
)


def test_chains_that_hang_on_others_are_solved_after_them() -> None:
    owner = make_rig("fork")[0]
    arm = add_chain(owner, (1.0, 0.9, 2.0), tip="b3", count=2)
    other = add_chain(owner, (-1.0, 0.9, 2.2), tip="b5", count=2)
    spine = add_chain(owner, (0.4, 0.3, 1.8), tip="b1", count=2)
    press("solve_all")
    for chain in (arm, other, spine):
        assert rig_of(owner).chains[chain.name].status == "REACHED"
        assert tip_error(owner, rig_of(owner).chains[chain.name]) < 1e-4


def test_target_on_a_bone_that_another_chain_moves() -> None:
    owner = make_rig("fork")[0]
    follower = add_chain(owner, tip="b5", count=2)
    follower.target, follower.target_bone = owner, "b3"
    leader = add_chain(owner, (0.8, 0.9, 2.4), tip="b3", count=2)
    assert solved_status(rig_of(owner).chains[leader.name], "solve_all") == "REACHED"
    wanted = owner.pose.bones["b3"].head
    chain = rig_of(owner).chains[follower.name]
    assert (owner.pose.bones["b5"].tail - wanted).length == pytest.approx(chain.residual, abs=1e-5)


def test_chains_in_a_circle_are_refused() -> None:
    owner = make_rig("fork")[0]
    a, b = add_chain(owner, tip="b3", count=2), add_chain(owner, tip="b5", count=2)
    a = rig_of(owner).chains[a.name]
    a.target, a.target_bone, b.target, b.target_bone = owner, "b5", owner, "b3"
    before = channels(owner)
    assert_refused("'b3' of 'Rig' and 'b5' of 'Rig' wait for each other", "solve_all")
    assert channels(owner) == before


def test_chains_that_share_bones_are_solved_together() -> None:
    owner = make_rig("fork")[0]
    add_chain(owner, (1.0, 0.5, 2.0), tip="b3")
    add_chain(owner, (-1.0, 0.5, 2.0), tip="b5")
    press("solve_all")
    assert [chain.status for chain in rig_of(owner).chains] == ["REACHED", "REACHED"]
    assert max(tip_error(owner, chain) for chain in rig_of(owner).chains) <= 1e-4


def test_disabled_chains_are_left_out() -> None:
    _, chain = reaching_line((0.5, 0.5, 2.0))
    chain.enabled = False
    assert not bpy.ops.fabrik.solve_all.poll()
    assert solved_status(chain) == "REACHED"


def test_results_are_kept_with_the_chain() -> None:
    owner = make_line(2, bend=0.0)
    owner.pose.bones["b1"].fabrik.limit = "HINGE"
    owner.pose.bones["b1"].fabrik.angle_min, owner.pose.bones["b1"].fabrik.angle_max = 0.0, radians(30)
    owner.scale = (2, 2, 2)
    chain = add_chain(owner, (0, 0, 1.0))
    assert solved_status(chain) == "BLOCKED"
    assert "b1" in chain.blocking_bones
    assert chain.residual == pytest.approx(4 * 0.9659258 - 1.0, rel=1e-3)  # 2 bones of 2, 30 degrees: 4 cos 15
    chain.target.location = (0, 0, 9)
    press("solve")
    assert (chain.status, len(chain.blocking_bones)) == ("TOO_FAR", 0)
    assert chain.residual == pytest.approx(5.0, rel=1e-4)


def test_influence_blends_from_start_to_solution() -> None:
    owner, chain = reaching_line((1.0, 0.8, 1.5), bend=0.2)
    turns = []
    for influence in (0.0, 0.25, 0.5, 0.75, 1.0):
        chain.influence = influence
        press("solve")
        turns.append([turn_angle(Quaternion(values[:4])) for values in channels(owner)])
        assert chain.status == "REACHED"
    assert max(turns[0]) < 1e-6
    for i in range(5):
        for now, whole in zip(turns[i], turns[4], strict=True):
            assert now == pytest.approx(whole * i / 4, abs=1e-4)


class TestAutomaticKeying:
    def keys(self, owner: bpy.types.Object) -> set[str]:
        from fabrik_addon.rig.animation.compat import fcurves_of

        return {curve.data_path for curve in fcurves_of(owner)}

    def test_keys_the_rotation_of_the_chain_alone(self) -> None:
        owner = make_line(4)
        owner.pose.bones["b2"].rotation_mode = "XYZ"
        add_chain(owner, (0.5, 0.5, 2.9), count=2)
        key_automatically()
        press("solve")
        paths = {'pose.bones["b2"].rotation_euler', 'pose.bones["b3"].rotation_quaternion'}
        assert self.keys(owner) == paths

    def test_keys_only_what_is_keyed_where_the_user_wants_that(self) -> None:
        owner = make_line(4)
        owner.pose.bones["b2"].keyframe_insert("rotation_quaternion", frame=1)
        add_chain(owner, (0.5, 0.5, 2.9))
        bpy.context.scene.frame_set(5)
        key_automatically(only_available=True)
        press("solve")
        assert self.keys(owner) == {'pose.bones["b2"].rotation_quaternion'}

    def test_no_keys_without_it(self) -> None:
        owner = reaching_line((0.5, 0.5, 2.0))[0]
        press("solve")
        assert self.keys(owner) == set()

    def test_keyed_bones_are_warned_of(self, capfd: pytest.CaptureFixture[str], line: bpy.types.Object) -> None:
        line.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=1)
        add_chain(line, (0.5, 0.5, 2.0))
        press("solve")
        assert "its bone 'b1' is keyed" in capfd.readouterr().out


def test_several_rigs_keep_their_own_chains() -> None:
    first, second = make_line(3), make_line(3)
    second.location = (5, 0, 0)
    one, two = add_chain(first, (0.5, 0.5, 2.0)), add_chain(second, (5.5, 0.5, 2.0))
    assert len(first.fabrik.chains) == len(second.fabrik.chains) == 1
    press("solve_all")
    assert (one.status, two.status) == ("NONE", "REACHED")


def test_target_that_hangs_on_another_chain_at_a_remove() -> None:
    owner = make_rig("fork")[0]
    follower = add_chain(owner, tip="b5", count=2)
    leader = add_chain(owner, (0.8, 0.9, 2.4), tip="b3", count=2)
    middle, target = make_empty((0, 0, 0), "Middle"), make_empty((-1.0, 0.8, 0.2), "End")
    middle.parent, middle.parent_type, middle.parent_bone = owner, "BONE", "b3"
    target.parent = middle
    follower = rig_of(owner).chains[follower.name]
    follower.target = target
    assert solved_status(rig_of(owner).chains[leader.name], "solve_all") == "REACHED"
    error = tip_error(owner, follower)
    assert follower.status in {"REACHED", "TOO_FAR"}
    assert abs(error * 2.01 - follower.residual) < 0.05


def test_chain_whose_root_copies_another_chains_bone_comes_after_it() -> None:
    owner = make_armature(
        [
            *strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2), connect=False),
            *strand((2, 0, 0), (2, 0, 0.5), (2, 0.1, 1.5), (2, 0, 2.5), connect=False),
        ]
    )
    constraint = owner.pose.bones["b2"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = owner, "b0"
    follower = add_chain(owner, (2.5, 0.5, 1.5), tip="b4", count=2)
    add_chain(owner, (0.8, 0.6, 1.0), tip="b1", count=2)
    press("solve_all")
    follower = rig_of(owner).chains[follower.name]
    assert follower.status == "REACHED"
    assert tip_error(owner, follower) < 1e-4


def test_chains_that_scripts_left_without_names_get_them(line: bpy.types.Object) -> None:
    target = make_empty((0.5, 0.5, 1.0))
    for _ in range(2):
        chain = rig_of(line).chains.add()
        chain.tip_bone, chain.bone_count, chain.target = "b2", 0, target
    press("solve_all")
    assert [(chain.name, chain.status) for chain in rig_of(line).chains] == [("b2", "REACHED"), ("b2.001", "REACHED")]


def test_a_missed_pole_and_partial_influence_are_told(line: bpy.types.Object) -> None:
    for bone in line.pose.bones:
        bone.fabrik.limit = "HINGE"
    chain = add_chain(line, (0, 0.5, 2.0))
    chain.pole, chain.influence = make_empty((5, 0, 1), "Pole"), 0.5
    press("solve")
    assert "the pole is missed by" in chain.message
    assert "posed at 50% influence" in chain.message


def test_tight_tolerance_is_kept_where_scales_are_uneven() -> None:
    owner = make_line(4, bend=0.2)
    owner.pose.bones["b1"].scale = (1.3, 1.0, 0.8)
    chain = add_chain(owner, (0.8, 0.9, 2.2))
    chain.tolerance = 1e-6
    press("solve")
    assert chain.status != "REACHED" or tip_error(owner, chain) < 4e-6


def recorded(plain: bool = False) -> tuple[bpy.types.Object, FabrikChain, Recording]:
    owner, chain = reaching_line((0.3, 1.4, 2.2), 4)
    owner.location = (1, 2, 3)
    chain.use_plain = plain
    chain.target.location += owner.location
    bpy.context.view_layer.update()
    return owner, chain, record(owner, chain, bpy.context.evaluated_depsgraph_get())


def test_the_last_step_is_what_solving_gives_and_nothing_is_moved() -> None:
    owner, chain, recording = recorded()
    assert all(bone.rotation_quaternion.angle == 0.0 for bone in owner.pose.bones)
    press("solve")
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
    press("record")
    count = len(state.recording.passes)
    for to, wanted in (("FORWARD", 1), ("FORWARD", 2), ("BACK", 1), ("LAST", count - 1), ("FORWARD", count - 1)):
        press("step", to=to)
        assert step_of(manager)[0] == wanted
    press("step", to="FIRST")
    manager.fabrik_by_joint = True
    found = current_step(manager)
    assert found[2:] == (0, len(found[0].moves))
    assert "step 1 of" in caption(bpy.context.scene, found)
    press("record_clear")
    manager.fabrik_by_joint = False
    assert state.recording is None
    assert channels(owner) == before
    assert not bpy.ops.fabrik.step.poll()


def test_a_step_beyond_the_end_is_the_last() -> None:
    recorded()
    press("record")
    bpy.context.window_manager.fabrik_step = 9999
    recording, step, _, _ = current_step(bpy.context.window_manager)
    assert step is recording.passes[-1]
    press("record_clear")


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
    assert_refused("no target", "record")
    assert state.recording is None
    assert rig_of(owner).chains[0].status == "NONE"


def test_chains_that_are_solved_together_or_only_turn_have_no_steps(standing: bpy.types.Object) -> None:
    hips = add_limb(standing, "hips", 1, target=(0, 0, 0.9))
    other = make_body()
    look = add_limb(other, "head", 2, target=(1, -1, 1.5))
    look.kind = "AIM"
    depsgraph = bpy.context.evaluated_depsgraph_get()
    with pytest.raises(ChainError, match=r"solved together with 'foot\.L' and 'foot\.R'"):
        record(standing, hips, depsgraph)
    with pytest.raises(ChainError, match="only turns"):
        record(other, look, depsgraph)


def test_the_steps_of_a_limb_whose_head_is_brought_somewhere_end_there(body: bpy.types.Object) -> None:
    hand = add_limb(body, "hand.L", 3, target=(0.5, -0.3, 1.2))
    recording = record(body, hand, bpy.context.evaluated_depsgraph_get())
    assert {len(step.joints) for step in recording.passes} == {3}
    assert distance(recording.passes[-1].joints[-1], hand.target.location) < 1e-3
    assert recording.passes[-1].error < 1e-3


def test_all_but_what_closes_a_circle_is_solved() -> None:
    bodies = [with_legs_pinned(make_body()) for _ in range(2)]
    bodies[1].location.x = 1.0
    for owner, other in (bodies, bodies[::-1]):
        hand = add_limb(owner, "hand.L", 3)
        hand.target, hand.target_bone = other, "hand.L"
    bpy.context.view_layer.update()
    items = [(owner, chain) for owner in bodies for chain in rig_of(owner).chains]
    found = {(one.rig, one.chain): (one.status, str(one.reason)) for one in solve_items(bpy.context, items)}
    waiting = ("REFUSED", "the chains 'hand.L' of 'Body' and 'hand.L' of 'Body.001' wait for each other")
    for owner in bodies:
        assert found[owner.name, "hand.L"] == waiting
        assert {found[owner.name, f"foot{side}"] for side in (".L", ".R")} == {("REACHED", "")}
    with pytest.raises(ChainError, match="wait for each other"):
        bake(bpy.context, items, BakeSettings((1, 2)))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving one chain and all of an armature, step by step, and with lengths that change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from math import exp, radians
from random import Random

import bpy
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.actions.chains import Defaults
from fabrik_addon.actions.chains import add_chain as add_made_chain
from fabrik_addon.actions.solve import Recording, record, solve_items
from fabrik_addon.actions.status import report_of
from fabrik_addon.errors import ChainError
from fabrik_addon.maths import distance, turn_angle
from fabrik_addon.overlay.settings import state, step_of
from fabrik_addon.overlay.view import caption, current_step, graph_shapes, step_shapes
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.reader import FigureCache
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Quaternion, Vector

from support.hanging import activate
from support.judging import assert_feet_hold, channels, effector, evaluated_joints, off_target, statuses, tip_error
from support.scenes import (
    SCALES,
    Bone,
    add_chain,
    add_limb,
    armature,
    assert_refused,
    chain_bones,
    edited,
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
    update,
    with_legs_pinned,
)
from support.skeletons import make_character


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
        chain = add_chain(line, (0.5, 0.5, 2.0))
        chain.start = "REST"
        press("solve")
        assert "its bone 'b1' is keyed" in capfd.readouterr().out
        line.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=1)  # as it stands: nothing is lost
        press("solve")
        chain.target.location.x = 0.4
        line.fabrik.live = True  # which poses it again in the next frame
        press("solve")
        assert "is keyed" not in capfd.readouterr().out


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
    middle, target = make_empty(name="Middle"), make_empty((-1.0, 0.8, 0.2), "End")
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


def test_the_last_step_is_what_solving_gives_and_steps_are_drawn() -> None:
    owner, chain, recording = recorded()
    assert all(bone.rotation_quaternion.angle == 0.0 for bone in owner.pose.bones)
    press("solve")
    for seen, wanted in zip(recording.passes[-1].joints, evaluated_joints(owner, chain), strict=True):
        assert distance(seen, wanted) < 1e-4
    assert recording.passes[-1].error < 1e-3
    shapes = step_shapes(recording, recording.passes[1])
    assert len(shapes.points["step"]) == 5
    assert shapes.lines["residual"][1] == recording.target
    errors = [step.error for step in recording.passes]
    graph = graph_shapes(errors, 4.0, 0, 1.0)
    heights = [point[1] for point in graph.lines["step"]]
    assert heights[0] > heights[-1]


def test_plain_fabrik_goes_back_and_forth_joint_by_joint() -> None:
    _, _, recording = recorded(plain=True)
    names = [step.name for step in recording.passes]
    assert names.count("backward") == names.count("forward") > 1
    first = names.index("backward")
    moves = [step for step in recording.moves if step.name == "backward"][:5]
    assert [step.moved for step in moves] == [4, 3, 2, 1, 0]
    assert moves[-1].joints == recording.passes[first].joints
    assert moves[1].joints[:3] == recording.passes[first - 1].joints[:3]


def test_buttons_go_through_the_steps_and_exit_leaves_the_rig() -> None:
    owner, _, _ = recorded(plain=True)
    before, manager = channels(owner), bpy.context.window_manager
    press("record")
    count = len(state.recording.passes)
    for to, wanted in (("FORWARD", 1), ("FORWARD", 2), ("BACK", 1), ("LAST", count - 1), ("FORWARD", count - 1)):
        press("step", to=to)
        assert step_of(manager)[0] == wanted
    manager.fabrik_step = 9999
    assert current_step(manager)[1] is state.recording.passes[-1]
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


def test_all_but_what_closes_a_circle_is_solved_live_as_well() -> None:
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
    for owner in bodies:
        rig_of(owner).live = True
    update()
    for owner in bodies:
        foot = rig_of(owner).chains["foot.L"]
        foot.held_location = Vector(foot.held_location) + Vector((0.0, -0.1, 0.1))
        update()
        assert statuses(owner) == {"foot.L": "REACHED", "foot.R": "REACHED", "hand.L": "REFUSED"}
        assert all(chain.enabled for chain in rig_of(owner).chains)
        assert_feet_hold(owner)


def leg(mode: str = "NONE") -> tuple[bpy.types.Object, FabrikChain]:
    """Two bones of length 1, hardly bent, not connected, that inherit scale in one way; the target beside them."""
    owner = make_armature([Bone((0, 0, 2), (0, -0.02, 1)), Bone((0, -0.02, 1), (0, 0, 0), 0.3)])
    for bone in armature(owner).bones:
        bone.inherit_scale = mode
    return owner, add_chain(owner, (0, 0, 0.4))


class TestSoft:
    def test_the_status_counts_against_the_softened_goal(self) -> None:
        owner, chain = leg()
        chain.soft = 0.02
        assert solved_status(chain, "solve_all") == "REACHED"
        assert chain.softened == 0.0
        chain.target.location = (0, 0, -0.02)
        press("solve_all")
        length = sum((bone.tail - bone.head).length for bone in pose_bones(owner))
        width, distance = 0.02 * length, 2.02
        wanted = length - width * exp(-(distance - length + width) / width)
        assert chain.status == "REACHED"
        assert (effector(owner, chain) - pose_bones(owner)["b0"].head).length == pytest.approx(wanted, abs=1e-4)
        assert chain.softened == pytest.approx(distance - wanted, abs=1e-4)
        assert chain.residual < 1e-3

    def test_new_chains_are_soft_where_the_preferences_say_so(self) -> None:
        owner = make_armature(strand((0, 0, 2), (0, -0.2, 1), (0, 0, 0), connect=False))
        made = add_made_chain(owner, list(pose_bones(owner)), 2, Defaults(soft=0.02))
        assert made.soft == pytest.approx(0.02)


class TestStretch:
    @pytest.mark.parametrize("mode", SCALES)
    def test_it_reaches_what_is_out_of_reach(self, mode: str) -> None:
        owner, chain = leg(mode)
        chain.stretch = 1.5
        for place in ((0, 0, -0.6), (1.5, 1.0, 0.2), (0.2, 0.1, 0.8)):
            chain.target.location = place
            assert solved_status(chain, "solve_all") == "REACHED"
            assert (effector(owner, chain) - chain.target.location).length <= 1e-3
        assert all(tuple(bone.scale) == pytest.approx((1, 1, 1)) for bone in pose_bones(owner))  # and comes back

    @pytest.mark.parametrize("effector_end", ["TAIL", "HEAD"])
    def test_it_stretches_as_far_as_it_may(self, effector_end: str) -> None:
        owner, chain = leg()
        chain.stretch, chain.effector = 1.25, effector_end
        chain.target.location = (0, 0, -3)
        press("solve_all")
        head = pose_bones(owner)["b0"].head
        length = 1.0002 if effector_end == "HEAD" else 2.0004
        assert (effector(owner, chain) - head).length == pytest.approx(1.25 * length, abs=1e-3)
        assert chain.status != "REACHED"

    def test_a_limb_of_a_body_stretches_last(self, standing: bpy.types.Object) -> None:
        for bone in armature(standing).bones:
            bone.inherit_scale = "NONE"
        hand = add_limb(standing, "hand.L", 3, target=(0.4, -0.5, 1.0))
        hand.stretch = 1.5
        press("solve_all")
        assert all(tuple(bone.scale) == pytest.approx((1, 1, 1), abs=1e-5) for bone in pose_bones(standing))
        hand.target.location = (1.2, -1.3, 1.2)
        press("solve_all")
        assert pose_bones(standing)["upper_arm.L"].scale.y > 1.05
        assert (effector(standing, hand) - hand.target.location).length <= 2e-3
        assert {rig_of(standing).chains[f"foot{side}"].status for side in (".L", ".R")} == {"REACHED"}


def test_two_chains_that_stretch_one_bone_are_refused() -> None:
    owner, chain = leg()
    chain.stretch = 1.5
    other = add_chain(owner, (0, 0, 0.5), tip="b0")
    other.stretch = 1.2
    other.target = make_empty((0, 0, 0.9))
    assert_refused("two chains that stretch have it", "solve_all")


@pytest.mark.parametrize("part", ["Arm.L", "Leg.R"])
def test_limbs_with_joint_limits_reach_what_they_stretch_to(part: str) -> None:
    owner, random = make_character("human_mixamo"), Random(3)
    press("character_setup", use_pins=False)
    rig_of(owner).body_bone = ""
    for chain in rig_of(owner).chains:
        chain.enabled = chain.name == part
    activate(owner, part)
    chain = rig_of(owner).chains[part]
    chain.stretch = 1.35
    joints = evaluated_joints(owner, chain)[:-1]
    way, reach = joints[-1] - joints[0], sum((b - a).length for a, b in pairwise(joints))
    chain.target, chain.target_bone = make_empty((0, 0, 0)), ""
    found = Counter[str]()
    for _ in range(60):
        beside = Vector([random.gauss(0, 1) for _ in range(3)]).normalized()
        away = (way.normalized() + 0.5 * beside).normalized()
        chain.target.location = joints[0] + away * reach * random.uniform(0.9, 1.33)
        press("solve")
        found[chain.status] += 1
        assert off_target(owner, part) <= 1.1 * chain.tolerance * reach
    assert found == {"REACHED": 60}


def test_a_status_of_soft_reach_is_true() -> None:
    owner, chain = leg()
    chain.soft = 0.02
    rig_of(owner).live = True
    for z in (0.4, -0.02, -0.01, -1.0, 0.2):
        chain.target.location.z = z
        update()
        assert (chain.softened > 0.0) == (z < 0.0)
        assert report_of(chain, bpy.context).kind == chain.status


SCALE = (1.0, 1.6, 0.6)


def scaled_limb() -> tuple[bpy.types.Object, FabrikChain]:
    """Two free bones under one that is scaled differently along its axes."""
    owner = make_armature(strand((0, 0, -1), (0, 0, 0), (0, 0.1, 1), (0, 0, 2)))
    owner.pose.bones["b0"].scale = SCALE
    return owner, add_chain(owner, (0, 0, 1), tip="b2", count=2)


def solve() -> None:
    """Press Solve; a refusal is read from the status."""
    with suppress(RuntimeError):
        bpy.ops.fabrik.solve()


def somewhere(random: Random, owner: bpy.types.Object, chain: FabrikChain, angle: float) -> Vector:
    """Where the tip is in a pose drawn at random; the chain is put back to rest."""
    bones = chain_bones(owner, chain)
    for bone in bones:
        axis = Vector([random.gauss(0, 1) for _ in range(3)]).normalized()
        bone.rotation_quaternion = Quaternion(axis, random.uniform(-angle, angle))
    tip = evaluated_joints(owner, chain)[-1]
    for bone in bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    return tip


def test_two_free_bones_reach_all_that_can_be_reached() -> None:
    owner, chain = scaled_limb()
    random, found = Random(1), Counter[str]()
    for _ in range(200):
        chain.target.location = somewhere(random, owner, chain, 3.0)
        solve()
        found[chain.status] += 1
        assert tip_error(owner, chain) <= 1.1 * chain.tolerance
    assert found == {"REACHED": 200}


@pytest.mark.parametrize(("place", "status"), [((0.5, 0, 9), "TOO_FAR"), ((0.2, 2.4, 0.3), "TOO_FAR")])
def test_what_is_out_of_reach_names_the_scaled_bone(place: tuple[float, float, float], status: str) -> None:
    owner, chain = scaled_limb()
    chain.target = make_empty(place)
    solve()
    assert chain.status == status
    assert "the scale of bone 'b0' differs between its axes" in chain.message
    joints = evaluated_joints(owner, chain)
    assert (joints[-1] - chain.target.location).length == pytest.approx(chain.residual, abs=1e-4)
    for bone in chain_bones(owner, chain):  # no small turn brings it nearer
        kept = bone.rotation_quaternion.copy()
        for axis in ((1, 0, 0), (0, 0, 1)):
            for sign in (-1, 1):
                bone.rotation_quaternion = kept @ Quaternion(axis, sign * radians(4))
                assert (evaluated_joints(owner, chain)[-1] - chain.target.location).length > chain.residual - 1e-3
        bone.rotation_quaternion = kept


def test_limits_hold_back_and_are_named() -> None:
    owner, chain = scaled_limb()
    limit = owner.pose.bones["b2"].fabrik
    limit.limit, limit.angle_min, limit.angle_max = "HINGE", 0.0, radians(20)
    chain.target = make_empty((0.2, 0.3, 0.4))
    solve()
    assert chain.status == "BLOCKED"
    assert [bone.name for bone in chain.blocking_bones] == ["b2"]
    assert "the scale of bone 'b0'" in chain.message


def test_the_pole_is_met() -> None:
    owner, chain = scaled_limb()
    chain.target = make_empty((0.5, 0.2, 1.8))
    for place in ((3, 0, 0), (0, 3, 0), (-2, -2, 1)):
        chain.pole = make_empty(place, "Pole")
        solve()
        assert chain.status == "REACHED"
        root, knee, tip = evaluated_joints(owner, chain)
        along = (tip - root).normalized()
        bend, wanted = ((point - root) - along * (point - root).dot(along) for point in (knee, chain.pole.location))
        assert bend.angle(wanted) < radians(2) or "the pole is missed" in chain.message


# Figures are kept from press to press: what is changed in between, and how, no kept one hides.


def changes(owner: bpy.types.Object) -> Iterator[None]:
    """Changes of whatever a solve depends on, one after the other."""
    chains = rig_of(owner).chains
    hips, knee = owner.pose.bones["hips"], owner.pose.bones["shin.L"]
    yield
    for chain in chains:
        if chain.target is not None:
            chain.target.location.x += 0.1
    yield
    limit = limit_of(knee)
    limit.limit, limit.angle_min, limit.angle_max = "HINGE", -2.0, 0.1
    yield
    limit.angle_max = 0.4
    yield
    owner.location.z += 0.05
    yield
    chains[0].weight = 0.5
    yield
    rig_of(owner).body_stiffness = 0.7
    yield
    hips.location.y += 0.05
    yield
    press("start_pose_capture", use_all=True)
    yield
    with edited(owner) as bones:
        bones["shin.L"].tail.z -= 0.02
    yield
    bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
    yield
    knee.lock_rotation = (False, True, False)
    yield


@pytest.mark.parametrize("target", [(0.5, 0.9, 2.4), (0.4, 1.6, 1.6), (-0.5, 0.4, 1.9), (0.1, 0.1, 2.7)])
def test_a_soft_goal_is_told_as_it_stands_where_lengths_depend_on_the_pose(target: tuple[float, float, float]) -> None:
    owner = make_line(3)
    chain = add_chain(owner, target)
    owner.pose.bones["b0"].scale, chain.soft = (1.4, 1.0, 0.8), 0.1
    press("solve")
    update()
    off = abs(distance(effector(owner, chain), target) - chain.softened)
    assert chain.residual == pytest.approx(off, abs=1e-4)
    assert chain.status != "REACHED" or off < 1e-3


def test_no_kept_figure_hides_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    def poses() -> list[list[tuple[float, ...]]]:
        owner, found = with_legs_pinned(make_body()), []
        add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
        for _ in changes(owner):
            press("solve_all")
            found.append(channels(owner))
        return found

    kept = poses()
    monkeypatch.setattr(FigureCache, "get", lambda *_: None)
    assert poses() == kept

# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators: what they make of one rig and of several, that each undoes in one step, and when they are disabled."""

from __future__ import annotations

from math import radians
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.spaces import space_name
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.goals import goal_of
from fabrik_addon.rig.schema import limit_of
from mathutils import Quaternion, Vector

from support.judging import assert_alike, channels, evaluated_joints, tip_error
from support.scenes import Bone, add_chain, assert_refused, make_armature, make_empty, make_line, press, select, strand
from support.skeletons import make_character, set_up
from support.undoing import assert_one_step


@pytest.fixture
def owner() -> bpy.types.Object:
    """A root with two connected limbs of three bones that are not connected to it."""
    bones = [Bone((0, 0, 0), (0, 0, 1))]
    for side in (1, -1):
        bones += strand((side, 0, 1), (side * 2, 0.2, 1), (side * 3, 0, 1), (side * 3.4, 0, 1), parent=0)
    return make_armature(bones)


class TestChainAdd:
    def test_tip_of_a_limb_goes_up_to_where_it_is_connected(self, owner: bpy.types.Object) -> None:
        select(owner, "b3")
        bpy.ops.fabrik.chain_add()
        (chain,) = owner.fabrik.chains
        assert (chain.name, chain.tip_bone, chain.bone_count) == ("b3", "b3", 3)

    def test_run_of_bones_is_just_these(self, owner: bpy.types.Object) -> None:
        select(owner, "b1", "b2")
        bpy.ops.fabrik.chain_add()
        assert [(c.tip_bone, c.bone_count) for c in owner.fabrik.chains] == [("b2", 2)]

    def test_several_limbs_at_once_with_targets_and_poles(self, owner: bpy.types.Object) -> None:
        select(owner, "b3", "b5", "b6")
        bpy.ops.fabrik.chain_add(use_target=True, use_pole=True)
        assert [(c.tip_bone, c.bone_count) for c in owner.fabrik.chains] == [("b3", 3), ("b6", 2)]
        assert all(c.target and c.pole for c in owner.fabrik.chains)
        assert owner.fabrik.active_index == 1

    def test_by_name_to_the_root_and_by_number(self) -> None:
        owner = make_line(4)
        bpy.ops.fabrik.chain_add(tip_bone="b3")
        bpy.ops.fabrik.chain_add(tip_bone="b3", bone_count=2)
        assert [(c.name, c.bone_count) for c in owner.fabrik.chains] == [("b3", 0), ("b3.001", 2)]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "no bone is selected"),
            ({"tip_bone": "gone"}, "the armature has no bone 'gone'"),
            ({"tip_bone": "b2", "bone_count": 7}, "bone 'b2': 7 bones are wanted, but it has 2 parents"),
        ],
    )
    def test_what_can_not_be_made(self, arguments: dict[str, Any], message: str, line: bpy.types.Object) -> None:
        select(line)
        assert_refused(message, "chain_add", **arguments)
        assert len(line.fabrik.chains) == 0


class TestTargetAndPole:
    def test_target_stands_at_the_tip_and_solving_moves_nothing_but_bends(self) -> None:
        owner = make_line(3, bend=0.2)
        owner.location = (1, 2, 3)
        owner.pose.bones["b1"].rotation_quaternion = Quaternion((1, 0, 0), 0.5)
        bpy.context.view_layer.update()
        chain = add_chain(owner)
        tip = evaluated_joints(owner, chain)[-1]
        bpy.ops.fabrik.target_add()
        assert (chain.target.location - tip).length < 1e-5
        bpy.ops.fabrik.solve()
        assert tip_error(owner, chain) < 1e-4

    @pytest.mark.parametrize("limit", ["FREE", "HINGE"])
    def test_pole_stands_in_the_plane_of_the_bend(self, limit: str) -> None:
        owner = make_line(2, bend=0.2)
        owner.pose.bones["b1"].fabrik.limit = limit
        chain = add_chain(owner)
        bpy.ops.fabrik.target_add()
        bpy.ops.fabrik.solve()
        without = channels(owner)
        chain.pole_angle = 0.4
        bpy.ops.fabrik.pole_add()
        bpy.ops.fabrik.solve()
        assert_alike(without, channels(owner), 1e-3)

    @pytest.mark.parametrize(("low", "high", "side"), [(0, 150, -1), (-150, 0, 1)])
    def test_pole_of_a_straight_limb_stands_where_its_hinge_bends_to(self, low: float, high: float, side: int) -> None:
        owner = make_line(2, bend=0.0)
        knee = owner.pose.bones["b1"].fabrik
        knee.limit, knee.angle_min, knee.angle_max = "HINGE", radians(low), radians(high)
        chain = add_chain(owner)
        bpy.ops.fabrik.pole_add()
        axis = owner.pose.bones["b1"].bone.matrix_local.col[2].to_3d()
        assert (chain.pole.location - Vector((0, 0, 1))).dot(axis) * side > 0.5

    def test_all_chains(self, owner: bpy.types.Object) -> None:
        add_chain(owner, (1, 1, 1), tip="b3", count=3)
        add_chain(owner, tip="b6", count=3)
        bpy.ops.fabrik.target_add(use_all=True)
        bpy.ops.fabrik.pole_add(use_all=True)
        assert [c.target.name for c in owner.fabrik.chains] == ["Target", "b6.target"]
        assert_refused("every chain has a target already", "target_add", use_all=True)

    def test_names_keep_their_side(self) -> None:
        owner = make_line(2)
        owner.data.bones["b1"].name = "hand.L"
        add_chain(owner, tip="hand.L")
        bpy.ops.fabrik.target_add()
        bpy.ops.fabrik.pole_add()
        chain = owner.fabrik.chains[0]
        assert (chain.target.name, chain.pole.name) == ("hand.target.L", "hand.pole.L")
        assert bpy.utils.flip_name(chain.target.name) == "hand.target.R"

    def test_what_is_there_already_is_not_replaced(self) -> None:
        owner = make_line(2)
        chain = add_chain(owner, (0, 1, 1))
        chain.pole = make_empty((0, 3, 0), "Pole")
        for role in ("target", "pole"):
            assert_refused(f"it has the {role} '{role.title()}' already", f"{role}_add")

    def test_pole_of_a_single_bone_is_refused(self) -> None:
        add_chain(make_line(2), count=1)
        assert_refused("a single bone does not bend", "pole_add")


class TestList:
    def test_remove_and_move(self, line: bpy.types.Object) -> None:
        for name in "abc":
            add_chain(line).name = name
        bpy.ops.fabrik.chain_move(direction="UP")
        assert [c.name for c in line.fabrik.chains] == ["a", "c", "b"]
        assert line.fabrik.active_index == 1
        bpy.ops.fabrik.chain_remove()
        assert [c.name for c in line.fabrik.chains] == ["a", "b"]
        bpy.ops.fabrik.chain_remove()
        bpy.ops.fabrik.chain_remove()
        assert not bpy.ops.fabrik.chain_remove.poll()

    def test_names_stay_unique(self, line: bpy.types.Object) -> None:
        for _ in range(3):
            add_chain(line).name = "arm"
        assert sorted(c.name for c in line.fabrik.chains) == ["arm", "arm.001", "arm.002"]


def state(owner: bpy.types.Object) -> tuple[object, ...]:
    rig = owner.fabrik
    chains = [(c.name, c.target and c.target.name, c.pole and c.pole.name, c.start, c.status) for c in rig.chains]
    asked = [(c.pin, c.orientation, c.effector, c.target_bone, c.enabled, c.is_baked) for c in rig.chains]
    limits = [(b.fabrik.limit, tuple(b.fabrik.axis), b.fabrik.mass) for b in owner.pose.bones]
    parents = {found.name: found.parent.name if found.parent else "" for found in bpy.data.objects}
    objects = [(found.name, found.select_get(), tuple(found.location)) for found in bpy.data.objects]
    holders = [*owner.pose.bones, *sorted(bpy.data.objects, key=lambda found: found.name)]
    constraints = [(holder.name, found.name, found.influence) for holder in holders for found in holder.constraints]
    rest = rig.active_index, rig.body_bone, rig.bake_report, rig.live, owner.mode
    keys = sorted((found.name, curve.data_path) for found in bpy.data.objects for curve in fcurves_of(found))
    return chains, asked, rest, channels(owner), limits, sorted(objects), parents, constraints, keys


PLAIN = (  # undoable by themselves
    "chain_remove", "chain_remove_all", "rig_clear", "chain_mirror", "pole_add", "key", "release",
    "back_to_pose", "solve_all", "start_pose_capture", "limit_from_ik", "limit_copy", "limit_mirror",
    "limit_from_bend", "from_ik", "goal_snap", "goals_single_user", "pose_snap", "to_ik", "report_clear",
    "pin_toggle", "mirror_pose",
)  # fmt: skip
UNDOABLE: dict[str, dict[str, Any]] = {
    **{name: {} for name in PLAIN},
    "chain_add": {"tip_bone": "b2", "use_target": True, "use_pole": True},
    "chain_move": {"direction": "UP"},
    "target_add": {"kind": "BONE"},
    "goal_select": {"role": "target"},
    "goal_space": {"space": "ARMATURE"},
    "grab": {"object": "Prop"},
    "solve": {"chain": "first"},
    "start_pose_reset": {"use_pose": True},
    "limit_axis": {"axis": "Z"},
    "limit_human": {"joint": "KNEE"},
    "limit_animal": {"joint": "KNEE"},
    "bake": {"frame_start": 1, "frame_end": 3},
    "drag": {"chain": "first", "way": (0.2, 0.1, -0.3)},
    "orientation_set": {"chain": "first", "orientation": "TARGET"},
    "effector_set": {"chain": "first", "effector": "HEAD"},
    "body_bone_set": {"bone": "b0"},
    "balance_masses": {"by": "LENGTH"},
    "character_setup": {"plan": "CHAINS"},
    "flip_pose": {"bones": "ALL"},
}
# these change nothing in the file
ONLY_LOOK = {
    "mapping_export", "cycle_export", "report_copy", "report_frame", "record", "record_clear", "step",
    "steps_play", "trails_hide", "motion_copy",
}  # fmt: skip
# would open the browser again; only calls the drag; was led by the mouse, whose way no option holds
NOT_REDONE = {"manual", "drag_pick", "walk_by_hand", "time_note"}
WITH_A_FILE = {"mapping_import"}  # tried in actions/setup
# tried in actions, where motion is edited, cleaned and transferred
WITH_MOTION = {
    "goal_kind", "edits_apply", "contacts_find", "contacts_clean", "contact_mark", "contact_move", "limb_to_fk",
    "limb_to_ik", "time_spread", "goals_tween", "motion_smooth", "motion_mirror", "motion_paste",
    "move_through_time", "turn_through_time", "trails_show", "motion_transfer", "motion_from_files",
    "layer_add", "layer_choose", "layer_remove", "contact_place",
}  # fmt: skip
# tried in operators/test_walking.py
WITH_LEGS = {
    "walker_add", "walk_plan", "walk_bake", "walk_by_hand", "walk_mark", "walk_style", "walker_remove", "cycle_import",
}  # fmt: skip


def make_ready(name: str) -> None:
    """A line with two chains, and what an operator needs to have something to do."""
    owner = make_line(3)
    for target in ((0.5, 0.8, 2.0), None):
        add_chain(owner, target)
    first, second = owner.fabrik.chains
    first.name = "first"
    bones, limit = owner.data.bones, owner.pose.bones["b1"].fabrik
    owner.pose.bones["b1"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    owner.pose.bones["b1"].lock_ik_y = owner.pose.bones["b1"].lock_ik_z = True
    limit.limit = "PLANAR"
    if name in {"goal_select", "goal_space", "grab", "release", "goal_snap", "pose_snap", "bake"}:
        owner.fabrik.active_index = 0
    make_empty(name="Prop")
    if name == "character_setup":
        owner.fabrik.chains.clear()
    elif name == "goals_single_user":
        bpy.context.collection.objects.link(owner.copy())
    elif name == "chain_mirror":
        bones["b0"].name, bones["b2"].name = "toe.R", "toe.L"
        first.bone_count = second.bone_count = 1
    elif name in {"limit_mirror", "flip_pose", "mirror_pose"}:
        bones["b0"].name, bones["b1"].name = "shin.R", "shin.L"
    elif name == "from_ik":
        owner.pose.bones["b2"].constraints.new("IK").target = first.target
    elif name == "report_clear":
        owner.fabrik.bake_report = '{"format": 1}'
    elif name == "bake":
        second.enabled, limit.limit, owner.fabrik.live = False, "FREE", True
    select(owner, owner.pose.bones[1].name, *(["b2"] if name == "limit_copy" else []))
    bpy.ops.object.mode_set(mode="OBJECT" if name == "back_to_pose" else "POSE")


@pytest.mark.parametrize("name", UNDOABLE)
def test_undo_in_one_step(name: str) -> None:
    make_ready(name)
    if name == "release":
        bpy.ops.fabrik.grab(object="Prop")
    assert_one_step(lambda: state(bpy.data.objects["Rig"]), name, **UNDOABLE[name])


def test_every_operator_has_options_for_the_redo_panel_and_is_undone_in_some_test() -> None:
    for name in set(dir(bpy.ops.fabrik)) - NOT_REDONE:
        operator = getattr(bpy.types, f"FABRIK_OT_{name}")
        assert ({"REGISTER"} if name in ONLY_LOOK else {"REGISTER", "UNDO"}) <= operator.bl_options
    tried_elsewhere = {*WITH_A_FILE, *WITH_LEGS, *WITH_MOTION}
    assert set(dir(bpy.ops.fabrik)) == {*UNDOABLE, *ONLY_LOOK, *NOT_REDONE, *tried_elsewhere}


def test_a_failing_add_makes_nothing(line: bpy.types.Object) -> None:
    line.pose.bones["b1"].fabrik.limit = "CONE"
    line.pose.bones["b1"].lock_rotation = (True, False, False)
    before = state(line)
    assert_refused(
        "bone 'b1': rotation channels are locked", "chain_add", tip_bone="b2", use_target=True, use_pole=True
    )
    assert state(line) == before
    add_chain(line, tip="b0")
    add_chain(line, tip="b2")
    before = state(line)
    assert_refused("bone 'b1': rotation channels are locked", "pole_add", use_all=True)
    assert state(line) == before


def test_poles_for_several_limbs_leave_single_bones_out(line: bpy.types.Object) -> None:
    bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=1, use_target=True, use_pole=True)
    add_chain(line)
    bpy.ops.fabrik.pole_add(use_all=True)
    assert [chain.pole is not None for chain in line.fabrik.chains] == [False, True]


def test_with_the_target_active_the_rig_is_found(line: bpy.types.Object) -> None:
    chain = add_chain(line, (0.5, 0.5, 2.0))
    make_line(2)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = line
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.fabrik.goal_select(role="target")
    assert (bpy.context.object, line.mode) == (chain.target, "OBJECT")
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"
    assert_refused("there is no pole", "goal_select", role="pole")


def test_rest_position_disables_what_poses_and_nothing_else(line: bpy.types.Object) -> None:
    add_chain(line, (0.5, 0.5, 2.0))
    line.data.pose_position = "REST"
    assert not bpy.ops.fabrik.solve.poll()
    bpy.ops.fabrik.start_pose_reset()
    bpy.ops.fabrik.chain_remove()
    assert len(line.fabrik.chains) == 0


def test_buttons_are_disabled_without_an_armature() -> None:
    bpy.context.view_layer.objects.active = make_empty((0, 0, 0))
    for name in UNDOABLE:
        assert not getattr(bpy.ops.fabrik, name).poll()
    assert_refused("The active object is not an armature", "solve")


# Adding the chains of whole characters and of several armatures, and removing them all.


def chains(owner: bpy.types.Object) -> list[tuple[str, int]]:
    return [(chain.tip_bone, chain.bone_count) for chain in owner.fabrik.chains]


def select_all(owner: bpy.types.Object) -> None:
    select(owner, *(bone.name for bone in owner.data.bones))


class TestWholeCharacters:
    def test_a_human_has_six_chains_and_the_small_ones_on_demand(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_character("human")
        select_all(owner)
        bpy.ops.fabrik.chain_add()
        assert len(owner.fabrik.chains) == 6
        assert {("shin.L", 2), ("forearm.R", 2), ("spine.003", 3), ("spine.006", 3)} <= set(chains(owner))
        told = capfd.readouterr().out
        assert "Added 6 chains: spine.003, spine.006, " in told
        assert "small limbs are left out: tick Small Limbs to add them, too" in told
        bpy.ops.fabrik.chain_add(use_small=True)
        added = chains(owner)[6:]
        assert {("f_index.03.L", 3), ("toe.R", 2), ("eye.L", 1)} <= set(added)
        assert not set(chains(owner)[:6]) & set(added)  # what was there already is not added again

    def test_all_there_already_is_told(self) -> None:
        owner = make_character("basic_human")
        select_all(owner)
        bpy.ops.fabrik.chain_add()
        assert_refused("each of the 6 limbs has a chain already", "chain_add")
        assert len(owner.fabrik.chains) == 6

    def test_an_imported_leg_has_its_bones(self) -> None:
        owner = make_character("human_mixamo")
        select(owner, "mixamorig:LeftFoot")
        bpy.ops.fabrik.chain_add(use_target=True)
        assert chains(owner) == [("mixamorig:LeftFoot", 3)]
        bpy.ops.fabrik.solve()
        assert owner.fabrik.chains[0].status == "REACHED"


def test_several_chains_are_one_report_that_warns_last_and_says_nothing_twice(
    capfd: pytest.CaptureFixture[str],
) -> None:
    owner = make_line(4)
    add_chain(owner, (0, 0, 99), tip="b3", count=1)
    add_chain(owner, (0.4, -0.5, 1.0), tip="b1", count=2)
    far, near = owner.fabrik.chains
    capfd.readouterr()
    assert press("solve_all") == {"FINISHED"}
    said = capfd.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["Warning"]
    assert 0 < said[0].index(f"{near.name}: On target") < said[0].index(f"; {far.name}: ")


def test_options_of_one_character_are_not_those_of_the_next() -> None:
    operators: Any = bpy.ops.fabrik
    for name, option in (
        ("chain_mirror", "use_all"),
        ("character_setup", "use_walker"),
        ("character_setup", "plan"),
        ("target_add", "use_all"),
        ("start_pose_capture", "use_all"),
        ("start_pose_reset", "use_all"),
        ("start_pose_reset", "use_pose"),
    ):
        assert getattr(operators, name).get_rna_type().properties[option].is_skip_save, name


class TestSeveralArmatures:
    def two_in_pose_mode(self) -> tuple[bpy.types.Object, bpy.types.Object]:
        first, second = make_line(3), make_line(4)
        first.select_set(True)
        second.select_set(True)
        bpy.ops.object.mode_set(mode="POSE")
        assert (first.mode, second.mode) == ("POSE", "POSE")
        select(first, "b2")
        select(second, "b1", "b2")
        return first, second

    def test_each_gets_its_chains(self) -> None:
        first, second = self.two_in_pose_mode()
        bpy.ops.fabrik.chain_add(use_target=True)
        assert (chains(first), chains(second)) == ([("b2", 3)], [("b2", 2)])
        assert all(owner.fabrik.chains[0].target for owner in (first, second))

    def test_a_named_tip_is_of_the_active_one(self) -> None:
        first, second = self.two_in_pose_mode()
        bpy.context.view_layer.objects.active = second
        bpy.ops.fabrik.chain_add(tip_bone="b3", bone_count=2)
        assert (chains(first), chains(second)) == ([], [("b3", 2)])

    def test_one_that_can_not_be_posed_is_left_out_by_name(self, capfd: pytest.CaptureFixture[str]) -> None:
        first, second = self.two_in_pose_mode()
        second.data.pose_position = "REST"
        bpy.context.view_layer.objects.active = first
        bpy.ops.fabrik.chain_add()
        assert (chains(first), chains(second)) == ([("b2", 3)], [])
        assert f"{second.name} is left out: " in capfd.readouterr().out


class TestRemoveAll:
    def test_chains_go_and_goals_stay(self, line: bpy.types.Object) -> None:
        for count in (1, 2, 3):
            add_chain(line, (0, 0.5, 1), "b2", count)
        bpy.ops.fabrik.chain_remove_all()
        assert (len(line.fabrik.chains), line.fabrik.active_index) == (0, 0)
        assert sum(found.type == "EMPTY" for found in bpy.data.objects) == 3
        assert not bpy.ops.fabrik.chain_remove_all.poll()


def test_add_chain_with_a_target_tells_what_the_next_solve_moves(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_line(3)
    hinge = owner.pose.bones["b1"]
    limit_of(hinge).limit, limit_of(hinge).angle_min = "HINGE", 0.0
    hinge.rotation_quaternion = (0.9, -0.4, 0, 0)
    select(owner, "b2")
    press("chain_add")
    assert "exceeds" not in capfd.readouterr().out
    press("chain_remove")
    press("chain_add", use_target=True)
    assert "'b1' exceeds its joint limit" in capfd.readouterr().out


def test_poles_for_all_where_no_chain_can_bend() -> None:
    owner = make_line(1)
    select(owner, "b0")
    press("chain_add")
    assert_refused("has one bone alone", "pole_add", use_all=True)


def test_the_end_is_chosen_before_there_is_a_target_without_a_warning(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_line(3)
    add_chain(owner)
    capfd.readouterr()
    press("effector_set", effector="HEAD")
    assert owner.fabrik.chains[0].effector == "HEAD"
    assert capfd.readouterr().out.startswith("Info: ")


def test_without_a_window_it_is_said_what_to_do() -> None:
    """As for a timer, whose context has no active object."""
    add_chain(make_line(3), (0.5, 0.0, 1.5))
    override: Any = bpy.context.temp_override
    with override(window=None):
        assert_refused("call it within bpy.context.temp_override", "solve")
    press("solve")


def test_a_file_to_write_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_chain(make_line(3))
    monkeypatch.chdir(tmp_path)
    assert_refused("the file to write has no name", "mapping_export")
    assert not list(tmp_path.iterdir())


def test_an_object_that_is_named_is_meant() -> None:
    owner = set_up("human", controls="EMPTIES")
    owner.fabrik.active_index = owner.fabrik.chains.find("Leg.L")
    assert_refused("there is no object 'Prop' in the scene", "goal_space", object="Prop")
    prop = make_empty(name="Prop")
    press("goal_space", object="Prop")
    goal = goal_of(owner.fabrik.chains["Leg.L"], "target")
    assert goal is not None
    assert space_name(goal) == prop.name


def test_nothing_that_can_be_converted_is_an_error() -> None:
    owner = make_line(3)
    chain = add_chain(owner, (0.5, 0.0, 1.5))
    bpy.data.objects.remove(chain.target)
    assert_refused("left as it is", "to_ik")

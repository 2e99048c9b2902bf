# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are solved together, by button; the end of a tip and its rotation are chosen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations
from math import isnan, radians

import bpy
import pytest
from fabrik_addon.maths import perpendicular, unit
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler, Matrix, Vector

from support.judging import (
    HELD,
    angle_between,
    assert_alike,
    assert_feet_hold,
    bone_heads,
    bone_matrices,
    channels,
    effector,
    statuses,
    tip_turn,
)
from support.scenes import (
    SOME_MODES,
    add_limb,
    armature,
    assert_refused,
    make_body,
    make_empty,
    pin,
    press,
    put,
    solved_status,
    update,
    with_legs_pinned,
)


def nowhere(owner: bpy.types.Object) -> None:
    rig_of(owner).chains["foot.L"].held_location = (float("nan"), 0, 0)


def aim_along_nothing(owner: bpy.types.Object) -> None:
    add_limb(owner, "head", 2, target=(0.8, -1.0, 1.4))
    put(rig_of(owner).chains["head"], kind="AIM", aim_axis=(0, 0, 0))


# What is wrong with a body, which chain is refused for it, and what is said.
SPOILT: dict[str, tuple[Callable[[bpy.types.Object], object], str, str]] = {
    "two pins on one bone": (
        lambda owner: pin(owner, add_limb(owner, "foot.L", 2, name="again")),
        "foot.L",
        "'again' and 'foot.L' both pin it",
    ),
    "no such body bone": (lambda owner: put(rig_of(owner), body_bone="pelvis"), "foot.L", "no bone 'pelvis'"),
    "a constraint between body and chain": (
        lambda owner: put(pose_bones(owner)["spine2"].constraints.new("COPY_ROTATION"), target=make_empty((0, 0, 0))),
        "hand.L",
        "spine2",
    ),
    "a driven bone between": (
        lambda owner: pose_bones(owner)["spine2"].driver_add("rotation_quaternion", 1),
        "hand.L",
        "its rotation is driven",
    ),
    "a pin that is nowhere": (nowhere, "foot.L", "not a finite number"),
    "an aim along nothing": (aim_along_nothing, "head", "aim axis is zero"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_of_a_body_that_is_spoilt_nothing_is_moved_and_all_chains_say_so(what: str, standing: bpy.types.Object) -> None:
    spoil, name, text = SPOILT[what]
    add_limb(standing, "hand.L", 3, target=(0.4, -0.5, 1.0))
    spoil(standing)
    before = bone_matrices(standing)
    with pytest.raises(RuntimeError):
        press("solve_all")
    assert bone_matrices(standing) == before
    assert text in rig_of(standing).chains[name].message
    assert set(statuses(standing).values()) == {"REFUSED"}
    assert "solved together with" in rig_of(standing).chains["foot.R"].message or what == "no such body bone"


class TestHips:
    @pytest.mark.parametrize("mode", SOME_MODES)
    @pytest.mark.parametrize("way", [(0, 0, -0.15), (0.08, -0.1, -0.1), (0, 0, 0), (0, 0, -0.3)])
    def test_the_feet_stay_flat_while_the_hips_sink(self, way: tuple[float, float, float], mode: str) -> None:
        owner = with_legs_pinned(make_body(mode))
        wanted = Vector(owner.pose.bones["hips"].head) + Vector(way)
        hips = add_limb(owner, "hips", 1, target=wanted)
        press("solve_all")
        assert statuses(owner) == {"foot.L": "REACHED", "foot.R": "REACHED", "hips": "REACHED"}
        assert (effector(owner, hips) - wanted).length <= HELD
        assert_feet_hold(owner)
        for side in (".L", ".R"):  # knees bend to the front, where they bent at rest
            hip, knee, ankle = (owner.pose.bones[f"{part}{side}"].head for part in ("thigh", "shin", "foot"))
            assert knee.y < min(hip.y, ankle.y)

    def test_pins_hold_where_the_hips_are_pulled_out_of_reach(self, standing: bpy.types.Object) -> None:
        hips = add_limb(standing, "hips", 1, target=(0, 0, 3))
        press("solve_all")
        assert_feet_hold(standing)
        assert statuses(standing)["hips"] == "BLOCKED"
        assert hips.message == "it gives way to the pins of 'foot.L' and 'foot.R'"
        assert effector(standing, hips).z > 0.95

    def test_bones_between_stay_without_spine(self, standing: bpy.types.Object) -> None:
        add_limb(standing, "hand.L", 3, target=(0.5, -0.3, 1.2))
        rig_of(standing).spine = 0.0
        press("solve_all")
        assert statuses(standing)["hand.L"] == "REACHED"
        assert all(standing.pose.bones[name].rotation_quaternion.angle < 1e-5 for name in ("spine1", "spine2", "chest"))


class TestOneAnswer:
    def test_the_order_of_the_list_changes_nothing(self) -> None:
        poses = []
        for order in permutations(("hand.L", "hand.R", "head")):
            owner = with_legs_pinned(make_body())
            places = {"hand.L": (0.4, -0.5, 1.0), "hand.R": (-0.5, -0.4, 1.5), "head": (0.1, -0.3, 1.5)}
            for name in order:
                add_limb(owner, name, 2 if name == "head" else 3, target=places[name])
            press("solve_all")
            poses.append(bone_matrices(owner))
            bpy.data.objects.remove(owner)
        assert all(pose == poses[0] for pose in poses)

    def test_one_chain_of_a_body_is_solved_with_all(self, standing: bpy.types.Object) -> None:
        hand = add_limb(standing, "hand.L", 3, target=(0.4, -0.7, 0.7))
        press("solve", chain=hand.name)
        assert_feet_hold(standing)
        assert set(statuses(standing).values()) == {"REACHED"}

    @pytest.mark.parametrize("scale", [0.01, 100.0])
    def test_scale(self, scale: float, body: bpy.types.Object) -> None:
        body.scale = (scale, scale, scale)
        update()
        with_legs_pinned(body)
        add_limb(body, "hand.L", 3, target=Vector((0.4, -0.5, 1.0)) * scale)
        press("solve_all")
        assert set(statuses(body).values()) == {"REACHED"}


class TestRotations:
    def test_a_rotation_that_limits_hold_back_is_told_in_degrees(self, body: bpy.types.Object) -> None:
        for name in ("upper_arm.L", "forearm.L", "hand.L"):
            limit = body.pose.bones[name].fabrik
            limit.limit = "CONE"
            for side in ("cone_x_max", "cone_x_min", "cone_z_max", "cone_z_min"):
                if hasattr(limit, side):
                    setattr(limit, side, radians(20))
        hand = add_limb(body, "hand.L", 3, target=(0.69, -0.02, 1.46))
        hand.orientation, hand.held_rotation = "KEEP", (0.0, 1.0, 0.0, 0.0)
        assert solved_status(hand, "solve_all") == "BLOCKED"
        assert hand.turn_residual == pytest.approx(angle_between(tip_turn(body, hand), (0.0, 1.0, 0.0, 0.0)), abs=1e-3)
        assert hand.turn_residual > 0.2


class TestRefusals:
    def test_a_body_bone_that_is_not_above_the_chains_takes_no_part(self) -> None:
        owner = with_legs_pinned(make_body(), body="head")
        press("solve_all")
        assert set(statuses(owner).values()) == {"REACHED"}

    def test_a_connected_body_bone_only_turns(self, body: bpy.types.Object) -> None:
        with_legs_pinned(body)
        body.pose.bones["hips"].lock_location = (True, False, False)
        add_limb(body, "hand.L", 3, target=(0.5, -0.3, 1.2))
        press("solve_all")
        assert tuple(body.pose.bones["hips"].location) == (0, 0, 0)
        assert_feet_hold(body)


LIMBS = ("hand.L", "hand.R", "foot.L", "foot.R")

KNEES = {"hand.L": "forearm.L", "hand.R": "forearm.R", "foot.L": "shin.L", "foot.R": "shin.R"}

POLES = {"hand.L": (1.5, 1.5, 0.5), "hand.R": (-0.5, 1.5, 0.6), "foot.L": (0.9, -1.5, 0.5), "foot.R": (-0.1, -1.5, 0.9)}

PLACES = {
    "hand.L": (0.4, -0.3, 1.25),
    "hand.R": (-0.3, -0.35, 1.4),
    "foot.L": (0.2, -0.15, 0.25),
    "foot.R": (-0.1, 0.1, 0.2),
}


def off_pole(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """The angle between the bend of a limb and its pole, as Blender evaluated it."""
    update()
    root = pose_bones(owner)[chain.tip_bone].parent.parent.head
    along = unit(effector(owner, chain) - root)
    bend = perpendicular(pose_bones(owner)[KNEES[chain.name]].head - root, along)
    angle: float = Vector(bend).angle(Vector(perpendicular(chain.pole.location - root, along)))
    return angle


class TestPoles:
    @pytest.mark.parametrize("limbs", [pair for n in (2, 3, 4) for pair in combinations(LIMBS, n)])
    def test_each_limb_bends_to_its_pole(self, limbs: tuple[str, ...], body: bpy.types.Object) -> None:
        """Blender drops the pole where chains share bones; here all goals share the hips."""
        rig_of(body).body_bone = "hips"
        for name in limbs:
            chain = add_limb(body, name, 3, target=PLACES[name])
            chain.pole = make_empty(POLES[name], f"Pole {name}")
        press("solve_all")
        for name in limbs:
            chain = rig_of(body).chains[name]
            assert chain.status == "REACHED"
            assert (effector(body, chain) - chain.target.location).length <= HELD
            assert off_pole(body, chain) <= radians(1.0)

    def test_a_pole_takes_nothing_from_pins(self, standing: bpy.types.Object) -> None:
        foot = rig_of(standing).chains["foot.L"]
        foot.pole = make_empty((3, 0, 0.5), "Pole")
        add_limb(standing, "hips", 1, target=(0, -0.05, 0.75))
        press("solve_all")
        assert (effector(standing, foot) - Vector(foot.held_location)).length <= HELD
        assert off_pole(standing, foot) <= radians(1.0)


class TestMotions:
    def test_mirrored_goals_give_the_mirrored_pose(self) -> None:
        found = []
        for side in (1.0, -1.0):
            owner = with_legs_pinned(make_body())
            name = "hand.L" if side > 0 else "hand.R"
            add_limb(owner, name, 3, target=(side * 0.3, -0.5, 0.9))
            press("solve_all")
            found.append({bone.name: bone.head.copy() for bone in pose_bones(owner)})
        for name, place in found[0].items():
            twin = name.replace(".L", ".X").replace(".R", ".L").replace(".X", ".R")
            mirrored = found[1][twin]
            assert (place - Vector((-mirrored.x, mirrored.y, mirrored.z))).length <= 2e-4

    def test_a_body_that_is_moved_with_its_goals_is_posed_alike(self) -> None:
        found = []
        for world in (Matrix(), Matrix.Translation((20, -7, 3)) @ Matrix.Rotation(1.1, 4, (0.2, 0.9, 0.4))):
            owner = make_body()
            owner.matrix_world = world
            update()
            with_legs_pinned(owner)
            add_limb(owner, "hand.L", 3, target=world @ Vector((0.4, -0.5, 1.0)))
            press("solve_all")
            found.append([bone.head.copy() for bone in pose_bones(owner)])
        assert max((a - b).length for a, b in zip(*found, strict=True)) <= 2e-4


class TestInheriting:
    @pytest.mark.parametrize("mode", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
    @pytest.mark.parametrize("scale", [(1.2, 1.2, 1.2), (1.0, 1.25, 0.9)])
    def test_scaled_spines(self, mode: str, scale: tuple[float, float, float], standing: bpy.types.Object) -> None:
        """Whatever is told stands there: where the hand is said to be on its target, Blender has it there."""
        for bone in armature(standing).bones:
            bone.inherit_scale = mode
        pose_bones(standing)["spine2"].scale = scale
        hand = add_limb(standing, "hand.L", 3, target=(0.45, -0.35, 1.2))
        try:
            press("solve_all")
        except RuntimeError:
            assert hand.status == "REFUSED"
            return
        off = (effector(standing, hand) - hand.target.location).length
        assert hand.status == "REACHED"
        assert off <= 2e-4

    @pytest.mark.parametrize("name", ["spine1", "upper_arm.L", "shin.R", "foot.L"])
    def test_bones_that_do_not_inherit_rotation(self, name: str, standing: bpy.types.Object) -> None:
        armature(standing).bones[name].use_inherit_rotation = False
        hand = add_limb(standing, "hand.L", 3, target=(0.45, -0.35, 1.2))
        assert solved_status(hand, "solve_all") == "REACHED"
        assert (effector(standing, hand) - hand.target.location).length <= HELD
        for side in (".L", ".R"):
            foot = rig_of(standing).chains[f"foot{side}"]
            assert (effector(standing, foot) - Vector(foot.held_location)).length <= HELD


class TestBadInput:
    @pytest.mark.parametrize("name", ["weight", "orientation_weight", "soft", "stretch", "influence"])
    def test_numbers_that_are_none(self, name: str, standing: bpy.types.Object) -> None:
        hand = add_limb(standing, "hand.L", 3, target=(0.4, -0.5, 1.0))
        setattr(hand, name, float("nan"))
        before = bone_heads(standing)
        if not isnan(getattr(hand, name)):  # Blender took it for another number
            press("solve_all")
            assert hand.status != "REFUSED"
            return
        assert_refused("not a finite number", "solve_all")
        assert bone_heads(standing) == before

    def test_a_weight_of_zero_asks_for_nothing(self, standing: bpy.types.Object) -> None:
        hand = add_limb(standing, "hand.L", 3, target=(0.4, -0.5, 1.0))
        hand.weight = 0.0
        before = bone_heads(standing)
        press("solve_all")
        assert max((a - before[name]).length for name, a in bone_heads(standing).items()) <= 1e-4

    def test_locked_bones_between_stay(self, standing: bpy.types.Object) -> None:
        pose_bones(standing)["spine2"].lock_rotation = (True, True, True)
        pose_bones(standing)["spine2"].lock_rotation_w = True
        hand = add_limb(standing, "hand.L", 3, target=(0.4, -0.4, 1.1))
        assert solved_status(hand, "solve_all") == "REACHED"
        assert tuple(pose_bones(standing)["spine2"].rotation_quaternion) == (1, 0, 0, 0)

    def test_a_pin_on_a_bone_that_is_gone(self, standing: bpy.types.Object) -> None:
        rig_of(standing).chains["foot.L"].tip_bone = "hoof"
        assert solved_status(rig_of(standing).chains["foot.L"], "solve_all") == "REFUSED"
        assert "no bone 'hoof'" in rig_of(standing).chains["foot.L"].message
        assert rig_of(standing).chains["foot.R"].status == "REACHED"

    def test_a_goal_that_hangs_on_the_chain_itself_is_refused(self, standing: bpy.types.Object) -> None:
        hand = add_limb(standing, "hand.L", 3)
        hand.target, hand.target_bone = standing, pose_bones(standing)["hand.L"].parent.name
        press("solve_all")
        assert "moves with the chain's own bone" in rig_of(standing).chains["hand.L"].message
        assert statuses(standing) == {"hand.L": "REFUSED", "foot.L": "REACHED", "foot.R": "REACHED"}

    def test_pins_that_can_not_both_hold_say_so(self, standing: bpy.types.Object) -> None:
        hand = add_limb(standing, "hand.L", 3)
        pin(standing, hand)
        hand.held_location = (0, 0, 4)
        press("solve_all")
        assert hand.status in {"BLOCKED", "TOO_FAR"}
        assert "can't be held together with the pins of 'foot.L' and 'foot.R'" in hand.message


SAME_PLACE = 1e-4

SAME_POSE = 1e-3  # of channels: a reach within the tolerance


@pytest.fixture
def owner() -> bpy.types.Object:
    owner = make_body()
    owner.location = (1.0, 2.0, 0.0)
    owner.pose.bones["forearm.L"].rotation_quaternion = Euler((0.6, 0.0, 0.0)).to_quaternion()
    update()
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone="hand.L", bone_count=3, use_target=True)
    press("solve")
    return owner


@pytest.mark.parametrize("back", [False, True])
def test_a_reached_target_comes_along_to_the_other_end(back: bool, owner: bpy.types.Object) -> None:
    chain = rig_of(owner).chains[0]
    before = channels(owner)
    press("effector_set", effector="HEAD")
    if back:
        press("effector_set", effector="TAIL")
    assert chain.effector == ("TAIL" if back else "HEAD")
    update()
    assert (chain.target.matrix_world.translation - effector(owner, chain)).length < SAME_PLACE
    assert solved_status(chain) == "REACHED"
    assert_alike(channels(owner), before, SAME_POSE)


def test_a_target_elsewhere_stays_there(owner: bpy.types.Object) -> None:
    chain = rig_of(owner).chains[0]
    chain.target = make_empty((1.0, 1.5, 1.0))
    press("effector_set", effector="HEAD")
    assert tuple(chain.target.location) == (1.0, 1.5, 1.0)


def test_a_pin_holds_the_other_end_where_it_stands(body: bpy.types.Object) -> None:
    chain = add_limb(body, "foot.L", 3)
    pin(body, chain, keeps=False)
    press("effector_set", effector="TAIL")
    assert (Vector(chain.held_location) - effector(body, chain)).length < SAME_PLACE
    assert solved_status(chain) == "REACHED"


def test_an_aim_is_refused(owner: bpy.types.Object) -> None:
    rig_of(owner).chains[0].kind = "AIM"
    assert_refused("it aims from the head of its tip bone", "effector_set", effector="HEAD")
    assert rig_of(owner).chains[0].effector == "TAIL"


STAYS = 1e-5  # of a body 1.7 high

SAME_TURN = 1e-4  # radians

KEPT = radians(0.1)

SCALES = [(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (-1.0, 1.0, 1.0)]


def placed(scale: tuple[float, float, float]) -> bpy.types.Object:
    """A body somewhere in the world, its right arm posed; in Object mode."""
    owner = make_body()
    owner.matrix_world = Matrix.LocRotScale((1.0, -2.0, 0.5), Euler((0.2, -0.1, 0.7)), scale)
    owner.pose.bones["upper_arm.R"].rotation_quaternion = Euler((0.2, 0.4, -0.3)).to_quaternion()
    owner.pose.bones["forearm.R"].rotation_quaternion = Euler((0.7, 0.0, 0.0)).to_quaternion()
    owner.pose.bones["hand.R"].rotation_quaternion = Euler((0.1, 0.6, 0.2)).to_quaternion()
    update()
    return owner


def with_target(owner: bpy.types.Object, tip: str = "hand.R", count: int = 3) -> bpy.types.Object:
    """A chain whose target stands where its effector does, turned somehow; the target."""
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone=tip, bone_count=count)
    chain = rig_of(owner).chains[-1]
    chain.effector = "HEAD"
    press("target_add")
    chain.target.rotation_euler = (0.3, 0.2, 0.9)
    update()
    target: bpy.types.Object = chain.target
    return target


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("orientation", ["FREE", "KEEP", "TARGET"])
def test_choosing_a_rotation_moves_nothing(orientation: str, scale: tuple[float, float, float]) -> None:
    owner = placed(scale)
    with_target(owner)
    before = channels(owner)
    press("orientation_set", orientation=orientation)
    chain = rig_of(owner).chains[0]
    assert chain.orientation == orientation
    assert channels(owner) == before
    place, turn = effector(owner, chain), tip_turn(owner, chain)
    assert solved_status(chain) == "REACHED"
    assert (effector(owner, chain) - place).length < STAYS
    assert angle_between(tip_turn(owner, chain), turn) < SAME_TURN
    assert_alike(channels(owner), before, SAME_TURN)


@pytest.mark.parametrize("scale", SCALES)
def test_a_kept_rotation_stays_where_the_limb_goes_elsewhere(scale: tuple[float, float, float]) -> None:
    owner = placed(scale)
    target = with_target(owner)
    press("orientation_set", orientation="KEEP")
    chain = rig_of(owner).chains[0]
    turn = tip_turn(owner, chain)
    shoulder = owner.matrix_world @ owner.pose.bones["upper_arm.R"].head
    target.location = target.location.lerp(shoulder, 0.3)
    target.rotation_euler = (1.0, 1.0, 1.0)
    assert solved_status(chain) == "REACHED"
    assert angle_between(tip_turn(owner, chain), turn) < KEPT


def test_a_hand_turns_with_its_target_by_as_much() -> None:
    owner = placed((1.0, 1.0, 1.0))
    target = with_target(owner)
    press("orientation_set", orientation="TARGET")
    chain = rig_of(owner).chains[0]
    first, hand = target.matrix_world.to_quaternion(), tip_turn(owner, chain)
    target.rotation_euler = (0.5, 0.1, 1.2)
    press("solve")
    wanted = (target.matrix_world.to_quaternion() @ first.inverted()) @ type(first)(hand)
    assert angle_between(tip_turn(owner, chain), (wanted.w, wanted.x, wanted.y, wanted.z)) < KEPT


@pytest.mark.parametrize("orientation", ["KEEP", "TARGET"])
def test_of_a_shin_the_foot_is_taken_so_that_the_knee_stays_free(orientation: str, body: bpy.types.Object) -> None:
    press("chain_add", tip_bone="shin.L", bone_count=2, use_target=True)
    chain = rig_of(body).chains[0]
    before = channels(body)
    press("orientation_set", orientation=orientation)
    assert (chain.tip_bone, chain.bone_count, chain.effector) == ("foot.L", 3, "HEAD")
    assert chain.orientation == orientation
    foot = tip_turn(body, chain)
    press("solve")
    assert_alike(channels(body), before, SAME_TURN)
    chain.target.location.z += 0.2
    chain.target.location.y -= 0.1
    assert solved_status(chain) == "REACHED"
    assert angle_between(tip_turn(body, chain), foot) < KEPT
    assert (effector(body, chain) - chain.target.matrix_world.translation).length < 1e-4 * 1.7


def test_a_captured_start_pose_goes_on_to_the_foot(body: bpy.types.Object) -> None:
    body.pose.bones["foot.L"].rotation_quaternion = Euler((0.3, 0.0, 0.0)).to_quaternion()
    body.pose.bones["shin.L"].rotation_quaternion = Euler((0.5, 0.0, 0.0)).to_quaternion()
    press("chain_add", tip_bone="shin.L", bone_count=2, use_target=True)
    chain = rig_of(body).chains[0]
    assert chain.start == "CAPTURED"
    press("orientation_set", orientation="KEEP")
    assert [item.name for item in chain.captured] == ["thigh.L", "shin.L", "foot.L"]
    assert solved_status(chain) == "REACHED"


def test_a_hand_that_ends_a_chain_keeps_its_own_rotation_and_no_finger_is_taken(body: bpy.types.Object) -> None:
    press("chain_add", tip_bone="hand.L", bone_count=3, use_target=True)
    press("orientation_set", orientation="KEEP")
    chain = rig_of(body).chains[0]
    assert (chain.tip_bone, chain.effector) == ("hand.L", "TAIL")


def test_what_makes_no_sense_is_refused_and_nothing_is_changed(body: bpy.types.Object) -> None:
    chain = add_limb(body, "foot.L", 3)
    assert_refused("its rotation can't follow a target: none is set", "orientation_set", orientation="TARGET")
    chain.kind = "AIM"
    assert_refused("it aims at its target", "orientation_set", orientation="KEEP")
    assert_refused("there is no chain 'nothing'", "orientation_set", chain="nothing", orientation="KEEP")
    assert (chain.orientation, chain.tip_bone) == ("FREE", "foot.L")


def test_a_script_that_chooses_keeps_what_stands_then_and_what_was_stored_later() -> None:
    owner = placed((1.0, 1.0, 1.0))
    with_target(owner)
    chain = rig_of(owner).chains[0]
    stands = tip_turn(owner, chain)
    chain.orientation = "TARGET"
    chain.orientation = "KEEP"
    assert angle_between(tuple(chain.held_rotation), stands) < SAME_TURN
    chain.orientation = "FREE"
    owner.rotation_euler.z += 1.0
    update()
    chain.orientation = "KEEP"
    assert angle_between(tuple(chain.held_rotation), stands) < SAME_TURN
    owner.rotation_euler.z -= 1.0
    chain.orientation = "TARGET"
    press("solve")
    assert angle_between(tip_turn(owner, chain), stands) < KEPT

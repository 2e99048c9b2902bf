# SPDX-License-Identifier: GPL-3.0-or-later
"""A status is about the final pose, as Blender evaluates it, and says when it is old."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import permutations
from math import radians
from pathlib import Path
from typing import Any, TypeAlias

import bpy
import pytest
from fabrik_addon.actions.solve import solve_items
from fabrik_addon.actions.status import ChainReport, measure_text, report_of, status_text
from fabrik_addon.rig.dependencies import absence_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.ui.base import ICONS
from mathutils import Matrix

from support.judging import tip_error, tip_turn
from support.scenes import (
    Bone,
    Point,
    add_chain,
    add_limb,
    assert_refused,
    each_frame,
    keyed,
    live_line,
    make_armature,
    make_body,
    make_empty,
    make_line,
    make_rig,
    put,
    reaching_line,
    reload,
    update,
    with_legs_pinned,
)
from support.stored import empty_file


def two_arms(places: tuple[Point, Point] = ((1.0, 0.5, 1.6), (-1.0, 0.5, 1.6))) -> bpy.types.Object:
    """Two chains of two bones each, that have the bone in common from which both arms branch."""
    owner = make_armature(
        [
            Bone((0, 0, 0), (0, 0.1, 1)),
            Bone((0, 0.1, 1), (1, 0, 1.2), parent=0),
            Bone((0, 0.1, 1), (-1, 0, 1.2), parent=0),
        ]
    )
    add_chain(owner, places[0], tip="b1", count=2)
    add_chain(owner, places[1], tip="b2", count=2)
    return owner


def is_true(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether status and distance are what is seen, in scene units."""
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = evaluated.matrix_world @ evaluated.pose.bones[chain.tip_bone].tail
    off = (tip - chain.target.matrix_world.translation).length
    return (chain.status == "REACHED") == (tip_error(owner, chain) <= 1.1 * chain.tolerance) and off == pytest.approx(
        chain.residual, abs=1e-4
    )


def told(chain: FabrikChain) -> ChainReport:
    update()
    return report_of(chain, bpy.context)


class TestFinalPose:
    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_two_chains_that_share_a_bone(self, order: tuple[int, int]) -> None:
        owner = two_arms()
        if order == (1, 0):
            rig_of(owner).chains.move(0, 1)
        bpy.ops.fabrik.solve_all()
        first, last = rig_of(owner).chains
        assert all(is_true(owner, chain) for chain in (first, last))
        assert (first.status, last.status) == ("BLOCKED", "BLOCKED")
        assert first.residual == pytest.approx(last.residual, rel=1e-3)
        assert first.message == f"it shares its bones with '{last.name}', each with its goal"
        assert told(first).kind == "BLOCKED"

    def test_chain_on_chain_and_another_armature(self) -> None:
        places = ((0.4, 0.2, 1.5), (1.2, 0.3, 2.1), (0.2, 0.6, 1.4))
        for order in permutations(range(3)):
            empty_file()
            owner = make_rig("two levels", is_live=True)[0]
            rig_of(owner).live = False
            other = make_line(2, bend=0.2)
            follower = add_chain(other)
            follower.target, follower.target_bone = owner, "b3"
            for chain, k in zip(rig_of(owner).chains, order, strict=False):
                chain.target.location = places[k]
            outcomes = solve_items(bpy.context, [(other, follower), *((owner, one) for one in rig_of(owner).chains)])
            update()
            assert {outcome.rig for outcome in outcomes} == {owner.name, other.name}
            assert all(is_true(owner, chain) for chain in rig_of(owner).chains)
            head = owner.pose.bones["b3"].head
            assert (other.pose.bones["b1"].tail - head).length == pytest.approx(follower.residual, abs=1e-4)

    def test_live_in_every_frame(self) -> None:
        owner = two_arms()
        for i, chain in enumerate(rig_of(owner).chains):
            keyed(chain.target, {frame: (1.2 - 2.4 * i, 0.08 * frame, 0.8 + 0.05 * frame) for frame in (1, 10)})
        rig_of(owner).live = True
        for _ in each_frame((1, 4, 10, 2, 7)):
            first, last = rig_of(owner).chains
            assert all(is_true(owner, chain) for chain in (first, last))
            assert (told(first).kind, told(last).kind) == (first.status, last.status)


def line_with_pole() -> bpy.types.Object:
    owner, chain = reaching_line((0.8, 0.9, 1.7), bend=0.2)
    chain.pole = make_empty((0, 4, 1), "Pole")
    bpy.ops.fabrik.solve()
    assert told(chain) == ChainReport("REACHED", "", "On target", holds=True)
    return owner


class TestMovedSince:
    @pytest.fixture
    def solved(self) -> tuple[bpy.types.Object, FabrikChain]:
        owner = line_with_pole()
        return owner, rig_of(owner).chains[0]

    def test_how_far_the_target_moved(self, solved: tuple[bpy.types.Object, FabrikChain]) -> None:
        _, chain = solved
        chain.target.location.x += 0.5
        found = told(chain)
        assert (found.kind, found.short) == ("OLD", "moved since")
        assert found.distance == pytest.approx(0.5, abs=1e-3)

    def test_it_outlives_the_file(self, solved: tuple[bpy.types.Object, FabrikChain], tmp_path: Path) -> None:
        reload(tmp_path)
        chain = rig_of(bpy.data.objects["Rig"]).chains[0]
        assert told(chain).kind == "REACHED"
        chain.target.location.z += 0.2
        assert told(chain).kind == "OLD"

    def test_a_frame_that_moves_the_target(self) -> None:
        _, chain = reaching_line((0.8, 0.9, 1.7), bend=0.2)
        keyed(chain.target, {1: 0.8, 10: 0.0}, "location.x")
        bpy.context.scene.frame_set(1)
        bpy.ops.fabrik.solve()
        assert told(chain).kind == "REACHED"
        bpy.context.scene.frame_set(5)
        assert told(chain).kind == "OLD"

    def test_live_and_after_it(self) -> None:
        owner, chain = live_line()
        for place in ((0.5, 0.2, 2.0), (0.1, -0.6, 1.8)):
            chain.target.location = place
            assert told(chain).kind == "REACHED"
        rig_of(owner).live = False
        assert told(chain).kind == "REACHED"
        chain.target.location.x += 0.4
        assert told(chain).kind == "OLD"

    @pytest.mark.parametrize("far", [0.0, 1e4, 1e6])
    def test_far_away_nothing_false_is_told(self, far: float) -> None:
        owner = make_line(3, bend=0.2)
        owner.location, owner.scale = (far, far, 0.0), (0.5, 0.5, 0.5)
        chain = add_chain(owner, (far + 0.4, far + 0.45, 0.85))
        bpy.ops.fabrik.solve()
        assert told(chain).kind == chain.status

    def test_a_limit_that_is_changed(self, solved: tuple[bpy.types.Object, FabrikChain]) -> None:
        owner, chain = solved
        owner.pose.bones["b1"].fabrik.limit = "HINGE"
        assert chain.status == "NONE"


class TestGone:
    def chain(self) -> FabrikChain:
        return rig_of(line_with_pole()).chains[0]

    @pytest.mark.parametrize("role", ["target", "pole"])
    def test_removed_from_the_file(self, role: str) -> None:
        chain = self.chain()
        bpy.data.objects.remove(getattr(chain, role))
        name = {"target": "Target", "pole": "Pole"}[role]
        assert told(chain)[:3] == ("GONE", f"{role} gone", f"Its {role} '{name}' was deleted")
        with suppress(RuntimeError):
            bpy.ops.fabrik.solve()
        assert f"its {role} '{name}' was deleted" in chain.message
        assert chain.status == ("REFUSED" if role == "target" else "REACHED")
        assert told(chain).kind == ("GONE" if role == "target" else "REACHED")

    @pytest.mark.parametrize("role", ["target", "pole"])
    def test_deleted_in_the_scene(self, role: str) -> None:
        chain = self.chain()
        goal = getattr(chain, role)
        for collection in list(goal.users_collection):
            collection.objects.unlink(goal)
        assert told(chain).text == f"Its {role} '{goal.name}' was deleted"
        assert_refused(f"the {role} '{goal.name}' was deleted", "solve")
        setattr(chain, role, None)
        assert told(chain).kind == "NONE"

    def test_excluded(self) -> None:
        chain = self.chain()
        home = bpy.data.collections.new("Home")
        bpy.context.scene.collection.children.link(home)
        for collection in list(chain.target.users_collection):
            collection.objects.unlink(chain.target)
        home.objects.link(chain.target)
        assert told(chain).kind == "REACHED"
        bpy.context.view_layer.layer_collection.children["Home"].exclude = True
        assert told(chain).text == f"Its target '{chain.target.name}' is not in this view layer"

    def test_taken_away_by_hand_is_not_gone(self) -> None:
        chain = self.chain()
        chain.target = None
        assert told(chain)[:3] == ("NONE", "", "No target: add one, or pin it")

    def test_bone_that_is_not_there(self) -> None:
        chain, other = self.chain(), make_line(2)
        other.name = "Other"
        chain.target, chain.target_bone = other, "b1"
        assert told(chain).kind == "NONE"
        chain.target_bone = "none"
        assert told(chain).text == "Its target 'Other' has no bone 'none'"

    def test_a_namesake_in_the_layer_does_not_matter(self) -> None:
        chain = self.chain()
        assert absence_of(chain.target, bpy.context.view_layer) is None
        other = bpy.data.scenes.new("Other")
        home = bpy.data.collections.new("Home")
        other.collection.children.link(home)
        for collection in list(chain.target.users_collection):
            collection.objects.unlink(chain.target)
        home.objects.link(chain.target)
        assert told(chain).text == f"Its target '{chain.target.name}' is not in this view layer"


def test_every_kind_has_an_icon_that_this_blender_has() -> None:
    kinds = {"OLD", "BAKED", "GONE", *(item.identifier for item in FabrikChain.bl_rna.properties["status"].enum_items)}
    assert kinds == set(ICONS)
    known = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items.keys()
    assert set(ICONS.values()) <= set(known)


class TestBaked:
    def test_baked_says_so_and_live_is_off(self) -> None:
        owner, chain = live_line()
        bpy.ops.fabrik.bake(frame_start=1, frame_end=5)
        assert (chain.enabled, chain.is_baked, rig_of(owner).live) == (False, True, False)
        found = told(chain)
        assert (found.kind, found.text) == ("BAKED", "Baked: its keys play. Tick it to edit")
        owner.animation_data_clear()
        assert told(chain).kind != "BAKED"  # for nothing plays
        chain.enabled = True
        assert not chain.is_baked
        assert told(chain).kind != "BAKED"

    def test_switched_off_by_hand_is_not_baked(self) -> None:
        _, chain = live_line()
        chain.enabled = False
        assert told(chain).kind == "REACHED"


PLACES = ((0.5, -0.4, 1.2), (0.3, -0.6, 0.8))


def body() -> bpy.types.Object:
    """Pinned feet, a hand that turns with its target, a head that looks at one, and a body bone."""
    owner = with_legs_pinned(make_body())
    hand = add_limb(owner, "hand.L", 3, target=PLACES[0])
    hand.rotation_offset, hand.orientation = tip_turn(owner, hand), "TARGET"
    look = add_limb(owner, "head", 2, target=(0.6, -1.5, 1.4))
    look.kind, look.aim_axis = "AIM", (0.0, 0.0, 1.0)
    return owner


def told_by_chain(owner: bpy.types.Object) -> dict[str, ChainReport]:
    update()
    return {chain.name: report_of(chain, bpy.context) for chain in rig_of(owner).chains}


def texts(owner: bpy.types.Object) -> dict[str, str]:
    return {name: one.text for name, one in told_by_chain(owner).items() if one.kind == "OLD"}


def solved_body() -> bpy.types.Object:
    owner = body()
    bpy.ops.fabrik.solve_all()
    assert {one.kind for one in told_by_chain(owner).values()} == {"REACHED"}
    return owner


Change: TypeAlias = Callable[[bpy.types.Object, float], None]


def moved(find: Callable[[bpy.types.Object], Any], axis: int, way: float) -> Change:
    """A thing is moved along an axis, so far times how much is asked for."""

    def change(owner: bpy.types.Object, by: float) -> None:
        find(owner).location[axis] += way * by

    return change


def _turn_target(owner: bpy.types.Object, by: float) -> None:
    rig_of(owner).chains["hand.L"].target.rotation_euler.z += 0.3 * by


def _turn_tip(owner: bpy.types.Object, by: float) -> None:
    """About itself: its end stays where it is."""
    bone = owner.pose.bones[rig_of(owner).chains[0].tip_bone]
    bone.rotation_quaternion = bone.rotation_quaternion @ Matrix.Rotation(0.3 * by, 4, "Y").to_quaternion()


def _move_all(owner: bpy.types.Object, by: float) -> None:
    for thing in (owner, rig_of(owner).chains[0].target, rig_of(owner).chains[0].pole):
        thing.location.x += 7.0 * by


_move_target = moved(lambda owner: rig_of(owner).chains[-1].target, 0, -0.8)
_move_pole = moved(lambda owner: rig_of(owner).chains[0].pole, 1, -8.0)
_move_hips = moved(lambda owner: owner.pose.bones["hips"], 1, 0.1)
_move_armature = moved(lambda owner: owner, 0, 0.2)
TARGET, POSE, ARMATURE = "The target moved since", "The pose was changed since", "The armature moved since"
LIMBS = ("foot.L", "foot.R", "hand.L", "head")

CHANGES: dict[str, tuple[Callable[[], bpy.types.Object], Change, dict[str, str]]] = {
    "the target of a line moves": (line_with_pole, _move_target, {"b2": TARGET}),
    "the pole of a line moves": (line_with_pole, _move_pole, {"b2": "The pole moved since"}),
    "the armature of a line moves": (line_with_pole, _move_armature, {"b2": ARMATURE}),
    "the tip of a line turns": (line_with_pole, _turn_tip, {"b2": POSE}),
    "all of a line moves": (line_with_pole, _move_all, {}),
    "the target of a hand turns": (solved_body, _turn_target, {"hand.L": TARGET}),
    "an aim moves": (solved_body, _move_target, {"head": TARGET}),
    "a foot turns": (solved_body, _turn_tip, {"foot.L": POSE}),
    "the armature of a body moves": (solved_body, _move_armature, dict.fromkeys(LIMBS, ARMATURE)),
    "the hips move": (solved_body, _move_hips, dict.fromkeys(LIMBS, ARMATURE)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_it_says_what_moved_since(name: str) -> None:
    make, change, expected = CHANGES[name]
    owner = make()
    change(owner, 1.0)
    assert texts(owner) == expected
    change(owner, -1.0)
    assert texts(owner) == {}
    change(owner, 1.0)
    bpy.ops.fabrik.solve_all()
    assert texts(owner) == {}


def test_live_it_is_true_in_every_frame() -> None:
    owner = body()
    hand = rig_of(owner).chains["hand.L"]
    for frame, place in zip((1, 10), PLACES, strict=True):
        keyed(hand.target, {frame: place})
        hand.target.rotation_euler.x = 0.05 * frame
        hand.target.keyframe_insert("rotation_euler", frame=frame)
    rig_of(owner).live = True
    for _ in each_frame((1, 5, 10, 3)):
        assert texts(owner) == {}
    hand.target.location = (0.5, -0.4, 5.0)
    update()
    assert texts(owner) == {}
    assert hand.status == "BLOCKED"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "No target: add one, or pin it"),
        ({"pin": True}, "Not solved since the last change"),
        ({"pin": True, "status": "REACHED"}, "Pin holds"),
        ({"pin": True, "status": "TOO_FAR"}, "Pin too far away"),
        ({"pin": True, "status": "BLOCKED"}, "Held back by limits"),
        ({"status": "BLOCKED", "message": "it gives way to the pin of 'foot'"}, "Held back"),
        ({"kind": "AIM", "status": "REACHED"}, "Aims at its target"),
        ({"status": "REACHED"}, "On target"),
    ],
)
def test_the_status_is_told_of_what_is_asked(settings: dict[str, object], text: str) -> None:
    chain = add_chain(make_line(3))
    put(chain, **settings)
    assert status_text(chain) == text


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"status": "REACHED", "residual": 1e-6}, ""),
        ({"status": "TOO_FAR", "residual": 0.25}, "25 cm off"),
        ({"status": "TOO_FAR", "residual": 0.25, "turn_residual": radians(12)}, "25 cm off, 12° turned off"),
        ({"status": "REACHED", "softened": 0.02}, "soft goal 2 cm before the target"),
        ({"kind": "AIM", "status": "BLOCKED", "residual": 3.0, "turn_residual": 0.5}, "29° turned off"),
    ],
)
def test_what_is_left_is_told_in_place_and_in_degrees(settings: dict[str, object], text: str) -> None:
    chain = add_chain(make_line(3))
    put(chain, passes=3, **settings)
    scene = bpy.context.scene
    scene.unit_settings.system = "METRIC"
    assert measure_text(chain, scene) == text

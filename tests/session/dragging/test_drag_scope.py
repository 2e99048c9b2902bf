# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves with a dragged bone: the limb, or the body, from which bone on."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.errors import ChainError
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.dragging import Taken, begin, drag_to, finish
from fabrik_addon.session.dragging.scope import Scope, scope_of
from fabrik_addon.session.pins import pin_bone
from mathutils import Vector

from support.judging import channels, effector
from support.scenes import (
    Bone,
    add_limb,
    make_armature,
    make_body,
    make_empty,
    make_line,
    pin,
    press,
    update,
    with_legs_pinned,
)


def bones_of(owner: bpy.types.Object, scope: Scope) -> set[str]:
    drag = begin(bpy.context, owner, scope.taken)
    drag.restore()
    return set(drag.prepared.bones)


class TestLimbs:
    @pytest.mark.parametrize(
        ("bone", "end", "bones"),
        [
            ("hand.L", "TAIL", {"upper_arm.L", "forearm.L", "hand.L"}),
            ("forearm.L", "HEAD", {"upper_arm.L", "forearm.L"}),
            ("shin.R", "TAIL", {"thigh.R", "shin.R"}),
            ("hips", "HEAD", {"hips"}),
        ],
    )
    def test_without_pins_it_is_the_limb(self, bone: str, end: str, bones: set[str]) -> None:
        owner = make_body()
        scope = scope_of(owner, Taken(bone, end))
        assert scope.holding == ()
        assert bones_of(owner, scope) == bones
        assert scope.body == ("hips" if bone == "hips" else "")

    def test_the_head_of_a_limb_is_moved_by_the_limb_above(self) -> None:
        owner = make_body()
        found = bones_of(owner, scope_of(owner, Taken("upper_arm.L", "HEAD")))
        assert {"upper_arm.L", "chest"} <= found

    def test_a_part_of_a_chain_begins_where_the_chain_does(self) -> None:
        owner = make_body()
        chain = add_limb(owner, "hand.L", 4)
        assert chain.bone_count == 4
        assert bones_of(owner, scope_of(owner, Taken("forearm.L"))) == {"chest", "upper_arm.L", "forearm.L"}


class TestBodies:
    @pytest.mark.parametrize(
        ("bone", "end"),
        [("hand.L", "HEAD"), ("hips", "HEAD"), ("chest", "TAIL"), ("shin.L", "HEAD"), ("thigh.L", "HEAD")],
    )
    @pytest.mark.parametrize("body_bone", ["hips", ""])
    def test_with_both_feet_pinned_the_hips_move(self, bone: str, end: str, body_bone: str) -> None:
        owner = with_legs_pinned(make_body(), body_bone)
        scope = scope_of(owner, Taken(bone, end))
        assert (scope.body, set(scope.holding)) == ("hips", {"foot.L", "foot.R"})
        assert {"hips", "thigh.L", "shin.R"} <= bones_of(owner, scope)

    def test_a_body_bone_alone_is_enough(self) -> None:
        owner = make_body()
        rig_of(owner).body_bone = "hips"
        assert scope_of(owner, Taken("hand.L")).body == "hips"
        assert {"hips", "spine1", "chest"} <= bones_of(owner, scope_of(owner, Taken("hand.L")))

    def test_what_is_above_the_body_bone_is_no_part_of_it(self) -> None:
        owner = make_body()
        rig_of(owner).body_bone = "chest"
        assert scope_of(owner, Taken("shin.L")).body == ""

    def test_where_the_hips_are_locked_what_carries_them_moves(self) -> None:
        bones = [
            Bone((0, 0, 0), (0, 0.3, 0), parent=None),
            Bone((0, 0, 1), (0, 0, 1.2), parent=0),
            Bone((0.1, 0, 1), (0.1, -0.05, 0.5), parent=1),
            Bone((0.1, -0.05, 0.5), (0.1, 0, 0), parent=2),
            Bone((0, 0, 1.2), (0, 0, 1.5), parent=1),
        ]
        owner = make_armature(bones)
        pin(owner, add_limb(owner, "b3", 2))
        assert scope_of(owner, Taken("b4")).body == "b1"
        pose_bones(owner)["b1"].lock_location = (True, False, False)
        assert scope_of(owner, Taken("b4")).body == "b0"
        pose_bones(owner)["b0"].lock_location = (True, False, False)
        drag = begin(bpy.context, owner, Taken("b4"))
        drag_to(bpy.context, drag, drag.place + Vector((0.05, 0.0, -0.02)))
        assert pose_bones(owner)["b0"].location == Vector()
        drag.restore()

    def test_one_pinned_limb_keeps_its_root(self) -> None:
        owner = make_line(4)
        chain = rig_of(owner).chains.add()
        chain.name, chain.tip_bone = "arm", "b3"
        pin(owner, chain, keeps=False)
        assert scope_of(owner, Taken("b1")).body == ""
        assert scope_of(owner, Taken("b0", "HEAD")).body == "b0"

    def test_pins_of_another_skeleton_do_not_count(self) -> None:
        bones = [Bone((0, 0, 0), (0, 0, 1), parent=None), Bone((0, 0, 1), (0, 0.1, 2), parent=0)]
        bones += [Bone((3, 0, 0), (3, 0, 1), parent=None), Bone((3, 0, 1), (3, 0.1, 2), parent=2)]
        owner = make_armature(bones)
        pin(owner, add_limb(owner, "b3", 2))
        assert scope_of(owner, Taken("b1")).holding == ()

    def test_disabled_pins_do_not_hold(self) -> None:
        owner = with_legs_pinned(make_body(), "")
        for chain in rig_of(owner).chains:
            chain.enabled = False
        assert scope_of(owner, Taken("hips", "HEAD")).holding == ()


class TestLive:
    def test_chains_that_are_posed_live_hold_their_targets(self) -> None:
        owner = with_legs_pinned(make_body())
        hand = add_limb(owner, "hand.R", 3, target=(-0.6, -0.1, 1.4))
        rig_of(owner).live = True
        update()
        drag = begin(bpy.context, owner, Taken("hips", "HEAD"))
        assert set(drag.scope.holding) == {"foot.L", "foot.R", "hand.R"}
        drag_to(bpy.context, drag, drag.place + Vector((0.02, -0.05, -0.1)))
        assert finish(bpy.context, drag).warnings == []
        update()
        for chain in rig_of(owner).chains:
            goal = chain.target.location if chain.target else Vector(chain.held_location)
            assert (effector(owner, chain) - goal).length < 5e-4
        assert (pose_bones(owner)["hips"].head - drag.place - Vector((0.02, -0.05, -0.1))).length < 5e-4
        assert (hand.target.location - Vector((-0.6, -0.1, 1.4))).length < 1e-6

    def test_without_live_they_follow_and_take_their_targets_along(self) -> None:
        owner = with_legs_pinned(make_body())
        hand = add_limb(owner, "hand.R", 3, target=(-0.7, 0, 1.45))
        update()
        drag = begin(bpy.context, owner, Taken("hips", "HEAD"))
        drag_to(bpy.context, drag, drag.place + Vector((0.02, -0.05, -0.1)))
        finish(bpy.context, drag)
        update()
        assert (hand.target.location - effector(owner, hand)).length < 1e-5
        assert (hand.target.location - Vector((-0.7, 0, 1.45))).length > 1e-2

    def test_what_aims_goes_on_looking(self) -> None:
        owner = with_legs_pinned(make_body())
        head = add_limb(owner, "head", 2, target=(0.5, -2.0, 1.2))
        head.kind, head.aim_axis = "AIM", (0, 0, 1)
        press("solve_all")
        drag = begin(bpy.context, owner, Taken("hips", "HEAD"))
        assert "head" in drag.scope.holding
        drag_to(bpy.context, drag, drag.place + Vector((0.15, 0.05, -0.15)))
        finish(bpy.context, drag)
        update()
        assert (head.target.location - Vector((0.5, -2.0, 1.2))).length < 1e-6
        bone = pose_bones(owner)["head"]
        wanted = (head.target.location - bone.head).normalized()
        assert (bone.matrix.to_3x3() @ Vector((0, 0, 1))).angle(wanted) < 2e-3
        assert "head" not in scope_of(owner, Taken("head")).holding

    @pytest.mark.parametrize("setting", ["weight", "influence"])
    def test_a_pin_that_asks_nothing_does_not_hold(self, setting: str) -> None:
        owner = with_legs_pinned(make_body(), "")
        setattr(rig_of(owner).chains["foot.L"], setting, 0.0)
        assert scope_of(owner, Taken("hips", "HEAD")).holding == ("foot.R",)


class TestPinning:
    def test_a_bone_is_pinned_between_two_drags(self) -> None:
        owner = make_body()
        for foot in ("foot.L", "foot.R"):
            assert pin_bone(bpy.context, owner, foot) == f"pinned {foot}"
        update()
        places = [effector(owner, chain) for chain in rig_of(owner).chains]
        drag = begin(bpy.context, owner, Taken("hips", "HEAD"))
        drag_to(bpy.context, drag, drag.place + Vector((0.0, 0.0, -0.2)))
        finish(bpy.context, drag)
        update()
        for chain, place in zip(rig_of(owner).chains, places, strict=True):
            assert (effector(owner, chain) - place).length < 2e-4
        assert pin_bone(bpy.context, owner, "foot.L") == "freed foot.L"
        assert [chain.name for chain in rig_of(owner).chains if chain.pin] == ["foot.R"]


class TestBadInput:
    def test_a_bone_that_is_not_there(self) -> None:
        with pytest.raises(ChainError, match="no bone 'none'"):
            scope_of(make_body(), Taken("none"))

    def test_a_chain_that_goes_while_it_holds(self) -> None:
        owner = with_legs_pinned(make_body())
        drag = begin(bpy.context, owner, Taken("hips", "HEAD"))
        rig_of(owner).chains.remove(0)
        before = channels(owner)
        with pytest.raises(ChainError, match="gone"):
            drag_to(bpy.context, drag, drag.place + Vector((0, 0, -0.1)))
        assert channels(owner) == before
        drag.restore()

    def test_a_limb_is_called_otherwise_than_all_chains(self) -> None:
        owner = make_line(3)
        chain = rig_of(owner).chains.add()
        chain.name, chain.tip_bone, chain.target = "limb of b1", "b2", make_empty((0, 0, 2))
        drag = begin(bpy.context, owner, Taken("b1"))
        assert drag.name == "limb of b1'"
        drag.restore()

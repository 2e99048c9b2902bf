# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a limb, without a window."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import bpy
import pytest
from fabrik_addon.actions.drag import Drag, Taken, begin, drag_to, finish, pull_refusal
from fabrik_addon.actions.keep_pose import LetGo
from fabrik_addon.actions.live import state as live_state
from fabrik_addon.errors import BoneError, ChainError
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Vector

from support.judging import assert_channels, channels, evaluated_joints
from support.scenes import (
    Bone,
    add_chain,
    go_live,
    go_to,
    key_automatically,
    make_armature,
    make_empty,
    make_line,
    press,
)


def started(count: int = 4, **settings: object) -> tuple[bpy.types.Object, FabrikChain, Drag]:
    owner = make_line(count)
    chain = add_chain(owner)
    for name, value in settings.items():
        setattr(chain, name, value)
    return owner, chain, begin(bpy.context, owner, Taken.tip_of(chain))


def joints(owner: bpy.types.Object) -> list[Vector]:
    bpy.context.view_layer.update()
    return evaluated_joints(owner, rig_of(owner).chains[0])


class TestAnchored:
    def test_the_tip_follows_without_a_target(self) -> None:
        owner, _, drag = started()
        for point in (Vector((0.5, 1.0, 2.5)), Vector((-0.4, 0.7, 3.0)), Vector((0.0, 2.0, 2.0))):
            drag_to(bpy.context, drag, point, anchored=True)
            assert (joints(owner)[-1] - point).length < 1e-3
            assert joints(owner)[0].length < 1e-6

    def test_out_of_reach_it_points_there(self) -> None:
        owner, _, drag = started()
        assert drag_to(bpy.context, drag, Vector((30, 0, 0)), anchored=True).status == "TOO_FAR"
        assert joints(owner)[-1].normalized().x > 0.999

    def test_cancelling_puts_all_back(self) -> None:
        owner, chain, _ = started()
        chain.target = make_empty((0, 1, 3))
        go_live(owner)
        before, stood = channels(owner), chain.target.location.copy()
        drag = begin(bpy.context, owner, Taken.tip_of(chain))
        drag_to(bpy.context, drag, Vector((0.5, 1.0, 2.5)), anchored=True)
        drag_to(bpy.context, drag, Vector((0.5, 2.0, 2.5)), anchored=False)
        drag.restore()
        bpy.context.view_layer.update()
        assert chain.target.location == stood
        assert_channels(owner, before, 1e-6)

    def test_a_live_chain_takes_its_target_along(self) -> None:
        owner, chain, _ = started()
        holder = make_empty((0.3, 0, 0), "Holder")
        chain.target = make_empty((0, 1, 3))
        chain.target.parent = holder
        go_live(owner)
        point = Vector((0.5, 1.0, 2.5))
        drag_to(bpy.context, begin(bpy.context, owner, Taken.tip_of(chain)), point, anchored=True)
        bpy.context.view_layer.update()
        assert (chain.target.matrix_world.translation - point).length < 1e-5
        assert (joints(owner)[-1] - point).length < 1e-3

    def test_limits_hold(self) -> None:
        owner, _, _ = started()
        for bone in list(owner.pose.bones)[1:]:
            limit_of(bone).limit = "LOCKED"
        drag = begin(bpy.context, owner, Taken.tip_of(rig_of(owner).chains[0]))
        assert drag_to(bpy.context, drag, Vector((0, 1, 1)), anchored=True).status == "BLOCKED"
        assert rig_of(owner).chains[0].status == "NONE"


class TestRope:
    def test_the_whole_chain_is_pulled_along(self) -> None:
        owner, _, drag = started()
        stretch = sum((b - a).length for a, b in pairwise(joints(owner)))
        for x in (1.0, 3.0, 6.0, 12.0):
            drag_to(bpy.context, drag, Vector((x, 0, 4)), anchored=False)
            found = joints(owner)
            assert (found[-1] - Vector((x, 0, 4))).length < 1e-3
            lengths = [(b - a).length for a, b in pairwise(found)]
            assert sum(lengths) == pytest.approx(stretch, abs=1e-4)
        assert found[0].x > 7.0  # a rope pulled far comes along behind
        assert abs(found[0].z - 4.0) < 1.5

    def test_on_a_turned_and_scaled_armature(self) -> None:
        owner, _, _ = started()
        owner.rotation_euler, owner.scale, owner.location = (0.4, 0.3, 1.0), (2, 2, 2), (1, 2, 3)
        bpy.context.view_layer.update()
        drag = begin(bpy.context, owner, Taken.tip_of(rig_of(owner).chains[0]))
        point = drag.place + Vector((3, 1, 0.5))
        drag_to(bpy.context, drag, point, anchored=False)
        assert (joints(owner)[-1] - point).length < 1e-3

    def test_a_root_that_hangs_on_a_bone_would_tear_off(self) -> None:
        owner = make_armature([Bone((0, 0, -1), (0, 0, 0)), Bone((0, 0, 0.1), (0, 0, 1)), Bone((0, 0, 1), (0, 0, 2))])
        drag = begin(bpy.context, owner, Taken.tip_of(add_chain(owner, tip="b2", count=2)))
        assert pull_refusal(drag) == ("'b1' hangs on 'b0', which would stay behind, so the chain can't be pulled along")
        before = channels(owner)
        with pytest.raises(BoneError, match="keep it anchored"):
            drag_to(bpy.context, drag, Vector((1, 0, 3)), anchored=False)
        assert channels(owner) == before

    def test_a_root_that_is_connected_is_refused(self) -> None:
        owner = make_line(4)
        chain = add_chain(owner, tip="b3", count=3)
        drag = begin(bpy.context, owner, Taken.tip_of(chain))
        before = channels(owner)
        with pytest.raises(BoneError, match="connected to its parent"):
            drag_to(bpy.context, drag, Vector((1, 0, 3)), anchored=False)
        assert channels(owner) == before

    def test_it_keys_rotation_and_location(self) -> None:
        owner, _, drag = started()
        key_automatically()
        drag_to(bpy.context, drag, Vector((4, 0, 4)), anchored=False)
        assert not fcurves_of(owner)
        finish(bpy.context, drag)
        paths = {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner)}
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
        assert paths == {"rotation_quaternion", "location"}


def dragged(owner: bpy.types.Object, chain: FabrikChain, way: Sequence[float] = (0.3, 0.6, -0.7)) -> LetGo:
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector(way), anchored=True)
    return finish(bpy.context, drag)


def keyed_line() -> tuple[bpy.types.Object, FabrikChain]:
    """A chain whose start is the rest pose, on bones that were posed and keyed after it was made."""
    owner = make_line(4)
    chain = add_chain(owner, (0, 0.5, 3))
    owner.pose.bones["b1"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    for bone in owner.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=1)
        bone.keyframe_insert("rotation_quaternion", frame=10)
    bpy.context.scene.frame_set(1)
    return owner, chain


class TestLettingGo:
    def test_with_automatic_keys_these_become_the_start_pose(self) -> None:
        owner, chain = keyed_line()
        key_automatically()
        assert dragged(owner, chain) == LetGo(["its keys are its start pose"], [])
        stood = joints(owner)
        go_to(10, 1)
        assert max((a - b).length for a, b in zip(joints(owner), stood, strict=True)) < 1e-5
        press("solve")
        assert max((a - b).length for a, b in zip(joints(owner), stood, strict=True)) < 1e-5

    def test_keyed_bones_without_automatic_keys_are_told_of(self) -> None:
        owner, chain = keyed_line()
        found = dragged(owner, chain)
        assert (found.done, chain.start) == ([], "REST")
        assert found.warnings[0] == "'b0' is keyed: key the pose, or the next frame change loses it"
        assert "it is keyed, but starts from the rest pose: the next solve turns it by up to" in found.warnings[1]

    @pytest.mark.parametrize(
        ("what", "reason"),
        [
            ("held", "has constraints, and stays"),
            ("locked", "is locked in its location, and stays"),
            ("shared", "is also a goal of the chain 'b1', and stays"),
        ],
    )
    def test_a_target_that_can_not_come_along(self, what: str, reason: str) -> None:
        owner, chain, _ = started(target=make_empty((0, 1, 3)))
        if what == "held":
            chain.target.constraints.new("COPY_LOCATION").target = make_empty((0, 1, 3), "Other")
        elif what == "locked":
            chain.target.lock_location = (True, False, False)
        else:
            add_chain(owner, tip="b1", count=2).target = chain.target
            chain = rig_of(owner).chains[0]
        found = dragged(owner, chain)
        assert reason in found.warnings[0]
        assert "its goals are elsewhere: the next solve turns it by up to" in found.warnings[1]
        assert chain.target.location == Vector((0, 1, 3))

    def test_a_target_that_is_there_already_is_left_alone(self) -> None:
        owner, chain, _ = started()
        chain.target = make_empty(joints(owner)[-1] + Vector((0.3, 0.6, -0.7)))
        key_automatically()
        chain.start = "REST"
        dragged(owner, chain)
        assert not fcurves_of(chain.target)

    def test_an_influence_below_one_does_not_hold_the_tip_back(self) -> None:
        owner, chain, drag = started(influence=0.3)
        point = drag.place + Vector((0.3, 0.6, -0.7))
        assert drag_to(bpy.context, drag, point, anchored=True).residual < 1e-3
        assert (joints(owner)[-1] - point).length < 1e-3
        assert chain.influence == pytest.approx(0.3)


class TestWithoutAChain:
    def test_the_limb_that_the_bone_ends_is_keyed_and_nothing_else_is_kept(self, line: bpy.types.Object) -> None:
        key_automatically()
        drag = begin(bpy.context, line, Taken("b1"))
        assert (drag.name, drag.bone, drag.figure.bones) == ("limb of b1", "b1", ("b0", "b1"))
        drag_to(bpy.context, drag, drag.place + Vector((0.2, 0.4, -0.3)), anchored=True)
        assert finish(bpy.context, drag) == LetGo([], [])
        assert {curve.data_path for curve in fcurves_of(line)} == {
            f'pose.bones["{name}"].rotation_quaternion' for name in ("b0", "b1")
        }
        assert not rig_of(line).chains

    def test_a_bone_in_the_middle_of_a_live_chain_moves_while_its_tip_stays(self) -> None:
        owner, chain, _ = started(target=make_empty((0, 1, 3)))
        chain.start = "REST"
        go_live(owner)
        drag = begin(bpy.context, owner, Taken("b1"))
        point = drag.place + Vector((0.3, -0.4, 0.0))
        assert drag_to(bpy.context, drag, point).status == "REACHED"
        assert finish(bpy.context, drag).warnings == []
        found = joints(owner)
        assert (found[2] - point).length < 2e-3
        assert (found[-1] - Vector((0, 1, 3))).length < 2e-3
        assert chain.target.location == Vector((0, 1, 3))
        assert chain.start == "CAPTURED"
        bpy.context.scene.frame_set(2)
        assert max((a - b).length for a, b in zip(joints(owner), found, strict=True)) < 2e-3
        assert not live_state.paused


class TestTheOperatorWithNumbers:
    def test_a_bone_of_another_armature(self) -> None:
        other = make_line(2)
        started()
        tip = other.pose.bones["b1"].tail.copy()
        press("drag", rig=other.name, bone="b1", way=(0.2, 0.3, -0.4))
        assert (other.pose.bones["b1"].tail - tip - Vector((0.2, 0.3, -0.4))).length < 1e-3

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"chain": "none"}, "there is no such chain"),
            ({"bone": "none"}, "no bone 'none'"),
            ({"rig": "none", "bone": "b1"}, "no armature object 'none'"),
        ],
    )
    def test_what_is_not_there(self, options: dict[str, str], reason: str) -> None:
        owner, _, _ = started()
        before = channels(owner)
        with pytest.raises(RuntimeError, match=reason):
            press("drag", **options)
        assert channels(owner) == before


class TestRefusals:
    def test_a_constrained_bone(self) -> None:
        owner, chain, _ = started()
        owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        with pytest.raises(BoneError, match="b1"):
            begin(bpy.context, owner, Taken.tip_of(chain))

    def test_a_chain_that_goes_meanwhile(self) -> None:
        owner, _, drag = started()
        press("chain_remove")
        with pytest.raises(ChainError, match="gone"):
            drag_to(bpy.context, drag, Vector((0, 0, 3)), anchored=True)
        bpy.data.objects.remove(owner)
        drag.restore()

    def test_without_a_view(self) -> None:
        started()
        with pytest.raises(RuntimeError, match="with the mouse"):
            press("drag")

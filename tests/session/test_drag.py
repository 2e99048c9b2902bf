# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a tip, without a window."""

from __future__ import annotations

from itertools import pairwise

import bpy
import pytest
from fabrik_addon.errors import BoneError, ChainError, TargetError
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.properties import FabrikChain
from fabrik_addon.session.drag import Drag, begin, drag_to, finish
from mathutils import Vector

from rigs import add_chain, channels, evaluated_joints, make_empty, make_line


def started(count: int = 4, **settings: object) -> tuple[bpy.types.Object, FabrikChain, Drag]:
    owner = make_line(count)
    chain = add_chain(owner)
    for name, value in settings.items():
        setattr(chain, name, value)
    return owner, chain, begin(bpy.context, owner, chain)


def joints(owner: bpy.types.Object) -> list[Vector]:
    bpy.context.view_layer.update()
    return evaluated_joints(owner, owner.fabrik.chains[0])


class TestAnchored:
    def test_the_tip_follows_without_a_target(self) -> None:
        owner, _, drag = started()
        for point in (Vector((0.5, 1.0, 2.5)), Vector((-0.4, 0.7, 3.0)), Vector((0.0, 2.0, 2.0))):
            drag_to(bpy.context, drag, point, anchored=True)
            assert (joints(owner)[-1] - point).length < 1e-3
            assert joints(owner)[0].length < 1e-6

    def test_out_of_reach_it_points_there(self) -> None:
        owner, _, drag = started()
        assert drag_to(bpy.context, drag, Vector((30, 0, 0)), anchored=True) == "TOO_FAR"
        assert joints(owner)[-1].normalized().x > 0.999

    def test_cancelling_puts_all_back(self) -> None:
        owner, chain, _ = started()
        chain.target = make_empty((0, 1, 3))
        owner.fabrik.live = True
        bpy.context.view_layer.update()
        before, stood = channels(owner), chain.target.location.copy()
        drag = begin(bpy.context, owner, chain)
        drag_to(bpy.context, drag, Vector((0.5, 1.0, 2.5)), anchored=True)
        drag_to(bpy.context, drag, Vector((0.5, 2.0, 2.5)), anchored=False)
        drag.restore()
        bpy.context.view_layer.update()
        assert chain.target.location == stood
        for seen, wanted in zip(channels(owner), before, strict=True):
            assert seen == pytest.approx(wanted, abs=1e-6)

    def test_a_live_chain_takes_its_target_along(self) -> None:
        owner, chain, _ = started()
        holder = make_empty((0.3, 0, 0), "Holder")
        chain.target = make_empty((0, 1, 3))
        chain.target.parent = holder
        owner.fabrik.live = True
        bpy.context.view_layer.update()
        point = Vector((0.5, 1.0, 2.5))
        drag_to(bpy.context, begin(bpy.context, owner, chain), point, anchored=True)
        bpy.context.view_layer.update()
        assert (chain.target.matrix_world.translation - point).length < 1e-5
        assert (joints(owner)[-1] - point).length < 1e-3

    def test_limits_hold(self) -> None:
        owner, _, _ = started()
        for bone in list(owner.pose.bones)[1:]:
            bone.fabrik.limit = "LOCKED"
        drag = begin(bpy.context, owner, owner.fabrik.chains[0])
        assert drag_to(bpy.context, drag, Vector((0, 1, 1)), anchored=True) == "BLOCKED"
        assert owner.fabrik.chains[0].status == "NONE"


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
        drag = begin(bpy.context, owner, owner.fabrik.chains[0])
        point = drag.tip + Vector((3, 1, 0.5))
        drag_to(bpy.context, drag, point, anchored=False)
        assert (joints(owner)[-1] - point).length < 1e-3

    def test_a_root_that_hangs_on_a_bone_is_refused(self) -> None:
        owner = make_line(4)
        chain = add_chain(owner, tip="b3", count=3)
        drag = begin(bpy.context, owner, chain)
        before = channels(owner)
        with pytest.raises(BoneError, match="connected to its parent"):
            drag_to(bpy.context, drag, Vector((1, 0, 3)), anchored=False)
        assert channels(owner) == before

    def test_it_keys_rotation_and_location(self) -> None:
        owner, _, drag = started()
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        drag_to(bpy.context, drag, Vector((4, 0, 4)), anchored=False)
        assert not fcurves_of(owner)
        finish(bpy.context, drag)
        paths = {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner)}
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
        assert paths == {"rotation_quaternion", "location"}


class TestRefusals:
    def test_a_live_chain_whose_target_is_held(self) -> None:
        owner, chain, _ = started()
        chain.target = make_empty((0, 1, 3))
        chain.target.constraints.new("COPY_LOCATION").target = make_empty((0, 0, 3), "Other")
        owner.fabrik.live = True
        with pytest.raises(TargetError, match="drag the target"):
            begin(bpy.context, owner, chain)

    def test_a_constrained_bone(self) -> None:
        owner, chain, _ = started()
        owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        with pytest.raises(BoneError, match="b1"):
            begin(bpy.context, owner, chain)

    def test_a_chain_that_goes_meanwhile(self) -> None:
        owner, _, drag = started()
        bpy.ops.fabrik.chain_remove()
        with pytest.raises(ChainError, match="gone"):
            drag_to(bpy.context, drag, Vector((0, 0, 3)), anchored=True)
        bpy.data.objects.remove(owner)
        drag.restore()

    def test_without_a_view(self) -> None:
        started()
        with pytest.raises(RuntimeError, match="with the mouse"):
            bpy.ops.fabrik.drag()

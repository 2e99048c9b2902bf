# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake refuses or reports, so that nothing is silently wrong or lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import bpy
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.errors import FabrikError
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema.chain import FabrikChain
from mathutils import Quaternion

from support.judging import assert_on_target, bake_chain, channels, rotation_keys
from support.scenes import FRAMES, add_chain, assert_refused, key_scale, keyed, keyed_line, make_empty, make_line


def first_curve(owner: bpy.types.Object, path: str = "rotation_quaternion", **options: Any) -> Any:
    """The first of the curves of a bone that is keyed."""
    for frame in (5, 30):
        owner.pose.bones["b0"].keyframe_insert(path, frame=frame, **options)
    return fcurves_of(owner)[0]


def strip_of_another(owner: bpy.types.Object, chain: FabrikChain) -> None:
    first_curve(owner, "location")
    other = make_line(3)
    other.name = "Other"
    strip = other.animation_data_create().nla_tracks.new().strips.new("s", 1, owner.animation_data.action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = owner.animation_data.action_slot


def broken_driver(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.target.parent = holder = make_empty((0, 0, 0), "Holder")
    holder.driver_add("location", 0).driver.expression = "no_such_function(frame)"
    bpy.context.view_layer.update()


def solo(owner: bpy.types.Object, chain: FabrikChain) -> None:
    owner.keyframe_insert("location", frame=1)
    data = owner.animation_data
    data.nla_tracks.new().strips.new("old", 1, data.action)
    data.action, data.nla_tracks[0].is_solo = None, True


REFUSED: dict[str, tuple[Callable[[bpy.types.Object, FabrikChain], object], str, str]] = {
    "time is remapped": (
        lambda o, c: setattr(bpy.context.scene.render, "frame_map_new", 200),
        "ACTION",
        "time is remapped",
    ),
    "muted": (lambda o, c: setattr(first_curve(o), "mute", True), "ACTION", "muted"),
    "modified": (lambda o, c: first_curve(o).modifiers.new("NOISE"), "ACTION", "muted or modified"),
    "locked": (lambda o, c: setattr(first_curve(o), "lock", True), "ACTION", "is locked"),
    "samples": (lambda o, c: first_curve(o).convert_to_samples(1, 31), "ACTION", "holds samples"),
    "a muted group": (
        lambda o, c: setattr(first_curve(o, "location", group="b0").group, "mute", True),
        "ACTION",
        "the channels of 'b0' are muted",
    ),
    "over the track": (lambda o, c: first_curve(o), "NLA", "would play over the track"),
    "influence": (
        lambda o, c: (first_curve(o), setattr(o.animation_data, "action_influence", 0.5)),
        "ACTION",
        "is mixed with NLA strips",
    ),
    "no tracks": (lambda o, c: setattr(o.animation_data_create(), "use_nla", False), "NLA", "are switched off"),
    **{f"solo, {into}": (solo, into, "plays solo") for into in ("ACTION", "NEW_ACTION", "NLA")},
    "a strip of another armature": (strip_of_another, "ACTION", "also moves 'Other'"),
    "rest position is keyed": (
        lambda o, c: o.data.keyframe_insert("pose_position", frame=1),
        "ACTION",
        "pose position is animated",
    ),
    "enabled is keyed": (
        lambda o, c: o.keyframe_insert("fabrik_chains[0].enabled", frame=3),
        "ACTION",
        "'enabled' is animated",
    ),
    "bone count is keyed": (
        lambda o, c: o.keyframe_insert("fabrik_chains[0].bone_count", frame=3),
        "ACTION",
        "'bone_count' is animated",
    ),
    "rotation mode is keyed": (
        lambda o, c: o.pose.bones["b1"].keyframe_insert("rotation_mode", frame=3),
        "ACTION",
        "bone 'b1': its rotation mode is animated",
    ),
    "a broken driver": (
        broken_driver,
        "ACTION",
        "the driver of 'location' of 'Holder', which moves the target, can't be",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_not_be_baked_is_refused_and_nothing_is_changed(what: str) -> None:
    owner, chain = keyed_line()
    spoil, into, message = REFUSED[what]
    spoil(owner, chain)
    before, stood = rotation_keys(owner), channels(owner)
    with pytest.raises(FabrikError, match=message):
        bake_chain(owner, chain, into=into)
    assert (rotation_keys(owner), channels(owner)) == (before, stood)


class TestRefusals:
    def test_a_range_that_ends_before_it_starts(self, owner: bpy.types.Object) -> None:
        before = channels(owner)
        assert_refused("ends at frame 3, before it starts at 9", "bake", frame_start=9, frame_end=3)
        assert channels(owner) == before

    def test_a_deleted_target(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        bpy.data.objects.remove(chain.target)
        assert_refused("its target 'Target' was deleted", "bake", frame_start=1, frame_end=5)
        assert not fcurves_of(owner)

    @pytest.mark.parametrize("frame", [1, 6])
    def test_an_armature_that_has_no_scale_in_some_frames(self, frame: int, owner: bpy.types.Object) -> None:
        key_scale(owner, {1: 1.0, 5: 0.0, 9: 1.0})
        bpy.context.scene.frame_set(frame)
        before = rotation_keys(owner)
        where = "in frame 5, " if frame == 1 else ""
        assert_refused(f"'Rig': {where}its scale is zero along an axis", "bake", frame_start=1, frame_end=20)
        assert rotation_keys(owner) == before


class TestNothingIsSilentlyWrong:
    def test_a_channel_that_stays_beside_keys_outside_the_range(self) -> None:
        owner, chain = keyed_line()
        chain.target.animation_data_clear()
        bone = owner.pose.bones["b0"]
        bone.rotation_quaternion = Quaternion((1, 0, 0), 1.0)
        for frame in (-10, 40):
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        bake_chain(owner, chain)
        assert_on_target(owner, chain)

    @pytest.mark.parametrize("kind", ["COPY_ROTATION", "IK"])
    def test_a_constraint_that_is_switched_on_half_way(self, kind: Literal["COPY_ROTATION", "IK"]) -> None:
        owner, chain = keyed_line(count=4)
        chain.tip_bone, chain.bone_count = "b2", 3
        constraint = owner.pose.bones["b3" if kind == "IK" else "b1"].constraints.new(kind)
        constraint.target = make_empty((1, 1, 1), "Leader")
        keyed(constraint, {1: True, 6: False}, "mute")
        bpy.context.scene.frame_set(1)
        with pytest.raises(FabrikError, match="in frame 6"):
            bake_chain(owner, chain, verify="NONE")
        assert not any("rotation" in curve.data_path for curve in fcurves_of(owner))

    @pytest.mark.parametrize("whose", ["target", "armature"])
    def test_a_constraint_of_an_object_that_is_switched_on_half_way(self, whose: str) -> None:
        owner, chain = keyed_line()
        constraint = (chain.target if whose == "target" else owner).constraints.new("COPY_LOCATION")
        constraint.target, constraint.mute = make_empty((0.2, 0.9, 1.5), "Leader"), True
        constraint.keyframe_insert("mute", frame=1)
        constraint.mute = False
        constraint.keyframe_insert("mute", frame=6)
        bpy.context.scene.frame_set(1)
        assert "MOVED" not in dict(bake_chain(owner, chain).unreached).values()

    @pytest.mark.parametrize("is_plain", [True, False])
    def test_something_that_moves_the_tip_is_reported(self, is_plain: bool) -> None:
        owner, chain = keyed_line()
        if not is_plain:
            chain.target.constraints.new("LIMIT_LOCATION")

        def move(scene: bpy.types.Scene, _: bpy.types.Depsgraph) -> None:
            bones = {curve.data_path for curve in fcurves_of(owner)}
            owner.location.x = 0.3 if bones and scene.frame_current > 5 else 0.0

        handlers: Any = bpy.app.handlers.frame_change_pre
        handlers.append(move)
        try:
            result = bake_chain(owner, chain)
        finally:
            handlers.remove(move)
        assert {status for _, status in result.unreached} == {"MOVED"}
        assert result.unreached[0][0] == 6

    def test_the_current_frame_stays_below_zero_too(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        bpy.context.scene.frame_set(-3, subframe=0.5)
        bake_chain(owner, chain)
        assert bpy.context.scene.frame_current_final == -2.5

    def test_a_pose_without_keys_comes_back_where_a_later_chain_fails(self) -> None:
        owner = make_line(4)
        first = add_chain(owner, (0.2, 0.9, 1.4), tip="b1", count=2)
        second = add_chain(owner, (0.4, 1.0, 2.8), tip="b3", count=2)
        second.target.constraints.new("COPY_LOCATION").target = leader = make_empty((0, 0, 2), "Leader")
        keyed(leader, {1: 0.0, 4: float("nan")}, "location.x")
        before = channels(owner)
        with pytest.raises(FabrikError, match="in frame"):
            bake(bpy.context, [(owner, first), (owner, second)], BakeSettings(FRAMES))
        assert channels(owner) == before

    def test_a_goal_on_a_chain_that_is_not_baked(self, owner: bpy.types.Object) -> None:
        other = make_line(3)
        other.name, other.location.x = "Other", 2.0
        follower = add_chain(other)
        follower.target, follower.target_bone = owner, "b2"
        with pytest.raises(FabrikError, match="hangs on the chain 'b2' of 'Rig': bake that first"):
            bake(bpy.context, [(other, follower)], BakeSettings(FRAMES))
        bake_chain(owner, owner.fabrik.chains[0])
        bake(bpy.context, [(other, other.fabrik.chains[0])], BakeSettings(FRAMES))

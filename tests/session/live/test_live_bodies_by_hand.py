# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done by hand to a live body becomes the start pose of all its chains and of the body, or is put back."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest
from fabrik_addon.overlay.hover import notices
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session import live
from mathutils import Euler, Quaternion, Vector

from support.judging import HELD, assert_feet_hold, channels, off_target
from support.scenes import add_limb, keyed, live_body, tool_at_work, update


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], None]:
    return tool_at_work(monkeypatch)


class TestByHand:
    def test_a_bone_between_body_and_limbs_is_kept(self) -> None:
        owner = live_body()
        bone = owner.pose.bones["spine2"]
        bone.rotation_quaternion = bone.rotation_quaternion @ Euler((0.3, 0, 0)).to_quaternion()
        wanted = bone.rotation_quaternion.copy()
        update()
        kept = rig_of(owner).body_captured["spine2"]
        assert Quaternion(kept.rotation).rotation_difference(wanted).angle < 1e-6
        assert {chain.start for chain in rig_of(owner).chains} == {"CAPTURED"}
        assert off_target(owner, "hand.L") <= HELD
        assert_feet_hold(owner)

    def test_the_moved_body_is_kept(self) -> None:
        owner = live_body()
        hips = owner.pose.bones["hips"]
        hips.location.y -= 0.1
        wanted = hips.location.copy()
        update()
        assert (Vector(rig_of(owner).body_captured["hips"].location) - wanted).length < 1e-6
        assert_feet_hold(owner)
        assert off_target(owner, "hand.L") <= HELD

    @pytest.mark.parametrize("name", ["hips", "spine1", "upper_arm.L", "hand.L", "thigh.R"])
    def test_little_by_little(self, name: str) -> None:
        owner = live_body()
        before = [bone.tail.copy() for bone in owner.pose.bones]
        for i in range(3):
            bone = owner.pose.bones[name]
            bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((1.0, 0.3, 0.2), 2e-4)
            update()
            pairs = zip(before, owner.pose.bones, strict=True)
            assert max((a - b.tail).length for a, b in pairs) < 2e-3 * (i + 1)

    def test_solving_by_button_stays(self) -> None:
        owner = live_body()
        owner.pose.bones["hips"].location.y -= 0.1
        update()
        posed = channels(owner)
        rig_of(owner).live = False
        bpy.ops.fabrik.solve_all()
        update()
        assert channels(owner) == posed

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda owner: setattr(rig_of(owner), "auto_capture", False), "Automatic Capture is off"),
            (
                lambda owner: setattr(rig_of(owner).chains["foot.R"], "start", "ANIMATED"),
                "'foot.R' starts from its keys",
            ),
            (
                lambda owner: setattr(rig_of(owner).chains["foot.R"], "influence", 0.5),
                "the influence of 'foot.R' is between",
            ),
        ],
    )
    def test_it_is_put_back_with_a_reason(self, change: Callable[[bpy.types.Object], None], reason: str) -> None:
        owner = live_body()
        change(owner)
        update()
        stood = channels(owner)
        owner.pose.bones["hips"].location.y -= 0.1
        owner.pose.bones["forearm.L"].rotation_quaternion = (1, 0, 0, 0.2)
        update()
        assert channels(owner) == stood
        ((chain, hand),) = live.hands_of(owner)
        assert chain == "hand.L"
        assert set(hand.bones) == {"hips", "forearm.L"}
        assert reason in hand.reason
        bpy.ops.fabrik.hand_pose_keep(chain=chain)
        update()
        assert not live.hands_of(owner)
        assert channels(owner) != stood

    def test_a_tool_that_moves_the_body_and_ends(self, tool: Callable[[int, bool], None]) -> None:
        results = []
        for steps in ((1.0,), (0.2, 0.9, 0.4, 1.0)):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            owner = live_body()
            hips = owner.pose.bones["hips"]
            stood = hips.location.copy()
            tool(7, True)
            for share in steps:
                hips.location = stood + share * Vector((0.05, 0.1, 0.0))
                update()
                assert_feet_hold(owner)
            tool(0, True)
            owner.update_tag()
            update()
            results.append(channels(owner))
        assert results[0] == results[1]

    def test_a_tool_that_is_cancelled(self, tool: Callable[[int, bool], None]) -> None:
        owner = live_body()
        before = channels(owner)
        hips = owner.pose.bones["hips"]
        stood = hips.location.copy()
        tool(7, True)
        for share in (0.2, 0.9):
            hips.location = stood + share * Vector((0.05, 0.1, 0.0))
            update()
        tool(0, False)
        hips.location = stood
        update()
        assert channels(owner) == before
        assert not rig_of(owner).body_captured
        assert {chain.start for chain in rig_of(owner).chains} == {"REST"}
        assert not live.hands_of(owner)

    def test_an_animated_goal_is_named(self) -> None:
        owner = live_body()
        goal = rig_of(owner).chains["hand.L"].target
        keyed(goal, {1: goal.location.copy()})
        keyed(goal, {20: (0.3, -0.5, 1.0)})
        bpy.context.scene.frame_set(1)
        owner.pose.bones["thigh.L"].rotation_quaternion = Euler((0.4, 0, 0)).to_quaternion()
        update()
        (text,) = notices()
        assert text.startswith("foot.L: 'thigh.L' was posed by hand, and live posing put it back: 'hand.L' is animated")

    def test_automatic_keying_keeps_a_body_that_starts_from_its_keys(self) -> None:
        owner = live_body()
        for chain in rig_of(owner).chains:
            chain.start = "ANIMATED"
        update()
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        owner.pose.bones["hips"].location.y -= 0.1
        update()
        shown = channels(owner)
        assert 'pose.bones["hips"].location' in {curve.data_path for curve in fcurves_of(owner)}
        bpy.context.scene.frame_set(5)
        bpy.context.scene.frame_set(1)
        for mine, theirs in zip(channels(owner), shown, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-5)

    def test_it_is_told_until_the_body_moves_on(self) -> None:
        owner = live_body()
        for join in (False, True):
            owner.pose.bones["hips"].location.y -= 0.03
            update()
            ((_, hand),) = live.hands_of(owner)
            assert "'hips' was posed by hand" in live.hand_text(hand, True)
            if join:
                add_limb(owner, "hand.R", 3, target=(-0.5, -0.4, 1.2))
            else:
                rig_of(owner).chains["hand.L"].target.location.z -= 0.1
            update()
            assert not live.hands_of(owner)

    def test_undo_and_redo(self) -> None:
        owner = live_body()
        bpy.ops.ed.undo_push(message="before")
        stood = channels(owner)
        owner.pose.bones["hips"].location.y -= 0.1
        update()
        posed = channels(owner)
        bpy.ops.ed.undo_push(message="moved")
        for step, expected in ((bpy.ops.ed.undo, stood), (bpy.ops.ed.redo, posed), (bpy.ops.ed.undo, stood)):
            step()
            update()
            assert channels(bpy.data.objects["Body"]) == expected

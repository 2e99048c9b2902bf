# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that are planned anew by themselves: as by the button, when nothing else goes on, and not for ever."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.live.known import state as live_state
from fabrik_addon.session.walk import idle
from fabrik_addon.session.walk.planning import Planning, plan_walk, what_is_old

from dev.walking_rigs import ahead
from support.walking_rigs import FRAMES, key_way, walking_spider

MOST = 400  # slices


@pytest.fixture
def walker() -> Iterator[bpy.types.Object]:
    owner = walking_spider()
    rig_of(owner).walker.plans_when_idle = True
    bpy.context.scene.frame_set(17)
    idle.state.forget()
    idle.state.failed.clear()
    yield owner
    idle.state.forget()


def is_old(owner: bpy.types.Object) -> bool:
    return bool(what_is_old(owner, bpy.context.scene))


def until_planned(owner: bpy.types.Object) -> int:
    """How many slices it takes until the walk is not old any more."""
    for count in range(MOST):
        if not is_old(owner):
            return count
        idle.tick()
    raise AssertionError("it is never planned")


def test_a_walk_that_is_old_is_planned_as_by_the_button(walker: bpy.types.Object) -> None:
    rig_of(walker).walker.step_height = 0.3
    assert is_old(walker)
    count = until_planned(walker)
    assert count >= 3  # it is seen, seen again, and planned
    assert bpy.context.scene.frame_current == 17
    digest = rig_of(walker).walker.digest
    plan_walk(bpy.context, walker, FRAMES)
    assert rig_of(walker).walker.digest == digest


def test_only_where_it_is_asked_for(walker: bpy.types.Object) -> None:
    rig_of(walker).walker.plans_when_idle = False
    rig_of(walker).walker.step_height = 0.3
    for _ in range(5):
        assert idle.tick() == idle.LOOK
    assert is_old(walker)


def test_what_goes_on_changing_is_left_alone(walker: bpy.types.Object) -> None:
    for index in range(6):
        rig_of(walker).walker.step_height = 0.2 + 0.01 * index
        idle.tick()
    assert idle.state.work is None


def test_a_change_meanwhile_starts_anew(walker: bpy.types.Object) -> None:
    rig_of(walker).walker.step_height = 0.3
    idle.tick()
    idle.tick()
    assert idle.state.work is not None
    key_way(walker, "b0", ahead(1.0))
    idle.tick()
    assert idle.state.work is None
    until_planned(walker)


def test_nothing_is_done_while_live_posing_rests(walker: bpy.types.Object) -> None:
    rig_of(walker).walker.step_height = 0.3
    live_state.paused = True
    try:
        for _ in range(5):
            idle.tick()
    finally:
        live_state.paused = False
    assert idle.state.work is None


def test_a_walk_that_was_switched_off_stays_off(walker: bpy.types.Object) -> None:
    rig_of(walker).walker.step_height = 0.3
    rig_of(walker).walker.on = False
    until_planned(walker)
    assert not rig_of(walker).walker.on


def test_what_can_not_be_planned_is_tried_once(walker: bpy.types.Object, caplog: pytest.LogCaptureFixture) -> None:
    key_way(walker, "b0", lambda share: (0.0, 0.0 if share < 0.5 else -9.0, 0.0))
    bpy.context.scene.frame_set(17)
    for _ in range(MOST):
        idle.tick()
        if idle.state.failed:
            break
    assert "leaps" in caplog.text
    for _ in range(5):
        assert idle.tick() == idle.LOOK
    assert idle.state.work is None
    key_way(walker, "b0", ahead(1.0))
    until_planned(walker)


def test_two_that_can_not_be_planned_are_tried_once_each(
    walker: bpy.types.Object, caplog: pytest.LogCaptureFixture
) -> None:
    other = walking_spider(legs=3)
    rig_of(other).walker.plans_when_idle = True
    for owner in (walker, other):
        key_way(owner, "b0", lambda share: (0.0, 0.0 if share < 0.5 else -9.0, 0.0))
    bpy.context.scene.frame_set(17)
    for _ in range(MOST):
        idle.tick()
        if len(idle.state.failed) == 2:
            break
    assert set(idle.state.failed) == {walker.name_full, other.name_full}
    for _ in range(10):
        assert idle.tick() == idle.LOOK
    assert caplog.text.count("leaps") == 2


def test_a_walker_that_is_gone_is_forgotten(walker: bpy.types.Object) -> None:
    rig_of(walker).walker.step_height = 0.3
    idle.tick()
    idle.tick()
    assert idle.state.work is not None
    bpy.data.objects.remove(walker)
    idle.tick()
    assert idle.state.work is None


def test_slices_are_short(walker: bpy.types.Object) -> None:
    """Each goes on from where the last one ended."""
    work = Planning(bpy.context, walker, FRAMES)
    shares = []
    while not work.advance(0.0):
        shares.append(work.share)
    assert shares == sorted(shares)
    assert len(shares) >= FRAMES[1]


def test_what_was_posed_and_not_keyed_stays(walker: bpy.types.Object) -> None:
    """Frames are visited without being asked for: what a frame change takes away is put back."""
    rig_of(walker).live = False
    walker.keyframe_insert("location", frame=1)
    rig_of(walker).walker.step_height = 0.3
    bone = walker.pose.bones["b0"]
    bone.location.x += 0.25
    walker.location.z = 0.5

    def posed() -> list[tuple[float, ...]]:
        turns = [tuple(one.rotation_quaternion) for one in walker.pose.bones]
        return [tuple(bone.location), tuple(walker.location), *turns]

    stood = posed()
    until_planned(walker)
    assert posed() == stood

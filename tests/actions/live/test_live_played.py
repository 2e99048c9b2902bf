# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames that are played again: posed as they were, without a solve, for as long as nothing else has changed."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.actions.live.state import LiveFigure, LiveRig, Names
from fabrik_addon.actions.live.update import _Tick as Tick
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Quaternion, Vector

from support.judging import channels, tip_error
from support.scenes import each_frame, keyed, live_line, many_limbs, turned, update

FRAMES = range(1, 13)


def move(*chains: FabrikChain) -> None:
    """Let the targets of chains move by their own curves."""
    for k, chain in enumerate(chains):
        place = chain.target.location.copy()
        keyed(chain.target, {1: place, 12: place + Vector((0.3, -0.2 * k, -0.3))})
    update()


def line() -> bpy.types.Object:
    owner, chain = live_line()
    move(chain)
    return owner


def euler_line() -> bpy.types.Object:
    owner = line()
    owner.pose.bones["b1"].rotation_mode = "XYZ"
    update()
    return owner


def limbs() -> bpy.types.Object:
    owner = many_limbs(3)
    move(*owner.fabrik.chains[:2])  # the third stays where it is
    return owner


def played(owner: bpy.types.Object) -> tuple[list[object], int]:
    """What stands in the channels, and what is told, frame by frame; and how many solves that took."""
    before = live.state.solves
    found: list[object] = []
    for _ in each_frame(FRAMES):
        told = [(chain.status, chain.residual, chain.turn_residual, chain.passes) for chain in owner.fabrik.chains]
        found.append((channels(owner), told))
    return found, live.state.solves - before


@pytest.mark.parametrize("make", [line, euler_line, limbs])
def test_what_is_played_again_is_the_same_to_the_bit_and_takes_no_solve(make: Callable[[], bpy.types.Object]) -> None:
    owner = make()
    first, solves = played(owner)
    assert solves >= len(FRAMES) - 1
    second, again = played(owner)
    assert second == first
    assert again == 0


def test_a_status_that_changes_on_the_way_is_told_again() -> None:
    owner, chain = live_line()
    keyed(chain.target, {1: (0.2, -0.4, 1.9), 12: (0.2, -0.4, 5.9)})
    update()
    first, _ = played(owner)
    second, again = played(owner)
    assert second == first
    assert 0 < again < len(FRAMES)  # where the status is another one than a frame before
    bpy.context.scene.frame_set(1)
    near = chain.status
    bpy.context.scene.frame_set(12)
    assert (near, chain.status) == ("REACHED", "TOO_FAR")


CHANGES: dict[str, Callable[[bpy.types.Object], object]] = {
    "locked": lambda owner: setattr(owner.pose.bones["b1"].fabrik, "limit", "LOCKED"),
    "key moved": lambda owner: keyed(owner.fabrik.chains[0].target, {6: (0.1, -0.9, 1.2)}),
    "weaker": lambda owner: setattr(owner.fabrik.chains[0], "influence", 0.5),
    "carried": lambda owner: setattr(owner.location, "x", 0.1),
    "by hand": lambda owner: turned(owner, "b0"),
    # which does not start from its keys: they are overwritten in each frame
    "a bone keyed": lambda owner: owner.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=3),
}


@pytest.mark.parametrize("is_evaluated", [True, False], ids=["evaluated", "unheard"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_holds_in_frames_that_were_played(change: str, is_evaluated: bool) -> None:
    poses = []
    for is_played in (False, True):
        owner = line()
        bpy.context.scene.frame_set(6)
        if is_played:
            played(owner)
            bpy.context.scene.frame_set(6)
        CHANGES[change](owner)
        if is_evaluated:
            update()
        poses.append(played(owner)[0])
    assert poses[0] == poses[1]


def test_bones_beside_the_chains_are_left_as_they_are() -> None:
    owner = limbs()
    played(owner)
    owner.fabrik.chains[2].enabled = False
    update()
    played(owner)
    turn = Quaternion((1.0, 0.0, 0.0), 0.3)
    owner.pose.bones["b4"].rotation_quaternion = turn
    bpy.context.scene.frame_set(5)
    assert owner.pose.bones["b4"].rotation_quaternion == turn


def test_where_the_curves_do_not_tell_the_truth_the_chain_is_read_anew() -> None:
    owner = line()
    played(owner)
    chain = owner.fabrik.chains[0]
    fcurves_of(chain.target)[0].mute = True  # told to nobody
    for frame in each_frame((3, 9)):
        assert tip_error(owner, chain) < 1e-4, frame


def test_an_armature_that_stands_as_foreseen_is_not_looked_at_beside_one_that_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both are posed as they are by themselves."""
    alone = played(line())[0]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner, other = line(), line()
    keyed(other, {1: (0.0, 0.0, 0.0), 12: (0.2, 0.1, 0.0)})
    update()
    bpy.context.scene.frame_set(1)
    seen, look = list[bpy.types.Object](), Tick._looked

    def looked(tick: Tick, rig: LiveRig, names: Names) -> LiveFigure | None:
        seen.append(rig.owner)
        return look(tick, rig, names)

    monkeypatch.setattr(Tick, "_looked", looked)
    assert played(owner)[0] == alone
    assert other in seen
    assert owner not in seen
    for frame in each_frame((12, 7)):
        assert tip_error(other, other.fabrik.chains[0]) < 1e-4, frame

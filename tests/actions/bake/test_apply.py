# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits that are applied or baked: they are the motion then, and no frame beside them changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import bpy
import numpy as np
import pytest
from fabrik_addon.rig.animation.compat import fcurves_of, remove_curves
from fabrik_addon.rig.animation.curves import read_keys
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of

from support.animated import (
    FIRST,
    LAST,
    LIMBS,
    Frames,
    Motion,
    animated,
    control,
    in_strips,
    move,
    played,
    raised,
    size,
    with_motion,
)
from support.hanging import chain
from support.scenes import assert_refused, go_live, press, put, update

pytestmark = pytest.mark.usefixtures("not_live")


def test_applied_edits_are_the_motion_and_the_controls_rest(motion: Motion) -> None:
    owner, names, before = motion
    raised(owner, way=(0.0, -0.15, 0.2))
    edited = played(owner, names)
    press("edits_apply")
    assert tuple(control(owner, "Arm.L").location) == (0.0, 0.0, 0.0)
    assert not [one for one in fcurves_of(owner) if chain(owner, "Arm.L").target_bone in one.data_path]
    poses, leg = played(owner, names), size(owner)
    assert np.abs(poses - edited).max() <= 1e-5 * leg
    assert (poses[[0, 5, 20, 24]] == before[[0, 5, 20, 24]]).all()
    assert rig_of(owner).live
    assert all(chain(owner, name).enabled for name in LIMBS)
    assert_refused("nothing to apply", "edits_apply")


def assert_applied(owner: bpy.types.Object, edited: Frames) -> None:
    """Apply Edits leaves all frames as they were edited, with controls at rest, live and not."""
    names = [bone.name for bone in pose_bones(owner)]
    own = [i for i, name in enumerate(names) if not pose_bones(owner)[name].bone.name.endswith(("target.L", "pole.L"))]
    press("edits_apply")
    for live in (True, False):
        rig_of(owner).live = live
        update()
        off = np.abs(played(owner, names) - edited)[:, own, :3, 3]
        assert off.max() <= 2e-5 * size(owner), (live, off.max(axis=(1, 2)) / size(owner))
    assert tuple(control(owner, "Arm.L").location) == (0.0, 0.0, 0.0)


def with_keys(owner: bpy.types.Object, **values: object) -> None:
    """Let all keys go on in some way."""
    for curve in fcurves_of(owner):
        for point in curve.keyframe_points:
            put(point, **values)
        curve.update()


def with_keys_of(owner: bpy.types.Object, kept: str) -> None:
    """Take the keys of all other bones away."""
    remove_curves(owner, [curve for curve in fcurves_of(owner) if kept not in curve.data_path])


def at_random(owner: bpy.types.Object, seed: int) -> None:
    """Let every key go on in a way of its own."""
    chosen = np.random.default_rng(seed)
    for curve in fcurves_of(owner):
        for point in curve.keyframe_points:
            point.interpolation = str(chosen.choice(["BEZIER", "LINEAR", "CONSTANT", "SINE", "BOUNCE"]))
            point.handle_left_type = point.handle_right_type = str(chosen.choice(["AUTO", "AUTO_CLAMPED", "FREE"]))
        curve.update()


CHANGES: dict[str, Callable[[bpy.types.Object], None]] = {
    **{easing: partial(with_keys, interpolation=easing) for easing in ("SINE", "BACK", "ELASTIC")},
    "arms alone keyed": partial(with_keys_of, kept="Arm"),
    "legs alone keyed": partial(with_keys_of, kept="Leg"),
    "strips": in_strips,
}
HANDLES = ("AUTO", "AUTO_CLAMPED", "ALIGNED", "VECTOR")
CHANGES |= {kind: partial(with_keys, handle_left_type=kind, handle_right_type=kind) for kind in HANDLES}
CHANGES |= {f"any, {seed}": partial(at_random, seed=seed) for seed in range(4)}


def frames_for(change: str) -> list[tuple[int, int, int]]:
    """In which frames a hand is raised, from which on, and till when."""
    if change in HANDLES:
        return [(4, 8, 12), (5, 9, 13), (7, 11, 15)]
    return [(6, 9, 12) if change.startswith("any") else (9, 13, 17)]


@pytest.mark.parametrize(
    ("change", "frames"), [(change, frames) for change in CHANGES for frames in frames_for(change)]
)
def test_edits_are_applied_where_keys_are_as_they_may_be(change: str, frames: tuple[int, int, int]) -> None:
    owner = animated("human_mixamo")
    CHANGES[change](owner)
    press("character_setup")
    go_live(owner)
    assert_applied(owner, raised(owner, frames))


@pytest.mark.parametrize("kind", ["LINEAR", "CONSTANT"])
@pytest.mark.parametrize("frames", [(28, 32, 36), (-9, -5, -2)])
def test_edits_are_applied_beyond_the_keys(kind: str, frames: tuple[int, int, int]) -> None:
    owner = animated("human_mixamo")
    for curve in fcurves_of(owner):
        curve.extrapolation = kind
    press("character_setup")
    go_live(owner)
    raised(owner, frames)
    around, names = range(-20, 60), [bone.name for bone in pose_bones(owner)]
    edited = played(owner, names, around)
    press("edits_apply")
    own = [i for i, name in enumerate(names) if "target" not in name]
    off = np.abs(played(owner, names, around) - edited)[:, own, :3, 3].max(axis=(1, 2)) / size(owner)
    assert off.max() <= 1e-4, off


def test_edits_outside_the_scenes_frames_are_applied_too(motion: Motion) -> None:
    owner, names, _ = motion
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 5, 15
    move(owner, "Body", (0.0, 0.0, -0.1))
    edited = played(owner, names)
    press("edits_apply")
    assert np.abs(played(owner, names) - edited)[:, :, :3, 3].max() <= 2e-5 * size(owner)


@pytest.mark.parametrize("way", ["bake", "pose_snap"])
def test_what_is_baked_is_motion_and_its_controls_rest(
    motion: Motion, way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    owner, names, _ = motion
    move(owner, "Body", (0.0, 0.0, -0.1))
    edited = played(owner, names)
    capfd.readouterr()
    press(way, chains="ALL", span="RANGE", frame_start=FIRST, frame_end=LAST)
    assert "not reached" not in capfd.readouterr().out
    assert rig_of(owner).bake_report
    for one in rig_of(owner).chains:
        one.enabled = one.goal == "OFFSET"
    go_live(owner)
    assert np.abs(played(owner, names) - edited)[:, :, :3, 3].max() <= 2e-5 * size(owner)


def test_a_refused_apply_leaves_the_action_alone() -> None:
    owner, names, before = with_motion("human_mixamo")
    move(owner, "Arm.L", (0.0, -0.1, 0.1))
    other = owner.copy()
    bpy.context.collection.objects.link(other)
    keys = [read_keys(curve).points.tobytes() for curve in fcurves_of(owner)]
    assert_refused("also moves", "edits_apply")
    assert [read_keys(curve).points.tobytes() for curve in fcurves_of(owner)] == keys
    move(owner, "Arm.L", (0.0, 0.0, 0.0))
    assert (played(owner, names) == before).all()


def test_a_keyed_goal_is_not_applied_but_named() -> None:
    owner = with_motion("human_mixamo")[0]
    arm = chain(owner, "Arm.L")
    owner.keyframe_insert(f"fabrik_chains[{rig_of(owner).chains.find('Arm.L')}].goal", frame=1)
    move(owner, "Arm.L", (0.0, -0.1, 0.1))
    assert_refused(r"Arm\.L.*Goal is keyed", "edits_apply")
    assert arm.goal == "OFFSET"

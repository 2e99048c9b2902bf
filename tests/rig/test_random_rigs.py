# SPDX-License-Identifier: GPL-3.0-or-later
"""Random rigs with all flags mixed: each is posed right or refused by name, and a refusal moves nothing."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.figure.joint_limits import read_limit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mathutils import Matrix

from support.judging import channels, tip_error
from support.random_rigs import RandomRig, random_rig
from support.scenes import chain_bones
from support.stored import empty_file

ROUNDING = 1.1  # of the tolerance: the solve stops at it, and single precision adds its own


def solve(rig: RandomRig) -> None:
    before = channels(rig.owner)
    refusal = ""
    try:
        bpy.ops.fabrik.solve()
    except RuntimeError as error:
        refusal = str(error)
    assert (rig.chain.status == "REFUSED") == bool(refusal)
    if refusal:
        assert "bone 'b" in rig.chain.message
        assert rig.chain.message in refusal
        assert channels(rig.owner) == before
    if rig.chain.status != "REFUSED":
        assert worst_violation(rig) <= 1e-4
    if rig.chain.status == "REACHED":
        assert tip_error(rig.owner, rig.chain) <= rig.chain.tolerance * ROUNDING


def worst_violation(rig: RandomRig) -> float:
    """Angle by which a bone's evaluated matrix stands outside its limit; for scales that shear nothing."""
    if rig.depends_on_direction:
        return 0.0
    worst = 0.0
    for bone in chain_bones(rig.owner, rig.chain):
        basis = rig.owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
        scale = bone.scale if bone.scale[0] > 0 else -bone.scale
        unscaled = basis.to_3x3() @ Matrix.Diagonal(scale).inverted()
        if unscaled.determinant() < 0:
            unscaled = unscaled * -1.0
        rotation = unscaled.to_quaternion()
        limit = read_limit(bone, rotation)
        worst = max(worst, limit.violation(rotation))
    return worst


@pytest.mark.parametrize("uneven", [False, True])
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6))
def test_scales(uneven: bool, seed: int) -> None:
    empty_file()
    solve(random_rig(seed, uneven=uneven))


@pytest.mark.parametrize("uneven", [False, True])
def test_most_reachable_targets_are_reached(uneven: bool) -> None:
    missed = []
    for seed in range(150):
        empty_file()
        rig = random_rig(seed, uneven=uneven)
        solve(rig)
        if rig.chain.status not in {"REACHED", "REFUSED"}:
            missed.append(seed)
    assert missed == []


@pytest.mark.parametrize("seed", [616, 865])
def test_seeds_that_failed_once(seed: int) -> None:
    solve(random_rig(seed))

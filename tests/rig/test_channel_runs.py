# SPDX-License-Identifier: GPL-3.0-or-later
"""Channel values of many frames at once are those of one frame after the other, to the last bit that Blender keeps."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from fabrik_addon.maths import Doubles
from fabrik_addon.rig.channel_runs import cosines, run_on, to_rotations
from fabrik_addon.rig.channels import to_rotation, to_values

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
FRAMES, BONES = 300, 4
SIZES = {"QUATERNION": 4, "AXIS_ANGLE": 4}


def walk(step: float) -> Doubles:
    """Rotations that turn by chance from frame to frame, with signs by chance, some at rest and some in the lock."""
    random = np.random.default_rng(5)
    found = np.cumsum(step * random.normal(size=(FRAMES, BONES, 4)), axis=0) + random.normal(size=(BONES, 4))
    found /= np.linalg.norm(found, axis=2)[..., None]
    found[50:53, 2] = (1.0, 0.0, 0.0, 0.0)
    found[90:95, 1], found[95:99, 3] = (sqrt(0.5), 0.0, sqrt(0.5), 0.0), (sqrt(0.5), sqrt(0.5), 0.0, 0.0)
    turned: Doubles = found * np.where(random.random((FRAMES, BONES)) < 0.5, -1.0, 1.0)[..., None]
    return turned


@pytest.mark.parametrize("step", [0.01, 0.3, 4.0])
@pytest.mark.parametrize("mode", MODES)
def test_all_frames_at_once(mode: str, step: float) -> None:
    rotations = walk(step)
    near = 3.0 * np.random.default_rng(6).normal(size=(BONES, SIZES.get(mode, 3)))
    found = run_on(mode, rotations, cosines(rotations), near)
    for i in range(BONES):
        values = near[i].tolist()
        for k in range(FRAMES):
            values = to_values(mode, rotations[k, i].tolist(), values)
            assert found[k, i].astype(np.float32).tolist() == np.array(values, dtype=np.float32).tolist(), (k, i)


@pytest.mark.parametrize("mode", MODES)
def test_and_back(mode: str) -> None:
    rotations = walk(0.3)
    values = run_on(mode, rotations, cosines(rotations), np.zeros((BONES, SIZES.get(mode, 3))))
    for i in range(BONES):
        found = to_rotations(mode, values[:, i])
        for k in range(FRAMES):
            assert abs(np.dot(found[k], rotations[k, i])) == pytest.approx(1.0, abs=1e-12)
            assert found[k] == pytest.approx(to_rotation(mode, values[k, i].tolist(), "b"), abs=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_single_frame(mode: str) -> None:
    near = [0.3] * SIZES.get(mode, 3)
    rotations = np.array([[[0.5, 0.5, -0.5, 0.5]]])
    found = run_on(mode, rotations, cosines(rotations), np.array([near]))
    assert found[0, 0].tolist() == pytest.approx(to_values(mode, (0.5, 0.5, -0.5, 0.5), near), abs=1e-15)

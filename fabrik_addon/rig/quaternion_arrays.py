# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of many frames at once: arrays (..., 4) of doubles, w first.

The functions are those of `rotations.py`, with the same operations in the same order: so they give the same bits, but
for the last of sines and arc tangents.
"""

from __future__ import annotations

import numpy as np

from .array_types import Doubles


def length(a: Doubles) -> Doubles:
    """Lengths of vectors (..., k), (...)."""
    found: Doubles = np.sqrt(np.add.reduce(a * a, axis=-1))
    return found


def unit(a: Doubles) -> Doubles:
    """Vectors or quaternions made unit; zero where there is no length."""
    size = length(a)[..., None]
    found: Doubles = np.divide(a, size, out=np.zeros_like(a), where=size > 0.0)
    return found


def multiplied(p: Doubles, q: Doubles) -> Doubles:
    """The rotations that turn by q, then by p."""
    pw, px, py, pz = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    qw, qx, qy, qz = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    found: Doubles = np.stack(
        (
            pw * qw - px * qx - py * qy - pz * qz,
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
        ),
        axis=-1,
    )
    return found


def conjugated(q: Doubles) -> Doubles:
    found: Doubles = q * np.array((1.0, -1.0, -1.0, -1.0))
    return found


def turn_about(axis: Doubles, angle: Doubles) -> Doubles:
    """The rotations by angles (...) about unit axes (..., 3)."""
    half = 0.5 * angle
    sine = np.sin(half)[..., None] * axis
    found: Doubles = np.concatenate((np.broadcast_to(np.cos(half)[..., None], (*sine.shape[:-1], 1)), sine), axis=-1)
    return found


def turn_angle(q: Doubles) -> Doubles:
    """Angles of unit quaternions, in [0, pi]."""
    found: Doubles = 2.0 * np.arctan2(length(q[..., 1:]), np.abs(q[..., 0]))
    return found

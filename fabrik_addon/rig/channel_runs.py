# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of rotation channels for many frames that follow each other, each running on from the one before; and back.

The numbers are those of `channels.to_values` frame by frame. What depends on the frame before is a sign or a number of
whole turns, which add up, or which of two triples of Euler angles is the nearer: so no frame has to wait for another.
"""

from __future__ import annotations

import numpy as np

from ..maths import Doubles, Mask, lengths, products, turns_about, units
from .channels import AXES, EVEN_ORDERS, LOCK, TURN, UNIT_AXES, euler_order


def run_on(mode: str, rotations: Doubles, steps: Doubles, near: Doubles) -> Doubles:
    """Channel values of m bones over F frames.

    Args:
        mode: The rotation mode of the bones.
        rotations: (F, m, 4), unit quaternions in the rest frames of the bones, w first.
        steps: Their `cosines`.
        near: (m, k), k channels each, on from which the first frame runs.

    Returns:
        (F, m, k).
    """
    if mode == "QUATERNION":
        first = np.einsum("mk,mk->m", rotations[0], near)
        if first.min() >= 0.0 and steps.min(initial=0.0) >= 0.0:
            return rotations
        return rotations * _signs(first, steps)[..., None]
    if mode == "AXIS_ANGLE":
        return _axis_angles(rotations, near)
    return _euler_angles(rotations, near, mode)


def run_of_turns(angles: Doubles, near: Doubles) -> Doubles:
    """Angles (F, ...) with the whole turns by which each is nearest to the one before, and the first to `near`."""
    before = np.concatenate((near[None], angles[:-1]))
    found: Doubles = angles + TURN * np.cumsum(np.round((before - angles) / TURN), axis=0)
    return found


def to_rotations(mode: str, values: Doubles) -> Doubles:
    """The channels of F frames, (F, k), as unit quaternions (F, 4); see `channels.to_rotation`."""
    if mode == "QUATERNION":
        return units(values)
    if mode == "AXIS_ANGLE":
        return turns_about(units(values[:, 1:]), values[:, 0])
    axes = [AXES.index(name) for name in euler_order(mode)]
    first, second, third = (turns_about(np.array(UNIT_AXES[i]), values[:, i]) for i in axes)
    return products(third, products(second, first))  # those later in the order are applied outside


def cosines(vectors: Doubles) -> Doubles:
    """The scalar products of vectors (F, m, k) with those of the frame before, (F - 1, m)."""
    found: Doubles = np.einsum("fmk,fmk->fm", vectors[1:], vectors[:-1])
    return found


def _signs(first: Doubles, steps: Doubles) -> Doubles:
    """The signs, (F, m), by which vectors run on.

    Args:
        first: (m,), scalar products of those of the first frame with what they are to continue.
        steps: (F - 1, m), those of the others with the ones before them.
    """
    found: Doubles = np.cumprod(np.where(np.concatenate((first[None], steps)) < 0.0, -1.0, 1.0), axis=0)
    return found


def _axis_angles(rotations: Doubles, near: Doubles) -> Doubles:
    """(F, m, 4): the angle, then the axis, which stays as it was where a rotation has none."""
    sizes = lengths(rotations[..., 1:])
    turns = sizes > 0.0
    axes = rotations[..., 1:] * (1.0 / np.where(turns, sizes, 1.0))[..., None]
    axes = np.concatenate((near[None, :, 1:], axes))
    own = np.concatenate((np.zeros((1, len(near)), dtype=bool), turns)) * np.arange(len(axes))[:, None]
    axes = np.take_along_axis(axes, np.maximum.accumulate(own, axis=0)[..., None], axis=0)
    between = cosines(axes)
    signs = _signs(between[0], between[1:])
    found = np.empty(rotations.shape)
    found[..., 1:] = axes[1:] * signs[..., None]
    angles = np.where(turns, signs * (2.0 * np.arctan2(sizes, rotations[..., 0])), 0.0)
    found[..., 0] = run_of_turns(angles, near[:, 0])
    return found


def _euler_angles(rotations: Doubles, near: Doubles, mode: str) -> Doubles:
    """(F, m, 3): of the two triples of each frame the one that is nearer to the angles of the frame before."""
    one, other = _euler_pairs(rotations, mode)
    from_one = _apart(other[1:], one[:-1]) < _apart(one[1:], one[:-1])
    from_other = _apart(other[1:], other[:-1]) < _apart(one[1:], other[:-1])
    is_other = _followed(_apart(other[0], near) < _apart(one[0], near), from_one, from_other)
    return run_of_turns(np.where(is_other[..., None], other, one), near)


def _apart(angles: Doubles, others: Doubles) -> Doubles:
    """The sum of the differences of three angles (..., 3), whole turns left out, (...)."""
    between = angles - others
    rest = np.abs(between - TURN * np.round(between / TURN))
    found: Doubles = rest[..., 0] + rest[..., 1] + rest[..., 2]
    return found


def _followed(first: Mask, from_one: Mask, from_other: Mask) -> Mask:
    """Whether each frame takes the other triple, (F, m).

    Args:
        first: (m,), whether the first frame does.
        from_one: (F - 1, m), whether a frame does after one that does not.
        from_other: (F - 1, m), whether it does after one that does.
    """
    found = np.broadcast_to(first, (len(from_one) + 1, len(first))).copy()
    for i in np.flatnonzero(np.where(first, ~from_other, from_one).any(axis=0)).tolist():
        is_other = bool(first[i])
        steps = zip(from_one[:, i].tolist(), from_other[:, i].tolist(), strict=True)
        found[1:, i] = [is_other := after_other if is_other else after_one for after_one, after_other in steps]
    return found


def _euler_pairs(rotations: Doubles, mode: str) -> tuple[Doubles, Doubles]:
    """`channels.euler_pair` for many rotations (..., 4): two arrays (..., 3)."""
    order = euler_order(mode)
    i, j, k = (AXES.index(name) for name in order)
    sign = 1.0 if order in EVEN_ORDERS else -1.0
    w, x, y, z = sign * rotations[..., 0], rotations[..., 1 + i], rotations[..., 1 + j], rotations[..., 1 + k]
    along, across = 1.0 - 2.0 * (y * y + z * z), sign * (2.0 * (x * y + w * z))
    out, over, up = sign * (2.0 * (y * z + w * x)), 1.0 - 2.0 * (x * x + y * y), sign * (2.0 * (w * y - x * z))
    cosine = np.hypot(along, across)
    one, other = np.empty((*rotations.shape[:-1], 3)), np.empty((*rotations.shape[:-1], 3))
    one[..., i], one[..., j], one[..., k] = np.arctan2(out, over), np.arctan2(up, cosine), np.arctan2(across, along)
    other[..., i] = np.arctan2(-out, -over)
    other[..., j], other[..., k] = np.arctan2(up, -cosine), np.arctan2(-across, -along)
    locked = cosine <= LOCK
    if locked.any():
        w, x, y, z = w[locked], x[locked], y[locked], z[locked]
        one[locked, i] = np.arctan2(sign * (2.0 * (w * x - y * z)), 1.0 - 2.0 * (x * x + z * z))
        one[locked, k] = 0.0
        other[locked] = one[locked]
    return one, other

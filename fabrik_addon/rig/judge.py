# SPDX-License-Identifier: GPL-3.0-or-later
"""How a pose stands beside what its chains ask for, on arrays: the same for a button, live posing and a bake.

A pose is judged in F frames at once, 1 for a button. All numbers are of one space, whichever it is: chain space for a
pose that was solved, armature space for one that Blender evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..maths import (
    Doubles,
    Ints,
    Mask,
    Places,
    conjugates,
    crosses,
    dots,
    lengths,
    products,
    rotated_each,
    turn_angles,
    turns_about,
    units,
)
from .asked import Asked

NO_SIDE = 1e-6  # share of the length: a joint or a pole nearer to the line from root to effector tells no side
REACHED = 0  # index into the kernel's `STATUSES`


class Columns(NamedTuple):
    """By which joints of a pose, and by which numbers of a row, C chains are judged; made once of what they ask for.

    Attributes:
        tips: (C,), the last joint of each chain.
        at_head: (C, 1), whether the head of that joint is the effector, else its end.
        reaches: (C, 1), whether a place is asked for.
        targets: (C, 3), where the numbers of the target are in a row.
        aims: (A,), the chains that aim.
        axes: (A, 3), the axis that each of these aims, in the axes of its last bone.
        turned: (T,), the chains whose last bone is to have a rotation.
        turns: (T, 4), where the numbers of these rotations are in a row.
        bent: (P,), the chains with a pole.
        poles: (P, 3), where the numbers of these poles are in a row.
        pole_angles: (P,), turns of the bends away from the poles, radians.
        roots: (P,), the first joints of these chains.
        inner: (P, M), their joints between root and effector, filled up with the root.
    """

    tips: Places
    at_head: Mask
    reaches: Mask
    targets: Places
    aims: Places
    axes: Doubles
    turned: Places
    turns: Places
    bent: Places
    poles: Places
    pole_angles: Doubles
    roots: Places
    inner: Places

    @classmethod
    def of(cls, asked: Sequence[Asked]) -> Columns:
        """Of what the chains of a figure ask for; one of no weight asks for no place and no rotation."""
        counted = [one.weight > 0.0 for one in asked]
        aims = [c for c, one in enumerate(asked) if one.kind == "AIM" and counted[c]]
        turned = [c for c, one in enumerate(asked) if one.turns and one.kind != "AIM" and counted[c]]
        bent = [c for c, one in enumerate(asked) if one.has_pole]
        inner = [asked[c].joints[1:-1] if asked[c].at_head else asked[c].joints[1:] for c in bent]
        most = max([1, *map(len, inner)])
        roots = [asked[c].joints[0] for c in bent]
        reaches = [one.kind == "REACH" and counts for one, counts in zip(asked, counted, strict=True)]
        return cls(
            _places([one.joints[-1] for one in asked]),
            np.array([one.at_head for one in asked], dtype=bool)[:, None],
            np.array(reaches, dtype=bool)[:, None],
            _run([one.row_at for one in asked], 3),
            _places(aims),
            np.array([asked[c].axis for c in aims]).reshape(-1, 3),
            _places(turned),
            _run([asked[c].row_at + 3 for c in turned], 4),
            _places(bent),
            _run([asked[c].row_at + asked[c].width - 3 for c in bent], 3),
            np.array([asked[c].pole_angle for c in bent], dtype=np.float64),
            _places(roots),
            _places([[*own, *[root] * (most - len(own))] for own, root in zip(inner, roots, strict=True)]),
        )


class Judged(NamedTuple):
    """How C chains stand in F frames.

    Attributes:
        off: (F, C, 3), from effector to target; zero for a chain that asks for no place.
        residual: (F, C), its length.
        turn: (F, C), angle in radians by which the last bone is off the rotation, or the aim, that it is to have.
        pole: (F, C), angle in radians between the bend and where the pole wants it; 0 without a pole, and where one of
            them tells no side.
    """

    off: Doubles
    residual: Doubles
    turn: Doubles
    pole: Doubles


def judge(columns: Columns, numbers: Doubles, heads: Doubles, ends: Doubles, frames: Doubles) -> Judged:
    """How a pose stands beside what its chains ask for.

    Args:
        columns: Of the C chains (`Columns.of`).
        numbers: (F, k), what is asked for: rows as the kernel's have them (`Asked.numbers`).
        heads: (F, n, 3), where the heads of the joints are.
        ends: (F, n, 3), where their ends are: tails, or in a chain the head of the next joint.
        frames: (F, n, 4), unit quaternions: how the joints are turned.
    """
    targets, tips = numbers[:, columns.targets], columns.tips
    effectors = np.where(columns.at_head, heads[:, tips], ends[:, tips])
    off: Doubles = np.where(columns.reaches, targets - effectors, 0.0)
    turn, pole = np.zeros(off.shape[:2]), np.zeros(off.shape[:2])
    if len(columns.aims):
        aiming = tips[columns.aims]
        along = rotated_each(frames[:, aiming], columns.axes)
        wanted = targets[:, columns.aims] - heads[:, aiming]
        turn[:, columns.aims] = np.arctan2(lengths(crosses(along, wanted)), dots(along, wanted))
    if len(columns.turned):
        standing = conjugates(frames[:, tips[columns.turned]])
        turn[:, columns.turned] = turn_angles(products(standing, numbers[:, columns.turns]))
    if len(columns.bent):
        pole[:, columns.bent] = _pole_error(columns, numbers, heads, effectors[:, columns.bent])
    return Judged(off, lengths(off), turn, pole)


def _pole_error(columns: Columns, numbers: Doubles, heads: Doubles, effectors: Doubles) -> Doubles:
    """The angles (F, P) between the bends of chains and where their poles want them.

    The bend is the way from the line from root to effector to the inner joint that stands farthest off that line.
    """
    roots = heads[:, columns.roots]
    lines = effectors - roots
    along, least = units(lines), NO_SIDE * lengths(lines)
    sides = _perpendicular(heads[:, columns.inner] - roots[:, :, None], along[:, :, None])
    farthest = lengths(sides).argmax(axis=-1)[..., None, None]
    side: Doubles = np.take_along_axis(sides, farthest, axis=2)[:, :, 0]
    across = _perpendicular(numbers[:, columns.poles] - roots, along)
    wanted = rotated_each(turns_about(along, columns.pole_angles), across)
    angle = np.abs(np.arctan2(dots(along, crosses(wanted, side)), dots(wanted, side)))
    found: Doubles = np.where((lengths(side) > least) & (lengths(wanted) > least), angle, 0.0)
    return found


def _perpendicular(vectors: Doubles, axes: Doubles) -> Doubles:
    """The parts of vectors at right angles to unit axes."""
    found: Doubles = vectors - axes * dots(vectors, axes)[..., None]
    return found


def worst_status(asked: Sequence[Asked], status: Ints, missed: Doubles) -> Ints:
    """How each chain ended, of what the kernel tells of each of its goals.

    Args:
        asked: What the C chains ask for.
        status: (F, G), of each goal of the figure an index into the kernel's `STATUSES`.
        missed: (F, G), how far each is missed.

    Returns:
        (F, C): the status of that goal of a chain, place or rotation, which is not met and missed most.
    """
    found = np.empty((len(status), len(asked)), dtype=np.int32)
    for c, one in enumerate(asked):
        own, far = status[:, one.wanted.start : one.wanted.stop], missed[:, one.wanted.start : one.wanted.stop]
        worst = np.where((own != REACHED) == (own != REACHED).any(axis=1)[:, None], far, -1.0).argmax(axis=1)
        found[:, c] = np.take_along_axis(own, worst[:, None], axis=1)[:, 0]
    return found


def _places(values: Sequence[int] | Sequence[Sequence[int]]) -> Places:
    """Indices as an array."""
    return np.array(values, dtype=np.intp)


def _run(firsts: Sequence[int], count: int) -> Places:
    """(m, count): as many indices from each of m on."""
    found: Places = _places(firsts)[:, None] + np.arange(count)
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""The best smooth pose: a chain that follows its goals from frame to frame by least turns, as it has a memory.

Damped least squares from the pose of the frame before; what a limit takes from a joint's turn is taken out of its axes,
and the step is solved again (Buss 2004). Written apart from the kernel, whose poses depend on their goals alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from fabrik_addon.kernel import Figure, Limit, Solver

from .native_fabrik import Doubles
from .problems import Q4, V3

STEPS, ENOUGH = 40, 1e-6
PLANE_WEIGHT = 0.3
LARGEST_TURN = 0.7  # radians in one step
PROJECTIONS, HELD = 6, 1e-4
NEAR_AXIS = 1e-3  # distance of the pole from the line to the tip at which its say fades


@dataclass(slots=True)
class Standing:
    """A pose and what it misses.

    Attributes:
        rotations: n allowed rotations.
        heads: (n, 3) joints.
        tips: The tip, and the end of the first bone.
        rests: n rest frames as matrices.
        missing: (4,) to the target, and to the plane of the pole.
    """

    rotations: list[Q4]
    heads: Doubles
    tips: tuple[Doubles, Doubles]
    rests: list[Doubles]
    missing: Doubles

    @property
    def error(self) -> float:
        return float(np.linalg.norm(self.missing))


class Tracker:
    """Follows target and pole with a chain of length 1."""

    def __init__(self, chain: Figure) -> None:
        self.chain = chain
        self.solver = Solver(chain)
        self.limits = chain.joint_limits

    def poses(self, first: Sequence[Q4], frames: Sequence[tuple[V3, V3]]) -> list[list[Q4]]:
        """A pose for each frame, from a pose for the first."""
        found, pose = [], list(first)
        for target, pole in frames:
            pose = self._followed(pose, np.array(target), self._normal(pose, np.array(target), np.array(pole)))
            found.append(pose)
        return found

    def _normal(self, pose: list[Q4], target: Doubles, pole: Doubles) -> Doubles:
        """Of the plane through root and target in which the chain is to bend."""
        along = target / np.linalg.norm(target)
        side = pole - along * (along @ pole)
        distance = float(np.linalg.norm(side))
        bend = self.solver.bend(pose)
        if distance < NEAR_AXIS and bend is not None:
            side = side + np.array(bend.side) * (NEAR_AXIS - distance)
        normal = np.asarray(np.cross(along, side), dtype=np.float64)
        return normal / np.linalg.norm(normal)

    def _followed(self, pose: list[Q4], target: Doubles, normal: Doubles) -> list[Q4]:
        best, damping = self._standing(pose, target, normal), 1e-3
        for _ in range(STEPS):
            if best.error <= ENOUGH or damping > 1e3:
                break
            turns = self._turns(best, normal, damping + 0.3 * best.error**2)
            largest = float(np.linalg.norm(turns, axis=1).max())
            scale = min(1.0, LARGEST_TURN / largest) if largest > 0.0 else 0.0
            turned = [
                limit.turned(rotation, _v3(turn * scale))
                for limit, rotation, turn in zip(self.limits, best.rotations, turns, strict=True)
            ]
            trial = self._standing(turned, target, normal)
            if trial.error < best.error:
                best, damping = trial, max(damping * 0.2, 1e-9)
            else:
                damping = max(damping, 1e-6) * 8.0
        return best.rotations

    def _standing(self, rotations: list[Q4], target: Doubles, normal: Doubles) -> Standing:
        placed = self.chain.placed(rotations)
        tip, knee = np.array(placed.ends[-1]), np.array(placed.ends[0])
        missing = np.append(target - tip, -PLANE_WEIGHT * (normal @ knee))
        pairs = zip(placed.frames, rotations, strict=True)
        rests = [_matrix(frame) @ _matrix(rotation).T for frame, rotation in pairs]
        return Standing(rotations, np.array(placed.heads), (tip, knee), rests, missing)

    def _turns(self, now: Standing, normal: Doubles, damping: float) -> Doubles:
        """Rotation vector of each joint in its rest frame, none of them against a limit: (n, 3)."""
        axes = [_axes(limit) for limit in self.limits]
        turns: Doubles = np.zeros((len(axes), 3))
        for _ in range(PROJECTIONS):
            columns = [self._columns(now, normal, i, own) for i, own in enumerate(axes)]
            whole = np.concatenate(columns, axis=1)
            pull = np.linalg.solve(whole @ whole.T + damping * np.eye(len(now.missing)), now.missing)
            is_free = True
            for i, limit in enumerate(self.limits):
                turns[i] = axes[i].T @ (columns[i].T @ pull)
                taken = turns[i] - np.array(limit.allowed(now.rotations[i], _v3(turns[i])))
                if np.linalg.norm(taken) > HELD * np.linalg.norm(turns[i]):
                    held = taken / np.linalg.norm(taken)
                    axes[i] = axes[i] - np.outer(axes[i] @ held, held)
                    is_free = False
            if is_free:
                break
        return turns

    def _columns(self, now: Standing, normal: Doubles, joint: int, axes: Doubles) -> Doubles:
        """How tip and plane change by a small turn of a joint about each of its axes: (4, k)."""
        turned = axes @ now.rests[joint].T
        tip, knee = now.tips
        moved = np.cross(turned, tip - now.heads[joint])
        off = np.cross(turned, knee - now.heads[joint]) @ normal * (PLANE_WEIGHT if joint == 0 else 0.0)
        found: Doubles = np.column_stack((moved, off)).T
        return found


def _axes(limit: Limit) -> Doubles:
    """Unit axes in the rest frame about which the joint turns: (k, 3)."""
    if limit.is_ball:
        return np.eye(3)
    return np.zeros((0, 3)) if limit.is_fixed else np.array([limit.axis])


def _v3(vector: Doubles) -> V3:
    x, y, z = (float(value) for value in vector)
    return (x, y, z)


def _matrix(rotation: Q4) -> Doubles:
    w, x, y, z = rotation
    found: Doubles = np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )
    return found

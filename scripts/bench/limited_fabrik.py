# SPDX-License-Identifier: GPL-3.0-or-later
"""What others do about limits: FABRIK with each bone clamped in the forward pass, alone and with CCD after it."""

from __future__ import annotations

from dataclasses import dataclass

from fabrik_addon.kernel import Figure, Limit
from mathutils import Quaternion, Vector

from .problems import V3


@dataclass(frozen=True, slots=True)
class Bone:
    """A bone of a chain whose bones inherit rotation.

    Attributes:
        rest: Rotation of its rest frame in the frame of its parent.
        segment: From head to tail in its own frame.
    """

    rest: Quaternion
    segment: Vector
    limit: Limit


class LimitedFabrik:
    """A chain that stands in its start pose, brought nearer to a target pass by pass."""

    def __init__(self, chain: Figure) -> None:
        self.length = chain.size
        self.lengths = chain.lengths
        self.bones = self._bones(chain)
        self.rotations = [Quaternion(bone.limit.clamped((1.0, 0.0, 0.0, 0.0))) for bone in self.bones]
        self.points, self.frames = self._placed(self.rotations)

    @staticmethod
    def _bones(chain: Figure) -> list[Bone]:
        placed = chain.placed([(1.0, 0.0, 0.0, 0.0)] * chain.count)
        bones, parent = [], Quaternion()
        for i, limit in enumerate(chain.joint_limits):
            frame = Quaternion(placed.frames[i])
            segment = frame.conjugated() @ (Vector(placed.ends[i]) - Vector(placed.heads[i]))
            bones.append(Bone(parent.conjugated() @ frame, segment, limit))
            parent = frame
        return bones

    def _placed(self, rotations: list[Quaternion]) -> tuple[list[Vector], list[Quaternion]]:
        points, frames, frame = [Vector()], [], Quaternion()
        for bone, rotation in zip(self.bones, rotations, strict=True):
            frame = (frame @ bone.rest @ rotation).normalized()
            frames.append(frame)
            points.append(points[-1] + frame @ bone.segment)
        return points, frames

    def _backward(self, target: Vector) -> list[Vector]:
        wanted = [point.copy() for point in self.points]
        wanted[-1] = target.copy()
        for i in range(len(self.bones) - 1, -1, -1):
            wanted[i] = wanted[i + 1] + (wanted[i] - wanted[i + 1]).normalized() * self.lengths[i]
        return wanted

    def pass_of(self, target: Vector) -> None:
        """One pass: backward, then forward with each bone aimed within its limit."""
        wanted = self._backward(target)
        point, frame = Vector(), Quaternion()
        for i, bone in enumerate(self.bones):
            rest = frame @ bone.rest
            direction = rest.conjugated() @ (wanted[i + 1] - point)
            self.rotations[i] = Quaternion(bone.limit.aimed(self.rotations[i], bone.segment, direction))
            frame = (rest @ self.rotations[i]).normalized()
            point = point + frame @ bone.segment
        self.points, self.frames = self._placed(self.rotations)

    def descent_of(self, target: Vector) -> None:
        """Cyclic coordinate descent from root to tip, once: each joint turns the tip towards the target."""
        for i, bone in enumerate(self.bones):
            rest = self.frames[i] @ self.rotations[i].conjugated()
            segment = self.frames[i].conjugated() @ (self.points[-1] - self.points[i])
            direction = rest.conjugated() @ (target - self.points[i])
            self.rotations[i] = Quaternion(bone.limit.aimed(self.rotations[i], segment, direction))
            self.points, self.frames = self._placed(self.rotations)

    def error(self, target: Vector) -> float:
        """Distance of the tip from the target, as a share of the length."""
        return float((self.points[-1] - target).length / self.length)


def best_error(chain: Figure, target: V3, tolerance: float, passes: int, with_ccd: bool) -> float:
    """The least distance from tip to target that passes from the start pose come to, as a share of the length."""
    place, rival = Vector(target), LimitedFabrik(chain)
    best = rival.error(place)
    for _ in range(passes):
        if best <= tolerance:
            break
        rival.pass_of(place)
        if with_ccd:
            rival.descent_of(place)
        best = min(best, rival.error(place))
    return best

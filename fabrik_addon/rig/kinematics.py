# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a chain as Blender computes them, and as the kernel sees them.

Every matrix comes from Blender's own `Bone.convert_local_to_pose`, so inherit-rotation, inherit-scale and
local-location flags are right without an evaluation. Positions are armature space relative to the head of the chain's
first bone, and offsets between bones come from the rest data relative to the parent: far from the origin, differences
of positions have no digits left in single precision.

What is read here holds references to Blender's data, and is good until the next evaluation or undo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import bpy
from mathutils import Matrix, Quaternion, Vector

from .mount import Mount
from .rotations import Q4, V3, conjugated, minus, multiplied, normalized, rotated


@dataclass(frozen=True, slots=True)
class Link:
    """One bone of a path.

    Attributes:
        bone: The armature's bone.
        rest: Rest matrix relative to the parent's head and axes; for a root bone its rest axes in armature space.
        parent_rest: Rest axes of the parent in armature space, or None for a root bone.
        location: Pose location channels; zero for a connected bone, of which Blender ignores them.
        scale: Pose scale channels.
    """

    bone: bpy.types.Bone
    rest: Matrix
    parent_rest: Matrix | None
    location: Vector
    scale: Vector

    @classmethod
    def of(cls, bone: bpy.types.PoseBone) -> Link:
        """Read a pose bone, evaluated where its channels are animated or driven."""
        data = bone.bone
        location = Vector() if data.use_connect else bone.location.copy()
        if data.parent is None:
            return cls(data, data.matrix_local.to_3x3().to_4x4(), None, location, bone.scale.copy())
        axes = data.parent.matrix_local.to_3x3().to_4x4()
        offset = data.matrix.to_4x4()
        offset.translation = data.head + Vector((0.0, data.parent.length, 0.0))
        return cls(data, axes @ offset, axes, location, bone.scale.copy())

    def frame(self, parent: Matrix | None) -> Matrix:
        """Matrix of the bone in armature space with its location, before its rotation and scale."""
        return self._to_pose(Matrix.Translation(self.location), parent)

    def pose(self, parent: Matrix | None, rotation: Quaternion) -> Matrix:
        """Matrix of the bone in armature space with all its channels."""
        return self._to_pose(Matrix.LocRotScale(self.location, rotation, self.scale), parent)

    def location_axes(self, parent: Matrix | None) -> Matrix:
        """By which vectors of armature space the bone's location channels move its head: the columns, (3, 3)."""
        still = replace(self, rest=self.rest.to_3x3().to_4x4())  # so that no digit is lost to where the bone stands
        axes = (Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1)))
        return Matrix([replace(still, location=axis).frame(parent).translation for axis in axes]).transposed()

    def _to_pose(self, basis: Matrix, parent: Matrix | None) -> Matrix:
        if parent is None or self.parent_rest is None:
            return self.bone.convert_local_to_pose(basis, self.rest)
        return self.bone.convert_local_to_pose(
            basis, self.rest, parent_matrix=parent, parent_matrix_local=self.parent_rest
        )


@dataclass(frozen=True, slots=True)
class Segment:
    """One bone of a path as the kernel sees it.

    Attributes:
        vector: From its head to the next one's, or to the tip, in the bone's own axes.
        rest: Rotation of its rest frame in the frame of the bone before it; in chain space for the first one, and
            where it does not inherit rotation.
        inherits: Whether it follows the rotation of the bone before it.
    """

    vector: V3
    rest: Q4
    inherits: bool


@dataclass(frozen=True, slots=True)
class BonePath:
    """The bones from root to tip of a chain.

    Attributes:
        links: n bones, each the parent of the next.
        parent: Axes and scale of the root's parent, without translation, or None.
    """

    links: tuple[Link, ...]
    parent: Matrix | None

    @classmethod
    def of(cls, bones: Sequence[bpy.types.PoseBone]) -> BonePath:
        """Read evaluated pose bones, root to tip."""
        parent = bones[0].parent
        return cls(tuple(Link.of(bone) for bone in bones), parent.matrix.to_3x3().to_4x4() if parent else None)

    @property
    def keeps_axes(self) -> bool:
        """Whether a bone but the first does not inherit rotation: it stands still while the root is carried."""
        return not all(link.bone.use_inherit_rotation for link in self.links[1:])

    @property
    def is_even(self) -> bool:
        """Whether no bone has a scale that differs between its axes."""
        return all(x == y == z for x, y, z in (link.scale for link in self.links))

    def mounted(self, mount: Mount) -> BonePath:
        """The same bones on the parent with which their figure is measured."""
        rest = self.links[0].parent_rest
        return replace(self, parent=mount.parent(rest) if rest is not None else None)

    @property
    def base(self) -> Q4:
        """The frame before the first bone's rotation, as a rotation in armature space: the axes of chain space."""
        return (1.0, 0.0, 0.0, 0.0) if self.keeps_axes else axes_of(self.links[0].frame(self.parent))

    @property
    def most_reach(self) -> float:
        """A distance from the first joint that the tip can't come beyond, in any pose; seldom the least one."""
        factor = max(1.0, sqrt(sum(value * value for row in self.parent for value in row[:3]))) if self.parent else 1.0
        reach = 0.0
        for i, link in enumerate(self.links):
            if i:
                reach += factor * (link.rest.translation.length + link.location.length)
            factor *= max(1.0, *(abs(value) for value in link.scale))
        return reach + factor * self.links[-1].bone.length

    def place(self, rotations: Sequence[Q4]) -> list[V3]:
        """The n + 1 joints in chain space, as Blender will evaluate them."""
        back = conjugated(self.base)
        return [rotated(back, joint) for joint in self._walk(rotations)[0]]

    def poses(self, rotations: Sequence[Q4], before: Sequence[Matrix] = ()) -> list[Matrix]:
        """The n matrices in armature space relative to the first joint.

        Args:
            rotations: n rotations.
            before: The matrices of the first bones, whose rotations are the same.
        """
        found = list(before)
        for link, rotation in zip(self.links[len(found) :], rotations[len(found) :], strict=True):
            matrix = link.pose(found[-1] if found else self.parent, Quaternion(rotation))
            if not found:
                matrix.translation -= link.frame(self.parent).translation
            found.append(matrix)
        return found

    def tip_of(self, pose: Matrix) -> Vector:
        """Where the tip is in armature space relative to the first joint, from the last bone's matrix."""
        return pose @ Vector((0.0, self.links[-1].bone.length, 0.0))

    def frames(self, rotations: Sequence[Q4]) -> list[Matrix]:
        """The n frames before rotation, in which limits are given, in armature space relative to the first joint."""
        return self._walk(rotations)[1]

    def segments(self, rotations: Sequence[Q4]) -> list[Segment]:
        """The bones as rigid segments and frames, measured at a pose.

        Where every scale on the way is uniform the result does not depend on the pose; else it holds at that pose.

        Args:
            rotations: n rotations at which to measure.
        """
        joints, frames = self._walk(rotations)
        found: list[Segment] = []
        before = self.base
        for i, link in enumerate(self.links):
            rest = axes_of(frames[i])
            turned = multiplied(rest, rotations[i])
            inherits = i == 0 or link.bone.use_inherit_rotation
            found.append(
                Segment(
                    rotated(conjugated(turned), minus(joints[i + 1], joints[i])),
                    normalized(multiplied(conjugated(before), rest)) if inherits else rest,
                    inherits,
                )
            )
            before = turned
        return found

    def _walk(self, rotations: Sequence[Q4]) -> tuple[list[Vector], list[Matrix]]:
        """The n + 1 joints and the n frames before rotation, all relative to the head of the first bone."""
        root = self.links[0].frame(self.parent).translation
        joints: list[Vector] = []
        frames: list[Matrix] = []
        parent = self.parent
        for i, (link, rotation) in enumerate(zip(self.links, rotations, strict=True)):
            frame, matrix = link.frame(parent), link.pose(parent, Quaternion(rotation))
            if i == 0:
                frame.translation -= root
                matrix.translation -= root
            joints.append(matrix.translation.copy())
            frames.append(frame)
            parent = matrix
        joints.append(matrix @ Vector((0.0, self.links[-1].bone.length, 0.0)))
        return joints, frames


def axes_of(matrix: Matrix) -> Q4:
    """The rotation of a matrix; of its negative where it mirrors, since that commutes with every rotation."""
    axes = matrix.to_3x3()
    if axes.determinant() < 0.0:
        axes = axes * -1.0
    w, x, y, z = axes.to_quaternion()
    return normalized((w, x, y, z))

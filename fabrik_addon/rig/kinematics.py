# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a chain as Blender computes them, and as the kernel sees them.

Every matrix comes from Blender's own `Bone.convert_local_to_pose`, so inherit-rotation, inherit-scale and
local-location flags are right without an evaluation. Positions are armature space relative to the head of the chain's
first bone, and offsets between bones come from the rest data relative to the parent: far from the origin, differences
of positions have no digits left in single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..kernel.limits import Limit
from ..kernel.model import Chain, Joint


@dataclass(frozen=True, slots=True)
class Link:
    """One bone of a path.

    Attributes:
        bone: The armature's bone.
        rest: Rest matrix relative to the parent's head and axes; for a root bone its rest axes in armature space.
        parent_rest: Rest axes of the parent in armature space, or None for a root bone.
        location: Pose location channels.
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
        if data.parent is None:
            return cls(data, data.matrix_local.to_3x3().to_4x4(), None, bone.location.copy(), bone.scale.copy())
        axes = data.parent.matrix_local.to_3x3().to_4x4()
        offset = data.matrix.to_4x4()
        offset.translation = data.head + Vector((0.0, data.parent.length, 0.0))
        return cls(data, axes @ offset, axes, bone.location.copy(), bone.scale.copy())

    def frame(self, parent: Matrix | None) -> Matrix:
        """Matrix of the bone in armature space with its location, before its rotation and scale."""
        return self._to_pose(Matrix.Translation(self.location), parent)

    def pose(self, parent: Matrix | None, rotation: Quaternion) -> Matrix:
        """Matrix of the bone in armature space with all its channels."""
        return self._to_pose(Matrix.LocRotScale(self.location, rotation, self.scale), parent)

    def _to_pose(self, basis: Matrix, parent: Matrix | None) -> Matrix:
        if parent is None or self.parent_rest is None:
            return self.bone.convert_local_to_pose(basis, self.rest)
        return self.bone.convert_local_to_pose(
            basis, self.rest, parent_matrix=parent, parent_matrix_local=self.parent_rest
        )


@dataclass(frozen=True, slots=True)
class BonePath:
    """The bones from root to tip of a chain.

    Attributes:
        links: n bones, each the parent of the next.
        parent: Evaluated axes and scale of the root's parent, without translation, or None.
        shift: Translation of the root's parent, or the root's rest head where it has none, in armature space.
    """

    links: tuple[Link, ...]
    parent: Matrix | None
    shift: Vector

    @classmethod
    def of(cls, bones: Sequence[bpy.types.PoseBone]) -> BonePath:
        """Read evaluated pose bones, root to tip."""
        links = tuple(Link.of(bone) for bone in bones)
        parent = bones[0].parent
        if parent is None:
            return cls(links, None, bones[0].bone.head_local.copy())
        return cls(links, parent.matrix.to_3x3().to_4x4(), parent.matrix.translation.copy())

    @property
    def origin(self) -> Vector:
        """Head of the first bone in armature space."""
        return self.shift + self.links[0].frame(self.parent).translation

    def place(self, rotations: Sequence[Quaternion]) -> list[Vector]:
        """The n + 1 joints in armature space relative to the first, as Blender will evaluate them."""
        return self._walk(rotations)[0]

    def frames(self, rotations: Sequence[Quaternion]) -> list[Matrix]:
        """The n frames before rotation, in which limits are given, in armature space relative to the first joint."""
        return self._walk(rotations)[1]

    def _walk(self, rotations: Sequence[Quaternion]) -> tuple[list[Vector], list[Matrix]]:
        """The n + 1 joints and the n frames before rotation, all relative to the head of the first bone."""
        root = self.links[0].frame(self.parent).translation
        joints: list[Vector] = []
        frames: list[Matrix] = []
        parent = self.parent
        for i, (link, rotation) in enumerate(zip(self.links, rotations, strict=True)):
            frame, matrix = link.frame(parent), link.pose(parent, rotation)
            if i == 0:
                frame.translation -= root
                matrix.translation -= root
            joints.append(matrix.translation.copy())
            frames.append(frame)
            parent = matrix
        joints.append(matrix @ Vector((0.0, self.links[-1].bone.length, 0.0)))
        return joints, frames

    def measure(
        self,
        rotations: Sequence[Quaternion],
        starts: Sequence[Quaternion],
        limits: Sequence[Limit],
        stiffness: Sequence[float] | None = None,
    ) -> Chain:
        """The chain as rigid segments and frames, measured at a pose.

        Where every scale on the way is uniform the result does not depend on the pose; else it holds at that pose.

        Args:
            rotations: n rotations at which to measure.
            starts: n rotations of the start pose.
            limits: n limits.
            stiffness: n numbers from 0 to 1, or None where no joint is stiff.
        """
        joints, frames = self._walk(rotations)
        built: list[Joint] = []
        before = Quaternion()
        for i, link in enumerate(self.links):
            rest = axes_of(frames[i])
            turned = rest @ rotations[i]
            inherits = i > 0 and link.bone.use_inherit_rotation
            built.append(
                Joint(
                    segment=turned.conjugated() @ (joints[i + 1] - joints[i]),
                    rest=before.conjugated() @ rest if inherits else rest,
                    start=starts[i],
                    limit=limits[i],
                    inherits=inherits or i == 0,
                    stiffness=stiffness[i] if stiffness else 0.0,
                )
            )
            before = turned
        return Chain(tuple(built))


def axes_of(matrix: Matrix) -> Quaternion:
    """The rotation of a matrix; of its negative where it mirrors, since that commutes with every rotation."""
    axes = matrix.to_3x3()
    if axes.determinant() < 0.0:
        axes = axes * -1.0
    return axes.to_quaternion().normalized()

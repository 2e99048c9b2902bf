# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a figure as Blender computes them, on the parent that carries them, and as the kernel sees them.

Every matrix comes from Blender's own `Bone.convert_local_to_pose`, so inherit-rotation, inherit-scale and
local-location flags are right without an evaluation. Positions are armature space relative to the head of the chain's
first bone, and offsets between bones come from the rest data relative to the parent: far from the origin, differences
of positions have no digits left in single precision.

What is read here holds references to Blender's data, and is good until the next evaluation or undo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...errors import ChainError
from ...kernel import Figure, Joint, Limit
from ...maths import (
    IDENTITY,
    Q4,
    V3,
    Doubles,
    Nine,
    applied,
    axes_of,
    conjugated,
    even_size,
    minus,
    multiplied,
    nine,
    normalized,
    plus,
    q4,
    rotated,
    v3,
)
from ...messages import Message

# What the parent of a chain's first bone does to the chain.
#
# A parent that turns, moves and grows alike along all axes carries the chain as it is, so the chain is measured on a
# parent in its rest pose at that size: the figure is the same to the last bit wherever the parent stands. The size is
# rounded, so that the rounding of the parent's matrix does not make another figure of each frame. On a parent that is
# sheared or mirrored the chain is measured as it stands.

SIMILAR = 1e-5  # share of its size by which the axes of a parent that is not sheared differ in length and angle
NEAR = 4e-6  # share by which a size is off its rounded value through rounding alone


class ParentFrame(NamedTuple):
    """What of a parent's axes and scale a chain's figure depends on; two that are equal give the same figure.

    Attributes:
        size: The parent's scale, where it is the same along all axes; 0 where the figure depends on all of `axes`.
        axes: The nine numbers of the parent's axes and scale, row by row; () where its size tells all.
    """

    size: float = 1.0
    axes: tuple[float, ...] = ()

    @classmethod
    def of(cls, parent: Matrix | None, keeps_axes: bool) -> ParentFrame:
        """How the parent stands, evaluated.

        Args:
            parent: The parent's matrix, or None for a bone without one.
            keeps_axes: Whether a bone of the chain does not turn with the bones before it, so that the chain is
                another one however the parent turns.
        """
        if parent is None:
            return cls()
        axes = nine(parent.to_3x3())
        a, b, c, d, e, f, g, h, i = axes
        volume = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
        size = 0.0 if keeps_axes or volume <= 0.0 else even_size(axes, volume, 2.0 * SIMILAR, SIMILAR)
        return cls(rounded(size)) if size else cls(0.0, axes)

    def parent(self, rest: Matrix) -> Matrix:
        """The parent on which the chain is measured; axes and scale alone, from its rest axes in armature space."""
        if self.axes:
            return Matrix((self.axes[:3], self.axes[3:6], self.axes[6:])).to_4x4()
        return (rest.to_3x3() * self.size).to_4x4()


class ParentTurn(NamedTuple):
    """How the axes of chain space turn with the parent of the first bone.

    Attributes:
        base: The axes of chain space in armature space, for the parent on which the chain was measured.
        from_parent: The same in the axes of the parent; None where they do not turn with it.
    """

    base: Q4
    from_parent: Q4 | None

    @classmethod
    def of(cls, base: Q4, rest: Matrix | None) -> ParentTurn:
        """Of a chain that was measured.

        Args:
            base: See the attribute.
            rest: The parent's rest axes in armature space; None where chain space does not turn with it.
        """
        if rest is None:
            return cls(base, None)
        return cls(base, normalized(multiplied(conjugated(q4(rest.to_quaternion())), base)))

    def turn(self, parent: Matrix | None) -> Q4:
        """Rotation from chain space to armature space, by the evaluated matrix of the parent, if there is one."""
        if self.from_parent is None or parent is None:
            return self.base
        return normalized(multiplied(q4(parent.to_quaternion()), self.from_parent))


def rounded(size: float) -> float:
    """A scale as its user set it: to four digits where it is as near to these as rounding, else to six."""
    near = float(f"{size:.4g}")
    return near if abs(size - near) <= NEAR * size else float(f"{size:.6g}")


class AssumedChannels(NamedTuple):
    """Channels to assume in place of a bone's own: those that a solve wrote, or that constraints pose.

    Attributes:
        location: Its location channels, or None for what stands there.
        scale: Its scale channels, likewise.
        rotation: In its rest frame, where it never turns; None where it is solved for.
    """

    location: V3 | None = None
    scale: V3 | None = None
    rotation: Q4 | None = None


NOTHING_ELSE: Mapping[str, AssumedChannels] = {}


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

    def with_channels(self, instead: AssumedChannels | None) -> Link:
        """The bone with other channels than stand there."""
        found = self
        if instead is not None and instead.location is not None:
            found = replace(found, location=Vector(instead.location))
        if instead is not None and instead.scale is not None:
            found = replace(found, scale=Vector(instead.scale))
        return found

    def frame(self, parent: Matrix | None) -> Matrix:
        """Matrix of the bone in armature space with its location, before its rotation and scale."""
        return self.placed(Matrix.Translation(self.location), parent)

    def pose(self, parent: Matrix | None, rotation: Quaternion) -> Matrix:
        """Matrix of the bone in armature space with all its channels."""
        return self.placed(Matrix.LocRotScale(self.location, rotation, self.scale), parent)

    def location_axes(self, parent: Matrix | None) -> Matrix:
        """By which vectors of armature space the bone's location channels move its head: the columns, (3, 3)."""
        still = replace(self, rest=self.rest.to_3x3().to_4x4())  # so that no digit is lost to where the bone stands
        axes = (Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1)))
        return Matrix([replace(still, location=axis).frame(parent).translation for axis in axes]).transposed()

    def placed(self, basis: Matrix, parent: Matrix | None) -> Matrix:
        """Matrix of the bone in armature space with its channels as a matrix."""
        if parent is None or self.parent_rest is None:
            return self.bone.convert_local_to_pose(basis, self.rest)
        return self.bone.convert_local_to_pose(
            basis, self.rest, parent_matrix=parent, parent_matrix_local=self.parent_rest
        )


class Joints(NamedTuple):
    """The bones of a figure as the kernel takes them.

    Attributes:
        joints: n joints.
        parents: For each the index of its parent, -1 for the root.
        heads: For each where it stands in the frame of its parent; None in a chain, and for the root.
        is_chain: Whether it is a chain that is solved by itself.
        moves: Whether the root can be moved.
    """

    joints: tuple[Joint, ...]
    parents: tuple[int, ...]
    heads: tuple[V3 | None, ...]
    is_chain: bool = True
    moves: bool = False

    def figure(self) -> Figure:
        """The kernel's figure."""
        return Figure(self.joints, self.parents, self.heads, moves=self.moves)

    def started(self, rotations: Sequence[Q4], limits: Sequence[Limit] | None = None) -> Joints:
        """The same bones with another start pose.

        Args:
            rotations: n rotations, which are brought inside the limits.
            limits: The n limits, where these go with the start pose; None to keep those that they have.
        """
        limits = [joint.limit for joint in self.joints] if limits is None else limits
        bones = zip(self.joints, rotations, limits, strict=True)
        joints = [joint._replace(start=limit.clamped(turn), limit=limit) for joint, turn, limit in bones]
        return self._replace(joints=tuple(joints))

    def measured(self, other: Joints) -> Joints:
        """The same joints, as long and standing as those of another pose."""
        pairs = zip(self.joints, other.joints, strict=True)
        joints = [joint._replace(segment=bone.segment, rest=bone.rest) for joint, bone in pairs]
        return self._replace(joints=tuple(joints), heads=other.heads)


@dataclass(frozen=True, slots=True)
class BoneTree:
    """The bones of a figure: a chain from root to tip, or a tree.

    Attributes:
        links: n bones, each after its parent.
        parents: For each the index of its parent, -1 for the root.
        parent: Axes and scale of the root's parent, without translation, or None.
        is_chain: Whether it is a chain, whose bones reach from joint to joint; else each bone ends at its tail.
    """

    links: tuple[Link, ...]
    parents: tuple[int, ...]
    parent: Matrix | None
    is_chain: bool = True

    @classmethod
    def of(
        cls,
        bones: Sequence[bpy.types.PoseBone],
        instead: Mapping[str, AssumedChannels] = NOTHING_ELSE,
        *,
        is_chain: bool = True,
    ) -> BoneTree:
        """Read evaluated pose bones, each after its parent, the root first.

        Args:
            bones: n bones.
            instead: By the names of bones what counts as their channels, in place of what stands there.
            is_chain: See the attribute.
        """
        places = {bone.name: i for i, bone in enumerate(bones)}
        parents = tuple([places.get(bone.parent.name, -1) if bone.parent else -1 for bone in bones])
        links = tuple([Link.of(bone).with_channels(instead.get(bone.name)) for bone in bones])
        parent = bones[0].parent
        return cls(links, parents, parent.matrix.to_3x3().to_4x4() if parent else None, is_chain)

    @property
    def keeps_axes(self) -> bool:
        """Whether a bone but the first does not inherit rotation: it stands still while the root is carried."""
        return False in [link.bone.use_inherit_rotation for link in self.links[1:]]

    @property
    def is_even(self) -> bool:
        """Whether no bone has a scale that differs between its axes."""
        return False not in [x == y == z for x, y, z in [link.scale for link in self.links]]

    def mounted(self, frame: ParentFrame) -> BoneTree:
        """The same bones on the parent with which their figure is measured."""
        rest = self.links[0].parent_rest
        return replace(self, parent=frame.parent(rest) if rest is not None else None)

    @property
    def base(self) -> Q4:
        """The frame before the first bone's rotation, as a rotation in armature space: the axes of chain space."""
        return IDENTITY if self.keeps_axes else axes_of(self.links[0].frame(self.parent))

    @property
    def most_reach(self) -> float:
        """An upper bound of the tip's distance from the first joint of a chain in any pose; seldom the least one."""
        factor = max(1.0, sqrt(sum(value * value for row in self.parent for value in row[:3]))) if self.parent else 1.0
        reach = 0.0
        for i, link in enumerate(self.links):
            if i:
                reach += factor * (link.rest.translation.length + link.location.length)
            factor *= max(1.0, *(abs(value) for value in link.scale))
        return reach + factor * self.links[-1].bone.length

    def place(self, rotations: Sequence[Q4]) -> list[V3]:
        """The n + 1 joints of a chain in chain space, as Blender will evaluate them."""
        heads, tails = self.placed(rotations)
        return [*heads, tails[-1]]

    def placed(self, rotations: Sequence[Q4]) -> tuple[list[V3], list[V3]]:
        """The n heads and the n tails in chain space, as Blender will evaluate them, the root's head at the origin."""
        back = conjugated(self.base)
        poses, _ = self._walk(rotations)
        heads = [rotated(back, pose.translation) for pose in poses]
        return heads, [rotated(back, tail) for tail in self._tails(poses)]

    def turns(self, rotations: Sequence[Q4], exact: Mapping[int, V3]) -> list[Q4]:
        """The n rotations of the bones in chain space, as Blender will evaluate them.

        A scale that differs between axes shears bones, so that their axes are no longer at right angles: by the indices
        of some, `exact` has the axis by which these are rotated.
        """
        found, back = list[Q4](), conjugated(self.base)
        for i, pose in enumerate(self._walk(rotations)[0]):
            turn = Quaternion(axes_of(pose))
            if i in exact:
                axis = Vector(exact[i])
                along = pose.to_3x3() @ (-axis if pose.is_negative else axis)
                turn = (turn @ axis).rotation_difference(along) @ turn
            found.append(multiplied(back, q4(turn)))
        return found

    def poses(self, rotations: Sequence[Q4], before: Sequence[Matrix] = ()) -> list[Matrix]:
        """The n matrices in armature space relative to the first joint; `before` are those of the first bones."""
        return self._walk(rotations, before)[0]

    def tip_of(self, pose: Matrix) -> Vector:
        """Where the tip of a chain is in armature space relative to the first joint, from the last bone's matrix."""
        return pose @ Vector((0.0, self.links[-1].bone.length, 0.0))

    def frames(self, rotations: Sequence[Q4]) -> list[Matrix]:
        """The n frames before rotation, in which limits are given, in armature space relative to the first joint."""
        return self._walk(rotations)[1]

    def joints(self, rotations: Sequence[Q4]) -> Joints:
        """The bones as the kernel takes them, measured at a pose; start pose, limits and stiffness are told later.

        Where every scale on the way is uniform the result does not depend on the pose; else it holds at that pose. A
        segment reaches in a chain to the next bone's head, else to the bone's tail.
        """
        poses, frames = self._walk(rotations)
        ends = self._tails(poses)
        if self.is_chain:
            ends[:-1] = [pose.translation for pose in poses[1:]]
        joints, heads, backs = list[Joint](), list[V3 | None](), list[Q4]()
        for i, link in enumerate(self.links):
            rest, parent = axes_of(frames[i]), self.parents[i]
            before = backs[parent] if parent >= 0 else conjugated(self.base)
            backs.append(conjugated(multiplied(rest, rotations[i])))
            inherits = i == 0 or link.bone.use_inherit_rotation
            along = rotated(backs[i], minus(ends[i], poses[i].translation))
            own = normalized(multiplied(before, rest)) if inherits else rest
            joints.append(Joint(along, own, inherits=inherits))
            head = None
            if parent >= 0 and not self.is_chain:
                head = rotated(before, minus(poses[i].translation, poses[parent].translation))
            heads.append(head)
        return Joints(tuple(joints), self.parents, tuple(heads), self.is_chain)

    def _tails(self, poses: Sequence[Matrix]) -> list[Vector]:
        pairs = zip(self.links, poses, strict=True)
        return [pose @ Vector((0.0, link.bone.length, 0.0)) for link, pose in pairs]

    def _walk(self, rotations: Sequence[Q4], before: Sequence[Matrix] = ()) -> tuple[list[Matrix], list[Matrix]]:
        """The n matrices, and the frames before rotation of those that are not given; relative to the first joint."""
        poses, frames = list(before), []
        for i in range(len(poses), len(self.links)):
            link, above = self.links[i], poses[self.parents[i]] if self.parents[i] >= 0 else self.parent
            frame, pose = link.frame(above), link.pose(above, Quaternion(rotations[i]))
            if i == 0:
                pose.translation -= frame.translation
                frame.translation = Vector()
            poses.append(pose)
            frames.append(frame)
        return poses, frames


def world_turn(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> Q4:
    """How a bone is turned in the world: by its armature, and in it; of evaluated data."""
    return multiplied(axes_of(owner.matrix_world), axes_of(bone.matrix))


def basis_for(bone: bpy.types.PoseBone, matrix: Matrix) -> Matrix:
    """The matrix that the channels of an evaluated bone have to be, so that it stands as a matrix of armature space."""
    data, parent, above = bone.bone, bone.parent, dict[str, Any]()
    if parent is not None:
        above = {"parent_matrix": parent.matrix, "parent_matrix_local": parent.bone.matrix_local}
    return data.convert_local_to_pose(matrix, data.matrix_local, **above, invert=True)


def head_of_root(root: bpy.types.PoseBone, location: Sequence[float]) -> V3:
    """Where the head of a figure's root stands in armature space with other location channels than its own."""
    link = replace(Link.of(root), location=Vector(location))
    if root.parent is None:
        return v3(root.bone.head_local + link.frame(None).translation)
    axes = root.parent.matrix.to_3x3().to_4x4()
    return v3(root.parent.matrix.translation + link.frame(axes).translation)


# How the root of a figure is moved: by a body bone's location channels.


@dataclass(frozen=True, slots=True)
class RootMove:
    """How the root of a figure is moved: a body bone's location channels.

    Attributes:
        location: From where it starts.
        into: Rows of the matrix from vectors of chain space into the channels.
    """

    location: V3
    into: Nine

    @classmethod
    def of(cls, tree: BoneTree, location: V3) -> RootMove:
        """Of the bones of a figure as they are measured.

        Raises:
            ChainError: The root can't be moved, since it has no scale.
        """
        axes = tree.links[0].location_axes(tree.parent)
        if not axes.determinant():
            raise ChainError(Message("BODY_PARENT_WITHOUT_SCALE", bone=tree.links[0].bone.name))
        return cls(location, nine(axes.inverted() @ Quaternion(tree.base).to_matrix()))

    def location_for(self, shift: Sequence[float] | Doubles) -> V3:
        """The location channels for a shift of the root in chain space."""
        return plus(self.location, applied(self.into, shift))

    def locations_for(self, shifts: Doubles) -> Doubles:
        """`location_for` of F shifts (F, 3); equal bits."""
        found: Doubles = np.array(self.location) + np.column_stack(applied(self.into, shifts.T))
        return found

    def shift_for(self, location: Sequence[float]) -> V3:
        """The shift in chain space that location channels make."""
        back = Matrix((self.into[:3], self.into[3:6], self.into[6:])).inverted()
        return v3(back @ Vector(minus(location, self.location)))

    def shifts_for(self, locations: Doubles) -> Doubles:
        """`shift_for` of F locations (F, 3)."""
        return np.linalg.solve(np.reshape(self.into, (3, 3)), (locations - self.location).T).T

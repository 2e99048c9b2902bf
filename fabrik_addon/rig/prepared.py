# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature to what the kernel solves: all that is found out about a chain once.

What changes from frame to frame are its goals (`goals.GoalPoints`, numbers of a row) and, where its parents or its
armature move, its space (`carried`). Button, drag, live, bake, record, snap and conversion all go this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..errors import ChainError, InvalidValueError, place_of
from ..finite import are_finite
from ..kernel import Bend, Figure, Goal, Joint, Limit, Point, Rows, Settings, Solver
from .array_types import Doubles
from .chain_bones import pose_bones, resolve_bones
from .chain_space import ChainSpace, RigFrame
from .checks import Movers, check_bones, check_goal, movers_of
from .goals import GoalPoints, read_points
from .joints import joints_of, path_of, read_settings
from .keys import KeyedChannels
from .kinematics import BonePath
from .mount import Hang, Mount
from .properties import FabrikChain
from .rotations import ORIGIN, Q4, V3, v3
from .row import Row
from .writer import BoneChannels, ChannelWrite, channels_of


@dataclass(frozen=True, slots=True)
class RigFacts:
    """What is gathered once for all chains of an armature that are prepared together.

    Attributes:
        movers: What moves bones beside their own channels.
        keyed: The curves of the armature at the frame.
    """

    movers: Movers
    keyed: KeyedChannels

    @classmethod
    def of(cls, owner: bpy.types.Object, frame: float) -> RigFacts:
        """Gather them; `frame` is that which the channels of the bones continue, sub-frame included."""
        return cls(movers_of(owner), KeyedChannels(owner, frame))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A chain as it is solved: plain data, no reference to anything of Blender's.

    Chain space has its origin at the head of the first bone and its axes along the frame before that bone's rotation;
    only where a later bone does not inherit rotation it keeps the axes of the armature.

    Attributes:
        chain: Name of the chain.
        bones: Names of the n bones, root to tip.
        channels: For each how its rotation becomes channel values; None for a locked bone.
        solver: The kernel's, with the figure of the n bones: start pose, limits, lengths. Where the chain is not
            rigid, as it is at its start pose.
        settings: How to solve.
        influence: How far each bone turns from start to solution, 0 to 1.
        has_pole: Whether a bend is asked for beside a target.
        pole_angle: Turn of the bend away from the pole, radians.
        space: Where chain space lies.
        mount: What of the parent the figure depends on.
        hang: How chain space turns with the parent.
        keeps_axes: Whether a bone but the first does not inherit rotation.
        joints: The n bones as the solver has them.
        is_rigid: Whether the figure holds in every pose.
        row: One row, to solve in.
    """

    chain: str
    bones: tuple[str, ...]
    channels: tuple[BoneChannels | None, ...]
    solver: Solver
    settings: Settings
    influence: float
    has_pole: bool
    pole_angle: float
    space: ChainSpace
    mount: Mount
    hang: Hang
    keeps_axes: bool
    joints: tuple[Joint, ...]
    is_rigid: bool
    row: Row

    @property
    def length(self) -> float:
        """Length of the chain in armature space."""
        return self.solver.figure.size

    @property
    def starts(self) -> list[Q4]:
        """The n rotations of the start pose, inside the limits."""
        return [joint.start for joint in self.joints]

    @property
    def limits(self) -> list[Limit]:
        """The n limits."""
        return [joint.limit for joint in self.joints]

    def numbers(self, points: GoalPoints) -> tuple[float, ...]:
        """The numbers of a row of the kernel for goals in the world: target, then pole, in chain space."""
        target = self.space.to_chain(points.target)
        if points.pole is None:
            return target
        return *target, *self.space.to_chain(points.pole)

    def many_numbers(self, targets: Doubles, poles: Doubles | None) -> Doubles:
        """`numbers` for F frames in which the chain's space stays: (F, 3), or (F, 6) with a pole; equal bits.

        Args:
            targets: (F, 3) points of the world.
            poles: (F, 3), or None without a pole.
        """
        found = self.space.many_to_chain(targets)
        return found if poles is None else np.concatenate((found, self.space.many_to_chain(poles)), axis=1)

    def rows_of(self, count: int) -> Rows:
        """Room for `count` rows of this chain's goals and answers."""
        return Rows(self.solver.figure, _goals(len(self.bones), self.has_pole, self.pole_angle), count)

    def space_at(self, rig: RigFrame, root: bpy.types.PoseBone) -> ChainSpace | None:
        """Where chain space lies with the armature and the parents as they stand now.

        Args:
            rig: How the armature object stands.
            root: The evaluated first bone.

        Returns:
            None where the parent makes the chain another figure (`carried`).
        """
        above = root.parent
        parent = above.matrix if above is not None else None
        if above is not None and Mount.of(parent, self.keeps_axes) != self.mount:
            return None
        return ChainSpace.of(rig, v3(root.head), self.hang.turn(parent))

    def asked(self, points: GoalPoints) -> list[Goal]:
        """The goals for `Solver.solve`, from where they stand in the world."""
        return self.goals_at(self.numbers(points))

    def goals_at(self, numbers: Sequence[float]) -> list[Goal]:
        """The goals for `Solver.solve`, from the numbers of a row."""
        last = len(self.bones) - 1
        found: list[Goal] = [Point(last, numbers[:3])]
        if self.has_pole:
            found.append(Bend(last, numbers[3:], self.pole_angle))
        return found

    def writes(self, owner: bpy.types.Object, rotations: Sequence[Q4]) -> list[ChannelWrite]:
        """What is to be written into the bones of the armature object for n rotations; locked bones are left out."""
        bones = pose_bones(owner)
        pairs = zip(self.channels, rotations, strict=True)
        return [channels.write(bones[channels.bone], rotation) for channels, rotation in pairs if channels is not None]

    def started(self, rotations: Sequence[Q4]) -> Prepared:
        """The same chain with another start pose: n rotations, brought inside the limits."""
        pairs = zip(self.joints, rotations, strict=True)
        joints = tuple(joint._replace(start=joint.limit.clamped(rotation)) for joint, rotation in pairs)
        return replace(self, joints=joints, solver=Solver(Figure(joints)))


def prepare(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, facts: RigFacts) -> Prepared:
    """Read a chain, without the places of its goals, and find out about it all that can be found out once.

    Args:
        owner: An armature object that can be posed (`checks.check_rig`).
        chain: One of its chains.
        depsgraph: Evaluated for the frame in question.
        facts: Of the armature at that frame.

    Raises:
        FabrikError: The chain can't be solved; the error names the chain and, where one is at fault, the bone.
    """
    with place_of(chain=chain.name):
        return _prepared(owner, chain, depsgraph, facts)


def read(
    owner: bpy.types.Object,
    chain: FabrikChain,
    depsgraph: bpy.types.Depsgraph,
    facts: RigFacts | None = None,
    point: Sequence[float] | None = None,
    before: Prepared | None = None,
) -> tuple[Prepared, GoalPoints]:
    """`prepare` a chain, and read where its goals stand.

    Args:
        owner: An armature object that can be posed.
        chain: One of its chains.
        depsgraph: Evaluated for the frame in question.
        facts: Of the armature at that frame; None to gather them.
        point: Where the tip is to go, in world space, in place of the chain's target, which may then be missing.
        before: The chain as it was, whose solver is used again where the bones are the same.

    Raises:
        FabrikError: The chain can't be solved; the error names the chain and, where one is at fault, the bone.
    """
    with place_of(chain=chain.name):
        prepared = _prepared(owner, chain, depsgraph, facts or RigFacts.of(owner, frame_of(depsgraph)), before)
        if point is None:
            check_goal(owner, chain, prepared.bones)
        return prepared, read_points(chain, depsgraph, point)


def _prepared(
    owner: bpy.types.Object,
    chain: FabrikChain,
    depsgraph: bpy.types.Depsgraph,
    facts: RigFacts,
    before: Prepared | None = None,
) -> Prepared:
    bones = resolve_bones(owner, chain)
    check_bones(owner, bones, facts.movers)
    settings = _settings(chain)
    bone_settings = read_settings(owner, chain, bones, facts.keyed)
    evaluated = owner.evaluated_get(depsgraph)
    poses = [pose_bones(evaluated)[bone.name] for bone in bones]
    path, keeps_axes = BonePath.of(poses), False
    if path.parent is not None:
        if not path.parent.to_3x3().determinant():
            raise ChainError(f"the parent of its first bone '{bones[0].name}' has no scale")
        keeps_axes = path.keeps_axes
    mount = Mount.of(path.parent, keeps_axes)
    measured = path.mounted(mount)
    joints, is_rigid = joints_of(measured, bone_settings, measured.is_even and not mount.axes)
    solver = before.solver if before is not None and before.joints == joints else Solver(Figure(joints))
    turns = poses[0].bone.use_inherit_rotation and not mount.axes
    hang = Hang.of(measured.base, measured.links[0].parent_rest if turns else None)
    has_pole = chain.pole is not None
    return Prepared(
        chain.name,
        tuple(bone.name for bone in bones),
        channels_of(bones, bone_settings.starts, bone_settings.limits, facts.keyed),
        solver,
        settings,
        chain.influence,
        has_pole,
        chain.pole_angle,
        ChainSpace.of(RigFrame.of(evaluated.matrix_world), v3(poses[0].head), hang.turn(path.parent)),
        mount,
        hang,
        keeps_axes,
        joints,
        is_rigid,
        Row.of(Rows(solver.figure, _goals(len(bones), has_pole, chain.pole_angle), 1)),
    )


def _settings(chain: FabrikChain) -> Settings:
    """How a chain is to be solved.

    Raises:
        InvalidValueError: Its influence or pole angle is not a finite number.
    """
    for name, value in (("influence", chain.influence), ("pole angle", chain.pole_angle)):
        if not are_finite([value]):
            raise InvalidValueError(f"the {name} is not a finite number", chain=chain.name)
    return Settings(chain.tolerance, chain.max_passes, chain.use_plain, chain.restarts)


def resettled(prepared: Prepared, chain: FabrikChain) -> Prepared:
    """The same figure and solver, with the chain's own settings as they are now.

    Raises:
        InvalidValueError: One is not a finite number.
    """
    settings = _settings(chain)
    return replace(prepared, settings=settings, influence=chain.influence, pole_angle=chain.pole_angle)


def measured_at(prepared: Prepared, path: BonePath, rotations: Sequence[Q4]) -> Figure:
    """The figure of a chain that is not rigid, measured at a pose.

    Args:
        prepared: The chain.
        path: Its bones, from `mounted_path`.
        rotations: n rotations.
    """
    pairs = zip(prepared.joints, path.segments(rotations), strict=True)
    return Figure([joint._replace(segment=bone.vector, rest=bone.rest) for joint, bone in pairs])


def mounted_path(prepared: Prepared, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> BonePath:
    """The bones of a chain as they are measured; good until the next evaluation."""
    return path_of(owner, prepared.bones, depsgraph).mounted(prepared.mount)


def joints_at(
    prepared: Prepared, rotations: Sequence[Q4], owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> list[V3]:
    """The n + 1 joints of a pose in chain space, as Blender will evaluate them.

    Args:
        prepared: The chain.
        rotations: n rotations.
        owner: Its armature object.
        depsgraph: With which it was prepared.
    """
    if prepared.is_rigid:
        return prepared.solver.figure.placed(rotations).joints
    return mounted_path(prepared, owner, depsgraph).place(rotations)


def _goals(count: int, has_pole: bool, pole_angle: float) -> list[Goal]:
    """What a chain of so many bones asks for, but for the places."""
    target = Point(count - 1, ORIGIN)
    return [target, Bend(count - 1, ORIGIN, pole_angle)] if has_pole else [target]


def carried(prepared: Prepared, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Prepared | None:
    """The same chain where its armature and its parents stand now, with the same solver.

    Nothing else may have changed: settings, limits, the chain's own scale and location channels, its start pose. What
    its rotation channels continue (`channels`) is kept.

    Args:
        prepared: The chain as it was.
        owner: Its armature object.
        depsgraph: Evaluated for the frame in question.

    Returns:
        None where the parent's scale made it another figure: then it has to be prepared anew.
    """
    evaluated = owner.evaluated_get(depsgraph)
    root = pose_bones(evaluated)[prepared.bones[0]]
    space = prepared.space_at(RigFrame.of(evaluated.matrix_world), root)
    return None if space is None else replace(prepared, space=space)


def frame_of(depsgraph: bpy.types.Depsgraph) -> float:
    """The frame, sub-frame included, of a depsgraph."""
    assert depsgraph.scene is not None
    return depsgraph.scene.frame_current_final

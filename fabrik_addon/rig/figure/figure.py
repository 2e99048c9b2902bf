# SPDX-License-Identifier: GPL-3.0-or-later
"""What is solved together: its joints, its solver and its channels; plain data.

What changes from frame to frame are the goals (`goals.GoalPoints`, numbers of a row); where parents or armature move,
their space (`reader.carried`); and where keys make it, the start pose (`reader.restarted`). Button, drag, live, bake,
record, snap and conversion all solve one of these.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...kernel import SOLVE_SPACE, Figure, Goal, Joint, Limit, Rows, Settings, Solver, Stay
from ...maths import ORIGIN, Q4, V3, Z_AXIS, Doubles, v3
from ..animation.channels import channel_of, neutral_values, read_rotation, to_values
from ..animation.keys import KeyedChannels
from ..goals import Frames, GoalPoints
from .chain_goal import ChainGoal
from .goal_options import BodyMasses, BoneStretch
from .goal_table import GoalTable
from .joint_limits import ChannelLocks, read_channel_locks
from .kinematics import AssumedChannels, Joints, ParentFrame, ParentTurn, RootMove, head_of_root
from .space import ChainSpace, RigFrame
from .start_pose import Start

ANSWERS = (  # what a solve leaves in rows
    *("rotations", "shifts", "factors", "heads", "ends", "frames", "status", "residual", "passes", "pole_error"),
    *("goal_status", "goal_residual", "goal_turn", "softened", "blocking", "gives"),
)

RESTING = {"factors": 1, "blocking": -1}  # what these are where nothing was solved; the others are 0


def goals_for(
    table: GoalTable, numbers: Sequence[float], weighed: BodyMasses | None, up: V3, *, stays: bool
) -> list[Goal]:
    """What chains ask for, from the numbers of a row, that they keep their balance, and that their body stays."""
    found = table.kernel_goals(numbers)
    if weighed is not None:
        found.append(weighed.goal(table, numbers, up))
    return [*found, Stay(), Stay(turns=True)] if stays else found


def rows_for(figure: Figure, table: GoalTable, weighed: BodyMasses | None, count: int, *, stays: bool) -> Rows:
    """Room for rows of goals; their places come with the rows."""
    return Rows(figure, goals_for(table, [1.0] * table.width, weighed, Z_AXIS, stays=stays), count)


# From solved rotations to rotation channels: how each bone takes its rotation.


@dataclass(frozen=True, slots=True)
class BoneChannels:
    """How solved rotations of one bone become values of its channels; plain data, good for as long as the rig is.

    Attributes:
        bone: Name of the bone.
        mode: Its rotation mode.
        near: Channel values that the new ones are to continue.
        locks: Its rotation locks, or None where all channels are written.
    """

    bone: str
    mode: str
    near: list[float]
    locks: ChannelLocks | None

    @property
    def name(self) -> str:
        """Name of the property that is written."""
        return channel_of(self.mode)[0]

    @property
    def indices(self) -> Sequence[int]:
        """Indices of the channels that are written."""
        return self.locks.free if self.locks is not None else range(channel_of(self.mode)[1])

    def values(self, rotation: Sequence[float], before: Sequence[float]) -> list[float]:
        """Values in doubles for a unit quaternion in the rest frame of the bone; locked ones stay as they are."""
        if self.locks is None:
            return to_values(self.mode, rotation, self.near)
        values = list(before)
        for i, value in zip(self.locks.free, self.locks.values(rotation, self.near), strict=True):
            values[i] = value
        return values


def channels_of(
    bones: Sequence[bpy.types.PoseBone], starts: Sequence[Q4], keyed: KeyedChannels, carried: Collection[int] = ()
) -> tuple[BoneChannels | None, ...]:
    """The channels of each bone of a chain; None for one whose locks let none be written, or that constraints pose.

    Quaternions and Euler angles continue the last key before the frame, or the start pose where there is none, and so
    do not depend on what was solved before. Locked channels are left alone.
    """
    found: list[BoneChannels | None] = []
    for i, (bone, start) in enumerate(zip(bones, starts, strict=True)):
        locks = read_channel_locks(bone)
        if i in carried or (locks is not None and locks.limit.is_fixed):
            found.append(None)
            continue
        mode = bone.rotation_mode
        near = keyed.previous(bone, to_values(mode, start, neutral_values(mode)))
        found.append(BoneChannels(bone.name, mode, near, locks))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class RigFigure:
    """Chains as they are solved together: plain data, no reference to anything of Blender's.

    Chain space has its origin at the head of the first bone, where it starts, and its axes along the frame before that
    bone's rotation; only where a later bone does not inherit rotation it keeps the axes of the armature.

    Attributes:
        goals: What each chain asks for.
        bones: Names of the n bones, each after its parent.
        channels: For each how its rotation becomes channel values; None for a locked bone.
        solver: The kernel's, with the figure of the n bones: start pose, limits, lengths. Where the figure is not
            rigid, as it is at its start pose.
        settings: How to solve.
        influence: How far each bone turns from start to solution, 0 to 1; 1 for chains that are solved together, whose
            goals are moved instead.
        space: Where chain space lies.
        parent_frame: Axes and scale of the parent of the first bone: where they change, the figure is measured anew.
        parent_turn: How chain space turns with the parent.
        keeps_axes: Whether a bone but the first does not inherit rotation.
        bodies: The n bones as the solver has them.
        is_rigid: Whether the figure holds in every pose.
        is_even: Whether it is the same from every start pose, too: no scale on the way differs between axes.
        start: From where they start as it was read, before their limits.
        row: One row of the kernel's, to solve in.
        root: How the root is moved, where it is a body bone that may be; else None.
        grown: For each chain what its bones take of its stretch.
        instead: By the names of bones what counts as their channels, in place of what a solve wrote there.
        weighed: The masses of the joints, where a body is to keep its balance.
        stays: Whether the body bone stays where it starts, as far as pins let it.
    """

    goals: GoalTable
    bones: tuple[str, ...]
    channels: tuple[BoneChannels | None, ...]
    solver: Solver
    settings: Settings
    influence: float
    space: ChainSpace
    parent_frame: ParentFrame
    parent_turn: ParentTurn
    keeps_axes: bool
    bodies: Joints
    is_rigid: bool
    is_even: bool
    start: Start
    row: Rows
    root: RootMove | None = None
    grown: tuple[tuple[BoneStretch, ...], ...] = ()
    instead: Mapping[str, AssumedChannels] = field(default_factory=dict)
    weighed: BodyMasses | None = None
    stays: bool = False

    @property
    def chains(self) -> tuple[str, ...]:
        """Names of the chains."""
        return tuple([one.chain for one in self.goals])

    @property
    def is_chain(self) -> bool:
        """Whether it is a chain that is solved by itself."""
        return self.bodies.is_chain

    @property
    def length(self) -> float:
        """Length of the figure in armature space: from the root to the farthest end."""
        return self.solver.figure.size

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The n joints."""
        return self.bodies.joints

    @property
    def starts(self) -> list[Q4]:
        """The n rotations of the start pose, inside the limits."""
        return [joint.start for joint in self.joints]

    @property
    def limits(self) -> list[Limit]:
        """The n limits."""
        return [joint.limit for joint in self.joints]

    def frames(self, k: int) -> Frames:
        """The bones in whose frames the goals of one of the chains stand."""
        one = self.goals[k]
        own = ("target", one.frame), ("pole", one.pole_frame)
        found = {role: self.bones[i] for role, i in own if i != SOLVE_SPACE}
        return found | {"pole": one.swing} if one.swing else found

    def numbers(self, points: Sequence[GoalPoints]) -> tuple[float, ...]:
        """The numbers of a row of the kernel for the goals of each chain."""
        return self.goals.numbers(self.space, points)

    def rows_of(self, count: int) -> Rows:
        """Room for `count` rows of these chains' goals and answers."""
        return rows_for(self.solver.figure, self.goals, self.weighed, count, stays=self.stays)

    def space_at(self, rig: RigFrame, root: bpy.types.PoseBone, location: V3 | None = None) -> ChainSpace | None:
        """Where chain space lies with the armature and the parents as they stand now.

        Args:
            rig: The armature.
            root: The evaluated first bone.
            location: The channels from which a root that can be moved starts, if these are others now.

        Returns:
            None where the parent makes the chains another figure (`carried`).
        """
        above = root.parent
        parent = above.matrix if above is not None else None
        if above is not None and ParentFrame.of(parent, self.keeps_axes) != self.parent_frame:
            return None
        origin = v3(root.head) if self.root is None else head_of_root(root, location or self.root.location)
        return ChainSpace.of(rig, origin, self.parent_turn.turn(parent))

    def solved(self, numbers: Sequence[float], explain: bool = False) -> Rows:
        """A row of the kernel, solved; good until these chains are solved again.

        If that is to be explained, it is found out by how much blocking limits would have to give.

        Raises:
            InvalidValueError: A number is not finite.
        """
        rows = self.row
        if numbers == self.goals.at_rest:
            return self._resting()
        if self.weighed is not None:  # what supports a body, and which way is up, is in no row
            goals = self.goals_at(numbers)
            fresh = Rows(self.solver.figure, goals, 1)
            self.solver.solve_many(fresh, self.settings, explain)
            for name in ANSWERS:
                getattr(rows, name)[:] = getattr(fresh, name)
            return rows
        rows.numbers[:] = array("d", numbers)
        self.solver.solve_many(rows, self.settings, explain)
        return rows

    def _resting(self) -> Rows:
        """A row of the kernel's as if solved, with the pose in which the chains start: nothing is asked of them."""
        rows, rotations = self.row, self.start.rotations
        placed = self.solver.figure.placed(rotations)
        for name in ANSWERS:
            part = getattr(rows, name)
            part[:] = array(part.typecode, [RESTING.get(name, 0)]) * len(part)
        rows.rotations[:] = array("d", [value for turn in rotations for value in turn])
        rows.heads[:] = array("d", [value for place in placed.heads for value in place])
        rows.ends[:] = array("d", [value for place in placed.ends for value in place])
        rows.frames[:] = array("d", [value for turn in placed.frames for value in turn])
        return rows

    def goals_at(self, numbers: Sequence[float]) -> list[Goal]:
        """The goals for `Solver.solve`, from the numbers of a row: those of the chains, and the balance of a body."""
        return goals_for(self.goals, numbers, self.weighed, self.space.up, stays=self.stays)

    def standing(self, bones: bpy.types.bpy_prop_collection[bpy.types.PoseBone]) -> list[Q4]:
        """The n rotations of the pose at hand, of the pose bones of the armature.

        Raises:
            InvalidValueError: A rotation channel makes no sense.
        """
        start = self.start
        return [
            start.rotations[i] if i in start.carried else read_rotation(bones[name])
            for i, name in enumerate(self.bones)
        ]

    @property
    def plain_channels(self) -> list[tuple[str, str]]:
        """What is written besides rotations: bones, each with "location" or "scale"."""
        found = [(self.bones[0], "location")] if self.root is not None else []
        return found + [(one.bone, one.name) for own in self.grown for one in own]

    def plain_values(self, shift: Sequence[float] | Doubles, factors: Sequence[float] | Doubles = ()) -> list[V3]:
        """The values of `plain_channels`.

        Args:
            shift: Vector of chain space by which the root stands elsewhere than it starts.
            factors: By how much the bones on the way to each goal are longer (`Solution.factors`); () where none is.
        """
        found = [self.root.location_for((shift[0], shift[1], shift[2]))] if self.root is not None else []
        for one, own in zip(self.goals, self.grown, strict=True) if any(self.grown) else ():
            found += [bone.values(factors[one.goal_at] if len(factors) else 1.0) for bone in own]
        return found

    def many_plain_values(self, shifts: Doubles, factors: Doubles) -> Doubles:
        """`plain_values` of F frames, (F, m, 3), for shifts (F, 3) and factors (F, G), of each goal; equal bits."""
        found = [self.root.locations_for(shifts)] if self.root is not None else []
        for one, own in zip(self.goals, self.grown, strict=True):
            ways = factors[:, one.goal_at].tolist() if own else []
            found += [np.array([bone.values(factor) for factor in ways]) for bone in own]
        return np.stack(found, axis=1)

    def started(self, rotations: Sequence[Q4], shift: V3 = ORIGIN) -> RigFigure:
        """The same chains with another start pose.

        Args:
            rotations: n rotations, which are brought inside the limits.
            shift: Vector of chain space by which the root is to start elsewhere.
        """
        bodies, space, root = self.bodies.started(rotations), self.space, self.root
        if root is not None and any(shift):
            root = replace(root, location=root.location_for(shift))
            space = ChainSpace.of(space.rig, space.to_armature(shift), space.turn)
        solver = Solver(bodies.figure())
        goals = self.goals.started(solver.figure).kept_from(self.goals, shift)
        return replace(self, bodies=bodies, solver=solver, space=space, root=root).with_goals(goals)

    def restarted(self, start: Start, limits: Sequence[Limit]) -> RigFigure:
        """The same chains with the start pose of another frame; their space is left as it was."""
        bodies, solver, goals, root = self.bodies.started(start.rotations, limits), self.solver, self.goals, self.root
        if bodies != self.bodies:
            solver = Solver(bodies.figure())
            goals = goals.started(solver.figure)
        instead = self.instead
        if root is not None:
            root, name = replace(root, location=start.location), self.bones[0]
            instead = {**instead, name: instead[name]._replace(location=start.location)}
        return replace(self, start=start, bodies=bodies, solver=solver, goals=goals, root=root, instead=instead)

    def posed_from(self, before: RigFigure) -> RigFigure:
        """The same chains, whose start pose was made by hand, with the motion of which they are offset as it was."""
        shift = (
            before.root.shift_for(self.root.location) if before.root is not None and self.root is not None else ORIGIN
        )
        return replace(self, goals=self.goals.kept_from(before.goals, shift))

    def with_goals(self, goals: Iterable[ChainGoal]) -> RigFigure:
        """A copy that asks for other things, with a row of its own; figure and solver are shared."""
        found = replace(self, goals=GoalTable(goals))
        return replace(found, row=found.rows_of(1))

# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature to what the kernel solves: all that is found out once about chains that are solved together.

What changes from frame to frame are their goals (`goals.GoalPoints`, numbers of a row) and, where parents or armature
move, their space (`carried`). Button, drag, live, bake, record, snap and conversion all go this way.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError, FabrikError, place_of
from ..kernel import Figure, Goal, Joint, Limit, Rows, Settings, Solver
from .animated_paths import chains_animated_in
from .asked import Asked, ask
from .balance import Weighed, weigh
from .chain_bones import pose_bones, resolve_bones
from .chain_space import ChainSpace, RigFrame
from .checks import Movers, check_bones, check_goal, check_location, movers_of
from .figures import ChainSet, body_moves, chain_with, check_body, figure_bones, is_let_go
from .goals import GoalPoints, read_points
from .joints import Joints, joints_of, read_settings
from .keys import KeyedChannels
from .kinematics import BoneTree, Instead, head_of_root
from .mount import Hang, Mount
from .rotations import ORIGIN, Q4, V3, Z_AXIS, Nine, minus, nine, plus, v3
from .row import Row
from .stretching import Grown, grown_by, unstretched
from .writer import BoneChannels, ChannelWrite, channels_of, plain_write


@dataclass(frozen=True, slots=True)
class RigFacts:
    """What is gathered once for all chains of an armature that are prepared together.

    Attributes:
        movers: What moves bones beside their own channels.
        keyed: The curves of the armature at the frame.
        stretched: Names of the chains whose stretch is animated.
    """

    movers: Movers
    keyed: KeyedChannels
    stretched: set[str]

    @classmethod
    def of(cls, owner: bpy.types.Object, frame: float) -> RigFacts:
        """Gather them; `frame` is that which the channels of the bones continue, sub-frame included."""
        return cls(movers_of(owner), KeyedChannels(owner, frame), chains_animated_in(owner, "stretch"))


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
            raise ChainError(f"what the body bone '{tree.links[0].bone.name}' hangs on has no scale")
        return cls(location, nine(axes.inverted() @ Quaternion(tree.base).to_matrix()))

    def location_for(self, shift: Sequence[float]) -> V3:
        """The location channels for a shift of the root in chain space."""
        return plus(self.location, _applied(self.into, shift))

    def shift_for(self, location: Sequence[float]) -> V3:
        """The shift in chain space that location channels make."""
        back = Matrix((self.into[:3], self.into[3:6], self.into[6:])).inverted()
        return v3(back @ Vector(minus(location, self.location)))


def _applied(rows: Nine, vector: Sequence[float]) -> V3:
    a, b, c, d, e, f, g, h, i = rows
    x, y, z = vector
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


@dataclass(frozen=True, slots=True)
class Prepared:
    """Chains as they are solved together: plain data, no reference to anything of Blender's.

    Chain space has its origin at the head of the first bone, where it starts, and its axes along the frame before that
    bone's rotation; only where a later bone does not inherit rotation it keeps the axes of the armature.

    Attributes:
        asked: What each chain asks for.
        bones: Names of the n bones, each after its parent.
        channels: For each how its rotation becomes channel values; None for a locked bone.
        solver: The kernel's, with the figure of the n bones: start pose, limits, lengths. Where the figure is not
            rigid, as it is at its start pose.
        settings: How to solve.
        influence: How far each bone turns from start to solution, 0 to 1; 1 for chains that are solved together, whose
            goals are moved instead.
        space: Where chain space lies.
        mount: What of the parent the figure depends on.
        hang: How chain space turns with the parent.
        keeps_axes: Whether a bone but the first does not inherit rotation.
        bodies: The n bones as the solver has them.
        is_rigid: Whether the figure holds in every pose.
        row: One row, to solve in.
        root: How the root is moved, where it is a body bone that may be; else None.
        grown: For each chain what its bones take of its stretch.
        instead: By the names of bones what counts as their channels, in place of what a solve wrote there.
        weighed: The masses of the joints, where a body is to keep its balance.
    """

    asked: tuple[Asked, ...]
    bones: tuple[str, ...]
    channels: tuple[BoneChannels | None, ...]
    solver: Solver
    settings: Settings
    influence: float
    space: ChainSpace
    mount: Mount
    hang: Hang
    keeps_axes: bool
    bodies: Joints
    is_rigid: bool
    row: Row
    root: RootMove | None = None
    grown: tuple[tuple[Grown, ...], ...] = ()
    instead: Mapping[str, Instead] = field(default_factory=dict)
    weighed: Weighed | None = None

    @property
    def chains(self) -> tuple[str, ...]:
        """Names of the chains."""
        return tuple(one.chain for one in self.asked)

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

    def numbers(self, points: Sequence[GoalPoints]) -> tuple[float, ...]:
        """The numbers of a row of the kernel for the goals of each chain in the world."""
        pairs = zip(self.asked, points, strict=True)
        return tuple(number for one, own in pairs for number in one.numbers(self.space, own))

    def rows_of(self, count: int) -> Rows:
        """Room for `count` rows of these chains' goals and answers."""
        return _rows(self.solver.figure, self.asked, self.weighed, count)

    def space_at(self, rig: RigFrame, root: bpy.types.PoseBone) -> ChainSpace | None:
        """Where chain space lies with the armature and the parents as they stand now.

        Args:
            rig: How the armature object stands.
            root: The evaluated first bone.

        Returns:
            None where the parent makes the chains another figure (`carried`).
        """
        above = root.parent
        parent = above.matrix if above is not None else None
        if above is not None and Mount.of(parent, self.keeps_axes) != self.mount:
            return None
        origin = v3(root.head) if self.root is None else head_of_root(root, self.root.location)
        return ChainSpace.of(rig, origin, self.hang.turn(parent))

    def goals_of(self, points: Sequence[GoalPoints]) -> list[Goal]:
        """The goals for `Solver.solve`, from where they stand in the world."""
        return self.goals_at(self.numbers(points))

    def goals_at(self, numbers: Sequence[float]) -> list[Goal]:
        """The goals for `Solver.solve`, from the numbers of a row."""
        return _goals(self.asked, numbers, self.weighed, self.space.up)

    def targets_at(self, numbers: Sequence[float]) -> list[V3]:
        """Where each chain's target is in chain space, from the numbers of a row."""
        found, at = [], 0
        for one in self.asked:
            found.append(v3(numbers[at : at + 3]))
            at += one.width
        return found

    def writes(
        self,
        owner: bpy.types.Object,
        rotations: Sequence[Q4],
        shift: Sequence[float] = ORIGIN,
        factors: Sequence[float] = (),
    ) -> list[ChannelWrite]:
        """What is to be written into the bones of the armature object; locked bones are left out.

        Args:
            owner: The armature object.
            rotations: n rotations.
            shift: Vector of chain space by which the root stands elsewhere than it starts.
            factors: By how much the bones on the way to each goal are longer (`Solution.factors`); () where none is.
        """
        bones = pose_bones(owner)
        pairs = zip(self.channels, rotations, strict=True)
        found = [channels.write(bones[channels.bone], rotation) for channels, rotation in pairs if channels is not None]
        values = self.plain_values(shift, factors)
        return found + [
            plain_write(bones[b], name, own) for (b, name), own in zip(self.plain_channels, values, strict=True)
        ]

    @property
    def plain_channels(self) -> list[tuple[str, str]]:
        """What is written besides rotations: bones, each with "location" or "scale"."""
        found = [(self.bones[0], "location")] if self.root is not None else []
        return found + [(one.bone, one.name) for own in self.grown for one in own]

    def plain_values(self, shift: Sequence[float], factors: Sequence[float] = ()) -> list[V3]:
        """The values of `plain_channels`.

        Args:
            shift: See `writes`.
            factors: The same.
        """
        found = [self.root.location_for(shift)] if self.root is not None else []
        goal = 0
        for one, own in zip(self.asked, self.grown, strict=True):
            found += [bone.values(factors[goal] if factors else 1.0) for bone in own]
            goal += one.goal_count
        return found

    def stretched(self, factors: Sequence[float]) -> Figure:
        """The figure with its bones as long as a solve made them.

        Args:
            factors: Of each goal (`Solution.factors`).
        """
        figure, goal = self.solver.figure, 0
        if not any(self.grown):
            return figure
        lengths = array("d", [1.0]) * figure.count
        for one in self.asked:
            for i in one.joints[:-1] if one.at_head else one.joints:
                lengths[i] = max(lengths[i], factors[goal])
            goal += one.goal_count
        return figure.with_lengths(lengths, 1.0)

    def started(self, rotations: Sequence[Q4], shift: V3 = ORIGIN) -> Prepared:
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
        asked = _placed(self.asked, solver.figure)
        return replace(self, bodies=bodies, solver=solver, space=space, root=root).asking(asked)

    def asking(self, asked: Sequence[Asked]) -> Prepared:
        """The same chains that ask for other things."""
        return replace(self, asked=tuple(asked), row=Row.of(_rows(self.solver.figure, asked, self.weighed, 1)))


def prepare(chain_set: ChainSet, depsgraph: bpy.types.Depsgraph, facts: RigFacts) -> Prepared:
    """Read chains that are solved together, without the places of their goals: all that can be found out once.

    Args:
        chain_set: Chains of an armature object that can be posed (`checks.check_rig`).
        depsgraph: Evaluated for the frame in question.
        facts: Of the armature at that frame.

    Raises:
        FabrikError: They can't be solved; the error names the chain and, where one is at fault, the bone.
    """
    with _chain_at_fault(chain_set):
        return _prepared(chain_set, depsgraph, facts)


def read(
    chain_set: ChainSet,
    depsgraph: bpy.types.Depsgraph,
    facts: RigFacts | None = None,
    points: Mapping[str, Sequence[float]] | None = None,
    before: Prepared | None = None,
) -> tuple[Prepared, tuple[GoalPoints, ...]]:
    """`prepare` chains, and read where their goals stand.

    Args:
        chain_set: Chains of an armature object that can be posed.
        depsgraph: Evaluated for the frame in question.
        facts: Of the armature at that frame; None to gather them.
        points: For chains by their names where the effector is to go, in world space, in place of the chain's target,
            which may then be missing.
        before: The chains as they were, whose solver is used again where the bones are the same.

    Raises:
        FabrikError: They can't be solved; the error names the chain and, where one is at fault, the bone.
    """
    owner, given = chain_set.owner, points or {}
    with _chain_at_fault(chain_set):
        prepared = _prepared(chain_set, depsgraph, facts or RigFacts.of(owner, frame_of(depsgraph)), before, given)
        found = []
        for chain in chain_set.chains:
            with place_of(chain=chain.name):
                if chain.name not in given:
                    check_goal(owner, chain, prepared.bones)
                found.append(read_points(chain, depsgraph, given.get(chain.name)))
        return prepared, tuple(found)


@contextmanager
def _chain_at_fault(chain_set: ChainSet) -> Iterator[None]:
    """Give the errors of a block the chain whose bone is at fault: that has it, or that hangs on it."""
    try:
        yield
    except FabrikError as error:
        bone = pose_bones(chain_set.owner).get(error.bone)
        if not error.chain and bone is not None:
            error.chain = chain_with(chain_set, bone)
        error.chain = error.chain or chain_set.names[0]
        raise


def _prepared(
    chain_set: ChainSet,
    depsgraph: bpy.types.Depsgraph,
    facts: RigFacts,
    before: Prepared | None = None,
    given: Collection[str] = (),
) -> Prepared:
    owner = chain_set.owner
    check_body(owner, chain_set)
    bones = figure_bones(chain_set)
    check_bones(owner, bones, facts.movers)
    moves = body_moves(chain_set)
    if moves:
        check_location(bones[0], facts.movers)
    bone_settings, start = read_settings(chain_set, bones, facts.keyed)
    evaluated = owner.evaluated_get(depsgraph)
    poses = [pose_bones(evaluated)[bone.name] for bone in bones]
    driven, animated = facts.movers.driven, facts.stretched
    grown = tuple(grown_by(chain, resolve_bones(owner, chain), driven, animated) for chain in chain_set.chains)
    instead = unstretched(grown)
    if moves:
        instead[bones[0].name] = Instead(start.location, instead.get(bones[0].name, Instead()).scale)
    tree, keeps_axes = BoneTree.of(poses, instead, is_chain=chain_set.is_one), False
    if tree.parent is not None:
        if not tree.parent.to_3x3().determinant():
            raise ChainError(f"the parent of its first bone '{bones[0].name}' has no scale")
        keeps_axes = tree.keeps_axes
    mount = Mount.of(tree.parent, keeps_axes)
    measured = tree.mounted(mount)
    bodies, is_rigid = joints_of(measured, bone_settings, measured.is_even and not mount.axes, moves)
    if any(grown) and not is_rigid:
        raise ChainError(
            "it stretches, and a scale on the way differs between axes, so that it has no length of its own"
        )
    solver = before.solver if before is not None and before.bodies == bodies else Solver(bodies.figure())
    turns = poses[0].bone.use_inherit_rotation and not mount.axes
    hang = Hang.of(measured.base, measured.links[0].parent_rest if turns else None)
    root = RootMove.of(measured, start.location) if moves else None
    origin = v3(poses[0].head) if root is None else head_of_root(poses[0], root.location)
    asked = _placed(_asked(chain_set, {bone.name: i for i, bone in enumerate(bones)}, given), solver.figure)
    weighed = weigh(chain_set, asked, poses, [joint.segment for joint in bodies.joints]) if chain_set.body else None
    return Prepared(
        asked,
        tuple(bone.name for bone in bones),
        channels_of(bones, bone_settings.starts, bone_settings.limits, facts.keyed),
        solver,
        _settings(chain_set),
        chain_set.chains[0].influence if chain_set.is_one else 1.0,
        ChainSpace.of(RigFrame.of(evaluated.matrix_world), origin, hang.turn(tree.parent)),
        mount,
        hang,
        keeps_axes,
        bodies,
        is_rigid,
        Row.of(_rows(solver.figure, asked, weighed, 1)),
        root,
        grown,
        instead,
        weighed,
    )


def _asked(chain_set: ChainSet, places: dict[str, int], given: Collection[str] = ()) -> list[Asked]:
    """What the chains ask for, but for where it starts; `given` names those whose goals are given from elsewhere."""
    owner, chains, _ = chain_set
    free = {chain.name for chain in chains if chain.name not in given and is_let_go(owner, chain)}
    return [ask(one, resolve_bones(owner, one), places, chain_set.is_one, one.name in free) for one in chains]


def _placed(asked: Sequence[Asked], figure: Figure) -> tuple[Asked, ...]:
    """What chains ask for, with where the start pose has their effectors where that counts."""
    if all(one.influence >= 1.0 for one in asked):
        return tuple(asked)
    placed = figure.placed(figure.starts)
    found = []
    for one in asked:
        last = one.joints[-1]
        at_head = one.at_head or one.kind == "AIM"
        start = placed.heads[last] if at_head else placed.ends[last]
        found.append(one._replace(start=start, start_turn=placed.frames[last]))
    return tuple(found)


def _settings(chain_set: ChainSet) -> Settings:
    """How chains are to be solved: of several to the least tolerance, which is a share of the figure's size."""
    chains = chain_set.chains
    return Settings(
        min(chain.tolerance for chain in chains),
        max(chain.max_passes for chain in chains),
        all(chain.use_plain for chain in chains),
        max(chain.restarts for chain in chains),
    )


def resettled(prepared: Prepared, chain_set: ChainSet) -> Prepared:
    """The same figure and solver, with the chains' own settings as they are now.

    Raises:
        InvalidValueError: One is not a finite number.
    """
    figure = prepared.solver.figure
    asked = _placed(_asked(chain_set, {bone: i for i, bone in enumerate(prepared.bones)}), figure)
    settings = _settings(chain_set)
    influence = chain_set.chains[0].influence if chain_set.is_one else 1.0
    return replace(prepared, settings=settings, influence=influence).asking(asked)


def measured_at(prepared: Prepared, tree: BoneTree, rotations: Sequence[Q4]) -> Figure:
    """The figure of chains that are not rigid, measured at a pose.

    Args:
        prepared: The chains.
        tree: Their bones, from `mounted_path`.
        rotations: n rotations.
    """
    segments = tree.segments(rotations)
    pairs = zip(prepared.joints, segments, strict=True)
    joints = tuple(joint._replace(segment=bone.vector, rest=bone.rest) for joint, bone in pairs)
    return prepared.bodies._replace(joints=joints, heads=tuple(bone.head for bone in segments)).figure()


def mounted_path(prepared: Prepared, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> BoneTree:
    """The bones as they are measured; good until the next evaluation."""
    poses = pose_bones(owner.evaluated_get(depsgraph))
    tree = BoneTree.of([poses[name] for name in prepared.bones], prepared.instead, is_chain=prepared.is_chain)
    return tree.mounted(prepared.mount)


def ends_at(
    prepared: Prepared,
    rotations: Sequence[Q4],
    shift: V3,
    owner: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
) -> tuple[list[V3], list[V3]]:
    """The n heads and the n ends of a pose that is not stretched in chain space, as Blender will evaluate them.

    In a chain the end of a bone is the head of the next one, and of the last one its tail; else it is the bone's tail.

    Args:
        prepared: The chains.
        rotations: n rotations.
        shift: Vector of chain space by which the root stands elsewhere than it starts.
        owner: Their armature object.
        depsgraph: With which they were prepared.
    """
    if prepared.is_rigid:
        placed = prepared.solver.figure.placed(rotations, shift)
        return placed.heads, placed.ends
    heads, tails = mounted_path(prepared, owner, depsgraph).placed(rotations)
    ends = [*heads[1:], tails[-1]] if prepared.is_chain else tails
    return [plus(head, shift) for head in heads], [plus(end, shift) for end in ends]


def joints_at(
    prepared: Prepared, rotations: Sequence[Q4], owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> list[V3]:
    """The n + 1 joints of a pose of a chain in chain space, as Blender will evaluate them; see `ends_at`."""
    heads, ends = ends_at(prepared, rotations, ORIGIN, owner, depsgraph)
    return [*heads, ends[-1]]


def _rows(figure: Figure, asked: Sequence[Asked], weighed: Weighed | None, count: int) -> Rows:
    """Room for rows of goals; their places come with the rows."""
    return Rows(figure, _goals(asked, _nowhere(asked), weighed, Z_AXIS), count)


def _nowhere(asked: Sequence[Asked]) -> list[float]:
    """Numbers of a row that can be made goals of, and mean nothing."""
    return [1.0] * sum(one.width for one in asked)


def _goals(asked: Sequence[Asked], numbers: Sequence[float], weighed: Weighed | None, up: V3) -> list[Goal]:
    """What chains ask for, from the numbers of a row, and that they keep their balance."""
    found: list[Goal] = []
    at = 0
    for one in asked:
        found += one.goals(numbers[at : at + one.width])
        at += one.width
    return found if weighed is None else [*found, weighed.goal(numbers, up)]


def carried(prepared: Prepared, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Prepared | None:
    """The same chains where their armature and their parents stand now, with the same solver.

    Nothing else may have changed: settings, limits, the bones' own scale and location channels, their start pose. What
    their rotation channels continue (`channels`) is kept.

    Args:
        prepared: The chains as they were.
        owner: Their armature object.
        depsgraph: Evaluated for the frame in question.

    Returns:
        None where the parent's scale made them another figure: then they have to be prepared anew.
    """
    evaluated = owner.evaluated_get(depsgraph)
    root = pose_bones(evaluated)[prepared.bones[0]]
    space = prepared.space_at(RigFrame.of(evaluated.matrix_world), root)
    return None if space is None else replace(prepared, space=space)


def frame_of(depsgraph: bpy.types.Depsgraph) -> float:
    """The frame, sub-frame included, of a depsgraph."""
    assert depsgraph.scene is not None
    return depsgraph.scene.frame_current_final

# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature to what is solved: chains read with all that is found out once about them, and kept.

What is kept is plain data. It holds for one frame and one count of changed settings, and is let go for an armature as
soon as Blender evaluates that anew, whatever the reason: its bones, constraints, drivers and curves are then read
again. What the add-on itself wrote into the channels that it solves is no such reason (`FigureCache.keep`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import bpy

from ...errors import BoneError, ChainError, FabrikError, place_of
from ...kernel import Settings, Solver
from ...maths import v3
from ...messages import Message
from ..animation.keys import KeyedChannels, chains_animated_in
from ..bones import numbers_of, pose_bones, resolve_bones
from ..checks import Movers, check_goal, constrained_bones, movers_of
from ..goals import Frames, GoalPoints, frames_of, into_frame, is_offset, read_points, swing_frame_of
from ..schema.chain import OFFSET
from ..schema.fields import Changes
from ..schema.rig import rig_of
from .chain_goal import ChainGoal
from .figure import RigFigure, channels_of, rows_for
from .followers import read_followers
from .goal_options import ask, grown_by, offset, unstretched, weigh
from .goal_table import GoalTable
from .groups import ChainSet, body_moves, chain_with, check_body, figure_bones, figure_bones_if_any, is_let_go
from .joint_limits import joints_of, read_settings, restarted_limits
from .kinematics import NOTHING_ELSE, AssumedChannels, BoneTree, ParentFrame, ParentTurn, RootMove, head_of_root
from .space import ChainSpace, RigFrame
from .start_pose import held_bones

Key = tuple[str, ...]  # full name of the armature object, its body bone or "", names of the chains
# What must be the same for a figure to hold, beside that Blender did not evaluate its armature anew: the frame at which
# it was read, how often a setting was changed in this session, and `captured_starts`.
Stamp = tuple[float, int, bytes]


def captured_starts(chain_set: ChainSet) -> bytes:
    """The captured start pose of chains and of their body, which scripts may change unheard."""
    starts = [numbers_of(chain.captured, "rotation", 4).tobytes() for chain in chain_set.chains]
    if chain_set.body:
        kept = rig_of(chain_set.owner).body_captured
        starts += numbers_of(kept, "rotation", 4).tobytes(), numbers_of(kept, "location", 3).tobytes()
    return b"".join(starts)


class FigureCache:
    """The figures of this session."""

    _figures: dict[Key, tuple[Stamp, RigFigure]] = {}

    @classmethod
    def get(cls, chain_set: ChainSet, frame: float) -> RigFigure | None:
        """A figure as it was read at a frame; None where it has to be read."""
        found = cls._figures.get(_key(chain_set))
        return found[1] if found is not None and found[0] == _stamp(chain_set, frame) else None

    @classmethod
    def keep(cls, chain_set: ChainSet, frame: float, figure: RigFigure) -> None:
        """Keep a figure; again after Blender evaluated what was solved with it and written.

        One whose lengths depend on its pose is not kept: it depends on more than its stamp tells.
        """
        if figure.is_rigid:
            cls._figures[_key(chain_set)] = _stamp(chain_set, frame), figure

    @classmethod
    def drop(cls, owner: str) -> None:
        """Let go the figures of an armature object, by its full name."""
        for key in [key for key in cls._figures if key[0] == owner]:
            del cls._figures[key]

    @classmethod
    def clear(cls) -> None:
        """Let go all: a file is opened, a step undone, the frame changed."""
        cls._figures.clear()

    @classmethod
    def after(cls, depsgraph: bpy.types.Depsgraph) -> None:
        """Let go what Blender evaluated anew; by a change of actions, scenes or armatures' data that may be any."""
        if not cls._figures:
            return
        for update in depsgraph.updates:
            found = update.id
            if isinstance(found, bpy.types.Object):
                if found.type == "ARMATURE":
                    cls.drop(found.name_full)
                elif len(found.constraints):  # it may be a goal that hangs on another bone now
                    cls.clear()
                    return
            elif isinstance(found, bpy.types.Armature | bpy.types.Action | bpy.types.Scene):
                cls.clear()
                return


def _key(chain_set: ChainSet) -> Key:
    return chain_set.owner.name_full, chain_set.body, *chain_set.names


def _stamp(chain_set: ChainSet, frame: float) -> Stamp:
    return frame, Changes.count, captured_starts(chain_set)


@dataclass(frozen=True, slots=True)
class RigFacts:
    """What is gathered once for all chains of an armature that are read together.

    Attributes:
        movers: What moves bones beside their own channels.
        keyed: The curves of the armature at the frame.
        stretched: Names of the chains whose stretch is animated.
    """

    movers: Movers
    keyed: KeyedChannels
    stretched: set[str]


class FactsByRig:
    """The facts of armatures at a frame, gathered once, as far as they are asked for; good until the next evaluation.

    The channels of the bones continue that frame, sub-frame included.
    """

    def __init__(self, frame: float) -> None:
        self.frame = frame
        self._keyed: dict[str, KeyedChannels] = {}
        self._facts: dict[str, RigFacts] = {}

    def keyed(self, owner: bpy.types.Object) -> KeyedChannels:
        """The curves of an armature object."""
        name = owner.name_full
        if name not in self._keyed:
            self._keyed[name] = KeyedChannels(owner, self.frame)
        return self._keyed[name]

    def of(self, owner: bpy.types.Object) -> RigFacts:
        """The facts of an armature object."""
        name = owner.name_full
        if name not in self._facts:
            self._facts[name] = RigFacts(movers_of(owner), self.keyed(owner), chains_animated_in(owner, "stretch"))
        return self._facts[name]


def read_figure(
    chain_set: ChainSet,
    depsgraph: bpy.types.Depsgraph,
    facts: FactsByRig | None = None,
    given: Collection[str] = (),
    before: RigFigure | None = None,
) -> RigFigure:
    """Read chains that are solved together, without the places of their goals: all that can be found out once.

    Where they were read before and nothing of that has changed (`FigureCache`), they are only brought to where their
    armature and parents stand now.

    Args:
        chain_set: Chains of an armature object that can be posed (`checks.check_rig`).
        depsgraph: Evaluated for the frame in question.
        facts: Of armatures at that frame, gathered as far as they are needed; None to gather them anew.
        given: Names of the chains whose goals are given from elsewhere.
        before: The chains as they were, whose solver is used again where the bones are the same.

    Raises:
        FabrikError: They can't be solved; the error names the chain and, where one is at fault, the bone.
    """
    facts = facts or FactsByRig(frame_of(depsgraph))
    is_kept = not given and facts.frame == frame_of(depsgraph) and not is_beside(depsgraph)
    with _chain_at_fault(chain_set):
        known = FigureCache.get(chain_set, facts.frame) if is_kept else None
        found = carried(known, chain_set.owner, depsgraph) if known is not None else None
        if found is None:
            found = _figure(chain_set, depsgraph, facts.of(chain_set.owner), before, given)
            if is_kept:
                FigureCache.keep(chain_set, facts.frame, found)
        return found


def read(
    chain_set: ChainSet,
    depsgraph: bpy.types.Depsgraph,
    facts: FactsByRig | None = None,
    before: RigFigure | None = None,
) -> tuple[RigFigure, tuple[GoalPoints, ...]]:
    """`read_figure` chains, and read where their goals stand.

    Raises:
        FabrikError: They can't be solved; the error names the chain and, where one is at fault, the bone.
    """
    figure = read_figure(chain_set, depsgraph, facts, before=before)
    return figure, read_goals(chain_set, figure, depsgraph, {})


def read_goals(
    chain_set: ChainSet, figure: RigFigure, depsgraph: bpy.types.Depsgraph, given: Mapping[str, Sequence[float]]
) -> tuple[GoalPoints, ...]:
    """Read where the goals of chains stand.

    Args:
        chain_set: Chains of an armature object that can be posed.
        figure: These chains.
        depsgraph: Evaluated for the frame in question.
        given: For chains by their names where the effector is to go, in world space, in place of the chain's target,
            which may then be missing.

    Raises:
        FabrikError: A goal can't be read, or moves with the chains.
    """
    found = []
    with _chain_at_fault(chain_set):
        for k, chain in enumerate(chain_set.chains):
            with place_of(chain=chain.name):
                frames, point = figure.frames(k), given.get(chain.name)
                if chain.name not in given:
                    check_goal(chain_set.owner, chain, figure.bones, frames)
                if point is not None and "target" in frames:
                    point = into_frame(chain_set.owner.evaluated_get(depsgraph), frames["target"], point)
                found.append(read_points(chain, depsgraph, point, frames))
    return tuple(found)


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


def _figure(
    chain_set: ChainSet,
    depsgraph: bpy.types.Depsgraph,
    facts: RigFacts,
    before: RigFigure | None,
    given: Collection[str],
) -> RigFigure:
    """`read_figure` of chains that are not known: their bones, how these are measured, and what is asked of them."""
    owner = chain_set.owner
    check_body(owner, chain_set)
    bones, moves = figure_bones(chain_set), body_moves(chain_set)
    held = constrained_bones(owner, bones, facts.movers)
    if moves and bones[0].path_from_id("location") in facts.movers.driven:
        raise BoneError(Message("BODY_BONE_DRIVEN"), bone=bones[0].name)
    evaluated = owner.evaluated_get(depsgraph)
    poses = [pose_bones(evaluated)[bone.name] for bone in bones]
    followers = read_followers(chain_set, poses, held) if held else NOTHING_ELSE
    starts, limits, stiffness, start = read_settings(chain_set, bones, facts.keyed, followers)
    grown = tuple(
        grown_by(chain, resolve_bones(owner, chain), facts.movers.driven, facts.stretched) for chain in chain_set.chains
    )
    instead = {**unstretched(grown), **followers}
    names, first = tuple(bone.name for bone in bones), poses[0]
    if moves:
        instead[names[0]] = AssumedChannels(start.location, instead.get(names[0], AssumedChannels()).scale)
    tree = BoneTree.of(poses, instead, is_chain=chain_set.is_one)
    # how they are measured, on the parent that carries them
    parent = tree.parent
    if parent is not None and not parent.to_3x3().determinant():
        raise ChainError(Message("ROOT_PARENT_WITHOUT_SCALE", bone=names[0]))
    keeps_axes = parent is not None and tree.keeps_axes  # and that may turn
    parent_frame = ParentFrame.of(parent, keeps_axes)
    measured = tree.mounted(parent_frame)
    is_even = measured.is_even and not parent_frame.axes
    bodies, is_rigid = joints_of(measured, starts, limits, stiffness, is_even, moves)
    if any(grown) and not is_rigid:
        raise ChainError(Message("STRETCH_WITH_UNEVEN_SCALE"))
    solver = before.solver if before is not None and before.bodies == bodies else Solver(bodies.figure())
    turns = first.bone.use_inherit_rotation and not parent_frame.axes
    parent_turn = ParentTurn.of(measured.base, measured.links[0].parent_rest if turns else None)
    root = RootMove.of(measured, start.location) if moves else None
    origin = v3(first.head) if root is None else head_of_root(first, root.location)
    # what is asked of them
    asked = _asked(chain_set, {name: i for i, name in enumerate(names)}, given).started(solver.figure)
    segments = [joint.segment for joint in bodies.joints]
    weighed = weigh(chain_set, asked, poses, segments) if chain_set.body else None
    is_put = rig_of(owner).body_stays or names[0] in held_bones(owner, facts.keyed.frame)
    leading = {0, *start.carried}  # tips that are the body bone, or move as it does
    stays = root is not None and is_put and leading.isdisjoint(one.joints[-1] for one in asked)
    return RigFigure(
        asked,
        names,
        channels_of(bones, starts, facts.keyed, start.carried),
        solver,
        _settings(chain_set),
        chain_set.chains[0].influence if chain_set.is_one else 1.0,
        ChainSpace.of(RigFrame.of(evaluated.matrix_world), origin, parent_turn.turn(parent)),
        parent_frame,
        parent_turn,
        keeps_axes,
        bodies,
        is_rigid,
        is_even,
        start,
        rows_for(solver.figure, asked, weighed, 1, stays=stays),
        root,
        grown,
        instead,
        weighed,
        stays,
    )


def _asked(chain_set: ChainSet, places: dict[str, int], given: Collection[str] = ()) -> GoalTable:
    """What the chains ask for, but for where it starts; `given` names those whose goals are given from elsewhere."""
    owner, is_one = chain_set.owner, chain_set.is_one
    found = list[ChainGoal]()
    for chain, frames in zip(chain_set.chains, frames_in(chain_set, places), strict=True):
        bones, is_given = resolve_bones(owner, chain), chain.name in given
        is_free = not is_given and is_let_go(owner, chain)
        asked = ask(chain, bones, places, frames, is_one=is_one, is_let_go=is_free)
        is_moved = chain.goal == OFFSET and is_offset(chain) and not is_given
        found.append(offset(asked, chain, bones[0], is_one=is_one) if is_moved else asked)
    return GoalTable(found)


def frames_in(chain_set: ChainSet, bones: Collection[str] | None = None) -> list[Frames]:
    """In whose frames the goals of chains that are solved together stand; without names their bones are looked up."""
    if chain_set.is_one:
        return [swing_frame_of(chain_set.owner, chain_set.chains[0])]
    own = bones if bones is not None else {bone.name for bone in figure_bones_if_any(chain_set)}
    return [frames_of(chain_set.owner, chain, own) for chain in chain_set.chains]


def _settings(chain_set: ChainSet) -> Settings:
    """How chains are to be solved: of several to the least tolerance, which is a share of the figure's size."""
    chains = chain_set.chains
    return Settings(
        min(chain.tolerance for chain in chains),
        max(chain.max_passes for chain in chains),
        all(chain.use_plain for chain in chains),
        max(chain.restarts for chain in chains),
    )


def resettled(figure: RigFigure, chain_set: ChainSet) -> RigFigure:
    """The same figure and solver, with the chains' own settings as they are now.

    Raises:
        InvalidValueError: One is not a finite number.
    """
    asked = _asked(chain_set, {bone: i for i, bone in enumerate(figure.bones)}).started(figure.solver.figure)
    settings = _settings(chain_set)
    influence = chain_set.chains[0].influence if chain_set.is_one else 1.0
    return replace(figure, settings=settings, influence=influence).with_goals(asked)


def restarted(figure: RigFigure, owner: bpy.types.Object, keyed: KeyedChannels) -> RigFigure | None:
    """The same chains with their start pose of another frame, where keys make it; their space is left as it was.

    Nothing else may have changed. What their rotation channels continue (`channels`) is kept.

    Returns:
        None where they have to be read anew: they are another figure from each start pose, or the keys make none,
        which is told there.
    """
    if not figure.is_even:
        return None
    try:
        start = figure.start.at(owner, keyed)
        if start == figure.start:
            return figure
        return figure.restarted(start, restarted_limits(owner, figure.bones, figure.limits, start))
    except FabrikError:
        return None


def carried(figure: RigFigure, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> RigFigure | None:
    """The same chains where their armature and their parents stand now, with the same solver.

    Nothing else may have changed: settings, limits, the bones' own scale and location channels, their start pose. What
    their rotation channels continue (`channels`) is kept.

    Returns:
        None where the parent's scale made them another figure: then they have to be read anew.
    """
    evaluated = owner.evaluated_get(depsgraph)
    root = pose_bones(evaluated)[figure.bones[0]]
    space = figure.space_at(RigFrame.of(evaluated.matrix_world), root)
    return None if space is None else replace(figure, space=space)


def is_beside(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether it is a render or an export that is evaluated, and not what the viewport shows."""
    layer = depsgraph.view_layer
    return layer is None or layer.depsgraph != depsgraph


def frame_of(depsgraph: bpy.types.Depsgraph) -> float:
    """The frame, sub-frame included, of a depsgraph."""
    assert depsgraph.scene is not None
    return depsgraph.scene.frame_current_final

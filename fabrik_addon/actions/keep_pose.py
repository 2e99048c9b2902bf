# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeping a pose as it stands: start poses and goals set so that the next solve leaves the joints where they are.

All that makes chains and goals, switches them on, changes what they ask for, or lets them go comes here. Chains that
are solved together are read once and decided about together: one solve from the stored start pose, one from the pose
at hand. What is animated is not captured: that would move every other frame.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import degrees, inf
from typing import NamedTuple

import bpy

from ..errors import FabrikError, place_of
from ..maths import ORIGIN, v3
from ..rig.animation.compat import evaluated_now
from ..rig.bones import pose_bones
from ..rig.figure.figure import RigFigure
from ..rig.figure.groups import ChainSet, lacks_goal, set_of, sets_of
from ..rig.figure.reader import frame_of
from ..rig.figure.start_pose import is_animated, store_bones, store_by_hand, store_start
from ..rig.schema.chain import FabrikChain
from ..rig.schema.rig import RigRecord, rig_of
from ..texts import Text, joined, worded
from .bends import pole_error
from .figure_pose import CLOSER, SAME, FigurePose, goal_point
from .live.state import live_armatures
from .live.state import state as live_state
from .moved_goals import IN_PLACE, ReleasedChain, bring_goals, goal_to_leave, refused
from .solve import Item

FULFILLED = 0.02  # radians by which a pose may be off its goals that is within their tolerance, near full stretch
NOTHING_KEPT = -1.0  # in place of radians: no pose becomes a start pose
WORTH_TELLING = 0.01  # radians that the next solve has to turn a joint for that to be told


class KeepResult(NamedTuple):
    """What came of keeping the pose of a chain.

    Attributes:
        start: The kind of start pose that was stored for it; "" where it keeps its own.
        moves: What the next solve moves all the same, as a sentence; or "".
        refusal: Why it can't be solved; or "".
    """

    start: str = ""
    moves: str = ""
    refusal: str = ""

    @property
    def notes(self) -> list[str]:
        """What there is to look out for, as sentences that follow the name of the chain."""
        if self.refusal:
            return [Text("it can't be solved yet: {reason}", reason=self.refusal)]
        return [self.moves] if self.moves else []


class _Group(NamedTuple):
    """Chains that are solved together, of those that are asked about."""

    chain_set: ChainSet
    given: dict[str, Sequence[float]]  # where effectors are to go in place of targets
    places: list[int]  # which of the chains that are asked about are among them


def _groups(
    items: Sequence[Item], points: Sequence[Sequence[float] | None], *, are_wanted: bool = False
) -> list[_Group]:
    """The figures of chains, as they are solved; one that is disabled or asks for nothing with those beside it.

    Where `are_wanted`, all that are given a place for their effector (`points`), in place of a target, will have goals.
    """
    given = [(owner, chain.name) for (owner, chain), point in zip(items, points, strict=True) if point is not None]
    found: dict[tuple[str, tuple[str, ...], str], _Group] = {}
    sets: dict[str, list[ChainSet]] = {}
    for i, ((owner, chain), point) in enumerate(zip(items, points, strict=True)):
        is_asked = chain.enabled and (not lacks_goal(chain) or (are_wanted and point is not None))
        rig, extra = owner.name_full, "" if is_asked else chain.name
        if extra:
            chain_set = set_of(owner, chain, is_given=point is not None)
        else:
            if rig not in sets:
                names = [name for other, name in given if other == owner] if are_wanted else []
                sets[rig] = sets_of(owner, [one for one in rig_of(owner).chains if one.enabled], names)
            chain_set = next(one for one in sets[rig] if chain.name in one.names)
        group = found.setdefault((rig, chain_set.names, extra), _Group(chain_set, {}, []))
        group.places.append(i)
        if point is not None:
            group.given[chain.name] = point
    return list(found.values())


def read_poses(
    items: Sequence[Item], points: Sequence[Sequence[float] | None], depsgraph: bpy.types.Depsgraph
) -> list[FigurePose]:
    """For each of some chains the pose of those that are solved with it once all have goals; each figure read once.

    For each `points` tells where its effector is to go, in place of a target; or None.

    Raises:
        FabrikError: One can't be posed.
    """
    found: dict[int, FigurePose] = {}
    for group in _groups(items, points, are_wanted=True):
        with place_of(rig=group.chain_set.owner.name):
            found |= dict.fromkeys(group.places, FigurePose.read(group.chain_set, depsgraph, group.given))
    return [found[i] for i in range(len(items))]


def keep(
    items: Sequence[Item],
    depsgraph: bpy.types.Depsgraph,
    points: Sequence[Sequence[float] | None] = (),
    most: float = inf,
) -> list[KeepResult]:
    """Let the next solve leave chains where they stand, as far as their start poses decide that.

    The pose at hand becomes the start pose where a solve from the stored one would lead elsewhere and one from here
    would not, or less so; of an animated limb it does not.

    For each `points` tells where in the world its effector is to go, in place of its target; or None. `most` as in
    `keep_figure`.
    """
    found: dict[int, KeepResult] = {}
    for group in _groups(items, points or [None] * len(items)):
        names = [items[i][1].name for i in group.places]
        try:
            kept = keep_figure(FigurePose.read(group.chain_set, depsgraph, group.given), names, most=most)
        except FabrikError as error:
            kept = [KeepResult(refusal=worded(error.local))] * len(names)
        found |= zip(group.places, kept, strict=True)
    return [found[i] for i in range(len(items))]


def keep_and_tell(items: Sequence[Item], most: float = inf) -> list[KeepResult]:
    """`keep` as Blender evaluates the chains without live posing; one that can't be posed is told as moved."""
    with unposed() as depsgraph:
        found = keep(items, depsgraph, most=most)
    refused = "the next solve will be refused: {reason}"
    return [one._replace(moves=Text(refused, reason=one.refusal)) if one.refusal else one for one in found]


def told_moves(items: Sequence[Item], most: float = NOTHING_KEPT) -> list[str]:
    """What the next solve moves of chains that it poses, as sentences; nothing is kept, or up to `most` (`keep`)."""
    posed = [(owner, chain) for owner, chain in items if chain.enabled and not lacks_goal(chain)]
    return _moves_of(posed, keep_and_tell(posed, most)) if posed else []


def _moves_of(items: Sequence[Item], found: Sequence[KeepResult]) -> list[str]:
    """What moves of chains, as sentences: once where it is so of several."""
    names: dict[str, list[str]] = {}
    for (_, chain), one in zip(items, found, strict=True):
        if one.moves:
            names.setdefault(one.moves, []).append(chain.name)
    return [joined(": ", (", ".join(moved), moves)) for moves, moved in names.items()]


def keep_at_tips(items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """`keep` chains that were given goals where their tips stand; what was done, and what to look out for."""
    with unposed() as depsgraph:
        found = keep(items, depsgraph, [goal_point(owner, chain, depsgraph) for owner, chain in items])
    captured = [chain.name for (_, chain), one in zip(items, found, strict=True) if one.start]
    warnings = _moves_of(items, found)
    for (_, chain), one in zip(items, found, strict=True):
        if one.refusal:
            warnings.append(Text("{chain} can't be solved yet: {reason}", chain=chain.name, reason=one.refusal))
    names = ", ".join(captured)
    return ([Text("start pose captured of {chains}", chains=names)] if captured else []), warnings


def keep_figure(
    pose: FigurePose, chains: Sequence[str], *, most: float = inf, is_keyed: bool = False, closer: float = CLOSER
) -> list[KeepResult]:
    """`keep` chains that are solved together.

    Args:
        pose: The chains.
        chains: Names of those that are asked about.
        most: Radians by which the pose may be off the goals for it to become the start pose.
        is_keyed: Whether the bones were keyed as they stand, so that their keys become the start pose.
        closer: Share of what a solve turns that the pose as start pose has to leave, to become that.

    Returns:
        What came of each.

    Raises:
        FabrikError: They can't be posed.
    """
    before, start, is_held = pose.turned_by(pose.figure), "", False
    turned = before
    if before > SAME:
        enough, limbs = min(closer * before, most), _starting_anew(pose, chains, is_keyed=is_keyed)
        after = pose.turned_by(_started(pose, limbs, is_keyed=is_keyed))
        start = _take(pose, limbs, is_keyed=is_keyed) if after <= enough else ""
        turned, is_held = (after, False) if start else (before, pose.turned_by(pose.as_started) <= enough)
    return [KeepResult(start, _what_moves(pose, name, turned, is_held=is_held)) for name in chains]


def _starting_anew(pose: FigurePose, asked: Collection[str], *, is_keyed: bool) -> list[tuple[FabrikChain, list[str]]]:
    """The chains that can start from the pose at hand, with the names of their bones.

    Of bones that were keyed in it all can: they start from their keys. Else what is animated keeps its own start pose.
    """
    owner, chains, _ = pose.chain_set
    limbs = [(chain, [*one.bones]) for chain, one in zip(chains, pose.figure.goals, strict=True) if not one.is_offset]
    if is_keyed:
        return [] if all(chain.start == "ANIMATED" for chain in chains if chain.name in asked) else limbs
    found, keyed = pose_bones(owner), pose.keyed
    return [(chain, bones) for chain, bones in limbs if not is_animated(owner, [found[name] for name in bones], keyed)]


def _started(pose: FigurePose, limbs: Sequence[tuple[FabrikChain, list[str]]], *, is_keyed: bool) -> RigFigure:
    """The figure with the pose at hand as its start pose, but for the bones of chains that can't start from it."""
    taken, figure = {name for _, bones in limbs for name in bones}, pose.figure
    left = {name for one in figure.goals for name in one.bones} - taken if not is_keyed else set()
    stood = zip(figure.bones, pose.rotations, figure.starts, strict=True)
    return figure.started([start if name in left else turn for name, turn, start in stood], pose.shift)


def _take(pose: FigurePose, limbs: Sequence[tuple[FabrikChain, list[str]]], *, is_keyed: bool) -> str:
    """Make the pose at hand the start pose of chains that can start from it; the kind that was stored, "" for none."""
    found, figure, body = pose_bones(pose.owner), pose.figure, pose.chain_set.body
    rotations = dict(zip(figure.bones, pose.rotations, strict=True))
    if not is_keyed:
        of_chains = {name for one in figure.goals for name in one.bones}
        between = [name for name in figure.bones if body and (name == body or name not in of_chains)]
        store_bones(pose.owner, [(name, rotations[name], v3(found[name].location)) for name in between])
    kind = "ANIMATED" if is_keyed else "CAPTURED"
    for chain, bones in limbs:
        store_start(chain, [found[name] for name in bones], rotations, kind)
    return kind if limbs else ""


def _what_moves(pose: FigurePose, chain: str, turned: float, *, is_held: bool) -> str:
    """What a solve moves of a chain, and why; `is_held` where another start pose would leave it."""
    if turned <= WORTH_TELLING:
        return ""
    how = Text("the next solve turns it by up to {angle:.2g}°", angle=degrees(turned))
    start, why = pose.chain_set.chains[pose.index(chain)].start, exceeded(pose)
    off = pole_error(pose, chain) if why is None else None
    if off is not None and abs(off) > WORTH_TELLING:
        why = Text("it bends {angle:.2g}° away from its pole", angle=degrees(abs(off)))
    elif why is None and is_held and start != "ANIMATED":
        started = Text("it is keyed, but starts from the captured pose")
        why = Text("it is keyed, but starts from the rest pose") if start == "REST" else started
    return joined(": ", (why or Text("its goals are elsewhere"), how))


def hold_by_hand(pose: FigurePose, moved: Collection[str]) -> None:
    """Let chains start from the pose at hand, of which some bones were moved; keyed ones for this frame alone."""
    bones, figure = pose_bones(pose.owner), pose.figure
    location = v3(bones[figure.bones[0]].location) if figure.root is not None else ORIGIN
    rotations = dict(zip(figure.bones, pose.rotations, strict=True))
    held = store_by_hand(pose.chain_set, rotations, location, frame_of(pose.depsgraph), moved)
    live_state.may_hold |= bool(held)


def exceeded(pose: FigurePose) -> Text | None:
    """Which bone stands farthest beyond its joint limit, and by how much; or None."""
    limits = zip(pose.figure.limits, pose.rotations, pose.figure.bones, strict=True)
    worst, name = max((limit.violation(rotation), name) for limit, rotation, name in limits)
    if worst <= WORTH_TELLING:
        return None
    return Text("'{bone}' exceeds its joint limit by {angle:.2g}°", bone=name, angle=degrees(worst))


def keep_switched_on(owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> None:
    """Keep the poses of chains that are about to be posed live or solved again, where they stand as their goals want.

    Called from within Blender's setting of a property, so that it is undone with that in one step.
    """
    if chains:
        RigRecord(owner).left = b""  # what stood there when they were posed last is old
    if live_state.paused or not chains or not hasattr(bpy.context, "evaluated_depsgraph_get"):
        return
    with unposed() as depsgraph:
        for group in _groups([(owner, chain) for chain in chains], [None] * len(chains)):
            try:
                keep_figure(FigurePose.read(group.chain_set, depsgraph), (), most=FULFILLED)
            except FabrikError:  # a solve will tell why
                continue


class ReleaseReport(NamedTuple):
    """What there is to tell of limbs that were let go, as sentences: what was done, and what to look out for."""

    done: list[str]
    warnings: list[str]


def standing(owner: bpy.types.Object, chains: Iterable[FabrikChain]) -> list[ReleasedChain]:
    """Chains as they stand, to be let go there (`let_go`) after something else was changed."""
    with unposed() as depsgraph:
        return [ReleasedChain(chain, goal_to_leave(owner, chain, depsgraph)) for chain in chains]


def let_go(
    context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[ReleasedChain], is_keyed: bool = False
) -> ReleaseReport:
    """Bring goals and start poses of chains to the pose in which they were let go.

    Where the bones were keyed as they stand, their keys become the start pose.
    """
    starts = set[str]()
    with unposed():
        for group in _groups([(owner, one.chain) for one in chains], [one.point for one in chains]):
            starts |= _let_go_together(context, group, [chains[i] for i in group.places], is_keyed=is_keyed)
    words = {"CAPTURED": "start pose captured", "ANIMATED": Text("its keys are its start pose")}
    told = [(one.chain.name, text) for one in chains for text in one.warnings]
    warnings = [joined(": ", one) if len(chains) > 1 else one[1] for one in told]
    return ReleaseReport([words[start] for start in words if start in starts], warnings)


def _let_go_together(
    context: bpy.types.Context, group: _Group, chains: Sequence[ReleasedChain], *, is_keyed: bool
) -> set[str]:
    """`let_go` of chains that are solved together; the kinds of start poses that were stored."""
    kept: list[KeepResult] = []
    with refused(chains):
        pose = FigurePose.without_goals(group.chain_set, evaluated_now(context.evaluated_depsgraph_get()), group.given)
        moved = [one for one in chains if not one.stays]
        pose = bring_goals(context, pose, moved, group.given)
        wanted = pose.with_places({one.chain.name: one.goal for one in moved if not one.is_refused}, {})
        if wanted.goals_off(pose) > IN_PLACE:  # a goal could not be moved: the start pose is that for where it belongs
            kept += keep_figure(wanted, group.chain_set.names, is_keyed=is_keyed)
            pose = FigurePose.read(group.chain_set, evaluated_now(context.evaluated_depsgraph_get()), group.given)
        # goals that pull it away again are no reason to start elsewhere: what was made by hand stays as far as it can
        found = keep_figure(pose, [one.chain.name for one in chains], is_keyed=is_keyed, closer=inf)
        for one, own in zip(chains, found, strict=True):
            one.warnings += [own.moves] if own.moves and not one.is_refused else []
        kept += found
    return {one.start for one in kept}


@contextmanager
def unposed() -> Iterator[bpy.types.Depsgraph]:
    """Pause live posing and yield the depsgraph evaluated without it; live posing checks every rig again afterwards."""
    was, live_state.paused = live_state.paused, True
    try:
        yield bpy.context.evaluated_depsgraph_get()
    finally:
        live_state.paused = was
        _look_again()


def resume_live() -> None:
    """End the pause of live posing, which waited while a drag, or leading a walker, posed the same bones."""
    live_state.paused = False
    _look_again()


def _look_again() -> None:
    """Have live posing check every rig again.

    What changed during the pause is evaluated already, so Blender does not evaluate it again by itself.
    """
    live_state.order = None
    for owner in live_armatures(bpy.context.scene) if bpy.context.scene is not None else ():
        owner.update_tag()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeping a pose as it was made: start pose and goals set to where a chain stands, so that a solve leaves it there.

All that makes chains and goals, switches them on or lets them go asks this module, and so leaves the joints where they
are. What is animated is not captured: that would move every other frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import degrees

import bpy

from ..errors import FabrikError
from ..maths import IDENTITY, Q4, conjugated, multiplied, turn_angle
from ..rig.chain_bones import resolve_bones
from ..rig.channels import read_rotation
from ..rig.kept_body import capture_body
from ..rig.kept_start import capture, take_keys
from ..rig.keys import KeyedChannels
from ..rig.preparing import frame_of
from ..rig.schema import START_ITEMS, FabrikChain, SwitchedOn
from ..rig.start_pose import is_animated
from ..texts import Text, joined
from .live.known import state as live_state
from .live.looking import live_armatures
from .order import Item
from .standing import SAME, Standing, goal_point, pole_error

FULFILLED = 0.02  # radians by which a pose may be off its goals that is within their tolerance, near full stretch
CLOSER = 0.5  # share of what a solve turns that a new start pose has to leave, to be worth it
WORTH_TELLING = 0.01  # radians that the next solve has to turn a joint for that to be told
START_NAMES = {kind: label for kind, label, _ in START_ITEMS}


@dataclass(frozen=True, slots=True)
class Kept:
    """What `keep_pose` did.

    Attributes:
        start: The kind of start pose that it stored for the chain; "" where the chain keeps its own.
        moves: What the next solve moves all the same, or that it will be refused, as a sentence; or "".
    """

    start: str = ""
    moves: str = ""


def keep_pose(item: Item, depsgraph: bpy.types.Depsgraph, point: Sequence[float] | None = None) -> Kept:
    """Let the next solve leave a chain where it stands, as far as its start pose decides that.

    The pose at hand becomes the start pose where a solve from the stored one would lead elsewhere and one from here
    would not, or less so; of an animated limb it does not.

    Args:
        item: The armature object and the chain.
        depsgraph: Evaluated.
        point: Where the tip is to go, in the world, in place of the chain's target.

    Raises:
        FabrikError: The chain can't be posed.
    """
    standing = Standing.of(item, depsgraph, point)
    before = standing.turned_by(standing.prepared)
    if before <= SAME:
        return Kept()
    after = standing.turned_by(standing.as_started)
    start = "CAPTURED" if after <= CLOSER * before and _take_pose(standing) else ""
    return Kept(start, _what_moves(standing, after if start else before))


def keep_and_tell(item: Item) -> Kept:
    """`keep_pose` as Blender evaluates the chain without live posing; a chain that can't be posed is told as moved."""
    try:
        with unposed() as depsgraph:
            return keep_pose(item, depsgraph)
    except FabrikError as error:
        return Kept(moves=Text("the next solve will be refused: {reason}", reason=error.local))


def keep_poses(items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """`keep_pose` of chains that were given goals where their tips stand.

    Returns:
        What there is to tell, as sentences: what was done, and what to look out for.
    """
    captured: list[str] = []
    warnings: list[str] = []
    with unposed() as depsgraph:
        for owner, chain in items:
            try:
                kept = keep_pose((owner, chain), depsgraph, goal_point(owner, chain, depsgraph))
            except FabrikError as error:
                text = Text("{chain} can't be solved yet: {reason}", chain=chain.name, reason=error.local)
                warnings.append(text)
                continue
            captured += [chain.name] if kept.start else []
            warnings += [joined(": ", (chain.name, kept.moves))] if kept.moves else []
    names = ", ".join(captured)
    return ([Text("start pose captured of {chains}", chains=names)] if captured else []), warnings


def starts_to_keep(item: Item, depsgraph: bpy.types.Depsgraph) -> list[Q4]:
    """The start pose that a chain will have after `keep_pose`, its tip's goal where the tip stands: n rotations.

    Args:
        item: The armature object and the chain, which may lack goals.
        depsgraph: Evaluated.

    Raises:
        FabrikError: The chain can't be posed.
    """
    standing = Standing.of(item, depsgraph, goal_point(*item, depsgraph))
    before, found = standing.turned_by(standing.prepared), standing.rotations
    if standing.is_animated or before <= SAME or standing.turned_by(standing.as_started) > CLOSER * before:
        found = standing.prepared.starts
    return [found[i] for i in standing.asked.joints]


def keep_fulfilled(item: Item, depsgraph: bpy.types.Depsgraph) -> bool:
    """`keep_pose`, but only of a chain that stands as its goals want it; whether it was given a start pose.

    Args:
        item: The armature object and the chain.
        depsgraph: Evaluated.

    Raises:
        FabrikError: The chain can't be posed.
    """
    standing = Standing.of(item, depsgraph)
    before = standing.turned_by(standing.prepared)
    after = standing.turned_by(standing.as_started)
    is_needed = before > SAME and after <= min(FULFILLED, CLOSER * before)
    return is_needed and _take_pose(standing)


def _take_pose(standing: Standing) -> bool:
    """Make the pose at hand the start pose of all chains that are not animated; whether there are any."""
    owner, chains, _ = standing.chain_set
    keyed = KeyedChannels(owner, frame_of(standing.depsgraph))
    bones = {chain.name: resolve_bones(owner, chain) for chain in chains}
    still = [chain for chain in chains if not is_animated(owner, bones[chain.name], keyed)]
    for chain in still:
        capture(chain, bones[chain.name])
    capture_body(standing.chain_set)
    return bool(still)


def take_keyed_pose(item: Item, depsgraph: bpy.types.Depsgraph, point: Sequence[float] | None) -> Kept:
    """`keep_pose` of a limb that was keyed as it stands: where that is needed, its keys become its start pose."""
    standing = Standing.of(item, depsgraph, point)
    before = standing.turned_by(standing.prepared)
    if before <= SAME or standing.chain.start == "ANIMATED":
        return Kept("", _what_moves(standing, before))
    after = standing.turned_by(standing.as_started)
    if after > CLOSER * before:
        return Kept("", _what_moves(standing, before))
    for chain in standing.chain_set.chains:
        take_keys(chain, resolve_bones(standing.owner, chain))
    return Kept("ANIMATED", _what_moves(standing, after))


def start_new(owner: bpy.types.Object, chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], default: str) -> None:
    """Give a chain that was just made its start pose: its keys, the pose at hand, or for a limb at rest the default.

    Args:
        owner: The armature object.
        chain: The chain.
        bones: Its bones, root to tip.
        default: A start pose.
    """
    assert bpy.context.scene is not None
    keyed = KeyedChannels(owner, bpy.context.scene.frame_current_final)
    if any(keyed.has(bone) for bone in bones):
        take_keys(chain, bones)
    elif not is_animated(owner, bones, keyed) and any(_is_posed(bone) for bone in bones):
        capture(chain, bones)
    else:
        chain.start = default


def _is_posed(bone: bpy.types.PoseBone) -> bool:
    try:
        return turn_angle(multiplied(conjugated(IDENTITY), read_rotation(bone))) > SAME
    except FabrikError:  # a number that makes no sense, of which a solve will tell
        return False


def start_texts(chains: Iterable[FabrikChain], default: str) -> list[Text]:
    """What the report says of start poses that are not the default, to follow the names of new chains."""
    starts = {chain.start for chain in chains} - {default, "REST"}
    texts = {"CAPTURED": Text("start pose captured"), "ANIMATED": Text("its keys are its start pose")}
    return [texts[start] for start in sorted(starts)]


def _what_moves(standing: Standing, turned: float) -> str:
    """What a solve moves of a chain, and why."""
    if turned <= WORTH_TELLING:
        return ""
    how = Text("the next solve turns it by up to {angle:.2g}°", angle=degrees(turned))
    return joined(": ", (_why_moved(standing, turned), how))


def _why_moved(standing: Standing, turned: float) -> Text:
    """Why the next solve turns a chain."""
    beyond = exceeded(standing)
    if beyond:
        return beyond
    off = pole_error(standing)
    if off is not None and abs(off) > WORTH_TELLING:
        return Text("it bends {angle:.2g}° away from its pole", angle=degrees(abs(off)))
    if standing.turned_by(standing.as_started) < CLOSER * turned:
        start = Text(START_NAMES[standing.chain.start])
        return Text("it is animated and its start pose is '{start}'", start=start)
    return Text("its goals are elsewhere")


def exceeded(standing: Standing) -> Text | None:
    """Which bone stands farthest beyond its joint limit, and by how much; or None."""
    limits = zip(standing.prepared.limits, standing.rotations, standing.prepared.bones, strict=True)
    worst, name = max((limit.violation(rotation), name) for limit, rotation, name in limits)
    if worst <= WORTH_TELLING:
        return None
    return Text("'{bone}' exceeds its joint limit by {angle:.2g}°", bone=name, angle=degrees(worst))


def keep_switched_on(owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> None:
    """Keep the poses of chains that are about to be posed live or solved again, where they stand as their goals want.

    Called from within Blender's setting of a property, so that it is undone with that in one step.

    Args:
        owner: The armature object.
        chains: Those of its chains that were switched on.
    """
    if live_state.paused or not chains or not hasattr(bpy.context, "evaluated_depsgraph_get"):
        return
    with unposed() as depsgraph:
        for chain in chains:
            try:
                keep_fulfilled((owner, chain), depsgraph)
            except FabrikError:  # a solve will tell why
                continue


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


def register() -> None:
    """Keep the poses of chains from now on when they are switched on."""
    SwitchedOn.listener = keep_switched_on


def unregister() -> None:
    """Keep them no more."""
    SwitchedOn.listener = None

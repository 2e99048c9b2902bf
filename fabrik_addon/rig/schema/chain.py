# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of a chain: its bones and goal, how it is solved, and how the last solve ended."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi
from typing import cast

import bpy

from ...kernel import DEFAULT_MAX_PASSES, DEFAULT_RESTARTS, DEFAULT_TOLERANCE
from ...translations import CONTEXT
from ..goal_kinds import GOAL_KINDS
from .fields import (
    HIDDEN,
    Changes,
    Items,
    angle,
    announce,
    choice,
    chosen,
    group,
    items,
    pointer,
    real,
    rotation,
    share,
    switch,
    text,
    vector,
    whole,
)
from .walker import walker_of

KIND_ITEMS = tuple((found.kind, found.label, found.description, found.number) for found in GOAL_KINDS.values())
PLACE = "PLACE"  # of a goal that tells where a tip is to be
OFFSET = "OFFSET"  # of a goal that tells how far from the start pose a tip is to be, and not where
GOAL_ITEMS = (
    (PLACE, "Place", "The tip comes to where the target stands"),
    (
        OFFSET,
        "Offset",
        "The tip stays where its start pose has it, so where the animation does, moved and turned by what the target "
        "was moved and turned from its own rest",
    ),
)
EFFECTOR_ITEMS = (
    ("TAIL", "Tail", "The tail of the tip bone comes to the target"),
    ("HEAD", "Head", "The head of the tip bone comes to the target: the bone itself, a foot or a hand, only turns"),
)
ORIENTATION_ITEMS = (
    ("FREE", "Free", "The tip bone turns as reaching the target needs it"),
    ("KEEP", "Keep", "The tip bone keeps the rotation in the world that it had when this was chosen"),
    (
        "TARGET",
        "Target",
        "The tip bone turns with the target, keeping the angle that is between them when this is chosen",
    ),
)
START_ITEMS = (
    ("REST", "Rest", "Start each solve from the armature's rest pose"),
    ("CAPTURED", "Captured", "Start each solve from the pose that was captured"),
    ("ANIMATED", "Animated", "Start from the frame's keyed pose; bones without keys from the captured or rest pose"),
)
STATUS_ITEMS = (
    ("NONE", "Not solved", "The chain was not solved since it was last changed"),
    ("REACHED", "Reached", "The tip is on the target"),
    ("TOO_FAR", "Too far", "The target is farther away than the chain is long"),
    ("TOO_NEAR", "Too near", "The target is closer to the root than the chain can fold"),
    ("BLOCKED", "Blocked", "Joint limits hold the chain back"),
    ("REFUSED", "Refused", "The chain could not be solved; nothing was moved"),
)
MISSED = {"TOO_FAR", "TOO_NEAR", "BLOCKED"}  # statuses of a chain whose tip is not where it is to be
ALONG_BONE = (0.0, 1.0, 0.0)
SOLVED_VECTORS = 6  # that begin `solve.ChainState.numbers`
SOLVED_NUMBERS = 3 * SOLVED_VECTORS + 1  # and the length
SOLVED_TURNS = 8  # the same of the rotation that is asked for


def owner_of(chain: FabrikChain) -> bpy.types.Object:
    """The armature object that a chain is stored on."""
    owner = chain.id_data
    assert isinstance(owner, bpy.types.Object), "chains are stored on objects"
    return owner


def chains_of(owner: bpy.types.ID | None) -> Items[FabrikChain]:
    """The chains of an armature object."""
    return cast("Items[FabrikChain]", getattr(owner, "fabrik_chains"))


def unique_name(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, or with the first free number behind it, as Blender names data."""
    names = set(taken)
    if wanted not in names:
        return wanted
    stem, dot, number = wanted.rpartition(".")
    stem = stem if dot and number.isdigit() else wanted
    return next(name for i in range(1, len(names) + 2) if (name := f"{stem}.{i:03d}") not in names)


def forget_status(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: clear the status of a chain, which was found with other settings."""
    Changes.count += 1
    if chain.status != "NONE":
        chain.status = "NONE"


def forget_statuses(thing: bpy.types.Object | bpy.types.PoseBone, context: bpy.types.Context) -> None:
    """Update callback: clear the statuses of an armature's chains, which were found with other settings of the body."""
    announce(thing, context)
    assert isinstance(thing.id_data, bpy.types.Object)
    for chain in chains_of(thing.id_data):
        if chain.status != "NONE":
            chain.status = "NONE"


def switch_on(owner: bpy.types.Object) -> None:
    """Tell of all enabled chains of an armature that they are to be solved from now on."""
    Changes.switched_on(owner, [chain for chain in chains_of(owner) if chain.enabled])


def _hold(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: a chain that is told to hold a place or rotation for the first time stores those at hand."""
    forget_status(chain, context)
    Changes.first_held(chain, False)


def _set_name(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: make the name unique, and rename the chain wherever it is known by its name."""
    owner = owner_of(chain)
    taken = {other.name for other in chains_of(owner) if other != chain}
    if chain.name in taken or not chain.name:
        chain.name = unique_name(chain.name or "Chain", taken)  # which calls this again
    elif chain.known_as != chain.name:
        old, chain.known_as = chain.known_as, chain.name
        if old:
            walker_of(owner).follow_chain_name(old, chain.name)


def _announce_chain(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: a chain was enabled, so that goals pose it again and no baked keys, or it was disabled."""
    announce(chain, context)
    if chain.enabled:
        if chain.is_baked:
            chain.is_baked = False
        Changes.switched_on(owner_of(chain), [chain])


def _set_target(chain: FabrikChain, context: bpy.types.Context) -> None:
    """Update callback: store the target's name, which tells of it when it is deleted; Blender calls nothing then."""
    chain.target_name = chain.target.name if chain.target else ""
    if chain.pin and chain.target is None:
        Changes.first_held(chain, True)
    forget_status(chain, context)


def _set_pole(chain: FabrikChain, context: bpy.types.Context) -> None:
    chain.pole_name = chain.pole.name if chain.pole else ""
    forget_status(chain, context)


class FabrikBoneName(bpy.types.PropertyGroup):
    """A bone's name, kept as the `name` of the group."""


@group()
class FabrikCapturedRotation(bpy.types.PropertyGroup):
    """A bone's rotation in a captured start pose; the group's `name` is the bone's."""

    rotation = rotation("Rotation")


@group(forget_status)
class GoalSettings:
    """How the goal of a chain is meant; a part of `FabrikChain`. Rotations are (w, x, y, z)."""

    kind = choice(
        KIND_ITEMS,
        "Kind",
        "What the chain does with its target",
        translation_context=CONTEXT,  # "Reach" is a verb here, and a distance in the overlay
    )
    aims = chosen("kind", *[kind for kind, found in GOAL_KINDS.items() if found.aims])
    goal = choice(GOAL_ITEMS, "Goal", "What the target tells: where the tip is to be, or how far from its motion")
    effector = choice(EFFECTOR_ITEMS, "End", "Which end of the tip bone comes to the target")
    at_head = chosen("effector", "HEAD")
    weight = share(
        "Weight", "How much the goal counts among others that are asked for; 0: it asks nothing", default=1.0
    )
    pin = switch(
        "Pin",
        "Hold the tip in place, with priority over all other goals: at its target or, without one, where it was pinned",
        update=_hold,
    )
    held_location = vector(
        "Held Location",
        "Place in the world where the pin holds the tip of a chain without a target",
        size=3,
        subtype="TRANSLATION",
    )
    held_rotation = rotation("Held Rotation", "Rotation in the world that the tip bone keeps")
    orientation = choice(ORIENTATION_ITEMS, "Rotation", "Which rotation the tip bone is to have", update=_hold)
    orientation_weight = share(
        "Rotation Weight", "How much the rotation of the tip bone counts beside its place", default=1.0
    )
    rotation_offset = rotation("Rotation Offset", "Rotation of the tip bone as the target sees it")
    aim_axis = vector(
        "Aim Axis",
        "Axis of the tip bone that points at the target: Y runs along the bone",
        size=3,
        subtype="XYZ",
        default=ALONG_BONE,
        soft_min=-1.0,
        soft_max=1.0,
    )
    stretch = real(
        "Stretch",
        "Greatest factor by which the bones grow longer to reach; 1: they keep their lengths",
        min=1.0,
        soft_max=2.0,
        default=1.0,
    )
    soft = real(
        "Soft",
        "Slows the limb down before it is fully stretched, so that the knee does not snap. "
        "A share of the chain's length; 0: off",
        min=0.0,
        soft_max=0.1,
        max=1.0,
        precision=3,
    )
    body_helps = share(
        "Body Helps From",
        "Share of the limb's reach from which on what carries it helps, so that an elbow stays bent: the clavicle, the "
        "trunk, the hips. 1: only where the limb alone does not reach",
        default=1.0,
    )


@group(forget_status)
class SolverSettings:
    """The settings of a chain's solve and its start pose; a part of `FabrikChain`."""

    tolerance = real(
        "Tolerance",
        "Distance from tip to target that counts as reached: a share of the length of chain or body",
        min=1e-6,
        max=0.1,
        default=DEFAULT_TOLERANCE,
        precision=6,
    )
    max_passes = whole(
        "Max Passes",
        "Greatest number of passes over the chain; most solves need fewer than ten",
        min=1,
        soft_max=1000,
        default=DEFAULT_MAX_PASSES,
    )
    restarts = whole(
        "Restarts",
        "How many other starts are tried where limits hold the chain back",
        min=0,
        max=64,
        soft_max=32,
        default=DEFAULT_RESTARTS,
    )
    use_plain = switch(
        "Plain FABRIK", "Only the passes of the paper: slow near full stretch, and stuck where limits get in the way"
    )
    influence = share("Influence", "How far each bone turns from the start pose to the solved pose", default=1.0)
    start = choice(START_ITEMS, "Start", "Pose from which every solve starts")
    captured = items(FabrikCapturedRotation)
    fingerprint = text(options=HIDDEN, update=None)


@group()
class LastSolve:
    """What is stored of the last solve, and what it was about; a part of `FabrikChain`."""

    status = choice(STATUS_ITEMS, "Status")
    residual = real("Residual", "Distance from tip to target in scene units", subtype="DISTANCE", precision=5)
    turn_residual = angle("Rotation Residual", "Angle by which the tip bone is off the rotation that is asked of it")
    softened = real(
        "Softened",
        "Distance in scene units from the target to where the soft reach lets the tip come",
        subtype="DISTANCE",
        precision=5,
    )
    passes = whole("Passes Used")
    blocking_bones = items(FabrikBoneName)
    message = text("Message", "Why the chain was refused, or what to look out for")
    message_parts = text(options=HIDDEN)  # what the message is made of, from which it is told in other languages
    solved_as = vector(size=SOLVED_NUMBERS, options=HIDDEN)
    solved_turn = vector(size=SOLVED_TURNS, options=HIDDEN)
    target_name = text(options=HIDDEN)
    pole_name = text(options=HIDDEN)
    is_baked = switch("Baked", "A bake switched the chain off, so that its keys play")


@group(forget_status)
class FabrikChain(GoalSettings, SolverSettings, LastSolve, bpy.types.PropertyGroup):
    """A chain of bones with its goal, how it is solved, and how the last solve ended."""

    name = text("Name", update=_set_name)
    known_as = text(options=HIDDEN, update=None, override=set())  # its name, kept to see from which one it is renamed
    enabled = switch("Enabled", "Solve this chain with Solve All and while live", default=True, update=_announce_chain)
    tip_bone = text("Tip Bone", "Last bone of the chain; its tail, or its head, is brought to the target")
    bone_count = whole(
        "Bones", "Number of bones of the chain, counted from the tip; 0 for all up to the root", min=0, soft_max=20
    )
    target = pointer(bpy.types.Object, "Target", "Object that the tip is to reach", update=_set_target)
    target_bone = text("Target Bone", "Bone of the target armature whose head is reached")
    pole = pointer(bpy.types.Object, "Pole", "Object towards which the chain bends", update=_set_pole)
    pole_bone = text("Pole Bone", "Bone of the pole armature towards whose head the chain bends")
    pole_angle = angle(
        "Pole Angle", "Turn of the bend away from the pole, about the line from root to tip", soft_min=-pi, soft_max=pi
    )
    pole_fades = share(
        "Pole Angle Fades",
        "How far the knee stands off the line from root to tip, as a share of the chain's length, where the pole angle "
        "counts in full; the deeper it bends, the less of it counts, so that it comes under its pole. 0: never less",
        default=0.0,
    )

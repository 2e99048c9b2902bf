# SPDX-License-Identifier: GPL-3.0-or-later
"""What the goal of a chain asks beside a place, as settings of Blender's IK constraint, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ..maths import IDENTITY, normalized, turn_angle
from ..messages import ROLES
from ..rig.goals import goal_of
from ..rig.schema import FabrikChain
from ..rig.targets import kind_of
from ..texts import Text

LEAST_WEIGHT = 0.01  # that Blender's IK takes
STRETCHED = 2.0  # times its length that a chain may have in place of one that has no bound
STRETCH_OF_BONE = 0.1  # Blender's measure of how readily a bone stretches
SAME_TURN = 1e-3  # radians by which an offset may turn and count as none
EVEN = 1e-6  # by which a share may differ from one


def take_goal(chain: FabrikChain, constraint: Any, bones: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Let a chain ask for what a constraint asks.

    Args:
        chain: The chain, with its target.
        constraint: An IK constraint.
        bones: The bones of the chain, root to tip.

    Returns:
        What can't be carried over as it is.
    """
    lost: list[str] = []
    chain.weight = constraint.weight
    chain.kind, chain.pin = "REACH", False
    if constraint.use_rotation:
        chain.rotation_offset = IDENTITY  # Blender's IK turns the tip as the target stands
        chain.orientation_weight = constraint.orient_weight
    chain.orientation = "TARGET" if constraint.use_rotation else "FREE"
    chain.stretch = 1.0
    if constraint.use_stretch and any(bone.ik_stretch > 0.0 for bone in bones):
        chain.stretch = STRETCHED
        lost.append(
            Text(
                "its stretch has an end at {factor:g} times the length, and is of all bones alike",
                factor=STRETCHED,
            )
        )
    return lost


def give_goal(chain: FabrikChain, constraint: Any, bones: Sequence[bpy.types.PoseBone], at_head: bool) -> list[str]:
    """Let a constraint ask for what a chain asks, as far as it can; see `take_goal`.

    Args:
        chain: The chain.
        constraint: An IK constraint.
        bones: The bones that it moves.
        at_head: Whether the tip bone is not among these, since its head is what comes to the target.
    """
    lost: list[str] = []
    turns = chain.orientation == "TARGET" and not at_head
    constraint.weight = max(chain.weight, LEAST_WEIGHT)
    constraint.use_location, constraint.use_rotation = True, turns
    if at_head and chain.orientation != "FREE":
        lost.append(Text("the rotation of its tip"))
    elif turns:
        constraint.orient_weight = max(chain.orientation_weight, LEAST_WEIGHT)
        if turn_angle(normalized(chain.rotation_offset)) > SAME_TURN:
            lost.append(Text("the offset of its rotation: its tip turns as the target stands"))
    elif chain.orientation == "KEEP":
        lost.append(Text("the rotation that it keeps"))
    if chain.stretch > 1.0 + EVEN:
        constraint.use_stretch = True
        for bone in bones:
            bone.ik_stretch = bone.ik_stretch or STRETCH_OF_BONE
        lost.append(Text("the end of its stretch at {factor:g} times the length", factor=chain.stretch))
    else:
        constraint.use_stretch = constraint.use_stretch and not any(bone.ik_stretch > 0.0 for bone in bones)
    lost += [text for text, is_lost in _losses(chain) if is_lost]
    return lost


def _losses(chain: FabrikChain) -> list[tuple[str, bool]]:
    return [
        (Text("that it is pinned: Blender's IK knows no order of goals"), chain.pin),
        (Text("that it asks for nothing with a weight of 0"), chain.weight <= 0.0),
        ("soft", chain.soft > 0.0),
    ]


def goal_refusal(chain: FabrikChain) -> str:
    """Why Blender's constraints can't have the target or the pole of a chain; "" where they can, or there is none."""
    for role in ("target", "pole"):
        goal = goal_of(chain, role)
        reason = kind_of(goal.found, goal.bone).constraint_refusal(goal.found, goal.bone) if goal else ""
        if goal and reason:
            word = ROLES[role]
            return Text("the {role} {name} {reason}", role=word, name=goal.name, reason=reason)
    return ""


def give_refusal(chain: FabrikChain) -> str:
    """Why a chain can't be an IK constraint; "" where it can, as far as it has a goal."""
    if chain.target is None and chain.pin:
        return Text("it is pinned without a target, which Blender's IK needs")
    if chain.effector == "HEAD" and chain.bone_count == 1:
        return Text("it moves the body alone, which Blender's IK does not")
    if chain.kind == "AIM":
        return Text(
            "several bones share its aim, or its axis is none of the bone's: Blender has no constraint for that"
        )
    return ""

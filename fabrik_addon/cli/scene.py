# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures, chains and targets of the open file, chosen by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import bpy
from mathutils import Vector

from ..errors import InvalidValueError, TargetError
from ..rig import placing
from ..rig.dependencies import carriers_of
from ..rig.goals import GoalRef, goal_of
from ..rig.placing import held_by, location_at, location_curves
from ..rig.schema import FabrikChain, name_all, rig_of
from ..rig.versions import check_not_newer
from ..session.order import Item
from .settings import Settings, put_settings

Place = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a file is meant.

    Attributes:
        armatures: Names of armature objects; none for all that have chains.
        chains: Names of chains; none for all that are enabled.
        targets: World places for the targets of chains, by the chains' names.
        settings: Settings of chains, by the chains' names.
    """

    armatures: Sequence[str] = ()
    chains: Sequence[str] = ()
    targets: Mapping[str, Place] = field(default_factory=dict)
    settings: Settings = field(default_factory=dict)


def armatures(names: Sequence[str]) -> list[bpy.types.Object]:
    """The armatures of the scene, or those that are named.

    Raises:
        InvalidValueError: There is no such armature.
    """
    scene = bpy.context.scene
    assert scene is not None
    for name in names:
        found = scene.objects.get(name)
        if found is None or found.type != "ARMATURE":
            raise InvalidValueError(f"the scene has no armature '{name}'")
    owners = [owner for owner in scene.objects if owner.type == "ARMATURE"]
    return [owner for owner in owners if not names or owner.name in names]


def chosen(choice: Choice, any_will_do: bool = False) -> list[tuple[bpy.types.Object, list[FabrikChain]]]:
    """Armatures with the chains that are chosen.

    Args:
        choice: Names.
        any_will_do: Whether it is fine that no chain is enabled.

    Raises:
        InvalidValueError: There is no such armature or chain, or nothing to work on.
        RigError: An armature's data is of a newer version of the extension.
    """
    owners = [owner for owner in armatures(choice.armatures) if len(rig_of(owner).chains)]
    if not owners:
        raise InvalidValueError("no armature of the scene has chains")
    for owner in owners:
        check_not_newer(owner)
        name_all(owner)
    found = [(owner, _chains(owner, choice.chains)) for owner in owners]
    known = {chain.name for _, chains in found for chain in chains}
    for name in choice.chains:
        if name not in known:
            raise InvalidValueError(f"there is no chain '{name}'")
    if not known and not any_will_do:
        is_baked = any(chain.is_baked for owner in owners for chain in rig_of(owner).chains)
        hint = ": they are baked, and their keys play; --chain names one all the same" if is_baked else ""
        raise InvalidValueError(f"no chain is enabled{hint}")
    return found


def items_of(found: Sequence[tuple[bpy.types.Object, list[FabrikChain]]]) -> list[Item]:
    """The chains of `chosen`, each with its armature."""
    return [(owner, chain) for owner, chains in found for chain in chains]


def _chains(owner: bpy.types.Object, names: Sequence[str]) -> list[FabrikChain]:
    return [chain for chain in rig_of(owner).chains if (chain.name in names if names else chain.enabled)]


def put(choice: Choice, items: Sequence[Item]) -> None:
    """Set chains, then put their targets to places.

    Raises:
        FabrikError: Something can't be set.
    """
    put_settings(choice.settings, items)
    put_targets(choice.targets, items)


def put_targets(places: Mapping[str, Place], items: Sequence[Item]) -> None:
    """Put the targets of chains to places in the world; all are checked before one is moved.

    Raises:
        FabrikError: There is no such chain, or its target can't be put anywhere.
    """
    goals = {name: _goal(name, [chain for _, chain in items if chain.name == name]) for name in places}
    keys = {goal.key for goal in goals.values()}
    if len(keys) < len(goals):
        raise InvalidValueError("two of the chains whose targets are to be put somewhere share one")
    for name, goal in goals.items():
        if carriers_of(goal.found, goal.bone) & (keys - {goal.key}):
            raise TargetError("its target hangs on another that is to be put somewhere, too", chain=name)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    locations = {name: location_at(goals[name], Vector(place), depsgraph) for name, place in places.items()}
    for name, location in locations.items():
        placing.put(goals[name], location)
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.update()


def _goal(name: str, named: Sequence[FabrikChain]) -> GoalRef:
    """The target of the one chain of a name, if it can be put somewhere."""
    if len(named) != 1:
        count = "no chain" if not named else "more than one chain"
        raise InvalidValueError(f"there is {count} '{name}' whose target could be put somewhere")
    goal = goal_of(named[0], "target")
    reason = held_by(goal)
    if goal is not None and not reason and location_curves(goal):
        reason = "is keyed"
    if reason or goal is None:
        raise TargetError(f"its target {reason}, so it can't be put somewhere", chain=name)
    return goal

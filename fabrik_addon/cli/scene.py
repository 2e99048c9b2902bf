# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures, chains and targets of the open file, chosen by name, and settings of chains that are told and set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import bpy
from mathutils import Vector

from ..actions.bake.checks import INTERPOLATIONS, INTO, VERIFY
from ..actions.frames import scene_of
from ..actions.solve import Item
from ..errors import InvalidValueError, TargetError
from ..finite import are_finite
from ..rig import placing
from ..rig.animation.animation import Animated
from ..rig.dependencies import carriers_of
from ..rig.goals import GoalRef, goal_of
from ..rig.placing import channel_curves, held_by, location_at
from ..rig.schema import FabrikChain, name_all, rig_of
from ..rig.versions import check_not_newer

Place: TypeAlias = tuple[float, float, float]
Value: TypeAlias = bool | float | str
Settings: TypeAlias = Mapping[str, Mapping[str, Value]]  # by the names of chains, then of settings

OF_GOAL = (
    "kind", "effector", "weight", "pin", "orientation", "orientation_weight", "stretch", "soft", "body_helps",
    "influence",
)  # fmt: skip
OF_BODY = ("body_bone", "body_stays", "body_stiffness", "spine", "balance")


@dataclass(frozen=True, slots=True)
class Request:
    """What of a file is meant, and how it is baked where it is; see `BakeSettings`."""

    armatures: Sequence[str] = ()  # names of armature objects; none for all that have chains
    chains: Sequence[str] = ()  # names of chains; none for all that are enabled
    targets: Mapping[str, Place] = field(default_factory=dict)  # world places for theirs, by the chains' names
    settings: Settings = field(default_factory=dict)  # settings of chains, by the chains' names
    frames: tuple[int, int] | None = None  # first and last frame, or None for the scene's
    step: int = 1  # frames from key to key
    into: str = INTO[0]
    interpolation: str = INTERPOLATIONS[0]
    only_keys: bool = False
    clean_up: float = 0.0  # in degrees
    verify: str = VERIFY[0]


def armatures(names: Sequence[str]) -> list[bpy.types.Object]:
    """The armatures of the scene, or those that are named.

    Raises:
        InvalidValueError: There is no such armature.
    """
    scene = scene_of(bpy.context)
    for name in names:
        found = scene.objects.get(name)
        if found is None or found.type != "ARMATURE":
            raise InvalidValueError(f"the scene has no armature '{name}'")
    owners = [owner for owner in scene.objects if owner.type == "ARMATURE"]
    return [owner for owner in owners if not names or owner.name in names]


def chosen(request: Request, any_will_do: bool = False) -> list[tuple[bpy.types.Object, list[FabrikChain]]]:
    """Armatures with the chains that are chosen.

    Args:
        request: Has the names.
        any_will_do: Whether it is fine that no chain is enabled, of an armature or at all.

    Raises:
        InvalidValueError: There is no such armature or chain, or nothing to work on.
        RigError: An armature's data is of a newer version of the extension.
    """
    owners = [owner for owner in armatures(request.armatures) if len(rig_of(owner).chains)]
    if not owners:
        raise InvalidValueError("no armature of the scene has chains")
    for owner in owners:
        check_not_newer(owner)
        name_all(owner)
    names = request.chains
    found = [
        (owner, [chain for chain in rig_of(owner).chains if (chain.name in names if names else chain.enabled)])
        for owner in owners
    ]
    known = {chain.name for _, chains in found for chain in chains}
    for name in names:
        if name not in known:
            raise InvalidValueError(f"there is no chain '{name}'")
    if not known and not any_will_do:
        is_baked = any(chain.is_baked for owner in owners for chain in rig_of(owner).chains)
        hint = ": they are baked, and their keys play; --chain names one all the same" if is_baked else ""
        raise InvalidValueError(f"no chain is enabled{hint}")
    return [(owner, chains) for owner, chains in found if chains or any_will_do]


def items_of(found: Sequence[tuple[bpy.types.Object, list[FabrikChain]]]) -> list[Item]:
    """The chains of `chosen`, each with its armature."""
    return [(owner, chain) for owner, chains in found for chain in chains]


def put(request: Request, items: Sequence[Item]) -> None:
    """Set chains, then put their targets to places in the world; all are checked before one is set, or one is moved.

    Raises:
        FabrikError: Something can't be set or put anywhere.
    """
    view_layer = bpy.context.view_layer
    assert view_layer is not None
    wanted = [(_settable(name, own, items), own) for name, own in request.settings.items()]
    for chain, own in wanted:
        for key, value in own.items():
            setattr(chain, key, value)
    if wanted:
        view_layer.update()
    goals = {name: _goal(name, items) for name in request.targets}
    keys = {goal.key for goal in goals.values()}
    if len(keys) < len(goals):
        raise InvalidValueError("two of the chains whose targets are to be put somewhere share one")
    for name, goal in goals.items():
        if carriers_of(goal.found, goal.bone) & (keys - {goal.key}):
            raise TargetError("its target hangs on another that is to be put somewhere, too", chain=name)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    locations = {name: location_at(goals[name], Vector(place), depsgraph) for name, place in request.targets.items()}
    for name, location in locations.items():
        placing.put(goals[name], location)
    view_layer.update()


def _only(name: str, items: Sequence[Item], wanted: str) -> Item:
    """The one chain of a name, with its armature."""
    named = [(owner, chain) for owner, chain in items if chain.name == name]
    if len(named) != 1:
        raise InvalidValueError(f"there is {'more than one' if named else 'no'} chain '{name}' {wanted}")
    return named[0]


def _settable(name: str, own: Mapping[str, Value], items: Sequence[Item]) -> FabrikChain:
    """The chain of a name, if none of what is to be set is animated."""
    owner, chain = _only(name, items, "that could be set")
    animated = sorted(Animated(owner).of_chain(chain) & own.keys())
    if animated:
        raise InvalidValueError(f"its '{animated[0]}' is animated, so it can't be set", chain=name)
    return chain


def _goal(name: str, items: Sequence[Item]) -> GoalRef:
    """The target of the chain of a name, if it can be put somewhere."""
    goal = goal_of(_only(name, items, "whose target could be put somewhere")[1], "target")
    reason: object = held_by(goal)
    if goal is not None and not reason and channel_curves(goal):
        reason = "is keyed"
    if reason or goal is None:
        raise TargetError(f"its target {reason}, so it can't be put somewhere", chain=name)
    return goal


def value_of(name: str, value: object) -> Value:
    """A number, a word, or true or false, as a value that a setting of a chain may have.

    Raises:
        InvalidValueError: There is no such setting, or it can't be that.
    """
    if name not in OF_GOAL:
        raise InvalidValueError(f"'{ascii(name)[1:-1]}' is none of {', '.join(OF_GOAL)}")
    found: Any = FabrikChain.bl_rna.properties[name]
    if found.type == "BOOLEAN":
        if not isinstance(value, bool):
            raise InvalidValueError(f"'{name}' is neither true nor false")
        return value
    if found.type == "ENUM":
        words = [item.identifier for item in found.enum_items]
        if not isinstance(value, str) or value not in words:
            raise InvalidValueError(f"'{name}' is none of {', '.join(words)}")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not are_finite([value]):
        raise InvalidValueError(f"'{name}' is no finite number")
    if not found.hard_min <= value <= found.hard_max:
        raise InvalidValueError(f"'{name}' is not from {found.hard_min:g} to {found.hard_max:g}")
    return float(value)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of chains that are told, and that arguments or an entry of a job file set before chains are solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import bpy

from ..errors import InvalidValueError
from ..finite import are_finite
from ..rig.animated import Animated
from ..rig.schema import FabrikChain
from ..session.order import Item

Value: TypeAlias = bool | float | str
Settings: TypeAlias = Mapping[str, Mapping[str, Value]]  # by the names of chains, then of settings

OF_GOAL = ("kind", "effector", "weight", "pin", "orientation", "orientation_weight", "stretch", "soft", "influence")
OF_BODY = ("body_bone", "body_stiffness", "spine", "balance")


def value_of(name: str, value: object) -> Value:
    """A value that a setting of a chain may have.

    Args:
        name: Of the setting.
        value: A number, a word, or true or false.

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


def settings_of(texts: Sequence[str]) -> dict[str, dict[str, Value]]:
    """Settings by the names of chains, from arguments.

    Raises:
        InvalidValueError: One is not CHAIN.SETTING=VALUE, makes no sense, or is given twice.
    """
    found: dict[str, dict[str, Value]] = {}
    for text in texts:
        place, equals, word = text.partition("=")
        chain, dot, name = place.rpartition(".")
        if not (equals and dot and chain):
            raise InvalidValueError(f"'{text}' is no setting such as foot.L.pin=true")
        own = found.setdefault(chain, {})
        if name in own:
            raise InvalidValueError(f"'{place}' is given twice")
        own[name] = value_of(name, _read(word))
    return found


def _read(word: str) -> Value:
    """A word as true or false, or as a number, where it is that."""
    if word in {"true", "false"}:
        return word == "true"
    try:
        return float(word)
    except ValueError:
        return word


def put_settings(settings: Settings, items: Sequence[Item]) -> None:
    """Set chains; all are checked before one is set.

    Raises:
        InvalidValueError: There is not just one chain of a name, or what is to be set is animated.
    """
    wanted: list[tuple[FabrikChain, Mapping[str, Value]]] = []
    for name, own in settings.items():
        named = [(owner, chain) for owner, chain in items if chain.name == name]
        if len(named) != 1:
            count = "no chain" if not named else "more than one chain"
            raise InvalidValueError(f"there is {count} '{name}' that could be set")
        owner, chain = named[0]
        animated = sorted(Animated(owner).of_chain(chain) & own.keys())
        if animated:
            raise InvalidValueError(f"its '{animated[0]}' is animated, so it can't be set", chain=name)
        wanted.append((chain, own))
    for chain, own in wanted:
        for key, value in own.items():
            setattr(chain, key, value)
    if wanted:
        assert bpy.context.view_layer is not None
        bpy.context.view_layer.update()

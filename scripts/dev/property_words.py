# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of Blender's as rows of a table: type with unit and range, default, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import degrees
from typing import Any, NamedTuple, Protocol

ENDLESS = 1e9  # an end of a range beyond which it has none
TYPES = {"BOOLEAN": "bool", "INT": "int", "FLOAT": "float", "STRING": "str"}
UNITS = {"ROTATION": "radians", "LENGTH": "scene units"}
SHAPES = {"QUATERNION": "w, x, y, z", "FACTOR": "", "XYZ": "x, y, z", "TRANSLATION": "x, y, z", "EULER": "x, y, z"}

# What is not said in Blender, since no panel shows it or the choices say it all.
TOLD = {
    "Object.plans_when_idle": "Of files of version 1.0.0; nothing heeds it any more",
    "Object.chains": "The chains; `add()` and `remove(index)` change the list",
    "Object.active_index": "Index of the chain that the panel shows; it follows the active bone in Pose Mode",
    "Object.bake_report": "Result of the last bake, as JSON; empty if there was none",
    "Object.body_captured": "Start pose of the body bone and of those between it and the chains",
    "Object.legs": "The legs; their names are those of their chains, which they follow",
    "Object.fabrik_unkeyed": "Chains whose bones automatic keying has yet to key when the mouse is let go",
    "Object.fabrik_version": "Version of the data",
    "Object.fabrik_bone_names": "How the bones were called when they were last looked at",
    "Object.fabrik_bone_rests": "How they lay at rest then, by which renamed ones are found",
    "FabrikChain.name": "Name, which no other chain of the armature has",
    "FabrikChain.known_as": "Its name, by which it is seen that it was renamed",
    "FabrikChain.captured": "The captured start pose, an item for each bone",
    "FabrikChain.fingerprint": "Of the rest pose at the capture, by which a change of it is seen",
    "FabrikChain.status": "How the last solve ended",
    "FabrikChain.passes": "How many passes it took",
    "FabrikChain.blocking_bones": "Bones whose limits hold the chain back, the strongest first; each has a `name`",
    "FabrikChain.solved_as": "Internal: where goals and bones were at the last solve, to notice changes",
    "FabrikChain.solved_turn": "Internal: how goals and bones were turned then, to notice changes",
    "FabrikChain.message_parts": "Internal: what the message is made of, as JSON, to tell it in other languages",
    "FabrikChain.target_name": "Name of the target that was set last, for when it is deleted",
    "FabrikChain.pole_name": "Name of the pole that was set last, for when it is deleted",
    "FabrikCapturedRotation.rotation": "Rotation of the bone from its rest pose",
    "FabrikCapturedBone.rotation": "Rotation of the bone from its rest pose",
    "FabrikCapturedBone.location": "Location of the bone from its rest pose",
    "FabrikSetupPart.name": "Name of the part, and of its chain",
    "Scene.Scene.fabrik_overlay": "What is drawn in the view",
    "FABRIK_OT_bake.into": "Where the keys go",
    "FABRIK_OT_bake.interpolation": "Between the keys",
    "FABRIK_OT_chain_move.direction": "Where to",
    "FABRIK_OT_goal_select.role": "Which of them",
    "FABRIK_OT_limit_animal.joint": "Which joint",
    "FABRIK_OT_limit_axis.axis": "Which axis",
    "FABRIK_OT_limit_from_bend.bones": "Which bones",
    "FABRIK_OT_limit_human.joint": "Which joint",
    "FABRIK_OT_step.to": "Which step",
    "FABRIK_OT_walk_bake.into": "Where the keys go",
}


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        name: Of the property.
        kind: Type, unit and range.
        default: What it is at first.
        meaning: What it does.
    """

    name: str
    kind: str
    default: str
    meaning: str


class Item(Protocol):
    """A choice of a property."""

    identifier: str
    description: str


class Property(Protocol):
    """What Blender tells of a property; some of it is there for some types alone."""

    identifier: str
    type: str
    subtype: str
    unit: str
    description: str
    default: Any
    default_array: Sequence[float]
    is_array: bool
    array_length: int
    hard_min: float
    hard_max: float
    enum_items: Iterable[Item]
    fixed_type: Kind


class Properties(Protocol):
    """Those of a kind, by their names."""

    def __iter__(self) -> Iterator[Property]: ...
    def __getitem__(self, name: str) -> Property: ...
    def __contains__(self, name: str) -> bool: ...


class Kind(Protocol):
    """What Blender tells of a type, or of an operator."""

    identifier: str
    name: str
    description: str
    properties: Properties


def kind_of(cls: type) -> Kind:
    """What Blender tells of one of its types; its stubs know of no property what is that of its type alone."""
    kind: Kind = getattr(cls, "bl_rna")
    return kind


def table(rows: Sequence[Row], first: str = "name") -> str:
    """Rows as a table in Markdown."""
    lines = [f"| {first} | type | default | meaning |", "|---|---|---|---|"]
    for row in rows:
        cells = (f"`{row.name}`", row.kind, row.default, row.meaning)
        lines.append("| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def row_of(prop: Property, name: str, owner: str) -> Row:
    """A property of Blender's as a row.

    Args:
        prop: The property.
        name: What the row calls it.
        owner: What has it, by which `TOLD` knows it.

    Raises:
        KeyError: Neither Blender nor `TOLD` says what it means.
    """
    key = f"{owner}.{name}"
    told = TOLD[key] if key in TOLD or not prop.description else prop.description
    items = [_item(item) for item in prop.enum_items] if prop.type == "ENUM" else []
    meaning = f"{told.rstrip('.')}: {'; '.join(items)}" if items else told
    return Row(name, _kind(prop), _default(prop), meaning)


def _item(item: Item) -> str:
    """A choice, with what it means where that says more than its name."""
    text = item.description.rstrip(".")
    return f"`'{item.identifier}'` ({text})" if text else f"`'{item.identifier}'`"


def _kind(prop: Property) -> str:
    if prop.type == "ENUM":
        return "choice"
    if prop.type in {"COLLECTION", "POINTER"}:
        kind = prop.fixed_type.identifier.removeprefix("Fabrik")
        return kind if prop.type == "POINTER" else f"list of {kind}"
    plain = TYPES[prop.type]
    if prop.type == "STRING":
        return "str, a path" if prop.subtype == "FILE_PATH" else plain
    if prop.type == "BOOLEAN":
        return plain
    count = f"{prop.array_length} {plain}s" if prop.is_array else plain
    parts = (count, SHAPES.get(prop.subtype, "") if prop.is_array else "", UNITS.get(prop.unit, ""), _range(prop))
    return ", ".join(part for part in parts if part)


def _range(prop: Property) -> str:
    low, high = prop.hard_min, prop.hard_max
    has_low, has_high = low > -ENDLESS, high < ENDLESS
    if has_low and has_high:
        return f"{_number(low)} to {_number(high)}"
    return f"≥ {_number(low)}" if has_low else f"≤ {_number(high)}" if has_high else ""


def _default(prop: Property) -> str:
    if prop.type in {"COLLECTION", "POINTER"}:
        return "empty" if prop.type == "COLLECTION" else ""
    if prop.type == "ENUM":
        return f"`'{prop.default}'`"
    if prop.type == "STRING":
        return f'`"{prop.default}"`'
    if prop.type == "BOOLEAN":
        return f"`{prop.default}`"
    if prop.is_array:
        values = [_number(value) for value in prop.default_array]
        return f"`({', '.join(values)})`" if len(values) <= len("wxyz") else "zeros"
    shown = f"`{_number(prop.default)}`"
    return f"{shown} ({degrees(prop.default):.4g}°)" if prop.unit == "ROTATION" and prop.default else shown


def _number(value: float) -> str:
    """A number as it was meant: Blender keeps it in single precision."""
    return f"{value:.5g}"

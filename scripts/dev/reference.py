# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's reference of what scripts can set and call, written from what the extension registers in Blender.

Imported once the extension is enabled; see `build.py --reference`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import bpy
from fabrik_addon.operators.manual import PLACES
from fabrik_addon.rig import schema
from fabrik_addon.rig.schema.rig import RigView
from fabrik_addon.rig.schema.walker import WalkerView

import addon_session
from blender import OPS
from dev.kernel_reference import errors_text, kernel_text
from dev.marked import write_between
from dev.property_words import Kind, Properties, Row, kind_of, row_of, table
from environment import ROOT

MANUAL = ROOT / "fabrik_addon" / "manual"
BEGIN = "<!-- written by scripts/build.py --reference -->"
ERRORS = (
    "Operators raise `RuntimeError` when they refuse. A script that imports modules of the extension, such as the "
    "solver, gets these exceptions of the module `errors`."
)
PREFIX, WALKER = "fabrik_", "fabrik_walker_"


def pages() -> dict[Path, str]:
    """What stands between the marks of each page that is written."""
    return {MANUAL / "reference.md": reference_text(), MANUAL / "solver.md": kernel_text()}


def reference_text() -> str:
    """The tables of the page of the reference: properties, errors, operators."""
    parts = [*_of_objects(), *_of_bones_and_scenes(), "## Errors", ERRORS, errors_text(), "## Operators", *_operators()]
    return "\n\n".join(parts)


def _of_objects() -> list[str]:
    stored = kind_of(bpy.types.Object).properties
    return [
        "## Object.fabrik",
        "Of an armature object. Each is stored as the property of the object with `fabrik_` before its name.",
        table([*_viewed(schema.RigView, stored, PREFIX), *_python_only(schema.RigView, stored, PREFIX)]),
        *_chain(),
        "## Walker",
        "`Object.fabrik.walker`, stored with `fabrik_walker_` before each name. See [Walkers](walkers.md#settings).",
        table([*_viewed(schema.WalkerView, stored, WALKER), *_python_only(schema.WalkerView, stored, WALKER)]),
        "### Leg of a walker",
        "One of `Object.fabrik.walker.legs`; its `name` is that of its chain.",
        table(_rows(_group("FabrikWalkLeg"))),
        "### Written by the extension",
        "Kept with the object for the extension's own use. Leave them alone.",
        table(_unviewed(stored)),
    ]


def _chain() -> list[str]:
    """Of a chain: a table for each of the classes that make it up, and the items that it holds."""
    return [
        "## Chain",
        "One of `Object.fabrik.chains`, by its name or index. See [Chains](chains.md).",
        table(_declared(schema.FabrikChain, schema.FabrikChain)),
        "### What a chain asks",
        "Of the same chain. See [Chains](chains.md#what-a-goal-asks).",
        table(_declared(schema.ChainGoal, schema.FabrikChain)),
        "### How a chain is solved",
        "Of the same chain. See [Start pose](chains.md#start-pose).",
        table(_declared(schema.ChainSolving, schema.FabrikChain)),
        "### How the last solve ended",
        "Of the same chain; to be read. See [When it does not reach](not_reached.md).",
        table(_declared(schema.LastSolve, schema.FabrikChain)),
        "### Items of captured poses",
        "Of `captured` of a chain, each with the bone's `name` and",
        table(_rows(_group("FabrikCapturedRotation"))),
        "Of `Object.fabrik.body_captured`, likewise",
        table(_rows(_group("FabrikCapturedBone"))),
    ]


def _of_bones_and_scenes() -> list[str]:
    bone = kind_of(bpy.types.PoseBone).properties
    preferences = next(cls for cls in _classes(bpy.types.AddonPreferences))
    return [
        "## PoseBone.fabrik",
        "The joint limit of a bone, and its mass. Each is stored as the property of the pose bone with `fabrik_` "
        "before its name. See [Joint limits](limits.md).",
        table([row_of(bone[PREFIX + name], name, "PoseBone") for name in schema.BONE_SETTINGS]),
        "## Scene and window",
        table(_of_type(bpy.types.Scene) + _of_type(bpy.types.WindowManager)),
        "### Overlay",
        "`Scene.fabrik_overlay`. See [Overlay](live.md#overlay).",
        table(_rows(_group("FabrikOverlay"))),
        "## Preferences",
        "Of the extension, `bpy.context.preferences.addons[...].preferences`. See [Preferences](menus.md#preferences).",
        table(_rows(kind_of(preferences))),
    ]


def _operators() -> Iterable[str]:
    for name in sorted(dir(OPS.fabrik)):
        kind: Kind = getattr(OPS.fabrik, name).get_rna_type()
        yield f"### fabrik.{name}"
        yield f"**{kind.name}.** {_sentence(kind.description)} See {_told_at(name)}."
        options = _rows(kind)
        yield table(options, "option") if options else "No options."
        for prop in kind.properties:
            if prop.type == "COLLECTION":
                yield f"Each of `{prop.identifier}` has"
                yield table(_rows(prop.fixed_type, skipped=("rna_type",)))


def _sentence(text: str) -> str:
    words = " ".join(text.split())
    return words if words.endswith(".") else f"{words}."


def _told_at(operator: str) -> str:
    """A link to where the manual tells of an operator."""
    asked = f"bpy.ops.fabrik.{operator}"
    page, heading = next((page, heading) for pattern, page, heading in PLACES if fnmatchcase(asked, pattern))
    title = (MANUAL / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return f"[{title}]({page}.md#{heading})"


def _viewed(view: type, stored: Properties, prefix: str) -> list[Row]:
    """The attributes of a view that stand for a stored property, in the order of the view's classes."""
    named = [name for cls in view.__mro__ for name in vars(cls) if prefix + name in stored]
    return [row_of(stored[prefix + name], name, "Object") for name in named]


def _python_only(view: type, stored: Properties, prefix: str) -> list[Row]:
    """The attributes of a view that stand for none."""
    members = [(name, member) for name, member in vars(view).items() if isinstance(member, property)]
    found = [(name, member) for name, member in members if prefix + name not in stored]
    return [Row(name, "read-only", "", (inspect.getdoc(member) or "").partition(".")[0]) for name, member in found]


def _unviewed(stored: Properties) -> list[Row]:
    """What is stored on objects and is in no view."""
    views: Sequence[tuple[type, str]] = ((RigView, PREFIX), (WalkerView, WALKER))
    viewed = {prefix + name for view, prefix in views for cls in view.__mro__ for name in vars(cls)}
    found = [prop for prop in stored if prop.identifier.startswith(PREFIX)]
    return [row_of(prop, prop.identifier, "Object") for prop in found if prop.identifier not in viewed]


def _declared(part: type, whole: type) -> list[Row]:
    """The properties of a group that one of its classes declares."""
    found = kind_of(whole).properties
    return [row_of(found[name], name, whole.__name__) for name in inspect.get_annotations(part) if name in found]


def _rows(kind: Kind, skipped: Sequence[str] = ("rna_type", "name", "bl_idname")) -> list[Row]:
    shown = [prop for prop in kind.properties if prop.identifier not in skipped and prop.identifier != "filter_glob"]
    return [row_of(prop, prop.identifier, kind.identifier) for prop in shown]


def _of_type(owner: type) -> list[Row]:
    """The properties of ours that a type of Blender's has."""
    name = owner.__name__
    ours = [prop for prop in kind_of(owner).properties if prop.identifier.startswith(PREFIX)]
    return [row_of(prop, f"{name}.{prop.identifier}", name) for prop in ours]


def _classes(base: type) -> list[type]:
    """The classes of the extension of one of Blender's types."""
    found: list[type] = base.__subclasses__()
    return [cls for cls in found if cls.__module__.startswith(f"{addon_session.MODULE}.")]


def _group(name: str) -> Kind:
    return next(kind_of(cls) for cls in _classes(bpy.types.PropertyGroup) if cls.__name__ == name)


def write() -> None:
    """Renew the pages."""
    for page, text in pages().items():
        write_between(page, BEGIN, text)

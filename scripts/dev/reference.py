# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's reference of what scripts can set and call, written from what the extension registers in Blender.

The public names of the kernel, and the extension's errors, are read from their sources: what docstrings say of them.
Imported once the extension is enabled; see `build.py --reference`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from math import degrees
from pathlib import Path
from typing import Any, TypeAlias

import bpy
from fabrik_addon.operators.manual import PLACES
from fabrik_addon.rig import schema
from fabrik_addon.rig.schema.rig import RigView
from fabrik_addon.rig.schema.walker import WalkerView

import addon_session
from blender import OPS
from dev.marked import write_between
from environment import ROOT

MANUAL = ROOT / "fabrik_addon" / "manual"
PREFIX, WALKER = "fabrik_", "fabrik_walker_"
ENDLESS = 1e9  # an end of a range beyond which it has none
TYPES = {"BOOLEAN": "bool", "INT": "int", "FLOAT": "float", "STRING": "str"}
UNITS = {"ROTATION": "radians", "LENGTH": "scene units"}
SHAPES = {"QUATERNION": "w, x, y, z", "FACTOR": "", "XYZ": "x, y, z", "TRANSLATION": "x, y, z", "EULER": "x, y, z"}

# What is not said in Blender, since no panel shows it or the choices say it all; what docstrings say is added below.
TOLD = {
    "Object.plans_when_idle": "Of files of version 1.0.0; nothing heeds it any more",
    "Object.legs": "The legs; their names are those of their chains, which they follow",
    "PoseBone.layers": "By what a control is moved in layers of edits that are not at hand; each is named by its key",
    "PoseBone.contact_ground": "On what the foot stands: 0 for the world, else a number of the armature's `grounds`",
    "PoseBone.contact_place": "Where its effector is to stand, in the axes of the ground",
    "PoseBone.contact_turn": "How it is to be turned there; zeros where the motion tells both",
    "PoseBone.is_place_locked": "Whether *Set Up Character* locked the bone's location",
    "PoseBone.drawn_size": "Size of the shape by which the bone was drawn before it got one here",
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
    "FabrikLayerChannels.location": "Location of the control",
    "FabrikLayerChannels.rotation_mode": "In which of the rotations it is kept",
    "FabrikLayerChannels.rotation_quaternion": "As a quaternion",
    "FabrikLayerChannels.rotation_euler": "As Euler angles",
    "FabrikLayerChannels.rotation_axis_angle": "As an angle and an axis",
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


Kind: TypeAlias = bpy.types.Struct  # what Blender tells of a type, or of an operator
Properties: TypeAlias = "bpy.types.bpy_prop_collection[bpy.types.Property]"
Property: TypeAlias = Any  # one of these, with what it has by its own type alone


def kind_of(cls: type) -> Kind:
    """What Blender tells of one of its types; its stubs know of no property what is that of its type alone."""
    kind: Kind = getattr(cls, "bl_rna")
    return kind


def parts() -> dict[tuple[Path, str], str]:
    """What stands between the marks of each part of a page that is written."""
    reference = MANUAL / "reference.md"
    made = {(reference, mark_of(name)): table(rows) for name, rows in _tables().items()}
    made |= {
        (reference, mark_of("errors")): errors_text(),
        (reference, mark_of("operators")): "\n\n".join(_operators()),
    }
    return made | {(MANUAL / "solver.md", mark_of("solver")): kernel_text()}


def mark_of(name: str) -> str:
    """The mark that stands before a part of a page."""
    return f"<!-- {name}, written by scripts/build.py --reference -->"


def _tables() -> dict[str, list[Row]]:
    """The tables of what is stored, by the names of their marks."""
    stored, bone = (kind_of(owner).properties for owner in (bpy.types.Object, bpy.types.PoseBone))
    return {
        "armature": [*_viewed(schema.RigView, stored, PREFIX), *_python_only(schema.RigView, stored, PREFIX)],
        "layer": _rows(_group("FabrikLayer")),
        "layer channels": _rows(_group("FabrikLayerChannels")),
        "ground": _rows(_group("FabrikGround")),
        "chain": _declared(schema.FabrikChain, schema.FabrikChain),
        "chain, asked": _declared(schema.chain.GoalSettings, schema.FabrikChain),
        "chain, solved": _declared(schema.chain.SolverSettings, schema.FabrikChain),
        "chain, ended": _declared(schema.chain.LastSolve, schema.FabrikChain),
        "captured rotation": _rows(_group("FabrikCapturedRotation")),
        "captured bone": _rows(_group("FabrikCapturedBone")),
        "walker": [*_viewed(schema.WalkerView, stored, WALKER), *_python_only(schema.WalkerView, stored, WALKER)],
        "leg": _rows(_group("FabrikWalkLeg")),
        "own": _unviewed(stored),
        "bone": [row_of(bone[PREFIX + name], name, "PoseBone") for name in schema.BONE_SETTINGS],
        "scene": _of_type(bpy.types.Scene) + _of_type(bpy.types.WindowManager),
        "overlay": _rows(_group("FabrikOverlay")),
        "preferences": _rows(kind_of(next(iter(_classes(bpy.types.AddonPreferences))))),
    }


def _operators() -> Iterable[str]:
    for name in sorted(dir(OPS.fabrik)):
        kind: Kind = getattr(OPS.fabrik, name).get_rna_type()
        yield f"### fabrik.{name}"
        yield f"**{kind.name}.** {_sentence(kind.description)} See {_told_at(name)}."
        options = _rows(kind)
        yield table(options, "option") if options else "No options."
        own: list[Property] = [*kind.properties]
        for prop in own:
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
    return [(name, "read-only", "", (inspect.getdoc(member) or "").partition(".")[0]) for name, member in found]


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
    found = {prop.identifier: prop for prop in kind.properties}  # of a name that two types above have, the nearer one
    return [
        row_of(prop, name, kind.identifier) for name, prop in found.items() if name not in {*skipped, "filter_glob"}
    ]


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
    return name, _kind(prop), _default(prop), meaning


def _item(item: bpy.types.EnumPropertyItem) -> str:
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


def write() -> None:
    """Renew the pages."""
    for (page, mark), text in parts().items():
        write_between(page, mark, text)


# ---- the kernel

ADDON = ROOT / "fabrik_addon"
KERNEL = ADDON / "kernel"
SECTION = re.compile(r"^(Args|Attributes|Raises|Returns):$")
ENTRY = re.compile(r"^ {4}(\w+): (.*)$")
SEE = re.compile(r"^See `(\w+)`(.*)$")  # what Python calls does what the compiled function of this name does
PLAIN = {"SupportsIndex": "int", "SupportsFloat": "float", "Sequence": "sequence"}
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (  # without names: all that is imported from the folder `limits`
    ("Figures", ("Joint", "Figure", "PlacedJoints", "BendSide")),
    ("Goals", ("Point", "Facing", "Aim", "Bend", "Balance", "Stay", "Help")),
    ("Limits", ()),
    ("Solving", ("Settings", "Solver", "Solution", "Status", "Rows", "Step")),
    ("Paths", ("PathFit",)),
)


Row: TypeAlias = tuple[str, str, str, str]  # of a property: name; type, unit and range; default; what it does


def table(rows: Sequence[Row], first: str = "name") -> str:
    """Rows as a table in Markdown."""
    lines = [f"| {first} | type | default | meaning |", "|---|---|---|---|"]
    for name, *told in rows:
        cells = (f"`{name}`", *told)
        lines.append("| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


Entries: TypeAlias = dict[str, dict[str, str]]  # of a docstring: by section, what is said of each name


def doc_of(doc: str | None) -> tuple[str, Entries]:
    """A docstring taken apart: what stands before its sections, and these."""
    lines, entries, section, name = list[str](), Entries(), "", ""
    for line in (doc or "").splitlines():
        heading, entry = SECTION.match(line), ENTRY.match(line)
        if heading:
            section, name = heading[1], ""
            entries[section] = {}
        elif not section:
            lines.append(line)
        elif entry:
            name = entry[1]
            entries[section][name] = entry[2]
        elif line.strip() and name:
            entries[section][name] += f" {line.strip()}"
    return " ".join(" ".join(lines).split()), entries


for _cls, _owner in (
    (schema.RigView, "Object."),
    (schema.RigRecord, f"Object.{PREFIX}"),
    (schema.FabrikLayer, "FabrikLayer."),
):
    TOLD |= {_owner + name: text.rstrip(".") for name, text in doc_of(inspect.getdoc(_cls))[1]["Attributes"].items()}


def _told(entries: Entries) -> dict[str, str]:
    """What is said of each argument and attribute."""
    return {**entries.get("Attributes", {}), **entries.get("Args", {})}


def classes(folder: Path) -> dict[str, ast.ClassDef]:
    """The classes of the modules in a folder, by name."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.py"))]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def public_names() -> list[str]:
    """What the kernel offers: its `__all__`."""
    tree = ast.parse((KERNEL / "names.py").read_text(encoding="utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    value = next(node.value for node in assigned if ast.unparse(node.targets[0]) == "__all__")
    found: tuple[str, ...] = ast.literal_eval(value)
    return list(found)


def names_from(folder: str) -> Iterator[str]:
    """What the kernel offers out of one of its folders."""
    tree = ast.parse((KERNEL / "names.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{folder}."):
            yield from (alias.name for alias in node.names)


def kernel_text() -> str:
    """A section for each class that the kernel offers."""
    found = classes(KERNEL)
    parts = []
    for title, listed in GROUPS:
        parts.append(f"## {title}")
        for name in listed or [name for name in names_from(title.lower()) if name in found]:
            parts += [f"### {name}", *_class_text(found[name], found)]
    return "\n\n".join(parts)


def _class_text(node: ast.ClassDef, known: dict[str, ast.ClassDef]) -> Iterator[str]:
    summary, entries = doc_of(ast.get_docstring(node))
    yield summary
    arguments = list(_arguments(node, known))
    if arguments:
        rows = [(name, kind, default, _told(entries).get(name, "")) for name, kind, default in arguments]
        yield table(rows, "argument")
    taken = {name for name, _, _ in arguments}
    offered = {name: text for name, text in entries.get("Attributes", {}).items() if name not in taken}
    offered |= {name: text for name, text in _methods(node) if name not in taken}
    if offered:
        yield "\n".join(f"* `{name}`: {text}" for name, text in offered.items())
    wrong = entries.get("Raises", {})
    if wrong:
        yield "Raises " + " ".join(f"`{name}`: {text}" for name, text in wrong.items())


def _arguments(node: ast.ClassDef, known: dict[str, ast.ClassDef]) -> Iterator[tuple[str, str, str]]:
    """What a class is made from: name, type and default of each."""
    made = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
    if made is not None:
        yield from _parameters(made.args)
    elif any(ast.unparse(base) == "NamedTuple" for base in node.bases):
        for part in node.body:
            if isinstance(part, ast.AnnAssign):
                yield ast.unparse(part.target), _type(part.annotation), _value(part.value)
    else:
        inherited = next((known[name] for base in node.bases if (name := ast.unparse(base)) in known), None)
        if inherited is not None:
            yield from _arguments(inherited, known)


def _parameters(args: ast.arguments) -> Iterator[tuple[str, str, str]]:
    plain = [one for one in args.args if one.arg not in {"self", "cls"}]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    for one, default in zip([*plain, *args.kwonlyargs], [*defaults, *args.kw_defaults], strict=True):
        yield one.arg, _type(one.annotation), _value(default)


def _type(node: ast.expr | None) -> str:
    text = ast.unparse(node) if node is not None else ""
    for name, plain in PLAIN.items():
        text = text.replace(name, plain)
    return f"`{text}`"


def _value(node: ast.expr | None) -> str:
    return "" if node is None else f"`{ast.unparse(node)}`"


def _methods(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The functions that Python calls, those of the compiled kernel alone left out, each with what it does."""
    functions = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    summaries = {name: doc_of(ast.get_docstring(part))[0] for name, part in functions.items()}
    for name, part in functions.items():
        marks = {ast.unparse(mark) for mark in part.decorator_list}
        if "cython.cfunc" in marks or name.startswith("_") or not summaries[name]:
            continue
        given = ", ".join(one for one, _, _ in _parameters(part.args))
        told = SEE.sub(lambda found: f"{summaries[found[1]].rstrip('.')}{found[2]}", summaries[name])
        yield name if "property" in marks else f"{name}({given})", told


def errors_text() -> str:
    """The extension's errors, as Python that calls the solver or the extension's modules gets them."""
    tree = ast.parse((ADDON / "errors.py").read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    docs = {node.name: doc_of(ast.get_docstring(node)) for node in found}
    lines = ["| error | of | when |", "|---|---|---|"]
    lines += [f"| `{node.name}` | `{ast.unparse(node.bases[0])}` | {docs[node.name][0]} |" for node in found]
    attributes = [f"`{name}`: {text}" for name, text in _told(docs["FabrikError"][1]).items()]
    return "\n".join([*lines, "", "Each has " + " ".join(attributes)])

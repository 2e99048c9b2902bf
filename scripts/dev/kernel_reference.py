# SPDX-License-Identifier: GPL-3.0-or-later
"""The public names of the kernel, and the extension's errors, read from their sources: what docstrings say of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from environment import ROOT

ADDON = ROOT / "fabrik_addon"
KERNEL = ADDON / "kernel"
SECTION = re.compile(r"^(Args|Attributes|Raises|Returns):$")
ENTRY = re.compile(r"^ {4}(\w+): (.*)$")
SEE = re.compile(r"^See `(\w+)`(.*)$")  # what Python calls does what the compiled function of this name does
TYPES = {"SupportsIndex": "int", "SupportsFloat": "float", "Sequence": "sequence"}
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (  # without names: all that is imported from the folder `limits`
    ("Figures", ("Joint", "Figure", "PlacedJoints", "BendSide")),
    ("Goals", ("Point", "Facing", "Aim", "Bend", "Balance", "Stay", "Help")),
    ("Limits", ()),
    ("Solving", ("Settings", "Solver", "Solution", "Status", "Rows", "Trace", "Step")),
    ("Paths", ("PathFit",)),
)


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


def table(rows: Sequence[Row], first: str = "name") -> str:
    """Rows as a table in Markdown."""
    lines = [f"| {first} | type | default | meaning |", "|---|---|---|---|"]
    for row in rows:
        cells = (f"`{row.name}`", row.kind, row.default, row.meaning)
        lines.append("| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


@dataclass
class Doc:
    """A docstring, taken apart.

    Attributes:
        summary: What stands before its sections.
        entries: By section, what is said of each name.
    """

    summary: str = ""
    entries: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def told(self) -> dict[str, str]:
        """What is said of each argument and attribute."""
        return {**self.entries.get("Attributes", {}), **self.entries.get("Args", {})}


def doc_of(text: str) -> Doc:
    """Take a docstring apart."""
    found, section, name = Doc(), "", ""
    lines = []
    for line in text.splitlines():
        heading, entry = SECTION.match(line), ENTRY.match(line)
        if heading:
            section, name = heading[1], ""
            found.entries[section] = {}
        elif not section:
            lines.append(line)
        elif entry:
            name = entry[1]
            found.entries[section][name] = entry[2]
        elif line.strip() and name:
            found.entries[section][name] += f" {line.strip()}"
    found.summary = " ".join(" ".join(lines).split())
    return found


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
    doc = doc_of(ast.get_docstring(node) or "")
    yield doc.summary
    arguments = list(_arguments(node, known))
    if arguments:
        rows = [Row(name, kind, default, doc.told.get(name, "")) for name, kind, default in arguments]
        yield table(rows, "argument")
    taken = {name for name, _, _ in arguments}
    offered = {name: text for name, text in doc.entries.get("Attributes", {}).items() if name not in taken}
    offered |= {name: text for name, text in _methods(node) if name not in taken}
    if offered:
        yield "\n".join(f"* `{name}`: {text}" for name, text in offered.items())
    wrong = doc.entries.get("Raises", {})
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
    for name, plain in TYPES.items():
        text = text.replace(name, plain)
    return f"`{text}`"


def _value(node: ast.expr | None) -> str:
    return "" if node is None else f"`{ast.unparse(node)}`"


def _methods(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The functions that Python calls, those of the compiled kernel alone left out, each with what it does."""
    functions = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    summaries = {name: doc_of(ast.get_docstring(part) or "").summary for name, part in functions.items()}
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
    docs = {node.name: doc_of(ast.get_docstring(node) or "") for node in found}
    lines = ["| error | of | when |", "|---|---|---|"]
    lines += [f"| `{node.name}` | `{ast.unparse(node.bases[0])}` | {docs[node.name].summary} |" for node in found]
    attributes = [f"`{name}`: {text}" for name, text in docs["FabrikError"].told.items()]
    return "\n".join([*lines, "", "Each has " + " ".join(attributes)])

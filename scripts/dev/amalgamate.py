# SPDX-License-Identifier: GPL-3.0-or-later
"""Joins the modules of the kernel into one that Cython compiles as a unit.

The modules come in the order of the imports between them, and those imports are dropped. What would mean one thing
compiled and another interpreted is refused: the same name in two modules, `//` under C's rules, an index from behind, a
`raise` where no error comes out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .sources import Module, SourceError, in_order, is_for_checkers, read_modules

DIRECTIVES = {
    "language_level": "3",
    "boundscheck": "True",
    "wraparound": "False",
    "nonecheck": "True",
    "initializedcheck": "False",
    "cdivision": "True",
    "freethreading_compatible": "False",
    "auto_pickle": "False",
}
C_RULES = {  # operators that mean something else in C
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}


@dataclass(frozen=True)
class Amalgam:
    """The kernel as one module.

    Attributes:
        text: Its source.
        origins: For each line of it where it came from, as "file:line", or "".
    """

    text: str
    origins: Sequence[str]


def amalgamate(folder: Path, files: Iterable[Path]) -> Amalgam:
    """Join modules of the kernel.

    Args:
        folder: The kernel's.
        files: The modules in it that are compiled.

    Raises:
        SourceError: They would not mean the same in one.
    """
    modules = in_order(read_modules(folder, files))
    wrong = [*_wrong_names(modules), *(text for module in modules for text in _wrong_rules(module))]
    if wrong:
        raise SourceError("\n".join(wrong))
    lines = [f"# cython: {', '.join(f'{name}={value}' for name, value in DIRECTIVES.items())}", *_head(modules)]
    origins = [""] * len(lines)
    for module in modules:
        lines += ["", f"# ---- {module.file}"]
        origins += ["", ""]
        for number, line in _kept(module):
            if line or lines[-1]:
                lines.append(line)
                origins.append(f"{module.file}:{number}")
    return Amalgam("\n".join(lines) + "\n", origins)


def _head(modules: Sequence[Module]) -> list[str]:
    """The imports of all modules, once each."""
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    for module in modules:
        for found in module.imports:
            if found.is_nested or found.kind in ("stub", "kernel"):
                continue
            source = {"above": f"..{found.module}", "libm": "cython.cimports.libc.math"}.get(found.kind, found.module)
            if found.names:
                named.setdefault(source, set()).update(found.names)
            else:
                plain.add(found.module)
    lines = []
    if "__future__" in named:
        lines.append(f"from __future__ import {', '.join(sorted(named.pop('__future__')))}")
    lines += ["import cython", *(f"import {name}" for name in sorted(plain))]
    return lines + [f"from {source} import {', '.join(sorted(names))}" for source, names in sorted(named.items())]


def _wrong_names(modules: Sequence[Module]) -> Iterator[str]:
    """Names that two modules bind to different things, and imports of names that are not there."""
    by_name = {module.name: module for module in modules}
    seen = {"cython": ("Cython's module", "its head")}  # name: what it is bound to, and where
    for module in modules:
        bound = {name: (f"{module.file} itself", module.place(line)) for name, line in module.defined.items()}
        for found in module.imports:
            for name in found.names:
                if found.kind == "kernel":
                    if not _has(by_name[found.module], name):
                        yield f"{module.place(found.node)}: {by_name[found.module].file} has no '{name}'"
                elif found.kind not in ("stub", "future") and not found.is_nested:
                    bound.setdefault(name, (f"{found.kind} {found.module}", module.place(found.node)))
        for name, (source, place) in bound.items():
            other, other_place = seen.setdefault(name, (source, place))
            if other != source:
                yield f"{place}: '{name}' is also the name of something else, at {other_place}"


def _has(module: Module, name: str) -> bool:
    imported = {one for found in module.imports for one in found.names if not found.is_nested}
    return name in module.defined or name in imported


def _wrong_rules(module: Module) -> Iterator[str]:
    """What compiled functions do otherwise than interpreted ones."""
    for function in ast.walk(module.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        silent = any(_is_silent(decorator) for decorator in function.decorator_list)
        for node in ast.walk(function):
            if silent and isinstance(node, (ast.Raise, ast.Assert)):
                yield f"{module.place(node)}: '{function.name}' raises, but no error comes out of it"
            reason = _otherwise(node)
            if reason:
                yield f"{module.place(node)}: {reason} when '{function.name}' is compiled"


def _otherwise(node: ast.AST) -> str:
    """What an expression does otherwise where it is compiled; or "".

    What is inferred to be a number of C is one in a plain function, too.
    """
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in C_RULES:
        left = node.left if isinstance(node, ast.BinOp) else node.target
        is_text = isinstance(left, ast.Constant) and isinstance(left.value, str)
        return "" if is_text else f"'{C_RULES[type(node.op)]}' is not the same"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        return "super() does not work (name the base)"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.op, ast.USub):
        return "an index does not count from behind"
    return ""


def _is_silent(decorator: ast.expr) -> bool:
    """Whether a decorator is `cython.exceptval(check=False)`."""
    if not isinstance(decorator, ast.Call) or not _is_word(decorator.func, "exceptval"):
        return False
    return any(
        keyword.arg == "check" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in decorator.keywords
    )


def _is_word(node: ast.expr, *words: str) -> bool:
    """Whether an expression is one of Cython's words, as `cython.word`."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr in words
        and isinstance(node.value, ast.Name)
        and node.value.id == "cython"
    )


def _kept(module: Module) -> list[tuple[int, str]]:
    """The lines of a module, numbered, without its docstring and without imports that are hoisted or dropped."""
    lines = list(module.lines)
    body = module.tree.body
    dropped = [node for node in body if is_for_checkers(node) or _is_all(node)]
    if ast.get_docstring(module.tree, clean=False) is not None:
        dropped.append(body[0])
    dropped += [found.node for found in module.imports if not found.is_nested]
    for node in dropped:
        _blank(module, lines, node, "")
    for found in module.imports:
        if found.is_nested and found.kind == "kernel":
            _blank(module, lines, found.node, f"{' ' * found.node.col_offset}pass")
        elif found.is_nested:
            raise SourceError(f"{module.place(found.node)}: only the kernel's own names are imported inside a function")
    begin = body[0].lineno if body else len(lines) + 1
    return [(number, line.rstrip()) for number, line in enumerate(lines, 1) if number >= begin]


def _is_all(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]


def _blank(module: Module, lines: list[str], node: ast.stmt, instead: str) -> None:
    """Put something else in the place of a statement.

    Raises:
        SourceError: Another statement stands on its lines.
    """
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first][: node.col_offset].strip()
    after = module.lines[last].encode()[node.end_col_offset :].decode().strip()
    if before or (after and not after.startswith("#")):
        raise SourceError(f"{module.place(node)}: another statement stands on the same line")
    lines[first : last + 1] = [instead] + [""] * (last - first)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What an extension is refused for on Blender's own platform, and what nobody wants to find in any other, as one table.

By the platform's terms of service, its guidelines for moderators and the manual's pages on add-ons. A rule looks at a
folder as it is packed, and yields the places, "file:line", at which it is broken. It finds what is written down
plainly, under whatever name it was imported, and not what somebody hides.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Set
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

BLENDERS = frozenset(
    {"addon_utils", "aud", "bl_math", "bl_operators", "blf", "bmesh", "bpy", "bpy_extras", "cycles", "freestyle"}
    | {"gpu", "gpu_extras", "idprop", "imbuf", "keyingsets_utils", "mathutils", "nodeitems_builtins", "numpy"}
    | {"rna_keymap_ui", "zstandard"}
)
FINDERS = frozenset(f"sys.{name}" for name in ("path", "modules", "meta_path", "path_hooks", "path_importer_cache"))
NETWORK = frozenset(
    {"_socket", "asyncio", "ftplib", "http.client", "http.server", "imaplib", "logging.handlers", "poplib", "smtplib"}
    | {"socket", "socketserver", "ssl", "telnetlib", "urllib.request", "wsgiref", "xmlrpc"}
)
PROGRAMS = frozenset(
    {"_ctypes", "concurrent.futures.ProcessPoolExecutor", "ctypes", "ensurepip", "multiprocessing", "pip", "posix"}
    | {"pty", "runpy", "subprocess", "venv"}
    | {f"os.{name}" for name in ("system", "popen", "startfile", "posix_spawn", "fork")}
)
TEXT = frozenset({"exec", "eval", "compile", "__import__", "code", "codeop", "marshal", "pickle"})
PRINTS = frozenset({"print", "pprint.pprint", "traceback.print_exc", "logging.basicConfig"})
WHOLE = frozenset({"os.environ", "sys.stdout", "sys.stderr", "sys.excepthook", "sys.dont_write_bytecode", "builtins"})
WHOLE_CALLS = frozenset({"os.chdir", "os.putenv", "os.environ.update", "os.environ.setdefault", "site.addsitedir"})
USERS_FOLDERS = frozenset({"bpy.utils.user_resource", "bpy.utils.script_path_user"})
WRITE_CALLS = ("write_text", "write_bytes")
READ_CALLS = frozenset({"open", "read_text", "read_bytes", *WRITE_CALLS})
CHANGE_CALLS = frozenset(
    {*WRITE_CALLS, "mkdir", "unlink", "touch", "rename", "rmdir", "symlink_to", "hardlink_to", "chmod"}
)
REPLACE = "replace"  # a method of texts, too, which has two arguments there
MOVES = ("rename", REPLACE)
COPIES = tuple(f"shutil.{name}" for name in ("copy", "copy2", "copyfile", "copytree", "move"))
PATH_CALLS = frozenset(
    {f"os.{name}" for name in ("remove", "unlink", "mkdir", "makedirs", "rmdir", "rename", "replace", "chmod")}
    | {"os.truncate", "os.symlink", "shutil.rmtree"}
)
PATH_METHODS = frozenset(
    {"absolute", "as_posix", "glob", "iterdir", "joinpath", "resolve", "rglob", "with_name", "with_stem", "with_suffix"}
)
PATH_FUNCTIONS = frozenset({"Path", "PurePath", "list", "sorted", "str"})
READABLE = frozenset({".py", ".json", ".toml", ".md", ".html", ".css", ".js", ".png", ".svg", ".txt"})
LOOKED_AT = (
    *(ast.ImportFrom, ast.Attribute, ast.Call, ast.Subscript),
    *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension),
)
REMAINS = frozenset(
    {"__macosx", "__pycache__", "architecture.md", "build", "pyproject.toml", "scripts", "tests", "thumbs.db"}
)
LICENSE, LONGEST, OLDEST = "SPDX:GPL-3.0-or-later", 64, (4, 2, 0)
FIELDS = {  # of the manifest: how each is written; those of SOME need not be there
    "schema_version": r"1\.0\.0",
    "id": r"[a-z][a-z0-9_]*",
    "version": r"\d+\.\d+\.\d+",
    "name": r"\S.*",
    "tagline": r"[A-Z].*",
    "maintainer": r"\S.*",
    "type": "add-on",
    "blender_version_min": r"\d+\.\d+\.\d+",
    "website": r"https?://[!-~]+",
}
LISTS = {"license": {LICENSE}, "tags": {"Animation", "Rigging"}}
PLATFORMS = {"linux-x64", "windows-x64", "windows-arm64", "macos-x64", "macos-arm64", "linux-arm64"}
SOME = {"website", "platforms", "permissions"}
PERMISSIONS = frozenset({"files", "network", "clipboard", "camera", "microphone"})
NO_NAME = re.compile(r"blender|add-?on|extension", re.IGNORECASE)


class Module:
    """A file of Python, read.

    Attributes:
        seen: What a rule looks at, by kind: of its syntax, with what it stands for by its full name, where it is an
            attribute or called; as `ast.alias` what is imported, that by a call, too.
        origins: What imported names stand for, by their full names.
    """

    def __init__(self, text: str) -> None:
        self.seen: dict[type[ast.AST], list[tuple[Any, str]]] = {kind: [] for kind in (*LOOKED_AT, ast.alias)}
        self.origins: dict[str, str] = {}
        for node in ast.walk(ast.parse(text)):
            if type(node) in LOOKED_AT:
                self.seen[type(node)].append((node, ""))
            if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
                self._see_import(node, f"{node.module}." if isinstance(node, ast.ImportFrom) else "")
        self.seen[ast.Attribute] = [(node, self.full(node)) for node, _ in self.seen[ast.Attribute]]
        self.seen[ast.Call] = [(node, self.full(node.func)) for node, _ in self.seen[ast.Call]]
        for node, called in self.seen[ast.Call]:
            name = getattr(node.args[0], "value", None) if node.args else None
            if isinstance(name, str) and called.endswith(("import_module", "__import__")) and not name.startswith("."):
                self.seen[ast.alias].append((node, name))

    def _see_import(self, node: ast.Import | ast.ImportFrom, source: str) -> None:
        for alias in node.names:
            self.seen[ast.alias].append((node, source + alias.name))
            if source or alias.asname:
                self.origins[alias.asname or alias.name] = source + alias.name

    def full(self, node: ast.AST) -> str:
        """What an expression stands for, by its full name where it begins with an imported one."""
        first, dot, rest = ast.unparse(node).partition(".")
        return self.origins.get(first, first) + dot + rest

    def own(self, known: Set[str] = frozenset()) -> set[str]:
        """Names that stand for a place inside the extension, as far as assignments show it.

        Args:
            known: Those that do in other files.
        """
        beside = {alias.name for node, _ in self.seen[ast.ImportFrom] if node.level for alias in node.names}
        found, before = {"__file__", *(beside & known)}, 0
        bound = [(node.value, target) for node, _ in self.seen[ast.Assign] for target in node.targets]
        bound += [
            (node.value, node.target)
            for kind in (ast.AnnAssign, ast.NamedExpr)
            for node, _ in self.seen[kind]
            if node.value
        ]
        bound += [(node.iter, node.target) for kind in (ast.For, ast.comprehension) for node, _ in self.seen[kind]]
        begun = [(_begin(value), _names(target)) for value, target in bound]
        while len(found) > before:
            before = len(found)
            for begin, names in begun:
                if begin & found:
                    found |= names
        return found


module_of = cache(Module)  # each text once


def _names(target: ast.expr) -> set[str]:
    """The plain names that an assignment binds."""
    inside = target.elts if isinstance(target, ast.Tuple) else [target]
    return {one.id for one in inside if isinstance(one, ast.Name)}


def _begin(path: ast.expr) -> set[str]:
    """The names in which an expression for a path begins: of `Path(folder, "a").parent / name` it is "folder"."""
    inside: list[ast.expr] = []
    if isinstance(path, ast.BinOp):
        inside = [path.left]
    elif isinstance(path, ast.Attribute | ast.Subscript | ast.FormattedValue):
        inside = [path.value]
    elif isinstance(path, ast.JoinedStr):
        inside = path.values[:1]
    elif isinstance(path, ast.IfExp):
        inside = [path.body, path.orelse]
    elif isinstance(path, ast.Call) and isinstance(path.func, ast.Attribute):
        is_method = path.func.attr in PATH_METHODS
        inside = (
            [path.func.value] if is_method else path.args[:1] if ast.unparse(path.func).startswith("os.path.") else []
        )
    elif isinstance(path, ast.Call) and ast.unparse(path.func) in PATH_FUNCTIONS:
        inside = path.args[:1]
    return {path.id} if isinstance(path, ast.Name) else {name for one in inside for name in _begin(one)}


class Package:
    """An extension's folder as it is packed.

    Args:
        root: With the manifest in it.

    Attributes:
        root: The same.
        unreadable: Files that are no text, no Python, or no manifest, though their names say so.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.unreadable: list[str] = []

    @cached_property
    def files(self) -> list[str]:
        """All of it, from the root."""
        found = (path for path in self.root.rglob("*") if path.is_file() or path.is_symlink())
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The table by which Blender knows it; empty where it can't be read."""
        try:
            return tomllib.loads((self.root / "blender_manifest.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.unreadable.append("blender_manifest.toml")
            return {}

    @cached_property
    def modules(self) -> dict[str, Module]:
        """What is Python in it, by file."""
        found: dict[str, Module] = {}
        for name in self.files:
            if name.endswith(".py"):
                try:
                    found[name] = module_of((self.root / name).read_text(encoding="utf-8-sig"))
                except (OSError, ValueError, SyntaxError):
                    self.unreadable.append(name)
        return found

    @cached_property
    def own(self) -> dict[str, set[str]]:
        """By file the names that stand for a place inside the extension."""
        shared = {name for module in self.modules.values() for name in module.own() if name.isupper()}
        return {name: module.own(shared) for name, module in self.modules.items()}

    def seen(self, *kinds: type[ast.AST]) -> Iterator[tuple[str, Any, str]]:
        """What a rule looks at of some kinds: where it stands, and what it stands for by its full name."""
        for name, module in self.modules.items():
            yield from ((f"{name}:{node.lineno}", node, full) for kind in kinds for node, full in module.seen[kind])


def _is_of(name: str, names: Set[str]) -> bool:
    """Whether something is one of what is named, or inside it."""
    parts = name.removeprefix("builtins.").split(".")
    return any(".".join(parts[:count]) in names for count in range(1, len(parts) + 1))


def _uses(package: Package, names: Set[str]) -> Iterator[str]:
    """Where something of these names is imported or called."""
    return (f"{place} {name}" for place, _, name in package.seen(ast.alias, ast.Call) if _is_of(name, names))


def _leaves(package: Package) -> Iterator[str]:
    for place, _, name in package.seen(ast.alias):
        top = name.split(".", maxsplit=1)[0]
        if top not in BLENDERS and top not in sys.stdlib_module_names:
            yield f"{place} {name}"
    for place, node, _ in package.seen(ast.ImportFrom):
        if node.level > place.count("/") + 1:
            yield f"{place} {'.' * node.level}{node.module or ''}"


def _touches_finders(package: Package) -> Iterator[str]:
    return (f"{place} {name}" for place, _, name in package.seen(ast.Attribute, ast.alias) if name in FINDERS)


def _changes_process(package: Package) -> Iterator[str]:
    yield from _uses(package, WHOLE_CALLS)
    for place, node, _ in package.seen(ast.Assign):
        full = package.modules[place.rpartition(":")[0]].full
        targets = [full(one) for one in node.targets if isinstance(one, ast.Attribute | ast.Subscript)]
        if any(_is_of(one.partition("[")[0], WHOLE) for one in targets):
            yield place


def _runs_programs(package: Package) -> Iterator[str]:
    yield from _uses(package, PROGRAMS)
    yield from (place for place, _, called in package.seen(ast.Call) if re.fullmatch(r"os\.(exec|spawn)\w+", called))


def _writes_into_itself(package: Package) -> Iterator[str]:
    yield from _uses(package, USERS_FOLDERS)
    for place, node, called in package.seen(ast.Call):
        own = package.own[place.rpartition(":")[0]]
        if any(_begin(one) & own for one in _changed(node, called)):
            yield place


def _changed(node: ast.Call, called: str) -> Iterator[ast.expr]:
    """The places that a call changes, as far as its name tells."""
    words = {word.arg: word.value for word in node.keywords}
    if isinstance(node.func, ast.Attribute):
        method, has_one = node.func.attr, len(node.args) == 1
        is_moved = method == REPLACE and has_one
        if is_moved or method in CHANGE_CALLS or (method == "open" and _is_writing(node.args[:1], words)):
            yield node.func.value
        if method in MOVES and has_one:
            yield node.args[0]
    if called in PATH_CALLS:
        yield from node.args
    if called in COPIES:
        yield from [*node.args[1:2], *(words[name] for name in ("dst",) if name in words)]
    if called in ("open", "io.open") and _is_writing(node.args[1:2], words):
        yield from [*node.args[:1], *(words[name] for name in ("file",) if name in words)]


def _is_writing(given: list[ast.expr], words: dict[str | None, ast.expr]) -> bool:
    modes = [*given, *(words[name] for name in ("mode",) if name in words)]
    return any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes)


def _hides(package: Package) -> Iterator[str]:
    platforms = package.manifest.get("platforms", [])
    allowed = {f"native/{platform}/{file}" for platform in platforms for file in ("core.pyd", "core.abi3.so")}
    for name in package.files:
        path = package.root / name
        is_known = path.suffix in READABLE or name in allowed or path.name == "LICENSE"
        if (
            not is_known
            or path.is_symlink()
            or (path.suffix != ".png" and name not in allowed and 0 in path.read_bytes())
        ):
            yield name
    assert package.modules is not None  # which are read by that
    yield from package.unreadable


def _has_remains(package: Package) -> Iterator[str]:
    for name in package.files:
        parts = name.lower().split("/")
        if any(part in REMAINS or part.startswith(".") or part.endswith(("~", ".orig")) for part in parts):
            yield name


def _is_old_style(package: Package) -> Iterator[str]:
    for place, node, _ in package.seen(ast.Assign, ast.AnnAssign):
        names = set[str]().union(*map(_names, getattr(node, "targets", None) or [node.target]))
        value = ast.unparse(node.value) if "bl_idname" in names and node.value else ""
        if "bl_info" in names or value.startswith("__name__"):
            yield place
    for place, node, _ in package.seen(ast.Subscript):
        is_addons = ast.unparse(node.value).endswith("addons")
        if is_addons and (isinstance(node.slice, ast.Constant) or "__name__" in ast.unparse(node.slice)):
            yield place
    for place, call, called in package.seen(ast.Call):
        if called.endswith("addons.get") and any("__name__" in ast.unparse(one) for one in call.args):
            yield place


def _lacks_permission(package: Package) -> Iterator[str]:
    given = package.manifest.get("permissions", {})
    if not isinstance(given, dict):
        yield "blender_manifest.toml permissions"
        return
    for place, _, called in package.seen(ast.Call):
        if "files" not in given and called.rpartition(".")[2] in READ_CALLS and not called.startswith("gpu."):
            yield f"{place} files"
    for place, _, full in package.seen(ast.Attribute):
        if "clipboard" not in given and full.endswith(".clipboard"):
            yield f"{place} clipboard"
    for name, reason in given.items():
        if name not in PERMISSIONS or not _is_terse(reason):
            yield f"blender_manifest.toml {name}"
    if "network" in given and not any(_uses(package, NETWORK)):
        yield "blender_manifest.toml network, which it does not use"


def _is_terse(text: object) -> bool:
    """Whether a text is as Blender's interface wants it: short, one line, and without a full stop."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST and text == text.strip() and text[-1].isalnum()


def _is_misnamed(package: Package) -> Iterator[str]:
    name, tagline = (str(package.manifest.get(field, "")) for field in ("name", "tagline"))
    if NO_NAME.search(name):
        yield "blender_manifest.toml name"
    if not _is_terse(tagline) or "blender" in tagline.lower():
        yield "blender_manifest.toml tagline"


def _has_poor_manifest(package: Package) -> Iterator[str]:
    manifest = package.manifest
    for name in sorted({*FIELDS, *LISTS, *SOME, *manifest}):
        value = manifest.get(name)
        if value is None:
            is_right = name in SOME
        elif name in FIELDS:
            is_right = isinstance(value, str) and re.fullmatch(FIELDS[name], value) is not None
        else:
            allowed = LISTS.get(name, PLATFORMS if name == "platforms" else set())
            is_right = name == "permissions" or (isinstance(value, list) and bool(value) and set(value) <= allowed)
        if not is_right:
            yield f"blender_manifest.toml {name}"
    oldest = [int(number) for number in re.findall(r"\d+", str(manifest.get("blender_version_min", "")))]
    if tuple(oldest) < OLDEST:
        yield "blender_manifest.toml blender_version_min: there were no extensions before 4.2"
    if "LICENSE" not in package.files or not (package.root / "LICENSE").stat().st_size:
        yield "LICENSE"


# By the reason for refusal, said of the extension, what finds the places at which it is.
RULES: dict[str, Callable[[Package], Iterator[str]]] = {
    "imports what is neither its own, nor Python's, nor Blender's": _leaves,
    "touches what Python finds modules by": _touches_finders,
    "runs code that is text or data": partial(_uses, names=TEXT),
    "prints, where it should report or log": partial(_uses, names=PRINTS),
    "changes what belongs to the whole process": _changes_process,
    "uses the network": partial(_uses, names=NETWORK),
    "runs other programs, or calls libraries past Python": _runs_programs,
    "writes into its own folder, or goes for another's": _writes_into_itself,
    "holds what can't be read": _hides,
    "holds what is left of its making": _has_remains,
    "is made as before there were extensions": _is_old_style,
    "needs a permission, or gives no good reason for one": _lacks_permission,
    "has a name or a tagline against the rules": _is_misnamed,
    "has a manifest that lacks something, or has too much": _has_poor_manifest,
}


def refusals(root: Path) -> list[str]:
    """Why an extension would be refused, each reason with the place; none where all is well.

    Args:
        root: Its folder as it is packed.
    """
    package = Package(root)
    return [f"{place}: it {reason}" for reason, find in RULES.items() for place in find(package)]

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a change touches: the files that differ, and the tests that see one of them.

A test file sees a module of the extension that it imports, an operator that it presses, and, at one remove, a module
that one of these imports. Of these as many are taken as run within about a minute, the nearest first; so what a change
breaks far away is for the whole run to tell. The tests in the folder of its package are added where few see it. Files
of `scripts/` and `tests/support/` stand for all tests that use them. A file that is no module is judged by the tests
that name it or a folder of its path, and by those in the folder of its package.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

ROOTS = ("", "scripts", "tests")  # from which modules are named
ADDON, TESTS = "fabrik_addon", "tests"
ALWAYS = ("tests/test_layering.py", "tests/test_distance.py")
FEW = 4  # test files, below which the folder of the package is added
MOST = 18  # test files that a module of the extension is judged by
OPERATOR = re.compile(r"^class FABRIK_OT_(\w+)", re.MULTILINE)
PRESSED = re.compile(r"press\(\s*\"(\w+)|ops\.fabrik\.(\w+)")


def changed_files(root: Path, base: str = "main") -> list[Path]:
    """Files that differ from where the branch left `base`, uncommitted and new ones with them; as from the root."""

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    start = git("merge-base", base, "HEAD")[0]
    found = {*git("diff", "--name-only", start), *git("ls-files", "--others", "--exclude-standard")}
    return [Path(name) for name in sorted(found)]


class ImportGraph:
    """Which modules of the repository import which.

    Attributes:
        root: Folder of the repository.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def modules(self) -> dict[str, Path]:
        """All modules by each of their names, which differ by the folder from which they are seen; as from the root."""
        found = {}
        for folder in (ADDON, "scripts", TESTS):
            for path in sorted((self.root / folder).rglob("*.py")):
                inside = path.relative_to(self.root)
                for root in ROOTS:
                    if inside.is_relative_to(root):
                        parts = inside.relative_to(root).with_suffix("").parts
                        found[".".join(parts).removesuffix(".__init__")] = inside
        return found

    @cached_property
    def importers(self) -> dict[Path, set[Path]]:
        """By module those that import it."""
        found = defaultdict[Path, set[Path]](set)
        for path in set(self.modules.values()):
            for node in ast.walk(ast.parse(self._text(path))):
                for name in _names(node, path):
                    imported = self.modules.get(name) or self.modules.get(name.rpartition(".")[0])
                    if imported and imported != path:
                        found[imported].add(path)
        return found

    @cached_property
    def pressed(self) -> dict[Path, Counter[str]]:
        """By test file how often it presses which operators."""
        tests = (path for path in set(self.modules.values()) if _is_test(path))
        return {path: Counter(a or b for a, b in PRESSED.findall(self._text(path))) for path in tests}

    def tests_of(self, changed: Iterable[Path]) -> list[Path]:
        """The test files that see a change; see above."""
        found = {Path(name) for name in ALWAYS}
        for path in changed:
            if path.parts[0] == TESTS and _is_test(path) and (self.root / path).exists():
                found.add(path)
            else:
                seen = self._seen_by(path)
                found |= seen if len(seen) >= FEW else seen | self._tests_beside(path)
        return sorted(found)

    def _seen_by(self, path: Path) -> set[Path]:
        """The tests that see a file that is no test."""
        if path.suffix != ".py":
            named = re.compile("|".join(rf'["/.]{re.escape(word)}["/ ]' for word in (path.name, *path.parts[1:-1])))
            return {test for test in self.pressed if named.search(self._text(test))}
        return self._nearest(path) if path.parts[0] == ADDON else self._users(path)

    def _nearest(self, path: Path) -> set[Path]:
        """The tests that see a module of the extension: those that use it most first, then those at one remove."""
        uses = Counter(user for user in self.importers[path] if _is_test(user))
        if (self.root / path).exists():
            for name in OPERATOR.findall(self._text(path)):
                uses.update({test: presses[name] for test, presses in self.pressed.items() if presses[name]})
        modules = sorted(user for user in self.importers[path] if user.parts[0] == ADDON)
        apart = Counter(user for module in modules for user in self.importers[module] if _is_test(user))
        ranked = [*uses.most_common(), *(pair for pair in apart.most_common() if pair[0] not in uses)]
        return {test for test, _ in ranked[:MOST]}

    def _users(self, path: Path) -> set[Path]:
        """The tests that import a script or a support file, be it by others of these."""
        found, left = {path}, [path]
        while left:
            users = {user for user in self.importers[left.pop()] if user.parts[0] != ADDON} - found
            found |= users
            left += [user for user in users if not _is_test(user)]
        return {user for user in found if _is_test(user)}

    def _tests_beside(self, path: Path) -> set[Path]:
        """The tests in the folder that mirrors a file's, or the nearest one above it."""
        parts = path.parts[1:-1] if path.parts[0] in (ADDON, TESTS) else path.parts[:1]
        while parts:
            if found := {each.relative_to(self.root) for each in self.root.joinpath(TESTS, *parts).glob("test_*.py")}:
                return found
            parts = parts[:-1]
        return set()

    def _text(self, path: Path) -> str:
        return (self.root / path).read_text(encoding="utf-8")


def _names(node: ast.AST, path: Path) -> list[str]:
    """Full names of what a statement imports: modules, or names in modules."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = path.parts[: -node.level] if node.level else ()
        return [".".join([*above, *filter(None, (node.module, alias.name))]) for alias in node.names]
    return []


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_")

# SPDX-License-Identifier: GPL-3.0-or-later
"""A ceiling on expressions of the type Any, by package, from the report that mypy writes.

mypy --any-exprs-report FOLDER; python3 scripts/dev/any_report.py FOLDER     prints the shares; 1 where one is too high
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
REPORT = "any-exprs.txt"

# Greatest share of a package's expressions that may be of the type Any, in percent.
CEILING = 10.0
CEILINGS = {"fabrik_addon.kernel": 5.0}


def check_any(folder: Path) -> int:
    """Print each package's share of Any; 1 where one is above its ceiling.

    Args:
        folder: Where mypy has left its report.
    """
    told = (folder / REPORT).read_text(encoding="utf-8")
    failed = 0
    print(f"{'package':24} {'Any':>6} {'expressions':>12} {'share':>7}")
    for package, (found, count) in sorted(shares(told).items()):
        share = 100.0 * found / count if count else 0.0
        ceiling = CEILINGS.get(package, CEILING)
        is_over = share > ceiling
        print(f"{package:24} {found:6} {count:12} {share:6.1f}%{f'  more than {ceiling:g} %' if is_over else ''}")
        failed |= is_over
    return int(failed)


def shares(report: str) -> dict[str, tuple[int, int]]:
    """For each package how many expressions are of the type Any, and how many there are."""
    tests = _modules(ROOT / "tests")
    sums: dict[str, tuple[int, int]] = {}
    for line in report.splitlines():
        match = re.match(r"\s*([\w.]+)\s+(\d+)\s+(\d+)\s+[\d.]+%", line)
        if match and match[1] != "Total":
            package = _package(match[1], tests)
            found, count = sums.get(package, (0, 0))
            sums[package] = (found + int(match[2]), count + int(match[3]))
    return sums


def _package(module: str, tests: set[str]) -> str:
    """The package of a module; those of scripts and tests have names within their folders."""
    parts = module.split(".")
    if parts[0] != "fabrik_addon":
        return "tests" if module in tests else "scripts"
    return ".".join(parts[:2]) if len(parts) > 1 and (ROOT / "fabrik_addon" / parts[1]).is_dir() else "fabrik_addon"


def _modules(folder: Path) -> set[str]:
    """Dotted names of the modules in a folder."""

    def names() -> Iterator[str]:
        for path in folder.rglob("*.py"):
            yield ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")

    return set(names())


if __name__ == "__main__":
    sys.exit(check_any(Path(sys.argv[1])))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's Python for `benchmark.py`: measures, prints the tables, keeps them and writes the pages."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

import addon_session
from environment import ROOT, say

from .report import write_pages
from .tables import Group, from_json, to_json
from .timing import Scale

if TYPE_CHECKING:
    from types import ModuleType

PAGES = ROOT / "scripts" / "bench" / "README.md", ROOT / "README.md"
TITLES = {
    "1": "one solve",
    "2": "batches",
    "3": "live posing",
    "4": "baking",
    "5": "several goals",
    "6": "passes, success, smoothness, BLOCKED",
    "7": "limb families and growth",
    "8": "bodies",
    "9": "walkers",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    addon_session.enable(arguments.folder / "repository")
    scale = Scale(arguments.quick)
    made = _made(scale)
    print(made)
    groups = _kept(arguments.kept)
    keys = arguments.only.split(",") if arguments.only else list(TITLES)
    for i, key in enumerate(keys):
        say(f"[{i + 1}/{len(keys)}] {key}: {TITLES[key]}")
        group = _group(key, scale, arguments.folder)
        group.tables = [replace(table, made=made) for table in group.tables]
        for table in group.tables:
            print(table.as_text(), flush=True)
        groups[key] = group
        _keep(arguments.kept, groups)
    missed = [line for key in keys for table in groups[key].tables for line in table.missed()]
    print("\n" + "\n".join(f"missed: {line}" for line in missed) if missed else "\nnothing missed")
    print(f"kept in {arguments.kept}")
    if arguments.write:
        write_pages({key: groups[key] for key in keys}, *PAGES)
        print("written to " + " and ".join(str(page.relative_to(ROOT)) for page in PAGES))


def _module(name: str) -> ModuleType:
    return import_module(f"bench.{name}")


def _group(key: str, scale: Scale, folder: Path) -> Group:
    """Measure one group; its modules import the extension, which has to be enabled first."""
    measures: dict[str, Callable[[], Group]] = {
        "1": lambda: _module("one_solve").measured(scale),
        "2": lambda: _module("batches").measured(scale),
        "3": lambda: _module("live").measured(scale, folder),
        "4": lambda: _module("baking").measured(scale),
        "5": lambda: _module("tree").measured(scale),
        "6": lambda: _module("quality").measured(scale),
        "7": lambda: _module("families_and_growth").measured(scale),
        "8": lambda: _module("whole_bodies").measured(scale, folder),
        "9": lambda: _module("walkers").measured(scale, folder),
    }
    return measures[key]()


def _made(scale: Scale) -> str:
    """What a table was measured with."""
    loading = import_module("fabrik_addon.kernel.loading")
    parts = [
        f"Blender {bpy.app.version_string}",
        f"Python {platform.python_version()}",
        f"kernel {loading.form()}",
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    ]
    return ", ".join(parts) + (", quick" if scale.is_quick else "")


def _kept(path: Path) -> dict[str, Group]:
    """The groups of earlier runs."""
    if not path.exists():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    return {key: from_json(group) for key, group in data.items()}


def _keep(path: Path, groups: dict[str, Group]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({key: to_json(groups[key]) for key in sorted(groups)}, indent=1, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # some wheels crash or hang in Blender's own clean-up

# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's Python for `benchmark.py`: measures, prints the tables, and writes the pages."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import bpy

import addon_session
from environment import ROOT, say

from .groups import GROUPS
from .report import write_pages
from .tables import Group
from .timing import Scale

PAGES = ROOT / "scripts" / "bench" / "README.md", ROOT / "README.md"


def main() -> int:
    """Measure; returns 1 where an aim is missed, which in a quick run tells nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--group", nargs="*", default=list(GROUPS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    addon_session.enable(arguments.folder / "repository")
    scale = Scale(arguments.quick, arguments.folder)
    made = _made(scale)
    print(made)
    groups: dict[str, Group] = {}
    for key in arguments.group:
        say(f"{key}: {GROUPS[key].title}")
        tables = import_module(f"bench.{GROUPS[key].module}").measured(scale)  # which imports the extension
        groups[key] = Group(GROUPS[key].title, [replace(table, made=made) for table in tables])
        for table in groups[key].tables:
            print(table.as_text(), flush=True)
        if arguments.write:
            write_pages({key: groups[key]}, *PAGES)
    tables = [table for group in groups.values() for table in group.tables]
    missed = [miss for table in tables for miss in table.missed()]
    open_goals = [miss for table in tables for miss in table.missed(goals=True)]
    lines = [("missed", *miss) for miss in missed] + [("goal not reached yet", *miss) for miss in open_goals]
    print("\n" + "\n".join(f"{what}: {name} {figure}, to be {aim}" for what, name, figure, aim in lines))
    return int(bool(missed) and not arguments.quick)


def _made(scale: Scale) -> str:
    """What a table was measured with."""
    parts = [
        f"Blender {bpy.app.version_string}",
        f"Python {platform.python_version()}",
        f"kernel {import_module('fabrik_addon.kernel.loading').form()}",
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    ]
    return ", ".join(parts) + (", quick" if scale.is_quick else "")


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # some wheels crash or hang in Blender's own clean-up

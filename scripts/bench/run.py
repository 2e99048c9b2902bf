# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's Python for `benchmark.py`: measures, prints the tables, and writes the pages."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import bpy

import addon_session
from benchmark import parser
from environment import ROOT, say

from . import GROUPS
from .tables import Scale, Table, write_group

PAGES = ROOT / "scripts" / "bench" / "README.md", ROOT / "README.md", ROOT / "fabrik_addon" / "manual" / "speed.md"


def main() -> int:
    """Measure; returns 1 where an aim is missed, which in a quick run tells nothing."""
    arguments = parser().parse_args()
    addon_session.enable()
    scale = Scale(arguments.quick, Path(os.environ["BLENDER_USER_RESOURCES"]))
    made = _made(scale)
    print(made)
    found: list[Table] = []
    for key in arguments.group:
        title, module, names = GROUPS[key]
        say(f"{key}: {title}")
        measuring = import_module(f"bench.{module}")  # which imports the extension
        tables = [replace(getattr(measuring, name)(scale), made=made) for name in names]
        for table in tables:
            print(table.as_text(), flush=True)
        if arguments.write:
            write_group(key, tables, *PAGES)
        found += tables
    missed = [miss for table in found for miss in table.missed()]
    open_goals = [miss for table in found for miss in table.missed(goals=True)]
    lines = [("missed", *miss) for miss in missed] + [("goal not reached yet", *miss) for miss in open_goals]
    print(
        "\n"
        + "\n".join(f"{what}: {name}, {rows}, worst {figure}, to be {aim}" for what, name, rows, figure, aim in lines)
    )
    return int(bool(missed) and not arguments.quick)


def _made(scale: Scale) -> str:
    """What a table was measured with."""
    parts = [
        f"Blender {bpy.app.version_string}",
        f"Python {platform.python_version()}",
        f"kernel {import_module('fabrik_addon.kernel').FORM['kind']}",
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    ]
    return ", ".join(parts) + (", quick" if scale.is_quick else "")


if __name__ == "__main__":
    addon_session.leave(main())

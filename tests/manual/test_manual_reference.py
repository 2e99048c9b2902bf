# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's reference is what the extension registers now, and names all of it."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import pytest
from fabrik_addon.operators.manual import PLACES
from fabrik_addon.rig.limit_types import LIMITS, LimitType

from dev import kernel_reference, reference
from dev.marked import with_between

PAGES = reference.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_are_up_to_date(page: Path) -> None:
    wanted = with_between(page, reference.BEGIN, PAGES[page])
    assert page.read_text(encoding="utf-8") == wanted, "python3 scripts/build.py --reference renews them"


def test_every_operator_has_a_heading_and_every_option_a_row() -> None:
    text = (reference.MANUAL / "reference.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### fabrik\.(\w+)\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    assert set(sections) == set(dir(bpy.ops.fabrik))
    for name, section in sections.items():
        options = getattr(bpy.ops.fabrik, name).get_rna_type().properties.keys()
        told = set(re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE))
        assert set(options) - {"rna_type", "filter_glob"} <= told, name


def test_every_stored_property_has_a_row() -> None:
    text = (reference.MANUAL / "reference.md").read_text(encoding="utf-8")
    told = {name.rpartition(".")[2] for name in re.findall(r"^\| `([\w.]+)` \|", text, flags=re.MULTILINE)}
    for pattern, _, _ in PLACES:
        name = pattern.rpartition(".")[2].removeprefix("fabrik_walker_").removeprefix("fabrik_")
        if pattern.startswith("bpy.types.") and "*" not in pattern:
            assert name in told or f"fabrik_{name}" in told, pattern
    for owner, prefix in ((bpy.types.Object, "fabrik_"), (bpy.types.PoseBone, "fabrik_")):
        for prop in owner.bl_rna.properties:
            stored = prop.identifier
            if stored.startswith(prefix):
                short = stored.removeprefix("fabrik_walker_").removeprefix(prefix)
                assert {stored, short} & told, stored


@pytest.mark.parametrize("limit", LIMITS.values(), ids=lambda limit: limit.kind)
def test_every_type_of_limit_has_a_row_on_its_page(limit: LimitType) -> None:
    assert f"\n| {limit.label} | " in (reference.MANUAL / "limits.md").read_text(encoding="utf-8")


def test_every_name_of_the_kernel_is_told() -> None:
    text = (reference.MANUAL / "solver.md").read_text(encoding="utf-8")
    missing = [name for name in kernel_reference.public_names() if not re.search(rf"\b{name}\b", text)]
    assert not missing, (
        "list it in GROUPS of scripts/dev/kernel_reference.py, then python3 scripts/build.py --reference"
    )
    assert len(kernel_reference.public_names()) > 30

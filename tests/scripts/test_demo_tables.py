# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demo prints is put into its page table by table, and what stands around them stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.marked import END, NAMES, MarksError, mark_of, write_tables

PRINTED = "\n\n".join(f"{name}  off\nrow of {name}  1" for name in NAMES) + "\n\noff: share of the height\n"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    parts = [f"Of {name}.\n\n{mark_of(name)}\n\n    {name} then\n\n{END}\n" for name in NAMES]
    path.write_text("Head\n\n" + "\n".join(parts) + "\nTail\n", encoding="utf-8")
    return path


def test_every_table_stands_between_its_own_marks(page: Path) -> None:
    write_tables(page, PRINTED)
    text = page.read_text(encoding="utf-8")
    for name in NAMES:
        table = f"    {name}  off\n    row of {name}  1"
        assert f"Of {name}.\n\n{mark_of(name)}\n\n{table}\n\n{END}\n" in text
    assert text.startswith("Head\n")
    assert text.endswith("Tail\n")
    assert "then" not in text
    assert "share of the height" not in text


def test_a_table_that_was_not_printed_is_missed_and_nothing_is_written(page: Path) -> None:
    before = page.read_bytes()
    with pytest.raises(MarksError, match="walk"):
        write_tables(page, PRINTED.replace("walk  off", "off"))
    assert page.read_bytes() == before


def test_the_page_of_the_figures_has_a_place_for_each() -> None:
    text = (Path(__file__).parents[2] / "scripts" / "bench" / "README.md").read_text(encoding="utf-8")
    assert [text.count(mark_of(name)) for name in NAMES] == [1] * len(NAMES)

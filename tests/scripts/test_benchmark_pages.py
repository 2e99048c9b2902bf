# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's pages: a group is renewed by itself, and what the others say stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.report import BEGIN, write_pages
from bench.tables import Group, Judged, Row, Table
from dev.marked import END, MarksError


def group(key: str, values: list[float], at_most: list[float | None]) -> Group:
    """A group with one table, of which the first column has one goal and the second one by row."""
    pairs = zip(values, at_most, strict=True)
    rows: list[Row] = [
        {"row": f"{i}", "all": Judged(value, at_most=2.0), "some": Judged(value, at_most=most), "free": value}
        for i, (value, most) in enumerate(pairs)
    ]
    return Group(key, f"Group {key}", [Table(f"{key}a. Table", "How.", rows, "made")])


@pytest.fixture
def pages(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("tables.md", "readme.md"):
        (tmp_path / name).write_text(f"Head\n\n{BEGIN}\n\n{END}\n\nTail\n", encoding="utf-8")
    return tmp_path / "tables.md", tmp_path / "readme.md"


def test_what_is_missed_is_counted_and_stands_above(pages: tuple[Path, Path]) -> None:
    write_pages({"3": group("3", [1.0, 3.0], [None, 4.0])}, *pages)
    tables, readme = (page.read_text(encoding="utf-8") for page in pages)
    assert "Of 3 figures with an aim, 1 miss it.\n\n- 3a. Table: 1, all 3, to be ≤ 2\n\n## 3. " in tables
    assert tables.startswith("Head\n")
    assert tables.endswith("Tail\n")
    assert "| Benchmark aims missed, of 3 | 1 | |" in readme


def test_one_group_is_renewed_by_itself(pages: tuple[Path, Path]) -> None:
    groups = {key: group(key, [1.0, 3.0], [None, 4.0]) for key in "345"}
    write_pages(groups, *pages)
    first = pages[0].read_text(encoding="utf-8")
    write_pages({"4": group("4", [1.0, 1.5], [None, None])}, *pages)
    second = pages[0].read_text(encoding="utf-8")
    assert "Of 8 figures with an aim, 2 miss it." in second
    assert "- 4a." not in second
    assert second.split("## 4.")[0].split("## 3.")[1] == first.split("## 4.")[0].split("## 3.")[1]
    assert second.split("## 5.")[1] == first.split("## 5.")[1]
    write_pages(groups, *pages)
    assert pages[0].read_text(encoding="utf-8") == first


def test_nothing_measured_changes_nothing(pages: tuple[Path, Path]) -> None:
    write_pages({key: group(key, [1.0, 3.0], [2.0, 4.0]) for key in "345"}, *pages)
    before = [page.read_bytes() for page in pages]
    write_pages({}, *pages)
    assert [page.read_bytes() for page in pages] == before


def test_a_line_of_the_summary_stays_or_is_renewed_with_its_group(pages: tuple[Path, Path]) -> None:
    def success(missed: int) -> Group:
        return Group("6", "Success", [Table("6c. Targets", "", [{"limb": "leg", "targets": 50, "missed": missed}])])

    write_pages({"6": success(3)}, *pages)
    write_pages({"3": group("3", [1.0], [None])}, *pages)
    line = "Reachable targets missed under limits, of 50 | 3 | 2 |"
    assert line in pages[1].read_text(encoding="utf-8")
    write_pages({"6": success(0)}, *pages)
    assert line not in pages[1].read_text(encoding="utf-8")


def test_a_page_without_marks_is_refused(pages: tuple[Path, Path]) -> None:
    pages[0].write_text("Nothing", encoding="utf-8")
    with pytest.raises(MarksError):
        write_pages({}, *pages)

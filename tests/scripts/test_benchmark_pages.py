# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of benchmark and demo: a group or a table is renewed by itself, and what the others say stays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import GROUPS
from bench.tables import BEGIN, Judged, Row, Table, write_group
from dev.marked import END, NAMES, MarksError, mark_of, write_tables

ROOT = Path(__file__).parents[2]


def group(key: str, values: list[float], at_most: list[float | None]) -> list[Table]:
    """The one table of a group, of which the first column has one aim and the second a goal by row."""
    pairs = zip(values, at_most, strict=True)
    rows: list[Row] = [
        {
            "row": f"{i}",
            "all": Judged(value, at_most=2.0),
            "some": Judged(value, at_most=most, is_goal=True),
            "free": value,
        }
        for i, (value, most) in enumerate(pairs)
    ]
    return [Table(f"{key}a. Table", "How.", rows, "made")]


@pytest.fixture
def pages(tmp_path: Path) -> tuple[Path, Path, Path]:
    found = tmp_path / "tables.md", tmp_path / "readme.md", tmp_path / "speed.md"
    for page in found:
        page.write_text(f"Head\n\n{BEGIN}\n\n{END}\n\nTail\n", encoding="utf-8")
    return found


def test_what_is_missed_stands_above_and_goals_apart_from_aims(pages: tuple[Path, Path, Path]) -> None:
    write_group("3", group("3", [1.0, 3.0, 5.0], [None, 4.0, 4.0]), *pages)
    tables, readme, _ = (page.read_text(encoding="utf-8") for page in pages)
    head = "| what | rows | the worst | to be |\n| --- | ---: | ---: | ---: |\n"
    missed = "| 3a. Table: all | 2 of 3 | 5 (2) | ≤ 2 |"
    goals = f"### Goals not reached yet\n\n{head}| 3a. Table: some | 1 of 2 | 5 (2) | ≤ 4 |\n\n## 3. Live posing"
    assert f"### Aims missed\n\n{head}{missed}\n\n{goals}" in tables
    assert tables.startswith("Head\n")
    assert tables.endswith("Tail\n")
    assert (
        "| Kinds of figures that miss their aim | 1 |\n| Kinds of figures with a goal not reached yet | 1 |" in readme
    )


def test_where_nothing_is_missed_it_says_so(pages: tuple[Path, Path, Path]) -> None:
    write_group("3", group("3", [1.0], [4.0]), *pages)
    assert f"{BEGIN}\n\nAll aims hold, and all goals are reached.\n\n## 3." in pages[0].read_text(encoding="utf-8")


def test_only_an_aim_that_is_missed_is_marked_in_its_table() -> None:
    told = group("3", [5.0], [4.0])[0].as_markdown()
    assert "| 0 | **5 missed** | 5 | 5 |" in told


def test_one_group_is_renewed_by_itself(pages: tuple[Path, Path, Path]) -> None:
    groups = {key: group(key, [1.0, 3.0], [None, 2.0]) for key in ("9", "3", "4")}
    for key, tables in groups.items():
        write_group(key, tables, *pages)
    first = pages[0].read_text(encoding="utf-8")
    assert first.index("## 3.") < first.index("## 4.") < first.index("## 9.")
    write_group("4", group("4", [1.0, 1.5], [None, None]), *pages)
    second = pages[0].read_text(encoding="utf-8")
    assert "| 4a." not in second
    assert second.count("| 3a.") == second.count("| 9a.") == 2
    assert second.split("## 4.")[0].split("## 3.")[1] == first.split("## 4.")[0].split("## 3.")[1]
    assert second.split("## 9.")[1] == first.split("## 9.")[1]
    write_group("4", groups["4"], *pages)
    assert pages[0].read_text(encoding="utf-8") == first


def test_a_line_of_the_summary_stays_or_is_renewed_with_its_group(pages: tuple[Path, Path, Path]) -> None:
    def success(missed: int) -> list[Table]:
        rows: list[Row] = [{"limb": "leg", "missed": missed}, {"limb": "arm", "missed": 1}]
        return [Table("5a. Targets", "", rows)]

    write_group("5", success(3), *pages)
    write_group("3", group("3", [1.0], [None]), *pages)
    line = "| Reachable targets missed under limits, of 20,000 | 4 |"
    assert line in pages[1].read_text(encoding="utf-8")
    write_group("5", success(0), *pages)
    assert line not in pages[1].read_text(encoding="utf-8")


def test_every_table_of_the_groups_stands_on_the_page() -> None:
    """One vanished once, with a module that no group named any more."""
    folder = ROOT / "scripts" / "bench"
    texts = {module: (folder / f"{module}.py").read_text(encoding="utf-8") for _, module, _ in GROUPS.values()}
    named = [(module, name) for _, module, names in GROUPS.values() for name in names]
    assert [
        (module, name) for module, name in named if f"\ndef {name}(scale: Scale) -> Table:" not in texts[module]
    ] == []
    titles = [title for text in texts.values() for title in re.findall(r' Table\(\s*"(\d[^"]+)"', text)]
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert len(titles) == len(named)
    assert sorted(titles) == sorted(re.findall(r"^### (\d.*)", page, flags=re.MULTILINE))


def test_a_page_without_marks_is_refused(pages: tuple[Path, Path, Path]) -> None:
    pages[0].write_text("Nothing", encoding="utf-8")
    with pytest.raises(MarksError):
        write_group("3", group("3", [1.0], [None]), *pages)


# What the demo prints is put into its page table by table, and what stands around them stays.


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
    text = (ROOT / "scripts" / "bench" / "README.md").read_text(encoding="utf-8")
    assert [text.count(mark_of(name)) for name in NAMES] == [1] * len(NAMES)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual tells of everything that is ours, nothing in it leads nowhere, and it comes with the extension as HTML."""

from __future__ import annotations

import ast
import re
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

import bpy
import pytest
from fabrik_addon import ui
from fabrik_addon.messages import TEMPLATES
from fabrik_addon.operators import manual
from fabrik_addon.operators.manual import PLACES
from fabrik_addon.rig.limit_types import LIMITS, LimitType
from fabrik_addon.ui.base import FabrikPanel

import addon_session
from build import build
from dev import reference
from dev.marked import with_between
from dev.reference import MANUAL
from environment import ROOT
from support.scenes import assert_refused

ARCHITECTURE = ROOT / "fabrik_addon" / "ARCHITECTURE.md"
LINK = re.compile(r"\]\(([^)\s]+)\)")
PANELS = [cls for cls in ui.CLASSES if issubclass(cls, FabrikPanel)]
OWNERS = (bpy.types.Object, bpy.types.PoseBone, bpy.types.Scene, bpy.types.WindowManager)
INHERITED = {"rna_type", "bl_idname", "name"}  # a group's name is to Blender that of any extension's group


def headings(path: Path) -> set[str]:
    """The anchors of a Markdown file, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def settings() -> Iterator[str]:
    """What Blender calls each of our operators and properties when it looks for the manual."""
    yield from (f"bpy.ops.fabrik.{name}" for name in dir(bpy.ops.fabrik))
    for owner in OWNERS:
        names = owner.bl_rna.properties.keys()
        yield from (f"bpy.types.{owner.__name__}.{name}" for name in names if name.startswith("fabrik"))
    for kind in (bpy.types.PropertyGroup, bpy.types.AddonPreferences):
        for cls in kind.__subclasses__():
            if cls.__module__.startswith(f"{addon_session.MODULE}.") and getattr(cls, "is_registered", False):
                own = [prop.identifier for prop in cls.bl_rna.properties if prop.identifier not in INHERITED]
                yield from (f"bpy.types.{cls.__name__}.{name}" for name in own)


def test_f1_knows_everything_of_ours() -> None:
    names = list(settings())
    assert len(names) > 80
    assert any("FABRIK_AP_preferences.tolerance" in name for name in names)
    untold = [name for name in names if not any(fnmatchcase(name.lower(), pattern) for pattern, *_ in manual.PLACES)]
    assert not untold, "add them to PLACES in operators/manual.py"


@pytest.mark.parametrize("place", manual.PLACES, ids=lambda place: place[0])
def test_f1_leads_to_a_heading_that_is_there(place: tuple[str, str, str]) -> None:
    _, page, heading = place
    assert heading in headings(MANUAL / f"{page}.md")


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.__name__)
def test_each_panels_button_leads_to_a_heading_that_is_there(panel: type[FabrikPanel]) -> None:
    page, heading = panel.told_at
    assert heading in headings(MANUAL / f"{page}.md")


@pytest.mark.parametrize(
    "path", [*sorted(MANUAL.glob("*.md")), ROOT / "README.md", ARCHITECTURE], ids=lambda path: path.name
)
def test_no_link_is_dead(path: Path) -> None:
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        leads_to = (path.parent / file).resolve() if file else path
        assert leads_to.is_file(), link
        assert not anchor or anchor in headings(leads_to), link


def test_the_architecture_names_what_is_there() -> None:
    """Files and folders by their paths, names by their module or class, or alone."""
    named = re.findall(r"`([\w./]+)`", ARCHITECTURE.read_text(encoding="utf-8"))
    assert len(named) > 30
    for name in named:
        if (ARCHITECTURE.parent / name).exists() or (ROOT / name).exists():
            continue
        module, _, thing = name.rpartition(".")
        files = ARCHITECTURE.parent.rglob(f"{PurePosixPath(module).name}.py" if module.islower() else "*.py")
        texts = (file.read_text(encoding="utf-8") for file in files)
        assert any(re.search(rf"\b(class|def) {thing}\b", text) for text in texts), name


@pytest.mark.parametrize(
    "path", [ARCHITECTURE, ROOT / "README.md", *sorted(MANUAL.glob("*.md"))], ids=lambda path: path.stem
)
def test_nothing_is_said_twice(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    paragraphs = [one for one in text.split("\n\n") if len(one) > 80 and not one.startswith("|")]
    assert len(paragraphs) == len({*paragraphs})


def test_the_index_names_each_page() -> None:
    named = set(LINK.findall((MANUAL / "index.md").read_text(encoding="utf-8")))
    assert {path.name for path in MANUAL.glob("*.md")} - {"index.md"} <= named


def test_the_newest_changes_are_those_of_this_version() -> None:
    versions = re.findall(r"^## (.*)$", (MANUAL / "changelog.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    of = {
        name: tomllib.loads((ROOT / name).read_text(encoding="utf-8"))
        for name in ("blender_manifest.toml", "pyproject.toml")
    }
    assert versions[0] == of["blender_manifest.toml"]["version"] == of["pyproject.toml"]["project"]["version"]
    assert versions == sorted(versions, key=lambda version: [int(part) for part in version.split(".")], reverse=True)


class Html(HTMLParser):
    """What a page of the HTML has: the anchors, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {found["id"] or ""} if "id" in found else set()
        self.links += [found[name] or "" for name in ("href", "src") if name in found]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The manual in the built archive, by the paths inside its folder."""
    with zipfile.ZipFile(build(None, tmp_path_factory.mktemp("manual"))) as archive:
        inside = [name for name in archive.namelist() if name.startswith("manual/")]
        return {name.removeprefix("manual/"): archive.read(name) for name in inside}


def test_the_archive_has_each_page_as_html_and_no_markdown(built: dict[str, bytes]) -> None:
    assert {f"{path.stem}.html" for path in MANUAL.glob("*.md")} <= set(built)
    assert not [name for name in built if name.endswith(".md")]


def test_no_link_of_the_html_is_dead(built: dict[str, bytes]) -> None:
    pages = {name: Html(text.decode()) for name, text in built.items() if name.endswith(".html")}
    for name, page in pages.items():
        for link in page.links:
            if "://" in link:
                continue
            file, _, anchor = link.partition("#")
            leads_to = str(PurePosixPath(*_resolved(PurePosixPath(name).parent / file))) if file else name
            assert leads_to in built, f"{name}: {link}"
            assert not anchor or anchor in pages[leads_to].anchors, f"{name}: {link}"


def _resolved(path: PurePosixPath) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return parts


def test_the_html_has_every_heading_and_every_table_of_the_markdown(built: dict[str, bytes]) -> None:
    for path in MANUAL.glob("*.md"):
        page = Html(built[f"{path.stem}.html"].decode())
        assert headings(path) <= page.anchors, path.name
        rules = re.findall(r"^\|[-:| ]*-[-:| ]*\|$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert built[f"{path.stem}.html"].count(b"<table>") == len(rules), path.name
        assert "|---" not in page.text, path.name


def told(name: str, built: dict[str, bytes]) -> str:
    """The text of a page of the HTML, with single spaces."""
    return " ".join(Html(built[f"{name}.html"].decode()).text.split())


def test_the_one_page_has_the_text_of_all_pages(built: dict[str, bytes]) -> None:
    whole, text = Html(built["whole.html"].decode()), told("whole", built)
    for path in MANUAL.glob("*.md"):
        if path.stem == "index":
            continue
        anchors = {f"{path.stem}.{anchor}" for anchor in headings(path)}
        assert anchors <= whole.anchors
        own = re.search(rb"<main>(.*)</main>", built[f"{path.stem}.html"], flags=re.DOTALL)
        assert own is not None
        assert " ".join(Html(own[1].decode()).text.split()) in text, path.name


def test_a_to_z_has_every_heading_and_every_name_of_the_reference(built: dict[str, bytes]) -> None:
    words = Html(built["words.html"].decode())
    for path in set(MANUAL.glob("*.md")) - {MANUAL / "index.md", MANUAL / "changelog.md"}:
        for anchor in headings(path):
            assert f"{path.stem}.html#{anchor}" in words.links
    names = re.findall(
        r"^\| `([a-z]\w{2,})`", (MANUAL / "reference.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    listed = {word.lower() for word in re.findall(r"<li>([^:<]+): <a", built["words.html"].decode())}
    assert len(names) > 100
    assert set(names) <= listed


def test_a_to_z_leads_to_where_a_setting_is_explained(built: dict[str, bytes]) -> None:
    lines = built["words.html"].decode().splitlines()
    (pole_angle,) = (line for line in lines if line.startswith("<li>Pole Angle:"))
    assert "chains.html#bones-and-goal" in pole_angle
    (add_target,) = (line for line in lines if line.startswith("<li>Add Target:"))
    assert "reference.html#fabriktarget_add" in add_target
    (refused,) = (line for line in lines if line.startswith("<li>its constraint … would override the pose:"))
    assert "not_reached.html#the-bones" in refused


def test_every_page_leads_to_both_and_tells_where_it_stands(built: dict[str, bytes]) -> None:
    for path in MANUAL.glob("*.md"):
        text = built[f"{path.stem}.html"].decode()
        assert {"words.html", "whole.html"} <= set(Html(text).links)
        assert text.count('aria-current="page"') == 1


def test_pictures_come_along_whole_and_no_others(built: dict[str, bytes]) -> None:
    pictures = {name: data for name, data in built.items() if name.startswith("pictures/")}
    assert pictures
    for name, data in pictures.items():
        assert data == (ROOT / "scripts" / name).read_bytes()
    shown = {link for name, text in built.items() if name.endswith(".html") for link in Html(text.decode()).links}
    assert set(pictures) <= shown


def test_f1_leads_to_a_file_of_the_archive(built: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manual, "is_built", lambda: True)
    _, found = manual.manual_map()
    for _, file in found:
        assert file in built
        assert b'http-equiv="refresh"' in built[file]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that are handed to the browser."""
    addresses: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url, *_, **__: addresses.append(url) or True)
    return addresses


@pytest.mark.parametrize(
    ("name", "page"),
    [("fabrik.bake", "baking"), ("FabrikChain.target", "chains"), ("PoseBone.fabrik_axis", "limits")],
)
def test_blenders_own_operator_opens_our_page(opened: list[str], name: str, page: str) -> None:
    assert bpy.ops.wm.doc_view_manual(doc_id=name) == {"FINISHED"}
    assert len(opened) == 1
    assert opened[0] == (manual.MANUAL / f"{page}.md").as_uri()
    assert (manual.MANUAL / f"{page}.md").is_file()


def test_blenders_own_operator_finds_everything_of_ours(opened: list[str]) -> None:
    names = [name.removeprefix("bpy.ops.").removeprefix("bpy.types.") for name in settings()]
    if bpy.app.version < (5, 0):  # before, Blender looked for no extension's preferences
        names = [name for name in names if not name.startswith("FABRIK_AP_")]
    for count, asked in enumerate(names):
        assert bpy.ops.wm.doc_view_manual(doc_id=asked) == {"FINISHED"}, asked
        assert len(opened) == count + 1
        assert opened[-1].startswith(manual.folder()), asked


def test_the_button_opens_a_page_and_refuses_one_that_is_not_there(opened: list[str]) -> None:
    assert bpy.ops.fabrik.manual() == {"FINISHED"}
    assert bpy.ops.fabrik.manual(page="limits", heading="locks") == {"FINISHED"}
    assert [Path(address).name for address in opened] == ["index.md", "limits.md"]
    assert_refused(r"the manual has no 'nothing\.md'", "manual", page="nothing")
    assert len(opened) == 2


def test_in_the_installed_extension_the_button_opens_html(
    opened: list[str], built: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, data in built.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(manual, "MANUAL", tmp_path)
    bpy.ops.fabrik.manual()
    bpy.ops.fabrik.manual(page="limits", heading="locks")
    bpy.ops.wm.doc_view_manual(doc_id="fabrik.bake")
    names = ("index.html", "at/limits.locks.html", "at/baking.options.html")
    assert opened == [(tmp_path / name).as_uri() for name in names]


# What the manual quotes as messages is said by the extension, and each refusal of a solve is in the manual.


ADDON = ROOT / "fabrik_addon"
PAGE = (MANUAL / "not_reached.md").read_text(encoding="utf-8")
SOLVING = (
    "checks.py", "bones.py", "goals.py", "targets.py", "animation/channels.py", "figure/start_pose.py",
    "figure/joint_limits.py", "figure/goal_options.py", "figure/groups.py", "figure/reader.py", "figure/kinematics.py",
    "figure/goal_table.py",
)  # fmt: skip
ELSEWHERE = {
    "it has no ik locks or limits, and keeps its joint limit",  # of buttons, whose reports say it
    "hangs on has no scale, so it can't be moved",
    "has no scale, so it can't be moved",
}
LEAST = 12  # letters of a text that can't stand on the page for something else
NO_NUMBER = "not a finite number"  # of whichever value; the page says it once


def pieces(node: ast.AST) -> Iterator[str]:
    """The texts that stand in an expression, or codes there for, in parts between values of template or f-string."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from re.split(r"\{[^{}]*\}", TEMPLATES.get(part.value, part.value).lower())


def quoted() -> list[str]:
    """What stands as a message in the first column of the page's tables, in runs between what varies."""
    rows = [line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| ")]
    return [text.lower() for row in rows for text in re.findall(r"\*([^*]+)\*", row)]


def test_what_is_quoted_is_said() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in ADDON.rglob("*.py")]
    said = "\n".join(piece for tree in trees for piece in pieces(tree))
    assert len(quoted()) > 60
    assert [text for text in quoted() if text not in said] == []


def test_each_refusal_of_a_solve_is_told() -> None:
    told = " ".join(PAGE.lower().replace("*", "").split())
    missing = []
    for name in SOLVING:
        tree = ast.parse((ADDON / "rig" / name).read_text(encoding="utf-8"))
        for raised in (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)):
            said = list(pieces(raised.args[0])) if isinstance(raised, ast.Call) else []
            texts = [text for piece in said if len(text := piece.strip(" ':,")) >= LEAST]
            if texts and not any(text in told or text in ELSEWHERE or NO_NUMBER in text for text in texts):
                missing.append(f"{name}: {texts}")
    assert missing == []


# The manual's reference is what the extension registers now, and names all of it.


MADE = reference.parts()


@pytest.mark.parametrize(("page", "mark"), MADE, ids=lambda one: getattr(one, "name", one))
def test_the_tables_are_up_to_date(page: Path, mark: str) -> None:
    wanted = with_between(page, mark, MADE[page, mark])
    assert page.read_text(encoding="utf-8") == wanted, "python3 scripts/build.py --reference renews them"


def test_no_part_of_a_page_is_left_that_nobody_writes() -> None:
    marked = {page: page.read_text(encoding="utf-8").count("--reference -->") for page, _ in MADE}
    assert marked == Counter(page for page, _ in MADE)


def test_every_operator_has_a_heading_and_every_option_a_row() -> None:
    text = (MANUAL / "reference.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### fabrik\.(\w+)\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    assert set(sections) == set(dir(bpy.ops.fabrik))
    for name, section in sections.items():
        options = getattr(bpy.ops.fabrik, name).get_rna_type().properties.keys()
        told = set(re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE))
        assert set(options) - {"rna_type", "filter_glob"} <= told, name


def test_every_stored_property_has_a_row() -> None:
    text = (MANUAL / "reference.md").read_text(encoding="utf-8")
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
    assert f"\n| {limit.label} | " in (MANUAL / "limits.md").read_text(encoding="utf-8")


def test_every_name_of_the_kernel_is_told() -> None:
    text = (MANUAL / "solver.md").read_text(encoding="utf-8")
    missing = [name for name in reference.public_names() if not re.search(rf"\b{name}\b", text)]
    assert not missing, "list it in GROUPS of scripts/dev/reference.py, then python3 scripts/build.py --reference"
    assert len(reference.public_names()) > 30

# SPDX-License-Identifier: GPL-3.0-or-later
"""The built archives as Blender has them: installed, updated from an address, beside each other, in a studio."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import pytest

from blender import OPS
from build import ROOT, build, pack, stage
from dev.compiling import NATIVE, Target, here
from environment import SetupError
from publish import publish
from support.processes import blender_script, plain_python, run_process

BUILDS = ("pure", "compiled")
ADDRESS = "https://example.org/fabrik/index.json"


def platform() -> Target:
    found = here()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("dist")
    return {"pure": build(None, folder, compiled_at=ADDRESS), "compiled": build(platform(), folder)}


def tool() -> list[str]:
    """Blender's own command line tool for extensions."""
    paths: Any = addon_utils.paths
    return [plain_python(), str(Path(paths()[0], "bl_pkg", "cli", "blender_ext.py"))]


def names_in(archive: Path) -> set[str]:
    with zipfile.ZipFile(archive) as opened:
        return set(opened.namelist())


def test_each_holds_the_extension_and_nothing_else(archives: dict[str, Path]) -> None:
    pure, compiled = names_in(archives["pure"]), names_in(archives["compiled"])
    assert {"blender_manifest.toml", "__init__.py", "README.md", "LICENSE", "kernel/solver.py"} <= pure & compiled
    assert not [name for name in pure | compiled if name.startswith(("tests", "scripts"))]
    assert pure - compiled == {"compiled_at.txt"}
    binary = f"native/{platform().tag}"
    only = {f"kernel/{name}" for name in ("names.py", "loading.py", "proof.json")}
    assert compiled - pure == only | {f"{binary}/{platform().file}", f"{binary}/core.json"}
    assert archives["compiled"].name.endswith(f"-{platform().tag.replace('-', '_')}.zip")


def test_who_unpacks_one_can_read_it(archives: dict[str, Path]) -> None:
    with zipfile.ZipFile(archives["compiled"]) as opened:
        assert {entry.external_attr >> 16 for entry in opened.infolist()} == {0o100644}


def test_the_pure_one_has_nothing_of_the_build(archives: dict[str, Path]) -> None:
    with zipfile.ZipFile(archives["pure"]) as opened:
        texts = {name: opened.read(name).decode() for name in opened.namelist() if name.endswith(".py")}
    words = ("ExtensionFileLoader", "core.json", "FABRIK_INTERPRETED", "platform_tag")
    assert not [(name, word) for name, text in texts.items() for word in words if word in text]


@pytest.mark.parametrize("kind", BUILDS)
def test_an_archive_is_the_same_each_time(kind: str, archives: dict[str, Path], tmp_path: Path) -> None:
    again = build(None if kind == "pure" else platform(), tmp_path, compiled_at=ADDRESS if kind == "pure" else "")
    assert again.read_bytes() == archives[kind].read_bytes()


@pytest.mark.parametrize("kind", BUILDS)
def test_an_archive_is_valid_to_blenders_own_tool(kind: str, archives: dict[str, Path]) -> None:
    done = run_process([*tool(), "validate", archives[kind]])
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_would_be_refused_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("build.refusals", lambda staged: ["a.py:1: it prints"])
    with pytest.raises(SetupError, match="it prints"):
        build(None, tmp_path)
    assert not list(tmp_path.iterdir())


POSE = """
import json, os, sys
from importlib import import_module
import bpy
import addon_utils

def pose(name):
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(2):
        bone = data.edit_bones.new(f"b{i}")
        bone.head, bone.tail = (0, 0.1 * i, i), (0, 0.1 * (1 - i), i + 1)
        bone.parent = data.edit_bones.get("b0") if i else None
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.fabrik.chain_add(tip_bone="b1", use_target=True)
    rig.fabrik.chains[0].target.location = (1, 0, 1)
    bpy.ops.fabrik.solve()
    return rig

def left():
    found = dir(bpy.ops.fabrik) + [n for n in dir(bpy.types.Object) if n.startswith("fabrik")]
    return found + [n for n in sys.modules if n.split(".")[-1] == "core" and "fabrik" in n]

def tell(told):
    print("TOLD " + json.dumps(told), flush=True)
    os._exit(0)
"""
INSTALL = """
bpy.ops.extensions.package_install_files(filepath=sys.argv[-1], repo="user_default", enable_on_install=True)
module = "bl_ext.user_default.fabrik"
preferences = bpy.context.preferences.addons[module].preferences
told = {"enabled": addon_utils.check(module)[1], "tolerance": preferences.tolerance}
told["form"] = import_module(module + ".kernel").FORM["kind"]
told["status"] = pose("A").fabrik.chains[0].status
addon_utils.disable(module)
told["left"] = left()
addon_utils.enable(module)
told["again"] = len(dir(bpy.ops.fabrik))
addon_utils.disable(module)
tell(told)
"""
BOTH = """
errors = []
for repository, archive in (("first", sys.argv[-2]), ("second", sys.argv[-1])):
    bpy.context.preferences.extensions.repos.new(name=repository, module=repository)
    try:
        bpy.ops.extensions.package_install_files(filepath=archive, repo=repository, enable_on_install=True)
    except RuntimeError as error:
        errors.append(str(error).strip())
told = {"errors": errors, "on": [a.module for a in bpy.context.preferences.addons if "fabrik" in a.module]}
told["status"] = pose("A").fabrik.chains[0].status
addon_utils.disable("bl_ext.first.fabrik", default_set=True)
addon_utils.enable("bl_ext.second.fabrik", default_set=True)
told["form"] = import_module("bl_ext.second.fabrik.kernel").FORM["kind"]
told["then"] = pose("B").fabrik.chains[0].status
tell(told)
"""
UPDATE = """
module = "bl_ext.of_ours.fabrik"
preferences = bpy.context.preferences
preferences.system.use_online_access = True
repository = preferences.extensions.repos.new(name="Ours", module="of_ours", remote_url=sys.argv[-1])
index = len(preferences.extensions.repos) - 1
bpy.ops.extensions.repo_sync(repo_index=index)
bpy.ops.extensions.package_install(repo_index=index, pkg_id="fabrik", enable_on_install=True)

def now():
    own = import_module(module)
    with open(os.path.join(os.path.dirname(own.__file__), "blender_manifest.toml"), encoding="utf-8") as manifest:
        version = next(line for line in manifest if line.startswith("version")).split('"')[1]
    form, rig = import_module(module + ".kernel").FORM, bpy.data.objects["A"]
    with open(form["path"], "rb") as binary:
        return [version, form["kind"], rig.fabrik.chains[0].tip_bone, rig.fabrik.chains[0].status,
                preferences.addons[module].preferences.max_passes, len(binary.read())]

pose("A").fabrik.chains[0].name = "Kept"
preferences.addons[module].preferences.max_passes = 77
told = {"first": now()}
os.rename(sys.argv[-3], sys.argv[-3] + ".old")
os.rename(sys.argv[-2], sys.argv[-3])
bpy.ops.extensions.repo_sync(repo_index=index)
bpy.ops.extensions.package_upgrade_all()
bpy.data.objects["A"].fabrik.chains["Kept"].target.location = (0.5, 0, 1.2)
bpy.context.view_layer.update()
bpy.ops.fabrik.solve()
told["next"] = now()
tell(told)
"""


def told_by(command: Sequence[str | Path], variables: Mapping[str, str]) -> Any:
    """What a script tells, run in a Blender."""
    done = run_process(command, variables)
    lines = [line for line in done.stdout.splitlines() if line.startswith("TOLD ")]
    assert lines, (done.stdout + done.stderr)[-3000:]
    return json.loads(lines[0].removeprefix("TOLD "))


def told_of_poses(code: str, folder: Path, *words: str | Path) -> Any:
    """What a script that poses tells, run in a Blender with a user folder of its own."""
    script = folder / "script.py"
    script.write_text(POSE + code)
    variables = {"BLENDER_USER_RESOURCES": str(folder / "user"), "FABRIK_INTERPRETED": ""}
    return told_by([*blender_script(script), *words], variables)


@pytest.mark.parametrize("kind", BUILDS)
def test_an_archive_installs_enables_poses_and_disables(kind: str, archives: dict[str, Path], tmp_path: Path) -> None:
    told = told_of_poses(INSTALL, tmp_path, archives[kind])
    assert told.pop("tolerance") == pytest.approx(1e-4)
    assert told.pop("form") == ("interpreted" if kind == "pure" else "compiled")
    assert told == {"enabled": True, "status": "REACHED", "left": [], "again": len(dir(OPS.fabrik))}


def test_only_one_of_two_is_on(archives: dict[str, Path], tmp_path: Path) -> None:
    told = told_of_poses(BOTH, tmp_path, archives["pure"], archives["compiled"])
    (error,) = told.pop("errors")
    assert error == "Error: FABRIK Posing of 'first' is on: switch that off first, for two can't be on at once"
    assert told == {"on": ["bl_ext.first.fabrik"], "status": "REACHED", "form": "compiled", "then": "REACHED"}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a server of this test's folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def next_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a version after this, with another binary that does the same."""
    folder = tmp_path_factory.mktemp("next")
    staged = stage(folder / "staged", NATIVE, targets=[platform()])
    manifest = staged / "blender_manifest.toml"
    manifest.write_text(manifest.read_text().replace('version = "', 'version = "9'))
    binary = staged / "native" / platform().tag / platform().file
    binary.write_bytes(binary.read_bytes() + bytes(1))
    note = binary.with_name("core.json")
    told = json.loads(note.read_text()) | {"sha256": hashlib.sha256(binary.read_bytes()).hexdigest()}
    note.write_text(json.dumps(told))
    return pack(staged, folder)


@pytest.mark.parametrize("beside", [(), ("pure",)])
def test_updates_come_from_an_address(
    beside: tuple[str, ...], archives: dict[str, Path], next_version: Path, address: str, tmp_path: Path
) -> None:
    """Rigs and preferences are kept, and the binary is replaced in the process that runs it.

    It is the one for this platform that comes, also where there is one for all.
    """
    served, later = tmp_path / "served", tmp_path / "later"
    publish(served, [archives["compiled"], *(archives[kind] for kind in beside)], tool())
    publish(later, [next_version], tool())
    told = told_of_poses(UPDATE, tmp_path, served, later, f"{address}/served/index.json")
    version, form, bone, status, passes, size = told["first"]
    assert (form, bone, status, passes) == ("compiled", "b1", "REACHED", 77)
    assert told["next"] == [f"9{version}", form, bone, status, passes, size + 1]


def test_what_is_published_is_listed_and_linked(archives: dict[str, Path], tmp_path: Path) -> None:
    page = publish(tmp_path / "www", [archives["pure"], archives["compiled"]], tool())
    first, second = json.loads((page.parent / "index.json").read_text())["data"]
    archive = page.parent / archives["compiled"].name
    assert first["platforms"] == [platform().tag]
    assert first["archive_hash"] == f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"
    assert "platforms" not in second
    assert archive.name in page.read_text()
    assert {path.name for path in page.parent.iterdir()} == {
        *(archives[kind].name for kind in BUILDS),
        "index.json",
        "index.html",
    }


def test_the_version_before_stays_and_what_is_not_ours_does_too(
    archives: dict[str, Path], next_version: Path, tmp_path: Path
) -> None:
    """For who has the list of yesterday, and for who has mistaken the folder."""
    folder, first = tmp_path / "www", archives["compiled"]
    folder.mkdir()
    (folder / "holiday.zip").write_bytes(b"pictures")
    publish(folder, [first], tool())
    publish(folder, [next_version], tool())
    found = {path.name for path in folder.glob("*.zip")}
    assert found == {"holiday.zip", first.name, next_version.name}
    publish(folder, [next_version], tool())
    assert {path.name for path in folder.glob("*.zip")} == {"holiday.zip", next_version.name}


def test_what_is_published_stays_where_the_next_is_refused(
    archives: dict[str, Path], next_version: Path, tmp_path: Path
) -> None:
    folder, broken, compiled = tmp_path / "www", tmp_path / "fabrik-broken.zip", archives["compiled"]
    publish(folder, [compiled], tool())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    broken.write_bytes(b"no archive")
    again = tmp_path / "fabrik-again.zip"
    again.write_bytes(compiled.read_bytes())
    for several, reason in (
        ([broken], "is no archive of an extension"),
        ([compiled, again], "two archives are for the same platform"),
        ([archives["pure"], next_version], "of several versions"),
    ):
        with pytest.raises(SetupError, match=reason):
            publish(folder, several, tool())
    with pytest.raises(SetupError, match="can't be run"):
        publish(folder, [compiled], ["no such blender"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_of_others_is_refused(archives: dict[str, Path], tmp_path: Path) -> None:
    listed = tmp_path / "index.json"
    listed.write_text(json.dumps({"version": "v1", "data": [{"id": "other", "archive_url": "./other.zip"}]}))
    with pytest.raises(SetupError, match="serves 'other'"):
        publish(tmp_path, [archives["compiled"]], tool())
    listed.write_text("[]")
    with pytest.raises(SetupError, match="is no list of extensions"):
        publish(tmp_path, [archives["compiled"]], tool())


# The folder that sets the extension up for a studio, found by a Blender whose user has never used it.


STUDIO = ROOT / "scripts" / "studio"
PRESETS = sorted((STUDIO / "presets" / "operator").glob("*/*.py"))
TELL = """
import json, os
import bpy
module = "bl_ext.system.fabrik"
preferences = bpy.context.preferences
own = preferences.addons[module].preferences
told = {"goal_kind": own.goal_kind, "passes": own.max_passes, "operators": len(dir(bpy.ops.fabrik))}
told["assets"] = {library.name: library.path for library in preferences.filepaths.asset_libraries}
told["presets"] = {os.path.basename(path): sorted(os.listdir(path)) for operator in ("character_setup", "goal_space")
                   for path in bpy.utils.preset_paths("operator/fabrik." + operator)}
import fabrik_studio

def start():
    fabrik_studio.register()
    bpy.ops.wm.read_homefile(use_empty=True)
    return own.goal_kind, round(own.target_size, 6), own.max_passes

fabrik_studio.PREFERENCES = {"goal_kind": "NONSENSE", "target_size": 0.07, "max_passes": 99}
told["later"] = start()
own.goal_kind, own.max_passes = "EMPTY", 11
fabrik_studio.PREFERENCES = {"goal_kind": "BONE", "target_size": 0.08, "max_passes": 100}
told["again"] = start()
told["libraries"] = len([one for one in preferences.filepaths.asset_libraries if one.name == "FABRIK Studio"])
print("TOLD " + json.dumps(told), flush=True)
os._exit(0)
"""


@pytest.fixture
def studio(archives: dict[str, Path], tmp_path: Path) -> Path:
    """A copy with the extension in it, beside the user's folder."""
    folder = tmp_path / "studio"
    shutil.copytree(STUDIO, folder)
    with zipfile.ZipFile(archives["compiled"]) as archive:
        archive.extractall(folder / "extensions" / "system" / "fabrik")
    return folder


def test_a_fresh_blender_has_it_on_and_set_up(studio: Path, tmp_path: Path) -> None:
    """And another start brings what the studio has changed, and leaves what the user has changed."""
    script = tmp_path / "tell.py"
    script.write_text(TELL)
    found = {
        "BLENDER_SYSTEM_SCRIPTS": studio,
        "BLENDER_SYSTEM_EXTENSIONS": studio / "extensions",
        "BLENDER_USER_RESOURCES": tmp_path / "user",
    }
    command = [word for word in blender_script(script) if word != "--factory-startup"]
    first = told_by(command, {name: str(path) for name, path in found.items()})
    assert (first["goal_kind"], first["libraries"]) == ("BONE", 1)
    assert first["later"] == ["BONE", 0.07, 99]
    assert first["again"] == ["EMPTY", 0.08, 11]
    assert first["operators"] == len(dir(OPS.fabrik))
    assert first["assets"]["FABRIK Studio"] == str(studio / "assets")
    assert first["presets"] == {
        path.parent.name: [one.name for one in PRESETS if one.parent == path.parent] for path in PRESETS
    }


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_preset_sets_what_the_operator_has(path: Path) -> None:
    group, _, name = path.parent.name.partition(".")
    operator: Any = getattr(getattr(OPS, group), name)
    rna = operator.get_rna_type()
    lines = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Assign)][1:]
    assert lines
    for line in lines:
        (target,) = line.targets
        assert isinstance(target, ast.Attribute)
        prop, value = rna.properties[target.attr], ast.literal_eval(line.value)
        assert not prop.is_skip_save
        assert value in ([item.identifier for item in prop.enum_items] if prop.type == "ENUM" else (True, False))
    assert "PRESET" in getattr(bpy.types, f"{group.upper()}_OT_{name}").bl_options

# SPDX-License-Identifier: GPL-3.0-or-later
"""Registration on and off, and the built archive as Blender installs it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import addon_utils
import bpy
import pytest

import addon_session
from build import build
from support.processes import blender_script, plain_python, run_process
from support.scenes import add_chain, make_line


def registered() -> dict[str, list[str]]:
    """Everything of ours that Blender knows of."""
    kinds = ("Operator", "Panel", "UIList", "PropertyGroup", "AddonPreferences", "Menu", "Gizmo", "GizmoGroup")
    classes = {
        cls.__name__
        for kind in kinds
        for cls in getattr(bpy.types, kind).__subclasses__()
        if cls.__name__.lower().startswith("fabrik") and getattr(cls, "is_registered", False)
    }
    properties = [
        f"{owner.__name__}.{name}"
        for owner in (bpy.types.Object, bpy.types.PoseBone, bpy.types.Scene, bpy.types.WindowManager)
        for name in dir(owner)
        if name.startswith("fabrik")
    ]
    handlers = [
        f"{name}.{function.__module__}"
        for name in dir(bpy.app.handlers)
        if isinstance(getattr(bpy.app.handlers, name), list)
        for function in getattr(bpy.app.handlers, name)
        if "fabrik" in str(getattr(function, "__module__", ""))
    ]
    keymaps = [
        item.idname
        for config in (bpy.context.window_manager.keyconfigs.addon,)
        if config
        for keymap in config.keymaps
        for item in keymap.keymap_items
        if item.idname.startswith("fabrik.")
    ]
    operators = dir(bpy.ops.fabrik)
    found = {"classes": sorted(classes), "properties": properties, "handlers": handlers, "keymaps": keymaps}
    return {**found, "operators": operators}


def test_five_times_off_and_on_leaves_nothing_behind() -> None:
    before = registered()
    assert before["operators"]
    assert before["properties"]
    for _ in range(5):
        addon_utils.disable(addon_session.MODULE, default_set=True)
        assert not any(registered().values())
        addon_utils.enable(addon_session.MODULE, default_set=True, persistent=True)
        assert registered() == before
    chain = add_chain(make_line(3), (0.5, 0.5, 2.0))
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"


def test_a_failing_step_takes_the_others_back(monkeypatch: pytest.MonkeyPatch) -> None:
    from fabrik_addon import registration

    def fail() -> None:
        raise RuntimeError("no")

    before = registered()
    addon_utils.disable(addon_session.MODULE, default_set=True)
    monkeypatch.setattr(registration, "STEPS", (*registration.STEPS, (fail, fail)))
    with pytest.raises(RuntimeError, match="no"):
        registration.register()
    assert not any(registered().values())
    monkeypatch.undo()
    addon_utils.enable(addon_session.MODULE, default_set=True, persistent=True)
    assert registered() == before


def test_preferences_are_there_and_used() -> None:
    preferences = bpy.context.preferences.addons[addon_session.MODULE].preferences
    preferences.tolerance, preferences.target_shape = 0.001, "CONE"
    try:
        chain = add_chain(make_line(3))
        bpy.ops.fabrik.target_add()
        assert chain.tolerance == pytest.approx(0.001)
        assert chain.target.empty_display_type == "CONE"
    finally:
        preferences.property_unset("tolerance")
        preferences.property_unset("target_shape")


def test_archive_holds_the_extension_and_nothing_else(tmp_path: Path) -> None:
    names = zipfile.ZipFile(build(tmp_path)).namelist()
    assert {"blender_manifest.toml", "__init__.py", "README.md", "LICENSE", "kernel/solver.py"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests", "scripts"))]


def test_archive_is_the_same_each_time(tmp_path: Path) -> None:
    assert build(tmp_path / "a").read_bytes() == build(tmp_path / "b").read_bytes()


def blender_extension_tool() -> Path:
    """Blender's own command line tool for extensions."""
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    return next(scripts.glob("addons_core/bl_pkg/cli/blender_ext.py"))


def test_archive_is_valid_to_blenders_own_tool(tmp_path: Path) -> None:
    done = run_process([plain_python(), blender_extension_tool(), "validate", build(tmp_path)])
    assert done.returncode == 0, done.stdout + done.stderr


INSTALL = """
import json, os, sys
import bpy
bpy.ops.extensions.package_install_files(filepath=sys.argv[-1], repo="user_default", enable_on_install=True)
module = "bl_ext.user_default.fabrik"
import addon_utils
preferences = bpy.context.preferences.addons[module].preferences
told = {"enabled": addon_utils.check(module)[1], "tolerance": preferences.tolerance}
data = bpy.data.armatures.new("A")
rig = bpy.data.objects.new("A", data)
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
told["status"] = rig.fabrik.chains[0].status
addon_utils.disable(module)
told["left"] = dir(bpy.ops.fabrik) + [n for n in dir(bpy.types.Object) if n.startswith("fabrik")]
addon_utils.enable(module)
told["again"] = len(dir(bpy.ops.fabrik))
addon_utils.disable(module)
print("TOLD " + json.dumps(told), flush=True)
os._exit(0)
"""


def test_archive_installs_enables_poses_and_disables(tmp_path: Path) -> None:
    script = tmp_path / "install.py"
    script.write_text(INSTALL)
    archive = build(tmp_path / "dist")
    done = run_process([*blender_script(script), archive], {"BLENDER_USER_RESOURCES": str(tmp_path / "user")})
    lines = [line for line in done.stdout.splitlines() if line.startswith("TOLD ")]
    assert lines, done.stdout + done.stderr
    told = json.loads(lines[0][5:])
    assert told.pop("tolerance") == pytest.approx(1e-4)
    assert told == {"enabled": True, "status": "REACHED", "left": [], "again": len(dir(bpy.ops.fabrik))}

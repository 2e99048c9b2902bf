# SPDX-License-Identifier: GPL-3.0-or-later
"""Registration on and off."""

from __future__ import annotations

from contextlib import ExitStack

import addon_utils
import bpy
import pytest

import addon_session
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

    def fail(_: ExitStack) -> None:
        raise RuntimeError("no")

    before = registered()
    addon_utils.disable(addon_session.MODULE, default_set=True)
    monkeypatch.setattr(registration, "AFTER", (*registration.AFTER, fail))
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

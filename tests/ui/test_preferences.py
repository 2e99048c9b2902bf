# SPDX-License-Identifier: GPL-3.0-or-later
"""What the preferences tell: an update once, and how the solver runs."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from fabrik_addon.ui import preferences

import addon_session
from build import ROOT


class Layout:
    """A layout that notes what is put into it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.buttons: list[tuple[str, Any]] = []

    def row(self) -> Layout:
        return self

    def label(self, *, text: str) -> None:
        self.texts.append(text)

    def operator(self, name: str, **_: str) -> Any:
        self.buttons.append((name, SimpleNamespace()))
        return self.buttons[-1][1]


def test_an_update_is_told_once() -> None:
    own: Any = bpy.context.preferences.addons[addon_session.MODULE].preferences
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    own.property_unset("seen_version")
    try:
        assert [preferences.news_of(own) for _ in range(2)] == ["", ""]  # installed now
        own.seen_version = "0.9.0"
        told, again = (preferences.news_of(own) for _ in range(2))
        assert f'version = "{told}"' in manifest
        assert again == ""
    finally:
        own.property_unset("seen_version")


@pytest.mark.parametrize("address", ["", "https://example.org/index.json"])
def test_an_interpreted_solver_says_why_and_how_slow_it_is(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preferences, "FORM", {"kind": "interpreted", "path": "", "reason": "this build has no binary"})
    monkeypatch.setattr(preferences, "slowness", lambda: 66.4)
    monkeypatch.setattr(preferences, "COMPILED_AT", tmp_path / "compiled_at.txt")
    if address:
        preferences.COMPILED_AT.write_text(f"{address}\n")
    layout: Any = Layout()
    preferences.draw_solver(layout)
    assert layout.texts == [
        "Solver: interpreted (this build has no binary)",
        "It takes 66 times as long as compiled, on this machine",
    ]
    assert [name for name, _ in layout.buttons] == ["fabrik.manual", *(["wm.url_open"] if address else [])]
    assert not address or layout.buttons[1][1].url == address


def test_a_compiled_solver_says_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preferences, "FORM", {"kind": "compiled", "path": "core", "reason": ""})
    layout: Any = Layout()
    preferences.draw_solver(layout)
    assert layout.texts == ["Solver: compiled"]


def test_how_slow_it_is_is_a_number() -> None:
    preferences.slowness.cache_clear()
    assert isfinite(preferences.slowness())
    assert preferences.slowness() > 0.0

# SPDX-License-Identifier: GPL-3.0-or-later
"""What chains and bodies store beside what they always did: neutral until it is set, and kept as it was set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.animation.compat import ensure_curve
from fabrik_addon.rig.figure.pose_writer import flush_animation

from support.rig_facts import stored
from support.scenes import add_chain, make_line, press, reaching_line, reload

CHAIN: dict[str, tuple[Any, Any]] = {  # what a chain that was never asked has, and another value
    "kind": ("REACH", "AIM"),
    "effector": ("TAIL", "HEAD"),
    "weight": (1.0, 0.25),
    "influence": (1.0, 0.5),
    "pin": (False, True),
    "held_location": ((0.0, 0.0, 0.0), (1.0, -2.0, 0.5)),
    "held_rotation": ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)),
    "orientation": ("FREE", "KEEP"),
    "orientation_weight": (1.0, 0.5),
    "rotation_offset": ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)),
    "aim_axis": ((0.0, 1.0, 0.0), (0.0, 0.0, -1.0)),
    "stretch": (1.0, 1.5),
    "soft": (0.0, 0.0625),
    "turn_residual": (0.0, 0.5),
    "softened": (0.0, 0.25),
}
BODY: dict[str, tuple[Any, Any]] = {
    "body_bone": ("", "b0"),
    "body_stiffness": (0.0, 0.25),
    "spine": (0.5, 0.75),
    "balance": (0.0, 1.0),
    "falloff": (0.5, 0.25),
}
ASKED = set(CHAIN) - {"turn_residual", "softened"}


def plain(value: Any) -> Any:
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


@pytest.mark.parametrize("name", CHAIN)
def test_a_chain_that_was_never_asked_is_as_before(name: str) -> None:
    assert plain(getattr(add_chain(make_line(3)), name)) == CHAIN[name][0]


@pytest.mark.parametrize("name", BODY)
def test_an_armature_that_was_never_asked_has_no_body(name: str, line: bpy.types.Object) -> None:
    assert getattr(line.fabrik, name) == BODY[name][0]
    assert len(line.fabrik.body_captured) == 0


def set_all(owner: bpy.types.Object) -> None:
    chain = owner.fabrik.chains[0]
    for name, (_, value) in CHAIN.items():
        setattr(chain, name, value)
    for name, (_, value) in BODY.items():
        setattr(owner.fabrik, name, value)
    owner.pose.bones["b1"].fabrik.mass = 0.125
    captured = owner.fabrik.body_captured.add()
    captured.name, captured.rotation, captured.location = "b0", (0.0, 0.0, 0.0, 1.0), (1.0, 2.0, 3.0)


def check_all(owner: bpy.types.Object) -> None:
    chain = owner.fabrik.chains[0]
    assert {name: plain(getattr(chain, name)) for name in CHAIN} == {name: value for name, (_, value) in CHAIN.items()}
    assert {name: getattr(owner.fabrik, name) for name in BODY} == {name: value for name, (_, value) in BODY.items()}
    assert owner.pose.bones["b1"].fabrik.mass == 0.125
    captured = owner.fabrik.body_captured["b0"]
    assert plain(captured.rotation) == (0.0, 0.0, 0.0, 1.0)
    assert plain(captured.location) == (1.0, 2.0, 3.0)


def test_what_is_set_is_read_and_saved(tmp_path: Path, line: bpy.types.Object) -> None:
    add_chain(line)
    set_all(line)
    check_all(line)
    before = stored()
    reload(tmp_path)
    check_all(bpy.data.objects["Rig"])
    assert stored() == before


def test_a_copy_of_the_armature_has_them_too(line: bpy.types.Object) -> None:
    add_chain(line)
    set_all(line)
    copy = line.copy()
    bpy.context.collection.objects.link(copy)
    check_all(copy)


@pytest.mark.parametrize("name", sorted({*ASKED, *BODY, "mass"} - {"falloff"}))  # which is of drags alone
def test_a_change_makes_the_status_old(name: str) -> None:
    owner, chain = reaching_line((0.4, -0.5, 1.9))
    press("solve", chain=chain.name)
    assert chain.status == "REACHED"
    place = chain if name in CHAIN else owner.fabrik if name in BODY else owner.pose.bones["b0"].fabrik
    setattr(place, name, {**CHAIN, **BODY, "mass": (1.0, 0.5)}[name][1])
    assert chain.status == "NONE"


@pytest.mark.parametrize("name", [*sorted(ASKED), "body_stiffness", "spine", "balance", "falloff"])
def test_each_setting_of_a_chain_and_number_of_a_body_can_be_keyed(name: str, line: bpy.types.Object) -> None:
    chain = add_chain(line)
    place, before, values = (chain, "chains[0].", CHAIN) if name in CHAIN else (line.fabrik, "", BODY)
    first, then = values[name]
    for frame, value in ((1, first), (20, then)):
        setattr(place, name, value)
        assert line.keyframe_insert(f"fabrik_{before}{name}", frame=frame)
    for frame, value in ((1, first), (20, then), (1, first)):
        bpy.context.scene.frame_set(frame)
        assert plain(getattr(place, name)) == (pytest.approx(value) if place == chain else value)


@pytest.mark.parametrize(("name", "value"), [("weight", 1.5), ("weight", -0.5), ("stretch", 0.5), ("soft", -1.0)])
def test_numbers_stay_within_what_means_something(name: str, value: float) -> None:
    chain = add_chain(make_line(3))
    setattr(chain, name, value)
    wanted = {"weight": min(max(value, 0.0), 1.0), "stretch": 1.0, "soft": 0.0}[name]
    assert getattr(chain, name) == wanted


@pytest.mark.parametrize("path", ["fabrik_balance", "fabrik_chains[0].weight", "fabrik_chains[0].held_location"])
def test_animated_settings_are_brought_to_what_a_render_writes_to(path: str, line: bpy.types.Object) -> None:
    chain = add_chain(line)
    for frame, value in ((1, 0.0), (20, 1.0)):
        line.fabrik.balance = chain.weight = value
        chain.held_location = (value, 0.0, 2.0 * value)
        line.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_set(20)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    line.fabrik.balance = chain.weight = 0.5  # as the originals stay behind while a frame is rendered
    chain.held_location = (5.0, 5.0, 5.0)
    flush_animation(line, depsgraph)
    found = {
        "fabrik_balance": line.fabrik.balance,
        "fabrik_chains[0].weight": chain.weight,
        "fabrik_chains[0].held_location": plain(chain.held_location),
    }
    assert found[path] == ((1.0, 0.0, 2.0) if path.endswith("location") else 1.0)


def test_a_mode_is_brought_before_its_angles_and_what_can_not_be_set_is_passed_over(line: bpy.types.Object) -> None:
    line["way"] = 1.0
    for frame, mode in ((1, "QUATERNION"), (3, "XYZ")):
        line.rotation_mode, line.rotation_euler = mode, (0.0, 0.0, 0.3 * frame)
        line.keyframe_insert("rotation_mode", frame=frame)
        line.keyframe_insert("rotation_euler", frame=frame)
    for path in ('["way"]["x"]', 'parent["x"]', "bound_box", 'pose.bones["gone"].location', 'constraints["C"]["x"]'):
        ensure_curve(line, path, 0, "Odd").keyframe_points.insert(1, 0.5)
    bpy.context.scene.frame_set(3)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    line.rotation_mode, line.rotation_euler = "QUATERNION", (0.0, 0.0, 0.0)  # as the originals stay behind
    flush_animation(line, depsgraph)
    assert plain(line.rotation_euler) == pytest.approx((0.0, 0.0, 0.9))
    assert str(line.rotation_mode) == "XYZ"

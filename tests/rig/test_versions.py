# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of what a rig stores: written wherever data come from, and heeded where they are of a newer extension."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from fabrik_addon import handlers
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.actions.convert import ConversionResult, convert
from fabrik_addon.actions.drag import Grip, begin
from fabrik_addon.actions.solve import solve_items
from fabrik_addon.cli.commands import run
from fabrik_addon.errors import RigError
from fabrik_addon.operators import classes_of
from fabrik_addon.operators.baking import items_of
from fabrik_addon.rig import versions
from fabrik_addon.rig.checks import check_rig
from fabrik_addon.rig.versions import DATA_VERSION, FIRST, STEPS
from fabrik_addon.ui import motion, panels

from support.cli_files import refused, save_shot
from support.judging import channels
from support.rig_facts import stored
from support.scenes import add_chain, assert_refused, linked, live_line, make_empty, make_line, reload, select, update

NEWER = DATA_VERSION + 1
TEXT = f"'Rig': its FABRIK data is of version {NEWER}"
LIBRARY = Path(__file__).parents[1] / "data" / "0.1.0" / "library.blend"


def get_from_library(link: bool) -> bpy.types.Object:
    with bpy.data.libraries.load(str(LIBRARY), link=link) as (_, wanted):
        wanted.collections = ["Character"]
    bpy.context.scene.collection.children.link(bpy.data.collections["Character"])
    return next(found for found in bpy.data.objects if found.type == "ARMATURE")


def test_each_version_has_its_step() -> None:
    assert sorted(STEPS) == list(range(FIRST, DATA_VERSION))


def test_the_first_chain_brings_the_version(line: bpy.types.Object) -> None:
    assert line.fabrik_version == 0
    add_chain(line)
    assert line.fabrik_version == DATA_VERSION


def test_chains_from_ik_bring_the_version(line: bpy.types.Object) -> None:
    target = make_empty(name="Goal")
    line.pose.bones["b2"].constraints.new("IK").target = target
    update()
    assert convert(bpy.context, line, ["b2"], aims=False)[0].chain
    assert line.fabrik_version == DATA_VERSION


def a_chain(owner: bpy.types.Object) -> None:
    owner.fabrik.chains.add().tip_bone = "b2"


def a_limit(owner: bpy.types.Object) -> None:
    owner.pose.bones["b1"].fabrik.stiffness = 0.5


@pytest.mark.parametrize(
    ("make", "version"), [(a_chain, DATA_VERSION), (a_limit, DATA_VERSION), (lambda owner: None, 0)]
)
def test_what_a_script_made_gets_its_number_when_it_is_saved(
    make: Callable[[bpy.types.Object], None], version: int, tmp_path: Path
) -> None:
    owner = make_line(3)
    make(owner)
    assert linked(tmp_path, "objects", "Rig").fabrik_version == version


def test_what_is_linked_is_not_written_to(tmp_path: Path) -> None:
    owner = get_from_library(link=True)
    reload(tmp_path)
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE")
    assert not owner.is_editable
    assert owner.fabrik_version == 0
    assert len(owner.fabrik.chains) == 2


def test_what_is_appended_gets_the_number(tmp_path: Path) -> None:
    owner = get_from_library(link=False)
    if hasattr(bpy.app.handlers, "blend_import_post"):
        assert owner.fabrik_version == DATA_VERSION
    reload(tmp_path)
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE")
    assert owner.fabrik_version == DATA_VERSION


def test_an_open_file_gets_the_number_when_the_extension_is_switched_on(line: bpy.types.Object) -> None:
    a_chain(line)
    handlers.unregister()
    handlers.register()
    assert line.fabrik_version == DATA_VERSION


def test_while_blender_holds_its_data_back_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    app = SimpleNamespace(background=False, handlers=bpy.app.handlers, timers=bpy.app.timers)
    handlers.unregister()
    with monkeypatch.context() as patched:
        patched.setattr(handlers, "bpy", SimpleNamespace(app=app, data=object()))
        handlers.register()
    assert bpy.app.timers.is_registered(handlers._look_around)
    handlers.unregister()
    assert not bpy.app.timers.is_registered(handlers._look_around)
    handlers.register()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Versions up to 4, whose steps write down that they were run."""
    ran: list[tuple[str, int]] = []
    later = {k: lambda owner, k=k: ran.append((owner.name, k)) for k in range(FIRST, 4)}
    monkeypatch.setattr(versions, "STEPS", later)
    monkeypatch.setattr(versions, "DATA_VERSION", 4)
    return ran


@pytest.mark.parametrize(("number", "wanted"), [(0, [1, 2, 3]), (1, [1, 2, 3]), (3, [3]), (4, []), (5, [])])
def test_steps_run_from_the_version_of_the_rig(steps: list[tuple[str, int]], number: int, wanted: list[int]) -> None:
    owner = make_line(3)
    add_chain(owner)
    steps.clear()
    owner.fabrik_version = number
    handlers.HANDLERS["load_post"]()
    assert steps == [("Rig", step) for step in wanted]
    assert owner.fabrik_version == max(number, 4)


def test_on_overrides_all_steps_run(steps: list[tuple[str, int]]) -> None:
    get_from_library(link=True)
    collection = bpy.data.collections["Character"]
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE" and found.override_library)
    owner.fabrik_version = 3
    handlers.HANDLERS["load_post"]()
    assert steps == [("character", 1), ("character", 2), ("character", 3)]
    assert owner.fabrik_version == 4


def test_a_step_that_fails_leaves_the_number_and_the_other_rigs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    owners = [make_line(3), make_line(3)]
    for owner in owners:
        a_chain(owner)
    monkeypatch.setattr(versions, "STEPS", {**STEPS, 1: lambda owner: 1 / int(owner.name != "Rig")})
    handlers.HANDLERS["load_post"]()
    assert [owner.fabrik_version for owner in owners] == [0, DATA_VERSION]
    assert "the data of 'Rig' could not be brought up to date" in caplog.text


def make_newer(owner: bpy.types.Object) -> None:
    owner.fabrik_version = NEWER
    update()


def convert_ik(owner: bpy.types.Object, bone: str) -> list[ConversionResult]:
    owner.pose.bones[bone].constraints.new("IK").target = bpy.context.object
    return convert(bpy.context, owner, [bone], aims=False)


WAYS: dict[str, Callable[[bpy.types.Object], object]] = {
    "check": lambda owner: check_rig(owner, bpy.context.evaluated_depsgraph_get()),
    "solve": lambda owner: solve_items(bpy.context, [(owner, owner.fabrik.chains[0])]),
    "bake": lambda owner: bake(bpy.context, [(owner, owner.fabrik.chains[0])], BakeSettings(frames=(1, 2))),
    "drag": lambda owner: begin(bpy.context, owner, Grip.tip_of(owner.fabrik.chains[0])),
    "convert": lambda owner: convert_ik(owner, "b2"),
    "choose": lambda owner: items_of(bpy.context, owner, "ALL"),
}


@pytest.mark.parametrize("way", WAYS)
def test_newer_data_are_refused_and_left_as_they_are(way: str, line: bpy.types.Object) -> None:
    add_chain(line, (0.4, -0.5, 1.9))
    line.fabrik.chains.add().tip_bone = "b1"  # without a name, which a solve would give it
    make_newer(line)
    before = stored(), channels(line)
    with pytest.raises(RigError, match=TEXT):
        WAYS[way](line)
    assert (stored(), channels(line)) == before


def test_every_operator_and_panel_on_newer_data_is_disabled(line: bpy.types.Object) -> None:
    chain = add_chain(line, (0.4, -0.5, 1.9))
    bpy.ops.fabrik.bake(frame_start=1, frame_end=2)
    chain.enabled = True
    select(line, "b1", "b2")
    names = [name for name in dir(bpy.ops.fabrik) if getattr(bpy.ops.fabrik, name).poll()]
    kinds = [kind for kind in classes_of((panels, motion)) if hasattr(kind, "poll")]
    assert {"solve", "solve_all", "bake", "drag", "chain_remove", "limit_human", "goal_snap"} <= set(names)
    assert all(kind.poll(bpy.context) for kind in kinds if not issubclass(kind, motion.WalkerPart))  # it has no walker
    make_newer(line)
    assert [name for name in dir(bpy.ops.fabrik) if getattr(bpy.ops.fabrik, name).poll()] == ["manual"]
    assert [kind.__name__ for kind in kinds if kind.poll(bpy.context)] == ["FABRIK_PT_posing"]  # which says why
    assert_refused(f"Its FABRIK data is of version {NEWER}", "solve")


def test_a_selected_armature_with_newer_data_is_refused_by_name() -> None:
    owner, other = make_line(3), make_line(3)
    for rig in (other, owner):
        add_chain(rig, (0.4, -0.5, 1.9))
        rig.select_set(True)
    make_newer(other)
    for operator in (bpy.ops.fabrik.bake, bpy.ops.fabrik.goal_snap, bpy.ops.fabrik.to_ik):
        with pytest.raises(RuntimeError, match=r"'Rig\.001': its FABRIK data is of version"):
            operator(chains="ALL")


def test_newer_data_do_not_follow_their_target() -> None:
    owner, chain = live_line()
    other = add_chain(make_line(3), (0.4, -0.5, 1.9))
    other.id_data.fabrik.live = True
    before = {**stored()["rigs"]["Rig"], "fabrik_version": NEWER}, channels(owner)
    make_newer(owner)
    for place in ((0.2, 1.0, 1.5), (1.0, 0.0, 1.0)):
        chain.target.location = other.target.location = place
        update()
        bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
    assert (stored()["rigs"]["Rig"], channels(owner)) == before
    assert (other.status, owner.fabrik.live) == ("REACHED", True)


def test_newer_data_are_told_when_the_file_is_opened(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    owner = make_line(3)
    add_chain(owner, (0.4, -0.5, 1.9))
    make_newer(owner)
    before = stored()
    with caplog.at_level(logging.WARNING):
        reload(tmp_path)
    assert TEXT in caplog.text
    assert stored() == before


def test_an_override_of_newer_data_is_refused() -> None:
    owner = get_from_library(link=True)
    owner.fabrik_version = NEWER  # in memory, as if the library were of that version
    collection = bpy.data.collections["Character"]
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    made = next(found for found in bpy.data.objects if found.type == "ARMATURE" and found.override_library)
    made.fabrik_version = DATA_VERSION
    with pytest.raises(RigError, match=f"version {NEWER}"):
        check_rig(made, bpy.context.evaluated_depsgraph_get())


@pytest.mark.parametrize("words", [["solve"], ["bake"], ["inspect"], ["convert", "--to", "ik"]])
def test_the_command_line_refuses_newer_data(
    words: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shot = save_shot(tmp_path / "shot.blend")
    make_newer(bpy.data.objects["Rig"])
    bpy.ops.wm.save_mainfile()
    before = shot.read_bytes()
    output = [] if words == ["inspect"] else ["--output", str(shot)]
    assert run([*words, "--file", str(shot), *output]) == 2
    assert TEXT in refused(capfd)
    assert shot.read_bytes() == before

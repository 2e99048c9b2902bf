# SPDX-License-Identifier: GPL-3.0-or-later
"""How a walker walks as a file: it comes back on another character, at another frame rate, and nothing is half-read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.frames import rate_of
from fabrik_addon.actions.walk.clip import read_own
from fabrik_addon.actions.walk.plan import legs_now
from fabrik_addon.cli.commands import run
from fabrik_addon.gait.clip import OwnCycle
from fabrik_addon.maths import conjugates, products, turn_angles
from fabrik_addon.rig.schema import rig_of

from rigs import FOX, empty_file, import_gltf
from support.scenes import press
from support.skeletons import make_character
from support.walks import key_way, walking


def fox() -> bpy.types.Object:
    empty_file()
    owner = import_gltf(FOX)
    press("walker_add")
    rig_of(owner).walker.clip, rig_of(owner).walker.gait = owner.animation_data.action, "CLIP"
    return owner


def read(owner: bpy.types.Object) -> Any:
    return read_own(owner, legs_now(owner)[0], rate_of(bpy.context.scene))


def assert_alike(own: OwnCycle, other: OwnCycle, off: float) -> None:
    for leg, same in zip(own.legs, other.legs, strict=True):
        assert leg.cycle is not None
        assert same.cycle is not None
        assert leg.cycle.stride == pytest.approx(same.cycle.stride, rel=off)
        assert leg.cycle.pace == pytest.approx(same.cycle.pace, rel=off)
        assert leg.cycle.duty == pytest.approx(same.cycle.duty, abs=off)


# at another rate stances begin between frames; hind feet of this clip slide at twice the speed of the front feet
@pytest.mark.parametrize(("rate", "off"), [(24, 1e-4), (30, 0.12), (60, 0.12)])
def test_a_cycle_by_a_clip_comes_back_on_another_character(tmp_path: Path, rate: int, off: float) -> None:
    path, owner = tmp_path / "fox.json", fox()
    rig_of(owner).walker.bounce = 1.5
    before = read(owner)
    press("cycle_export", filepath=str(path))
    empty_file()
    bpy.context.scene.render.fps = rate
    other = import_gltf(FOX)
    plays, walker = other.animation_data.action, rig_of(other).walker
    press("walker_add")
    actions = len(bpy.data.actions)
    press("cycle_import", filepath=str(path))
    assert len(bpy.data.actions) == actions + 1
    assert other.animation_data.action == plays
    assert (walker.gait, walker.clip.name.split()[0], walker.fast_clip) == ("CLIP", plays.name.split()[0], None)
    assert walker.settings.bounce == pytest.approx(1.5)
    after = read(other)
    assert_alike(before.cycle, after.cycle, off)
    if rate == 24:
        for name, turns in before.turns.items():
            assert turn_angles(products(turns, conjugates(after.turns[name]))).max() <= 1e-4
            assert np.allclose(before.places.get(name, 0.0), after.places.get(name, 0.0), atol=1e-5)


def test_a_cycle_of_norms_is_its_settings(tmp_path: Path) -> None:
    path, owner = tmp_path / "tired", walking("human")
    walker = rig_of(owner).walker
    walker.gait, walker.acceleration = "HUMAN", 3.0
    press("walk_style", style="TIRED")
    wanted = walker.settings
    press("cycle_export", filepath=str(path))
    walker.acceleration = 9.81
    press("walk_style", style="MARCH")
    walker.gait = "BIPED_WALK"
    press("cycle_import", filepath=f"{path}.json")
    assert walker.settings.acceleration == pytest.approx(9.81), "it is the scene's"
    walker.acceleration = 3.0
    assert walker.settings == wanted


def test_the_command_line_walks_by_a_file(tmp_path: Path) -> None:
    owner = make_character("human_mixamo")
    press("walker_add")
    rig_of(owner).walker.stride_scale = 0.7
    path, file, told = tmp_path / "short.json", tmp_path / "walk.blend", tmp_path / "report.json"
    press("cycle_export", filepath=str(path))
    rig_of(owner).walker.stride_scale = 1.0
    key_way(owner, "mixamorig:Hips", lambda share: (0.0, -2.5 * share / owner.matrix_world.to_scale()[0], 0.0), (1, 60))
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    name = owner.name
    words = ["walk", "--file", str(file), "--frames", "1-60", "--report", str(told), "--output", str(file)]
    assert run([*words, "--cycle", str(path)]) == 0
    assert rig_of(bpy.data.objects[name]).walker.stride_scale == pytest.approx(0.7)
    assert run([*words, "--cycle", str(tmp_path / "gone.json")]) == 2


def changed(change: Any) -> Any:
    def made(text: str) -> str:
        data = json.loads(text)
        change(data)
        return json.dumps(data)

    return made


@pytest.mark.parametrize(
    "broken",
    [
        lambda text: text[:-40],
        lambda text: "[]",
        lambda text: text.replace('"fabrik_cycle": 1', '"fabrik_cycle": 2'),
        changed(lambda data: data.update(rate=0)),
        changed(lambda data: data.update(rate="24")),
        changed(lambda data: data["settings"].update(stride_scale=99.0)),
        changed(lambda data: data["settings"].update(gait="FLY")),
        changed(lambda data: data["clips"][0]["bones"][3]["turns"].pop()),
        changed(lambda data: data["clips"][0]["bones"][3]["turns"][2].__setitem__(0, float("nan"))),
        changed(lambda data: data["clips"][0]["bones"][3]["turns"].__setitem__(2, [0, 0, 0, 0])),
        changed(
            lambda data: data["clips"][0]["bones"][3].update(plain={"hide": data["clips"][0]["bones"][3]["turns"]})
        ),
        changed(lambda data: data.update(clips=3 * data["clips"])),
        changed(lambda data: data["clips"][0].update(first=0.5)),
    ],
)
def test_a_broken_file_changes_nothing(tmp_path: Path, broken: Any) -> None:
    path, owner = tmp_path / "fox.json", fox()
    press("cycle_export", filepath=str(path))
    path.write_text(broken(path.read_text(encoding="utf-8")), encoding="utf-8")
    before = rig_of(owner).walker.settings, rig_of(owner).walker.clip, [*bpy.data.actions]
    with pytest.raises(RuntimeError, match=r"(no file with a cycle|gait|stride_scale)"):
        press("cycle_import", filepath=str(path))
    assert before == (rig_of(owner).walker.settings, rig_of(owner).walker.clip, [*bpy.data.actions])


def test_what_can_not_be_read_or_written_is_told(tmp_path: Path) -> None:
    path, owner = tmp_path / "fox.json", fox()
    press("cycle_export", filepath=str(path))
    with pytest.raises(RuntimeError, match="can't be read"):
        press("cycle_import", filepath=str(tmp_path / "gone.json"))
    with pytest.raises(RuntimeError, match="can't be written"):
        press("cycle_export", filepath=str(tmp_path / "no" / "folder.json"))
    owner.data.bones["Tail_Base"].name = "Brush"
    press("cycle_import", filepath=str(path))
    human = walking("human")
    with pytest.raises(RuntimeError, match="none of the bones"):
        press("cycle_import", filepath=str(path))
    assert rig_of(human).walker.gait != "CLIP"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that earlier versions saved: they hold and mean what they did; see tests/data/README.md."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from math import dist, hypot
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.maths import conjugated, multiplied, normalized, turn_angle
from fabrik_addon.rig.animation.keys import KeyedChannels
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.figure.groups import ChainSet
from fabrik_addon.rig.figure.joint_limits import read_limit
from fabrik_addon.rig.figure.reader import frame_of
from fabrik_addon.rig.figure.start_pose import is_stale, read_starts
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.rig.versions import DATA_VERSION, FIRST

from support.processes import python_path, run_process
from support.rig_facts import Facts, armatures, meant_at, stored
from support.scenes import make_body, reload

DATA = Path(__file__).parents[1] / "data"
OLD = {f"{path.parent.name}/{path.stem}": path for path in sorted(DATA.glob("[0-9]*/*.json"))}
RESULTS = {"status", "residual", "turn_residual", "passes", "blocking_bones", "message"}  # which live posing finds anew
SAME = 1e-5  # of stored numbers, which have single precision
NEAR = 1e-3  # share of the length, and radians
LITTLE = 1e-4  # share of the length
PLAYED = {"NONE", "REFUSED"}
READ_AS = {"MOVED": "NONE"}  # statuses that there are no more, and what stands in their place
TOGETHER = 3  # the version of data since which chains that share bones are solved together
ENDS = {"TAIL": -1, "HEAD": -2}  # of the tip bone, among the joints
SHARING = "moved away"  # a rig whose chains share bones


@pytest.fixture(params=OLD)
def old(request: pytest.FixtureRequest) -> Facts:
    """What an old file means; the file is open."""
    return open_old(request.param)


def open_old(name: str) -> Facts:
    """Open a file, and read what it is to mean."""
    facts: Facts = json.loads(OLD[name].read_text(encoding="utf-8"))
    saved = tuple(int(number) for number in facts["blender"].split()[0].split("."))
    if saved[:2] > bpy.app.version[:2]:
        pytest.skip(f"it was saved by Blender {saved[0]}.{saved[1]}, which is newer than this one")
    bpy.ops.wm.open_mainfile(filepath=str(OLD[name].with_name(facts["file"])))
    for owner, told in facts["rigs"].items():
        rig = facts["rigs"][owner] = {**facts.get("plain_rig", {}), **told}
        facts["version"] = rig.pop("fabrik_version", FIRST)  # which becomes that of today
        rig.pop("fabrik_bone_rests", None)  # these lacked where bones begin, and are written anew
        rig["fabrik_chains"] = [{**facts.get("plain_chain", {}), **chain} for chain in rig["fabrik_chains"]]
        for chain in rig["fabrik_chains"]:
            chain["status"] = READ_AS.get(chain["status"], chain["status"])
        for bone, values in rig["bones"].items():
            rig["bones"][bone] = {**facts["plain_bone"], **values}
    return facts


def differences(wanted: Any, found: Any, where: str = "") -> Iterator[str]:
    """Where what is found is not what is wanted; what is there besides, of later versions, does not count."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name, value in wanted.items():
            yield from differences(value, found.get(name, "nothing"), f"{where}/{name}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for i, pair in enumerate(zip(wanted, found, strict=True)):
            yield from differences(*pair, f"{where}/{i}")
    elif isinstance(wanted, float) and isinstance(found, float):
        if found != pytest.approx(wanted, rel=SAME, abs=SAME):
            yield f"{where}: {found} and not {wanted}"
    elif wanted != found:
        yield f"{where}: {found} and not {wanted}"


def stored_differences(facts: Facts) -> list[str]:
    """What the open file holds else than it should; live chains may have been solved anew."""
    for rig in facts["rigs"].values():
        if rig["fabrik_live"]:
            rig["fabrik_chains"] = [
                {name: value for name, value in chain.items() if name not in RESULTS} for chain in rig["fabrik_chains"]
            ]
    return list(differences({"scene": facts["scene"], "rigs": facts["rigs"]}, stored()))


def test_all_that_was_stored_is_read(old: Facts) -> None:
    assert not stored_differences(old)
    assert bpy.context.scene.frame_current == old["frame"]


def test_it_gets_the_version_of_its_data(old: Facts) -> None:
    with_chains = {name for name, rig in old["rigs"].items() if rig["fabrik_chains"]}
    assert with_chains
    assert {owner.name for owner in armatures() if owner.fabrik_version == DATA_VERSION} >= with_chains


def test_saved_anew_it_is_the_same(old: Facts, tmp_path: Path) -> None:
    reload(tmp_path)
    assert not stored_differences(old)
    assert {found.fabrik_version for found in armatures() if len(found.fabrik.chains)} == {DATA_VERSION}


def test_solved_anew_it_means_the_same(old: Facts) -> None:
    wrong: list[str] = []
    for frame, rigs in old["meant"].items():
        found = meant_at(int(frame))
        for owner in armatures():
            if owner.name == SHARING and old["version"] < TOGETHER:
                continue  # see below
            for name, wanted in rigs.get(owner.name, {}).items():
                chain = owner.fabrik.chains[name]
                is_exact = owner.name in old["exact"] or not chain.enabled
                problems = changes(wanted, found[owner.name][name], chain, is_exact)
                wrong += [f"{owner.name}, {name}, frame {frame}: {problem}" for problem in problems]
    assert not wrong


def changes(wanted: Facts, found: Facts, chain: FabrikChain, is_exact: bool) -> Iterator[str]:
    """In what a chain is posed else than it was, or worse."""
    length = sum(dist(a, b) for a, b in pairwise(wanted["joints"]))
    status = found["status"]
    if status != wanted["status"] and (wanted["status"], status) != ("BLOCKED", "REACHED"):
        yield f"{status} and not {wanted['status']}"
    yield from differences(wanted["target"], found["target"], "target")
    if found["residual"] > max(wanted["residual"] * (1.0 + NEAR) + LITTLE * length, chain.tolerance * length):
        yield f"{found['residual']} off and not {wanted['residual']}"
    yield from off_goal(wanted, found, chain, length)
    if not is_exact:
        return
    apart = max(dist(a, b) for a, b in zip(wanted["joints"], found["joints"], strict=True))
    if apart > NEAR * length:
        yield f"a joint {apart} elsewhere"
    pairs = zip(wanted["rotations"], found["rotations"], strict=True)
    turned = max(turn_angle(multiplied(conjugated(normalized(a)), normalized(b))) for a, b in pairs)
    if turned > NEAR:
        yield f"a bone turned by {turned}"


def off_goal(wanted: Facts, found: Facts, chain: FabrikChain, length: float) -> Iterator[str]:
    """Whether a chain that reaches is at its target or, where a pin or a walk holds it, where it was."""
    if not chain.enabled or found["status"] != "REACHED" or chain.influence < 1.0 or chain.kind == "AIM" or chain.soft:
        return
    end = ENDS[chain.effector]
    off = dist(found["joints"][end], found["target"] or wanted["joints"][end])
    if off > (1.01 * chain.tolerance if found["target"] else NEAR) * length:
        yield f"{off} off its goal"


MAKE = """
import os, sys
from make_old_files import Path, make
for name in sys.argv[2:]:
    make(name, Path(sys.argv[1]))
os._exit(0)
"""


@pytest.mark.skipif(bool(bpy.app.binary_path), reason="Blender's own Python has no module bpy to load")
def test_this_version_can_make_its_files(tmp_path: Path) -> None:
    names = ("limits", "chains", "live", "baked", "bodies", "walkers", "library")
    packages = python_path(Path(pytest.__file__).parents[1])
    done = run_process([sys.executable, "-c", MAKE, tmp_path, *names], packages, folder=DATA)
    assert done.returncode == 0, done.stderr
    for name in names:
        facts: Facts = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        assert facts["rigs"]
        assert facts["plain_bone"]["fabrik_limit"] == "FREE"
        assert (tmp_path / facts["file"]).is_file()


def test_chains_that_share_bones_find_one_pose_that_is_nearer() -> None:
    """The last of them had its way before; now their goals are met as well as can be, all in all."""
    facts = open_old("0.2.0/chains")
    for frame, rigs in facts["meant"].items():
        before, now = rigs[SHARING], meant_at(int(frame))[SHARING]
        assert "MOVED" in {chain["status"] for chain in before.values()}
        assert hypot(*(chain["residual"] for chain in now.values())) < hypot(
            *(dist(chain["joints"][-1], chain["target"]) for chain in before.values())
        )


@pytest.mark.parametrize("path", sorted(DATA.glob("*/mappings/*.json")), ids=lambda path: path.parts[-3])
def test_by_a_mapping_a_rig_is_set_up_as_it_was(path: Path) -> None:
    open_old(f"{path.parts[-3]}/bodies")
    wanted = _limbs(bpy.data.objects["set up"])
    owner = make_body()
    bpy.ops.fabrik.mapping_import(filepath=str(path), controls="EMPTIES")
    assert wanted
    assert _limbs(owner) == wanted


def _limbs(owner: bpy.types.Object) -> list[tuple[str, str, int, str, bool]]:
    chains = rig_of(owner).chains
    return [(chain.name, chain.tip_bone, chain.bone_count, chain.effector, chain.pin) for chain in chains]


def test_the_poses_that_were_solved_are_within_the_limits(old: Facts) -> None:
    wrong: list[str] = []
    for frame, rigs in old["meant"].items():
        bpy.context.scene.frame_set(int(frame))
        for owner in armatures():
            for name, wanted in rigs.get(owner.name, {}).items():
                chain = owner.fabrik.chains[name]
                if chain.enabled and wanted["status"] not in PLAYED:
                    wrong += [f"{owner.name}, {name}, frame {frame}: {bone}" for bone in outside(owner, chain, wanted)]
    assert not wrong


def outside(owner: bpy.types.Object, chain: FabrikChain, wanted: Facts) -> list[str]:
    """The bones that stood outside of their limits, as these are read now."""
    bones = resolve_bones(owner, chain)
    keyed = KeyedChannels(owner, frame_of(bpy.context.evaluated_depsgraph_get()))
    starts = read_starts(ChainSet(owner, (chain,)), bones, keyed).rotations
    joints = zip(bones, starts, wanted["rotations"], strict=True)
    return [
        bone.name for bone, start, rotation in joints if read_limit(bone, start).violation(normalized(rotation)) > NEAR
    ]


def test_no_start_pose_is_taken_for_stale(old: Facts) -> None:
    for owner in armatures():
        for chain in owner.fabrik.chains:
            assert not is_stale(chain, resolve_bones(owner, chain)), (owner.name, chain.name)

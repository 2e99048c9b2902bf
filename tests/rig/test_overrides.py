# SPDX-License-Identifier: GPL-3.0-or-later
"""Linked rigs: refused as they are, and kept through save and reload as library overrides."""

from __future__ import annotations

from math import radians
from pathlib import Path

import bpy
import pytest

from rigs import add_chain, make_empty, make_line, tip_error


def library(path: Path, with_chain: bool) -> str:
    """A file with a rig in a collection, with or without anything of FABRIK in it."""
    owner = make_line(3, bend=0.2)
    collection = bpy.data.collections.new("Character")
    collection.objects.link(owner)
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(owner)
    if with_chain:
        add_chain(owner).name = "from library"
    file = str(path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    return file


def link(file: str, override: bool) -> bpy.types.Object:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    collection = bpy.data.collections["Character"]
    bpy.context.scene.collection.children.link(collection)
    if override:
        collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    owner = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE" and bool(o.override_library) == override)
    bpy.context.view_layer.objects.active = owner
    return owner


def reload(path: Path) -> bpy.types.Object:
    file = str(path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    return next(o for o in bpy.context.scene.objects if o.override_library and o.type == "ARMATURE")


def test_linked_rig_is_refused(tmp_path: Path) -> None:
    link(library(tmp_path, with_chain=True), override=False)
    assert not bpy.ops.fabrik.solve.poll()
    with pytest.raises(RuntimeError, match="It is linked: make a library override"):
        bpy.ops.fabrik.solve()


@pytest.mark.parametrize("with_chain", [False, True])
def test_everything_set_on_an_override_is_there_after_reload(tmp_path: Path, with_chain: bool) -> None:
    owner = link(library(tmp_path, with_chain), override=True)
    bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=3, use_target=True, use_pole=True)
    chain = owner.fabrik.chains[-1]
    chain.name, chain.influence, chain.pole_angle = "mine", 0.75, 0.5
    chain.target.location = (0.8, 0.7, 2.0)
    owner.pose.bones["b1"].fabrik.limit = "HINGE"
    owner.pose.bones["b1"].fabrik.axis = (1, 0, 0)
    owner.pose.bones["b1"].fabrik.angle_min = radians(-140)
    bpy.ops.fabrik.start_pose_capture()
    bpy.ops.fabrik.solve(chain="mine")
    assert chain.status == "REACHED"
    passes = chain.passes
    owner = reload(tmp_path)
    chain = owner.fabrik.chains["mine"]
    assert [c.name for c in owner.fabrik.chains] == (["from library"] if with_chain else []) + ["mine"]
    assert owner.fabrik.active_index == int(with_chain)
    assert (chain.tip_bone, chain.bone_count, chain.start, chain.passes) == ("b2", 3, "CAPTURED", passes)
    assert (chain.influence, chain.pole_angle) == (0.75, 0.5)
    assert chain.target.name == "b2.target"
    assert chain.pole.name == "b2.pole"
    assert [item.name for item in chain.captured] == ["b0", "b1", "b2"]
    limit = owner.pose.bones["b1"].fabrik
    assert (limit.limit, tuple(limit.axis), round(limit.angle_min, 4)) == ("HINGE", (1, 0, 0), round(radians(-140), 4))


def test_a_chain_of_the_library_is_solved_on_the_override(tmp_path: Path) -> None:
    owner = link(library(tmp_path, with_chain=True), override=True)
    chain = owner.fabrik.chains["from library"]
    chain.target = make_empty((0.8, 0.7, 2.0))
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"
    owner = reload(tmp_path)
    assert owner.fabrik.chains["from library"].target is not None
    assert tip_error(owner, owner.fabrik.chains["from library"]) < 1e-4


def test_a_chain_of_the_library_can_not_be_removed(tmp_path: Path) -> None:
    owner = link(library(tmp_path, with_chain=True), override=True)
    with pytest.raises(RuntimeError, match="comes from the library file"):
        bpy.ops.fabrik.chain_remove()
    assert len(owner.fabrik.chains) == 1

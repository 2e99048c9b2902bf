# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls that drive nothing at present are found out, on a generated Rigify rig and on one made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.dependencies import why_unfollowed
from fabrik_addon.rig.schema import rig_of

from support.scenes import add_chain, assert_refused, make_armature, make_empty, strand
from support.skeletons import generate_rig


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_rig(tmp_path_factory.mktemp("rigify"))


@pytest.fixture
def rigify(generated: Path) -> bpy.types.Object:
    """The generated rig."""
    bpy.ops.wm.open_mainfile(filepath=str(generated))
    return bpy.data.objects["rig"]


def reason(owner: bpy.types.Object, *bones: str) -> str:
    return str(why_unfollowed(owner, bones) or "")


class TestRigify:
    def test_fk_controls_while_ik_is_on_and_the_other_way_round(
        self, rigify: bpy.types.Object, capfd: pytest.CaptureFixture[str]
    ) -> None:
        chain = add_chain(rigify, (0.5, -0.3, 1.3), tip="forearm_fk.L", count=2)
        for value, is_followed in ((0.0, False), (1.0, True)):
            rigify.pose.bones["upper_arm_parent.L"]["IK_FK"] = value
            rigify.update_tag()
            bpy.context.view_layer.update()
            stood = rigify.pose.bones["DEF-forearm.L"].tail.copy()
            chain.target.location.z += 0.1
            bpy.ops.fabrik.solve()
            chain = rig_of(rigify).chains[0]
            assert chain.status in {"REACHED", "TOO_FAR"}
            bpy.context.view_layer.update()
            assert ((rigify.pose.bones["DEF-forearm.L"].tail - stood).length > 1e-3) == is_followed
            text = "the bones that deform do not follow it: 'IK_FK' of 'upper_arm_parent.L' is 0"
            assert (text in chain.message) != is_followed
            assert (text in capfd.readouterr().out) != is_followed

    def test_every_limb_and_the_spine(self, rigify: bpy.types.Object) -> None:
        for side in "LR":
            for parent, bones in (
                ("upper_arm_parent", ("upper_arm_fk", "forearm_fk")),
                ("thigh_parent", ("thigh_fk", "shin_fk")),
            ):
                names = [f"{bone}.{side}" for bone in bones]
                assert reason(rigify, *names).endswith(f"'IK_FK' of '{parent}.{side}' is 0")
        assert reason(rigify, "spine_fk", "spine_fk.001") == ""

    def test_what_follows_others_is_refused_as_before(self, rigify: bpy.types.Object) -> None:
        add_chain(rigify, (0.5, -0.3, 1.3), tip="DEF-forearm.L", count=2)
        assert_refused("its constraint 'Copy Transforms' would override the pose", "solve")


def controls() -> bpy.types.Object:
    """Two controls, and two bones that deform and copy them."""
    owner = make_armature([*strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2)), *strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2))])
    for i in (0, 1):
        owner.data.bones[f"b{i}"].use_deform = False
        constraint: Any = owner.pose.bones[f"b{i + 2}"].constraints.new("COPY_ROTATION")
        constraint.target, constraint.subtarget = owner, f"b{i}"
    return owner


def test_an_influence_of_zero_is_named() -> None:
    owner = controls()
    assert reason(owner, "b0", "b1") == ""
    for i in (2, 3):
        owner.pose.bones[f"b{i}"].constraints[0].influence = 0.0
    bpy.context.view_layer.update()
    assert reason(owner, "b0", "b1") == (
        "the bones that deform do not follow it: the constraint 'Copy Rotation' of 'b2' has an influence of 0"
    )


def test_one_that_comes_after_takes_its_place() -> None:
    owner = controls()
    switch: Any = owner.pose.bones["b2"].constraints.new("COPY_TRANSFORMS")
    switch.target = make_empty((0, 0, 0))
    owner.pose.bones["b3"].constraints[0].mute = True
    bpy.context.view_layer.update()
    assert "the constraint 'Copy Transforms' of 'b2' has an influence of 1" in reason(owner, "b0", "b1")
    switch.mix_mode = "AFTER_FULL"
    bpy.context.view_layer.update()
    assert reason(owner, "b0", "b1") == ""


def test_an_object_on_a_control_is_seen() -> None:
    owner = controls()
    for i in (2, 3):
        owner.pose.bones[f"b{i}"].constraints[0].influence = 0.0
    prop = make_empty(name="Prop")
    prop.parent, prop.parent_type, prop.parent_bone = owner, "BONE", "b1"
    bpy.context.view_layer.update()
    assert reason(owner, "b0", "b1") == ""


def test_controls_without_any_followers_are_left_alone(line: bpy.types.Object) -> None:
    for bone in line.data.bones:
        bone.use_deform = False
    bpy.context.view_layer.update()
    assert reason(line, "b0", "b1", "b2") == ""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input: a clear error that names what is wrong and where, and nothing has moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.schema import FabrikChain

from support.judging import channels
from support.scenes import (
    Bone,
    add_chain,
    assert_refused,
    make_armature,
    make_empty,
    put,
    reaching_line,
    solved_status,
    strand,
)

NAN = float("nan")


def constrain(owner: bpy.types.Object, bone: str, kind: str = "COPY_ROTATION", **settings: object) -> None:
    stack: Any = owner.pose.bones[bone].constraints
    constraint = stack.new(kind)
    constraint.target = make_empty(name="Other")
    put(constraint, **settings)


def move_to_collection(thing: bpy.types.Object, exclude: bool) -> None:
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(thing)
    bpy.context.scene.collection.objects.unlink(thing)
    if exclude:
        bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    else:
        collection.hide_viewport = True


def driver(owner: bpy.types.Object, goal: bpy.types.Object) -> None:
    curve = goal.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = owner, "b1"
    variable.targets[0].transform_type, variable.targets[0].transform_space = "ROT_X", "LOCAL_SPACE"
    curve.driver.expression = f"{variable.name} + 0.3"


def spline_ik(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """One of the bone after the chain, that moves the chain's bones."""
    chain.tip_bone, chain.bone_count = "b1", 2
    constraint: Any = owner.pose.bones["b2"].constraints.new("SPLINE_IK")
    constraint.target, constraint.chain_count = bpy.data.objects.new("Curve", bpy.data.curves.new("Curve", "CURVE")), 2
    bpy.context.collection.objects.link(constraint.target)


CASES: dict[str, tuple[Callable[[bpy.types.Object, FabrikChain], object], str]] = {
    "no target": (lambda o, c: setattr(c, "target", None), "no target is set"),
    "deleted target": (lambda o, c: bpy.data.objects.remove(c.target), "its target 'Target' was deleted"),
    "target not in the scene": (
        lambda o, c: bpy.context.scene.collection.objects.unlink(c.target),
        "the target 'Target' was deleted",
    ),
    "target nan": (lambda o, c: setattr(c.target, "location", (NAN, 0, 0)), "position of the target 'Target' is not"),
    "pole infinite": (
        lambda o, c: setattr(c, "pole", make_empty((float("inf"), 0, 0), "Pole")),
        "position of the pole 'Pole' is not",
    ),
    "pole angle nan": (lambda o, c: setattr(c, "pole_angle", NAN), "pole angle is not a finite number"),
    "target is a bone of the chain": (
        lambda o, c: put(c, target=o, target_bone="b1"),
        "the target moves with the chain's own bone 'b1'",
    ),
    "target is a bone below the chain": (
        lambda o, c: put(c, bone_count=2, tip_bone="b1", target=o, target_bone="b2"),
        "the target moves with the chain's own bone 'b1'",
    ),
    "target parented to the chain": (
        lambda o, c: put(c.target, parent=o, parent_type="BONE", parent_bone="b1"),
        "moves with the chain's own bone 'b1'",
    ),
    "target constrained to the chain": (
        lambda o, c: put(c.target.constraints.new("COPY_LOCATION"), target=o, subtarget="b2"),
        "moves with the chain's own bone 'b2'",
    ),
    "target constrained by an armature": (
        lambda o, c: put(c.target.constraints.new("ARMATURE").targets.new(), target=o, subtarget="b1"),
        "own bone 'b1'",
    ),
    "target driven by the chain": (lambda o, c: driver(o, c.target), "own bone 'b1'"),
    "target bone missing": (
        lambda o, c: put(c, target=make_armature([Bone((5, 0, 0), (5, 0, 1))], "Other"), target_bone="hand"),
        "the target armature 'Other' has no bone 'hand'",
    ),
    "no tip bone": (lambda o, c: setattr(c, "tip_bone", ""), "no tip bone is set"),
    "missing tip bone": (lambda o, c: setattr(c, "tip_bone", "gone"), "the armature has no bone 'gone'"),
    "more bones than there are": (lambda o, c: setattr(c, "bone_count", 9), "9 bones are wanted"),
    "constraint": (lambda o, c: constrain(o, "b1"), "bone 'b1': its constraint 'Copy Rotation' would override"),
    "damped track": (lambda o, c: constrain(o, "b0", "DAMPED_TRACK"), "bone 'b0': its constraint 'Damped Track'"),
    "stretch to": (lambda o, c: constrain(o, "b2", "STRETCH_TO"), "bone 'b2': its constraint 'Stretch To'"),
    "blender's ik": (
        lambda o, c: (constrain(o, "b2", "IK"), setattr(c, "tip_bone", "b1")),
        "bone 'b0': the IK constraint of 'b2' moves it",
    ),
    "driven rotation": (
        lambda o, c: put(o.pose.bones["b1"].driver_add("rotation_quaternion", 1).driver, expression="0.1"),
        "bone 'b1': its rotation is driven",
    ),
    "rest position": (lambda o, c: setattr(o.data, "pose_position", "REST"), "in Rest Position"),
    "hidden from evaluation": (lambda o, c: setattr(o, "hide_viewport", True), "disabled in the viewport"),
    "hidden collection": (lambda o, c: move_to_collection(o, exclude=False), "disabled in the viewport"),
    "object without scale": (lambda o, c: setattr(o, "scale", (1, 0, 1)), "'Rig': its scale is zero"),
    "object scaled to nothing": (lambda o, c: setattr(o, "scale", (0, 0, 0)), "'Rig': its scale is zero"),
    "parent scaled to nothing": (
        lambda o, c: (setattr(o, "parent", make_empty((0, 0, 0))), setattr(o.parent, "scale", (0, 0, 0))),
        "'Rig': its scale is zero",
    ),
    "object nan": (lambda o, c: setattr(o, "location", (NAN, 0, 0)), "'Rig': its world matrix"),
    "bone without scale": (
        lambda o, c: setattr(o.pose.bones["b1"], "scale", (0, 1, 1)),
        "bone 'b1': its scale is zero",
    ),
    "bone location infinite": (
        lambda o, c: setattr(o.pose.bones["b0"], "location", (float("inf"), 0, 0)),
        "bone 'b0': a location or scale channel",
    ),
    "locked bone with a zero quaternion": (
        lambda o, c: put(o.pose.bones["b1"], rotation_quaternion=(0, 0, 0, 0), lock_rotation=(True, True, True)),
        "bone 'b1': the rotation quaternion is zero",
    ),
    "hinge without an axis": (
        lambda o, c: put(o.pose.bones["b1"].fabrik, limit="HINGE", axis=(0, 0, 0)),
        "bone 'b1': the hinge's axis is zero",
    ),
    "hinge with angles the wrong way": (
        lambda o, c: put(o.pose.bones["b1"].fabrik, limit="HINGE", angle_min=2.0, angle_max=1.0),
        "bone 'b1': the hinge's least angle is above its greatest",
    ),
    "spline ik below the chain": (spline_ik, "bone 'b1': the IK constraint of 'b2' moves it"),
    "influence nan": (lambda o, c: setattr(c, "influence", NAN), "the influence is not a finite number"),
    "no captured pose": (lambda o, c: setattr(c, "start", "CAPTURED"), "no start pose was captured"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused_and_nothing_moved(name: str) -> None:
    owner, chain = reaching_line((0.5, 0.5, 2.0))
    spoil, message = CASES[name]
    spoil(owner, chain)
    bpy.context.view_layer.objects.active = owner
    bpy.context.view_layer.update()  # drivers write on evaluation
    before = repr(channels(owner))
    assert_refused(message, "solve")
    assert repr(channels(owner)) == before


def test_edit_mode_is_refused_by_the_button() -> None:
    reaching_line((0.5, 0.5, 2.0))
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.fabrik.solve.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.fabrik.solve.poll()


def test_muted_constraints_and_those_without_influence_are_fine(line: bpy.types.Object) -> None:
    constrain(line, "b0", mute=True)
    constrain(line, "b1", influence=0.0)
    constrain(line, "b2", "IK", mute=True)
    chain = add_chain(line, (0.5, 0.5, 2.0))
    assert solved_status(chain) == "REACHED"


def test_what_no_check_foresees_is_seen_afterwards_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    from fabrik_addon.rig.figure import reader as preparing

    owner, chain = reaching_line((0.5, 0.5, 2.0))
    constrain(owner, "b1")
    monkeypatch.setattr(preparing, "constrained_bones", lambda *_: {})
    before = channels(owner)
    assert_refused("bone 'b2': something else moves it", "solve")
    assert channels(owner) == before
    assert chain.status == "REFUSED"


def test_a_refused_chain_does_not_stop_the_others() -> None:
    owner = make_armature(
        [*strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2), connect=False), Bone((3, 0, 0), (3, 0.1, 1), parent=None)]
    )
    good = add_chain(owner, (0.5, 0.5, 1.2), tip="b1")
    bad = add_chain(owner, tip="b2")
    bpy.ops.fabrik.solve_all()
    assert (owner.fabrik.chains[good.name].status, owner.fabrik.chains[bad.name].status) == ("REACHED", "REFUSED")


def test_unknown_chain_is_named() -> None:
    reaching_line((0.5, 0.5, 2.0))
    assert_refused("there is no chain 'leg'", "solve", chain="leg")


HIDDEN = {
    "disabled in the viewport": lambda goal: setattr(goal, "hide_viewport", True),
    "in an excluded collection": lambda goal: move_to_collection(goal, exclude=True),
    "in a disabled collection": lambda goal: move_to_collection(goal, exclude=False),
}


@pytest.mark.parametrize("how", HIDDEN)
@pytest.mark.parametrize("role", ["target", "pole"])
def test_goals_that_blender_does_not_evaluate(role: str, how: str) -> None:
    _, chain = reaching_line((0.3, 0.8, 1.0))
    chain.pole = make_empty((0, 3, 1), "Pole")
    bpy.ops.fabrik.solve()
    HIDDEN[how](getattr(chain, role))
    assert_refused(f"the {role} '{role.title()}' is not in the view layer, or is disabled", "solve")


def test_goals_hidden_by_the_eye_are_fine() -> None:
    _, chain = reaching_line((0.3, 0.8, 1.0))
    chain.target.hide_set(True)
    assert solved_status(chain) == "REACHED"


def test_target_bone_that_is_constrained_to_the_chain() -> None:
    owner = make_armature(
        [*strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2), connect=False), Bone((0, 0, 0), (0, 0, 0.2), parent=None)]
    )
    chain = add_chain(owner, tip="b1", count=2)
    chain.target, chain.target_bone = owner, "b2"
    constraint = owner.pose.bones["b2"].constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = owner, "b1"
    assert_refused("the target moves with the chain's own bone 'b1'", "solve")


def test_leftover_parent_bone_is_no_tie() -> None:
    owner, chain = reaching_line((0.3, 0.8, 1.0))
    chain.target.parent, chain.target.parent_bone, chain.target.parent_type = owner, "b1", "OBJECT"
    assert solved_status(chain) == "REACHED"

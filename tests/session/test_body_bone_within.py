# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain that begins above the body bone and runs through it takes the body along."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import pytest
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.session.body import set_body
from mathutils import Vector

from support.judging import channels, effector
from support.scenes import HEIGHT, add_limb, make_body, make_empty, pin, press, update

NEAR = 1e-4 * HEIGHT


def with_root() -> bpy.types.Object:
    """A body whose hips hang on a bone on the floor, as those for games do."""
    owner = make_body()
    bpy.ops.object.mode_set(mode="EDIT")
    bones = owner.data.edit_bones
    root = bones.new("root")
    root.head, root.tail = (0, 0.2, 0), (0, 0.5, 0.1)
    bones["hips"].parent = root
    bpy.ops.object.mode_set(mode="OBJECT")
    return owner


def reaching(owner: bpy.types.Object, order: Sequence[tuple[str, int]]) -> dict[str, FabrikChain]:
    """Chains by their tips and the counts of their bones, each with a target where its tip is."""
    for tip, count in order:
        chain = add_limb(owner, tip, count)
        update()
        chain.target = make_empty(effector(owner, chain))
    update()
    return {chain.name: chain for chain in rig_of(owner).chains}


LIMBS = [("foot.L", 5), ("foot.R", 3), ("hand.L", 3)]  # the first one from the root, the others from below the hips


@pytest.mark.parametrize("order", [LIMBS, LIMBS[::-1], [LIMBS[1], LIMBS[0], LIMBS[2]]])
def test_all_are_solved_together_in_any_order(order: Sequence[tuple[str, int]]) -> None:
    owner = with_root()
    chains = reaching(owner, order)
    rig_of(owner).body_bone = "hips"
    stood = channels(owner)
    press("solve_all")
    for now, was in zip(channels(owner), stood, strict=True):
        assert now == pytest.approx(was, abs=1e-5)
    for name, way in (("foot.L", (0.05, -0.1, 0.1)), ("hand.L", (-0.2, -0.2, 0.1))):
        chains[name].target.location += Vector(way)
    update()
    press("solve_all")
    update()
    for chain in chains.values():
        assert chain.status == "REACHED"
        assert (effector(owner, chain) - chain.target.matrix_world.translation).length < NEAR
    assert owner.pose.bones["hips"].location.length == 0.0


def test_the_chain_by_itself_and_with_pins_below() -> None:
    owner = with_root()
    spine = reaching(owner, [("chest", 5)])["chest"]
    rig_of(owner).body_bone = "hips"
    for name in ("foot.L", "foot.R"):
        pin(owner, add_limb(owner, name, 3))
    spine = rig_of(owner).chains["chest"]
    spine.target.location.x += 0.05
    update()
    press("solve_all")
    update()
    for chain in rig_of(owner).chains:
        assert chain.status == "REACHED"
    for name in ("foot.L", "foot.R"):
        chain = rig_of(owner).chains[name]
        assert (effector(owner, chain) - Vector(chain.held_location)).length < NEAR


def test_the_report_says_that_the_body_does_not_move() -> None:
    owner = with_root()
    reaching(owner, LIMBS)
    notes = set_body(bpy.context, owner, "hips").notes
    assert "it turns and does not move, for 'foot.L' begins above it" in notes

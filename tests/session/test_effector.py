# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of the tip that comes to the goal is changed without moving the pose."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler, Vector

from support.judging import channels, effector
from support.scenes import add_limb, make_body, make_empty, pin, press, update

SAME_PLACE = 1e-4
SAME_POSE = 1e-3  # of channels: a reach within the tolerance


def reached() -> bpy.types.Object:
    owner = make_body()
    owner.location = (1.0, 2.0, 0.0)
    owner.pose.bones["forearm.L"].rotation_quaternion = Euler((0.6, 0.0, 0.0)).to_quaternion()
    update()
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone="hand.L", bone_count=3, use_target=True)
    update()
    press("solve")
    update()
    return owner


@pytest.mark.parametrize("back", [False, True])
def test_a_reached_target_comes_along_to_the_other_end(back: bool) -> None:
    owner = reached()
    chain = rig_of(owner).chains[0]
    before = channels(owner)
    press("effector_set", effector="HEAD")
    if back:
        press("effector_set", effector="TAIL")
    assert chain.effector == ("TAIL" if back else "HEAD")
    update()
    assert (chain.target.matrix_world.translation - effector(owner, chain)).length < SAME_PLACE
    press("solve")
    update()
    assert chain.status == "REACHED"
    for now, was in zip(channels(owner), before, strict=True):
        assert now == pytest.approx(was, abs=SAME_POSE)


def test_a_target_elsewhere_stays_there() -> None:
    owner = reached()
    chain = rig_of(owner).chains[0]
    chain.target = make_empty((1.0, 1.5, 1.0))
    update()
    press("effector_set", effector="HEAD")
    assert tuple(chain.target.location) == (1.0, 1.5, 1.0)


def test_a_pin_holds_the_other_end_where_it_stands() -> None:
    owner = make_body()
    chain = add_limb(owner, "foot.L", 3)
    pin(owner, chain, keeps=False)
    press("effector_set", effector="TAIL")
    update()
    assert (Vector(chain.held_location) - effector(owner, chain)).length < SAME_PLACE
    press("solve")
    assert chain.status == "REACHED"


def test_an_aim_is_refused() -> None:
    owner = reached()
    rig_of(owner).chains[0].kind = "AIM"
    with pytest.raises(RuntimeError, match="it aims from the head of its tip bone"):
        press("effector_set", effector="HEAD")
    assert rig_of(owner).chains[0].effector == "TAIL"

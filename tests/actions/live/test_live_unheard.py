# SPDX-License-Identifier: GPL-3.0-or-later
"""What buttons do to the list of chains, and what scripts change before they go to another frame unevaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.judging import bone_head
from support.scenes import go_to, keyed, live_body, live_line, many_limbs, press, update

WAY: Mapping[float, Any] = {1: (0.2, -0.4, 1.9), 12: (0.5, 0.4, 1.2)}


@pytest.mark.parametrize("name", ["chain_remove", "chain_remove_all"])
def test_the_target_of_a_removed_chain_is_followed_no_more(name: str) -> None:
    owner = live_body()
    chains = rig_of(owner).chains
    target = chains["hand.L"].target
    place = target.location.copy()
    keyed(target, {1: place, 12: place + Vector((0.3, -0.2, 0.4))})
    go_to(5)
    rig_of(owner).active_index = chains.find("hand.L")
    press(name)
    go_to(4, 12)
    assert (bone_head(owner, "hand.L") - target.location).length > 1e-3


def test_numbers_stay_with_chains_that_are_moved_in_the_list() -> None:
    owner = many_limbs(2)
    keyed(rig_of(owner).chains[0].target, {1: (0.3, 0.4, 5.0), 12: (0.3, 0.4, 6.0)})
    go_to(5, 6)
    rig_of(owner).active_index = 0
    press("chain_move", direction="DOWN")
    go_to(7)
    told = {chain.name: (chain.status, round(chain.residual, 4)) for chain in rig_of(owner).chains}
    live.state.forget()
    owner.update_tag()
    update()
    assert {chain.name: (chain.status, round(chain.residual, 4)) for chain in rig_of(owner).chains} == told
    assert sorted(status for status, _ in told.values()) == ["REACHED", "TOO_FAR"]


@pytest.mark.parametrize("is_keyed", [False, True])
def test_a_target_that_is_hidden_is_waited_for(is_keyed: bool) -> None:
    _, chain = live_line()
    keyed(chain.target, WAY)
    update()
    go_to(*range(1, 13), 3)
    for frame, hides in ((1, False), (4, True), (9, False)) if is_keyed else ((4, True),):
        chain.target.hide_viewport = hides
        if is_keyed:
            chain.target.keyframe_insert("hide_viewport", frame=frame)
    go_to(6)
    assert chain.status == "REFUSED"

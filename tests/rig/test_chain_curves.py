# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and drivers of a chain stay with it when the list of chains changes: Blender knows them by its number."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.compat import fcurves_of

from support.scenes import make_line, press, update

NAMES = ("first", "second", "third")


def make_keyed() -> bpy.types.Object:
    """Three chains, each with keys of its weight: at frame 1 a tenth of its number, at frame 11 twice that."""
    owner = make_line(4)
    bpy.context.view_layer.objects.active = owner
    for i, name in enumerate(NAMES):
        press("chain_add", tip_bone=f"b{i + 1}")
        chain = owner.fabrik.chains[-1]
        chain.name = name
        for frame, factor in ((1, 1.0), (11, 2.0)):
            chain.weight = 0.1 * (i + 1) * factor
            owner.keyframe_insert(f"fabrik_chains[{i}].weight", frame=frame)
    return owner


def weights(owner: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {chain.name: () for chain in owner.fabrik.chains}
    for frame in (1, 11):
        bpy.context.scene.frame_set(frame)
        for chain in owner.fabrik.chains:
            found[chain.name] += (round(chain.weight, 6),)
    return found


WANTED = {"first": (0.1, 0.2), "second": (0.2, 0.4), "third": (0.3, 0.6)}


@pytest.mark.parametrize(("active", "direction"), [(0, "DOWN"), (1, "UP"), (1, "DOWN"), (2, "UP")])
def test_keys_follow_a_chain_that_moves(active: int, direction: str) -> None:
    owner = make_keyed()
    owner.fabrik.active_index = active
    press("chain_move", direction=direction)
    assert [chain.name for chain in owner.fabrik.chains] != list(NAMES)
    assert weights(owner) == WANTED


@pytest.mark.parametrize("gone", range(3))
def test_keys_of_a_chain_go_with_it(gone: int) -> None:
    owner = make_keyed()
    owner.fabrik.active_index = gone
    press("chain_remove")
    assert weights(owner) == {name: values for name, values in WANTED.items() if name != NAMES[gone]}
    assert len(fcurves_of(owner)) == 2


def test_all_keys_of_chains_go_with_all_chains() -> None:
    owner = make_keyed()
    owner.keyframe_insert('pose.bones["b0"].location', frame=1)
    press("chain_remove_all")
    assert {curve.data_path for curve in fcurves_of(owner)} == {'pose.bones["b0"].location'}


def driven(thing: bpy.types.Object, path: str) -> bpy.types.Driver:
    curve = thing.driver_add(path)
    assert isinstance(curve, bpy.types.FCurve)
    return curve.driver


def test_drivers_follow_a_chain_and_what_reads_it_does_too() -> None:
    owner = make_keyed()
    driven(owner, "fabrik_chains[1].influence").expression = "0.25"
    reader = bpy.data.objects.new("Reader", None)
    bpy.context.collection.objects.link(reader)
    driver = driven(reader, "empty_display_size")
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = owner, "fabrik_chains[1].influence"
    driver.expression = variable.name
    owner.fabrik.active_index = 1
    press("chain_move", direction="UP")
    owner.update_tag()
    reader.update_tag()
    update()
    assert [chain.influence for chain in owner.fabrik.chains] == pytest.approx([0.25, 1.0, 1.0])
    assert reader.empty_display_size == pytest.approx(0.25)
    press("chain_remove")
    assert len(owner.animation_data.drivers) == 0
    assert variable.targets[0].data_path == 'fabrik_chains["second"].influence'  # which is there no more


def test_keys_in_a_strip_follow_too() -> None:
    owner = make_keyed()
    action = owner.animation_data.action
    strip = owner.animation_data.nla_tracks.new().strips.new("Keys", 1, action)
    owner.animation_data.action = None
    if hasattr(strip, "action_slot") and strip.action_slot is None:
        strip.action_slot = action.slots[0]
    owner.fabrik.active_index = 0
    press("chain_move", direction="DOWN")
    assert weights(owner) == WANTED


def test_keys_that_another_armature_plays_are_refused_and_left() -> None:
    owner = make_keyed()
    other = owner.copy()
    bpy.context.collection.objects.link(other)
    bpy.context.view_layer.objects.active = owner
    owner.fabrik.active_index = 0
    before = [curve.data_path for curve in fcurves_of(owner)]
    for operator in (bpy.ops.fabrik.chain_remove, lambda: press("chain_move", direction="DOWN")):
        with pytest.raises(RuntimeError, match=f"'{other.name}' plays the same keys of its chains"):
            operator()
    assert [chain.name for chain in owner.fabrik.chains] == list(NAMES)
    assert [curve.data_path for curve in fcurves_of(owner)] == before

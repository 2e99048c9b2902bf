# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins are seen where they hold, with or without the overlay, what a goal asks, and what a click would take."""

from __future__ import annotations

from collections.abc import Iterator
from math import radians
from typing import cast

import bpy
import pytest
from fabrik_addon.actions.drag import Taken
from fabrik_addon.maths import IDENTITY, distance, v3
from fabrik_addon.operators.picking import show
from fabrik_addon.overlay import bones, view
from fabrik_addon.overlay.settings import scene_settings
from fabrik_addon.overlay.shapes import Picture, shapes_of, theme_colours
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Vector

from support.drawn import Context, pictures, ready_gpu, seen
from support.judging import angle_between, effector, tip_turn
from support.scenes import add_chain, add_limb, make_body, make_empty, pin, press, update

HELD = bones.Pin((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 2.0, None, has_target=False, is_held=True)


def shown(owner: bpy.types.Object) -> list[bones.Pin]:
    update()
    return bones.pins_of(owner, bpy.context.evaluated_depsgraph_get())


class TestShapes:
    def test_a_place_of_the_world_is_filled_and_a_target_open(self) -> None:
        assert set(bones.pin_shapes([HELD]).faces) == {"pin_face"}
        assert not bones.pin_shapes([HELD._replace(has_target=True)]).faces

    def test_a_rotation_has_axes_and_what_does_not_hold_is_told_of(self) -> None:
        assert set(bones.pin_shapes([HELD._replace(turn=IDENTITY)]).lines) == {"pin", "turn_x", "turn_y", "turn_z"}
        off = bones.pin_shapes([HELD._replace(effector=(0.0, 1.0, 1.0), is_held=False)])
        assert set(off.lines) == {"blocked"}
        assert off.lines["blocked"][-2:] == [(0.0, 1.0, 1.0), (0.0, 0.0, 1.0)]

    def test_its_colours_are_in_the_theme(self) -> None:
        colours = theme_colours(bpy.context.preferences)
        shapes = bones.pin_shapes([HELD._replace(turn=IDENTITY), HELD._replace(is_held=False)])
        assert {*shapes.lines, *shapes.faces} <= set(colours)


class TestCollecting:
    def test_a_pin_is_shown_where_it_holds_with_its_rotation(self, body: bpy.types.Object) -> None:
        body.location = (1.0, 2.0, 0.5)
        chain = add_limb(body, "foot.L", 3)
        pin(body, chain)
        (found,) = shown(body)
        assert Vector(found.place) == Vector(chain.held_location)
        assert found.turn is not None
        assert angle_between(found.turn, tip_turn(body, chain)) < radians(0.01)
        assert (found.has_target, found.is_held) == (False, True)

    def test_where_the_bone_is_elsewhere_it_does_not_hold(self, body: bpy.types.Object) -> None:
        pin(body, add_limb(body, "foot.L", 3))
        body.location.z += 0.2
        (found,) = shown(body)
        assert not found.is_held
        assert distance(found.place, found.effector) == pytest.approx(0.2, abs=1e-5)

    def test_what_holds_nothing_is_not_shown(self, body: bpy.types.Object) -> None:
        chain = add_limb(body, "foot.L", 3)
        pin(body, chain)
        for name, value in (("pin", False), ("enabled", False), ("weight", 0.0)):
            was = getattr(chain, name)
            setattr(chain, name, value)
            assert not shown(body)
            setattr(chain, name, was)
        chain.tip_bone = "nothing"
        assert not shown(body)


def asked(chain: FabrikChain) -> Picture:
    update()
    owner = chain.id_data
    assert isinstance(owner, bpy.types.Object)
    picture: Picture = pictures(owner, [chain])[0]
    return picture


class TestPicture:
    def test_the_head_of_the_tip_is_what_comes_to_the_target(self, body: bpy.types.Object) -> None:
        chain = add_limb(body, "foot.L", 3, target=(0.1, 0.02, 0.08))
        picture = asked(chain)
        assert (Vector(picture.end) - effector(body, chain)).length < 1e-6
        assert picture.is_reached
        assert max(picture.reach) == pytest.approx(distance(picture.joints[0], picture.joints[1]) + 0.424, abs=0.02)

    def test_the_rotation_of_the_tip_has_axes(self, body: bpy.types.Object) -> None:
        chain = add_limb(body, "foot.L", 3)
        pin(body, chain)
        lines = shapes_of([asked(chain)], {"rotation"}).lines
        assert set(lines) == {"turn_x", "turn_y", "turn_z"}
        chain.orientation = "FREE"
        assert not shapes_of([asked(chain)], {"rotation"}).lines

    def test_an_aim_shows_where_it_points_and_by_how_much_it_misses(self, body: bpy.types.Object) -> None:
        chain = add_limb(body, "head", 1, target=(0.0, 0.0, 3.0))
        chain.kind = "AIM"
        picture = asked(chain)
        assert picture.is_reached
        assert picture.aim[1] == pytest.approx((0.0, 0.0, 3.0), abs=1e-5)
        assert not picture.reach
        chain.target = make_empty((1.0, 0.0, 2.0))
        picture = asked(chain)
        assert not picture.is_reached
        assert shapes_of([picture], {"residual"}).lines["residual"] == [picture.aim[1], picture.target]

    def test_a_softened_goal_stands_before_the_target(self, body: bpy.types.Object) -> None:
        chain = add_limb(body, "foot.L", 3, target=(0.1, 0.0, -0.5))
        chain.status, chain.softened = "REACHED", 0.1
        picture = asked(chain)
        assert picture.soft is not None
        assert picture.target is not None
        assert distance(picture.soft, picture.target) == pytest.approx(0.1, abs=1e-6)
        assert len(shapes_of([picture], {"goal"}).lines["target"]) > 12


def test_the_start_pose_of_a_body_stands_where_it_starts(body: bpy.types.Object) -> None:
    for side in (".L", ".R"):
        pin(body, add_limb(body, f"foot{side}", 3))
    rig_of(body).body_bone = "hips"
    before = {chain.name: asked(chain).joints for chain in rig_of(body).chains}
    add_limb(body, "hips", 1, target=(0.0, 0.0, 0.7), name="sink")
    press("solve_all")
    for name, joints in before.items():
        picture = asked(rig_of(body).chains[name])
        assert distance(picture.joints[0], joints[0]) > 0.2
        for stands, stood in zip(picture.before, joints, strict=True):
            assert distance(stands, stood) < 1e-5


def test_pins_are_drawn_without_the_overlay_and_only_where_they_are_wanted() -> None:
    owner = make_body()
    chain = add_limb(owner, "hand.L", 3)
    owner.rotation_euler.z = radians(90.0)
    update()
    pin(owner, chain)
    name = owner.name
    ready_gpu()
    owner = bpy.data.objects[name]
    settings, context = scene_settings(bpy.context.scene), cast(bpy.types.Context, Context())
    settings.show, settings.show_pins = False, True

    def draw() -> None:
        bones.draw_pins(context)

    view.touch()
    picture = seen(draw)
    assert 5 < (picture[..., 3] > 0).sum() < 500
    settings.show_pins = False
    assert not seen(draw).any()
    settings.show_pins = True
    rig_of(owner).chains[0].pin = False
    update()
    view.touch()
    assert not seen(draw).any()


@pytest.fixture(autouse=True)
def _nothing_shown() -> Iterator[None]:
    yield
    bones.show_bone(None)


def hovered() -> bones.Hovered:
    assert bones.state.shown is not None
    return bones.state.shown


@pytest.mark.parametrize("at_head", [True, False])
def test_the_shape_is_the_bones_and_the_end_is_marked(at_head: bool) -> None:
    matrix = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(0.5, 4, "X")
    shapes = bones.bone_shapes(matrix, 2.0, at_head)
    head, tail = v3(matrix.translation), v3(matrix @ Vector((0, 2, 0)))
    assert {head, tail} < set(shapes.lines["hover"])
    assert shapes.points == {"hover_end": [head if at_head else tail]}
    assert set(shapes.lines) | set(shapes.points) <= set(theme_colours(bpy.context.preferences))


def test_it_tells_name_end_and_pin(line: bpy.types.Object) -> None:
    show((line, Taken("b1", "HEAD")))
    assert hovered() == bones.Hovered(line.name, "b1", "HEAD", "head of b1")
    add_chain(line, tip="b1", count=2).pin = True
    show((line, Taken("b1")))
    assert hovered().text == "b1 (pinned)"
    show(None)
    assert bones.state.shown is None


def test_only_what_is_another_is_drawn_anew() -> None:
    one = bones.Hovered("Rig", "b1", "TAIL", "b1")
    assert bones.show_bone(one)
    assert not bones.show_bone(bones.Hovered("Rig", "b1", "TAIL", "b1"))
    assert bones.show_bone(None)


def test_it_is_seen_as_long_as_there_is_such_a_bone(line: bpy.types.Object) -> None:
    ready_gpu()
    context = cast(bpy.types.Context, Context())
    assert not seen(lambda: bones.draw_bone(context)).any()
    show((line, Taken("b1")))
    assert (seen(lambda: bones.draw_bone(context))[..., 3] > 0).sum() > 20
    bones.show_bone(bones.Hovered(line.name, "gone", "TAIL", ""))
    assert not seen(lambda: bones.draw_bone(context)).any()
    bones.show_bone(bones.Hovered("Gone", "b1", "TAIL", ""))
    assert not seen(lambda: bones.draw_bone(context)).any()

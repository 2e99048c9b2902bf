# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: its data, its colours, and that it is seen; and pins, what a goal asks, and what a click takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import radians
from typing import Any, cast

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.bake import read_report
from fabrik_addon.actions.drag import Grip
from fabrik_addon.actions.walk.bake import footprints_of, outline
from fabrik_addon.maths import IDENTITY, ORIGIN, Singles, distance, v3
from fabrik_addon.operators import picking
from fabrik_addon.operators.picking import show
from fabrik_addon.overlay import bones, settings, view
from fabrik_addon.overlay.settings import OPTIONS, parts_of, scene_settings
from fabrik_addon.overlay.shapes import FROM_THEME, PARTS, Picture, Shapes, shapes_of, theme_colours
from fabrik_addon.overlay.sheet import LEAST, Scale, level_colour, rectangles
from fabrik_addon.overlay.view import draw_walk
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.rig.walk_goals import plan_of
from mathutils import Matrix, Vector

from support.judging import angle_between, bake_chain, effector, evaluated_joints, feet, tip_turn
from support.scenes import (
    Rig,
    add_chain,
    add_limb,
    armature,
    keyed,
    keyed_line,
    make_armature,
    make_body,
    make_empty,
    pin,
    press,
    reaching_line,
    strand,
    update,
)
from support.walks import walking

# Drawing as the overlay does it, into a picture that is read; in background, too.


def pictures(owner: bpy.types.Object, chains: Iterable[FabrikChain], with_reach: bool = False) -> list[Picture]:
    return view.pictures_of(owner, chains, bpy.context.evaluated_depsgraph_get(), with_reach)


class Region:
    width = height = 200


class Context:
    """As much of a context as the overlay asks for."""

    region = Region()

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def ready_gpu() -> None:
    """Start the GPU in background."""
    import gpu

    if hasattr(gpu, "init"):
        gpu.init()
        return
    scene: Any = bpy.context.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = 4
    if scene.camera is None:
        scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(scene.camera)
    bpy.ops.render.render()


def seen(draw: Callable[[], object]) -> Singles:
    """What is drawn, seen along -X with Z up, 5 units across: (200, 200, 4)."""
    import gpu

    kinds: Any = gpu.types
    buffer = kinds.GPUOffScreen(200, 200)
    axes = Matrix(((0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 0), (0, 0, 0, 1)))
    look = axes @ Matrix.Translation((0, -0.5, -1.2))
    scale = Matrix.Diagonal((1 / 2.5, 1 / 2.5, 1 / 100, 1))
    with buffer.bind():
        gpu.state.active_framebuffer_get().clear(color=(0, 0, 0, 0))
        with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.matrix.load_matrix(look)
            gpu.matrix.load_projection_matrix(scale)
            draw()
        pixels = gpu.state.active_framebuffer_get().read_color(0, 0, 200, 200, 4, 0, "FLOAT")
    buffer.free()
    numbers = pixels.to_list() if hasattr(pixels, "to_list") else pixels
    return np.array(numbers, dtype=np.float32).reshape(200, 200, 4)


# What they are tested for


JOINTS = ((0.0, 0.0, 0.0), (0.0, 0.3, 1.0), (0.0, 0.0, 2.0))


@pytest.fixture
def rig() -> Rig:
    owner, chain = reaching_line((0.2, 0.9, 1.9))
    chain.pole = make_empty((0, 4, 1), "Pole")
    knee = owner.pose.bones["b1"].fabrik
    knee.limit, knee.angle_min, knee.angle_max = "HINGE", 0.0, radians(120)
    owner.pose.bones["b0"].fabrik.limit = "CONE"
    bpy.ops.fabrik.solve_all()
    return owner, owner.fabrik.chains[0]


class TestShapes:
    def test_each_part_draws_its_own_and_nothing_else(self) -> None:
        picture = Picture(JOINTS, JOINTS, (1.0, 0.0, 1.0), (0.0, 3.0, 1.0), (), (0.5, 2.0), (0.7,), False)
        picture = replace(picture, turn=IDENTITY)
        drawn = {part: shapes_of([picture], {part}) for part in PARTS}
        colours = {
            part: {*shapes.lines, *shapes.points, *shapes.faces} for part, shapes in drawn.items() if part != "limits"
        }
        assert colours == {
            "reach": {"reach", "limited_reach"},
            "before": {"before"},
            "pole": {"pole", "pole_plane"},
            "after": {"after"},
            "joints": {"after"},
            "goal": {"target"},
            "residual": {"residual"},
            "rotation": {"turn_x", "turn_y", "turn_z"},
        }
        assert not shapes_of([picture], set()).lines

    def test_every_colour_is_in_the_theme(self) -> None:
        colours = theme_colours(bpy.context.preferences)
        assert set(colours) == set(FROM_THEME)
        assert all(0.0 <= value <= 1.0 for colour in colours.values() for value in colour)

    def test_nothing_left_off_shows_no_residual(self) -> None:
        assert not shapes_of([Picture(JOINTS, target=JOINTS[-1])], {"residual"}).lines

    def test_a_picture_without_goal(self) -> None:
        shapes = shapes_of([Picture(JOINTS)], set(PARTS))
        assert set(shapes.lines) == {"after"}


class TestCollecting:
    def test_joints_goal_limits_and_reach(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        (picture,) = pictures(owner, [chain], with_reach=True)
        for stands, wanted in zip(picture.joints, evaluated_joints(owner, chain), strict=True):
            assert distance(stands, wanted) < 1e-6
        assert Vector(picture.target) == chain.target.location
        assert len(picture.limits) == 2
        assert picture.reach[1] == pytest.approx(picture.length, rel=1e-4)
        assert 0.0 <= picture.limited_reach[0] < picture.limited_reach[1] <= picture.reach[1] + 1e-4

    @pytest.mark.parametrize("height", [1.5, 4.0, 9.0])
    def test_the_reach_of_a_chain_that_stretches_is_as_far_as_its_tip_comes(self, height: float) -> None:
        owner = make_armature(strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2), (0, 0.1, 3)))
        for bone in armature(owner).bones:
            bone.inherit_scale = "NONE"
        owner.scale = (2.0, 2.0, 2.0)
        chain = add_chain(owner, (0.5, 0.5, 2.0 * height))
        update()
        (picture,) = pictures(owner, [chain])
        chain.stretch = 1.5
        press("solve_all")
        update()
        (stretched,) = pictures(owner, [chain])
        assert stretched.reach == pytest.approx((picture.reach[0], 1.5 * picture.reach[1]), rel=1e-5)

    def test_an_outline_stands_at_its_joint_and_the_bone_ends_on_it(self, rig: Rig) -> None:
        owner, chain = rig
        owner.location, owner.rotation_euler = (1, 2, 3), (0.3, 0.2, 0.1)
        bpy.context.view_layer.update()
        (picture,) = pictures(owner, [chain])
        outline, matrix, end, _ = picture.limits[1]
        assert distance(matrix.translation, picture.joints[1]) < 1e-5
        assert distance(matrix @ Vector(end), picture.joints[2]) < 1e-5
        assert min(distance(matrix @ Vector(point), picture.joints[2]) for point in outline.swing[0]) < 0.06

    def test_an_outline_stands_at_its_joint_where_a_constraint_moves_the_bone_before(self, rig: Rig) -> None:
        owner, chain = rig
        owner.pose.bones["b0"].constraints.new("DAMPED_TRACK").target = make_empty((3.0, 1.0, 0.0))
        update()
        (picture,) = pictures(owner, [chain])
        _, matrix, end, _ = picture.limits[1]
        assert distance(matrix.translation, picture.joints[1]) < 1e-5
        assert distance(matrix @ Vector(end), picture.joints[2]) < 1e-5

    def test_what_blocks_is_marked(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        for name in ("b1", "b2"):
            owner.pose.bones[name].fabrik.limit = "LOCKED"
        chain.target.location = (0.1, 0.1, 1.0)
        bpy.ops.fabrik.solve_all()
        (picture,) = pictures(owner, [owner.fabrik.chains[0]])
        blocking = {bone.name for bone in owner.fabrik.chains[0].blocking_bones}
        assert blocking
        assert sum(blocks for _, _, _, blocks in picture.limits) == len(blocking)
        assert "blocked" in shapes_of([picture], {"limits"}).lines

    def test_a_chain_that_cannot_be_read_is_left_out(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        chain.tip_bone = "gone"
        assert pictures(owner, [chain]) == []

    def test_an_armature_without_scale_is_a_point(self, reaching: bpy.types.Object) -> None:
        reaching.scale = (0.0, 0.0, 0.0)
        bpy.context.view_layer.update()
        for picture in pictures(reaching, reaching.fabrik.chains):
            assert {*picture.joints, *picture.before} == {ORIGIN}

    def test_a_deleted_target(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        bpy.data.objects.remove(chain.target)
        (picture,) = pictures(owner, [chain])
        assert picture.target is None


class TestSettings:
    def test_each_option_switches_its_part(self) -> None:
        settings = scene_settings(bpy.context.scene)
        for name in OPTIONS:
            setattr(settings, name, False)
        assert parts_of(settings) == set()
        for name in OPTIONS:
            if name.startswith("show_"):
                setattr(settings, name, True)
                assert name.removeprefix("show_") in parts_of(settings)
                setattr(settings, name, False)


class TestDrawing:
    def test_it_is_seen_and_made_anew_only_when_something_changed(self, rig: Rig) -> None:
        owner, chain = rig
        ready_gpu()
        bpy.context.view_layer.objects.active = owner
        settings, context = scene_settings(bpy.context.scene), cast(bpy.types.Context, Context())
        settings.show = False
        assert not seen(lambda: view.draw(context)).any()
        settings.show = True
        for name in OPTIONS:
            setattr(settings, name, name == "show_after")
        bpy.context.view_layer.update()
        picture = seen(lambda: view.draw(context))
        assert 50 < (picture[..., 3] > 0).sum() < 3000
        batches = view.drawing.batches
        assert np.array_equal(seen(lambda: view.draw(context)), picture)
        assert view.drawing.batches is batches
        settings.show_limits = True
        more = seen(lambda: view.draw(context))
        assert (more[..., 3] > 0).sum() > (picture[..., 3] > 0).sum() + 500
        assert view.drawing.batches is not batches
        chain = owner.fabrik.chains[0]
        chain.target.location.y = 1.4
        bpy.ops.fabrik.solve_all()
        assert not np.array_equal(seen(lambda: view.draw(context)), more)
        settings.show = False


GREEN, RED = (0.0, 1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0)


def test_runs_stand_where_their_frames_are() -> None:
    assert rectangles([(1, 10, 0), (11, 20, 3)], Scale(100.0, 5.0, 1000.0, 50.0, 1.0)) == [
        (102.5, 152.5, 0),
        (152.5, 202.5, 3),
    ]


def test_what_is_out_of_view_is_left_out_and_the_worst_is_drawn_last() -> None:
    found = rectangles([(1, 10, 5), (11, 500, 0), (600, 700, 2)], Scale(0.0, 1.0, 200.0, 50.0, 1.0))
    assert found == [(10.5, 200.0, 0), (0.5, 10.5, 5)]


def test_contacts_cover_no_numbers_of_frames() -> None:
    """A row of bars stands where it has room below the numbers, and nowhere else."""
    assert [Scale(0.0, 1.0, 200.0, top, 1.0).has_room(1) for top in (34.0, 35.0)] == [False, True]
    assert [Scale(0.0, 1.0, 200.0, top, 2.0).has_room(0) for top in (43.0, 44.0)] == [False, True]


def test_a_single_bad_frame_is_seen_from_far_away() -> None:
    (left, right, _) = rectangles([(500, 500, 5)], Scale(0.0, 0.001, 200.0, 50.0, 1.0))[0]
    assert right - left == pytest.approx(LEAST)


def test_colours_run_from_the_best_to_the_worst() -> None:
    assert level_colour(0, GREEN, RED) == GREEN
    assert level_colour(5, GREEN, RED) == RED
    assert level_colour(2, GREEN, RED) == pytest.approx((0.4, 0.6, 0.0, 1.0))


def test_it_shows_the_last_report_of_the_armature() -> None:
    owner, chain = keyed_line()
    assert read_report(owner) is None
    bake_chain(owner, chain)
    report = read_report(owner)
    assert report is not None
    assert [[*run[:2]] for run in report["strip"]] == [[1.0, 20.0]]
    owner.fabrik.bake_report = ""
    assert read_report(owner) is None


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"format": 99}', "NaN"])
def test_a_report_that_can_not_be_read_is_none(text: str) -> None:
    owner, _ = keyed_line()
    owner.fabrik.bake_report = text
    assert read_report(owner) is None


ABOUT = 0.8  # seconds of which footprints are drawn, in a walk of four


def drawn(owner: bpy.types.Object, frame: float) -> Shapes:
    shapes = Shapes()
    draw_walk(shapes, owner, frame)
    return shapes


def test_what_the_view_does_not_show_takes_no_mouse_and_is_not_drawn() -> None:
    owner, chain = reaching_line((0.2, 0.9, 1.9))
    keyed(chain.target, {1: -0.3, 12: 0.6}, "location.x")
    press("record")
    press("trails_show", span="RANGE", frame_start=1, frame_end=12)
    (trail,) = settings.state.trails.values()
    mouse = Vector(trail.places[6]).xz * 10.0

    def taken() -> object:
        return bones.trail_at(bpy.context, lambda place: place.xz * 10.0, mouse, 1.0)

    def hide(is_hidden: bool) -> None:
        owner.hide_set(is_hidden)
        update()

    def edit(is_edited: bool) -> None:
        bpy.ops.object.mode_set(mode="EDIT" if is_edited else "OBJECT")

    for put_away in (hide, edit):
        assert taken() == (trail, 1)  # all dots of what is not live stand in one place
        assert view.shown_step(bpy.context) is not None
        put_away(True)
        assert taken() is None
        assert view.shown_step(bpy.context) is None
        put_away(False)


def test_path_steps_and_support_are_drawn() -> None:
    owner = walking("spider")
    plan = plan_of(owner)
    assert plan is not None
    shapes = drawn(owner, 20)
    assert {*shapes.lines, *shapes.points} <= set(theme_colours(bpy.context.preferences))
    assert shapes.lines["before"][0] == plan.body[0][0]
    standing = {foot.base for foot in feet(owner, 20) if foot.is_planted}
    assert set(shapes.lines["pin"]) == standing
    ends = {step.end.place for steps in plan.steps for step in steps}
    assert shapes.points["target"]
    for place in shapes.points["target"]:
        assert min(max(abs(a - b) for a, b in zip(place, end, strict=True)) for end in ends) < 1e-6


def test_footprints_lie_where_feet_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those behind in one colour, and those to come in another, of the seconds about the frame."""
    owner = walking("human")
    monkeypatch.setattr(view, "ABOUT", ABOUT)
    plan = plan_of(owner)
    assert plan is not None
    frame = plan.first + len(plan.body) * plan.fps / 120.0
    own, every = [*footprints_of(plan, frame, ABOUT)], [*footprints_of(plan)]
    assert 1 < len(own) < len(every)
    lines = drawn(owner, frame).lines
    for leg, landing, matrix, _ in own:
        assert abs(landing - frame) <= ABOUT * plan.fps
        drawn_in = {
            tuple(round(one, 5) for one in place) for place in lines["before" if landing <= frame else "target"]
        }
        sole = {tuple(round(one, 5) for one in matrix @ place) for place in outline(leg)}
        assert sole <= drawn_in


def test_nothing_is_drawn_of_a_walk_that_is_off_or_can_not_be_read() -> None:
    owner = walking("spider")
    rig_of(owner).walker.on = False
    assert not drawn(owner, 20).lines
    rig_of(owner).walker.on = True
    rig_of(owner).walker.plan, rig_of(owner).walker.digest = "{}", "other"
    assert not drawn(owner, 20).lines


# Pins are seen where they hold, with or without the overlay, what a goal asks, and what a click would take.


HELD = bones.Pin((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 2.0, None, has_target=False, is_held=True)


def shown(owner: bpy.types.Object) -> list[bones.Pin]:
    update()
    return bones.pins_of(owner, bpy.context.evaluated_depsgraph_get())


class TestPinShapes:
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


class TestPins:
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
    show(None)


@pytest.mark.parametrize("at_head", [True, False])
def test_the_shape_is_the_bones_and_the_end_is_marked(at_head: bool) -> None:
    matrix = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(0.5, 4, "X")
    shapes = bones.bone_shapes(matrix, 2.0, at_head)
    head, tail = v3(matrix.translation), v3(matrix @ Vector((0, 2, 0)))
    assert {head, tail} < set(shapes.lines["hover"])
    assert shapes.points == {"hover_end": [head if at_head else tail]}
    assert set(shapes.lines) | set(shapes.points) <= set(theme_colours(bpy.context.preferences))


def test_it_tells_name_end_and_pin(line: bpy.types.Object) -> None:
    show((line, Grip("b1", "HEAD")))
    assert bones.state.shown == (line.name, Grip("b1", "HEAD"), "head of b1")
    add_chain(line, tip="b1", count=2).pin = True
    show((line, Grip("b1")))
    assert bones.state.shown == (line.name, Grip("b1"), "b1 (pinned)")
    show(None)
    assert bones.state.shown is None


def test_only_what_is_another_is_drawn_anew(line: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_anew = list[None]()
    monkeypatch.setattr(picking, "redraw", lambda: drawn_anew.append(None))
    for picked, count in (
        ((line, Grip("b1")), 1),
        ((line, Grip("b1")), 1),
        ((line, Grip("b1", "HEAD")), 2),
        (None, 3),
    ):
        show(picked)
        assert len(drawn_anew) == count


def test_it_is_seen_as_long_as_there_is_such_a_bone(line: bpy.types.Object) -> None:
    ready_gpu()
    context = cast(bpy.types.Context, Context())
    assert not seen(lambda: bones.draw_bone(context)).any()
    show((line, Grip("b1")))
    assert (seen(lambda: bones.draw_bone(context))[..., 3] > 0).sum() > 20
    bones.state.shown = (line.name, Grip("gone"), "")
    assert not seen(lambda: bones.draw_bone(context)).any()
    bones.state.shown = ("Gone", Grip("b1"), "")
    assert not seen(lambda: bones.draw_bone(context)).any()

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk is planned from, when it is told to be old, what joint limits make of it, and its footprints."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.walk.bake import MARK, mark_steps
from fabrik_addon.actions.walk.plan import body_chain, plan_steps, plan_walk
from fabrik_addon.actions.walk.plan import legs_now as measured_legs
from fabrik_addon.actions.walk.setup import add_walker, frame_for, measured
from fabrik_addon.errors import FabrikError
from fabrik_addon.maths import IDENTITY
from fabrik_addon.rig.bones import pose_bones, resolve_bones
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.schema.limit import limit_of
from fabrik_addon.ui.motion import FABRIK_PT_walker
from mathutils import Euler, Quaternion, Vector

from dev.walking_rigs import ahead, make_ground, make_spider
from support.judging import effector, feet, frames_gone_to, walk_plan, worst_foot
from support.panels import drawn
from support.scenes import each_frame, go_to, make_empty, put, select, update
from support.skeletons import make_character
from support.walks import WALK, around, key_way, legs_of, planned, told, walking


def key_ahead(thing: bpy.types.Object) -> None:
    for frame, y in zip(WALK, (0.0, -1.5), strict=True):
        thing.location.y = y
        thing.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(WALK[0])


@pytest.mark.parametrize("is_carried", [False, True])
def test_an_object_that_is_keyed_is_the_same_path_in_every_frame(is_carried: bool) -> None:
    owner = moved = make_spider(4)
    if is_carried:
        owner.parent = moved = make_empty(name="Carrier")
    key_ahead(moved)
    update()
    add_walker(bpy.context, owner)
    plan_walk(bpy.context, owner, WALK)
    for _ in each_frame((1, 30, 60)):
        assert not told(owner)
    moved.location.x = 0.5  # keyed as well: the next frame takes it back
    bpy.context.scene.frame_set(30)
    assert not told(owner)
    moved.scale.x = 1.1  # not keyed
    assert "path" in told(owner)


def slope() -> bpy.types.Object:
    """A mesh of two triangles, and a little room for a modifier."""
    return make_ground([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [(0, 1, 2), (0, 2, 3)])


def reshape(ground: bpy.types.Object) -> None:
    assert isinstance(ground.data, bpy.types.Mesh)
    ground.data.vertices[0].co += Vector((0.0, 0.0, 0.2))
    ground.data.update()


def limit(owner: bpy.types.Object, _: bpy.types.Object) -> None:
    put(limit_of(resolve_bones(owner, legs_of(owner)[0])[0]), limit="CONE", cone_max=0.3)


# What is done to a walker or its ground, and what is said of it.
CHANGES: dict[str, tuple[Callable[[bpy.types.Object, bpy.types.Object], object], str]] = {
    "ground moved": (lambda _, ground: put(ground, location=(0.0, 0.0, -0.1)), "ground"),
    "ground reshaped": (lambda _, ground: reshape(ground), "ground"),
    "ground thicker": (lambda _, ground: put(ground.modifiers["Solidify"], thickness=0.3), "ground"),
    "ground hidden": (lambda _, ground: ground.hide_set(True), "ground"),
    "ground keyed": (lambda _, ground: key_ahead(ground), "ground"),
    "a setting": (lambda owner, _: put(rig_of(owner).walker, step_height=0.3), "changed"),
    "the way": (lambda owner, _: key_way(owner, "b0", ahead(1.0)), "path"),
    "a joint limit": (limit, "changed"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_makes_a_walk_old(what: str) -> None:
    change, text = CHANGES[what]
    ground = slope()
    ground.modifiers.new("Solidify", "SOLIDIFY")
    owner = walking("spider")
    assert not told(owner)
    change(owner, ground)
    assert text in told(owner)
    plan_walk(bpy.context, owner, WALK)
    assert not told(owner)


def test_bones_that_are_renamed_leave_it_as_new_as_it_was() -> None:
    owner = walking("human")
    for bone in owner.data.bones:
        bone.name = f"Z_{bone.name}"
    assert told(owner) == ""


def test_what_is_no_ground_makes_it_not_old() -> None:
    key_ahead(slope())
    owner = walking("spider")
    bpy.context.scene.frame_set(30)
    assert not told(owner)
    mark_steps(bpy.context, owner, "CURVE", use_markers=True)
    make_empty(name="Helper")
    assert not told(owner)


def test_a_walk_that_was_kept_without_its_ground_is_not_old_for_that() -> None:
    owner = walking("spider")
    walker = rig_of(owner).walker
    walker.inputs = walker.inputs.rpartition(" ")[0]
    slope()
    assert not told(owner)


CONE = 0.22  # radians


def limited_spider(angle: float) -> bpy.types.Object:
    """A spider whose legs turn little in their joints, and that walks along a curve with a body that turns with it."""
    owner: bpy.types.Object = make_spider()
    key_way(owner, "b0", ahead(1.2))
    body = pose_bones(owner)["b0"]
    for frame, turn in ((1, 0.0), (30, 0.5), (60, 0.3)):
        body.rotation_quaternion = Euler((0.0, 0.0, turn)).to_quaternion()
        body.keyframe_insert("rotation_quaternion", frame=frame)
    update()
    add_walker(bpy.context, owner)
    for chain in legs_of(owner):
        for bone in resolve_bones(owner, chain):
            view = limit_of(bone)
            view.limit, view.cone_max = "CONE", angle
    return owner


def stances(owner: bpy.types.Object) -> tuple[int, int]:
    """How many stances by frame are reached, and how many there are."""
    rig_of(owner).live = True
    reached = count = 0
    for frame in each_frame(range(WALK[0], WALK[1] + 1)):
        for chain, foot in zip(legs_of(owner), feet(owner, frame), strict=True):
            if foot.is_planted:
                count += 1
                reached += chain.status == "REACHED"
    return reached, count


def test_stances_are_reached_within_the_limits() -> None:
    owner = limited_spider(CONE)
    plan_walk(bpy.context, owner, WALK)
    reached, count = stances(owner)
    assert count > 200
    assert reached == count


def test_without_them_stances_would_be_out_of_reach() -> None:
    """The limits bound this walk: planned as if there were none, legs are held back."""
    owner = limited_spider(3.0)
    plan_walk(bpy.context, owner, WALK)
    for chain in legs_of(owner):
        for bone in resolve_bones(owner, chain):
            limit_of(bone).cone_max = CONE
    reached, count = stances(owner)
    assert reached < count


@pytest.mark.parametrize("kind", ["spider", "human", "wolf"])
def test_what_a_limited_leg_takes_on_is_within_its_reach_and_what_it_can_not_is_not(kind: str) -> None:
    """Bones are turned at random inside their limits, and Blender's own evaluation tells where the ankles are."""
    owner = made(kind)
    random = Random(7)
    for chain in legs_of(owner):
        for bone in resolve_bones(owner, chain):
            bone.rotation_mode = "QUATERNION"
            limit_of(bone).limit, limit_of(bone).cone_max = "CONE", 0.5
    frame = frame_for(owner, body_chain(owner).tip_bone, rig_of(owner).walker.upright)
    _, limits = measured(owner, legs_of(owner), frame)
    for _ in range(20):
        for chain in legs_of(owner):
            for bone in resolve_bones(owner, chain):
                axis = Vector((random.gauss(0.0, 1.0), 0.0, random.gauss(0.0, 1.0)))
                bone.rotation_quaternion = Quaternion(axis, random.uniform(0.0, 0.45))
        update()
        for index, chain in enumerate(legs_of(owner)):
            ankle = frame.place(owner.matrix_world.inverted() @ effector(owner, chain))
            leg = measured_legs(owner)[0][index]
            assert limits.shortage(index, ankle) <= 1e-3 * leg.reach
            assert limits.shortage(index, leg.hip) > 0.1 * leg.reach  # it does not fold so far
            if leg.foot_length > 0.0:  # though a foot can turn as it is asked to, its ankle must get there, too
                assert limits.turn_missed(index, leg.rest_ankle, IDENTITY) < 1e-2
                assert limits.turn_missed(index, leg.hip, IDENTITY) > 0.2


def made(kind: str) -> bpy.types.Object:
    """A walker whose object is moved and turned."""
    owner: bpy.types.Object = (
        make_spider() if kind == "spider" else make_character("wolf" if kind == "wolf" else "human_mixamo")
    )
    owner.location, owner.rotation_euler = (1.0, 2.0, 0.5), (0.0, 0.0, 0.7)
    update()
    add_walker(bpy.context, owner)
    return owner


FILE = Path(__file__).parents[2] / "data" / "0.2.0" / "walk_plan_1.blend"

TOLD = "The stored walk is of version 1, not 4: plan it anew"

FRAMES = range(1, 21)


@pytest.fixture
def owner() -> bpy.types.Object:
    """The walker of the file, which is open."""
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    owner = bpy.data.objects["walker"]
    select(owner)
    return owner


def test_it_plays_without_an_error_and_its_chains_say_why_they_stay(
    owner: bpy.types.Object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        go_to(*FRAMES)
    assert not caplog.records
    assert {chain.status for chain in rig_of(owner).chains} == {"REFUSED"}
    assert all(chain.enabled and "plan it anew" in chain.message for chain in rig_of(owner).chains)


def test_the_panel_says_so(owner: bpy.types.Object) -> None:
    labels = "".join(drawn(FABRIK_PT_walker).labels)
    assert TOLD.replace(" ", "") in labels.replace(" ", "")  # over several lines


def test_planned_anew_it_walks(owner: bpy.types.Object) -> None:
    bpy.ops.fabrik.walk_plan(span="RANGE", frame_start=FRAMES[0], frame_end=FRAMES[-1])
    for frame in each_frame(FRAMES):
        assert worst_foot(owner, frame) < 1e-3
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}


@pytest.fixture(params=("spider", "human"))
def walker(request: pytest.FixtureRequest) -> bpy.types.Object:
    return walking(request.param)


def marks() -> list[tuple[str, int]]:
    return [(marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers]


def footprints(owner: bpy.types.Object) -> list[bpy.types.Object]:
    found = [one for one in bpy.data.collections if one.get(MARK) == owner.name_full]
    assert len(found) <= 1
    return list(found[0].objects) if found else []


def test_each_landing_has_a_marker(walker: bpy.types.Object) -> None:
    made = mark_steps(bpy.context, walker, "NONE", use_markers=True)
    plan = walk_plan(walker)
    expected = [
        (f"{walker.name} {leg.name}", round(plan.first + step.land * plan.fps))
        for leg, steps in zip(plan.legs, plan.steps, strict=True)
        for step in steps
    ]
    assert sorted(marks()) == sorted(expected)
    assert made == (0, len(expected))
    assert not footprints(walker)


@pytest.mark.parametrize("kind", ["CURVE", "EMPTIES"])
def test_footprints_lie_where_feet_stand(walker: bpy.types.Object, kind: str) -> None:
    made = mark_steps(bpy.context, walker, kind, use_markers=False)
    plan = walk_plan(walker)
    ends = [Vector(step.end.place) for steps in plan.steps for step in steps]
    places = [*(Vector(start.place) for start in plan.starts), *ends]
    assert made == (len(places), 0)
    things = footprints(walker)
    if kind == "EMPTIES":
        found = [thing.matrix_world.translation for thing in things]
    else:
        data: Any = things[0].data
        found = [sum((point.co.xyz for point in one.points), Vector()) / len(one.points) for one in data.splines]
    size = plan.legs[0].reach
    near = 0.01 * size if kind == "EMPTIES" or plan.legs[0].foot_length == 0.0 else 0.3 * size  # its middle is farther
    for place in places:
        assert min((place - other).length for other in found) <= near


def test_marked_again_it_is_marked_once(walker: bpy.types.Object) -> None:
    mark_steps(bpy.context, walker, "EMPTIES", use_markers=True)
    first, count = marks(), len(bpy.data.objects)
    bpy.context.scene.timeline_markers.new("mine", frame=7)
    mark_steps(bpy.context, walker, "CURVE", use_markers=True)
    mark_steps(bpy.context, walker, "EMPTIES", use_markers=True)
    assert sorted(marks()) == sorted([*first, ("mine", 7)])
    assert len(bpy.data.objects) == count
    mark_steps(bpy.context, walker, "NONE", use_markers=False)
    assert marks() == [("mine", 7)]
    assert not [one for one in bpy.data.curves if "footprints" in one.name]


def test_without_a_plan_it_is_refused() -> None:
    owner = make_spider()
    with pytest.raises(FabrikError, match="no walk is planned"):
        mark_steps(bpy.context, owner, "CURVE", use_markers=True)
    assert not rig_of(owner).walker.digest


def turned(bone: bpy.types.PoseBone) -> None:
    for frame in range(WALK[0], WALK[1] + 1, 7):
        bone.rotation_quaternion = (1.0, 0.02 * (frame % 3), 0.0, -0.01 * frame)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def turned_by_angles(bone: bpy.types.PoseBone) -> None:
    bone.rotation_mode = "ZXY"
    for frame in range(WALK[0], WALK[1] + 1, 7):
        bone.rotation_euler = (0.01 * frame, 0.1, -0.02 * frame)
        bone.keyframe_insert("rotation_euler", frame=frame)


def posed_and_not_keyed(bone: bpy.types.PoseBone) -> None:
    bone.rotation_quaternion = (1.0, 0.3, 0.2, 0.1)


def spider(change: Callable[[bpy.types.PoseBone], None]) -> bpy.types.Object:
    owner = make_spider(4)
    key_way(owner, "b0", around(1.5))
    change(owner.pose.bones["b0"])
    return owner


def visits(owner: bpy.types.Object) -> list[int]:
    """The frames that are gone to while a walk is planned."""
    with frames_gone_to() as found:
        plan_walk(bpy.context, owner, WALK)
    return found[:-1]  # the last goes back to where it was


@pytest.mark.parametrize("change", [turned, turned_by_angles, posed_and_not_keyed])
def test_the_path_by_curves_is_that_of_the_frames(change: Callable[[bpy.types.PoseBone], None]) -> None:
    owner = planned(spider(change))
    assert visits(owner) == [*WALK]
    digest = rig_of(owner).walker.digest
    owner.parent = make_empty(name="Carrier")
    for frame in WALK:
        owner.parent.keyframe_insert("location", frame=frame)
    update()
    assert visits(owner) == [*range(WALK[0], WALK[1] + 1)]
    assert rig_of(owner).walker.digest == digest


def test_ground_that_moves_is_looked_at_in_each_frame() -> None:
    owner = planned(spider(turned))
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    ground = bpy.context.object
    assert visits(owner) == [*WALK]
    for frame in WALK:
        ground.location.z = 0.001 * frame
        ground.keyframe_insert("location", frame=frame)
    assert len(visits(owner)) == WALK[1]


def test_settings_that_are_keyed_count_in_their_frames() -> None:
    owner = planned(spider(turned))
    for frame, height in zip(WALK, (0.1, 0.4), strict=True):
        rig_of(owner).walker.step_height = height
        owner.keyframe_insert("fabrik_walker_step_height", frame=frame)
    assert len(visits(owner)) == WALK[1]


def test_keys_that_make_no_pose_are_told_with_their_frame() -> None:
    owner = planned(spider(turned))
    for frame, value in ((WALK[0], 1.0), (20, 0.0), (WALK[1], 1.0)):
        owner.pose.bones["b0"].rotation_quaternion = (value, 0.0, 0.0, 0.0)
        owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=frame)
    for frame in range(WALK[0], WALK[1] + 1, 7):
        if frame != WALK[0]:
            owner.pose.bones["b0"].keyframe_delete("rotation_quaternion", frame=frame)
    with pytest.raises(FabrikError, match=r"in frame 20, the rotation quaternion is zero"):
        plan_walk(bpy.context, owner, WALK)


def test_slices_are_short() -> None:
    """Each goes on from where the last one ended."""
    shares = list(plan_steps(bpy.context, walking("spider"), WALK))
    assert shares == sorted(shares)
    assert len(shares) >= WALK[1]

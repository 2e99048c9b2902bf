# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigs of the files that `make_old_files.py` makes: chains of every kind with all settings, bodies and walkers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import radians
from pathlib import Path
from typing import Any

import bpy
from fabrik_addon.actions.walk.plan import plan_walk
from fabrik_addon.actions.walk.setup import add_walker
from fabrik_addon.gait.settings import Gravity, Swing
from fabrik_addon.rig.limit_types import LIMITS as KINDS
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler

from dev.walking_rigs import ahead, make_ground, make_spider
from support.scenes import (
    Bone,
    add_chain,
    add_limb,
    make_armature,
    make_body,
    make_empty,
    make_line,
    select,
    update,
    with_legs_pinned,
)
from support.walks import key_way

FRAMES = (1, 12, 20)  # at which goals are keyed
SAVED = 12  # the frame of the file
# Of the target at these frames, relative to the rig.
PLACES = ((0.3, 1.2, 1.9), (-0.4, 0.8, 2.2), (0.2, 3.0, 2.5))  # for a line of three, the last too far
NEAR_PLACES = ((0.3, 1.0, 1.1), (-0.4, 0.8, 1.4), (0.5, -0.7, 1.2))  # for a line of two, all reached
HARD_PLACES = (PLACES[0], (0.05, 0.1, 0.1), (0.5, -0.3, -2.6))  # for three: two that many limits keep it from
UPPER_PLACES = ((0.5, 1.0, 2.2), (0.1, 0.4, 2.5), (0.4, 0.3, 2.8))  # for two that hang on two
APART = 5.0  # from rig to rig

# Settings of joint limits by rig and bone, angles in degrees.
LIMITS: dict[str, dict[str, dict[str, Any]]] = {
    "free with twist": {
        "b0": {"limit": "FREE", "use_twist": True, "twist_min": -20.0, "twist_max": 35.0},
        "b1": {"limit": "FREE", "use_twist": True, "twist_min": 0.0, "twist_max": 0.0},
    },
    "hinge": {
        "b1": {"limit": "HINGE", "axis": (1.0, 0.2, -0.1), "angle_min": -140.0, "angle_max": 10.0},
        "b2": {"limit": "HINGE", "axis": (1.0, 0.0, 0.0), "angle_min": -15.0, "angle_max": 200.0},
    },
    "cone circular": {
        "b0": {"limit": "CONE", "cone_max": 80.0, "use_twist": True, "twist_min": -30.0, "twist_max": 20.0},
        "b1": {"limit": "CONE", "cone_min": 5.0, "cone_max": 110.0},
        "b2": {"limit": "CONE", "cone_min": 0.0, "cone_max": 60.0, "stiffness": 0.5},
    },
    "cone ellipse": {
        bone: {
            "limit": "CONE",
            "use_ellipse": True,
            "cone_x_min": -70.0 - 20.0 * i,
            "cone_x_max": 80.0,
            "cone_z_min": -30.0,
            "cone_z_max": 60.0 + 10.0 * i,
            "use_twist": i != 1,
            "twist_min": -15.0,
            "twist_max": 60.0,
        }
        for i, bone in enumerate(("b0", "b1", "b2"))
    },
    "planar": {
        "b0": {"limit": "PLANAR", "axis": (1.0, 0.0, 0.0), "angle_min": -90.0, "angle_max": 60.0},
        "b1": {"limit": "PLANAR", "axis": (1.0, 0.0, 0.3), "angle_min": -120.0, "angle_max": 120.0, "use_twist": True},
    },
    "locked": {"b1": {"limit": "LOCKED"}},
    "bone IK": {"b0": {"limit": "BONE_IK"}, "b1": {"limit": "BONE_IK"}, "b2": {"limit": "BONE_IK"}},
    "stiffness": {"b0": {"stiffness": 0.9}, "b1": {"stiffness": 0.25}},
    "every setting": {
        "b2": {
            "limit": "HINGE",
            "axis": (0.6, 0.0, 0.8),
            "angle_min": -100.0,
            "angle_max": 95.0,
            "use_ellipse": True,
            "cone_min": 1.0,
            "cone_max": 46.0,
            "cone_x_min": -11.0,
            "cone_x_max": 12.0,
            "cone_z_min": -13.0,
            "cone_z_max": 14.0,
            "use_twist": True,
            "twist_min": -16.0,
            "twist_max": 17.0,
            "stiffness": 0.125,
        }
    },
}
IK_SETTINGS: dict[str, dict[str, Any]] = {
    "b0": {"lock_ik_y": True, "use_ik_limit_x": True, "ik_min_x": -1.2, "ik_max_x": 0.4, "ik_stiffness_x": 0.6},
    "b1": {"lock_ik_y": True, "lock_ik_z": True, "use_ik_limit_x": True, "ik_min_x": -2.0, "ik_max_x": 0.1},
    "b2": {"use_ik_limit_y": True, "ik_min_y": -0.5, "ik_max_y": 0.7},
}
EXACT = {
    "poled",
    "pole angle",
    "one bone",
    "influence",
    "keyed influence",
    "scaled",
    "live pole",
    "too far",
}  # rigs with one answer


def beside() -> float:
    """Where the next rig stands along X, beside the rigs that there are."""
    return APART * sum(found.type == "ARMATURE" for found in bpy.context.scene.objects)


def line(name: str, count: int = 3, bend: float = 0.2) -> bpy.types.Object:
    """A line of bones, beside the rigs that there are."""
    place = beside()
    owner = make_line(count, bend=bend)
    owner.name = owner.data.name = name
    owner.location.x = place
    return owner


def keyed_empty(owner: bpy.types.Object, name: str, places: Iterable[Sequence[float]]) -> bpy.types.Object:
    """An empty that moves with places relative to a rig."""
    empty = make_empty(name=f"{owner.name} {name}")
    for frame, place in zip(FRAMES, places, strict=True):
        empty.location = [a + b for a, b in zip(owner.location, place, strict=True)]
        empty.keyframe_insert("location", frame=frame)
    return empty


def with_chain(
    owner: bpy.types.Object, places: Iterable[Sequence[float]] = PLACES, tip: str = "", count: int = 0
) -> Any:
    """Another chain of a rig, with a target that moves."""
    name = add_chain(owner, tip=tip, count=count).name
    target = keyed_empty(owner, f"{name} target", places)
    owner.fabrik.chains[name].target = target
    return owner.fabrik.chains[name]


def pose(owner: bpy.types.Object, *turns: Sequence[float]) -> None:
    """Turn the first bones by Euler angles of the order XYZ."""
    for bone, turn in zip(owner.pose.bones, turns, strict=False):
        bone.matrix_basis = Euler(turn).to_matrix().to_4x4()
    bpy.context.view_layer.update()


def add_limits() -> None:
    """A rig for each kind of joint limit."""
    made = {settings.get("limit", "FREE") for bones in LIMITS.values() for settings in bones.values()}
    assert made == set(KINDS), "a kind of limit has no rig"
    for name, bones in LIMITS.items():
        owner = line(name)
        for bone, settings in bones.items():
            for setting, value in settings.items():
                setattr(owner.pose.bones[bone].fabrik, setting, radians(value) if is_angle(setting) else value)
        if name == "bone IK":
            for bone, values in IK_SETTINGS.items():
                for setting, value in values.items():
                    setattr(owner.pose.bones[bone], setting, value)
        with_chain(owner, HARD_PLACES)
    owner = line("keyed limit")
    with_chain(owner, HARD_PLACES)
    for frame, angle in ((1, 20.0), (20, 140.0)):
        bone = owner.pose.bones["b1"]
        bone.fabrik.limit, bone.fabrik.angle_min, bone.fabrik.angle_max = "HINGE", radians(-150.0), radians(angle)
        owner.keyframe_insert('pose.bones["b1"].fabrik_angle_max', frame=frame)


def is_angle(setting: str) -> bool:
    """Whether a setting of a limit is an angle."""
    return setting.endswith(("_min", "_max"))


def add_starts() -> None:
    """Start poses of every kind."""
    with_chain(line("rest", 4), count=0)
    owner = line("captured", 4)
    chain = with_chain(owner, count=3)
    pose(owner, (0.2, 0.0, 0.0), (0.9, 0.3, 0.1), (-0.7, 0.0, 0.4), (0.3, 0.2, 0.0))
    bpy.ops.fabrik.start_pose_capture()
    pose(owner, (0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    owner = line("captured and locked")
    owner.pose.bones["b1"].fabrik.limit = "LOCKED"
    with_chain(owner)
    pose(owner, (0.1, 0.0, 0.2), (1.1, 0.2, 0.1), (-0.4, 0.0, 0.0))
    bpy.ops.fabrik.start_pose_capture()
    for name, keyed in (("animated", ("b0", "b1", "b2")), ("animated in part", ("b1",))):
        owner = line(name)
        chain = with_chain(owner)
        pose(owner, (0.3, 0.1, 0.0), (0.6, 0.0, 0.2), (0.2, 0.0, 0.0))
        if len(keyed) < 3:
            bpy.ops.fabrik.start_pose_capture()
        for frame, turn in ((1, 0.2), (20, 1.2)):
            pose(owner, (turn, 0.0, 0.1), (-turn, 0.2, 0.0), (0.5 * turn, 0.0, -0.3))
            for bone in keyed:
                owner.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
        chain.start = "ANIMATED"


def add_goals() -> None:
    """Poles, and goals that are bones."""
    for name, angle in (("poled", 0.0), ("pole angle", radians(40.0)), ("scaled", radians(-70.0))):
        owner = line(name, 2)
        if name == "scaled":
            owner.scale, owner.rotation_euler = (1.0, 1.3, 0.8), (0.3, 0.2, 0.5)
        chain = with_chain(owner, NEAR_PLACES)
        chain.pole = keyed_empty(owner, "pole", ((0.5, 2.0, 1.0), (2.0, 0.5, 1.0), (1.0, -2.0, 0.5)))
        chain.pole_angle = angle
    owner = line("pole of five", 5)
    chain = with_chain(owner, ((0.3, 1.2, 2.9), (-1.4, 0.8, 2.2), (0.2, 3.0, 2.5)))
    chain.pole, chain.pole_angle = keyed_empty(owner, "pole", ((0, 3, 2), (3, 0, 2), (2, -2, 2))), radians(15.0)
    controls = make_armature(
        [Bone((0.5, 1.0, 1.4), (0.5, 1.0, 1.8), parent=None), Bone((0.0, 3.0, 1.0), (0.0, 3.0, 1.4), parent=None)]
    )
    controls.name = controls.data.name = "controls"
    owner = line("bones as goals")
    chain = with_chain(owner)
    chain.target, chain.target_bone, chain.pole, chain.pole_bone = controls, "b0", controls, "b1"
    controls.location = owner.location
    for frame, height in zip(FRAMES, (0.0, 0.5, 2.5), strict=True):
        controls.pose.bones["b0"].location.y = height
        controls.pose.bones["b0"].keyframe_insert("location", frame=frame)
    owner = line("control bones", 2)
    add_chain(owner)
    select(owner)
    bpy.ops.fabrik.target_add(kind="BONE")
    bpy.ops.fabrik.pole_add(kind="BONE")
    control = owner.pose.bones[owner.fabrik.chains[0].target_bone]
    for frame, way in zip(FRAMES, ((0.0, 0.4, -0.3), (0.3, 0.2, -0.5), (-0.2, 0.6, -0.2)), strict=True):
        control.location = way
        control.keyframe_insert("location", frame=frame)


def add_settings() -> None:
    """Every other setting of a chain."""
    with_chain(line("one bone", 1), ((0.0, 1.2, 1.6), (0.0, 0.722219, 0.72), (0.1, 0.2, 0.3)))
    for name in ("influence", "keyed influence"):
        owner = line(name, 2)
        chain = with_chain(owner, NEAR_PLACES)
        chain.pole, chain.influence = keyed_empty(owner, "pole", ((0, 2, 1), (2, 1, 1), (1, 1, 2))), 0.4
    for frame, influence in ((1, 0.0), (20, 1.0)):
        owner.fabrik.chains[0].influence = influence
        owner.fabrik.chains[0].keyframe_insert("influence", frame=frame)
    chain = with_chain(line("plain", 5), ((0.3, 1.2, 2.9), (-1.4, 0.8, 2.2), (0.2, 3.0, 2.5)))
    chain.name = "of a longer name"
    chain.use_plain, chain.tolerance, chain.max_passes = True, 0.01, 40
    owner = line("disabled")
    chain = with_chain(owner)
    bpy.ops.fabrik.solve()
    pose(owner, (0.2, 0.0, 0.1), (0.7, 0.3, 0.0), (-0.2, 0.0, 0.0))
    chain.enabled = False
    owner = line("two levels", 4)
    with_chain(owner, NEAR_PLACES, tip="b1", count=2)
    with_chain(owner, UPPER_PLACES, tip="b3", count=2)
    owner.fabrik.active_index = 0


def add_channels() -> None:
    """Rotation modes, and channels that are locked."""
    owner = line("rotation modes", 4)
    for bone, mode in zip(owner.pose.bones, ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE"), strict=True):
        bone.rotation_mode = mode
    with_chain(owner)
    owner = line("locked channels", 4)
    pose(owner, (0.1, 0.0, 0.1), (0.3, 0.0, 0.0), (0.2, 0.3, 0.0), (0.1, 0.1, 0.1))
    for bone, mode, locks in zip(
        owner.pose.bones,
        ("QUATERNION", "XYZ", "YZX", "QUATERNION"),
        ((False, False, False), (False, True, True), (True, True, True), (False, False, False)),
        strict=True,
    ):
        bone.rotation_mode, bone.lock_rotation = mode, locks
    with_chain(owner)


def add_statuses() -> None:
    """A rig for every way in which a solve ends, and one that was not solved."""
    with_chain(line("too far", 3), ((0, 5, 1), (3, 3, 3), (-4, 0, 1)))
    owner = make_armature([Bone((0, 0, 0), (0, 0, 2)), Bone((0, 0, 2), (0, 0.3, 2.6), connect=True)])
    owner.name = owner.data.name = "too near"
    owner.location = (-APART, 0, 0)
    with_chain(owner, ((0.1, 0.3, 0.4), (0.2, 0.2, 0.7), (0.4, 0.3, 0.2)))
    owner = line("blocked")
    for bone in owner.pose.bones:
        bone.fabrik.limit, bone.fabrik.angle_min, bone.fabrik.angle_max = "HINGE", radians(-20.0), radians(20.0)
    with_chain(owner, ((0.0, 1.9, 1.0), (0.0, 1.5, 0.5), (0.5, 0.3, 2.6)))
    owner = line("refused")
    with_chain(owner)
    constraint = owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
    constraint.target = bpy.data.objects["refused b2 target"]
    owner = line("without a target")
    add_chain(owner)
    owner = line("not solved")
    with_chain(owner).enabled = False
    owner = line("moved away", 4)
    with_chain(owner, UPPER_PLACES, tip="b1", count=2)
    with_chain(owner, ((0.3, 2.0, 1.9), (-1.4, 1.8, 1.2), (1.2, 2.0, 0.5)), tip="b3", count=4)


def add_live() -> None:
    """Rigs that follow their targets."""
    for name, count, places in (("live", 3, PLACES), ("live pole", 2, NEAR_PLACES)):
        owner = line(name, count)
        chain = with_chain(owner, places)
        if name == "live pole":
            chain.pole = keyed_empty(owner, "pole", ((0, 2, 1), (2, 1, 1), (1, 1, 2)))
        owner.fabrik.live = True
        owner.fabrik.auto_capture = name != "live pole"


def add_baked() -> None:
    """Rigs that are baked, with the report of it."""
    for name, into, clean_up in (
        ("baked", "ACTION", 0.0),
        ("baked cleaned", "NEW_ACTION", 2.0),
        ("baked track", "NLA", 0.0),
    ):
        owner = line(name)
        with_chain(owner)
        bpy.ops.fabrik.solve()
        bpy.ops.fabrik.bake(frame_start=1, frame_end=20, into=into, clean_up=radians(clean_up), verify="EVERY")


def add_character() -> None:
    """A rig in a collection, to be linked."""
    owner = line("character", 6)
    with_chain(owner, NEAR_PLACES, tip="b1", count=2).name = "lower"
    with_chain(owner, UPPER_PLACES, tip="b3", count=2).name = "upper"
    bone = owner.pose.bones["b1"].fabrik
    bone.limit, bone.angle_min, bone.angle_max = "HINGE", radians(-150.0), radians(5.0)
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for found in list(bpy.context.scene.collection.objects):
        collection.objects.link(found)
        bpy.context.scene.collection.objects.unlink(found)


def add_override() -> None:
    """A library override of that rig: a chain baked, one edited, one added, the limit of a bone set."""
    library = str(Path(bpy.data.filepath).with_name("library.blend"))
    with bpy.data.libraries.load(library, link=True, relative=True) as (_, wanted):
        wanted.collections = ["Character"]
    collection = bpy.data.collections["Character"]
    bpy.context.scene.collection.children.link(collection)
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    bpy.context.scene.collection.children.unlink(collection)
    owner = next(found for found in bpy.context.scene.objects if found.type == "ARMATURE" and found.override_library)
    bpy.context.view_layer.objects.active = owner
    owner.fabrik.active_index = 0
    owner.fabrik.chains["lower"].target = keyed_empty(owner, "own target", NEAR_PLACES)
    bpy.ops.fabrik.bake(frame_start=1, frame_end=20, chains="ACTIVE")
    bpy.context.scene.frame_set(SAVED)
    edited = owner.fabrik.chains["upper"]
    edited.influence, edited.tolerance, edited.max_passes = 0.75, 0.001, 99
    bone = owner.pose.bones["b3"].fabrik
    bone.limit, bone.axis, bone.angle_min, bone.angle_max = "HINGE", (1.0, 0.0, 0.0), radians(-120.0), radians(30.0)
    with_chain(owner, ((0.5, 1.0, 4.0), (-0.4, 0.6, 4.2), (0.4, 0.9, 4.4)), tip="b5", count=2).name = "mine"
    pose(owner, *[(0.0, 0.0, 0.0)] * 4, (0.5, 0.0, 0.0), (-0.3, 0.0, 0.0))
    bpy.ops.fabrik.start_pose_capture()


def set_scene() -> None:
    """Settings of the scene."""
    scene = bpy.context.scene
    scene.fabrik_live = False
    scene.fabrik_overlay.show = scene.fabrik_overlay.show_reach = scene.fabrik_overlay.all_chains = True


# Bodies, and chains with all that a goal can ask


SET_UP = "set up"  # a rig that the button has set up
# Of a goal at the frames, relative to the rig.
HAND_PLACES = ((0.5, -0.3, 1.4), (0.4, -0.5, 0.7), (0.6, -0.4, 1.5))
OTHER_PLACES = ((-0.5, -0.2, 1.3), (-0.6, 0.1, 1.5), (-0.4, -0.4, 1.2))
SEEN_PLACES = ((0.5, -2.0, 1.6), (-0.8, -1.5, 1.2), (0.2, -1.8, 2.2))
STRAIGHT_PLACES = ((0.0, 1.2, 2.6), (0.0, 0.5, 2.95), (0.0, 2.5, 2.5))  # for a line of three, the last too far


def standing(name: str) -> bpy.types.Object:
    """A body beside the rigs that there are, its feet pinned."""
    place = beside()
    owner = make_body()
    owner.name = name
    assert owner.data is not None
    owner.data.name = name
    owner.location.x = place
    return with_legs_pinned(owner)


def with_goal(owner: bpy.types.Object, tip: str, count: int, places: Sequence[Sequence[float]]) -> FabrikChain:
    """A limb with a target that moves."""
    add_limb(owner, tip, count)
    target = keyed_empty(owner, f"{tip} target", places)
    chain = rig_of(owner).chains[tip]
    chain.target = target
    return chain


def reaching(name: str) -> bpy.types.Object:
    """A body that reaches with a hand, turns the other with its target, and looks at something."""
    owner = standing(name)
    with_goal(owner, "hand.L", 3, HAND_PLACES).weight = 0.7
    with_goal(owner, "hand.R", 3, OTHER_PLACES)
    rig_of(owner).active_index = len(rig_of(owner).chains) - 1
    select(owner)
    bpy.ops.fabrik.orientation_set(chain="hand.R", orientation="TARGET")
    rig_of(owner).chains["hand.R"].orientation_weight = 0.6
    head = with_goal(owner, "head", 1, SEEN_PLACES)
    head.kind, head.aim_axis = "AIM", (0.0, 0.0, 1.0)
    rig = rig_of(owner)
    rig.spine, rig.body_stiffness, rig.falloff = 0.3, 0.2, 0.25
    return owner


def add_bodies() -> None:
    """Bodies that are solved as a whole: by the button and live, balanced, from a captured pose, as they are set up."""
    reaching("body")
    rig_of(reaching("live body")).live = True
    owner = standing("balanced body")
    with_goal(owner, "hand.L", 3, HAND_PLACES)
    select(owner)
    bpy.ops.fabrik.balance_masses(by="PARTS")
    rig_of(owner).balance = 0.8
    owner = standing("captured body")
    chain = with_goal(owner, "hand.R", 3, OTHER_PLACES)
    pose(owner, (0.1, 0.0, 0.0), (0.2, 0.0, 0.1), (0.1, 0.2, 0.0))
    select(owner)
    bpy.ops.fabrik.start_pose_capture()
    owner = standing("keyed pin")
    chain = with_goal(owner, "hand.L", 3, HAND_PLACES)
    for frame, is_pinned in zip(FRAMES, (True, False, True), strict=True):
        chain.pin = is_pinned
        chain.keyframe_insert("pin", frame=frame)
    place = beside()
    owner = make_body()
    owner.name, owner.location.x = SET_UP, place
    select(owner)
    bpy.ops.fabrik.character_setup(controls="EMPTIES")


def add_asked() -> None:
    """Chains alone, with all else that a goal can ask."""
    with_chain(line("soft"), STRAIGHT_PLACES).soft = 0.08
    owner = line("stretched")
    for bone in owner.pose.bones:
        bone.bone.inherit_scale = "ALIGNED"
    with_chain(owner, STRAIGHT_PLACES).stretch = 1.4
    chain = with_chain(line("aiming"), SEEN_PLACES)
    chain.kind, chain.aim_axis = "AIM", (0.0, 0.6, 0.8)
    with_chain(line("by its head"), NEAR_PLACES).effector = "HEAD"
    owner = line("rotation kept", 4)
    with_chain(owner, ((0.3, 1.2, 2.3), (-0.4, 0.8, 2.6), (0.2, 1.5, 2.2)))
    pose(owner, (0.1, 0.0, 0.0), (0.2, 0.0, 0.1), (0.1, 0.2, 0.0), (0.4, 0.3, 0.0))
    select(owner)
    bpy.ops.fabrik.orientation_set(chain=rig_of(owner).chains[0].name, orientation="KEEP")
    owner = line("pinned")
    pose(owner, (0.3, 0.0, 0.0), (0.4, 0.0, 0.1), (0.5, 0.2, 0.0))
    with_chain(owner)
    rig_of(owner).chains[0].target = None
    select(owner)
    bpy.ops.fabrik.pin_toggle(which="ACTIVE", action="PIN")
    owner = line("limited aim")
    owner.pose.bones["b1"].fabrik.limit = "HINGE"
    owner.pose.bones["b1"].fabrik.angle_min, owner.pose.bones["b1"].fabrik.angle_max = radians(-10.0), radians(60.0)
    with_chain(owner, SEEN_PLACES).kind = "AIM"


def add_baked_body() -> None:
    """A body that is baked, with the report of it."""
    owner = standing("baked body")
    with_goal(owner, "hand.L", 3, HAND_PLACES)
    select(owner)
    bpy.ops.fabrik.solve()
    bpy.ops.fabrik.bake(frame_start=FRAMES[0], frame_end=FRAMES[-1], into="NEW_ACTION", chains="ALL")


# Walkers: planned, with other settings, and baked


LEGS = 2  # on each side
WAY = 0.5
RANGE = (FRAMES[0], FRAMES[-1])
SETTINGS = {
    "gait": "CUSTOM",
    "duty": 0.7,
    "step_height": 0.2,
    "stride_scale": 0.8,
    "step_trigger": 0.3,
    "swing_curve": Swing.SINE.value,
    "body_height": 0.9,
    "body_carry": 0.8,
    "body_tilt": 0.4,
    "body_sway": 0.3,
    "foot_tilt": 0.6,
    "heel_toe": 0.5,
    "prediction": 0.7,
    "clearance": 0.03,
    "slope_max": radians(50.0),
    "gravity": Gravity.DOWN.value,
    "acceleration": 8.0,
    "ground_height": -0.05,
}


def spider(name: str) -> bpy.types.Object:
    """A walker beside the rigs that there are, whose body goes ahead."""
    place = beside()
    owner: bpy.types.Object = make_spider(LEGS, name)
    owner.location.x = place
    key_way(owner, "b0", ahead(WAY), RANGE)
    update()
    add_walker(bpy.context, owner)
    return owner


def walking(name: str) -> bpy.types.Object:
    """One whose walk is planned."""
    owner = spider(name)
    plan_walk(bpy.context, owner, RANGE)
    return owner


def add_walkers() -> None:
    """Walks that are planned: played live, with all settings, on ground of its own, and one that is off and old."""
    rig_of(walking("walker")).live = True
    owner = spider("walker with settings")
    walker = rig_of(owner).walker
    for name, value in SETTINGS.items():
        setattr(walker, name, value)
    for i, leg in enumerate(walker.legs):
        leg.offset, leg.group, leg.home = 0.25 * i, i % 2, (0.02 * i, 0.01, 0.0)
    plan_walk(bpy.context, owner, RANGE)
    rig_of(owner).live = True
    owner = spider("walker on its ground")
    x = owner.location.x
    ground = make_ground([(x - 2, -2, 0), (x + 2, -2, 0.3), (x + 2, 2, 0.3), (x - 2, 2, 0)], [(0, 1, 2, 3)])
    terrain = bpy.data.collections.new("Terrain")
    bpy.context.scene.collection.children.link(terrain)
    terrain.objects.link(ground)
    rig_of(owner).walker.terrain = terrain
    plan_walk(bpy.context, owner, RANGE)
    rig_of(owner).live = True
    owner = walking("old walk")
    rig_of(owner).walker.stride_scale = 1.5
    rig_of(owner).walker.on = False


def add_baked_walks() -> None:
    """Walks as keys of goals, and of bones."""
    for into in ("GOALS", "BONES"):
        owner = walking(f"walk as {into.lower()}")
        select(owner)
        bpy.ops.fabrik.walk_bake(into=into)
        rig_of(owner).live = into == "GOALS"


# Which rigs are in which file


CHAINS = (set_scene, add_starts, add_goals, add_settings, add_channels, add_statuses)
BODIES = (add_bodies, add_asked, add_baked_body)
WALKERS = (add_walkers, add_baked_walks)
MAPPED = "bodies"  # the file in which the rig is whose mapping is kept
FILES: dict[str, tuple[Callable[[], None], ...]] = {
    "limits": (add_limits,),
    "chains": CHAINS,
    "live": (add_live,),
    "baked": (add_baked,),
    "bodies": BODIES,
    "walkers": WALKERS,
    "library": (add_character,),
    "override": (add_override,),
    "blender-5.0": (add_limits, *CHAINS, add_baked, *BODIES, *WALKERS),
}

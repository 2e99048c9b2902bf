# SPDX-License-Identifier: GPL-3.0-or-later
"""Random rigs with all flags mixed, posed at random, with a target that can be reached."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from random import Random
from typing import Any

import bpy
from fabrik_addon.rig.limit_types import LIMITS, limit_settings
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Euler, Matrix, Quaternion, Vector

from support.judging import channels, evaluated_joints
from support.limit_examples import EXAMPLES
from support.scenes import MODES, SCALES, Bone, add_chain, make_armature, make_empty, put_channels, set_rotation

KNOWN = ("HINGE", "CONE", "PLANAR", "FREE")
LATER = [limit for kind, limits in EXAMPLES.items() if kind not in (*KNOWN, "LOCKED") for limit in limits]


@dataclass
class RandomRig:
    """A rig and what is known of it."""

    owner: bpy.types.Object
    chain: FabrikChain
    depends_on_direction: bool


def _vector(random: Random, size: float = 1.0) -> Vector:
    return Vector([random.gauss(0.0, size) for _ in range(3)])


def _turn(random: Random, angle: float) -> Quaternion:
    return Quaternion(_vector(random).normalized(), random.uniform(-angle, angle))


def random_rig(seed: int, uneven: bool = False) -> RandomRig:
    """A rig of up to 8 bones of which the last few are the chain.

    Args:
        seed: Equal seeds give equal rigs.
        uneven: Let scales differ between axes, so that lengths may depend on direction.
    """
    random = Random(seed)
    size = 10.0 ** random.uniform(-2, 2)
    count, above = random.randint(1, 6), random.randint(0, 2)
    bones, head = [], _vector(random, size)
    for i in range(above + count):
        tail = head + (Vector((0, 0, 1)) + _vector(random, 0.6)).normalized() * size * random.uniform(0.5, 1.5)
        connect = i > 0 and random.random() < 0.6
        bones.append(Bone(head, tail, random.uniform(-pi, pi), connect=connect))
        head = tail if random.random() < 0.6 else tail + _vector(random, 0.2 * size)
    owner = make_armature(bones)
    _pose(random, owner, size, uneven)
    owner.matrix_world = _object_matrix(random, uneven)
    chain = add_chain(owner, tip=f"b{above + count - 1}", count=count)
    _limits(random, owner, count)
    chain.target = make_empty(_reachable(random, owner, chain))
    if random.random() < 0.5:
        joints = evaluated_joints(owner, chain)
        chain.pole = make_empty(joints[0] + _vector(random, (joints[-1] - joints[0]).length * 2.0), "Pole")
    return RandomRig(owner, chain, uneven)


def _pose(random: Random, owner: bpy.types.Object, size: float, uneven: bool) -> None:
    elsewhere = Random()  # so that the rigs of known seeds stay what they were
    elsewhere.setstate(random.getstate())
    for bone in owner.pose.bones:
        bone.rotation_mode = random.choice(MODES)
        bone.bone.use_inherit_rotation = random.random() < 0.85
        bone.bone.inherit_scale = random.choice(SCALES)
        bone.bone.use_local_location = random.random() < 0.8
        if bone.bone.use_connect:
            bone.location = _vector(elsewhere, size)  # which Blender ignores
        elif random.random() < 0.5:
            bone.location = _vector(random, 0.2 * size)
        if random.random() < 0.4:
            even = random.uniform(0.5, 2.0) * random.choice((1, 1, 1, -1))
            bone.scale = [even * (random.uniform(0.7, 1.4) if uneven else 1.0) for _ in range(3)]
        set_rotation(bone, _turn(random, 1.0))


def _object_matrix(random: Random, uneven: bool) -> Matrix:
    even = random.uniform(0.3, 3.0) * random.choice((1, 1, -1))
    scale = Vector([even * (random.uniform(0.5, 2.0) if uneven else 1.0) for _ in range(3)])
    return Matrix.LocRotScale(_vector(random, 5.0), Euler(_vector(random)), scale)


def _limits(random: Random, owner: bpy.types.Object, count: int) -> None:
    """Limits of every type, and locks, on a few bones."""
    elsewhere = Random()  # so that one more type leaves the rigs of most seeds what they were
    elsewhere.setstate(random.getstate())
    for bone in list(owner.pose.bones)[-count:]:
        drawn = random.random()
        if drawn < 0.22:
            _limit(random, bone)
            if LATER and elsewhere.random() < 0.2:
                _limit_of_a_later_type(elsewhere, bone)
        elif drawn < 0.28:
            bone.lock_rotation = (True, True, True)
        elif drawn < 0.34:
            free = random.randrange(3)
            bone.lock_rotation = [i != free for i in range(3)]


def _limit(random: Random, bone: bpy.types.PoseBone) -> None:
    limit = bone.fabrik
    limit.limit = random.choice(KNOWN)
    axis = _vector(random)
    limit.axis = axis if abs(axis.normalized().y) < 0.98 else (1.0, 0.0, 0.0)  # along the bone it is refused
    limit.angle_min, limit.angle_max = -random.uniform(0, 2), random.uniform(0, 2)
    limit.use_ellipse, limit.use_twist = random.random() < 0.5, random.random() < 0.5
    limit.cone_max, limit.cone_min = random.uniform(0.2, 2.0), random.choice((0.0, 0.1))
    for name in ("cone_x", "cone_z", "twist"):
        setattr(limit, f"{name}_min", -random.uniform(0.1, 1.5))
        setattr(limit, f"{name}_max", random.uniform(0.1, 1.5))
    limit.stiffness = random.choice((0.0, 0.0, 0.5, 1.0))


def _limit_of_a_later_type(random: Random, bone: bpy.types.PoseBone) -> None:
    """One of the examples of the types that `_limit` does not know."""
    for name, value in limit_settings(random.choice(LATER)).items():
        setattr(bone.fabrik, name, value)


def _reachable(random: Random, owner: bpy.types.Object, chain: FabrikChain) -> Vector:
    """A point where the tip was for some pose inside the limits; the pose is put back."""
    before = channels(owner)
    moved: Any = list(owner.pose.bones)[-chain.bone_count :]
    for bone in moved:
        if not any(bone.lock_rotation):
            limit = LIMITS[bone.fabrik.limit].make(bone.fabrik, Quaternion())
            drawn = Quaternion(limit.drawn(random.random(), random.random(), random.random()))
            set_rotation(bone, _turn(random, 1.0) if limit.is_free else drawn)
        elif bone.rotation_mode not in {"QUATERNION", "AXIS_ANGLE"} and not all(bone.lock_rotation):
            bone.rotation_euler[list(bone.lock_rotation).index(False)] += random.uniform(-1, 1)
    point = evaluated_joints(owner, chain)[-1]
    put_channels(owner, before)
    bpy.context.view_layer.update()
    return point

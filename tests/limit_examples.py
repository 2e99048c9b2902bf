# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of every type in the registry, for the laws that they have to hold to."""

from math import radians

from fabrik_addon.kernel.limits import FREE, Cone, Hinge, Limit, Locked, Planar, Twist, Twisting
from mathutils import Quaternion, Vector

from chains import hinge

TWIST = Twist(-0.4, 0.9)
EXAMPLES: dict[str, list[Limit]] = {
    "FREE": [FREE, Twisting(TWIST), Twisting(Twist(0.3, 0.3))],
    "HINGE": [
        hinge((1, 0, 0), 0, 150),
        hinge((1, 2, -1), -40, 30),
        hinge((0, 0, 1), -200, 150),
        hinge((0, 1, 0), 20, 20),
        Hinge(Vector((0, 0, 1)), -1.0, 2.0, Quaternion((1, 0, 0), 0.7)),
    ],
    "CONE": [
        Cone.circular(radians(30)),
        Cone.circular(radians(120), twist=TWIST),
        Cone.circular(radians(60), radians(20), TWIST),
        Cone(0.0, 0.3, 1.2, 0.8, 0.5),
        Cone(0.0, 0.3, 1.2, 0.0, 2.0, TWIST),
    ],
    "PLANAR": [
        Planar(Vector((1, 0, 0)), -1.0, 2.0),
        Planar(Vector((1, 0.3, -1)).normalized(), -0.5, 0.5, TWIST),
    ],
    "LOCKED": [Locked(Quaternion((0, 1, 0), 0.5))],
    "BONE_IK": [],  # makes limits of the other types
}

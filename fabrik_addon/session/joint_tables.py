# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the joints of humans and of animals go: tables of published ranges, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

from ..recognise.joint_bends import PAW

Range = tuple[float, float]  # degrees


@dataclass(frozen=True, slots=True)
class JointRange:
    """The range of a joint, in degrees.

    Attributes:
        label: Its name.
        flexion: Extension (negative) to flexion; of an ankle from toes up (negative) to toes down.
        part: The part that bends in it.
        description: The ranges in words, for a tooltip.
        from_straight: Whether flexion is counted from the straight limb, and not from the rest pose.
        side: Towards the body's middle (negative) to away from it; of a wrist little finger (negative) to thumb.
        twist: Outwards (negative) to inwards; of an ankle sole inwards (negative) to outwards.
    """

    label: str
    flexion: Range
    part: str
    description: str
    from_straight: bool = False
    side: Range | None = None
    twist: Range = (0.0, 0.0)


# American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording, 1965.
HUMAN_JOINTS = {
    "KNEE": JointRange(
        "Knee",
        (0, 135),
        "SHIN",
        "From the straight limb: bends 0° to 135°",
        from_straight=True,
    ),
    "ELBOW": JointRange(
        "Elbow",
        (0, 150),
        "FOREARM",
        "From the straight limb: bends 0° to 150°",
        from_straight=True,
    ),
    "SHOULDER": JointRange(
        "Shoulder",
        (-60, 180),
        "UPPER_ARM",
        "From the hanging arm: bends -60° to 180°, sideways -75° to 180°, twists -90° to 70°",
        side=(-75, 180),
        twist=(-90, 70),
    ),
    "HIP": JointRange(
        "Hip",
        (-30, 120),
        "THIGH",
        "From the rest pose: bends -30° to 120°, sideways -30° to 45°, twists -45° to 45°",
        side=(-30, 45),
        twist=(-45, 45),
    ),
    "WRIST": JointRange(
        "Wrist",
        (-70, 80),
        "HAND",
        "From the rest pose: bends -70° to 80°, sideways -30° to 20°",
        side=(-30, 20),
    ),
    "ANKLE": JointRange(
        "Ankle",
        (-20, 50),
        "FOOT",
        "From the rest pose: bends -20° to 50°, sideways -20° to 10°, twists -35° to 15°",
        side=(-20, 10),
        twist=(-35, 15),
    ),
    "FINGER": JointRange(
        "Finger",
        (0, 90),
        "FINGER",
        "From the straight limb: bends 0° to 90°",
        from_straight=True,
    ),
    "SPINE": JointRange(
        "Spine",
        (-10, 25),
        "SPINE",
        "From the rest pose: bends -10° to 25°, sideways -12° to 12°, twists -15° to 15°",
        side=(-12, 12),
        twist=(-15, 15),
    ),
    "NECK": JointRange(
        "Neck",
        (-22.5, 22.5),
        "SPINE",
        "From the rest pose: bends -22.5° to 22.5°, sideways -22.5° to 22.5°, twists -30° to 30°",
        side=(-22.5, 22.5),
        twist=(-30, 30),
    ),  # half: neck or head
}

# Of the model dog_v2 of DeepMind's dm_control, 2021.
# Counted from the stance in which the dog of that model stands, so from the rest pose of a rig. Forwards is flexion of
# hip and shoulder. Shoulder and shoulder blade are added up, since the blade of a rig is no bone of its leg.
DOG_JOINTS = {
    "HIP": JointRange(
        "Hip",
        (-60, 130),
        "THIGH",
        "From the rest pose: bends -60° to 130°, sideways -30° to 90°, twists -20° to 20°",
        side=(-30, 90),
        twist=(-20, 20),
    ),
    "KNEE": JointRange(
        "Knee",
        (-10, 120),
        "SHIN",
        "From the rest pose: bends -10° to 120°",
    ),
    "HOCK": JointRange(
        "Hock",
        (-20, 100),
        "HOCK",
        "From the rest pose: bends -20° to 100°",
    ),
    "TOES": JointRange(
        "Toes",
        (-15, 70),
        PAW,
        "From the rest pose: bends -15° to 70°",
    ),
    "SHOULDER": JointRange(
        "Shoulder",
        (-90, 70),
        "FRONT_THIGH",
        "From the rest pose: bends -90° to 70°, sideways -15° to 20°, twists -15° to 30°",
        side=(-15, 20),
        twist=(-15, 30),
    ),
    "ELBOW": JointRange(
        "Elbow",
        (-30, 100),
        "FOREARM",
        "From the rest pose: bends -30° to 100°",
    ),
    "WRIST": JointRange(
        "Wrist",
        (-10, 110),
        PAW,
        "From the rest pose: bends -10° to 110°",
    ),
    "FRONT_TOES": JointRange(
        "Front Toes",
        (-15, 100),
        PAW,
        "From the rest pose: bends -15° to 100°",
    ),
}

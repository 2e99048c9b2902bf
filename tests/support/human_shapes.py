# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons of a human body made from lists of names: in T pose, A pose or posed, facing anywhere, of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import cos, pi, radians, sin
from random import Random

from fabrik_addon.maths import V3, any_perpendicular, cross, distance, minus, plus, scaled, unit
from fabrik_addon.recognise.find import recognise
from fabrik_addon.recognise.skeleton import Skeleton

# Joints of the middle and of the left side in metres: left along +X, facing -Y, up along +Z.
MIDDLE: dict[str, V3] = {
    "ground": (0.0, 0.0, 0.0),
    "hips": (0.0, 0.0, 0.97),
    "hips2": (0.0, 0.005, 0.99),
    "spine1": (0.0, 0.01, 1.05),
    "spine2": (0.0, 0.0, 1.15),
    "spine3": (0.0, 0.0, 1.27),
    "spine4": (0.0, 0.01, 1.36),
    "neck": (0.0, 0.02, 1.48),
    "neck2": (0.0, 0.01, 1.53),
    "head": (0.0, -0.005, 1.58),
    "top": (0.0, -0.01, 1.78),
}
LEFT: dict[str, V3] = {
    "collar": (0.02, 0.01, 1.42),
    "shoulder": (0.17, 0.03, 1.42),
    "shoulder2": (0.31, 0.04, 1.42),
    "elbow": (0.45, 0.05, 1.42),
    "elbow2": (0.575, 0.035, 1.42),
    "wrist": (0.70, 0.02, 1.42),
    "knuckle": (0.78, 0.02, 1.42),
    "half_pelvis": (0.02, 0.0, 0.97),
    "hip": (0.10, 0.0, 0.93),
    "hip2": (0.105, -0.01, 0.71),
    "knee": (0.11, -0.02, 0.49),
    "knee2": (0.112, 0.0, 0.29),
    "ankle": (0.115, 0.03, 0.09),
    "ball": (0.12, -0.09, 0.03),
    "toe": (0.12, -0.17, 0.02),
}
for place, finger in enumerate(("thumb", "index", "middle", "ring", "pinky")):
    for bone in range(4):
        start = 0.72 if finger == "thumb" else 0.79
        LEFT[f"{finger}{bone + 1}"] = (start + 0.03 * bone, -0.04 + 0.02 * place, 1.42 - 0.004 * bone * bone)

ARM = ("shoulder", "shoulder2", "elbow", "elbow2", "wrist")
LEG = ("hip", "hip2", "knee", "knee2", "ankle")
FINGERS = ("thumb", "index", "middle", "ring", "pinky")
TURNED = {*ARM[1:], "knuckle", *(joint for joint in LEFT if joint[:-1] in FINGERS)}  # with the arm
ENDS = {"head": "top", "wrist": "knuckle", "ball": "toe", "ankle": "ball"}
A_POSE = radians(45.0)


@dataclass(frozen=True, slots=True)
class Made:
    """A skeleton and what its bones are.

    Attributes:
        skeleton: It.
        parts: For each part by its name its bones, root to tip.
        limb_of: For each bone the limb and side to which it belongs, "" for none.
    """

    skeleton: Skeleton
    parts: Mapping[str, Sequence[str]]
    limb_of: Sequence[str]


def human(told: str, sides: Sequence[str], *, arms: float = 0.0, posed: int = 0) -> Made:
    """A human made of a list of names; see `name_lists`.

    Args:
        told: The lines; a bone of the side stands for two, and what it hangs on, too, if it has {}.
        sides: What left and right are called.
        arms: By which angle the arms hang down from the T pose.
        posed: The seed of a posed rest, 0 for none.
    """
    bones: list[tuple[str, str, str, int]] = []
    for line in filter(str.strip, told.splitlines()):
        parent, chain = line.split(" > ")
        for entry in chain.split(", "):
            name, joint = entry.split(" = ")
            for i, side in enumerate(sides if "{}" in name else ("",)):
                sign = (1, -1)[i] if "{}" in name else 0
                bones.append((name.format(side), parent.format(side) if parent != "-" else "", joint, sign))
            parent = name
    names = [bone[0] for bone in bones]
    assert len(set(names)) == len(names), "two bones have one name"
    parents = [names.index(parent) if parent else -1 for _, parent, _, _ in bones]
    random = Random(posed)
    swings = {sign: random.uniform(-0.5, 0.5) if posed else 0.0 for sign in (1, -1)}
    heads = [_placed(joint, sign, arms, swings) for _, _, joint, sign in bones]
    tails = [_tail(heads, parents, bones, i, arms, swings) for i in range(len(bones))]
    order = sorted(range(len(bones)), key=lambda i: _depth(parents, i))
    new = {old: i for i, old in enumerate(order)}
    skeleton = Skeleton(
        names=[names[i] for i in order],
        parents=[new[parents[i]] if parents[i] >= 0 else -1 for i in order],
        heads=[heads[i] for i in order],
        tails=[tails[i] for i in order],
        flagged=[True] * len(order),
        axes=[axes_of(heads[i], tails[i], 0.0) for i in order],
    )
    limbs = [_limb(joint, sign) for _, _, joint, sign in bones]
    return Made(skeleton, _parts(bones), [limbs[i] for i in order])


def _count(parents: Sequence[int], bone: int) -> int:
    return 1 + sum(_count(parents, i) for i, parent in enumerate(parents) if parent == bone)


def _depth(parents: Sequence[int], bone: int) -> int:
    return 0 if parents[bone] < 0 else 1 + _depth(parents, parents[bone])


def _placed(joint: str, sign: int, arms: float, swings: Mapping[int, float]) -> V3:
    if joint in MIDDLE:
        return MIDDLE[joint]
    x, y, z = LEFT[joint]
    if joint in TURNED:
        sx, sy, _ = LEFT["shoulder"]
        angle = arms + abs(swings[sign])
        across = x - sx
        x, z = sx + across * cos(angle), z - across * sin(angle)
        y = sy + (y - sy) - 0.5 * across * swings[sign]
    if joint in LEG[1:] or joint in ("ball", "toe"):
        y += swings[sign] * 0.3 * (LEFT["hip"][2] - z)  # a stride
    return sign * x, y, z


def _tail(
    heads: Sequence[V3],
    parents: Sequence[int],
    bones: Sequence[tuple[str, str, str, int]],
    bone: int,
    arms: float,
    swings: Mapping[int, float],
) -> V3:
    """At the head of the bone that goes on it, else where the part ends."""
    _, _, joint, sign = bones[bone]
    if joint in ENDS and (end := ENDS[joint]) in {**MIDDLE, **LEFT}:
        return _placed(end, sign, arms, swings)
    below = [i for i, parent in enumerate(parents) if parent == bone and bones[i][3] == sign]
    apart = [i for i in below if distance(heads[i], heads[bone]) > 1e-6]
    if apart:
        return heads[max(apart, key=lambda i: (_count(parents, i), distance(heads[i], heads[bone])))]
    if joint[:-1] in FINGERS and joint[-1] in "123":
        return _placed(f"{joint[:-1]}{int(joint[-1]) + 1}", sign, arms, swings)
    return plus(heads[bone], (0.0, 0.0, 0.04))


def _limb(joint: str, sign: int) -> str:
    side = {1: ".L", -1: ".R", 0: ""}[sign]
    if joint in ARM:
        return f"Arm{side}"
    if joint in (*LEG, "ball"):
        return f"Leg{side}"
    return f"{joint.rstrip('1234')}{side}"


def _parts(bones: Sequence[tuple[str, str, str, int]]) -> dict[str, list[str]]:
    """From the first bone at wrist or ankle up to the last one at the shoulder or hip."""
    by_name = {bone[0]: bone for bone in bones}
    found: dict[str, list[str]] = {}
    for label, joints in (("Arm", ARM), ("Leg", LEG)):
        for sign, side in ((1, "L"), (-1, "R")):
            limb = [next(name for name, _, at, on in bones if at == joints[-1] and on == sign)]
            while (above := by_name[limb[-1]][1]) and by_name[above][2] in joints:
                limb.append(above)
            found[f"{label}.{side}"] = limb[::-1]
    return found


def axes_of(head: V3, tail: V3, roll: float) -> tuple[V3, V3, V3]:
    """X, Y and Z axis of a bone."""
    along = unit(minus(tail, head))
    x = any_perpendicular(along, (1.0, 0.0, 0.0))
    z = cross(x, along)
    turned = plus(scaled(x, cos(roll)), scaled(z, -sin(roll)))
    return turned, along, cross(turned, along)


def moved(skeleton: Skeleton, facing: int, *, y_up: bool = False, size: float = 1.0, seed: int = 0) -> Skeleton:
    """A skeleton turned by quarters about the vertical, laid so that Y is up, scaled, and with any roll."""
    random = Random(seed)

    def place(point: V3) -> V3:
        x, y, z = scaled(point, size)
        for _ in range(facing):
            x, y = -y, x
        return (x, z, -y) if y_up else (x, y, z)

    heads, tails = [place(p) for p in skeleton.heads], [place(p) for p in skeleton.tails]
    axes = [axes_of(a, b, random.uniform(-pi, pi)) for a, b in zip(heads, tails, strict=True)]
    up = (0.0, 1.0, 0.0) if y_up else (0.0, 0.0, 1.0)
    return replace(skeleton, heads=heads, tails=tails, axes=axes, up=up)


def applied(made: Skeleton, found: Skeleton) -> dict[str, list[str]]:
    """The parts of a skeleton that are sure, by the names that its bones had when it was made."""
    parts = [part for part in recognise(found).parts if part.is_applied]
    return {part.name: [made.names[bone] for bone in part.bones] for part in parts}


def unnamed(skeleton: Skeleton) -> Skeleton:
    """The same with names that tell nothing."""
    return replace(skeleton, names=[f"Bone.{i + 1:03d}" for i in range(len(skeleton.names))])

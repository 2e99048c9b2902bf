# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons of creatures: six, eight and fourteen legs, a snake, a centaur, and humans with what games hang on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, pi, sin

from fabrik_addon.maths import V3
from fabrik_addon.recognise.skeleton import Skeleton

from support.human_shapes import axes_of


@dataclass(slots=True)
class Builder:
    """Bones that are added one by one.

    Attributes:
        bones: Name, parent, head and tail of each.
        parts: For each part that is to be found its bones, root to tip.
    """

    bones: list[tuple[str, str, V3, V3]] = field(default_factory=list)
    parts: dict[str, list[str]] = field(default_factory=dict)

    def run(self, names: Sequence[str], parent: str, points: Sequence[V3], part: str = "", ends: int = 0) -> str:
        """Add bones that go on from each other; returns the last one's name.

        Args:
            names: Of the bones.
            parent: On which the first one hangs, or "".
            points: One more than there are bones.
            part: What they are.
            ends: How many at the end are no longer of the part.
        """
        above = parent
        for name, head, tail in zip(names, points, points[1:], strict=False):
            self.bones.append((name, above, head, tail))
            above = name
        if part:
            self.parts[part] = list(names[: len(names) - ends])
        return above

    def both(self, names: Sequence[str], parent: str, points: Sequence[V3], part: str = "", ends: int = 0) -> None:
        """The same on both sides; names have {} for the side, as the parent may."""
        for side, sign in (("L", 1.0), ("R", -1.0)):
            placed = [(sign * x, y, z) for x, y, z in points]
            named = [name.format(side) for name in names]
            self.run(named, parent.format(side), placed, f"{part}.{side}" if part else "", ends)

    def skeleton(self) -> Skeleton:
        """The bones as plain data."""
        names = [bone[0] for bone in self.bones]
        return Skeleton(
            names=names,
            parents=[names.index(parent) if parent else -1 for _, parent, _, _ in self.bones],
            heads=[head for _, _, head, _ in self.bones],
            tails=[tail for _, _, _, tail in self.bones],
            flagged=[True] * len(names),
            axes=[axes_of(head, tail, 0.0) for _, _, head, tail in self.bones],
        )


def insect(pairs: int) -> Builder:
    """A body of so many segments in a row, each with a pair of legs that rise to a knee; it faces -Y."""
    made = Builder()
    segments = [f"segment{i + 1}" for i in range(pairs)]
    made.run(segments, "", [(0.0, 0.3 * (i - pairs), 0.4) for i in range(pairs, -1, -1)])
    for i, segment in enumerate(segments):
        y = 0.3 * (-0.5 - i)
        points = [(0.08, y, 0.4), (0.18, y, 0.42), (0.5, y - 0.02, 0.7), (0.85, y, 0.3), (0.95, y, 0.0)]
        made.both([f"coxa{i}.{{}}", f"femur{i}.{{}}", f"tibia{i}.{{}}", f"tarsus{i}.{{}}"], segment, points)
        legs = [f"{name}{i}" for name in ("coxa", "femur", "tibia", "tarsus")]
        for side in "LR":
            made.parts[f"Leg {pairs - i}.{side}"] = [f"{name}.{side}" for name in legs]
    made.run(
        ["head", "antenna_base"],
        segments[-1],
        [(0.0, -0.3 * pairs, 0.4), (0.0, -0.3 * pairs - 0.25, 0.45), (0.0, -0.3 * pairs - 0.35, 0.45)],
    )
    return made


def spider() -> Builder:
    """Four pairs of legs that all hang on one bone, as rays."""
    made = Builder()
    made.run(["thorax"], "", [(0.0, 0.2, 0.4), (0.0, -0.2, 0.4)])
    made.run(["abdomen"], "thorax", [(0.0, 0.2, 0.4), (0.0, 0.8, 0.5)])
    for i, angle in enumerate((-55.0, -20.0, 20.0, 55.0)):
        x, y = cos(angle * pi / 180.0), sin(angle * pi / 180.0)
        points = [(x * r, y * r, z) for r, z in ((0.2, 0.4), (0.35, 0.42), (0.8, 0.9), (1.2, 0.35), (1.35, 0.0))]
        names = [f"{bone}{i + 1}.{{}}" for bone in ("coxa", "femur", "tibia", "tarsus")]
        made.both(names, "thorax", points, f"Leg {i + 1}")
    made.both(["eye.{}"], "thorax", [(0.05, -0.2, 0.45), (0.05, -0.3, 0.45)])
    return made


def flat_spider() -> Builder:
    """Its legs hang in one place on a bone of each side, and go farther to the front and the back than down."""
    made = Builder()
    made.run(["hips", "spine", "head"], "", [(0.0, 0.2, 0.1), (0.0, 0.0, 0.1), (0.0, -0.25, 0.1), (0.0, -0.5, 0.12)])
    made.run([f"tail{i}" for i in range(3)], "hips", [(0.0, 0.2 + 0.2 * i, 0.12) for i in range(4)], "Tail")
    made.both(["legs_anchor.{}"], "hips", [(0.0, -0.1, 0.1), (0.08, -0.1, 0.1)])
    for i, angle in enumerate((-60.0, -25.0, 10.0, 45.0)):
        x, y = cos(angle * pi / 180.0), sin(angle * pi / 180.0)
        size = 1.0 - 0.2 * (i in (1, 2))
        rays = ((0.1, 0.12), (0.6 * size, 0.6), (1.1 * size, 0.5), (1.4 * size, 0.0))
        points = [(0.08, -0.1, 0.1), *((0.08 + x * r, -0.1 + y * r, z) for r, z in rays)]
        names = [f"{bone}{i + 1}.{{}}" for bone in ("coxa", "femur", "tibia", "tarsus")]
        made.both(names, "legs_anchor.{}", points, f"Leg {i + 1}")
    return made


def snake(count: int) -> Builder:
    """Bones in one row."""
    made = Builder()
    points = [(0.1 * sin(0.7 * i), 0.1 * i, 0.05) for i in range(count + 1)]
    made.run([f"snake.{i:03d}" for i in range(count)], "", points, "Chain 1")
    return made


def centaur() -> Builder:
    """Four legs, an upright torso with arms, a head, and a tail."""
    made = Builder()
    made.run(["hips", "barrel", "withers"], "", [(0.0, 0.6, 1.1), (0.0, 0.2, 1.1), (0.0, -0.3, 1.1), (0.0, -0.5, 1.15)])
    hind = [(0.15, 0.55, 1.0), (0.16, 0.45, 0.65), (0.16, 0.7, 0.4), (0.16, 0.62, 0.08), (0.16, 0.55, 0.0)]
    fore = [(0.15, -0.4, 1.0), (0.16, -0.3, 0.7), (0.16, -0.38, 0.38), (0.16, -0.4, 0.08), (0.16, -0.48, 0.0)]
    made.both(["thigh.{}", "shin.{}", "hock.{}", "hoof.{}"], "hips", hind, "Hind Leg")
    made.both(["fore_thigh.{}", "fore_shin.{}", "pastern.{}", "fore_hoof.{}"], "withers", fore, "Front Leg")
    torso = [(0.0, -0.5, 1.15), (0.0, -0.52, 1.4), (0.0, -0.5, 1.65)]
    made.run(["torso1", "torso2"], "withers", torso)
    made.run(["neck", "head"], "torso2", [(0.0, -0.5, 1.65), (0.0, -0.5, 1.75), (0.0, -0.5, 1.95)], "Head")
    arm = [(0.03, -0.48, 1.6), (0.17, -0.48, 1.6), (0.45, -0.46, 1.6), (0.7, -0.48, 1.6), (0.78, -0.48, 1.6)]
    made.both(["clavicle.{}", "upper_arm.{}", "forearm.{}", "hand.{}"], "torso2", arm)
    for side in "LR":
        made.parts[f"Arm.{side}"] = [f"{name}.{side}" for name in ("upper_arm", "forearm", "hand")]
    tail = [(0.0, 0.6 + 0.15 * i, 1.1 - 0.1 * i) for i in range(5)]
    made.run([f"tail{i}" for i in range(4)], "hips", tail, "Tail")
    return made


def dressed(arms: int = 1) -> Builder:
    """A human with a sword, a skirt, a ponytail and so many pairs of arms."""
    made = Builder()
    spine = [
        (0.0, 0.0, 0.97),
        (0.0, 0.01, 1.1),
        (0.0, 0.0, 1.25),
        (0.0, 0.01, 1.42),
        (0.0, 0.0, 1.52),
        (0.0, 0.0, 1.75),
    ]
    made.run(["hips", "spine1", "spine2", "neck", "head"], "", spine)
    made.parts["Spine"], made.parts["Head"] = ["spine1", "spine2"], ["neck", "head"]
    leg = [(0.1, 0.0, 0.93), (0.11, -0.02, 0.49), (0.115, 0.03, 0.09), (0.12, -0.1, 0.02), (0.12, -0.18, 0.02)]
    made.both(["thigh.{}", "shin.{}", "foot.{}", "toe.{}"], "hips", leg, "Leg", ends=1)
    for i in range(arms):
        z = 1.38 - 0.12 * i
        arm = [(0.17, 0.03, z), (0.45, 0.05, z), (0.70, 0.02, z), (0.78, 0.02, z)]
        number = f" {i + 1}" if i else ""
        made.both([f"{name}{i or ''}.{{}}" for name in ("upper_arm", "forearm", "hand")], "spine2", arm, f"Arm{number}")
    made.run(["sword", "blade"], "hand.R", [(-0.78, 0.0, 1.38), (-0.78, -0.2, 1.38), (-0.78, -1.0, 1.38)])
    for i in range(8):
        x, y = 0.15 * cos(i * pi / 4.0 + 0.3), 0.12 * sin(i * pi / 4.0 + 0.3)
        made.run(
            [f"skirt{i}_{k}" for k in range(3)],
            "hips",
            [(x * s, y * s, 0.95 - 0.2 * k) for k, s in enumerate((1.0, 1.2, 1.4, 1.6))],
        )
    made.run([f"ponytail{i}" for i in range(5)], "head", [(0.0, 0.1 + 0.02 * i, 1.7 - 0.12 * i) for i in range(6)])
    made.both(
        ["hair1.{}", "hair2.{}", "hair3.{}"],
        "head",
        [(0.06, -0.05, 1.72), (0.1, -0.05, 1.65), (0.11, -0.05, 1.5), (0.11, -0.05, 1.35)],
    )
    return made


CREATURES = {
    "6 legs": insect(3),
    "8 legs in a row": insect(4),
    "14 legs": insect(7),
    "spider": spider(),
    "flat spider": flat_spider(),
    "snake": snake(30),
    "centaur": centaur(),
    "dressed": dressed(),
    "four arms": dressed(2),
    "six arms": dressed(3),
}

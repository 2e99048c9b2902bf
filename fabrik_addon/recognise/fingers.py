# SPDX-License-Identifier: GPL-3.0-or-later
"""The fingers of a hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..maths import distance, dot
from .body_axes import limb_bones
from .tree import Tree
from .words import words_of

MOST_FINGER_BONES = 5  # that in the palm included
USUAL_FINGER_BONES = 3
LONGEST_FINGER = 0.35  # share of the arm that a finger without a name has
FINGER_NAMES = {
    "thumb": "Thumb",
    "index": "Index",
    "middle": "Middle",
    "mid": "Middle",
    "ring": "Ring",
    "pinky": "Pinky",
    "pinkie": "Pinky",
    "little": "Pinky",
}
SURE, BY_PLACE = 0.95, 0.85  # confidence, by names and by where they hang


class Finger(NamedTuple):
    """A finger.

    Attributes:
        label: What it is called.
        bones: Root to tip, without those in the palm.
        confidence: From 0 to 1.
    """

    label: str
    bones: list[int]
    confidence: float


def fingers_of(tree: Tree, arm: Sequence[int], taken: set[int]) -> list[Finger]:
    """The fingers that hang on the hand of an arm, each of two bones or more; what no name tells is none alone."""
    below = set(tree.below(arm[-1])) - taken
    runs = [limb_bones(tree.skeleton, limb) for limb in tree.named.all()]
    runs = [[bone for bone in run if bone in below and tree.labels[bone] != "PALM"] for run in runs]
    runs = [run for run in runs if 2 <= len(run) <= MOST_FINGER_BONES and _is_finger(tree, arm, run)]
    runs = runs if len(runs) > 1 or any(tree.labels[bone] for run in runs for bone in run) else []
    # without the bone in the palm
    runs = [run[1:] if len(run) > USUAL_FINGER_BONES and not tree.labels[run[0]] else run for run in runs]
    runs.sort(key=lambda run: -dot(tree.skeleton.heads[run[0]], tree.axes.forward or tree.axes.lateral))
    found: list[Finger] = []
    for number, run in enumerate(runs, start=1):
        label = _label(tree, run)
        if label in [finger.label for finger in found]:
            label = ""
        named = all(tree.labels[bone] == "FINGER" for bone in run)
        found.append(Finger(label or f"Finger {number}", run, SURE if named else BY_PLACE))
    return found


def _is_finger(tree: Tree, arm: Sequence[int], run: Sequence[int]) -> bool:
    labels = {tree.labels[bone] for bone in run}
    heads = tree.skeleton.heads
    size, whole = distance(heads[run[0]], heads[run[-1]]), distance(heads[arm[0]], heads[arm[-1]])
    return labels <= {"FINGER", ""} and ("FINGER" in labels or size <= LONGEST_FINGER * whole)


def _label(tree: Tree, run: Sequence[int]) -> str:
    words = [word for bone in run for word in words_of(tree.skeleton.names[bone])]
    return next((FINGER_NAMES[word] for word in words if word in FINGER_NAMES), "")

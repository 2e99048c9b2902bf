# SPDX-License-Identifier: GPL-3.0-or-later
"""What recognition finds: the parts of a body, each with how sure it is, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .body_axes import BodyAxes

APPLIED = 0.8  # confidence from which a part is set up without being asked about
ASKED = 0.5  # confidence from which a part is asked about; below it counts as not found

ARM, LEG, WING, FIN, SPINE, HEAD, TAIL, FINGER, EAR, RUN = (
    "ARM",
    "LEG",
    "WING",
    "FIN",
    "SPINE",
    "HEAD",
    "TAIL",
    "FINGER",
    "EAR",
    "RUN",
)
LABELS = {
    ARM: "Arm",
    LEG: "Leg",
    WING: "Wing",
    FIN: "Fin",
    SPINE: "Spine",
    HEAD: "Head",
    TAIL: "Tail",
    FINGER: "Finger",
    EAR: "Ear",
    RUN: "Chain",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a body that is to be one chain.

    Attributes:
        kind: What it is, one of those above.
        name: What its chain is called: part, number, side.
        side: `L`, `R`, or "" in the middle; from where it stands.
        bones: Numbers of its bones in the skeleton, root to tip, each the parent of the next.
        roles: What each of them is, as names of bones have it, or "".
        holds_head: Whether its end is the head of its last bone, a hand or a foot; else its tail.
        confidence: From 0 to 1.
        reasons: What speaks against it, in words; empty where nothing does.
        off_side: Whether the names of its bones tell the other side.
    """

    kind: str
    name: str
    side: str
    bones: tuple[int, ...]
    roles: tuple[str, ...]
    holds_head: bool
    confidence: float
    reasons: tuple[str, ...] = ()
    off_side: bool = False

    @property
    def is_applied(self) -> bool:
        """Whether it is sure enough to be set up without being asked about."""
        return self.confidence >= APPLIED


@dataclass(frozen=True, slots=True)
class Recognised:
    """The parts of a skeleton.

    Attributes:
        plan: What kind of body it is: `HUMAN`, `QUADRUPED`, `MANY_LEGS` or `CHAINS`.
        convention: The convention that the names of its bones follow, or "".
        axes: Where up, forward and left are.
        parts: The parts from which chains can be made, sure or to be asked about.
        body: Number of the bone on which all limbs hang, or -1.
        missing: What such a body has and was not found, each with the reason.
        notes: What was taken for granted, as sentences.
    """

    plan: str
    convention: str
    axes: BodyAxes
    parts: Sequence[Part]
    body: int
    missing: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors of FABRIK Posing, and which numbers are none.

Each error says what is wrong and carries where: the rig, the chain and the bone. Below the operators every refusal
is one of these; operators turn them into reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from unicodedata import category

from .messages import Message, with_place

ORDERS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # characters that turn the order of others round
LARGEST = 1e18  # its square is near the end of single precision; Blender turns infinity into 3.4e38


class FabrikError(Exception):
    """Base of all refusals.

    Attributes:
        reason: What is wrong, without its place: a message, or a sentence in English.
        rig: Name of the armature object, or "".
        chain: Name of the chain, or "".
        bone: Name of the bone, or "".
    """

    def __init__(self, reason: str | Message, *, rig: str = "", chain: str = "", bone: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.rig = rig
        self.chain = chain
        self.bone = bone

    @property
    def local(self) -> str | Message:
        """The reason with the bone alone as its place, for where rig and chain are in view."""
        return Message("BONE_REASON", bone=self.bone, reason=self.reason) if self.bone else self.reason

    @property
    def text(self) -> str | Message:
        """The reason with its place."""
        return with_place(self.reason, self.rig, self.chain, self.bone)

    def __str__(self) -> str:
        return f"{self.text}"


class InvalidValueError(FabrikError):
    """A number that no solve can use: NaN, infinite, or a zero where there must be none."""


class RigError(FabrikError):
    """The armature as a whole can't be posed: edit mode, rest position, linked data, no scale."""


class ChainError(FabrikError):
    """The chain's definition is wrong: missing bone, no bones, no such chain."""


class TargetError(FabrikError):
    """The target or pole is missing, is not in the scene, or hangs on the chain itself."""


class BoneError(FabrikError):
    """A bone of the chain can't be posed: constrained, driven, or locked in part."""


class AbsentTargetError(TargetError):
    """There is no target just now: none is set, or target or pole is hidden, excluded or in another scene."""


@contextmanager
def place_of(*, rig: str = "", chain: str = "", bone: str = "") -> Iterator[None]:
    """Give the errors of a block the place where they happened, by names, as far as they do not know it better."""
    try:
        yield
    except FabrikError as error:
        error.rig, error.chain, error.bone = error.rig or rig, error.chain or chain, error.bone or bone
        raise


def is_plain(text: str) -> bool:
    """Whether a text can be shown in a line: spaces and joiners of any script can, what controls it can't."""
    return not any(category(one) in {"Cc", "Cs", "Zl", "Zp"} or one in ORDERS for one in text)


def are_finite(values: Iterable[float]) -> bool:
    """True where no value is NaN, infinite, or too large to be squared in single precision."""
    for value in values:  # noqa: SIM110 - a generator takes twice as long
        if not abs(value) <= LARGEST:
            return False
    return True

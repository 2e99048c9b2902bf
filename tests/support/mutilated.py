# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons that were spoilt: bones missing, doubled, renamed, names swapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from fabrik_addon.recognise.skeleton import Skeleton


@dataclass(slots=True)
class Bone:
    """A bone by which limb it was of.

    Attributes:
        name: Its name.
        parent: The bone on which it hangs, or None.
        limb: The limb to which it belonged before anything was spoilt.
        number: In the skeleton from which it was taken.
    """

    name: str
    parent: Bone | None
    limb: str
    number: int


def _remove(bones: list[Bone], random: Random) -> None:
    gone = random.choice(bones)
    bones.remove(gone)
    for bone in bones:
        if bone.parent is gone:
            bone.parent = gone.parent


def _double(bones: list[Bone], random: Random) -> None:
    bone = random.choice(bones)
    bones.append(Bone(f"{bone.name}.001", bone.parent, bone.limb, bone.number))


def _rename(bones: list[Bone], random: Random) -> None:
    random.choice(bones).name = f"Bone.{random.randrange(1000):03d}"


def _swap(bones: list[Bone], random: Random) -> None:
    one, other = random.sample(bones, 2)
    one.name, other.name = other.name, one.name


def _misname(bones: list[Bone], random: Random) -> None:
    one, other = random.sample(bones, 2)
    one.name = f"{other.name}.001"


WAYS: Sequence[Callable[[list[Bone], Random], None]] = (_remove, _double, _rename, _swap, _misname)


def mutilated(whole: Skeleton, limbs: Sequence[str], seed: int) -> tuple[Skeleton, list[str]]:
    """A skeleton that is spoilt in one to six places, and the limb of which each bone is."""
    random = Random(seed)
    bones: list[Bone] = []
    for i, (name, parent) in enumerate(zip(whole.names, whole.parents, strict=True)):
        bones.append(Bone(name, bones[parent] if parent >= 0 else None, limbs[i], i))
    for _ in range(random.randint(1, 6)):
        random.choice(WAYS)(bones, random)
    ordered = sorted(bones, key=_depth)
    place = {id(bone): i for i, bone in enumerate(ordered)}
    skeleton = Skeleton(
        names=[bone.name for bone in ordered],
        parents=[place[id(bone.parent)] if bone.parent else -1 for bone in ordered],
        heads=[whole.heads[bone.number] for bone in ordered],
        tails=[whole.tails[bone.number] for bone in ordered],
        flagged=[whole.flagged[bone.number] for bone in ordered] if whole.flagged else (),
        axes=[whole.axes[bone.number] for bone in ordered] if whole.axes else (),
        up=whole.up,
    )
    return skeleton, [bone.limb for bone in ordered]


def _depth(bone: Bone) -> int:
    depth = 0
    while bone.parent is not None:
        bone, depth = bone.parent, depth + 1
    return depth

# SPDX-License-Identifier: GPL-3.0-or-later
"""How a pose stands beside what its chains ask for: as solved, as evaluated, and since the last solve.

A pose is judged in F frames at once, 1 for a button. All numbers are of one space, whichever it is: chain space for a
pose that was solved, armature space for one that Blender evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import FabrikError
from ...maths import (
    ORIGIN,
    Q4,
    ULPS,
    V3,
    Doubles,
    Ints,
    Mask,
    Places,
    axes_of,
    conjugated,
    conjugates,
    cross,
    crosses,
    distance,
    dot,
    dots,
    length,
    lengths,
    minus,
    multiplied,
    normalized,
    products,
    q4,
    rotated,
    rotated_each,
    turn_angle,
    turn_angles,
    turns_about,
    units,
    v3,
)
from ..bones import resolve_bones
from ..goals import goals_of, turns_tip
from ..schema import SOLVED_NUMBERS, SOLVED_TURNS, SOLVED_VECTORS, FabrikChain, owner_of
from ..targets import kind_of, reader_of
from ..walk_goals import is_walked
from .chain_goals import Asked
from .kinematics import world_turn
from .space import RigFrame

NO_SIDE = 1e-6  # share of the length: a joint or a pole nearer to the line from root to effector tells no side
REACHED = 0  # index into the kernel's `STATUSES`


class Columns(NamedTuple):
    """By which joints of a pose, and by which numbers of a row, C chains are judged; made once of what they ask for.

    Attributes:
        tips: (C,), the last joint of each chain.
        at_head: (C, 1), whether the head of that joint is the effector, else its end.
        reaches: (C, 1), whether a place is asked for.
        targets: (C, 3), where the numbers of the target are in a row.
        aims: (A,), the chains that aim.
        axes: (A, 3), the axis that each of these aims, in the axes of its last bone.
        turned: (T,), the chains whose last bone is to have a rotation.
        turns: (T, 4), where the numbers of these rotations are in a row.
        bent: (P,), the chains with a pole.
        poles: (P, 3), where the numbers of these poles are in a row.
        pole_angles: (P,), turns of the bends away from the poles, radians.
        roots: (P,), the first joints of these chains.
        inner: (P, M), their joints between root and effector, filled up with the root.
    """

    tips: Places
    at_head: Mask
    reaches: Mask
    targets: Places
    aims: Places
    axes: Doubles
    turned: Places
    turns: Places
    bent: Places
    poles: Places
    pole_angles: Doubles
    roots: Places
    inner: Places

    @classmethod
    def of(cls, asked: Sequence[Asked]) -> Columns:
        """Of what the chains of a figure ask for; one of no weight asks for no place and no rotation."""
        counted = [one.weight > 0.0 for one in asked]
        aims = [c for c, one in enumerate(asked) if one.aims and counted[c]]
        turned = [c for c, one in enumerate(asked) if one.turns and not one.aims and counted[c]]
        bent = [c for c, one in enumerate(asked) if one.has_pole]
        inner = [asked[c].joints[1:-1] if asked[c].at_head else asked[c].joints[1:] for c in bent]
        most = max([1, *map(len, inner)])
        roots = [asked[c].joints[0] for c in bent]
        reaches = [not one.aims and counts for one, counts in zip(asked, counted, strict=True)]
        return cls(
            _places([one.joints[-1] for one in asked]),
            np.array([one.at_head for one in asked], dtype=bool)[:, None],
            np.array(reaches, dtype=bool)[:, None],
            _run([one.row_at for one in asked], 3),
            _places(aims),
            np.array([asked[c].axis for c in aims]).reshape(-1, 3),
            _places(turned),
            _run([asked[c].row_at + 3 for c in turned], 4),
            _places(bent),
            _run([asked[c].row_at + asked[c].width - 3 for c in bent], 3),
            np.array([asked[c].pole_angle for c in bent], dtype=np.float64),
            _places(roots),
            _places([[*own, *[root] * (most - len(own))] for own, root in zip(inner, roots, strict=True)]),
        )


class Judged(NamedTuple):
    """How C chains stand in F frames.

    Attributes:
        off: (F, C, 3), from effector to target; zero for a chain that asks for no place.
        residual: (F, C), its length.
        turn: (F, C), angle in radians by which the last bone is off the rotation, or the aim, that it is to have.
        pole: (F, C), angle in radians between the bend and where the pole wants it; 0 without a pole, and where one of
            them tells no side.
    """

    off: Doubles
    residual: Doubles
    turn: Doubles
    pole: Doubles


def judge(columns: Columns, numbers: Doubles, heads: Doubles, ends: Doubles, frames: Doubles) -> Judged:
    """How a pose stands beside what its chains ask for.

    Args:
        columns: Of the C chains (`Columns.of`).
        numbers: (F, k), what is asked for: rows as the kernel's have them (`Asked.numbers`).
        heads: (F, n, 3), where the heads of the joints are.
        ends: (F, n, 3), where their ends are: tails, or in a chain the head of the next joint.
        frames: (F, n, 4), unit quaternions: how the joints are turned.
    """
    targets, tips = numbers[:, columns.targets], columns.tips
    effectors = np.where(columns.at_head, heads[:, tips], ends[:, tips])
    off: Doubles = np.where(columns.reaches, targets - effectors, 0.0)
    turn, pole = np.zeros(off.shape[:2]), np.zeros(off.shape[:2])
    if len(columns.aims):
        aiming = tips[columns.aims]
        along = rotated_each(frames[:, aiming], columns.axes)
        wanted = targets[:, columns.aims] - heads[:, aiming]
        turn[:, columns.aims] = np.arctan2(lengths(crosses(along, wanted)), dots(along, wanted))
    if len(columns.turned):
        standing = conjugates(frames[:, tips[columns.turned]])
        turn[:, columns.turned] = turn_angles(products(standing, numbers[:, columns.turns]))
    if len(columns.bent):
        pole[:, columns.bent] = _pole_error(columns, numbers, heads, effectors[:, columns.bent])
    return Judged(off, lengths(off), turn, pole)


def _pole_error(columns: Columns, numbers: Doubles, heads: Doubles, effectors: Doubles) -> Doubles:
    """The angles (F, P) between the bends of chains and where their poles want them.

    The bend is the way from the line from root to effector to the inner joint that stands farthest off that line.
    """
    roots = heads[:, columns.roots]
    lines = effectors - roots
    along, least = units(lines), NO_SIDE * lengths(lines)
    sides = _perpendicular(heads[:, columns.inner] - roots[:, :, None], along[:, :, None])
    farthest = lengths(sides).argmax(axis=-1)[..., None, None]
    side: Doubles = np.take_along_axis(sides, farthest, axis=2)[:, :, 0]
    across = _perpendicular(numbers[:, columns.poles] - roots, along)
    wanted = rotated_each(turns_about(along, columns.pole_angles), across)
    angle = np.abs(np.arctan2(dots(along, crosses(wanted, side)), dots(wanted, side)))
    found: Doubles = np.where((lengths(side) > least) & (lengths(wanted) > least), angle, 0.0)
    return found


def _perpendicular(vectors: Doubles, axes: Doubles) -> Doubles:
    """The parts of vectors at right angles to unit axes."""
    found: Doubles = vectors - axes * dots(vectors, axes)[..., None]
    return found


def worst_status(asked: Sequence[Asked], status: Ints, missed: Doubles) -> Ints:
    """How each chain ended, of what the kernel tells of each of its goals.

    Args:
        asked: What the C chains ask for.
        status: (F, G), of each goal of the figure an index into the kernel's `STATUSES`.
        missed: (F, G), how far each is missed.

    Returns:
        (F, C): the status of that goal of a chain, place or rotation, which is not met and missed most.
    """
    found = np.empty((len(status), len(asked)), dtype=np.int32)
    for c, one in enumerate(asked):
        own, far = status[:, one.wanted.start : one.wanted.stop], missed[:, one.wanted.start : one.wanted.stop]
        worst = np.where((own != REACHED) == (own != REACHED).any(axis=1)[:, None], far, -1.0).argmax(axis=1)
        found[:, c] = np.take_along_axis(own, worst[:, None], axis=1)[:, 0]
    return found


def _places(values: Sequence[int] | Sequence[Sequence[int]]) -> Places:
    """Indices as an array."""
    return np.array(values, dtype=np.intp)


def _run(firsts: Sequence[int], count: int) -> Places:
    """(m, count): as many indices from each of m on."""
    found: Places = _places(firsts)[:, None] + np.arange(count)
    return found


# What a chain's status is about: where its goals and its bones stood at the last solve, beside where they stand now.
#
# Only what Blender evaluated last is read, from the originals, and nothing is evaluated: the panel asks at every
# redraw.

SAME = 1e-4  # share of the length by which something may stand elsewhere and count as not moved
SAME_TURN = 1e-3  # radians, the same of rotations
SAME_STORED = 1e-6  # share, of a rotation of one, by which numbers in single precision are off what was stored
NO_TURN = (0.0, 0.0, 0.0, 0.0)


class Stand(NamedTuple):
    """How a chain and its goals stand.

    Vectors of armature space are relative to the head of the first bone.

    Attributes:
        target: In armature space.
        pole: The same; zero without one.
        shape: The sum of the joints, in armature space.
        turn: The sum of the bones' X axes, each by the bone's length.
        target_world: Where the target is.
        pole_world: Where the pole is.
        length: Of the bones together, in armature space.
        rounding: By how much numbers of armature space may be off through single precision.
        residual: From effector to target in scene units; 0 where the target is aimed at.
        asked_turn: The rotation that the last bone is to have, in armature space; zeros where it is free.
        asked_turn_world: The same in the world.
        turn_off: Angle in radians by which the last bone is off that rotation, or off its aim.
    """

    target: V3
    pole: V3
    shape: V3
    turn: V3
    target_world: V3
    pole_world: V3
    length: float
    rounding: float
    residual: float
    asked_turn: Q4 = NO_TURN
    asked_turn_world: Q4 = NO_TURN
    turn_off: float = 0.0

    @property
    def numbers(self) -> tuple[float, ...]:
        """What is kept of it with the chain."""
        places = *self.target, *self.pole, *self.shape, *self.turn
        return *places, *self.target_world, *self.pole_world, self.length

    @property
    def turns(self) -> tuple[float, ...]:
        """What is kept of the rotation that is asked for."""
        return *self.asked_turn, *self.asked_turn_world


def remember(chain: FabrikChain) -> None:
    """Keep how a chain stands, as that which its status is about; Blender must have evaluated it."""
    stand = stand_of(chain)
    _keep(chain, stand)
    for role, goal in (("target", chain.target), ("pole", chain.pole)):  # which may be called otherwise by now
        name = goal.name if goal is not None else ""
        if getattr(chain, f"{role}_name") != name:
            setattr(chain, f"{role}_name", name)


def forget(chain: FabrikChain) -> None:
    """Clear what `remember` stored: whether anything moved since is not told any more."""
    _keep(chain, None)


def _keep(chain: FabrikChain, stand: Stand | None) -> None:
    """Store a stand with a chain, zeros for none; the same is not written, for every write makes Blender evaluate."""
    numbers: Sequence[float] = stand.numbers if stand is not None else [0.0] * SOLVED_NUMBERS
    turns: Sequence[float] = stand.turns if stand is not None else [0.0] * SOLVED_TURNS
    wanted = np.array(numbers)
    if (np.abs(np.array(chain.solved_as) - wanted) > np.abs(wanted) * SAME_STORED).any():
        chain.solved_as = numbers
    if (np.abs(np.array(chain.solved_turn) - np.array(turns)) > SAME_STORED).any():
        chain.solved_turn = turns


def moved_since(chain: FabrikChain, stand: Stand, is_followed: bool) -> str:
    """What moved since a chain was solved: "target", "pole", "armature" or "bones"; "" where nothing did.

    Args:
        chain: With the status of a solve.
        stand: How it stands now.
        is_followed: Whether it is live, so that its status is renewed with every move; then it has to tell the truth
            of the tip alone.
    """
    kept = [*chain.solved_as]
    allowed = SAME * stand.length + stand.rounding
    if is_followed or not kept[-1]:
        far, soft, off = _to_world(chain, allowed), chain.softened, chain.residual
        # the residual is counted from where soft reach put the target, to some side of that
        is_other = not abs(soft - off) - far <= stand.residual <= soft + off + far
        is_other = is_other or abs(stand.turn_off - chain.turn_residual) > SAME_TURN
        return "bones" if is_other and chain.influence >= 1.0 and chain.weight > 0.0 else ""
    target, pole, shape, turn, target_world, pole_world = (v3(kept[i : i + 3]) for i in range(0, 3 * SOLVED_VECTORS, 3))
    far = _to_world(chain, allowed)
    if distance(stand.target, target) > allowed:
        return "target" if distance(stand.target_world, target_world) > far else "armature"
    if distance(stand.pole, pole) > allowed:
        return "pole" if distance(stand.pole_world, pole_world) > far else "armature"
    asked, asked_world = q4(chain.solved_turn[:4]), q4(chain.solved_turn[4:])
    if _are_apart(stand.asked_turn, asked):
        return "target" if _are_apart(stand.asked_turn_world, asked_world) else "armature"
    several = allowed * (1.0 + chain.bone_count)
    is_other = distance(stand.shape, shape) > several or distance(stand.turn, turn) > several
    return "bones" if is_other else ""


def _are_apart(a: Q4, b: Q4) -> bool:
    """Whether two rotations differ; one of zeros is none."""
    return any(a) != any(b) or (any(a) and turn_angle(multiplied(conjugated(a), b)) > SAME_TURN)


def _to_world(chain: FabrikChain, size: float) -> float:
    """A length of armature space in scene units, at most."""
    owner = owner_of(chain)
    x, y, z = v3(owner.matrix_world.to_scale())
    return size * max(abs(x), abs(y), abs(z))


def stand_of(chain: FabrikChain) -> Stand | None:
    """How a chain stands, as evaluated last; None where that can't be told."""
    owner = owner_of(chain)
    try:
        bones = resolve_bones(owner, chain)
        rig = RigFrame.of(owner.matrix_world)
        points = {role: v3(reader_of(found, bone)(role, found, bone)) for role, found, bone in goals_of(chain)}
        asked = _asked_turn(chain)
    except FabrikError:
        return None
    if "target" not in points:
        if is_walked(chain) or not chain.pin or chain.target_name:
            return None
        points["target"] = v3(chain.held_location)
    root, tip = v3(bones[0].head), v3(bones[-1].tail)
    shape, turn, size = _shape_of(bones)
    local = {role: rig.to_armature(minus(point, rig.away)) for role, point in points.items()}
    effector = v3(bones[-1].head) if chain.at_head else tip
    residual = 0.0 if chain.aims else length(rig.to_world(minus(effector, local["target"])))
    coordinates = [abs(value) for vector in (*local.values(), root, tip) for value in vector]
    world = max(abs(value) for vector in (*points.values(), rig.away) for value in vector)
    size_of_world = max(length(rig.axes[0::3]), length(rig.axes[1::3]), length(rig.axes[2::3]))
    return Stand(
        minus(local["target"], root),
        minus(local["pole"], root) if "pole" in local else ORIGIN,
        shape,
        turn,
        points["target"],
        points.get("pole", ORIGIN),
        size,
        ULPS * max(*coordinates, world / size_of_world),
        residual,
        multiplied(conjugated(axes_of(owner.matrix_world)), asked) if any(asked) else NO_TURN,
        asked,
        _turn_off(owner, chain, bones[-1], asked, points["target"]),
    )


def _shape_of(bones: Sequence[bpy.types.PoseBone]) -> tuple[V3, V3, float]:
    """The sum of a chain's joints from its root, the sum of the X axes each by its bone's length, and all lengths."""
    root, tip = bones[0].head, bones[-1].tail
    shape, turn, size = [tip[k] - root[k] for k in range(3)], [0.0, 0.0, 0.0], 0.0
    for bone in bones:
        head, axis, own = bone.head, bone.x_axis, bone.vector.length
        shape = [shape[k] + head[k] - root[k] for k in range(3)]
        turn = [turn[k] + axis[k] * own for k in range(3)]
        size += own
    return v3(shape), v3(turn), size


def _asked_turn(chain: FabrikChain) -> Q4:
    """The rotation in the world that the last bone of a chain is to have; zeros where it is free.

    Raises:
        FabrikError: It can't be read.
    """
    if not turns_tip(chain):
        return NO_TURN
    if chain.orientation == "KEEP":
        return normalized(q4(chain.held_rotation))
    if chain.target is None:
        return NO_TURN
    turn = kind_of(chain.target, chain.target_bone).turn("target", chain.target, chain.target_bone)
    return multiplied(turn, normalized(q4(chain.rotation_offset)))


def _turn_off(owner: bpy.types.Object, chain: FabrikChain, tip: bpy.types.PoseBone, asked: Q4, target: V3) -> float:
    """By how much the last bone of a chain is off its rotation, or its aim; an angle in radians."""
    turn = world_turn(owner, tip)
    if chain.aims:
        along, wanted = rotated(turn, chain.aim_axis), minus(target, v3(owner.matrix_world @ tip.head))
        return atan2(length(cross(along, wanted)), dot(along, wanted))
    return turn_angle(multiplied(conjugated(turn), asked)) if any(asked) else 0.0

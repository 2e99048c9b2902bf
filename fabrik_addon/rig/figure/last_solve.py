# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain's status is about: where its goals and its bones stood at the last solve, beside where they stand now.

Only what Blender evaluated last is read, from the originals, and nothing is evaluated: the panel asks at every redraw.
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
    axes_of,
    conjugated,
    cross,
    distance,
    dot,
    length,
    minus,
    multiplied,
    normalized,
    plus,
    q4,
    rotated,
    turn_angle,
    v3,
)
from ..bones import resolve_bones
from ..goals import goals_of, is_offset, swing_frame_of, turns_tip
from ..schema.chain import SOLVED_NUMBERS, SOLVED_TURNS, SOLVED_VECTORS, FabrikChain, owner_of
from ..spaces import within
from ..targets import kind_of
from ..walk_goals import is_walked
from .kinematics import world_turn
from .space import RigFrame

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

    The status of one that is followed live is renewed with every move; then it has to tell the truth of the tip alone.
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
    """How a chain stands, as evaluated last; None where that can't be told, as of one that goes by its motion."""
    owner = owner_of(chain)
    if is_offset(chain):
        return None
    try:
        bones = resolve_bones(owner, chain)
        rig = RigFrame.of(owner.matrix_world)
        points = {role: v3(kind_of(found, bone).read(role, found, bone)) for role, found, bone in goals_of(chain)}
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
    swing = swing_frame_of(owner, chain).get("pole") if "pole" in points else None
    if swing and chain.pole is not None:  # which goes along with the limb
        points["pole"] = v3(within(swing, "pole", chain.pole, chain.pole_bone).translation)
        local["pole"] = plus(root, points["pole"])
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

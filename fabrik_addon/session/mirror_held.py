# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a pin holds a chain, and which rotation its tip has, for the chain of the other side."""

from __future__ import annotations

import bpy
from mathutils import Matrix, Vector

from ..maths import Q4, axes_of, conjugated, multiplied, normalized
from ..rig.evaluating import updated
from ..rig.held import offset_from_target, store, was_held
from ..rig.schema import FabrikChain
from ..rig.targets import resolve_turn
from .mirror_bones import BonePair

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))  # armature space


def mirror_held(
    context: bpy.types.Context, owner: bpy.types.Object, pair: tuple[FabrikChain, FabrikChain], tip: BonePair
) -> None:
    """Give the chain of the other side the mirrored place, rotations and aim; its goals are set already.

    Args:
        context: Its view layer has armature and targets.
        owner: The armature object.
        pair: A chain of it, and that of the other side, which has the settings that are no places.
        tip: The last bones of both.

    Raises:
        FabrikError: Where a target stands can't be read.
    """
    chain, other = pair
    depsgraph = updated(context)
    world = owner.evaluated_get(depsgraph).matrix_world
    other.aim_axis = tip.turn @ Vector(chain.aim_axis) * -1.0
    if was_held(chain, "held_location"):
        place = world @ MIRROR @ world.inverted() @ Vector(chain.held_location)
        store(other, "held_location", place)
    if was_held(chain, "held_rotation"):
        store(other, "held_rotation", _mirrored(world, tip, normalized(chain.held_rotation)))
    turn = target_turn(chain, depsgraph)
    if turn is not None and other.target is not None:
        wanted = _mirrored(world, tip, multiplied(turn, normalized(chain.rotation_offset)))
        store(other, "rotation_offset", offset_from_target(other, wanted, other.target.evaluated_get(depsgraph)))
    other.pin = chain.pin


def target_turn(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Q4 | None:
    """The world rotation of a chain's target, where the chain keeps an offset from it; else None.

    Raises:
        FabrikError: It can't be read.
    """
    if chain.target is None or not was_held(chain, "rotation_offset"):
        return None
    return resolve_turn(chain.target, chain.target_bone, depsgraph)


def _mirrored(world: Matrix, tip: BonePair, turn: Q4) -> Q4:
    """The mirror image in armature space of a bone's rotation in the world, for the bone of the other side.

    Args:
        world: The armature's matrix.
        tip: The bones.
        turn: See `kinematics.world_turn`.
    """
    rig = axes_of(world)
    rest, other = (axes_of(one.bone.matrix_local) for one in tip)
    w, x, y, z = multiplied(multiplied(conjugated(rig), turn), conjugated(rest))
    return normalized(multiplied(rig, multiplied((w, x, -y, -z), other)))

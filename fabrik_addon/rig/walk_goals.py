# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a planned walk has the feet and the body of a walker at a frame: the goals of its chains."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

import bpy

from ..errors import InvalidValueError, place_of
from ..gait import Plan, body_pose_at, feet_at, from_text
from ..vectors import V3
from .chain_bones import pose_bones
from .properties import FabrikChain
from .rotations import Q4, axes_of, multiplied, normalized
from .walker_properties import walker_of

KEPT = 16  # plans that stay parsed


class WalkGoal(NamedTuple):
    """Where a walk has the effector of a chain, in the world.

    Attributes:
        place: Of the effector.
        turn: Of the tip bone.
    """

    place: V3
    turn: Q4


class Parsed:
    """A plan that was read, and where all of it stands in the frame that was asked for last.

    Attributes:
        plan: The plan.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._names = {leg.name: index for index, leg in enumerate(plan.legs)}
        self._frame: float | None = None
        self._poses: Mapping[str, tuple[V3, Q4]] = {}

    def has(self, chain: str) -> bool:
        """Whether a chain is a leg of it."""
        return chain in self._names

    def poses_at(self, frame: float) -> Mapping[str, tuple[V3, Q4]]:
        """By the legs' chains place and rotation, from how it is at rest, of each foot; of the body by ""."""
        if frame != self._frame:
            feet = feet_at(self.plan, frame)
            found = {name: (feet[index].ankle, feet[index].rotation) for name, index in self._names.items()}
            found[""] = body_pose_at(self.plan, frame)
            self._frame, self._poses = frame, found
        return self._poses


_parsed: OrderedDict[str, Parsed] = OrderedDict()


def plan_of(owner: bpy.types.Object) -> Parsed | None:
    """The walk that was planned for an armature object; None where there is none.

    Raises:
        InvalidValueError: What is stored is no plan.
    """
    walker = walker_of(owner)
    digest = walker.digest
    if not digest:
        return None
    if digest not in _parsed:
        with place_of(rig=owner.name):
            plan = from_text(walker.plan)
            if plan.digest != digest:
                raise InvalidValueError("the stored walk is another one than was planned: plan it anew")
        _parsed[digest] = Parsed(plan)
        while len(_parsed) > KEPT:
            _parsed.popitem(last=False)
    return _parsed[digest]


def is_walked(chain: FabrikChain) -> bool:
    """Whether a planned walk says where a chain goes, in place of its own goal."""
    owner = chain.id_data
    if not isinstance(owner, bpy.types.Object):  # what stands for a limb that is dragged is stored nowhere
        return False
    walker = walker_of(owner)
    if not walker.on or not walker.digest or chain.kind != "REACH":
        return False
    return chain.name == walker.body or chain.name in walker.legs


def is_walked_body(chain: FabrikChain) -> bool:
    """Whether a chain is the body of a walk: it stands as planned before all feet."""
    owner = chain.id_data
    return isinstance(owner, bpy.types.Object) and is_walked(chain) and chain.name == walker_of(owner).body


def walk_goal(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> WalkGoal | None:
    """Where a planned walk has a chain's effector in the frame of a depsgraph; None where the chain has its own goal.

    Raises:
        InvalidValueError: What is stored is no plan, or the chain is no leg of it.
    """
    if not is_walked(chain):
        return None
    owner = chain.id_data
    assert isinstance(owner, bpy.types.Object)
    parsed = plan_of(owner)
    walker = walker_of(owner)
    name = "" if chain.name == walker.body else chain.name
    if parsed is None or not (parsed.has(name) or not name):
        raise InvalidValueError("the planned walk does not have this leg: plan it anew", chain=chain.name)
    assert depsgraph.scene is not None
    place, rotation = parsed.poses_at(depsgraph.scene.frame_current_final)[name]
    return WalkGoal(place, multiplied(rotation, rest_turn(owner, chain.tip_bone)))


def rest_turn(owner: bpy.types.Object, bone: str) -> Q4:
    """How a bone is turned in the rest pose, in the axes of the body.

    Raises:
        InvalidValueError: The armature has no such bone.
    """
    found = pose_bones(owner).get(bone)
    if found is None:
        raise InvalidValueError("the armature has no such bone any more", rig=owner.name, bone=bone)
    return multiplied(normalized(walker_of(owner).upright), axes_of(found.bone.matrix_local))

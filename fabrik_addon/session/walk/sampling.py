# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk is planned from, read by going through the frames once: the body's path and the settings."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple

import bpy

from ...errors import ChainError, FabrikError, InvalidValueError
from ...finite import are_finite
from ...gait import BodyPath, Leg, Plain, Reaching, Settings, Terrain, Walk
from ...maths import ORIGIN, Q4, V3, conjugated, multiplied, plus, v3
from ...rig.chain_bones import pose_bones
from ...rig.checks import check_rig
from ...rig.figures import ChainSet
from ...rig.preparing import prepare
from ...rig.schema import FabrikChain, rig_of, walker_of
from ...rig.terrain import MeshTerrain, Way, grounds_of, has_faces, read_piece
from ...rig.walk_goals import rest_turn
from ...texts import Text
from ..frames import go_to
from .leg_limits import leg_limits
from .measuring import check_body, frame_for, measured


class Measured(NamedTuple):
    """The legs of a walker as they are now.

    Attributes:
        legs: As they are measured, with group, offset and home as the walker has them set.
        reaching: What the limits of their joints leave; None where they have none.
    """

    legs: tuple[Leg, ...]
    reaching: Reaching | None


def legs_now(owner: bpy.types.Object) -> Measured:
    """Measure the legs of a walker.

    Raises:
        FabrikError: There are none, or one can't be measured.
    """
    rig = rig_of(owner)
    walker = rig.walker
    if not len(walker.legs):
        raise ChainError("it has no legs: add a walker first", rig=owner.name)
    gone = next((leg.name for leg in walker.legs if leg.name not in rig.chains), "")
    if gone:
        raise ChainError("the chain of this leg is gone: add the walker again", rig=owner.name, chain=gone)
    body = body_chain(owner)
    chains = [rig.chains[leg.name] for leg in walker.legs]
    frame = frame_for(owner, body.tip_bone, walker.upright)
    pairs = zip(measured(owner, chains, frame), walker.legs, strict=True)
    legs = tuple(
        replace(leg, group=own.group, offset=own.offset, home=plus(leg.home, v3(own.home))) for leg, own in pairs
    )
    return Measured(legs, leg_limits(owner, chains, frame))


def body_chain(owner: bpy.types.Object) -> FabrikChain:
    """The chain that is the body of a walker.

    Raises:
        FabrikError: It is gone, is of another bone, or can't be moved.
    """
    rig = rig_of(owner)
    chain = rig.chains.get(rig.walker.body)
    if chain is None or chain.tip_bone != rig.body_bone or chain.tip_bone not in pose_bones(owner):
        raise ChainError("its body bone is not the one that it had as a walker: add the walker again", rig=owner.name)
    check_body(owner, chain.tip_bone)
    return chain


class Grounds:
    """The ground of a walker, looked at frame by frame: at the end it is known which objects of it moved.

    Args:
        owner: The armature object.
        fps: Frames a second.
    """

    def __init__(self, owner: bpy.types.Object, fps: float) -> None:
        self.owner, self.fps = owner, fps
        self._ways: dict[bpy.types.Object, Way] = {}

    def look(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Note where all objects of it stand in a frame; the first frame tells which they are.

        Raises:
            FabrikError: The terrain has no faces, or stands nowhere.
        """
        if not self._ways:
            collection = walker_of(self.owner).terrain
            found = grounds_of(self.owner, collection, depsgraph)
            self._ways = {thing: Way(self.fps) for thing in found}
            if collection is not None and not any(has_faces(thing, depsgraph) for thing in found):
                reason = Text("the terrain '{collection}' has no faces to walk on", collection=collection.name)
                raise InvalidValueError(reason, rig=self.owner.name)
        for thing, way in self._ways.items():
            way.matrices.append(thing.evaluated_get(depsgraph).matrix_world.copy())

    def terrain(self) -> Terrain:
        """The ground; level ground where there is none to see. Meshes are read as they are in the last frame.

        Raises:
            InvalidValueError: It stands nowhere.
        """
        depsgraph = bpy.context.evaluated_depsgraph_get()
        still, moving = [], []
        for thing, way in self._ways.items():
            moves = any(matrix != way.matrices[0] for matrix in way.matrices)
            piece = read_piece(thing, depsgraph, moves)
            if piece is None:
                continue
            if moves:
                moving.append((piece, way))
            else:
                still.append(piece)
        if not still and not moving:
            height = walker_of(self.owner).ground_height
            if not are_finite([height]):
                raise InvalidValueError("the ground height is not a finite number", rig=self.owner.name)
            return Plain(height)
        return MeshTerrain(still, moving)


def sampled(
    context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int]
) -> Generator[float, None, Walk]:
    """Read what a walk is planned from.

    Args:
        context: Its scene's frame is moved by each step; live posing has to rest (`session.frames.frames_visited`).
        owner: The armature object of a walker.
        frames: First and last frame.

    Yields:
        The share of the frames that were read.

    Returns:
        The walk to plan: path, legs, settings (one, or one a frame), terrain and joint limits.

    Raises:
        FabrikError: The walker can't be read in some frame, which is named.
    """
    scene = context.scene
    assert scene is not None
    first, last = frames
    grounds = Grounds(owner, scene.render.fps / scene.render.fps_base)
    places: list[V3] = []
    rotations: list[Q4] = []
    settings: list[Settings] = []
    found: Measured | None = None
    for frame in range(first, last + 1):
        go_to(scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        try:
            check_rig(owner, depsgraph)
            found = found or legs_now(owner)
            place, rotation = _body(owner, body_chain(owner), depsgraph)
            grounds.look(depsgraph)
        except FabrikError as error:
            error.rig = error.rig or owner.name
            error.reason = Text("in frame {frame:g}, {reason}", frame=frame, reason=error.reason)
            raise
        places.append(place)
        rotations.append(rotation)
        settings.append(walker_of(owner).settings)
        yield (frame - first + 1) / (last - first + 1)
    path = BodyPath(first, grounds.fps, tuple(places), tuple(rotations))
    kinds = tuple(dict.fromkeys(settings))
    assert found is not None
    several = kinds if len(kinds) == 1 else tuple(settings)
    return Walk((path,), found.legs, several, grounds.terrain(), found.reaching)


def _body(owner: bpy.types.Object, body: FabrikChain, depsgraph: bpy.types.Depsgraph) -> tuple[V3, Q4]:
    """Place and rotation of the body as it is keyed, whatever was written there since."""
    chain_set = ChainSet(owner, (body,), body.tip_bone)
    assert depsgraph.scene is not None
    prepared = prepare(chain_set, depsgraph)
    joint = prepared.joints[0]
    turn = prepared.space.to_world_turn(multiplied(joint.rest, joint.start))
    return prepared.space.to_world(ORIGIN), multiplied(turn, conjugated(rest_turn(owner, body.tip_bone)))

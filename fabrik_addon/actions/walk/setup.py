# SPDX-License-Identifier: GPL-3.0-or-later
"""A walker made of an armature: its legs found and measured, and how far they reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from math import copysign
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...errors import BoneError, ChainError, FabrikError, RigError, place_of
from ...gait.legs import Leg, Reaching, arranged, check_legs
from ...gait.settings import settings_for
from ...kernel import Facing, Point, Settings, Solver
from ...maths import (
    FRONT,
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    Doubles,
    axes_of,
    conjugated,
    conjugates,
    cross,
    dot,
    length,
    minus,
    multiplied,
    normalized,
    products,
    rotated,
    rotated_each,
    scaled,
    unit,
    v3,
)
from ...recognise.limbs import Limbs
from ...recognise.part import LEG, Part
from ...rig.bones import bones_to, pose_bones, resolve_bones
from ...rig.checks import check_rig
from ...rig.control_bones import control_names, is_control, new_bones_refusal
from ...rig.figure.figure import RigFigure
from ...rig.figure.groups import ChainSet, body_moves
from ...rig.figure.reader import FactsByRig, frame_of, read_figure
from ...rig.figure.space import RigFrame
from ...rig.figure.start_pose import capture, capture_bones
from ...rig.goals import read_held, store_held
from ...rig.schema import PREFIX, FabrikChain, rig_of, walker_of
from ...rig.skeleton import BEHIND, read_skeleton
from ...rig.versions import bring_up_to_date
from ...texts import Text
from ..chains import add_chain, add_part, make_goals, plan_target, read_defaults, remove_chain
from ..keep_pose import unposed
from ..setup.parts import find_parts

# The legs of a walker, measured in the rest pose.

EVEN = 0.01  # by what share the scales of an armature along its axes may differ
ALIGNED = 0.9  # cosine: what the bones tell of where up is agrees with the world
ON_PLANE = 0.15  # of the leg's reach: a sole that is so little above the armature's floor stands on it
FAR, NEAR = 4.0, 1e-3  # of the leg's reach: how far a tip is pulled away, and brought near, to measure the leg
NOTHING = 1e-9  # of the bones' lengths: a leg whose end is so near its root has no direction


class Frame(NamedTuple):
    """The axes of a body at rest: it looks along -Y and stands along Z.

    Attributes:
        upright: From the axes of the armature.
        origin: In armature space: the head of the body bone, or a place on the ground.
        size: Scene units of a unit of armature space.
    """

    upright: Q4
    origin: V3
    size: float

    def place(self, point: Sequence[float]) -> V3:
        """A point of armature space in the body's axes, in scene units."""
        return scaled(rotated(self.upright, minus(point, self.origin)), self.size)

    def places(self, points: Doubles) -> Doubles:
        """`place` of many points (..., 3)."""
        return rotated_each(np.array(self.upright), self.size * (points - np.array(self.origin)))

    def points(self, places: Doubles) -> Doubles:
        """Places (..., 3) in armature space."""
        found: Doubles = rotated_each(conjugates(np.array(self.upright)), places / self.size) + np.array(self.origin)
        return found

    def turns(self, rotations: Doubles) -> Doubles:
        """Rotations (..., 4) of armature space in the body's axes."""
        return products(np.array(self.upright), rotations)

    def rotations(self, turns: Doubles) -> Doubles:
        """Rotations (..., 4) in armature space."""
        return products(conjugates(np.array(self.upright)), turns)

    def matrix(self) -> Matrix:
        """From armature space to the body's axes."""
        turn = Quaternion(self.upright).to_matrix().to_4x4()
        return turn @ Matrix.Scale(self.size, 4) @ Matrix.Translation(-Vector(self.origin))


def upright_of(owner: bpy.types.Object, *, by_body: bool = False) -> Q4:
    """From the armature's axes to those of a creature that looks along -Y and stands along Z.

    It stands along the axis of the armature that is nearest to the world's Z. Where it looks is found from its bones;
    where these do not tell, it is -Y, or Z where the armature's Y is up.

    Args:
        owner: The armature object.
        by_body: Whether it stands as its own body does at rest, though it may lie there, as a file of which an importer
            took the wrong axis to be up.
    """
    skeleton = read_skeleton(owner, without=control_names(owner))
    axes = Limbs(skeleton).axes
    wanted = axes.up if by_body and axes.forward is not None else skeleton.up
    most = max(range(3), key=lambda i: abs(wanted[i]))
    up = v3([copysign(float(i == most), wanted[most]) for i in range(3)])
    forward = axes.forward if axes.forward is not None and dot(axes.up, up) > ALIGNED else None
    if forward is None:
        forward = FRONT if up[1] == 0.0 else (0.0, 0.0, up[1])
    forward = unit(minus(forward, scaled(up, dot(forward, up))))
    w, x, y, z = Matrix((cross(up, forward), scaled(forward, -1.0), up)).to_quaternion()
    return normalized((w, x, y, z))


def frame_for(owner: bpy.types.Object, body: str, upright: Sequence[float]) -> Frame:
    """The axes of a body, by its bone; for `upright` see `Frame`.

    Raises:
        RigError: The armature is mirrored, or scaled unevenly or to nothing.
    """
    if owner.matrix_world.is_negative:
        raise RigError("its scale mirrors it, so that left and right are swapped: apply the scale", rig=owner.name)
    with place_of(rig=owner.name):
        RigFrame.of(owner.matrix_world)
    scale = v3(owner.matrix_world.to_scale())
    if max(scale) - min(scale) > EVEN * max(abs(value) for value in scale):
        raise RigError("its scale differs between its axes, so that it has no size to walk by", rig=owner.name)
    origin = v3(pose_bones(owner)[body].bone.head_local)
    return Frame(normalized(upright), origin, abs(sum(scale)) / 3.0)


def check_body(owner: bpy.types.Object, bone: str) -> None:
    """Refuse a body bone that can't be moved.

    Raises:
        BoneError: It is one.
    """
    if not body_moves(ChainSet(owner, (), bone)):
        reason = Text("as the body bone it must move, but it is connected to its parent, or its location is locked")
        raise BoneError(reason, rig=owner.name, bone=bone)


def sole_of(chain_tip: bpy.types.PoseBone, effector: str, frame: Frame) -> list[V3]:
    """Points of a foot in the body's axes: those of the tip bone and of what hangs on it; of a bare tip that alone."""
    if effector == "TAIL" and not chain_tip.children:
        return [frame.place(chain_tip.bone.tail_local)]
    bones = [chain_tip, *chain_tip.children_recursive] if effector == "HEAD" else chain_tip.children_recursive
    ends = [frame.place(bone.bone.tail_local) for bone in bones]
    return [*ends, frame.place(chain_tip.bone.head_local if effector == "HEAD" else chain_tip.bone.tail_local)]


def measured(
    owner: bpy.types.Object, chains: Sequence[FabrikChain], frame: Frame
) -> tuple[tuple[Leg, ...], Reaching | None]:
    """The legs that chains are, in the axes of their body, with side, row and group.

    Returns:
        The legs, and what their joints allow; None where none of them has a limit.

    Raises:
        FabrikError: A chain can't be posed, or has no length.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    facts, legs, limbs = FactsByRig(frame_of(depsgraph)), list[Leg](), list[_Limb | None]()
    for chain in chains:
        if chain.at_head and len(resolve_bones(owner, chain)) < 2:
            raise ChainError("a leg has at least one bone above its foot", rig=owner.name, chain=chain.name)
        figure = read_figure(ChainSet(owner, (chain,)), depsgraph, facts)
        legs.append(_leg(owner, chain, frame, figure))
        limbs.append(_limb(owner, figure, frame, at_head=chain.at_head))
    return arranged(legs), LegLimits(limbs, frame) if any(limb is not None for limb in limbs) else None


def _leg(owner: bpy.types.Object, chain: FabrikChain, frame: Frame, figure: RigFigure) -> Leg:
    bones = resolve_bones(owner, chain)
    tip, is_head = bones[-1], chain.at_head
    hip = frame.place(bones[0].bone.head_local)
    ankle = frame.place(tip.bone.head_local if is_head else tip.bone.tail_local)
    sole = sole_of(tip, chain.effector, frame)
    plane, lowest = frame.place(ORIGIN)[2], min(point[2] for point in sole)  # of the armature's floor, and of the bones
    floor = plane if 0.0 <= lowest - plane <= ON_PLANE * length(minus(hip, ankle)) else lowest
    home = (ankle[0], ankle[1], floor if len(sole) > 1 else ankle[2])
    longest, shortest = (frame.size * value for value in _reach(owner, chain, figure))
    leg = Leg(chain.name, home, hip, longest, shortest, minus(ankle, home))
    if len(sole) == 1:
        return leg
    foot = tip if is_head else tip.children[0]
    toe = next(iter(foot.children), None)
    end = frame.place(toe.bone.head_local if toe is not None else foot.bone.tail_local)
    ball = (end[0] - home[0], end[1] - home[1], 0.0)  # as far as its foot has a length along the ground
    return replace(leg, ball=ball, heel=scaled(ball, -BEHIND))


def _reach(owner: bpy.types.Object, chain: FabrikChain, figure: RigFigure) -> tuple[float, float]:
    """Greatest and least distance of the effector from the first joint within limits, in armature space.

    The effector is pulled away from the joint, and brought near it, along the leg as it is at rest.
    """
    solver, last = figure.solver, len(figure.bones) - 1
    is_head = chain.at_head

    def tip_of(rotations: Sequence[Q4]) -> V3:
        placed = solver.figure.placed(rotations)
        return placed.heads[last] if is_head else placed.ends[last]

    lengths = solver.figure.lengths
    size = sum(lengths[i] for i in range(last if is_head else last + 1))
    rest = tip_of([IDENTITY] * (last + 1))
    if not length(rest) > NOTHING * size:
        raise ChainError("its end stands on its root, so that it has no length", rig=owner.name, chain=chain.name)
    found = []
    for share in (FAR, NEAR):
        goal = Point(last, scaled(unit(rest), share * size), 1.0, ORIGIN if is_head else None)
        found.append(length(tip_of(solver.solve([goal], figure.settings).rotations)))
    return min(found[0], size), min(found[1], found[0])


# How far the legs of a walker reach within the limits of their joints: each is solved by itself, from the hip.

RESTARTS = 0  # a point that takes other starts to be reached is at the edge of what the limits allow: not to stand on


class _Limb(NamedTuple):
    """A leg that is solved by itself."""

    solver: Solver  # of its bones
    settings: Settings  # of its chain, but for restarts
    hip: V3  # where its first joint is in the body's axes, scene units
    turn: Q4  # from the body's axes into the space in which it is solved, at rest
    foot: Q4  # how its last bone is turned at rest, in that space
    lever: V3 | None  # where on its last bone the effector is; None for the end


class LegLimits:
    """What `gait.Reaching` asks, for the legs of an armature object.

    Args:
        limbs: By leg; None for one whose joints have no limits.
        frame: The axes of the body, in which ankles and feet are asked for.
    """

    def __init__(self, limbs: Sequence[_Limb | None], frame: Frame) -> None:
        self._limbs, self._frame = limbs, frame

    @property
    def digest(self) -> str:
        """A text that changes with the limits, and only with them."""
        return repr([limb and limb.solver.figure.joint_limits for limb in self._limbs])

    def shortage(self, leg: int, ankle: V3) -> float:
        """See `gait.Reaching`."""
        limb = self._limbs[leg]
        if limb is None:
            return 0.0
        way = scaled(minus(ankle, limb.hip), 1.0 / self._frame.size)
        goal = Point(limb.solver.figure.count - 1, rotated(limb.turn, way), 1.0, limb.lever)
        return limb.solver.solve([goal], limb.settings, explain=False).residual * self._frame.size

    def turn_missed(self, leg: int, ankle: V3, rotation: Q4) -> float:
        """See `gait.Reaching`."""
        limb = self._limbs[leg]
        if limb is None or limb.lever is None:
            return 0.0
        last = limb.solver.figure.count - 1
        way = scaled(minus(ankle, limb.hip), 1.0 / self._frame.size)
        turn = multiplied(multiplied(limb.turn, multiplied(rotation, conjugated(limb.turn))), limb.foot)
        goals = [Point(last, rotated(limb.turn, way), 1.0, limb.lever), Facing(last, turn)]
        solution = limb.solver.solve(goals, limb.settings, explain=False)
        return solution.turns[1] + solution.residuals[0] / (0.5 * limb.solver.figure.size)


def _limb(owner: bpy.types.Object, figure: RigFigure, frame: Frame, *, at_head: bool) -> _Limb | None:
    """A leg as it is solved by itself; None where its joints have no limits."""
    limits = figure.solver.figure.joint_limits
    if all(limit.is_free for limit in limits):
        return None
    root = pose_bones(owner)[figure.bones[0]].bone
    turn = multiplied(figure.joints[0].rest, conjugated(multiplied(frame.upright, axes_of(root.matrix_local))))
    at_rest = figure.solver.figure.placed([IDENTITY] * len(limits)).frames[-1]
    settings, lever = figure.settings._replace(restarts=RESTARTS), ORIGIN if at_head else None
    return _Limb(figure.solver, settings, frame.place(root.head_local), turn, at_rest, lever)


# Make an armature a walker: legs and body become chains, and how it walks is set by the number of its legs.

BODY = "Body"
LEAST_BONES = 2  # of a limb that is a leg
NEAR_GROUND = 0.2  # of the body's height: a foot that is so little above the lowest one stands


def add_walker(context: bpy.types.Context, owner: bpy.types.Object, body: str = "") -> tuple[list[str], list[str]]:
    """Make an armature a walker, by the bone that carries all legs ("" to find it); nothing moves before it is planned.

    Returns:
        Names of the chains that were made, and of the enabled ones whose targets do not go along with the body.

    Raises:
        FabrikError: It has no legs, nothing carries them, or they can't walk; nothing was changed.
    """
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
    upright = upright_of(owner)
    kept = legs_of(owner, upright)
    new = [] if kept else _new_legs(owner, upright)
    if not kept and not new:
        raise ChainError("no legs were found: add chains for them, down to the feet", rig=owner.name)
    roots = [resolve_bones(owner, chain)[0].name for chain in kept] + [leg.bones[0] for leg in new]
    bone = _checked_body(owner, body or rig_of(owner).body_bone or _carrier(owner, roots), roots)
    bring_up_to_date(owner)
    made = [add_part(owner, leg, read_defaults(context)).name for leg in new]
    names = [chain.name for chain in kept] + made
    had = rig_of(owner).body_bone
    rig_of(owner).body_bone = bone
    try:
        legs, _ = measured(owner, [rig_of(owner).chains[name] for name in names], frame_for(owner, bone, upright))
        check_legs(legs)
    except FabrikError as error:
        for name in made:
            remove_chain(owner, rig_of(owner).chains.find(name))
        rig_of(owner).body_bone = had
        error.rig = error.rig or owner.name
        raise
    for chain in map(rig_of(owner).chains.__getitem__, made):
        if chain.at_head:
            _hold(owner, chain)
    if had != bone:  # else it starts as before, in every frame
        capture_bones(owner, bones_to(owner, bone, 1))
    made += _make_body(context, owner, bone)
    _make_body_control(context, owner)
    _store(owner, legs, upright)
    return made, _behind(owner, bone, {*names, *made})


def _behind(owner: bpy.types.Object, body: str, walking: set[str]) -> list[str]:
    """Names of the enabled chains beside those of a walker whose targets do not hang on its body bone."""
    found = []
    for chain in rig_of(owner).chains:
        if chain.name in walking or not chain.enabled or chain.target is None:
            continue
        bone = pose_bones(owner).get(chain.target_bone) if chain.target == owner else None
        if bone is None or body not in [above.name for above in bone.parent_recursive]:
            found.append(chain.name)
    return found


def remove_walker(owner: bpy.types.Object) -> None:
    """Forget walk, legs and body of a walker; its chains stay, but for that of the body, which has no other use."""
    walker, chains = walker_of(owner), rig_of(owner).chains
    walker.on = False
    walker.plan = walker.digest = walker.inputs = ""
    walker.legs.clear()
    body = chains.get(walker.body)
    if body is not None and body.target is None and not body.pin:
        remove_chain(owner, chains.find(walker.body))
    elif body is not None:  # it goes on as a walker's body does
        rig_of(owner).body_stiffness = 0.0
    walker.body = ""


def legs_of(owner: bpy.types.Object, upright: Q4) -> list[FabrikChain]:
    """The enabled chains that reach the ground in the rest pose."""
    own, body = walker_of(owner).body, rig_of(owner).body_bone
    limbs = [one for one in rig_of(owner).chains if one.name != own and one.tip_bone != body]
    chains = [one for one in limbs if one.enabled and not one.aims]
    pairs = ((chain, [bone.name for bone in resolve_bones(owner, chain)]) for chain in chains)
    return [chain for chain, bones in pairs if _stands(owner, bones, chain.effector, upright)]


def _stands(owner: bpy.types.Object, bones: Sequence[str], effector: str, upright: Q4) -> bool:
    """Whether bones come down to the lowest of all bones, but for a share of the height of the first of them."""
    poses = pose_bones(owner)
    frame = frame_for(owner, bones[0], upright)
    others = [frame.place(bone.bone.tail_local)[2] for bone in poses if not is_control(bone)]
    tip, lowest = poses[bones[-1]], min(others)
    sole = sole_of(tip, effector, frame) if effector == "HEAD" else [frame.place(tip.bone.tail_local)]
    low = min(point[2] for point in sole)
    return lowest < 0.0 and low - lowest <= -NEAR_GROUND * lowest


def _new_legs(owner: bpy.types.Object, upright: Q4) -> list[Part[str]]:
    """The legs that are recognised for sure, as far as no more limbs stand than these; else all limbs that stand.

    What is another part for sure, a wing say, is no leg, though it reaches the ground.
    """
    parts = [part for part in find_parts(owner).parts if part.is_applied]
    legs = [part for part in parts if part.kind == LEG]
    others = {bone for part in parts if part.kind != LEG for bone in part.bones}
    legs = [leg for leg in legs if _stands(owner, leg.bones, "HEAD" if leg.holds_head else "TAIL", upright)]
    skeleton = read_skeleton(owner, without=control_names(owner))
    runs = [[skeleton.names[bone] for bone in limb] for limb in Limbs(skeleton).all() if len(limb) >= LEAST_BONES]
    runs = [bones for bones in runs if others.isdisjoint(bones) and _stands(owner, bones, "TAIL", upright)]
    standing = [Part(LEG, bones[-1], tuple(bones), ("",) * len(bones)) for bones in runs]
    return legs if len(legs) >= len(standing) else standing


def _carrier(owner: bpy.types.Object, roots: Sequence[str]) -> str:
    """The bone on which the whole body hangs; else the nearest above the first bones of all legs that can be moved."""
    bones = pose_bones(owner)
    ways: list[list[str]] = [[bone.name for bone in bones[name].parent_recursive] for name in roots]
    common = [name for name in ways[0] if all(name in way for way in ways)]
    if not common:
        raise ChainError("no bone carries all legs", rig=owner.name)
    whole = find_parts(owner).body
    wanted = [whole, *common] if whole in common else common
    return next((name for name in wanted if body_moves(ChainSet(owner, (), name))), common[0])


def _checked_body(owner: bpy.types.Object, body: str, roots: Sequence[str]) -> str:
    """A body bone, if it carries all legs and can be moved; else it is refused."""
    bone = bones_to(owner, body, 1)[0]
    below = {found.name for found in bone.children_recursive}
    other = next((name for name in roots if name not in below), "")
    if other:
        reason = Text("the body bone '{bone}' does not carry the leg that begins with it", bone=body)
        raise BoneError(reason, rig=owner.name, bone=other)
    check_body(owner, body)
    return body


def _hold(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """Let a foot, or the body, keep its rotation."""
    store_held(chain, read_held(owner, chain.tip_bone, at_head=True))
    chain.orientation = "KEEP"


def _make_body(context: bpy.types.Context, owner: bpy.types.Object, bone: str) -> list[str]:
    """The chain that is the body; which was made. It starts from the keys of its bone, which are the path."""
    rig = rig_of(owner)
    bones = bones_to(owner, bone, 1)
    alone = (one for one in rig.chains if (one.tip_bone, one.bone_count, one.at_head) == (bone, 1, True))
    chain = rig.chains.get(rig.walker.body) or next(alone, None)
    made = []
    if chain is None or chain.tip_bone != bone:
        chain = add_chain(owner, bones, 1, read_defaults(context), BODY)
        chain.effector = "HEAD"
        _hold(owner, chain)
        made.append(chain.name)
    capture(chain, bones, "ANIMATED")
    rig.walker.body = chain.name
    return made


def _make_body_control(context: bpy.types.Context, owner: bpy.types.Object) -> None:
    """Make a control for the body, where chains have control bones; it becomes its target as a walk is planned."""
    rig = rig_of(owner)
    chain = rig.chains[rig.walker.body]
    has_bones = any(is_control(bone) for bone in pose_bones(owner)) and not new_bones_refusal(owner)
    if chain.target is not None or chain.target_bone or not has_bones:
        return
    target = plan_target(context, resolve_bones(owner, chain), read_defaults(context), chain)
    make_goals(context, owner, [(chain, "target", replace(target, is_offset=True))], "BONE")
    setattr(rig.chains[rig.walker.body], "target", None)


def _store(owner: bpy.types.Object, legs: Sequence[Leg], upright: Q4) -> None:
    """Keep the legs, and the settings that suit their number."""
    walker = walker_of(owner)
    for name, value in asdict(settings_for(legs)).items():
        setattr(owner, PREFIX + name, value)
    walker.upright = upright
    walker.legs.clear()
    for leg in legs:
        item = walker.legs.add()
        item.name, item.group, item.offset = leg.name, leg.group, leg.offset
    walker.on = False
    walker.plan = walker.digest = walker.inputs = ""

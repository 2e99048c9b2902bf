# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature as a body: its parts, soles and palms at rest, on a stage in meters; and how its feet and hands move."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Vector

from ...maths import IDENTITY, ORIGIN, Doubles, axes_of, conjugated, rotated, v3
from ...motion.body import Body, Limb, palm_at_rest
from ...motion.contacts import Foot
from ...recognise.find import HUMAN
from ...recognise.part import ARM, LEG, ROLES, Part, RecognisedBody
from ...recognise.skeleton import Skeleton
from ...rig.bones import pose_bones, resolve_bones
from ...rig.control_bones import control_names
from ...rig.goals import offset_axes, read_held
from ...rig.layers import OtherLayers, others_of
from ...rig.schema import FabrikChain, rig_of
from ...rig.skeleton import read_skeleton, sole_at_rest
from ..frames import go_to, scene_of
from ..setup.controls import flesh_of
from ..setup.parts import between_body_and_parts, chain_of, find_parts
from ..walk.setup import Frame, frame_for, upright_of

FOOT = ROLES[LEG][-1]
FINGERS = ("Index", "Middle", "Ring", "Pinky")  # by the names of parts


def staged(context: bpy.types.Context, owner: bpy.types.Object, found: RecognisedBody[str]) -> tuple[Frame, Body]:
    """An armature at rest on the ground of the stage on which it is compared with another one (`motion.transfer`)."""
    stage = frame_for(owner, found.body, upright_of(owner, by_body=True))._replace(origin=ORIGIN)
    skeleton = read_skeleton(owner, without=control_names(owner))
    numbers = {name: i for i, name in enumerate(skeleton.names)}
    limbs = {part.name: _limb(owner, stage, found, part, numbers) for part in found.parts}
    heads, tails = (stage.places(np.array(points)) for points in (skeleton.heads, skeleton.tails))
    is_upright = found.plan == HUMAN.name
    arms = [name for name, limb in limbs.items() if limb.kind == ARM and len(limb.bones) >= len(ROLES[ARM])]
    flesh = flesh_of(context, owner) if arms and is_upright else {}
    for name in arms if is_upright else ():
        palm = stage.places(flesh.get(skeleton.names[limbs[name].bones[-1]], np.zeros((0, 3))))
        limbs[name] = limbs[name]._replace(sole=_palm(stage, skeleton, limbs, name, palm))
    soles = [heads[limb.bones[-1]] + limb.sole for limb in limbs.values() if limb.kind == LEG]
    low = np.array((0.0, 0.0, np.concatenate(soles or [heads, tails])[:, 2].min()))
    stage = stage._replace(origin=v3(stage.points(low).tolist()))
    turns = np.array([[*pose_bones(owner)[name].bone.matrix_local.to_quaternion()] for name in skeleton.names])
    heads, tails = (stage.places(np.array(points)) for points in (skeleton.heads, skeleton.tails))
    skin = {numbers[name]: stage.places(places) for name, places in flesh.items() if name in numbers}
    parents, hips = skeleton.parents, numbers[found.body]
    return stage, Body(skeleton.names, parents, stage.turns(turns), heads, tails, limbs, hips, is_upright, skin)


def _limb(
    owner: bpy.types.Object, stage: Frame, found: RecognisedBody[str], part: Part[str], numbers: dict[str, int]
) -> Limb:
    """A part by the numbers of its bones; a leg ends with its foot."""
    bones, trunk = pose_bones(owner), {one for other in found.parts if other != part for one in other.bones}
    between = between_body_and_parts(owner, found.body, [part])
    above = [numbers[name] for name in between if name in numbers and name not in trunk]
    own = [(numbers[name], role) for name, role in zip(part.bones, part.roles, strict=True) if name in numbers]
    roles, toes = [role for _, role in own], -1
    sole: Doubles = np.zeros((3, 3))
    if part.kind == LEG:
        own = own[: roles.index(FOOT) + 1] if FOOT in roles and found.plan == HUMAN.name else own
        tip = bones[part.bones[len(own) - 1]].bone
        heel, ball, toe, tiptoe = sole_at_rest(owner, tip, tip.head_local, control_names(owner))
        sole = stage.places(np.array((heel, ball, tiptoe))) - stage.places(np.array(tip.head_local))
        toes = numbers[toe.name] if toe != tip else -1
    return Limb(part.kind, [number for number, _ in own], [role for _, role in own], above, toes, sole)


def _palm(stage: Frame, skeleton: Skeleton, limbs: Mapping[str, Limb], name: str, skin: Doubles) -> Doubles:
    """What of the hand of an arm may touch the ground (`motion.body.palm_at_rest`)."""
    hand, side = limbs[name].bones[-1], name[-2:]
    fingers = [limbs[one + side].bones for one in FINGERS if one + side in limbs]
    ends = fingers or [(hand,)]
    heads, tails = (stage.places(np.array(points)) for points in (skeleton.heads, skeleton.tails))
    knuckles = heads[[bones[0] for bones in fingers]] if fingers else tails[[hand]]
    tip = np.mean([tails[bones[-1]] for bones in ends], axis=0)
    return palm_at_rest(heads[hand], knuckles, tip, 1.0 if side == ".L" else -1.0, skin)


# How feet and hands move.


@dataclass(frozen=True, slots=True)
class Sole:
    """What of a foot or a hand may touch the ground, at rest; of what else a chain ends in, its effector.

    Attributes:
        chain: The name of the chain that ends in it.
        bone: Its bone.
        heel: From the effector to the heel, in the axes of the bone, armature space.
        ball: The same to the ball.
        toes: The bone of the toes, or again that of the foot or hand.
        tip: From the head of that to the tip of the toes or fingers, in its axes.
    """

    chain: str
    bone: str
    heel: Vector
    ball: Vector
    toes: str
    tip: Vector


@dataclass(frozen=True, slots=True)
class ControlPath:
    """How a control stands in F frames.

    Attributes:
        axes: (F, 3, 3), from its location channels to the world.
        ways: (F, 3), by which all layers of edits move it, in the world.
        others: For each frame the layers that are not at hand.
    """

    axes: Doubles
    ways: Doubles
    others: list[OtherLayers]


def limbs_of(owner: bpy.types.Object) -> dict[str, Part[str]]:
    """The parts for which chains stand that are legs, or a person's arms, by the names of the chains."""
    found = find_parts(owner)
    kinds = (LEG, ARM) if found.plan == HUMAN.name else (LEG,)
    parts = [part for part in found.parts if part.kind in kinds]
    return {chain.name: part for part in parts if (chain := chain_of(owner, part)) is not None}


def sample_feet(
    context: bpy.types.Context,
    owner: bpy.types.Object,
    soles: Sequence[Sole],
    frames: Sequence[int],
    controls: Sequence[str],
    grounds: Mapping[int, bpy.types.Object | None],
) -> Generator[float, None, tuple[list[Foot], dict[str, ControlPath], dict[int, Doubles]]]:
    """Read how feet move, and what they stand on; no edit counts, for these are not solved meanwhile.

    Yields:
        How much of it is done, from 0 to 1.

    Returns:
        How each foot moves, in the world; by the names of controls how these do; by the numbers of grounds that are
        there (F, 7), their places and rotations.
    """
    scene, count = scene_of(context), len(frames)
    paths = {name: ControlPath(np.zeros((count, 3, 3)), np.zeros((count, 3)), []) for name in controls}
    stands: dict[int, Doubles] = {key: np.zeros((count, 7)) for key, one in grounds.items() if one is not None}
    rows = [(np.zeros((count, 3)), np.zeros((count, 4)), np.zeros((count, 3)), np.zeros((count, 3))) for _ in soles]
    chains = [rig_of(owner).chains[sole.chain] for sole in soles]
    roots = [resolve_bones(owner, chain)[0].name for chain in chains]
    for k, frame in enumerate(frames):
        go_to(scene, frame)
        posed = owner.evaluated_get(context.evaluated_depsgraph_get())
        bones, world = pose_bones(posed), posed.matrix_world
        for sole, chain, root, (places, turns, toes, starts) in zip(soles, chains, roots, rows, strict=True):
            held = read_held(posed, sole.bone, chain.at_head)
            tip = world @ (bones[sole.toes].matrix @ sole.tip)
            places[k], turns[k], starts[k] = held.location, held.rotation, world @ bones[root].head
            toes[k] = rotated(conjugated(held.rotation), v3(tip - Vector(held.location)))
        for number, ground in grounds.items():
            if ground is not None:
                stands[number][k] = stand_of(context, ground)
        for name, path in paths.items():
            axes = offset_axes("", posed, name).to_3x3()
            path.others.append(others_of(posed, bones[name]))
            way, _ = path.others[-1].with_own(Vector(bones[name].location), IDENTITY)
            path.axes[k], path.ways[k] = axes, axes @ way
        yield (k + 1) / count
    scale, feet = owner.matrix_world.median_scale, list[Foot]()
    for sole, chain, (places, turns, toes, starts) in zip(soles, chains, rows, strict=True):
        heel, ball = (np.array(scale * one) for one in (sole.heel, sole.ball))
        feet.append(Foot(places, turns, heel, ball, toes, starts, scale * _reach(owner, chain)))
    return feet, paths, stands


def _reach(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """The length of a limb at rest, from its first joint to its effector, in armature space."""
    bones = [bone.bone for bone in resolve_bones(owner, chain)]
    joints = [bone.head_local for bone in bones]
    joints += [] if chain.at_head else [bones[-1].tail_local]
    return float(sum((b - a).length for a, b in pairwise(joints)))


def soles_of(
    context: bpy.types.Context, owner: bpy.types.Object, names: Sequence[str], limbs: Mapping[str, Part[str]]
) -> list[Sole]:
    """What of the feet, hands and other tips at the ends of chains may touch the ground, by their bones at rest.

    Args:
        context: Its view layer has the meshes that tell how thick hands are.
        owner: The armature object.
        names: Of the chains.
        limbs: What they are (`limbs_of`).
    """
    palms, found = dict[str, list[Vector]](), list[Sole]()
    parts = find_parts(owner) if any(name in limbs and limbs[name].kind == ARM for name in names) else None
    if parts is not None and parts.body:
        stage, at_rest = staged(context, owner, parts)
        for limb in at_rest.limbs.values():
            wrist = at_rest.heads[limb.bones[-1]]
            palms[at_rest.names[limb.bones[-1]]] = [Vector(place) for place in stage.points(wrist + limb.sole).tolist()]
    for name in names:
        chain = rig_of(owner).chains[name]
        tip = resolve_bones(owner, chain)[-1].bone
        joint, into = tip.head_local if chain.at_head else tip.tail_local, tip.matrix_local.to_3x3().inverted()
        places, toes = [joint] * 3, tip
        if name in limbs and limbs[name].kind == ARM:
            places = palms.get(tip.name, places)
        elif name in limbs:
            *two, toes, tiptoe = sole_at_rest(owner, tip, joint, control_names(owner))
            places = [*two, tiptoe]
        ahead = toes.matrix_local.inverted() @ places[2]
        found.append(Sole(name, tip.name, into @ (places[0] - joint), into @ (places[1] - joint), toes.name, ahead))
    return found


def stand_of(context: bpy.types.Context, ground: bpy.types.Object) -> tuple[float, ...]:
    """Where an object is, and how it is turned, in the world, as evaluated."""
    world = ground.evaluated_get(context.evaluated_depsgraph_get()).matrix_world
    return (*world.translation, *axes_of(world))

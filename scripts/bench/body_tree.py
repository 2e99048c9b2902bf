# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 8, beside Blender's own IK: three constraints that share the trunk of a human, and a pole for one arm."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import acos, degrees
from random import Random

import bpy
from fabrik_addon.kernel import Bend, Goal, Point, Settings, Solver
from fabrik_addon.rig.ik_settings import write_ik_settings
from mathutils import Vector

from dev.humans import bone_of

from .body_rigs import Body, Built, bodies, built, empty_file
from .body_success import NEAR
from .problems import Q4, V3, drawn, v3
from .rigs import add_ik
from .tables import Judged, Row, Table, percentile, worst_of
from .timing import Scale

ITERATIONS = 500
POLE_DISTANCE = 0.6  # metres from the middle of the arm's line, to the side to which the elbow is bent in the pose
ARM = ("upper arm", "forearm")
OUT_OF_RANGE = 0.1  # degrees over a limit that are told as more than one
MET = 99.5  # of a hundred poses
SLACK_DEGREES = 1e-4
IDENTITY: Q4 = (1.0, 0.0, 0.0, 0.0)
LEAST_BEND = 0.02  # metres that the elbow stands off the arm's line at least, for its side to mean something


class BlenderTree:
    """IK constraints of Blender on the ends of bones, each up to the hips, with the limits that its IK knows.

    Attributes:
        owner: The armature.
    """

    def __init__(self, owner: bpy.types.Object, found: Built, ends: Sequence[str]) -> None:
        self.owner, self.found, self.ends = owner, found, ends
        self.layer = bpy.context.view_layer
        bones = owner.pose.bones
        for name, joint in found.index.items():
            write_ik_settings(bones[name], found.figure.joint_limits[joint], 0.0)
        self.targets = [bpy.data.objects.new(f"target {end}", None) for end in ends]
        self.pole = bpy.data.objects.new("pole", None)
        for empty in (*self.targets, self.pole):
            bpy.context.scene.collection.objects.link(empty)
        self.hips = next(iter(found.index))
        self.constraints = [self._constrain(bones[end], target) for end, target in zip(ends, self.targets, strict=True)]

    def _constrain(self, bone: bpy.types.PoseBone, target: bpy.types.Object) -> bpy.types.KinematicConstraint:
        constraint = add_ik(bone)
        constraint.target, constraint.use_tail, constraint.iterations = target, True, ITERATIONS
        way = [bone.name, *(above.name for above in bone.parent_recursive)]
        constraint.chain_count = way.index(self.hips) + 1
        return constraint

    def follow(self, places: Sequence[V3], pole: V3 | None = None) -> float:
        """Bring all ends to their places; returns the seconds of the update."""
        for target, place in zip(self.targets, places, strict=True):
            target.location = Vector(place) + self.found.origin
        if pole is not None:
            self.pole.location = Vector(pole) + self.found.origin
        started = time.perf_counter()
        self.layer.update()
        return time.perf_counter() - started

    def ends_at(self) -> list[Vector]:
        """Where the ends are, from the head of the hips."""
        return [self.owner.pose.bones[end].tail - self.found.origin for end in self.ends]

    def rotations(self) -> list[Q4]:
        """The evaluated rotation of each joint in its own rest frame."""
        found = []
        for name in self.found.index:
            bone = self.owner.pose.bones[name]
            local = self.owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
            w, x, y, z = local.to_quaternion().normalized()
            found.append((w, x, y, z))
        return found


def beside_blender(scale: Scale) -> Table:
    """Both humans, without and with a pole."""
    rows: list[Row] = []
    for body in bodies()[:2]:
        for with_pole in (False, True):
            empty_file()
            owner = body.make()
            found = built(owner, body, moves=False)
            rows += _rows(scale, body, found, owner, with_pole)
    note = (
        "The wrists and the top of the head of a human, whose hips turn and are not moved, for Blender's IK can't. "
        "Goals are where random poses have them. *Blender*: three IK constraints up to the hips, which it solves as "
        f"one tree, {ITERATIONS} iterations, with the limits that it can be given. *Over*: the most that a joint "
        f"stands outside its limit, and how many of a hundred poses have one by more than {OUT_OF_RANGE}°. *Pole*: the "
        "angle between the bend of the left arm and its pole, which lies where the pose has the elbow."
    )
    return Table("8c. Three goals beside Blender's own IK", note, rows)


def _rows(scale: Scale, body: Body, found: Built, owner: bpy.types.Object, with_pole: bool) -> list[Row]:
    human = body.name
    ends = [bone_of(human, "forearm", "L"), bone_of(human, "forearm", "R"), bone_of(human, "head")]
    arm = [found.index[bone_of(human, part, "L")] for part in ARM]
    random = Random(9)
    tasks: list[tuple[list[V3], V3]] = []
    while len(tasks) < scale.of(300, 10):
        pose = [drawn(random, limit) for limit in found.figure.joint_limits]
        placed = found.figure.placed([IDENTITY, *pose[1:]])
        bend = _bend(placed.heads[arm[0]], placed.heads[arm[1]], placed.ends[arm[1]])
        if bend.length >= LEAST_BEND:
            pole = v3(Vector(placed.heads[arm[1]]) + bend.normalized() * POLE_DISTANCE)
            tasks.append(([placed.ends[found.index[end]] for end in ends], pole))
    ours, theirs = _Tally(found, ends, arm), _Tally(found, ends, arm)
    solver, settings = Solver(found.figure), Settings(NEAR * found.height / found.figure.size)
    rival = BlenderTree(owner, found, ends)
    if with_pole:
        rival.constraints[0].pole_target = rival.pole
    for places, pole in tasks:
        goals: list[Goal] = [Point(found.index[end], place) for end, place in zip(ends, places, strict=True)]
        if with_pole:
            goals.append(Bend(arm[1], pole, root=arm[0]))
        started = time.perf_counter()
        solution = solver.solve(goals, settings, explain=False)
        ours.add(solution.rotations, places, pole, time.perf_counter() - started)
        seconds = rival.follow(places, pole)
        theirs.add(rival.rotations(), places, pole, seconds, rival.ends_at())
    name = f"{human}, {'a pole for one arm' if with_pole else 'no pole'}"
    return [ours.row(f"{name}: ours", with_pole, is_ours=True), theirs.row(f"{name}: Blender", with_pole)]


class _Tally:
    """What came of a contender's poses."""

    def __init__(self, found: Built, ends: Sequence[str], arm: Sequence[int]) -> None:
        self.found, self.ends, self.arm = found, ends, arm
        self.errors: list[float] = []
        self.over: list[float] = []
        self.poles: list[float] = []
        self.seconds: list[float] = []

    def add(
        self,
        rotations: Sequence[Q4],
        places: Sequence[V3],
        pole: V3,
        seconds: float,
        ends: Sequence[Vector] | None = None,
    ) -> None:
        """One pose; where its ends are follows from its rotations, unless it is told."""
        placed = self.found.figure.placed(list(rotations))
        at = ends or [Vector(placed.ends[self.found.index[end]]) for end in self.ends]
        self.errors.append(max((a - Vector(b)).length for a, b in zip(at, places, strict=True)) / self.found.height)
        pairs = zip(self.found.figure.joint_limits, rotations, strict=True)
        self.over.append(degrees(max(limit.violation(rotation) for limit, rotation in pairs)))
        root, elbow, end = placed.heads[self.arm[0]], placed.heads[self.arm[1]], placed.ends[self.arm[1]]
        self.poles.append(_angle(_bend(root, elbow, end), _bend(root, pole, end)))
        self.seconds.append(seconds)

    def row(self, name: str, with_pole: bool, *, is_ours: bool = False) -> Row:
        """The row of the table."""
        count = len(self.errors)
        met = 100.0 * sum(error <= NEAR for error in self.errors) / count
        return {
            "human and contender": name,
            "met %": Judged(met, at_least=MET if is_ours else None),
            "error, median": percentile(self.errors, 50),
            "worst": worst_of(self.errors),
            "over °": Judged(worst_of(self.over), at_most=SLACK_DEGREES if is_ours else None),
            "poses over %": 100.0 * sum(over > OUT_OF_RANGE for over in self.over) / count,
            "pole °, median": percentile(self.poles, 50) if with_pole else None,
            "pole °, 90 of 100": percentile(self.poles, 90) if with_pole else None,
            "ms, median": 1e3 * percentile(self.seconds, 50),
        }


def _bend(root: Sequence[float], elbow: Sequence[float], end: Sequence[float]) -> Vector:
    """How a point stands off the line of an arm."""
    along = (Vector(end) - Vector(root)).normalized()
    off = Vector(elbow) - Vector(root)
    return off - along * off.dot(along)


def _angle(a: Vector, b: Vector) -> float:
    """Degrees between two directions; half a turn where one is none."""
    if not a.length or not b.length:
        return 180.0
    return degrees(acos(max(-1.0, min(1.0, a.normalized().dot(b.normalized())))))

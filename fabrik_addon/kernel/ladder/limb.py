# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs: a ball joint, free or limited, and behind it joints with limits. Only the distance of the tip has to be met.

All joints are moved together along one parameter between the start pose and the shortest or the longest pose, which do
not depend on the target; then the first joint turns the limb onto the target. So a target that moves smoothly gives a
pose that does, and knees bend the way they bend in the start pose.
"""

from __future__ import annotations

from .. import cython
from ..figure import Figure
from ..forms import V3, Doubles
from ..limits.base import Limit
from ..pose import Pose
from ..vectors import copy_into, dot, doubles, length, minus, plus, put4, q4, rotated, unit, v3
from .bends import is_straight, preferred_bend
from .chain import Chain
from .crossing import Falling
from .passes import limited_forward
from .reach import Reach

SHOWS_BEND = 0.75  # share of the start pose's reach


@cython.cclass
class Limb(Falling):
    """The way of a limb from its longest pose over its start pose to its shortest; `way.py` finds it.

    Attributes:
        first: Index of the first ball joint, which turns the limb onto its target.
        poses: Poses of n rotations whose reach falls: the longest, the start, the shortest. Where the reach would not
            fall all along one of these two ways, as for a leg whose knee has to pass through straight before it bends,
            that way leads over poses in small steps from the start for as far as these go, and from there across.
        reaches: Their distances of the tip from the first ball joint.
        count_of_poses: How many there are.
        leads_past_start: Whether the start pose is not among them.
        rotations: n rotations at the place that was last tried.
    """

    chain: Chain
    figure: Figure
    count: cython.int
    first: cython.int
    poses: Doubles
    angles: Doubles  # of the joints in these poses, where they turn about one axis
    reaches: Doubles
    count_of_poses: cython.int
    leads_past_start: cython.bint
    rotations: Doubles
    part: cython.int
    distance: cython.double

    def __init__(self, chain: Chain) -> None:
        self.chain, self.figure, self.count = chain, chain.figure, chain.count
        self.first = chain.first_ball
        self.rotations = doubles(4 * chain.count)
        self.part = 0
        self.distance = 0.0
        self.count_of_poses = 0
        self.leads_past_start = False
        self.poses = self.angles = self.reaches = doubles(0)

    @cython.cfunc
    def lead(self, way: list[Doubles]) -> cython.void:
        """Take over the poses of the way, and find their reaches and the angles of their hinges.

        Args:
            way: n rotations each, the reach falling from pose to pose.
        """
        limit: Limit
        self.count_of_poses = len(way)
        self.poses, self.angles = doubles(4 * self.count * len(way)), doubles(self.count * len(way))
        self.reaches = doubles(len(way))
        for k, pose in enumerate(way):
            self.reaches[k] = self.reach_of(pose)
            for i in range(self.count):
                limit = self.figure.limits[i]
                put4(self.poses, k * self.count + i, q4(pose, i))
                self.angles[k * self.count + i] = limit.measure(q4(pose, i))

    @cython.cfunc
    @cython.exceptval(check=False)
    def reach_of(self, rotations: Doubles) -> cython.double:
        """The distance of the tip from the first ball joint, summed up from the tip; all joints behind it follow it."""
        i: cython.int
        arm: V3 = v3(self.figure.segments, self.count - 1)
        for i in range(self.count - 1, self.first, -1):
            turned: V3 = rotated(q4(self.figure.rest, i), rotated(q4(rotations, i), arm))
            arm = plus(v3(self.figure.segments, i - 1), turned)
        return length(arm)

    @cython.cfunc
    @cython.exceptval(check=False)
    def blend(self, first: cython.int, share: cython.double) -> cython.void:
        """Put joint `first` and those behind it a share of the way between the two poses of the part at hand."""
        i: cython.int
        limit: Limit
        for i in range(first, self.count):
            limit = self.figure.limits[i]
            a: cython.int = self.part * self.count + i
            b: cython.int = a + self.count
            if limit.dofs == 1:
                put4(self.rotations, i, limit.at(self.angles[a] + (self.angles[b] - self.angles[a]) * share))
            else:
                put4(self.rotations, i, limit.blend(q4(self.poses, a), q4(self.poses, b), share))

    @cython.cfunc
    @cython.exceptval(check=False)
    def excess(self, at: cython.double) -> cython.double:
        """How much too far the tip is at a share of the way between two poses."""
        self.blend(self.first + 1, at)
        return self.reach_of(self.rotations) - self.distance

    @cython.cfunc
    def match(self, distance: cython.double) -> cython.void:
        """Leave in `rotations` the pose whose tip is at a distance from the first ball joint, or nearly so."""
        k: cython.int
        last: cython.int = self.count_of_poses - 1
        if distance >= self.reaches[0]:
            self.copy_pose(0)
            return
        if distance <= self.reaches[last]:
            self.copy_pose(last)
            return
        self.part = 0
        for k in range(last):
            if self.reaches[k] > distance >= self.reaches[k + 1]:
                self.part = k
                break
        self.distance = distance
        over: cython.double = self.reaches[self.part] - distance
        self.blend(0, self.crossing(0.0, 1.0, over, self.reaches[self.part + 1] - distance))

    @cython.cfunc
    @cython.exceptval(check=False)
    def copy_pose(self, k: cython.int) -> cython.void:
        i: cython.int
        for i in range(self.count):
            put4(self.rotations, i, q4(self.poses, k * self.count + i))


@cython.cfunc
def clamp_start(figure: Figure) -> Doubles:
    """The start pose inside the limits: n rotations."""
    limit: Limit
    rotations: Doubles = doubles(4 * figure.count)
    for i in range(figure.count):
        limit = figure.limits[i]
        put4(rotations, i, limit.clamp(q4(figure.start, i)))
    return rotations


@cython.cfunc
def placed_pose(figure: Figure, rotations: Doubles) -> Pose:
    """A pose with these rotations, the root where the start pose has it."""
    pose: Pose = Pose(figure.count)
    copy_into(pose.rotations, rotations, 4 * figure.count)
    copy_into(pose.shift, figure.root, 3)
    figure.place(pose)
    return pose


@cython.cfunc
def bent(chain: Chain, reach: Reach, rotations: Doubles, distance: cython.double) -> Doubles:
    """Bend a straight chain by equal turns, as far as its limits let it, to about a distance; others come back."""
    figure: Figure = chain.figure
    pose: Pose = placed_pose(figure, rotations)
    along: V3 = unit(v3(pose.heads, chain.count))
    if chain.count < 2 or dot(along, along) == 0.0 or not is_straight(pose.heads, chain.count):
        return rotations
    wanted: Doubles = doubles(3 * chain.count + 3)
    reach.point_all(along)
    reach.curl(wanted, distance, along, preferred_bend(figure, pose, chain.first_moving, along))
    limited_forward(figure, pose, wanted)
    return pose.rotations


@cython.cfunc
def reference_pose(chain: Chain, limb: Limb | None) -> Pose:
    """A pose that shows to which side the chain bends: of a limb, one on its way from the start to the shortest pose.

    The start pose itself may be as good as straight, and its joints' offsets then tell of the foot, not of the knee.

    Args:
        chain: n joints.
        limb: Its way, or None where it is no limb.
    """
    start: Pose = placed_pose(chain.figure, clamp_start(chain.figure))
    if limb is None:
        return start
    limb.match(SHOWS_BEND * length(minus(v3(start.heads, chain.count), v3(start.heads, limb.first))))
    return placed_pose(chain.figure, limb.rotations)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What goals hang on is switched, at once or from a frame on, with nothing moving: their spaces, grab and release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import inf
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ..errors import TargetError
from ..maths import axes_of
from ..messages import Message
from ..rig.animation.channels import read_values, to_values
from ..rig.animation.compat import fcurves_of, shares_curves
from ..rig.animation.curves import SAME_FRAME, split_at
from ..rig.bones import pose_bones
from ..rig.checks import check_in_view_layer
from ..rig.control_bones import free_control_bones, is_control, new_bones_refusal
from ..rig.goals import GoalRef, goals_of, is_offset
from ..rig.schema import FabrikChain, rig_of
from ..rig.schema.chain import MISSED
from ..rig.spaces import (
    SPACE,
    add_space,
    carriers_above,
    hold_of,
    holder_in,
    lost_space,
    offset_of,
    space_of,
    spaces_of,
    target_of,
)
from ..texts import Text, joined, worded
from .frames import frames_keyed, go_to, scene_of
from .keep_pose import keep_and_tell, let_go, standing, told_moves, unposed
from .live.state import state as live_state
from .solve import Item, together

Anchored = tuple[bpy.types.Object, str]  # an object, and the name of a bone of it or ""
ROUNDS = 2  # in which the place in a new space settles, where the body moves with what it carries
PARENTS = {"OBJECT", "BONE"}  # kinds of parent whose place a space can take


@dataclass(eq=False)
class _Switch:
    """One object or bone that is to hang on something else.

    Attributes:
        goal: What it is.
        to: On what it is to hang; None for nothing.
        is_keyed: Whether it does so from the frame at hand on.
        holds: Whether it holds still there until its next key.
        pins: Whether it is taken off what carries it by a pin, which is to bring it back.
        stands: By frames, where it stood: in the space of its armature object, or in the world for an object.
        carriers: By frames, where what is to carry it stands, likewise.
    """

    goal: GoalRef
    to: Anchored | None
    is_keyed: bool
    holds: bool
    pins: bool = False
    stands: dict[float, Matrix] = field(default_factory=dict)
    carriers: dict[float, Matrix] = field(default_factory=dict)

    @property
    def holder(self) -> Any:
        """What has the channels; looked up anew, since edit mode makes all bones anew."""
        return self.goal.holder

    @property
    def is_edit(self) -> bool:
        """Whether it is a control that tells how far from its motion a chain is to be, and not where."""
        return any(
            is_offset(chain) and chain.target_bone == self.goal.bone and chain.target == self.goal.found
            for chain in (rig_of(self.goal.found).chains if self.goal.bone else ())
        )

    def curves(self) -> list[bpy.types.FCurve]:
        """The curves of its place and rotation."""
        return [*self.goal.channel_curves(), *self.goal.channel_curves(turns=True)]

    def switch_curves(self) -> list[bpy.types.FCurve]:
        """The curves that switch its spaces."""
        paths = {one.path_from_id("influence") for one in spaces_of(self.holder)}
        return [curve for curve in fcurves_of(self.goal.found) if curve.data_path in paths]

    def next_switch(self, now: float) -> float:
        """The next frame in which another space is on than in one; infinite where there is none."""
        curves = self.switch_curves()
        was = [curve.evaluate(now) > 0.0 for curve in curves]
        others = (
            frame for frame in _frames_of(curves, now) if [curve.evaluate(frame) > 0.0 for curve in curves] != was
        )
        return next(others, inf)

    def frames_after(self, now: float) -> list[float]:
        """The frames after one at which it is keyed, until it is switched again."""
        end = self.next_switch(now)
        return [frame for frame in _frames_of(self.curves(), now) if frame < end - SAME_FRAME]

    def note(self, frame: float, depsgraph: bpy.types.Depsgraph) -> bool:
        """Note where it stands in a frame, the first time, and what is to carry it; whether that is elsewhere now.

        Raises:
            TargetError: That has no extent.
        """
        evaluated = self.goal.found.evaluated_get(depsgraph)
        own: Any = holder_in(evaluated, self.goal.bone)
        is_bone = isinstance(own, bpy.types.PoseBone)
        if frame not in self.stands:
            self.stands[frame] = own.matrix.copy() if is_bone else own.matrix_world.copy()
        carrier = Matrix()
        if self.to is not None:
            found, name = self.to
            carrier = _matrix_of(found.evaluated_get(depsgraph), name, within=evaluated if is_bone else None)
        if not abs(carrier.to_3x3().determinant()):
            raise TargetError(Message("TARGET_WITHOUT_SCALE", name=carrier_name(self.to)))
        before, self.carriers[frame] = self.carriers.get(frame), carrier
        return before is None or carrier != before


def switch_spaces(
    context: bpy.types.Context,
    wanted: Sequence[tuple[GoalRef, Anchored | None]],
    *,
    keyed: bool,
    holds: bool = False,
    pins: bool = False,
    own: Iterable[Anchored] = (),
) -> tuple[list[float], list[str]]:
    """Hang goals, or other objects, on something else, with nothing moving.

    Where they are keyed, they hang there from the frame at hand on, and all their keys until they are switched again
    are brought along; else at once, in all frames.

    Args:
        context: Its view layer has them.
        wanted: Targets, poles, or what is held in a hand, each with what it is to hang on: an object, and the name of a
            bone of it or ""; None for nothing but its armature object, or the world.
        keyed: Whether they do so from the frame at hand on; those that are animated always do.
        holds: Whether they hold still there until their next key, where they are keyed.
        pins: Whether a pin takes them off what carries them, so that it is remembered (`space_before_pin`).
        own: Objects and bones that may not carry it: those that are moved by these goals.

    Returns:
        The frames in which they were keyed, rising, the one at hand first, none where they were not; and what the next
        solve moves all the same, as sentences.

    Raises:
        FabrikError: One can't be hung there; nothing was changed.
    """
    now = scene_of(context).frame_current_final
    switches = [_Switch(goal, to, keyed, holds, pins) for goal, to in wanted if not _hangs_on(goal, to)]
    for one in switches:
        one.is_keyed = keyed or is_switched_by_keys(one.goal)
        reason = _refusal(one, {(found.name_full, name) for found, name in own})
        if reason:
            raise TargetError(Text("{name} {reason}", name=one.goal.name, reason=worded(reason)))
    _check_editable(context, switches)
    notes, has_keys = list[str](), any(one.is_keyed for one in switches)
    edited = [(owner, standing(owner, [chain])) for owner, chain in _asked_by(switches) if is_offset(chain)]
    with nullcontext() if has_keys else unposed():  # which would solve what was changed just now
        _visit(context, [(one, {now, *(one.frames_after(now) if one.is_keyed else ())}) for one in switches])
    was_paused, live_state.paused = live_state.paused, True  # on the way through edit mode nothing is to be solved
    try:
        _leave_parents(context, switches)
        for one in switches:
            _switch(one, now)
    finally:
        live_state.paused = was_paused
        live_state.forget()
    if not has_keys:  # else other frames would move
        notes += _kept(context, _asked_by(switches))
    for _ in range(ROUNDS):  # a body that helped stands elsewhere now
        moved = _visit(context, [(one, set(one.stands)) for one in switches if one.to is not None])
        for one in moved:
            _write(one)
    for owner, loosed in edited:  # how far from its motion it is depends on what that is carried by
        notes += let_go(context, owner, loosed).warnings
    for one in switches:
        if one.is_keyed and one.is_edit:
            _key(one, now)
    notes += told_moves(_asked_by(switches)) if has_keys else []
    return sorted({frame for one in switches if one.is_keyed for frame in one.stands}), notes


def _kept(context: bpy.types.Context, items: Sequence[Item]) -> list[str]:
    """Let the next solve leave the pose of chains; what it moves all the same, as sentences.

    The pole of a limb that is nearly straight tells less of a pose from which that starts, and is brought to it.
    """
    kept = list(zip(items, keep_and_tell(items), strict=True))
    notes, brought = list[str](), set[tuple[str, str]]()
    for owner, chains, _ in together([item for item, one in kept if one.moves]):
        bent = [chain for chain in chains if chain.pole is not None and chain.status not in MISSED]
        notes += let_go(context, owner, standing(owner, bent)).warnings
        brought |= {(owner.name_full, chain.name) for chain in bent}
    left = [(chain, one) for (owner, chain), one in kept if one.moves and (owner.name_full, chain.name) not in brought]
    return notes + [joined(": ", (chain.name, one.moves)) for chain, one in left]


def bring_to(goal: GoalRef, place: Sequence[float]) -> None:
    """Put a goal to a point of the world, where the limb stands that does not reach it: it stays as it is."""
    with unposed() as depsgraph:
        goal.put(goal.location_at(Vector(place), depsgraph))


def _asked_by(switches: Iterable[_Switch]) -> list[tuple[bpy.types.Object, FabrikChain]]:
    """The chains, each with its armature object, whose goals are among what hangs elsewhere now, or hang on it."""
    keys = {(one.goal.found, one.goal.bone) for one in switches}
    return [
        (owner, chain)
        for owner in bpy.data.objects
        if owner.type == "ARMATURE"
        for chain in rig_of(owner).chains
        if any(not keys.isdisjoint([goal[1:], *carriers_above(*goal[1:])]) for goal in goals_of(chain))
    ]


def space_name(goal: GoalRef) -> str:
    """On what a goal hangs now: the name of a bone or an object; "" for nothing, None being told as that."""
    hold = hold_of(goal.found, goal.bone)
    return "" if hold is None or (hold.found == goal.found and not hold.bone) else hold.bone or hold.found.name


def first_space(goal: GoalRef) -> Anchored | None:
    """On what a goal hung before it was given other spaces; None for nothing."""
    found = spaces_of(goal.holder)
    return target_of(goal.holder, found[0]) if found and found[0].name.endswith(FIRST) else None


def hangs_later(goal: GoalRef, carriers: Sequence[Anchored], now: float) -> float | None:
    """The first frame after one at which keys hang a goal on one of some carriers; None where they never do."""
    spaces = [one for one in spaces_of(goal.holder) if target_of(goal.holder, one) in carriers]
    paths = {one.path_from_id("influence") for one in spaces}
    curves = [curve for curve in fcurves_of(goal.found) if curve.data_path in paths]
    points = [point.co for curve in curves for point in curve.keyframe_points]
    return min((frame for frame, value in points if frame > now + SAME_FRAME and value > 0.0), default=None)


def is_switched_by_keys(goal: GoalRef) -> bool:
    """Whether another space has to be keyed for a goal, since it has keys or its spaces have."""
    one = _Switch(goal, None, is_keyed=False, holds=False)
    return bool(one.curves() or one.switch_curves())


def is_taken_off(goal: GoalRef) -> bool:
    """Whether a pin holds a goal in the scene, off what carried it."""
    holder = goal.holder
    space = space_of(holder) or lost_space(holder)
    return space is not None and _is_pins(space)


def space_before_pin(goal: GoalRef, now: float) -> Anchored | None:
    """On what a goal that is taken off (`is_taken_off`) hung before a pin did that; None for nothing."""
    holder = goal.holder
    curves = {curve.data_path: curve for curve in fcurves_of(goal.found)}
    known = [(space, curves.get(space.path_from_id("influence"))) for space in spaces_of(holder)]
    pinned, influence = next(pair for pair in known if _is_pins(pair[0]))
    if influence is None:
        others = [space for space, _ in known if space != pinned]
        return target_of(holder, others[-1]) if others and pinned.name.endswith(PINNED) else None
    off = [point.co[0] for point in influence.keyframe_points if point.co[0] < now and not point.co[1]]
    on = [space for space, curve in known if off and curve is not None and curve.evaluate(off[-1]) > 0.0]
    return target_of(holder, on[0]) if on else None


LONGEST_NAME = 63  # bytes
FIRST = "(first)"  # how the name of the space ends that took the place of a parent
PINNED = "(pinned)"  # that of the space into which a pin puts a target
LOOSE = "(loose)"  # the same where the target hung on nothing before


def _refusal(one: _Switch, own: set[tuple[str, str]]) -> Text | Message | str:
    """Why something can't be hung elsewhere, to follow its name; "" where it can.

    It can't if that hangs on it, or on what is moved by it (`own`).
    """
    reason = one.goal.held_by() or one.goal.turn_held_by() or _parent_refusal(one) or _keys_refusal(one)
    if reason or one.to is None:
        return reason or ""
    found, name = one.to
    if name and holder_in(found, name) is None:
        return Message("HAS_NO_BONE", bone=name)
    for thing, bone in [one.to, *carriers_above(found, name)]:
        if (thing.name_full, bone) in {*own, (one.goal.found.name_full, one.goal.bone)}:
            return Text("would move with itself: it moves '{name}'", name=bone or thing.name)
    return ""


def _is_pins(space: Any) -> bool:
    """Whether a pin made a space."""
    return bool(space.name.endswith((PINNED, LOOSE)))


def _hangs_on(goal: GoalRef, to: Anchored | None) -> bool:
    """Whether something hangs there already, and not for a pin alone."""
    hold = hold_of(goal.found, goal.bone)
    return hold is not None and (hold.found, hold.bone) == to and not is_taken_off(goal)


def _keys_refusal(one: _Switch) -> Text | None:
    """Why something can't be keyed here so that it alone plays that; None where it can, or need not."""
    data = one.goal.found.animation_data
    if not one.is_keyed or data is None:
        return None
    if data.use_tweak_mode:
        return Text("is edited inside a strip of its NLA: leave that first")
    other = shares_curves(one.goal.found) if data.action is not None else None
    if other is None:
        return None
    return Text("plays the keys that '{other}' plays, too: make its action single user", other=other.name)


def _parent_refusal(one: _Switch) -> Text | Message | None:
    """Why something can't leave its parent; None where it can, or has none."""
    holder = one.holder
    if holder.parent is None:
        return None
    if isinstance(holder, bpy.types.PoseBone):
        if is_control(holder):
            is_linked = new_bones_refusal(one.goal.found) is not None
            text = Text("has a parent in linked armature data: change what carries it in the library file")
            return text if is_linked else None
        return Text("is a bone that was not made as a goal: change its parent in Edit Mode")
    if holder.parent_type in PARENTS:
        return None
    return Text("is parented to vertices or a lattice, whose place no space can take")


def _visit(context: bpy.types.Context, wanted: Sequence[tuple[_Switch, set[float]]]) -> list[_Switch]:
    """Note where all stands in some frames, the one at hand among them; which are carried from elsewhere now."""
    scene = scene_of(context)
    assert context.view_layer is not None
    now, moved = scene.frame_current_final, list[_Switch]()
    frames = sorted({frame for _, own in wanted for frame in own}, key=lambda frame: (frame != now, frame))
    context.view_layer.update()
    for frame in frames:
        if frame != now:
            go_to(scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        moved += [one for one, own in wanted if frame in own and one.note(frame, depsgraph)]
    if len(frames) > 1:
        go_to(scene, now)
    return [one for one, _ in wanted if one in moved]


def _check_editable(context: bpy.types.Context, switches: Sequence[_Switch]) -> None:
    """Refuse bones that are to leave their parents, in edit mode, where Blender lets none be edited."""
    for one in switches:
        if one.goal.bone and one.holder.parent is not None:
            check_in_view_layer(one.goal.found, context.evaluated_depsgraph_get())


def _leave_parents(context: bpy.types.Context, switches: Sequence[_Switch]) -> None:
    """Let spaces take the place of parents; their channels stay as they are."""
    parented = [one for one in switches if one.holder.parent is not None]
    for one in parented:
        holder = one.holder
        if isinstance(holder, bpy.types.PoseBone):
            parent: Any = holder.parent
            made = add_space(holder, one.goal.found, parent.name)
        else:
            made = add_space(holder, holder.parent, holder.parent_bone if holder.parent_type == "BONE" else "")
            length = pose_bones(holder.parent)[holder.parent_bone].bone.length if holder.parent_type == "BONE" else 0.0
            made.inverse_matrix = Matrix.Translation((0.0, length, 0.0)) @ holder.matrix_parent_inverse
            holder.parent, holder.matrix_parent_inverse = None, Matrix()
        name = made.name.encode()[: LONGEST_NAME - len(FIRST) - 1].decode(errors="ignore")
        made.name, made.influence = f"{name} {FIRST}", 1.0
    bones = dict[str, tuple[bpy.types.Object, list[str]]]()
    for one in parented:
        if one.goal.bone:
            bones.setdefault(one.goal.found.name_full, (one.goal.found, []))[1].append(one.goal.bone)
    for owner, names in bones.values():
        free_control_bones(context, owner, names)


def _switch(one: _Switch, now: float) -> None:
    """Switch the space of something, its parent being left, and key that where it is animated."""
    holder = one.holder
    before = space_of(holder) if one.pins else None
    after = _space_of(one)
    if one.to is not None and after is None:
        after = add_space(holder, *one.to)
    if one.pins and after is not None:
        after.name = f"{SPACE} {PINNED if before is not None else LOOSE}"
    end, later = one.next_switch(now), _frames_of(one.switch_curves(), now)
    if one.is_keyed:
        _hold_until(one, now)
    for space in spaces_of(holder):
        path, is_on = space.path_from_id("influence"), space == after
        known = frames_keyed(curve for curve in fcurves_of(one.goal.found) if curve.data_path == path)
        for frame in later if one.is_keyed else ():
            if frame < end or frame not in known:
                space.influence = float(is_on and frame < end)
                space.keyframe_insert("influence", frame=frame, group=one.goal.key_group)
        space.influence = float(is_on)
        if one.is_keyed:
            space.keyframe_insert("influence", frame=now, group=one.goal.key_group)
    _write(one)
    if one.is_keyed:
        _hold_between(one, now)
        return
    kept = (before, after)
    for space in [space for space in spaces_of(holder) if space not in kept and not space.name.endswith(FIRST)]:
        holder.constraints.remove(space)


def _write(one: _Switch) -> None:
    """Write, and key where it is animated, how something stands in its new space."""
    if one.is_edit:
        return
    values = _values(one)
    for frame in sorted(values, reverse=True):  # the frame at hand last, whose values stay
        for name, value in zip(one.goal.channel_names, values[frame], strict=True):
            setattr(one.holder, name, value)
        if one.is_keyed:
            _key(one, frame)


def _key(one: _Switch, frame: float) -> None:
    """Key how something stands as it stands."""
    for name in one.goal.channel_names:
        one.holder.keyframe_insert(name, frame=frame, group=one.goal.key_group)


def _values(one: _Switch) -> dict[float, tuple[Vector, list[float]]]:
    """By frames the location and rotation channels with which something stands in its new space where it stood."""
    holder, found = one.holder, dict[float, tuple[Vector, list[float]]]()
    constraint = _space_of(one)
    near = read_values(holder)
    for frame, stands in sorted(one.stands.items()):
        own = (one.carriers[frame] @ offset_of(holder, constraint)).inverted() @ stands
        if isinstance(holder, bpy.types.PoseBone):
            own = holder.bone.matrix_local.inverted() @ own
        near = to_values(holder.rotation_mode, axes_of(own), near)
        found[frame] = holder.location + own.translation - holder.matrix_basis.translation, near
    return found


def _hold_between(one: _Switch, now: float) -> None:
    """Let nothing run from one space to another: each holds until the next key."""
    for curve in one.switch_curves():
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    for curve in one.curves():
        for point in curve.keyframe_points:
            if now - 1.0 - SAME_FRAME <= point.co[0] < now + (SAME_FRAME if one.holds else -SAME_FRAME):
                point.interpolation = "CONSTANT"


def _hold_until(one: _Switch, now: float) -> None:
    """Key how something hangs and stands at the frame before, from which on that is held."""
    holder, start = one.holder, now - 1.0
    known = {(curve.data_path.rpartition(".")[2], curve.array_index): curve for curve in one.curves()}
    for curve in known.values():
        split_at(curve, start)
    for name in one.goal.channel_names:
        for i in range(len(getattr(holder, name))):
            if (name, i) not in known:
                holder.keyframe_insert(name, index=i, frame=start, group=one.goal.key_group)
    for space in spaces_of(holder):
        path, value = space.path_from_id("influence"), space.influence
        curves = [curve for curve in one.switch_curves() if curve.data_path == path]
        space.influence = curves[0].evaluate(start) if curves else value
        space.keyframe_insert("influence", frame=start, group=one.goal.key_group)
        space.influence = value


def _space_of(one: _Switch) -> Any:
    """The constraint by which something is to hang there; None where it has none yet. That of a pin is its own."""
    found = [space for space in spaces_of(one.holder) if one.to is not None and _is_pins(space) == one.pins]
    return next((space for space in found if target_of(one.holder, space) == one.to), None)


def _frames_of(curves: Iterable[bpy.types.FCurve], now: float) -> list[float]:
    """The frames after one at which curves have keys."""
    return sorted(frame for frame in frames_keyed(curves) if frame > now + SAME_FRAME)


def _matrix_of(found: bpy.types.Object, name: str, within: bpy.types.Object | None) -> Matrix:
    """Where an evaluated object, or a bone of it, stands: in the space of another object, or in the world."""
    if name and found == within:
        return pose_bones(found)[name].matrix.copy()
    world = found.matrix_world @ pose_bones(found)[name].matrix if name else found.matrix_world.copy()
    return within.matrix_world.inverted_safe() @ world if within is not None else world


def carrier_name(to: Anchored | None) -> str:
    """The name of what carries something; "" for nothing."""
    return "" if to is None else to[1] or to[0].name

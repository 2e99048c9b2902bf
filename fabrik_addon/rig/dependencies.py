# SPDX-License-Identifier: GPL-3.0-or-later
"""On what a thing hangs, whether it is evaluated, and whether anything deforms with a chain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import bpy

from ..messages import Message
from .animation.compat import drivers_of
from .bones import SWING, pose_bones

# On which bones of an armature a target, a pole or a bone hangs: by parents, constraints and
# drivers, at any remove.
#
# Vertices of deformed meshes are not followed.

Tie = tuple[bpy.types.Object, str]
SIMULATIONS = {"CLOTH", "SOFT_BODY"}
STATEFUL = {*SIMULATIONS, "NODES", "FLUID", "DYNAMIC_PAINT"}  # modifiers that may go on from the frame before
BONE_IN_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
PROPERTY_IN_PATH = re.compile(BONE_IN_PATH.pattern + r'\["((?:[^"\\]|\\.)*)"\]')


def bones_behind(owner: bpy.types.Object, found: bpy.types.Object, bone: str, *, now: bool = False) -> set[str]:
    """Names of the armature's bones that move an object, or a bone of it.

    With `now` constraints that are muted or have no influence at this frame are left out; Blender ties these, too.
    """
    return {name for thing, name in carriers_of(found, bone, now=now) if name and thing == owner.name_full}


def carriers_of(found: bpy.types.Object, bone: str, *, now: bool = False) -> set[tuple[str, str]]:
    """Objects by their full names, and bones of them, that move an object, or a bone of it; itself included.

    With `now` as in `bones_behind`.
    """
    return {(thing.name_full, name) for thing, name in ties_behind(found, bone, now=now)}


def ties_behind(found: bpy.types.Object, bone: str, *, now: bool = False) -> list[Tie]:
    """`carriers_of` with the objects themselves."""
    waiting: list[Tie] = [(found, bone)]
    seen: dict[tuple[str, str], Tie] = {}
    while waiting:
        thing, name = waiting.pop()
        own = pose_bones(thing).get(name) if name and thing.pose else None
        name = own.name if own else ""
        if (thing.name_full, name) in seen:
            continue
        seen[thing.name_full, name] = thing, name
        constraints, data = (own or thing).constraints, thing.animation_data
        if len(constraints):
            waiting += _ties_of(constraints, now)
        if data is not None and len(data.drivers):
            waiting += _ties_of_drivers(data.drivers, own.path_from_id() if own else "")
        if own is not None:
            waiting.append((thing, own.parent.name if own.parent else ""))
        elif thing.parent is not None:
            waiting.append((thing.parent, thing.parent_bone if thing.parent_type == "BONE" else ""))
    return list(seen.values())


def is_simulated(found: bpy.types.Object, bone: str) -> bool:
    """Whether a simulation moves an object or a bone of it, so that a frame has to be come to from those before it."""
    return any(
        thing.rigid_body is not None or any(modifier.type in SIMULATIONS for modifier in thing.modifiers)
        for thing, _ in ties_behind(found, bone)
    )


def keeps_state(found: bpy.types.Object) -> bool:
    """Whether the shape of an object may hang on the frames before, so that a frame has to be come to from those."""
    return any(modifier.type in STATEFUL for modifier in found.modifiers)


def broken_driver(found: bpy.types.Object, bone: str) -> Message | None:
    """The property of an object, or of what moves it, whose driver Blender can't evaluate; None without one."""
    for thing, name in ties_behind(found, bone):
        for curve in drivers_of(thing):
            of_bone = curve.data_path.startswith("pose.bones[")
            of_this = bone_in(curve.data_path) == name if of_bone else True
            if curve.driver is not None and of_this and not curve.mute and not curve.driver.is_valid:
                return Message("PATH_OF_THING", path=curve.data_path, thing=thing.name)
    return None


def _ties_of(constraints: Iterable[Any], now: bool) -> list[Tie]:
    """Objects and bones that a stack of constraints follows."""
    ties: list[Tie] = []
    for constraint in constraints:
        if constraint.name.startswith(SWING) or (now and (constraint.mute or constraint.influence == 0.0)):
            continue
        for role in ("", "pole_"):
            target = getattr(constraint, f"{role}target", None)
            if target is not None:
                ties.append((target, getattr(constraint, f"{role}subtarget", "")))
        several = getattr(constraint, "targets", ())
        ties += [(tie.target, getattr(tie, "subtarget", "")) for tie in several if tie.target is not None]
    return ties


def _ties_of_drivers(drivers: Iterable[bpy.types.FCurve], path: str) -> list[Tie]:
    """Objects and bones that the drivers of an object follow, or those of a bone of it by its path."""
    ties = list[Tie]()
    for curve in drivers:
        of_bone = curve.data_path.startswith("pose.bones[")
        if curve.driver is None or (not curve.data_path.startswith(f"{path}.") if path else of_bone):
            continue
        for target in (target for variable in curve.driver.variables for target in variable.targets):
            if isinstance(target.id, bpy.types.Object):
                ties.append((target.id, target.bone_target or bone_in(target.data_path)))
    return ties


def bone_in(path: str) -> str:
    """The bone's name in a data path, or ""."""
    found = BONE_IN_PATH.search(path)
    return bpy.utils.unescape_identifier(found.group(1)) if found else ""


# Whether Blender evaluates an object for a view layer.
#
# `Object.is_evaluated` does not tell: an object that a property points to is in the depsgraph also where it is disabled
# or excluded, and keeps the transform it had.


def scenes_of(scene: bpy.types.Scene) -> list[bpy.types.Scene]:
    """A scene, and those that are evaluated with it: its background set, and that one's."""
    found = [scene]
    while found[-1].background_set is not None and found[-1].background_set not in found:
        found.append(found[-1].background_set)
    return found


def is_evaluated(found: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """True where the object is in the view layer and neither it nor its collections are disabled or excluded."""
    if found.hide_viewport:
        return False
    homes = set(found.users_collection)
    return any(not homes.isdisjoint(enabled_collections(layer.layer_collection)) for layer in _layers(depsgraph))


def _layers(depsgraph: bpy.types.Depsgraph) -> Iterator[bpy.types.ViewLayer]:
    """The view layer that is evaluated, and that of each background set: its first one that is rendered."""
    if depsgraph.view_layer is None or depsgraph.scene is None:
        return
    yield depsgraph.view_layer
    if depsgraph.scene.background_set is not None:
        for scene in scenes_of(depsgraph.scene)[1:]:
            yield next((layer for layer in scene.view_layers if layer.use), scene.view_layers[0])


def is_deleted(found: bpy.types.Object) -> bool:
    """Whether an object was deleted, and stays in the file only since something of ours points to it.

    A linked one may never have been put into a scene.
    """
    return not found.users_collection and found.library is None


def absence_of(found: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> Message | None:
    """Why a view layer has not an object, as the end of a sentence; None where it has it. Quick where it has."""
    if view_layer.objects.get(found.name) == found or any(other == found for other in view_layer.objects):
        return None  # the second where a linked object has the same name
    return Message("WAS_DELETED") if is_deleted(found) else Message("IS_NOT_IN_VIEW_LAYER")


def enabled_collections(
    layer: bpy.types.LayerCollection, *, switch: str = "hide_viewport"
) -> Iterator[bpy.types.Collection]:
    """The collections of a view layer that are evaluated; with "hide_render" those that renders evaluate."""
    if not layer.exclude:  # else its children have switches of their own
        if getattr(layer.collection, switch):
            return
        yield layer.collection
    for child in layer.children:
        yield from enabled_collections(child, switch=switch)


# Whether what is seen follows a chain: the controls of a generated rig may drive nothing at present.
#
# Such a rig has bones for the animator and others that deform the mesh, which follow the first by constraints. A switch
# between IK and FK turns one of two stacks of these off, so that a control can be posed, and nothing else moves.

SLIGHT = 1e-3  # influence below which a constraint does nothing that is seen
COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION"}
REPLACING = {"COPY_TRANSFORMS", "ARMATURE"}  # what comes before these counts no more than their influence leaves


class _Tie(NamedTuple):
    """A constraint by which a bone follows another, both by names.

    At the end of the stack a `strength` of the other's movement is left, 0 to 1; where it is 0, `cause` takes it away.
    """

    bone: str
    followed: str
    strength: float
    cause: bpy.types.Constraint


def why_unfollowed(owner: bpy.types.Object, bones: Sequence[str]) -> Message | None:
    """Why no bone that deforms follows a chain, as a sentence; None where one does, or where nothing tells.

    Nothing is evaluated: Blender writes the influences that it found last, drivers included, into the originals.
    """
    poses = pose_bones(owner)
    if any(poses[name].bone.use_deform for name in bones):
        return None
    ties: dict[str, list[_Tie]] = {}
    for bone in (bone for bone in poses if bone.constraints):
        for tie in _deforming_ties(owner, bone):
            ties.setdefault(tie.followed, []).append(tie)
    following, waiting = set[str](), list(bones)
    loose: list[_Tie] = []
    while waiting:
        name = waiting.pop()
        if name in following:
            continue
        if poses[name].bone.use_deform:
            return None
        following.add(name)
        waiting += [child.name for child in poses[name].children]
        for tie in ties.get(name, ()):
            if tie.strength > SLIGHT:
                waiting.append(tie.bone)
            else:
                loose.append(tie)
    loose = [tie for tie in loose if tie.bone not in following]
    if not loose or any(child.parent_bone in following for child in owner.children):
        return None
    first = min(loose, key=lambda tie: (tie.followed not in bones, poses.find(tie.bone)))
    return Message("DEFORMING_BONES_DO_NOT_FOLLOW", reason=_cause(owner, first.cause))


def _deforming_ties(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> Iterator[_Tie]:
    """The constraints by which a bone follows bones of its own armature."""
    stack: list[Any] = [constraint for constraint in bone.constraints if not constraint.mute]
    for constraint in stack:
        followed = [
            found.subtarget
            for found in (constraint, *getattr(constraint, "targets", ()))
            if getattr(found, "target", None) == owner and getattr(found, "subtarget", "")
        ]
        if not followed:
            continue
        strength, cause = constraint.influence, constraint
        for later in _replacing(stack, constraint):
            strength *= 1.0 - later.influence
            if strength <= SLIGHT:
                cause = cause if constraint.influence <= SLIGHT else later
                break
        yield from (_Tie(bone.name, name, strength, cause) for name in followed)


def _replacing(stack: Sequence[Any], constraint: Any) -> list[Any]:
    """Those after a constraint in a stack that take the place of what it did, as far as they have influence."""
    later = [one for one in stack[stack.index(constraint) + 1 :] if one.type in {*REPLACING, constraint.type}]
    whole = [one for one in later if getattr(one, "mix_mode", "REPLACE") == "REPLACE"]
    return [one for one in whole if not getattr(one, "use_offset", False) and one.influence > SLIGHT]


class Switch(NamedTuple):
    """A custom property of a bone, both by name, that says whether the bones that deform follow a chain."""

    bone: str
    name: str

    @property
    def path(self) -> str:
        """Its path from the bone."""
        return f'["{bpy.utils.escape_identifier(self.name)}"]'


class OverriddenCopy(NamedTuple):
    """A bone that copies one of a chain, and would follow it if another constraint did not take its place.

    Attributes:
        bone: Name of the chain's bone.
        follower: Name of the bone that copies it.
        switch: What sets the influence of that which takes its place; None where no property does.
    """

    bone: str
    follower: str
    switch: Switch | None


def replaced_followers(owner: bpy.types.Object, bones: Sequence[str]) -> list[OverriddenCopy]:
    """The bones that copy some bones of an armature, and don't follow them since other constraints take their place."""
    found: list[OverriddenCopy] = []
    for bone in pose_bones(owner):
        stack = [one for one in bone.constraints if not one.mute]
        copying = next((one for one in stack if _copied_by(owner, one) in bones), None)
        if copying is None:
            continue
        causes = [copying] if copying.influence < 1.0 - SLIGHT else []
        causes += _replacing(stack, copying)
        if causes:
            found.append(OverriddenCopy(_copied_by(owner, copying), bone.name, _switch_of(owner, causes[0])))
    return sorted(found, key=lambda one: bones.index(one.bone))


def _copied_by(owner: bpy.types.Object, constraint: Any) -> str:
    """The bone of an armature whose rotation a constraint copies whole; "" for none."""
    return str(constraint.subtarget) if constraint.type in COPYING and constraint.target == owner else ""


def _switch_of(owner: bpy.types.Object, constraint: bpy.types.Constraint) -> Switch | None:
    """The property of a bone of an armature that drives the influence of a constraint, where one does."""
    path = f"{constraint.path_from_id()}.influence"
    for curve in drivers_of(owner):
        if curve.data_path != path or curve.driver is None:
            continue
        for target in (target for variable in curve.driver.variables for target in variable.targets):
            found = PROPERTY_IN_PATH.fullmatch(target.data_path)
            bone, name = map(bpy.utils.unescape_identifier, found.groups()) if found is not None else ("", "")
            holder = pose_bones(owner).get(bone)
            if target.id == owner and holder is not None and name in holder:
                return Switch(bone, name)
    return None


def _cause(owner: bpy.types.Object, constraint: bpy.types.Constraint) -> Message:
    """What sets the influence of a constraint, and to what."""
    switch = _switch_of(owner, constraint)
    if switch is not None:
        value = pose_bones(owner)[switch.bone][switch.name]
        return Message("PROPERTY_VALUE", name=switch.name, bone=switch.bone, value=value)
    holder = constraint.path_from_id().split('"')[1]
    return Message("CONSTRAINT_INFLUENCE", constraint=constraint.name, holder=holder, influence=constraint.influence)

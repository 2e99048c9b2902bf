# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a rig that can be posed, by the names of their bones: found, or as a mapping has them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import bpy

from ...errors import BoneError, ChainError, FabrikError
from ...messages import Message
from ...recognise.find import recognise
from ...recognise.mapping import mapping_text, read_mapping
from ...recognise.part import ARM, LEG, RUN, Part, RecognisedBody
from ...rig.bones import names_if_any, pose_bones, resolve_bones
from ...rig.checks import constrained_bones, movers_of
from ...rig.control_bones import control_names
from ...rig.figure.followers import check_carried, is_scaled_alone
from ...rig.schema.chain import FabrikChain
from ...rig.schema.rig import rig_of
from ...rig.skeleton import read_skeleton
from ...texts import Text, worded

SHARED = 2  # bones that a chain has to have in common with a part to stand for it
MANY_HELD = 2  # times as many as limbs are found: then all that deforms follows something else
LEAST_BONES = 2  # that have to be left of an arm or leg where bones at its end follow something else


def find_parts(owner: bpy.types.Object, plan: str = "AUTO") -> RecognisedBody[str]:
    """The parts of an armature object: as a mapping that it keeps has them, else as they are found.

    Where other bones drive those that deform, as in a generated rig, the parts are looked for among the bones that
    nothing drives: its controls.
    """
    kept = kept_mapping(owner) if plan == "AUTO" else None
    if kept is not None:
        return kept
    made = control_names(owner)
    found = _found(owner, plan, made)
    if not found.held:
        return found
    reasons = reasons_by_bone(owner)
    free = _found(owner, plan, made | set(reasons))
    more, is_driven = _count(free) - _count(found), len(found.held) > MANY_HELD * _count(found)
    if more < 0 or not _count(free) or (more == 0 and not is_driven):
        rest = {part.name: part for part in free.parts if part.kind not in (ARM, LEG)}
        also = [rest[name] for name, _ in found.held if name in rest]
        return replace(found, parts=(*found.parts, *also), held=[one for one in found.held if one[0] not in rest])
    if is_driven:  # what deforms follows controls: limbs were found in both, and those that follow tell nothing
        return free
    left = {part.name for part in free.parts}
    return replace(free, held=[*free.held, *((name, why) for name, why in found.held if name not in left)])


def parts_to_read(owner: bpy.types.Object) -> RecognisedBody[str]:
    """The parts of an armature object, whatever poses their bones: for motion that is only read.

    Where other bones drive those that deform, they are looked for among the latter: these are what is seen to move.
    """
    kept = kept_mapping(owner)
    if kept is not None:
        return kept
    made = control_names(owner)
    found, shown = _read(owner, made), {bone.name for bone in pose_bones(owner) if bone.bone.use_deform}
    if not shown or len(shown) == len(pose_bones(owner)):
        return found
    own = _read(owner, made | (set(pose_bones(owner).keys()) - shown))
    return own if own.body and _count(own) >= max(1, _count(found) if found.body else 0) else found


def _read(owner: bpy.types.Object, without: Collection[str]) -> RecognisedBody[str]:
    """The parts of an armature object, looked for as if some of its bones were not there, whatever poses the others."""
    skeleton = read_skeleton(owner, without=without)
    told, names = recognise(skeleton), skeleton.names
    parts = list[Part[str]]()
    for one in told.parts:
        bones = tuple(names[bone] for bone in one.bones)
        parts.append(Part(one.kind, one.name, bones, one.roles, one.holds_head, one.confidence, one.reasons))
    return RecognisedBody(told.plan, names[told.body] if told.body >= 0 else "", parts, told.convention)


def _count(found: RecognisedBody[str]) -> int:
    """How many arms and legs were found that are sure."""
    return sum(part.kind in (ARM, LEG) and part.is_applied for part in found.parts)


def _found(owner: bpy.types.Object, plan: str, without: Collection[str]) -> RecognisedBody[str]:
    """The parts of an armature object, looked for as if some of its bones, by their names, were not there."""
    skeleton = read_skeleton(owner, without=without)
    told = recognise(skeleton, plan)
    parts: list[Part[str]] = []
    held: list[tuple[str, str | Message]] = []
    reasons = reasons_by_bone(owner)
    for part in told.parts:
        row = _in_one_row(owner, [skeleton.names[bone] for bone in part.bones])
        found = [bone for bone in row if bone not in reasons or is_scaled_alone(pose_bones(owner)[bone])]
        own = {skeleton.names[bone]: role for bone, role in zip(part.bones, part.roles, strict=True)}
        is_whole = len([bone for bone in row if bone in own]) == len(part.bones)
        if len(found) < len(row) or (not is_whole and len(row) < min(len(part.bones), LEAST_BONES)):
            reason = next((reasons[bone] for bone in row if bone not in found), "")
            held.append((part.name, reason or Text("bones that follow others lie between its bones")))
        else:
            roles, why = tuple(own.get(bone, "") for bone in row), tuple(map(worded, part.reasons))
            parts.append(Part(part.kind, part.name, row, roles, part.holds_head and is_whole, part.confidence, why))
    body, notes = skeleton.names[told.body] if told.body >= 0 else "", [worded(note) for note in told.notes]
    if plan == "AUTO" and rig_of(owner).mapping:  # which did not fit
        notes.append(Text("its mapping has other bones: its parts are looked for"))
    refusal = _body_refusal(owner, body, parts, reasons) if body else None
    if refusal:
        body, notes = "", [*notes, Text("no body bone: {reason}", reason=refusal)]
    missing = [(name, worded(reason)) for name, reason in told.missing]
    return RecognisedBody(told.plan, body, parts, told.convention, missing, held, notes)


def between_body_and_parts(owner: bpy.types.Object, body: str, parts: Sequence[Part[str]]) -> list[str]:
    """Names of the bones between a body bone and the parts that hang on it."""
    bones, found = pose_bones(owner), dict[str, None]()
    for part in parts:
        above = [bone.name for bone in bones[part.bones[0]].parent_recursive]
        found |= dict.fromkeys(above[: above.index(body)] if body in above else ())
    return [*found]


def _body_refusal(
    owner: bpy.types.Object, body: str, parts: Sequence[Part[str]], reasons: Mapping[str, str]
) -> str | Message | None:
    """Why a bone can't be the body bone of parts: constraints pose it, or what hangs on it is not carried by it."""
    if body in reasons:
        return reasons[body]
    bones, free = pose_bones(owner), {body, *(bone for part in parts for bone in part.bones)}
    for name in between_body_and_parts(owner, body, parts):
        try:
            if name in reasons and not bones[name].constraints:
                return reasons[name]
            check_carried(bones[name], free)
        except FabrikError as error:
            return worded(error.text)
    return None


def _in_one_row(owner: bpy.types.Object, names: Sequence[str]) -> tuple[str, ...]:
    """The bones of a part, with those between them that constraints scale alone.

    They end where any other one lies between them, at the tail of the last.
    """
    bones, row = pose_bones(owner), [*names[:1]]
    for above, below in pairwise(names):
        over = [bone.name for bone in bones[below].parent_recursive]
        between = over[: over.index(above)][::-1] if above in over else [""]
        if not all(name and bones[name].constraints and is_scaled_alone(bones[name]) for name in between):
            break
        row += [*between, below]
    return tuple(row)


def reasons_by_bone(owner: bpy.types.Object) -> dict[str, str]:
    """The bones that something else poses, each with the reason."""
    movers = movers_of(owner)
    found: dict[str, str] = {}
    for bone in pose_bones(owner):
        try:
            held = constrained_bones(owner, [bone], movers)
        except FabrikError as error:
            found[bone.name] = worded(error.local)
        else:
            found |= {name: worded(error.local) for name, error in held.items()}
    return found


def chain_of(owner: bpy.types.Object, part: Part[str]) -> FabrikChain | None:
    """The chain that stands for a part already: with its bones, or beginning as it does with some of them."""
    for chain in rig_of(owner).chains:
        bones, least = names_if_any(owner, chain), min(SHARED, len(part.bones))
        if bones and bones[0] == part.bones[0] and len(set(bones) & set(part.bones)) >= least:
            return chain
    return None


def mapping_of(owner: bpy.types.Object) -> RecognisedBody[str]:
    """The chains of an armature as parts of a body; what is found in it says what each of them is.

    Where it has none, the mapping that it keeps.

    Raises:
        ChainError: It has neither.
        FabrikError: A chain has no bones.
    """
    chains, kept = list(rig_of(owner).chains), kept_mapping(owner)
    if not chains and kept is not None:
        return kept
    if not chains:
        raise ChainError("there is no chain: set it up first", rig=owner.name)
    found = find_parts(owner)
    of_chain = {chain.name: part for part in found.parts if (chain := chain_of(owner, part)) is not None}
    parts = list[Part[str]]()
    for chain in chains:
        part, bones = of_chain.get(chain.name), tuple(bone.name for bone in resolve_bones(owner, chain))
        roles = dict(zip(part.bones, part.roles, strict=True)) if part is not None else {}
        kind = part.kind if part is not None else RUN
        parts.append(Part(kind, chain.name, bones, tuple(roles.get(bone, "") for bone in bones), chain.at_head))
    return RecognisedBody(found.plan, rig_of(owner).body_bone, tuple(parts))


def keep_mapping(owner: bpy.types.Object, mapping: RecognisedBody[str]) -> None:
    """Let an armature keep which of its bones are which parts, wherever that is asked from now on."""
    rig_of(owner).mapping = mapping_text(mapping)


def kept_mapping(owner: bpy.types.Object) -> RecognisedBody[str] | None:
    """The mapping that an armature keeps; None where it keeps none, or has not these bones any more."""
    text = rig_of(owner).mapping
    if not text:
        return None
    try:
        found = read_mapping(text)
        check_mapping(owner, found)
    except FabrikError:
        return None
    return found


def check_mapping(owner: bpy.types.Object, mapping: RecognisedBody[str]) -> None:
    """Refuse a mapping that is not of an armature.

    Raises:
        ChainError: It has no parts, or the armature has no bone of that name.
        BoneError: A bone does not hang on the one before it.
    """
    bones = pose_bones(owner)
    if not mapping.parts:
        raise ChainError(Message("MAPPING_WITHOUT_PARTS"), rig=owner.name)
    for part in mapping.parts:
        for name in part.bones:
            if name not in bones:
                raise ChainError(
                    Text("there is no bone '{name}' for '{part}'", name=name, part=part.name), rig=owner.name
                )
        body = bones.get(mapping.body)
        if body is not None and part.kind in (ARM, LEG) and body not in bones[part.bones[0]].parent_recursive:
            text = Text("it does not hang on the body '{body}', as '{part}' wants", body=body.name, part=part.name)
            raise BoneError(text, rig=owner.name, bone=part.bones[0])
        for above, below in pairwise(part.bones):
            if bones[below].parent != bones[above]:
                reason = Text("it does not hang on '{above}', as '{part}' wants", above=above, part=part.name)
                raise BoneError(reason, rig=owner.name, bone=below)
    if mapping.body and mapping.body not in bones:
        raise ChainError(Text("there is no bone '{bone}' for the body", bone=mapping.body), rig=owner.name)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a character become chains with goals, limits and pins; nothing moves, what is right is left alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import bpy
from mathutils import Vector

from ...errors import BoneError, ChainError, FabrikError
from ...maths import V3
from ...messages import ROLES
from ...recognise.find import ON_FOUR, girdles_and_sockets, helper_bones
from ...recognise.limbs import Limbs, own_axis
from ...recognise.part import ARM, EAR, FIN, FINGER, HEAD, LEG, RUN, TAIL, WING, Part, RecognisedBody
from ...rig.animation.compat import copy_action, fcurves_of, shares_curves
from ...rig.animation.keys import are_moved
from ...rig.bones import bones_to, pose_bones, resolve_bones
from ...rig.checks import check_rig
from ...rig.control_bones import is_control, new_bones_refusal
from ...rig.figure.groups import ChainSet, body_moves
from ...rig.figure.start_pose import capture_bones
from ...rig.goal_kinds import AIM
from ...rig.goals import frames_of, goal_of, swing_frame_of
from ...rig.schema import FabrikChain, limit_of, rig_of
from ...rig.schema.chain import OFFSET
from ...rig.versions import bring_up_to_date
from ...texts import Text, worded
from ..bends import pole_over
from ..body import set_body
from ..chain_edit import orient
from ..chains import (
    NewGoal,
    add_chain,
    add_part,
    limbs_of,
    make_goals,
    make_swing_bones,
    plan_pole_of,
    plan_target,
    read_defaults,
)
from ..figure_pose import goal_point
from ..keep_pose import keep_at_tips, read_poses, unposed
from ..pins import hold, pinned_by, wanted_of_chains
from ..spaces import space_name, switch_spaces
from ..walk.setup import BODY, add_walker
from .controls import draw_controls, follow_controls
from .parts import between_body_and_parts, chain_of, reasons_by_bone
from .ranges import CLAVICLE, HELD, give_ranges, give_to_free

WITH_TARGETS = (ARM, LEG, WING, FIN, RUN)  # parts that are posed by their ends; the others are dragged
WITH_POLES = (ARM, LEG, WING)
KIND_OF_CONTROLS = {"BONES": "BONE", "EMPTIES": "EMPTY"}
BODY_STIFFNESS = 1.0  # of the body bone: limbs turn first, which are 1 / (1 - 0.97) = 33 times as ready to
TRUNK_SPINE = 0.001  # the same of the trunk, 32 times
GIRDLE_STIFFNESS = 0.773  # of clavicles, 4 times
ARM_REACH = 0.9  # share of an arm's, or a front leg's, reach from which on clavicle, trunk and hips help
STRAIGHT_ELBOW = 0.05  # share of an arm's length by which its elbow stands off where its pole counts in full
Answers = Mapping[str, tuple[str, str]]  # for each part by its name the first and the last bone


@dataclass(frozen=True, slots=True)
class SetupOptions:
    """What is to be made: what the options of Set Up Character say under these names.

    Goals are made as `BONES` or as `EMPTIES`, or not at all, where `controls` are `NONE`.
    """

    use_poles: bool = True
    use_limits: bool = True
    use_pins: bool = True
    controls: str = "BONES"
    use_fingers: bool = False
    use_tail: bool = True
    use_walker: bool = False
    use_defaults: bool = False
    use_switches: bool = True
    use_motion: bool = True


@dataclass(slots=True)
class SetupReport:
    """What `set_up` did.

    Attributes:
        made: Names of the chains that were made.
        kept: Names of those that stood for a part already.
        mended: What was missing of these, and was made.
        limited: Names of the bones that were given a limit.
        body: Name of the bone that was made the body bone, or "".
        switched: Which switches of a generated rig were set, as sentences.
        notes: What to look out for, as sentences.
    """

    made: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    limited: list[str] = field(default_factory=list)
    body: str = ""
    switched: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def chosen_parts(owner: bpy.types.Object, found: RecognisedBody[str], answers: Answers) -> list[Part[str]]:
    """The parts to set up: those that are sure, and those of the answers, with their first and last bone.

    Raises:
        ChainError: There is no such bone.
        BoneError: The last bone of one does not hang on its first.
    """
    parts = [part for part in found.parts if part.is_applied and part.name not in answers]
    asked = {part.name: part for part in found.parts}
    for name, (first, last) in answers.items():
        bones = _between(owner, first, last)
        part = asked.get(name)
        if part is None or part.bones != bones:
            twin = next((one for one in found.parts if one.name.partition(".")[0] == name.partition(".")[0]), None)
            kind = part.kind if part is not None else twin.kind if twin is not None else RUN  # of Arm.R that of Arm.L
            holds_head = part is not None and part.holds_head and part.bones[-1] == last
            part = Part(kind, name, bones, ("",) * len(bones), holds_head)
        parts.append(replace(part, confidence=1.0))
    return parts


def with_all_between(owner: bpy.types.Object, part: Part[str]) -> Part[str]:
    """A part with all bones between its first and its last one."""
    bones, roles = _between(owner, part.bones[0], part.bones[-1]), dict(zip(part.bones, part.roles, strict=True))
    return replace(part, bones=bones, roles=tuple(roles.get(bone, "") for bone in bones))


def _between(owner: bpy.types.Object, first: str, last: str) -> tuple[str, ...]:
    """The names of the bones from one down to another, both included; refused where that does not hang on it."""
    bones = pose_bones(owner)
    for name in (first, last):
        if name not in bones:
            raise ChainError(Text("there is no bone '{name}'", name=name), rig=owner.name)
    row = [last]
    while row[-1] != first:
        parent = bones[row[-1]].parent
        if parent is None:
            raise BoneError(Text("it does not hang on '{first}'", first=first), rig=owner.name, bone=last)
        row.append(parent.name)
    return tuple(row[::-1])


def wanted_parts(parts: Sequence[Part[str]], options: SetupOptions) -> list[Part[str]]:
    """The parts that are to become chains."""
    left_out = {FINGER} if not options.use_fingers else set()
    left_out |= {TAIL, EAR} if not options.use_tail else set()
    return [part for part in parts if part.kind not in left_out]


def set_up(
    context: bpy.types.Context,
    owner: bpy.types.Object,
    found: RecognisedBody[str],
    parts: Sequence[Part[str]],
    options: SetupOptions,
) -> SetupReport:
    """Make chains of parts, with all that belongs to them; the pose stays as it is.

    Raises:
        FabrikError: The armature can't be posed; nothing was changed.
    """
    return _SetUp(context, owner, found, parts, options).run()


class _SetUp:
    """A set-up that is under way: of what, what is wanted, and what was done."""

    def __init__(
        self,
        context: bpy.types.Context,
        owner: bpy.types.Object,
        found: RecognisedBody[str],
        parts: Sequence[Part[str]],
        options: SetupOptions,
    ) -> None:
        self.context, self.owner, self.found, self.parts = context, owner, found, parts
        self.names = [bone for part in parts for bone in part.bones]
        self.done = SetupReport(notes=[worded(note) for note in found.notes])
        self.options = self._settled(options)

    def run(self) -> SetupReport:
        """Do it (`set_up`)."""
        context, owner, parts, options, done = self.context, self.owner, self.parts, self.options, self.done
        with unposed() as depsgraph:
            check_rig(owner, depsgraph)
        for part in parts:
            bones_to(owner, part.bones[-1], len(part.bones))
        bring_up_to_date(owner)
        if options.use_switches:
            with unposed():
                switched, notes = follow_controls(context, owner, [part.bones for part in parts])
            done.switched += switched
            done.notes += notes
        self.limbs = limbs_of(owner, self.names)
        if options.use_limits:
            limited, notes = give_ranges(owner, self.limbs, parts, self.found.plan)
            done.limited += limited
            done.notes += notes
        with unposed():  # all chains first, so that start poses and goals are decided once for each figure
            chains = self._chains()
            self._choose_body()
            if options.use_motion and done.body:
                self._keep_motion()
            self._stiffen()
            if options.controls != "NONE":
                self._make_goals(chains)
            self._hold(chains)
            self._renew(chains)
            if done.made:
                rig_of(owner).active_index = 0  # arms and legs come first
            made = [rig_of(owner).chains[name] for name in done.made]
            done.notes += keep_at_tips([(owner, chain) for chain in made if chain.target is not None or chain.pin])[1]
        if options.use_walker:
            self._make_walker()
        return done

    def _settled(self, options: SetupOptions) -> SetupOptions:
        """What can be made of what is wanted: linked data get no bones; without motion, or to walk, none is edited."""
        owner, done = self.owner, self.done
        kind = KIND_OF_CONTROLS.get(options.controls)
        if kind == "BONE" and new_bones_refusal(owner):
            options, kind = replace(options, controls="EMPTIES"), "EMPTY"
            done.notes.append(Text("its armature data is linked and can't be given bones, so its targets are empties"))
        edits = options.use_motion and kind == "BONE" and not options.use_walker and are_moved(owner, self.names)
        return replace(options, use_motion=edits)

    def _make_walker(self) -> None:
        """A walker; chains whose targets would stay behind while the body walks on are free."""
        context, owner, done = self.context, self.owner, self.done
        try:
            made, _ = add_walker(context, owner)
        except FabrikError as error:
            done.notes.append(Text("no walker: {reason}", reason=error.local))
            return
        body = pose_bones(owner).get(rig_of(owner).body_bone)
        below: list[bpy.types.PoseBone] = [body, *body.children_recursive] if body is not None else []
        bones = {bone.name for bone in below if not is_control(bone)}
        legs = [leg.name for leg in rig_of(owner).walker.legs]
        others = [rig_of(owner).chains[name] for name in done.made if name not in legs]
        let_go = [chain for chain in others if chain.enabled and "target" not in frames_of(owner, chain, bones)]
        for chain in let_go:
            chain.enabled = False
        if let_go:
            names = ", ".join(chain.name for chain in let_go)
            done.notes.append(
                Text("switched off, since their targets would stay behind while it walks: {names}", names=names)
            )
        done.made += made
        done.notes.append(Text("walker of {count} legs: plan its walk next", count=len(legs)))

    def _chains(self) -> dict[str, Part[str]]:
        """The chains of the parts by their names: those that stand for them already, and new ones."""
        owner, options, done = self.owner, self.options, self.done
        chains: dict[str, Part[str]] = {}
        new: list[Part[str]] = []
        for part in self.parts:
            standing = chain_of(owner, part)
            if standing is None:
                new.append(part)
            else:
                chains[standing.name] = part
                done.kept.append(standing.name)
        for part in sorted(new, key=lambda part: part.kind not in WITH_TARGETS):  # what is posed most comes first
            chain = add_part(owner, part, read_defaults(self.context))
            axis = face_axis(self.limbs, chain.tip_bone) if part.kind == HEAD else None
            if axis is not None:
                chain.kind, chain.aim_axis = AIM.kind, axis
            has_goal = options.controls != "NONE" and part.kind in WITH_TARGETS
            has_goal |= options.use_pins and part.kind == LEG
            chain.enabled = has_goal  # else Solve All would miss its target
            chains[chain.name] = part
            done.made.append(chain.name)
        return chains

    def _choose_body(self) -> None:
        """Make the body bone that was found the armature's, where it has none."""
        owner, found, done = self.owner, self.found, self.done
        if rig_of(owner).body_bone in pose_bones(owner) or not found.body:
            return
        try:
            set_body(owner, found.body)
        except FabrikError as error:
            done.notes.append(Text("no body bone: {reason}", reason=error.local))
            return
        done.body = found.body
        location = pose_bones(owner)[found.body].path_from_id("location")
        if any(curve.data_path == location for curve in fcurves_of(owner)):
            rig_of(owner).body_stays = True  # its keys say where the body is

    def _keep_motion(self) -> None:
        """A chain that is the body bone alone, whose motion a target edits; what no key moves starts as it stands."""
        owner = self.owner
        between = between_body_and_parts(owner, self.done.body, self.parts)
        capture_bones(owner, [pose_bones(owner)[name] for name in between])
        if body_moves(ChainSet(owner, (), self.done.body)):
            chain = add_chain(owner, bones_to(owner, self.done.body, 1), 1, read_defaults(self.context), BODY)
            chain.effector = "HEAD"
            self.done.made.append(chain.name)

    def _stiffen(self) -> None:
        """Let limbs turn first, then clavicles, then the trunk, where the body bone is new; helper bones never bend."""
        owner, limbs, parts, options, done = self.owner, self.limbs, self.parts, self.options, self.done
        rig, bones, names = rig_of(owner), pose_bones(owner), list(limbs.skeleton.names)
        number = {name: i for i, name in enumerate(names)}
        runs = [(part.kind, tuple(number[bone] for bone in part.bones)) for part in parts]
        girdles, sockets = girdles_and_sockets(limbs, runs)
        followers = reasons_by_bone(owner)
        clavicles = [names[bone] for bone in sorted(girdles) if names[bone] not in followers]
        body = rig.body_bone if options.use_defaults else done.body
        if body:
            is_rigid = not followers.keys().isdisjoint(between_body_and_parts(owner, body, parts))
            rig.body_stiffness, rig.spine = BODY_STIFFNESS, 0.0 if is_rigid else TRUNK_SPINE
            for name in clavicles:
                limit_of(bones[name]).of_limb, limit_of(bones[name]).stiffness = True, GIRDLE_STIFFNESS
        if options.use_limits:
            above = {bone for _, run in runs for bone in limbs.skeleton.way_up(run[-1])}
            held = [names[bone] for bone in sorted(sockets | (helper_bones(limbs) - above))]
            if followers:
                held = [bone for part in parts for bone in part.bones if bone in followers]
            done.limited += give_to_free(owner, held, HELD)[0]
            done.limited += give_to_free(owner, clavicles, CLAVICLE)[0] if self.found.plan == "HUMAN" else []

    def _make_goals(self, chains: dict[str, Part[str]]) -> None:
        """Targets and poles where there are none."""
        context, owner, options, done = self.context, self.owner, self.options, self.done
        rig, defaults, chest = rig_of(owner), read_defaults(context), chest_of(owner, chains.values())
        bodies = [one.name for one in rig.chains if one.tip_bone == rig.body_bone and one.name not in chains]
        turned, lost = self._take_deleted([*chains, *bodies])
        asked, bent = self._targets(chains, turned)
        asked += self._poles(bent)
        for body in [rig.chains[name] for name in (*done.made, *turned) if name not in chains]:
            asked.append((body, "target", plan_target(context, resolve_bones(owner, body), defaults, body)))
        carried = [name for name, part in chains.items() if chest and part.kind == ARM]
        for k, (one, role, planned) in enumerate(asked):
            parent = chest if one.name in carried else None
            is_offset = role == "target" and options.use_motion and one.name in done.made
            asked[k] = one, role, replace(planned, parent=parent, swings=role == "pole", is_offset=is_offset)
        offset = [one.name for one, _, planned in asked if planned.is_offset]
        lost += [one.name for one, role, _ in asked if role == "target"]
        mended = [(chain.name, ROLES[role]) for chain, role, _ in asked if chain.name not in done.made]
        done.mended += [Text("{role} of {chain}", role=role, chain=name) for name, role in mended]
        if asked:
            make_goals(context, owner, asked, KIND_OF_CONTROLS[options.controls])
        for name, orientation in turned.items():
            setattr(rig.chains[name], "orientation", orientation)
        for name in lost:
            rig.chains[name].enabled = True
        self._let_edit(offset)
        draw_controls(context, owner, self.limbs, chains, chest)

    def _targets(
        self, chains: dict[str, Part[str]], turned: Collection[str]
    ) -> tuple[list[NewGoal], list[tuple[FabrikChain, Part[str]]]]:
        """Targets for chains that have none, or whose target was deleted; and the chains that are to have poles."""
        context, owner, options, done = self.context, self.owner, self.options, self.done
        asked, bent = list[NewGoal](), list[tuple[FabrikChain, Part[str]]]()
        for name, part in chains.items():
            if part.kind not in WITH_TARGETS:
                continue
            chain = rig_of(owner).chains[name]
            if done.body and name in done.made and _is_helped(part):
                chain.body_helps = ARM_REACH
            bones = resolve_bones(owner, chain)
            if name in turned or (chain.target is None and not chain.pin):
                try:
                    asked.append((chain, "target", plan_target(context, bones, read_defaults(context), chain)))
                except FabrikError as error:
                    done.notes.append(Text("{name} has no target: {reason}", name=name, reason=error.local))
                    continue
            wants_pole = options.use_poles and part.kind in WITH_POLES
            if wants_pole and chain.pole is None and len(bones) > 1 + chain.at_head:
                bent.append((chain, part))
        return asked, bent

    def _take_deleted(self, names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
        """Take goals off chains whose bones were deleted.

        Returns:
            The chains that lost their targets, each with the orientation that it is to have again once it has one; and
            those that live posing switched off since they lost a goal.
        """
        owner, turned, lost = self.owner, dict[str, str](), list[str]()
        bones = "", *pose_bones(owner).keys()
        for name in names:
            chain = rig_of(owner).chains[name]
            own = [role for role in ROLES if getattr(chain, role) == owner]
            deleted = [role for role in own if getattr(chain, f"{role}_bone") not in bones]
            if deleted and chain.status == "REFUSED" and not chain.is_baked:
                lost.append(name)
            for role in deleted:
                setattr(chain, role, None)
                setattr(chain, f"{role}_bone", "")
            if "target" in deleted:
                turned[name], chain.orientation = chain.orientation, "FREE"
        return turned, lost

    def _let_edit(self, names: Sequence[str]) -> None:
        """Let the targets of chains edit their motion, in an action that can be keyed and that no other plays."""
        owner, notes = self.owner, self.done.notes
        for name in names:
            rig_of(owner).chains[name].goal = OFFSET
        data = owner.animation_data
        action = data.action if data is not None and names else None
        if action is None:
            return
        other = shares_curves(owner) if action.is_editable else None
        if not action.is_editable:
            notes.append(Text("its action '{action}' is linked: it has a copy now", action=action.name))
        elif other is not None:
            fields = {"action": action.name, "other": other.name}
            notes.append(Text("its action '{action}' is also played by '{other}': it has a copy now", **fields))
        if other is not None or not action.is_editable:
            copy_action(owner)

    def _renew(self, chains: dict[str, Part[str]]) -> None:
        """Give chains that were there already what they would be given now, or tell that they have something else."""
        context, owner, done = self.context, self.owner, self.done
        kept = {name: rig_of(owner).chains[name] for name in done.kept if chains[name].kind in {ARM, LEG}}
        chest = chest_of(owner, chains.values())
        arms = [chain for name, chain in kept.items() if chains[name].kind == ARM and chest]
        targets = [goal for chain in arms if (goal := goal_of(chain, "target")) is not None]
        apart = [goal for goal in targets if space_name(goal) != chest]
        bent = {} if new_bones_refusal(owner) else {name: goal_of(chain, "pole") for name, chain in kept.items()}
        stiff = [name for name, pole in bent.items() if pole and pole.bone and not swing_frame_of(owner, kept[name])]
        if not self.options.use_defaults:
            if apart or stiff:
                done.notes.append(Text("its goals hang as in earlier versions: New Defaults changes that"))
            return
        for name, chain in kept.items():
            if _is_helped(chains[name]):
                chain.body_helps = ARM_REACH if rig_of(owner).body_bone else 1.0
        held = [name for name, chain in kept.items() if chain.orientation == "KEEP" and chain.target is not None]
        swings = make_swing_bones(context, owner, [kept[name] for name in stiff])
        poles = [(goal_of(rig_of(owner).chains[name], "pole"), (owner, swings[name])) for name in stiff]
        moved = [(goal, (owner, chest)) for goal in apart] + [(goal, to) for goal, to in poles if goal is not None]
        keyed = [goal for goal, _ in moved if goal.channel_curves() or goal.channel_curves(turns=True)]
        if keyed:
            names = ", ".join([worded(goal.name) for goal in keyed])
            done.notes.append(Text("keyed, and left where they hang: {goals}", goals=names))
        try:
            moved = [(goal, to) for goal, to in moved if goal not in keyed]
            done.notes += switch_spaces(context, moved, keyed=False)[1]
            for name in held:
                orient((owner, rig_of(owner).chains[name]), "TARGET")
        except FabrikError as error:
            done.notes.append(Text("not all of it is as new: {reason}", reason=error.local))

    def _poles(self, bent: Sequence[tuple[FabrikChain, Part[str]]]) -> list[NewGoal]:
        """Poles in the planes of the bends of chains, all of which have or will have targets at their tips.

        Those of legs that end with a foot stand over its toes. No arm that is drawn straight is twisted by its pole.
        """
        context, owner, done = self.context, self.owner, self.done
        depsgraph, defaults, found = context.evaluated_depsgraph_get(), read_defaults(context), list[NewGoal]()
        try:
            chains = [chain for chain, _ in bent]
            points = [goal_point(owner, chain, depsgraph) for chain in chains]
            poses = read_poses([(owner, chain) for chain in chains], points, depsgraph)
        except FabrikError as error:
            lost = [one for one in bent if one[0].name == error.chain] or bent
            done.notes += [Text("{name} has no pole: {reason}", name=one.name, reason=error.local) for one, _ in lost]
            others = [one for one in bent if one not in lost]
            return self._poles(others) if others else []
        for (chain, part), pose in zip(bent, poses, strict=True):
            try:
                _, role, planned = plan_pole_of(context, chain, pose, defaults)
                if part.kind == LEG and part.holds_head:
                    toes = _toes(owner.evaluated_get(depsgraph), self.limbs, part.bones[-1])
                    up = owner.matrix_world.to_3x3() @ Vector(self.limbs.axes.up)
                    place, chain.pole_angle, chain.pole_fades = pole_over(pose, chain.name, planned.location, toes, up)
                    planned = planned.moved(place)
                if not (chain.pole_angle or chain.pole_fades):
                    chain.pole_fades = STRAIGHT_ELBOW
                found.append((chain, role, planned))
            except FabrikError as error:
                done.notes.append(Text("{name} has no pole: {reason}", name=chain.name, reason=error.local))
        return found

    def _hold(self, chains: dict[str, Part[str]]) -> None:
        """Rotations of hands and feet, and pins of feet, of chains that were made now."""
        owner, done = self.owner, self.done
        rig, feet = rig_of(owner), []
        for name in done.made:
            chain, part = rig.chains[name], chains.get(name)
            if part is None:  # the body, which its target turns
                orient((owner, chain), "TARGET")
                continue
            try:
                if part.holds_head and part.kind in {ARM, LEG} and chain.target is not None:
                    orient((owner, chain), "TARGET")  # every control turns what it moves
                elif part.holds_head and part.kind == LEG:
                    orient((owner, chain), "KEEP")
            except FabrikError as error:
                done.notes.append(Text("the tip of {name} is free to turn: {reason}", name=name, reason=error.local))
            if part.kind == LEG:
                feet.append(chain)
        if self.options.use_pins and feet:
            self._pin(feet)

    def _pin(self, feet: Sequence[FabrikChain]) -> None:
        """Pin the feet that no other chain pins already."""
        owner, notes = self.owner, self.done.notes
        free = []
        for one in wanted_of_chains(owner, feet):
            taken = pinned_by(owner, one)
            if taken:
                notes.append(Text("{name} is not pinned: '{taken}' pins its foot already", name=one.chain, taken=taken))
            else:
                free.append(one)
        try:
            notes += hold(self.context, owner, free).notes
        except FabrikError as error:
            notes.append(Text("no foot is pinned: {reason}", reason=error.local))


def face_axis(limbs: Limbs, bone: str) -> V3 | None:
    """The axis of a head's bone that points to where the body faces at rest; None where nothing tells that."""
    forward = limbs.axes.forward
    return None if forward is None else own_axis(limbs, list(limbs.skeleton.names).index(bone), forward)


def _is_helped(part: Part[str]) -> bool:
    """Whether the body helps a limb to reach, and stays otherwise: arms, and an animal's front legs."""
    return part.kind == ARM or part.name.startswith(ON_FOUR[0])


def chest_of(owner: bpy.types.Object, parts: Iterable[Part[str]]) -> str:
    """The bone that carries both arms, in whose frame hands stand: so they go along with the body; "" for none."""
    roots = [pose_bones(owner)[part.bones[0]] for part in parts if part.kind == ARM]
    lines = [[bone.name for bone in root.parent_recursive] for root in roots]
    return next((name for name in lines[0] if all(name in line for line in lines[1:])), "") if len(lines) > 1 else ""


def _toes(evaluated: bpy.types.Object, limbs: Limbs, foot: str) -> Vector:
    """Where a foot ends in the world, as it is posed."""
    bone = pose_bones(evaluated)[foot]
    end = Vector(limbs.skeleton.end(list(limbs.skeleton.names).index(foot)))
    return evaluated.matrix_world @ bone.matrix @ bone.bone.matrix_local.inverted() @ end

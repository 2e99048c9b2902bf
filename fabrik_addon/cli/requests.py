# SPDX-License-Identifier: GPL-3.0-or-later
"""Set-ups, walks and bakes of the open file, as arguments or an entry of a job file ask for them; nothing is saved.

They choose armatures, chains and targets of the file by name, and tell and set settings of chains.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import radians
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias, TypeVar

import bpy
from mathutils import Vector

from ..actions.bake import BakeSettings, bake_steps
from ..actions.frames import Steps, frames_between, rate_of, scene_of, span_of, to_the_end
from ..actions.motion.takes import ENDINGS, every_action_steps, files_in, files_steps
from ..actions.motion.transfer import TransferResult, transfer_steps
from ..actions.setup.parts import check_mapping, find_parts, keep_mapping
from ..actions.setup.setup import KIND_OF_CONTROLS, SetupOptions, set_up, wanted_parts
from ..actions.solve import Item
from ..actions.walk.clip import SavedCycle, use_cycle
from ..actions.walk.plan import plan_walk
from ..actions.walk.setup import add_walker
from ..errors import ChainError, InvalidValueError, TargetError, are_finite
from ..gait.gaits import CLIP
from ..motion.transfer import TransferOptions
from ..recognise.part import RecognisedBody
from ..rig.animation.animation import Animated
from ..rig.checks import edit_refusal
from ..rig.dependencies import carriers_of, is_evaluated
from ..rig.goal_kinds import GOAL_KINDS
from ..rig.goals import GoalRef, goal_of
from ..rig.schema import FabrikChain, name_all, rig_of
from ..rig.versions import check_not_newer
from ..rig.walk_goals import steps_of
from .files import put_line

T = TypeVar("T")
Report: TypeAlias = dict[str, Any]
Span: TypeAlias = tuple[int, int] | str | None  # of transfer: a range, all actions ("EVERY") or all of the motion
BODY_TOLD = ("plan", "convention", "body", "missing", "held", "notes")
PART_TOLD = ("kind", "name", "bones", "roles", "holds_head", "confidence", "reasons", "is_applied")

EVERY = 1.0  # seconds between two lines of progress
FORMS = ("text", "openjd")  # of progress
CONTROLS = (*KIND_OF_CONTROLS, "NONE")
# A plan or AUTO, what is made, and which bones are which parts, or None to look for them.
Setup: TypeAlias = tuple[str, SetupOptions, RecognisedBody[str] | None]
LEFT_OUT = {"poles": "use_poles", "limits": "use_limits", "pins": "use_pins", "tail": "use_tail"}
Place: TypeAlias = tuple[float, float, float]
Value: TypeAlias = bool | float | str
Settings: TypeAlias = Mapping[str, Mapping[str, Value]]  # by the names of chains, then of settings

OF_GOAL = (
    "kind", "effector", "weight", "pin", "orientation", "orientation_weight", "stretch", "soft", "body_helps",
    "influence", *(name for kind in GOAL_KINDS.values() for name in kind.own),
)  # fmt: skip
BAKED = ("into", "interpolation", "only_keys", "clean_up", "verify")  # of a bake, by the names of `BakeSettings`
OF_BODY = ("body_bone", "body_stays", "body_stiffness", "spine", "balance")


@dataclass(frozen=True, slots=True)
class Request:
    """What of a file is meant, and how it is baked where it is; see `BakeSettings`."""

    armatures: Sequence[str] = ()  # names of armature objects; none for all that have chains
    chains: Sequence[str] = ()  # names of chains; none for all that are enabled
    targets: Mapping[str, Place] = field(default_factory=dict)  # world places for theirs, by the chains' names
    settings: Settings = field(default_factory=dict)  # settings of chains, by the chains' names
    frames: tuple[int, int] | None = None  # first and last frame, or None for the scene's
    step: int = 1  # frames from key to key
    bake: Mapping[str, Any] = field(default_factory=dict)  # settings of `BAKED`; the clean-up in degrees


def loaded(load: Callable[[Path], T], path: Path) -> T:
    """A file by what reads it, whose refusals name the file.

    Raises:
        InvalidValueError: It can't be read, or is none.
    """
    try:
        return load(path)
    except InvalidValueError as error:
        reason = str(error.reason)
        raise InvalidValueError(reason if str(path) in reason else f"'{path}': {reason}") from error


def armatures(names: Sequence[str]) -> list[bpy.types.Object]:
    """The armatures of the scene, or those that are named.

    Raises:
        InvalidValueError: There is no such armature.
    """
    scene = scene_of(bpy.context)
    for name in names:
        found = scene.objects.get(name)
        if found is None or found.type != "ARMATURE":
            raise InvalidValueError(f"the scene has no armature '{name}'")
    owners = [owner for owner in scene.objects if owner.type == "ARMATURE"]
    return [owner for owner in owners if not names or owner.name in names]


def chosen(request: Request, any_will_do: bool = False) -> list[tuple[bpy.types.Object, list[FabrikChain]]]:
    """Armatures with the chains that are chosen.

    Args:
        request: Has the names.
        any_will_do: Whether it is fine that no chain is enabled, of an armature or at all, and that armatures can't be
            changed; else of these only those that are named are taken, and then refused.

    Raises:
        InvalidValueError: There is no such armature or chain, or nothing to work on.
        RigError: An armature's data is of a newer version of the extension.
    """
    owners = [owner for owner in armatures(request.armatures) if len(rig_of(owner).chains)]
    if not owners:
        raise InvalidValueError("no armature of the scene has chains")
    if not (request.armatures or any_will_do):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        owners = [one for one in owners if not edit_refusal(one) and is_evaluated(one, depsgraph)] or owners
    for owner in owners:
        check_not_newer(owner)
        name_all(owner)
    names = request.chains
    found = [
        (owner, [chain for chain in rig_of(owner).chains if (chain.name in names if names else chain.enabled)])
        for owner in owners
    ]
    known = {chain.name for _, chains in found for chain in chains}
    for name in names:
        if name not in known:
            raise InvalidValueError(f"there is no chain '{name}'")
    if not known and not any_will_do:
        is_baked = any(chain.is_baked for owner in owners for chain in rig_of(owner).chains)
        hint = ": they are baked, and their keys play; --chain names one all the same" if is_baked else ""
        raise InvalidValueError(f"no chain is enabled{hint}")
    return [(owner, chains) for owner, chains in found if chains or any_will_do]


def items_of(found: Sequence[tuple[bpy.types.Object, list[FabrikChain]]]) -> list[Item]:
    """The chains of `chosen`, each with its armature."""
    return [(owner, chain) for owner, chains in found for chain in chains]


def put(request: Request, items: Sequence[Item]) -> None:
    """Set chains, then put their targets to places in the world; all are checked before one is set, or one is moved.

    Raises:
        FabrikError: Something can't be set or put anywhere.
    """
    view_layer = bpy.context.view_layer
    assert view_layer is not None
    wanted = [(_settable(name, own, items), own) for name, own in request.settings.items()]
    for chain, own in wanted:
        for key, value in own.items():
            setattr(chain, key, value)
    if wanted:
        view_layer.update()
    goals = {name: _goal(name, items) for name in request.targets}
    keys = {goal.key for goal in goals.values()}
    if len(keys) < len(goals):
        raise InvalidValueError("two of the chains whose targets are to be put somewhere share one")
    for name, goal in goals.items():
        if carriers_of(goal.found, goal.bone) & (keys - {goal.key}):
            raise TargetError("its target hangs on another that is to be put somewhere, too", chain=name)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    locations = {name: goals[name].location_at(Vector(place), depsgraph) for name, place in request.targets.items()}
    for name, location in locations.items():
        goals[name].put(location)
    view_layer.update()


def _only(name: str, items: Sequence[Item], wanted: str) -> Item:
    """The one chain of a name, with its armature."""
    named = [(owner, chain) for owner, chain in items if chain.name == name]
    if len(named) != 1:
        raise InvalidValueError(f"there is {'more than one' if named else 'no'} chain '{name}' {wanted}")
    return named[0]


def _settable(name: str, own: Mapping[str, Value], items: Sequence[Item]) -> FabrikChain:
    """The chain of a name, if none of what is to be set is animated."""
    owner, chain = _only(name, items, "that could be set")
    animated = sorted(Animated(owner).of_chain(chain) & own.keys())
    if animated:
        raise InvalidValueError(f"its '{animated[0]}' is animated, so it can't be set", chain=name)
    return chain


def _goal(name: str, items: Sequence[Item]) -> GoalRef:
    """The target of the chain of a name, if it can be put somewhere."""
    goal = goal_of(_only(name, items, "whose target could be put somewhere")[1], "target")
    reason: object = goal.held_by() if goal is not None else "is not set"
    if goal is not None and not reason and goal.channel_curves():
        reason = "is keyed"
    if reason or goal is None:
        raise TargetError(f"its target {reason}, so it can't be put somewhere", chain=name)
    return goal


def check_step(step: int) -> int:
    """A number of frames from key to key.

    Raises:
        InvalidValueError: There is none.
    """
    if step < 1:
        raise InvalidValueError(f"a step of {step} frames leads nowhere")
    return step


def value_of(name: str, value: object) -> Value:
    """A number, a word, or true or false, as a value that a setting of a chain may have.

    Raises:
        InvalidValueError: There is no such setting, or it can't be that.
    """
    if name not in OF_GOAL:
        raise InvalidValueError(f"'{ascii(name)[1:-1]}' is none of {', '.join(OF_GOAL)}")
    found: Any = FabrikChain.bl_rna.properties[name]
    if found.type == "BOOLEAN":
        if not isinstance(value, bool):
            raise InvalidValueError(f"'{name}' is neither true nor false")
        return value
    if found.type == "ENUM":
        words = [item.identifier for item in found.enum_items]
        if not isinstance(value, str) or value not in words:
            raise InvalidValueError(f"'{name}' is none of {', '.join(words)}")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not are_finite([value]):
        raise InvalidValueError(f"'{name}' is no finite number")
    if not found.hard_min <= value <= found.hard_max:
        raise InvalidValueError(f"'{name}' is not from {found.hard_min:g} to {found.hard_max:g}")
    return float(value)


class Progress:
    """Tells a share of the work now and then; that somebody stopped to listen does not stop the work.

    Args:
        form: "text" for lines such as "progress: 33.3" on standard error; "openjd" for lines that Open Job Description
            reads from standard output; "" for none.
        parts: Number of equal parts that the work has.
    """

    def __init__(self, form: str, parts: int = 1) -> None:
        self.form, self.parts = form, max(parts, 1)
        self.done = 0
        self._told = monotonic()

    def tell(self, share: float) -> None:
        """Tell how much of the part at hand is done, if some time has gone by."""
        now = monotonic()
        if now - self._told >= EVERY:
            self._told = now
            self._say((self.done + share) / self.parts)

    def end_part(self) -> None:
        """A part is done, which is told at once."""
        self.done += 1
        self._say(self.done / self.parts)

    def _say(self, share: float) -> None:
        if self.form == "openjd":
            put_line(sys.stdout, f"openjd_progress: {100.0 * share:.1f}")
        elif self.form:
            put_line(sys.stderr, f"progress: {100.0 * share:.1f}")


def options_of(controls: str = "BONES", without: Sequence[str] = (), fingers: bool = False) -> SetupOptions:
    """What is made, by the words of arguments and of job files: one of `CONTROLS`, some of `LEFT_OUT`."""
    return SetupOptions(controls=controls, use_fingers=fingers, **{LEFT_OUT[name]: False for name in without})


def parts_told(found: RecognisedBody[str]) -> Report:
    """The parts of an armature, sure or not, and what is missing."""
    told: Report = {name: getattr(found, name) for name in BODY_TOLD}
    return {**told, "parts": [{name: getattr(part, name) for name in PART_TOLD} for part in found.parts]}


def set_up_open_file(names: Sequence[str], setup: Setup) -> Report:
    """Set up the armatures that are named, or all; those of which nothing is sure are told.

    Raises:
        InvalidValueError: There is no armature.
        FabrikError: One can't be set up.
    """
    owners = armatures(names)
    if not owners:
        raise InvalidValueError("there is no armature")
    told = [_set_up(owner, *setup) for owner in owners]
    return {"all_reached": all("error" not in one and not one["asked"] for one in told), "armatures": told}


def _set_up(owner: bpy.types.Object, plan: str, options: SetupOptions, mapping: RecognisedBody[str] | None) -> Report:
    if mapping is not None:
        check_mapping(owner, mapping)
    found = mapping or find_parts(owner, plan)
    report = {"name": owner.name, **parts_told(found)}
    report["asked"] = [part.name for part in found.parts if not part.is_applied]
    parts = wanted_parts([part for part in found.parts if part.is_applied], options)
    if not parts:
        return {**report, "error": str(ChainError("nothing of it is sure", rig=owner.name))}
    done = set_up(bpy.context, owner, found, parts, options)
    if mapping is not None:
        keep_mapping(owner, mapping)
    return {**report, "done": asdict(done)}


def walk_open_file(
    names: Sequence[str],
    frames: tuple[int, int] | None,
    *,
    body_bone: str = "",
    gait: str = "",
    cycle: SavedCycle | None = None,
    **clips: str,
) -> Report:
    """Plan the walks of the armatures that are named, or of the only one; they become walkers if they are none yet.

    Args:
        names: Of armature objects.
        frames: First and last frame, or None for the scene's.
        body_bone: Name of the bone that carries all legs; found if it is "".
        gait: Name of the gait; chosen by the number of legs if it is "".
        cycle: How they walk, out of a file.
        clips: By `clip` and `fast_clip` the names of the actions by which they walk, or "".

    Raises:
        InvalidValueError: It is not clear which armature is to walk.
        FabrikError: One can't walk.
    """
    owners = armatures(names)
    if not names:
        walkers = [owner for owner in owners if len(rig_of(owner).walker.legs)]
        owners = walkers or owners
        if len(owners) != 1 and not walkers:
            raise InvalidValueError(f"there are {len(owners)} armatures: name the one that is to walk")
    clips = {name: action for name, action in clips.items() if action}
    gone = next((action for action in clips.values() if action not in bpy.data.actions), "")
    if gone:
        raise InvalidValueError(f"there is no action '{gone}'")
    given: dict[str, Any] = {name: bpy.data.actions[action] for name, action in clips.items()}
    if gait or clips:
        given["gait"] = gait or CLIP
    span = frames or span_of(scene_of(bpy.context), "SCENE", 0, 0)
    told = [_walked(owner, span, body_bone, (cycle, given)) for owner in owners]
    return {"all_reached": not any(one["told"] for one in told), "armatures": told}


def _walked(
    owner: bpy.types.Object, span: tuple[int, int], body_bone: str, way: tuple[SavedCycle | None, dict[str, Any]]
) -> Report:
    walker, (cycle, given) = rig_of(owner).walker, way
    made: list[str] = []
    if not len(walker.legs) or body_bone:
        made, _ = add_walker(bpy.context, owner, body_bone)
    told = use_cycle(owner, cycle, rate_of(scene_of(bpy.context))) if cycle is not None else []
    for name, value in given.items():
        setattr(walker, name, value)
    planned = plan_walk(bpy.context, owner, span)
    return {
        "name": owner.name,
        "made": made,
        "legs": [leg.name for leg in walker.legs],
        "body": rig_of(owner).body_bone,
        "gait": walker.gait,
        "frames": list(span),
        "steps": steps_of(owner),
        "done": planned.done,
        "told": [*told, *planned.warnings],
    }


def bake_open_file(request: Request, progress: Progress) -> Report:
    """Bake chains; the report, by armatures.

    Raises:
        FabrikError: Something can't be baked.
    """
    found = chosen(request)
    items = items_of(found)
    put(request, items)
    frames = frames_between(*(request.frames or span_of(scene_of(bpy.context), "SCENE", 0, 0)), request.step)
    own = {**request.bake, "clean_up": radians(request.bake.get("clean_up", 0.0))}
    settings = BakeSettings(frames, **own)
    result = to_the_end(bake_steps(bpy.context, items, settings), progress.tell)
    told = [{"name": owner.name, "live": rig_of(owner).live, **result.of(owner.name).as_json()} for owner, _ in found]
    return {"all_reached": result.all_reached, "armatures": told}


def transfer_in_open_file(source: str, target: str, frames: Span, options: TransferOptions) -> Report:
    """Bring the motion of one armature, or of files, to another one.

    Args:
        source: Name of the armature object that moves; else a file or a folder of them.
        target: That of the other one.
        frames: First and last frame, None for all in which the source moves, or "EVERY" for all its actions.
        options: How.

    Raises:
        FabrikError: There is no such armature or file, or it can't be done.
    """
    if source not in bpy.data.objects and (Path(source).exists() or Path(source).suffix.lower() in ENDINGS):
        if isinstance(frames, tuple):
            raise InvalidValueError("--frames does not go with files")
        return transfer_from_files(files_in(Path(source)), target, options)
    (owner,), (moves,) = armatures([target]), armatures([source])
    steps: Steps[TransferResult]
    if isinstance(frames, str):
        steps = every_action_steps(bpy.context, moves, owner, options)
    else:
        steps = transfer_steps(bpy.context, moves, owner, frames, options)
    return {"all_reached": True, "source": source, "target": target, **to_the_end(steps)._asdict()}


def transfer_from_files(paths: Sequence[Path], target: str, options: TransferOptions) -> Report:
    """Bring the motions in files to an armature, each as an action of it.

    Raises:
        FabrikError: There is no such armature or file, or it can't be done.
    """
    (owner,) = armatures([target])
    result = to_the_end(files_steps(bpy.context, paths, owner, options))
    return {"all_reached": True, "source": ", ".join(map(str, paths)), "target": target, **result._asdict()}

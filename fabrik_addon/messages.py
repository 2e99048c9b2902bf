# SPDX-License-Identifier: GPL-3.0-or-later
"""What the layers below the actions have to say: a code with fields, and the sentence of each code.

Only what shows a message to the user makes a sentence of it: `str(message)` in English, `translations` in the language
of the interface, which has the German of each sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """What there is to say, without the words.

    Attributes:
        code: Of `TEMPLATES`.
        fields: What comes into the sentence: numbers, names, which are left as they are, and other messages.
    """

    code: str
    fields: Mapping[str, object]

    def __init__(self, code: str, /, **fields: object) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "fields", fields)

    @property
    def template(self) -> str:
        """The sentence in English, with names in braces where the fields come in."""
        return TEMPLATES[self.code]

    def __str__(self) -> str:
        return self.template.format(**self.fields) if self.fields else self.template

    def __hash__(self) -> int:
        return hash(str(self))


def with_place(reason: str | Message, rig: str, chain: str, bone: str) -> str | Message:
    """What is wrong, and where: names of an armature object, a chain and a bone, each of them or ""."""
    places: list[str | Message] = [f"'{rig}'"] if rig else []
    places += [Message("CHAIN", name=chain)] if chain else []
    places += [Message("BONE", name=bone)] if bone else []
    if not places:
        return reason
    return Message(
        "PLACED",
        place=reduce(lambda first, second: Message("LISTED", first=first, second=second), places),
        reason=reason,
    )


TEMPLATES = {
    "PLACED": "{place}: {reason}",
    "LISTED": "{first}, {second}",
    "CHAIN": "chain '{name}'",
    "BONE": "bone '{name}'",
    "BONE_REASON": "bone '{bone}': {reason}",
    "REASONS": "{first}; {second}",
    "ROLE_TARGET": "target",
    "ROLE_POLE": "pole",
    # rig
    "INFLUENCE": "influence",
    "POLE_ANGLE": "pole angle",
    "POLE_FADES": "pole angle fades",
    "WEIGHT": "weight",
    "ORIENTATION_WEIGHT": "orientation weight",
    "STRETCH": "stretch",
    "SOFT": "soft",
    "BODY_HELPS": "body helps from",
    "IDLE": "Off: drag its bones as they are, or press Add Target to pose it by that",
    "IDLE_REACH": "Off: drag its bones as they are, or press Add Target to pose it by its end",
    "IDLE_AIM": "Off: drag its bones as they are, or press Add Target to let it look at that",
    "AIMS": "Aims at its target",
    "NO_SUCH_IK_GOAL": "Blender's IK has no such goal",
    "AIM_NOT_OF_IK": "several bones share its aim, or its axis is none of the bone's: Blender has no constraint for that",
    "AIM_AXIS_NOT_FINITE": "its aim axis is zero, or not a finite number",
    "SETTING_NOT_FINITE": "the {name} is not a finite number",
    "MASS_NOT_FINITE": "its mass is not a finite number",
    "NO_TIP_BONE": "no tip bone is set",
    "BONE_MISSING": "the armature has no bone '{bone}'",
    "TOO_MANY_BONES": "{count} bones are wanted, but it has {parents} parents",
    "ACTION_SHARED": "'{other}' plays the same keys of its chains: make its action single-user first",
    "ROTATION_NOT_FINITE": "a rotation channel is not a finite number",
    "QUATERNION_ZERO": "the rotation quaternion is zero",
    "RIG_NOT_IN_VIEW_LAYER": "it is not in the view layer, or is disabled in the viewport",
    "RIG_MATRIX_NOT_FINITE": "its world matrix has a number that is not finite",
    "RIG_SCALE_ZERO": "its scale is zero along an axis",
    "NO_ARMATURE": "the active object is not an armature",
    "RIG_MISSING_IN_LIBRARY": "it is missing in the file that it is linked from",
    "RIG_LINKED": "it is linked: make a library override to pose it",
    "RIG_SYSTEM_OVERRIDE": "it is a library override that can't be edited: make it editable to pose it",
    "RIG_IN_EDIT_MODE": "it is in edit mode",
    "RIG_IN_REST_POSITION": "the armature is in Rest Position: switch it to Pose Position",
    "BODY_BONE_DRIVEN": "it is the body bone, and its location is driven",
    "AIM_WITHOUT_TARGET": "it aims, and no target is set",
    "NO_TARGET": "no target is set",
    "WALK_NOT_PLANNED": "its walk is not planned yet: key the way of the body, and press Plan Walk",
    "WALK_IS_OFF": "its walk is switched off: switch on Follow Planned Walk, or pin it",
    "ROTATION_DRIVEN": "its rotation is driven, so a pose would be overwritten",
    "CHANNEL_NOT_FINITE": "a location or scale channel is not a finite number",
    "BONE_SCALE_ZERO": "its scale is zero",
    "CONSTRAINT_OVERRIDES_POSE": "its constraint '{name}' would override the pose: mute or remove it",
    "CONSTRAINT_FOLLOWS_BONE": "its constraint '{name}' would override the pose: it follows '{bone}', so pose that",
    "CONSTRAINT_HOLDS_STILL": "its constraint '{name}' lets it follow '{followed}' and not the body that carries it",
    "TARGET_DELETED": "its target '{name}' was deleted",
    "GOAL_HANGS_UNEVENLY": "the {role} hangs on '{bone}', which has no extent, or above which a scale differs between axes",
    "GOAL_LOST_SPACE": "what the {role} hung on is gone, or another armature's ({space}): free its pin, release it, or choose another space",
    "OFFSET_WITHOUT_BONE": "an offset needs a control bone of its own armature as target",
    "OFFSET_CONSTRAINED": "a constraint moves its target, but an offset is told by the target's own channels: mute it, or set the goal to Place",
    "OFFSET_POLE_ELSEWHERE": "an offset needs a pole that swings with the limb: give the pole the space 'The Limb Itself'",
    "GOAL_HANGS_ON_CHAIN": "the {role} moves with the chain's own bone '{bone}'",
    "GOAL_FOLLOWS_FIGURE": "the {role} moves with '{bone}', which is solved with it: hang it there by its parent alone, "
    "or by one Child Of or Copy Transforms",
    "DRIVER_BROKEN": "the driver of {path}, which moves the {role}, can't be evaluated",
    "MOVED_BY_IK": "the IK constraint of '{bone}' moves it: mute or remove that",
    "CONSTRAINT_CHANGES_SCALE": "its constraint '{name}' changes its scale: mute or remove it",
    "GOAL_MISSING_IN_LIBRARY": "the {role} '{name}' is missing in the file that it is linked from",
    "SCRIPTS_NOT_RUN": "{reason}: scripts of this file are not run",
    "DATA_LINKED": "its armature data is linked, so it can't be given bones: use an empty",
    "MODE_REFUSED": "Blender does not let it change to this mode: {mode}",
    "PARENT_WITHOUT_SCALE": "its bone '{parent}' has no scale",
    "PATH_OF_THING": "'{path}' of '{thing}'",
    "BODY_BONE_MISSING": "the armature has no bone '{bone}', which is set as its body bone",
    "PINNED_TWICE": "the chains '{other}' and '{chain}' both pin it: free one of them",
    "DEFORMING_BONES_DO_NOT_FOLLOW": "the bones that deform do not follow it: {reason}",
    "CONSTRAINT_INFLUENCE": "the constraint '{constraint}' of '{holder}' has an influence of {influence:.3g}",
    "PROPERTY_VALUE": "'{name}' of '{bone}' is {value:.3g}",
    "PIN_PLACE_NOT_FINITE": "the place where it is pinned is not a finite number",
    "ROTATION_WITHOUT_TARGET": "its rotation follows a target, and no target is set",
    "PIN_ROTATION_NOT_FINITE": "the rotation that it keeps is zero, or not a finite number",
    "POSE_NOT_FINITE": "it stands nowhere: its numbers are not finite",
    "TARGET_ROTATION_NOT_FINITE": "the rotation of the target '{target}' is not a finite number",
    "RANGE_BEYOND_HALF_TURN": "the part of its range of {axis} beyond 180°",
    "RANGE_WITHOUT_REST_POSE": "a range of {axis} without the rest pose in it",
    "LOCKS_NEED_HINGE": "rotation channels are locked, which only goes with a hinge or no limit",
    "HINGE_TURNS_LOCKED": "its hinge turns a rotation channel that is locked",
    "HINGE_AXIS_LOCKED": "the hinge's axis is not the rotation channel that is left unlocked",
    "NO_IK_LIMITS": "it has no IK locks or limits, and keeps its joint limit",
    "PIN_KEYED": "its pin is keyed: key it, or the next frame change takes it back",
    "IS_NOT_SET": "is not set",
    "IS_LINKED": "is linked",
    "HAS_CONSTRAINTS": "has constraints",
    "IS_DRIVEN": "is driven",
    "HAS_LOCKED_LOCATION": "is locked in its location",
    "HAS_DRIVEN_ROTATION": "has a driven rotation",
    "HAS_LOCKED_ROTATION": "is locked in its rotation",
    "STRETCH_WITH_UNEVEN_SCALE": "it stretches, and a scale on the way differs between axes, so that it has no length of its own",
    "ROOT_PARENT_WITHOUT_SCALE": "the parent of its first bone '{bone}' has no scale",
    "BODY_PARENT_WITHOUT_SCALE": "what the body bone '{bone}' hangs on has no scale",
    "START_LOCATION_NOT_FINITE": "the location from which it starts is not a finite number",
    "NO_CAPTURED_POSE": "no start pose was captured",
    "BONE_NOT_CAPTURED": "the captured start pose has no bone '{bone}': capture it again",
    "LOCATION": "location",
    "SCALE": "scale",
    "STRETCH_CONNECTED": "it is connected and inherits scale, so its chain can't stretch: set Inherit Scale to None or Aligned, or disconnect it",
    "STRETCH_BESIDE": "its location takes it off the line of the bone before, so its chain can't stretch: clear it",
    "STRETCH_LOCATION_NOT_LOCAL": "its location does not turn with its parent, so its chain can't stretch",
    "STRETCHED_TWICE": "two chains that stretch have it",
    "STRETCH_CHANNEL_LOCKED": "its {channel} is locked, so its chain can't stretch",
    "STRETCH_CHANNEL_DRIVEN": "its {channel} is driven, so its chain can't stretch",
    "GOAL_PLACE_NOT_FINITE": "the position of the {role} '{name}' is not a finite number",
    "GOAL_NOT_IN_VIEW_LAYER": "the {role} '{name}' is not in the view layer, or is disabled in the viewport",
    "GOAL_DELETED": "the {role} '{name}' was deleted",
    "BONE_OF_TARGET": "'{bone}' of '{target}'",
    "DEFORMS_BODY": "deforms a body, as '{parent}' does on which it hangs",
    "HAS_NO_BONE": "has no bone '{bone}'",
    "IS_CONNECTED": "is connected to '{parent}'",
    "IS_OF_RIG_IN_REST_POSITION": "is of an armature that is shown in its rest position",
    "GOAL_BONE_MISSING": "the {role} armature '{name}' has no bone '{bone}'",
    "TARGET_BONE_MISSING": "the armature '{target}' has no bone '{bone}'",
    "IS_BONE_OF_CHAIN": "is a bone of the chain '{chain}'",
    "TARGET_BONE_PARENT_WITHOUT_SCALE": "what the bone '{bone}' of '{target}' hangs on has no scale, so it can't be moved",
    "TARGET_WITHOUT_SCALE": "the target '{name}' has no scale, so it can't be moved",
    "GROUND_NOT_FINITE": "the ground '{thing}' has places that are not finite numbers",
    "DATA_NEWER": "its FABRIK data is of version {newest}, and this extension knows them up to {known}: update FABRIK Posing to pose it",
    "IS_NOT_IN_VIEW_LAYER": "is not in this view layer",
    "WAS_DELETED": "was deleted",
    "WALK_WITHOUT_LEG": "the planned walk does not have this leg: plan it anew",
    "WALK_BONE_MISSING": "the armature has no such bone any more",
    "WALK_CHANGED": "the stored walk is another one than was planned: plan it anew",
    # gait
    "BODY_PLACE_NOT_FINITE": "the body is nowhere",
    "NO_SUCH_GAIT": "there is no gait '{gait}'",
    "NO_LEGS": "a walker needs at least one leg",
    "LEG_NAME_TWICE": "two legs have the same name",
    "LEG_NOT_FINITE": "a place or length of the leg is not a number",
    "LEG_WITHOUT_LENGTH": "the leg has no length",
    "LEG_UPSIDE_DOWN": "the leg's first joint is below its foot",
    "LEG_TOO_SHORT": "the leg does not reach its own home",
    "PATH_INCOMPLETE": "the body's path needs a place and a rotation for each frame",
    "NO_FRAME_RATE": "{fps} frames a second are none",
    "TWO_FRAMES": "frames {first} and {second}",
    "PATH_PLACE_NOT_FINITE": "the body is nowhere at frame {frame}",
    "PATH_WITHOUT_ROTATION": "the body has no rotation at frame {frame}",
    "PATH_LEAPS": "the body leaps by {distance:.3g} between {frames}, farther than a leg is long",
    "SETTINGS_INCOMPLETE": "settings are one for the whole path, or one for each of its frames",
    "BODY_TOO_FAST": "the body is too fast for its legs from frame {frame} on, for {seconds:.2f} s",
    "LEG_WITHOUT_GROUND": "leg '{leg}' finds no ground at frame {frame} and hangs",
    "STANCE_NOT_MET": "leg '{leg}' can't stand where it is set to from frame {first} to {last}, and is planned anew",
    "NO_SUCH_SWING": "no such swing or gravity: '{swing_curve}', '{gravity}'",
    "SETTING_OUT_OF_RANGE": "'{name}' is {value}, but must be from {low:g} to {high:g}",
    "NO_CLIP": "its gait is that of a clip, and no clip of it was read",
    "CLIP_STANDS": "it does not walk ahead: its feet do not go back as they stand",
    "CLIP_LEG_STANDS": "leg '{leg}' never lifts",
    "CLIP_LEG_NEVER_STANDS": "leg '{leg}' never stands",
    "CLIPS_OF_ONE_SPEED": "its two clips go at the same speed",
    "CLIP_OF_SEVERAL_CYCLES": "leg '{leg}' stands more than once; it is to be one cycle",
    "WALK_UNREADABLE": "the stored walk can't be read: plan it anew",
    "WALK_OF_OTHER_VERSION": "the stored walk is of version {version}, not {known}: plan it anew",
    # recognise
    "THIGH": "thigh",
    "SHIN": "shin",
    "UPPER_ARM": "upper arm",
    "FOREARM": "forearm",
    "NO_BONE_OF_NAME": "no bone is called {part}",
    "NO_TWIN": "it has no twin on the other side",
    "NO_COMMON_BONE": "both sides hang on no bone in common",
    "BONE_COUNT": "it has {count} bones",
    "NOTHING_BESIDE": "nothing hangs beside it, as a neck does",
    "SMALL": "it is small",
    "ON_GROUND": "it goes down to the ground",
    "BONES_WITHOUT_LENGTH": "its bones have no length",
    "NOT_ABOVE_LEGS": "it is not above the legs",
    "SHARED_BONE": "both sides have a bone in common",
    "NO_LIMB_NAMES": "no names tell that it is a limb",
    "NO_COMMON_BONE_OR_NAMES": "both sides hang on no bone in common, and no names tell what it is",
    "TOO_SHORT_FOR_ARM": "it is too short for an arm",
    "NOT_STRETCHED": "it is no limb that is stretched",
    "MAYBE_EARS": "it may be ears or horns",
    "ONE_OF_MANY": "it is one of many beside each other, as in a face",
    "SIDES_UNEQUAL": "both sides are not equally long",
    "SIDES_NOT_MIRRORED": "both sides are not mirrored",
    "NOT_ON_GROUND": "it does not go down to the ground",
    "SHORT_BESIDE_LEGS": "it is short beside the legs",
    "HALVES_DIFFER": "upper and lower half differ in length",
    "NAMES_OUT_OF_ORDER": "its names are in another order than its bones",
    "FINGERS_BESIDE_HAND": "fingers hang beside its hand",
    "BODY_NOT_UPRIGHT": "the body does not stand upright in the scene",
    "OTHER_NAME": "'{name}' is no such name",
    "LEFT_TAKEN": "nothing tells where the body faces: its left was taken to be at +X, as Blender has it",
    "NO_SUCH_BONES": "no bones stand and hang as it does",
    "ABOVE_ARMS": "it hangs above arms, as hair or ears do",
    "MAPPING": "it",
    "PART_NAME_TWICE": "two of its parts have one name",
    "NAME_OF": "the name of {where}",
    "BONES_OF": "the bones of {where}",
    "ROLES_OF": "the roles of {where}",
    "FILE_UNREADABLE": "'{path}' can't be read: {error}",
    "MAPPING_TOO_LONG": "it is no mapping: {count} characters are more than {largest}",
    "MAPPING_OF_OTHER_VERSION": "it is no mapping of version {version}",
    "NO_SUCH_PLAN": "'plan' is none of {names}",
    "KIND_OF": "the kind of {where}",
    "END_OF": "the end of {where}",
    "NO_SUCH_KIND": "the kind of {where} is none of {names}",
    "NO_SUCH_END": "the end of {where} is neither HEAD nor TAIL",
    "PART_INCOMPLETE": "{where} has no name, no bones, a bone twice, or not as many roles as bones",
    "OTHER_FIELDS": "{where} has not just the fields {names}",
    "NO_TEXT": "{where} is no text of up to {longest} characters",
    "NO_LIST": "{where} is no list of up to {most}",
    "FILE_MISSING": "'{path}' can't be read: there is no such file",
    "MAPPING_WITHOUT_PARTS": "the mapping has no parts",
    "MAPPING_UNREADABLE": "it is no mapping: {name}: {error}",
    "PART": "part {number}",
    "NO_CHEST": "it hangs on no chest that was found",
    "NOT_AHEAD": "it does not point up or ahead",
    "NOT_ON_HIPS": "it does not hang on the hips",
    "NOT_BACK": "it does not point back",
    "NO_LEGS_FOUND": "no legs are found",
    "TWIN_ON_ONE_SIDE": "it has a twin on one side",
    "FACING_UNKNOWN": "nothing tells where the body faces",
    "SIDES_CONTRADICT": "its names tell the side {named}, it stands on the side {placed}",
    "NAMES_OF_BOTH_SIDES": "its names tell both sides",
    "SIDE_UNKNOWN": "it has neither a twin nor names that tell its side",
    # rig
    "IK_LIMIT_X": "IK limit of X",
    "IK_LIMIT_Y": "IK limit of Y",
    "IK_LIMIT_Z": "IK limit of Z",
    "LIMIT_OFF_AXIS": "a limit about an axis that is none of the bone's",
    "LIMIT_TYPE": "a limit of the type {type}",
    "ROTATION_OF_LOCKS": "the rotation that locked channels add",
    "LIMIT_OF_LOCKS": "locks that leave more than one rotation channel free",
    "CONE_WITHOUT_REST": "the cone about {axis} does not hold the rest direction",
    "LEAST_CONE_ANGLE": "the least angle of its cone",
    # rig
    "CONE_ABOUT_X": "cone about X",
    "CONE_ABOUT_Z": "cone about Z",
    # rig
    "SETTING_HAS_NO_NUMBER": "the {name} has a number that is not finite",
    "RANGE_ENDS_BEFORE_START": "the {name}'s least angle is above its greatest",
    "TWIST": "twist",
    # kernel
    "ROTATION": "rotation",
    "VECTOR": "vector",
    "HINGE": "hinge",
    "CONE": "cone",
    "LOCKED_JOINT": "locked joint",
    "PLANAR_LIMIT": "planar limit",
    "UNIVERSAL_JOINT": "universal joint",
    "QUATERNION_LOCK": "quaternion lock",
    "AXIS_LOCK": "axis lock",
    "VALUE_IS_NO_NUMBER": "the {name} has a value that is no number",
    "COUNT_OF_NUMBERS": "the {name} has {given} numbers, and needs {count}",
    "AXIS_ZERO": "the {name}'s axis is zero",
    "ROTATION_ZERO": "the {name}'s rotation is zero",
    "CONE_ANGLE_BELOW_ZERO": "the cone has an angle below zero",
    "LEAST_ANGLE_WITHOUT_CIRCLE": "the cone has a least angle, which only goes with a circle",
    "PLANAR_AXIS_ALONG_BONE": "the planar limit's axis lies along the bone, so that it turns to no side",
    "UNIVERSAL_AXES_ALIKE": "the two axes of the universal joint are one",
    "QUATERNION_LOCK_LEAVES_NOTHING": "the quaternion's numbers that are locked leave nothing to turn",
    "AXIS_LOCK_LEAVES_NOTHING": "the locked number of the axis is not between zero and one",
}
ROLES = {"target": Message("ROLE_TARGET"), "pole": Message("ROLE_POLE")}  # the two things that a chain follows

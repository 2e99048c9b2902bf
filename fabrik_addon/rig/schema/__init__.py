# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored in the file, in a table for each thing that has something: armature, chain, bone, walker, scene.

Storage is flat on `Object` (and, for joint limits, on `PoseBone`), and `Object.fabrik` is a Python view of it. A
property group behind a pointer would read the same, but from Blender 5.0 on an edit of such a group on a library
override is lost on reload where the library file never wrote the group; top-level properties and collections are kept.
"""

from __future__ import annotations

from typing import Any

import bpy

from .chain import FabrikBoneName, FabrikCapturedRotation, FabrikChain, owner_of, unique_name
from .fields import Changes, Items, View, announce
from .limit import BONE_SETTINGS, LIMIT_SETTINGS, LimitView, carrier_of_limb, girdle_of, limit_of
from .rig import (
    ControlView,
    FabrikCapturedBone,
    FabrikGround,
    FabrikLayer,
    FabrikLayerChannels,
    RigRecord,
    RigView,
    SceneView,
    is_scene_live,
    name_all,
    note_names,
    rig_of,
)
from .walker import GAIT_LABELS, PREFIX, FabrikWalkLeg, WalkerView, walker_of

GROUPS = (
    FabrikBoneName,
    FabrikCapturedRotation,
    FabrikChain,
    FabrikCapturedBone,
    FabrikGround,
    FabrikLayer,
    FabrikLayerChannels,
    FabrikWalkLeg,
)
VIEWS: tuple[tuple[type[View[Any]], type], ...] = (
    (RigView, bpy.types.Object),
    (WalkerView, bpy.types.Object),
    (RigRecord, bpy.types.Object),
    (LimitView, bpy.types.PoseBone),
    (ControlView, bpy.types.PoseBone),
    (SceneView, bpy.types.Scene),
)
SHORT = ((bpy.types.Object, rig_of), (bpy.types.PoseBone, limit_of))  # what has a view as its `fabrik`

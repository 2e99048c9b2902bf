# SPDX-License-Identifier: GPL-3.0-or-later
"""What scripts take from Blender by its type: armatures, and what the extension registers; and Blender kept quiet.

Blender's types know nothing of the extension, and nothing of it is imported here by its own name: it runs as a package
of the repository in which it is installed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import bpy

if TYPE_CHECKING:
    from fabrik_addon.overlay.settings import FabrikOverlay
    from fabrik_addon.rig.schema import LimitView, RigView


class Group(Protocol):
    """Operators under one name."""

    def __getattr__(self, name: str) -> Callable[..., set[str]]: ...


class Operators(Protocol):
    """`bpy.ops`, with groups that its types do not know."""

    def __getattr__(self, name: str) -> Group: ...


OPS: Operators = bpy.ops


def rig_of(owner: bpy.types.Object) -> RigView:
    """What the extension stores on an armature object: its chains, its body and its walker."""
    view: RigView = getattr(owner, "fabrik")
    return view


def limit_of(bone: bpy.types.PoseBone) -> LimitView:
    """What the extension stores on a pose bone: its limit and its mass."""
    view: LimitView = getattr(bone, "fabrik")
    return view


def overlay_of(scene: bpy.types.Scene) -> FabrikOverlay:
    """What the overlay shows in a scene."""
    settings: FabrikOverlay = getattr(scene, "fabrik_overlay")
    return settings


def armature_of(owner: bpy.types.Object) -> bpy.types.Armature:
    """The data of an armature object."""
    data = owner.data
    assert isinstance(data, bpy.types.Armature)
    return data


def select_bones(owner: bpy.types.Object, *names: str) -> None:
    """Select just these bones of an armature in Pose mode, the first one active."""
    assert owner.pose is not None
    for bone in owner.pose.bones:
        setattr(bone if hasattr(bone, "select") else bone.bone, "select", bone.name in names)
    armature_of(owner).bones.active = armature_of(owner).bones[names[0]]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep away what Blender and its importers print, graphics warnings included; shown where something fails."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            yield
        except BaseException:
            sys.stdout.flush()
            log.seek(0)
            os.write(kept[1], log.read().encode())
            raise
        finally:
            sys.stdout.flush()
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)

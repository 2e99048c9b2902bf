# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes that are made once in a process and read from a file from then on, which takes a fraction of the time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import bpy

P = ParamSpec("P")
T = TypeVar("T")
USER = os.environ.get("BLENDER_USER_RESOURCES") or tempfile.mkdtemp(prefix="fabrik-tests-")
FOLDER = Path(USER, f"scenes of {os.getpid()}")  # those that a test starts have the same folder of the user
_made: dict[object, tuple[Path, Any]] = {}


def empty_file() -> None:
    """Begin a file with an empty scene, as Blender's own."""
    path = FOLDER / "empty.blend"
    if path not in _made:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        _save(path)
        _made[path] = (path, None)
    _read(path)


def stored(make: Callable[P, T]) -> Callable[P, T]:
    """A maker of a scene, which is read from a file where it is made in an empty scene, and made where it is not.

    What it returns are objects, looked up by their names, and what no test changes, in tuples or by themselves.
    """

    @wraps(make)
    def made(*arguments: P.args, **options: P.kwargs) -> T:
        if bpy.data.objects or bpy.data.actions:
            return make(*arguments, **options)
        key = (make.__module__, make.__name__, repr(arguments), repr(options), _settings())
        if key not in _made:
            found = _without_objects(make(*arguments, **options))  # which may store a part of it
            path = FOLDER / f"{len(_made)}.blend"
            _save(path)
            _made[key] = (path, found)
        path, found = _made[key]
        _read(path)
        result: T = _with_objects(found)
        return result

    return made


class _Named:
    """Stands for an object."""

    def __init__(self, name: str) -> None:
        self.name = name


def _without_objects(found: Any) -> Any:
    if type(found) is tuple:
        return tuple(map(_without_objects, found))
    return _Named(found.name) if isinstance(found, bpy.types.Object) else found


def _with_objects(found: Any) -> Any:
    if type(found) is tuple:
        return tuple(map(_with_objects, found))
    return bpy.data.objects[found.name] if isinstance(found, _Named) else found


def _settings() -> tuple[object, ...]:
    """What of an empty scene a test may have set before something is made in it."""
    scene: Any = bpy.context.scene
    render, auto = scene.render, scene.tool_settings.use_keyframe_insert_auto
    frames = (scene.frame_current, scene.frame_start, scene.frame_end, render.fps, render.fps_base)
    return (*frames, auto, scene.unit_settings.scale_length, scene.fabrik_live)


def _save(path: Path) -> None:
    FOLDER.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)


def _read(path: Path) -> None:
    """As what Blender starts with, so that the file that is open has no path."""
    bpy.ops.wm.read_homefile(filepath=str(path))

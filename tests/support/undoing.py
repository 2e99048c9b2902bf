# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an operator is undone, and done again, in one step."""

from __future__ import annotations

from collections.abc import Callable

import bpy

from support.scenes import press


def assert_one_step(told: Callable[[], object], name: str, **options: object) -> None:
    """What is told changes by an operator, is as before after one undo, and as after it when that is redone.

    Undo makes all data anew, so they are to be looked up by their names each time.
    """
    bpy.ops.ed.undo_push(message="before")
    before = told()
    assert press(name, "EXEC_DEFAULT", True, **options) == {"FINISHED"}
    after = told()
    assert after != before
    bpy.ops.ed.undo()
    assert told() == before
    bpy.ops.ed.redo()
    assert told() == after

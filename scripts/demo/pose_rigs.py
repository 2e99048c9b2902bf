# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's Python for `demo.py`: limbs, bodies, walks, characters, poses by hand, with their pictures."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import addon_session
from blender import quiet
from environment import say


def main(out: Path) -> int:
    """Pose everything; returns 1 where something is not as it is to be."""
    out.mkdir(parents=True, exist_ok=True)
    with quiet():
        addon_session.enable()
    # What follows imports the extension, which is enabled by now.
    from bodies import pose_bodies, pose_by_hand  # noqa: PLC0415
    from clips import clean_feet, edit_motion, transfer_hands, transfer_to_stairs, transfer_walk  # noqa: PLC0415
    from limbs import pose_characters, pose_limbs  # noqa: PLC0415
    from walks import lead_by_hand, walk_rigs  # noqa: PLC0415

    started = time.perf_counter()
    failed = pose_limbs(out) + pose_bodies(out) + walk_rigs(out) + lead_by_hand(out) + pose_characters(out)
    failed += pose_by_hand(out) + edit_motion(out) + clean_feet(out) + transfer_walk(out)
    failed += transfer_to_stairs(out) + transfer_hands(out)
    say(f"{time.perf_counter() - started:.0f} s")
    print(f"\nfiles in {out}")
    return min(failed, 1)


if __name__ == "__main__":
    addon_session.leave(main(Path(sys.argv[1])))

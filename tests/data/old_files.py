# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rigs are in which of the files that `make_old_files.py` makes."""

from __future__ import annotations

from collections.abc import Callable

from old_bodies import add_asked, add_baked_body, add_bodies
from old_rigs import (
    add_baked,
    add_channels,
    add_character,
    add_goals,
    add_limits,
    add_live,
    add_override,
    add_settings,
    add_starts,
    add_statuses,
    set_scene,
)
from old_walkers import add_baked_walks, add_walkers

CHAINS = (set_scene, add_starts, add_goals, add_settings, add_channels, add_statuses)
BODIES = (add_bodies, add_asked, add_baked_body)
WALKERS = (add_walkers, add_baked_walks)
MAPPED = "bodies"  # the file in which the rig is whose mapping is kept
FILES: dict[str, tuple[Callable[[], None], ...]] = {
    "limits": (add_limits,),
    "chains": CHAINS,
    "live": (add_live,),
    "baked": (add_baked,),
    "bodies": BODIES,
    "walkers": WALKERS,
    "library": (add_character,),
    "override": (add_override,),
    "blender-5.0": (add_limits, *CHAINS, add_baked, *BODIES, *WALKERS),
}

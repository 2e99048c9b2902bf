# SPDX-License-Identifier: GPL-3.0-or-later
"""Icons for what is told of a chain (`session.telling`)."""

from __future__ import annotations

from typing import Any

Icon = Any  # the stubs spell out some thousand names, other ones in each version
ICONS: dict[str, Icon] = {
    "NONE": "RADIOBUT_OFF",
    "REACHED": "CHECKMARK",
    "TOO_FAR": "TRACKING_FORWARDS_SINGLE",
    "TOO_NEAR": "TRACKING_BACKWARDS_SINGLE",
    "BLOCKED": "LOCKED",
    "REFUSED": "ERROR",
    "OLD": "FILE_REFRESH",
    "BAKED": "KEYFRAME_HLT",
    "GONE": "LIBRARY_DATA_BROKEN",
}

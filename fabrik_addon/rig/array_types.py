# SPDX-License-Identifier: GPL-3.0-or-later
"""Names for numpy arrays by the type of their elements."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Doubles: TypeAlias = NDArray[np.float64]  # what is computed with
Singles: TypeAlias = NDArray[np.float32]  # what Blender keeps
Ints: TypeAlias = NDArray[np.int32]
Places: TypeAlias = NDArray[np.intp]  # by which others are indexed
Bytes: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]

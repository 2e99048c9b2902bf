# SPDX-License-Identifier: GPL-3.0-or-later
"""Names for numpy arrays by the type of their elements."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Doubles: TypeAlias = NDArray[np.float64]  # for computing
Singles: TypeAlias = NDArray[np.float32]  # as Blender stores numbers
Ints: TypeAlias = NDArray[np.int32]
Places: TypeAlias = NDArray[np.intp]  # indices into other arrays
Bytes: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs pytest inside a Python, with bpy or without, or inside a real Blender.

The process ends without Blender's own clean-up: some 4.x wheels crash or hang in it.
"""

import os
import sys
from pathlib import Path

sys.path[:0] = [path for path in (os.environ.get("FABRIK_TEST_PACKAGES"), str(Path(__file__).parent)) if path]

import pytest

arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
status = pytest.main(["--rootdir", str(Path(__file__).parent.parent), *arguments])
sys.stdout.flush()
sys.stderr.flush()
os._exit(int(status))

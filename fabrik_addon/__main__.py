# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m fabrik_addon ...`: the command line in a Python that has Blender as the module `bpy`."""

import os
import sys

from .cli.commands import run
from .registration import register

register()
code = run(sys.argv[1:])
for stream in (sys.stdout, sys.stderr):
    if stream is not None:  # else it was closed when Python began
        stream.flush()
os._exit(code)  # some wheels of 4.x crash in Blender's own clean-up

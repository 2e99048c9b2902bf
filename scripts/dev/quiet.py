# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps away what Blender prints."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual as HTML, rendered where it is out of date, in an environment that has the Markdown library."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from environment import ROOT, SetupError, ensure, requirements

SOURCES = ROOT / "fabrik_addon" / "manual"
HERE = Path(__file__).parent
BUILT = ROOT / "build" / "manual"
STAMP = "digest.txt"


def ensure_manual() -> Path:
    """The folder with the manual as HTML.

    Raises:
        SetupError: The library can't be installed, or a page is wrong.
    """
    pages, stamp, digest = BUILT / "pages", BUILT / STAMP, _digest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return pages
    stamp.unlink(missing_ok=True)
    python = ensure("manual", ["manual"])
    command = [str(python), "-m", "dev.render_manual", str(pages)]
    done = subprocess.run(command, cwd=ROOT / "scripts", check=False, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"the manual can't be rendered: {done.stderr.strip().splitlines()[-1]}")
    stamp.write_text(digest, encoding="utf-8")
    return pages


def _digest() -> str:
    """Of all that decides how the pages come out."""
    found = hashlib.sha256(repr(requirements("manual")).encode())
    pictures = sorted((ROOT / "scripts" / "pictures").iterdir())
    for file in (HERE / "render_manual.py", HERE / "manual.css", *sorted(SOURCES.glob("*.md")), *pictures):
        found.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()

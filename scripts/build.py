# SPDX-License-Identifier: GPL-3.0-or-later
"""Stage the extension and build dist/fabrik-<version>.zip; prints its path."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGED_FILES = ("blender_manifest.toml", "README.md", "LICENSE")
EPOCH = (1980, 1, 1, 0, 0, 0)  # equal sources give an equal archive


def stage(folder: Path) -> Path:
    """Lay the extension out in `folder`, which is made anew, as Blender wants it: package and manifest side by side."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "fabrik_addon", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in STAGED_FILES:
        shutil.copy2(ROOT / name, folder / name)
    return folder


def build(folder: Path = ROOT / "dist") -> Path:
    """Build the archive into `folder` and return its path."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{manifest['id']}-{manifest['version']}.zip"
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        staged = stage(Path(temporary) / manifest["id"])
        for file in sorted(path for path in staged.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(staged).as_posix(), EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, file.read_bytes())
    return archive


if __name__ == "__main__":
    print(build())

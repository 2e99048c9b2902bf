# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks into compiled kernels: platform, exported symbols, imports. Run where LIEF is installed.

python binaries.py FOLDER     prints what is wrong, a line each; exits with 1 if anything is
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import lief

EXPORTED = {"PyInit_core"}
LINKERS_OWN = {"__dso_handle", "_mh_dylib_header"}  # zig's linker exports these from every library for macOS
NEWEST_GLIBC = (2, 17)
OLDEST_MACOS = {"macos-x64": [10, 15, 0], "macos-arm64": [11, 0, 0]}
MACHINES = {"x64": "X86_64", "arm64": "ARM64"}
SYSTEMS = {  # format, and libraries that may be needed; those of macOS tell their own name among them
    "linux": ("ELF", r"lib[cm]\.so\.6|ld-linux-.*\.so\.\d"),
    "windows": ("PE", r"python3\.dll|kernel32\.dll|ucrtbase\.dll|api-ms-win-crt-.*\.dll"),
    "macos": ("MACHO", r"core\.abi3\.so|/usr/lib/libSystem\.B\.dylib"),
}


def wrong_in(path: Path, tag: str) -> Iterator[str]:
    """What is wrong with a binary for a platform."""
    system, machine = tag.split("-")
    form, libraries = SYSTEMS[system]
    binary = lief.parse(str(path))
    if binary is None or binary.format.name != form:
        yield f"no library of {system}"
        return
    made_for = binary.abstract.header.architecture.name
    if made_for != MACHINES[machine]:
        yield f"made for {made_for}"
    exported = {
        str(one.name).removeprefix("_" * (system == "macos")) for one in binary.exported_functions
    } - LINKERS_OWN
    if exported != EXPORTED:
        yield f"exports {sorted(exported)}"
    needed = [str(getattr(one, "name", one)) for one in binary.libraries]
    yield from (f"needs {name}" for name in needed if not re.fullmatch(libraries, name, re.IGNORECASE))
    if system == "linux":
        versions = [
            str(one.name) for each in binary.symbols_version_requirement for one in each.get_auxiliary_symbols()
        ]
        numbers = {name: tuple(map(int, name.removeprefix("GLIBC_").split(".")[:2])) for name in versions}
        yield from (f"needs {name}" for name, number in numbers.items() if number > NEWEST_GLIBC)
    elif system == "macos":
        loose = [one.symbol.name for one in binary.bindings if one.has_symbol and not one.has_library]
        yield from (f"needs {name} from nowhere" for name in loose if not re.match(r"__?Py", name))
        if list(binary.build_version.minos) != OLDEST_MACOS[tag]:
            yield f"runs from macOS {binary.build_version.minos} on"
        if machine == "arm64" and not binary.has_code_signature:
            yield "is not signed"


def main() -> int:
    found = 0
    for folder in sorted(Path(sys.argv[1]).iterdir()):
        binary = next(path for path in folder.iterdir() if path.suffix in (".so", ".pyd"))
        for text in wrong_in(binary, folder.name):
            print(f"{folder.name}: {text}")
            found = 1
    return found


if __name__ == "__main__":
    sys.exit(main())

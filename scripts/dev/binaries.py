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

EXPORTED = "PyInit_core"
LINKERS_OWN = {"__dso_handle", "_mh_dylib_header"}  # zig's linker exports these from every library for macOS
NEWEST_GLIBC = (2, 17)
MACHINES = {
    "linux-x64": "X86_64",
    "linux-arm64": "AARCH64",
    "windows-x64": "AMD64",
    "windows-arm64": "ARM64",
    "macos-x64": "X86_64",
    "macos-arm64": "ARM64",
}
OLDEST_MACOS = {"macos-x64": [10, 15, 0], "macos-arm64": [11, 0, 0]}
LINUX_LIBRARIES = re.compile(r"lib[cm]\.so\.6|ld-linux-.*\.so\.\d")
WINDOWS_LIBRARIES = re.compile(r"python3\.dll|kernel32\.dll|ucrtbase\.dll|api-ms-win-crt-.*\.dll", re.IGNORECASE)


def wrong_in(path: Path, tag: str) -> Iterator[str]:
    """What is wrong with a binary for a platform."""
    system = tag.split("-", maxsplit=1)[0]
    looks = {"linux": _wrong_in_linux, "windows": _wrong_in_windows, "macos": _wrong_in_macos}
    yield from looks[system](path, tag)


def _machine(found: object, tag: str) -> Iterator[str]:
    if str(found).rsplit(".", maxsplit=1)[-1] != MACHINES[tag]:
        yield f"made for {found}"


def _exports(names: set[str]) -> Iterator[str]:
    if names != {EXPORTED}:
        yield f"exports {sorted(names)}"


def _wrong_in_linux(path: Path, tag: str) -> Iterator[str]:
    binary = lief.ELF.parse(str(path))
    if binary is None:
        yield "no library of Linux"
        return
    yield from _machine(binary.header.machine_type, tag)
    yield from _exports({symbol.name for symbol in binary.exported_symbols})
    yield from (f"needs {name}" for name in binary.libraries if not LINUX_LIBRARIES.fullmatch(str(name)))
    for needed in binary.symbols_version_requirement:
        for version in needed.get_auxiliary_symbols():
            name = str(version.name)
            if tuple(map(int, name.removeprefix("GLIBC_").split(".")[:2])) > NEWEST_GLIBC:
                yield f"needs {name}"


def _wrong_in_windows(path: Path, tag: str) -> Iterator[str]:
    binary = lief.PE.parse(str(path))
    if binary is None:
        yield "no library of Windows"
        return
    yield from _machine(binary.header.machine, tag)
    exports = binary.get_export()
    yield from _exports({entry.name for entry in exports.entries} if exports else set())
    yield from (f"needs {one.name}" for one in binary.imports if not WINDOWS_LIBRARIES.fullmatch(str(one.name)))


def _wrong_in_macos(path: Path, tag: str) -> Iterator[str]:
    fat = lief.MachO.parse(str(path))
    if fat is None or fat.size != 1:
        yield "no library of macOS for one machine"
        return
    binary = fat.at(0)
    yield from _machine(binary.header.cpu_type, tag)
    yield from _exports(set(_exported(binary)) - LINKERS_OWN)
    for library in binary.libraries:
        if library.command.name == "LOAD_DYLIB" and library.name != "/usr/lib/libSystem.B.dylib":
            yield f"needs {library.name}"
    for binding in binary.bindings:
        if binding.has_symbol and not binding.has_library and not re.match(r"__?Py", binding.symbol.name):
            yield f"needs {binding.symbol.name} from nowhere"
    if list(binary.build_version.minos) != OLDEST_MACOS[tag]:
        yield f"runs from macOS {binary.build_version.minos} on"
    if tag == "macos-arm64" and not binary.has_code_signature:
        yield "is not signed"


def _exported(binary: lief.MachO.Binary) -> Iterator[str]:
    tables = [binary.dyld_exports_trie] if binary.has_dyld_exports_trie else []
    tables += [binary.dyld_info] if binary.has_dyld_info else []
    for table in tables:
        yield from (str(entry.symbol.name).removeprefix("_") for entry in table.exports)


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

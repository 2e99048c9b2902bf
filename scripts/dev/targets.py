# SPDX-License-Identifier: GPL-3.0-or-later
"""The platforms that the kernel is compiled for, and how."""

from __future__ import annotations

from dataclasses import dataclass

MODULE = "_fabrik_posing.kernel.core"  # a name that no module in a process has; the last part is that of PyInit_core
SOURCE = "core.py"
OPTIMISED = ["-O3", "-fno-math-errno", "-ffp-contract=off"]  # never -ffast-math: the bits are those of the interpreter
MODULE_FLAGS = ["-shared", "-s", "-w", "-fvisibility=hidden", "-DNDEBUG", "-DCYTHON_COMPRESS_STRINGS=0"]
FLAGS = [*OPTIMISED, *MODULE_FLAGS, "-DPy_LIMITED_API=0x030B0000"]


@dataclass(frozen=True)
class Target:
    """A platform.

    Attributes:
        tag: Its name, which `fabrik_addon/kernel/loading.py` knows it by.
        triple: The compiler's name for it, with the oldest system.
        file: Name of the binary.
        flags: More flags for the compiler.
        machine: For Windows, whose linker wants an import library, the machine by the name that library's maker uses.
        is_shipped: Whether Blender is published for it, and the archive so holds its binary.
    """

    tag: str
    triple: str
    file: str = "core.abi3.so"
    flags: tuple[str, ...] = ()
    machine: str = ""
    is_shipped: bool = True


_LINUX = ("-fPIC", "-lm")
_MACOS = ("-Wl,-undefined,dynamic_lookup",)
TARGETS = {
    target.tag: target
    for target in (
        Target("linux-x64", "x86_64-linux-gnu.2.17", flags=_LINUX),
        Target("windows-x64", "x86_64-windows-gnu", "core.pyd", machine="i386:x86-64"),
        Target("windows-arm64", "aarch64-windows-gnu", "core.pyd", machine="arm64"),
        Target("macos-x64", "x86_64-macos.10.15", flags=_MACOS),
        Target("macos-arm64", "aarch64-macos.11.0", flags=_MACOS),
        Target("linux-arm64", "aarch64-linux-gnu.2.17", flags=_LINUX, is_shipped=False),
    )
}
SHIPPED = [target for target in TARGETS.values() if target.is_shipped]

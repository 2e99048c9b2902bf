# SPDX-License-Identifier: GPL-3.0-or-later
"""FABRIK Posing: poses rigs by inverse kinematics with pole targets and joint limits.

Importing the package needs no Blender, so that the kernel can be used and tested without it; registering does.
"""

__all__ = ("register", "unregister")


def register() -> None:
    """Register everything with Blender."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Take everything away again."""
    from . import registration

    registration.unregister()

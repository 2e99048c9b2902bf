# SPDX-License-Identifier: GPL-3.0-or-later
"""FABRIK Posing: poses rigs by inverse kinematics with pole targets and joint limits."""

from .registration import register, unregister

__all__ = ("register", "unregister")

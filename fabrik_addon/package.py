# SPDX-License-Identifier: GPL-3.0-or-later
"""The name under which Blender loaded this package."""

NAME = __package__ or ""

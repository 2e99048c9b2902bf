# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks, planned: body path, legs, settings and terrain in, steps and body offsets out. Free of Blender."""

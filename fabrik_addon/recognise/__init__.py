# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones are which parts of a body: skeletons as plain data in, parts out. Knows no Blender."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""What parts of a figure are asked to come to. A new kind is a file here and a class of `rig/goal_kinds.py`."""

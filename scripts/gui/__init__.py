# SPDX-License-Identifier: GPL-3.0-or-later
"""What `gui_check.py` is made of: Blender's window, a hand on the mouse, and what is tried."""

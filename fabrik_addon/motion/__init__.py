# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion as plain data: what is found in it, and what is changed of it. No bpy."""

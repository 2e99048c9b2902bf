# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the armature: plain data, its colours, and the one function that draws."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Use cases: what a user asks for, one file each. They know the rig layer and the kernel, and no operator or panel."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are solved together, from the bones of an armature to a solved pose that is written."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels, keys and curves of armatures and of what moves them."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole character made posable: its parts become chains with goals, limits and pins."""

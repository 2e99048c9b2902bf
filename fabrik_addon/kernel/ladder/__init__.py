# SPDX-License-Identifier: GPL-3.0-or-later
"""The rungs by which a figure comes to its goals, from known answers to least squares."""

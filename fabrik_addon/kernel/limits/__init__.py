# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits.

A new type is one file here and one line in `registry.py`, of which properties, panel, copies, overlay and laws hear;
its class is a public name of the kernel besides. The manual's page Adding to it has all that belongs to one.
"""

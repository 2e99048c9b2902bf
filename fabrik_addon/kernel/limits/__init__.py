# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits. A new type is one file here and one class in `rig/limit_types.py`, of which all else hears."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""What parts of a figure are asked to come to. A new kind of goal is one file here."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that is kept and edited: what controls change of it, and contacts of feet."""

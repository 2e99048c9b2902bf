# SPDX-License-Identifier: GPL-3.0-or-later
"""What `benchmark.py` is made of: problems, contenders, and the tables that come of them."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits. A new type is one file here and one line in `registry.py`; panel and tests read the registry."""

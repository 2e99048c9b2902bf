# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts for developers are made of: amalgamating, compiling and checking the kernel, and reports."""

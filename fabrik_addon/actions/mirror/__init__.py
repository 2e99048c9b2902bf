# SPDX-License-Identifier: GPL-3.0-or-later
"""What belongs to one side, given to the other: chains, joint limits and poses."""

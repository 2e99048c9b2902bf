# SPDX-License-Identifier: GPL-3.0-or-later
"""The only layer that touches armature data: properties, reader, writer, rest pose cache, keys, targets."""

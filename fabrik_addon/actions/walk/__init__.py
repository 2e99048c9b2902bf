# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers: their legs found and measured, their walk planned and kept with the armature.

A planned walk is a source of goals: `rig.walk_goals` reads it by frame in place of what chains have as goals, so that
button, live, render and bake show it by the same solve.
"""

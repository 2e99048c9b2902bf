# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of version 0.1.0, whose solver was interpreted Python, as its README had them; by the row's name."""

from __future__ import annotations

ONE_SOLVE = {
    "4 bones at 0.7": 26.8,
    "4 bones at 0.9": 16.8,
    "4 bones at 0.998": 0.858,
    "10 bones at 0.7": 21.9,
    "10 bones at 0.9": 7.94,
    "10 bones at 0.998": 0.28,
    "50 bones at 0.7": 23.9,
    "50 bones at 0.9": 3.51,
    "50 bones at 0.998": 0.0502,
}
LEGS_BESIDE_BLENDER = {"leg with knee": 0.428, "leg with knee and ankle": 0.716}
BATCHES = {
    "4 bones at 0.7": 7.02,
    "4 bones at 0.9": 2.31,
    "4 bones at 0.998": 0.0673,
    "10 bones at 0.7": 3.96,
    "10 bones at 0.9": 0.956,
    "10 bones at 0.998": 0.0242,
    "leg with knee": 0.727,
    "leg with knee and ankle": 3.18,
}
LIVE = {
    "1 x 4": 2.77,
    "1 x 10": 1.9,
    "8 x 4": 3.83,
    "8 x 10": 3.54,
    "64 x 4": 5.59,
    "64 x 10": 6.36,
    "8 x 4, 40000 vertices": 1.73,
}
BAKE = {
    "8 x 4 x 250": 6.9,
    "8 x 10 x 250": 7.84,
    "64 x 4 x 1000": 9.61,
    "8 x 4 x 250, 40000 vertices": 14.9,
    "8 x 4 x 250, hinges and poles": 3.02,
}
# Greatest number of passes, and worst tip error, of free chains: by share of reach and bones.
MOST_PASSES = {
    "0.25-0.9": {2: 1, 4: 13, 10: 7, 50: 7, 100: 7},
    "0.97-0.99": {2: 1, 4: 7, 10: 7, 50: 7, 100: 8},
    "0.998-0.9995": {2: 1, 4: 7, 10: 7, 50: 7, 100: 7},
}
MISSED = {  # of 2,000 targets
    "leg with knee": 0,
    "leg with knee and ankle": 0,
    "three one-sided hinges": 0,
    "spider leg of six joints": 0,
    "six-axis arm": 0,
    "cone arm": 0,
    "tail of 10, 15 degrees": 0,
    "tail of 10, 30 degrees": 0,
    "shoulder, ellipse and twist": 1,
    "finger of four bones": 1,
}
MISSED_OF = 2000
VIOLATION_DEGREES = 6.83e-6
SMOOTHNESS = {
    ("free limb", "pole round the limb"): 3.03,
    ("free limb", "full stretch and back"): 13.7,
    ("free limb", "in towards the root"): 1.95,
    ("free limb", "past the root"): 3.97,
    ("free limb", "across the front"): 0.622,
    ("leg with knee", "pole round the limb"): 3.02,
    ("leg with knee", "full stretch and back"): 7.35,
    ("leg with knee", "in towards the root"): 2.01,
    ("leg with knee", "past the root"): 3.96,
    ("leg with knee", "across the front"): 0.634,
    ("leg with knee and ankle", "pole round the limb"): 3.09,
    ("leg with knee and ankle", "full stretch and back"): 5.43,
    ("leg with knee and ankle", "in towards the root"): 1.35,
    ("leg with knee and ankle", "past the root"): 3.71,
    ("leg with knee and ankle", "across the front"): 0.62,
    ("shoulder, ellipse and twist", "pole round the limb"): 139.0,
    ("shoulder, ellipse and twist", "full stretch and back"): 15.7,
    ("shoulder, ellipse and twist", "in towards the root"): 49.9,
    ("shoulder, ellipse and twist", "past the root"): 148.0,
    ("shoulder, ellipse and twist", "across the front"): 0.61,
}
NEARER = {"spider leg of six joints": 0.0387, "six-axis arm": 0.0111}  # scipy, worst % of length
EQUAL = 1.005  # of a figure that was printed with three digits

# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a joint limit is refused, and what is lost of it for Blender's own IK."""

from __future__ import annotations

TEXTS = {
    "rotation": "Rotation",
    "vector": "Vektor",
    "IK limit of X": "IK-Grenze von X",
    "IK limit of Y": "IK-Grenze von Y",
    "IK limit of Z": "IK-Grenze von Z",
    "cone": "Kegel",
    "the cone has an angle below zero": "der Kegel hat einen Winkel unter null",
    "the cone has a least angle, which only goes with a circle": "der Kegel hat einen kleinsten Winkel, was nur zu einem Kreis passt",
    "cone about X": "Kegel um X",
    "cone about Z": "Kegel um Z",
    "the cone about {axis} does not hold the rest direction": "der Kegel um {axis} enthält die Ruherichtung nicht",
    "hinge": "Drehgelenk",
    "locked joint": "gesperrtes Gelenk",
    "planar limit": "ebene Grenze",
    "the planar limit's axis lies along the bone, so that it turns to no side": "die Achse der ebenen Grenze liegt entlang des Knochens, sodass er sich zu keiner Seite dreht",
    "the {name} has {given} numbers, and needs {count}": "{name}: es sind {given} Zahlen, nötig sind {count}",
    "the {name}'s least angle is above its greatest": "{name}: der kleinste Winkel ist größer als der größte",
    "the {name}'s axis is zero": "{name}: die Achse ist null",
    "the {name}'s rotation is zero": "{name}: die Rotation ist null",
    "the {name} has a value that is no number": "{name}: ein Wert ist keine Zahl",
    "the {name} has a number that is not finite": "{name}: eine Zahl ist nicht endlich",
    "twist": "Verdrehung",
    "a limit of the type {type}": "eine Grenze vom Typ {type}",
    "the least angle of its cone": "den kleinsten Winkel seines Kegels",
    "the rotation that locked channels add": "die Rotation, die gesperrte Kanäle hinzufügen",
    "a limit about an axis that is none of the bone's": "eine Grenze um eine Achse, die keine des Knochens ist",
}

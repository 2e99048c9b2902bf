# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether Blender evaluates an object for a view layer.

`Object.is_evaluated` does not tell: an object that a property points to is in the depsgraph also where it is disabled
or excluded, and keeps the transform it had.
"""

from __future__ import annotations

from collections.abc import Iterator

import bpy


def is_evaluated(found: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """True where the object is in the view layer and neither it nor its collections are disabled or excluded."""
    layer = depsgraph.view_layer
    if layer is None or found.hide_viewport:
        return False
    homes = set(found.users_collection)
    return any(collection in homes for collection in _enabled(layer.layer_collection))


def absence_of(found: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> str:
    """Why a view layer has not an object, as the end of a sentence; "" where it has it. Quick where it has."""
    if view_layer.objects.get(found.name) == found or found.library is not None:
        return ""
    if not found.users_collection:
        return "was deleted"
    return "is not in this view layer"


def _enabled(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.Collection]:
    """The collections of a view layer that are evaluated."""
    collection = layer.collection
    if layer.exclude:  # its children have switches of their own
        pass
    elif collection.hide_viewport:
        return
    else:
        yield collection
    for child in layer.children:
        yield from _enabled(child)

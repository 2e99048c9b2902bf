# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether Blender evaluates an object for a view layer.

`Object.is_evaluated` does not tell: an object that a property points to is in the depsgraph also where it is disabled
or excluded, and keeps the transform it had.
"""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ..messages import Message


def scenes_of(scene: bpy.types.Scene) -> list[bpy.types.Scene]:
    """A scene, and those that are evaluated with it: its background set, and that one's."""
    found = [scene]
    while found[-1].background_set is not None and found[-1].background_set not in found:
        found.append(found[-1].background_set)
    return found


def is_evaluated(found: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """True where the object is in the view layer and neither it nor its collections are disabled or excluded."""
    if found.hide_viewport:
        return False
    homes = set(found.users_collection)
    layers = _layers(depsgraph)
    return any(collection in homes for layer in layers for collection in enabled_collections(layer.layer_collection))


def _layers(depsgraph: bpy.types.Depsgraph) -> Iterator[bpy.types.ViewLayer]:
    """The view layer that is evaluated, and that of each background set: its first one that is rendered."""
    if depsgraph.view_layer is None or depsgraph.scene is None:
        return
    yield depsgraph.view_layer
    if depsgraph.scene.background_set is not None:
        for scene in scenes_of(depsgraph.scene)[1:]:
            yield next((layer for layer in scene.view_layers if layer.use), scene.view_layers[0])


def is_deleted(found: bpy.types.Object) -> bool:
    """Whether an object was deleted, and stays in the file only since something of ours points to it.

    A linked one may never have been put into a scene.
    """
    return not found.users_collection and found.library is None


def absence_of(found: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> Message | None:
    """Why a view layer has not an object, as the end of a sentence; None where it has it. Quick where it has."""
    if view_layer.objects.get(found.name) == found or any(other == found for other in view_layer.objects):
        return None  # the second where a linked object has the same name
    if is_deleted(found):
        return Message("WAS_DELETED")
    return Message("IS_NOT_IN_VIEW_LAYER")


def enabled_collections(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.Collection]:
    """The collections of a view layer that are evaluated."""
    collection = layer.collection
    if layer.exclude:  # its children have switches of their own
        pass
    elif collection.hide_viewport:
        return
    else:
        yield collection
    for child in layer.children:
        yield from enabled_collections(child)

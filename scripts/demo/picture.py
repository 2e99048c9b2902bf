# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of posed armatures, rendered by Workbench without a window; what walkers walk on, and what the spider wears.

Bones, targets and poles are solids; the ground is slabs, and rubble of a fixed seed. Imported once `bpy` is, without
which Blender as a module has no `bmesh`.
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import pi
from pathlib import Path
from random import Random
from typing import Any

import bmesh
import bpy
import numpy as np
from fabrik_addon.maths import V3
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.schema.chain import FabrikChain
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from blender import armature_of, rig_of
from rigs import SPIDER_LEGS

SIZE = (560, 520)
BODY, PIN = (0.6, 0.66, 0.76, 1), (0.1, 0.72, 0.3, 1)
GREY, TARGET, POLE, SKIN = (0.62, 0.63, 0.66, 1), (1.0, 0.42, 0.05, 1), (0.15, 0.45, 1.0, 1), (0.8, 0.82, 0.86, 0.35)
PLATE = (0.86, 0.87, 0.89, 1)  # of the floor in a drawing
SHADOW, FROM_ABOVE = 0.3, "paint.sl"  # of a scene with a floor: strength, and light by which it is not dark
FLOOR_RADIUS = 0.44  # of the greatest extent of what is drawn
THICK = 0.02  # of the floor, as a share of its radius
SHAPE = 0.017  # size of shapes, as a share of the extent
MARGIN = 3.0 * SHAPE  # round the place of one, within which all of it is
AROUND = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
Color = tuple[float, float, float, float]
Pixels = NDArray[np.float32]


@dataclass
class Drawing:
    """What a picture shows, in world space."""

    bones: list[tuple[Vector, Vector, Color]] = field(default_factory=list)  # head, tail and colour of each bone
    # place, colour and name of the shape of each target, pole and pin
    points: list[tuple[Vector, Color, str]] = field(default_factory=list)
    lines: list[tuple[Vector, Vector, Color]] = field(default_factory=list)  # ends and colour of thin lines
    # meshes and their colours, already in world space
    skins: list[tuple[bpy.types.Mesh, Color]] = field(default_factory=list)
    floor: Vector | None = None  # a point of the floor, on which shadows fall; None without one
    floor_radius: float = FLOOR_RADIUS  # of the floor, as a share of the extent
    extent: float = 0.0  # how large the shapes of points and lines are made for; 0: as all that is to be seen is
    pixels: tuple[int, int] = SIZE  # width and height of its picture; of all that stand beside each other the same

    def add_goal(self, end: Vector, place: Vector, shape: str, color: Color = TARGET) -> None:
        """A goal, and a line to it from what is to come to it."""
        self.points.append((place, color, shape))
        self.lines.append((end, place, color))

    def add_bones(self, evaluated: bpy.types.Object, chains: Sequence[FabrikChain]) -> None:
        """The bones of an armature, those of each chain in a colour of its own."""
        colors: dict[str, Color] = {}
        for i, chain in enumerate(chains):
            names = (bone.name for bone in resolve_bones(evaluated, chain))
            colors |= dict.fromkeys(names, chain_color(i, len(chains)))
        for bone in evaluated.pose.bones:
            head, tail = (evaluated.matrix_world @ point for point in (bone.head, bone.tail))
            self.bones.append((head, tail, colors.get(bone.name, GREY)))

    def add_skins(self, color: Color, owner: bpy.types.Object | None = None) -> None:
        """The meshes of an armature, or all of the scene, as Blender evaluates them now."""
        own = {one.name for one in owner.children_recursive} if owner is not None else None
        self.skins += [(mesh, color) for name, mesh in evaluated_meshes() if own is None or name in own]

    def corners(self) -> list[Vector]:
        """All points that must be seen."""
        skin = [vertex.co.copy() for mesh, _ in self.skins for vertex in mesh.vertices]
        shapes = [p + MARGIN * self.extent * Vector(way) for p, _, _ in self.points for way in AROUND]
        return [p for a, b, _ in self.bones for p in (a, b)] + shapes + skin


def chain_color(index: int, count: int) -> Color:
    """Colours that differ as much as they can, away from those of targets and poles."""
    hue = 0.30 + 0.55 * index / (count - 1) if count > 1 else 0.40
    return (*colorsys.hsv_to_rgb(hue, 0.62, 0.82), 1.0)


def draw_rig(owner: bpy.types.Object) -> Drawing:
    """Read an armature with its chains as Blender evaluates them now."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = owner.evaluated_get(depsgraph)
    drawing = Drawing()
    drawing.add_bones(evaluated, list(rig_of(owner).chains))
    for chain in rig_of(owner).chains:
        drawing.points.append((chain.target.matrix_world.translation.copy(), TARGET, "cube"))
        if chain.pole:
            joint = evaluated.matrix_world @ evaluated.pose.bones[chain.tip_bone].head
            drawing.add_goal(joint, chain.pole.matrix_world.translation.copy(), "sphere", POLE)
    drawing.add_skins(SKIN)
    return drawing


def evaluated_meshes() -> list[tuple[str, bpy.types.Mesh]]:
    """Names and copies of all mesh objects of the scene as Blender evaluates them now, in world space."""
    found = []
    for one in bpy.context.evaluated_depsgraph_get().objects:
        if one.type == "MESH":
            mesh = bpy.data.meshes.new_from_object(one)
            mesh.transform(one.matrix_world)
            found.append((one.name, mesh))
    return found


def save(file: Path, drawings: Sequence[Drawing], view: Sequence[float], *, below: bool = False) -> None:
    """Save the open file, and a picture of drawings: rendered from one camera, which sees all of them.

    Args:
        file: Folder and name of both, without their endings.
        drawings: What is seen, beside each other.
        view: Direction from which they are looked at.
        below: Whether they are below each other.
    """
    corners = [point for drawing in drawings for point in drawing.corners()]
    parts = [_render(one, view, corners, file.with_suffix(f".{i}.png")) for i, one in enumerate(drawings)]
    save_rows([[part] for part in parts] if below else [parts], file.with_suffix(".png"))
    save_file(file)


def save_file(file: Path) -> None:
    """Save the open file by its folder and name."""
    bpy.ops.wm.save_as_mainfile(filepath=str(file.with_suffix(".blend")), compress=True)


def save_rows(rows: Sequence[Sequence[Pixels]], path: Path) -> None:
    """Save rendered pictures of one size as one PNG: rows from the top, each from the left."""
    whole = np.concatenate([np.concatenate(row, axis=1) for row in reversed(rows)], axis=0)
    image = bpy.data.images.new("joined", whole.shape[1], whole.shape[0])
    raw: Any = image.pixels
    raw.foreach_set(whole.ravel())
    scene = bpy.data.scenes.new("output")
    setattr(scene.view_settings, "view_transform", "Standard")
    scene.render.dither_intensity = 0.0
    settings = scene.render.image_settings
    settings.file_format, settings.color_mode, settings.compression = "PNG", "RGB", 100
    image.save_render(str(path), scene=scene)
    bpy.data.scenes.remove(scene)
    bpy.data.images.remove(image)


def _render(drawing: Drawing, view: Sequence[float], corners: list[Vector], path: Path) -> Pixels:
    scene = bpy.data.scenes.new("picture")
    size = drawing.extent or max((point - corners[0]).length for point in corners)
    _add_solids(scene, drawing, size)
    _look(scene, Vector(view), corners, drawing.pixels[0] / drawing.pixels[1])
    light(scene, has_floor=drawing.floor is not None)
    pixels = rendered(scene, drawing.pixels, path)
    for found in list(scene.collection.objects):
        bpy.data.objects.remove(found)
    bpy.data.scenes.remove(scene)
    return pixels


def light(scene: bpy.types.Scene, has_floor: bool) -> None:
    """Background, light and shades of a picture; with shadows where there is a floor on which they fall."""
    scene.world = bpy.data.worlds.new("picture")
    scene.world.color = (0.93, 0.94, 0.96)
    setattr(scene.render, "engine", "BLENDER_WORKBENCH")
    setattr(scene.view_settings, "view_transform", "Standard")
    scene.render.dither_intensity = 0.0
    shading = scene.display.shading
    shading.light, shading.color_type, shading.show_cavity = "STUDIO", "OBJECT", True
    shading.show_object_outline, shading.show_shadows = True, has_floor
    if has_floor:
        shading.shadow_intensity = SHADOW
        setattr(shading, "studio_light", FROM_ABOVE)
        scene.display.shadow_focus, scene.display.light_direction = 0.6, (0.3, 0.4, 0.85)
    scene.display.render_aa = "16"


def rendered(scene: bpy.types.Scene, size: tuple[int, int], path: Path) -> Pixels:
    """What a scene's camera sees, as rows of RGBA from below; the file is taken away again."""
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.image_settings.file_format = "PNG"
    kept, scene.render.filepath = scene.render.filepath, str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)
    scene.render.filepath = kept
    image = bpy.data.images.load(str(path))
    pixels = np.empty(size[0] * size[1] * 4, dtype=np.float32)
    raw: Any = image.pixels
    raw.foreach_get(pixels)
    bpy.data.images.remove(image)
    path.unlink()
    return pixels.reshape(size[1], size[0], 4)


def _look(scene: bpy.types.Scene, view: Vector, corners: list[Vector], ratio: float) -> None:
    """Let a scene be seen against `view`, with all corners in the picture; `ratio` is width by height."""
    turn = view.to_track_quat("Z", "Y")
    seen = np.array([turn.conjugated() @ point for point in corners])
    low, high = Vector(seen.min(axis=0)), Vector(seen.max(axis=0))
    middle, extent = (low + high) / 2, high - low
    place = turn @ (middle + Vector((0, 0, 2 * extent.length)))
    scale = 1.08 * max(extent.x, extent.y * ratio) / min(ratio, 1.0)  # of the longer side
    add_camera(scene, place, view, scale, 100 * extent.length)


def add_camera(scene: bpy.types.Scene, place: Vector, view: Vector, scale: float, end: float) -> bpy.types.Object:
    """The camera of a scene: orthographic, at a place, looking against `view` up to a distance."""
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale, data.clip_end = "ORTHO", scale, end
    scene.camera = bpy.data.objects.new("Camera", data)
    scene.camera.matrix_world = Matrix.LocRotScale(place, view.to_track_quat("Z", "Y"), None)
    scene.collection.objects.link(scene.camera)
    return scene.camera


def _add_solids(scene: bpy.types.Scene, drawing: Drawing, size: float) -> None:
    octahedron = mesh_of(
        "bone",
        [(0, 0, 0), (1, 0.15, 0), (0, 0.15, 1), (-1, 0.15, 0), (0, 0.15, -1), (0, 1, 0)],
        [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1), (5, 2, 1), (5, 3, 2), (5, 4, 3), (5, 1, 4)],
    )
    for head, tail, color in drawing.bones:
        length = (tail - head).length
        width = max(min(0.1 * length, 0.02 * size), 0.006 * size if color != GREY else 0.0)
        if length > 0.0:
            matrix = _towards(head, tail) @ Matrix.Diagonal((width, length, width, 1.0))
            add("solid", octahedron, color, matrix, scene)
    shapes = {"cube": cube(), "sphere": sphere(), "frame": frame(), "ring": ring()}
    for place, color, shape in drawing.points:
        add("solid", shapes[shape], color, Matrix.Translation(place) @ Matrix.Scale(SHAPE * size, 4), scene)
    for a, b, color in drawing.lines:
        width = 0.0022 * size
        matrix = _towards(a, b) @ Matrix.Diagonal((width, (b - a).length, width, 1.0))
        add("solid", box(), color, matrix, scene)
    for skin, color in drawing.skins:
        add("solid", skin, color, Matrix(), scene)
    if drawing.floor is not None:
        add(
            "solid",
            disc(),
            PLATE,
            Matrix.Translation(drawing.floor) @ Matrix.Scale(drawing.floor_radius * size, 4),
            scene,
        )


def _towards(head: Vector, tail: Vector) -> Matrix:
    return Matrix.LocRotScale(head, (tail - head).to_track_quat("Y", "Z"), None)


# ---- solids, about 1 large, round the origin


def mesh_of(name: str, points: Sequence[Sequence[float]], faces: Sequence[Sequence[int]]) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(list(points), [], list(faces))
    return mesh


def _shaped(name: str, kind: str, shift: Callable[[Vector], Vector] | None = None, **options: Any) -> bpy.types.Mesh:
    """One of Blender's own shapes, its vertices perhaps shifted."""
    mesh, shape = bpy.data.meshes.new(name), bmesh.new()
    create: Callable[..., object] = getattr(bmesh.ops, f"create_{kind}")
    create(shape, **options)
    for vertex in shape.verts:
        vertex.co = shift(vertex.co) if shift else vertex.co
    shape.to_mesh(mesh)
    return mesh


def cube() -> bpy.types.Mesh:
    return _shaped("cube", "cube", size=2.0)


def sphere() -> bpy.types.Mesh:
    return _shaped("sphere", "uvsphere", u_segments=16, v_segments=8, radius=1.0)


def box() -> bpy.types.Mesh:
    return _shaped("box", "cube", size=2.0, matrix=Matrix.LocRotScale((0, 0.5, 0), None, (1.0, 0.5, 1.0)))


def frame() -> bpy.types.Mesh:
    """The edges of a cube, large enough to be seen round a wrist."""
    parts, half, thin = [], 1.9, 0.2
    for axis in range(3):
        for a in (-half, half):
            for b in (-half, half):
                place, size = Vector((a, a, a)), Vector((thin, thin, thin))
                place[axis], size[axis], place[(axis + 1) % 3] = 0.0, half + thin, b
                parts.append((place, size))
    placed = [Matrix.Translation(place) @ Matrix.Diagonal((*size, 1.0)) for place, size in parts]
    return joined("frame", [(cube(), matrix) for matrix in placed])


def joined(name: str, parts: Sequence[tuple[bpy.types.Mesh, Matrix]]) -> bpy.types.Mesh:
    """One mesh of several, which are used up."""
    whole, shape = bpy.data.meshes.new(name), bmesh.new()
    for mesh, matrix in parts:
        mesh.transform(matrix)
        shape.from_mesh(mesh)
        bpy.data.meshes.remove(mesh)
    shape.to_mesh(whole)
    return whole


def ring() -> bpy.types.Mesh:
    """A ring that lies flat, large enough to be seen round an ankle."""
    mesh, shape = bpy.data.meshes.new("ring"), bmesh.new()
    upright = Matrix.Translation((2.6, 0, 0)) @ Matrix.Rotation(pi / 2.0, 4, "X")
    bmesh.ops.create_circle(shape, segments=12, radius=0.42, matrix=upright)
    bmesh.ops.spin(shape, geom=[*shape.verts, *shape.edges], axis=(0, 0, 1), angle=2.0 * pi, steps=48, use_merge=True)
    shape.to_mesh(mesh)
    return mesh


def disc() -> bpy.types.Mesh:
    """A flat round plate of radius 1 with its top at 0, as thick as makes its shadow lie on it."""
    below = Matrix.Translation((0.0, 0.0, -THICK / 2.0))
    return _shaped("disc", "cone", cap_ends=True, segments=96, radius1=1.0, radius2=1.0, depth=THICK, matrix=below)


def rock(random: Random) -> bpy.types.Mesh:
    """A rock of few faces."""
    return _shaped("rock", "icosphere", lambda point: point * random.uniform(0.8, 1.0), subdivisions=1, radius=1.0)


def stick(length: float, base: float, end: float) -> bpy.types.Mesh:
    """A stick along Y from 0 to its length, with round ends of a radius each."""

    def shift(point: Vector) -> Vector:
        x, z, y = point
        radius, start = (end, length - end) if y > 0.0 else (base, 0.0)
        return Vector((radius * x, start + radius * y, radius * z))

    return _shaped("stick", "uvsphere", shift, u_segments=12, v_segments=12, radius=1.0)


# ---- ground, and what the spider wears

Profile = Sequence[tuple[float, float]]
FLOOR, STAIRS, STONE = (0.77, 0.79, 0.82, 1), (0.8, 0.72, 0.6, 1), (0.56, 0.5, 0.46, 1)
SLAB = 0.25  # of the ground, so that it is a slab
TRIES = 200  # to find a place for a rock
CLOSE = 0.85  # of two rocks' radii: they are no nearer
DARK, LIGHT, EYE = (0.2, 0.15, 0.13, 1), (0.5, 0.33, 0.2, 1), (0.85, 0.25, 0.1, 1)
# By part of a leg: radius where it begins, and where it ends
WIDTHS = {"coxa": (0.06, 0.05), "femur": (0.05, 0.045), "tibia": (0.045, 0.03), "tarsus": (0.03, 0.012)}
TRUNK = (((0.0, -0.12, 0.56), (0.27, 0.36, 0.2)), ((0.0, 0.85, 0.62), (0.34, 0.6, 0.32)))  # place and size of two balls
PAIRS_OF_EYES = ((0.05, -0.44, 0.64, 0.04), (0.13, -0.4, 0.65, 0.03))  # place and radius
Part = tuple[str, bpy.types.Mesh, Matrix]


def make_slab(
    name: str, profile: Profile, sides: tuple[float, float], color: Color, place: Matrix | None = None
) -> bpy.types.Object:
    """Ground of an even width that goes along X, up and down as a profile does; its lower side is level.

    Args:
        name: Of the object.
        profile: X and height, one after the other.
        sides: Least and greatest Y.
        color: Of the object.
        place: Of the object; None for the world's origin.
    """
    low = min(height for _, height in profile) - SLAB
    outline = [*profile, (profile[-1][0], low), (profile[0][0], low)]
    count = len(outline)
    points = [(x, y, z) for y in sides for x, z in outline]
    tops = [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
    faces = [*tops, tuple(reversed(range(count))), tuple(range(count, 2 * count))]
    return add(name, mesh_of(name, points, faces), color, place)


def make_rubble(
    count: int, corners: tuple[tuple[float, float], tuple[float, float]], size: tuple[float, float]
) -> bpy.types.Object:
    """Rocks on the floor, half sunk.

    Args:
        count: How many.
        corners: Least and greatest X and Y.
        size: Least and greatest radius.
    """
    random, taken = Random(11), list[tuple[Vector, float]]()
    for _ in range(TRIES * count):
        place = Vector([random.uniform(*pair) for pair in corners])
        radius = random.uniform(*size)
        if len(taken) < count and all((place - other).length > CLOSE * (radius + more) for other, more in taken):
            taken.append((place, radius))
    parts = []
    for place, radius in taken:
        turn = random.uniform(0.0, 2.0 * pi)
        flat = Matrix.Diagonal((radius, radius * random.uniform(0.6, 1.0), radius * random.uniform(0.35, 0.6), 1.0))
        sunk = Matrix.Translation((place.x, place.y, -0.1 * radius))
        parts.append((rock(random), sunk @ Matrix.Rotation(turn, 4, "Z") @ flat))
    return add("Rubble", joined("Rubble", parts), STONE)


def add(
    name: str, mesh: bpy.types.Mesh, color: Color, place: Matrix | None = None, scene: bpy.types.Scene | None = None
) -> bpy.types.Object:
    """An object of a scene, or of the open file's; without a place at the origin."""
    thing = bpy.data.objects.new(name, mesh)
    thing.matrix_world = place or Matrix()
    setattr(thing, "color", color)
    (scene or bpy.context.scene).collection.objects.link(thing)
    return thing


def dress_spider(owner: bpy.types.Object) -> None:
    """Give the spider a head, an abdomen, eyes and legs."""
    _dress(owner, "Trunk", [("body", sphere(), _ball(*each)) for each in TRUNK], DARK)
    eyes = [((sign * x, y, z), (size, size, size)) for sign in (-1.0, 1.0) for x, y, z, size in PAIRS_OF_EYES]
    _dress(owner, "Eyes", [("body", sphere(), _ball(*each)) for each in eyes], EYE)
    legs = []
    for name in SPIDER_LEGS:
        for part, widths in WIDTHS.items():
            bone = armature_of(owner).bones[f"{part}.{name}"]
            legs.append((bone.name, stick(bone.length, *widths), bone.matrix_local.copy()))
    _dress(owner, "Legs", legs, LIGHT)


def _ball(place: V3, size: V3) -> Matrix:
    """Where a sphere is, and how large along each axis."""
    return Matrix.Translation(place) @ Matrix.Diagonal((*size, 1.0))


def _dress(owner: bpy.types.Object, name: str, parts: list[Part], color: Color) -> None:
    """An object whose parts follow a bone each."""
    counts = [(bone, len(mesh.vertices)) for bone, mesh, _ in parts]
    skin = joined(name, [(mesh, matrix) for _, mesh, matrix in parts])
    thing = add(name, skin, color)
    first = 0
    for bone, count in counts:
        group = thing.vertex_groups.get(bone) or thing.vertex_groups.new(name=bone)
        group.add(range(first, first + count), 1.0, "REPLACE")
        first += count
    skin.shade_smooth()
    thing.parent = owner
    setattr(thing.modifiers.new("Armature", "ARMATURE"), "object", owner)

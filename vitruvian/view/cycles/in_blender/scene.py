"""A folder of frames as a Blender scene: objects, cameras, surroundings; one frame at a time, or all as animation."""

from __future__ import annotations

from typing import Any

import bpy
import look
import numpy as np
from frames import Arrays, Folder
from mathutils import Matrix, Quaternion

Array = np.ndarray
FLOOR = 60.0  # [m] to which a ground or a deck goes on
RIM = 0.25  # [m] of the pool's edge above the water
BALL = 1  # subdivisions of a drop


class Scene:
    """Everything that a folder tells, as objects; `show(k)` puts them where they are at frame k of the folder."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.about = folder, folder.about
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.pool = self.about["pool"]
        self.kinds: dict[tuple[Any, ...], Any] = {}
        self.meshes = [self._mesh(m, told) for m, told in enumerate(self.about["meshes"])]
        self.surfaces = [self._object(told, told["name"]) for told in self.about["surfaces"]]
        self.lines = [self._object(told, told["name"]) for told in self.about["lines"]]
        self.points = [self._object(told, f"{told['name']} drops") for told in self.about["points"]]
        self.cameras = [self._camera(told["name"]) for told in self.about["cameras"]]
        self.scene.camera = self.cameras[0]
        look.sky(self.pool is not None)
        self._keep(look.sun(self.about["sun"], self.pool is not None), "surroundings")
        self._surroundings()
        width, height = self.about["size"]
        self.scene.render.resolution_x, self.scene.render.resolution_y = width, height
        self.scene.render.resolution_percentage = 100
        self.scene.render.fps = max(round(self.about["rate"]), 1)
        self.scene.render.fps_base = self.scene.render.fps / self.about["rate"]

    def show(self, k: int) -> None:
        """Put everything where it is at frame k of the folder."""
        now = self.folder.frame(k)
        for told, thing in zip(self.about["meshes"], self.meshes):
            if told["body"] >= 0:
                thing.matrix_world = _placed(now["poses"][told["body"]])
        for _, thing, vertices, faces, colours in self._shapes(now):
            _fill(thing.data, vertices, faces, colours)
            thing.hide_render = len(faces) == 0
        for told, camera in zip(self.about["cameras"], self.cameras):
            camera.matrix_world = _camera_place(told["places"][k])
        bpy.context.view_layer.update()

    def animate(self, tell: Any = None) -> None:
        """All frames, as key frames: bodies move, surfaces with fixed triangles are shape keys, others take turns."""
        count = len(self.about["frames"])
        self.scene.frame_start, self.scene.frame_end = 1, count
        turns: dict[str, list[Any]] = {}
        for k in range(count):
            now, at = self.folder.frame(k), k + 1
            for told, thing in zip(self.about["meshes"], self.meshes):
                if told["body"] >= 0:
                    _key_place(thing, _placed(now["poses"][told["body"]]), at)
            for told, camera in zip(self.about["cameras"], self.cameras):
                _key_place(camera, _camera_place(told["places"][k]), at)
            for name, thing, vertices, faces, colours in self._shapes(now):
                if name.startswith(("lines", "fixed")):
                    _key_shape(thing, vertices, faces, colours, at)
                else:
                    turns.setdefault(name, []).append(self._turn(thing, vertices, faces, at, count))
            if tell is not None:
                tell(k + 1, count)
        for thing in [*self.surfaces, *self.points]:
            if len(thing.data.polygons) == 0:  # only a pattern for its turns
                bpy.data.objects.remove(thing)
        self.scene.frame_set(1)

    def _shapes(self, now: Arrays) -> Any:
        """Name, object, vertices, triangles and colours (bytes, sRGB, or None) of each thing that changes shape."""
        still = self.folder.still
        for s, (told, thing) in enumerate(zip(self.about["surfaces"], self.surfaces)):
            key = f"surface {s}"
            vertices, faces = np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32)
            if key in now:
                vertices = now.places(key)
                faces = (still if told["fixed"] else now).triangles(f"{key} faces")
                if f"{key} rest" in now:
                    vertices = np.concatenate([vertices, now[f"{key} rest"]])
            colours = now.get(f"{key} colours")
            yield ("fixed " if told["fixed"] else "") + key, thing, vertices, faces, colours
        for k, (told, thing) in enumerate(zip(self.about["lines"], self.lines)):
            key = f"lines {k}"
            if key in now:
                colours = None
                if f"{key} colours" in now:
                    colours = np.repeat(now[f"{key} colours"], told["per_line"], axis=0)
                yield key, thing, now.places(key), still.triangles(f"{key} faces"), colours
        for k, (told, thing) in enumerate(zip(self.about["points"], self.points)):
            yield f"points {k}", thing, *_balls(now[f"points {k}"], told["radius"]), None

    def _mesh(self, m: int, told: dict[str, Any]) -> Any:
        thing = self._object(told, told["name"])
        still = self.folder.still
        _fill(thing.data, still.places(f"mesh {m}"), still.triangles(f"mesh {m} faces"), None)
        return thing

    def _object(self, told: dict[str, Any], name: str) -> Any:
        thing = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        thing.data.materials.append(self._material(told))
        self._keep(thing, told["layer"])
        return thing

    def _material(self, told: dict[str, Any]) -> Any:
        layer, pool = told["layer"], self.pool is not None
        painted = bool(told.get("painted"))
        key = (layer, told["name"] if layer == "water" else "", *told["colour"], told["opacity"], painted)
        if key not in self.kinds:
            if layer == "spray" or (layer == "water" and told["name"].startswith("spray")):
                self.kinds[key] = look.foam_material()
            elif layer == "water":
                self.kinds[key] = look.water_material(pool)
            else:
                self.kinds[key] = look.body_material(layer, told["colour"], told["opacity"], painted)
        return self.kinds[key]

    def _camera(self, name: str) -> Any:
        lens = bpy.data.cameras.new(name)
        lens.sensor_fit, lens.angle = "VERTICAL", self.about["field_of_view"]
        lens.clip_start, lens.clip_end = 0.01, 500.0
        made = bpy.data.objects.new(name, lens)
        self._keep(made, "cameras")
        return made

    def _surroundings(self) -> None:
        """The pool, or the ground."""
        if self.pool is not None:
            (x0, y0), (x1, y1) = self.pool["low"], self.pool["high"]
            top, bottom = self.pool["level"] + RIM, self.pool["level"] - self.pool["depth"]
            low = [(x0, y0, bottom), (x1, y0, bottom), (x1, y1, bottom), (x0, y1, bottom)]
            high = [(x, y, top) for x, y, _ in low]
            tiles = [(0, 1, 2, 3), *[(k, k + 4, (k + 1) % 4 + 4, (k + 1) % 4) for k in range(4)]]
            self._still("pool", low + high, tiles, look.tile_material(self.pool["lane"]))
            far = [(sx * FLOOR + (x0, x1)[sx > 0], sy * FLOOR + (y0, y1)[sy > 0], top) for sx, sy in CORNERS]
            deck = [(k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4) for k in range(4)]
            self._still("deck", high + far, deck, look.plain_material("deck", look.DECK))
        elif self.about["ground"] is not None:
            x, y, _ = self.about["middle"]
            far = [(x + sx * FLOOR, y + sy * FLOOR, self.about["ground"]) for sx, sy in CORNERS]
            self._still("ground", far, [(0, 1, 2, 3)], look.plain_material("ground", look.STUDIO, 0.6))

    def _still(self, name: str, vertices: list[Any], faces: list[Any], made: Any) -> None:
        data = bpy.data.meshes.new(name)
        data.from_pydata(vertices, [], faces)
        data.materials.append(made)
        self._keep(bpy.data.objects.new(name, data), "surroundings")

    def _turn(self, pattern: Any, vertices: Array, faces: Array, at: int, count: int) -> Any:
        """A copy of `pattern` with this shape, seen at frame `at` only."""
        data = bpy.data.meshes.new(f"{pattern.name} {at}")
        data.materials.append(pattern.data.materials[0])
        _fill(data, vertices, faces, None)
        thing = bpy.data.objects.new(data.name, data)
        self._keep(thing, pattern.users_collection[0].name)
        for when, hidden in ((at - 1, True), (at, False), (at + 1, True)):
            if 0 < when <= count or not hidden:
                thing.hide_render = thing.hide_viewport = hidden
                thing.keyframe_insert("hide_render", frame=when)
                thing.keyframe_insert("hide_viewport", frame=when)
        return thing

    def _keep(self, thing: Any, collection: str) -> None:
        found = bpy.data.collections.get(collection)
        if found is None:
            found = bpy.data.collections.new(collection)
            self.scene.collection.children.link(found)
        found.objects.link(thing)


CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def _fill(data: Any, vertices: Array, faces: Array, colours: Array | None) -> None:
    """Give a mesh these triangles; if it has them already, only the places change."""
    n, m = len(vertices), len(faces)
    if len(data.vertices) != n or len(data.polygons) != m or (m and not _same(data, faces)):
        data.clear_geometry()
        data.vertices.add(n)
        data.loops.add(3 * m)
        data.polygons.add(m)
        data.loops.foreach_set("vertex_index", np.ascontiguousarray(faces, np.int32).ravel())
        data.polygons.foreach_set("loop_start", np.arange(0, 3 * m, 3, dtype=np.int32))
        data.polygons.foreach_set("use_smooth", np.ones(m, dtype=bool))
    data.vertices.foreach_set("co", np.ascontiguousarray(vertices, np.float32).ravel())
    if colours is not None and n:
        _paint(data, colours)
    data.update()
    data.validate() if m else None


def _same(data: Any, faces: Array) -> bool:
    had = np.empty(3 * len(faces), np.int32)
    data.loops.foreach_get("vertex_index", had)
    return bool((had == faces.ravel()).all())


def _paint(data: Any, colours: Array) -> None:
    paint = data.attributes.get("paint") or data.attributes.new("paint", "FLOAT_COLOR", "POINT")
    c = colours.astype(np.float32) / 255.0
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    paint.data.foreach_set("color", np.concatenate([linear, np.ones((len(c), 1))], 1).astype(np.float32).ravel())


def _placed(pose: Array) -> Matrix:
    """A pose (x, y, z, qw, qx, qy, qz) as a matrix; far away where it is not finite."""
    if not np.isfinite(pose).all():
        return Matrix.Translation((0.0, 0.0, -1e4))
    return Matrix.Translation(pose[:3].tolist()) @ Quaternion(pose[3:].tolist()).normalized().to_matrix().to_4x4()


def _camera_place(place: list[float]) -> Matrix:
    return Matrix([place[4 * r : 4 * r + 4] for r in range(4)])


def _key_place(thing: Any, place: Matrix, at: int) -> None:
    thing.rotation_mode = "QUATERNION"
    before = thing.rotation_quaternion.copy()
    thing.matrix_world = place
    if at > 1 and thing.rotation_quaternion.dot(before) < 0.0:
        thing.rotation_quaternion.negate()  # the short way round
    thing.keyframe_insert("location", frame=at)
    thing.keyframe_insert("rotation_quaternion", frame=at)


def _key_shape(thing: Any, vertices: Array, faces: Array, colours: Array | None, at: int) -> None:
    """Shape key `at`, on at this frame and off at the next ones; colours are those of the first frame."""
    if thing.data.shape_keys is None:
        _fill(thing.data, vertices, faces, colours)
        thing.shape_key_add(name="rest", from_mix=False)
    key = thing.shape_key_add(name=f"frame {at}", from_mix=False)
    key.data.foreach_set("co", np.ascontiguousarray(vertices, np.float32).ravel())
    for when, value in ((at - 1, 0.0), (at, 1.0), (at + 1, 0.0)):
        key.value = value
        key.keyframe_insert("value", frame=when)


def _balls(centres: Array, radius: float) -> tuple[Array, Array]:
    """Small balls of twenty triangles around each centre [m]."""
    g = (1.0 + 5.0**0.5) / 2.0
    corners = np.array([(0, a, b * g) for a in (-1, 1) for b in (-1, 1)], dtype=np.float32)
    corners = np.concatenate([np.roll(corners, k, axis=1) for k in range(3)])
    corners /= np.linalg.norm(corners[0])
    close = np.linalg.norm(corners[:, None] - corners[None], axis=2) < 1.1
    sides = [
        (a, b, c)
        for a in range(12)
        for b in range(a + 1, 12)
        for c in range(b + 1, 12)
        if close[a, b] and close[b, c] and close[a, c]
    ]
    faces = np.array(sides, dtype=np.int32)
    a, b, c = (corners[faces[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * a).sum(axis=1) < 0.0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    n = len(centres)
    vertices = (centres[:, None] + radius * corners[None]).reshape(-1, 3).astype(np.float32)
    return vertices, (faces[None] + 12 * np.arange(n, dtype=np.int32)[:, None, None]).reshape(-1, 3)

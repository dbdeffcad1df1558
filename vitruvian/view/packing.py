"""Stages, frames and signals as bytes for the player in the browser (`view/player`).

A pack is a row of blocks: their number, their lengths (uint32, little-endian), then the blocks, each padded to 8 bytes.
Places are boxed: six floats, low corner and step, then uint16 numbers u, with place = low + u step (in a box of 2 m,
30 micrometres). Values are uint16 parts of their range, 65535 for none. The first block of a stage is JSON. A frame has
its blocks in the stage's order: poses; vertices, triangles where they change, values of each surface; points, values
and forces (half precision) of each set of lines; places of each cloud.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.view.camera import Bounds, auto_view, grid_spacing
from vitruvian.view.colour import colour_map
from vitruvian.view.creases import siding, split_at_creases
from vitruvian.view.drawing import layer_names
from vitruvian.world import Frame, Lines, Stage, Surface, SurfaceFrame

Array = np.ndarray
STEPS = 65534  # of a boxed place or a value
HALF = 65504.0  # the greatest number of half precision
MOST_ROWS = 4000  # of a signal; longer ones are thinned
WHOLE = "whole"  # the camera that is always there


def pack(blocks: list[bytes]) -> bytes:
    """Blocks one after the other, each padded to 8 bytes."""
    head = np.array([len(blocks), *(len(block) for block in blocks)], "<u4").tobytes()
    parts = [head, bytes(-len(head) % 8)]
    for block in blocks:
        parts += [block, bytes(-len(block) % 8)]
    return b"".join(parts)


Box = tuple[Array, Array]  # low corner and step [m], each (3,) float32


def boxed(places: Array, box: Box | None = None) -> bytes:
    """Places [m], shape (n, 3), as a box (their own, or one that holds them all) and 16-bit numbers."""
    places = np.asarray(places, dtype=np.float64).reshape(-1, 3)
    if not len(places):
        return np.zeros(6, "<f4").tobytes()
    low = places.min(axis=0).astype(np.float32) if box is None else box[0]
    step = (np.maximum(places.max(axis=0) - low, 1e-9) / STEPS).astype(np.float32) if box is None else box[1]
    numbers = np.clip(np.round((places - low) / step), 0, STEPS).astype("<u2")
    return np.concatenate([low, step]).astype("<f4").tobytes() + numbers.tobytes()


def parts_of_range(values: Array, low: float, high: float) -> bytes:
    """Values as 16-bit parts of the range low..high; 65535 where there is none."""
    values = np.asarray(values, dtype=float)
    part = np.clip((values - low) / (high - low), 0.0, 1.0) if high > low else np.full(values.shape, 0.5)
    return np.where(np.isfinite(values), np.round(STEPS * np.nan_to_num(part)), STEPS + 1).astype("<u2").tobytes()


def pack_frame(stage: Stage, frame: Frame, boxes: Mapping[str, Box] | None = None) -> bytes:
    """All that moves at one instant; `boxes` of parts by name, as "surface skin", where they shall not be their own."""
    boxes = boxes or {}
    blocks = [np.asarray(frame.poses, "<f4").tobytes()]
    for surface in stage.surfaces:
        now = frame.surfaces.get(surface.name) or SurfaceFrame(np.zeros((0, 3)))
        blocks.append(boxed(now.vertices, boxes.get(f"surface {surface.name}")))
        if surface.faces is None:
            there = len(now.vertices) > 0 and now.faces is not None
            blocks.append(np.asarray(now.faces, "<u4").tobytes() if there else b"")
        if surface.value:
            blocks.append(parts_of_range(np.zeros(0) if now.values is None else now.values, *surface.value_range))
    for lines in stage.lines:
        row = frame.lines.get(lines.name)
        blocks.append(boxed(row.points if row is not None else np.zeros((0, 3)), boxes.get(f"lines {lines.name}")))
        if lines.value:
            values = row.values if row is not None and row.values is not None else np.zeros(0)
            blocks.append(parts_of_range(values, *lines.value_range))
        if lines.pulls:
            force = np.zeros(0) if row is None or row.force is None else row.force
            blocks.append(np.clip(force, -HALF, HALF).astype("<f2").tobytes())
    blocks += [boxed(frame.points.get(points.name, np.zeros((0, 3)))) for points in stage.points]
    return pack(blocks)


def pack_stage(stage: Stage, bounds: Bounds, first: Frame | None, about: dict[str, Any]) -> bytes:
    """All that never changes; `about` (title, settings, frames) is passed on as it is."""
    blocks: list[bytes] = [b""]

    def put(block: bytes) -> int:
        blocks.append(block)
        return len(blocks) - 1

    index = {name: i for i, name in enumerate(stage.bodies)}
    meshes = []
    for mesh in stage.meshes:
        faces, how = siding(mesh.vertices, mesh.faces)
        vertices, faces, _ = split_at_creases(mesh.vertices, faces)
        meshes.append(
            {
                "name": mesh.name,
                "body": index.get(mesh.body, -1),
                "layer": mesh.layer,
                "colour": mesh.colour,
                "opacity": mesh.opacity,
                "closed": how["side"] == "front",
                "vertices": put(boxed(vertices)),
                "faces": put(np.asarray(faces, "<u4").tobytes()),
            }
        )
    surfaces = [
        {
            **_coloured(surface),
            "closed": False,
            "faces": None if surface.faces is None else put(np.asarray(surface.faces, "<u4").tobytes()),
        }
        for surface in stage.surfaces
    ]
    lines = [
        {
            **_coloured(line),
            "names": line.names or [f"{line.name} {i + 1}" for i in range(len(line.radius))],
            "muscle": line.layer == "muscles",
            "pulls": line.pulls,
            "offsets": put(np.asarray(line.offsets, "<u4").tobytes()),
            "radius": put(np.asarray(line.radius, "<f4").tobytes()),
        }
        for line in stage.lines
    ]
    eye, target = auto_view(bounds, (1280, 800))
    cameras = [
        {"name": c.name, "eye": c.eye, "target": c.target, "follow": index.get(c.follow, -1)} for c in stage.cameras
    ]
    if WHOLE not in {c.name for c in stage.cameras}:
        cameras.append({"name": WHOLE, "eye": eye.tolist(), "target": target.tolist(), "follow": -1})
    told = {
        **about,
        "bodies": stage.bodies,
        "joints": [
            {"body": index[j.body], "parent": index.get(j.parent, -1), "rest": j.rest, "words": j.words}
            for j in stage.joints
        ],
        "meshes": meshes,
        "surfaces": surfaces,
        "lines": lines,
        "points": [{"name": p.name, "layer": p.layer, "colour": p.colour, "radius": p.radius} for p in stage.points],
        "signals": [
            {"name": s.name, "unit": s.unit, "title": s.title or s.name, "components": s.components}
            for s in stage.signals
        ],
        "layers": layer_names(stage),
        "cameras": cameras,
        "ground": stage.ground,
        "grid": grid_spacing(bounds.reach),
        "reach": bounds.reach,
        "low": bounds.low.tolist(),
        "high": bounds.high.tolist(),
        "first": [] if first is None else np.asarray(first.poses, float)[:, :3].tolist(),
    }
    blocks[0] = json.dumps(told, allow_nan=False).encode()
    return pack(blocks)


def pack_signals(stage: Stage, time: Array, signals: Any) -> bytes:
    """Instants [s] (float64), then every signal (float32), thinned alike where they are long."""
    time = np.asarray(time, dtype=float)
    every = max(1, -(-len(time) // MOST_ROWS))
    blocks = [time[::every].astype("<f8").tobytes()]
    with np.errstate(over="ignore"):
        blocks += [np.asarray(signals[s.name], dtype=float)[::every].astype("<f4").tobytes() for s in stage.signals]
    return pack(blocks)


def _coloured(part: Surface | Lines) -> dict[str, Any]:
    about: dict[str, Any] = {
        "name": part.name,
        "layer": part.layer,
        "colour": part.colour,
        "opacity": part.opacity,
        "value": part.value,
        "unit": part.unit,
        "range": part.value_range,
    }
    if part.value:
        low, high = part.value_range
        about["map"] = colour_map(part.value, part.unit, part.value_range)(np.linspace(low, high, 16)).round(4).tolist()
    return about

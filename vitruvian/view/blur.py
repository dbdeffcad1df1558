"""Motion blur: what a shutter that stays open for a while lets in, as the mean light of several instants.

Between two recorded frames bodies move along straight lines and turn evenly, surfaces with fixed triangles and lines go
straight; water and drops are those of the nearer frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vitruvian.view.colour import linear_from_srgb, srgb_from_linear
from vitruvian.world import Frame, LinesFrame, SurfaceFrame

Array = np.ndarray
INSTANTS = 6  # whose mean is taken
_LINEAR = linear_from_srgb(np.arange(256) / 255.0).astype(np.float32)


def blurred(recording: Any, i: int, seconds: float, shoot: Callable[[Frame, float], Array]) -> Array:
    """The picture, sRGB bytes, of a shutter open for `seconds` around recorded frame i; `shoot(frame, time)` draws."""
    time = np.asarray(recording.time, dtype=float)
    middle = (np.arange(INSTANTS) + 0.5) / INSTANTS - 0.5
    instants = [float(at) for at in np.clip(time[i] + seconds * middle, time[0], time[-1])]
    light: Array = sum(_LINEAR[shoot(frame_between(recording, at), at)] for at in instants) / np.float32(INSTANTS)
    return np.round(255.0 * srgb_from_linear(light)).astype(np.uint8)


def frame_between(recording: Any, at: float) -> Frame:
    """What a recording shows at any time [s] within it."""
    time = np.asarray(recording.time, dtype=float)
    k = int(np.clip(np.searchsorted(time, at, side="right") - 1, 0, max(len(time) - 2, 0)))
    if len(time) == 1 or time[k + 1] <= time[k]:
        return recording.frame(k)
    part = float((at - time[k]) / (time[k + 1] - time[k]))
    if part < 1e-9:
        return recording.frame(k)
    return between(recording.frame(k), recording.frame(k + 1), part)


def between(a: Frame, b: Frame, part: float) -> Frame:
    """The frame that lies `part` (0..1) of the way from a to b."""
    near = a if part < 0.5 else b
    surfaces = {}
    for name, now in near.surfaces.items():
        one, two = a.surfaces.get(name), b.surfaces.get(name)
        same = one is not None and two is not None and now.faces is None and one.vertices.shape == two.vertices.shape
        at = _mix(one.vertices, two.vertices, part) if same and one and two else now.vertices
        surfaces[name] = SurfaceFrame(at, now.faces, now.values)
    lines = {
        name: LinesFrame(_mix(a.lines[name].points, now.points, part), near.lines[name].values, near.lines[name].force)
        for name, now in b.lines.items()
        if name in a.lines and name in near.lines and a.lines[name].points.shape == now.points.shape
    }
    return Frame(_poses(a.poses, b.poses, part), near.signals, surfaces, lines, near.points)


def _mix(a: Array, b: Array, part: float) -> Array:
    return (1.0 - part) * np.asarray(a, dtype=float) + part * np.asarray(b, dtype=float)


def _poses(a: Array, b: Array, part: float) -> Array:
    """Poses (n, 7) on the way; quaternions go the short way."""
    turn = np.where((a[:, 3:] * b[:, 3:]).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    out = _mix(a, np.concatenate([b[:, :3], turn * b[:, 3:]], axis=1), part)
    out[:, 3:] /= np.linalg.norm(out[:, 3:], axis=1, keepdims=True)
    return out

"""Lids that turn about the globe: blinking, following the gaze, tightening.

Each vertex of a lid has a direction and a distance from its globe's centre. From open to shut the direction turns and
the distance changes evenly, so that a lid slides over the globe and never cuts through it. Where it goes is taken from
the blink of the data package, which is shut at SHUT of its way; the lower lid rises as in its squint.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vitruvian.anatomy.face.head_mesh import HeadMesh

Array = np.ndarray
SHUT = 0.75  # of the data's blink
MOVES = 0.0003  # [m] of blink or squint: vertices that do are lid
FOLLOWS = 0.8  # of vertical gaze, by the upper lid
TURN = np.radians(40.0)  # of the upper margin from open to shut
WIDEST = -0.6  # upper lid, opened
ROOF = (0.014, 0.022)  # [m] nearer to the midline and farther below the eye: not lid, but the roof of the mouth
CLEAR = 0.0002  # [m] between globe and lid
AROUND, SKIN = 0.016, 0.0010  # [m] from the globe: skin that may come to lie on it; its thickness there
AWAKE = -0.2  # upper lid at rest: the data's eyes are half shut


@dataclass(frozen=True)
class Lids:
    """Vertices of the lids of one eye."""

    vertex: Array  # of the head, shape (k,)
    centre: Array  # of the globe [m]
    direction: Array  # from it, at rest, unit, shape (k, 3)
    radius: Array  # distance at rest [m], shape (k,)
    turn: Array  # rotation vector to shut, shape (k, 3)
    grow: Array  # change of the distance to shut [m], shape (k,)
    raised: Array  # displacement of the lower lid when it is tightened [m], shape (k, 3)
    least: Array  # no vertex comes nearer to the centre than this [m], shape (k,)
    share: Array  # how much a vertex is lid, 1 at the margin to 0, shape (k,)

    def displaced(self, upper: float, lower: float) -> Array:
        """Displacement [m], shape (k, 3). upper: 0 open, 1 shut, down to WIDEST; lower: 0 to 1."""
        angle, axial, across = self._turning
        c, s = np.cos(upper * angle)[:, None], np.sin(upper * angle)[:, None]
        d = self.direction
        turned = c * (d - axial) + s * across + axial
        at = (self.radius + upper * self.grow)[:, None] * turned + lower * self.raised
        far = np.linalg.norm(at, axis=1)
        at *= (np.maximum(far, self.least) / np.maximum(far, 1e-9))[:, None]
        return at - self.radius[:, None] * d

    @cached_property
    def _turning(self) -> tuple[Array, Array, Array]:
        """Angle of the turn [rad] (k,), what of each direction lies along its axis, and axis × direction (k, 3)."""
        angle, d = np.linalg.norm(self.turn, axis=1), self.direction
        axis = self.turn / np.maximum(angle, 1e-12)[:, None]
        return angle, np.sum(axis * d, axis=1)[:, None] * axis, np.cross(axis, d)


def lids(head: HeadMesh) -> tuple[Lids, Lids]:
    """Of the left and the right eye."""
    out = []
    for eye, side in zip(head.eyes, ("Left", "Right")):
        blink, squint = head.shape(f"eyeBlink{side}"), head.shape(f"eyeSquint{side}")
        moved = np.linalg.norm(blink, axis=1)
        # the data's blink also moves the roof of the mouth
        v = head.vertices
        roof = (np.abs(v[:, 0]) < ROOF[0]) & (v[:, 2] < eye[2] - ROOF[1])
        vertex = np.flatnonzero(~roof & ((moved > MOVES) | (np.linalg.norm(squint, axis=1) > MOVES)))
        start, end = head.vertices[vertex] - eye, head.vertices[vertex] + SHUT * blink[vertex] - eye
        r0, r1 = np.linalg.norm(start, axis=1), np.linalg.norm(end, axis=1)
        d0, d1 = start / r0[:, None], end / r1[:, None]
        across = np.cross(d0, d1)
        sine, cosine = np.linalg.norm(across, axis=1), np.sum(d0 * d1, axis=1)
        turn = across * (np.arctan2(sine, cosine) / np.maximum(sine, 1e-12))[:, None]
        share = np.clip(moved[vertex] / (0.35 * moved.max()), 0.0, 1.0)
        least = np.minimum(r0, head.globe + CLEAR)
        out.append(Lids(vertex, eye, d0, r0, turn, r1 - r0, squint[vertex], least, share))
    return out[0], out[1]


@dataclass(frozen=True)
class Orbit:
    """Skin about one eye, which lies on the globe and never in it."""

    vertex: Array  # of the head, shape (k,)
    centre: Array  # of the globe [m]
    least: Array  # distance from it that each keeps [m], shape (k,)

    def keep_out(self, vertices: Array) -> None:
        """Move vertices [m] that have come into the globe out of it, in place."""
        at = vertices[self.vertex] - self.centre
        far = np.linalg.norm(at, axis=1)
        vertices[self.vertex] = self.centre + at * (np.maximum(far, self.least) / np.maximum(far, 1e-9))[:, None]


def orbits(head: HeadMesh) -> tuple[Orbit, Orbit]:
    """Of the left and the right eye."""
    out = []
    for eye in head.eyes:
        at = head.vertices - eye
        far = np.linalg.norm(at, axis=1)
        vertex = np.flatnonzero((far < head.globe + AROUND) & (at[:, 1] < 0.3 * head.globe))
        out.append(Orbit(vertex, eye, np.minimum(far[vertex], head.globe + SKIN)))
    return out[0], out[1]


def upper_lid(shut: float, asked: float, pitch: float) -> float:
    """Where the upper lid is: shut by a blink (0 to 1), moved by units (`asked`), following a gaze `pitch` [rad] up."""
    open_at = max(WIDEST, AWAKE + asked - FOLLOWS * pitch / TURN)
    return float(np.clip(open_at + shut * (1.0 - open_at), WIDEST, 1.0))

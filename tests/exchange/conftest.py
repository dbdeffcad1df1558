"""A small recording in memory with one of everything that a stage can show."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from vitruvian.world import Frame, Lines, LinesFrame, Mesh, Points, Signal, Stage, Surface, SurfaceFrame

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
)
FRAMES = 9


@dataclass
class Remembered:
    stage: Stage
    frames: list[Frame]
    time: np.ndarray

    def frame(self, i: int) -> Frame:
        return self.frames[i]

    @property
    def signals(self) -> dict[str, Any]:
        return {s.name: np.array([f.signals[s.name] for f in self.frames]) for s in self.stage.signals}


@pytest.fixture(scope="session")
def recording():
    stage = Stage(
        bodies=("left femur", "2nd/body"),
        meshes=(
            Mesh("bone", "left femur", CUBE, FACES, colour=(0.5, 0.5, 0.5), layer="bones"),
            Mesh("glass", "2nd/body", CUBE, FACES, opacity=0.25, layer="bones"),
            Mesh("stand", "", CUBE, FACES, layer="stand"),
        ),
        surfaces=(Surface("skin", FACES, value="strain rate", layer="skin"), Surface("water", None, layer="water")),
        lines=(Lines("muscles", np.array([0, 2, 5]), np.array([0.01, 0.02]), value="activation", layer="muscles"),),
        points=(Points("spray", 0.01),),
        signals=(Signal("angle, inner", "rad"), Signal("force", "N", components=("x", "y"))),
    )
    time = np.arange(FRAMES) / 30.0
    frames = []
    for i in range(FRAMES):
        half = 0.45 * i
        poses = np.array([[i, 2.0, 3.0, np.cos(half), 0.0, 0.0, np.sin(half)], [0, 0, i, 1, 0, 0, 0]], dtype=float)
        n = 3 + i % 3
        water = SurfaceFrame(np.full((n, 3), i / 7.0) + np.eye(n, 3), np.array([[0, 1, 2]] * (i % 3)).reshape(-1, 3))
        frames.append(
            Frame(
                poses=poses if i != 4 else poses * np.array([1, 1, 1, -1, -1, -1, -1]),  # the same rotation
                signals={"angle, inner": 0.1 * i, "force": np.array([i / 3.0, -i])},
                surfaces={"skin": SurfaceFrame(CUBE + 0.1 * i, None, np.full(8, i)), "water": water},
                lines={"muscles": LinesFrame(np.arange(15.0).reshape(5, 3) * (1 + i), np.array([i, 0.5]))},
                points={"spray": np.full((i % 2, 3), float(i))},
            )
        )
    return Remembered(stage, frames, time)

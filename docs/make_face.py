"""The sheet of expressions in docs/head.md: each from the front and from three quarters, beside neutral and shut lids.

python docs/make_face.py [face-expressions.webp]
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vitruvian.anatomy.face import make_face
from vitruvian.control.face import expressions
from vitruvian.scenes.expressions import ORDER
from vitruvian.systems.face import Acting, FaceSystem
from vitruvian.view import Shooting
from vitruvian.world import World

PICTURES = Path(__file__).parent / "pictures"
SIZE = (272, 330)
CAMERAS = ("front", "three-quarter")
NEAR = np.array([[-0.035, 0.0], [0.035, 0.0]])  # both eyes look at something a metre ahead


def column(name: str, shut: float = 0.0) -> np.ndarray:
    """Both views of one expression that has been held for a second."""
    acting = Acting(expressions()[name], NEAR, shut)
    world = World(FaceSystem(make_face(), lambda time: acting), frame_rate=30.0)
    world.advance(1.0)
    frame = world.observe()
    still = SimpleNamespace(stage=world.stage(), time=np.zeros(1), frame=lambda i: frame, attributes={})
    views = [Shooting(still, size=SIZE, camera=c, samples=8, words=False).shoot(0) for c in CAMERAS]
    out = Image.fromarray(np.concatenate(views))
    told = "lids shut" if shut else name
    ImageDraw.Draw(out).text((9, 8), told, fill=(40, 40, 45), font=ImageFont.load_default(14))
    return np.asarray(out)


def main(words: list[str]) -> None:
    sheet = [column("neutral"), *(column(name) for name in ORDER), column("neutral", 1.0)]
    Image.fromarray(np.concatenate(sheet, axis=1)).save(
        words[0] if words else PICTURES / "face-expressions.webp", quality=85, method=6
    )


if __name__ == "__main__":
    main(sys.argv[1:])

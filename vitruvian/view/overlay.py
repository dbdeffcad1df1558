"""Words and colour bars over a picture: scene, time, and what the colours mean."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vitruvian.view.colour import ColourMap

Array = np.ndarray

INK = (44, 52, 64)
PALE = (92, 102, 116)
# The font that comes with Pillow has Latin letters only.
PLAIN = str.maketrans(
    {
        "²": "^2",
        "³": "^3",
        "µ": "u",
        "μ": "u",
        "−": "-",
        "×": "x",
        "⁻": "-",
        "¹": "1",
        "–": "-",
        "Ω": "ohm",
        "σ": "sigma",
    }
)


def write_over(picture: Array, title: str, time: float | None, maps: list[ColourMap]) -> Array:
    """The picture with the scene's name and time [s] at the lower left and colour bars at the lower right."""
    height, width = picture.shape[:2]
    scale = height / 720.0
    if height < 120 or width < 160:
        return picture
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image, "RGBA")
    margin = round(22 * scale)
    large, small = _font(max(round(19 * scale), 9)), _font(max(round(15 * scale), 8))
    bottom = height - margin
    if time is not None:
        pen.text((margin, bottom), f"t = {time:.2f} s", font=small, fill=PALE, anchor="ls")
        bottom -= round(23 * scale)
    if title:
        pen.text((margin, bottom), _plain(title), font=large, fill=INK, anchor="ls")
    right = width - margin
    for m in maps:
        right = _bar(image, pen, m, right, height - margin, scale, small)
    return np.asarray(image)


def _bar(
    image: Image.Image,
    pen: ImageDraw.ImageDraw,
    colours: ColourMap,
    right: int,
    bottom: int,
    scale: float,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
) -> int:
    """Draw one colour bar that ends at `right`; return where the next may end."""
    width, thick = round(150 * scale), max(round(9 * scale), 3)
    left = right - width
    strip = colours(np.linspace(colours.low, colours.high, width))
    pixels = np.broadcast_to((255.0 * strip + 0.5).astype(np.uint8)[None], (thick, width, 3))
    top = bottom - round(18 * scale) - thick
    image.paste(Image.fromarray(np.ascontiguousarray(pixels)), (left, top))
    pen.text((left, bottom), _number(colours.low), font=font, fill=PALE, anchor="ls")
    pen.text((right, bottom), _number(colours.high), font=font, fill=PALE, anchor="rs")
    words = f"{colours.title} [{colours.unit}]" if colours.unit else colours.title
    pen.text((left + width // 2, top - round(6 * scale)), _plain(words), font=font, fill=INK, anchor="ms")
    return left - round(36 * scale)


def _number(value: float) -> str:
    return f"{value:.4g}"


def _plain(words: str) -> str:
    return words.translate(PLAIN).encode("latin-1", "replace").decode("latin-1")


@lru_cache(maxsize=8)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)

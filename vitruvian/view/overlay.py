"""Words and colour bars over a picture: scene, time, and what the colours mean. Nothing written leaves the picture."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from vitruvian.view.colour import ColourMap
from vitruvian.view.lettering import fitted, length, split_runs, write

Array = np.ndarray
Colour = tuple[int, int, int]
INK, PALE = (44, 52, 64), (92, 102, 116)  # on a light picture
CHALK, FAINT = (236, 242, 248), (196, 210, 222)  # on a dark one
DARK = 150.0  # mean of the bytes along the lower edge below which a picture is dark


def write_over(picture: Array, title: str, time: float | None, maps: list[ColourMap]) -> Array:
    """The picture with the scene's name and time [s] at the lower left and colour bars at the lower right."""
    height, width = picture.shape[:2]
    if height < 120 or width < 160:
        return picture
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image, "RGBA")
    scale = height / 720.0
    margin, gap, step = round(22 * scale), round(36 * scale), round(23 * scale)
    bottom, taken = height - margin, margin
    ink, pale = (CHALK, FAINT) if picture[-height // 8 :].mean() < DARK else (INK, PALE)
    if time is not None:
        write(pen, margin, bottom, f"t = {time:.2f} s", round(15 * scale), pale)
        bottom -= step
    if title:
        wide = write(pen, margin, bottom, title, round(19 * scale), ink, most=width - 2 * margin)
        taken += round(wide) + gap
        bottom -= step
    # Bars go from right to left; where no room is left, or the title is in the way, on in a row above.
    right, level = width - margin, height - margin
    for colours in maps:
        bar = _Bar(colours, scale, width - 2 * margin)
        if right - bar.width < (taken if level > bottom else margin):
            right, level = width - margin, level - round(62 * scale)
        bar.draw(image, pen, right, level, ink, pale)
        right -= bar.width + gap
    return np.asarray(image)


class _Bar:
    """One colour bar with its words above and its ends below, as wide as the wider of words and bar."""

    def __init__(self, colours: ColourMap, scale: float, most: int) -> None:
        self.colours, self.scale, self.most = colours, scale, most
        self.words = f"{colours.title} [{colours.unit}]" if colours.unit else colours.title
        self.size = round(15 * scale)
        self.length = min(round(150 * scale), most)
        self.width = max(self.length, round(fitted(self.words, self.size, most)[2] + 0.5))

    def draw(
        self, image: Image.Image, pen: ImageDraw.ImageDraw, right: int, bottom: int, ink: Colour, pale: Colour
    ) -> None:
        thick, left = max(round(9 * self.scale), 3), right - self.length
        strip = self.colours(np.linspace(self.colours.low, self.colours.high, self.length))
        pixels = np.broadcast_to((255.0 * strip + 0.5).astype(np.uint8)[None], (thick, self.length, 3))
        top = bottom - round(18 * self.scale) - thick
        image.paste(Image.fromarray(np.ascontiguousarray(pixels)), (left, top))
        low, high = f"{self.colours.low:.4g}", f"{self.colours.high:.4g}"
        write(pen, left, bottom, low, self.size, pale)
        write(pen, right - length(split_runs(high), self.size), bottom, high, self.size, pale)
        wide = fitted(self.words, self.size, self.most)[2]
        middle = right - 0.5 * max(self.length, wide)
        write(pen, middle - 0.5 * wide, top - round(6 * self.scale), self.words, self.size, ink, most=self.most)

"""Words and colour bars over a picture: scene, time, and what the colours mean. Nothing written leaves the picture."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vitruvian.view.colour import ColourMap

Array = np.ndarray
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Runs = list[tuple[str, bool]]  # stretches of text, each with whether it is raised

Colour = tuple[int, int, int]
INK, PALE = (44, 52, 64), (92, 102, 116)  # on a light picture
CHALK, FAINT = (236, 242, 248), (196, 210, 222)  # on a dark one
DARK = 150.0  # mean of the bytes along the lower edge below which a picture is dark
LEAST = 8  # size of the smallest letters [pixel]
# The font that comes with Pillow has plain Latin letters and few signs; raised digits are drawn here, the rest spelt.
DRAWN = "°·±"
SPELT = {"µ": "u", "μ": "u", "Ω": "ohm", "−": "-", "–": "-", "—": "-", "×": "x", "…": "..."}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))


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
        _write(pen, margin, bottom, f"t = {time:.2f} s", round(15 * scale), pale)
        bottom -= step
    if title:
        wide = _write(pen, margin, bottom, title, round(19 * scale), ink, most=width - 2 * margin)
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
        self.width = max(self.length, round(_fitted(self.words, self.size, most)[2] + 0.5))

    def draw(
        self, image: Image.Image, pen: ImageDraw.ImageDraw, right: int, bottom: int, ink: Colour, pale: Colour
    ) -> None:
        thick, left = max(round(9 * self.scale), 3), right - self.length
        strip = self.colours(np.linspace(self.colours.low, self.colours.high, self.length))
        pixels = np.broadcast_to((255.0 * strip + 0.5).astype(np.uint8)[None], (thick, self.length, 3))
        top = bottom - round(18 * self.scale) - thick
        image.paste(Image.fromarray(np.ascontiguousarray(pixels)), (left, top))
        low, high = f"{self.colours.low:.4g}", f"{self.colours.high:.4g}"
        _write(pen, left, bottom, low, self.size, pale)
        _write(pen, right - _length(_runs(high), self.size), bottom, high, self.size, pale)
        wide = _fitted(self.words, self.size, self.most)[2]
        middle = right - 0.5 * max(self.length, wide)
        _write(pen, middle - 0.5 * wide, top - round(6 * self.scale), self.words, self.size, ink, most=self.most)


def _write(
    pen: ImageDraw.ImageDraw,
    x: float,
    y: float,
    words: str,
    size: int,
    ink: tuple[int, int, int],
    most: float = np.inf,
) -> float:
    """Write from x on the base line y, no wider than `most` [pixel]; returns the width."""
    runs, size, wide = _fitted(words, size, most)
    for text, raised in runs:
        font = _font(_small(size) if raised else size)
        pen.text((x, y - (0.38 * size if raised else 0.0)), text, font=font, fill=ink, anchor="ls")
        x += font.getlength(text)
    return wide


def _fitted(words: str, size: int, most: float) -> tuple[Runs, int, float]:
    """Stretches of text, size of letters and width [pixel]: smaller where too wide, then cut short."""
    runs, size = _runs(words), max(size, LEAST)
    while size > LEAST and _length(runs, size) > most:
        size -= 1
    while words and _length(runs, size) > most:
        words = words[:-1]
        runs = _runs(words.rstrip() + "...")
    return runs, size, _length(runs, size)


def _length(runs: Runs, size: int) -> float:
    return sum(_font(_small(size) if raised else max(size, LEAST)).getlength(text) for text, raised in runs)


def _runs(words: str) -> Runs:
    """Letters that the font has, raised digits apart."""
    runs: Runs = []
    for letter in words:
        raised = letter in RAISED
        text = RAISED[letter] if raised else _spelt(letter)
        if runs and runs[-1][1] == raised:
            runs[-1] = (runs[-1][0] + text, raised)
        else:
            runs.append((text, raised))
    return runs


def _spelt(letter: str) -> str:
    if letter.isascii() or letter in DRAWN:
        return letter if letter.isprintable() else " "
    if letter in SPELT:
        return SPELT[letter]
    name = unicodedata.name(letter, "")
    if name.startswith("GREEK "):
        word = name.split(" LETTER ")[-1].split(" ")[0].lower()
        return word.capitalize() if "CAPITAL" in name else word
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode() or "?"


def _small(size: int) -> int:
    return max(round(0.68 * size), LEAST - 2)


@lru_cache(maxsize=32)
def _font(size: int) -> Font:
    return ImageFont.load_default(size)

"""Letters on pictures: words in the font that comes with Pillow, as large as there is room, raised digits and all."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np
from PIL import ImageDraw, ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Runs = list[tuple[str, bool]]  # stretches of text, each with whether it is raised

LEAST = 8  # size of the smallest letters [pixel]
# The font that comes with Pillow has plain Latin letters and few signs; raised digits are drawn here, the rest spelt.
DRAWN = "°·±"
SPELT = {"µ": "u", "μ": "u", "Ω": "ohm", "−": "-", "–": "-", "—": "-", "×": "x", "…": "..."}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))


def write(
    pen: ImageDraw.ImageDraw,
    x: float,
    y: float,
    words: str,
    size: int,
    ink: tuple[int, int, int],
    most: float = np.inf,
) -> float:
    """Write from x on the base line y, no wider than `most` [pixel]; returns the width."""
    runs, size, wide = fitted(words, size, most)
    for text, raised in runs:
        font = _font(_small(size) if raised else size)
        pen.text((x, y - (0.38 * size if raised else 0.0)), text, font=font, fill=ink, anchor="ls")
        x += font.getlength(text)
    return wide


def fitted(words: str, size: int, most: float) -> tuple[Runs, int, float]:
    """Stretches of text, size of letters and width [pixel]: smaller where too wide, then cut short."""
    runs, size = split_runs(words), max(size, LEAST)
    while size > LEAST and length(runs, size) > most:
        size -= 1
    while words and length(runs, size) > most:
        words = words[:-1]
        runs = split_runs(words.rstrip() + "...")
    return runs, size, length(runs, size)


def length(runs: Runs, size: int) -> float:
    return sum(_font(_small(size) if raised else max(size, LEAST)).getlength(text) for text, raised in runs)


def split_runs(words: str) -> Runs:
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

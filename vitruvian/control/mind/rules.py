"""A character as a readable file: what it sees -> what it feels -> what it does. TOML, errors with file, line and key.

    about = "Curious and kind"

    [[feel]]                   # awed by a doll above the head
    emotion = "awe"
    kind = "doll"              # of the thing that it attends to; any, if left out
    above = 20                 # degrees over the level of its eyes

    [[feel]]                   # pleased by one at eye level, held still
    emotion = "joy"
    above = -15
    below = 15
    slower = 0.1               # m/s
    lasting = 0.5              # s that all of it has been so

    [[feel]]                   # angry when it is shaken
    emotion = "anger"
    shaken = 0.5               # m/s to and fro, root mean square

    [[do]]                     # what an emotion does to gaze and head
    emotion = "anger"
    gaze = "at"                # at, away (past it), down
    head = [6, 0, 0]           # degrees: nodding down, tilting to the right, turning to the left
    shake = 4                  # degrees of head shaking

    [attention]                # what is worth looking at: the dearest thing wins
    [mimicry]                  # how much of another face's feeling it takes on
    [fatigue]                  # how it tires
    [idle]                     # how it sways, breathes and looks about a face

Every condition that a rule names must hold; `strength` is how strongly the rule is felt, `rise` and `fall` how fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from vitruvian.control.mind.idle import Idle
from vitruvian.control.toml_file import line_of, own_names, own_text, parse_toml, read_text
from vitruvian.errors import InputError, unknown_name

EMOTIONS = ("joy", "awe", "anger", "fear", "sadness", "disgust", "surprise")
GAZES = ("at", "away", "down")
INF = float("inf")


def _number(default: float, low: float, high: float) -> Any:
    return field(default=default, metadata={"range": (low, high)})


@dataclass(frozen=True)
class Feel:
    """Feel an emotion while all conditions hold of the thing that is attended to."""

    emotion: str = field(metadata={"choices": EMOTIONS})
    kind: str = ""  # of the thing; any if ""
    above: float = _number(-INF, -90.0, 90.0)  # degrees over the level of the eyes, from
    below: float = _number(INF, -90.0, 90.0)  # to
    nearer: float = _number(INF, 0.0, 100.0)  # [m]
    farther: float = _number(0.0, 0.0, 100.0)
    slower: float = _number(INF, 0.0, 100.0)  # [m/s]
    faster: float = _number(0.0, 0.0, 100.0)
    shaken: float = _number(0.0, 0.0, 100.0)  # to and fro, rms [m/s], at least
    tired: float = _number(0.0, 0.0, 1.0)  # at least
    lasting: float = _number(0.0, 0.0, 60.0)  # [s] that the rest has held
    strength: float = _number(1.0, 0.0, 1.0)
    rise: float = _number(0.3, 0.01, 60.0)  # time constants [s]
    fall: float = _number(1.0, 0.01, 60.0)


@dataclass(frozen=True)
class Do:
    """What an emotion does, in proportion to it."""

    emotion: str = field(metadata={"choices": EMOTIONS})
    gaze: str = field(default="at", metadata={"choices": GAZES})  # of the strongest emotion, when it is above a half
    head: tuple[float, ...] = (0.0, 0.0, 0.0)  # degrees: nodding, tilting, turning
    shake: float = _number(0.0, 0.0, 30.0)  # degrees to and fro
    nod: float = _number(0.0, 0.0, 30.0)
    rate: float = _number(2.0, 0.1, 5.0)  # of both [1/s]


@dataclass(frozen=True)
class Attention:
    """What a thing is worth; it attends to the dearest."""

    moving: float = _number(1.0, 0.0, 10.0)  # per m/s, up to 1 m/s
    near: float = _number(0.5, 0.0, 10.0)  # over its distance [m], up to 1
    new: float = _number(1.0, 0.0, 10.0)  # of a thing that was not attended to for long
    face: float = _number(0.3, 0.0, 10.0)  # of another head, more if that shows feeling
    shown: float = _number(0.5, 0.0, 10.0)  # of what others look at, per head
    keep: float = _number(0.3, 0.0, 10.0)  # of what it attends to already
    bored: float = _number(3.0, 0.1, 600.0)  # [s] in which new becomes old
    reach: float = _number(5.0, 0.1, 100.0)  # [m] it sees no farther
    field: float = _number(100.0, 1.0, 180.0)  # degrees to each side of straight ahead


@dataclass(frozen=True)
class Mimicry:
    """How feelings pass from face to face."""

    share: float = _number(0.5, 0.0, 1.0)  # of the other's emotion
    rise: float = _number(0.6, 0.01, 60.0)  # [s]


@dataclass(frozen=True)
class Fatigue:
    """How it tires of feeling and of attending to one thing."""

    tires: float = _number(60.0, 1.0, 1e6)  # [s] in which it tires at full feeling
    rests: float = _number(20.0, 1.0, 1e6)  # [s] in which it recovers at none
    damps: float = _number(0.6, 0.0, 1.0)  # of all emotions, when wholly tired
    droop: float = _number(12.0, 0.0, 40.0)  # degrees by which the head then sinks
    lids: float = _number(0.5, 0.0, 1.0)  # how far the lids then close


@dataclass(frozen=True)
class Character:
    """All rules of one character."""

    name: str
    feel: tuple[Feel, ...]
    do: tuple[Do, ...] = ()
    attention: Attention = Attention()
    mimicry: Mimicry = Mimicry()
    fatigue: Fatigue = Fatigue()
    idle: Idle = field(default_factory=Idle)
    about: str = ""


TABLES: Mapping[str, type] = {
    "feel": Feel, "do": Do, "attention": Attention, "mimicry": Mimicry, "fatigue": Fatigue, "idle": Idle,
}  # fmt: skip
LISTS = ("feel", "do")
FOLDER = files("vitruvian.control.mind") / "characters"


def character_names() -> tuple[str, ...]:
    """Of those that come with the package."""
    return own_names(FOLDER)


def load_character(source: str | Path) -> Character:
    """From a TOML file, or one of the package's own by name ("curious")."""
    path = Path(source)
    if path.suffix == ".toml":
        return read_character(read_text(path, "character"), path.name, path.stem)
    return read_character(own_text(str(source), "character", FOLDER), f"{source}.toml", str(source))


def read_character(text: str, what: str, name: str) -> Character:
    """From the text of a file; what: its name in errors."""
    table = parse_toml(text, what)
    found: dict[str, Any] = {}
    for key, value in table.items():
        where = f"{what}, line {line_of(text, key)}"
        if key == "about":
            found[key] = str(value)
        elif key not in TABLES:
            raise InputError(f"{where}: {unknown_name('key', key, ('about', *TABLES))}")
        elif key in LISTS:
            if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
                raise InputError(f"{where}: rules are written as [[{key}]]")
            found[key] = tuple(_one(text, what, key, n, one) for n, one in enumerate(value, 1))
        else:
            if not isinstance(value, dict):
                raise InputError(f"{where}: it is written as [{key}]")
            found[key] = _one(text, what, key, 1, value)
    if not found.get("feel"):
        raise InputError(f"{what}: no [[feel]]: it feels nothing")
    return Character(name, **found)


def _one(text: str, what: str, table: str, number: int, given: Mapping[str, Any]) -> Any:
    kind = TABLES[table]
    known = {f.name: f for f in fields(kind)}
    values: dict[str, Any] = {}
    for key, value in given.items():
        where = f"{what}, line {line_of(text, key, table, number)}"
        if key not in known:
            raise InputError(f"{where}: {unknown_name('key', key, known)}")
        values[key] = _value(where, key, value, known[key].metadata)
    for f in known.values():
        if f.default is MISSING and f.name not in values:
            raise InputError(f"{what}, line {line_of(text, '', table, number)}: [[{table}]] needs '{f.name}'")
    if "above" in values and "below" in values and not values["above"] < values["below"]:
        line = line_of(text, "below", table, number)
        raise InputError(f"{what}, line {line}: below = {values['below']:g} is not over above = {values['above']:g}")
    return kind(**values)


def _value(where: str, key: str, value: Any, meta: Mapping[str, Any]) -> Any:
    if "range" in meta:
        low, high = meta["range"]
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise InputError(f"{where}: {key} must be a number from {low:g} to {high:g}, got {value!r}")
        return float(value)
    if "choices" in meta:
        if value not in meta["choices"]:
            raise InputError(f"{where}: {unknown_name(key, str(value), meta['choices'])}")
        return value
    if key == "head":
        if not isinstance(value, list) or len(value) != 3 or not all(
            isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= 30 for x in value
        ):  # fmt: skip
            raise InputError(f"{where}: head must be three numbers of degrees, at most 30, got {value!r}")
        return tuple(float(x) for x in value)
    if not isinstance(value, str):
        raise InputError(f"{where}: {key} must be a text, got {value!r}")
    return value

"""Behaviours as readable files: TOML, checked line by line.

    about = "A calm breath"

    [breath]                  # the highest tier: whole breaths
    rate = 15                 # a minute
    diaphragm = 0.1
    intercostals = 0.3

    [[curve]]                 # the middle tier: one muscle group over time
    group = "abdomen"
    shape = "wave"
    amplitude = 0.5
    period = 0.2
    start = 1.5
    end = 4.0

The lowest tier is that of the elements: a controller of one's own sets `Controls.breath` and `excitation` itself.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from vitruvian.control.behaviour.curves import Behaviour, Curve
from vitruvian.control.toml_file import line_of, own_names, own_text, parse_toml, read_text
from vitruvian.errors import InputError, unknown_name

FOLDER = files("vitruvian.control") / "behaviours"
CURVE_KEYS = {
    "group": str, "shape": str, "amplitude": float, "mean": float, "period": float, "phase": float, "start": float,
    "end": float, "ease": float, "keys": list, "smooth": bool, "windows": list,
}  # fmt: skip
TUPLES = {"keys": ("time", "value"), "windows": ("start", "end", "ease")}
BREATH_KEYS = ("rate", "diaphragm", "intercostals", "scalenes", "abdomen", "start", "end")
TOP_KEYS = ("about", "curve", "breath", "marks")


def behaviour_names() -> tuple[str, ...]:
    """Of those that come with the package."""
    return own_names(FOLDER)


def load_behaviour(source: str | Path) -> Behaviour:
    """From a TOML file, or one of the package's own by name ("laugh")."""
    path = Path(source)
    if path.suffix == ".toml":
        return read_behaviour(read_text(path, "behaviour"), path.name, path.stem)
    return read_behaviour(own_text(str(source), "behaviour", FOLDER), f"{source}.toml", str(source))


def read_behaviour(text: str, what: str, name: str) -> Behaviour:
    """From the text of a file; what: its name in errors."""
    table = parse_toml(text, what)
    for key in table:
        if key not in TOP_KEYS:
            raise InputError(f"{what}, line {line_of(text, key)}: {unknown_name('key', key, TOP_KEYS)}")
    curves = []
    if "breath" in table:
        curves += _breath(text, what, table["breath"])
    given = table.get("curve", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InputError(f"{what}, line {line_of(text, 'curve')}: curves are written as [[curve]]")
    for number, one in enumerate(given, 1):
        curves.append(_curve(text, what, number, one))
    if not curves:
        raise InputError(f"{what}: neither [breath] nor [[curve]]: nothing happens")
    return Behaviour(name, tuple(curves), str(table.get("about", "")), _marks(text, what, table.get("marks", {})))


def write_behaviour(behaviour: Behaviour) -> str:
    """The text of a file that says the same."""
    out = [f'about = "{behaviour.about}"', ""]
    if behaviour.marks:
        out += ["[marks]", *(f"{k} = [{', '.join(f'{x:.4f}' for x in v)}]" for k, v in behaviour.marks.items()), ""]
    for c in behaviour.curves:
        out += ["[[curve]]", f'group = "{c.group}"', f'shape = "{c.shape}"']
        for key in ("amplitude", "mean", "period", "phase", "start", "end", "ease"):
            value, usual = getattr(c, key), getattr(Curve, key)
            if value != usual:
                out.append(f"{key} = {float(value):.9g}" + ("" if "." in f"{float(value):.9g}" else ".0"))
        if c.shape == "keys":
            out.append(f"keys = [{', '.join(f'[{float(t):.9g}, {float(v):.9g}]' for t, v in c.keys)}]")
        if c.smooth:
            out.append("smooth = true")
        if c.windows:
            out.append(f"windows = [{', '.join(f'[{a:.9g}, {b:.9g}, {ease:.9g}]' for a, b, ease in c.windows)}]")
        out.append("")
    return "\n".join(out).replace("e+", "e").replace("inf.0", "inf")


def _curve(text: str, what: str, number: int, given: Any) -> Curve:
    values: dict[str, Any] = {}
    for key, value in given.items():
        line = line_of(text, key, "curve", number)
        if key not in CURVE_KEYS:
            raise InputError(f"{what}, line {line}: {unknown_name('key', key, CURVE_KEYS)}")
        kind = CURVE_KEYS[key]
        if kind is float:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{what}, line {line}: {key} must be a number, got {value!r}")
            values[key] = float(value)
        elif key in TUPLES:
            if not isinstance(value, list) or not all(_numbers(p) and len(p) == len(TUPLES[key]) for p in value):
                raise InputError(f"{what}, line {line}: {key} must be lists of [{', '.join(TUPLES[key])}]")
            values[key] = tuple(tuple(float(x) for x in p) for p in value)
        elif not isinstance(value, kind):
            raise InputError(f"{what}, line {line}: {key} must be a {kind.__name__}, got {value!r}")
        else:
            values[key] = value
    if "group" not in values:
        raise InputError(f"{what}, line {line_of(text, '', 'curve', number)}: a curve needs a group")
    try:
        return Curve(**values)
    except InputError as error:
        said = str(error)
        words = ("period", "windows", "ease", "keys", "start", "mean", "phase")
        key = "group" if "group" in said else "shape" if "shape" in said else "end" if "ends" in said else ""
        key = key or next((w for w in words if w in said), "keys" if "keys" in values else "amplitude")
        raise InputError(f"{what}, line {line_of(text, key, 'curve', number)}: {error}") from None


def _breath(text: str, what: str, given: Any) -> list[Curve]:
    """Diaphragm, externals, scalenes and abdomen in the first half of each breath, internals in the second."""
    if not isinstance(given, dict):
        raise InputError(f"{what}, line {line_of(text, 'breath')}: a breath is written as [breath], with keys below")
    for key, value in given.items():
        if key not in BREATH_KEYS:
            raise InputError(f"{what}, line {line_of(text, key, 'breath')}: {unknown_name('key', key, BREATH_KEYS)}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{what}, line {line_of(text, key, 'breath')}: {key} must be a number, got {value!r}")
    if "rate" not in given or not given["rate"] > 0:
        line = line_of(text, "rate", "breath")
        raise InputError(f"{what}, line {line}: a breath needs a rate above 0 (breaths a minute)")
    start, end = float(given.get("start", 0.0)), float(given.get("end", "inf"))
    period = 60.0 / float(given["rate"])
    parts = [("diaphragm", "diaphragm", 0.0), ("intercostals", "external intercostals", 0.0)]
    parts += [
        ("intercostals", "internal intercostals", 0.5),
        ("scalenes", "scalenes", 0.0),
        ("abdomen", "abdomen", 0.0),
    ]
    out = []
    for key, group, phase in parts:
        if key in given:
            try:
                out.append(Curve(group, "half", float(given[key]), period=period, phase=phase, start=start, end=end))
            except InputError as error:
                line = line_of(text, "end" if "ends" in str(error) else key, "breath")
                raise InputError(f"{what}, line {line}: {error}") from None
    return out


def _marks(text: str, what: str, given: Any) -> dict[str, tuple[float, ...]]:
    """Instants by name."""
    if not isinstance(given, dict):
        raise InputError(f"{what}, line {line_of(text, 'marks')}: marks are written as [marks], with keys below")
    for key, value in given.items():
        if not _numbers(value):
            raise InputError(
                f"{what}, line {line_of(text, key, 'marks')}: {key} must be a list of times, got {value!r}"
            )
    return {key: tuple(float(x) for x in value) for key, value in given.items()}


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, int | float) and not isinstance(x, bool) for x in value)

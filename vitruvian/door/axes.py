"""What a sweep varies: grids, lists and random samples of a scene's parameters, checked before anything runs.

    rate=0.5:1.0:6       six values, evenly spaced, both ends among them
    lungs=full,normal    these values
    rate~0.5:1.0         drawn at random between the two; `sample` says how many
    lungs~full,normal    drawn at random from these
    depth=2              one value for all runs

Grids and lists are combined in every way. The random parameters are drawn together: sample k is one value of each, and
every combination of the others runs with every sample. A text parameter without fixed choices may itself hold commas
and colons, so its values are separated by `;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.world import Parameter, Scene
from vitruvian.world.parameters import parse_value
from vitruvian.world.scene import Value

MOST_VALUES = 100_000
SETTING = re.compile(r"\s*([^=~\s]+)\s*([=~])(.*)", re.DOTALL)


@dataclass(frozen=True)
class Axes:
    """Values by parameter: `grid` and `drawn` vary, `fixed` do not. All lists of `drawn` have the same length."""

    fixed: Mapping[str, Value]
    grid: Mapping[str, Sequence[Value]]
    drawn: Mapping[str, Sequence[Value]]

    @property
    def names(self) -> list[str]:
        """What varies, in the order given."""
        return [*self.grid, *self.drawn]

    def __len__(self) -> int:
        count = 1
        for values in self.grid.values():
            count *= len(values)
        return count * (len(next(iter(self.drawn.values()))) if self.drawn else 1)

    def __iter__(self) -> Iterator[dict[str, Value]]:
        """Each combination; the first parameter changes slowest."""
        samples = [dict(zip(self.drawn, values)) for values in zip(*self.drawn.values())] if self.drawn else [{}]
        for values in product(*self.grid.values()):
            for sample in samples:
                yield {**self.fixed, **dict(zip(self.grid, values)), **sample}


def split_axes(settings: Sequence[str]) -> dict[str, str]:
    """What `--set` was given, by name: `["rate=0.5:1.0:6", "lungs~full,normal"]`; what is random starts with `~`."""
    split: dict[str, str] = {}
    for setting in settings:
        match = SETTING.fullmatch(setting)
        if not match or not match[3].strip():
            raise InputError(f"--set wants key=value, key=a:b:n, key=x,y,z or key~a:b, not '{setting}'")
        name, sign, values = match.groups()
        if name in split:
            raise InputError(f"--set gives '{name}' twice; give all its values at once, as {name}=x,y,z")
        split[name] = (sign if sign == "~" else "") + values.strip()
    return split


def parse_axes(scene: Scene, settings: Mapping[str, Any], *, sample: int | None = None, draw: int = 0) -> Axes:
    """The axes that `settings` mean: numbers, words, sequences of them, or text as above (`~` first for random ones).

    `sample` is the number of random samples, `draw` the seed from which they are drawn. The values of a parameter
    depend on its name, its range and `draw` alone, and a larger sample begins with the smaller one.
    """
    fixed: dict[str, Value] = {}
    grid: dict[str, list[Value]] = {}
    drawn: dict[str, list[Value]] = {}
    for name, given in settings.items():
        if name not in scene.parameters:
            raise unknown_name(f"parameter of scene {scene.name}", name, scene.parameters)
        parameter = scene.parameters[name]
        if isinstance(given, str) and given.startswith("~"):
            if sample is None:
                raise InputError(f"{name} is random; say how many samples to draw (--sample N)")
            drawn[name] = _draw(name, parameter, given[1:], sample, draw)
        elif isinstance(given, str):
            values = _parse(name, parameter, given)
            if len(values) == 1:
                fixed[name] = values[0]
            else:
                grid[name] = values
        elif isinstance(given, bool | int | float | np.generic):
            fixed[name] = parse_value(name, parameter, _python(given))
        else:
            grid[name] = _checked(name, parameter, [_python(value) for value in given])
    if sample is not None and not drawn:
        raise InputError("a sample is drawn from parameters given as key~a:b or key~x,y,z, and there is none")
    return Axes(fixed, grid, drawn)


def grid_values(text: str) -> list[str]:
    """`a:b:n` as n numbers in words. In fractions, so that 0:1:11 has 0.3 and not 0.30000000000000004."""
    parts = [part.strip() for part in text.split(":")]
    try:
        first, last = (Fraction(part) for part in parts[:2] if _is_decimal(part))
        count = int(parts[2])
        if len(parts) != 3 or not 2 <= count <= MOST_VALUES:
            raise ValueError
    except (ValueError, IndexError):
        raise InputError(
            f"'{text}' is no grid; a:b:n is n numbers (2 or more) from a to b, such as 0.5:1.0:6"
        ) from None
    step = (last - first) / (count - 1)
    values = [first + k * step for k in range(count)]
    return [str(value) if value.denominator == 1 else repr(float(value)) for value in values]


def _parse(name: str, parameter: Parameter, text: str) -> list[Value]:
    kind = type(parameter.default)
    if kind in (int, float) and ":" in text:
        try:
            return _checked(name, parameter, grid_values(text))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    return _checked(name, parameter, _listed(parameter, text))


def _draw(name: str, parameter: Parameter, text: str, sample: int, draw: int) -> list[Value]:
    if not 1 <= sample <= MOST_VALUES:
        raise InputError(f"the number of samples must be between 1 and {MOST_VALUES}, not {sample}")
    rng = np.random.default_rng([draw, *name.encode()])
    kind = type(parameter.default)
    if kind in (int, float) and ":" in text:
        low, _, high = text.partition(":")
        if ":" in high:
            raise InputError(f"{name}~{text} is no range; give its ends, as {name}~a:b, and how many with --sample")
        ends = [parse_value(name, parameter, end) for end in (low, high)]
        a, b = float(ends[0]), float(ends[1])
        if not a < b:
            raise InputError(f"{name}~{text} is no range; the second end must be greater than the first")
        if kind is int:
            return [int(value) for value in rng.integers(int(a), int(b), sample, endpoint=True)]
        return [float(value) for value in rng.uniform(a, b, sample)]
    choices = _checked(name, parameter, _listed(parameter, text))
    if len(choices) < 2:
        raise InputError(f"{name}~{text} leaves nothing to chance; give a range a:b or several values x,y,z")
    return [choices[k] for k in rng.integers(0, len(choices), sample)]


def _listed(parameter: Parameter, text: str) -> list[str]:
    free_text = type(parameter.default) is str and not parameter.choices
    return text.split(";" if free_text else ",")


def _checked(name: str, parameter: Parameter, values: Sequence[Value | str]) -> list[Value]:
    """Each value as the parameter's type, within its range and choices, and none twice."""
    if not values:
        raise InputError(f"{name} has no values")
    parsed = [parse_value(name, parameter, value) for value in values]
    for k, value in enumerate(parsed):
        if value in parsed[:k]:
            raise InputError(f"{name} has the value {value} twice")
    return parsed


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_decimal(text: str) -> bool:
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text):
        raise ValueError
    return True

"""Parameters of a scene: defaults, then the quality preset, then what the user set; each value checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from vitruvian.errors import InputError, unknown_name
from vitruvian.world.scene import QUALITIES, Parameter, Scene, Value

YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def scene_parameters(scene: Scene, quality: str, settings: Mapping[str, Value | str]) -> dict[str, Value]:
    """Every parameter of `scene` by name; `settings` may hold values or the words that a user typed."""
    if quality not in QUALITIES:
        raise unknown_name("quality", quality, QUALITIES)
    for name in settings:
        if name not in scene.parameters:
            if not scene.parameters:
                raise InputError(f"scene {scene.name} has no parameters, so '{name}' cannot be set")
            raise unknown_name(f"parameter of scene {scene.name}", name, scene.parameters)
    chosen = {name: parameter.default for name, parameter in scene.parameters.items()}
    for name, value in {**scene.qualities.get(quality, {}), **settings}.items():
        chosen[name] = parse_value(name, scene.parameters[name], value)
    return chosen


def split_settings(settings: Sequence[str]) -> dict[str, str]:
    """`["length=2", "friction=off"]` as a mapping."""
    split: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set wants key=value, not '{setting}'")
        if name.strip() in split:
            raise InputError(f"--set gives '{name.strip()}' twice")
        split[name.strip()] = value.strip()
    return split


def parse_value(name: str, parameter: Parameter, value: Value | str) -> Value:
    """`value` as the type of the parameter's default, within its choices and range."""
    parsed = _as_type(name, type(parameter.default), value)
    if parameter.choices and parsed not in parameter.choices:
        choices = ", ".join(str(choice) for choice in parameter.choices)
        raise InputError(f"{name} must be one of {choices}, not '{value}'")
    if isinstance(parsed, int | float) and not isinstance(parsed, bool):
        unit = f" {parameter.unit}" if parameter.unit else ""
        if parameter.low is not None and parsed < parameter.low:
            raise InputError(f"{name} must be at least {parameter.low:g}{unit}, not {value}")
        if parameter.high is not None and parsed > parameter.high:
            raise InputError(f"{name} must be at most {parameter.high:g}{unit}, not {value}")
    return parsed


def _as_type(name: str, kind: type, value: Value | str) -> Value:
    word = str(value).strip()
    if kind is bool:
        if word.lower() not in YES + NO:
            raise InputError(f"{name} must be yes or no, not '{value}'")
        return word.lower() in YES
    if kind is str:
        return word
    try:
        number = float(word)
        if not math.isfinite(number):
            raise ValueError
        if kind is int:
            if number != int(number):
                raise ValueError
            return int(number) if isinstance(value, float) or not word.lstrip("+-").isdigit() else int(word)
        return number
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise InputError(f"{name} must be {wanted}, not '{value}'") from None

"""A scene: an experiment with a name, parameters, a world to run and checks on what came out.

Each file in `vitruvian/scenes/` defines one `scene = Scene(...)`; its file name is the scene's name with `_` for `-`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitruvian.world.recording import Recording
    from vitruvian.world.world import World

Value = float | int | bool | str
QUALITIES = ("draft", "standard", "fine")


@dataclass(frozen=True)
class Parameter:
    """A number or word that the user may set with `--set name=value`; its type is that of the default."""

    default: Value
    help: str
    unit: str = ""
    choices: tuple[Value, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass
class Report:
    """What a scene found when it looked at its own recording."""

    checks: dict[str, bool] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)  # SI, the unit is in the name where it is not obvious
    table: tuple[tuple[str, ...], ...] = ()  # to be read beside the metrics, its head first


@dataclass(frozen=True)
class Scene:
    """An experiment. `build` gets every parameter by name (quality presets applied, then the user's settings)."""

    name: str
    summary: str  # one line: what is shown
    answers: str  # the published figure or table that it answers to, "" if none
    seconds: float  # default duration [s]
    build: Callable[[Mapping[str, Any]], World]
    check: Callable[[Recording, Mapping[str, Any]], Report]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    qualities: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)  # preset -> parameter overrides

    @property
    def headline(self) -> str:
        """The summary as a sentence begins."""
        return self.summary[:1].upper() + self.summary[1:]

"""Breath for scenes whose bodies do something else: the parameter `breathing`, and what it builds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.systems import Breathing, StrokeLock
from vitruvian.world import Parameter, Recording, Report

Array = np.ndarray
BREATHING = Parameter("none", "how the body breathes meanwhile: none, a behaviour by name (calm), or its .toml file")


def breathing_of(parameters: Mapping[str, Any], body: Body, lock: StrokeLock | None = None) -> Breathing | None:
    """The breath that a scene's parameters ask for."""
    wanted = str(parameters.get("breathing", "none"))
    return None if wanted == "none" else Breathing(body, wanted, lock)


def breath_metrics(report: Report, recording: Recording) -> None:
    """How much was breathed [l], if anything was."""
    if "breath_volume" in recording.signals:
        report.metrics["breathed_l"] = float(np.ptp(recording.signals["breath_volume"]))


def without_breath(recording: Recording, volume: Array) -> Array:
    """The volume of tissue [m³] less what its lungs have gained by the record."""
    if "breath_volume" not in recording.signals:
        return volume
    air = 1e-3 * recording.signals["breath_volume"]
    return np.asarray(volume - (air - air[0]))

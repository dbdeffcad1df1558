"""Facts for `vitruvian info`: about a recording, about a scene."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.cli.output import size
from vitruvian.world import Recording, Scene, Stage, scene_parameters


def about_recording(recording: Recording) -> dict[str, Any]:
    """What a recording holds; every signal is read, so a damaged one is found out."""
    about = recording.attributes
    facts: dict[str, Any] = {"recording": str(recording.path)}
    facts |= {name: about.get(name) for name in ("scene", "quality", "seed", "version", "frame_rate", "substeps")}
    facts |= {
        "frames": len(recording),
        "seconds": recording.duration,
        "finished": recording.duration >= float(about.get("seconds", 0.0)) - 0.5 / recording.frame_rate,
        "size": size(_bytes(recording.path)),
        **_counts(recording.stage),
        "parameters": about.get("parameters", {}),
    }
    facts["signals"] = {}
    for signal in recording.stage.signals:
        values = recording.signals[signal.name]
        finite = values[np.isfinite(values)]
        facts["signals"][signal.name] = {
            "title": signal.title,
            "unit": signal.unit,
            "components": list(signal.components),
            "least": float(finite.min()) if finite.size else None,
            "greatest": float(finite.max()) if finite.size else None,
        }
    if recording.stage.bodies:
        _ = recording.poses
    return facts


def about_scene(scene: Scene, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a scene shows, with these settings, and what can be set."""
    chosen = scene_parameters(scene, "draft", dict(settings or {}))
    world = scene.build(chosen)
    parameters = {
        name: {
            "default": parameter.default,
            "unit": parameter.unit,
            "range": _range(parameter.low, parameter.high, parameter.choices),
            "meaning": parameter.help,
        }
        for name, parameter in scene.parameters.items()
    }
    return {
        "scene": scene.name,
        "summary": scene.headline,
        "answers": scene.answers,
        "with": {name: chosen[name] for name in settings} if settings else "the settings' defaults",
        "seconds": scene.seconds,
        "frame_rate": world.frame_rate,
        "substeps": world.substeps,
        **_counts(world.stage()),
        "parameters": parameters,
        "qualities": {name: dict(preset) for name, preset in scene.qualities.items()},
        "signals": {signal.name: {"title": signal.title, "unit": signal.unit} for signal in world.stage().signals},
    }


def _counts(stage: Stage) -> dict[str, Any]:
    layered = [*stage.meshes, *stage.surfaces, *stage.lines, *stage.points]
    return {
        "bodies": len(stage.bodies),
        "meshes": len(stage.meshes),
        "triangles": sum(len(mesh.faces) for mesh in stage.meshes),
        "surfaces": [surface.name for surface in stage.surfaces],
        "lines": sum(len(lines.offsets) - 1 for lines in stage.lines),
        "layers": list(dict.fromkeys(item.layer for item in layered)),  # type: ignore[attr-defined]
        "cameras": [camera.name for camera in stage.cameras],
    }


def _range(low: float | None, high: float | None, choices: tuple[Any, ...]) -> str:
    if choices:
        return " | ".join(str(choice) for choice in choices)
    if low is None and high is None:
        return ""
    return f"{'' if low is None else f'{low:g}'} to {'' if high is None else f'{high:g}'}"


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())

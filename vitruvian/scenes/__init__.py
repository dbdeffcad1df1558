"""Experiments: one file per scene, found by its file name.

`pendulum.py` holds the scene `pendulum`, `wave_surface.py` the scene `wave-surface`.
Files that start with `_` help them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from vitruvian.errors import unknown_name
from vitruvian.world import Scene


def scene_names() -> list[str]:
    """Names of all scenes, without importing them."""
    files = Path(__file__).parent.glob("[!_]*.py")
    return sorted(file.stem.replace("_", "-") for file in files)


def find(name: str) -> Scene:
    """The scene of that name; an unknown name is an error with the nearest ones."""
    if name not in scene_names():
        raise unknown_name("scene", name, scene_names())
    scene = import_module(f"{__name__}.{name.replace('-', '_')}").scene
    assert isinstance(scene, Scene), f"scenes/{name.replace('-', '_')}.py defines no Scene"
    assert scene.name == name, f"the scene in {name.replace('-', '_')}.py calls itself {scene.name}"
    return scene


def all_scenes() -> list[Scene]:
    """All scenes, in the order of their names."""
    return [find(name) for name in scene_names()]

"""Exported bodies as other programs load them; both need the program in question (`peers` extra)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vitruvian.errors import MissingExtra
from vitruvian.exchange.mjcf import write_mjcf
from vitruvian.exchange.osim import write_osim

if TYPE_CHECKING:
    from vitruvian.anatomy import Body


def mujoco_model(body: Body, step: float = 0.002) -> tuple[Any, Any, Any]:
    """MuJoCo, its model of the exported body with steps of `step` [s], and its data."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("MuJoCo", "pip install mujoco") from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "body.xml"
        write_mjcf(body, path, geoms="none", timestep=step)
        model = mujoco.MjModel.from_xml_path(str(path))
    return mujoco, model, mujoco.MjData(model)


def opensim_model(body: Body) -> tuple[Any, Any, Any]:
    """OpenSim, its model of the exported body, and its state."""
    try:
        import opensim
    except ImportError:
        raise MissingExtra("OpenSim", "pip install opensim") from None
    opensim.Logger.setLevelString("error")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "body.osim"
        write_osim(body, path)
        model = opensim.Model(str(path))
        state = model.initSystem()
    return opensim, model, state

"""Other people's formats, in and out."""

from vitruvian.exchange.bvh import bvh_motion, parse_bvh
from vitruvian.exchange.export import export_model, export_recording
from vitruvian.exchange.mjcf import write_mjcf
from vitruvian.exchange.osim import write_osim
from vitruvian.exchange.tracked import write_tracked
from vitruvian.exchange.trials import read_trial

__all__ = [
    "bvh_motion",
    "export_model",
    "export_recording",
    "parse_bvh",
    "read_trial",
    "write_mjcf",
    "write_osim",
    "write_tracked",
]

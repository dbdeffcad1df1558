"""Measured motion: from markers, joints and force plates to poses, moments, muscle forces and joint reactions.

`trial`        what a file holds; gaps                `markers`     marker sets on our bones
`subject`      goals and size                         `kinematics`  inverse kinematics (`pose_kernels`)
`smooth`       filter, velocities, accelerations      `ground`      force plates, or estimated contact
`dynamics`     moments, static optimisation, reactions
`curves`       clinical names                         `literature`  published ranges
`pipeline`     all of it in order                     `motion`      a trial for controllers to follow
"""

from vitruvian.measured.markers import marker_sites, site_places
from vitruvian.measured.motion import trial_motion
from vitruvian.measured.pipeline import Settings as TrackSettings
from vitruvian.measured.pipeline import Tracked, analyse
from vitruvian.measured.trial import ForcePlate, Segments, Trial, seen_only

__all__ = [
    "ForcePlate",
    "Segments",
    "TrackSettings",
    "Tracked",
    "Trial",
    "analyse",
    "marker_sites",
    "seen_only",
    "site_places",
    "trial_motion",
]

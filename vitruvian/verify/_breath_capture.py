"""Breaths from markers: simulated subjects with known activations and noise on their markers are found again."""

from __future__ import annotations

import numpy as np

from vitruvian.scenes.breath_capture import NEAR, SUBJECTS, fitted
from vitruvian.systems.torso_capture import GROUPS
from vitruvian.verify.book import Finding, claim


def _found(subject: str, widen: bool) -> Finding:
    fit = fitted("", "", subject, 1.0, widen, "all", 0)
    count = len(GROUPS) if widen else len(GROUPS) - 1
    off = np.array([fit.activations[g] for g in GROUPS[:count]]) - np.array(SUBJECTS[subject])[:count]
    detail = f"error_p {1e3 * fit.error_p:.2f} mm, error_v {1e3 * fit.error_v:.2f} mm/s after {fit.runs} runs"
    return Finding.error(float(np.abs(off).max()) if fit.error_p < 5e-3 else np.nan, NEAR, "1", detail)


@claim
def activations_are_found_from_markers() -> Finding:
    """A subject of table 5.2 with 1 mm of noise on 22 markers is found: activations within 0.05, error_p below 5 mm."""
    return _found("3", False)


@claim
def a_wide_breath_is_found_from_markers() -> Finding:
    """So is one who widens the lower cage, with a fifth number for it."""
    return _found("wide", True)

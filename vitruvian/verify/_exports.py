"""Claims of the chapter `body` about its exported models; they need the programs that read them (the `peers` extra)."""

from __future__ import annotations

from vitruvian.anatomy import human
from vitruvian.exchange.agreement import mjcf_agreement, osim_agreement
from vitruvian.verify.book import Claim, Finding, worst


def _mjcf() -> Finding:
    found = mjcf_agreement(human(paths="documents"), 100)
    detail = ", ".join(f"{what.replace('_', ' ')} {value:.1e}" for what, value in found.items())
    return Finding.error(worst(found.values()), 1e-6, "m, 1, kg m², m", f"100 random poses; {detail}")


def _osim() -> Finding:
    found = osim_agreement(human(paths="documents"), 20)
    detail = ", ".join(f"{what.replace('_', ' ')} {value:.1e}" for what, value in found.items())
    return Finding.error(worst(found.values()), 1e-5, "m", f"20 random poses, 846 muscles; {detail}")


mjcf_equals_mujoco = Claim(
    "body/mjcf-equals-mujoco",
    "MuJoCo finds our bone poses, mass matrix and tendon lengths in the exported MJCF.",
    _mjcf,
)
osim_equals_opensim = Claim(
    "body/osim-equals-opensim",
    "OpenSim finds our muscle lengths and moment arms in the exported OSIM.",
    _osim,
)

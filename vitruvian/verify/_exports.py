"""Claims of the chapter `body` about its exported models; they need the programs that read them (the `peers` extra)."""

from __future__ import annotations

from vitruvian.anatomy import arm, human
from vitruvian.control import HANGING, pose
from vitruvian.exchange.agreement import mjcf_agreement, osim_agreement
from vitruvian.exchange.falls import mjcf_fall, osim_fall
from vitruvian.verify.book import Claim, Finding, worst


def _mjcf() -> Finding:
    found = mjcf_agreement(human(paths="documents"), 100)
    detail = ", ".join(f"{what.replace('_', ' ')} {value:.1e}" for what, value in found.items())
    return Finding.error(worst(found.values()), 1e-6, "m, 1, kg m², m", f"100 random poses; {detail}")


def _osim() -> Finding:
    found = osim_agreement(human(paths="documents"), 20)
    detail = ", ".join(f"{what.replace('_', ' ')} {value:.1e}" for what, value in found.items())
    return Finding.error(worst(found.values()), 1e-5, "m", f"20 random poses, 846 muscles; {detail}")


FLEXORS = tuple(f"{name}_{side}" for name in ("biceps_brachii_01", "brachialis_01") for side in "lr")


def _mjcf_fall() -> Finding:
    body = human(pelvis="fixed", paths="documents")
    passive, twitch = mjcf_fall(body), mjcf_fall(body, twitch=FLEXORS)
    detail = f"after 1 s, arms out at first: passive {1e3 * passive:.1f} mm, twitch of the elbows {1e3 * twitch:.1f} mm"
    return Finding.error(max(passive, twitch), 0.02, "m", detail)


def _wrapped_fall() -> Finding:
    body = human(pelvis="fixed")
    hanging = pose(body, HANGING)
    apart, twitch = mjcf_fall(body, pose=hanging), mjcf_fall(body, twitch=FLEXORS, pose=hanging)
    detail = f"after 1 s, arms hanging at first, passive; after a twitch of the elbows {1e3 * twitch:.0f} mm"
    return Finding.error(apart, 0.02, "m", detail)


def _osim_fall() -> Finding:
    body = human(pelvis="fixed")
    bare = body.without_muscles(*body.muscles.names)
    apart = osim_fall(bare, pose=pose(bare, HANGING))
    return Finding.error(
        apart, 0.02, "m", "after 1 s, arms hanging at first; bones, joints, springs, stops, no muscles"
    )


def _osim_arm() -> Finding:
    body = arm("left", paths="documents", muscles="rigid")
    hanging = pose(body, {"left arm": {"direction": [0.16, -0.02, -1.0]}})
    passive = osim_fall(body, pose=hanging)
    twitch = osim_fall(body, twitch=[name for name in FLEXORS if name.endswith("_l")], pose=hanging)
    detail = (
        f"{body.muscles.n_muscles} muscles, after 1 s: passive {1e3 * passive:.2f} mm, twitch {1e3 * twitch:.2f} mm"
    )
    return Finding.error(max(passive, twitch), 0.02, "m", detail)


mjcf_falls_as_ours = Claim(
    "body/mjcf-falls-as-ours",
    "In MuJoCo the exported body falls and twitches as ours: bones within 20 mm after 1 s.",
    _mjcf_fall,
)
mjcf_of_wrapped_paths_falls_as_ours = Claim(
    "body/mjcf-of-wrapped-paths-falls-as-ours",
    "In MuJoCo the exported default body, muscles round cylinders, falls as ours: within 20 mm after 1 s.",
    _wrapped_fall,
)
osim_falls_as_ours = Claim(
    "body/osim-falls-as-ours",
    "In OpenSim the exported body falls as ours: bones within 20 mm after 1 s.",
    _osim_fall,
)
osim_arm_with_muscles_falls_as_ours = Claim(
    "body/osim-arm-with-muscles-falls-as-ours",
    "In OpenSim an exported arm with its muscles falls and twitches as ours: bones within 20 mm after 1 s.",
    _osim_arm,
)
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

"""One policy on softer and harder flesh: over which range does it stay up?

The same character, cycle and policy side by side, with Young's modulus from 100 to 3000 kPa. How the
policies were found says docs/soft.md.

    vitruvian run stiffness-range --view
"""

from __future__ import annotations

from vitruvian.scenes._soft import Parameters, ran, steady, upright
from vitruvian.systems import LanesController, LanesSystem
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, World

MODULI = (1e5, 2e5, 4e5, 1e6, 3e6)  # [Pa]


def build(parameters: Parameters) -> World:
    lanes, policies = {}, []
    for young in MODULI:
        system, policy, _ = steady(f"{parameters['character']}-run", young=young)
        lanes[_name(young)] = system
        policies.append(policy)
    apart = 1.6
    middle = apart * (len(MODULI) - 1) / 2.0
    camera = Camera("front", (middle + 2.0, -9.0, 2.2), (middle, 0.0, 0.6), follow=f"{_name(MODULI[2])} pelvis")
    side_by_side = LanesSystem(lanes, (apart, 0.0, 0.0), cameras=(camera,), ground=0.0)
    return ran(side_by_side, LanesController(policies))


def _name(young: float) -> str:
    return f"{young / 1e3:.0f}kPa"


def check(recording: Recording, parameters: Parameters) -> Report:
    up = {young: upright(recording, f"{_name(young)} ") for young in MODULI}
    report = Report(metrics={f"upright_{_name(young)}": seconds for young, seconds in up.items()})
    standing = [young for young, seconds in up.items() if seconds >= recording.time[-1] - 1e-9]
    report.metrics["softest_kpa"] = min(standing, default=0.0) / 1e3
    report.metrics["hardest_kpa"] = max(standing, default=0.0) / 1e3
    report.checks["it stays up over a range of stiffness"] = len(standing) >= 3
    return report


scene = Scene(
    name="stiffness-range",
    summary="One policy on softer and harder flesh",
    answers="Liu & al. 2013, section 6",
    seconds=6.0,
    build=build,
    check=check,
    parameters={"character": Parameter("michelin", "who runs", choices=("michelin", "panda"))},
)

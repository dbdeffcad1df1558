"""Three arms hold the same pose with coactivation 0, 0.5 and 1 of agonists and antagonists; the same push moves the
stiffer less.

Coactivation adds no torque but stiffness (Lee 2008, 5.3.4 and appendix A). It resists at once, where a decision takes
time: here decisions come 15 times a second, as slow as a long-loop reflex, the push is not sensed, and the feedback
is soft and the same for all, so that the difference is muscle. (With instant decisions inverse dynamics would undo
the stiffness too.)

No muscle is more than fully active. An arm held out costs some of its muscles half of what they have, so the push is
small, the hand empty, and the most that coactivation can do here is some percent of the deflection; where it does not
fit below full activation it is cut, and the share that is left is reported. The gain belongs to this pose: with the
arm hanging, tension across the joints' bends can make the arm softer instead.

With `flesh=elements` the arms wear flesh and skin, in which the same activations pull: the tenser, the more the
shoulder bulges (Lee's figure 5.16). The flesh follows the bones and does not act on them, as in Lee.

    vitruvian run tone --view
    vitruvian run tone --set flesh=elements
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, arm, body_flesh, body_skin, human
from vitruvian.anatomy.body_bellies import body_bellies
from vitruvian.anatomy.skin_flesh import QUALITY_SPACING
from vitruvian.control import ComputedMuscleControl, Gains, KeyMotion, pose
from vitruvian.flesh import Settings, preset
from vitruvian.mesh.section import section_area
from vitruvian.scenes._body import STEPS
from vitruvian.scenes._shape import shape_parameters, skin_shape
from vitruvian.systems import (
    BodySystem,
    Cover,
    FleshedBodySystem,
    Held,
    LanesController,
    LanesSystem,
    Look,
    Measure,
    Now,
    Push,
)
from vitruvian.systems.fleshed_look import LOOKS
from vitruvian.systems.things import dumbbell, dumbbell_mesh
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
APART = 0.95  # [m] between the bodies
PUSH_AT, PUSH_FOR = 0.3, 0.1  # [s]
FROM, UNDER = 0.10, 1.44  # the part that is shown: beyond this in x, above this in z [m]
MARGIN = 0.05  # [m] that flesh reaches beyond it: at the cut itself it bulges as it likes
ARMPIT, ELBOW = 0.225, 0.45  # x between which skin is the upper arm's, arms out [m]
SECTIONS = {"shoulder": 0.36, "upper_arm": 0.6}  # where cross-sections are measured, as a part of the upper arm


def levels(parameters: Mapping[str, Any]) -> list[float]:
    return [0.0, 0.5 * parameters["tone"], parameters["tone"]]


def build(parameters: Mapping[str, Any]) -> World:
    body = arm("left")
    q = pose(body, {"left arm": {"direction": [0.9, -0.25, -0.35]}, "left elbow": 70})
    motion = KeyMotion.through(body, [0.0], [q])
    palm = (0.05, 0.0, 0.0)
    push = Push("Ha_l", (0.0, 0.0, -parameters["push"]), PUSH_AT, PUSH_FOR, palm)
    start = Now(body, body.at_rest(q), None, 0.0).point("Ha_l", palm)

    def hand(now: Now) -> float:
        return float(np.linalg.norm(now.point("Ha_l", palm) - start))

    simulations: list[BodySystem] = []
    controllers, mass = [], parameters["mass"]
    maker = BodySystem if parameters["flesh"] == "none" else _fleshed(body, parameters)
    gains = Gains(stiffness=25.0, damping=10.0, rate=parameters["rate"], sensor_lag=60.0)
    for gamma in levels(parameters):
        simulation = maker(
            body,
            q=q,
            pushes=[push],
            held=[Held("Ha_l", dumbbell(mass, "l"))] if mass > 0 else [],
            meshes=[dumbbell_mesh("Ha_l", 0.8)] if mass > 0 else [],
            grips=("l",) if mass > 0 else (),
            measures=[Measure(Signal("deflection", "m", "deflection of the hand"), hand)],
        )
        simulations.append(simulation)
        controllers.append(ComputedMuscleControl(body, simulation.stepper.twin(), motion, gains, coactivation=gamma))
    names = [f"tone {g:g}" for g in levels(parameters)]
    row = LanesSystem(
        dict(zip(names, simulations)),
        (APART, 0.0, 0.0),
        first=(-0.5 * APART * (len(names) - 1), 0.0, 0.0),
        cameras=(
            Camera("front", (0.35, -4.0, 1.7), (0.15, 0.0, 1.35)),
            Camera("above", (0.4, -2.6, 3.9), (0.15, 0.0, 1.35)),
        ),
    )
    fast = parameters["flesh"] == "none"
    return World(
        row,
        LanesController(controllers),
        frame_rate=120.0 if fast else 30.0,
        substeps=max(1, int(parameters["steps"]) // 2) * (1 if fast else 4),
    )


def _fleshed(body: Body, parameters: Mapping[str, Any]) -> Callable[..., BodySystem]:
    """Makes simulations of the arm in its flesh."""
    whole = human()
    shape = skin_shape(parameters)
    skin = body_skin(whole, shape)
    bellies = body_bellies(body, skin)
    low, high = np.array([FROM - MARGIN - 0.03, -0.2, UNDER - MARGIN - 0.03]), np.array([1.05, 0.3, 1.75])
    flesh = body_flesh(
        body,
        spacing=parameters["spacing"],
        skin=skin,
        material=preset("soft"),
        bellies=bellies,
        within=lambda p: np.maximum(FROM - MARGIN - p[:, 0], UNDER - MARGIN - p[:, 2]),
        reach=(low, high),
        ties="footprints",
    )
    cover = Cover(
        body,
        flesh.model,
        shape,
        shown=lambda v: (v[:, 0] > FROM + 0.005) & (v[:, 2] > UNDER + 0.005),
        whole=whole,
    )
    rest = cover.bound.rest
    arm_part = (rest[:, 0] > ARMPIT) & (rest[:, 0] < ELBOW)
    sleeve = cover.faces[arm_part[cover.faces].all(axis=1)]

    def section(part: float) -> Callable[[Now], float]:
        def area(now: Now) -> float:
            state = now.state
            at = [state.wrap.poses[body.skeleton.index(b), :3, 3] for b in ("Hu_l", "Ul_l")]
            point = (1.0 - part) * at[0] + part * at[1]
            skin_now = cover.positions(state.wrap.flesh.x, state.wrap.poses)
            return section_area(skin_now, sleeve, point, at[1] - at[0])

        return area

    def make(body: Body, measures: Sequence[Measure] = (), **rest: Any) -> BodySystem:
        return FleshedBodySystem(
            body,
            flesh,
            cover,
            bellies=[b for b in bellies if (b.centre[:, 0] > FROM).all() and (b.centre[:, 2] > UNDER).all()],
            settings=Settings(newton=40),
            every=8,
            two_way=False,
            look=Look(colour=parameters["colour"], opacity=parameters["opacity"], lattice=parameters["lattice"]),
            measures=[
                *measures,
                *(
                    Measure(Signal(name, "m²", f"cross-section of the {name}"), section(part))
                    for name, part in SECTIONS.items()
                ),
            ],
            **rest,
        )

    return make


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    after = recording.time >= PUSH_AT
    # of a run that ends before the push, 0
    peaks = [float(recording.signals[f"tone {g:g} deflection"][after].max(initial=0.0)) for g in levels(parameters)]
    for g, peak in zip(levels(parameters), peaks):
        report.metrics[f"deflection_tone_{g:g}_mm"] = 1e3 * peak
        report.metrics[f"activation_tone_{g:g}"] = float(recording.signals[f"tone {g:g} activation"][:, 1].max())
        report.metrics[f"least_share_tone_{g:g}"] = float(recording.signals[f"tone {g:g} tone_share"].min())
    largest = max(report.metrics[f"activation_tone_{g:g}"] for g in levels(parameters))
    report.metrics["largest_activation"] = largest
    report.checks["no muscle is more than fully active"] = largest <= 1.0 + 1e-9
    if parameters["flesh"] != "none" and recording.time[-1] >= 0.25:
        before = int(np.searchsorted(recording.time, PUSH_AT)) - 1
        for name in SECTIONS:
            areas = [float(recording.signals[f"tone {g:g} {name}"][before]) for g in levels(parameters)]
            for g, area in zip(levels(parameters), areas):
                report.metrics[f"{name}_cm2_tone_{g:g}"] = 1e4 * area
            report.checks[f"the {name.replace('_', ' ')} bulges with coactivation"] = areas[0] < areas[1] < areas[2]
    if recording.time[-1] >= PUSH_AT + PUSH_FOR + 0.2:
        report.checks["deflection falls with every step of coactivation"] = peaks[0] > peaks[1] > peaks[2]
        report.checks["the push moves the slack arm visibly (10 mm)"] = peaks[0] > 0.010
        still = recording.time < PUSH_AT
        drift = max(float(recording.signals[f"tone {g:g} deflection"][still].max()) for g in levels(parameters))
        report.metrics["drift_before_mm"] = 1e3 * drift
        report.checks["coactivation alone moves nothing (1 mm)"] = drift < 1e-3
    return report


scene = Scene(
    name="tone",
    summary="Three arms with more and more coactivation: the same push deflects the stiffer less",
    answers="Lee 2008, figure 5.16 and appendix A",
    seconds=1.6,
    build=build,
    check=check,
    parameters={
        "tone": Parameter(1.0, "largest coactivation; the others are half of it and none", low=0.0, high=3.0),
        "push": Parameter(6.0, "on the hand, downwards, for 0.1 s", "N", low=0.0, high=500.0),
        "mass": Parameter(0.0, "mass of a dumbbell in the hand, 0 for none", "kg", low=0.0, high=5.0),
        "flesh": Parameter("none", "flesh and skin around the arms", choices=("none", "elements")),
        "spacing": Parameter(0.02, "edge of a lattice cell, with flesh", "m", low=0.01, high=0.03),
        "opacity": Parameter(0.5, "opacity of the skin, with flesh", low=0.1, high=1.0),
        **LOOKS,
        **shape_parameters(),
        "rate": Parameter(15.0, "control decisions a second", "1/s", low=2.0, high=2000.0),
        "steps": replace(STEPS, default=8),
    },
    qualities={
        "draft": {"spacing": QUALITY_SPACING["draft"]},
        "standard": {"spacing": QUALITY_SPACING["standard"]},
        "fine": {"steps": 32, "spacing": QUALITY_SPACING["fine"]},
    },
)

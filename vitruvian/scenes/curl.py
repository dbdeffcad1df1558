"""A dumbbell curl by computed muscle activations; in the middle of the hold the dumbbells suddenly grow heavier.

The controller meets the motion within a fraction of a degree. It learns of the new weight through its lagging senses
(Lee 2008, 5.3.5), so the arms sink and come back, as in his figure 5.18. With `sensor_lag=0` it knows at once, and
the pose is held perfectly, which looks wrong: that is the point of the lag.

With `flesh=elements` the body wears flesh and skin (Lee's figure 5.15): arms and shoulders are elastic tissue with live
muscles, the skin of the rest rides on the bones. The flesh follows the bones, as in Lee; with `two_way=true` they feel
what it pulls more than in the first pose, ribs held. The controller knows that pull as an outside force, which lags,
and nothing of its stiffness: with Lee's soft feedback it misses the motion by 16 degrees rms, with that of `biceps`
by 1.

    vitruvian run curl --view
    vitruvian run curl --set sensor_lag=0
    vitruvian run curl --set muscles=elastic
    vitruvian run curl --set head=gaze --set look=1,-2,1.2
    vitruvian run curl --set flesh=elements
    vitruvian run curl --set flesh=elements --set two_way=true --set stiffness=1600 --set sensor_lag=0.02
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, body_flesh, body_skin, human
from vitruvian.anatomy.body_bellies import body_bellies
from vitruvian.anatomy.skin_flesh import QUALITY_SPACING
from vitruvian.control import Gains, load_motion
from vitruvian.flesh import Settings, preset, self_contact
from vitruvian.muscle import ActivationDynamics
from vitruvian.scenes._body import RATE, STEPS, deviation, missing_metrics
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of
from vitruvian.scenes._carried import PARAMETERS as HEAD
from vitruvian.scenes._carried import carry_head, head_up_measure
from vitruvian.scenes._shape import shape_parameters, skin_shape
from vitruvian.skeleton import bone_poses
from vitruvian.systems import BodySystem, Cover, FleshedBodySystem, Held, Look, tracking_measures, tracking_world
from vitruvian.systems.fleshed_look import LOOKS
from vitruvian.systems.things import dumbbell, dumbbell_mesh
from vitruvian.world import Parameter, Recording, Report, Scene, World

# flesh is beyond this in x and between these in z, in the default pose [m]: cuts lie where little moves, not in the
# armpit
INNER, UNDER, OVER = 0.05, 1.30, 1.72
LOAD_BEARING = 0.09, 1.42  # and instead of the first two where bones feel the flesh
RIBS = ("Rb", "Cc", "Ste")  # bones that are held then
ARMPIT, AROUND, FIRM = np.array([0.20, 0.03, 1.45]), 0.12, 3e7  # [m], where skin may touch skin; how firmly [Pa/m]
HANDS = (("Ha_l", "l"), ("Ha_r", "r"))
WATCHED = {"elbow": ("Ul_l", 0), "elbow_right": ("Ul_r", 0), "wrist": ("Ha_l", 0), "wrist_right": ("Ha_r", 0)}


def build(parameters: Mapping[str, Any]) -> World:
    body = human(parameters["body"], muscles=parameters["muscles"])
    motion = load_motion(body, "curl")
    light, heavy, at = parameters["mass"], parameters["mass"] + parameters["added"], parameters["step_at"]
    held = [Held(bone, dumbbell(light, side), end=at) for bone, side in HANDS]
    held += [Held(bone, dumbbell(heavy, side), start=at) for bone, side in HANDS]
    maker = BodySystem if parameters["flesh"] == "none" else _fleshed(body, parameters)
    simulation = maker(
        body,
        q=motion.sample(0.0)[0],
        held=held,
        meshes=[dumbbell_mesh(bone) for bone, _ in HANDS],
        grips=("l", "r"),
        dynamics=None if parameters["muscles"] == "documents" else ActivationDynamics(),
        measures=[*tracking_measures(body, motion, WATCHED), head_up_measure()],
        breathing=breathing_of(parameters, body),
    )
    gains = Gains(
        stiffness=parameters["stiffness"],
        damping=2.0 * np.sqrt(parameters["stiffness"]),
        rate=parameters["rate"],
        sensor_lag=parameters["sensor_lag"],
    )
    world = tracking_world(
        simulation,
        motion,
        gains,
        parameters["steps"],
        coactivation=parameters["coactivation"],
        regions=parameters["regions"],
    )
    return carry_head(world, body, parameters)


def _fleshed(body: Body, parameters: Mapping[str, Any]) -> Callable[..., BodySystem]:
    """Makes the simulation of the body in its flesh."""
    shape = skin_shape(parameters)
    skin = body_skin(body, shape)
    bellies = body_bellies(body, skin)
    low, high = skin.vertices.min(axis=0) - 0.02, skin.vertices.max(axis=0) + 0.02
    inner, under = LOAD_BEARING if parameters["two_way"] else (INNER, UNDER)
    low[2], high[2] = under - 0.05, OVER + 0.05
    wrist = float(bone_poses(body.skeleton, body.default_q)[body.skeleton.index("Ha_l"), 0, 3])

    def within(p: np.ndarray) -> np.ndarray:
        out = np.abs(p[:, 0])
        return np.max([inner - out, out - wrist - 0.05, under - p[:, 2], p[:, 2] - OVER], axis=0)

    alive = [b for b in bellies if (within(b.centre) < 0.0).any()]
    flesh = body_flesh(
        body,
        spacing=parameters["spacing"],
        skin=skin,
        material=preset("soft"),
        bellies=alive,
        within=within,
        reach=(low, high),
        ties="footprints",
    )
    cover = Cover(body, flesh.model, shape, within=within, fists=("l", "r"))
    near = (
        np.linalg.norm(np.abs(skin.vertices * [1.0, 0.0, 0.0]) + skin.vertices * [0.0, 1.0, 1.0] - ARMPIT, axis=1)
        < AROUND
    )
    touching = (
        self_contact(flesh.model.lattice, skin.vertices, skin.faces, among=near, stiffness=FIRM)
        if parameters["touching"]
        else None
    )

    def make(body: Body, **rest: Any) -> BodySystem:
        if parameters["two_way"]:  # ribs have hardly any muscle against what the flesh of the chest does to them
            rest["still"] = np.array([body.skeleton.names[b].startswith(RIBS) for b in body.skeleton.dof_bone])
        return FleshedBodySystem(
            body,
            flesh,
            cover,
            bellies=[b for b in alive if (within(b.centre) < 0.0).all()],
            settings=Settings(newton=40),
            every=2 if parameters["two_way"] else 2 * int(parameters["steps"]),  # bones that feel it must not outrun it
            two_way=parameters["two_way"],
            at_ease=True,
            touching=touching,
            look=Look(
                colour=parameters["colour"],
                opacity=parameters["opacity"],
                lattice=parameters["lattice"],
                bones=lambda name: True,
            ),
            **rest,
        )

    return make


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, at = recording.time, parameters["step_at"]
    off = {name: deviation(recording.signals[name]) for name in WATCHED}
    before, after = time < at, time >= at
    report = Report()
    breath_metrics(report, recording)
    rms = float(np.sqrt(np.mean([off[n][before] ** 2 for n in ("elbow", "elbow_right")])))
    report.metrics["tracking_rms_deg"] = rms
    report.metrics["head_tilt_deg"] = float(np.degrees(recording.signals["head_tilt"].max()))
    report.metrics["largest_activation"] = float(recording.signals["activation"][:, 1].max())
    report.metrics |= missing_metrics(recording)
    within = 2.0 if parameters["muscles"] == "documents" else 3.0  # an activation that lags costs a degree or two
    report.checks[f"elbows follow the motion within {within:g} degrees rms"] = rms < within
    if after.any() and time[-1] >= at + 1.0:
        dip = max(float(np.abs(off[n][after]).max()) for n in WATCHED)
        report.metrics["dip_deg"] = dip
        report.metrics["elbow_dip_deg"] = float(np.abs(off["elbow"][after]).max())
        report.metrics["wrist_dip_deg"] = float(np.abs(off["wrist"][after]).max())
        if parameters["sensor_lag"] == 0:
            report.checks["with senses that do not lag, nothing moves (0.5 degrees)"] = dip < 0.5
        elif parameters["sensor_lag"] >= 0.1:  # how much less a shorter lag lets them sink is not claimed
            report.checks["the arms dip by 2 to 25 degrees"] = 2.0 <= dip <= 25.0
        late = time >= min(at + 2.0, time[-1])
        back = max(float(np.abs(off[n][late]).max()) for n in WATCHED)
        report.metrics["back_within_deg"] = back
        report.checks["back within 3 degrees after 2 s"] = back < 3.0
    return report


scene = Scene(
    name="curl",
    summary="A dumbbell curl by 846 muscles; the weight suddenly grows, the arms dip and recover",
    answers="Lee 2008, figures 5.15, 5.17 and 5.18",
    seconds=4.5,
    build=build,
    check=check,
    parameters={
        "mass": Parameter(2.0, "mass of each dumbbell", "kg", low=0.0, high=12.0),
        "added": Parameter(4.0, "what each dumbbell suddenly weighs more", "kg", low=0.0, high=12.0),
        "step_at": Parameter(2.2, "when", "s", low=0.0, high=60.0),
        "sensor_lag": Parameter(0.2, "lag of the force senses, 0 for none", "s", low=0.0, high=5.0),
        "stiffness": Parameter(100.0, "k_p of the feedback; k_v is critical", "1/s²", low=1.0, high=5000.0),
        "coactivation": Parameter(0.0, "coactivation of agonists and antagonists", low=0.0, high=5.0),
        "flesh": Parameter("none", "flesh and skin", choices=("none", "elements")),
        "spacing": Parameter(0.03, "edge of a lattice cell, with flesh", "m", low=0.01, high=0.03),
        "two_way": Parameter(False, "bones feel the flesh"),
        "opacity": Parameter(1.0, "opacity of the skin, with flesh", low=0.1, high=1.0),
        "touching": Parameter(False, "arm and trunk may touch in the armpit, with flesh"),
        **LOOKS,
        **shape_parameters(),
        "regions": Parameter(False, "solve activations part by part, as Lee does"),
        "body": Parameter("corrected", "parameter set of the body", choices=("corrected", "printed")),
        "muscles": Parameter(
            "documents",
            "all of the line is fibre, or a rigid or elastic tendon and an activation that lags",
            choices=("documents", "rigid", "elastic"),
        ),
        "breathing": BREATHING,
        "rate": RATE,
        "steps": STEPS,
        **HEAD,
    },
    qualities={
        "draft": {"spacing": QUALITY_SPACING["draft"]},
        "standard": {"spacing": QUALITY_SPACING["standard"]},
        "fine": {"steps": 32, "rate": 480.0, "spacing": QUALITY_SPACING["fine"]},
    },
)

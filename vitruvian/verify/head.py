"""The head: what is solved against its conditions, networks against what is solved, reflex and eyes against their laws,
and the experiments of Lee 2008, section 4.4, as scenes."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from vitruvian.anatomy import Body, neck
from vitruvian.control.head import HeadControl, HeadSettings, HeadStatics, NeckChain, Reflex, Still, Turns, shipped
from vitruvian.control.head.eyes import EyeState, aim, look
from vitruvian.control.head.setpoint import turn_between
from vitruvian.control.head.training import draw
from vitruvian.couple import BodyStepper
from vitruvian.measured.injury import head_injury_criterion
from vitruvian.muscle import lengths, tension
from vitruvian.scenes import find
from vitruvian.skeleton import Skeleton, bone_poses
from vitruvian.spatial import exp_so3, log_so3
from vitruvian.systems import Push
from vitruvian.systems.head import HeadSystem
from vitruvian.verify._head_face import (
    face_keeps_its_volume,
    finer_cells_smile_alike,
    lids_close,
    lids_stay_outside_the_globe,
    lips_close,
    lips_do_not_cross,
    modes_hold_the_full_solution,
    no_skin_in_bone,
    no_unit_moves_the_skin_another_way,
    units_move_the_skin_as_an_artist_would,
)
from vitruvian.verify._scenes import scene_metrics
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.world import World, scene_parameters

__all__ = [
    "face_keeps_its_volume",
    "finer_cells_smile_alike",
    "lids_close",
    "lids_stay_outside_the_globe",
    "lips_close",
    "lips_do_not_cross",
    "modes_hold_the_full_solution",
    "no_skin_in_bone",
    "no_unit_moves_the_skin_another_way",
    "units_move_the_skin_as_an_artist_would",
]

Array = np.ndarray
POSES = 12


@cache
def _necks() -> dict[str, tuple[Body, HeadStatics]]:
    found = {"neck": neck(), "thesis": neck(muscles="thesis")}
    return {name: (body, HeadStatics(body)) for name, body in found.items()}


def _poses(statics: HeadStatics, count: int, seed: int) -> list[tuple[Array, Array, Array]]:
    """Head (3, 3), coordinates (n_q,) and gravity (3,) of poses that the neck reaches."""
    out: list[tuple[Array, Array, Array]] = []
    for turn, gravity in zip(*draw(np.random.default_rng(seed), 10 * count)):
        head = exp_so3(turn)
        angles, off = statics.chain.solve(head)
        if off < 1e-6 and len(out) < count:
            out.append((head, statics.chain.placed(statics.body.default_q, angles), gravity))
    return out


@claim
def setpoints_reach_the_pose() -> Finding:
    """The joint angles of a setpoint (eq. 4.4) turn the head to the wanted orientation."""
    off = []
    for body, statics in _necks().values():
        s = body.skeleton
        for head, q, _ in _poses(statics, POSES, 1):
            poses = bone_poses(s, q)
            now = poses[statics.chain.base, :3, :3].T @ poses[s.index("Sku"), :3, :3]
            off.append(float(np.linalg.norm(log_so3(head.T @ now))))
    return Finding.error(worst(off), 1e-6, "rad", f"{2 * POSES} poses, both necks, measured on the bones")


@claim
def setpoints_are_the_least() -> Finding:
    """No other joint angles give that orientation with a smaller weighted size."""
    off = []
    statics = _necks()["thesis"][1]  # without stops
    chain: NeckChain = statics.chain
    for head, _, _ in _poses(statics, POSES, 2):
        y, _ = chain.solve(head)
        J = np.empty((3, len(y)))
        for k in range(len(y)):
            step = np.zeros(len(y))
            step[k] = 1e-6
            J[:, k] = log_so3(chain.orientation(y + step) @ chain.orientation(y - step).T) / 2e-6
        gradient = y / chain.reach**2
        left = gradient - J.T @ np.linalg.lstsq(J.T, gradient, rcond=None)[0]
        off.append(float(np.linalg.norm(left) / np.linalg.norm(gradient)))
    return Finding.error(worst(off), 1e-5, "", f"{POSES} poses; J by finite differences")


@claim
def pose_solutions_meet_their_conditions() -> Finding:
    """Pose activations (eq. 4.2) balance the torque, and meet the optimality conditions of their problem."""
    off = []
    for _, statics in _necks().values():
        for _, q, gravity in _poses(statics, POSES, 3):
            at = statics.balance(q, gravity)
            a, missing = statics.pose(at)
            if missing > 0.01:
                continue  # beyond the muscles' strength
            off.append(missing)
            off.append(_stationary(at.map.dense(), at.weight, a, statics.muscles))
    return Finding.error(worst(off), 1e-2, "N m, 1", f"both necks; gravity in all directions; {len(off) // 2} poses")


def _stationary(R: Array, weight: Array, a: Array, mine: Array) -> float:
    """How far w² a is from Rᵀ y where 0 < a < 1, least squares over y; relative."""
    inside = mine[(a[mine] > 1e-4) & (a[mine] < 1.0 - 1e-4)]
    gradient = weight[inside] ** 2 * a[inside]
    y = np.linalg.lstsq(R[:, inside].T, gradient, rcond=None)[0]
    return float(np.abs(R[:, inside].T @ y - gradient).max() / max(gradient.max(initial=0.0), 1e-9))


@claim
def tone_makes_no_torque() -> Finding:
    """Tone activations make no torque, relative to the largest that one muscle makes."""
    off = []
    for _, statics in _necks().values():
        for _, q, gravity in _poses(statics, POSES, 4):
            at = statics.balance(q, gravity)
            off.append(np.abs(at.map.torques(statics.tone(at))).max() / np.abs(at.map.value).max())
    return Finding.error(worst(off), 1e-6, "", f"{2 * POSES} poses, both necks")


@claim
def tone_stiffens() -> Finding:
    """Full tone makes the neck stiffer against nodding, springs of the joints included."""
    ratio = []
    for body, statics in _necks().values():
        q = body.default_q
        at = statics.balance(q, np.array([0.0, 0.0, -1.0]))
        stepper = BodyStepper(body.skeleton, body.muscles)
        found = []
        for activation in (np.zeros(body.muscles.n_muscles), statics.tone(at)):
            stepper.assemble(q, np.zeros(body.skeleton.n_v), activation, 1e-3)
            m, k = body.muscles, stepper.found.tension[3]
            arms = np.zeros((m.n_muscles, m.n_v))
            arms[np.repeat(np.arange(m.n_muscles), np.diff(m.row_start)), m.column] = stepper.found.arms
            K = np.diag(body.skeleton.forces.stiffness) + arms.T @ (np.maximum(k, 0.0)[:, None] * arms)
            rows = statics.rows
            push = np.zeros(m.n_v)
            push[statics.chain.v_at[0::3]] = 1.0  # a torque on the head about x acts on every joint below
            found.append(1.0 / float(push[rows] @ np.linalg.solve(K[np.ix_(rows, rows)], push[rows])))
        ratio.append(found[1] / found[0])
    return Finding.within(min(ratio), 1.1, 100.0, "", f"own neck {ratio[0]:.2f}, thesis {ratio[1]:.2f} times as stiff")


@claim
def reflex_and_intrinsic_stiffness() -> Finding:
    """Stiffness of a muscle under reflex (appendix A), k_max a + s k_p F_l / l0 + passive, by finite differences."""
    body = _necks()["thesis"][0]
    m = body.muscles
    rng = np.random.default_rng(5)
    reflex, gain = Reflex(), 1.5
    rest, n = m.rest_length, m.n_muscles
    l = rest * rng.uniform(0.95, 1.05, n)
    wanted, still, f = l / rest - 1.0 - 0.01, np.zeros(n), rng.uniform(0.2, 0.5, n)

    def force(length: Array) -> Array:
        a = reflex.activation(f, length / rest - 1.0, still, wanted, still, gain)
        return tension(m, a, length, still).force

    step = 1e-7
    slope = (force(l + step) - force(l - step)) / (2 * step)
    a = reflex.activation(f, l / rest - 1.0, still, wanted, still, gain)
    found = tension(m, a, l, still)
    told = found.stiffness + found.capacity * gain * reflex.k_p / rest
    return Finding.error(np.abs(slope / told - 1.0).max(), 1e-5, "", f"{n} muscles")


@claim
def networks_on_poses_they_never_saw() -> Finding:
    """Torque error of the shipped pose networks on held-out poses, relative to the torque needed; worse neck."""
    parts = []
    for name, (body, statics) in _necks().items():
        nets = shipped(name, tuple(body.muscles.names[i] for i in statics.muscles))
        off, needed = [], []
        for head, q, gravity in _poses(statics, 100, 6):
            at = statics.balance(q, gravity)
            if statics.pose(at)[1] > 0.5:
                continue
            a = np.zeros(body.muscles.n_muscles)
            a[statics.muscles] = nets.activations(head, gravity)[0]
            off.append(at.map.torques(a) - at.torque)
            needed.append(at.torque)
        parts.append(np.sqrt(np.mean(np.square(off)) / np.mean(np.square(needed))))
    return Finding.error(max(parts), 0.15, "", f"rms: own neck {parts[0]:.3f}, thesis {parts[1]:.3f}")


@claim
def networks_hold_poses_they_never_saw() -> Finding:
    """How far a head is off after 1.5 s at held-out poses, held upright by networks and reflex; farthest of all."""
    found = {}
    for name, (body, statics) in _necks().items():
        nets = shipped(name, tuple(body.muscles.names[i] for i in statics.muscles))
        for source, networks in (("networks", nets), ("solved", None)):
            off = []
            for head, q, _ in _poses(statics, 20, 6):
                if statics.pose(statics.balance(q, np.array([0.0, 0.0, -1.0])))[1] > 0.5:
                    continue
                control = HeadControl(body, Still(head), networks=networks, statics=statics)
                world = World(HeadSystem(body, q, drawn=False), control, substeps=2)
                world.advance(1.5)
                off.append(np.degrees(turn_between(head, control.head_now(world.state.q))))
            found[name, source] = np.array(off)
    told = "; ".join(f"{n}, {s}: {np.sqrt(np.mean(off**2)):.2f} rms, {len(off)}" for (n, s), off in found.items())
    largest = max(float(off.max()) for (_, source), off in found.items() if source == "networks")
    return Finding.error(largest, 2.0, "deg", told)


@claim
def saccades_follow_the_main_sequence() -> Finding:
    """Peak rate of saccades over the human one, 551 (1 - exp(-A/14)) deg/s (Baloh 1975), farthest of five sizes."""
    ratio = []
    head = np.eye(4)
    for size in (3.0, 5.0, 10.0, 20.0, 30.0):
        eyes = EyeState()
        for k in range(1500):
            a = np.radians(size if k > 500 else 0.0)
            target = np.array([100.0 * np.sin(a), -100.0 * np.cos(a), 0.043])
            look(eyes, head, target, 1e-3 * k, 1e-3, np.random.default_rng(0))
        ratio.append(np.degrees(eyes.peak) / (551.0 * (1.0 - np.exp(-size / 14.0))))
    return Finding.within(worst(ratio, 1.0), 0.67, 1.5, "", ", ".join(f"{r:.2f}" for r in ratio))


@claim
def gaze_stays_when_the_head_turns() -> Finding:
    """The vestibulo-ocular reflex keeps gaze on a still target while the head turns at 100 deg/s."""
    eyes, off = EyeState(), []
    target = np.array([0.0, -2.0, 0.043])
    for k in range(300):
        head = np.eye(4)
        head[:3, :3] = exp_so3(np.array([0.0, 0.0, np.radians(0.1 * k)]))
        look(eyes, head, target, 1e-3 * k, 1e-3, np.random.default_rng(0))
        if k > 250:
            off.append(np.degrees(np.abs(aim(head, target) - eyes.angle).max()))
    return Finding.error(max(off), 0.1, "deg", "300 ms")


@claim
def a_long_step_makes_the_same_motion() -> Finding:
    """A head of the thesis that turns by 32 degrees and is knocked: steps of 16.7 ms against 1 ms, rms."""
    body, statics = _necks()["thesis"]
    nets = shipped("thesis", tuple(body.muscles.names[i] for i in statics.muscles))
    goal = Turns([0.0, 0.8], [np.eye(3), exp_so3(np.radians([10.0, 0.0, 30.0]))])
    system = HeadSystem(body, drawn=False, pushes=[Push("Sku", (0.0, 40.0, 0.0), 1.2, 0.05, (0.0, -0.11, 0.11))])
    courses = []
    for steps in (16, 1):
        control = HeadControl(body, goal, HeadSettings(tone=0.1), networks=nets, statics=statics)
        world, heads = World(system, control, substeps=steps), []
        for _ in range(120):
            world.advance(1.0 / 60.0)
            heads.append(log_so3(control.head_now(world.state.q)))
        courses.append(np.degrees(heads))
    off = np.linalg.norm(courses[1] - courses[0], axis=1)
    return Finding.error(float(np.sqrt(np.mean(off**2))), 0.5, "deg", f"2 s; largest {off.max():.1f} degrees")


@claim
def both_hold_the_head() -> Finding:
    """Networks and reflex together hold the head within 2 degrees for 10 s, after a knock too."""
    found = scene_metrics("head-balance")
    return Finding.error(found["largest_error_deg"], 2.0, "deg", f"knocked by {found['knocked_deg']:.1f} degrees")


@claim
def the_reflex_alone_does_not() -> Finding:
    """The reflex alone leaves the head off by more than 2 degrees (Lee 2008, 4.4.1)."""
    return Finding.within(
        scene_metrics("head-balance", 5.0, control="feedback")["largest_error_deg"], 2.0, 180.0, "deg"
    )


@claim
def the_bumpy_ride_orders_tone_and_gain() -> Finding:
    """Wobble with both raised over that with gain alone, where gain alone is below neither (figure 4.4)."""
    found = scene_metrics("bumpy-ride")
    ordered = found["wobble_gain"] < found["wobble_neither"]
    ratio = found["wobble_both"] / found["wobble_gain"] if ordered else np.inf
    told = ", ".join(f"{k} {found['wobble_' + k]:.1f}" for k in ("neither", "tone", "gain", "both"))
    return Finding.within(ratio, 0.0, 1.0, "", f"rms degrees: {told}")


@claim
def a_blow_moves_a_stiff_neck_less() -> Finding:
    """Peak of the head's turn after a blow falls with tone: largest ratio of one tone's to the next lower's."""
    found = scene_metrics("head-impact")
    peaks = [found[f"peak_{c}"] for c in ("c0", "c2", "c4")]
    told = " > ".join(f"{p:.1f}" for p in peaks)
    return Finding.within(max(b / a for a, b in pairwise(peaks)), 0.0, 0.999, "", f"degrees: {told}")


@claim
def gaze_is_on_the_doll() -> Finding:
    """Gaze error after the saccades while the doll is still."""
    return Finding.error(scene_metrics("gaze", face=False)["gaze_error_deg"], 1.0, "deg")


@claim
def feelings_follow_what_is_seen() -> Finding:
    """Least of joy, awe and anger when the doll is at eye level, above the head and shaken, 1 at most."""
    found = scene_metrics("gaze", face=False)
    told = ", ".join(f"{e} {found[e]:.2f}" for e in ("joy", "awe", "anger"))
    return Finding.within(min(found[e] for e in ("joy", "awe", "anger")), 0.7, 1.0, "", told)


@claim
def heads_in_company_look_at_each_other() -> Finding:
    """Share of time that three heads look at each other after the doll has left; all three feelings came before."""
    found = scene_metrics("conversation", face=False)
    felt = min(found[f"{e}_middle"] for e in ("joy", "awe", "anger"))
    told = f"least of joy, awe, anger in the middle: {felt:.2f}; joy of the lively one {found['joy_right']:.2f}"
    return Finding.within(found["faces_without_doll"] if felt > 0.6 else 0.0, 0.8, 1.0, "", told)


@claim
def the_injury_criterion_of_half_a_sine() -> Finding:
    """HIC15 and HIC36 of half a sine against the best window of its integral in closed form, relative."""
    peak, lasting, off = 90.0, 0.03, []
    t = np.arange(0.0, lasting + 5e-5, 1e-4)
    for window in (0.015, 0.036):
        w = np.linspace(1e-3, min(window, lasting), 20001)
        mean = 2.0 * peak * lasting / np.pi * np.sin(0.5 * np.pi * w / lasting) / w
        exact = float((w * mean**2.5).max())
        off.append(head_injury_criterion(t, np.abs(peak * np.sin(np.pi * t / lasting)), window) / exact - 1.0)
    return Finding.error(worst(off), 2e-3, "", "90 g, 30 ms, sampled at 10 kHz")


@claim
def bracing_holds_the_head_in_a_crash() -> Finding:
    """Largest turn of a braced head over that of a relaxed one, at 10 g from the front for 80 ms."""
    found = scene_metrics("crash")
    told = ", ".join(
        f"{k}: {found[f'turn_{k}_deg']:.0f} degrees, {found[f'head_g_{k}']:.0f} g, HIC15 {found[f'hic15_{k}']:.0f}, "
        f"Nij {found[f'nij_{k}']:.2f}"
        for k in ("relaxed", "toned", "braced")
    )
    return Finding.within(found["turn_braced_deg"] / found["turn_relaxed_deg"], 0.0, 0.95, "", told)


@claim
def a_pushed_person_keeps_the_head_up() -> Finding:
    """How far the head of a standing person tilts after a push on the chest, looking ahead."""
    scene, found = find("balance"), {}
    for head in ("gaze", "limp"):
        world = scene.build(scene_parameters(scene, "draft", {"head": head}))
        tilt = []
        for _ in range(120):
            world.advance(1.0 / 60.0)
            tilt.append(_tilt(world.state.q, world.simulation.skeleton))  # type: ignore[attr-defined]
        found[head] = max(tilt) - tilt[0]
    return Finding.error(found["gaze"], 5.0, "deg", f"with the neck's muscles off: {found['limp']:.0f} degrees")


@claim
def a_person_who_curls_looks_elsewhere() -> Finding:
    """How far the elbows of a curl are off their course, rms, in its first second with the head turned to the left."""
    scene = find("curl")
    world = scene.build(scene_parameters(scene, "draft", {"head": "gaze", "look": "1,-2,1.2"}))
    off = []
    for _ in range(60):
        world.advance(1.0 / 60.0)
        seen = world.observe().signals
        off += [np.diff(np.asarray(seen[name])) for name in ("elbow", "elbow_right")]
    s = world.simulation.skeleton  # type: ignore[attr-defined]
    poses = bone_poses(s, world.state.q)
    turn = poses[s.index("T1"), :3, :3].T @ poses[s.index("Sku"), :3, :3]
    yaw = float(np.degrees(np.arctan2(turn[1, 0], turn[0, 0])))
    return Finding.error(np.degrees(np.sqrt(np.mean(np.square(off)))), 2.0, "deg", f"head turned by {yaw:.0f} degrees")


def _tilt(q: Array, skeleton: Skeleton) -> float:
    """Of the head's axis from upright, in degrees."""
    return float(np.degrees(np.arccos(bone_poses(skeleton, q)[skeleton.index("Sku"), 2, 2])))


@claim
def lengths_of_the_thesis_muscles() -> Finding:
    """All 72 muscles of the thesis' neck are at rest in the default pose."""
    body = _necks()["thesis"][0]
    l = lengths(body.muscles, bone_poses(body.skeleton, body.default_q))
    return Finding.error(
        np.abs(l / body.muscles.rest_length - 1.0).max(), 1e-9, "", f"{body.muscles.n_muscles} muscles"
    )

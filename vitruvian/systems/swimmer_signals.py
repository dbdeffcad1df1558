"""What is recorded of a swimmer at each instant: speed, attitude, forces, and where momentum and energy went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.control.rhythm import GROUPS
from vitruvian.skeleton import centre_of_mass, centroidal_momentum, energy
from vitruvian.systems.measures import Measure, Now
from vitruvian.world import Signal

Array = np.ndarray
LIPS = np.array([0.0, -0.10, -0.03, 1.0])  # [m] in the jaw's frame, on the skin
HEADING = np.array([0.0, -1.0, 0.0])  # where a swimmer starts off to: the head points along -y


@dataclass(frozen=True)
class Calm:
    """What calm water would do to the body."""

    lift: Array  # force on each link [N], shape (links, 3)
    displaced: float  # volume below the surface [m^3]
    level: float  # of the surface [m]
    parts: Array  # index into BODY_PARTS of each link, shape (links,)
    bones: Array  # index into FLOW_BONES of each link, shape (links,)


BODY_PARTS = ("trunk", "head and neck", "upper arms", "forearms", "hands", "thighs", "shanks", "feet")  # of the body
_LIMBS = {"Hu": 2, "Ul": 3, "Rad": 3, "Ha": 4, "Fe": 5, "Tfp": 6, "Fo": 7}


def parts_of(links: Sequence[str]) -> Array:
    """Index into BODY_PARTS of each link of a skin, by its bone's name, shape (links,)."""
    above = ("Sku", *(f"C{i}" for i in range(1, 8)))
    return np.array([_LIMBS.get(x.split("_")[0], int(x in above)) for x in links])


FLOW_BONES = ("T6", "Sku", *(f"{bone}_{side}" for bone in ("Hu", "Ul", "Ha", "Fe", "Tfp", "Fo") for side in "lr"))


def flow_bones_of(links: Sequence[str]) -> Array:
    """Index into FLOW_BONES of each link of a skin: the bone of its part of the body and its side, shape (links,)."""
    names = [("T6", "Sku", "Hu", "Ul", "Ha", "Fe", "Tfp", "Fo")[part] for part in parts_of(links)]
    return np.array(
        [FLOW_BONES.index(x if x in FLOW_BONES else x + link[-2:]) for x, link in zip(names, links, strict=True)]
    )


SIGNALS = (
    Signal("position", "m", "centre of mass", ("x", "y", "z")),
    Signal("velocity", "m/s", "velocity of the centre of mass", ("x", "y", "z")),
    Signal("speed", "m/s", "speed along the course (-y)"),
    Signal("speed_ahead", "m/s", "speed in the direction of the trunk"),
    Signal("heading", "deg", "direction of the trunk, positive to the left"),
    Signal("pitch", "deg", "head up: axis of the pelvis, line from it to the neck", ("pelvis", "trunk")),
    Signal("roll", "deg", "about the long axis, positive: left side down", ("pelvis", "chest")),
    Signal("back_up", "1", "1 face down, -1 face up: height of the chest's back direction"),
    Signal("head_height", "m", "height of the skull's joint"),
    Signal("mouth_height", "m", "height of the lips over the calm surface"),
    Signal("height", "m", "height of the centre of mass"),
    Signal("displaced", "m^3", "volume of the body below the calm surface"),
    Signal("propulsion", "N", "flow forces on parts pushed forward, summed"),
    Signal("drag", "N", "flow forces on parts held back, summed"),
    Signal("thrust_by_part", "N", "flow force ahead on each part; less than zero: it is held back", BODY_PARTS),
    Signal(
        "flow_force",
        "N",
        "force of the flow on each part of the body",
        tuple(f"{b} {c}" for b in FLOW_BONES for c in "xyz"),
    ),
    Signal("water_force", "N", "force of the water on the body", ("x", "y", "z")),
    Signal("work", "J", "work so far", ("muscles or torques", "water", "pushes", "damped joints")),
    Signal("work_by_part", "J", "work of the water on each part so far; negative: given to the water", BODY_PARTS),
    Signal("energy", "J", "energy of the body", ("kinetic", "gravity", "springs")),
    Signal("momentum", "kg m/s", "momentum of the body", ("x", "y", "z")),
    Signal("impulse_water", "N s", "impulse of the water on the body so far", ("x", "y", "z")),
    Signal("impulse_other", "N s", "impulse of weight and pushes so far", ("x", "y", "z")),
    Signal("activation", "1", "muscle activation", ("mean", "largest")),
    Signal("activation_by_group", "1", "mean muscle activation", GROUPS),
)


def swim_measures() -> list[Measure]:
    """One for each of SIGNALS, found together."""

    def reading(name: str) -> Callable[[Now], float | Array]:
        return lambda now: now.once(swim_readings)[name]

    return [Measure(signal, reading(signal.name)) for signal in SIGNALS]


def swim_readings(now: Now) -> dict[str, float | Array]:
    """The signals of an instant of a `SwimmerSystem`."""
    s, state, poses, calm, groups = now.skeleton, now.state, now.poses, now.system.calm(now), now.system.groups
    head, pelvis = poses[s.index("Sku")], poses[0]
    chest = poses[s.index("T6")]
    neck = poses[s.index("T1"), :3, 3]
    ahead = _level_direction(neck - pelvis[:3, 3])
    force = state.link_force[:, 3:] - calm.lift
    flow = force @ ahead
    com = centre_of_mass(s, state.q)
    e = energy(s, state.q, state.v)
    velocity = np.asarray(centroidal_momentum(s, state.q, state.v)[3:] / s.mass)
    a = state.activation
    by_group = [float(a[groups == k].mean()) if len(a) and (groups == k).any() else 0.0 for k in range(len(GROUPS))]
    work, impulse = state.book.work, state.book.impulse
    return {
        "position": com,
        "velocity": velocity,
        "speed": float(velocity @ HEADING),
        "speed_ahead": float(velocity @ ahead),
        "heading": float(np.degrees(np.arctan2(ahead[0], -ahead[1]))),
        "pitch": np.degrees(np.arcsin(np.clip([pelvis[2, 2], _unit(neck - pelvis[:3, 3])[2]], -1.0, 1.0))),
        "roll": np.array([_roll(pelvis), _roll(chest)]),
        "back_up": float(chest[2, 1]),
        "head_height": float(head[2, 3]),
        "mouth_height": float(poses[s.index("Man"), 2] @ LIPS) - calm.level,
        "height": float(com[2]),
        "displaced": calm.displaced,
        "propulsion": float(np.maximum(flow, 0.0).sum()),
        "drag": float(-np.minimum(flow, 0.0).sum()),
        "thrust_by_part": np.bincount(calm.parts, weights=flow, minlength=len(BODY_PARTS)),
        "flow_force": np.stack(
            [np.bincount(calm.bones, weights=force[:, c], minlength=len(FLOW_BONES)) for c in range(3)], axis=1
        ).ravel(),
        "water_force": state.link_force[:, 3:].sum(axis=0),
        "work": np.array([work["drive"], work["water"], work["push"], work["joints"]]),
        "work_by_part": np.bincount(calm.parts, weights=state.link_work, minlength=len(BODY_PARTS)),
        "energy": np.array([e.kinetic, e.gravity, e.springs]),
        "momentum": s.mass * velocity,
        "impulse_water": impulse["water"].copy(),
        "impulse_other": impulse["weight"] + impulse["push"],
        "activation": np.array([a.mean(), a.max()]) if len(a) else np.zeros(2),
        "activation_by_group": np.array(by_group),
    }


def _unit(x: Array) -> Array:
    return x / max(float(np.linalg.norm(x)), 1e-12)


def _level_direction(x: Array) -> Array:
    return _unit(x * np.array([1.0, 1.0, 0.0]))


def _roll(pose: Array) -> float:
    """Turn about the bone's long axis (its z) from level [deg]: how far its left side (x) points down."""
    return float(np.degrees(np.arcsin(np.clip(-pose[2, 0], -1.0, 1.0))))


def momentum_gaps(momentum: Array, water: Array, received: Array) -> Array:
    """Largest gap between momentum gained and impulses received so far, in parts of what the water passed to and fro;
    level and upright apart, since weight would drown the rest, shape (2,). Arguments [N s], shape (n, 3) each."""
    gap = momentum - momentum[0] - (received - received[0])
    given = np.diff(water, axis=0)
    return np.array(
        [
            np.linalg.norm(gap[:, axes], axis=1).max() / np.maximum(np.linalg.norm(given[:, axes], axis=1).sum(), 1e-9)
            for axes in ([0, 1], [2])
        ]
    )

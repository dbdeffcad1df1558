"""The four limbs as learned models see them, and the task that asks for natural rates (Si 2013, 5.18).

A limb's pose is four angles: the rotation vector of shoulder or hip from neutral, and elbow or knee. `limbs.npz` holds
the models that the package ships; `vitruvian train limbs` makes it anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.tasks.gather import Gathered
from vitruvian.control.tasks.gpdm import Gpdm
from vitruvian.control.tasks.latent import LatentWeights, Tabled, next_points
from vitruvian.control.tasks.now import Now
from vitruvian.errors import InputError
from vitruvian.skeleton import Skeleton

Array = np.ndarray
LIMBS = {
    "left arm": ("Hu_l", "Ul_l"),
    "right arm": ("Hu_r", "Ul_r"),
    "left leg": ("Fe_l", "Tfp_l"),
    "right leg": ("Fe_r", "Tfp_r"),
}
RATE = 30.0  # frames a second of the captured motions
FIELDS = ("X", "Y", "first", "pose_kernel", "motion_kernel", "mean", "scale")


def limb_columns(s: Skeleton) -> Array:
    """Velocity coordinates of the limbs' angles, (limbs, 4)."""
    return np.array(
        [[*range(*s.v_slice(a).indices(s.n_v)), *range(*s.v_slice(b).indices(s.n_v))] for a, b in LIMBS.values()]
    )


def limb_poses(s: Skeleton, q: Array) -> Array:
    """Angles of the limbs [rad], (limbs, 4)."""
    away = np.empty(s.n_v)
    neutral = s.neutral_q()
    tracking_error(s.topology, neutral, q, away)
    out = away[limb_columns(s)]
    for k, (_, hinge) in enumerate(LIMBS.values()):
        out[k, 3] = q[s.q_slice(hinge)][0]
    return np.asarray(out)


def place() -> Path:
    """Where the package keeps its models."""
    return Path(str(files("vitruvian.control.tasks") / "limbs.npz"))


def save(models: dict[str, Gpdm], path: Path) -> None:
    arrays: dict[str, Any] = {
        f"{limb}/{name}": np.asarray(getattr(g, name), np.float32 if name in ("X", "Y") else None)
        for limb, g in models.items()
        for name in FIELDS
    }
    np.savez_compressed(path, **arrays)


def load(path: Path | None = None) -> dict[str, Gpdm]:
    path = place() if path is None else path
    if not path.is_file():
        raise InputError(f"no models of limbs at '{path}'; `vitruvian train limbs` makes them")
    models = {}
    with np.load(path) as kept:
        for limb in LIMBS:
            one = {name: kept[f"{limb}/{name}"] for name in FIELDS}
            numbers = {name: np.asarray(value, float) for name, value in one.items() if name not in ("first", "scale")}
            models[limb] = Gpdm(**numbers, first=one["first"], scale=float(one["scale"]))
    return models


@cache
def shipped() -> Tabled:
    found = load()
    return Tabled.of([found[limb] for limb in LIMBS])


@dataclass
class Natural:
    """Limbs move as people's do: rates of the learned models, renewed 30 times a second and led over smoothly."""

    body: Body
    weight: float = 0.01
    weights: LatentWeights = field(default_factory=LatentWeights)
    settle: float = 0.5  # τ [s] in which a limb comes to its learned pose
    blend: float = 0.1  # [s] over which new rates come in
    fastest: float = 3.0  # [rad/s]
    models: Tabled = field(default_factory=shipped)
    name: str = "natural"

    def start(self) -> dict[str, Array]:
        none = {name: np.zeros(0) for name in ("rate", "wish", "next", "seen")}
        return {"x": np.zeros((0, 0)), **none}

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        s = now.skeleton
        columns = limb_columns(s)
        y = limb_poses(s, now.q)
        at = np.searchsorted(now.joints, columns.ravel(), sorter=np.argsort(now.joints))
        at = np.argsort(now.joints)[at]
        turns = _right_jacobians(y)
        if not memory["x"].size:
            memory["x"], memory["rate"] = self.models.nearest(y), now.v[columns.ravel()].copy()
            memory["wish"], memory["next"], memory["seen"] = (
                memory["rate"].copy(),
                np.array([now.time]),
                np.array([now.time]),
            )
        if now.time >= memory["next"][0] - 1e-9:
            Q, u = condensed(gathered, at)
            Q = turns.T @ Q @ turns
            u = np.linalg.solve(turns, u)
            dt = 1.0 / RATE
            before = memory["x"]
            after = next_points(self.models, self.weights, before, y, Q, u, dt, self.settle)
            here = self.models.at(before)
            rate = (self.models.at(after) - here) / dt + (here - y) / self.settle
            memory["x"] = after
            memory["wish"] = np.clip(turns @ rate.ravel(), -self.fastest, self.fastest)
            memory["next"] = memory["next"] + dt
        share = 1.0 - np.exp(-(now.time - memory["seen"][0]) / self.blend)
        memory["seen"] = np.array([now.time])
        memory["rate"] = memory["rate"] + share * (memory["wish"] - memory["rate"])
        wanted, weight = np.zeros(len(now.joints)), np.zeros(len(now.joints))
        wanted[at], weight[at] = memory["rate"], self.weight
        gathered.prefer(wanted, weight)


def condensed(gathered: Gathered, at: Array) -> tuple[Array, Array]:
    """The program so far as a quadratic of the velocities `at`, the others at their best: Q (k, k), minimum (k,).

    Rows from one side are left out."""
    p = gathered.program()
    both = ~p.one_sided
    R, W = p.rows[both], p.row_weight[both]
    H = np.diag(p.weight) + R.T @ (W[:, None] * R)
    c = p.weight * p.centre + R.T @ (W * p.target[both])
    rest = np.setdiff1d(np.arange(len(c)), at)
    solved = np.linalg.solve(H[np.ix_(rest, rest)], np.column_stack([H[np.ix_(rest, at)], c[rest]]))
    Q = H[np.ix_(at, at)] - H[np.ix_(at, rest)] @ solved[:, :-1]
    u = np.linalg.solve(Q, c[at] - H[np.ix_(at, rest)] @ solved[:, -1])
    return 0.5 * (Q + Q.T), u


def _right_jacobians(y: Array) -> Array:
    """Joint velocities per rate of the limbs' angles, block by block, (limbs x 4, limbs x 4)."""
    n = 4 * len(y)
    out = np.eye(n)
    for k, one in enumerate(y):
        r = one[:3]
        t = float(np.linalg.norm(r))
        S = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
        a, b = (
            (0.5 - t * t / 24.0, 1.0 / 6.0 - t * t / 120.0)
            if t < 1e-3
            else ((1.0 - np.cos(t)) / t**2, (t - np.sin(t)) / t**3)
        )
        out[4 * k : 4 * k + 3, 4 * k : 4 * k + 3] = np.eye(3) - a * S + b * S @ S
    return out

"""Training of the head's networks: solve pose and tone at many poses, fit networks to them, say how good they are.

Poses are drawn evenly from the rotations that the neck reaches (`RANGE`), gravity evenly from all directions; a pose
that the neck or its muscles cannot hold is left out. Learner: scikit-learn's MLPRegressor (an optional dependency:
`pip install "vitruvian[train]"`); what it finds is kept as plain arrays (`networks`).

A learner of activations does not know what they do: small errors of many muscles add up to a torque. So the last layer
of the pose network is then fitted once more (L-BFGS), hidden layers kept, for

    mean |R(q) a − τ|² / mean |τ|² + NEAR mean |a − a_p|² / mean |a_p|²,

R: torques of the muscles at full activation, τ: what the pose needs, a_p: what was solved.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vitruvian import swarm
from vitruvian.anatomy import Body, neck
from vitruvian.control.head.networks import HeadNetworks, Network, quaternion_vector
from vitruvian.control.head.setpoint import NeckChain
from vitruvian.control.head.solutions import HeadStatics
from vitruvian.errors import InputError
from vitruvian.spatial import exp_so3

Array = np.ndarray
RANGE = np.radians([45.0, 30.0, 60.0])  # half axes of the ellipsoid of rotation vectors: nodding, tilting, turning
MISSED = np.radians(0.1)  # [rad] a pose further out of the neck's reach is left out
SHORT = 0.5  # [N m] a pose at which muscles lack more is left out
CHUNK = 200
NEAR = 0.1
FITTED = 6000  # poses at most for the second fit
HELD_OUT = 0.1


@dataclass(frozen=True)
class Samples:
    """Solved poses."""

    x: Array  # quaternion and gravity, shape (n, 6)
    angles: Array  # of the neck's joints [rad], shape (n, 3 n_joints)
    pose: Array  # activations, shape (n, n_muscles)
    tone: Array  # shape (n, n_muscles)


@dataclass(frozen=True)
class Quality:
    """How good networks are at poses that they were not trained on."""

    pose_rms: float  # of activations
    tone_rms: float
    torque_rms: float  # of the pose network's torque against what is needed [N m]
    needed_rms: float  # what is needed [N m]
    tone_torque_rms: float  # of the tone network, which should be none [N m]


def draw(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Rotation vectors of heads (count, 3) [rad] and gravity (count, 3), in parts of 9.81 m/s²."""
    ball = rng.normal(size=(count, 3))
    ball *= (rng.random(count) ** (1 / 3) / np.linalg.norm(ball, axis=1))[:, None]
    gravity = rng.normal(size=(count, 3))
    upright = rng.random(count) < 0.5  # half of them within about 30 degrees of upright, where heads mostly are
    gravity[upright] = (0.0, 0.0, -3.0) + 0.8 * gravity[upright]
    return ball * RANGE, gravity / np.linalg.norm(gravity, axis=1)[:, None]


def _solved(body: Callable[[], Body], seed: int, count: int) -> Samples:
    model = body()
    statics = HeadStatics(model)
    chain: NeckChain = statics.chain
    rows: list[tuple[Array, Array, Array, Array]] = []
    for turn, gravity in zip(*draw(np.random.default_rng(seed), count)):
        head = exp_so3(turn)
        angles, off = chain.solve(head)
        if off > MISSED:
            continue
        at = statics.balance(chain.placed(model.default_q, angles), gravity)
        pose, short = statics.pose(at)
        if short > SHORT:
            continue
        x = np.concatenate([quaternion_vector(head), gravity])
        rows.append((x, angles, pose[statics.muscles], statics.tone(at)[statics.muscles]))
    return Samples(*(np.array(part) for part in zip(*rows)))


def solve_samples(
    body: Callable[[], Body],
    count: int,
    *,
    seed: int = 0,
    processes: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Samples:
    """About `count` solved poses; body: a function that makes the body, so that workers can."""
    items = [(body, 1000 * seed + k, min(CHUNK, count - k * CHUNK)) for k in range(-(-count // CHUNK))]
    parts = swarm.map(_chunk, items, processes=processes, scheduler=scheduler, progress=progress)
    return Samples(*(np.concatenate([getattr(p, f) for p in parts]) for f in ("x", "angles", "pose", "tone")))


def _chunk(item: tuple[Callable[[], Body], int, int]) -> Samples:
    return _solved(*item)


def fit(
    samples: Samples, muscles: tuple[str, ...], *, hidden: tuple[int, int] = (48, 96), epochs: int = 150, seed: int = 0
) -> HeadNetworks:
    """Networks fitted to the samples but for the last HELD_OUT of them."""
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPRegressor
    except ImportError:
        raise InputError('training needs scikit-learn: pip install "vitruvian[train]"') from None
    n = round((1.0 - HELD_OUT) * len(samples.x))

    def trained(x: Array, y: Array) -> Network:
        learner = MLPRegressor(
            hidden_layer_sizes=hidden, activation="tanh", solver="adam", alpha=1e-6, batch_size=200,
            max_iter=epochs, tol=0.0, n_iter_no_change=epochs, random_state=seed,
        )  # fmt: skip
        for rate, more in ((3e-3, epochs // 2), (1e-3, epochs // 4), (2e-4, epochs // 4)):
            learner.set_params(learning_rate_init=rate, max_iter=more, warm_start=True)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is given
                learner.fit(x[:n], y[:n])
        return Network(tuple(learner.coefs_), tuple(learner.intercepts_))

    return HeadNetworks(trained(samples.x, samples.pose), trained(samples.x[:, :3], samples.tone), muscles)


def fit_torques(
    networks: HeadNetworks, samples: Samples, body: Body, *, most: int = FITTED, iterations: int = 250
) -> HeadNetworks:
    """The same networks, the last layer of the pose network fitted to the torques that poses need."""
    from scipy.optimize import minimize

    n = min(round((1.0 - HELD_OUT) * len(samples.x)), most)
    R, needed = _torques(samples, body, np.arange(n))
    net, wanted = networks.pose, samples.pose[:n]
    y = samples.x[:n]
    for W, b in zip(net.weights[:-1], net.biases[:-1]):
        y = np.tanh(y @ W + b)
    y = np.concatenate([y, np.ones((n, 1))], axis=1)
    start = np.concatenate([net.weights[-1], net.biases[-1][None]])
    per_torque, per_pose = 1.0 / np.sum(needed**2), NEAR / np.sum(wanted**2)

    def loss(flat: Array) -> tuple[float, Array]:
        a = y @ flat.reshape(start.shape)
        off = np.einsum("nrm,nm->nr", R, np.clip(a, 0.0, 1.0)) - needed
        back = 2.0 * per_torque * np.einsum("nrm,nr->nm", R, off) * ((a > 0.0) & (a < 1.0))
        # a muscle that is to stay off may be asked for less than nothing
        far = np.where((wanted <= 0.0) & (a < 0.0), 0.0, a - wanted)
        slope = y.T @ (back + 2.0 * per_pose * far)
        return float(per_torque * np.sum(off**2) + per_pose * np.sum(far**2)), slope.ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    last = found.x.reshape(start.shape)
    pose = Network((*net.weights[:-1], last[:-1]), (*net.biases[:-1], last[-1]))
    return HeadNetworks(pose, networks.tone, networks.muscles)


def _torques(samples: Samples, body: Body, picked: Array) -> tuple[Array, Array]:
    """Torques of the neck's muscles at full activation (k, rows, n_muscles) and those needed (k, rows) [N m]."""
    statics = HeadStatics(body)
    R, needed = [], []
    for k in picked:
        at = statics.balance(statics.chain.placed(body.default_q, samples.angles[k]), samples.x[k, 3:])
        R.append(at.map.dense()[:, statics.muscles].astype(np.float32))
        needed.append(at.torque)
    return np.array(R), np.array(needed)


def quality(networks: HeadNetworks, samples: Samples, body: Body, most: int = 300) -> Quality:
    """At the samples that were held out, at most so many."""
    statics = HeadStatics(body)
    first = round((1.0 - HELD_OUT) * len(samples.x))
    picked = np.arange(first, min(len(samples.x), first + most))
    given, stiff = networks.pose(samples.x[picked]), networks.tone(samples.x[picked, :3])
    off, needed, left = [], [], []
    activation = np.zeros(body.muscles.n_muscles)
    for k, a, t in zip(picked, given, stiff):
        at = statics.balance(statics.chain.placed(body.default_q, samples.angles[k]), samples.x[k, 3:])
        activation[statics.muscles] = a
        off.append(at.map.torques(activation) - at.torque)
        needed.append(at.torque)
        activation[statics.muscles] = t
        left.append(at.map.torques(activation))
    return Quality(
        pose_rms=_rms(given - samples.pose[picked]),
        tone_rms=_rms(stiff - samples.tone[picked]),
        torque_rms=_rms(np.array(off)),
        needed_rms=_rms(np.array(needed)),
        tone_torque_rms=_rms(np.array(left)),
    )


def thesis_neck() -> Body:
    return neck(muscles="thesis")


# body and sizes of the hidden layers
NETWORKS: dict[str, tuple[Callable[[], Body], tuple[int, int]]] = {
    "neck": (neck, (64, 128)),
    "thesis": (thesis_neck, (32, 64)),
}


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2)))

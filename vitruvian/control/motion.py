"""Motions: joint coordinates, velocities and accelerations at any time.

`KeyMotion` moves from key pose to key pose along geodesics with the smoothest rest-to-rest timing, s(u) = 10 u^3 - 15
u^4 + 6 u^5 (least jerk), so that velocity and acceleration vanish at every key. `SampledMotion` follows dense
samples, such as motion capture. Key poses come from readable TOML files:

    [[key]]
    time = 0.0
    pose = { elbow = 10, arm = { direction = [0.1, 0, -1] } }

A key's pose starts from the key before it, so that only what changes needs writing. `timing = "flow"` passes the keys
without stopping at them; `ribs = "given"` takes rib angles from the keys, else the rib cage follows the spine; `loop
= true` repeats.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from vitruvian.anatomy import Body
from vitruvian.control.poses import pose
from vitruvian.control.relax import CAGE, PASSIVE, Relaxer
from vitruvian.control.toml_file import own_text, read_toml
from vitruvian.errors import InputError
from vitruvian.skeleton import difference, integrate

Array = np.ndarray
MOST_KEYS = 2000  # in a file
LONGEST = 600.0  # [s] that the keys of a file may span


class Motion(Protocol):
    """Where the joints should be."""

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        """q (n_q,), v (n_v,), acceleration (n_v,) at `time` [s]; still before the beginning and after the end."""
        ...


@dataclass(frozen=True)
class KeyMotion:
    """Key poses; `loop` repeats the whole after the last key, which should equal the first."""

    body: Body
    times: Array  # [s], ascending, shape (k,)
    keys: Array  # shape (k, n_q)
    steps: Array  # way from each key to the next, shape (k - 1, n_v)
    loop: bool = False

    @classmethod
    def through(cls, body: Body, times: Sequence[float], keys: Sequence[Array], *, loop: bool = False) -> KeyMotion:
        at = np.array(times, dtype=float)
        if len(at) != len(keys) or not len(at):
            raise InputError(f"a motion needs as many times as key poses, got {len(at)} and {len(keys)}")
        if not np.isfinite(at).all() or (np.diff(at) <= 0).any():
            raise InputError(f"times of key poses must ascend, got {at.tolist()}")
        steps = [difference(body.skeleton, a, b) for a, b in itertools.pairwise(keys)]
        return cls(body, at, np.array(keys), np.array(steps).reshape(-1, body.skeleton.n_v), loop)

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        n = self.body.skeleton.n_v
        if self.loop and len(self.times) > 1:
            span = self.times[-1] - self.times[0]
            time = self.times[0] + (time - self.times[0]) % span
        k = int(np.searchsorted(self.times, time, side="right")) - 1
        if k < 0 or k >= len(self.steps):
            return self.keys[max(0, min(k, len(self.keys) - 1))].copy(), np.zeros(n), np.zeros(n)
        span = self.times[k + 1] - self.times[k]
        u = (time - self.times[k]) / span
        s = u**3 * (10.0 + u * (-15.0 + 6.0 * u))
        rate = 30.0 * u**2 * (1.0 - u) ** 2 / span
        bend = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / span**2
        way = self.steps[k]
        return integrate(self.body.skeleton, self.keys[k], way, s), rate * way, bend * way


@dataclass(frozen=True)
class SampledMotion:
    """Poses at a constant rate, with velocities and accelerations by central differences."""

    body: Body
    period: float  # [s] between samples
    q: Array  # shape (f, n_q)
    v: Array  # shape (f, n_v)
    a: Array  # shape (f, n_v)

    @classmethod
    def from_poses(cls, body: Body, period: float, q: Array) -> SampledMotion:
        if len(q) < 3 or not period > 0:
            raise InputError(
                f"a sampled motion needs three poses or more and a positive period, got {len(q)}, {period}"
            )
        ways = np.array([difference(body.skeleton, a, b) for a, b in itertools.pairwise(q)]) / period
        ends = np.zeros((1, ways.shape[1]))
        v = 0.5 * (np.concatenate([ends, ways]) + np.concatenate([ways, ends]))
        a = (np.concatenate([ways, ends]) - np.concatenate([ends, ways])) / period
        a[[0, -1]] = 0.0
        return cls(body, period, np.asarray(q), v, a)

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        x = time / self.period
        k = int(np.floor(x))
        if k < 0 or k >= len(self.q) - 1:
            end = 0 if k < 0 else len(self.q) - 1
            return self.q[end].copy(), np.zeros(self.v.shape[1]), np.zeros(self.v.shape[1])
        u = x - k
        way = difference(self.body.skeleton, self.q[k], self.q[k + 1])
        q = integrate(self.body.skeleton, self.q[k], way, u)
        return q, (1 - u) * self.v[k] + u * self.v[k + 1], (1 - u) * self.a[k] + u * self.a[k + 1]


def flowing(motion: KeyMotion, rate: float = 240.0) -> SampledMotion:
    """The same keys passed without stopping: cubic splines (on SO(3) for ball joints), sampled at `rate` [1/s]."""
    s, t = motion.body.skeleton, motion.times
    if len(t) < 3:
        raise InputError("a flowing motion needs three keys or more")
    at = np.arange(int(np.ceil((t[-1] - t[0]) * rate)) + 1) / rate + t[0]
    at = np.minimum(at, t[-1])
    q = np.empty((len(at), s.n_q))
    for i, joint in enumerate(s.joints):
        columns = slice(int(s.q_start[i]), int(s.q_start[i + 1]))
        keys = motion.keys[:, columns]
        if joint.n_q == joint.n_v:
            q[:, columns] = CubicSpline(t, keys, bc_type="clamped")(at) if joint.n_q else 0.0
            continue
        if joint.n_v == 6:
            q[:, columns.start : columns.start + 3] = CubicSpline(t, keys[:, :3], bc_type="clamped")(at)
        turns = RotationSpline(t, Rotation.from_quat(keys[:, -4:], scalar_first=True))
        q[:, columns.stop - 4 : columns.stop] = turns(at).as_quat(scalar_first=True)
    return SampledMotion.from_poses(motion.body, 1.0 / rate, q)


def load_motion(body: Body, source: str | Path, *, relax: bool = True) -> KeyMotion | SampledMotion:
    """A motion from a TOML file, or one of the package's own by name ("curl").

    relax: ribs, sternum and hyoid follow the spine in each key pose.
    """
    table, what = _read(source)
    keys = table.get("key")
    if not isinstance(keys, list) or not keys or set(table) - {"key", "loop", "about", "ribs", "timing"}:
        raise InputError(f"{what}: a motion is a list of [[key]] tables; beside it only about, loop, ribs, timing")
    if len(keys) > MOST_KEYS:
        raise InputError(f"{what}: {len(keys)} keys, more than {MOST_KEYS}")
    for word, known in (("ribs", ("follow", "given")), ("timing", ("rest", "flow"))):
        if table.get(word, known[0]) not in known:
            raise InputError(f"{what}: {word} must be {' or '.join(known)}, got '{table[word]!s:.60}'")
    relaxer = Relaxer(body, PASSIVE if table.get("ribs") == "given" else CAGE) if relax else None
    times, poses = [], []
    q = body.default_q
    for number, key in enumerate(keys, 1):
        if not isinstance(key, dict) or set(key) != {"time", "pose"} or not isinstance(key["pose"], dict):
            got = ", ".join(key) if isinstance(key, dict) and key else "nothing"
            raise InputError(f"{what}: key {number} needs 'time' and 'pose' ({{}} holds the last one), got {got:.80}")
        at = key["time"]
        if isinstance(at, bool) or not isinstance(at, int | float) or not -LONGEST <= at <= LONGEST:
            raise InputError(
                f"{what}: key {number} needs a number of seconds as 'time', got {at!r:.60} (within ±{LONGEST:g})"
            )
        q = pose(body, key["pose"], q, f"{what}, key {number}")
        times.append(float(key["time"]))
        poses.append(relaxer.rest(q) if relaxer else q)
    try:
        motion = KeyMotion.through(body, times, poses, loop=bool(table.get("loop", False)))
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    return flowing(motion) if table.get("timing") == "flow" else motion


def _read(source: str | Path) -> tuple[dict[str, Any], str]:
    path = Path(source)
    if path.suffix == ".toml":
        return read_toml(path, "motion"), path.name
    text = own_text(str(source), "motion", files("vitruvian.control") / "motions")
    return tomllib.loads(text), f"motion '{source}'"

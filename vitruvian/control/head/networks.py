"""Networks that give activations for a wanted head pose at once (Lee 2008, 4.3.1): inference alone, in plain arrays.

    x = (vector part of the head's quaternion in the base, gravity in the base / 9.81),   y_k = tanh(b_k + W_k y_{k-1}),

the last layer without tanh, its result cut to 0..1. Lee's have the quaternion alone (3-20-40-72): upright only. Ours
get gravity as well, so that a head that lies down stays held. `training` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.spatial import quaternion_from_rotation

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of weights (n_in, n_out) and biases (n_out,)."""

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]

    def __call__(self, x: Array) -> Array:
        """Activations 0 to 1, shape (..., n_muscles), for inputs (..., n_in)."""
        y = np.asarray(x, dtype=float)
        for W, b in zip(self.weights[:-1], self.biases[:-1]):
            y = np.tanh(y @ W + b)
        return np.clip(y @ self.weights[-1] + self.biases[-1], 0.0, 1.0)

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.weights[0].shape[0], *(len(b) for b in self.biases))


@dataclass(frozen=True, eq=False)
class HeadNetworks:
    """Pose and tone for the muscles of one neck."""

    pose: Network  # of quaternion and gravity
    tone: Network  # of the quaternion
    muscles: tuple[str, ...]  # in the order of the outputs

    def activations(self, head: Array, gravity: Array) -> tuple[Array, Array]:
        """a_p and a_t, each (n_muscles,), for the head's orientation (3, 3) and gravity (3,), both in the base."""
        h = quaternion_vector(head)
        return self.pose(np.concatenate([h, gravity])), self.tone(h)

    def mixed(self, head: Array, gravity: Array, tone: float) -> Array:
        """a_p + c a_t (n_muscles,) within 0 and 1; tone: c."""
        if tone == 0.0:
            return self.pose(np.concatenate([quaternion_vector(head), gravity]))
        pose, stiff = self.activations(head, gravity)
        return np.minimum(pose + tone * stiff, 1.0)

    def save(self, path: Path) -> None:
        arrays: dict[str, Any] = {"muscles": np.array(self.muscles)}
        for name, net in (("pose", self.pose), ("tone", self.tone)):
            for k, (W, b) in enumerate(zip(net.weights, net.biases)):
                arrays[f"{name}_w{k}"], arrays[f"{name}_b{k}"] = W.astype(np.float32), b.astype(np.float32)
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> HeadNetworks:
        with np.load(path, allow_pickle=False) as kept:
            nets = []
            for name in ("pose", "tone"):
                layers = range(sum(key.startswith(f"{name}_w") for key in kept.files))
                W = tuple(kept[f"{name}_w{k}"].astype(float) for k in layers)
                nets.append(Network(W, tuple(kept[f"{name}_b{k}"].astype(float) for k in layers)))
            return cls(nets[0], nets[1], tuple(str(m) for m in kept["muscles"]))


def quaternion_vector(head: Array) -> Array:
    """Vector part (3,) of the quaternion of a rotation (3, 3), with a real part that is not negative."""
    q = quaternion_from_rotation(head)
    return np.asarray(q[1:] if q[0] >= 0 else -q[1:])


def place(name: str) -> Path:
    """Where the package keeps its networks."""
    return Path(str(files("vitruvian.control.head") / "weights" / f"{name}.npz"))


def shipped(name: str, muscles: tuple[str, ...]) -> HeadNetworks:
    """The package's own networks: "neck" (ours) or "thesis"; muscles: of the body that they shall drive."""
    found = HeadNetworks.load(place(name))
    if found.muscles != muscles:
        raise InputError(f"the head's networks '{name}' are for other muscles; train them anew: vitruvian train {name}")
    return found

"""Rigid bodies that the water moves, and the interface that any other mechanism (a chain of bones) offers in their
place.

A `Mechanism` gives the water its links and skins and takes back impulses; how it stores velocities and what its
inertia is stays its own affair. Each sub-step: `advance` (positions with the present velocities, then every force but
the water's), `links`, `receive` (impulses of the water on each link).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from vitruvian.errors import InputError
from vitruvian.mesh import mesh_volume, topology
from vitruvian.spatial import exp_so3, log_so3, quaternion_from_rotation, rotation_from_quaternion
from vitruvian.water.solids import Links, WetShape, WetSurface

Array = np.ndarray
CONTRADICTION = 0.1  # part of its speed by which a course's velocity may differ from the rate of its position
RECOVERY = 0.1  # part of a wall's penetration that a sub-step takes back


class Mechanism(Protocol):
    """Anything with a surface that moves in water."""

    def advance(self, state: Any, time: float, dt: float) -> None:
        """Move to time + dt with the present velocities, and add all impulses but the water's to the velocities."""
        ...

    def links(self, state: Any) -> Links:
        """Where the links are, how they move and how they yield."""
        ...

    def skins(self, state: Any) -> Sequence[WetSurface]:
        """The surfaces now."""
        ...

    def receive(self, state: Any, impulses: Array) -> None:
        """Change velocities by impulses on the links about their origins, (moment, force) in world axes, (links,
        6).
        """
        ...


@dataclass(frozen=True)
class RigidBody:
    """One body; vertices [m] relative to its centre of mass, in its own axes."""

    name: str
    vertices: Array  # shape (n, 3)
    faces: Array  # shape (m, 3), facing outwards
    mass: float  # [kg]
    inertia: Array  # about the centre of mass, body axes [kg m^2], shape (3, 3)
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the centre of mass at time 0 [m]
    rotation: Array | None = None  # body to world at time 0, shape (3, 3)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m/s]
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)  # world axes [rad/s]
    # if it is driven: time -> (position, velocity), or (position, velocity, rotation (3, 3), angular velocity) in world
    # axes if it turns as well
    course: Callable[[float], tuple[Array, ...]] | None = None

    def __post_init__(self) -> None:
        for part in ("position", "velocity", "angular_velocity"):
            value = np.asarray(getattr(self, part), float)
            if value.shape != (3,) or not np.isfinite(value).all():
                raise InputError(f"{self.name}: its {part} {getattr(self, part)} is no vector of three numbers")
        for part in ("vertices", "mass", "inertia"):
            if not np.isfinite(getattr(self, part)).all():
                raise InputError(f"{self.name}: its {part} holds a value that is not a number")
        R = None if self.rotation is None else np.asarray(self.rotation, float)
        if R is not None and not (
            R.shape == (3, 3) and np.allclose(R @ R.T, np.eye(3), atol=1e-6) and np.linalg.det(R) > 0.0
        ):
            raise InputError(f"{self.name}: its rotation is no rotation matrix (orthonormal, determinant 1)")

    @classmethod
    def solid(cls, name: str, vertices: Array, faces: Array, density: float, **options: Any) -> RigidBody:
        """A body of uniform density [kg/m^3]: mass, centre and inertia from its mesh. Its position is that of its
        centre.
        """
        vertices, faces = np.asarray(vertices, float), np.asarray(faces)
        if not np.isfinite(vertices).all():
            raise InputError(f"{name}: a vertex of the mesh is not a number")
        topology(faces, len(vertices), name)
        if not 0.0 < density < np.inf:
            raise InputError(f"{name}: a density of {density} kg/m^3 is none")
        volume, centre, second = _moments(vertices, faces)
        if volume <= 0.0:
            raise InputError(f"{name}: the mesh encloses {volume:.3g} m^3; its triangles should face outwards")
        about = second - volume * np.outer(centre, centre)
        inertia = density * (np.trace(about) * np.eye(3) - about)
        return cls(name, vertices - centre, faces, density * volume, inertia, **options)

    @property
    def volume(self) -> float:
        return mesh_volume(self.vertices, self.faces)


@dataclass
class RigidState:
    """Positions, rotations and velocities of all bodies."""

    position: Array  # centres of mass [m], shape (n, 3)
    quaternion: Array  # body to world, shape (n, 4)
    velocity: Array  # [m/s], shape (n, 3)
    spin: Array  # angular velocity, world axes [rad/s], shape (n, 3)


class RigidBodies:
    """Free or driven rigid bodies under gravity."""

    apart = True  # no two may overlap; parts of a chain of bones may

    def __init__(
        self,
        bodies: Sequence[RigidBody],
        gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
        *,
        walls: tuple[Array, Array] | None = None,
    ) -> None:
        """walls: lowest and highest corner [m] of the box that bodies may not leave (its lid is open)."""
        self.bodies = tuple(bodies)
        self.walls = walls
        self.gravity = np.asarray(gravity)
        names = [b.name for b in self.bodies]
        if len(set(names)) != len(names):
            raise InputError(f"bodies: two have the same name ({', '.join(names)})")
        for b in self.bodies:
            if b.course is None and not (b.mass > 0.0 and np.all(np.linalg.eigvalsh(b.inertia) > 0.0)):
                raise InputError(f"{b.name}: a free body needs a positive mass and inertia")
        self._shapes = [WetShape.build(b.name, b.faces, len(b.vertices), n) for n, b in enumerate(self.bodies)]

    def start(self) -> RigidState:
        state = RigidState(
            np.array([b.position for b in self.bodies], float).reshape(-1, 3),
            np.array([quaternion_from_rotation(np.eye(3) if b.rotation is None else b.rotation) for b in self.bodies]),
            np.array([b.velocity for b in self.bodies], float).reshape(-1, 3),
            np.array([b.angular_velocity for b in self.bodies], float).reshape(-1, 3),
        )
        self._drive(state, 0.0)
        return state

    def rotation(self, state: RigidState, n: int) -> Array:
        return rotation_from_quaternion(state.quaternion[n])

    def advance(self, state: RigidState, time: float, dt: float) -> None:
        for n, b in enumerate(self.bodies):
            if b.course is not None:
                continue
            R = self.rotation(state, n)
            state.position[n] += dt * state.velocity[n]
            new = exp_so3(dt * state.spin[n]) @ R
            # torque-free: angular momentum is kept while the inertia turns
            momentum = R @ b.inertia @ R.T @ state.spin[n]
            state.spin[n] = np.linalg.solve(new @ b.inertia @ new.T, momentum)
            state.quaternion[n] = quaternion_from_rotation(new)
            state.velocity[n] += dt * self.gravity
            if self.walls is not None:
                self._stop_at_walls(state, n, dt)
        self._drive(state, time + dt, dt)

    def links(self, state: RigidState) -> Links:
        n = len(self.bodies)
        self._check_own(state)
        mobility = np.zeros((6 * n, 6 * n))
        for i, b in enumerate(self.bodies):
            if b.course is None:
                R = self.rotation(state, i)
                mobility[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = R @ np.linalg.inv(b.inertia) @ R.T
                mobility[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = np.eye(3) / b.mass
        turned = np.array([self.rotation(state, i) for i in range(n)])
        return Links(state.position.copy(), np.hstack([state.spin, state.velocity]), mobility, turned)

    def skins(self, state: RigidState) -> list[WetSurface]:
        self._check_own(state)
        return [
            WetSurface(shape, b.vertices @ self.rotation(state, n).T + state.position[n])
            for n, (b, shape) in enumerate(zip(self.bodies, self._shapes))
        ]

    def receive(self, state: RigidState, impulses: Array) -> None:
        change = (np.asarray(self.links(state).mobility) @ impulses.ravel()).reshape(-1, 6)
        state.spin += change[:, :3]
        state.velocity += change[:, 3:]

    def _check_own(self, state: RigidState) -> None:
        if len(state.position) != len(self.bodies):
            raise InputError(f"bodies: the state holds {len(state.position)} bodies, the mechanism {len(self.bodies)}")

    def _stop_at_walls(self, state: RigidState, n: int, dt: float) -> None:
        """Inelastic contact without friction of the farthest vertex with each wall."""
        assert self.walls is not None
        R = self.rotation(state, n)
        arms = self.bodies[n].vertices @ R.T
        inverse = R @ np.linalg.inv(self.bodies[n].inertia) @ R.T
        for axis, side in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0)):
            normal = np.zeros(3)
            normal[axis] = 1.0 - 2.0 * side
            gaps = (arms[:, axis] + state.position[n, axis] - self.walls[side][axis]) * normal[axis]
            arm = arms[int(np.argmin(gaps))]
            depth = -float(gaps.min())
            if depth <= 0.0:
                continue
            speed = float(normal @ (state.velocity[n] + np.cross(state.spin[n], arm)))
            wanted = RECOVERY * depth / dt
            if speed >= wanted:
                continue
            lever = inverse @ np.cross(arm, normal)
            impulse = (wanted - speed) / (1.0 / self.bodies[n].mass + normal @ np.cross(lever, arm))
            state.velocity[n] += impulse / self.bodies[n].mass * normal
            state.spin[n] += impulse * lever

    def _drive(self, state: RigidState, time: float, dt: float = 0.0) -> None:
        for n, b in enumerate(self.bodies):
            if b.course is None:
                continue
            position, velocity, *turning = (np.asarray(part, float) for part in b.course(time))
            R0 = self.rotation(state, n)
            R, spin = turning if turning else (R0, np.zeros(3))
            if dt > 0.0:
                way, turn = (position - state.position[n]) / dt, log_so3(R @ R0.T) / dt
                _check_course(b.name, "velocity", "position", way, state.velocity[n], velocity)
                _check_course(b.name, "angular velocity", "rotation", turn, state.spin[n], spin)
            state.position[n], state.velocity[n], state.spin[n] = position, velocity, spin
            if turning:
                state.quaternion[n] = quaternion_from_rotation(R)


def _check_course(name: str, rate: str, place: str, moved: Array, before: Array, after: Array) -> None:
    """Raise an error if what a course moved in a sub-step, per second, is none of the rates that it told about it.

    Within the sub-step the rate may lie anywhere between its two values, and a little beyond in a bend.
    """
    slack = CONTRADICTION * max(np.linalg.norm(before), np.linalg.norm(after), np.linalg.norm(moved))
    if np.linalg.norm(moved - 0.5 * (before + after)) > 0.5 * np.linalg.norm(after - before) + slack:
        raise InputError(
            f"{name}: its course moves at {np.round(moved, 3).tolist()} by its {place} and at "
            f"{np.round(0.5 * (before + after), 3).tolist()} by its {rate}; make the {rate} the rate of the {place}"
        )


def _moments(vertices: Array, faces: Array) -> tuple[float, Array, Array]:
    """Volume, centroid and second moment integral(x x^T) of a closed mesh, by tetrahedra from the origin."""
    a, b, c = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = float(volumes.sum())
    total = a + b + c
    centre = (volumes[:, None] * total).sum(axis=0) / 4.0 / volume
    second = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (a, b, c))
    second = (second + np.einsum("i,ij,ik->jk", volumes, total, total)) / 20.0
    return volume, centre, second

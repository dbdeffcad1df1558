"""A skeleton alone as a simulation: joints, gravity, springs, given forces, driven joints, moving spline surfaces.

What it books beside the motion is the work W [J] that changes the mechanical energy E: that of drives, given forces,
dampers and moving surfaces, dW/dt = τ_drive · v + τ_given · v + τ_damping · v + Σ f · s_t, with f the wrench that a
moving joint transmits and s_t its drift. E − W is the signal `balance`; it must not change, and scenes check that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vitruvian.control import Controls, honoured
from vitruvian.errors import Diverged, InputError
from vitruvian.skeleton import (
    Skeleton,
    coordinate_rates,
    energy,
    forward_dynamics,
    hybrid_dynamics,
    integrate,
    inverse_dynamics,
    joints,
    normalized,
    passive_energy,
    passive_forces,
)
from vitruvian.skeleton.evaluate import F, U
from vitruvian.spatial import pose_from_transform
from vitruvian.systems.layers import BodiesLayer, Drawn, Layer, joints_of
from vitruvian.systems.measures import Measure, Now
from vitruvian.world import Camera, Mesh, Signal

Array = np.ndarray
Drive = Callable[[float], tuple[float, float, float]]  # time [s] -> coordinate, velocity, acceleration
Moving = Callable[[float], Mapping[str, tuple[Array, Array, Array]]]  # time [s] -> bone -> controls and derivatives
INTEGRATORS = ("rk4", "semi-implicit", "euler")


@dataclass
class BonesState:
    """Coordinates (n_q,), velocities (n_v,), and the work booked so far [J] (1,)."""

    q: Array
    v: Array
    work: Array = field(default_factory=lambda: np.zeros(1))


def _balance(now: Now) -> Array:
    """Energy and work [J]: kinetic, gravity, springs, total, work, balance."""
    e, work = energy(now.skeleton, now.q, now.v), float(now.state.work[0])
    return np.array([e.kinetic, e.gravity, e.springs, e.total, work, float(e.total - work)])


BOOKS = (
    Measure(
        Signal("energy", "J", "mechanical energy", ("kinetic", "gravity", "springs", "total")),
        lambda now: now.once(_balance)[:4],
    ),
    Measure(
        Signal("work", "J", "work of drives, forces, dampers and moving surfaces"), lambda now: now.once(_balance)[4]
    ),
    Measure(Signal("balance", "J", "energy less work"), lambda now: now.once(_balance)[5]),
)


def steady_rate(start: float, rate: float) -> Drive:
    """A drive that turns a joint at a constant rate [rad/s or m/s]."""
    return lambda time: (start + rate * time, rate, 0.0)


class BonesSystem(Drawn):
    """Steps a skeleton by an explicit rule; see `world.simulation.Simulation`. Honours the control `torque`.

    q, v: state at time 0 (neutral and at rest if None). forces(now) -> generalized forces (n_v,) [N m or N].
    driven: bone -> drive of its one coordinate. moving(time): controls of moving spline surfaces (see
    `Skeleton.with_moving_surfaces`). followers: further bodies that are only shown, name -> pose (4, 4) at an instant.
    layers: what else is seen. books: whether energy and work are signals.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        *,
        q: Array | None = None,
        v: Array | None = None,
        integrator: str = "rk4",
        forces: Callable[[Now], Array] | None = None,
        driven: Mapping[str, Drive] | None = None,
        moving: Moving | None = None,
        meshes: Sequence[Mesh] = (),
        measures: Sequence[Measure] = (),
        followers: Mapping[str, Callable[[Now], Array]] | None = None,
        layers: Sequence[Layer] = (),
        cameras: Sequence[Camera] = (),
        ground: float | None = 0.0,
        books: bool = True,
    ) -> None:
        if integrator not in INTEGRATORS:
            raise InputError(f"integrator '{integrator}' is unknown; known: {', '.join(INTEGRATORS)}")
        self.skeleton = skeleton
        self.q0 = skeleton.neutral_q() if q is None else np.array(q, dtype=float)
        self.v0 = np.zeros(skeleton.n_v) if v is None else np.array(v, dtype=float)
        if self.q0.shape != (skeleton.n_q,) or self.v0.shape != (skeleton.n_v,):
            raise InputError(f"the state needs {skeleton.n_q} coordinates and {skeleton.n_v} velocities")
        self.integrator = integrator
        self.forces = forces
        self.moving = moving
        self._drives = [(self._single(bone), drive) for bone, drive in (driven or {}).items()]
        self._given = np.zeros(skeleton.n_v, dtype=bool)
        self._given[[at for at, _ in self._drives]] = True
        self._movers = [k for k, j in enumerate(skeleton.joints) if isinstance(j, joints.SurfaceSpline) and j.moving]
        self.followers = dict(followers or {})
        bodies = BodiesLayer((*skeleton.names, *self.followers), lambda: meshes, self._poses, joints_of(skeleton))
        self.layers = (bodies, *layers)
        names = coordinate_names(skeleton)
        self.measures = (
            Measure(Signal("coordinates", "rad or m", "joint coordinates", names), lambda now: now.q),
            *(BOOKS if books else ()),
            *measures,
        )
        self.cameras, self.ground = tuple(cameras), ground

    def start(self, rng: np.random.Generator) -> BonesState:
        state = BonesState(self.q0.copy(), self.v0.copy())
        self._hold_drives(state.q, state.v, 0.0)
        return state

    def step(self, state: BonesState, controls: Controls | None, time: float, dt: float) -> None:
        given = honoured(controls, ("torque",), "a mechanism", n_v=self.skeleton.n_v).torque
        if given is not None and given.stiff:
            raise InputError("a mechanism is stepped explicitly: torques with stiffness or damping need a body's step")
        if given is not None and given.torque[self._given].any():
            raise InputError("a mechanism: a torque on a joint that is driven has no effect")
        torque = None if given is None else given.torque
        stored = passive_energy(self.skeleton, state.q)
        advance = self._step_rk4 if self.integrator == "rk4" else self._step_euler
        try:
            advance(state, torque, time, dt)
        except ZeroDivisionError as error:  # kernels divide by lengths and inertias, which overflow before they vanish
            raise Diverged(self._fastest(state.v), "its motion overflowed within a step") from error
        self._hold_drives(state.q, state.v, time + dt)
        # Springs give back what they take: only what they did not store is work.
        state.work += passive_energy(self.skeleton, state.q) - stored
        for name, values in (("coordinates", state.q), ("velocities", state.v)):
            if not np.isfinite(values).all():
                raise Diverged(self._worst(values), f"{name} are no longer finite")

    def skeleton_at(self, time: float) -> Skeleton:
        """The skeleton with its moving surfaces as they are at `time` [s]."""
        return self.skeleton if self.moving is None else self.skeleton.with_moving_surfaces(self.moving(time))

    def rates(self, q: Array, v: Array, torque: Array | None, time: float) -> tuple[Array, float]:
        """Accelerations (n_v,) and the power [W] of all forces but gravity; torque: given forces (n_v,)."""
        skeleton = self.skeleton_at(time)
        tau = np.zeros(skeleton.n_v) if torque is None else np.array(torque, dtype=float)
        if self.forces is not None:
            tau = tau + self.forces(Now(self, BonesState(q, v), None, time))
        tau = tau + passive_forces(skeleton, q, v)
        power = float(tau @ v)
        if self._drives:
            wanted = np.zeros(skeleton.n_v)
            for at, drive in self._drives:
                wanted[at] = drive(time)[2]
            needed, a = hybrid_dynamics(skeleton, q, v, self._given, tau, wanted)
            power += float((needed - tau)[self._given] @ v[self._given])
        else:
            a = forward_dynamics(skeleton, q, v, tau)
        if self._movers:
            power += self._surface_power(skeleton, q, v, a)
        return a, power

    def _poses(self, now: Now) -> Array:
        placed = [*now.poses, *(pose(now) for pose in self.followers.values())]
        return np.array([pose_from_transform(T) for T in placed])

    def _step_rk4(self, state: BonesState, torque: Array | None, time: float, dt: float) -> None:
        """Classical Runge–Kutta in the coordinates' own rates; quaternions are brought back to unit length."""
        skeleton, q0, v0 = self.skeleton, state.q, state.v
        q_sum, v_sum, work = np.zeros_like(q0), np.zeros_like(v0), 0.0
        q_rate, v_rate = np.zeros_like(q0), np.zeros_like(v0)
        for share, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
            q, v = q0 + share * dt * q_rate, v0 + share * dt * v_rate
            self._hold_drives(q, v, time + share * dt)
            q_rate = coordinate_rates(skeleton, q, v)
            v_rate, power = self.rates(q, v, torque, time + share * dt)
            q_sum += weight * q_rate
            v_sum += weight * v_rate
            work += weight * power
        state.q[:] = normalized(skeleton, q0 + dt / 6.0 * q_sum)
        state.v[:] = v0 + dt / 6.0 * v_sum
        state.work += dt / 6.0 * work

    def _step_euler(self, state: BonesState, torque: Array | None, time: float, dt: float) -> None:
        """Forward Euler, or semi-implicit: coordinates move with the velocities after the step."""
        a, power = self.rates(state.q, state.v, torque, time)
        before = state.v.copy()
        state.v += dt * a
        state.q[:] = integrate(self.skeleton, state.q, state.v if self.integrator == "semi-implicit" else before, dt)
        state.work += dt * power

    def _hold_drives(self, q: Array, v: Array, time: float) -> None:
        for at, drive in self._drives:
            bone = self.skeleton.dof_bone[at]
            q[self.skeleton.q_start[bone]], v[at], _ = drive(time)

    def _surface_power(self, skeleton: Skeleton, q: Array, v: Array, a: Array) -> float:
        """Σ f · s_t over moving joints: f from the Newton–Euler recursion, s_t from the joints at zero velocity."""
        inverse_dynamics(skeleton, q, v, a)
        wrench = skeleton.workspace.rows[self._movers, F : F + 6].copy()
        inverse_dynamics(skeleton, q, np.zeros_like(v), np.zeros_like(v))
        drift = skeleton.workspace.rows[self._movers, U : U + 6]
        return float(np.sum(wrench * drift))

    def _single(self, bone: str) -> int:
        k = self.skeleton.index(bone)
        first, last = self.skeleton.v_start[k : k + 2]
        if last - first != 1:
            raise InputError(f"bone '{bone}': only a joint with one coordinate can be driven, this has {last - first}")
        return int(first)

    def _fastest(self, v: Array) -> str:
        return self.skeleton.names[self.skeleton.dof_bone[int(np.argmax(np.abs(v)))]]

    def _worst(self, values: Array) -> str:
        starts = self.skeleton.q_start if len(values) == self.skeleton.n_q else self.skeleton.v_start
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        return self.skeleton.names[int(np.searchsorted(starts, bad, side="right")) - 1]


def coordinate_names(skeleton: Skeleton) -> tuple[str, ...]:
    """One name per coordinate: that of the bone, numbered where a joint has several."""
    names = []
    for name, first, last in zip(skeleton.names, skeleton.q_start[:-1], skeleton.q_start[1:]):
        count = int(last - first)
        names += [name] if count == 1 else [f"{name} {k + 1}" for k in range(count)]
    return tuple(names)

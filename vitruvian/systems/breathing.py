"""Breath for a body that does something else: ribs, skin and lungs as a recorded breath moves them.

    breathing = Breathing(body, "calm")
    BodySystem(body, breathing=breathing)

Ribs are led by servos on their hinges to the recorded turns (about the hinge's axis), and the body's own
mechanics carries sternum, cartilages and shoulders along. The skin gets the lining's motion (`breath_field`) on
top of skinning, with a last part along its normals there, so that

    volume(skin with d(t)) = volume(skin) + V_lungs(t) - V_lungs(rest)

The last part is found for the default pose; in any other what is missing, because a bent trunk's skin is smaller in
front and larger behind, is made up along the same normals (`BreathingSkin`).

Flesh gets lungs (`breath_flesh`). All of it is a function of a clock, the body's time or the phase of a stroke.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from vitruvian.anatomy import Body, bound_skin
from vitruvian.anatomy.density import enclosed
from vitruvian.breath.surface import volume, volume_gradient
from vitruvian.control import Beat
from vitruvian.control.behaviour import Behaviour
from vitruvian.couple import JointTorques, MovedSkin
from vitruvian.couple.flesh_skin import FleshPlace
from vitruvian.errors import InputError
from vitruvian.mesh import vertex_normals
from vitruvian.skeleton import bone_poses
from vitruvian.skeleton.joints import Revolute
from vitruvian.skin import BoundSkin
from vitruvian.systems.breath_field import Spread
from vitruvian.systems.breath_record import RIBS, BreathRecord, breath_record
from vitruvian.systems.layers import SurfaceLayer
from vitruvian.systems.measures import Measure, Now
from vitruvian.systems.person import skin_layer
from vitruvian.world import Signal

Array = np.ndarray
SERVO, SERVO_DAMPING = 150.0, 5.0  # [N m/rad], [N m s/rad]: ten times the rib's own spring
TRIANGLES, SKIN_OPACITY = 16_000, 0.4
SIZE_OFF = 0.005  # [m] by which heads of ribs may lie elsewhere than the tables'


@dataclass(frozen=True)
class StrokeLock:
    """One breath to a stroke cycle."""

    full: float  # where in the cycle the lungs are fullest, 0 to 1
    rate: float  # cycles a second, of a swimmer whose controls have no beat


@dataclass(frozen=True, eq=False)
class Breathing:
    """A recorded breath on a body of the tables' size. Its clock is the body's time, or with a lock the stroke's."""

    body: Body
    source: str | Behaviour
    lock: StrokeLock | None = None

    def __post_init__(self) -> None:
        s, record = self.body.skeleton, self.record
        missing = [n for n in RIBS if n not in s.names]
        if missing:
            raise InputError(f"breathing: the body has no bone '{missing[0]}'")
        own = bone_poses(s, self.body.default_q)[[s.index(n) for n in RIBS], :3, 3]
        own = own - own[0] + record.origins[0]  # a free pelvis may start anywhere
        if np.abs(own - record.origins).max() > SIZE_OFF:
            raise InputError(
                "breathing: the recorded breath fits a body of the tables' size; leave out height and mass"
            )

    @cached_property
    def record(self) -> BreathRecord:
        return breath_record(self.source)

    def clock(self, time: float, beat: Beat | None = None) -> Array:
        """Where in the record it is at `time` [s], and how fast that goes, (2,): [s, 1]."""
        if self.lock is None or not np.isfinite(self.record.period):
            return np.array([time, 1.0])
        phase, rate = (self.lock.rate * time, self.lock.rate) if beat is None else (beat.phase_at(time), beat.rate)
        period = self.record.period
        return np.array([(phase - self.lock.full + self.record.fullest) * period, rate * period])

    # --- bones

    @cached_property
    def hinges(self) -> tuple[Array, Array, Array]:
        """Coordinates of hinge ribs (n_v), of their angles (n_q), and their columns of the record as (n, columns)."""
        s, at, angle, rows = self.body.skeleton, [], [], []
        for k, name in enumerate(RIBS):
            joint = s.joints[s.index(name)] if name in s.names else None
            if isinstance(joint, Revolute):
                at.append(s.v_slice(name).start)
                angle.append(s.q_slice(name).start)
                row = np.zeros(3 * len(RIBS))
                row[3 * k : 3 * k + 3] = joint.axis
                rows.append(row)
        return np.array(at, int), np.array(angle, int), np.array(rows).reshape(-1, 3 * len(RIBS))

    def ribs(self, q0: Array, q: Array, v: Array, clock: float) -> JointTorques:
        """The servos on the ribs [N m]; q0: the pose that the breath starts from (n_q,)."""
        at, angle, rows = self.hinges
        n = self.body.skeleton.n_v
        torque, stiffness, damping = np.zeros(n), np.zeros(n), np.zeros(n)
        wanted = rows @ self.record.at(clock)[self.record.ribs]
        torque[at] = -SERVO * (q[angle] - q0[angle] - wanted) - SERVO_DAMPING * v[at]
        stiffness[at], damping[at] = SERVO, SERVO_DAMPING
        return JointTorques(torque, stiffness, damping)

    # --- lungs

    def volume(self, clock: float) -> float:
        """Of the lungs over that at rest [m³]."""
        return float(self.record.at(clock)[0])

    def pressure(self, clock: float) -> float:
        """In the belly over that at rest [Pa]."""
        return float(self.record.at(clock)[1])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Signals `breath_volume` and `belly_pressure` of the record."""
        return (
            Measure(
                Signal("breath_volume", "l", "air in the lungs, over rest"),
                lambda now: 1e3 * self.volume(breath_clock(now)[0]),
            ),
            Measure(
                Signal("belly_pressure", "Pa", "recorded in the belly, over rest"),
                lambda now: self.pressure(breath_clock(now)[0]),
            ),
        )

    # --- skin

    def field(self, skin: BoundSkin) -> SkinBreath:
        """How the breath moves a skin of the body."""
        return SkinBreath(self, skin)

    def layer(self) -> SurfaceLayer:
        """The skin of the body, breathing."""
        field = self.field(bound_skin(self.body, triangles=TRIANGLES))
        return skin_layer(field.skin, field.vertices, SKIN_OPACITY)


def breath_clock(now: Now) -> Array:
    """See `Breathing.clock`: kept in the state of a swimmer, the time of any other body."""
    kept = getattr(now.state, "breath", None)
    return np.array([now.time, 1.0]) if kept is None else np.asarray(kept)


class SkinBreath:
    """The recorded motion of the lining as that of a skin."""

    def __init__(self, breathing: Breathing, skin: BoundSkin):
        record = breathing.record
        self.breathing, self.skin = breathing, skin
        self.main = skin.bones[skin.influence[:, 0]]
        spread = Spread(record.points, skin.rest)
        self.moved = spread.moved
        out = self.normal = vertex_normals(skin.rest, skin.faces) * spread.share[:, None]
        modes = np.array([spread(m) for m in record.modes])
        self.rest_volume = enclosed(skin.rest, skin.faces)[0]
        self._modes = np.concatenate([modes, out[None]])[:, self.moved]  # (modes + 1, moved, 3)
        slope = (enclosed(skin.rest + 1e-4 * out, skin.faces)[0] - self.rest_volume) / 1e-4  # [m²]
        reach = np.zeros(len(record.table))
        for k, row in enumerate(record.table):
            for _ in range(2):
                have = enclosed(skin.rest + self._moved(row, reach[k]), skin.faces)[0] - self.rest_volume
                reach[k] += (row[0] - have) / slope
        ends = "periodic" if np.isfinite(record.period) else "clamped"
        if ends == "periodic":
            reach[-1] = reach[0]
        self._reach = CubicSpline(record.time, reach, bc_type=ends)

    def _moved(self, row: Array, reach: float) -> Array:
        out = np.zeros_like(self.skin.rest)
        c = row[self.breathing.record.coefficients]
        out[self.moved] = np.tensordot(np.append(c, reach), self._modes, 1)
        return out

    def reach(self, clock: float, slope: int = 0) -> float:
        """By how much the skin is moved along its normals so that volumes agree [m], or its rate."""
        record = self.breathing.record
        if slope and record.over(clock):
            return 0.0
        share, rate = record.begun(clock)
        value = share * self._reach(record.when(clock), slope)
        return float(value + rate * self._reach(record.when(clock)) if slope else value)

    def offset(self, clock: float) -> Array:
        """d [m] in the frames of the bones that move the vertices most, (n, 3)."""
        return self._moved(self.breathing.record.at(clock), self.reach(clock))

    def rate(self, clock: float, pace: float = 1.0) -> Array:
        """d' [m/s], (n, 3); pace: of the clock."""
        return pace * self._moved(self.breathing.record.at(clock, 1), self.reach(clock, 1))

    def vertices(self, now: Now) -> Array:
        """Of the skin now [m], (n, 3)."""
        return self.on(None, breath_clock(now)).place(now.poses).vertices

    def on(self, moved: MovedSkin | None, clock: Array) -> BreathingSkin:
        """The skin with the breath at a clock, see `Breathing.clock`; moved: by its flesh."""
        still = np.zeros_like(self.skin.rest)
        return BreathingSkin(moved or MovedSkin(self.skin, self.main, still, still), self, clock)


@dataclass(frozen=True, eq=False)
class BreathingSkin:
    """A skin with breath in it at one instant; a `MovingSkin` (`couple.skin_links`).

    x = x_0 + R_b (d + r n),   with r such that volume(x) = volume(x_0) + V_lungs, to first order; its rate likewise."""

    without: MovedSkin
    breath: SkinBreath
    clock: Array  # see `Breathing.clock`

    @property
    def faces(self) -> Array:
        return self.without.faces

    @property
    def bones(self) -> Array:
        return self.without.bones

    @property
    def face_bone(self) -> Array:
        return self.without.face_bone

    def place(self, poses: Array) -> FleshPlace:
        found, own, faces = self.without.place(poses), self.breath, self.without.faces
        clock, pace = float(self.clock[0]), float(self.clock[1])
        record, before = own.breathing.record, found.vertices
        turns = poses[own.main[own.moved], :3, :3]
        offset, rate, normal = np.zeros((3, *before.shape))
        for to, d in ((offset, own.offset(clock)), (rate, own.rate(clock, pace)), (normal, own.normal)):
            to[own.moved] = np.einsum("nij,nj->ni", turns, d[own.moved])
        x = before + offset
        slope = np.zeros_like(x)
        gained = volume_gradient(faces, x, slope) - volume(faces, before)
        missing = record.at(clock)[0] - gained
        behind = pace * record.at(clock, 1)[0] - np.einsum("ij,ij", slope, rate)
        area = np.einsum("ij,ij", slope, normal)
        x = x + missing / area * normal
        return FleshPlace(replace(found.place, vertices=x), found.drift + rate + behind / area * normal)

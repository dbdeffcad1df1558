"""Contact within the step: bones against ground, objects and each other, with Coulomb friction.

A touch with gap g at the beginning of the step, normal n (kept for the step) and end velocity u = J v⁺ gives

    λ_n = h k max(0, -(g + h u_n)) max(0, 1 - c u_n)         (Hunt and Crossley 1975, at the end of the step)
    λ_t = -μ λ_n u_t / sqrt(u_t² + ε²)                       (Coulomb; below the creep speed ε it holds)

and the step is the root of A dv = h f + Σ Jᵀ λ(v⁺). Each λ falls with its own velocity, so with friction's bound
from the iterate before it is the gradient of a convex function: Newton steps with a line search on its slope
(`contact_solve`). All is taken at the step's end, so that a touch neither pulls nor gives energy, a body at rest sinks
no farther than weight over k, and a fast one is stopped where it is: no step is too long for it to be caught.
"""

from __future__ import annotations

import numpy as np

from vitruvian.couple.contact_find import NEAR, Touches, find, reaches, room
from vitruvian.couple.contact_shapes import Contacts, box_arrays, pair_arrays, plane_arrays, shape_arrays
from vitruvian.couple.contact_solve import Chains, Law, force_now, jacobians, solve_touches
from vitruvian.couple.step import BoneStep, System

Array = np.ndarray


class BodyContact:
    """A contributor: all touches of one body; holds scratch memory, no state."""

    account = "contact"

    def __init__(self, step: BoneStep, contacts: Contacts | None = None):
        self.contacts = c = contacts or Contacts(planes=())
        s = step.skeleton
        self.shapes = shape_arrays(s, c.shapes)
        self.planes, self.boxes = plane_arrays(c.planes), box_arrays(c.boxes)
        self.pairs = pair_arrays(self.shapes, np.asarray(c.pairs), s.n_bones)
        self.law = Law(c.stiffness, c.dissipation, c.friction, c.creep)
        most = len(self.planes) * len(self.shapes.ball_shape) + 3 * len(self.boxes) * c.n + len(self.pairs.shapes)
        self.touches: Touches = room(most + 1)
        self.count = 0  # of touches that are near
        self.impulse = np.zeros((most + 1, 3))  # of each near touch in the latest step, on the second bone [N s]
        self.iterations = 0  # Newton steps of the latest step
        self._felt: tuple[Array, Array, Array] = np.zeros((0, 2), int), np.zeros((0, 3)), np.zeros((0, 3))
        self._ends = np.zeros((c.n, 2, 3))
        self._carries = np.zeros(s.n_bones, dtype=bool)
        self._carries[self.shapes.bone[self.shapes.bone >= 0]] = True
        self._size = np.zeros(s.n_bones)
        for i, bone in enumerate(self.shapes.bone):
            if bone >= 0:
                far = (np.linalg.norm(self.shapes.ends[i], axis=1) + self.shapes.radius[i]).max()
                self._size[bone] = max(self._size[bone], far)
        chains = [np.flatnonzero(row) for row in s.supports]
        self._chain = np.concatenate([*chains, np.zeros(0, int)]).astype(np.int64)
        self._chain_start = np.concatenate([[0], np.cumsum([len(c) for c in chains])]).astype(np.int64)
        self._supports = s.supports
        self._tree = Chains(s.parent, s.v_start, self._chain_start, self._chain, step.place, step.system.screws)
        self._stiff = np.zeros((s.n_bones, 6, 6))
        self._reach = np.zeros(s.n_bones + 1)
        longest = 2 * max((len(c) for c in chains), default=0)
        self._start = np.zeros(most + 2, dtype=np.int64)
        self._row = np.zeros((most + 1) * longest + 1, dtype=np.int64)
        self._jacobian = np.zeros((len(self._row), 3))
        self._rate = np.zeros((most + 1, 3))

    @property
    def idle(self) -> bool:
        """Whether there is nothing that could touch."""
        return not len(self.shapes.bone) or not (len(self.planes) or len(self.boxes) or len(self.pairs.shapes))

    def add(self, system: System) -> None:
        """Find what is near; the touches are resolved when the system is solved."""
        self.count = 0
        if self.idle:
            return
        reaches(
            self._carries, system.poses, system.screws, system.v, self._chain_start, self._chain, self._size,
            system.dt, self._reach,
        )  # fmt: skip
        self.count = find(
            self.shapes, self.planes, self.boxes, self.pairs, system.poses, self._reach, self._ends, self.touches
        )
        if self.count:
            jacobians(
                self.touches, self.count, system.step.place, system.screws, system.v, self._chain_start, self._chain,
                self._supports, self._start, self._row, self._jacobian, self._rate,
            )  # fmt: skip
            system.resolver = self

    def resolve(self, matrix: Array, right: Array, dt: float) -> Array:
        """dv (n_free,) of A dv = right + Jᵀ λ; A by its lower triangle, rows as `BoneStep.place` has them."""
        dv = np.zeros_like(right)
        self.iterations = solve_touches(
            self.law, dt, self.touches, self.count, self._start, self._row, self._jacobian, self._rate,
            self._tree, self._stiff, matrix, right, dv, self.impulse,
        )  # fmt: skip
        return dv

    def work(self, system: System, gained: Array, middle: Array) -> float:
        """What the step applied, along the mean velocity at each touch."""
        total, free = 0.0, system.step.free[::-1]
        for n in range(self.count):
            at = slice(self._start[n], self._start[n + 1])
            mean = self._jacobian[at].T @ middle[free[self._row[at]]]
            total += float(self.impulse[n] @ mean)
        return total

    def remember(self, dt: float) -> None:
        """Keep what this step, of dt [s], has felt; another system may be assembled before somebody asks."""
        n, t = self.count, self.touches
        self._felt = t.bones[:n].copy(), t.point[:n].copy(), self.impulse[:n] / dt

    # --- what measures and controllers read ---

    def felt(self) -> tuple[Array, Array, Array]:
        """Bones (n, 2), points [m] (n, 3) and forces on the second bones [N] (n, 3), mean of the latest step."""
        return self._felt

    def near(self, poses: Array, within: float = NEAR) -> list[tuple[int, int, int, int, float]]:
        """All touches in a pose with a gap below `within` [m]: bones (-1 the world), shapes, gap [m]."""
        reach = np.full(len(self._reach), 0.5 * within)
        reach[-1] = 0.5 * within
        count = find(self.shapes, self.planes, self.boxes, self.pairs, poses, 2.0 * reach, self._ends, self.touches)
        t = self.touches
        rows = [
            (int(t.bones[n, 0]), int(t.bones[n, 1]), int(t.shapes[n, 0]), int(t.shapes[n, 1]), float(t.gap[n]))
            for n in range(count)
        ]
        self.count = 0
        return [row for row in rows if row[4] < within]

    def depth(self, poses: Array) -> tuple[float, float]:
        """Deepest that a shape is in the world (ground, objects), and in another shape of the body [m]."""
        rows = self.near(poses)
        world = [-row[4] for row in rows if row[0] < 0 or row[1] < 0]
        own = [-row[4] for row in rows if row[0] >= 0 and row[1] >= 0]
        return max(0.0, *world, 0.0), max(0.0, *own, 0.0)

    def stored(self, poses: Array) -> float:
        """Energy [J] that the touches hold as springs: ½ k depth²."""
        return 0.5 * self.law.stiffness * sum(row[4] ** 2 for row in self.near(poses) if row[4] < 0.0)

    def forces(self, system: System) -> tuple[Array, Array, Array]:
        """Bones (n, 2), points [m] (n, 3) and forces on the second bones [N] (n, 3) at an assembled system's q, v."""
        self.add(system)
        n = self.count
        out = np.zeros((n, 3))
        force_now(self.law, self.touches, n, self._rate, out)
        return self.touches.bones[:n].copy(), self.touches.point[:n].copy(), out

"""A rod pressed into flesh along different ways: without friction the tissue must not remember them."""

from __future__ import annotations

import numpy as np

from vitruvian.flesh import (
    Capsule,
    Contact,
    ContactSurface,
    FleshModel,
    FleshSolver,
    Lattice,
    Loads,
    Settings,
    box_lattice,
    build_flesh,
    contact_surface,
    preset,
    rest_state,
)
from vitruvian.verify.book import Finding, claim, worst

WIDE, HIGH, CELL = 0.18, 0.09, 0.015  # of the block [m]
RADIUS, DEPTH = 0.025, 0.02  # of the rod, and how deep it ends [m]
OFF = (0.004, -0.003)  # of the rod from the block's middle [m], so that nothing is symmetric
GAP = 1e-5  # [m]
WAYS = {
    "straight": [(part * DEPTH, 0.0) for part in np.linspace(0.05, 1.0, 20)],
    "at once": [(DEPTH, 0.0)],
    "too deep and back": [(part * DEPTH, 0.0) for part in (*np.linspace(0.1, 1.4, 14), 1.3, 1.2, 1.1, 1.0)],
    "from the side": [
        *((part * DEPTH, 0.03) for part in np.linspace(0.125, 1.0, 8)),
        *((DEPTH, aside) for aside in np.linspace(0.028, 0.0, 15)),
    ],
}  # (depth, way aside) [m]


@claim
def a_rod_leaves_the_same_state_whichever_way_it_came() -> Finding:
    """Largest distance [mm] between states of a block into which a smooth rod came straight, at once, from too deep or
    from the side."""
    lattice = box_lattice((round(WIDE / CELL), round(WIDE / CELL), round(HIGH / CELL)), CELL)
    model = build_flesh(lattice, preset("soft"), fixed=lattice.nodes[:, 2] < 1e-9)
    surface = _top(lattice)
    found = {name: _pressed(model, surface, way) for name, way in WAYS.items()}
    first = found["straight"][0]
    pushes = [float(push) for _, push in found.values()]
    detail = (
        f"{DEPTH * 1e3:.0f} mm deep, {', '.join(found)}: {min(pushes):.2f} to {max(pushes):.2f} N; "
        f"residual 1e-5, gap {1e3 * GAP:g} mm"
    )
    return Finding.error(worst(1e3 * float(np.abs(x - first).max()) for x, _ in found.values()), 0.05, "mm", detail)


def _pressed(model: FleshModel, surface: ContactSurface, way: list[tuple[float, float]]) -> tuple[np.ndarray, float]:
    """Nodes [m] at the end of a way, and the rod's push [N]."""
    solver, state = FleshSolver(model, Settings(residual=1e-5, gap=1e-7, newton=100)), rest_state(model)
    for depth, aside in way:
        x, y, z = 0.5 * WIDE + OFF[0] + aside, 0.5 * WIDE + OFF[1], HIGH + RADIUS - depth
        rod = Capsule((x, y, z), (x, y, z + 0.2), RADIUS)
        solver.equilibrium(state, Loads(contacts=[Contact(surface, [rod], gap=GAP)]))
    return state.x, -float(state.push[:, 2].sum())


def _top(lattice: Lattice, count: int = 30) -> ContactSurface:
    """The top face as a skin of `count` squares a side."""
    line = np.linspace(0.0, WIDE, count + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), np.full(x.size, HIGH)], axis=1)
    i = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
    faces = np.concatenate([[i, i + count + 1, i + 1], [i + 1, i + count + 1, i + count + 2]], axis=1).T
    return contact_surface(lattice, points, faces)

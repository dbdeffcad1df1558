"""Lungs in the flesh: tissue of the chest that gives way, filled by a pressure, so that the flesh carries the breath.

Cells of the lattice inside the chest are lung: with V the chest's and C the lungs' compliance their bulk modulus is
V / C (3 kPa). Those inside the belly are viscera, soft and nearly incompressible. A breath is a pressure P in the lung
cells, whose forces are

    f = P R Σ lung cells ∂V/∂x at rest           R: turn of the chest (T6) since then

The tissue around passes it on: what the lungs gain comes out at chest and belly, as all else keeps its volume. P is
found once, with the ribs as they are in the fullest instant of the record, so that the tissue's volume grows by what
the lungs hold more then; at other instants it goes with the recorded volume.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from vitruvian.anatomy.trunk import breathing_human
from vitruvian.breath import Lungs, vertices
from vitruvian.couple import MuscleFlesh
from vitruvian.flesh import FleshModel, Loads, Material, neo_hookean, tissue_volume
from vitruvian.mesh import LevelSet, mesh_level_set
from vitruvian.skeleton import bone_poses
from vitruvian.systems.breath_record import full_clock
from vitruvian.systems.breathing import Breathing

Array = np.ndarray
VISCERA, VISCERA_POISSON = 2e3, 0.499  # [Pa], 1; assumed: loose organs hand on pressure and little else
POISSON = 0.35  # of lung tissue, assumed
GRID = 0.01  # [m] of the chest's level set
TRIED, ROUNDS = 500.0, 3  # [Pa] first tried, and rounds of secants after it
CHEST = "T6"


@lru_cache(maxsize=1)
def cavity_levels() -> tuple[LevelSet, LevelSet]:
    """Level sets of chest and belly in the default pose, negative inside."""
    trunk = breathing_human()
    c = trunk.cavities
    at = vertices(c, c.rest, bone_poses(trunk.body.skeleton, trunk.body.default_q))
    out = []
    for name, triangles in (("chest", c.chest), ("belly", c.belly)):
        used, faces = np.unique(triangles, return_inverse=True)
        out.append(mesh_level_set(at[used], faces.reshape(-1, 3), GRID, band=3.0 * GRID, name=name))
    return out[0], out[1]


def trunk_organs() -> list[tuple[Callable[[Array], Array], Material]]:
    """Lungs and viscera for `body_flesh`."""
    bulk = breathing_human().cavities.chest_volume / Lungs().compliance
    chest, belly = cavity_levels()
    return [
        (belly, neo_hookean(VISCERA, VISCERA_POISSON, name="viscera")),
        (chest, neo_hookean(3.0 * bulk * (1.0 - 2.0 * POISSON), POISSON, name="lung")),
    ]


class FleshBreath:
    """The breath of a body in flesh that has lungs."""

    def __init__(self, breathing: Breathing, model: FleshModel):
        self.breathing, self.model = breathing, model
        nodes = model.elements.nodes
        cells = cavity_levels()[0](nodes[model.elements.element_nodes].mean(axis=1)) < 0.0
        self.spread = np.zeros_like(nodes)  # ∂V/∂x of the lungs at rest [m²], (n_nodes, 3)
        model.elasticity.pressure_forces(nodes, cells.astype(float), self.spread)
        self.chest = breathing.body.skeleton.index(CHEST)
        self.elastance = 0.0  # pressure for what the lungs hold more [Pa/m³]

    def find(self, wrap: MuscleFlesh, rest_q: Array, q: Array) -> None:
        """Find the elastance with the bones of a body in flesh at q; the flesh was made at rest_q."""
        record = self.breathing.record
        at = full_clock(record)
        wanted = self.breathing.volume(at)
        state = wrap.start(rest_q, q, Loads())
        before = tissue_volume(self.model.elements, state.flesh.x)
        _, angle, rows = self.breathing.hinges
        state.pair.bones.q[:] = q
        state.pair.bones.q[angle] += rows @ record.at(at)[record.ribs]

        def gained(pressure: float) -> float:
            wrap.pair.settle(state.pair, Loads(force=self._force(pressure, state.poses)))
            return float(tissue_volume(self.model.elements, state.flesh.x) - before)

        last, here = (0.0, gained(0.0)), (TRIED, gained(TRIED))
        for _ in range(ROUNDS):
            if abs(here[1] - wanted) < 0.01 * abs(wanted):
                break
            pressure = here[0] + (wanted - here[1]) * (here[0] - last[0]) / (here[1] - last[1])
            last, here = here, (pressure, gained(pressure))
        self.elastance = here[0] / wanted

    def loads(self, loads: Loads, clock: float, poses: Array) -> Loads:
        """The loads with the lungs' pressure at `clock` [s], bones at poses (n_bones, 4, 4)."""
        force = self._force(self.pressure(clock), poses)
        return replace(loads, force=force if loads.force is None else loads.force + force)

    def pressure(self, clock: float) -> float:
        """[Pa]"""
        return self.elastance * self.breathing.volume(clock)

    def _force(self, pressure: float, poses: Array) -> Array:
        return np.asarray(pressure * self.spread @ poses[self.chest, :3, :3].T)

"""Exact statements about posed flesh: elements, weights, embedding, ground."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.characters import Character, character, soft_body
from vitruvian.couple.soft_body import SoftBody
from vitruvian.flesh.posed.blocks import F, scratch
from vitruvian.flesh.posed.forces import elastic_energy, elastic_forces, stress
from vitruvian.flesh.posed.ground import Ground, point_force
from vitruvian.flesh.posed.shapes import shape_rotations
from vitruvian.flesh.posed.weights import biharmonic_energy, bounded_biharmonic
from vitruvian.verify.book import Finding, claim, worst

Array = np.ndarray
NAMES = ("mascot", "panda", "baby")


@lru_cache(maxsize=3)
def _who(name: str = "mascot") -> Character:
    return character(name)


@lru_cache(maxsize=1)
def _body() -> SoftBody:
    return soft_body(_who())


def _forces(x: Array, pose: Array) -> Array:
    out = np.zeros_like(x)
    elastic_forces(_body().flesh, x, pose, out)
    return out


def _shaken(size: float, seed: int) -> Array:
    nodes = _who().tetrahedra.nodes
    return nodes + size * np.random.default_rng(seed).normal(size=nodes.shape)


@claim
def rest_and_rigid_motion_are_force_free() -> Finding:
    """Turned and moved as a whole, or posed and nothing else, the mascot's flesh pulls with no force at all.

    Shapes that a pose makes flatter than `LEAST` of their volume are led back and do pull; none of these is one.
    """
    nodes, reference = _who().tetrahedra.nodes, _shaken(0.004, 1)
    turn = Rotation.from_rotvec([0.7, -1.9, 0.4]).as_matrix()
    found = [
        np.abs(_forces(nodes @ turn.T + 2.0, nodes)).max(),
        np.abs(_forces(reference @ turn.T - 1.0, reference)).max(),
    ]
    typical = np.abs(_forces(reference, nodes)).max()
    return Finding.error(max(found) / typical, 1e-12, "", f"of {typical:.0f} N when nodes are moved by 4 mm")


@claim
def patch_test() -> Finding:
    """An even stretch and shear of all of the flesh leaves every inner node without force."""
    tetrahedra = _who().tetrahedra
    stretch = np.array([[1.08, 0.03, 0.0], [0.01, 0.95, -0.04], [0.02, 0.0, 1.03]])
    force = _forces(tetrahedra.nodes @ stretch.T, tetrahedra.nodes)
    inner = np.setdiff1d(np.arange(tetrahedra.n_nodes), tetrahedra.surface())
    size = np.abs(force).max()
    return Finding.error(
        np.abs(force[inner]).max() / size, 1e-12, "", f"{len(inner)} inner nodes, {size:.0f} N at the rim"
    )


@claim
def stress_makes_no_angular_momentum() -> Finding:
    """P Fᵀ is symmetric in every element, whatever its shape and its plastic reference."""
    flesh, w = _body().flesh, scratch()
    x, pose = _shaken(0.03, 2), _shaken(0.03, 3)
    off = []
    for block in range(len(flesh.corners)):
        count = shape_rotations(flesh, x, pose, block, w)
        shape = w[F : F + 9, :count].T.reshape(-1, 3, 3).copy()
        stress(flesh, block, w)
        pull = w[F : F + 9, :count].T.reshape(-1, 3, 3) @ shape.transpose(0, 2, 1)
        skew = np.abs(pull - pull.transpose(0, 2, 1)).max(axis=(1, 2)) / np.abs(pull).max(axis=(1, 2))
        off.append(float(skew.max()))
    return Finding.error(worst(off), 1e-12, "", f"{len(flesh.place)} elements, nodes moved by 30 mm")


@claim
def forces_are_the_gradient_of_the_energy() -> Finding:
    """Elastic forces are minus the derivative of the energy, with plasticity, to a finite difference's accuracy."""
    flesh, x, pose = _body().flesh, _shaken(0.01, 4), _shaken(0.01, 5)
    force = _forces(x, pose)
    errors = []
    for seed in range(5):
        way = np.random.default_rng(seed).normal(size=x.shape)
        ahead, behind = (elastic_energy(flesh, x + s * 1e-6 * way, pose) for s in (1.0, -1.0))
        errors.append(abs((behind - ahead) / 2e-6 / (force * way).sum() - 1.0))
    return Finding.error(max(errors), 1e-7)


@claim
def embedded_forces_do_the_same_work() -> Finding:
    """A force on the fine surface does the same work as its nodal forces, for any motion of the nodes."""
    skin, rng = _who().skin, np.random.default_rng(6)
    force, motion = rng.normal(size=_who().vertices.shape), rng.normal(size=_who().tetrahedra.nodes.shape)
    on_skin, on_nodes = (force * skin.positions(motion)).sum(), (skin.nodal_forces(force) * motion).sum()
    return Finding.error(abs(on_skin / on_nodes - 1.0), 1e-12)


@claim
def the_surface_rides_inside_its_tetrahedra() -> Finding:
    """Skin lies in the tetrahedra, but for a few points just outside: least barycentric coordinate of all three."""
    least, count = 0.0, 0
    for name in NAMES:
        who = _who(name)
        inside = who.skin.weights[: who.n_skin].min(axis=1)
        least, count = min(least, float(inside.min())), count + int((inside < 0.0).sum())
    return Finding.within(least, -0.1, 0.0, "", f"{count} of 18,000 points outside")


@claim
def weights_are_a_share_out() -> Finding:
    """Weights are not negative, sum to one and are one on their own bone's nodes, in all three characters."""
    off: list[float] = []
    for name in NAMES:
        who = _who(name)
        w, held = who.weights, who.fixed >= 0
        own = w[held, who.fixed[held]]
        off += [max(-w.min(), 0.0), np.abs(w.sum(axis=1) - 1.0).max(), np.abs(own - 1.0).max()]
    return Finding.error(worst(off), 1e-12)


@claim
def weights_minimise_the_biharmonic_energy() -> Finding:
    """Before they are scaled, weights meet the conditions of a bounded minimum: no slope inside, none outward."""
    tetrahedra, fixed = _who().tetrahedra, _who().fixed
    energy = biharmonic_energy(tetrahedra)
    raw = bounded_biharmonic(tetrahedra, fixed, len(_who().bones), scaled=False)
    slope = energy @ raw
    free = fixed < 0
    inner = (raw > 1e-7) & (raw < 1.0 - 1e-7) & free[:, None]
    low, high = (raw <= 1e-7) & free[:, None], (raw >= 1.0 - 1e-7) & free[:, None]
    outward = (-min(slope[low].min(initial=0.0), 0.0), max(slope[high].max(initial=0.0), 0.0))
    off = worst([float(np.abs(slope[inner]).max()), *map(float, outward)])
    return Finding.error(off, 1e-6, "", f"{int(inner.sum())} weights within bounds, {int(low.sum())} at zero")


@claim
def the_cone_of_friction_is_kept() -> Finding:
    """No force of the ground pulls, and none leaves the cone of friction, for any depth, speed and anchor."""
    rng, ground = np.random.default_rng(7), Ground(friction=0.9)
    off = [0.0]
    found = np.empty(4)
    for _ in range(5000):
        y, w = rng.normal(size=3) * (0.1, 0.1, 0.01), rng.normal(size=3)
        anchor = np.array([*(y[:2] + 0.01 * rng.normal(size=2)), float(rng.integers(2))])
        point_force(ground, 4e-4, y, w, anchor, found)
        off.append(max(-found[2], np.hypot(found[0], found[1]) - ground.friction * found[2], 0.0))
    return Finding.error(worst(off), 1e-9, "N")

"""Skeletons for claims, tests and timings: random trees of chosen joints, and a tree built like a human body."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vitruvian.skeleton.builder import SkeletonBuilder
from vitruvian.skeleton.inertia import Inertia
from vitruvian.skeleton.joints import (
    Ball,
    CurveSpline,
    Custom,
    Cylindrical,
    Elliptic,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    SurfaceSpline,
    Universal,
)
from vitruvian.skeleton.model import Skeleton
from vitruvian.spatial import bracket, exp_se3

Array = np.ndarray
MakeJoint = Callable[[np.random.Generator], Joint]


def unit_vector(rng: np.random.Generator) -> Array:
    """A random direction, (3,)."""
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def random_curve(rng: np.random.Generator, *, periodic: bool = False, order: int = 4, n: int = 8) -> CurveSpline:
    """A curve spline joint through a random walk of n frames."""
    frames = [np.eye(4)]
    while len(frames) < n:
        frames.append(frames[-1] @ exp_se3(0.4 * rng.normal(size=6)))
    return CurveSpline(frames, order=order, periodic=periodic)


def random_surface(rng: np.random.Generator, n_dof: int = 2, *, moving: bool = False) -> SurfaceSpline:
    """A spline joint with n_dof coordinates over [0, 1]: near the coordinates themselves, and bent at random."""
    shape = (5, 6, 7)[:n_dof]
    grids = np.meshgrid(*(np.linspace(-0.3, 1.3, m) for m in shape), indexing="ij")
    controls = 0.15 * rng.normal(size=(6, *shape))
    for d, grid in enumerate(grids):
        controls[d] += grid
    return SurfaceSpline(controls, [(0.0, 1.0)] * n_dof, moving=moving)


def screw_pair(rng: np.random.Generator) -> Custom:
    """A joint of the user's own: two random screws one after the other, written out by hand."""
    a, b = 0.7 * rng.normal(size=(2, 6))

    def jacobian(q: Array) -> Array:
        from vitruvian.spatial import adjoint, inverse

        return np.stack([adjoint(inverse(exp_se3(b * q[1]))) @ a, b], axis=1)

    def hessian(q: Array) -> Array:
        H = np.zeros((2, 2, 6))
        H[0, 1] = bracket(jacobian(q)[:, 0]) @ b
        return H

    return Custom(2, lambda q: exp_se3(a * q[0]) @ exp_se3(b * q[1]), jacobian, hessian)


LOWER_PAIRS: dict[str, MakeJoint] = {
    "fixed": lambda rng: Fixed(),
    "revolute": lambda rng: Revolute(unit_vector(rng)),
    "prismatic": lambda rng: Prismatic(unit_vector(rng)),
    "cylindrical": lambda rng: Cylindrical(unit_vector(rng)),
    "planar": lambda rng: Planar(unit_vector(rng)),
    "universal": lambda rng: Universal(unit_vector(rng), unit_vector(rng)),
    "ball": lambda rng: Ball(),
}
EVERY_JOINT: dict[str, MakeJoint] = {
    **LOWER_PAIRS,
    "helical": lambda rng: Helical(unit_vector(rng), rng.uniform(-0.3, 0.3)),
    "free": lambda rng: Free(),
    "elliptic": lambda rng: Elliptic(rng.uniform(0.2, 0.6), rng.uniform(0.2, 0.6)),
    "curve": random_curve,
    "closed curve": lambda rng: random_curve(rng, periodic=True, order=5),
    "surface 1": lambda rng: random_surface(rng, 1),
    "surface 2": random_surface,
    "surface 3": lambda rng: random_surface(rng, 3),
    "custom": screw_pair,
}


def random_inertia(rng: np.random.Generator) -> Inertia:
    """A solid box of random size, mass and place."""
    return Inertia.box(rng.uniform(0.5, 2.0), rng.uniform(0.1, 0.5, 3)).moved(exp_se3(0.3 * rng.normal(size=6)))


def random_tree(
    rng: np.random.Generator,
    makers: Sequence[MakeJoint],
    n_bones: int,
    *,
    free_root: bool = False,
    gravity: Sequence[float] = (0.3, -0.5, -9.81),
) -> Skeleton:
    """A randomly branching tree in which every maker gets its turn."""
    builder = SkeletonBuilder(gravity)
    for i in range(n_bones):
        joint = Free() if free_root and i == 0 else makers[i % len(makers)](rng)
        parent = None if i == 0 else f"bone{rng.integers(max(0, i - 5), i)}"
        builder.add_bone(
            f"bone{i}",
            parent=parent,
            joint=joint,
            placement=exp_se3(0.4 * rng.normal(size=6)),
            inertia=random_inertia(rng),
        )
    return builder.build()


def random_chain(n_bones: int, make: MakeJoint, seed: int = 0) -> Skeleton:
    """A chain of n_bones equal joints, for cost per bone."""
    rng = np.random.default_rng(seed)
    joint = make(rng)
    builder = SkeletonBuilder()
    for i in range(n_bones):
        builder.add_bone(
            f"bone{i}",
            parent=f"bone{i - 1}" if i else None,
            joint=joint,
            placement=(0.0, 0.0, 0.1),
            inertia=Inertia.box(1.0, (0.1, 0.1, 0.2)),
        )
    return builder.build()


# region, count, degrees of freedom, parent region: the make-up of the body in Lee 2008, table 5.1, without limbs' sides
_BODY: tuple[tuple[str, int, int, str], ...] = (
    ("pelvis", 1, 6, ""),
    ("lumbar", 5, 3, "pelvis"),
    ("thoracic", 12, 3, "lumbar"),
    ("cervical", 7, 3, "thoracic"),
    ("skull", 1, 3, "cervical"),
    ("mandible", 1, 1, "skull"),
    ("hyoid", 2, 1, "skull"),
    ("sternum", 1, 2, "thoracic"),
    ("ribs", 19, 1, "thoracic"),
    ("cartilage", 10, 3, "sternum"),
    ("clavicle", 2, 2, "sternum"),
    ("humerus", 2, 3, "clavicle"),
    ("ulna", 2, 1, "humerus"),
    ("radius", 2, 1, "ulna"),
    ("hand", 2, 2, "radius"),
    ("femur", 2, 3, "pelvis"),
    ("tibia", 2, 1, "femur"),
    ("foot", 2, 1, "tibia"),
)


def humanlike_tree(seed: int = 0) -> Skeleton:
    """75 bones and 163 degrees of freedom, branching as a human body does; sizes are random."""
    rng = np.random.default_rng(seed)
    builder = SkeletonBuilder()
    made: dict[str, list[str]] = {}
    for region, count, dof, above in _BODY:
        names: list[str] = []
        for k in range(count):
            chained = region in ("lumbar", "thoracic", "cervical", "hyoid") and k > 0
            parents = names if chained else made.get(above, [])
            parent = (parents[-1] if chained or len(parents) != count else parents[k]) if parents else None
            if region == "ribs":
                parent = made[above][k % 12]
            joint: Joint = {
                1: Revolute(unit_vector(rng)),
                2: Universal((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
                3: Ball(),
                6: Free(),
            }[dof]
            names.append(f"{region}{k}")
            builder.add_bone(
                names[-1],
                parent=parent,
                joint=joint,
                placement=exp_se3(0.2 * rng.normal(size=6)),
                inertia=random_inertia(rng),
            )
        made[region] = names
    return builder.build()


def random_state(skeleton: Skeleton, rng: np.random.Generator) -> tuple[Array, Array]:
    """Coordinates and velocities at random; spline joints with an open domain stay inside it."""
    from vitruvian.skeleton.coordinates import integrate

    q = integrate(skeleton, skeleton.neutral, rng.normal(size=skeleton.n_v))
    for i, joint in enumerate(skeleton.joints):
        if joint.domain is not None:
            low, high = np.array(joint.domain).T
            q[skeleton.q_start[i] : skeleton.q_start[i + 1]] = rng.uniform(low, high)
    return q, rng.normal(size=skeleton.n_v)

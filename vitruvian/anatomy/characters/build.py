"""From a shape and bones to a character: tetrahedra, fixed nodes, weights, skin.

The lattice's spacing is chosen for the number of nodes asked for, and varied until the hull is one closed surface
without handles: at some spacings limbs touch the trunk in a node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.characters.character import Character, Patch, fixed_nodes
from vitruvian.anatomy.characters.cutting import cut_along_borders
from vitruvian.anatomy.characters.design import Bone, Design, part_distance
from vitruvian.errors import InputError
from vitruvian.flesh import Tetrahedra
from vitruvian.flesh.posed.weights import bounded_biharmonic
from vitruvian.flesh.tetrahedra_bcc import bcc_tetrahedra, euler_number, spacing_for
from vitruvian.mesh import (
    LevelSet,
    decimated,
    ellipsoid,
    empty_level_set,
    isosurface,
    mesh_level_set,
    mesh_volume,
    topology,
)

Array = np.ndarray
FINER = (1, 2, 4)  # times the nodes asked for
VARIED = tuple(1.0 + s * 0.015 * k for k in range(12) for s in ((1.0, -1.0) if k else (1.0,)))
FINE = 0.012  # spacing of the grid on which a design's surface is found, of its height

MOST, KEPT = 40_000, 14_000  # triangles of a user's mesh that are kept as they are, and those it gets if there are more


def from_design(design: Design, say: Callable[[str], None] = lambda line: None) -> Character:
    """One of our own."""
    low, high = design.bounds()
    spacing = FINE * float(high[2])
    level = empty_level_set(low, high, spacing, 4.0 * spacing)
    axes = [level.origin[a] + spacing * np.arange(level.values.shape[a]) for a in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    values = np.concatenate([design.distance(part) for part in np.array_split(grid, 40)])
    filled = LevelSet(values.reshape(level.values.shape).astype(np.float32), level.origin, spacing, level.band)
    vertices, faces = isosurface(filled)
    say(f"surface of {len(vertices)} vertices, made {design.vertices}")
    vertices, faces = decimated(vertices, faces, 2 * design.vertices)
    if euler_number(faces) != 2:
        raise InputError(f"character {design.name}: its surface has handles (Euler number {euler_number(faces)})")
    tetrahedra, h = enclosed(design.distance, low, high, design.nodes, design.name)
    say(f"{tetrahedra.n_nodes} nodes, {tetrahedra.n_elements} tetrahedra, spacing {1e3 * h:.0f} mm")
    names = list(dict.fromkeys(p.colour for p in design.parts))
    far = np.stack([part_distance(p, vertices) for p in design.parts], axis=1)
    of = np.array([names.index(p.colour) for p in design.parts])
    near = np.stack([far[:, of == k].min(axis=1) for k in range(len(names))], axis=1)
    vertices, faces, colour = cut_along_borders(vertices, faces, near)
    patches = [Patch(f"skin {name}", faces[colour == k], design.colours[name]) for k, name in enumerate(names)]
    points, n_skin = [vertices], len(vertices)
    for n, feature in enumerate(design.features):
        at, triangles = ellipsoid(feature.radii, feature.centre, 2)
        patches.append(Patch(f"feature {n}", triangles + sum(map(len, points)), design.colours[feature.colour]))
        points.append(at)
    return assembled(
        design.name, design.bones, tetrahedra, h, design.distance, np.concatenate(points), n_skin, patches,
        design.mass, design.young, design.poisson, design.feet,
    )  # fmt: skip


def enclosed(
    distance: Callable[[Array], Array], low: Array, high: Array, nodes: int, name: str
) -> tuple[Tetrahedra, float]:
    """Tetrahedra around a shape and their spacing [m]; the hull is one closed surface without handles."""
    wanted = spacing_for(distance, low, high, nodes)
    seen = []
    for factor in VARIED:
        found = bcc_tetrahedra(distance, low, high, factor * wanted)
        seen.append(euler_number(found.surface()))
        if seen[-1] == 2:
            return found, factor * wanted
    raise InputError(
        f"character {name}: at lattices of {1e3 * min(VARIED) * wanted:.0f} to {1e3 * max(VARIED) * wanted:.0f} mm "
        "parts of the hull touch (arms at the trunk, legs at each other?); spread the limbs or ask for more nodes"
    )


def _finer(
    distance: Callable[[Array], Array], low: Array, high: Array, nodes: int, name: str, say: Callable[[str], None]
) -> tuple[Tetrahedra, float]:
    """`enclosed` with the nodes asked for, else with two or four times as many, where limbs are close; that is said."""
    for more in FINER:
        try:
            return enclosed(distance, low, high, more * nodes, name)
        except InputError:
            if more == FINER[-1]:
                raise
            say(f"a lattice of {more * nodes} nodes glues limbs that are close to each other: twice as many are tried")
    raise AssertionError


def assembled(
    name: str,
    bones: Sequence[Bone],
    tetrahedra: Tetrahedra,
    spacing: float,
    distance: Callable[[Array], Array],
    vertices: Array,
    n_skin: int,
    patches: Sequence[Patch],
    mass: float,
    young: float,
    poisson: float,
    feet: Sequence[str],
) -> Character:
    """Tie bones to tetrahedra and check the whole."""
    fixed = fixed_nodes(tetrahedra, bones, spacing, feet, distance(tetrahedra.nodes))
    weights = bounded_biharmonic(tetrahedra, fixed, len(bones))
    character = Character(
        name, tuple(bones), tetrahedra, fixed, weights, vertices, n_skin, tuple(patches), mass, young, poisson
    )
    character.check()
    return character


def from_mesh(
    name: str,
    vertices: Array,
    faces: Array,
    colours: Array,
    bones: Sequence[Bone],
    *,
    mass: float | None = None,
    young: float | None = None,
    poisson: float = 0.4,
    nodes: int = 1100,
    say: Callable[[str], None] = lambda line: None,
) -> Character:
    """A user's closed mesh [m] (n, 3), (m, 3) with a colour for each face (m, 3) and bones inside it.

    mass [kg]: 24 kg/m² times the height squared without it; young [Pa]: 71 kPa for each metre of height. A mesh of more
    than `MOST` triangles is drawn anew from its level set with fewer, and that is said."""
    tall = float(np.ptp(vertices[:, 2]))
    if not tall > 0.05:
        raise InputError(f"character {name}: its mesh is {tall:g} m tall; lengths must be in metres")
    vertices = vertices - np.array([0.0, 0.0, vertices[:, 2].min()])
    topology(faces, len(vertices), name)  # one that is open is refused
    if mesh_volume(vertices, faces) < 0.0:
        raise InputError(f"character {name}: its triangles face inwards; turn them over")
    if len(faces) > MOST:  # a narrow band does for that: the time goes with its third power for each triangle
        thin = mesh_level_set(vertices, faces, FINE * tall, band=3.0 * FINE * tall, name=name)
        fine, triangles = decimated(*isosurface(thin), KEPT)
        nearest = cKDTree(vertices[faces].mean(axis=1)).query(fine[triangles].mean(axis=1))[1]
        say(f"{len(faces)} triangles are more than {MOST}: drawn anew with {len(triangles)}")
        vertices, faces, colours = fine, triangles, colours[nearest]
    level = mesh_level_set(vertices, faces, FINE * tall, band=14.0 * FINE * tall, name=name)
    for bone in bones:
        if level(np.array([bone.at]))[0] > 0.02 * tall:
            raise InputError(
                f"character {name}: joint '{bone.name}' lies outside the mesh; do mesh and skeleton share a pose?"
            )
    tetrahedra, h = _finer(level, vertices.min(axis=0), vertices.max(axis=0), nodes, name, say)
    say(f"{tetrahedra.n_nodes} nodes, {tetrahedra.n_elements} tetrahedra, spacing {1e3 * h:.0f} mm")
    kinds, of = np.unique(np.round(colours, 3), axis=0, return_inverse=True)
    patches = [Patch(f"skin {n}", faces[of.ravel() == n], tuple(kind)) for n, kind in enumerate(kinds.tolist())]
    feet = [b.name for b in bones if b.name.startswith("foot")]
    return assembled(
        name, bones, tetrahedra, h, level, vertices, len(vertices), patches,
        24.0 * tall**2 if mass is None else mass, 7.1e4 * tall if young is None else young, poisson, feet,
    )  # fmt: skip

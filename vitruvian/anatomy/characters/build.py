"""From a shape and bones to a character: tetrahedra, fixed nodes, weights, skin.

The lattice's spacing is chosen for the number of nodes asked for, and varied until the hull is one closed surface
without handles: at some spacings limbs touch the trunk in a node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vitruvian.anatomy.characters.character import Character, Patch, fixed_nodes
from vitruvian.anatomy.characters.design import Bone, Design, part_distance
from vitruvian.errors import InputError
from vitruvian.flesh.posed.weights import bounded_biharmonic
from vitruvian.flesh.tetrahedra import Tetrahedra
from vitruvian.flesh.tetrahedra_bcc import bcc_tetrahedra, euler_number, spacing_for
from vitruvian.mesh import LevelSet, decimated, empty_level_set, isosurface
from vitruvian.mesh.shapes import ellipsoid

Array = np.ndarray
VARIED = tuple(1.0 + s * 0.015 * k for k in range(12) for s in ((1.0, -1.0) if k else (1.0,)))
FINE = 0.012  # spacing of the grid on which a design's surface is found, of its height


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
    nearest = np.argmin([part_distance(p, vertices[faces].mean(axis=1)) for p in design.parts], axis=0)
    colour = np.array([p.colour for p in design.parts])[nearest]
    patches = [Patch(f"skin {name}", faces[colour == name], design.colours[name]) for name in dict.fromkeys(colour)]
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
        f"character {name}: at lattices of {1e3 * min(VARIED) * wanted:.0f} to {1e3 * max(VARIED) * wanted:.0f} mm parts "
        "of the hull touch (arms at the trunk, legs at each other?); spread the limbs or ask for more nodes"
    )


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

"""Elastic tissue with live muscle fibres, cut into elements: a cubic lattice, tetrahedra.

`elements`     what any elements have, and what they do; `elasticity`, `point`, `point_kernels` the plain way to do it
`lattice`      cells of one size, from a level set
`tetrahedra`   tetrahedra, from any mesh
`materials`    Mooney–Rivlin, neo-Hookean, corotated and St. Venant–Kirchhoff tissue, with presets
`fibre`        the force–length curve of muscle
`muscles`      which muscles fill which elements
`attachments`  springs to bone; `embedding` points that ride along
`model`        what never changes; `state` what does
`solver`       equilibrium and time steps; `newton`, `potential`, `krylov`, `multigrid`, `pattern` are how
`viscosity`    tissue that takes its time
`contact`      ground and simple shapes; `lattice.self_contact` skin on skin, `pairs` what it does
`drape`        the skin as a thin plate
`measures`     strain and volume, for looking at and checking
`surface_loads`  weight, traction, pressure that follows the skin
`answers`      reactions, stress, energy, momentum, tangent
`checks`       every input by name
"""

from vitruvian.flesh.answers import (
    FleshEnergy,
    Stress,
    angular_momentum,
    flesh_energy,
    momentum,
    reactions,
    stress,
    tangent,
)
from vitruvian.flesh.attachments import Attachments, attach, sample_surface
from vitruvian.flesh.contact import Box, Capsule, Contact, ContactSurface, Plane, contact_surface
from vitruvian.flesh.drape import Drape
from vitruvian.flesh.elements import Elasticity, Elements
from vitruvian.flesh.embedding import Embedding, embed
from vitruvian.flesh.fibre import Fibre
from vitruvian.flesh.lattice import Lattice, box_lattice, lattice_from_level_set, lattice_from_values
from vitruvian.flesh.lattice.self_contact import SelfContact, self_contact
from vitruvian.flesh.materials import (
    Material,
    corotated,
    mooney_rivlin,
    mooney_rivlin_from_moduli,
    neo_hookean,
    preset,
    venant_kirchhoff,
)
from vitruvian.flesh.measures import cell_strain, node_values, tissue_volume
from vitruvian.flesh.model import FleshModel, build_flesh
from vitruvian.flesh.muscles import MuscleFibres, sample_muscles
from vitruvian.flesh.potential import Loads, Potential
from vitruvian.flesh.settings import Settings, SolveReport, Unbalanced
from vitruvian.flesh.solver import FleshSolver
from vitruvian.flesh.state import FleshState, rest_state
from vitruvian.flesh.surface_loads import Pressure, gravity, pressure_on, traction
from vitruvian.flesh.tetrahedra import Tetrahedra, box_tetrahedra, tetrahedra_from_mesh
from vitruvian.flesh.viscosity import Drag

__all__ = [
    "Attachments",
    "Box",
    "Capsule",
    "Contact",
    "ContactSurface",
    "Drag",
    "Drape",
    "Elasticity",
    "Elements",
    "Embedding",
    "Fibre",
    "FleshEnergy",
    "FleshModel",
    "FleshSolver",
    "FleshState",
    "Lattice",
    "Loads",
    "Material",
    "MuscleFibres",
    "Plane",
    "Potential",
    "Pressure",
    "SelfContact",
    "Settings",
    "SolveReport",
    "Stress",
    "Tetrahedra",
    "Unbalanced",
    "angular_momentum",
    "attach",
    "box_lattice",
    "box_tetrahedra",
    "build_flesh",
    "cell_strain",
    "contact_surface",
    "corotated",
    "embed",
    "flesh_energy",
    "gravity",
    "lattice_from_level_set",
    "lattice_from_values",
    "momentum",
    "mooney_rivlin",
    "mooney_rivlin_from_moduli",
    "neo_hookean",
    "node_values",
    "preset",
    "pressure_on",
    "reactions",
    "rest_state",
    "sample_muscles",
    "sample_surface",
    "self_contact",
    "stress",
    "tangent",
    "tetrahedra_from_mesh",
    "tissue_volume",
    "traction",
    "venant_kirchhoff",
]

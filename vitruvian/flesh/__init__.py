"""Elastic tissue with live muscle fibres on a cubic lattice.

`lattice`     cells that hold tissue, from a level set; `fill` and `fragments` say how much and which parts belong
together `materials`   Mooney–Rivlin, neo-Hookean and corotated tissue, with presets; `fibre` the force–length curve
of muscle `muscles`     which muscles fill which cells; `attachments` springs to bone; `embedding` points that ride
along `model`, `state`   what never changes, what does
`solver`      equilibrium and time steps; `newton`, `potential`, `krylov`, `kernels` are how
`contact`     ground and simple shapes; `self_contact` skin on skin; `drape` the skin as a thin plate
`measures`    strain, pressure and volume, for looking at and checking
"""

from vitruvian.flesh.attachments import Attachments, attach, sample_surface
from vitruvian.flesh.contact import Box, Capsule, Contact, ContactSurface, Plane, contact_surface
from vitruvian.flesh.drape import Drape
from vitruvian.flesh.embedding import Embedding, embed
from vitruvian.flesh.fibre import Fibre
from vitruvian.flesh.lattice import Lattice, box_lattice, lattice_from_level_set, lattice_from_values
from vitruvian.flesh.materials import (
    Material,
    corotated,
    mooney_rivlin,
    mooney_rivlin_from_moduli,
    neo_hookean,
    preset,
)
from vitruvian.flesh.measures import cell_strain, lattice_surface, node_values, tissue_volume
from vitruvian.flesh.model import FleshModel, build_flesh
from vitruvian.flesh.muscles import MuscleFibres, sample_muscles
from vitruvian.flesh.newton import Report, Settings
from vitruvian.flesh.potential import Loads, Potential
from vitruvian.flesh.self_contact import SelfContact, self_contact
from vitruvian.flesh.solver import FleshSolver
from vitruvian.flesh.state import FleshState, rest_state

__all__ = [
    "Attachments",
    "Box",
    "Capsule",
    "Contact",
    "ContactSurface",
    "Drape",
    "Embedding",
    "Fibre",
    "FleshModel",
    "FleshSolver",
    "FleshState",
    "Lattice",
    "Loads",
    "Material",
    "MuscleFibres",
    "Plane",
    "Potential",
    "Report",
    "SelfContact",
    "Settings",
    "attach",
    "box_lattice",
    "build_flesh",
    "cell_strain",
    "contact_surface",
    "corotated",
    "embed",
    "lattice_from_level_set",
    "lattice_from_values",
    "lattice_surface",
    "mooney_rivlin",
    "mooney_rivlin_from_moduli",
    "neo_hookean",
    "node_values",
    "preset",
    "rest_state",
    "sample_muscles",
    "sample_surface",
    "self_contact",
    "tissue_volume",
]

"""Flesh on a cubic lattice: cells of one size, cut by the skin.

`cells`         the lattice, one kind of `Elements`; `build` makes it
`fill`          how much of a cell is tissue, and where in it
`fragments`     which pieces of tissue belong together
`elasticity`    what cells do; `forces`, `stiffness`, `stiffness_parts` and `kernels` are how
`bending`       where strain is taken; `ghost` what holds cut cells; `trilinear` the shape functions
`coarsen`       coarser lattices for multigrid
`self_contact`  skin on skin
"""

from vitruvian.flesh.lattice.build import box_lattice, lattice_from_level_set, lattice_from_values, wholly_inside
from vitruvian.flesh.lattice.cells import Lattice

__all__ = ["Lattice", "box_lattice", "lattice_from_level_set", "lattice_from_values", "wholly_inside"]

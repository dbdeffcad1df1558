"""A block of soft tissue, held at its foot, bends under gravity that pulls sideways."""

import vitruvian as vt

lattice = vt.box_lattice((4, 4, 10), 0.02)  # cells, and their edge [m]
model = vt.build_flesh(lattice, vt.material("soft"), fixed=lattice.nodes[:, 2] < 0.001)
world = vt.World(vt.TissueSystem(model, loads=(9.81, 0.0, 0.0)), frame_rate=60, substeps=1)
run = vt.run(world, seconds=0.2)
print(run.open())
vt.render(run, "block.png", at=0.2)

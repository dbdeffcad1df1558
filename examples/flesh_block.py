"""A block of soft tissue, held at its foot, sways when gravity pulls it sideways."""

import vitruvian as vt

lattice = vt.box_lattice((4, 4, 10), 0.02)  # cells, and their edge [m]
model = vt.build_flesh(lattice, vt.material("soft"), fixed=lattice.nodes[:, 2] < 0.001)
system = vt.TissueSystem(model, loads=(9.81, 0.0, 0.0), dynamic=True)
run = vt.run(vt.World(system, frame_rate=60, substeps=2), seconds=0.2)
print(run.open())
vt.render(run, "block.png", at=0.2)

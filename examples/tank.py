"""A light ball is let go under water and rises."""

import vitruvian as vt

tank = vt.Tank((16, 16, 20), cell=0.05, rest_level=0.7)
ball = vt.RigidBody.solid("ball", *vt.mesh.sphere(0.12), density=300.0, position=(0.4, 0.4, 0.3))
world = vt.World(vt.TankSystem(tank, bodies=[ball]), frame_rate=30, substeps=1)
run = vt.run(world, seconds=0.3)
print(f"the ball rose by {run.open().poses[-1, 0, 2] - 0.3:.2f} m")
vt.render(run, "tank.png", at=0.3)

"""A rod on a hinge, let go at 1 rad: it swings, and its energy stays."""

import vitruvian as vt

builder = vt.SkeletonBuilder()
rod = vt.Inertia.cylinder(1.0, 0.02, 1.0, com=(0, 0, -0.5))  # mass [kg], radius and length [m]
builder.add_bone("rod", joint=vt.joints.Revolute((1, 0, 0)), inertia=rod)
world = vt.World(vt.BonesSystem(builder.build(), q=[1.0]), frame_rate=60, substeps=8)
run = vt.run(world, seconds=2.0)
angle, energy = run.open()["coordinates"][:, 0], run.open()["energy"][:, -1]
print(f"from {angle.min():.3f} to {angle.max():.3f} rad, energy from {energy.min():.6f} to {energy.max():.6f} J")

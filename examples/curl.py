"""A dumbbell curl by 860 muscles: run it, read what was recorded, look at it."""

import vitruvian as vt

run = vt.run("curl", seconds=1.5, mass=3.0)
print(run)
angle, target = run.open()["elbow"].T
print(f"the elbow bends to {angle.max():.2f} rad, at most {abs(angle - target).max():.3f} rad off the motion")
vt.render(run, "curl.png", camera="chest")

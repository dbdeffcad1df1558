"""A force law of your own, in a muscle of your own: an elastic band that bends the elbow without being excited."""

import numpy as np

import vitruvian as vt


@vt.ForceLaw
def band(activation, length, rate, f_max, rest_length, damping=200.0):
    return np.maximum(f_max * (length / rest_length - 1.0) + damping * rate, 0.0)


path = [("Hu_l", (0.35, -0.03, 1.55)), ("Ul_l", (0.55, 0.03, 1.56))]  # bone, and place in the default pose [m]
arm = vt.arm("left").with_muscle("band_l", path, element=band(f_max=500.0, rest_length=0.12), world=True)
world = vt.World(vt.BodySystem(arm), frame_rate=60, substeps=8)
print(vt.run(world, seconds=0.5), "\nelbow [rad]", world.state.q[arm.skeleton.q_slice("Ul_l")])

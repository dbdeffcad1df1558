"""A controller of your own: it excites the flexors of an arm until the elbow is bent by 1 rad."""

import numpy as np

import vitruvian as vt

arm = vt.arm("left")
flexor = np.array([name.startswith(("biceps", "brachialis")) for name in arm.muscles.names])


class Bend:
    def start(self, rng): ...  # what it remembers from step to step: nothing

    def act(self, own, state, time, dt):
        return vt.Controls(excitation=flexor * np.clip(1.0 - state.q[arm.skeleton.q_slice("Ul_l")], 0.0, 1.0))


world = vt.World(vt.BodySystem(arm), Bend(), frame_rate=60, substeps=8)
print(vt.run(world, seconds=0.5), "\nelbow [rad]", world.state.q[arm.skeleton.q_slice("Ul_l")])

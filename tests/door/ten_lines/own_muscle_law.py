import numpy as np

from vitruvian.couple.stepper import BodyStepper
from vitruvian.muscle import ForceLaw, MuscleBuilder
from vitruvian.skeleton import Inertia, SkeletonBuilder
from vitruvian.skeleton.joints import Fixed, Revolute


@ForceLaw
def gaussian(activation, length, rate, f_max, rest_length, width=0.45):
    return activation * f_max * np.exp(-(((length / rest_length - 1.0) / width) ** 2))


bones, rod = SkeletonBuilder(), Inertia.box(1.0, (0.3, 0.02, 0.02), (0.15, 0, 0))
bones.add_bone("post", joint=Fixed(), inertia=Inertia.box(1.0, (0.1, 0.1, 0.4)))
bones.add_bone("rod", parent="post", joint=Revolute((0, 1, 0)), inertia=rod, damping=0.2)
skeleton = bones.build()
muscles = MuscleBuilder(skeleton)
muscles.add_muscle("flexor", [("post", (0, 0, 0.2)), ("rod", (0.1, 0, 0))], gaussian(f_max=60.0, rest_length=0.2))
stepper, q, v = BodyStepper(skeleton, muscles.build()), np.zeros(1), np.zeros(1)
for _ in range(2000):
    q, v = stepper.step(q, v, np.array([0.3]), 0.004)
print(f"the rod rests {-np.degrees(q[0]):.1f} degrees above the horizon, held by {stepper.found.tension[0, 0]:.1f} N")

"""vitruvian: a biomechanical virtual human.

Floors, from the ground up (each imports only from those below it)::

    spatial     rigid motions: SE(3), twists, splines on SE(3)
    mesh        surfaces, level sets, sampling
    skeleton    bones, joints, kinematics, dynamics
    muscle      line muscles         flesh   finite elements         water   incompressible flow
    couple      bone-flesh, skin-water, the coupled cycle
    anatomy     tables and meshes -> bodies
    control     everything that decides activations
    world       time stepping, recording, checkpoint, resume
    exchange    other people's formats
    view        browser viewer, pictures, films
    scenes      one file per experiment
    verify      the verification book           benchmarks   timings against peers
    cli         the command line

SI units, float64, world axes +x to the body's left, +y to the back, +z up.
"""

import os

from vitruvian import kernel_cache

__version__ = "0.1.0"

kernel_cache.keep_kernels()
# threads that wait for each other sleep instead of spinning: on a busy machine the pressure solve takes a fifth of the
# time, on an idle one the same; read when Numba's threads start
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# sums of a threaded BLAS depend on the number of threads; our matrices are small, and the same run shall give the same
# bits on one core and on many; read when NumPy is imported
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

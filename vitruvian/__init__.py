"""vitruvian: a biomechanical virtual human.

    import vitruvian as vt
    run = vt.run("crawl", rate=0.8)

The names of `vt` are in the table below; each is imported when it is first used, so `import vitruvian` is quick. What
is not among them is found in its package, as `vt.skeleton.energy`. Floors, from the ground up (each imports only from
those below it)::

    spatial     rigid motions: SE(3), twists, splines on SE(3)           swarm   one function over many items
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
    door        run, open, render, show, sweep: what the names of `vt` add
    cli         the command line

SI units, float64, world axes +x to the body's left, +y to the back, +z up.
"""

import os
from typing import Any

from vitruvian import kernel_cache

__version__ = "0.1.0"

# name -> the one path at which it is found, "package" or "package:its name there"; `__init__.pyi` tells them to editors
NAMES = {
    # scenes and recordings
    "run": "vitruvian.door",
    "open": "vitruvian.door",
    "render": "vitruvian.door",
    "show": "vitruvian.door",
    "scene_names": "vitruvian.scenes",
    # many runs
    "sweep": "vitruvian.door",
    "map": "vitruvian.swarm",
    # bodies and mechanisms
    "human": "vitruvian.anatomy",
    "arm": "vitruvian.anatomy",
    "SkeletonBuilder": "vitruvian.skeleton",
    "Inertia": "vitruvian.skeleton",
    "joints": "vitruvian.skeleton",
    "MuscleBuilder": "vitruvian.muscle",
    # tissue and water
    "box_lattice": "vitruvian.flesh",
    "build_flesh": "vitruvian.flesh",
    "material": "vitruvian.flesh:preset",
    "Tank": "vitruvian.water",
    "RigidBody": "vitruvian.water",
    # worlds
    "World": "vitruvian.world",
    "Signal": "vitruvian.world.stage",
    # errors
    "InputError": "vitruvian.errors",
    "Diverged": "vitruvian.errors",
}
# names whose packages are being built: each line moves up when its package is there
SOON = {
    "BonesSystem": "vitruvian.systems",
    "BodySystem": "vitruvian.systems",
    "TissueSystem": "vitruvian.systems",
    "TankSystem": "vitruvian.systems",
    "SwimmerSystem": "vitruvian.systems",
    "Measure": "vitruvian.systems",
    "Controls": "vitruvian.control",
}
PACKAGES = (
    *("spatial", "mesh", "skeleton", "muscle", "flesh", "water", "couple", "anatomy", "control", "world", "exchange"),
    *("view", "scenes", "verify", "benchmarks", "swarm", "door", "cli", "errors"),
)
# `import *` leaves Python's own `open` and `map` alone
__all__ = [name for name in NAMES if name not in ("open", "map")]

kernel_cache.keep_kernels()
# threads that wait for each other sleep instead of spinning: on a busy machine the pressure solve takes a fifth of the
# time, on an idle one the same; read when Numba's threads start
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# sums of a threaded BLAS depend on the number of threads; our matrices are small, and the same run shall give the same
# bits on one core and on many; read when NumPy is imported
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in PACKAGES:
        return import_module(f"vitruvian.{name}")
    if name not in NAMES:
        from difflib import get_close_matches

        near = get_close_matches(name, [*NAMES, *PACKAGES], n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else "see dir(vitruvian)"
        raise AttributeError(f"vitruvian has no '{name}'; {hint}", name=name)
    module, _, its_name = NAMES[name].partition(":")
    value = globals()[name] = getattr(import_module(module), its_name or name)
    return value


def __dir__() -> list[str]:
    return sorted([*NAMES, *PACKAGES, "__version__", "__doc__"])

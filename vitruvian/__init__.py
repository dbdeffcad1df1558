"""vitruvian: a biomechanical virtual human.

    import vitruvian as vt
    run = vt.run("crawl", rate=0.8)

The names of `vt` are in the table below; each is imported when it is first used, so `import vitruvian` is quick. What
is not among them is found in its package, as `vt.skeleton.energy`. Floors, from the ground up (each imports only from
those below it)::

    spatial     rigid motions       world    time, state, recording      swarm   one function over many items
    mesh        surfaces, level sets, sampling
    skeleton    bones, joints, kinematics, dynamics
    muscle      line muscles        flesh    finite elements             water   incompressible flow
    skin        a surface bound to bones
    breath      cavities, lungs and airway
    couple      the one step of bones and everything that acts within it
    anatomy     tables and meshes -> bodies
    control     everything that decides activations
    measured    measured motion: poses, moments, muscle forces
    systems     whole things that live: body, swimmer, tissue, tank
    exchange    other people's formats
    view        browser viewer, pictures, films
    scenes      one file per experiment
    verify      the verification book           benchmarks   timings against peers
    door        run, open, render, show, share, sweep, track: what the names of `vt` add
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
    "share": "vitruvian.door",
    "scene_names": "vitruvian.scenes",
    # measured motion
    "track": "vitruvian.door",
    # many runs
    "sweep": "vitruvian.door",
    "search_stroke": "vitruvian.door",
    "map": "vitruvian.swarm",
    # bodies and mechanisms
    "human": "vitruvian.anatomy",
    "arm": "vitruvian.anatomy",
    "SkeletonBuilder": "vitruvian.skeleton",
    "Inertia": "vitruvian.skeleton",
    "joints": "vitruvian.skeleton",
    "MuscleBuilder": "vitruvian.muscle",
    "ForceLaw": "vitruvian.muscle",
    # tissue and water
    "box_lattice": "vitruvian.flesh",
    "build_flesh": "vitruvian.flesh",
    "material": "vitruvian.flesh:preset",
    "Tank": "vitruvian.water",
    "RigidBody": "vitruvian.water",
    # systems and worlds
    "BonesSystem": "vitruvian.systems",
    "BodySystem": "vitruvian.systems",
    "SwimmerSystem": "vitruvian.systems",
    "TissueSystem": "vitruvian.systems",
    "TankSystem": "vitruvian.systems",
    "World": "vitruvian.world",
    "Controls": "vitruvian.control",
    "Measure": "vitruvian.systems",
    "Signal": "vitruvian.world",
    # errors
    "InputError": "vitruvian.errors",
    "Diverged": "vitruvian.errors",
}
PACKAGES = (
    *("spatial", "world", "swarm", "mesh", "skeleton", "muscle", "flesh", "water", "skin", "breath", "couple"),
    "anatomy",
    *("control", "measured", "systems", "exchange", "view", "scenes", "verify", "benchmarks", "door", "cli", "errors"),
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

# The names of `vitruvian` for editors and type checkers; at run time the table in `__init__.py` finds them.

from vitruvian import anatomy as anatomy
from vitruvian import benchmarks as benchmarks
from vitruvian import breath as breath
from vitruvian import cli as cli
from vitruvian import control as control
from vitruvian import couple as couple
from vitruvian import door as door
from vitruvian import errors as errors
from vitruvian import exchange as exchange
from vitruvian import flesh as flesh
from vitruvian import kernel_cache as kernel_cache
from vitruvian import measured as measured
from vitruvian import mesh as mesh
from vitruvian import muscle as muscle
from vitruvian import scenes as scenes
from vitruvian import skeleton as skeleton
from vitruvian import skin as skin
from vitruvian import spatial as spatial
from vitruvian import swarm as swarm
from vitruvian import systems as systems
from vitruvian import verify as verify
from vitruvian import view as view
from vitruvian import water as water
from vitruvian import world as world
from vitruvian.anatomy import arm as arm
from vitruvian.anatomy import human as human
from vitruvian.control import Controls as Controls
from vitruvian.door import open as open
from vitruvian.door import render as render
from vitruvian.door import run as run
from vitruvian.door import search_stroke as search_stroke
from vitruvian.door import share as share
from vitruvian.door import show as show
from vitruvian.door import sweep as sweep
from vitruvian.door import track as track
from vitruvian.errors import Diverged as Diverged
from vitruvian.errors import InputError as InputError
from vitruvian.flesh import box_lattice as box_lattice
from vitruvian.flesh import build_flesh as build_flesh
from vitruvian.muscle import ForceLaw as ForceLaw
from vitruvian.muscle import MuscleBuilder as MuscleBuilder
from vitruvian.scenes import scene_names as scene_names
from vitruvian.skeleton import Inertia as Inertia
from vitruvian.skeleton import SkeletonBuilder as SkeletonBuilder
from vitruvian.skeleton import joints as joints
from vitruvian.swarm import map as map
from vitruvian.systems import BodySystem as BodySystem
from vitruvian.systems import BonesSystem as BonesSystem
from vitruvian.systems import Measure as Measure
from vitruvian.systems import SwimmerSystem as SwimmerSystem
from vitruvian.systems import TankSystem as TankSystem
from vitruvian.systems import TissueSystem as TissueSystem
from vitruvian.water import RigidBody as RigidBody
from vitruvian.water import Tank as Tank
from vitruvian.world import Signal as Signal
from vitruvian.world import World as World

material = flesh.preset

NAMES: dict[str, str]
PACKAGES: tuple[str, ...]
__version__: str
__all__: list[str]

"""The left hand: eight carpal and five metacarpal bones as one, and fourteen phalanges between given finger joints.

The template is a right hand that hangs down; `TO_HAND` mirrors it and turns it into ours (fingers along +x, palm to
−y, thumb up). Offsets are those of the source model's kinematic chain (`myo-sim`, arm), in its axes (x thumb side, y
proximal, z back of the hand) [m].
"""

# ruff: noqa: RUF005 -- here `array + [x, y, z]` adds vectors
from __future__ import annotations

import numpy as np

from vitruvian.anatomy.surfaces.landmarks import Landmarks
from vitruvian.anatomy.surfaces.mending import mended
from vitruvian.anatomy.surfaces.shaping import Shape, coarsened, joined
from vitruvian.anatomy.surfaces.warp import Fit, fitted
from vitruvian.mesh import myo_sim_mesh

Array = np.ndarray
FINGERS = ("thumb", "index", "middle", "ring", "little")
PHALANGES = {f: ("proximal", "distal") if f == "thumb" else ("proximal", "middle", "distal") for f in FINGERS}
SIZE = 1.11  # of the template's hand to ours
SPACING, SHARE = 0.0019, 0.05  # between vertices [m], and of a bone's length: the scans have up to 8000 triangles each
# Source axes (x thumb, y proximal, z dorsal) -> ours (x distal, y dorsal, z thumb); a mirror image, right hand to left.
TO_HAND = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])

_CAPITATE = np.array([0.003992, -0.015054, 0.002327])
_TRAPEZIUM = _CAPITATE + [0.015293, -0.004569, -0.010308]
CARPALS = {
    "lunate": np.zeros(3),
    "scaphoid": np.array([0.012345, -0.004464, -0.001254]),
    "pisiform": np.array([-0.013388, -0.009886, -0.010593]),
    "triquetrum": np.array([-0.010784, -0.007499, -0.001289]),
    "capitate": _CAPITATE,
    "trapezium": _TRAPEZIUM,
    "trapezoid": _CAPITATE + [0.009143, -0.004062, -0.002464],
    "hamate": _CAPITATE + [-0.010969, -0.002495, -0.00075],
}
# Finger -> mesh and place of its metacarpal, then (mesh, step from the joint before) of each phalanx.
CHAINS = {
    "thumb": (
        ("1mc", _TRAPEZIUM + [0.0072, -0.0054, -0.0025]),
        ("thumbprox", np.array([0.0165, -0.0292, -0.0127])),
        ("thumbdist", np.array([0.014, -0.0259, -0.0101])),
    ),
    "index": (
        ("2mc", _CAPITATE + [0.014685, -0.03762, 0.005032]),
        ("2proxph", np.array([0.003501, -0.028243, 0.00362])),
        ("2midph", np.array([0.00751, -0.041273, 0.007326])),
        ("2distph", np.array([0.003333, -0.024888, 0.00122])),
    ),
    "middle": (
        ("3mc", _CAPITATE + [0.000477, -0.039239, 0.007377]),
        ("3proxph", np.array([0.00024, -0.02629, 0.001778])),
        ("3midph", np.array([0.00165, -0.044211, 0.00623])),
        ("3distph", np.array([0.001365, -0.029047, 0.001954])),
    ),
    "ring": (
        ("4mc", _CAPITATE + [-0.012046, -0.040519, 0.003513]),
        ("4proxph", np.array([-0.00183, -0.023689, -0.000173])),
        ("4midph", np.array([-0.003528, -0.040255, 0.001345])),
        ("4distph", np.array([-0.002317, -0.024789, 0.000563])),
    ),
    "little": (
        ("5mc", _CAPITATE + [-0.021896, -0.034683, -0.004218]),
        ("5proxph", np.array([-0.001597, -0.021431, -0.001496])),
        ("5midph", np.array([-0.005279, -0.035563, -0.002879])),
        ("5distph", np.array([-0.002871, -0.020677, -0.002243])),
    ),
}


def template_finger_joints() -> dict[str, Array]:
    """The template's joints of each finger, knuckle to fingertip [m], shape (n, 3), in the hand's frame."""
    joints = {}
    for finger, chain in CHAINS.items():
        at = np.cumsum([step for _, step in chain], axis=0)[1:]
        tip = at[-1] + _reach(chain[-1][0])
        joints[finger] = SIZE * np.concatenate([at, tip[None]]) @ TO_HAND.T
    return joints


def palm(marks: Landmarks, knuckles: dict[str, Array]) -> Shape:
    """Carpals and metacarpals [m] in the world frame; the latter end at `knuckles`, finger -> (3,) in the world."""
    parts = [_part(name, at) for name, at in CARPALS.items()]
    parts += [_part(chain[0][0], chain[0][1]) for chain in CHAINS.values()]
    whole = joined(parts)
    wrist = marks.joints["Ha"]
    natural = template_finger_joints()
    sources = [np.zeros(3), SIZE * TO_HAND @ CARPALS["pisiform"], SIZE * TO_HAND @ _TRAPEZIUM]
    near = wrist + [-0.004, 0.0, 0.0]  # our radius ends a little before the template's
    targets = [near, marks.named("Ha", "flexor_carpi_02")[0], near + sources[2]]
    for finger in FINGERS:
        sources.append(natural[finger][0])
        targets.append(knuckles[finger])
    fit = Fit(affine=2.0, pull=0.02, trust=0.015, bending=0.003)
    return fitted(whole, np.array(sources), np.array(targets), marks.attachments["Ha"], fit), whole[1]


def phalanx(finger: str, number: int, start: Array, end: Array) -> Shape:
    """A phalanx (0 the nearest to the palm) between two joints `start` and `end` [m], shape (3,), in their frame."""
    chain = CHAINS[finger][1:]
    name = chain[number][0]
    step = chain[number + 1][1] if number + 1 < len(chain) else _reach(name)
    vertices, faces = _part(name, np.zeros(3))
    axis = SIZE * TO_HAND @ step
    length, wanted = np.linalg.norm(axis), np.linalg.norm(end - start)
    unit = axis / length
    # Longer or shorter along its axis only, with ends that nearly touch; then turned by the least angle.
    along = vertices @ unit
    middle = 0.5 * (along.min() + along.max())
    placed = wanted / length * (middle + 1.06 * (along - middle))
    return (vertices + np.outer(placed - along, unit)) @ _turn(unit, (end - start) / wanted).T + start, faces


def _part(name: str, at: Array) -> Shape:
    source = myo_sim_mesh(name)
    spacing = min(SPACING, SHARE * float(np.ptp(source[0], axis=0).max()))
    vertices, faces = mended(coarsened(source, spacing))
    return SIZE * (vertices + at) @ TO_HAND.T, np.ascontiguousarray(faces[:, ::-1])


def _reach(name: str) -> Array:
    """From the joint to the far end of a distal phalanx, in the source's axes."""
    vertices = myo_sim_mesh(name)[0]
    far = vertices[vertices[:, 1] < vertices[:, 1].min() + 0.002].mean(axis=0)
    return far * np.array([1.0, vertices[:, 1].min() / far[1], 1.0])


def _turn(a: Array, b: Array) -> Array:
    """The least rotation, shape (3, 3), that takes unit vector `a` to `b`."""
    v, c = np.cross(a, b), float(a @ b)
    cross = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + cross + cross @ cross / (1.0 + c)

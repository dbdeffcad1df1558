"""Muscles in MJCF: tendons through sites, their passive pull as the tendon's spring, their active pull as an actuator.

The passive curve is fitted by k1 x + k2 x² + k3 x³ beyond the length where it begins (MuJoCo's tendon springs have such
polynomials and a slack). Active pull:

- `LinearHill`: activation times F_max (F_l(l) + F_l(l_s) l'/v_m), never a push, with F_l = (l/l0 - l_m)/(1 - l_m); ours
  is F_l(l) (1 + l'/v_m). Exact for a muscle that stands still, or shortens at l_s = 0.85 l0; near it elsewhere. Its
  damper, which only resists lengthening, is an actuator without control.
- `FibreTendon`: MuJoCo's muscle with our F_max, fibre length, slack length (rigid, as MuJoCo has no other) and fastest
  shortening, its own curves.
- a law of one's own: MuJoCo's muscle with its F_max and rest length.

Activation follows control with our two time constants.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.exchange.parts import number, numbers
from vitruvian.exchange.written_cylinders import written_cylinders
from vitruvian.muscle import ActivationDynamics, Cylinder, FibreTendon, LinearHill
from vitruvian.muscle.fibre import passive_fibre
from vitruvian.muscle.wrapping import cylinder_frame

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
SHORTENS = 0.85  # l_s / l0, the middle of the lengths at which a muscle shortens
CURVE = ("0.45", "1.65")  # shortest and longest fibre [l0] of MuJoCo's curve, nearest to ours


def add_muscles(root: ET.Element, body: Body, bodies: list[ET.Element], riding: dict[str, ET.Element]) -> None:
    """Sites, tendons and actuators of all muscles; bodies: the element of each bone; riding: of each rider."""
    muscles = body.muscles
    tendons: ET.Element = root.find("tendon")  # type: ignore[assignment]
    actuators, dampers = ET.SubElement(root, "actuator"), ET.Element("actuator")
    holder, place = [bodies[b] for b in muscles.bone], muscles.local.copy()
    cylinders = iter(written_cylinders(body))
    for k, p in enumerate(muscles.carriers.point):
        holder[p] = riding[muscles.frames[muscles.carriers.frame[k]].name]
        place[p] = muscles.carriers.place[k]
    for m, name in enumerate(muscles.names):
        tendon = ET.SubElement(tendons, "spatial", name=name)
        bends = {c.segment: next(cylinders) for c in muscles.cylinders[m]}
        for k, p in enumerate(range(muscles.offsets[m], muscles.offsets[m + 1])):
            label = f"{name}.{k}"
            ET.SubElement(holder[p], "site", name=label, pos=numbers(place[p]))
            ET.SubElement(tendon, "site", site=label)
            if k in bends and bends[k].radius > 0.0:
                _bend(tendon, bodies[body.skeleton.index(bends[k].bone)], f"{label} round", bends[k])
        law = muscles.elements[m]
        if isinstance(law, LinearHill):
            _linear(name, law, tendon, actuators, dampers)
        elif isinstance(law, FibreTendon):
            _fibre(name, law, tendon, actuators)
        else:
            _plain(name, float(muscles.f_max[m]), float(muscles.rest_length[m]), actuators)
    actuators.extend(dampers)


def _bend(tendon: ET.Element, bone: ET.Element, name: str, cylinder: Cylinder) -> None:
    """The next segment passes a cylinder on the side of a site; MuJoCo's cylinders have no ends for this."""
    side, _, axis = cylinder_frame(name, cylinder)
    shape = ET.SubElement(bone, "geom", name=name, type="cylinder", group="4", rgba="0.5 0.6 0.7 0.3")
    shape.set("size", numbers((cylinder.radius, cylinder.radius)))
    shape.set("pos", numbers(cylinder.centre))
    shape.set("zaxis", numbers(axis))
    beside = np.asarray(cylinder.centre) + 2.0 * cylinder.radius * side
    ET.SubElement(bone, "site", name=f"{name} side", pos=numbers(beside))
    ET.SubElement(tendon, "geom", geom=name, sidesite=f"{name} side")


def _linear(name: str, law: LinearHill, tendon: ET.Element, actuators: ET.Element, dampers: ET.Element) -> None:
    f, l0 = law.f_max, law.rest_length
    one = ET.SubElement(actuators, "general", name=name, tendon=name, dyntype="muscle", dynprm=_lag(), ctrlrange="0 1")
    per = f / (1.0 - law.minimum)
    one.set("gaintype", "affine")
    slower = per * (SHORTENS - law.minimum) / (law.fastest * l0)
    one.set("gainprm", numbers((per * law.minimum, -per / l0, -slower)))
    one.set("forcerange", "-1e9 0")
    if not law.passive:
        return
    strain = np.linspace(0.0, 0.5, 51)
    _spring(tendon, l0, l0 * strain, f * law.k_s * (np.exp(law.k_c * strain) - 1.0), f)
    damper = ET.SubElement(dampers, "general", name=f"damper {name}", tendon=name, gainprm="0", biastype="affine")
    damper.set("biasprm", numbers((0.0, 0.0, -f * law.k_d / l0)))
    damper.set("forcerange", f"{number(-f)} 0")


def _fibre(name: str, law: FibreTendon, tendon: ET.Element, actuators: ET.Element) -> None:
    flat = law.fibre_length * np.cos(law.pennation)
    one = _plain(name, law.f_max * float(np.cos(law.pennation)), 0.0, actuators)
    # MuJoCo's normalised length is then (l - slack) / (l0 cos).
    one.set("lengthrange", numbers((law.slack_length + 0.5 * flat, law.slack_length + 1.5 * flat)))
    one.set("vmax", number(law.fastest))
    one.set("fvmax", "1.6")
    tendon.set("damping", number(law.f_max * law.damping / (law.fastest * law.fibre_length)))
    if law.passive:
        span = flat * np.linspace(0.85, 1.5, 66)
        length = np.hypot(span, law.fibre_length * np.sin(law.pennation))
        pull = np.array([passive_fibre(s)[0] for s in length / law.fibre_length]) * law.f_max * span / length
        _spring(tendon, law.slack_length + span[0], span - span[0], pull - pull[0], law.f_max)


def _plain(name: str, f_max: float, rest: float, actuators: ET.Element) -> ET.Element:
    one = ET.SubElement(actuators, "muscle", name=name, tendon=name, range="0.5 1.5", force=number(f_max))
    one.set("timeconst", _lag())
    one.set("lengthrange", numbers((0.5 * rest, 1.5 * rest)))
    one.set("fpmax", "1e-9")  # the passive pull is the tendon's spring
    one.set("lmin", CURVE[0])
    one.set("lmax", CURVE[1])
    return one


def _spring(tendon: ET.Element, begins: float, stretch: Array, pull: Array, f_max: float) -> None:
    """The polynomial spring nearest to the pull [N] over stretch [m] beyond the length `begins` [m], in parts of the
    pull where it is large and of F_max where it is small."""
    x, weight = stretch / stretch[-1], 1.0 / (pull + 0.02 * f_max)
    powers = np.stack([x, x**2, x**3], axis=1)
    fit = np.linalg.lstsq(weight[:, None] * powers, weight * pull, rcond=None)[0]
    tendon.set("springlength", numbers((0.0, begins)))
    tendon.set("stiffness", numbers(fit / stretch[-1] ** np.arange(1, 4)))


def _lag() -> str:
    dynamics = ActivationDynamics()
    return numbers((dynamics.on, dynamics.off))

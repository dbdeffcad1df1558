"""What a user gives to flesh, checked by name: numbers, arrays, states, loads, skins.

A wrong number, shape or part is an `InputError` that names the argument. A force or target that is not finite is
`Diverged` instead: in a coupled run it comes from something else that diverged, and the step is then taken again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vitruvian.errors import Diverged, InputError

if TYPE_CHECKING:
    from vitruvian.flesh.embedding import Embedding
    from vitruvian.flesh.model import FleshModel
    from vitruvian.flesh.potential import Loads
    from vitruvian.flesh.state import FleshState

OVER = 1e-9  # by which an activation may leave 0 to 1: round-off of whoever made it


def number(what: str, name: str, value: Any, *, least: float = -np.inf, above: float = -np.inf) -> None:
    """A finite number, at least `least` and more than `above`."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not (good and np.isfinite(value) and value >= least and value > above):
        asked = "positive" if above == 0.0 else "not negative" if least == 0.0 else "a number"
        raise InputError(f"{what}: {name} must be {asked} and finite, got {value!r}")


def whole(what: str, name: str, values: Any, least: int) -> tuple[int, int, int]:
    """Three whole numbers."""
    try:
        counts = tuple(values)
    except TypeError:
        counts = ()
    if len(counts) != 3 or any(
        not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < least for n in counts
    ):
        raise InputError(f"{what}: {name} must be three whole numbers, {least} or more, got {values!r}")
    return counts


def vector(what: str, name: str, value: Any) -> np.ndarray:
    """Three finite numbers."""
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InputError(f"{what}: {name} must be three finite numbers, got {value!r}")
    return found


def array(what: str, name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An array of numbers of this shape."""
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(f"{what}: {name} must be numbers of shape {shape}") from None
    if found.shape != shape:
        raise InputError(f"{what}: {name} must have shape {shape}, not {found.shape}")
    return found


def triangles(what: str, faces: Any, n_vertices: int) -> np.ndarray:
    """Corners of triangles among these vertices, shape (m, 3)."""
    found = np.asarray(faces)
    if found.ndim != 2 or found.shape[1] != 3 or not np.issubdtype(found.dtype, np.integer):
        raise InputError(f"{what}: faces must be whole numbers of shape (m, 3), not {found.dtype} {found.shape}")
    if len(found) and (found.min() < 0 or found.max() >= n_vertices):
        stray = found.max() if found.min() >= 0 else found.min()
        raise InputError(f"{what}: faces name vertex {stray}, and there are {n_vertices}")
    return found


def part(what: str, name: str, value: Any, kind: str, *needs: str) -> None:
    """A part of a kind that has these attributes."""
    if not all(hasattr(value, need) for need in needs):
        raise InputError(f"{what}: {name} must be a {kind}, not {type(value).__name__}")


def check_state(model: FleshModel, state: FleshState) -> None:
    part("flesh", "state", state, "FleshState", "x", "v", "pressure", "push")
    nodes = model.elements.nodes.shape
    for name, shape in (("x", nodes), ("v", nodes), ("pressure", (len(model.elements.volume),))):
        found = getattr(state, name)
        if not isinstance(found, np.ndarray) or found.shape != shape or found.dtype != np.float64:
            kind = f"one of {found.dtype}" if isinstance(found, np.ndarray) else f"a {type(found).__name__}"
            raise InputError(
                f"flesh: state.{name} must be an array of float64 of shape {shape}, not {kind} of shape "
                f"{np.shape(found)}; is it the state of another model?"
            )


def check_loads(model: FleshModel, loads: Loads) -> None:
    """Arrays may be given as lists: they are arrays afterwards."""
    part("flesh", "loads", loads, "Loads", "targets", "activation", "force", "contacts", "pressures")
    muscles, tied = len(model.muscles.names), len(model.attachments.bone)
    if loads.targets is not None:
        loads.targets = array("flesh", f"targets (of {tied} attachments)", loads.targets, (tied, 3))
        _finite("targets", loads.targets)
    if loads.force is not None:
        loads.force = array("flesh", "force", loads.force, model.elements.nodes.shape)
        _finite("force", loads.force)
    if loads.activation is not None:
        loads.activation = array("flesh", f"activation (of {muscles} muscles)", loads.activation, (muscles,))
        if not np.all((loads.activation >= -OVER) & (loads.activation <= 1.0 + OVER)):
            wrong = loads.activation[~((loads.activation >= -OVER) & (loads.activation <= 1.0 + OVER))][0]
            raise InputError(f"flesh: activation must lie between 0 and 1, got {wrong}")
    for name, kind in (("contacts", "Contact"), ("pressures", "Pressure")):
        if not isinstance(getattr(loads, name), (list, tuple)):
            found = type(getattr(loads, name)).__name__
            raise InputError(f"flesh: {name} must be a list or tuple of {kind}, not {found}")
    for contact in loads.contacts:
        part("flesh", "each of contacts", contact, "Contact", "surface", "shapes")
        check_embedding(model, "the surface of a contact", contact.surface.embedding)
    for pressing in loads.pressures:
        part("flesh", "each of pressures", pressing, "Pressure", "forces")
        if (points := getattr(pressing, "embedding", None)) is not None:
            check_embedding(model, "the skin of a pressure", points)
    if loads.self_contact is not None:
        part("flesh", "self_contact", loads.self_contact, "SelfContact", "find_near")
    own = getattr(loads.self_contact, "embedding", None)
    if own is not None:
        check_embedding(model, "self_contact", own)


def check_embedding(model: FleshModel, name: str, points: Embedding) -> None:
    corners = model.elements.element_nodes
    known = len(points.element) == 0 or (
        points.element.max() < len(corners)
        and points.matrix.shape[1] == len(model.elements.nodes)
        and np.array_equal(corners[points.element], points.nodes)
    )
    if not known:
        raise InputError(f"flesh: {name} is embedded in other elements than those of this model")


def _finite(name: str, values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise Diverged("flesh", f"{int((~np.isfinite(values)).sum())} values of {name} are not finite")

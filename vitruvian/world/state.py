"""Copying, flattening and restoring states.

A state is a dataclass whose fields are NumPy arrays, numbers, strings, None, or further dataclasses, lists, tuples and
dictionaries of the same. There is no other state, so a copy of those fields is a complete snapshot: the world rolls a
failed step back with it, and a checkpoint is the same thing by name, `skeleton.q`, `muscles.2.activation`.

The names stay the same during a run, but for dictionaries of plain numbers, such as what a plan of walking remembers:
these may gain and lose words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np

SCALARS = (bool, int, float, str, type(None))


def copy_state(state: Any) -> Any:
    """A snapshot that shares no memory with `state`."""
    kind = type(state)
    if kind is np.ndarray:
        return state.copy()
    if kind is float or isinstance(state, (np.generic, *SCALARS)):
        return state
    if isinstance(state, np.ndarray):
        return state.copy()
    names = _field_names(kind)
    if names is not None:
        twin = object.__new__(kind)
        for name in names:
            leaf = getattr(state, name)
            plain = type(leaf) is np.ndarray  # most of them: not worth a call
            object.__setattr__(twin, name, leaf.copy() if plain else copy_state(leaf))
        return twin
    if isinstance(state, list | tuple):
        return type(state)(copy_state(item) for item in state)
    if isinstance(state, dict):
        return {name: copy_state(item) for name, item in state.items()}
    raise TypeError(f"a state may hold arrays, numbers and dataclasses, not {type(state).__name__}")


def restore_state(state: Any, snapshot: Any) -> None:
    """Set every field of the dataclass `state` to a copy of the field in `snapshot`."""
    if state is None:
        return
    for name in _field_names(type(state)) or ():
        object.__setattr__(state, name, copy_state(getattr(snapshot, name)))


def flatten_state(state: Any) -> dict[str, Any]:
    """The leaves of a state by dotted name: arrays (copied) and plain numbers, strings, None."""
    flat: dict[str, Any] = {}
    owners: dict[int, str] = {}
    for name, leaf in _leaves(state, ""):
        if isinstance(leaf, np.ndarray):
            _check_array(name, leaf)
            if leaf.size:
                # Two fields that share memory would come back as two arrays, and the resumed run would drift apart.
                address = leaf.__array_interface__["data"][0]
                if address in owners:
                    raise TypeError(f"state fields {owners[address]} and {name} share one array; copy one of them")
                owners[address] = name
            flat[name] = leaf.copy()
        elif isinstance(leaf, np.generic):
            flat[name] = leaf.item() if isinstance(leaf, np.float64 | np.bool_) else np.array(leaf)
        elif isinstance(leaf, SCALARS):
            flat[name] = leaf
        else:
            raise TypeError(f"state field {name} is a {type(leaf).__name__}, neither array, number nor dataclass")
    return flat


def unflatten_state(template: Any, flat: dict[str, Any]) -> Any:
    """A state of the template's structure with the leaves of `flat`; ValueError names a field that only one has."""
    begun = dict(_leaves(template, ""))
    notebooks = list(_notebooks(template, ""))
    # all names but those of words that may come and go
    wanted, found = (set(leaves).difference(*(_words(p, leaves) for p in notebooks)) for leaves in (begun, flat))
    if odd := sorted(wanted ^ found):
        raise ValueError(
            f"state field {odd[0]} is {'missing from' if odd[0] in wanted else 'unknown to'} the saved state"
        )
    return _rebuilt(template, "", flat)


def first_non_finite(state: Any) -> str | None:
    """Name of the first leaf that holds NaN or infinity, None when all are finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        sound = _surely_finite(state)
    if sound:
        return None
    for name, leaf in _leaves(state, ""):
        if isinstance(leaf, np.ndarray):
            if leaf.dtype.kind in "fc" and not np.isfinite(leaf).all():
                return name
        elif isinstance(leaf, float | np.floating) and not np.isfinite(leaf):
            return name
    return None


def _surely_finite(state: Any) -> bool:
    """Whether all leaves are finite, judged by their sums, which is quick; False also where these overflow. (No
    product: threads of a linear algebra library would wait for each other on a busy machine, 12 ms an array.)"""
    if isinstance(state, np.ndarray):
        return state.dtype.kind not in "fc" or bool(isfinite(abs(state.sum())))
    if isinstance(state, float):
        return isfinite(state)
    names = _field_names(type(state))
    if names is not None:
        return all(map(_surely_finite, [getattr(state, name) for name in names]))
    if isinstance(state, dict):
        return all(map(_surely_finite, state.values()))
    if isinstance(state, list | tuple):
        return all(map(_surely_finite, state))
    return isinstance(state, SCALARS)


def _leaves(state: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    names = _field_names(type(state))
    if names is not None:
        for name in names:
            yield from _leaves(getattr(state, name), f"{prefix}.{name}" if prefix else name)
    elif isinstance(state, list | tuple):
        for i, item in enumerate(state):
            yield from _leaves(item, f"{prefix}.{i}" if prefix else str(i))
    elif isinstance(state, dict):
        for name, item in state.items():
            yield from _leaves(item, f"{prefix}.{name}" if prefix else str(name))
    elif prefix or state is not None:
        yield prefix, state


def _is_notebook(state: Any) -> bool:
    """Whether a part of a state is a dictionary of plain numbers, whose words may change during a run."""
    return isinstance(state, dict) and all(isinstance(k, str) and isinstance(v, SCALARS) for k, v in state.items())


def _notebooks(state: Any, prefix: str) -> Iterator[str]:
    """Names of all such dictionaries in a state."""
    if _is_notebook(state):
        yield prefix
        return
    names = _field_names(type(state))
    if names is not None:
        parts = [(name, getattr(state, name)) for name in names]
    elif isinstance(state, list | tuple):
        parts = [(str(i), item) for i, item in enumerate(state)]
    else:
        parts = [(str(name), item) for name, item in state.items()] if isinstance(state, dict) else []
    for name, item in parts:
        yield from _notebooks(item, f"{prefix}.{name}" if prefix else name)


def _words(prefix: str, flat: dict[str, Any]) -> dict[str, str]:
    """Names of the leaves of `flat` that stand in the dictionary `prefix`, and their words there."""
    start = f"{prefix}." if prefix else ""
    words = {
        name: name[len(start) :] for name, leaf in flat.items() if name.startswith(start) and isinstance(leaf, SCALARS)
    }
    return {name: word for name, word in words.items() if word and "." not in word}


def _rebuilt(template: Any, prefix: str, flat: dict[str, Any]) -> Any:
    names = _field_names(type(template))
    if names is not None:
        twin = object.__new__(type(template))
        for field in names:
            name = f"{prefix}.{field}" if prefix else field
            object.__setattr__(twin, field, _rebuilt(getattr(template, field), name, flat))
        return twin
    if isinstance(template, list | tuple):
        return type(template)(
            _rebuilt(item, f"{prefix}.{i}" if prefix else str(i), flat) for i, item in enumerate(template)
        )
    if _is_notebook(template):
        return {word: flat[name] for name, word in _words(prefix, flat).items()}
    if isinstance(template, dict):
        return {name: _rebuilt(item, f"{prefix}.{name}" if prefix else name, flat) for name, item in template.items()}
    if template is None and not prefix:
        return None
    leaf = flat[prefix]
    if isinstance(template, np.generic):
        return template.dtype.type(leaf)
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


_NAMES: dict[type, tuple[str, ...] | None] = {}


def _field_names(kind: type) -> tuple[str, ...] | None:
    """Of a dataclass, None for anything else; remembered, since a world copies its state in every step."""
    if kind not in _NAMES:
        _NAMES[kind] = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
    return _NAMES[kind]


def _check_array(name: str, array: np.ndarray) -> None:
    if array.dtype.hasobject:
        raise TypeError(f"state field {name} is an array of Python objects; use numbers")

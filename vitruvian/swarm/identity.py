"""By what a function is known again, in another process and after an edit.

A function that a module holds under its name is that name and its own code. Anything else (a lambda, a function inside
another or of a script, a partial, an object that can be called) is all that would be sent to a worker: its code, its
defaults, the values that it closes over, the globals that it reads, an object's class and state. What
the functions of other modules do that it calls is not followed. Bytes of pickle would not do: they depend on the order
of sets, which changes from process to process, and on which equal values are the same one.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from hashlib import blake2b
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

from vitruvian.errors import InputError

PLAIN = (type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes)
# of a class, what Python adds by itself, some of it from the file's lines
BY_PYTHON = (
    "__dict__",
    "__weakref__",
    "__module__",
    "__doc__",
    "__firstlineno__",
    "__static_attributes__",
    "_abc_impl",
)


def name_of(function: Callable[..., Any]) -> str:
    """A name by which people know a function; that of its class for an object, of what it calls for a partial."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def digest_of(function: Callable[..., Any]) -> str:
    """A digest that is the same for the same function in every process, and another for another function.

    `InputError` where the function holds something that cannot be told from others of its kind.
    """
    try:
        return _Digests().of(function).hex()
    except (_Unknown, RecursionError) as error:
        what = error if isinstance(error, _Unknown) else "values too deep within each other"
        raise InputError(
            f"cannot keep results of {name_of(function)}: it holds {what}, by which it could not be known again; "
            "use a function of a module"
        ) from error


class _Unknown(Exception):
    """Something that cannot be told from others of its kind; the message names it."""


class _Digests:
    """Digests of values, each taken once."""

    def __init__(self) -> None:
        self.known: dict[int, bytes] = {}
        self.open: dict[int, int] = {}  # values whose digest is being taken, in order: a function may hold itself
        self.alive: list[Any] = []  # so that no other value gets the id of one that is known

    def of(self, value: Any) -> bytes:
        if type(value) in PLAIN:
            return _mix(type(value).__name__, repr(value).encode())
        if id(value) in self.open:
            return _mix("again", str(self.open[id(value)]).encode())
        if id(value) not in self.known:
            self.open[id(value)] = len(self.open)
            try:
                self.known[id(value)] = self._taken(value)
            finally:
                del self.open[id(value)]
            self.alive.append(value)
        return self.known[id(value)]

    def _all(self, kind: str, *parts: Any) -> bytes:
        return _mix(kind, *(self.of(part) for part in parts))

    def _taken(self, value: Any) -> bytes:
        match value:
            case ModuleType():
                return self._all("module", value.__name__)
            case CodeType():
                return self._code(value)
            case FunctionType():
                return self._function(value)
            case MethodType():
                return self._all("method", value.__func__, value.__self__)
            case BuiltinFunctionType() if not isinstance(value.__self__, ModuleType | None):
                return self._all("method", value.__name__, value.__self__)
            case type():
                return self._class(value)
            case functools.partial():
                return self._all("partial", value.func, value.args, value.keywords)
            case property():
                return self._all("property", value.fget, value.fset, value.fdel)
            case classmethod() | staticmethod():
                return self._all(type(value).__name__, value.__func__)
        if type(value) in (list, tuple):
            return self._all(type(value).__name__, *value)
        if type(value) in (set, frozenset):
            return _mix(type(value).__name__, *sorted(self.of(part) for part in value))
        if type(value) in (dict, MappingProxyType):
            return _mix("dict", *sorted(self._all("item", *item) for item in value.items()))
        if isinstance(getattr(value, "py_func", None), FunctionType):
            return self._all("kernel", value.py_func)  # of Numba, which numbers its kernels afresh in each process
        return self._object(value)

    def _function(self, function: FunctionType) -> bytes:
        own: list[Any] = [function.__defaults__, function.__kwdefaults__]
        if _found_by_name(function):
            bare = inspect.unwrap(function)
            return self._all("named", name_of(function), function.__code__, bare.__code__, *own)
        read = {name: function.__globals__[name] for name in _read(function.__code__) if name in function.__globals__}
        for cell in function.__closure__ or ():
            try:
                own.append(cell.cell_contents)
            except ValueError:
                own.append("an empty cell")
        return self._all("function", function.__code__, read, function.__dict__, *own)

    def _code(self, code: CodeType) -> bytes:
        """What code does, wherever it stands."""
        shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return self._all("code", code.co_code, code.co_consts, shape, names, getattr(code, "co_exceptiontable", b""))

    def _class(self, cls: type) -> bytes:
        if _found_by_name(cls):
            return self._all("class", name_of(cls))
        slots = {name for name, held in vars(cls).items() if inspect.ismemberdescriptor(held)}
        held = {name: part for name, part in vars(cls).items() if name not in BY_PYTHON and name not in slots}
        return self._all("class", cls.__name__, cls.__bases__, type(cls), held, slots)

    def _object(self, value: Any) -> bytes:
        """As pickle would take it apart."""
        try:
            special = copyreg.dispatch_table.get(type(value))
            parts = special(value) if special else value.__reduce_ex__(4)
        except Exception as error:  # whatever its own __reduce__ raises
            raise _Unknown(f"a {type(value).__module__}.{type(value).__qualname__}") from error
        if isinstance(parts, str):
            wrapped = inspect.unwrap(value) if callable(value) else value
            return self._all(
                "global", getattr(value, "__module__", None), parts, *([] if wrapped is value else [wrapped])
            )
        return self._all("object", *(list(part) if k in (3, 4) and part else part for k, part in enumerate(parts)))


def _mix(kind: str, *parts: bytes) -> bytes:
    total = blake2b(kind.encode() + b"\0", digest_size=16)
    for part in parts:
        total.update(len(part).to_bytes(8, "big") + part)
    return total.digest()


def _found_by_name(value: Any) -> bool:
    """True if a worker finds it by importing its module; a script's it does not."""
    found: Any = sys.modules.get(value.__module__ or "") if value.__module__ != "__main__" else None
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def _read(code: CodeType) -> Iterable[str]:
    """Names of the globals that code reads, also in the functions inside it."""
    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname.endswith("_GLOBAL")}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            names.update(_read(inner))
    return names

"""Artefacts of functions that an earlier process lowered and compiled, found without doing either.

The cache (`cache.py`) has an artefact by the module as IREE gets it, and here by the module as it
was traced, and all else that lowering depends on: the code of the compiler, the libraries that it
calls or computes with, the number of processors.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from irax_compiler import blas, cache, locations, mlir, own_files
from irax_compiler.mlir import Module
from irax_compiler.once import once
from irax_compiler.ops import own
from irax_compiler.passes.core import alone, nested
from irax_compiler.processors import processors
from irax_compiler.spans import span
from irax_compiler.targets import is_own
from irax_compiler.versions import version

_OF_PROCESS = (b"irax.callback", b"irax.ffi", b"irax.custom_vmap", b"irax.primitive")
"""Operations that name objects of this process, which lowering may ask."""
_OF_SEVERAL_DEVICES = (b"irax.shard_map", b"sdy.")

_WITH_RULES, _RULES = "irax.deferred.", ("rule", "rules")
"""Calls that name derivative rules of this process, and their attributes that do."""

_LIBRARIES = ("irax", "numpy", "scipy", "ml_dtypes")


def key(module: Module, func: str, target: str, donated: Sequence[int]) -> str | None:
    """Return the name in the cache of the artefact of a function. None where that depends on more
    than is known: on objects of this process, on ops of other packages, or on code that was edited
    while it ran.
    """
    known = facts(target)
    if known is None or cache.directory() is None or not is_own(target):
        return None
    copy = alone(module, func, is_foreign=False)
    if _has_ops_of_others(copy):
        return None
    _forget_rules(copy)
    text = mlir.bytecode(locations.without(copy))
    if any(name in text for name in (*_OF_PROCESS, *_OF_SEVERAL_DEVICES)):
        return None
    return cache.key(text, ["as it was traced", func, str(tuple(donated)), *known])


def _has_ops_of_others(module: Module) -> bool:
    """Return True if a module has ops of other packages, whose rules lowering asks."""
    others = own.names_of_others()
    functions = mlir.functions(module).values() if others else ()
    return any(own.name_in_registry(o) in others for f in functions for o in nested(f))


def facts(target: str) -> tuple[str, ...] | None:
    """Return what artefacts for a target depend on beside the module: the compiler, the libraries
    that it calls, the number of processors. None where the compiler was edited while it ran.
    """
    code = _code()
    return None if code is None else (code, target, str(blas.calls()), str(processors()))


def _forget_rules(module: Module) -> None:
    """Remove the names of derivative rules of this process: lowering does not ask for them."""
    for function in mlir.functions(module).values():
        for operation in nested(function):
            if operation.name == "stablehlo.composite":
                kind: Any = operation.attributes["name"]
                if kind.value.startswith(_WITH_RULES):
                    own: Any = operation.attributes["composite_attributes"]
                    left = {x.name: x.attr for x in own if x.name not in _RULES}
                    operation.attributes["composite_attributes"] = mlir.dictionary(left)


def about(module: Module, func: str, file: str = "") -> str:
    """Return a function, its file or the line that it was traced for, and the types of its
    arguments, as the list of what is kept shows them.
    """
    function = mlir.functions(module)[func]
    lines = locations.frames(function.location)
    place = file or (lines[-1].place() if lines else "")
    place = f" ({place})" if place else ""
    types = ", ".join(_short(x.type) for x in mlir.arguments(function))
    return f"{func}{place} of {types or 'no arguments'}"


def _short(type_: Any) -> str:
    """Return the type of an array, such as `f32[3,4]`."""
    if mlir.type_problem(type_):
        return str(type_)
    return f"{type_.element_type}{list(type_.shape)}".replace(" ", "")


def load(name: str | None) -> bytes | None:
    """Return the artefact of this name, or None."""
    if name is None:
        return None
    with span("cache", "look-up as traced") as details:
        artefact = cache.load(name)
        details["found"] = artefact is not None
    return artefact


def store(name: str | None, artefact: bytes, about: str = "") -> None:
    """Keep the artefact of a function for other processes, with a description of it."""
    if name is not None:
        with cache.describing(about):
            cache.store(name, artefact)


def refusal(name: str | None) -> str | None:
    """Return why an earlier process could not compile the function of this name; None if none tried
    in vain.
    """
    kept = load(_of_refusal(name))
    return None if kept is None else kept.decode()


def refuse(name: str | None, why: str) -> None:
    """Keep the reason why a function cannot be compiled for other processes."""
    store(_of_refusal(name), why.encode())


def _of_refusal(name: str | None) -> str | None:
    return None if name is None else cache.key(name.encode(), ["not compiled"])


@once
def _code() -> str | None:
    """Return what tells this compiler from others: the state of its files, and the versions of what
    it uses. None where a file is newer than this process, which may have loaded what it was.
    """
    files = own_files.compiler()
    versions = [*map(_version, _LIBRARIES), blas.version()]
    return None if files is None else f"{files} {versions}"


def _version(package: str) -> str:
    """Return the version of a package: of one that is imported without a search."""
    known = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(known, str):
        return known
    return version(package) or "none"

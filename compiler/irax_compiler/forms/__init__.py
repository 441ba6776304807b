"""Rewrites of forms that other frameworks use into those that irax uses, applied when a module is
read.

A rewrite is a function from an operation, and its number among those of its name, to replacements
of its results. It returns None for an operation that it leaves, which is then refused by name if it
is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.forms import (
    constants,
    devices,
    gspmd,
    index_arithmetic,
    manual,
    mhlo_functions,
    quantized,
    random_numbers,
    scans,
    shardy,
    singular_vectors,
    tokens,
    tuples,
    windows,
    written_out,
)
from irax_compiler.interchange import bytecode_format, packed_booleans
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.registry import is_known, traits_named
from irax_compiler.shardy import operations as sharding

Form = Callable[[Operation, int], Sequence[Value] | None]


def _of_call(operation: Operation, number: int) -> Sequence[Value] | None:
    return tuples.of_call(operation, number) or singular_vectors.reduced(operation, number)


def _by_name(operation: Operation, number: int) -> Sequence[Value] | None:
    """Return the function that a composite is of, which irax has rules for: JAX writes those of
    CHLO so.
    """
    name: Any = operation.attributes["name"]
    if not name.value.startswith("chlo.") or not is_known(name.value):
        return None
    if not traits_named(name.value).elementwise:
        return None
    types = [x.type for x in operation.results]
    return mlir.emit(name.value, list(operation.operands), {}, types).results


FORMS: dict[str, Form] = {
    **devices.FORMS,
    **mhlo_functions.FORMS,
    **tuples.FORMS,
    **windows.FORMS,
    "stablehlo.composite": _by_name,
    "stablehlo.custom_call": _of_call,
    "chlo.scan": scans.loop_of_scan,
    "stablehlo.rng": random_numbers.numbers_of_rng,
}
"""The rewrites by the names of operations."""

_WORDS = {name.partition(".")[2] for name in FORMS if not name.startswith("mhlo")}
_WORDS |= {"mhlo.", "quant", "token", "sdy"}
_WORDS |= {*constants.WORDS, *index_arithmetic.WORDS, *written_out.WORDS}


def may_have_forms(module: str | bytes, told: str) -> bool:
    """False for text or bytecode that needs no rewrite. `told` are its words (see `words`)."""
    has_resources = isinstance(module, bytes) and bytecode_format.has_resources(module)
    return has_resources or any(word in told for word in _WORDS)


def readable(module: str | bytes, told: str) -> str | bytes:
    """Return a module in a form that the bindings read: they lack the dialects of others."""
    found = sharding.readable(module, told)
    if isinstance(found, bytes):
        return found
    found = packed_booleans.unpacked(found, told)
    return mhlo_functions.readable(found) if " mhlo." in told else found


def rewrite(module: Module) -> None:
    """Rewrite a module to forms that irax uses."""
    index_arithmetic.rewrite(module)
    constants.rewrite(module)
    quantized.with_plain_numbers(module)
    shardy.rewrite(module)
    gspmd.rewrite(module)
    manual.spread_meshes(module)
    numbers: Counter[str] = Counter()
    for operation in mlir.operations_in(module.operation)[:-1]:
        form = FORMS.get(operation.name)
        if form is None:
            continue
        number = numbers[operation.name]
        numbers[operation.name] += 1
        mesh = manual.mesh_around(operation) if operation.name in manual.MANUAL else None
        with InsertionPoint(operation), operation.location:
            if mesh is None:
                results = form(operation, number)
            else:
                results = manual.MANUAL[operation.name](operation, mesh)
        if results is not None:
            mlir.replace(operation, results)
    written_out.rewrite(module)
    tuples.without_unused(module)
    tokens.without_tokens(module)

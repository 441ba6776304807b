"""Numbers of a program as further arguments: a learning rate, an epsilon, the value of a mask.

They are what is edited most. A program that takes them is compiled once for all their values, and
an edited one is found in the cache. The code of kernels is the same but for where a number is read,
and so are the results: what is lifted is a number that nothing could be computed of beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irax_compiler import locations, mlir
from irax_compiler.apart.lifting import Lifted, Lifting
from irax_compiler.determinism import is_marked
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.shape import BroadcastInDim
from irax_compiler.shardy import layouts

LEAST = 100
"""The operations of a program from which it is worth it: fewer are soon compiled."""
ELEMENTS = 1 << 16
"""The elements, of all arrays that a program computes, that it must have for each number: a further
argument takes a quarter of a microsecond of a call, and these ten or more."""

MOST = 16
"""The most numbers: with more, some are likely to be those of formulas, and a kernel of many
arguments is called in another way."""

_DTYPES = ("float16", "bfloat16", "float32", "float64")
"""The dtypes of numbers that are set apart."""


def set_apart(module: Module, func: str) -> tuple[Module, list[np.ndarray[Any, Any]]]:
    """Return a module in which a function takes numbers after its arguments, and the numbers: the
    module itself and none where it is small, has none or many, is for several devices, or has to
    have the same bits whatever its sizes are.
    """
    functions = mlir.functions(module)
    if layouts.STATED in functions[func].attributes or is_marked(module.operation):
        return module, []
    names = mlir.callees_first([func], lambda n: map(mlir.callee, mlir.calls(functions[n])))
    if names is None or any(len(functions[name].regions[0].blocks) != 1 for name in names):
        return module, []  # which is refused later, by name
    if sum(_size(functions[name]) for name in names) < LEAST:
        return module, []
    elements = sum(_elements(functions[name]) for name in names)
    if elements < ELEMENTS:
        return module, []
    copy = mlir.new_module()
    mlir.copy_functions(module, func, copy)
    functions = mlir.functions(copy)
    chosen = _chosen(functions, names[::-1])
    count = len({x.key for x in chosen.values()})
    if count not in range(1, MOST + 1) or elements < ELEMENTS * count:
        return module, []
    lifting = Lifting(copy, chosen.get, _everywhere)
    for name in names:  # what is called first, so that none waits for another
        lifting.lift(name)
    found = lifting.lift(func)
    mlir.make_public(functions[func])
    return copy, [x.elements for x in found]


def _size(function: Operation) -> int:
    return len(mlir.body(function).operations)


def _elements(function: Operation) -> int:
    """Return the elements of what a function computes, constants left out."""
    operations = (view.operation for view in mlir.body(function).operations)
    computed = (x for o in operations if not traits_of(o).is_constant for x in o.results)
    return sum(math.prod(mlir.shape_of(x)) for x in computed)


def _chosen(functions: Mapping[str, Operation], names: Sequence[str]) -> dict[Operation, Lifted]:
    """Return the constants that are lifted, of functions that are given after those that call them.

    Each is used with what depends on the program's arguments alone: of others, more is known when
    it is compiled, and tables are computed then.
    """
    varies: dict[str, list[bool]] = {}
    found: dict[Operation, Lifted] = {}
    for name in names:
        parameters = mlir.arguments(functions[name])
        known = varies.get(name, [True] * len(parameters))
        varying = {x for x, is_so in zip(parameters, known, strict=True) if is_so}
        constants: list[Operation] = []
        for view in mlir.body(functions[name]).operations:
            operation = view.operation
            given = [x in varying for x in operation.operands]
            if any(given):
                varying.update(operation.results)
            if operation.name == "func.call":
                callee = mlir.callee(operation)
                before = varies.get(callee, given)
                varies[callee] = [a and b for a, b in zip(before, given, strict=True)]
            elif traits_of(operation).is_constant:
                constants.append(operation)
        for operation in constants:
            lifted = _number(operation, varying)
            if lifted is not None:
                found[operation] = lifted
    return found


def _number(operation: Operation, varying: set[Value]) -> Lifted | None:
    """Return the number that a constant repeats, if it is one to lift."""
    (result,) = operation.results
    dtype = mlir.dtype_of(result)
    if dtype.name not in _DTYPES:
        return None
    number = mlir.splat(result)
    if number is None or _is_special(float(number)):
        return None
    users = mlir.users(result)
    if not users or not all(_takes(user, operation, varying) for user in users):
        return None
    number = np.asarray(number, dtype).reshape(())
    # Not by the number alone: one of two equal ones may be edited.
    lines = [(frame.file, frame.line) for frame in locations.frames(operation.location)]
    key = (dtype.name, number.tobytes(), *lines)
    return Lifted(key, number, mlir.tensor_type((), dtype))


def _is_special(number: float) -> bool:
    """Return True for numbers with which something is computed in another way: 0, powers of two,
    inf and nan.
    """
    return not math.isfinite(number) or abs(math.frexp(number)[0]) in (0.0, 0.5)


def _takes(user: Operation, constant: Operation, varying: set[Value]) -> bool:
    """Return True for a user of a constant that does arithmetic with it and what is not known."""
    traits = traits_of(user)
    is_arithmetic = traits.elementwise and traits.arithmetic and not traits.transcendental
    is_beside = user.block == constant.block
    return is_arithmetic and is_beside and any(x in varying for x in user.operands)


def _everywhere(number: Value, constant: Value) -> Value:
    """Return an array of a constant's type that repeats a number."""
    shape = mlir.shape_of(constant)
    return BroadcastInDim(shape, ())(number) if shape else number

"""Functions of C's, which programs call without Python.

    stablehlo.custom_call @irax.ffi(%x) {backend_config = {key = "scale", kind = "pure",
        ordered = false, parameters = "[]", vmap_method = ""}}

The IR names the function by a key in a registry of this process. A function takes for each operand,
and then for each result, a pointer to the elements, the number of dimensions, and a pointer to
their lengths; then the parameters, by name. It returns nothing.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, dtype_of, shape_of
from irax_compiler.ops import dry_run
from irax_compiler.ops.attributes import call_attributes
from irax_compiler.ops.callback import Callback
from irax_compiler.ops.core import Linear, UnsupportedOp
from irax_compiler.ops.transformation import Evaluation

TARGET = "irax.ffi"
"""The target name of the custom calls that are calls of C functions."""


@dataclass(frozen=True)
class CFunction:
    """A function of C's."""

    address: int
    """The place of its code in this process."""
    library: str
    """The file of its shared library, or what `irax_runtime` knows this process by."""
    symbol: str
    """Its name in the library; `irax_at_7f00` in the process."""


FUNCTIONS: dict[str, CFunction] = {}
"""The functions by their keys."""


def function_of(key: str) -> CFunction:
    """Return the function of a key.

    Raises:
        UnsupportedOp: there is none in this process.
    """
    if key not in FUNCTIONS:
        known = ", ".join(map(repr, sorted(FUNCTIONS))) or "none"
        raise UnsupportedOp(
            f"the program calls the C function {key!r}, which is not registered in this process; "
            f"registered: {known}. Register it with irax.ffi.register_ffi_target"
        )
    return FUNCTIONS[key]


@dataclass(frozen=True)
class ForeignFunction(Callback):
    """A call of a function of C's. Its `key` is in `FUNCTIONS`, its `kind` is "pure" or "io"."""

    imports = ("c_function", "c_action")
    parameters: str = "[]"
    """The text that `encode` returns."""

    @property
    def import_parameters(self) -> dict[str, str]:
        found = function_of(self.key)
        return {
            "library": found.library,
            "symbol": found.symbol,
            "parameters": self.parameters,
        }

    def attributes(self):
        config = {**self.config(), "parameters": mlir.string(self.parameters)}
        return call_attributes(TARGET, config, has_side_effect=self.kind != "pure")

    @property
    def called(self) -> str:
        return "ffi_call"

    @property
    def batched_by(self) -> str:
        return self.vmap_method

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        types = [(shape_of(x), dtype_of(x)) for x in map(Linear, self.types)]
        if dry_run.is_active():
            return [np.zeros(*type_) for type_ in types]
        return run(function_of(self.key), operands, types, self.parameters)


def is_foreign_function(operation: Operation) -> bool:
    """True if an operation was built by `ForeignFunction`."""
    if operation.name != ForeignFunction.name:
        return False
    target: Any = operation.attributes["call_target_name"]
    return target.value == TARGET


def run(
    function: CFunction,
    operands: Sequence[np.ndarray],
    types: Sequence[tuple[tuple[int, ...], np.dtype]],
    parameters: str,
) -> list[np.ndarray]:
    """Call a function, and return results of the given shapes and dtypes."""
    # Copies of operands, for C may write to what it should read.
    arrays = [np.array(x, order="C") for x in operands]
    results = [np.zeros(*type_) for type_ in types]
    given: list[Any] = []
    for x in (*arrays, *results):
        extents = (ctypes.c_int64 * x.ndim)(*x.shape)
        given += [ctypes.c_void_p(x.ctypes.data), ctypes.c_int64(x.ndim), extents]
    held = list(decode(parameters))  # as long as C reads them
    for value in held:
        given += _by_value(value)
    ctypes.CFUNCTYPE(None)(function.address)(*given)
    return results


def _by_value(value: np.ndarray | bytes) -> list[Any]:
    if isinstance(value, bytes):
        return [ctypes.c_char_p(value)]
    if value.ndim:
        return [ctypes.c_void_p(value.ctypes.data), ctypes.c_int64(value.size)]
    return [np.ctypeslib.as_ctypes_type(value.dtype)(value.item())]


# ---- parameters ----------------------------------------------------------------------------------


def encode(parameters: dict[str, np.ndarray | str]) -> str:
    """Return parameters as text, by name: numbers, rows of numbers, and strings."""
    return json.dumps(
        [
            [name, "str", value]
            if isinstance(value, str)
            else [name, value.dtype.name, value.tolist()]
            for name, value in sorted(parameters.items())
        ]
    )


def decode(parameters: str) -> Iterator[np.ndarray | bytes]:
    """Return the parameters as C gets them: a string ends with a zero."""
    for _, kind, value in json.loads(parameters):
        yield value.encode() + b"\0" if kind == "str" else np.array(value, kind)

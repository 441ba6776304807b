"""The target pjrt: StableHLO, which a PJRT plugin compiles."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.passes.core import nested
from irax_compiler.passes.host.host import is_host_call
from irax_compiler.passes.legalize.target import OF_THE_EVALUATOR, Target, register
from irax_compiler.passes.legalize.xla import sets
from irax_compiler.passes.standard import standard_passes

ENTRY = "main"
"""The name that plugins require of a program's function."""


@dataclass(frozen=True, kw_only=True)
class PjrtTarget(Target):
    """A platform of PJRT's. The plugin compiles for the chip that it finds."""

    extension: str = ".pjrt"
    has_collectives: bool = True

    def check_chip(self, chip: str) -> None:
        raise ValueError(f"{self.name}:{chip}: PJRT's plugins compile for the chip they find")

    def compile(self, module: Module, chip: str = "", donated: Sequence[int] = ()) -> bytes:
        return artefact(module, donated)


PJRT = register(
    PjrtTarget(
        name="pjrt",
        lacks=OF_THE_EVALUATOR - {"float8_e3m4", "float8_e4m3"},
        passes=standard_passes("pjrt"),
        legalizations=sets.XLA,
    )
)


def artefact(module: Module, donated: Sequence[int] = ()) -> bytes:
    """The artefact of a lowered module, whose one public function becomes `main`.

    Args:
        module: StableHLO as it leaves `lowering.lower`.
        donated: arguments whose memory may be used for results. Those that are as large as no
            result are left alone.

    Raises:
        UnsupportedOp: the program calls a function of the host's.

    >>> text = "func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    >>> from irax_compiler.lowering import lower
    >>> artefact(lower(mlir.parse_module(text), "f", "pjrt")).splitlines()[0]
    b'// irax: {"name": "f", "args": "f32[]", "results": "f32[]", "takes": "moments"}'
    """
    module = mlir.clone_module(module)
    _check_stays_on_device(module)
    functions = mlir.functions(module)
    entry = next(f for f in functions.values() if mlir.is_public(f))
    header: dict[str, Any] = {"name": mlir.function_name(entry), **_signature(entry)}
    if reused := _donate(entry, donated):
        header["donated"] = reused
    if header["name"] != ENTRY:
        if ENTRY in functions:
            raise ValueError(f"a private function is called {ENTRY}: it should have been inlined")
        entry.attributes["sym_name"] = mlir.string(ENTRY)
    return f"// irax: {json.dumps(header)}\n{mlir.generic_text(module)}".encode()


def _donate(entry: mlir.Operation, donated: Sequence[int]) -> list[int]:
    """Marks each donated argument with the result that takes its memory, which is one of its type,
    or lets the compiler choose where only another has as many bytes; lists those there are.
    """
    arguments = mlir.arguments(entry)
    free = dict(enumerate(mlir.result_types(entry)))
    marks: dict[int, dict[str, mlir.Attribute]] = {}
    for i in sorted(donated):
        same = next((n for n, type_ in free.items() if type_ == arguments[i].type), None)
        if same is not None:
            marks[i] = {"tf.aliasing_output": mlir.parse_attribute(f"{same} : i32")}
            del free[same]
    for i in sorted({*donated} - {*marks}):
        size = _bytes(arguments[i].type)
        as_large = next((n for n, type_ in free.items() if _bytes(type_) == size), None)
        if as_large is not None:
            marks[i] = {"jax.buffer_donor": mlir.parse_attribute("true")}
            del free[as_large]
    if marks:
        each = [mlir.dictionary(marks.get(i, {})) for i in range(len(arguments))]
        entry.attributes["arg_attrs"] = mlir.array(each)
    return sorted(marks)


def _bytes(type_: mlir.Type) -> int:
    return math.prod(mlir.shape_of_type(type_)) * mlir.dtype_of_type(type_).itemsize


def _check_stays_on_device(module: Module) -> None:
    for operation in nested(module.operation):
        if is_host_call(operation):
            raise UnsupportedOp(
                f"a callback at {mlir.location_text(operation.location)}: programs on a PJRT "
                "device cannot call functions of Python's or C's; run this one on the device 'cpu'"
            )


def _signature(entry: mlir.Operation) -> dict[str, Any]:
    """Takes away the types that the pass `annotate` wrote for IREE's runtime, and returns them."""
    reflection: Any = entry.attributes["iree.reflection"]
    entries = {item.name: item.attr.value for item in reflection}
    del entry.attributes["iree.reflection"]
    found: dict[str, Any] = {n: entries[f"irax.{n}"] for n in ("args", "results", "takes")}
    if "irax.layouts" in entries:
        found["layouts"] = json.loads(entries["irax.layouts"])
    return found

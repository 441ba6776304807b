"""Reader of portable artifacts: StableHLO in its versioned form, VHLO, as `jax.export` serialises
it.

MLIR's Python bindings have no pass from VHLO to StableHLO. IREE's input pipeline begins with one,
and can dump the module after each pass. Its later passes lower StableHLO, and may end the process.
To stop it before them, a function is added that fails verification as soon as it is converted to
StableHLO.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import MLIRError, Module, Operation
from irax_compiler.shardy import operations as sharding

_PIPELINE = "builtin.module(iree-stablehlo-input-transformation-pipeline)"
_PASS = "vhlo-legalize-to-stablehlo"
_STOP = "irax.stop"
_TYPE = "!vhlo.func_v1<(!vhlo.bool_v1) -> !vhlo.bool_v1>"
_STOPPER = (
    f'"vhlo.func_v1"() <{{sym_name = #vhlo.string_v1<"{_STOP}">, '
    f"function_type = #vhlo.type_v1<{_TYPE}>, arg_attrs = #vhlo.array_v1<[]>, "
    'res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}> ({}) : () -> ()'
)
"""A public function without a body: an error for `func.func`, but not for `vhlo.func_v1`."""
_TENSOR = re.compile(r"!vhlo\.tensor_v1<((?:\d+x)+)!vhlo\.(\w+)_v1>")
_WEIGHT = "irax.weight."
"""The names of locations of constants whose elements are kept apart."""


def is_portable(module: Module) -> bool:
    """True for a module whose functions are VHLO."""
    return any(operation.operation.name == "vhlo.func_v1" for operation in module.body.operations)


def to_stablehlo(module: Module) -> Module:
    """Convert a module of VHLO to StableHLO.

    Raises ValueError for what this version of StableHLO cannot read.
    """
    weights = _without_weights(module)
    # A context of its own: printing after passes needs one without threads.
    context = mlir.ir.Context()
    context.allow_unregistered_dialects = True
    context.enable_multithreading(False)
    copy = Module.parse(mlir.bytecode(module), context)
    stopper = Module.parse(_STOPPER, context).body.operations[0].operation
    stopper.clone(ip=mlir.InsertionPoint(copy.body))
    with tempfile.TemporaryDirectory() as folder:
        manager = mlir.passmanager.PassManager.parse(_PIPELINE, context)
        manager.enable_ir_printing(
            tree_printing_dir_path=folder, enable_debug_info=True, print_generic_op_form=True
        )
        reason = f"its pipeline has no pass {_PASS}"
        try:
            manager.run(copy.operation)
        except MLIRError as error:
            reason = mlir.error_text(error).partition("\n")[0]
        written = next(Path(folder).rglob(f"*_{_PASS}.mlir"), None)
        text = "" if written is None else written.read_text()
    name = f'sym_name = "{_STOP}"'
    if name not in text:
        raise ValueError(f"a portable artifact that cannot be made StableHLO: {reason}")
    text = text.replace(name, f'{name}, sym_visibility = "private"')
    found = mlir.parse_module(sharding.readable(text, text))  # versioned, they were hidden
    mlir.functions(found)[_STOP].erase()
    _put_back(found, weights)
    return found


def _without_weights(module: Module) -> list[np.ndarray[Any, Any]]:
    """Put zeros in the place of large constants, which text would be long of; return these. Their
    locations have their numbers.
    """
    found: list[np.ndarray[Any, Any]] = []
    for operation in mlir.operations_in(module.operation):
        type_ = (
            _TENSOR.fullmatch(str(operation.results[0].type)) if _is_constant(operation) else None
        )
        if type_ is None or type_[2] not in mlir.DTYPES:
            continue
        extents = tuple(map(int, type_[1].split("x")[:-1]))
        elements = mlir.written_elements(operation, extents, mlir.DTYPES[type_[2]])
        if elements is None:
            continue
        plain = f"{type_[1]}{type_[2]}"
        zero = "0.0" if mlir.inexact(elements.dtype) else "0"
        attribute = f"#vhlo.tensor_v1<dense<{zero}> : tensor<{plain}>>"
        operation.attributes["value"] = mlir.ir.Attribute.parse(attribute, module.context)
        operation.location = mlir.named(f"{_WEIGHT}{len(found)}", operation.location)
        found.append(elements)
    return found


def _is_constant(operation: Operation) -> bool:
    return operation.name == "vhlo.constant_v1"


def _put_back(module: Module, weights: list[np.ndarray[Any, Any]]) -> None:
    for operation in mlir.operations_in(module.operation) if weights else []:
        location: Any = operation.location
        if isinstance(location, mlir.ir.NameLoc) and location.name_str.startswith(_WEIGHT):
            elements = weights[int(location.name_str.removeprefix(_WEIGHT))]
            operation.attributes["value"] = mlir.dense(elements)
            operation.location = location.child_loc

"""Every case, its derivatives and its batched forms, run by XLA: a second opinion on what StableHLO
means. It needs JAX (`make oracle`), of which it uses the compiler alone.
"""

import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from tests.differential.harness import CASES, Arrays, Case, assert_near, epsilon
from tests.differential.test_iree import FORMS, UNDETERMINED, Function

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator

jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")

OTHERWISE = {
    "bitwise-popcnt-int4": "XLA counts the bits of the byte that it keeps the number in",
    "conversion-c128-to-c64-bits": "XLA has no bits of complex numbers in arrays of any rank",
    "conversion-c64-to-c128-bits": "XLA has no bits of complex numbers in arrays of any rank",
    "dot-tf32": "XLA's CPU compiler does not have the algorithm",
    "indexing-dynamic_update_slice-scalar": "XLA cannot parse the text of a slice without sizes",
    "indexing-scatter-add-scalar": "XLA's scatter_simplifier fails on it",
    "fold-sum-in-another-dtype": "XLA wants one dtype, StableHLO one that can be promoted",
    "windows-of-nothing": "XLA leaves out what is padding where the array is empty",
    "windows-cumulative-pair": "XLA takes the init values of long windows for an identity",
    "windows-cumulative-product-back": "likewise",
    "shape-dimension": "XLA has no sizes of irax's, which are refined before",
    "special-erfc-float8_e5m2": "XLA does not expand it",
    "complex-cbrt": "XLA takes no complex numbers",
    "complex-cbrt-c64": "likewise",
    "conversion-bits-of-f64": "XLA takes booleans for bytes, StableHLO for bits",
    "conversion-bits-to-u16": "likewise",
    "conversion-float-float6_e2m3fn": "XLA on the CPU does not translate 6-bit floats",
    "conversion-float-float6_e3m2fn": "likewise",
}
"""Cases that XLA refuses or defines otherwise, and why that is no defect of irax."""


UP_TO_SIGNS = ("eig", "qr", "schur", "svd")
"""Factorizations that are unique up to the signs of columns, which decomposition and LAPACK choose
differently; of eig and schur there are no decompositions."""


def functions() -> list[Function]:
    """A form of each case."""
    chosen = []
    for case in CASES:
        if case.family == "callback":  # XLA has no functions of this process
            continue
        if case.family == "factorizations" and case.name.startswith(UP_TO_SIGNS):
            continue
        if case.name in UNDETERMINED or f"{case.family}-{case.name}" in OTHERWISE:
            continue
        forms = [f for f in FORMS if f == "value" or applies(case, f)]
        chosen.append(Function(case, forms[zlib.crc32(case.name.encode()) % len(forms)]))
    return chosen


def applies(case: Case, form: str) -> bool:
    return bool(case.operands) and (form == "batch" or case.has_derivative)


def run_by_xla(module: mlir.Module, name: str, arrays: Arrays) -> Arrays:
    from jax._src import xla_bridge
    from jax._src.lib import xla_client

    for function_name, function in mlir.functions(module).items():
        is_entry = function_name == name
        function.attributes["sym_visibility"] = mlir.string("public" if is_entry else "private")
        if is_entry:
            function.attributes["sym_name"] = mlir.string("main")
    backend = xla_bridge.get_backend("cpu")
    device = backend.local_devices()[0]
    executable = backend.compile_and_load(
        str(module).encode(), xla_client.DeviceList((device,)), xla_client.CompileOptions()
    )
    with jax.enable_x64(True):
        buffers = [jax.device_put(a, device) for a in arrays]
        results = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
        return [np.asarray(shards[0]) for shards in results]


CHOSEN = functions()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("function", CHOSEN, ids=map(str, CHOSEN))
def test_xla_agrees_with_the_evaluator(function: Function) -> None:
    module = mlir.new_module()
    name = function.add_to(module, "f")
    arrays = function.arguments()
    expected = Evaluator(module)(name, arrays)
    assert_agree(run_by_xla(module, name, arrays), expected, function.case.tolerance)


def assert_agree(found: Sequence[np.ndarray], expected: Arrays, tolerance: float | None) -> None:
    for result, value in zip(found, expected, strict=True):
        assert result.dtype == value.dtype
        rounding = (2 if value.dtype.itemsize < 4 else 100) * (
            epsilon(value.dtype) if mlir.inexact(value.dtype) else 0
        )
        assert_near(result, value, max(tolerance or 0, rounding))

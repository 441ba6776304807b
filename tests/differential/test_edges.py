"""Elementwise functions on IREE where they are hardest: at zeros of both signs, infinities, nan,
the largest and the smallest numbers, and all pairs of them. The evaluator is tested at such points
in test_special_values.py.

Subnormal numbers are left out: IREE and XLA take them for zero.
"""

import decimal
import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from tests.differential.harness import Arrays, epsilon
from tests.sampling import ALL_FORMS

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.ops import elementwise
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.zeta import zeta
from irax_compiler.pipeline import run_pipeline, text_of
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

OF_TWO = [
    *(elementwise.add, elementwise.subtract, elementwise.multiply, elementwise.divide),
    *(elementwise.remainder, elementwise.maximum, elementwise.minimum, elementwise.power),
    *(elementwise.atan2, chlo_functions.next_after),
]
OTHERS = [elementwise.complex_, elementwise.real, elementwise.imag, chlo_functions.conj]
OF_COUNTS = [chlo_functions.polygamma, zeta]
OF_ONE = [
    op
    for family in (elementwise, chlo_functions)
    for op in vars(family).values()
    if isinstance(op, Elementwise) and op not in [*OF_TWO, *OTHERS, *OF_COUNTS]
]
DTYPES = [np.dtype(np.float32)]
if ALL_FORMS:
    DTYPES += [np.dtype(d) for d in (np.float64, np.float16, ml_dtypes.bfloat16)]


def numbers(dtype: np.dtype) -> np.ndarray:
    info = ml_dtypes.finfo(dtype)
    sizes = [0, 1, 0.5, 2, 3, 1.5, 0.25, 1e-3, 1e-4, 30, 100, 1e4, math.inf]
    sizes += [float(info.eps), 1000 * float(info.smallest_normal), float(info.max)]
    return np.array([*sizes, *(-s for s in sizes), -0.0, math.nan]).astype(dtype)


def grids(dtype: np.dtype) -> dict[Elementwise, Arrays]:
    x = numbers(dtype)
    pairs = np.array(list(itertools.product(x, x)), dtype)
    two = [np.ascontiguousarray(column) for column in pairs.T]
    return {op: two if op in OF_TWO else [x] for op in [*OF_ONE, *OF_TWO]}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.slow
def test_iree_agrees_with_the_evaluator(dtype: np.dtype) -> None:
    points = grids(dtype)
    module = mlir.new_module()
    for op, arrays in points.items():
        types = [mlir.tensor_type(x.shape, dtype) for x in arrays]
        function = mlir.new_function(module, op.name, types, public=True)
        with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
            results = op.build(mlir.arguments(function))
        mlir.finish_function(function, results)
    ready = mlir.clone_module(module)
    run_pipeline(ready, text_of(CPU.passes))
    artefact = CPU.compile_text(mlir.bytecode(ready))
    evaluator = Evaluator(module)
    wrong = []
    for op, arrays in points.items():
        (expected,) = evaluator(op.name, arrays)
        (buffer,) = cpu().load(artefact, op.name)([cpu().put(x) for x in arrays])
        for i in np.flatnonzero(~agree(buffer.numpy(), expected)):
            at = ", ".join(str(x[i]) for x in arrays)
            wrong.append(f"{op.name}({at}): {buffer.numpy()[i]}; expected {expected[i]}")
    assert not wrong, "\n".join(wrong)


def agree(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """True where both are nan, the same infinity or zero, near each other, or subnormal."""
    assert found.dtype == expected.dtype
    if found.dtype == np.bool_:
        return found == expected
    smallest = float(ml_dtypes.finfo(expected.dtype).smallest_normal)
    tolerance = 100 * epsilon(expected.dtype)
    a, b = found.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
        subnormal = (np.abs(b) <= smallest) & (b != 0) & (np.abs(a) <= smallest)
        near = (np.abs(a - b) <= tolerance * np.abs(b)) & np.isfinite(a) & (a != 0)
        # lgamma has a zero at 1, to which XLA's and IREE's series come near.
        near |= (b == 0) & (np.abs(a) < 1e-6) & (a != 0)
    return same | subnormal | near


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_are_right_but_for_the_last_digit(dtype: str) -> None:
    rng = np.random.default_rng(0)
    most = np.log(np.finfo(dtype).max)
    # The larger the result, the more digits of the logarithm it takes.
    exponents = rng.uniform(-0.98, 0.98, 300) * most
    logs = rng.choice([1, 1e-3, 10, most / 2], 300) * rng.uniform(0.1, 1, 300)
    x = np.exp(logs).astype(dtype)
    y = (exponents / np.log(x.astype(np.float64))).astype(dtype)
    module = mlir.new_module()
    types = [mlir.tensor_type(x.shape, x.dtype)] * 2
    function = mlir.new_function(module, "main", types, public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        results = elementwise.power.build(mlir.arguments(function))
    mlir.finish_function(function, results)
    executable = cpu().load(CPU.compile_text(mlir.bytecode(lower(module))), "main")
    found = executable([cpu().put(x), cpu().put(y)])[0].numpy()
    with decimal.localcontext(prec=50):
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        exact = [decimal.Decimal(a) ** decimal.Decimal(b) for a, b in pairs]
        errors = [
            abs(decimal.Decimal(a) - b) / decimal.Decimal(unit)
            for a, b, unit in zip(found.tolist(), exact, np.spacing(found).tolist(), strict=True)
        ]
    assert max(errors) < 1

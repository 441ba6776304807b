"""Programs of many elementwise functions: each formula is written once, and called."""

import inspect
import re

import numpy as np
import pytest
from tests.differential.kernels.test_clusters import on_iree
from tests.sampling import all_forms

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.ops import elementwise
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.special.bessel import BesselI0e
from irax_compiler.ops.special.beta import Betainc
from irax_compiler.ops.special.gamma import Igamma, Igammac
from irax_compiler.ops.special.integrals import Expn
from irax_compiler.ops.special.normal import Dawsn, Ndtri, Wofz
from irax_compiler.ops.special.series import ByFormula
from irax_compiler.passes.core import nested

CHLO = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "digamma", "erf", "erf_inv"),
    *("erfc", "lgamma", "sinh", "tan"),
)
STABLEHLO = (
    *("cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic"),
    *("rsqrt", "sine", "tanh"),
)
OF_COMPLEX = ("exponential", "logistic", "sine", "rsqrt", "tanh", "negate")


def every(size: int, dtype: str) -> str:
    """A module with each function of x, and with some of what is computed before."""
    type_ = f"tensor<{size}x{dtype}>"
    lines = [
        *(f"%{f} = chlo.{f} %x : {type_} -> {type_}" for f in CHLO),
        *(f"%s_{f} = stablehlo.{f} %x : {type_}" for f in STABLEHLO),
        f"%power = stablehlo.power %x, %s_tanh : {type_}",
        f"%atan2 = stablehlo.atan2 %power, %n : {type_}",
        f"%less = stablehlo.compare LT, %atan2, %x : ({type_}, {type_}) -> tensor<{size}xi1>",
        f"%chosen = stablehlo.select %less, %power, %erf : tensor<{size}xi1>, {type_}",
    ]
    names = [*CHLO, *(f"s_{f}" for f in STABLEHLO), "power", "atan2", "chosen"]
    total = "%n"
    for i, name in enumerate(names):
        lines.append(f"%t{i} = stablehlo.add {total}, %{name} : {type_}")
        total = f"%t{i}"
    return f"""func.func public @main(%x: {type_}, %y: tensor<{dtype}>) -> ({type_}, {type_}) {{
      %n = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<{dtype}>) -> {type_}
      {chr(10).join(lines)}
      return {total}, %chosen : {type_}, {type_}
    }}"""


def every_of_complex(size: int) -> str:
    type_ = f"tensor<{size}xcomplex<f32>>"
    lines, before = [], "x"
    for i, name in enumerate(OF_COMPLEX * 4):
        lines.append(f"%a{i} = stablehlo.{name} %{before} : {type_}")
        lines.append(f"%b{i} = stablehlo.multiply %a{i}, %x : {type_}")
        before = f"b{i}"
    return f"""func.func public @main(%x: {type_}) -> ({type_}, tensor<{size}xf32>) {{
      {chr(10).join(lines)}
      %size = stablehlo.abs %{before} : ({type_}) -> tensor<{size}xf32>
      return %{before}, %size : {type_}, tensor<{size}xf32>
    }}"""


def check(module: mlir.Module, arrays: list[np.ndarray], tolerance: float) -> None:
    assert re.search(r"\bcall @kernel", str(lower(module)))
    expected = Evaluator(module)("main", arrays)
    for found, value in zip(on_iree(module, arrays), expected, strict=True):
        np.testing.assert_allclose(
            found.astype(np.complex64), value.astype(np.complex64), tolerance, tolerance
        )


@pytest.mark.parametrize(
    ("size", "dtype", "tolerance"),
    [(4103, "f32", 1e-4), pytest.param(130, "f64", 1e-6, marks=all_forms), (9, "bf16", 0.1)],
)
@pytest.mark.slow
def test_kernels_that_call_formulas(size: int, dtype: str, tolerance: float):
    x = np.linspace(0.1, 0.9, size)
    arrays = [a.astype(mlir.DTYPES[dtype]) for a in (x, np.asarray(0.5))]
    check(mlir.parse_module(every(size, dtype)), arrays, tolerance)


@pytest.mark.slow
def test_kernels_that_call_formulas_of_complex_numbers():
    x = np.linspace(0.1, 0.9, 150) + 1j * np.linspace(-0.5, 0.5, 150)
    check(mlir.parse_module(every_of_complex(150)), [x.astype(np.complex64)], 1e-4)


@pytest.mark.parametrize("size", [16, 5000])
def test_programs_grow_by_little_for_each_function(size: int):
    """A formula written out is a hundred operations, and IREE's time for a kernel grows faster."""

    def operations(count: int) -> int:
        type_ = f"tensor<{size}xf32>"
        lines = [f"%{i + 1} = stablehlo.sine %{i} : {type_}" for i in range(count)]
        lines.append(f"return %{count} : {type_}")
        text = f"func.func public @main(%0: {type_}) -> {type_} {{ {chr(10).join(lines)} }}"
        return sum(1 for _ in nested(lower(mlir.parse_module(text)).operation))

    assert operations(150) - operations(100) < 5 * 50


SERIES = [Igamma(), Igammac(), Betainc(), BesselI0e(), Dawsn(), Expn(), Ndtri()]


def series(ops: list[ByFormula], size: tuple[int, ...], dtype: str, count: int) -> mlir.Module:
    """A module that applies each op as many times to what was computed before, and to x."""
    module, numbers = mlir.new_module(), np.dtype(mlir.DTYPES[dtype])
    function = mlir.new_function(module, "main", [mlir.tensor_type(size, numbers)], public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        (x,) = mlir.arguments(function)
        results = []
        for op in ops:
            y = x
            for _ in range(count):
                operands = [x, elementwise.abs(y), x]
                (y,) = op.build(operands[: len(inspect.signature(op.formula).parameters)])
            results.append(y)
    mlir.finish_function(function, results)
    return module


@pytest.mark.parametrize(
    ("ops", "size", "dtype", "tolerance"),
    [
        pytest.param(SERIES, (), "f32", 1e-5, marks=all_forms),
        (SERIES[::3], (3, 7), "bf16", 0.02),
        (SERIES[1::2], (4103,), "f32", 1e-5),
    ],
)
@pytest.mark.slow
def test_series_are_functions_of_kernels(
    ops: list[ByFormula], size: tuple[int, ...], dtype: str, tolerance: float
):
    """Each element of a register has as many steps of a series as it needs."""
    x = np.random.default_rng(0).uniform(0.05, 0.95, size).astype(mlir.DTYPES[dtype])
    check(series(ops, size, dtype, 2), [x], tolerance)


@pytest.mark.parametrize("size", [pytest.param((16,), marks=all_forms), (5000,)])
@pytest.mark.slow
def test_programs_of_series_grow_by_little_for_each(size: tuple[int, ...]):
    """Written out, each was a loop of its own with dozens of kernels."""

    def operations(count: int) -> int:
        return sum(1 for _ in nested(lower(series(SERIES, size, "f32", count)).operation))

    assert operations(4) - operations(2) < 2 * len(SERIES) * 5


def faddeeva(size: int, count: int) -> mlir.Module:
    """A module that applies a function of complex numbers as many times in a row."""
    module = mlir.new_module()
    type_ = mlir.tensor_type((size,), np.dtype(np.complex64))
    function = mlir.new_function(module, "main", [type_], public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        (x,) = mlir.arguments(function)
        for _ in range(count):
            (x,) = Wofz().build([x])
    mlir.finish_function(function, [x])
    return module


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("size", "count"), [(1, 3), (200, 20)])
def test_series_of_complex_numbers_are_functions_of_kernels(size: int, count: int):
    """A few of long formulas are functions, too."""
    x = np.linspace(0.1, 0.9, size) + 1j * np.linspace(0.5, -0.5, size)
    check(faddeeva(size, count), [x.astype(np.complex64)], 1e-4)


def test_long_loops_call_formulas():
    lines = [f"%{i + 1} = stablehlo.sine %{i} : tensor<6xf32>" for i in range(20)]
    module = mlir.parse_module(f"""func.func public @main(%x: tensor<6xf32>) -> tensor<6xf32> {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.constant dense<3> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %0 = %x) : tensor<i32>, tensor<6xf32>
      cond {{
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        {chr(10).join(lines)}
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %20 : tensor<i32>, tensor<6xf32>
      }}
      return %r#1 : tensor<6xf32>
    }}""")
    check(module, [np.linspace(-2, 2, 6).astype(np.float32)], 1e-5)

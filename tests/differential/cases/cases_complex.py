"""Complex numbers: their parts, and functions of them."""

import numpy as np
from tests.differential.harness import Case, Operand, f64, fixed, of

from irax_compiler.ops import comparison, conversion, elementwise
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.special import chlo_functions

C128 = np.dtype(np.complex128)


def c128(*shape: int, low: float = -1.5, high: float = 1.5) -> Operand:
    return of(np.complex128, *shape, low=low, high=high)


ANYWHERE = [
    (elementwise.negate, np.negative),
    (elementwise.exponential, np.exp),
    (elementwise.exponential_minus_one, np.expm1),
    (elementwise.sine, np.sin),
    (elementwise.cosine, np.cos),
    (elementwise.tan, np.tan),
    (elementwise.tanh, np.tanh),
    (elementwise.logistic, lambda x: 1 / (1 + np.exp(-x))),
    (elementwise.sign, lambda x: x / np.abs(x)),
    (chlo_functions.sinh, np.sinh),
    (chlo_functions.cosh, np.cosh),
    (chlo_functions.square, np.square),
]
OFF_THE_CUTS = [
    (elementwise.log, np.log),
    (elementwise.log_plus_one, np.log1p),
    (elementwise.sqrt, np.sqrt),
    (elementwise.rsqrt, lambda x: 1 / np.sqrt(x)),
    (elementwise.cbrt, lambda x: np.exp(np.log(x) / 3)),
    (chlo_functions.asin, np.arcsin),
    (chlo_functions.acos, np.arccos),
    (chlo_functions.atan, np.arctan),
    (chlo_functions.asinh, np.arcsinh),
    (chlo_functions.acosh, np.arccosh),
    (chlo_functions.atanh, np.arctanh),
]
OF_TWO = [
    (elementwise.add, np.add),
    (elementwise.subtract, np.subtract),
    (elementwise.multiply, np.multiply),
    (elementwise.divide, np.divide),
    (elementwise.power, np.power),
    (elementwise.atan2, lambda y, x: np.arctan(y / x)),
]


def short(op: elementwise.Elementwise) -> str:
    return op.name.partition(".")[2]


REAL_PART = """
func.func @main(%x: tensor<3xcomplex<f32>>) -> tensor<3xf32> {
  %0 = stablehlo.log_plus_one %x : tensor<3xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
"""
CASES = [
    Case("complex", elementwise.complex_, [f64(2, 3), f64(2, 3)], lambda x, y: x + 1j * y),
    Case("complex-f32", elementwise.complex_, [of("f4", 3), of("f4", 3)], lambda x, y: x + 1j * y),
    Case("real", elementwise.real, [c128(2, 3)], np.real),
    Case("imag", elementwise.imag, [c128(2, 3)], np.imag),
    Case("conj", chlo_functions.conj, [c128(2, 3)], np.conj),
    Case("real-c64", elementwise.real, [of("c8", 3)], np.real),
    Case("real-of-real", elementwise.real, [f64(3)], lambda x: x),
    Case("imag-of-real", elementwise.imag, [f64(3)], lambda x: 0 * x),
    Case("abs", elementwise.abs, [c128(2, 3)], np.abs),
    *(Case(short(op), op, [c128(2, 3)], f) for op, f in ANYWHERE),
    *(Case(short(op), op, [c128(2, 3, low=0.1, high=0.6)], f) for op, f in OFF_THE_CUTS),
    *(Case(short(op), op, [c128(3, low=0.3), c128(3, low=0.3)], f) for op, f in OF_TWO),
    *(
        Case(f"{short(op)}-c64", op, [of("c8", 5, low=0.1, high=0.6)], f, tolerance=2e-6)
        for op, f in [*ANYWHERE, *OFF_THE_CUTS]
    ),
    Case(
        "log_plus_one-near-1-c64",
        REAL_PART,
        [fixed([-1.94335 - 0.4032j, -0.3 - 0.72j, -0.022 + 0.214j], np.complex64)],
        lambda x: np.log1p(x.astype(complex)).real,
        tolerance=2e-7,
    ),
    Case(
        "select",
        comparison.select,
        [of(np.bool_, 3), c128(3), c128(3)],
        lambda p, x, y: np.where(p, x, y),
    ),
    Case("to-real", conversion.Convert(np.dtype(np.float64)), [c128(3)], np.real),
    Case("to-complex", conversion.Convert(C128), [f64(3)], lambda x: x.astype(complex)),
    Case(
        "dot",
        DotGeneral(DotDimensions(lhs_contracting=(1,), rhs_contracting=(0,)), C128, None, None),
        [c128(2, 3), c128(3, 2)],
        lambda x, y: x @ y,
    ),
    Case(
        "product",
        Reduce("multiply", (1,)),
        [c128(2, 3), Operand((), C128, lambda rng: np.array(1 + 0j))],
        lambda x, init: x.prod(1),
        wrt=[0],
    ),
]

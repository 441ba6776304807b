"""Reductions, against NumPy's."""

import operator

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, Operand, boolean, f64, fixed, i32, of

from irax_compiler.ops.reductions.reduce import Reduce

BF16 = np.dtype(ml_dtypes.bfloat16)
FOLDS = {
    "add": operator.add,
    "multiply": operator.mul,
    "maximum": max,
    "minimum": min,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def reduce(name, combiner, operand, dimensions, init, **options) -> Case:
    """A case whose init value is part of the op's arguments, but has no derivative."""

    def reference(x: np.ndarray, start: np.ndarray) -> np.ndarray:
        sizes = [n for d, n in enumerate(x.shape) if d not in dimensions]
        results = np.full(sizes, start.item(), object)
        for place in np.ndindex(*x.shape):
            kept = tuple(p for d, p in enumerate(place) if d not in dimensions)
            results[kept] = FOLDS[combiner](results[kept], x[place].item())
        return results

    if not isinstance(init, Operand):
        init = fixed(init, operand.dtype)
    options.setdefault("wrt", [0])
    return Case(name, Reduce(combiner, dimensions), [operand, init], reference, **options)


CASES = [
    reduce("add", "add", f64(2, 3, 4), (1,), 0),
    reduce("add-first-and-last", "add", f64(2, 3, 4), (0, 2), 0),
    reduce("add-all", "add", f64(2, 3), (0, 1), 0),
    reduce("add-none", "add", f64(2, 3), (), 0),
    reduce("add-nothing", "add", f64(2, 0), (1,), 0.5),
    reduce("add-from-init", "add", f64(2, 3), (1,), f64(), wrt=[0, 1]),
    reduce("multiply", "multiply", f64(2, 3), (0,), 1),
    reduce("multiply-odd", "multiply", f64(7, 2), (0,), 1),
    reduce("multiply-all", "multiply", f64(2, 3), (0, 1), 1),
    reduce("multiply-from-init", "multiply", f64(2, 3), (1,), -2.5),
    reduce("multiply-and-init", "multiply", f64(2, 3), (1,), f64(low=1), wrt=[0, 1]),
    reduce("maximum-and-init", "maximum", f64(2, 3), (1,), f64(low=0.2), wrt=[0, 1]),
    reduce("multiply-with-zeros", "multiply", fixed([[0.0, 2, 3], [0, 4, 0], [1, 2, 3]]), (1,), 1),
    reduce("multiply-nothing", "multiply", f64(2, 0), (1,), 1),
    reduce("maximum", "maximum", f64(2, 5), (1,), -np.inf),
    reduce("minimum", "minimum", f64(5, 2), (0,), np.inf),
    reduce("maximum-below-init", "maximum", f64(4, 5), (1,), 1.0),
    reduce("maximum-of-nothing", "maximum", f64(2, 0), (1,), -np.inf, differentiable=False),
    reduce("add-i8-wraps", "add", of("i1", 2, 9, low=-128, high=127), (1,), 100),
    reduce("multiply-i32", "multiply", i32(2, 9), (1,), 3),
    reduce("maximum-u8", "maximum", of("u1", 2, 9, low=0, high=255), (1,), 0),
    reduce("add-int4", "add", of(ml_dtypes.int4, 2, 9, low=-8, high=7), (1,), 0),
    reduce("minimum-int4", "minimum", of(ml_dtypes.int4, 2, 9, low=-8, high=7), (1,), 7),
    reduce("and", "and", i32(2, 2, low=0, high=99), (1,), -1),
    reduce("and-u32", "and", of("u4", 2, 2, low=0, high=99), (1,), 2**32 - 1),
    reduce("or", "or", i32(2, 5), (1,), 0),
    reduce("xor", "xor", i32(2, 5), (1,), 0),
    reduce("and-bool", "and", boolean(4, 2), (1,), True),
    reduce("or-bool", "or", boolean(4, 2), (1,), False),
    reduce("add-bool", "add", boolean(4, 2), (1,), False),
    reduce("maximum-bool", "maximum", boolean(4, 2), (1,), False),
    reduce("add-f32", "add", of("f4", 2, 99), (1,), 0),
    reduce("add-bf16", "add", fixed(np.ones((2, 1000)), BF16), (1,), 0),
    reduce("maximum-bf16", "maximum", of(BF16, 2, 9), (1,), -np.inf),
    reduce("maximum-f8", "maximum", of(ml_dtypes.float8_e4m3fn, 2, 9), (1,), -448),
    reduce("add-complex", "add", of("c16", 2, 3), (1,), 0),
    reduce("multiply-complex", "multiply", of("c16", 2, 3), (1,), 1),
]

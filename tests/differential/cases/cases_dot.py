"""Sums of products, against einsum."""

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, Operand, f64, fixed, i32, of

from irax_compiler import mlir
from irax_compiler.ops.dot import DotDimensions, DotGeneral

BF16 = np.dtype(ml_dtypes.bfloat16)


def dot(name, formula: str, operands: list[Operand], dtype="f8", **options) -> Case:
    """A case from an einsum formula whose result has its letters in the order of dot_general."""
    lhs, rhs, result = formula.replace("->", ",").split(",")
    batching = [c for c in lhs if c in rhs and c in result]
    contracting = [c for c in rhs if c in lhs and c not in result]
    dimensions = DotDimensions(
        tuple(lhs.index(c) for c in batching),
        tuple(rhs.index(c) for c in batching),
        tuple(lhs.index(c) for c in contracting),
        tuple(rhs.index(c) for c in contracting),
    )
    op = DotGeneral(
        dimensions, np.dtype(dtype), options.pop("precision", None), options.pop("algorithm", None)
    )
    return Case(
        name, op, operands, lambda x, y: np.einsum(formula, exactly(x), exactly(y)), **options
    )


def exactly(x: np.ndarray) -> np.ndarray:
    return x if mlir.inexact(x.dtype) else x.astype(object)


TF32 = (
    "lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, "
    "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, "
    "allow_imprecise_accumulation = false"
)
DOT = """
func.func @main(%x: tensor<2x3xf64>, %y: tensor<3xf64>) -> tensor<2xf64> {
  %0 = stablehlo.dot %x, %y : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}"""

CASES = [
    dot("matrices", "mk,kn->mn", [f64(2, 3), f64(3, 4)]),
    dot("transposed-left", "km,kn->mn", [f64(3, 2), f64(3, 4)]),
    dot("transposed-right", "mk,nk->mn", [f64(2, 3), f64(4, 3)]),
    dot("both-transposed", "km,nk->mn", [f64(3, 2), f64(4, 3)]),
    dot("matrix-vector", "mk,k->m", [f64(2, 3), f64(3)]),
    dot("vector-matrix", "k,kn->n", [f64(3), f64(3, 4)]),
    dot("inner", "k,k->", [f64(3), f64(3)]),
    dot("outer", "m,n->mn", [f64(2), f64(3)]),
    dot("scalars", ",->", [f64(), f64()]),
    dot("scaled", "mn,->mn", [f64(2, 3), f64()]),
    dot("batched", "bmk,bkn->bmn", [f64(2, 3, 4), f64(2, 4, 5)]),
    dot("batched-last", "mkb,knb->bmn", [f64(3, 4, 2), f64(4, 5, 2)]),
    dot("elementwise", "bc,cb->bc", [f64(2, 3), f64(3, 2)]),
    dot("two-contracted", "mjk,kjn->mn", [f64(2, 3, 4), f64(4, 3, 2)]),
    dot("contracted-in-another-order", "jkm,kj->m", [f64(3, 4, 2), f64(4, 3)]),
    dot("everything", "jbmkc,ncpkjb->bcmnp", [f64(2, 3, 4, 2, 3), f64(2, 3, 2, 2, 2, 3)]),
    dot("nothing-to-add", "mk,kn->mn", [f64(2, 0), f64(0, 3)]),
    dot("nothing-at-all", "mk,kn->mn", [f64(0, 2), f64(2, 3)]),
    dot("precise", "mk,kn->mn", [f64(2, 3), f64(3, 4)], precision=("HIGHEST", "DEFAULT")),
    dot("tf32", "mk,kn->mn", [of("f4", 2, 3), of("f4", 3, 4)], "f4", algorithm=TF32),
    dot("f32", "mk,kn->mn", [of("f4", 9, 50), of("f4", 50, 9)], "f4"),
    dot("f32-to-f64", "mk,kn->mn", [of("f4", 2, 3), of("f4", 3, 4)], "f8"),
    dot("bf16", "mk,kn->mn", [of(BF16, 3, 300), of(BF16, 300, 3)], BF16, tolerance=5e-3),
    dot("f32-to-bf16", "mk,kn->mn", [of("f4", 2, 3), of("f4", 3, 4)], BF16),
    dot("bf16-to-f32", "bkm,bkn->bmn", [of(BF16, 2, 9, 3), of(BF16, 2, 9, 3)], "f4"),
    dot("f16", "mk,kn->mn", [of("f2", 3, 300), of("f2", 300, 3)], "f2", tolerance=1e-3),
    dot(
        "f8-to-f32",
        "mk,kn->mn",
        [of(ml_dtypes.float8_e4m3fn, 2, 9), of(ml_dtypes.float8_e5m2, 9, 3)],
        "f4",
    ),
    dot("i8-wraps", "k,k->", [of("i1", 99, low=-128, high=127)] * 2, "i1"),
    dot("i8-to-i32", "k,k->", [fixed(np.full(9, -128), "i1"), fixed(np.full(9, 127), "i1")], "i4"),
    dot("i32", "bk,bk->b", [i32(2, 5), i32(2, 5)], "i4"),
    dot("complex", "mk,kn->mn", [of("c16", 2, 3), of("c16", 3, 4)], "c16"),
    Case("dot", DOT, [f64(2, 3), f64(3)], lambda x, y: x @ y),
]

"""The choice of IREE's data tiling, which changes the layout of matrices before products."""

from __future__ import annotations

from math import prod

import numpy as np

from irax_compiler.mlir import Module, Operation, dtype_of, shape_of
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.registry import read
from irax_compiler.passes.core import outside_kernels

LARGE = 1_000_000
"""Elements of a matrix from which on a copy of it in tiles pays."""
NARROWEST = 32
"""Rows and columns that matrices need so that few of a tile's are left empty."""
SHARE = 0.9
"""The share of a program's multiplications that must gain from tiling; the others lose."""


def pays(module: Module) -> bool:
    """True if most of a program's multiplications on the CPU are of large matrices.

    Measured on one core: 128x1024 by 1024x1024 takes as long as it did, 1024 cubed half as long,
    2048 cubed a fifth; 512 cubed would take 1.8 times as long, a vector by a matrix 8 times.
    """
    products = [o for o in outside_kernels(module) if o.name == DotGeneral.name]
    work = {product: _multiplications(product) for product in products}
    gaining = sum(work[product] for product in products if _gains(product))
    return gaining > 0 and gaining >= SHARE * sum(work.values())


def _multiplications(product: Operation) -> int:
    try:
        op = read(product)
    except UnsupportedOp:
        return 0
    assert isinstance(op, DotGeneral)
    lhs = shape_of(product.operands[0])
    contracted = prod(lhs[d] for d in op.dimensions.lhs_contracting)
    return prod(shape_of(product.results[0])) * contracted


def _gains(product: Operation) -> bool:
    operands = list(product.operands)
    shapes = [shape_of(v) for v in (*operands, *product.results)]
    if any(dtype_of(v) != np.float32 for v in (*operands, *product.results)):
        return False
    if any(len(shape) != 2 or min(shape) < NARROWEST for shape in shapes):
        return False
    return max(map(prod, shapes)) >= LARGE

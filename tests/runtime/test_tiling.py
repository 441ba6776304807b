"""When IREE is told to lay matrices out in tiles, and what comes out of it."""

from __future__ import annotations

import numpy as np
import pytest

from irax_compiler import blas, mlir, targets
from irax_compiler.iree import tiling
from irax_compiler.iree.target import iree_target
from irax_compiler.lowering import lower
from irax_runtime.iree.cpu import cpu


@pytest.fixture(autouse=True)
def by_iree(monkeypatch):
    """Matrices are multiplied by IREE's own code."""
    monkeypatch.setenv(blas.VARIABLE, "off")


def matrix(rows, columns, dtype):
    return f"tensor<{rows}x{columns}x{dtype}>" if rows > 1 else f"tensor<{columns}x{dtype}>"


def products(*sizes, dtype="f32"):
    """A lowered module with the product of an [m,k] and a [k,n] matrix for each three sizes."""
    arguments, types, lines = [], [], []
    for i, (m, k, n) in enumerate(sizes):
        lhs, rhs, result = (matrix(*shape, dtype) for shape in ((m, k), (k, n), (m, n)))
        arguments += [f"%x{i}: {lhs}", f"%y{i}: {rhs}"]
        contracting = "[1] x [0]" if m > 1 else "[0] x [0]"
        lines.append(
            f"%{i} = stablehlo.dot_general %x{i}, %y{i}, contracting_dims = {contracting} : "
            f"({lhs}, {rhs}) -> {result}"
        )
        types.append(result)
    results = ", ".join(f"%{i}" for i in range(len(sizes)))
    lines.append(f"return {results} : {', '.join(types)}")
    head = f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)})"
    return lower(mlir.parse_module("\n".join([head, "{", *lines, "}"])))


@pytest.mark.parametrize(
    ("sizes", "dtype", "expected"),
    [
        ([(1024, 1024, 1024)], "f32", True),
        ([(64, 1000, 1000)], "f32", True),
        ([(512, 512, 512)], "f32", False),
        ([(8, 1024, 1024)], "f32", False),
        ([(1, 1024, 1024)], "f32", False),
        ([(1024, 1024, 1024)], "f64", False),
        ([(128, 1024, 1024), (128, 1024, 10)], "f32", True),
        ([(64, 1024, 1024), (512, 512, 512)], "f32", False),
    ],
)
def test_large_matrices_gain(sizes, dtype, expected):
    assert tiling.pays(products(*sizes, dtype=dtype)) is expected


def test_values():
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(shape).astype(np.float32) for shape in ((33, 1000), (1000, 1001)))
    module = products((33, 1000, 1001))
    assert iree_target("iree-cpu").tiles(module)
    assert not iree_target("iree-cuda:sm_89").tiles(module)
    program = cpu().load(targets.compile(module, "iree-cpu"))
    (result,) = program([cpu().put(x), cpu().put(y)])
    np.testing.assert_allclose(result.numpy(), x.astype(np.float64) @ y, atol=2e-4)

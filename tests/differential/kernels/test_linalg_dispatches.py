"""Factorizations and solutions by LAPACK in dispatches, beside the host functions that they replace
and beside what defines them.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.runtime.programs import load

from irax_compiler import blas, mlir
from irax_compiler.lowering import lower
from irax_compiler.passes.host.host import host_call
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.blas import calls as passes
from irax_runtime import linalg
from irax_runtime.iree.cpu import cpu

pytestmark = pytest.mark.skipif(blas.library() is None, reason=f"{blas.PACKAGE} is not installed")

TOLERANCE = {"float32": 1e-4, "float64": 1e-12, "complex64": 1e-4, "complex128": 1e-12}


LOWER = {"left_side": 1, "lower": 1, "unit_diagonal": 0, "transpose_a": 0}


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """LAPACK is called for matrices of all sizes."""
    monkeypatch.setattr(passes, "pays_as_dispatch", lambda batch: True)


def lowered(calls):
    """Return the text of a program of calls (name, arrays, parameters), and their results."""
    operands = [x for _, arrays, _ in calls for x in arrays]
    expected = [results_on_host(*call) for call in calls]
    module = mlir.new_module()
    types = [mlir.tensor_type(x.shape, x.dtype) for x in operands]
    function = mlir.new_function(module, "main", types, public=True)
    given, built = iter(mlir.arguments(function)), []
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        for (name, arrays, parameters), results in zip(calls, expected, strict=True):
            values = [next(given) for _ in arrays]
            types = [mlir.tensor_type(x.shape, x.dtype) for x in results]
            built += host_call(name, values, types, **parameters)
    mlir.finish_function(function, built)
    return str(lower(module)), expected


def results_on_host(name, arrays, parameters):
    results = getattr(linalg, name)(*arrays, **parameters)
    return results if isinstance(results, tuple) else (results,)


def drawn(*shape, dtype="float32", seed=0):
    generator = np.random.default_rng(seed)
    x = generator.standard_normal(shape)
    if dtype.startswith("c"):
        x = x + 1j * generator.standard_normal(shape)
    return x.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def positive(*shape, **options):
    x = drawn(*shape, **options)
    return x @ adjoint(x) + np.eye(shape[-1], dtype=x.dtype)


def check(calls, dtype):
    text, expected = lowered(calls)
    assert "irax.host" not in text
    outputs = iter(load(text)([cpu().put(x) for _, arrays, _ in calls for x in arrays]))
    for (name, arrays, parameters), others in zip(calls, expected, strict=True):
        some = [next(outputs).numpy() for _ in others]
        for one, other in zip(unsigned(name, some), unsigned(name, others), strict=True):
            message = f"{name} of {arrays[0].shape}, {parameters}"
            scale = np.abs(other).max(initial=1.0, where=np.isfinite(other))
            np.testing.assert_allclose(one, other, atol=TOLERANCE[dtype] * scale, err_msg=message)


def unsigned(name, results):
    """Replace vectors, of which any multiple of length one would do, by what all of these give."""
    if name == "eigh" and len(results) == 2:
        vectors, values = results
        return [vectors * values[..., None, :] @ adjoint(vectors), np.abs(vectors), values]
    if name == "svd" and len(results) == 3:
        u, values, vh = results
        k = values.shape[-1]
        products = u[..., :k] * values[..., None, :] @ vh[..., :k, :]
        return [products, values, *(x @ adjoint(x) for x in (u, vh))]
    return results


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.slow
def test_factorizations(dtype):
    square, many = drawn(37, 37, dtype=dtype), drawn(2, 3, 5, 5, dtype=dtype)
    tall, wide = drawn(3, 9, 4, dtype=dtype), drawn(6, 11, dtype=dtype)
    definite = positive(3, 8, 8, dtype=dtype), positive(1, 1, dtype=dtype)
    check(
        [
            *(("cholesky", [x], {"lower": n}) for n, x in enumerate(definite)),
            *(("lu", [x], {}) for x in (many, tall, wide)),
            *(("qr", [x], {"full": n % 2}) for n, x in enumerate((tall, tall, wide))),
            ("eigh", [square], {"vectors": 1}),
            ("eigh", [many], {"vectors": 0}),
            ("svd", [square], {"full": 1, "vectors": 1}),
            *(("svd", [x], {"full": n, "vectors": 1}) for x in (tall, wide) for n in (0, 1)),
            ("svd", [wide], {"full": 0, "vectors": 0}),
        ],
        dtype,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_solutions(dtype):
    a, b = positive(2, 9, 9, dtype=dtype), drawn(2, 9, 4, dtype=dtype)
    row = np.swapaxes(b, -1, -2).copy()
    flags = [(1, 1, 0, 0), (1, 0, 1, 1), (0, 1, 0, 2), (0, 0, 1, 0), (1, 1, 0, 2)]
    names = "left_side", "lower", "unit_diagonal", "transpose_a"
    check(
        [
            ("solve", [a, b], {}),
            ("solve", [a[0], b[0, :, :1]], {}),
            *(
                ("triangular_solve", [a / 16, b if f[0] else row], dict(zip(names, f, strict=True)))
                for f in flags
            ),
        ],
        dtype,
    )


@pytest.mark.slow
def test_failures():
    """A matrix without a result gets nan, or what division by zero makes of it; others of the batch
    are as they were.
    """
    a = positive(4, 6, 6)
    a[1] = -a[1]
    odd = a.copy()
    odd[1, 2, 3], odd[3, 0, 0] = np.nan, np.inf
    singular = drawn(3, 3)
    singular[2] = 0
    with np.errstate(all="ignore"):
        check(
            [
                ("cholesky", [a], {"lower": 1}),
                ("eigh", [odd], {"vectors": 1}),
                ("eigh", [odd], {"vectors": 0}),
                ("svd", [odd], {"full": 0, "vectors": 1}),
                ("solve", [singular, drawn(3, 2, seed=1)], {}),
                ("lu", [singular], {}),
                ("triangular_solve", [np.tril(singular), drawn(3, 2)], LOWER),
            ],
            "float32",
        )


def test_a_batch_is_shared(monkeypatch):
    """Several workgroups, of which the last has less to do, each with scratch memory of its own."""
    monkeypatch.setattr(executables, "processors", lambda: 3)
    a = positive(10, 60, 60, dtype="float64")
    check([("eigh", [a], {"vectors": 1}), ("solve", [a, a], {})], "float64")


def test_what_is_left_to_the_host(monkeypatch):
    """Large matrices, which NumPy's library shares among processors; all without the library."""
    monkeypatch.undo()
    calls = [("cholesky", [np.zeros((n, n), np.float32)], {"lower": 1}) for n in (9, 2100)]
    text, _ = lowered(calls)
    assert ("dispatch @cholesky" in text, "tensor<2100x2100xf32>" in text) == (True, True)
    assert text.count("@irax_host.f0(") == 2  # a declaration and a call
    monkeypatch.setenv(blas.VARIABLE, "off")
    text, _ = lowered(calls)
    assert "flow.dispatch" not in text
    assert text.count("@irax_host.f") == 4

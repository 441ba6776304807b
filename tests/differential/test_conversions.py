"""Conversions among all dtypes: the evaluator against exact arithmetic, IREE against the evaluator:
by default a third of the pairs, all with IRAX_ALL_FORMS=1.

Subnormal float32 numbers and narrower ones in bfloat16 are left out: IREE takes them for zero.
"""

import functools
import math
import warnings
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from tests.sampling import ALL_FORMS

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.mlir import inexact
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.core import no_calls
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline, text_of
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

DTYPES = [np.dtype(d) for d in mlir.DTYPES.values()]
NARROW = [d for d in DTYPES if inexact(d) and d.itemsize <= 2]
ON_IREE = [d for d in DTYPES if d.name not in CPU.lacks]
AT_THE_BOUNDARY = [d for d in ON_IREE if d.name not in CPU.lacks_arrays_of]


def points(dtype: np.dtype) -> np.ndarray:
    """Extremes, halves between neighbours of narrower dtypes and what is next to them."""
    if dtype == np.bool_:
        return np.array([False, True])
    if not inexact(dtype):
        info = ml_dtypes.iinfo(dtype)
        near = [0, 1, -1, 7, -8, 100, 127, 128, 255, 256, 2047, 2049, 2**24 + 1, 2**53 + 1]
        inside = [x for x in near if info.min <= x <= info.max]
        return np.array([int(info.min), *inside, int(info.max)], dtype)
    if dtype.kind == "c":
        x = points(np.empty(0, dtype).real.dtype)
        return (x + 1j * np.arange(len(x))).astype(dtype)
    x = np.array([0, 1.9, 300.7, 1e3, 70000, 1e30, math.inf, 464, 448, 449, 240, 248, 57344, 61440])
    halves = [np.ldexp(1 + m / 32, e) for e in (-18, -15, -11, -8, -7, 0, 6) for m in range(32)]
    x = np.concatenate([x, halves, np.nextafter(halves, 0), np.nextafter(halves, 9)])
    if dtype.itemsize == 1:
        x = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
    x = np.concatenate([x, -x, [math.nan]])
    with np.errstate(over="ignore"):
        return x.astype(np.float32).astype(dtype) if dtype in NARROW else x.astype(dtype)


def same(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """True where both are nan, or equal, zeros in sign too."""
    assert found.dtype == expected.dtype
    if not inexact(found.dtype):
        return found == expected
    if found.dtype.kind == "c":
        return same(found.real, expected.real) & same(found.imag, expected.imag)
    a, b = found.astype(np.float64), expected.astype(np.float64)
    return (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)


@pytest.mark.parametrize("target", NARROW, ids=str)
def test_narrow_floats_are_the_nearest(target: np.dtype) -> None:
    every = np.arange(256**target.itemsize, dtype=f"u{target.itemsize}").view(target)
    with np.errstate(invalid="ignore"):
        values = every.astype(np.float64)
    finite = np.unique(values[np.isfinite(values)])
    x = points(np.dtype(np.float64))
    x = x[(x >= finite[0]) & (x <= finite[-1])]
    found = Convert(target).evaluate(no_calls, x).astype(np.float64)
    for value, near in zip(x, found, strict=True):
        i = np.searchsorted(finite, value)
        around = finite[max(i - 1, 0) : i + 1]
        least = min(abs(Fraction(value) - Fraction(y)) for y in around)
        assert abs(Fraction(value) - Fraction(near)) == least, (value, near, around)


def targets_of(source: np.dtype) -> list[np.dtype]:
    """The dtypes to which one is converted on IREE."""
    others = [d for d in ON_IREE if d != source]
    if ALL_FORMS:
        return others
    return [d for d in others if (DTYPES.index(source) + DTYPES.index(d)) % 3 == 0]


def add_to(module: mlir.Module, source: np.dtype) -> None:
    """Adds a function that converts to other dtypes."""
    types = [mlir.tensor_type(points(source).shape, source)]
    function = mlir.new_function(module, source.name, types, public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        (operand,) = mlir.arguments(function)
        converted = [(d, Convert(d)(operand)) for d in targets_of(source)]
        results = [
            x if d in AT_THE_BOUNDARY else Convert(np.dtype(np.float32))(x) for d, x in converted
        ]
    mlir.finish_function(function, results)


@functools.cache
def everything() -> tuple[Evaluator, bytes]:
    """All those functions, for the evaluator and for IREE."""
    module = mlir.new_module()
    for source in AT_THE_BOUNDARY:
        add_to(module, source)
    ready = mlir.clone_module(module)
    run_pipeline(ready, text_of(CPU.passes))
    return Evaluator(module), CPU.compile_text(mlir.bytecode(ready))


@pytest.mark.parametrize("source", AT_THE_BOUNDARY, ids=str)
@pytest.mark.slow
def test_iree_agrees_with_the_evaluator(source: np.dtype) -> None:
    x = points(source)
    evaluator, artefact = everything()
    buffers = cpu().load(artefact, source.name)([cpu().put(x)])
    wrong = [
        f"{source} {x[i]} to {y.dtype}: {buffer.numpy()[i]}; expected {y[i]}"
        for buffer, y in zip(buffers, evaluator(source.name, [x]), strict=True)
        for i in np.flatnonzero(~same(buffer.numpy(), y))
        if x[i] == x[i] or np.isnan(np.array(np.nan, y.dtype))  # others have a zero of any sign
    ]
    assert not wrong, "\n".join(wrong[:40])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_all_of_several_roundings_are_done(dtype):
    def once(x):
        return (x * 1.01).astype(dtype).astype(jnp.float32)

    @irax.jit
    def compiled(x):
        looped = irax.lax.fori_loop(0, 20, lambda _, x: once(x), x)
        written_out = functools.reduce(lambda x, _: once(x), range(20), x)
        return looped, written_out

    x = np.linspace(-3, 3, 99, dtype=np.float32)
    expected = functools.reduce(lambda x, _: once(x), range(20), jnp.asarray(x))
    for found in compiled(x):
        np.testing.assert_array_equal(found, expected)


def test_each_operation_on_bfloat16_is_rounded():
    x = jnp.linspace(-3, 3, 99).astype(jnp.bfloat16)

    def f(x):
        y = jnp.broadcast_to(x * 1.1 + x, (2, 99))
        z = jnp.exp(y) / (1 + y * y) - jnp.where(y * 0.7 > x, y, jnp.sqrt(abs(y) * 0.3))
        w = (z.astype(jnp.float32) * 0.0123).astype(jnp.bfloat16)
        return w * -0.01, w.sum(0) - z[0]

    for found, expected in zip(irax.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", [np.complex64, np.complex128, np.float32, np.float64])
def test_conversions_of_many_numbers_to_and_from_complex_ones(target) -> None:
    """They are done by kernels, together with what the numbers are computed by."""
    rng = np.random.default_rng(0)
    real, both = rng.normal(size=(2, 70, 71)), rng.normal(size=(70, 71)) * (1 + 2j)
    given = [real[0], real[1].astype(np.float32), both, both.astype(np.complex64), real[0] > 0]
    if np.dtype(target).kind == "f":
        given = [x for x in given if x.dtype.kind == "c"]

    def converted(np_, x):
        computed = x if x.dtype == bool else x * x + x
        return [computed.astype(target), np_.swapaxes(x, 0, 1).astype(target)]

    with irax.enable_x64(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*imaginary part")
        found = irax.jit(lambda xs: [converted(jnp, x) for x in xs])(given)
        expected = [converted(np, x) for x in given]
    for ours, theirs in zip(irax.tree.leaves(found), irax.tree.leaves(expected), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)

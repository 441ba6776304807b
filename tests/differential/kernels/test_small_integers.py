"""Products of matrices of 8-bit integers, which are exact: edges of tiles, panels and shares.
Processors without an instruction for them multiply floats.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import irax
from irax import lax
from irax_compiler import chips, mlir
from irax_compiler.lowering import lower

DTYPES = "int8", "uint8"
CASES = [
    # m, k, n
    (64, 64, 64),  # whole vectors
    (37, 131, 70),  # rests of rows, words and columns
    (16, 2500, 33),  # parts of a panel
    (500, 256, 40),  # workgroups share rows
    (100, 300, 700),  # ... and panels
]


def drawn(dtype, *shape, seed=0):
    """Integers of which many are the least or the greatest."""
    info, generator = np.iinfo(dtype), np.random.default_rng(seed)
    x = generator.integers(info.min, info.max, shape, dtype, endpoint=True)
    ends = np.where(generator.random(shape) < 0.5, info.min, info.max).astype(dtype)
    return np.where(generator.random(shape) < 0.5, x, ends)


def exact(x, y):
    return x.astype(np.int64) @ y.astype(np.int64)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "k", "n"), CASES)
def test_of_all_signs_and_layouts(m, k, n):
    def products(pairs):
        return [
            (x.astype("int32") @ y.astype("int32"), (x.T.astype("int32").T @ z.astype("int32").T))
            for x, y, z in pairs
        ]

    pairs = [(drawn(a, m, k), drawn(b, k, n, seed=1)) for a, b in product(DTYPES, DTYPES)]
    given = [(x, y, np.ascontiguousarray(y.T)) for x, y in pairs]
    for (x, y), found in zip(pairs, irax.jit(products)(given), strict=True):
        for one in found:
            np.testing.assert_array_equal(one, exact(x, y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_largest_sums(dtype):
    info, (m, k, n) = np.iinfo(dtype), (20, 5000, 48)
    ends = [np.full(k, info.min, dtype), np.full(k, info.max, dtype)]
    x = np.stack([ends[i % 2] for i in range(m)])
    y = np.stack([ends[i % 3 == 0] for i in range(n)], 1)
    found = irax.jit(lambda x, y: lax.dot(x, y, preferred_element_type="int32"))(x, y)
    np.testing.assert_array_equal(found, exact(x, y))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("result", ["int8", "uint8", "int16", "uint32"])
def test_other_results_are_the_low_bits(result):
    dtype = "int8" if result == "int8" else "uint8"
    x, y = drawn(dtype, 40, 90), drawn(dtype, 90, 80, seed=1)
    found = irax.jit(lambda x, y: lax.dot(x, y, preferred_element_type=result))(x, y)
    np.testing.assert_array_equal(found, exact(x, y).astype(result))


def test_batches_and_dimensions_in_any_order():
    x, y = drawn("int8", 50, 3, 22, 4), drawn("int8", 4, 3, 22, 40, seed=1)
    found = irax.jit(
        lambda x, y: lax.dot_general(x, y, (((2, 3), (2, 0)), ((1,), (1,))), None, "int32")
    )(x, y)
    expected = np.einsum("abcd,dbce->bae", x.astype(np.int64), y.astype(np.int64))
    np.testing.assert_array_equal(found, expected)


def test_what_is_widened_before():
    """Bytes are found behind a conversion, but not behind one that wraps."""
    x, y = drawn("uint8", 64, 64), drawn("int8", 64, 64, seed=1)

    def products(x, y):
        pairs = (x.astype("int8"), y), (x.astype("uint16"), y.astype("uint16"))
        return [lax.dot(*pair, preferred_element_type="uint32") for pair in pairs]

    first, second = irax.jit(products)(x, y)
    np.testing.assert_array_equal(first, exact(x.astype("int8"), y).astype("uint32"))
    np.testing.assert_array_equal(second, exact(x, y.astype("uint16")).astype("uint32"))


@pytest.mark.parametrize(("chip", "has_it"), [("host", True), ("x86-64-v4", False)])
def test_only_chips_that_have_the_instruction_get_it(monkeypatch, chip, has_it):
    flags = {"avx512f", "avx512_vnni", "avx512bw", "avx512vl"}
    monkeypatch.setattr(chips, "_flags", lambda: flags)
    text = """func.func @main(%x: tensor<64x64xi8>, %y: tensor<64x64xi8>) -> tensor<64x64xi32> {
      %0 = stablehlo.dot %x, %y : (tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi32>
      return %0 : tensor<64x64xi32>
    }"""
    lowered = lower(mlir.parse_module(text), "main", f"iree-cpu:{chip}")
    assert ("vpdpbusd" in str(lowered)) == has_it

"""Products of matrices of bfloat16, which are summed in float32, compared with NumPy's in float64:
edges of tiles, panels and shares. Processors without an instruction for them multiply floats.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import chips, mlir
from irax_compiler.lowering import lower

DTYPES = jnp.float32, jnp.bfloat16
CASES = [
    ("ij,jk->ik", (64, 64), (64, 64)),
    ("ij,jk->ik", (37, 131), (131, 70)),  # an odd number of factors, rests of rows and columns
    ("ij,kj->ik", (16, 2500), (33, 2500)),  # columns; parts of a panel
    ("ji,jk->ik", (300, 500), (300, 40)),
    ("bij,bjk->bik", (3, 65, 100), (3, 100, 33)),
]


def drawn(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(ml_dtypes.bfloat16)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("equation", "left", "right"), CASES)
def test_values(equation: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = drawn(left, 0), drawn(right, 1)
    expected = np.einsum(equation, x.astype(np.float64), y.astype(np.float64))

    def products(x: irax.Array, y: irax.Array) -> list[irax.Array]:
        return [jnp.einsum(equation, x, y, preferred_element_type=d) for d in DTYPES]

    for found, dtype, bound in zip(irax.jit(products)(x, y), DTYPES, (2e-6, 8e-3), strict=True):
        assert found.dtype == dtype
        error = np.abs(np.asarray(found, np.float64) - expected).max()
        assert error <= bound * np.abs(expected).max()


def test_what_is_no_number_stays_in_its_row() -> None:
    x, y = drawn((32, 64), 0), np.abs(drawn((64, 32), 1))
    x[3, 5], x[4, 6] = np.nan, np.inf
    found = np.asarray(irax.jit(jnp.matmul)(x, y), np.float32)
    assert np.isnan(found[3]).all()
    assert (found[4] == np.inf).all()
    assert np.isfinite(found[[0, 1, 2, *range(5, 32)]]).all()


@pytest.mark.parametrize(("chip", "has_it"), [("host", True), ("x86-64-v4", False)])
def test_only_chips_that_have_the_instruction_get_it(
    monkeypatch: pytest.MonkeyPatch, chip: str, has_it: bool
) -> None:
    flags = {"avx512f", "avx512_bf16", "avx512bw", "avx512vl"}
    monkeypatch.setattr(chips, "_flags", lambda: flags)
    text = """func.func @main(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xf32> {
      %0 = stablehlo.dot %x, %y : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }"""
    lowered = lower(mlir.parse_module(text), "main", f"iree-cpu:{chip}")
    assert ("dpbf16ps" in str(lowered)) == has_it

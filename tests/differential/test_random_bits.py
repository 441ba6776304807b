"""Random bits in arrays of several dimensions, and odd states."""

import numpy as np
import pytest

from irax_compiler.ops.core import UnsupportedOp, no_calls
from irax_compiler.ops.random_bits import RngBitGenerator

STATE = np.array([1 + (2 << 32), 3 + (4 << 32)], np.uint64)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", [(), (1,), (4, 3), (3, 4), (3, 5), (5, 3, 3), (0, 3)])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("algorithm", ["THREE_FRY", "PHILOX", "DEFAULT"])
def test_bits_are_those_of_xla(algorithm: str, dtype: str, shape: tuple[int, ...]) -> None:
    jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")
    from tests.differential.devices.test_xla import run_by_xla

    from irax_compiler import mlir

    module = mlir.new_module()
    function = mlir.new_function(
        module, "f", [mlir.tensor_type((2,), np.dtype(np.uint64))], public=True
    )
    op = RngBitGenerator(shape, np.dtype(dtype), algorithm)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        results = op.build(mlir.arguments(function))
    mlir.finish_function(function, results)
    assert jax
    for found, expected in zip(
        run_by_xla(module, "f", [STATE]), op.evaluate(no_calls, STATE), strict=True
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("state", [STATE.astype(np.uint32), STATE[:1]])
def test_other_states_are_refused(state: np.ndarray) -> None:
    with pytest.raises(UnsupportedOp, match=r"expected uint64\[2\]"):
        RngBitGenerator((3,), np.dtype(np.uint32), "THREE_FRY").evaluate(no_calls, state)

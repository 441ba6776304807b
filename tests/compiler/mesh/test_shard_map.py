"""irax.shard_map in modules: the evaluator, which runs each device, and `batch-shard-maps`."""

from pathlib import Path

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.lockstep import Deadlock, exchange, for_each_device
from irax_compiler.pipeline import run_pipeline

GOLDEN = Path(__file__).parents[2] / "golden"
X = np.arange(24, dtype=np.float32).reshape(8, 3)
W = np.array([1, 2, 3], np.float32)
CT = [np.array([1, 10, 100], np.float32), np.arange(8, dtype=np.float32)]


def module() -> mlir.Module:
    return mlir.parse_module((GOLDEN / "batch-shard-maps/shard_map.mlir").read_text())


@pytest.mark.parametrize("passes", ["vjp{func=main}", "vjp{func=main},batch-shard-maps"])
def test_values_and_cotangents(passes: str) -> None:
    program = module()
    run_pipeline(program, passes)
    sums, rows, numbers, ct_x, ct_w = Evaluator(program)("main.vjp", [X, W, *CT])
    product = X * W
    np.testing.assert_allclose(sums, product.sum(0))
    np.testing.assert_allclose(rows, product.sum(1))
    np.testing.assert_array_equal(numbers, [0, 1])
    ct = CT[0] + CT[1][:, None]
    np.testing.assert_allclose(ct_x, ct * W)
    np.testing.assert_allclose(ct_w, (ct * X).sum(0))


def test_batch_along_another_axis() -> None:
    program = module()
    run_pipeline(program, "batch{func=main size=2 in_axes=1,0}")
    sums, rows, _ = Evaluator(program)("main.batch", [np.stack([X, -X], 1), np.stack([W, 2 * W])])
    np.testing.assert_allclose(sums, [(X * W).sum(0), -2 * (X * W).sum(0)])
    np.testing.assert_allclose(rows, [(X * W).sum(1), -2 * (X * W).sum(1)])


def test_devices_that_call_other_collectives() -> None:
    def lonely(place):
        if place["i"]:
            return exchange("a sum", "i", (0, 1), 1, lambda values: values)
        return 0

    with pytest.raises(Deadlock, match="a sum"):
        for_each_device({"i": 2}, lonely)


def test_an_error_on_one_device() -> None:
    def failing(place):
        if place["i"] == 1:
            raise ZeroDivisionError("on device 1")
        return exchange("a sum", "i", (0, 1, 2), 1, lambda values: values)

    with pytest.raises(ZeroDivisionError, match="on device 1"):
        for_each_device({"i": 3}, failing)


def test_shards_that_do_not_fit() -> None:
    text = str(module()).replace("tensor<8x3xf32>", "tensor<9x3xf32>")
    with pytest.raises(NotImplementedError, match=r"parts of tensor<8x3xf32>; got tensor<9x3xf32>"):
        run_pipeline(mlir.parse_module(text), "batch-shard-maps")

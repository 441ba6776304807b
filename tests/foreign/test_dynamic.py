"""Programs with symbolic dimensions as JAX exports them, run by irax for several sizes.

JAX's results are beside them. `make_dynamic.py` makes the files; JAX is not needed here.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pytest

import irax
from irax_compiler import reading
from irax_compiler.ops.core import UnsupportedOp
from irax_tools import arrays, programs
from irax_tools.sources import Source

FOLDER = Path(__file__).parent / "dynamic"
NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir"))
SIZES = (2, 3, 7)


def cases(name):
    with np.load(FOLDER / f"{name}.npz") as there:
        for n in SIZES:
            yield tuple(
                [there[key] for i in range(9) if (key := f"{kind}{i}_{n}") in there]
                for kind in ("argument", "result")
            )


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def test_there_are_many():
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_results(name):
    run = irax.ir.load(FOLDER / f"{name}.mlir", device="reference")
    for given, expected in cases(name):
        for x, y in zip(as_tuple(run(*given)), expected, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-4)


def test_derivatives_and_maps():
    run = irax.ir.load(FOLDER / "softmax.mlir", device="reference")

    def total(x):
        return (run(x) ** 2).sum()

    for (x,), _ in cases("softmax"):
        expected = irax.grad(lambda x: (irax.nn.softmax(x) ** 2).sum())(x)
        np.testing.assert_allclose(irax.grad(total)(x), expected, rtol=1e-4, atol=1e-5)
        lanes = np.stack([x, 2 * x])
        found = irax.vmap(run)(lanes)
        np.testing.assert_allclose(found[1], irax.nn.softmax(2 * x), rtol=1e-4, atol=1e-5)


def test_sizes_that_are_asserted():
    rows = irax.ir.load(FOLDER / "rows.mlir", device="reference")
    with pytest.raises(ValueError, match=r"d0 - 2 >= 0 does not hold for d0 = 1"):
        rows(np.ones((1, 3), np.float32))
    same = irax.ir.load(FOLDER / "same.mlir", device="reference")
    with pytest.raises(ValueError, match=r"expected size d0 = 2 for argument 1.shape\[0\], got 3"):
        same(np.ones((2, 3), np.float32), np.ones((3, 3), np.float32))


def test_sizes_that_depend_on_elements():
    text = """
    func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
      %0 = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    with pytest.raises(UnsupportedOp, match=r"dynamic_reshape .* operand 1 does not follow from"):
        irax.ir.load(text)


def test_the_command():
    module = reading.read_module((FOLDER / "softmax.mlir").read_text())
    run = programs.program(Source(module, "main"), programs.REFERENCE)
    for given, expected in cases("softmax"):
        np.testing.assert_allclose(run(given)[0], expected[0], rtol=1e-4)
    with pytest.raises(ValueError, match="expected argument 0 to have 2 dimensions"):
        run([np.ones(3, np.float32)])
    x, y = arrays.parse_arguments("f32[batch,784], f32[2*batch + 1]")
    assert str(y.shape) == "(2*batch + 1,)"
    assert x.shape[0] * 2 + 1 == y.shape[0]
    with pytest.raises(click.UsageError, match="syntax error in symbolic shape"):
        arrays.parse_arguments("f32[batch +]")

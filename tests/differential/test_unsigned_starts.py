"""Starts of dynamic slices of unsigned integers: clamped as the numbers that they are."""

import numpy as np
import pytest

from irax_compiler.forms.reading import read_module
from irax_compiler.pipeline import run_pipeline, text_of
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

MODULE = """
func.func public @main(%x: tensor<5xi32>, %i: tensor<ui64>) -> tensor<1xi32> {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<5xi32>, tensor<ui64>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}
"""


@pytest.mark.parametrize("start", [3, 2**63, 2**64 - 2])
def test_large_starts_are_those_at_the_end(start):
    module = read_module(MODULE)
    run_pipeline(module, text_of(CPU.passes))
    device = cpu()
    run = device.load(CPU.compile(module), "main")
    operands = np.arange(5, dtype=np.int32), np.array(start, np.uint64)
    (found,) = run([device.put(x) for x in operands])
    assert found.numpy().tolist() == [min(start, 4)]

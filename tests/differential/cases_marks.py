"""Marks and barriers: the same values."""

from tests.differential.harness import Case, f64, i32

from irax_compiler.ops.barrier import Barrier
from irax_compiler.ops.marks import InMemory, Name, StopGradient

NOT_DIFFERENTIABLE = {"irax.stop_gradient"}

CASES = [
    Case("name", Name("hidden"), [f64(2, 3)], lambda x: x),
    Case("in-memory", InMemory("pinned_host", "device"), [f64(2, 3)], lambda x: x),
    Case("stop-gradient", StopGradient(), [i32(2, 3)], lambda x: x),
    Case("barrier", Barrier(), [f64(2, 3)], lambda x: x),
    Case("barrier-of-several", Barrier(), [f64(2, 3), i32(4), f64()], lambda *operands: operands),
]

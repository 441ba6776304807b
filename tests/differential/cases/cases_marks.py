"""Marks, and other ops that return their operands, against the operands."""

import numpy as np
from tests.differential.harness import Case, boolean, f64, fixed, i32, of

from irax_compiler.ops.barrier import Barrier
from irax_compiler.ops.control_flow.harmless import Harmless
from irax_compiler.ops.marks import InMemory, LostDerivative, Name, StopGradient, SumsAlong

NOT_DIFFERENTIABLE = {"irax.stop_gradient"}

TAKES = np.array([[False, True, False], [False, False, False]])


def of_takers(takes, x, rows, shared, numbers):
    """The operands of a lane that takes the branch, for lanes that do not."""
    x, rows, numbers = (np.array(a) for a in (x, rows, numbers))
    for i, row in enumerate(takes):
        for j, taken in enumerate(row):
            x[i, j] = x[i, j] if taken else x[0, 1]
            numbers[i, j] = numbers[i, j] if taken else numbers[0, 1]
        rows[i] = rows[i] if row.any() else rows[0]
    return x, rows, shared, numbers


CASES = [
    Case("name", Name("hidden"), [f64(2, 3)], lambda x: x),
    Case("in-memory", InMemory("pinned_host", "device"), [f64(2, 3)], lambda x: x),
    Case("sums-along", SumsAlong(("x",), (), (), ("y",)), [f64(2, 3)], lambda x: x),
    Case("stop-gradient", StopGradient(), [i32(2, 3)], lambda x: x),
    Case("lost-derivative", LostDerivative(), [f64(2, 3)], np.zeros_like),
    Case("barrier", Barrier(), [f64(2, 3)], lambda x: x),
    Case("barrier-of-several", Barrier(), [f64(2, 3), i32(4), f64()], lambda *operands: operands),
    Case(
        "harmless",
        Harmless((1, 0, 1), substitutes=False),
        [boolean(3), of("f4", 3, 2), of("f4", 2), i32(3)],
        lambda takes, *operands: operands,
    ),
    Case(
        "harmless-where-taken",
        Harmless((2, 1, 0), substitutes=False),
        [fixed(np.ones((2, 3), np.bool_)), f64(2, 3, 2), f64(2, 4), f64(3)],
        lambda takes, *operands: operands,
    ),
    Case(
        "harmless-substitutes",
        Harmless((2, 1, 0, 2), substitutes=True),
        [fixed(TAKES), of("f4", 2, 3, 2), of("f4", 2), of("f4", 3), i32(2, 3)],
        of_takers,
    ),
]

"""Random bits: those that XLA gave (jaxlib 0.10.2) for the state of key 1, 2 and counter 3, 4."""

from functools import partial

import numpy as np
from tests.differential.harness import Case, fixed

from irax_compiler.ops.core import no_calls
from irax_compiler.ops.random_bits import RngBitGenerator

NOT_DIFFERENTIABLE = {"stablehlo.rng_bit_generator"}

KEY, COUNTER = 1 + (2 << 32), 3 + (4 << 32)
STATE = fixed(np.array([KEY, COUNTER], np.uint64))
XLA = {
    ("THREE_FRY", "u1"): (3, [236, 142, 168, 94, 67]),
    ("THREE_FRY", "u2"): (3, [13292, 6542, 43176, 64094, 26179]),
    ("THREE_FRY", "u4"): (3, [1576285164, 2249660814, 740599976, 2425682526, 2436392515]),
    ("THREE_FRY", "u8"): (
        5,
        [9662219624799024108, 10418227120389269672, 6433701140276733507, 9707638358252452699,
         16980371968582007637],
    ),
    ("PHILOX", "u1"): (2, [100, 215, 190, 1, 123]),
    ("PHILOX", "u2"): (2, [59492, 3031, 51646, 37377, 18555]),
    ("PHILOX", "u4"): (2, [512747620, 1298009047, 1267190206, 761827841, 1383286907]),
    ("PHILOX", "u8"): (
        3,
        [5574906407289874532, 3272025663544478142, 7043725020835825787, 9254853183523022196,
         14929923424383677111],
    ),
}  # fmt: skip


def published(algorithm: str, dtype: str) -> Case:
    used, bits = XLA[algorithm, dtype]
    after = np.array([KEY, COUNTER + used], np.uint64)
    op = RngBitGenerator((5,), np.dtype(dtype), algorithm)

    def reference(state):
        if int(state[0]) != KEY or int(state[1]) != COUNTER:
            raise AssertionError(state)
        return after, np.array(bits, dtype)

    return Case(f"{algorithm}-{dtype}".lower(), op, [STATE], reference)


def shaped(algorithm: str, shape: tuple[int, ...], dtype: str) -> Case:
    """Bits of several dimensions, which test_random_bits.py compares with XLA's."""
    op = RngBitGenerator(shape, np.dtype(dtype), algorithm)
    return Case(f"{algorithm}-{shape}-{dtype}".lower(), op, [STATE], partial(op.evaluate, no_calls))


CASES = [
    *(published(*key) for key in XLA),
    shaped("THREE_FRY", (4, 3), "u4"),
    shaped("THREE_FRY", (3, 5), "u4"),
    shaped("THREE_FRY", (3, 3), "u8"),
    shaped("PHILOX", (4, 3), "u4"),
]

"""Loops that end after some number of steps at the latest, `i < n and ...`, as scans, by which they
have reverse mode. Steps after the end are skipped.

A loop of many steps is a scan of segments, which are scans: reverse mode keeps what is carried to
each segment, and computes the steps in it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from irax_compiler.mlir import Value
from irax_compiler.ops import comparison
from irax_compiler.ops.control_flow.checkpoint import Checkpoint
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.loop_builders import choose
from irax_compiler.ops.structured import call_function
from irax_compiler.ops.transformation import Transformation

FEW = 16
"""The steps of which all residuals are kept."""
MOST = 1 << 24
"""The steps from which a bound is as good as none."""


def as_scan(
    transform: Transformation,
    condition: str,
    body: str,
    captured: Sequence[Value],
    carry: Sequence[Value],
    most: int,
) -> Scan:
    """Return the scan of captured values, the first carried values, and the carried values, whose
    steps are those of a loop of at most so many. `condition` and `body` are functions of captured
    and carried values.
    """
    functions, count = transform.functions, len(captured)
    consts = count + len(carry)
    types = [x.type for x in (*captured, *carry, *carry)]

    def goes_on(given: Sequence[Value]) -> Value:
        return call_function(functions, condition, [*given[:count], *given[consts:]])[0]

    def step(*given: Value) -> Sequence[Value]:
        running, state = goes_on(given), given[consts:]

        def taken() -> Sequence[Value]:
            # Mapped, it is computed after the end, too: there from the start, where it is finite.
            pairs = zip(state, given[count:consts], strict=True)
            known = [comparison.select(running, x, start) for x, start in pairs]
            return call_function(functions, body, [*given[:count], *known])

        return choose("stablehlo.if", running, [taken, lambda: state])

    name = transform.build_function("while.step", types, step)
    if most <= FEW:
        return Scan(name, most, False, consts, len(carry))
    segments = isqrt(most - 1) + 1
    inner = Scan(name, -(-most // segments), False, consts, len(carry))
    name = transform.build_function("while.segment", types, lambda *given: inner.build(given))

    def segment(*given: Value) -> Sequence[Value]:
        again = Checkpoint(name, "nothing_saveable", (), (), ())
        branches = [lambda: again.build(given), lambda: given[consts:]]
        return choose("stablehlo.if", goes_on(given), branches)

    name_of_segment = transform.build_function("while.segments", types, segment)
    transform.refresh()
    return Scan(name_of_segment, segments, False, consts, len(carry))

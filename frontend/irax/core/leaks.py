"""The option `check_tracer_leaks`: finds tracers that outlive their trace."""

from __future__ import annotations

import gc
from typing import Any

from irax import errors
from irax_compiler import mlir


def check(trace: Any, tracers: type) -> None:
    """Raises UnexpectedTracerError if traced arrays are left of a trace that has ended."""
    gc.collect()
    left = [x for x in gc.get_objects() if type(x) is tracers and x.home is trace]
    if left:
        raise errors.UnexpectedTracerError(
            f"{len(left)} traced array{'s' * (len(left) > 1)}, such as {left[0]!r}, outlived the "
            f"function traced by {trace.kind} at {mlir.location_text(trace.location)}: a global, "
            "an attribute, a list or a closure holds it. Return it from the function instead."
        )

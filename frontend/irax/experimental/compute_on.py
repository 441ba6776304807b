"""Functions that are to be computed elsewhere than the rest of a program, such as on the host."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from irax.core.shardings.memory_spaces import Space
from irax.core.tracebacks import api_boundary
from irax.core.wrapping import wraps
from irax.execution.transfers import device_put

_TYPES = ("device_host", "device", "tpu_sparsecore")


@api_boundary
def compute_on(
    f: Callable[..., Any] | None = None,
    *,
    compute_type: str,
    out_memory_spaces: Any = Space.Device,
    compiler_options: Any = None,
) -> Any:
    """Return a function whose results are in a space of memory. It is computed where its arguments
    are, whatever the type: a program runs whole on one kind of device.

    Args:
        f: the function; None for a decorator.
        compute_type: "device_host", "device", "tpu_sparsecore", or "gpu_stream:" and a number.
        out_memory_spaces: the space of the results, or a pytree of them.
        compiler_options: of no effect.

    Raises:
        ValueError: there is no such type.

    >>> double = compute_on(lambda x: 2 * x, compute_type="device_host")
    >>> double(1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    if compute_type not in _TYPES and not re.fullmatch(r"gpu_stream:\d+", compute_type):
        raise ValueError(
            f"compute_on: compute_type must be one of {_TYPES} or 'gpu_stream:1', got "
            f"{compute_type!r}"
        )
    if f is None:
        return partial(compute_on, compute_type=compute_type, out_memory_spaces=out_memory_spaces)
    function = f

    @wraps(function)
    def there(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return found if out_memory_spaces is Space.Device else device_put(found, out_memory_spaces)

    return there

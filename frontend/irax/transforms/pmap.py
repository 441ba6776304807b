"""pmap: maps a function over an axis as a program of one function, and several of its calls.

In JAX each slice has a device of its own. irax computes all slices on one device, as `vmap` does,
with the same results: collectives on the mapped axis are operations along it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

from irax.core.tracebacks import api_boundary
from irax.execution.jit import JitFunction, jit
from irax.execution.jit_parameters import Static, with_static
from irax.transforms.vmap import over_lanes
from irax_runtime.device import Device

P = ParamSpec("P")
R = TypeVar("R")


@api_boundary
def pmap(
    fun: Callable[P, R],
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> JitFunction[P, R]:
    """Return a compiled function that applies `fun` to each slice of its arguments along an axis.

    All slices are computed on one device.

    Args:
        fun: a function of pytrees of arrays.
        axis_name: a name for the mapped axis, by which collectives such as `irax.lax.psum` refer
            to it.
        in_axes: the axis of each argument that is mapped: an int, None for an argument that all
            slices share, or a tuple (or a pytree that is a prefix of the arguments) of these.
            Keyword arguments are mapped along axis 0.
        out_axes: the mapped axis in each result; None for a result that is the same in all slices.
        static_broadcasted_argnums: positional arguments that are Python values, hashable, and the
            same for all slices.
        devices: the devices that the slices are meant for, one for each; the first one is used.
        backend: the platform to run on: its first device.
        axis_size: the size of the mapped axis; needed only where no argument is mapped.
        donate_argnums: positional arguments whose memory results may take.

    Returns:
        A function with the same arguments and results, each with the mapped axis; it has `lower`
        and `trace` as `jit`'s have.

    Raises:
        TypeError: `fun` is no function.
        ValueError: on a call, where the mapped axes disagree in size, do not exist, or are not as
            long as there are `devices`.

    >>> pmap(lambda x: x / irax.lax.psum(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    if not callable(fun):
        raise TypeError(f"pmap: expected a function, got {fun!r} of type {type(fun).__name__}")
    one = isinstance(static_broadcasted_argnums, int)
    static = (static_broadcasted_argnums,) if one else tuple(static_broadcasted_argnums)
    if devices is not None:
        if not devices:
            raise ValueError("pmap: devices is empty; expected a device for each slice, or None")
        if axis_size not in (None, len(devices)):
            raise ValueError(
                f"pmap: axis_size is {axis_size}, but there are {len(devices)} devices"
            )
        axis_size = len(devices)

    @functools.wraps(fun, updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        fixed = {n % len(args) for n in static}
        own = [n for n in range(len(args)) if n not in fixed]
        axes = in_axes
        if isinstance(axes, tuple | list) and len(axes) == len(args):
            if any(axes[n] is not None for n in fixed):
                raise ValueError(
                    f"pmap: in_axes of static_broadcasted_argnums must be None, got {in_axes!r}"
                )
            axes = tuple(axes[n] for n in own)
        of_slice = with_static(fun, [Static(n, args[n]) for n in sorted(fixed)])
        lanes = over_lanes("pmap", of_slice, axes, out_axes, axis_name, axis_size)
        return lanes(*(args[n] for n in own), **kwargs)

    device = devices[0] if devices else None
    return jit(
        mapped, static_argnums=static, donate_argnums=donate_argnums, device=device, backend=backend
    )

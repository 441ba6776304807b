"""jax.ffi: C functions that are handlers of XLA's foreign function interface.

irax's own interface (`irax.ffi`) has another signature for them; libraries for JAX have XLA's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import irax
from irax import ffi
from irax.compat import xla_ffi
from irax.experimental import io_callback
from irax.ffi import pycapsule as pycapsule

_handlers: dict[str, int] = {}
"""The addresses of handlers by their names."""
_others: set[str] = set()
"""Names of handlers of other platforms."""


def register_ffi_target(
    name: str, fn: Any, platform: str = "cpu", api_version: int = 1, **kwargs: Any
) -> None:
    """Register a handler under a name, for `ffi_call`.

    Args:
        name: the name.
        fn: a capsule or a function of ctypes; or a dict of handlers by stages, of "execute" alone.
        platform: the platform that it is for; handlers of others than "cpu" are never called.
        api_version: 1, that of typed handlers.
        kwargs: accepted.

    Raises:
        NotImplementedError: a handler has other stages, or is of the older interface.
    """
    if platform.lower() not in ("cpu", "host"):
        _others.add(name)
        return
    if isinstance(fn, Mapping):
        if set(fn) != {"execute"}:
            raise NotImplementedError(
                f"register_ffi_target: {name!r} has the stages {', '.join(sorted(fn))}; irax calls "
                "handlers of the stage 'execute' alone"
            )
        fn = fn["execute"]
    if api_version != 1:
        raise NotImplementedError(
            f"register_ffi_target: {name!r} has api_version={api_version}, of XLA's older custom "
            "calls; expected 1, that of handlers that take an XLA_FFI_CallFrame"
        )
    _handlers[name] = ffi.address_of(fn)


def ffi_call(
    target_name: str,
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Sequence[Any] | None = None,
    output_layouts: Any = None,
    input_output_aliases: dict[int, int] | None = None,
    custom_call_api_version: int = 4,
    legacy_backend_config: str | None = None,
) -> Callable[..., Any]:
    """Return a function that calls a handler on arrays, with attributes by name.

    Args:
        target_name: the name that the handler is registered under.
        result_shape_dtypes: the shape and dtype of the result, or of each of several.
        has_side_effect: True if it must be called as often as the program says, in order.
        vmap_method: what `vmap` does, as of `pure_callback`.
        input_layouts: accepted: operands are in C's order.
        output_layouts: accepted: results are in C's order.
        input_output_aliases: accepted: results have memory of their own.
        custom_call_api_version: 4.
        legacy_backend_config: None.

    Raises:
        NotImplementedError: no handler of this name is registered for the processor.
    """
    what = f"ffi_call of {target_name!r}"
    if custom_call_api_version != 4 or legacy_backend_config is not None:
        raise NotImplementedError(f"{what}: XLA's older custom calls cannot be called")
    address = _handlers.get(target_name)
    if address is None:
        why = "is for another platform" if target_name in _others else "is not registered"
        raise NotImplementedError(f"{what}: the handler {why}: irax calls those for 'cpu'")
    has_several = isinstance(result_shape_dtypes, list | tuple)
    listed = list(result_shape_dtypes) if has_several else [result_shape_dtypes]

    def call(*args: Any, **attributes: Any) -> Any:
        structs = [irax.ShapeDtypeStruct(x.shape, x.dtype) for x in listed]

        def host(*operands: Any) -> list[np.ndarray[Any, Any]]:
            arrays = [np.asarray(x) for x in operands]
            mapped = () if not args else arrays[0].shape[: arrays[0].ndim - ranks[0]]
            results = [((*mapped, *x.shape), x.dtype) for x in structs]
            return xla_ffi.run(what, address, arrays, results, attributes)

        ranks = [np.ndim(x) for x in args]
        if has_side_effect:
            found = io_callback(host, structs, *args, ordered=True)
        else:
            found = irax.pure_callback(host, structs, *args, vmap_method=vmap_method)
        return found if has_several else found[0]

    return call


def __getattr__(name: str) -> Any:
    return getattr(ffi, name)

"""The transformation jit, which compiles functions, and its options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, Unpack, overload

from irax.core.array import Array, ConcreteArray
from irax.core.settings.hints import Inline
from irax.core.settings.xla_options import check_compiler_options
from irax.core.shardings.layouts import sharding_of_format
from irax.core.shardings.placement import device_of_shardings
from irax.core.tracebacks import api_boundary
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.execution.backend import check_device
from irax.execution.divided_functions import DividedFunction, PlacedFunction
from irax.execution.jit_parameters import parameters_of
from irax.execution.jitted import PjitFunction
from irax.execution.library_stages import stages_by
from irax.execution.shardings.jit_shardings import check_constrained, name_several_devices
from irax_runtime.device import Device

P = ParamSpec("P")
R = TypeVar("R")


class JitOptions(TypedDict, total=False):
    """The keywords of `jit`."""

    in_shardings: Any
    out_shardings: Any
    static_argnums: int | Sequence[int] | None
    static_argnames: str | Iterable[str] | None
    donate_argnums: int | Sequence[int] | None
    donate_argnames: str | Iterable[str] | None
    keep_unused: bool
    inline: bool | Inline
    device: Device | None
    backend: str | None
    compiler_options: dict[str, Any] | None
    compile: Literal["at_once", "background"] | None
    dynamic_shapes: Any
    cache_key: str | None


@overload
def jit(fun: Callable[P, R], **options: Unpack[JitOptions]) -> PjitFunction[P, R]: ...


@overload
def jit(**options: Unpack[JitOptions]) -> Callable[[Callable[P, R]], PjitFunction[P, R]]: ...


_NOT_GIVEN: Any = object()
"""Tells `jit()`, a decorator, from `jit(None)`, a mistake."""


@api_boundary
def jit(
    fun: Callable[..., Any] = _NOT_GIVEN,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    inline: bool | Inline = False,
    device: Device | None = None,
    backend: str | None = None,
    compiler_options: dict[str, Any] | None = None,
    compile: Literal["at_once", "background"] | None = None,
    dynamic_shapes: Any = None,
    cache_key: str | None = None,
) -> Any:
    """Compiles a function when it is called, once for each signature of its arguments.

    Args:
        fun: a pure function of pytrees of arrays. Without it, a decorator is returned.
        in_shardings: for each argument by position, a sharding, a `PartitionSpec` of the mesh of
            the context, or None: a pytree that is a prefix of the arguments. Shardings of one
            device are the same as `device`.
        out_shardings: likewise for results; no arguments are copied for it.
        static_argnums: positional arguments that are Python values and not arrays: hashable; each
            value is a signature of its own.
        static_argnames: the same, by name.
        donate_argnums: positional arguments that the caller has no more use for: results may take
            their memory, and they are deleted. On IREE's GPUs it is of no effect.
        donate_argnames: the same, by name.
        keep_unused: accepted; unused arguments are always kept.
        inline: accepted; calls are inlined when the outermost function is compiled.
        device: the device to run on, which arguments that were put elsewhere are copied to;
            otherwise it is the one that arguments were put on with `device_put`, or else the
            default device.
        backend: the same, as a platform: its first device. Only one of the two.
        compiler_options: XLA's options, by name; they are of no effect.
        compile: "at_once", or in the "background": then the evaluator, which is NumPy, runs calls
            until another thread has compiled the program. The last bits of results may differ
            between the two. By default it is the option `compile` (`IRAX_COMPILE`).
        dynamic_shapes: the symbolic sizes of arguments, for which the function is traced once: a
            dict of shapes by the names of parameters, each as `export.symbolic_shape` takes it
            ("batch, ..."), or a tuple such as ("batch", None), or a pytree of these that is a
            prefix of the argument. "auto" finds the sizes that differ between calls, after two.
            Where the device's compiler can, one program runs for all sizes; otherwise one is
            compiled for each.
        cache_key: a text such as "v1", by which a process finds the program that an earlier one
            traced, and runs it without a trace. It is taken on trust: give another text whenever
            the function, or what it reads beside its arguments, changes. The function's name, the
            arguments' types, static arguments (by their text), options and versions are compared.

    Returns:
        A function with the same arguments and results.

    Raises:
        TypeError: `fun` is no function, or a generator's; on a call, for arguments or results that
            are not arrays.
        ValueError: for parameters that `fun` has not, or that are to be static and donated, and for
            shardings that leave a dimension open; on a call, for a static argument that is not
            hashable, for arguments that were put on several devices, or on another one than
            `out_shardings` has, and for arguments by keyword where there are `in_shardings`.
        RuntimeError: XLA has no such option as one of `compiler_options`; on a call: there is no
            such platform as `backend` here.

    >>> jit(lambda x: x * 2.0)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    if fun is _NOT_GIVEN:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            device=device,
            backend=backend,
            compiler_options=compiler_options,
            compile=compile,
            dynamic_shapes=dynamic_shapes,
            cache_key=cache_key,
        )
    check_compiler_options(compiler_options)
    if compile not in (None, "at_once", "background"):
        raise ValueError(f"jit: compile: expected 'at_once', 'background' or None, got {compile!r}")
    if not isinstance(cache_key, str | None):
        raise TypeError(f"jit: cache_key: expected a text or None, got {cache_key!r}")
    if not callable(fun) or isinstance(fun, staticmethod):
        raise TypeError(f"jit: expected a function, got {fun!r} of type {type(fun).__name__}")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(
            f"jit: {name_of(fun)} is a generator function, of which nothing runs before its result "
            "is iterated: return a list of what it yields"
        )
    if device is not None and backend is not None:
        raise ValueError("jit: device and backend say the same: give one of them")
    in_shardings, out_shardings = array_trees.tree_map(
        functools.partial(sharding_of_format, "jit"), (in_shardings, out_shardings)
    )
    check_constrained("jit: in_shardings", in_shardings)
    check_constrained("jit: out_shardings", out_shardings)
    asked = device or backend
    is_divided = name_several_devices(in_shardings, out_shardings)
    placed = None if is_divided else device_of_shardings("jit", in_shardings, out_shardings)
    if placed is not None or is_divided:
        if asked is not None:
            raise ValueError("jit: shardings and device or backend say the same: give one of them")
        asked = placed
    if asked is not None:
        check_device(asked, "jit: device")
    static = parameters_of(fun, static_argnums, static_argnames, "static")
    donated = parameters_of(fun, donate_argnums, donate_argnames, "donate")
    for both in (set(static[0]) & set(donated[0]), static[1] & donated[1]):
        if both:
            raise ValueError(
                f"jit: parameters of {name_of(fun)} are to be static and donated: "
                f"{', '.join(map(str, sorted(both)))}; static ones have no memory to donate"
            )
    if is_divided:
        if dynamic_shapes is not None:
            raise ValueError("jit: dynamic_shapes: not of functions with shardings")
        return DividedFunction(fun, static, donated, in_shardings, out_shardings)
    moves = asked is not None and (placed is None or in_shardings is not None)
    options = (static, donated, asked, compile, dynamic_shapes, moves, cache_key)
    if in_shardings is not None or out_shardings is not None:
        return PlacedFunction(fun, (in_shardings, out_shardings), *options)
    return PjitFunction(fun, *options)


stages_by(jit)


def block_until_ready(x: Any) -> Any:
    """Waits until every array in a pytree has been computed; returns the pytree.

    Args:
        x: a pytree of arrays; other leaves are ready.

    >>> irax.block_until_ready({"x": irax.numpy.arange(3)})
    {'x': Array([0, 1, 2], dtype=int32)}
    """
    if type(x) is ConcreteArray:  # the usual result needs no search for arrays
        return x.block_until_ready()
    for leaf in array_trees.tree_leaves(x):
        if isinstance(leaf, Array):
            leaf.block_until_ready()
    return x

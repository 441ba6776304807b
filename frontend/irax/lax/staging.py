"""Barriers, composites, and functions chosen by platform."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, as_array
from irax.core.callables import check_callable
from irax.core.closures import used_by
from irax.core.dispatch import bind, staged
from irax.core.module_builder import ModuleBuilder
from irax.core.refs.refs import Ref
from irax.core.traced_call import TracedCall
from irax.core.trees import array_trees
from irax.core.trees.flattening import abstract_inputs
from irax.core.wrapping import wraps
from irax.execution import backend
from irax.lax.arguments import array_of
from irax.typing import ArrayLike
from irax_compiler import mlir
from irax_compiler.ops import barrier
from irax_compiler.ops.composite import Composite


def optimization_barrier(operand: Any, /) -> Any:
    """Return a pytree of arrays as it is, as a barrier that the compiler moves nothing across.

    Args:
        operand: a pytree of arrays and of mutable ones, which stay what they are.

    Raises:
        TypeError: a leaf that is not an array.

    >>> irax.lax.optimization_barrier(irax.numpy.ones(2))
    Array([1., 1.], dtype=float32)
    """
    leaves, tree = array_trees.tree_flatten(operand)
    held = [x.value if isinstance(x, Ref) else x for x in leaves]
    arrays = [as_array(x, "lax.optimization_barrier") for x in held]
    if not arrays:
        return operand
    found = bind(barrier.barrier, *arrays)
    results = [r.with_weak_type(x.weak_type) for r, x in zip(found, arrays, strict=True)]
    for n, x in enumerate(leaves):
        if isinstance(x, Ref):
            results[n] = x
    return array_trees.tree_unflatten(tree, results)


def stage(x: ArrayLike, /) -> Array:
    """Return a number or array as an array.

    Args:
        x: an array, or a number.

    Raises:
        TypeError: not an array or a number.

    >>> irax.lax.stage(2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return array_of("lax.stage", x)


@tree_util.register_static
@dataclass(frozen=True)
class Token:
    """A token, by which JAX orders side effects. Those of irax always have the program's order.

    It is a pytree without arrays, which functions take, return and carry.
    """

    def block_until_ready(self) -> None:
        """Return at once: a token waits for nothing."""


def create_token(_: Any = None) -> Token:
    """Return a token that waits for nothing.

    Args:
        _: of no effect.

    >>> irax.lax.create_token()
    Token()
    """
    return Token()


def after_all(*operands: Token) -> Token:
    """Return a token that waits for all of these tokens.

    Args:
        operands: tokens.

    >>> irax.lax.after_all(irax.lax.create_token())
    Token()
    """
    for token in operands:
        if not isinstance(token, Token):
            raise TypeError(f"lax.after_all: expected tokens of lax.create_token, got {token!r}")
    return Token()


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Do nothing. JAX's function has its operands computed though no result needs them; irax drops
    them.

    Args:
        val: a pytree of arrays.
        prevent_mlir_dce: of no effect.

    >>> irax.lax.dce_sink(jnp.arange(3))
    """


# ---- composites ----------------------------------------------------------------------------------


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """Make a function one operation of the program, which other tools may know by its name.

    Args:
        decomposition: the function, of pytrees of arrays. Keyword arguments are numbers, strings,
            dtypes and arrays of NumPy's, which become attributes of the operation, or None.
        name: the operation's name, such as "my.gelu"; those that begin with "irax." are taken.
        version: of the operation.

    Raises:
        TypeError: `decomposition` is not a function; on a call, a keyword argument that cannot be
            an attribute.
        ValueError: the name is taken.

    >>> double = irax.lax.composite(lambda x: x + x, "my.double")
    >>> double(irax.numpy.ones(2))
    Array([2., 2.], dtype=float32)
    """
    what = "lax.composite"
    check_callable(decomposition, what)
    if not isinstance(name, str) or name.startswith("irax."):
        raise ValueError(
            f"{what}: name must be a string that does not begin with 'irax.', got {name!r}"
        )

    @wraps(decomposition)
    def composed(*args: Any, **kwargs: Any) -> Any:
        given = {
            key: _attribute(what, key, value) for key, value in kwargs.items() if value is not None
        }

        def write(_: ModuleBuilder) -> Any:
            function = functools.partial(decomposition, **kwargs)
            traced_call = TracedCall(what, function, args, inputs=abstract_inputs)
            traced = traced_call.traced
            types = tuple(mlir.tensor_type(r.shape, r.dtype) for r in traced.results)
            attributes = {
                "name": mlir.string(name),
                "composite_attributes": mlir.dictionary(given),
                "version": mlir.parse_attribute(f"{int(version)} : i32"),
            }
            return traced_call.bind(Composite(traced.name, types, tuple(attributes.items())))

        def run() -> Any:
            return array_trees.tree_map(as_array, decomposition(*args, **kwargs))

        return staged(run, write, used_by(decomposition, args=args))

    return composed


def _attribute(what: str, name: str, value: Any) -> mlir.Attribute:
    match value:
        case bool() | np.bool():
            return mlir.parse_attribute("true" if value else "false")
        case int() | np.integer():
            return mlir.parse_attribute(f"{value} : i64")
        case float() | np.floating():
            return mlir.parse_attribute(f"{float(value):e} : f64")
        case str():
            return mlir.string(value)
        case np.dtype():
            return mlir.type_attribute(mlir.element_type(value))
        case np.ndarray():
            return mlir.dense(np.asarray(value, dtypes.canonicalize_dtype(value.dtype)))
    raise TypeError(
        f"{what}: {name} must be a number or a string, a dtype, an array of NumPy's or None, got "
        f"{value!r}"
    )


# ---- platforms -----------------------------------------------------------------------------------


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """Call the function for the platform that programs run on.

    The platform is that of the default device, when this is called or traced.

    Args:
        args: pytrees of arrays.
        default: the function for platforms that none is given for.
        per_platform: functions by platform: `cpu=`, `cuda=`, `rocm=`, `tpu=`.

    Raises:
        NotImplementedError: there is no function for the platform.

    >>> irax.lax.platform_dependent(1.0, tpu=lambda x: -x, default=lambda x: x + 1)
    2.0
    """
    platform = backend.default_backend().rpartition(":")[2]
    function = per_platform.get(platform, default)
    if function is None:
        known = ", ".join(per_platform)
        raise NotImplementedError(
            f"lax.platform_dependent: no function for the platform {platform!r}, and no default; "
            f"there are those for {known or 'none'}"
        )
    return function(*args)

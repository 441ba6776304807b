"""checkpoint: a function that reverse mode computes again, instead of keeping what it needs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from irax import array_trees, autodiff
from irax.array import as_array, aval_of
from irax.flat import FlatFunction, argument_names, bind_others, known_inputs, name_of
from irax.tracebacks import api_boundary
from irax.tracing import bind, current_trace, trace_function
from irax_compiler.ops import marks
from irax_compiler.ops.control_flow.checkpoint import POLICIES, Checkpoint


@dataclass(frozen=True)
class Policy:
    """What may be kept of a forward pass: one of the policies of `checkpoint_policies`."""

    name: str
    names: tuple[str, ...] = ()


class checkpoint_policies:
    """The policies of `checkpoint`."""

    everything_saveable = Policy("everything_saveable")
    """All residuals are kept, as without a checkpoint."""
    nothing_saveable = Policy("nothing_saveable")
    """All is computed again: the default."""
    dots_saveable = checkpoint_dots = Policy("dots_saveable")
    """Products of matrices are kept."""
    dots_with_no_batch_dims_saveable = Policy("dots_with_no_batch_dims_saveable")
    """Products of matrices are kept, but batches of them are not."""
    checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable

    @staticmethod
    def save_only_these_names(*names: str) -> Policy:
        """What has one of these names (see `checkpoint_name`) is kept."""
        return Policy("save_only_these_names", names)

    @staticmethod
    def save_anything_except_these_names(*names: str) -> Policy:
        """All is kept, but for what has one of these names (see `checkpoint_name`)."""
        return Policy("save_anything_except_these_names", names)


@api_boundary
def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    concrete: bool = False,
    prevent_cse: bool | Sequence[bool] = True,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    policy: Policy | None = None,
) -> Callable[..., Any]:
    """The same function, which reverse mode computes again rather than keep its residuals.

    Args:
        fun: a function of pytrees of arrays. Without it, a decorator is returned.
        concrete: accepted for JAX's sake, without effect: values that Python asks for are known
            wherever they can be.
        prevent_cse: accepted for JAX's sake, without effect: what is computed again always stays
            apart from the forward pass.
        static_argnums: positions of arguments that are not arrays.
        static_argnames: names of arguments that are not arrays.
        policy: one of `checkpoint_policies`: what is kept all the same.

    Raises:
        TypeError: `policy` is not one of these.

    >>> f = irax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
    >>> irax.grad(f)(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    if fun is None:
        return functools.partial(
            checkpoint,
            concrete=concrete,
            prevent_cse=prevent_cse,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            policy=policy,
        )
    chosen = policy or checkpoint_policies.nothing_saveable
    if not isinstance(chosen, Policy) or chosen.name not in POLICIES:
        raise TypeError(
            f"checkpoint: policy must be one of irax.checkpoint_policies, got {policy!r}"
        )
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    static_names = (
        (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    )
    if static_names:
        parameters = list(inspect.signature(fun).parameters)
        static += tuple(parameters.index(name) for name in static_names if name in parameters)

    @api_boundary
    @functools.wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is None:
            return fun(*args, **kwargs)
        count = len(args)
        fixed = {n % count for n in static if -count <= n < count}
        dynamic = [i for i in range(count) if i not in fixed]
        fixed_names = {name: kwargs.pop(name) for name in static_names if name in kwargs}
        function = bind_others(functools.partial(fun, **fixed_names), args, {}, dynamic)
        others = tuple(args[i] for i in dynamic)
        leaves, in_tree = array_trees.tree_flatten((others, kwargs))
        names = argument_names(others, kwargs)
        arrays = [as_array(x, f"checkpoint: {n}") for x, n in zip(leaves, names, strict=True)]
        flat = FlatFunction(function, in_tree)
        traced = trace_function(flat, known_inputs(arrays, names), "checkpoint", name_of(fun))
        op = Checkpoint(traced.name, chosen.name, chosen.names)
        found = bind(op, *arrays, *traced.captures)
        results = [r.with_weak_type(w) for r, w in zip(found, traced.weak, strict=True)]
        return array_trees.tree_unflatten(flat.out_tree, results)

    return checkpointed


remat = checkpoint


def print_saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Prints the types of what reverse mode keeps of a function's forward pass.

    >>> irax.ad_checkpoint.print_saved_residuals(lambda x: jnp.sin(jnp.sin(x)), jnp.ones(3))
    float32[3]
    float32[3]
    """
    from irax.jit import eval_shape

    def residuals(*args: Any) -> list[Any]:
        pullback = autodiff.vjp(functools.partial(fun, **kwargs), *args)[1]
        return array_trees.tree_leaves(pullback)

    for struct in eval_shape(residuals, *args):
        print(aval_of(struct))


def checkpoint_name(x: Any, name: str) -> Any:
    """The same values (a pytree of arrays), with a name by which policies know them.

    >>> irax.ad_checkpoint.checkpoint_name(jnp.ones(2), "hidden")
    Array([1., 1.], dtype=float32)
    """
    if current_trace() is None:
        return x

    def named(leaf: Any) -> Any:
        array = as_array(leaf, "checkpoint_name")
        return bind(marks.Name(name), array, weak_type=array.weak_type)

    return array_trees.tree_map(named, x)

"""checkpoint: functions that reverse mode computes again, instead of keeping their residuals."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax.core import array_trees, ref_functions, refs
from irax.core.array import as_array, aval_of
from irax.core.avals import ShapedArray
from irax.core.dispatch import bind, staged
from irax.core.flattening import bind_others, name_of
from irax.core.module_builder import ModuleBuilder
from irax.core.tracebacks import api_boundary
from irax.core.traced_call import TracedCall
from irax.core.wrapping import wraps
from irax.transforms import autodiff
from irax_compiler import mlir
from irax_compiler.ops import marks
from irax_compiler.ops.control_flow import policies
from irax_compiler.ops.control_flow.checkpoint import Checkpoint


@dataclass(frozen=True)
class Policy:
    """A checkpoint policy: chooses the results of a forward pass that may be kept. One of
    `checkpoint_policies`.

    Like any policy it is a function of a primitive, the types of its operands and its parameters,
    which says whether its results are kept.
    """

    name: str
    names: tuple[str, ...] = ()

    def __call__(self, primitive: Any, *avals: Any, **parameters: Any) -> bool:
        return policies.POLICIES[self.name](primitive, parameters, self.names)


class _FunctionPolicy:
    """A policy that is any function, as the compiler calls it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name, self.names = f"{name_of(function)}#{id(self)}", ()
        policies.FUNCTIONS[self.name] = self

    def __call__(self, primitive: Any, types: Sequence[Any], parameters: dict[str, Any]) -> bool:
        avals = [ShapedArray(tuple(t.shape), mlir.dtype_of_type(t)) for t in types]
        kept = self.function(primitive, *avals, **parameters)
        if not isinstance(kept, bool | np.bool):
            raise TypeError(
                f"checkpoint: policy {name_of(self.function)} must return a bool, got {kept!r} for "
                f"{primitive}"
            )
        return bool(kept)


class checkpoint_policies:
    """The policies of `checkpoint`. JAX's policies that offload residuals to another memory keep
    them where they are.
    """

    everything_saveable: Policy = Policy("everything_saveable")
    """All residuals are kept, as without a checkpoint."""
    nothing_saveable: Policy = Policy("nothing_saveable")
    """No residual is kept: all are computed again. The default."""
    dots_saveable: Policy = Policy("dots_saveable")
    """Products of matrices are kept, and convolutions."""
    checkpoint_dots: Policy = dots_saveable
    dots_with_no_batch_dims_saveable: Policy = Policy("dots_with_no_batch_dims_saveable")
    """Products of matrices are kept, but batches of them are not."""
    checkpoint_dots_with_no_batch_dims: Policy = dots_with_no_batch_dims_saveable

    @staticmethod
    def save_only_these_names(*names: str) -> Policy:
        """Keep values that have one of these names (see `checkpoint_name`)."""
        return Policy("save_only_these_names", names)

    @staticmethod
    def save_any_names_but_these(*names: str) -> Policy:
        """Keep values that have a name (see `checkpoint_name`), but for these names."""
        return Policy("save_any_names_but_these", names)

    @staticmethod
    def save_anything_except_these_names(*names: str) -> Policy:
        """Keep all values but those that have one of these names (see `checkpoint_name`)."""
        return Policy("save_anything_except_these_names", names)

    @staticmethod
    def save_from_both_policies(
        policy_1: Callable[..., bool], policy_2: Callable[..., bool]
    ) -> Callable[..., bool]:
        """Keeps the results that one of two policies keeps."""

        def either(primitive: Any, *avals: Any, **parameters: Any) -> bool:
            found = (p(primitive, *avals, **parameters) for p in (policy_1, policy_2))
            return any(found)

        return either

    @staticmethod
    def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
        """`dots_with_no_batch_dims_saveable`: devices have one memory."""
        return checkpoint_policies.dots_with_no_batch_dims_saveable

    @staticmethod
    def save_and_offload_only_these_names(
        *,
        names_which_can_be_saved: Sequence[str],
        names_which_can_be_offloaded: Sequence[str],
        offload_src: str,
        offload_dst: str,
    ) -> Policy:
        """`save_only_these_names` of all of the names: devices have one memory.

        Raises:
            ValueError: a name is in both.
        """
        both = sorted({*names_which_can_be_saved} & {*names_which_can_be_offloaded})
        if both:
            raise ValueError(
                "save_and_offload_only_these_names: names are either saved or offloaded, got "
                f"{', '.join(both)} in both"
            )
        names = (*names_which_can_be_saved, *names_which_can_be_offloaded)
        return checkpoint_policies.save_only_these_names(*names)


@api_boundary
def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    concrete: bool = False,
    prevent_cse: bool | Sequence[bool] = True,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    policy: Callable[..., bool] | None = None,
) -> Callable[..., Any]:
    """Return `fun` rematerialized: reverse mode computes it again instead of keeping its residuals.

    Args:
        fun: a function of pytrees of arrays. Without it, a decorator is returned.
        concrete: accepted for JAX's sake, without effect: values that Python asks for are known
            wherever they can be.
        prevent_cse: accepted for JAX's sake, without effect: what is computed again always stays
            apart from the forward pass.
        static_argnums: positions of arguments that are not arrays.
        static_argnames: names of arguments that are not arrays.
        policy: the residuals to keep: one of `checkpoint_policies`, or a function
            `policy(primitive, *avals, **parameters)` that says for each operation of the forward
            pass whether its results are kept. `primitive.name` is JAX's name of the operation.

    Raises:
        TypeError: `policy` is not a function.

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
    if policy is None:
        policy = checkpoint_policies.nothing_saveable
    if not callable(policy):
        raise TypeError(
            "checkpoint: policy must be one of irax.checkpoint_policies, or a function of a "
            f"primitive, avals and parameters, got {policy!r}"
        )
    chosen = policy if isinstance(policy, Policy) else _FunctionPolicy(policy)
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    static_names = (
        (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    )
    numbers = static
    if static_names:
        parameters = list(inspect.signature(fun).parameters)
        static += tuple(parameters.index(name) for name in static_names if name in parameters)

    @api_boundary
    @wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if any(not -len(args) <= n < len(args) for n in numbers):
            raise ValueError(
                f"checkpoint: static_argnums={numbers} is out of range: {name_of(fun)} was called "
                f"with {len(args)} positional arguments"
            )

        def write(builder: ModuleBuilder) -> Any:
            count = len(args)
            fixed = {n % count for n in static if -count <= n < count}
            dynamic = [i for i in range(count) if i not in fixed]
            fixed_names = {name: kwargs.pop(name) for name in static_names if name in kwargs}
            function = bind_others(fun, args, fixed_names, dynamic)
            others = tuple(args[i] for i in dynamic)
            builder.kept.append(chosen)

            def bound(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
                traced_call = TracedCall("checkpoint", function, args, kwargs)
                name = traced_call.traced.name
                return traced_call.bind(Checkpoint(name, chosen.name, chosen.names))

            if refs.exist():
                return _of_refs(bound, function, others, kwargs)
            return bound(function, *others, **kwargs)

        def run() -> Any:
            count = len(args)
            fixed = {n % count for n in static if -count <= n < count}
            given = [x if i in fixed else _arrays(x) for i, x in enumerate(args)]
            named = {n: x if n in static_names else _arrays(x) for n, x in kwargs.items()}
            return fun(*given, **named)

        return staged(run, write)

    return checkpointed


def _arrays(tree: Any) -> Any:
    """A pytree with arrays in place of numbers, as traces have them."""
    return array_trees.tree_map(
        lambda x: x if isinstance(x, refs.Ref) else as_array(x, "checkpoint: an argument"), tree
    )


def _of_refs(
    bound: Callable[..., Any], function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any
) -> Any:
    """Return what `bound(function, *args, **kwargs)` does, where the function may touch Refs."""
    boxed = ref_functions.Arguments.of("checkpoint", args, kwargs, with_tokens=True)
    if boxed is not None:
        function, args, kwargs = boxed.of_arrays("checkpoint", function), boxed.args, boxed.kwargs
    held = ref_functions.touched_by(lambda: bound(function, *args, **kwargs))
    if isinstance(held, ref_functions.Result):
        out = held.value
    else:
        out, states = bound(held.of(function), held.states, *args, **kwargs)
        held.write(states)
    if boxed is None:
        return out
    result, states = out
    boxed.refs.write(states)
    return result


remat = checkpoint


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the types of the residuals that reverse mode keeps of a function's forward pass.

    Args:
        f: a function.
        args: its arguments, pytrees of arrays.
        kwargs: its arguments by name.

    Raises:
        TypeError: `f` is not a function, or an argument has leaves that are not arrays.

    >>> irax.ad_checkpoint.print_saved_residuals(lambda x: jnp.sin(jnp.sin(x)), jnp.ones(3))
    float32[3]
    float32[3]
    """
    from irax.execution.shapes import eval_shape

    def residuals(*args: Any) -> list[Any]:
        pullback = autodiff.vjp(functools.partial(f, **kwargs), *args)[1]
        return array_trees.tree_leaves(pullback)

    for struct in eval_shape(residuals, *args):
        print(aval_of(struct))


def checkpoint_name(x: Any, name: str) -> Any:
    """Return a pytree of arrays with a name for its values, by which checkpoint policies know them.

    Args:
        x: a pytree of arrays.
        name: the name, a text.

    Raises:
        TypeError: a leaf is not an array, or `name` not a text.

    >>> irax.ad_checkpoint.checkpoint_name(jnp.ones(2), "hidden")
    Array([1., 1.], dtype=float32)
    """

    def named(leaf: Any) -> Any:
        array = as_array(leaf, "checkpoint_name")
        return bind(marks.Name(name), array, weak_type=array.weak_type)

    return staged(lambda: x, lambda _: array_trees.tree_map(named, x))

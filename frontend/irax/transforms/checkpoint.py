"""checkpoint: functions that reverse mode computes again, instead of keeping their residuals."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakSet

import numpy as np

from irax.core.array import as_array
from irax.core.avals import ShapedArray
from irax.core.callables import check_callable
from irax.core.closures import used_by
from irax.core.dispatch import bind, staged
from irax.core.module_builder import ModuleBuilder
from irax.core.refs import functions as ref_functions
from irax.core.refs import refs
from irax.core.shardings.memory_spaces import space_of
from irax.core.tracebacks import api_boundary
from irax.core.traced_call import TracedCall
from irax.core.trees import array_trees
from irax.core.trees.flattening import bind_others, name_of
from irax.core.trees.parameter_names import ParameterNames
from irax.core.wrapping import name_aliases, wraps
from irax.execution.backend import current_device
from irax.transforms import autodiff
from irax_compiler import mlir
from irax_compiler.ops import marks
from irax_compiler.ops.control_flow import policies
from irax_compiler.ops.control_flow.checkpoint import Checkpoint
from irax_compiler.ops.control_flow.policies import Offloadable
from irax_runtime.device import MEMORY_KIND
from irax_runtime.mesh import devices_of


class _Decision:
    """A decision of a checkpoint policy, in place of a boolean."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


Saveable: _Decision = _Decision("Saveable")
"""The decision that a result is saved."""
Recompute: _Decision = _Decision("Recompute")
"""The decision that a result is computed again."""


@dataclass(frozen=True)
class Policy:
    """A checkpoint policy: chooses the results of a forward pass that may be kept. One of
    `checkpoint_policies`.

    Like any policy it is a function of a primitive, the types of its operands and its parameters,
    which says whether its results are kept, or that they are `Offloadable` to another memory.
    """

    policy: str
    names: tuple[str, ...] = ()
    offloaded: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()

    def __call__(self, primitive: Any, *avals: Any, **parameters: Any) -> bool | Offloadable:
        return policies.POLICIES[self.policy](primitive, parameters, self)

    def _noted(self, builder: ModuleBuilder) -> Policy:
        """Return the policy for a program, which is told that it has several memories; one that
        saves where values are, if the device has not the memory.
        """
        moved = _moved(Offloadable(*self.memories)) if self.memories else None
        builder.has_memories |= moved is not None
        return replace(self, memories=moved or ())


class _FunctionPolicy:
    """A policy that is any function, as the compiler calls it."""

    names, offloaded, memories = (), (), ()

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.policy = f"{name_of(function)}#{id(self)}"
        self._builders: WeakSet[ModuleBuilder] = WeakSet()
        policies.FUNCTIONS[self.policy] = self

    def __call__(
        self, primitive: Any, types: Sequence[Any], parameters: dict[str, Any]
    ) -> bool | Offloadable:
        avals = [ShapedArray(tuple(t.shape), mlir.dtype_of_type(t)) for t in types]
        kept = self.function(primitive, *avals, **parameters)
        if isinstance(kept, Offloadable):
            moved = _moved(kept)
            for builder in self._builders:
                builder.has_memories |= moved is not None
            return moved or True
        if isinstance(kept, _Decision):
            return kept is Saveable
        if not isinstance(kept, bool | np.bool):
            raise TypeError(
                f"checkpoint: policy {name_of(self.function)} must return a bool, Saveable, "
                f"Recompute or Offloadable, got {kept!r} for {primitive}"
            )
        return bool(kept)

    def _noted(self, builder: ModuleBuilder) -> _FunctionPolicy:
        """Return the policy for a program, which it tells if it moves values."""
        self._builders.add(builder)
        return self


def _moved(decision: Offloadable) -> Offloadable | None:
    """Return a decision as a program says it, of spaces of memory; None if values stay where they
    are, since the current device has not the memory, or since it is of the same space.
    """
    device = devices_of(current_device())[0]
    if decision.dst not in getattr(device, "memory_kinds", (MEMORY_KIND,)):
        return None
    src, dst = (space_of(kind).kind for kind in decision)
    return None if src == dst else Offloadable(src, dst)


class checkpoint_policies:
    """The policies of `checkpoint`. Where the device has not the memory that residuals are
    offloaded to, they stay where they are.
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
        policy_1: Callable[..., Any], policy_2: Callable[..., Any]
    ) -> Callable[..., bool]:
        """Keeps the results that one of two policies keeps; these return booleans."""

        def either(primitive: Any, *avals: Any, **parameters: Any) -> bool:
            found = [p(primitive, *avals, **parameters) for p in (policy_1, policy_2)]
            if others := [x for x in found if not isinstance(x, bool | np.bool)]:
                raise ValueError(
                    "save_from_both_policies: expected policies that return booleans, got "
                    f"{others[0]!r} for {primitive}: write a policy of your own that decides"
                )
            return any(found)

        return either

    @staticmethod
    def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
        """`dots_with_no_batch_dims_saveable`, with what is kept moved from one memory of the device
        to another.
        """
        return Policy("offload_dot_with_no_batch_dims", memories=(offload_src, offload_dst))

    @staticmethod
    def save_and_offload_only_these_names(
        *,
        names_which_can_be_saved: Sequence[str],
        names_which_can_be_offloaded: Sequence[str],
        offload_src: str,
        offload_dst: str,
    ) -> Policy:
        """`save_only_these_names` of all of the names; values of those that can be offloaded are
        kept in another memory of the device.

        Raises:
            ValueError: a name is in both.
        """
        both = sorted({*names_which_can_be_saved} & {*names_which_can_be_offloaded})
        if both:
            raise ValueError(
                "save_and_offload_only_these_names: names are either saved or offloaded, got "
                f"{', '.join(both)} in both"
            )
        return Policy(
            "save_and_offload_only_these_names",
            tuple(names_which_can_be_saved),
            tuple(names_which_can_be_offloaded),
            (offload_src, offload_dst),
        )


@api_boundary
def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    concrete: bool = False,
    prevent_cse: bool | Sequence[bool] = True,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    policy: Callable[..., Any] | None = None,
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
            pass whether its results are kept: True, or `irax.ad_checkpoint.Offloadable(src, dst)`
            for another memory of the device. `primitive.name` is JAX's name of the operation.

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
    check_callable(fun, "checkpoint")
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

        count = len(args)
        fixed = {n % count for n in static if -count <= n < count}
        names = ParameterNames(fun)
        args = tuple(x if i in fixed else _arrays(x, names.of(i)) for i, x in enumerate(args))
        kwargs = {n: x if n in static_names else _arrays(x, n) for n, x in kwargs.items()}

        def write(builder: ModuleBuilder) -> Any:
            dynamic = [i for i in range(count) if i not in fixed]
            fixed_names = {name: kwargs.pop(name) for name in static_names if name in kwargs}
            function = bind_others(fun, args, fixed_names, dynamic)
            others = tuple(args[i] for i in dynamic)
            noted = chosen._noted(builder)
            builder.kept.append(noted)
            fields = (noted.policy, noted.names, noted.offloaded, noted.memories)

            def bound(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
                traced_call = TracedCall("checkpoint", function, args, kwargs)
                name = traced_call.traced.name
                return traced_call.bind(Checkpoint(name, *fields))

            if refs.exist():
                return _of_refs(bound, function, others, kwargs)
            return bound(function, *others, **kwargs)

        return staged(lambda: fun(*args, **kwargs), write, used_by(fun, args=(args, kwargs)))

    return checkpointed


def _arrays(tree: Any, name: str) -> Any:
    """The pytree of an argument, with arrays in place of numbers, as traces have them."""
    arrays = [
        x
        if isinstance(x, refs.Ref)
        else as_array(x, f"checkpoint: {name}{array_trees.keystr(path)}")
        for path, x in array_trees.tree_leaves_with_path(tree)
    ]
    return array_trees.tree_unflatten(array_trees.tree_structure(tree), arrays)


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
name_aliases(globals(), "remat")


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
    from irax.execution.jitted import PjitFunction

    def residuals(*args: Any) -> list[Any]:
        pullback = autodiff.vjp(functools.partial(f, **kwargs), *args)[1]
        return array_trees.tree_leaves(pullback)

    for aval in PjitFunction(residuals).trace(*args).out_avals:
        print(aval)


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

    return staged(lambda: x, lambda _: array_trees.tree_map(named, x), array_trees.tree_leaves(x))

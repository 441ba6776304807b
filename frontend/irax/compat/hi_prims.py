"""Operations that a library defines as a class (`jax.experimental.hijax.HiPrim`): how they are
computed, differentiated and batched.

A call is one of `expand`, with the class's rules as those of a `custom_vjp`, a `custom_jvp` and a
`custom_vmap`. Rules that the class does not have are those of what `expand` computes. Where
operands or results are no arrays, `expand` runs as it is (`core/refs/hi_values.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from irax import dtypes, tree_util
from irax.core.avals import ShapedArray
from irax.core.refs import hi_values
from irax.extend.application import AxisData
from irax.extend.zeros import Zero, instantiate_zeros
from irax.numpy import inexact, issubdtype, moveaxis, result_type, zeros_like
from irax.transforms.accumulators import GradAccum as GradAccum
from irax.transforms.accumulators import NullAccum, ValAccum
from irax.transforms.custom_jvp import custom_jvp
from irax.transforms.custom_vjp import custom_vjp
from irax.transforms.custom_vmap import custom_vmap
from irax.transforms.symbolic_zeros import CustomVJPPrimal, SymbolicZero


def _is_place(x: Any) -> bool:
    return isinstance(x, CustomVJPPrimal | SymbolicZero | Zero)


def _map(function: Callable[..., Any], tree: Any) -> Any:
    return tree_util.tree_map(function, tree, is_leaf=_is_place)


class HiPrim:
    """An operation of a library's own. A subclass sets `in_avals`, `out_aval` and `params` and then
    calls this class's `__init__`; parameters become attributes. It has `expand`, and the rules that
    it needs: `vjp_fwd` with `vjp_bwd_retval` or `vjp_bwd`, `jvp`, `lin` with `linearized`, `batch`.

    An operation that has a rule for reverse mode alone has no forward mode. One that has no rule is
    differentiated and batched as what `expand` computes.
    """

    effects: frozenset[Any] = frozenset()
    skip_linearization_on_zero_tangents: bool = False
    in_avals: Any
    out_aval: Any
    params: dict[str, Any]
    in_avals_flat: list[Any]
    in_tree: Any
    out_avals_flat: list[Any]
    out_tree: Any

    def __init__(self) -> None:
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise AttributeError(f"{type(self).__name__}: __init__ must set self.{name}")
        self.in_avals_flat, self.in_tree = tree_util.tree_flatten(self.in_avals)
        self.out_avals_flat, self.out_tree = tree_util.tree_flatten(self.out_aval)
        vars(self).update(self.params)

    def expand(self, *args: Any) -> Any:
        """Return the result, computed by other operations."""
        raise NotImplementedError(f"{type(self).__name__} must have a method expand")

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> tuple[Any, ...]:
        """Return the result and residuals; `nzs_in` tells which arguments are differentiated.

        They may be followed by what tells which results have derivatives, and by further residuals
        that are a tree: `vjp_bwd(res, further, outgrad, *arg_accums)` gets these by themselves.
        """
        raise _missing(self, "vjp_fwd")

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
        """Return a cotangent for each argument."""
        raise _missing(self, "vjp_bwd_retval")

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None:
        """Add a cotangent to the place of each argument."""
        found = self.vjp_bwd_retval(res, outgrad)
        for accumulator, cotangent in zip(arg_accums, found, strict=True):
            tree_util.tree_map(
                lambda place, x: place.accum(x), accumulator, cotangent, is_leaf=_is_accumulator
            )

    def jvp(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
        """Return the result and its tangent; a tangent may be a `Zero`."""
        raise _missing(self, "jvp")

    def lin(self, nzs_in: Any, *primals: Any) -> tuple[Any, ...]:
        """Return the result and residuals, and further ones as `vjp_fwd` does, which `linearized`
        gets by themselves.
        """
        raise _missing(self, "lin")

    def linearized(self, residuals: Any, *tangents: Any) -> Any:
        """Return the tangent of the result."""
        raise _missing(self, "linearized")

    def transpose(self, out_ct: Any, *maybe_accums: Any) -> None:
        """Add cotangents to the places of the arguments in which the operation is linear."""
        raise _missing(self, "transpose")

    def batch(self, axis_data: AxisData, args: Any, dims: Any) -> tuple[Any, Any]:
        """Return the result for several lanes, and the dimension of the lanes in it."""
        raise _missing(self, "batch")

    def pp_params(self) -> dict[str, Any]:
        """Return the parameters that are shown."""
        return self.params

    def __call__(self, *args: Any) -> Any:
        """Compute the result."""
        structure = tree_util.tree_structure(args)
        if structure != self.in_tree:
            raise TypeError(
                f"{type(self).__name__}: expected arguments of structure {self.in_tree}, got "
                f"{structure}"
            )
        if not all(isinstance(a, ShapedArray) for a in (*self.in_avals_flat, *self.out_avals_flat)):
            return hi_values.bound(self.expand, args, {})
        return self._ruled(*args)

    @functools.cached_property
    def _ruled(self) -> Callable[..., Any]:
        function: Any = functools.partial(type(self).expand, self)
        if self._has("batch"):
            function = custom_vmap(function)
            function.def_vmap(self._lanes)
        has_forward_mode = self._has("jvp") or self._has("lin")
        if has_forward_mode:
            function = custom_jvp(function)
            function.defjvp(self._tangent, symbolic_zeros=True)
        if self._has("vjp_fwd"):
            function = custom_vjp(function)
            function.defvjp(self._forward, self._backward, symbolic_zeros=True)
            function.has_forward_mode = has_forward_mode
        return function

    def _has(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(HiPrim, name)

    def _lanes(self, size: int, is_mapped: Any, *args: Any) -> tuple[Any, Any]:
        dims = tree_util.tree_map(lambda mapped: 0 if mapped else None, tuple(is_mapped))
        result, out_dims = self.batch(AxisData(None, size), args, dims)
        leaves, structure = tree_util.tree_flatten(result)
        places = tree_util.tree_leaves(
            _prefix(out_dims, result), is_leaf=lambda dimension: dimension is None
        )
        moved = [
            x if place is None else moveaxis(x, place, 0)
            for x, place in zip(leaves, places, strict=True)
        ]
        return (
            tree_util.tree_unflatten(structure, moved),
            tree_util.tree_unflatten(structure, [place is not None for place in places]),
        )

    def _forward(self, *args: Any) -> tuple[Any, Any]:
        perturbed = _map(lambda x: x.perturbed, args)
        result, kept = _split(self.vjp_fwd(perturbed, *_map(lambda x: x.value, args)))
        if len(kept) > 1 and not self._has("vjp_bwd"):
            raise TypeError(
                f"{type(self).__name__}: vjp_fwd returned structured residuals, which the class's "
                "own method vjp_bwd(res, sres, outgrad, *arg_accums) must take: define it"
            )
        kinds = _map(lambda x: ValAccum if x.perturbed else NullAccum, args)
        return result, (kept, tree_util.Partial(lambda: self._places(kinds)))

    def _places(self, kinds: Any) -> Any:
        return tree_util.tree_map(lambda kind, aval: kind(aval), kinds, self.in_avals)

    def _backward(self, residuals: Any, cotangent: Any) -> Any:
        kept, places = residuals
        cotangent = _map(lambda x: x.instantiate() if isinstance(x, SymbolicZero) else x, cotangent)
        accumulators = places()
        self.vjp_bwd(*kept, cotangent, *accumulators)
        return tuple(
            tree_util.tree_map(
                lambda place: instantiate_zeros(place.freeze()), each, is_leaf=_is_accumulator
            )
            for each in accumulators
        )

    def _tangent(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
        tangents = _map(lambda t: Zero(t.aval) if isinstance(t, SymbolicZero) else t, tangents)
        if self._has("jvp"):
            result, tangent = self.jvp(primals, tangents)
        else:
            moves = _map(lambda t: not isinstance(t, Zero), tangents)
            result, kept = _split(self.lin(moves, *primals))
            tangent = self.linearized(*kept, *_map(instantiate_zeros, tangents))
        tangent = _map(instantiate_zeros, tangent)
        return result, tree_util.tree_map(_of_result, result, tangent)

    def __repr__(self) -> str:
        shown = " ".join(f"{name}={value}" for name, value in self.pp_params().items())
        return f"{type(self).__name__}[{shown}]" if shown else type(self).__name__

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(type(self))

    def _identity(self) -> tuple[Any, ...]:
        return (self.in_avals, self.out_aval, self.params)


def _split(found: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the result of a forward rule, and its residuals: those of the operation, and a tree
    of further ones if there is one.
    """
    result, residuals, *rest = found
    further = rest[1] if len(rest) > 1 else None
    return result, (residuals,) if further is None else (residuals, further)


def _of_result(result: Any, tangent: Any) -> Any:
    """Return the tangent of a result; float0 stands for zeros of its own dtype."""
    is_zero = getattr(tangent, "dtype", None) == dtypes.float0
    return zeros_like(result) if is_zero and issubdtype(result_type(result), inexact) else tangent


def _is_accumulator(x: Any) -> bool:
    return isinstance(x, GradAccum)


def _prefix(prefix: Any, tree: Any) -> Any:
    """Return a tree of the dimensions of arrays, one for each, of one for several."""
    if prefix is None or isinstance(prefix, int):
        return tree_util.tree_map(lambda _: prefix, tree)
    return prefix


def _missing(operation: HiPrim, name: str) -> NotImplementedError:
    return NotImplementedError(f"{type(operation).__name__} has no rule {name}: define the method")


Rule = Callable[..., Any]
"""A method of an operation."""
vjp_from_jvp: tuple[Rule, Rule] = (HiPrim.vjp_fwd, HiPrim.vjp_bwd_retval)
"""The rules for reverse mode of a class that has `jvp`: its transpose."""
vjp_from_lin: tuple[Rule, Rule] = vjp_from_jvp
"""The rules for reverse mode of a class that has `lin` and `linearized`: their transpose."""
linearize_from_jvp: tuple[Rule, Rule] = (HiPrim.lin, HiPrim.linearized)
"""The linear part of a class that has `jvp`."""
jvp_from_lin: Rule = HiPrim.jvp
"""The rule for forward mode of a class that has `lin` and `linearized`."""

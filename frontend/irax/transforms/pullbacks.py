"""The pullback that `vjp` returns, and the forms in which it returns cotangents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.dispatch import call
from irax.core.dtypes.promotion import convert
from irax.core.module_builder import ModuleBuilder
from irax.core.refs import refs
from irax.core.refs import tokens as ref_tokens
from irax.core.shardings import explicit_axes
from irax.core.shardings.partition_specs import P
from irax.core.shardings.shardings import Sharding, as_sharding
from irax.core.tracebacks import api_boundary
from irax.core.trees import array_trees
from irax.execution.shardings.jit_shardings import constrained
from irax.transforms.differentiable import is_inexact
from irax.transforms.slots import Call, check_keys, merged


@tree_util.register_static
@dataclass(frozen=True)
class GradValue:
    """Asks a pullback for the cotangent of an argument as a value, as it is by default."""


@tree_util.register_static
@dataclass(frozen=True)
class DontWant:
    """Asks a pullback for no cotangent of an argument."""


@tree_util.register_static
@dataclass(frozen=True)
class GradRef:
    """Stands for a cotangent that a pullback has added to a Ref."""


@tree_util.register_static
@dataclass(frozen=True)
class DidntWant:
    """Stands for a cotangent that a pullback was not asked for."""


@tree_util.register_static
@dataclass(frozen=True)
class NotNeeded:
    """Stands for an argument that a pullback does not need itself."""


@tree_util.register_static
@dataclass(frozen=True)
class NotSaveable:
    """Stands for an argument that a pullback needs and must not keep: put it in its place in
    `args_res` before the pullback is called.
    """


@dataclass(frozen=True, eq=False)
class Derived:
    """The function of a module that a pullback calls, and its types: all but the residuals."""

    builder: ModuleBuilder
    name: str
    inputs: tuple[ShapedArray, ...]
    results: tuple[ShapedArray, ...]
    in_tree: Any
    out_tree: Any
    layouts: Sequence[Sharding | None]
    """The sharding of each input, where its type tells one; the cotangent has the same."""
    forwarded: Mapping[int, int]
    """The residuals that are inputs themselves, with the numbers of the inputs."""
    boxed: frozenset[int] = frozenset()
    """The inputs that are elements of Refs; their last values are further results."""
    written: tuple[refs.Ref, ...] = ()
    """The Refs that it may write to; their tokens are the last inputs and results."""
    find_nonzero: Callable[[], Any] | None = None
    """Finds the results that have a derivative."""

    def __call__(
        self, residuals: Sequence[Array], cotangent: Any, totals: Sequence[Array] = ()
    ) -> list[Any]:
        """Return a cotangent for each input, given those of the result and of boxed inputs."""
        cotangents = _matching(cotangent, self.out_tree, self.results, "vjp: the cotangent")
        held = [ref_tokens.of_value(ref.value) for ref in self.written]
        operands = [*residuals, *cotangents, *totals, *(x for token in held for x in token)]
        weak = [aval.weak_type for aval in self.inputs if is_inexact(aval)]
        found = iter(call(self.builder, self.name, operands, weak))
        of_inputs = [
            _divided(next(found), layout)
            if is_inexact(aval)
            else np.zeros(aval.shape, dtypes.float0)
            for aval, layout in zip(self.inputs, self.layouts, strict=True)
        ]
        for ref, token in zip(self.written, held, strict=True):
            ref.assign(ref_tokens.value_of([next(found) for _ in token], ref.dtype))
        return of_inputs


def layout_of(x: Array) -> Sharding | None:
    """Return the sharding of cotangents of an array, as far as its type tells it, on the devices of
    the context's mesh.
    """
    told = explicit_axes.type_of(x).told
    return None if told is None else as_sharding("vjp", told.spec.to_ct_spec())


def _divided(x: Array, layout: Sharding | None) -> Array:
    if layout is None:  # the input is whole
        told = explicit_axes.type_of(x).told
        return x if told is None or not any(told.spec) else constrained(x, as_sharding("vjp", P()))
    return constrained(x, layout)


def _matching(tree: Any, structure: Any, avals: Sequence[ShapedArray], what: str) -> list[Array]:
    """The inexact leaves of `tree`, checked against the structure and types they must have."""
    leaves, given = array_trees.flatten_like(tree, structure)
    if given != structure:
        raise array_trees.structure_error(structure, tree, "the result", what)
    arrays = []
    for leaf, aval in zip(leaves, avals, strict=True):
        if not is_inexact(aval):
            continue
        array = as_array(leaf, what)
        if array.dtype == dtypes.canonicalize_dtype(aval.dtype):
            array = convert(array, aval.dtype)  # a result of 64 bits, while these are off
        if (array.shape, array.dtype) != (aval.shape, aval.dtype):
            raise ValueError(f"{what} has type {array.aval}; expected {aval}, as the result has")
        arrays.append(array)
    return arrays


@tree_util.register_pytree_node_class
class VJP:
    """The function from a cotangent of a result to those of the arguments, a pytree of residuals.

    `vjp(f, *primals)[1]` is one. Called with a cotangent of the result's structure, it returns a
    tuple with a cotangent for each argument.
    """

    def __init__(
        self,
        derived: Derived,
        opaque_residuals: Sequence[Array],
        args_res: Sequence[Any],
        forms: tuple[Any, ...] | None = None,
        calls: tuple[Call, ...] = (),
        want_logs: bool = False,
    ) -> None:
        self._derived = derived
        self._forms = forms
        self._calls = calls
        """The calls of rules with logs, whose slots are the last argument where there are any."""
        self._want_logs = want_logs
        self.opaque_residuals: list[Array] = list(opaque_residuals)
        """The arrays that the forward pass keeps for the backward pass."""
        self.args_res: list[Any] = list(args_res)
        """For each argument itself what the backward pass needs of it: `NotNeeded()`, or the array,
        which may be replaced; for a pytree a tuple of these, in whose place it may be put itself.
        """

    @classmethod
    def of(cls, derived: Derived, residuals: Sequence[Array]) -> VJP:
        """Return the pullback of what the forward pass has returned."""
        own = {n: residuals[k] for k, n in derived.forwarded.items()}
        rest = [x for k, x in enumerate(residuals) if k not in derived.forwarded]
        needed = iter([own.get(n, NotNeeded()) for n in range(len(derived.inputs))])
        kept: list[Any] = []
        for arg in derived.in_tree.children()[0].children():
            parts = tuple(islice(needed, arg.num_leaves))
            kept.append(parts[0] if arg.is_leaf() else parts)
        return cls(derived, rest, kept)

    def of_calls(self, calls: Sequence[Call]) -> VJP:
        """Return the pullback of a function whose last argument are slots of these calls."""
        return VJP(self._derived, self.opaque_residuals, self.args_res, calls=tuple(calls))

    def _with(self, **changed: Any) -> VJP:
        """Return the pullback with other parts."""
        parts = {"args_res": self.args_res, "forms": self._forms, "want_logs": self._want_logs}
        parts |= changed
        return VJP(self._derived, self.opaque_residuals, calls=self._calls, **parts)

    @property
    def _num_args(self) -> int:
        """The number of arguments, without slots."""
        return self._derived.in_tree.children()[0].num_children - bool(self._calls)

    @property
    def out_nzs(self) -> Any:
        """For each result True, or False if it has no derivative in the arguments."""
        assert self._derived.find_nonzero is not None
        return self._derived.find_nonzero()

    @property
    def in_tree(self) -> tree_util.PyTreeDef:
        """The structure of the arguments, and of their cotangents."""
        args, _ = array_trees.tree_unflatten(self._derived.in_tree, self._derived.inputs)
        return tree_util.tree_structure(args[: self._num_args])

    @property
    def out_tree(self) -> tree_util.PyTreeDef:
        """The structure of the result, and of its cotangent."""
        derived = self._derived
        return tree_util.tree_structure(
            array_trees.tree_unflatten(derived.out_tree, derived.results)
        )

    def without(self, saveable: Sequence[bool]) -> VJP:
        """Return the pullback without the arguments that are not saveable, given a bool for each
        leaf.
        """
        rest = iter(saveable)

        def kept(x: Any) -> Any:
            return x if next(rest, True) or isinstance(x, NotNeeded) else NotSaveable()

        args_res = [tuple(map(kept, x)) if type(x) is tuple else kept(x) for x in self.args_res]
        return self._with(args_res=args_res)

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        """Return the residuals, and the rest."""
        rest = self._derived, self._forms, self._calls, self._want_logs
        return (self.opaque_residuals, self.args_res), rest

    @classmethod
    def tree_unflatten(cls, rest: Any, residuals: Any) -> VJP:
        """Return the pullback of what `tree_flatten` returned."""
        derived, *others = rest
        opaque_residuals, args_res = residuals
        return cls(derived, opaque_residuals, args_res, *others)

    def __repr__(self) -> str:
        count = len(self.opaque_residuals) + len(self._derived.forwarded)
        return f"<VJP of {len(self._derived.inputs)} arrays, {count} residuals>"

    def _residuals(self) -> list[Array]:
        """The residuals as the backward pass takes them."""
        forwarded, inputs = self._derived.forwarded, self._derived.inputs
        trees = self._derived.in_tree.children()[0].children()
        pairs = zip(self.args_res, trees, strict=False)
        leaves = [x for arg, tree in pairs for x in _parts(arg, tree)]
        leaves += self.args_res[len(trees) :]
        if len(leaves) != len(inputs):
            raise ValueError(
                f"vjp: args_res has {len(leaves)} items for {len(inputs)} arrays: expected one for "
                "each, NotNeeded() where it was that"
            )
        opaque = iter(self.opaque_residuals)
        count = len(self.opaque_residuals) + len(forwarded)
        return [
            _replaced(leaves[forwarded[k]], inputs[forwarded[k]])
            if k in forwarded
            else next(opaque)
            for k in range(count)
        ]

    @property
    def with_logs(self) -> VJP:
        """The pullback that returns a pair of the cotangents and a dict: what the rules with logs
        have logged (`custom_vjp.defvjp_with_logs`), stacked where they are in loops or in lanes of
        `vmap`. Logs of a branch that was not taken are zeros.
        """
        return self._with(want_logs=True)

    def with_refs(self, *forms: Any) -> VJP:
        """Return the pullback that returns cotangents in other forms.

        Args:
            *forms: for each argument a `Ref`, to which its cotangent is added,
                `irax.ad.GradValue()`, for a value, or `irax.ad.DontWant()`; or a pytree of these
                for a pytree. An argument that is a Ref needs a Ref.

        Raises:
            ValueError: there are not as many as arguments, or one is none of these, or a Ref of
                another shape or dtype than the argument.

        >>> total = irax.new_ref(1.0)
        >>> y, pullback = irax.vjp(lambda x: x * x, 3.0)
        >>> pullback.with_refs(total)(1.0), total
        ((GradRef(),), Ref(7.0))
        """
        args = self._derived.in_tree.children()[0]
        if len(forms) != self._num_args:
            raise ValueError(
                f"with_refs: expected as many forms as arguments, {self._num_args}, got "
                f"{len(forms)}"
            )
        forms = (*forms, GradValue()) if self._calls else forms
        spread = array_trees.prefix_of(args, forms, "with_refs", _is_form)
        for form in spread:
            if not _is_form(form):
                raise ValueError(
                    "with_refs: expected a Ref, irax.ad.GradValue() or irax.ad.DontWant() for "
                    f"each argument, got {form!r}"
                )
        for form, aval in zip(spread, self._derived.inputs, strict=True):
            _check_ref(form, aval)
        return self._with(forms=tuple(spread))

    @api_boundary
    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        derived = self._derived
        forms: tuple[Any, ...] = self._forms or (GradValue(),) * len(derived.inputs)
        boxed = [forms[i] for i in sorted(derived.boxed)]
        totals = [form.value for form in boxed if isinstance(form, refs.Ref)]
        if len(totals) < len(boxed):
            raise ValueError(
                "vjp: an argument is a Ref, whose gradient must be accumulated into a Ref: give "
                "one with pullback.with_refs(...)"
            )
        # What a Ref held at the end has the cotangent that is there already.
        found = derived(self._residuals(), cotangent, totals)
        leaves = [
            _in_form(x, form, i in derived.boxed)
            for i, (x, form) in enumerate(zip(found, forms, strict=True))
        ]
        args, _ = array_trees.tree_unflatten(derived.in_tree, leaves)
        cotangents = tuple(args[: self._num_args])
        check_keys(self._calls)
        if not self._want_logs:
            return cotangents
        return cotangents, merged(self._calls, args[-1]) if self._calls else {}


def _parts(arg: Any, tree: Any) -> Sequence[Any]:
    """Return what `args_res` has for the leaves of an argument, which may be there itself."""
    leaves, found = array_trees.tree_flatten(arg)
    if found == tree:
        return leaves
    return arg if isinstance(arg, tuple) else (arg,)


def _replaced(x: Any, aval: ShapedArray) -> Array:
    """Return what `args_res` has for an argument, as an array of its type."""
    if isinstance(x, NotSaveable):
        raise ValueError(
            f"vjp: args_res has NotSaveable() for an argument of type {aval}, as saveable_args "
            "asked for: put the array there before the pullback is called"
        )
    array = as_array(x, "vjp: args_res")
    if (array.shape, array.dtype) != (aval.shape, aval.dtype):
        raise ValueError(f"vjp: args_res has type {array.aval}; expected {aval}, as the argument")
    return array


def _check_ref(form: Any, aval: Any) -> None:
    """Raise ValueError if a form is a Ref that cannot hold an argument's cotangent."""
    if not isinstance(form, refs.Ref):
        return
    held = form.aval.inner_aval
    if (held.shape, held.dtype) != (aval.shape, aval.dtype):
        raise ValueError(
            f"with_refs: the Ref of an argument of type {aval} must hold such an array, got {held}"
        )


def _is_form(x: Any) -> bool:
    return isinstance(x, refs.Ref | GradValue | DontWant)


def _in_form(cotangent: Any, form: Any, is_whole: bool) -> Any:
    """A cotangent as it was asked for; one that `is_whole` contains what the Ref held."""
    match form:
        case refs.Ref():
            if is_whole:
                form.assign(cotangent)
            elif cotangent.dtype != dtypes.float0:
                form.addupdate(cotangent)
            return GradRef()
        case DontWant():
            return DidntWant()
        case _:
            return cotangent

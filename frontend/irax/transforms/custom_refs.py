"""Calls of functions with a rule for reverse mode that have Refs among their arguments.

Such a call is that of a function of the arguments' leaves, with states in place of Refs, to its
result and the states at the end. The token among them passes through it. In the backward pass its
cotangent is what the Ref holds before the rule runs, and the rule's cotangent of it what the Ref
holds afterwards (see `core.refs`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from irax import tree_util
from irax.core.refs import tokens as ref_tokens
from irax.core.refs.functions import Arguments, check_no_refs
from irax.core.refs.refs import Ref
from irax.core.trees import array_trees
from irax.transforms.custom_arguments import check_cotangents, placeholders
from irax.transforms.symbolic_zeros import CustomVJPPrimal, SymbolicZero

Rule = Callable[..., Any]


@tree_util.register_static
@dataclass(frozen=True)
class _Place:
    """Stands for a Ref that `fwd` leaves to `bwd`: its number among those of the call."""

    number: int


@tree_util.register_static
@dataclass(frozen=True)
class _Forward:
    """Tells `bwd` what the forward pass did."""

    ruled: bool
    """False if no argument but tokens had a derivative, so that the function itself ran."""
    writes: tuple[bool, ...]
    """For each Ref, True if it was written to."""


@dataclass(frozen=True)
class RefCall:
    """A call of a function some of whose arguments are Refs."""

    name: str
    function: Callable[..., Any]
    """The function of the arguments that are differentiated."""
    joined: Callable[[Sequence[Any]], Sequence[Any]]
    """Returns all arguments, for those that are differentiated."""
    fixed: tuple[Any, ...]
    """The others."""
    symbolic_zeros: bool
    arguments: Arguments
    are_known: Sequence[bool]
    """For each Ref, False if it was made in the function being differentiated."""
    written: list[int] = field(default_factory=list[int])
    """The Refs that the function writes to, by their numbers, when it has run."""

    @staticmethod
    def of(
        name: str,
        function: Callable[..., Any],
        joined: Callable[[Sequence[Any]], Sequence[Any]],
        fixed: tuple[Any, ...],
        symbolic_zeros: bool,
        boxed: Arguments,
    ) -> RefCall:
        """Return the record of a call, without its arrays."""
        known = [ref.is_known_outside for ref in boxed.refs.refs]
        arguments = replace(boxed, args=None, kwargs=None)
        return RefCall(name, function, joined, fixed, symbolic_zeros, arguments, known)

    @property
    def value(self) -> Callable[..., Any]:
        """The function of leaves, to the result and the states at the end."""

        def run(*leaves: Any) -> Any:
            boxes, args, _ = self.arguments.boxed_leaves("custom_vjp", leaves)
            out = self.function(*self.joined(args))
            check_no_refs(f"custom_vjp: {self.name}", out)
            self.written[:] = [n for n, box in enumerate(boxes) if box.num_writes]
            return out, [[box.value, *box.token] for box in boxes]

        run.__name__ = self.name
        return run

    def write(self, states: Sequence[Sequence[Any]], refs: Sequence[Ref]) -> None:
        """Write the states at the end to the Refs."""
        for number, (ref, (value, *token)) in enumerate(zip(refs, states, strict=True)):
            count = ref.num_writes
            ref.assign(value)  # `fwd` may write to any
            ref.pass_token(token)
            if number not in self.written:
                ref.num_writes = count

    def forward(self, fwd: Rule) -> Rule:
        """Return `fwd` for it."""

        def forward(*primals: Any) -> Any:
            leaves: Any = array_trees.tree_map(_value, primals)
            if not self._is_perturbed(primals):
                return self.value(*leaves), (_Forward(False, ()), ())
            boxes, args, _ = self.arguments.boxed_leaves("custom_vjp", leaves)
            if self.symbolic_zeros:
                args = self._with_boxes(primals, boxes)
            found = fwd(*self.joined(args))
            if not (isinstance(found, tuple | list) and len(found) == 2):
                return found  # which custom_vjp refuses
            check_no_refs(f"custom_vjp: fwd of {self.name}", found[0])
            writes = tuple(box.num_writes > 0 for box in boxes)
            states = [[box.value, *box.token] for box in boxes]
            kept = tree_util.tree_map(lambda x: self._kept(x, boxes), found[1])
            return (found[0], states), (_Forward(True, writes), kept)

        return forward

    def _is_perturbed(self, primals: tuple[Any, ...]) -> bool:
        """True if an argument that is no token has a derivative."""
        leaves: list[Any] = list(array_trees.tree_map(_is_perturbed, primals))
        for place in self.arguments.places:
            leaves[place] = leaves[place][0]
        return any(array_trees.tree_leaves(leaves))

    def _with_boxes(self, primals: tuple[Any, ...], boxes: Sequence[Ref]) -> Any:
        leaves: list[Any] = list(primals)
        for place, box in zip(self.arguments.places, boxes, strict=True):
            leaves[place] = box
        return array_trees.tree_unflatten(self.arguments.tree, leaves)[0]

    def _kept(self, residual: Any, boxes: Sequence[Ref]) -> Any:
        """A residual; a Ref is its number."""
        if not isinstance(residual, Ref):
            return residual
        if residual not in boxes:
            raise ValueError(
                f"custom_vjp fwd function {self.name} returned a mutable array, {residual.aval}, "
                "that is no argument of it: a residual may be a Ref among the arguments alone"
            )
        number = boxes.index(residual)
        if not self.are_known[number]:
            raise NotImplementedError(
                f"custom_vjp: bwd of {self.name} gets a Ref that was made in the function being "
                "differentiated: make it outside, and have it be an argument"
            )
        return _Place(number)

    def backward(self, bwd: Rule) -> Rule:
        """Return `bwd` for it."""

        def backward(residuals: Any, cotangent: Any) -> Any:
            (done, kept), (out, states) = residuals, cotangent
            values = [_present(value) for value, *_ in states]
            tokens = [[_instantiated(x) for x in token] for _, *token in states]
            zeros = [isinstance(x, SymbolicZero) for x in array_trees.tree_leaves(out)]
            if not done.ruled or all(zeros):
                through = [[v, *token] for v, token in zip(values, tokens, strict=True)]
                return self._through([None] * self.arguments.tree.num_leaves, through)
            refs = list(self.arguments.refs.refs)
            boxes = [
                Ref(
                    ref_tokens.value_of(token, ref.dtype).with_weak_type(
                        ref.aval.inner_aval.weak_type
                    )
                )
                for token, ref in zip(tokens, refs, strict=True)
            ]
            kept = tree_util.tree_map(
                lambda x: boxes[x.number] if isinstance(x, _Place) else x, kept, is_leaf=_is_place
            )
            if not self.symbolic_zeros:
                out = tree_util.tree_map(_instantiated, out, is_leaf=_is_zero)
            found = bwd(*self.fixed, kept, out)
            leaves = self._cotangents(found)
            through = [
                [None if writes else value, *ref_tokens.of_value(box.value)]
                for value, writes, box in zip(values, done.writes, boxes, strict=True)
            ]
            return self._through(leaves, through)

        return backward

    def _cotangents(self, found: Any) -> list[Any]:
        """The cotangent of each leaf, of what `bwd` returned."""
        args = placeholders(self.arguments.tree)
        check_cotangents(found, len(args), self.name)
        try:
            return [
                x
                for arg, part in zip(args, found, strict=True)
                for x in array_trees.prefix_broadcast(part, arg, is_leaf=_is_none)
            ]
        except ValueError as error:
            raise TypeError(
                f"custom_vjp: bwd of {self.name} returned cotangents that do not fit: {error}"
            ) from None

    def _through(self, leaves: Sequence[Any], through: Sequence[Any]) -> tuple[Any, ...]:
        """Cotangents of the leaves, those of states added to what passes through the call."""
        found = list(leaves)
        for place, (value, *token) in zip(self.arguments.places, through, strict=True):
            parts = [x for x in (value, _present(found[place])) if x is not None]
            total = None if not parts else parts[0] if len(parts) == 1 else parts[0] + parts[1]
            found[place] = [total, *token]
        return tuple(found)


def _value(primal: CustomVJPPrimal) -> Any:
    return primal.value


def _is_perturbed(primal: CustomVJPPrimal) -> bool:
    return primal.perturbed


def _is_zero(x: Any) -> bool:
    return isinstance(x, SymbolicZero)


def _is_none(x: Any) -> bool:
    return x is None


def _is_place(x: Any) -> bool:
    return isinstance(x, _Place)


def _instantiated(x: Any) -> Any:
    return x.instantiate() if isinstance(x, SymbolicZero) else x


def _present(x: Any) -> Any:
    """A cotangent, None where it is zero."""
    return None if isinstance(x, SymbolicZero) else x

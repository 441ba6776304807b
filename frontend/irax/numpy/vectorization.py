"""Functions of parts of arrays applied to whole arrays: vectorize, apply_along_axis and others."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from irax import tree_util
from irax.core.array import Array
from irax.core.callables import check_callable
from irax.core.dtypes.operands import as_arrays, broadcast_shapes, judge_ranks
from irax.core.tracebacks import api_boundary
from irax.lax.arguments import canonical_axis
from irax.lax.structure import expand_dims, reshape
from irax.transforms import vmap
from irax.typing import ArrayLike


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """Return a function that applies `pyfunc` to the elements, or rows, ..., of broadcast arrays.

    Args:
        pyfunc: a function of scalars, or of arrays of the dimensions in the signature.
        excluded: positions and names of arguments that are passed on as they are.
        signature: for each argument, and each result, the dimensions that one call is for:
            "(n),(n)->()". A dimension that is a number must have that size.

    Returns:
        A function of arrays. Its arguments, but for their last dimensions that the signature names,
        are broadcast; so are keyword arguments if there is no signature.

    Raises:
        ValueError: a signature that cannot be read, or arrays that do not fit it.
        TypeError: keyword arguments, not excluded, for a function with a signature.

    >>> dot = irax.numpy.vectorize(lambda x, y: (x * y).sum(), signature="(n),(n)->()")
    >>> dot(irax.numpy.ones((2, 3)), irax.numpy.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    check_callable(pyfunc, "vectorize")
    if not all(isinstance(entry, int | str) for entry in excluded):
        raise TypeError(
            f"vectorize: excluded must have positions and names of arguments, got {excluded!r}"
        )
    if any(isinstance(entry, int) and entry < 0 for entry in excluded):
        raise ValueError(f"vectorize: positions in excluded must not be negative, got {excluded!r}")
    parsed = None if signature is None else Signature.parse(signature)

    @api_boundary
    @functools.wraps(pyfunc)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        places = [i for i, x in enumerate(args) if i not in excluded and x is not None]
        names = [name for name in kwargs if name not in excluded]
        if parsed and names:
            raise TypeError(
                f"vectorize: the signature {signature!r} is for positional arguments, got "
                f"{', '.join(names)} by name; pass them by position, or exclude them"
            )

        def one(*parts: Any) -> Any:
            given, named = list(args), dict(kwargs)
            for place, part in zip(places, parts, strict=False):
                given[place] = part
            named.update(zip(names, parts[len(places) :], strict=True))
            return pyfunc(*given, **named)

        absent = [i for i, x in enumerate(args) if i not in excluded and x is None]
        if parsed and absent:
            raise ValueError(
                f"vectorize: None is given at positions {absent}, for which the signature "
                f"{signature!r} has dimensions; exclude them"
            )
        operands = [*(args[i] for i in places), *(kwargs[name] for name in names)]
        arrays = as_arrays(operands, "vectorize")
        return _mapped(one, arrays, parsed)

    return vectorized


_CORE = re.compile(r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)")


@dataclass(frozen=True)
class Signature:
    """The names of the core dimensions of each argument and of each result."""

    text: str
    inputs: list[tuple[str, ...]]
    outputs: list[tuple[str, ...]]

    @staticmethod
    def parse(text: str) -> Signature:
        left, arrow, right = text.partition("->")
        sides = []
        for side in (left, right):
            groups = _CORE.findall(side)
            if not arrow or re.sub(r"\s", "", side) != ",".join(
                re.sub(r"\s", "", group) for group in groups
            ):
                raise ValueError(
                    f"vectorize: cannot read the signature {text!r}; expected dimensions in "
                    "parentheses for each argument and each result, such as '(m,n),(n)->(m)'"
                )
            sides.append([tuple(re.findall(r"\w+", group)) for group in groups])
        return Signature(text, *sides)

    def sizes(self, arrays: Sequence[Array]) -> dict[str, int]:
        """The size of each core dimension."""
        if len(arrays) != len(self.inputs):
            raise TypeError(
                f"vectorize: the signature {self.text!r} is for {len(self.inputs)} arguments, got "
                f"{len(arrays)}"
            )
        sizes: dict[str, int] = {}
        for place, (x, names) in enumerate(zip(arrays, self.inputs, strict=True)):
            if x.ndim < len(names):
                raise ValueError(
                    f"vectorize: argument {place} of shape {x.shape} has too few dimensions for "
                    f"({','.join(names)}) of the signature {self.text!r}"
                )
            self.meet(sizes, names, x.shape[x.ndim - len(names) :], f"argument {place}")
        return sizes

    def meet(
        self, sizes: dict[str, int], names: Sequence[str], shape: Sequence[int], what: str
    ) -> None:
        """Add the sizes of `names` in `shape` to `sizes`; raise ValueError if one differs there."""
        for name, n in zip(names, shape, strict=True):
            expected = int(name) if name.isdigit() else sizes.setdefault(name, n)
            if n != expected:
                raise ValueError(
                    f"vectorize: dimension {name} of the signature {self.text!r} is {expected}, "
                    f"but {what} has {n} there"
                )

    def check_results(self, sizes: dict[str, int], results: Any) -> None:
        """Raise an error if the results of one call do not fit the signature."""
        leaves = tree_util.tree_leaves(results)
        several = isinstance(results, tuple)
        if len(leaves) != len(self.outputs) or several != (len(self.outputs) > 1):
            raise TypeError(
                f"vectorize: the signature {self.text!r} has {len(self.outputs)} results, but the "
                f"function returned {'a tuple of ' if several else ''}{len(leaves)}"
            )
        for place, (x, names) in enumerate(zip(leaves, self.outputs, strict=True)):
            (x,) = as_arrays([x], "vectorize")
            if x.ndim != len(names):
                raise ValueError(
                    f"vectorize: result {place} of the function has shape {x.shape}; expected "
                    f"dimensions ({','.join(names)}) by the signature {self.text!r}"
                )
            self.meet(sizes, names, x.shape, f"result {place}")


def _mapped(
    function: Callable[..., Any], arrays: Sequence[Array], signature: Signature | None
) -> Any:
    """`function` over all dimensions of the arrays that are not the signature's."""
    if signature is None:
        cores = [0] * len(arrays)
        checked = function
    else:
        sizes = signature.sizes(arrays)
        cores = [len(names) for names in signature.inputs]

        def checked(*parts: Any) -> Any:
            results = function(*parts)
            signature.check_results(dict(sizes), results)
            return results

    judge_ranks(arrays, "vectorize", cores)
    loops = [x.shape[: x.ndim - core] for x, core in zip(arrays, cores, strict=True)]
    target = broadcast_shapes(*loops, what="vectorize") if loops else ()
    # From the innermost dimension outwards; arrays that are 1 long there take no part.
    operands = list(arrays)
    lonely = []
    for from_end in range(1, len(target) + 1):
        axes: list[int | None] = []
        for loop in loops:
            mapped = len(loop) >= from_end and loop[-from_end] != 1
            axes.append(0 if mapped else None)
        if all(axis is None for axis in axes):
            lonely.append(len(target) - from_end)
        else:
            checked = vmap.vmap(checked, in_axes=tuple(axes))
    for i, (x, loop, core) in enumerate(zip(arrays, loops, cores, strict=True)):
        kept = tuple(n for n in loop if n != 1)
        operands[i] = reshape(x, kept + x.shape[x.ndim - core :])
    results = checked(*operands)
    if not lonely:
        return tree_util.tree_map(lambda leaf: as_arrays([leaf], "vectorize")[0], results)
    return tree_util.tree_map(lambda leaf: expand_dims(leaf, sorted(lonely)), results)


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Any:
    """Apply a function of vectors to each vector along an axis.

    Args:
        func1d: takes a vector, and the further arguments; its result replaces the axis.
        axis: the axis.
        arr: an array.
        args: further arguments, the same for all.
        kwargs: likewise.

    Raises:
        TypeError: `func1d` is not a function, or `arr` is not an array.
        ValueError: there is no such axis.

    >>> irax.numpy.apply_along_axis(irax.numpy.sum, 0, irax.numpy.ones((2, 3)))
    Array([2., 2., 2.], dtype=float32)
    """
    (x,) = as_arrays([arr], "apply_along_axis")
    axis = canonical_axis("apply_along_axis", axis, x.ndim)

    def function(vector: Array) -> Any:
        return func1d(vector, *args, **kwargs)

    for _ in range(x.ndim - 1 - axis):
        function = vmap.vmap(function, in_axes=-1, out_axes=-1)
    for _ in range(axis):
        function = vmap.vmap(function)
    return function(x)


def apply_over_axes(
    func: Callable[[ArrayLike, int], Array], a: ArrayLike, axes: int | Sequence[int]
) -> Array:
    """Apply a function of an array and an axis for one axis after another.

    Args:
        func: takes an array and an axis; its result keeps the axis, with any size, or lacks it.
        a: an array.
        axes: the axes.

    Raises:
        ValueError: the function returns an array of another number of dimensions.

    >>> irax.numpy.apply_over_axes(irax.numpy.sum, irax.numpy.ones((2, 3)), [0, 1])
    Array([[6.]], dtype=float32)
    """
    (x,) = as_arrays([a], "apply_over_axes")
    rank = x.ndim
    for axis in axes if isinstance(axes, Sequence) else (axes,):
        place = canonical_axis("apply_over_axes", axis, rank)
        (x,) = as_arrays([func(x, place)], "apply_over_axes")
        if x.ndim == rank - 1:
            x = expand_dims(x, [place])
        if x.ndim != rank:
            raise ValueError(
                f"apply_over_axes: the function returned {x.ndim} dimensions; expected {rank}, or "
                "one less"
            )
    return x

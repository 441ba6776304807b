"""Jacobians and Hessians as sparse matrices, by one product for each color."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from irax import numpy as jnp
from irax import tree_util
from irax.core.array import Array
from irax.core.dtypes.kinds import float0
from irax.core.tracebacks import api_boundary
from irax.core.wrapping import wraps
from irax.execution.jit import jit
from irax.flatten_util import ravel_pytree
from irax.sparse.colors import MODES, Coloring, Mode, color
from irax.sparse.patterns import (
    SparsityPattern,
    Subject,
    differentiated,
    gradient,
    itself,
    pattern_of,
    symmetric,
    with_value,
)
from irax.transforms.autodiff import ArgNums, jvp, vjp
from irax.transforms.differentiable import check_callable
from irax.transforms.vmap import vmap
from irax_compiler import api
from irax_compiler.ops.core import UnsupportedOp

Format = Literal["bcoo", "bcsr", "scipy", "dense"]
_FORMATS = ("bcoo", "bcsr", "scipy", "dense")


@api_boundary
def jacobian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Mode = "auto",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `fun` as a sparse matrix.

    The pattern and its colors are found at the first call for arguments of some shapes, and kept,
    as `jit` keeps what it compiled.

    Args:
        fun: a function of pytrees of floating-point arrays.
        argnums: which positional arguments to differentiate with respect to.
        mode: "fwd" for directional derivatives, "rev" for cotangents; "auto" for what takes fewer;
            "bidirectional" for both, where that takes fewer still.
        format: "bcoo" or "bcsr" of `irax.experimental.sparse`, "scipy" for a `csr_array`, "dense".
        coloring: colors to use in place of those found here.

    Returns:
        A function that returns a matrix of shape `(size of the result, size of the arguments)`.

    Raises:
        TypeError: `fun` is not a function; on a call, an argument is not floating-point.
        ValueError: an unknown mode or format, or colors of another shape.

    >>> jacobian(lambda x: x**2)(irax.numpy.arange(3.0)).todense()
    Array([[0., 0., 0.],
           [0., 2., 0.],
           [0., 0., 4.]], dtype=float32)
    """
    both = value_and_jacobian(fun, argnums, mode=mode, format=format, coloring=coloring)

    @api_boundary
    @wraps(fun)
    def sparse_jacobian(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return sparse_jacobian


@api_boundary
def value_and_jacobian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Mode = "auto",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the value of `fun` and its Jacobian, as `jacobian` does.

    Args:
        fun: a function of pytrees of floating-point arrays.
        argnums: which positional arguments to differentiate with respect to.
        mode: as of `jacobian`.
        format: as of `jacobian`.
        coloring: colors to use in place of those found here.

    >>> value, matrix = value_and_jacobian(lambda x: x[:2] * x[1:])(irax.numpy.arange(3.0))
    >>> value, matrix.nse
    (Array([0., 2.], dtype=float32), 4)
    """
    _check("jacobian", mode, format)

    derivative = _ByColors("jacobian", fun, argnums, coloring, itself, mode)

    @api_boundary
    @wraps(fun)
    def value_and_matrix(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        chosen, value, elements = derivative(args, kwargs)
        return value, _matrix(chosen.pattern, elements, format)

    return value_and_matrix


@api_boundary
def hessian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Literal["symmetric", "acyclic"] = "symmetric",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of a scalar function as a sparse matrix, by
    products of it with the sums of the columns of each color.

    Args:
        fun: a function of pytrees of floating-point arrays, to a scalar.
        argnums: which positional arguments to differentiate with respect to.
        mode: "symmetric" for a star coloring, "acyclic" for colors that may be fewer, and elements
            that may be differences of products, with fewer digits.
        format: as of `jacobian`.
        coloring: colors to use in place of those found here.

    Raises:
        TypeError, ValueError: as of `jacobian`; the result is not a scalar.

    >>> hessian(lambda x: irax.numpy.sum(x[1:] * x[:-1]))(irax.numpy.ones(3)).todense()
    Array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    both = _with_hessian("hessian", fun, argnums, mode, format, coloring, gradient)

    @api_boundary
    @wraps(fun)
    def sparse_hessian(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return sparse_hessian


@api_boundary
def grad_and_hessian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Literal["symmetric", "acyclic"] = "symmetric",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the gradient of a scalar function, as `irax.grad` does, and
    its Hessian, as `hessian` does: what a step of Newton's method takes.

    Args:
        fun: a function of pytrees of floating-point arrays, to a scalar.
        argnums: which positional arguments to differentiate with respect to.
        mode: as of `hessian`.
        format: as of `jacobian`.
        coloring: colors to use in place of those found here.

    >>> slope, matrix = grad_and_hessian(lambda x: irax.numpy.sum(x**3))(irax.numpy.ones(2))
    >>> slope, matrix.data
    (Array([3., 3.], dtype=float32), Array([6., 6.], dtype=float32))
    """
    both = _with_hessian("grad_and_hessian", fun, argnums, mode, format, coloring, gradient)

    @api_boundary
    @wraps(fun)
    def gradient_and_matrix(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        slopes, matrix = both(*args, **kwargs)
        return slopes if isinstance(argnums, Sequence) else slopes[0], matrix

    return gradient_and_matrix


@api_boundary
def value_and_hessian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Literal["symmetric", "acyclic"] = "symmetric",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the value of a scalar function and its Hessian, as `hessian`
    does.

    Args:
        fun: a function of pytrees of floating-point arrays, to a scalar.
        argnums: which positional arguments to differentiate with respect to.
        mode: as of `hessian`.
        format: as of `jacobian`.
        coloring: colors to use in place of those found here.

    >>> value, matrix = value_and_hessian(lambda x: irax.numpy.sum(x**3))(irax.numpy.ones(2))
    >>> value, matrix.data
    (Array(2., dtype=float32), Array([6., 6.], dtype=float32))
    """
    return _with_hessian("value_and_hessian", fun, argnums, mode, format, coloring, with_value)


def _with_hessian(
    what: str,
    fun: Callable[..., Any],
    argnums: ArgNums,
    mode: Literal["symmetric", "acyclic"],
    format: str,
    coloring: Coloring | None,
    subject: Subject,
) -> Callable[..., tuple[Any, Any]]:
    """The function that computes a Hessian, beside what the subject returns."""
    _check(what, mode, format, ("symmetric", "acyclic"))
    derivative = _ByColors(what, fun, argnums, coloring, subject, mode)

    @api_boundary
    @wraps(fun)
    def beside_matrix(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        chosen, found, elements = derivative(args, kwargs)
        return found, _matrix(chosen.pattern, elements, format)

    return beside_matrix


class _ByColors:
    """The elements of a derivative, for arguments of any shapes: the coloring and the program for
    some are found once.
    """

    def __init__(
        self,
        what: str,
        fun: Callable[..., Any],
        argnums: ArgNums,
        coloring: Coloring | None,
        subject: Subject,
        mode: Mode,
    ) -> None:
        """`subject` is the function whose Jacobian is computed; unless a coloring is given, its
        pattern is colored as `mode` says.
        """
        check_callable(fun, what)
        if coloring is not None and not isinstance(coloring, Coloring):
            raise TypeError(
                f"{what}: coloring is a {type(coloring).__name__}; expected a Coloring, which "
                "irax.sparse.color returns"
            )
        self._what, self._fun, self._argnums = what, fun, argnums
        self._coloring, self._subject = coloring, subject
        self._mode: Mode = mode
        self._is_symmetric = mode in ("symmetric", "acyclic")
        self._kept: dict[Any, tuple[Coloring, Callable[..., Any]]] = {}

    def __call__(self, args: Any, kwargs: Any) -> tuple[Coloring, Any, Array]:
        """Return the coloring, what the subject returns beside, and the elements."""
        call = (args, kwargs)
        function, chosen = differentiated(self._what, self._fun, self._argnums, args, self._subject)
        key = _signature(call)
        if key not in self._kept:
            return self._first(key, function, call, chosen)
        coloring, compute = self._kept[key]
        return coloring, *compute(call, *chosen)

    def _first(
        self, key: Any, function: Callable[..., Any], call: tuple[Any, Any], chosen: tuple[Any, ...]
    ) -> tuple[Coloring, Any, Array]:
        """The results for arguments of new shapes. A function may have no forward mode, as those of
        `custom_vjp`, or no reverse mode, as loops of unknown length: then it is the other one.
        """
        refused = None
        for coloring, is_reverse in self._colorings(function, call, chosen):
            compute = jit(_program(function, coloring, is_reverse))
            try:
                found = compute(call, *chosen)
            except UnsupportedOp as error:
                refused = refused or error
                continue
            self._kept[key] = coloring, compute
            return coloring, *found
        assert refused is not None
        raise refused

    def _colorings(
        self, function: Callable[..., Any], call: tuple[Any, Any], chosen: tuple[Any, ...]
    ) -> Iterator[tuple[Coloring, bool]]:
        """The coloring, and those to take if the function refuses its mode; True with those that
        take reverse mode alone.
        """
        if self._coloring is not None:
            width = sum(int(np.size(x)) for x in tree_util.tree_leaves(chosen))
            if self._coloring.pattern.shape[1] != width:
                raise ValueError(
                    f"{self._what}: coloring has a pattern of shape "
                    f"{self._coloring.pattern.shape}, and the arguments have {width} elements; "
                    "expected as many columns"
                )
            first = self._coloring
        else:
            pattern = pattern_of(function, call, chosen, False)
            first = color(symmetric(pattern) if self._is_symmetric else pattern, self._mode)
        yield first, first.mode == "rev"
        if self._is_symmetric:  # so products with the transpose are the same
            yield first, True
        elif self._coloring is None and self._mode == "auto":
            others: tuple[Mode, ...] = ("fwd", "rev")
            for mode in others:
                if mode != first.mode:
                    yield color(first.pattern, mode), mode == "rev"


def _check(what: str, mode: str, format: str, expected: Sequence[str] = MODES[:4]) -> None:
    if mode not in expected:
        modes = ", ".join(map(repr, expected))
        raise ValueError(f"{what}: mode={mode!r}; expected {modes}")
    if format not in _FORMATS:
        formats = ", ".join(map(repr, _FORMATS))
        raise ValueError(f"{what}: format={format!r}; expected {formats}")


def _signature(arguments: Any) -> Any:
    leaves, tree = tree_util.tree_flatten(arguments)
    return tree, tuple((np.shape(x), str(getattr(x, "dtype", type(x)))) for x in leaves)


def _program(
    function: Callable[..., Any], coloring: Coloring, is_reverse: bool
) -> Callable[..., Any]:
    """The second result of a function, and the elements of the Jacobian of the first: by
    directional derivatives for the colors of columns, and cotangents for those of rows. If
    `is_reverse`, there are cotangents alone.
    """
    count, (height, width) = coloring.of_columns, coloring.pattern.shape
    colors = _narrow(coloring.colors, coloring.num_colors)
    across, down = colors[:width], colors[colors.size - height :]
    first_of_rows = 0 if is_reverse else count

    def compute(others: Any, *given: Any) -> tuple[Any, Array]:
        def of_given(*x: Any) -> Any:
            return function(others, *x)

        value, products = None, []
        if is_reverse or coloring.mode == "bidirectional":
            numbers = range(first_of_rows, coloring.num_colors)
            value, pulled = _rows(of_given, given, down, numbers)
            products.append(pulled)
        if not is_reverse:
            value, pushed = _columns(of_given, given, across, range(count))
            _check_height(pushed.shape[1], height)
            products.insert(0, pushed)
        flat = jnp.concatenate([x.ravel() for x in products])
        if coloring.mode == "acyclic":
            return value, _substituted(flat, coloring)
        return value, flat[_indices(coloring)]

    return compute


def _columns(
    function: Callable[..., Any], given: Any, colors: np.ndarray, numbers: range
) -> tuple[Any, Array]:
    """The second result of a function, and a directional derivative of the first for each of some
    colors of its columns.
    """
    vector, unravel = ravel_pytree(given)

    def push(number: Any) -> tuple[Any, Array]:
        direction = (colors == number).astype(vector.dtype)
        value, tangent, beside = jvp(function, given, unravel(direction), has_aux=True)
        moving = [
            t if _is_differentiable(y) else jnp.zeros(jnp.shape(y), vector.dtype)
            for y, t in zip(*map(tree_util.tree_leaves, (value, tangent)), strict=True)
        ]
        return beside, ravel_pytree(moving)[0]

    return vmap(push, out_axes=(None, 0))(np.array(numbers, colors.dtype))


def _rows(
    function: Callable[..., Any], given: Any, colors: np.ndarray, numbers: range
) -> tuple[Any, Array]:
    """The second result of a function, and the product of a cotangent and the Jacobian of the first
    for each of some colors of its rows.
    """
    value, pull, beside = vjp(function, *given, has_aux=True)
    leaves, tree = tree_util.tree_flatten(value)
    if any(jnp.iscomplexobj(y) for y in leaves):
        raise UnsupportedOp(
            "jacobian: a result is complex, and products with cotangents give elements of real "
            "results alone; use mode='fwd'"
        )
    ends = np.cumsum([int(np.prod(jnp.shape(y))) for y in leaves], dtype=np.int64)
    _check_height(int(ends[-1]) if leaves else 0, colors.size)
    parts = np.split(colors, ends)[: len(leaves)]

    def product(number: Any) -> Array:
        cotangents = [
            (part == number).astype(y.dtype).reshape(jnp.shape(y))
            if _is_differentiable(y)
            else np.zeros(jnp.shape(y), float0)
            for part, y in zip(parts, leaves, strict=True)
        ]
        return ravel_pytree(pull(tree_util.tree_unflatten(tree, cotangents)))[0]

    return beside, vmap(product)(np.array(numbers, colors.dtype))


def _check_height(size: int, height: int) -> None:
    if size != height:
        raise ValueError(
            f"coloring has a pattern of {height} rows, and the results of the function have {size} "
            "elements; expected as many rows"
        )


def _is_differentiable(y: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(y), jnp.inexact)


def _substituted(products: Array, coloring: Coloring) -> Array:
    """The elements of a symmetric matrix, from the products of an acyclic coloring.

    An unknown is what stands at its place, less the unknowns whose parent it is: the sum of what
    stands at its place and those of all below it, with signs by turns. Round k adds to each the
    sums of those 2^k below it.
    """
    forest = coloring.forest()
    signs = np.where(forest.depths % 2, -1, 1)
    where = forest.colors * coloring.pattern.shape[0] + forest.places
    sums = products[_narrow(where, products.size)] * signs.astype(products.dtype)
    above = forest.parents
    while above.max(initial=-1) >= 0:
        (those,) = np.nonzero(above >= 0)
        below = sums[_narrow(those, sums.size)]
        sums = sums.at[_narrow(above[those], sums.size)].add(below)
        above = np.where(above >= 0, above[above], -1)
    return (sums * signs.astype(products.dtype))[_narrow(forest.unknowns, sums.size)]


def _indices(coloring: Coloring) -> np.ndarray:
    """The places of the elements in the products, those of columns before those of rows."""
    pattern, (height, width) = coloring.pattern, coloring.pattern.shape
    found = api.flat_places(pattern.toscipy(), coloring.mode, coloring.colors, coloring.places())
    count = coloring.of_columns
    return _narrow(found, count * height + (coloring.num_colors - count) * width)


def _narrow(indices: np.ndarray, size: int) -> np.ndarray:
    """Indices into an array of some size, as int32 where that has them."""
    return indices.astype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)


def _matrix(pattern: SparsityPattern, elements: Any, format: str) -> Any:
    from irax.experimental.sparse import BCOO, BCSR

    if format == "scipy":
        from scipy.sparse import csr_array

        return csr_array((np.asarray(elements), (pattern.rows, pattern.cols)), pattern.shape)
    indices = np.stack([pattern.rows, pattern.cols], 1).astype(np.int32)
    found = BCOO((elements, indices), shape=pattern.shape, indices_sorted=True, unique_indices=True)
    match format:
        case "bcsr":
            return BCSR.from_bcoo(found)
        case "dense":
            return found.todense()
    return found

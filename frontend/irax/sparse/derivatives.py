"""Jacobians and Hessians as sparse matrices, by one product for each color."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from irax import tree_util
from irax.core.array import Array, ConcreteArray
from irax.core.tracebacks import api_boundary
from irax.core.wrapping import wraps
from irax.execution.jit import jit
from irax.sparse.colors import MODES, Coloring, Mode, color
from irax.sparse.patterns import SparsityPattern, pattern_of, symmetric
from irax.sparse.products import program
from irax.sparse.subjects import Call, Function, Subject, gradient, itself, with_value
from irax.transforms.autodiff import ArgNums
from irax_compiler.ops.core import UnsupportedOp

Format = Literal["bcoo", "bcsr", "scipy", "dense"]
_FORMATS = ("bcoo", "bcsr", "scipy", "dense")
_OF_HESSIANS = ("symmetric", "acyclic")


@api_boundary
def jacobian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Mode = "auto",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
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
        has_aux: `fun` returns `(result, aux)`, and aux, a pytree of arrays, is not differentiated:
            this returns `(matrix, aux)`.
        holomorphic: `fun` is a holomorphic function of complex arguments, and the elements are its
            complex derivatives.

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
    _check("jacobian", mode, format)
    function = Function("jacobian", fun, argnums, has_aux, holomorphic)
    both = _ByColors(function, coloring, itself, mode, format)

    @api_boundary
    @wraps(fun)
    def sparse_jacobian(*args: Any, **kwargs: Any) -> Any:
        (_, aux), matrix = both(args, kwargs)
        return (matrix, aux) if has_aux else matrix

    return sparse_jacobian


@api_boundary
def value_and_jacobian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Mode = "auto",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the value of `fun` and its Jacobian, as `jacobian` does.

    Args:
        fun: a function of pytrees of floating-point arrays.
        argnums: which positional arguments to differentiate with respect to.
        mode: as of `jacobian`.
        format: as of `jacobian`.
        coloring: colors to use in place of those found here.
        has_aux: as of `jacobian`; this returns `((value, aux), matrix)`.
        holomorphic: as of `jacobian`.

    >>> value, matrix = value_and_jacobian(lambda x: x[:2] * x[1:])(irax.numpy.arange(3.0))
    >>> value, matrix.nse
    (Array([0., 2.], dtype=float32), 4)
    """
    _check("value_and_jacobian", mode, format)
    function = Function("value_and_jacobian", fun, argnums, has_aux, holomorphic)
    both = _ByColors(function, coloring, itself, mode, format)

    @api_boundary
    @wraps(fun)
    def value_and_matrix(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        (value, aux), matrix = both(args, kwargs)
        return (value, aux) if has_aux else value, matrix

    return value_and_matrix


@api_boundary
def hessian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Literal["symmetric", "acyclic"] = "symmetric",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
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
        has_aux: as of `jacobian`.
        holomorphic: as of `jacobian`.

    Raises:
        TypeError, ValueError: as of `jacobian`; the result is not a scalar.

    >>> hessian(lambda x: irax.numpy.sum(x[1:] * x[:-1]))(irax.numpy.ones(3)).todense()
    Array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    _check("hessian", mode, format, _OF_HESSIANS)
    function = Function("hessian", fun, argnums, has_aux, holomorphic)
    both = _ByColors(function, coloring, gradient, mode, format)

    @api_boundary
    @wraps(fun)
    def sparse_hessian(*args: Any, **kwargs: Any) -> Any:
        (_, aux), matrix = both(args, kwargs)
        return (matrix, aux) if has_aux else matrix

    return sparse_hessian


@api_boundary
def grad_and_hessian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Literal["symmetric", "acyclic"] = "symmetric",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the gradient of a scalar function, as `irax.grad` does, and
    its Hessian, as `hessian` does: what a step of Newton's method takes.

    Args:
        fun: a function of pytrees of floating-point arrays, to a scalar.
        argnums: which positional arguments to differentiate with respect to.
        mode: as of `hessian`.
        format: as of `jacobian`.
        coloring: colors to use in place of those found here.
        has_aux: as of `jacobian`; this returns `((gradient, aux), matrix)`.
        holomorphic: as of `jacobian`.

    >>> slope, matrix = grad_and_hessian(lambda x: irax.numpy.sum(x**3))(irax.numpy.ones(2))
    >>> slope, matrix.data
    (Array([3., 3.], dtype=float32), Array([6., 6.], dtype=float32))
    """
    _check("grad_and_hessian", mode, format, _OF_HESSIANS)
    function = Function("grad_and_hessian", fun, argnums, has_aux, holomorphic)
    both = _ByColors(function, coloring, gradient, mode, format)

    @api_boundary
    @wraps(fun)
    def gradient_and_matrix(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        (slopes, aux), matrix = both(args, kwargs)
        slopes = slopes if isinstance(argnums, Sequence) else slopes[0]
        return (slopes, aux) if has_aux else slopes, matrix

    return gradient_and_matrix


@api_boundary
def value_and_hessian(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    mode: Literal["symmetric", "acyclic"] = "symmetric",
    format: Format = "bcoo",
    coloring: Coloring | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the value of a scalar function and its Hessian, as `hessian`
    does.

    Args:
        fun: a function of pytrees of floating-point arrays, to a scalar.
        argnums: which positional arguments to differentiate with respect to.
        mode: as of `hessian`.
        format: as of `jacobian`.
        coloring: colors to use in place of those found here.
        has_aux: as of `jacobian`; this returns `((value, aux), matrix)`.
        holomorphic: as of `jacobian`.

    >>> value, matrix = value_and_hessian(lambda x: irax.numpy.sum(x**3))(irax.numpy.ones(2))
    >>> value, matrix.data
    (Array(2., dtype=float32), Array([6., 6.], dtype=float32))
    """
    _check("value_and_hessian", mode, format, _OF_HESSIANS)
    function = Function("value_and_hessian", fun, argnums, has_aux, holomorphic)
    both = _ByColors(function, coloring, with_value, mode, format)

    @api_boundary
    @wraps(fun)
    def value_and_matrix(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        (value, aux), matrix = both(args, kwargs)
        return (value, aux) if has_aux else value, matrix

    return value_and_matrix


class _ByColors:
    """The elements of a derivative, for arguments of any shapes: the coloring and the program for
    some are found once.
    """

    def __init__(
        self,
        function: Function,
        coloring: Coloring | None,
        subject: Subject,
        mode: Mode,
        format: str,
    ) -> None:
        """`subject` makes the function whose Jacobian is computed; unless a coloring is given, its
        pattern is colored as `mode` says.
        """
        self._function, self._what = function, function.what
        if coloring is not None and not isinstance(coloring, Coloring):
            raise TypeError(
                f"{self._what}: coloring is a {type(coloring).__name__}; expected a Coloring, "
                "which irax.sparse.color returns"
            )
        self._coloring, self._subject, self._format = coloring, subject, format
        self._mode: Mode = mode
        self._is_symmetric = mode in ("symmetric", "acyclic")
        self._kept: dict[Any, tuple[Coloring, Callable[..., Any]]] = {}

    def __call__(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return what the subject returns beside, and the matrix."""
        call = self._function.called(args, kwargs, self._subject)
        key = call.key
        if key not in self._kept:
            coloring, beside, elements = self._first(key, call)
        else:
            coloring, compute = self._kept[key]
            beside, elements = compute(call.others, *call.chosen)
        return beside, _matrix(self._what, coloring.pattern, elements, self._format)

    def _first(self, key: Any, call: Call) -> tuple[Coloring, Any, Array]:
        """The results for arguments of new shapes. A function may have no forward mode, as those of
        `custom_vjp`, or no reverse mode, as loops of unknown length: then it is the other one.
        """
        refused = None
        for coloring, is_reverse in self._colorings(call):
            compute = jit(program(call.function, coloring, is_reverse))
            try:
                found = compute(call.others, *call.chosen)
            except UnsupportedOp as error:
                refused = refused or error
                continue
            self._kept[key] = coloring, compute
            return coloring, *found
        assert refused is not None
        raise refused

    def _colorings(self, call: Call) -> Iterator[tuple[Coloring, bool]]:
        """The coloring, and those to take if the function refuses its mode; True with those that
        take reverse mode alone.
        """
        if self._coloring is not None:
            width = sum(int(np.size(x)) for x in tree_util.tree_leaves(call.chosen))
            if self._coloring.pattern.shape[1] != width:
                raise ValueError(
                    f"{self._what}: coloring has a pattern of shape "
                    f"{self._coloring.pattern.shape}, and the arguments have {width} elements; "
                    "expected as many columns"
                )
            first = self._coloring
        else:
            pattern = pattern_of(call, False)
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


def _matrix(what: str, pattern: SparsityPattern, elements: Any, format: str) -> Any:
    from irax.experimental.sparse import BCOO, BCSR

    if format == "scipy":
        if not isinstance(elements, ConcreteArray):
            raise TypeError(
                f"{what}: format='scipy' makes a matrix of NumPy's numbers, and these are traced; "
                "use format='bcoo' inside of jit, vmap and grad"
            )
        from scipy.sparse import csr_array

        columns, ends = (x.copy() for x in pattern.compressed)  # a matrix may be changed in place
        return csr_array((np.array(elements), columns, ends), pattern.shape)
    found = BCOO(
        (elements, pattern.indices),
        shape=pattern.shape,
        indices_sorted=True,
        unique_indices=True,
    )
    match format:
        case "bcsr":
            return BCSR.from_bcoo(found)
        case "dense":
            return found.todense()
    return found

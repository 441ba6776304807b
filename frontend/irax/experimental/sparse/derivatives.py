"""Derivatives with respect to the values of sparse arrays; they have the same places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax import tree_util
from irax.core.tracebacks import api_boundary
from irax.core.wrapping import wraps
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.sparsify import is_sparse
from irax.transforms import autodiff, jacobians


class _Arguments:
    """The arguments of a call with respect to which it is differentiated."""

    def __init__(self, args: tuple[Any, ...], argnums: int | Sequence[int]) -> None:
        self._is_one = isinstance(argnums, int)
        self._numbers = [argnums] if isinstance(argnums, int) else list(argnums)
        chosen = [args[n] for n in self._numbers]
        self._leaves, self._tree = tree_util.tree_flatten(chosen, is_leaf=is_sparse)
        self.values: list[Any] = [x.data if is_sparse(x) else x for x in self._leaves]
        """Dense arguments, and the values of sparse ones."""

    def function(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """Return `fun` as a function of `values`, and of all arguments."""

        def of_values(values: list[Any], *args: Any, **kwargs: Any) -> Any:
            pairs = zip(self._leaves, values, strict=True)
            leaves = [_with_data(x, v) if is_sparse(x) else v for x, v in pairs]
            given = list(args)
            own = tree_util.tree_unflatten(self._tree, leaves)
            for n, argument in zip(self._numbers, own, strict=True):
                given[n] = argument
            return fun(*given, **kwargs)

        return of_values

    def in_form(self, derivatives: Sequence[Any]) -> Any:
        """Return derivatives with respect to `values` in the form of the arguments."""
        own = [_derivative(x, d) for x, d in zip(self._leaves, derivatives, strict=True)]
        found = tree_util.tree_unflatten(self._tree, own)
        return found[0] if self._is_one else tuple(found)


def _with_data(mat: Any, data: Any) -> Any:
    arrays, rest = mat.tree_flatten()
    return type(mat).tree_unflatten(rest, (data, *arrays[1:]))


def _derivative(x: Any, derivative: Any) -> Any:
    """The derivative with respect to an argument: sparse if that is, in dimensions after those of
    the result.
    """
    if not is_sparse(x):
        return derivative
    added = derivative.ndim - x.data.ndim
    if not added:
        return _with_data(x, derivative)
    if not isinstance(x, BCOO):
        raise NotImplementedError(
            f"sparse: a Jacobian with respect to a {type(x).__name__}: expected a BCOO"
        )
    indices = x.indices.reshape(*[1] * added, *x.indices.shape)
    return BCOO((derivative, indices), shape=(*derivative.shape[:added], *x.shape))


@api_boundary
def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any
) -> Callable[..., tuple[Any, Any]]:
    """Return a function for the value of `fun` and its gradient, as `irax.value_and_grad` does;
    with respect to a sparse array, the gradient is sparse and has its places.
    """

    @api_boundary
    @wraps(fun)
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        given = _Arguments(args, argnums)
        function = autodiff.value_and_grad(given.function(fun), has_aux=has_aux, **options)
        value, derivatives = function(given.values, *args, **kwargs)
        return value, given.in_form(derivatives)

    return value_and_gradient


@api_boundary
def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any
) -> Callable[..., Any]:
    """Return a function for the gradient of `fun`, as `irax.grad` does; with respect to a sparse
    array, it is sparse and has its places.

    >>> from irax.experimental import sparse
    >>> x = sparse.BCOO.fromdense(irax.numpy.array([0.0, 2.0, 0.0]))
    >>> sparse.grad(lambda x: (x * x).sum())(x).todense()
    Array([0., 4., 0.], dtype=float32)
    """
    function = value_and_grad(fun, argnums, has_aux, **options)

    @api_boundary
    @wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = function(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def _jacobian(
    transformation: Callable[..., Any],
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    options: dict[str, Any],
) -> Callable[..., Any]:
    @api_boundary
    @wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        given = _Arguments(args, argnums)
        trees = []

        def listed(*own: Any, **named: Any) -> Any:
            found = given.function(fun)(*own, **named)
            out, *aux = found if has_aux else (found,)
            leaves, tree = tree_util.tree_flatten(out)
            trees.append(tree)
            return (leaves, *aux) if has_aux else leaves

        function = transformation(listed, has_aux=has_aux, **options)
        found = function(given.values, *args, **kwargs)
        rows, *aux = found if has_aux else (found,)
        out = tree_util.tree_unflatten(trees[-1], list(map(given.in_form, rows)))
        return (out, *aux) if has_aux else out

    return jacobian


@api_boundary
def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any
) -> Callable[..., Any]:
    """Return a function for the Jacobian of `fun` by forward mode, as `irax.jacfwd` does; with
    respect to a sparse array, it is sparse: dimensions of the result are of its batch.
    """
    return _jacobian(jacobians.jacfwd, fun, argnums, has_aux, options)


@api_boundary
def jacrev(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any
) -> Callable[..., Any]:
    """Return a function for the Jacobian of `fun` by reverse mode, as `irax.jacrev` does; with
    respect to a sparse array, it is sparse: dimensions of the result are of its batch.
    """
    return _jacobian(jacobians.jacrev, fun, argnums, has_aux, options)


jacobian = jacrev

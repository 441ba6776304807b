"""Sparsity patterns: the places of a derivative's elements that can be other than zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from irax.core.array import Array, ConcreteArray, as_array
from irax.core.refs import refs
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import (
    FlatFunction,
    abstract_inputs,
    known_inputs,
    name_of,
)
from irax.core.wrapping import wraps
from irax.sparse.pictures import PICTURES, Picture, dots, svg
from irax.sparse.subjects import Call, Function, Subject, gradient, itself
from irax.transforms.autodiff import ArgNums
from irax_compiler import api

if TYPE_CHECKING:
    import scipy.sparse


@dataclass(frozen=True, eq=False)
class SparsityPattern:
    """The places of a matrix's elements that can be other than zero, in row-major order.

    >>> pattern = sparsity(lambda x: x[1:] - x[:-1])(irax.numpy.ones(4))
    >>> pattern
    SparsityPattern(shape=(3, 4), nnz=6)
    ⠙⠦
    """

    rows: np.ndarray
    """The row of each element: int64."""
    cols: np.ndarray
    """The column of each element: int64."""
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        places = []
        for name, number in (("rows", 0), ("cols", 1)):
            x = np.asarray(getattr(self, name))
            if x.ndim != 1 or (x.size and x.dtype.kind not in "iu"):
                raise TypeError(
                    f"SparsityPattern: {name} is {x.dtype}{list(x.shape)}; expected one dimension "
                    "of integers"
                )
            if x.size and not (x.min() >= 0 and x.max() < self.shape[number]):
                raise ValueError(
                    f"SparsityPattern: {name} are from {x.min()} to {x.max()}; expected 0 to "
                    f"{self.shape[number] - 1}, for shape={self.shape}"
                )
            places.append(x.astype(np.int64))
        rows, cols = places
        if rows.size != cols.size:
            raise ValueError(
                f"SparsityPattern: rows has {rows.size} elements and cols {cols.size}; expected as "
                "many"
            )
        is_sorted = (rows[1:] > rows[:-1]) | (rows[1:] == rows[:-1]) & (cols[1:] > cols[:-1])
        if not is_sorted.all():  # out of order, or the same place again
            keys = np.unique(rows * self.shape[1] + cols)
            rows, cols = np.divmod(keys, self.shape[1])
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "cols", cols)

    @property
    def nnz(self) -> int:
        """The number of elements."""
        return self.rows.size

    @cached_property
    def indices(self) -> Array:
        """The row and the column of each element, as matrices of `irax.experimental.sparse` have
        them: int32.
        """
        return ConcreteArray(np.stack([self.rows, self.cols], 1).astype(np.int32))

    @cached_property
    def compressed(self) -> tuple[np.ndarray, np.ndarray]:
        """The columns, and the number of elements in the rows before each row and in all, as
        matrices of `scipy.sparse` have them.
        """
        ends = np.searchsorted(self.rows, np.arange(self.shape[0] + 1))
        is_small = max(self.nnz, self.shape[1]) <= np.iinfo(np.int32).max
        dtype = np.dtype(np.int32 if is_small else np.int64)
        return self.cols.astype(dtype), ends.astype(dtype)

    @classmethod
    def fromdense(cls, matrix: Any) -> SparsityPattern:
        """Return the pattern of a matrix that NumPy takes."""
        there = np.asarray(matrix) != 0
        if there.ndim != 2:
            raise ValueError(f"fromdense: matrix has shape {there.shape}; expected two dimensions")
        rows, cols = np.nonzero(there)
        return cls(rows, cols, there.shape)

    @classmethod
    def fromscipy(cls, matrix: Any) -> SparsityPattern:
        """Return the pattern of a matrix of `scipy.sparse`."""
        from scipy.sparse import csr_array

        sums = csr_array(matrix)
        sums.sum_duplicates()
        found: Any = sums.tocoo(copy=False)
        return cls(found.row, found.col, (found.shape[0], found.shape[1]))

    def toscipy(self) -> scipy.sparse.csr_array:
        """Return a matrix of booleans of `scipy.sparse`."""
        from scipy.sparse import csr_array

        return csr_array((np.ones(self.nnz, bool), (self.rows, self.cols)), shape=self.shape)

    def todense(self) -> np.ndarray:
        """Return a matrix of booleans."""
        found = np.zeros(self.shape, bool)
        found[self.rows, self.cols] = True
        return found

    @property
    def T(self) -> SparsityPattern:
        """The pattern of the transposed matrix."""
        return SparsityPattern.fromscipy(self.toscipy().T)

    def spy(self, picture: Picture = "dots") -> str:
        """Return a picture of the elements; a large matrix is made smaller.

        Args:
            picture: "dots" for characters of two by four dots, "svg" for the text of an SVG file.
        """
        if picture not in PICTURES:
            names = ", ".join(map(repr, PICTURES))
            raise ValueError(f"spy: picture={picture!r}; expected {names}")
        return (svg if picture == "svg" else dots)(self.rows, self.cols, self.shape)

    def _repr_svg_(self) -> str:
        return self.spy("svg")

    def __repr__(self) -> str:
        return f"SparsityPattern(shape={self.shape}, nnz={self.nnz})\n{self.spy()}"


@api_boundary
def sparsity(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    local: bool = False,
    has_aux: bool = False,
) -> Callable[..., SparsityPattern]:
    """Return a function that finds the sparsity pattern of the Jacobian of `fun`.

    The pattern has every element that is other than zero for some arguments, and may have others:
    what depends on an index that is not known may depend on the whole row. Arguments that are not
    differentiated are arrays, too, of any values; what `fun` closes over is known.

    Unless `local`, arguments may be `ShapeDtypeStruct`s, as nothing but their shapes counts.

    Args:
        fun: a function of pytrees of arrays, real or complex.
        argnums: which positional arguments to differentiate with respect to.
        local: find the pattern at the arguments, instead of for all of their shapes: branches and
            comparisons are those of that point, and a factor that is zero there has no element. Of
            an argument that is traced, nothing but the shape is known.
        has_aux: `fun` returns `(result, aux)`, and aux has no part in the pattern.

    Raises:
        TypeError: `fun` is not a function; on a call, an argument is not floating-point.

    >>> sparsity(lambda x: x * x[::-1])(irax.numpy.ones(3)).todense().astype(int)
    array([[1, 0, 1],
           [0, 1, 0],
           [1, 0, 1]])
    """
    function = Function("sparsity", fun, argnums, has_aux)
    return _patterns(function, local, itself)


@api_boundary
def hessian_sparsity(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    local: bool = False,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., SparsityPattern]:
    """Return a function that finds the sparsity pattern of the Hessian of `fun`: that of its
    gradient's Jacobian, which is symmetric.

    Args:
        fun: a function of pytrees of floating-point arrays, to a scalar.
        argnums: which positional arguments to differentiate with respect to.
        local: as of `sparsity`.
        has_aux: as of `sparsity`.
        holomorphic: `fun` is a holomorphic function of complex arguments.

    >>> hessian_sparsity(lambda x: (x[0] * x[1]) ** 2 + 3 * x[2])(irax.numpy.ones(3)).nnz
    4
    """
    function = Function("hessian_sparsity", fun, argnums, has_aux, holomorphic)
    patterns = _patterns(function, local, gradient)

    @api_boundary
    @wraps(fun)
    def pattern(*args: Any, **kwargs: Any) -> SparsityPattern:
        return symmetric(patterns(*args, **kwargs))

    return pattern


def symmetric(pattern: SparsityPattern) -> SparsityPattern:
    """Return a pattern with the transposed place of each of its elements."""
    found = pattern.toscipy()
    return SparsityPattern.fromscipy(found + found.T)


def pattern_of(call: Call, local: bool) -> SparsityPattern:
    """Return the pattern of the Jacobian of a call's function, for all values of all arguments or,
    if `local`, at these.
    """
    leaves, tree = array_trees.tree_flatten(((call.others, *call.chosen), {}))
    names = call.names
    inputs: list[Input]
    if local:
        arrays = [as_array(x, f"{call.what}: {n}") for x, n in zip(leaves, names, strict=True)]
        inputs = known_inputs(arrays, names)
    else:
        arrays = leaves
        inputs = abstract_inputs(leaves, names)

    def differentiable(*given: Any) -> Any:
        if not refs.exist():
            return call.function(*given)[0]
        with refs.Adopted(abstract=not local):  # another call may find other values in Refs
            return call.function(*given)[0]

    flat = FlatFunction(differentiable, tree)
    traced = trace_function(flat, inputs, "sparsity", name_of(call.function), fresh_module=True)
    known = [
        np.asarray(x) if isinstance(x, ConcreteArray) and (local or i >= len(arrays)) else None
        for i, x in enumerate([*arrays, *traced.captures])
    ]
    wrt = range(len(array_trees.tree_leaves(call.others)), len(arrays))
    with traced.builder.deriving():  # rules of functions are traced when they are asked for
        found = api.pattern_of(traced.builder.module, traced.name, wrt, known)
    return SparsityPattern.fromscipy(found)


def _patterns(function: Function, local: bool, subject: Subject) -> Callable[..., SparsityPattern]:
    @api_boundary
    @wraps(function.fun)
    def pattern(*args: Any, **kwargs: Any) -> SparsityPattern:
        return pattern_of(function.called(args, kwargs, subject, not local), local)

    return pattern

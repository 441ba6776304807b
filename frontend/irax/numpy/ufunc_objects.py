"""Ufuncs: elementwise functions as objects with methods, such as `add.reduce`.

The methods are implemented in `ufunc_methods`, which uses such functions and registers itself here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from irax.core.array import Array, as_array
from irax.core.dtypes.strictness import library, library_class
from irax.core.tracebacks import api_boundary, hide_frames
from irax.execution.replay import replayed
from irax.numpy.vectorization import vectorize
from irax.typing import ArrayLike, DTypeLike

_Function = TypeVar("_Function", bound=Callable[..., Any])


@library_class
class ufunc:
    """An elementwise function with NumPy's methods: `reduce`, `accumulate`, `outer`, `at`, ...

    Args:
        func: a function of scalars.
        nin: the number of operands.
        nout: the number of results.
        name: its name; by default that of `func`.
        nargs: must be `nin`.
        identity: the identity element; None if there is none.
        call: the function for arrays; by default `func` for each of their elements.
        reduce: the methods, with the arguments of those below but for `self`, where there is a
            better way than applying the function again and again.
        accumulate: likewise.
        at: likewise.
        reduceat: likewise.

    >>> irax.numpy.add.reduce(irax.numpy.arange(4))
    Array(6, dtype=int32)
    >>> half_sum = irax.numpy.frompyfunc(lambda x, y: (x + y) / 2, nin=2, nout=1)
    >>> half_sum.outer(irax.numpy.arange(2), irax.numpy.arange(2))
    Array([[0. , 0.5],
           [0.5, 1. ]], dtype=float32)
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: Any = None,
        call: Callable[..., Any] | None = None,
        reduce: Callable[..., Any] | None = None,
        accumulate: Callable[..., Any] | None = None,
        at: Callable[..., Any] | None = None,
        reduceat: Callable[..., Any] | None = None,
    ) -> None:
        if nargs not in (None, nin):
            raise ValueError(f"ufunc: nargs must be nin, {nin}, got {nargs}")
        self.__wrapped__ = func
        self.__name__: str = name or getattr(func, "__name__", "ufunc")
        self.__qualname__: str = self.__name__
        self.__doc__ = func.__doc__
        self.__module__ = func.__module__
        self.__signature__: inspect.Signature = _signature(nin)
        self._made_of = (func, nin, nout, self.__name__, identity, call, reduce, accumulate, at)
        self._made_of += (reduceat,)
        self._call = call or self._of_elements
        self._methods = {"reduce": reduce, "accumulate": accumulate, "at": at, "reduceat": reduceat}

    @property
    def nin(self) -> int:
        """The number of operands."""
        return self._made_of[1]

    nargs = nin

    @property
    def nout(self) -> int:
        """The number of results."""
        return self._made_of[2]

    @property
    def identity(self) -> Any:
        """The identity element; None if there is none."""
        return self._made_of[4]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ufunc) and self._made_of == other._made_of

    def __hash__(self) -> int:
        return hash(self._made_of)

    def named(self, name: str) -> ufunc:
        """Return the function under a name: itself, if it has it."""
        if name == self.__name__:
            return self
        found = object.__new__(ufunc)
        vars(found).update(vars(self))
        found.__name__ = found.__qualname__ = name
        found._made_of = (*self._made_of[:3], name, *self._made_of[4:])
        found._call = self._made_of[5] or found._of_elements
        return found

    def replay(self) -> None:
        """Replay calls outside of traces, which makes them faster."""
        self._call = replayed(self._call, numbers_vary=True)

    @property
    def lower(self) -> Callable[..., Any]:
        """Lower a call, as `irax.jit(f).lower` does; only irax's own functions have it."""
        return self._replayed.lower

    @property
    def trace(self) -> Callable[..., Any]:
        """Trace a call, as `irax.jit(f).trace` does; only irax's own functions have it."""
        return self._replayed.trace

    @property
    def eval_shape(self) -> Callable[..., Any]:
        """Return the types of the results of a call; only irax's own functions have it."""
        return self._replayed.eval_shape

    @property
    def clear_cache(self) -> Callable[[], None]:
        """Forget what was traced; only irax's own functions have it."""
        return self._replayed.clear_cache

    @property
    def _replayed(self) -> Any:
        return self._call

    def _of_elements(self, *operands: ArrayLike) -> Any:
        self._call = vectorize(self.__wrapped__)
        return self._call(*operands)

    def __call__(self, *args: ArrayLike, out: None = None, where: None = None) -> Any:
        try:
            if out is not None or where is not None:
                self._refuse("out" if out is not None else "where")
            if len(args) != self.nin:
                raise TypeError(
                    f"{self.__name__}: expected {self.nin} operands, got {len(args)}: all are "
                    "positional"
                )
            return self._call(*args)
        except (Exception, KeyboardInterrupt) as error:
            hide_frames(error)
            raise

    def __repr__(self) -> str:
        return f"<irax.numpy.ufunc {self.__name__!r}>"

    def __reduce__(self) -> Any:
        return self.__name__  # pickled by name, as functions are

    def _refuse(self, argument: str) -> None:
        raise NotImplementedError(
            f"{self.__name__}: the argument {argument!r} is not supported: arrays are immutable; "
            "use the result, or irax.numpy.where(condition, result, x)"
        )

    @library
    def _method(self, method: str, *args: Any, **options: Any) -> Any:
        if options.pop("out", None) is not None:
            raise NotImplementedError(
                f"{self.__name__}.{method}: the argument 'out' is not supported: arrays are "
                "immutable, use the result"
            )
        if self.nin != 2 or self.nout != 1:
            raise ValueError(
                f"{self.__name__}.{method}: is for functions of two operands with one result, "
                f"this one has {self.nin} and {self.nout}"
            )
        special = self._methods.get(method)
        if special is not None:
            return special(*args, **options)
        return _methods[method](self, *args, **options)

    @api_boundary
    def reduce(
        self,
        a: ArrayLike,
        axis: Any = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array:
        """Reduce axes: f(f(f(a0, a1), a2), ...); None: all axes.

        Args:
            a: an array.
            axis: the axis or axes to reduce.
            dtype: of the result.
            out: not supported.
            keepdims: True if the result keeps reduced axes, with size 1.
            initial: the initial value.
            where: a mask of the elements that take part; needs `initial` if the function has no
                identity.

        Raises:
            ValueError: not a function of two operands; no elements and no identity.
        """
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        return self._method("reduce", a, axis=axis, dtype=dtype, out=out, **options)

    @api_boundary
    def accumulate(
        self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None
    ) -> Array:
        """Return the partial results of `reduce`: a0, f(a0, a1), f(f(a0, a1), a2), ...

        Args:
            a: an array.
            axis: the axis to accumulate along.
            dtype: of the result.
            out: not supported.
        """
        return self._method("accumulate", a, axis=axis, dtype=dtype, out=out)

    @api_boundary
    def at(
        self, a: ArrayLike, indices: Any, b: ArrayLike | None = None, /, *, inplace: bool = True
    ) -> Array:
        """Return a copy of `a` with f(a[i], b) at each index i; an index that occurs twice counts
        twice.

        Args:
            a: an array.
            indices: as between the brackets of `a[indices]`.
            b: the second operand, if the function takes two.
            inplace: must be False: arrays are immutable.
        """
        if inplace:
            raise NotImplementedError(
                f"{self.__name__}.at: arrays are immutable: pass inplace=False, and use the result"
            )
        if self.nin == 1:
            return as_array(a, f"{self.__name__}.at").at[indices].apply(self)
        return self._method("at", a, indices, b)

    @api_boundary
    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array:
        """Apply f to each element of A and each of B; the result has shape `A.shape + B.shape`."""
        return self._method("outer", A, B)

    @api_boundary
    def reduceat(
        self,
        a: ArrayLike,
        indices: Any,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array:
        """Reduce the parts of an axis from each index in `indices` up to the next one; the one
        element there if the next index is not larger.

        Args:
            a: an array.
            indices: a vector of integers.
            axis: the axis.
            dtype: of the result.
            out: not supported.
        """
        return self._method("reduceat", a, indices, axis=axis, dtype=dtype, out=out)


if TYPE_CHECKING:

    class UnaryUfunc(ufunc):
        """A ufunc of one operand with one result."""

        def __call__(self, x: ArrayLike, /, *, out: None = None, where: None = None) -> Array: ...

    class BinaryUfunc(ufunc):
        """A ufunc of two operands with one result."""

        def __call__(
            self, x1: ArrayLike, x2: ArrayLike, /, *, out: None = None, where: None = None
        ) -> Array: ...


_methods: dict[str, Callable[..., Any]] = {}


def method_of_ufuncs(function: _Function) -> _Function:
    """Decorator of the implementation of a method of this name; it takes the ufunc first."""
    _methods[function.__name__] = function
    return function


def _signature(nin: int) -> inspect.Signature:
    kinds = inspect.Parameter
    names = ["x"] if nin == 1 else [f"x{i + 1}" for i in range(nin)]
    operands = [kinds(name, kinds.POSITIONAL_ONLY) for name in names]
    options = [kinds(name, kinds.KEYWORD_ONLY, default=None) for name in ("out", "where")]
    return inspect.Signature([*operands, *options])


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """Make a `ufunc` of a function of scalars.

    Args:
        func: takes `nin` scalars, returns `nout` of them.
        nin: the number of operands.
        nout: the number of results.
        identity: the identity element; None if there is none.

    Raises:
        TypeError: `nin` or `nout` is not an int.

    >>> product = irax.numpy.frompyfunc(lambda x, y: x * y, 2, 1, identity=1)
    >>> product.accumulate(irax.numpy.arange(1, 5))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    return ufunc(func, nin, nout, identity=identity)


@overload
def universal(
    nin: Literal[1], identity: Any = None
) -> Callable[[Callable[..., Array]], UnaryUfunc]: ...


@overload
def universal(
    nin: Literal[2], identity: Any = None
) -> Callable[[Callable[..., Array]], BinaryUfunc]: ...


def universal(nin: int, identity: Any = None) -> Callable[[Callable[..., Array]], Any]:
    """Makes a function for arrays, with all operands positional, a `ufunc`."""

    def decorate(function: Callable[..., Array]) -> ufunc:
        made = ufunc(function, nin, 1, identity=identity, call=function)
        made.__doc__ = (function.__doc__ or "").replace(
            "\n\nReturns:", f"{_REFUSED}\n\nReturns:", 1
        )
        made.__doc__ = made.__doc__.replace("Raises:\n", f"Raises:\n{_REFUSES}", 1)
        return made

    return decorate


_REFUSED = """
    out: not supported, since arrays are immutable.
    where: not supported: choose among the results with `irax.numpy.where`."""
_REFUSES = """    NotImplementedError: `out` or `where` is given.
"""
"""Parts of docstrings that only ufuncs have."""

"""The operators and methods of arrays, attached once for traced arrays and those with elements.

Most are functions of `irax.numpy`, which imports this module last: by then they are all there.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, errors, lax
from irax.core import source
from irax.core.array import Array, ConcreteArray
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import convert
from irax.core.python_buffers import give_buffers
from irax.core.shardings.sharded import apart_from, copied
from irax.core.tracebacks import api_boundary, hide_frames
from irax.core.tracing import still_open
from irax.numpy import placement, printing
from irax.numpy.indexing import reads as indexing
from irax.numpy.indexing import updates as index_updates
from irax_compiler.dtypes import is_of_numpy
from irax_compiler.ops import bitcast, shape

# ---- operators -----------------------------------------------------------------------------------

_OPERANDS = (Array, np.ndarray, np.generic, bool, int, float, complex)
_CURES = {
    **dict.fromkeys((list, tuple, set, dict), "make it an array first: irax.numpy.array(...)"),
    str: 'write the number into the text: f"{x}"',
    type(None): "a function without a return statement returns None",
}
"""Types that no operator takes, and what to do about each."""


def _takes(other: Any, symbol: str, method: str) -> bool:
    """Return True if an operator takes `other`; if not, Python asks `method` of its type.

    Raises:
        TypeError: `other` is a container, a string or None without such a method of its own;
            Python's error would say less.
    """
    if isinstance(other, _OPERANDS):
        return True
    kind = next((c for c in _CURES if isinstance(other, c)), None)
    if kind in (str, type(None)) and symbol not in _OF_ARITHMETIC:
        return False  # compared with one, an array is not equal
    if kind is str and symbol == "*":
        return False  # Python repeats a string by an array of one integer
    if kind and getattr(type(other), method, None) == getattr(kind, method, None):
        name = "None" if other is None else f"a {type(other).__name__}"
        raise TypeError(f"{symbol}: an array and {name} do not go together; {_CURES[kind]}")
    return hasattr(other, "__irax_array__") or hasattr(other, "__jax_array__")


def _binary(symbol: str, function: str, method: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        try:
            if not _takes(other, symbol, method):
                return NotImplemented
            return getattr(jnp, function)(self, other)
        except (Exception, KeyboardInterrupt) as error:
            hide_frames(error)
            raise

    return operator


def _reflected(symbol: str, function: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        try:
            if not _takes(other, symbol, ""):
                return NotImplemented
            return getattr(jnp, function)(other, self)
        except (Exception, KeyboardInterrupt) as error:
            hide_frames(error)
            raise

    return operator


_ARITHMETIC = {
    "add": ("+", "add"),
    "sub": ("-", "subtract"),
    "mul": ("*", "multiply"),
    "truediv": ("/", "true_divide"),
    "floordiv": ("//", "floor_divide"),
    "mod": ("%", "remainder"),
    "divmod": ("divmod()", "divmod"),
    "pow": ("**", "power"),
    "matmul": ("@", "matmul"),
    "and": ("&", "bitwise_and"),
    "or": ("|", "bitwise_or"),
    "xor": ("^", "bitwise_xor"),
    "lshift": ("<<", "left_shift"),
    "rshift": (">>", "right_shift"),
}
_OF_ARITHMETIC = {symbol for symbol, _ in _ARITHMETIC.values()}
_COMPARISONS = {
    "eq": ("==", "equal"),
    "ne": ("!=", "not_equal"),
    "lt": ("<", "less"),
    "le": ("<=", "less_equal"),
    "gt": (">", "greater"),
    "ge": (">=", "greater_equal"),
}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "invert"}


def _round(x: Array, ndigits: int | None = None) -> Array:
    """`round(x)` gives integers, `round(x, n)` keeps the dtype, as for a Python float."""
    if ndigits is None:
        return convert(jnp.round(x), dtypes.default_int())
    return jnp.round(x, ndigits)


# ---- Python's numbers, and NumPy's arrays --------------------------------------------------------


def _bool(x: Array) -> bool:
    if x.size != 1:
        text = f"an array of shape {x.shape}"
        raise ValueError(
            f"the truth value of {text} with more than one element is ambiguous: use .any() or "
            ".all()"
            if x.size
            else f"the truth value of {text} without elements is ambiguous: use .size > 0"
        )
    why = "Python needs True or False"
    return bool(x.concrete(why, errors.TracerBoolConversionError, chooses=True))


def _number(x: Array, kind: type) -> Any:
    if x.ndim:
        raise TypeError(
            f"{kind.__name__}(): only an array of shape () can become a Python number, got shape "
            f"{x.shape}: choose an element, or use .item() or .tolist()"
        )
    why = f"Python needs the number for {kind.__name__}()"
    rounds = kind is int
    value = x.concrete(why, errors.ConcretizationTypeError, chooses=rounds, computes=not rounds)
    return kind(value.item())


def _index(x: Array) -> int:
    if x.ndim or not dtypes.issubdtype(x.dtype, np.integer):
        raise TypeError(
            "only an array of shape () and integer dtype can be an index, a length or a count of "
            f"Python's, got {x.aval}"
        )
    why = "Python needs an int"
    return int(x.concrete(why, errors.TracerIntegerConversionError, chooses=True).item())


def _array(x: Array, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    """Return the elements as a NumPy array in row-major order without gaps: a view that nobody can
    write to, or a copy.
    """
    if isinstance(x, ConcreteArray):
        value = x.contiguous
    else:
        why = "a function of NumPy needs the elements"
        value = x.concrete(why, errors.TracerArrayConversionError, computes=True)
        value = np.asarray(value, order="C")
    return np.array(_read_only(value), dtype=dtype, copy=copy)


def _read_only(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    # Over a read-only buffer: a mere view becomes writeable again as soon as someone asks.
    if not value.itemsize:  # float0, of which there is nothing to write
        return value
    plain = value if is_of_numpy(value.dtype) else value.view(f"u{value.itemsize}")
    buffer: Any = plain
    return np.asarray(memoryview(buffer).toreadonly()).view(value.dtype)


def _buffer(x: Array, flags: int, /) -> memoryview:
    """Return a read-only buffer for `memoryview(x)`."""
    memory: Any = _exported(x)
    return memoryview(memory)


def _exported(x: Array) -> np.ndarray[Any, Any]:
    """Return an array that exports the elements in Python's buffer protocol."""
    if not is_of_numpy(x.dtype):
        raise BufferError(f"Python's buffers have no elements of dtype {x.dtype}")
    return _array(x)


def _dlpack(
    x: Array,
    *,
    stream: None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a capsule for `from_dlpack` of another library: see `irax.numpy.dlpack.to_capsule`."""
    from irax.numpy.dlpack import to_capsule

    return to_capsule(x, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def _dlpack_device(x: Array) -> tuple[int, int]:
    """Return (1, 0), the CPU: the device of the capsule that `__dlpack__` returns."""
    return (1, 0)


def _array_namespace(x: Array, *, api_version: str | None = None) -> Any:
    """Return `irax.numpy`, the array's namespace in the sense of the array API standard.

    Raises:
        ValueError: it does not support this version of the standard.
    """
    from irax.numpy.namespace_info import VERSIONS

    if api_version not in (None, *VERSIONS):
        raise ValueError(
            f"__array_namespace__: api_version must be one of {VERSIONS}, got {api_version!r}"
        )
    return jnp


def _item(x: Array, *index: int) -> Any:
    """Return the only element, or the one at `index`, as a Python number."""
    why = "item() needs the element"
    return x.concrete(why, errors.ConcretizationTypeError, chooses=True).item(*index)


def _tolist(x: Array) -> Any:
    """Return the elements as nested lists of Python numbers."""
    why = "tolist() needs the elements"
    return x.concrete(why, errors.ConcretizationTypeError, computes=True).tolist()


def _tobytes(x: Array, order: Any = "C") -> bytes:
    """Return the bytes of the elements in memory."""
    why = "tobytes() needs the elements"
    return x.concrete(why, errors.ConcretizationTypeError, computes=True).tobytes(order)


def _reduce(x: Array) -> Any:
    if not isinstance(x, ConcreteArray):
        raise errors.ConcretizationTypeError(
            f"a traced array of type {x.aval} has no elements to pickle, at {source.user_line()}: "
            "return it from the transformed function first"
        )
    return _reconstruct_array, (*x.contiguous.__reduce__(), {"weak_type": x.weak_type})


def _reconstruct_array(
    make: Callable[..., Any], args: tuple[Any, ...], state: Any, aval_state: dict[str, Any]
) -> Array:
    """Return a pickled array: what NumPy pickles, and the rest of its type, in JAX's form."""
    elements = make(*args)
    elements.__setstate__(state)
    return ConcreteArray(elements, aval_state["weak_type"])


# ---- containers ----------------------------------------------------------------------------------


def _len(x: Array) -> int:
    if not x.ndim:
        raise TypeError("len(): an array of shape () has no length")
    return x.shape[0]


def _iter(x: Array) -> Iterator[Array]:
    if not x.ndim:
        raise TypeError("cannot iterate over an array of shape ()")
    return (x[i] for i in range(x.shape[0]))


def _contains(x: Array, element: Any) -> bool:
    if x.ndim != 1 or np.ndim(element):
        source.warn(
            f"in: an array of shape {x.shape} is asked for {element!r}: in JAX it is an error if "
            "the array has not one dimension, or what is asked for any; use irax.numpy.isin",
            DeprecationWarning,
        )
    return bool(jnp.any(jnp.equal(x, element)))


# ---- methods -------------------------------------------------------------------------------------


def _reshape(
    x: Array, *shape: Any, order: str = "C", copy: bool | None = None, out_sharding: Any = None
) -> Array:
    """Return the elements in another shape: `x.reshape(2, -1)` or `x.reshape((2, -1))`."""
    sizes = shape[0] if len(shape) == 1 else shape
    return jnp.reshape(x, sizes, order=order, copy=copy, out_sharding=out_sharding)


def _transpose(x: Array, *axes: Any) -> Array:
    """Return the array with its dimensions in the order of `axes`, or in reverse."""
    if not axes or axes[0] is None:
        return jnp.transpose(x)
    return jnp.transpose(x, axes[0] if np.ndim(axes[0]) else axes)


def _flatten(x: Array, order: str = "C", *, out_sharding: Any = None) -> Array:
    """Return a copy of all elements in one dimension."""
    return apart_from(x, jnp.ravel(x, order=order, out_sharding=out_sharding))


def _astype(x: Array, dtype: Any, copy: bool = False, device: Any = None) -> Array:
    """Convert the elements to another dtype, as `irax.numpy.astype` does."""
    return jnp.astype(x, dtype, copy=copy, device=device)


def _view(x: Array, dtype: Any = None, type: None = None) -> Array:
    """Reinterpret the bits of the elements as another dtype; the last dimension changes with the
    width.

    Raises:
        ValueError: the last dimension does not divide up.
        NotImplementedError: `type` is given: there is one type of arrays.
    """
    if type is not None:
        raise NotImplementedError(f"view: type={type!r} is not supported, only None")
    if dtype is None:
        return x
    dtype = dtypes.requested_dtype(dtype, "view")
    boolean = np.dtype(np.bool_)
    if x.dtype == dtype:
        return x
    if boolean in (x.dtype, dtype):  # StableHLO's booleans have one bit, NumPy's a byte
        byte = np.dtype(np.uint8)
        bytes_ = _view(convert(x, byte), dtype) if x.dtype == boolean else _view(x, byte)
        return convert(bytes_, dtype)
    old, new = dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(dtype)
    if old != new and (not x.ndim or x.shape[-1] * old % new):
        raise ValueError(
            f"view: the last dimension of {x.aval} does not divide up into {dtype.name} of {new} "
            "bits"
        )
    target = x.shape if old == new else (*x.shape[:-1], x.shape[-1] * old // new)
    if "c" in (x.dtype.kind, dtype.kind):
        return _view_of_parts(x, dtype, target)
    if old == new:
        return bind(bitcast.BitcastConvert(target, dtype), x)
    if old > new:
        split = bind(bitcast.BitcastConvert((*x.shape, old // new), dtype), x)
        return bind(shape.Reshape(target), split)
    grouped = bind(shape.Reshape((*target, new // old)), x)
    return bind(bitcast.BitcastConvert(target, dtype), grouped)


def _view_of_parts(x: Array, dtype: np.dtype[Any], target: tuple[int, ...]) -> Array:
    """Reinterpret complex numbers, or other ones as such, by their two parts, since StableHLO takes
    no bits of complex numbers.
    """
    *rows, last = x.shape or (1,)
    if x.dtype.kind == "c":
        parts = jnp.stack([x.real, x.imag], axis=-1)
        return jnp.reshape(_view(jnp.reshape(parts, (*rows, 2 * last)), dtype), target)
    real = np.dtype(f"float{4 * dtype.itemsize}")
    parts = jnp.reshape(_view(jnp.reshape(x, (*rows, last)), real), (*target, 2))
    return lax.complex(parts[..., 0], parts[..., 1])


def _byteswap(x: Array) -> Array:
    """Reverse the bytes of each element; of complex numbers, those of both parts."""
    if x.dtype.kind == "c":
        return lax.complex(_byteswap(x.real), _byteswap(x.imag))
    if x.dtype.itemsize == 1:
        return x
    return jnp.flip(_view(x[..., None], np.uint8), -1).view(x.dtype)[..., 0]


def _choose(x: Array, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """Select from arrays by the elements, which are numbers of them."""
    return jnp.choose(x, choices, out, mode)


def _compress(
    x: Array,
    condition: Any,
    axis: int | None = None,
    *,
    out: None = None,
    size: int | None = None,
    fill_value: Any = 0,
) -> Array:
    """Return the parts along an axis where a condition is True."""
    return jnp.compress(condition, x, axis, size=size, fill_value=fill_value, out=out)


def _flat(x: Array) -> Any:
    """NumPy's iterator over the elements, which cannot be written to."""
    return np.asarray(x).flat


def _copy(x: Array) -> Array:
    """Return a copy of the array, in memory of its own."""
    return copied(still_open(x))


_METHODS: dict[str, Callable[..., Any]] = {
    "astype": _astype,
    "byteswap": _byteswap,
    "choose": _choose,
    "clone": _copy,
    "compress": _compress,
    "copy": _copy,
    "flatten": _flatten,
    "item": _item,
    "reshape": _reshape,
    "tobytes": _tobytes,
    "tolist": _tolist,
    "transpose": _transpose,
    "view": _view,
    "__array__": _array,
    "copy_to_host_async": lambda x: None,  # elements are copied when they are asked for
    "__array_namespace__": _array_namespace,
    "__bool__": _bool,
    "__buffer__": _buffer,
    "__complex__": lambda x: _number(x, complex),
    "__contains__": _contains,
    "__copy__": _copy,
    "__deepcopy__": lambda x, memo: _copy(x),
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
    "__float__": lambda x: _number(x, float),
    "__format__": printing.formatted,
    "__getitem__": indexing.getitem,
    "__index__": _index,
    "__int__": lambda x: _number(x, int),
    "__iter__": _iter,
    "__len__": _len,
    "__reduce__": _reduce,
    "__repr__": printing.representation,
    "__round__": _round,
    "__str__": printing.text,
    "__delitem__": index_updates.refuse_delitem,
    "__setitem__": index_updates.refuse_setitem,
}

_PROPERTIES: dict[str, Callable[[Array], Any]] = {
    "at": index_updates.At,
    "itemsize": lambda x: x.dtype.itemsize,
    "nbytes": lambda x: x.size * x.dtype.itemsize,
    "flat": _flat,
    "T": lambda x: jnp.transpose(x),
    "mT": lambda x: jnp.matrix_transpose(x),
    "real": lambda x: jnp.real(x),
    "imag": lambda x: jnp.imag(x),
}

# Functions of irax.numpy that are methods of the same name.
_FUNCTIONS = (
    *("all", "any", "argmax", "argmin", "argpartition", "argsort", "clip", "conj"),
    *("conjugate", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod"),
    *("ptp", "ravel", "repeat", "round", "searchsorted", "sort", "squeeze", "std", "sum"),
    *("swapaxes", "take", "trace", "var"),
)


def _method(name: str) -> Callable[..., Any]:
    function = getattr(jnp, name)

    @api_boundary
    @functools.wraps(function)
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    return method


def _attach() -> None:
    for name, (symbol, function) in (_ARITHMETIC | _COMPARISONS).items():
        method = f"__r{name}__" if name in _ARITHMETIC else f"__{name}__"
        setattr(Array, f"__{name}__", _binary(symbol, function, method))
        if name in _ARITHMETIC:
            setattr(Array, f"__r{name}__", _reflected(symbol, function))
    for name, function in _UNARY.items():
        setattr(Array, f"__{name}__", _unary(function))
    for name in _FUNCTIONS:
        setattr(Array, name, _method(name))
    for name, method in (_METHODS | placement.METHODS).items():
        setattr(Array, name, api_boundary(method))
    for name, getter in (_PROPERTIES | placement.PROPERTIES).items():
        setattr(Array, name, property(api_boundary(getter)))
    if sys.version_info < (3, 12):  # Python itself asks for `__buffer__` since
        give_buffers(ConcreteArray, _exported)


def _unary(function: str) -> Callable[[Any], Any]:
    return api_boundary(lambda self: getattr(jnp, function)(self))


_attach()
